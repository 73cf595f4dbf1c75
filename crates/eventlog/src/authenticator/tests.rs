use bytes::Bytes;
use eventlog_core::Version;
use primitives::{RequestId, StreamId, UnixMicros};

use super::*;

fn authenticator(secret: u8, log: &str) -> Authenticator {
    Authenticator::new(&[secret; 32], log, Arc::new(|| [7; NONCE_LEN]))
}

fn event() -> Event {
    let mut event = Event {
        position: Position(1),
        recorded_at: UnixMicros(2),
        stream: StreamId([3; 16]),
        version: Version(4),
        kind: 5,
        schema: 6,
        sealed: false,
        payload: Bytes::from_static(b"abc"),
        salt: [0; 16],
        author_hash: [8; 32],
        request_id: None,
        actor: "player:a".into(),
        trace: [9; 16],
        previous: [7; 32],
    };
    event.salt = authenticator(1, "table/0").salt(&event);
    event
}

/// ARCHITECTURE.md §2.2.
#[test]
fn an_event_is_authentic_as_it_was_written_alone() {
    let written = authenticator(1, "table/0");
    assert!(written.is_authentic(&event()));
    assert_eq!(event().salt[..NONCE_LEN], [7; NONCE_LEN]);
    let changes: [fn(&mut Event); 12] = [
        |event| event.position.0 += 1,
        |event| event.recorded_at.0 += 1,
        |event| event.stream.0[0] ^= 1,
        |event| event.version.0 += 1,
        |event| event.kind += 1,
        |event| event.schema += 1,
        |event| event.sealed = true,
        |event| event.payload = Bytes::from_static(b"abd"),
        |event| event.author_hash[0] ^= 1,
        |event| event.previous[0] ^= 1,
        |event| event.salt[0] ^= 1,
        |event| event.salt[15] ^= 1,
    ];
    for (n, change) in changes.into_iter().enumerate() {
        let mut event = event();
        change(&mut event);
        assert!(!written.is_authentic(&event), "change {n}");
    }
    for other in [authenticator(2, "table/0"), authenticator(1, "table/1")] {
        assert!(!other.is_authentic(&event()));
    }
}

/// ARCHITECTURE.md §2.2.
#[test]
fn an_event_under_a_previous_key_is_authentic() {
    let changed = authenticator(2, "table/0");
    assert!(!changed.is_authentic(&event()));
    let old = [1; 32];
    let knows = |secret, until| {
        let previous = PreviousSecret { secret, until: Position(until) };
        changed.clone().with_previous([previous].into_iter(), "table/0")
    };
    // The event is at position 1.
    assert!(knows(Some(&old[..]), 2).is_authentic(&event()));
    assert!(!knows(Some(&old[..]), 1).is_authentic(&event()), "the key counts no more");
    assert!(!knows(Some(&[3; 32]), 2).is_authentic(&event()));
    let any = Event { salt: [0; 16], ..event() };
    assert!(knows(None, 2).is_authentic(&any) && !knows(None, 1).is_authentic(&any));
    let knows = knows(Some(&old[..]), 2);
    let written = Event { salt: knows.salt(&event()), ..event() };
    assert!(knows.is_authentic(&written));
    assert!(
        !authenticator(1, "table/0").is_authentic(&written),
        "new events are under the new key"
    );
    // So are answers.
    let (key, digest) = (RequestKey::new("player:a", RequestId([1; 16])), [4; 32]);
    let tag = authenticator(1, "table/0").tag(key, &digest, Position(1), b"yes");
    let stored = |at, tag| AnsweredRequest {
        key,
        tag: Some(tag),
        first: Position(at),
        answer: Bytes::from_static(b"yes"),
    };
    assert!(knows.answers(&stored(1, tag), &digest) && !changed.answers(&stored(1, tag), &digest));
    let late = authenticator(1, "table/0").tag(key, &digest, Position(2), b"yes");
    assert!(!knows.answers(&stored(2, late), &digest));
}

/// ARCHITECTURE.md §2.9.
#[test]
fn an_answer_belongs_to_its_request_and_content() {
    let authenticator = authenticator(1, "table/0");
    let (key, digest) = (RequestKey::new("player:a", RequestId([1; 16])), [4; 32]);
    let (first, answer) = (Position(5), Bytes::from_static(b"yes"));
    let tag = authenticator.tag(key, &digest, first, &answer);
    let stored = AnsweredRequest { key, tag: Some(tag), first, answer };
    assert!(authenticator.answers(&stored, &digest));
    assert!(!authenticator.answers(&stored, &[5; 32]));
    let other_key = RequestKey::new("player:b", RequestId([1; 16]));
    let forged = [
        AnsweredRequest { key: other_key, ..stored.clone() },
        AnsweredRequest { first: Position(6), ..stored.clone() },
        AnsweredRequest { answer: Bytes::from_static(b"no"), ..stored.clone() },
        AnsweredRequest { tag: Some([0; 16]), ..stored.clone() },
        AnsweredRequest { tag: None, ..stored },
    ];
    assert!(forged.iter().all(|forged| !authenticator.answers(forged, &digest)));
}
