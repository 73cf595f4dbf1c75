//! Judging tokens.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use ed25519_dalek::VerifyingKey;
use ed25519_dalek::pkcs8::DecodePublicKey;
use primitives::UnixMicros;
use sha2::{Digest, Sha256};

use super::issuer::KeyError;
use super::jws::Unverified;
use super::{AUDIENCE, Claims, Identity, Role};
use crate::clock::Clock;

/// Verified tokens remembered, at 200 bytes or so each.
const REMEMBERED: usize = 10_000;

/// An issuer's clock may be ahead of ours by this many seconds.
const SKEW: u64 = 30;

/// No token may live longer than this many seconds: it cannot be called back.
const LONGEST_LIFE: u64 = 31 * 86_400;

/// A key whose tokens we believe, as far as its roles go.
#[derive(Debug, Clone)]
pub struct IssuerKey {
    pub key: VerifyingKey,
    /// The roles it may give: whoever lets players in need not be able to make operators.
    pub roles: BTreeSet<Role>,
}

impl IssuerKey {
    /// One that may give every role.
    #[must_use]
    pub fn trusted(key: VerifyingKey) -> IssuerKey {
        IssuerKey { key, roles: BTreeSet::from(Role::ALL) }
    }

    /// From a public key in PEM.
    ///
    /// # Errors
    /// It is not one of Ed25519, or a weak one.
    pub fn from_pem(pem: &str, roles: BTreeSet<Role>) -> Result<IssuerKey, KeyError> {
        let key = VerifyingKey::from_public_key_pem(pem).map_err(|_| KeyError::Public)?;
        if key.is_weak() {
            return Err(KeyError::Public);
        }
        Ok(IssuerKey { key, roles })
    }
}

/// Why a token is not believed. Says nothing of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("there is no token: send the metadata `authorization: Bearer <token>`")]
    Missing,
    #[error(
        "the token is not a JWT signed with EdDSA that has iss, aud \"sabacc\", sub, role, exp, \
         iat and jti, with a sub that fits its role and a life of 31 days at most"
    )]
    Malformed,
    #[error("the token's time is over or has not begun: get a new one")]
    Expired,
    #[error("no issuer known to this server signed the token, or it may not give this role")]
    Forged,
}

/// Verifies tokens of the configured issuers. Cheap to clone.
#[derive(Clone)]
pub struct Verifier {
    shared: Arc<Shared>,
}

struct Shared {
    issuers: Vec<IssuerKey>,
    clock: Arc<dyn Clock>,
    /// Digest of a believed token → whom it names and until when.
    remembered: Mutex<BTreeMap<[u8; 32], (Identity, UnixMicros)>>,
}

impl Verifier {
    /// Believes `issuers`, and nobody where there are none.
    #[must_use]
    pub fn new(issuers: Vec<IssuerKey>, clock: Arc<dyn Clock>) -> Verifier {
        let remembered = Mutex::new(BTreeMap::new());
        Verifier { shared: Arc::new(Shared { issuers, clock, remembered }) }
    }

    /// Whom the token names.
    ///
    /// # Errors
    /// It is not to be believed.
    pub fn verify(&self, token: &str) -> Result<Identity, TokenError> {
        let Shared { issuers, clock, remembered } = &*self.shared;
        let now = clock.now();
        let digest: [u8; 32] = Sha256::digest(token).into();
        let known = remembered.lock().unwrap_or_else(PoisonError::into_inner).get(&digest).cloned();
        if let Some((identity, until)) = known {
            return if now < until { Ok(identity) } else { Err(TokenError::Expired) };
        }
        let (identity, until) = judge(token, issuers, now)?;
        let mut remembered = remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() >= REMEMBERED {
            remembered.retain(|_, (_, until)| now < *until);
        }
        if remembered.len() >= REMEMBERED {
            // Digests have no order worth keeping: the first is as good a victim as any.
            remembered.pop_first();
        }
        remembered.insert(digest, (identity.clone(), until));
        Ok(identity)
    }

    /// The token of an `authorization` header's value.
    ///
    /// # Errors
    /// There is none, or it is not to be believed.
    pub fn verify_header(&self, value: Option<&[u8]>) -> Result<Identity, TokenError> {
        let value = std::str::from_utf8(value.ok_or(TokenError::Missing)?);
        let (scheme, token) =
            value.ok().and_then(|text| text.split_once(' ')).ok_or(TokenError::Malformed)?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(TokenError::Malformed);
        }
        self.verify(token.trim())
    }
}

/// The signature first: nothing of a forged token is worth an answer.
fn judge(
    token: &str,
    issuers: &[IssuerKey],
    now: UnixMicros,
) -> Result<(Identity, UnixMicros), TokenError> {
    let token = Unverified::parse(token).ok_or(TokenError::Malformed)?;
    let signed = issuers.iter().find_map(|issuer| Some((issuer, token.verified(&issuer.key)?)));
    let (issuer, payload) = signed.ok_or(TokenError::Forged)?;
    let claims: Claims = serde_json::from_slice(payload).map_err(|_| TokenError::Malformed)?;
    let identity = claims.identity().ok_or(TokenError::Malformed)?;
    let addressed = claims.aud.iter().any(|audience| audience == AUDIENCE);
    let too_long = claims.exp.saturating_sub(claims.iat) > LONGEST_LIFE;
    if !addressed || too_long || claims.iss.is_empty() || claims.jti.is_empty() {
        return Err(TokenError::Malformed);
    }
    if !issuer.roles.contains(&identity.role) {
        return Err(TokenError::Forged);
    }
    let seconds = now.0 / 1_000_000;
    let begins = claims.nbf.unwrap_or(claims.iat).max(claims.iat);
    if seconds >= claims.exp || begins > seconds.saturating_add(SKEW) {
        return Err(TokenError::Expired);
    }
    Ok((identity, UnixMicros(claims.exp.saturating_mul(1_000_000))))
}
