use std::collections::BTreeSet;

use chassis::auth::{IssuerKey, Verifier};
use eventlog::{Authenticator, Limits, Log, MemStore, Options, Store};
use keyring::{Keyring, SecretStore};
use primitives::{PlayerId, RequestId};
use system::clock::{ManualClock, SystemClock};
use system::entropy::{SeededEntropy, SystemEntropy};
use system::ids::IdMaker;

use super::*;
use crate::people::PlayerKeys;
use crate::people::directory::Directory;
use crate::people::sign_ins::RevokedTokens;
use crate::recovery::fold;

mod readers;

const PER_DAY: u32 = 4;
/// Time by which the log's clock may have gone on beside the guests' own.
const A_MOMENT: Duration = Duration::from_mins(1);

/// A log in memory whose guests can be read again, as after a restart.
struct Fixture {
    store: Arc<MemStore>,
    keys: SecretStore,
    clock: Arc<ManualClock>,
    issuer: TokenIssuer,
}

impl Fixture {
    fn new() -> Fixture {
        Fixture {
            store: MemStore::new(),
            keys: SecretStore::memory(),
            clock: Arc::new(ManualClock::new(SystemClock::new().now())),
            issuer: TokenIssuer::generate("guests", &SeededEntropy::new(1)),
        }
    }

    /// Recovers people from the log.
    async fn people(&self) -> Arc<People> {
        let clock = SystemClock::new();
        let options = Options {
            name: "table/0".into(),
            owner: "test".into(),
            address: "nowhere".into(),
            lease: Duration::from_secs(5),
            take_over: true,
            clock: Arc::new(move || clock.now()),
            authenticator: Authenticator::new(&[7; 32], "", Arc::new(|| [7; 8])),
            limits: Limits::default(),
        };
        let store: Arc<dyn Store> = Arc::<MemStore>::clone(&self.store);
        let log = Log::open(store, options).await.unwrap();
        let folded = fold(&log, None).await.unwrap();
        let player_keys = PlayerKeys {
            keys: self.keys.clone(),
            keyring: Keyring::new(&[5; 32].into(), &[]),
            entropy: Arc::new(SystemEntropy),
        };
        let ids = IdMaker::system();
        let people = People::open(log, ids, folded.people, player_keys, Directory::default());
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let guests = GuestIssuer::new(self.issuer.clone(), PER_DAY, clock, Arc::new(SystemEntropy));
        Arc::new(people.await.unwrap().with_guests(Some(Arc::new(guests))))
    }
}

fn by(actor: &str, request: u8, content: u8) -> Author {
    Author {
        request: RequestId([request; 16]),
        digest: [content; 32],
        actor: actor.into(),
        trace: [0; 16],
    }
}

async fn sign_in(people: &People, request: u8, name: &str) -> Result<GivenToken, ErrorReason> {
    let content = name.bytes().fold(1, u8::wrapping_add);
    let secret = SignInSecret::read((request..request + 32).collect()).unwrap();
    let signed = people.sign_in(name, &secret, by("anybody", request, content)).await;
    signed
        .map(|(given, shown)| {
            assert_eq!(shown, name);
            given
        })
        .map_err(|refused| refused.reason())
}

async fn refresh(
    people: &People,
    token: &RefreshToken,
    request: u8,
) -> Result<RefreshToken, ErrorReason> {
    let actor = format!("player:{}", token.player);
    let read = RefreshToken::parse(&token.expose()).unwrap();
    let given = people.refresh(read, by(&actor, request, request)).await;
    given.map(|given| given.token).map_err(|refused| refused.reason())
}

fn revoked(people: &People) -> Vec<RevokedTokens> {
    let page = people.revocations_from(0, SystemClock::new().now(), 100);
    assert!(!page.more);
    page.revocations.into_iter().map(|revocation| revocation.tokens).collect()
}

#[tokio::test]
async fn a_guest_gets_tokens_that_the_room_believes_for_a_player_alone() {
    let room = Fixture::new();
    let people = room.people().await;
    let given = sign_in(&people, 1, "Lando").await.unwrap();
    let tokens = people.guests().unwrap().tokens(&given);
    let keys = vec![IssuerKey::for_guests(room.issuer.public_key())];
    let verifier = Verifier::new(keys, Arc::clone(&room.clock) as Arc<dyn Clock>);
    let identity = verifier.verify(&tokens.access_token).unwrap();
    assert_eq!(identity, Identity::new(Role::Player, given.token.player.to_string()));
    room.clock.advance(ACCESS_TOKEN_LIFETIME);
    assert!(verifier.verify(&tokens.access_token).is_err());
    assert_eq!(people.player(given.token.player).await.unwrap().name, "Lando");
}

