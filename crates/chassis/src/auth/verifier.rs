//! Verification of tokens.
//!
//! Verified tokens are cached until they expire: crate `lru` knows no expiry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use ed25519_dalek::VerifyingKey;
use ed25519_dalek::pkcs8::DecodePublicKey;
use primitives::UnixMicros;
use sha2::{Digest, Sha256};
use system::clock::Clock;

use super::issuer::KeyError;
use super::jws::UnverifiedToken;
use super::{AUDIENCE, Claims, Identity, Role};

/// Capacity of the cache of verified tokens, at about 200 bytes each.
const CACHE_CAPACITY: usize = 10_000;

/// Seconds by which an issuer's clock may be ahead of this server's.
const MAX_SKEW_SECONDS: u64 = 30;

/// Longest lifetime of a token, in seconds. It is bounded because a token cannot be revoked.
const MAX_LIFETIME_SECONDS: u64 = 31 * 86_400;

/// Issuer's key with the roles it may grant.
#[derive(Debug, Clone)]
pub struct IssuerKey {
    pub key: VerifyingKey,
    /// Roles that the key may grant. An issuer of players' tokens need not be able to make
    /// operators.
    pub roles: BTreeSet<Role>,
}

impl IssuerKey {
    /// Key that may grant every role.
    #[must_use]
    pub fn for_all_roles(key: VerifyingKey) -> IssuerKey {
        IssuerKey { key, roles: BTreeSet::from(Role::ALL) }
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
        Ok(IssuerKey { key, roles })
    }
}

/// Reason why a token is refused. Says nothing of the token's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("there is no token: send the metadata `authorization: Bearer <token>`")]
    Missing,
    #[error(
        "the token is not a JWT signed with EdDSA that has iss, aud \"sabacc\", sub, role, exp, \
         iat and jti, with a sub that fits its role, a life of 31 days at most, and `house` on players alone"
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
    /// Digest of a verified token → its identity and expiry.
    cache: Mutex<BTreeMap<[u8; 32], (Identity, UnixMicros)>>,
}

impl Verifier {
    /// Verifier for the keys of `issuers`. Without any it refuses every token.
    #[must_use]
    pub fn new(issuers: Vec<IssuerKey>, clock: Arc<dyn Clock>) -> Verifier {
        let remembered = Mutex::new(BTreeMap::new());
        Verifier { shared: Arc::new(Shared { issuers, clock, cache: remembered }) }
    }

    /// Clock by which expiry is judged.
    pub(super) fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }

    /// Identity that the token names.
    ///
    /// # Errors
    /// The token is malformed, expired, or not signed by a known issuer that may grant its role.
    pub fn verify(&self, token: &str) -> Result<Identity, TokenError> {
        self.verify_with_expiry(token).map(|(identity, _)| identity)
    }

    /// Identity that the token names, and its expiry. Looks into the cache first.
    fn verify_with_expiry(&self, token: &str) -> Result<(Identity, UnixMicros), TokenError> {
        let Shared { issuers, clock, cache: remembered } = &*self.shared;
        let now = clock.now();
        let digest: [u8; 32] = Sha256::digest(token).into();
        let known = remembered.lock().unwrap_or_else(PoisonError::into_inner).get(&digest).cloned();
        if let Some((identity, until)) = known {
            return if now < until { Ok((identity, until)) } else { Err(TokenError::Expired) };
        }
        let (identity, until) = judge(token, issuers, now)?;
        let mut remembered = remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() >= CACHE_CAPACITY {
            remembered.retain(|_, (_, until)| now < *until);
        }
        if remembered.len() >= CACHE_CAPACITY {
            // Digests have no useful order, so evicting the first entry is as good as any.
            remembered.pop_first();
        }
        remembered.insert(digest, (identity.clone(), until));
        Ok((identity, until))
    }

    /// Identity and expiry of the token in an `authorization` header's value.
    ///
    /// # Errors
    /// There is no token, or it is refused.
    pub(crate) fn verify_header(
        &self,
        value: Option<&[u8]>,
    ) -> Result<(Identity, UnixMicros), TokenError> {
        let value = std::str::from_utf8(value.ok_or(TokenError::Missing)?);
        let (scheme, token) =
            value.ok().and_then(|text| text.split_once(' ')).ok_or(TokenError::Malformed)?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(TokenError::Malformed);
        }
        self.verify_with_expiry(token.trim())
    }
}

