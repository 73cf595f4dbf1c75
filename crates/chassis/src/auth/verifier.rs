//! Verification of tokens.
//!
//! Verified tokens are cached until they expire: crate `lru` knows no expiry. Whether a token was
//! revoked is asked at each use, also of a cached one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ed25519_dalek::VerifyingKey;
use ed25519_dalek::pkcs8::DecodePublicKey;
use primitives::UnixMicros;
use sha2::{Digest, Sha256};
use system::clock::Clock;

use super::issuer::KeyError;
use super::jws::UnverifiedToken;
use super::{AUDIENCE, Claims, Identity, Revocations, Role, claims};

/// Capacity of the cache of verified tokens, at about 200 bytes each.
const CACHE_CAPACITY: usize = 10_000;

/// Seconds by which an issuer's clock may be ahead of this server's.
const MAX_SKEW_SECONDS: u64 = 30;

/// Longest lifetime of a token. It is bounded because a revocation is remembered for as long.
pub const MAX_LIFETIME: Duration = Duration::from_hours(31 * 24);

/// Lifetime of an access token that a guest gets, and the longest that a verifier takes of one.
pub const ACCESS_TOKEN_LIFETIME: Duration = Duration::from_mins(15);

/// Issuer's key with the roles it may grant.
#[derive(Debug, Clone)]
pub struct IssuerKey {
    pub key: VerifyingKey,
    /// Roles that the key may grant. An issuer of players' tokens need not be able to make
    /// operators.
    pub roles: BTreeSet<Role>,
    /// Whether the key is the room's own for guests: its tokens are short, mark nobody as the
    /// house's, and are believed only where revocations are known.
    pub is_for_guests: bool,
}

impl IssuerKey {
    /// Key that may grant every role.
    #[must_use]
    pub fn for_all_roles(key: VerifyingKey) -> IssuerKey {
        IssuerKey { key, roles: BTreeSet::from(Role::ALL), is_for_guests: false }
    }

    /// Key of the room's own tokens for guests, which may grant the role `player` alone.
    #[must_use]
    pub fn for_guests(key: VerifyingKey) -> IssuerKey {
        IssuerKey { key, roles: BTreeSet::from([Role::Player]), is_for_guests: true }
    }

    /// Reads a public key in PEM.
    ///
    /// # Errors
    /// The text is not an Ed25519 public key, or the key is weak.
    pub fn from_pem(pem: &str, roles: BTreeSet<Role>) -> Result<IssuerKey, KeyError> {
        let key = VerifyingKey::from_public_key_pem(pem).map_err(|_| KeyError::Public)?;
        if key.is_weak() {
            return Err(KeyError::Public);
        }
        Ok(IssuerKey { key, roles, is_for_guests: false })
    }

    /// Longest lifetime of this key's tokens.
    const fn max_lifetime(&self) -> Duration {
        if self.is_for_guests { ACCESS_TOKEN_LIFETIME } else { MAX_LIFETIME }
    }
}

/// Reason why a token is refused, with the claim that is wrong, where it is one. Says nothing else
/// of the token's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("there is no token: send the metadata `authorization: Bearer <token>`")]
    Missing,
    #[error(
        "the token is not a JWT signed with EdDSA that has iss, aud \"sabacc\", sub, role, exp, \
         iat and jti, with a sub that fits its role, a life of 31 days at most (a guest's: 15 \
         minutes), and `house` on players alone"
    )]
    Malformed { claim: Option<&'static str> },
    #[error("the token's time is over or has not begun: get a new one")]
    Expired { claim: &'static str },
    #[error("no issuer known to this server signed the token, or it may not give this role")]
    Forged { claim: Option<&'static str> },
    #[error("the token was revoked: sign in again")]
    Revoked { claim: &'static str },
    #[error(
        "this server has not heard for a while which tokens are revoked, so it lets no guest in: \
         try again in a moment"
    )]
    RevocationsUnknown,
}

impl TokenError {
    /// Claim that is wrong, where it is one.
    #[must_use]
    pub const fn claim(self) -> Option<&'static str> {
        match self {
            TokenError::Malformed { claim } | TokenError::Forged { claim } => claim,
            TokenError::Expired { claim } | TokenError::Revoked { claim } => Some(claim),
            TokenError::Missing | TokenError::RevocationsUnknown => None,
        }
    }
}

/// Token that was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedToken {
    pub identity: Identity,
    /// Identifier of the token itself.
    pub id: Arc<str>,
    /// Time of issue.
    pub issued_at: UnixMicros,
    /// Time from which the token is invalid.
    pub expires_at: UnixMicros,
    /// Whether the key of the room's own guests signed it.
    pub is_guests: bool,
}

/// Verifies tokens of the configured issuers. Cheap to clone.
#[derive(Clone)]
pub struct Verifier {
    shared: Arc<Shared>,
    /// Revoked tokens, where this server follows them.
    revocations: Option<Revocations>,
}

struct Shared {
    issuers: Vec<IssuerKey>,
    clock: Arc<dyn Clock>,
    /// Verified tokens by their digests.
    cache: Mutex<BTreeMap<[u8; 32], VerifiedToken>>,
}

impl Verifier {
    /// Verifier for the keys of `issuers`. Without any it refuses every token.
    #[must_use]
    pub fn new(issuers: Vec<IssuerKey>, clock: Arc<dyn Clock>) -> Verifier {
        let cache = Mutex::new(BTreeMap::new());
        Verifier { shared: Arc::new(Shared { issuers, clock, cache }), revocations: None }
    }

