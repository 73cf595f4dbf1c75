//! Sign-ins against somebody who reads everything that is on record.

use eventlog::{Position, RequestKey};

use super::*;

/// A caller's own secret.
fn own() -> SignInSecret {
    SignInSecret::read((100..132).collect()).unwrap()
}

/// Everything that the database has of the log: events with their hashes, and answered requests.
async fn everything(people: &People, requests: &[RequestKey]) -> Vec<u8> {
    let mut seen = Vec::new();
    for event in people.log.read(Position(0), 100).await.unwrap() {
        seen.extend_from_slice(&event.payload);
        seen.extend([&event.salt[..], &event.author_hash, &event.previous, &event.trace].concat());
        seen.extend(event.request_id.iter().flat_map(|id| id.0));
        seen.extend(event.record());
        seen.extend(event.stream.0);
        seen.extend(event.actor.bytes());
    }
    let stored = people.log.reader().requests(requests).await.unwrap();
    assert_eq!(stored.len(), requests.len());
    for stored in &stored {
        seen.extend(stored.tag.unwrap());
        seen.extend_from_slice(&stored.answer);
    }
    seen
}

/// Each 32 bytes of what was read, as the secret of a sign-in.
fn secrets(seen: &[u8]) -> impl Iterator<Item = SignInSecret> {
    seen.windows(32).filter_map(|window| SignInSecret::read(window.to_vec()))
}

fn contains(seen: &[u8], part: &[u8]) -> bool {
    seen.windows(part.len()).any(|window| window == part)
}

#[tokio::test]
async fn who_reads_all_records_gets_no_token_and_keeps_no_guest_out() {
    let room = Fixture::new();
    let people = room.people().await;
    // What somebody has who also has the room's own secret.
    let stolen = RefreshSecret::new(room.issuer.derive_secret("sabacc/refresh-token/v1"));
    for (sign_in, name) in [(1, ""), (2, "Lando")] {
        let asked = || by("anybody", sign_in, 1);
        let first = people.sign_in(name, &own(), asked()).await.unwrap().0.token;
        let again = people.sign_in(name, &own(), asked()).await.unwrap().0.token;
        assert_eq!(again.sha256(), first.sha256(), "their own repeat gets the same");
        let size = people.log.size();
        let key = RequestKey::new("anybody", asked().request);
        let seen = everything(&people, &[key]).await;
        assert!(!contains(&seen, first.nonce()));
        for tried in secrets(&seen) {
            let refused = people.sign_in(name, &tried, asked()).await.err().unwrap();
            assert_eq!(refused.reason(), ErrorReason::RequestIdReused);
            let made = stolen.first_token(first.player, asked().request, &tried);
            assert_ne!(made.sha256(), first.sha256());
        }
        assert_eq!(people.log.size(), size, "nothing came of it");

        // A repeat of Refresh brings the used token: its hash and its request are not enough.
        let actor = format!("player:{}", first.player);
        let refresh = || by(&actor, 10, 1);
        let used = || RefreshToken::parse(&first.expose()).unwrap();
        let next = people.refresh(used(), refresh()).await.unwrap().token;
        let seen = everything(&people, &[key, RequestKey::new(&actor, refresh().request)]).await;
        let stranger = RefreshSecret::new(Zeroizing::new([9; 32]));
        for tried in secrets(&seen) {
            let guessed = stolen.first_token(first.player, asked().request, &tried);
            assert_ne!(stolen.next_token(&guessed, refresh().request).sha256(), next.sha256());
            let forged = stranger.first_token(first.player, asked().request, &tried);
            let refused = people.refresh(forged, refresh()).await.err().unwrap();
            assert_eq!(refused.reason(), ErrorReason::TokenForged);
        }
        assert!(revoked(&people).is_empty());
        let repeated = people.refresh(used(), refresh()).await.unwrap().token;
        assert_eq!(repeated.sha256(), next.sha256(), "the guest is not kept out");
    }
}