/// Checks a token against the issuers and the time. The signature comes first, so that a forged
/// token learns nothing about its other faults.
fn judge(
    token: &str,
    issuers: &[IssuerKey],
    now: UnixMicros,
) -> Result<(Identity, UnixMicros), TokenError> {
    let token = UnverifiedToken::parse(token).ok_or(TokenError::Malformed)?;
    let signed = issuers.iter().find_map(|issuer| Some((issuer, token.verify(&issuer.key)?)));
    let (issuer, payload) = signed.ok_or(TokenError::Forged)?;
    let claims: Claims = serde_json::from_slice(payload).map_err(|_| TokenError::Malformed)?;
    let identity = claims.identity().ok_or(TokenError::Malformed)?;
    let addressed = claims.aud.iter().any(|audience| audience == AUDIENCE);
    let too_long = claims.exp.saturating_sub(claims.iat) > MAX_LIFETIME_SECONDS;
    if !addressed || too_long || claims.iss.is_empty() || claims.jti.is_empty() {
        return Err(TokenError::Malformed);
    }
    if !issuer.roles.contains(&identity.role) {
        return Err(TokenError::Forged);
    }
    let seconds = now.0 / 1_000_000;
    let begins = claims.nbf.unwrap_or(claims.iat).max(claims.iat);
    if seconds >= claims.exp || begins > seconds.saturating_add(MAX_SKEW_SECONDS) {
        return Err(TokenError::Expired);
    }
    Ok((identity, UnixMicros(claims.exp.saturating_mul(1_000_000))))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::auth::{ServiceToken, TokenIssuer};
    use system::clock::ManualClock;
    use system::entropy::{Entropy, SeededEntropy};

    const NOW: UnixMicros = UnixMicros(1_800_000_000_000_000);
    const PLAYER: &str = "0190c2f0-7d3a-4b6e-8a52-6d1f2e3c4b5a";

    struct Fixture {
        clock: Arc<ManualClock>,
        issuer: TokenIssuer,
        verifier: Verifier,
    }

    fn fixture(roles: &[Role]) -> Fixture {
        let clock = Arc::new(ManualClock::new(NOW));
        let issuer = TokenIssuer::generate("door", &SeededEntropy::new(1));
        let key = IssuerKey { key: issuer.public_key(), roles: roles.iter().copied().collect() };
        let verifier = Verifier::new(vec![key], Arc::clone(&clock) as Arc<dyn Clock>);
        Fixture { clock, issuer, verifier }
    }

    fn claims(role: Role, subject: &str) -> Claims {
        let identity = Identity::new(role, subject);
        let (clock, entropy) = (ManualClock::new(NOW), SeededEntropy::new(2));
        Claims::new("door", &identity, Duration::from_secs(60), &clock, &entropy)
    }

    /// Verifies a player's claims after `change`.
    fn check(change: impl FnOnce(&mut Claims), expected: Result<&str, TokenError>) {
        let door = fixture(&Role::ALL);
        let mut claims = claims(Role::Player, PLAYER);
        change(&mut claims);
        let judged = door.verifier.verify(&door.issuer.issue(&claims));
        assert_eq!(judged.map(|identity| identity.actor()), expected.map(str::to_owned));
    }

    /// ARCHITECTURE.md §6.1.
    #[test]
    fn claims_are_held_to_what_they_must_be() {
        let actor = format!("player:{PLAYER}");
        let actor = Ok(actor.as_str());
        check(|_| {}, actor);
        check(|claims| claims.sub = PLAYER.to_uppercase(), actor);
        check(|claims| claims.aud = vec!["other".into(), AUDIENCE.into()], actor);
        check(|claims| claims.iat += MAX_SKEW_SECONDS, actor);
        check(|claims| claims.aud = vec!["other".into()], Err(TokenError::Malformed));
        check(|claims| claims.aud = vec![], Err(TokenError::Malformed));
        check(|claims| claims.sub = "somebody".into(), Err(TokenError::Malformed));
        check(|claims| claims.jti = String::new(), Err(TokenError::Malformed));
        check(|claims| claims.iss = String::new(), Err(TokenError::Malformed));
        check(
            |claims| claims.exp = claims.iat + MAX_LIFETIME_SECONDS + 1,
            Err(TokenError::Malformed),
        );
        check(|claims| claims.exp = claims.iat, Err(TokenError::Expired));
        check(|claims| claims.iat += MAX_SKEW_SECONDS + 1, Err(TokenError::Expired));
        check(
            |claims| claims.nbf = Some(claims.iat + MAX_SKEW_SECONDS + 1),
            Err(TokenError::Expired),
        );
    }

    #[test]
    fn names_fit_their_roles() {
        let door = fixture(&Role::ALL);
        for (subject, fits) in [("till-1", true), ("", false), ("a b", false), ("é", false)] {
            let token = door.issuer.issue(&claims(Role::Operator, subject));
            assert_eq!(door.verifier.verify(&token).is_ok(), fits, "{subject:?}");
        }
        let long = door.issuer.issue(&claims(Role::Auditor, &"a".repeat(65)));
        assert_eq!(door.verifier.verify(&long), Err(TokenError::Malformed));
    }

    #[test]
    fn players_alone_are_marked_as_the_houses() {
        let door = fixture(&Role::ALL);
        let marked = |role, subject| Claims { house: true, ..claims(role, subject) };
        let bot = door.verifier.verify(&door.issuer.issue(&marked(Role::Player, PLAYER))).unwrap();
        assert_eq!(bot, Identity::of_house(PLAYER.parse().unwrap()));
        let guest =
            door.verifier.verify(&door.issuer.issue(&claims(Role::Player, PLAYER))).unwrap();
        assert_eq!(guest, Identity::new(Role::Player, PLAYER));
        let till = door.issuer.issue(&marked(Role::Operator, "till"));
        assert_eq!(door.verifier.verify(&till), Err(TokenError::Malformed));
    }

    #[test]
    fn a_remembered_token_ends_when_it_ends() {
        let door = fixture(&Role::ALL);
        let token = door.issuer.issue(&claims(Role::Player, PLAYER));
        assert!(door.verifier.verify(&token).is_ok());
        door.clock.advance(Duration::from_secs(59));
        assert!(door.verifier.verify(&token).is_ok());
        door.clock.advance(Duration::from_secs(1));
        assert_eq!(door.verifier.verify(&token), Err(TokenError::Expired));
    }

    #[test]
    fn memory_is_bounded() {
        let door = fixture(&Role::ALL);
        let identity = Identity::new(Role::Service, "table");
        let mut remembered = door.verifier.shared.cache.lock().unwrap();
        for number in 0..u64::try_from(CACHE_CAPACITY).unwrap() {
            let mut digest = [0; 32];
            digest[..8].copy_from_slice(&number.to_be_bytes());
            remembered.insert(digest, (identity.clone(), NOW.plus(Duration::from_secs(9))));
        }
        drop(remembered);
        let token = door.issuer.issue(&claims(Role::Player, PLAYER));
        door.verifier.verify(&token).unwrap();
        assert_eq!(door.verifier.shared.cache.lock().unwrap().len(), CACHE_CAPACITY);
        door.clock.advance(Duration::from_secs(10));
        let token = door.issuer.issue(&claims(Role::Operator, "another"));
        door.verifier.verify(&token).unwrap();
        assert_eq!(door.verifier.shared.cache.lock().unwrap().len(), 2);
    }

    /// ARCHITECTURE.md §6.1.
    #[test]
    fn an_issuer_gives_its_own_roles_only() {
        let door = fixture(&[Role::Player]);
        assert!(door.verifier.verify(&door.issuer.issue(&claims(Role::Player, PLAYER))).is_ok());
        let operator = door.issuer.issue(&claims(Role::Operator, "till"));
        assert_eq!(door.verifier.verify(&operator), Err(TokenError::Forged));
    }

    #[test]
    fn forgeries_are_seen() {
        let door = fixture(&Role::ALL);
        let claims = claims(Role::Operator, "till");
        let stranger = TokenIssuer::generate("door", &SeededEntropy::new(9));
        assert_eq!(door.verifier.verify(&stranger.issue(&claims)), Err(TokenError::Forged));
        let token = door.issuer.issue(&claims);
        let parts: Vec<&str> = token.split('.').collect();
        let other = stranger.issue(&Claims { sub: "other".into(), ..claims });
        let payload = other.split('.').nth(1).unwrap();
        let spliced = format!("{}.{payload}.{}", parts[0], parts[2]);
        assert_eq!(door.verifier.verify(&spliced), Err(TokenError::Forged));
        // `{"alg":"none"}`, without and with a signature.
        for signature in ["", parts[2]] {
            let unsigned = format!("eyJhbGciOiJub25lIn0.{}.{signature}", parts[1]);
            assert_eq!(door.verifier.verify(&unsigned), Err(TokenError::Malformed));
        }
    }

    #[test]
    fn headers_name_a_bearer() {
        let door = fixture(&Role::ALL);
        let token = door.issuer.issue(&claims(Role::Player, PLAYER));
        let judge = |text: &str| door.verifier.verify_header(Some(text.as_bytes()));
        assert!(judge(&format!("Bearer {token}")).is_ok());
        assert!(judge(&format!("bearer {token}")).is_ok());
        assert_eq!(judge(&format!("Basic {token}")), Err(TokenError::Malformed));
        assert_eq!(judge(&token), Err(TokenError::Malformed));
        assert_eq!(door.verifier.verify_header(Some(b"Bearer \xff")), Err(TokenError::Malformed));
        assert_eq!(door.verifier.verify_header(None), Err(TokenError::Missing));
    }

    #[test]
    fn a_service_renews_its_token_in_time() {
        let door = fixture(&Role::ALL);
        let entropy: Arc<dyn Entropy> = Arc::new(SeededEntropy::new(3));
        let clock = Arc::clone(&door.clock) as Arc<dyn Clock>;
        let own = ServiceToken::new(door.issuer.clone(), "table", clock, entropy);
        let first = own.current();
        assert_eq!(door.verifier.verify(&first).unwrap().actor(), "service:table");
        door.clock.advance(Duration::from_secs(479));
        assert_eq!(own.current(), first);
        door.clock.advance(Duration::from_secs(1));
        let second = own.current();
        assert_ne!(second, first);
        door.clock.advance(Duration::from_secs(300));
        assert_eq!(door.verifier.verify(&first), Err(TokenError::Expired));
        assert!(door.verifier.verify(&second).is_ok());
    }

    #[test]
    fn keys_come_and_go_as_pem() {
        let issuer = TokenIssuer::generate("door", &SeededEntropy::new(4));
        let again = TokenIssuer::from_pem("door", issuer.private_pem().expose()).unwrap();
        assert_eq!(again.public_key(), issuer.public_key());
        let read = IssuerKey::from_pem(&issuer.public_pem(), BTreeSet::from(Role::ALL)).unwrap();
        assert_eq!(read.key, issuer.public_key());
        let private = issuer.private_pem();
        assert!(IssuerKey::from_pem(private.expose(), BTreeSet::new()).is_err());
        assert!(TokenIssuer::from_pem("door", &issuer.public_pem()).is_err());
        assert!(!format!("{issuer:?}").contains("key"), "nothing of the key is printed");
    }
}
