use std::time::Duration;

use super::*;
use crate::auth::{Revocations, ServiceToken, TokenIssuer};
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
    let key = IssuerKey {
        key: issuer.public_key(),
        roles: roles.iter().copied().collect(),
        is_for_guests: false,
    };
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
    let malformed = |claim| Err(TokenError::Malformed { claim: Some(claim) });
    check(|claims| claims.aud = vec!["other".into()], malformed("aud"));
    check(|claims| claims.aud = vec![], malformed("aud"));
    check(|claims| claims.sub = "somebody".into(), malformed("sub"));
    check(|claims| claims.jti = String::new(), malformed("jti"));
    check(|claims| claims.iss = String::new(), malformed("iss"));
    check(|claims| claims.exp = claims.iat + MAX_LIFETIME.as_secs() + 1, malformed("exp"));
    let expired = |claim| Err(TokenError::Expired { claim });
    check(|claims| claims.exp = claims.iat, expired("exp"));
    check(|claims| claims.iat += MAX_SKEW_SECONDS + 1, expired("iat"));
    check(|claims| claims.nbf = Some(claims.iat + MAX_SKEW_SECONDS + 1), expired("nbf"));
}

#[test]
fn the_wrong_claim_of_any_json_is_named() {
    let right = serde_json::json!({
        "iss": "door", "aud": "sabacc", "sub": PLAYER, "role": "player",
        "exp": 1_800_000_060, "iat": 1_800_000_000, "jti": "one",
    });
    assert_eq!(claims::first_wrong(right.to_string().as_bytes()), None);
    for name in ["iss", "aud", "sub", "role", "exp", "iat", "jti"] {
        let mut wrong = right.clone();
        wrong[name] = serde_json::json!({});
        assert_eq!(claims::first_wrong(wrong.to_string().as_bytes()), Some(name));
        wrong.as_object_mut().unwrap().remove(name);
        assert_eq!(claims::first_wrong(wrong.to_string().as_bytes()), Some(name));
    }
    for (name, value) in [("nbf", "soon"), ("house", "yes"), ("role", "king"), ("exp", "1")] {
        let mut wrong = right.clone();
        wrong[name] = value.into();
        assert_eq!(claims::first_wrong(wrong.to_string().as_bytes()), Some(name));
    }
    for bad in [&b"[]"[..], b"", b"7", b"\xff"] {
        assert_eq!(claims::first_wrong(bad), None);
    }
}

/// ARCHITECTURE.md §6.1.
#[test]
fn the_key_of_guests_gives_short_tokens_of_players_alone() {
    let door = fixture(&[]);
    let key = IssuerKey::for_guests(door.issuer.public_key());
    let verifier = Verifier::new(vec![key], Arc::clone(&door.clock) as Arc<dyn Clock>);
    let verify = |claims: &Claims| verifier.verify(&door.issuer.issue(claims));
    let guest = claims(Role::Player, PLAYER);
    assert!(verify(&guest).is_ok());
    let long = guest.iat + ACCESS_TOKEN_LIFETIME.as_secs();
    assert!(verify(&Claims { exp: long, ..guest.clone() }).is_ok());
    let longer = Claims { exp: long + 1, ..guest.clone() };
    assert_eq!(verify(&longer), Err(TokenError::Malformed { claim: Some("exp") }));
    let bot = Claims { house: true, ..guest };
    assert_eq!(verify(&bot), Err(TokenError::Forged { claim: Some("house") }));
    for role in [Role::Operator, Role::Auditor, Role::Service] {
        let other = verify(&claims(role, "table"));
        assert_eq!(other, Err(TokenError::Forged { claim: Some("role") }));
    }
    let revocations = Revocations::new(Arc::clone(&door.clock) as Arc<dyn Clock>);
    let follows = verifier.with_revocations(Some(revocations.clone()));
    let token = door.issuer.issue(&claims(Role::Player, PLAYER));
    assert_eq!(follows.verify(&token), Err(TokenError::RevocationsUnknown));
    revocations.note_current();
    assert!(follows.verify(&token).is_ok());
    assert!(follows.is_known(format!("Bearer {token}").as_bytes()));
}