    /// Refuses tokens that these revocations name, and guests' tokens while they are not known.
    #[must_use]
    pub fn with_revocations(self, revocations: Option<Revocations>) -> Verifier {
        Verifier { revocations, ..self }
    }

    /// Clock by which expiry is judged.
    pub(super) fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }

    /// Revoked tokens, where this server follows them.
    pub(super) const fn revocations(&self) -> Option<&Revocations> {
        self.revocations.as_ref()
    }

    /// Identity that the token names.
    ///
    /// # Errors
    /// The token is malformed, expired, revoked, or not signed by a known issuer that may grant its
    /// role.
    pub fn verify(&self, token: &str) -> Result<Identity, TokenError> {
        self.verify_token(token).map(|token| token.identity)
    }

    /// Verifies a token. Looks into the cache first.
    ///
    /// # Errors
    /// As of [`Verifier::verify`].
    pub(super) fn verify_token(&self, token: &str) -> Result<VerifiedToken, TokenError> {
        let Shared { issuers, clock, cache } = &*self.shared;
        let now = clock.now();
        let digest = digest(token);
        let known = cache.lock().unwrap_or_else(PoisonError::into_inner).get(&digest).cloned();
        if let Some(known) = known {
            if now >= known.expires_at {
                return Err(TokenError::Expired { claim: "exp" });
            }
            return self.check_not_revoked(known);
        }
        let verified = self.check_not_revoked(judge(token, issuers, now)?)?;
        let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= CACHE_CAPACITY {
            cache.retain(|_, kept| now < kept.expires_at);
        }
        if cache.len() >= CACHE_CAPACITY {
            // Digests have no useful order, so evicting the first entry is as good as any.
            cache.pop_first();
        }
        cache.insert(digest, verified.clone());
        Ok(verified)
    }

    fn check_not_revoked(&self, token: VerifiedToken) -> Result<VerifiedToken, TokenError> {
        let Some(revocations) = &self.revocations else { return Ok(token) };
        revocations.check(&token).map(|()| token)
    }

    /// Whether the token in an `authorization` header's value was verified before.
    pub(super) fn is_known(&self, value: &[u8]) -> bool {
        let cache = self.shared.cache.lock().unwrap_or_else(PoisonError::into_inner);
        bearer_token(value).is_ok_and(|token| cache.contains_key(&digest(token)))
    }

    /// Verifies the token in an `authorization` header's value.
    ///
    /// # Errors
    /// There is no token, or it is refused.
    pub(crate) fn verify_header(&self, value: Option<&[u8]>) -> Result<VerifiedToken, TokenError> {
        self.verify_token(bearer_token(value.ok_or(TokenError::Missing)?)?)
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// Token in an `authorization` header's value.
fn bearer_token(value: &[u8]) -> Result<&str, TokenError> {
    const MALFORMED: TokenError = TokenError::Malformed { claim: None };
    let text = std::str::from_utf8(value).map_err(|_| MALFORMED)?;
    let (scheme, token) = text.split_once(' ').ok_or(MALFORMED)?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(token.trim()) } else { Err(MALFORMED) }
}

/// Checks a token against the issuers and the time. The signature comes first, so that a forged
/// token learns nothing about its other faults.
fn judge(token: &str, issuers: &[IssuerKey], now: UnixMicros) -> Result<VerifiedToken, TokenError> {
    let malformed = |claim| TokenError::Malformed { claim };
    let token = UnverifiedToken::parse(token).ok_or(malformed(None))?;
    let signed = issuers.iter().find_map(|issuer| Some((issuer, token.verify(&issuer.key)?)));
    let (issuer, payload) = signed.ok_or(TokenError::Forged { claim: None })?;
    let claims: Claims =
        serde_json::from_slice(payload).map_err(|_| malformed(claims::first_wrong(payload)))?;
    let identity = claims.identity().map_err(|claim| malformed(Some(claim)))?;
    let addressed = claims.aud.iter().any(|audience| audience == AUDIENCE);
    let too_long = claims.exp.saturating_sub(claims.iat) > issuer.max_lifetime().as_secs();
    let faults = [
        (!addressed, "aud"),
        (too_long, "exp"),
        (claims.iss.is_empty(), "iss"),
        (claims.jti.is_empty(), "jti"),
    ];
    if let Some((_, claim)) = faults.into_iter().find(|(is_wrong, _)| *is_wrong) {
        return Err(malformed(Some(claim)));
    }
    if !issuer.roles.contains(&identity.role) {
        return Err(TokenError::Forged { claim: Some("role") });
    }
    if issuer.is_for_guests && identity.is_house {
        return Err(TokenError::Forged { claim: Some("house") });
    }
    let seconds = now.0 / 1_000_000;
    if seconds >= claims.exp {
        return Err(TokenError::Expired { claim: "exp" });
    }
    let latest = seconds.saturating_add(MAX_SKEW_SECONDS);
    let begins = [(Some(claims.iat), "iat"), (claims.nbf, "nbf")];
    if let Some((_, claim)) = begins.into_iter().find(|(begins, _)| *begins > Some(latest)) {
        return Err(TokenError::Expired { claim });
    }
    let micros = |seconds: u64| UnixMicros(seconds.saturating_mul(1_000_000));
    Ok(VerifiedToken {
        identity,
        id: claims.jti.into(),
        issued_at: micros(claims.iat),
        expires_at: micros(claims.exp),
        is_guests: issuer.is_for_guests,
    })
}

#[cfg(test)]
mod tests;