#[tokio::test]
async fn a_repeated_sign_in_is_one_guest_also_after_a_restart() {
    let room = Fixture::new();
    let people = room.people().await;
    let first = sign_in(&people, 1, "Lando").await.unwrap();
    let unnamed = sign_in(&people, 2, "").await.unwrap();
    for people in [people, room.people().await] {
        let again = sign_in(&people, 1, "Lando").await.unwrap();
        assert_eq!(again.token.expose(), first.token.expose());
        assert_eq!(sign_in(&people, 2, "").await.unwrap().token.expose(), unnamed.token.expose());
        for (request, other) in [(1, "Han"), (1, ""), (2, "Han")] {
            let reused = sign_in(&people, request, other).await.err();
            assert_eq!(reused, Some(ErrorReason::RequestIdReused), "{request} {other}");
        }
    }
    let people = room.people().await;
    refresh(&people, &first.token, 3).await.unwrap();
    let late = sign_in(&people, 1, "Lando").await.err();
    assert_eq!(late, Some(ErrorReason::AlreadyExists), "its token is in use");
    room.clock.advance(REPEAT_SPAN + A_MOMENT);
    let late = sign_in(&people, 2, "").await.err();
    assert_eq!(late, Some(ErrorReason::AlreadyExists), "ten minutes are over");
}

#[tokio::test]
async fn a_day_takes_so_many_guests_also_over_a_restart() {
    let room = Fixture::new();
    let people = room.people().await;
    for request in 1..=3 {
        sign_in(&people, request, "").await.unwrap();
    }
    let people = room.people().await;
    sign_in(&people, 4, "").await.unwrap();
    assert_eq!(sign_in(&people, 5, "").await.err(), Some(ErrorReason::RecordsSpent));
    assert!(sign_in(&people, 4, "").await.is_ok(), "a repeat is no other guest");
    room.clock.advance(Duration::from_hours(24));
    assert!(sign_in(&people, 5, "").await.is_ok());
}

#[tokio::test]
async fn a_refresh_token_is_used_once_and_its_request_may_be_repeated() {
    let room = Fixture::new();
    let people = room.people().await;
    let first = sign_in(&people, 1, "").await.unwrap().token;
    let second = refresh(&people, &first, 2).await.unwrap();
    assert_ne!(first.expose(), second.expose());
    for people in [people, room.people().await] {
        let again = refresh(&people, &first, 2).await.unwrap();
        assert_eq!(again.expose(), second.expose(), "the answer was lost");
    }
    let people = room.people().await;
    let third = refresh(&people, &second, 3).await.unwrap();
    let tokens = [first, second, third].map(|token| token.expose());
    assert_eq!(BTreeSet::from(tokens).len(), 3);
    assert!(revoked(&people).is_empty());
}

#[tokio::test]
async fn a_token_that_is_used_twice_ends_its_family_for_good() {
    // The thief is first, the owner is first, and somebody has a token of long ago.
    for (steps, stolen) in [(1, 0), (2, 0), (4, 1)] {
        let room = Fixture::new();
        let people = room.people().await;
        let mut tokens = vec![sign_in(&people, 1, "").await.unwrap().token];
        for step in 0..steps {
            let newest = tokens.last().unwrap();
            tokens.push(refresh(&people, newest, 10 + step).await.unwrap());
        }
        let recorded = people.revoked();
        let reused = refresh(&people, &tokens[stolen], 99).await.err();
        assert_eq!(reused, Some(ErrorReason::TokenRevoked));
        assert!(recorded.has_changed().unwrap(), "whoever follows hears of it");
        let player = tokens[0].player.to_string();
        for people in [people, room.people().await] {
            for token in &tokens {
                let refused = refresh(&people, token, 100).await.err();
                assert_eq!(refused, Some(ErrorReason::TokenRevoked));
            }
            let [RevokedTokens::Subject { subject, .. }] = &revoked(&people)[..] else {
                panic!("one revocation")
            };
            assert_eq!(*subject, player);
        }
    }
}

#[tokio::test]
async fn a_forged_token_does_nothing_to_its_player() {
    let room = Fixture::new();
    let people = room.people().await;
    let token = sign_in(&people, 1, "").await.unwrap().token;
    let newest = refresh(&people, &token, 2).await.unwrap();
    let stranger = RefreshSecret::new(Zeroizing::new([9; 32]));
    for generation in [0, 1, 2, u64::MAX] {
        let forged = stranger.token(token.player, generation, RequestId([7; 16]), &[]);
        assert_eq!(refresh(&people, &forged, 3).await.err(), Some(ErrorReason::TokenForged));
    }
    let nobody = stranger.token(PlayerId([8; 16]), 0, RequestId([7; 16]), &[]);
    assert_eq!(refresh(&people, &nobody, 3).await.err(), Some(ErrorReason::TokenForged));
    assert!(revoked(&people).is_empty());
    assert!(refresh(&people, &newest, 4).await.is_ok());
}

#[tokio::test]
async fn a_token_that_is_not_used_for_a_month_is_over() {
    let room = Fixture::new();
    let people = room.people().await;
    let token = sign_in(&people, 1, "").await.unwrap().token;
    room.clock.advance(REFRESH_LIFETIME + A_MOMENT);
    assert_eq!(refresh(&people, &token, 2).await.err(), Some(ErrorReason::TokenExpired));
}