#[test]
fn names_fit_their_roles() {
    let door = fixture(&Role::ALL);
    for (subject, fits) in [("till-1", true), ("", false), ("a b", false), ("é", false)] {
        let token = door.issuer.issue(&claims(Role::Operator, subject));
        assert_eq!(door.verifier.verify(&token).is_ok(), fits, "{subject:?}");
    }
    let long = door.issuer.issue(&claims(Role::Auditor, &"a".repeat(65)));
    assert_eq!(door.verifier.verify(&long), Err(TokenError::Malformed { claim: Some("sub") }));
}

#[test]
fn players_alone_are_marked_as_the_houses() {
    let door = fixture(&Role::ALL);
    let marked = |role, subject| Claims { house: true, ..claims(role, subject) };
    let bot = door.verifier.verify(&door.issuer.issue(&marked(Role::Player, PLAYER))).unwrap();
    assert_eq!(bot, Identity::of_house(PLAYER.parse().unwrap()));
    let guest = door.verifier.verify(&door.issuer.issue(&claims(Role::Player, PLAYER))).unwrap();
    assert_eq!(guest, Identity::new(Role::Player, PLAYER));
    let till = door.issuer.issue(&marked(Role::Operator, "till"));
    assert_eq!(door.verifier.verify(&till), Err(TokenError::Malformed { claim: Some("house") }));
}

#[test]
fn a_remembered_token_ends_when_it_ends() {
    let door = fixture(&Role::ALL);
    let token = door.issuer.issue(&claims(Role::Player, PLAYER));
    assert!(door.verifier.verify(&token).is_ok());
    door.clock.advance(Duration::from_secs(59));
    assert!(door.verifier.verify(&token).is_ok());
    door.clock.advance(Duration::from_secs(1));
    assert_eq!(door.verifier.verify(&token), Err(TokenError::Expired { claim: "exp" }));
}

#[test]
fn memory_is_bounded() {
    let door = fixture(&Role::ALL);
    let kept = VerifiedToken {
        identity: Identity::new(Role::Service, "table"),
        id: "one".into(),
        issued_at: NOW,
        expires_at: NOW.plus(Duration::from_secs(9)),
        is_guests: false,
    };
    let mut remembered = door.verifier.shared.cache.lock().unwrap();
    for number in 0..u64::try_from(CACHE_CAPACITY).unwrap() {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&number.to_be_bytes());
        remembered.insert(digest, kept.clone());
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
    let forged = TokenError::Forged { claim: Some("role") };
    assert_eq!(door.verifier.verify(&operator), Err(forged));
}

#[test]
fn forgeries_are_seen() {
    let door = fixture(&Role::ALL);
    let claims = claims(Role::Operator, "till");
    let stranger = TokenIssuer::generate("door", &SeededEntropy::new(9));
    assert_eq!(
        door.verifier.verify(&stranger.issue(&claims)),
        Err(TokenError::Forged { claim: None })
    );
    let token = door.issuer.issue(&claims);
    let parts: Vec<&str> = token.split('.').collect();
    let other = stranger.issue(&Claims { sub: "other".into(), ..claims });
    let payload = other.split('.').nth(1).unwrap();
    let spliced = format!("{}.{payload}.{}", parts[0], parts[2]);
    assert_eq!(door.verifier.verify(&spliced), Err(TokenError::Forged { claim: None }));
    // `{"alg":"none"}`, without and with a signature.
    for signature in ["", parts[2]] {
        let unsigned = format!("eyJhbGciOiJub25lIn0.{}.{signature}", parts[1]);
        assert_eq!(door.verifier.verify(&unsigned), Err(TokenError::Malformed { claim: None }));
    }
}

#[test]
fn headers_name_a_bearer() {
    let door = fixture(&Role::ALL);
    let token = door.issuer.issue(&claims(Role::Player, PLAYER));
    let judge = |text: &str| door.verifier.verify_header(Some(text.as_bytes()));
    assert!(judge(&format!("Bearer {token}")).is_ok());
    assert!(judge(&format!("bearer {token}")).is_ok());
    assert_eq!(judge(&format!("Basic {token}")), Err(TokenError::Malformed { claim: None }));
    assert_eq!(judge(&token), Err(TokenError::Malformed { claim: None }));
    assert_eq!(
        door.verifier.verify_header(Some(b"Bearer \xff")),
        Err(TokenError::Malformed { claim: None })
    );
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
    assert_eq!(door.verifier.verify(&first), Err(TokenError::Expired { claim: "exp" }));
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