#[tokio::test]
async fn a_guest_gets_so_many_tokens_a_day() {
    let room = Fixture::new();
    let people = room.people().await;
    let mut token = sign_in(&people, 1, "").await.unwrap().token;
    let guests = people.guests().unwrap();
    for _ in 1..REFRESHES_PER_DAY {
        guests.refreshes.count(token.player, room.clock.now());
    }
    token = refresh(&people, &token, 2).await.unwrap();
    assert_eq!(refresh(&people, &token, 3).await.err(), Some(ErrorReason::RecordsSpent));
    room.clock.advance(Duration::from_hours(24));
    assert!(refresh(&people, &token, 3).await.is_ok());
}

#[tokio::test]
async fn who_signs_out_or_is_erased_or_revoked_does_not_come_back() {
    let room = Fixture::new();
    let people = room.people().await;
    let [out, revoked_one, erased] = [1, 2, 3];
    let mut tokens = Vec::new();
    for request in [out, revoked_one, erased] {
        tokens.push(sign_in(&people, request, "Lando").await.unwrap().token);
    }
    let subject = |at: usize| event::tokens_revoked::Tokens::Subject(tokens[at].player.to_string());
    let now = room.clock.now();
    let revoke = |at, cause| RevokeCommand { tokens: subject(at), cause, reason: String::new() };
    for _ in 0..2 {
        let own = revoke(0, RevocationCause::SignedOut);
        people.revoke(own, now, by("player:out", 11, 1)).await.unwrap();
    }
    let by_operator = revoke(1, RevocationCause::Operator);
    people.revoke(by_operator, now, by("operator:test", 12, 1)).await.unwrap();
    people.erase(tokens[2].player, "asked", by("operator:test", 13, 1)).await.unwrap();
    for people in [Arc::clone(&people), room.people().await] {
        let reasons = [
            refresh(&people, &tokens[0], 20).await.err(),
            refresh(&people, &tokens[1], 21).await.err(),
            refresh(&people, &tokens[2], 22).await.err(),
        ];
        let gone = Some(ErrorReason::TokenRevoked);
        assert_eq!(reasons, [gone, gone, Some(ErrorReason::PlayerErased)]);
        let RevokedTokens::Subject { issued_until, .. } = revoked(&people)[1].clone() else {
            panic!("it names a subject")
        };
        assert_eq!(issued_until, now.plus(ISSUER_SKEW));
        assert_eq!(revoked(&people).len(), 2, "a repeat is one");
    }
    // Nothing can be recorded in the stream of an erased player, and their tokens are revoked all the same.
    let people = room.people().await;
    let again = revoke(2, RevocationCause::Operator);
    people.revoke(again, now, by("operator:test", 14, 1)).await.unwrap();
    let people = room.people().await;
    assert_eq!(revoked(&people).len(), 3);
}

/// A revocation is durable before it is answered, so a crash between the two loses the answer alone.
#[tokio::test]
async fn a_revocation_that_was_not_answered_is_received_after_the_restart() {
    let room = Fixture::new();
    let people = room.people().await;
    let revoke = RevokeCommand {
        tokens: event::tokens_revoked::Tokens::TokenId("a-token".to_owned()),
        cause: RevocationCause::Operator,
        reason: "stolen".to_owned(),
    };
    let answer = people.revoke(revoke, room.clock.now(), by("operator:test", 1, 1)).await;
    drop((answer, people));
    let people = room.people().await;
    assert_eq!(revoked(&people), [RevokedTokens::Id("a-token".to_owned())]);
    assert!(people.owns_log().await);
    let other = room.people().await;
    assert!(!people.owns_log().await, "the log has another owner: this process hears nothing");
    drop(other);
}

#[tokio::test]
async fn nothing_personal_and_no_token_is_in_the_log() {
    let room = Fixture::new();
    let people = room.people().await;
    let token = sign_in(&people, 1, "Calrissian").await.unwrap().token;
    refresh(&people, &token, 2).await.unwrap();
    let events = people.log.read(eventlog::Position(0), 100).await.unwrap();
    assert_eq!(events.len(), 3, "sign-in, name, refresh");
    let text = token.expose();
    let digits = &text[text.len() - 64..];
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    let tag: Vec<u8> = (0..64).step_by(2).map(byte).collect();
    for event in &events {
        let has = |part: &[u8]| event.payload.windows(part.len()).any(|it| it == part);
        assert!(!has(b"Calrissian") && !has(digits.as_bytes()) && !has(&tag));
        assert!(event.payload.len() < 200, "a guest costs little: {}", event.payload.len());
    }
}

#[tokio::test]
async fn a_room_without_guests_says_so() {
    let room = Fixture::new();
    let people = room.people().await;
    let people = Arc::into_inner(people).unwrap().with_guests(None);
    assert_eq!(sign_in(&people, 1, "").await.err(), Some(ErrorReason::NoSuchMethod));
}
