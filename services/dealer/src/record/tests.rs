use eventlog::{Position, StreamId, UnixMicros, Version};
use fairness::{Handle, OperationRequest};
use primitives::TableId;

use super::*;
use crate::hand::Closed;
use crate::hand::{CardReveal, HandName, IndexedOperation, OperationResult, Reason, SealInput};

fn stored(new: NewEvent) -> eventlog::Event {
    let NewEvent { stream, kind, schema, sealed, payload } = new;
    eventlog::Event {
        position: Position(9),
        recorded_at: UnixMicros(0),
        stream,
        version: Version(1),
        kind,
        schema,
        sealed,
        payload,
        salt: [0; 16],
        author_hash: [0; 32],
        request_id: None,
        actor: "test".into(),
        trace: [0; 16],
        previous: [0; 32],
    }
}

fn hand() -> HandName {
    HandName { table: TableId([1; 16]), number: 2 }
}

fn events() -> Vec<Event> {
    let row = fairness::TranscriptRow {
        seat: 1,
        player: primitives::PlayerId([1; 16]),
        status: fairness::RowStatus::Withheld,
        commitment: fairness::ClientCommitment([2; 32]),
        entropy: fairness::Entropy([0; 32]),
    };
    let committed = Committed {
        hand: hand(),
        rules_hash: [3; 32],
        commitment: Commitment([4; 32]),
        key_id: [5; 8],
        signature: [6; 64],
        origin: "test/dealer".into(),
    };
    let operation =
        IndexedOperation { index: 7, request: OperationRequest::Roll { sides: vec![6, 6] } };
    let input = fairness::ShuffleInput::Fresh { first: 0, count: 76 };
    let shuffle = OperationRequest::Shuffle { pile: 0, input };
    let cards = vec![Handle { op: 0, position: 3 }];
    let revealed = |discarded| {
        let seed = Seed::new(Zeroizing::new([8; 64]));
        Event::SeedOpened { seed, discarded }
    };
    vec![
        Event::SeedCommitted(committed),
        Event::CommitmentsClosed(Closed {
            closing: fairness::Closing([1; 32]),
            rows: vec![
                fairness::ClosingRow {
                    seat: 1,
                    player: primitives::PlayerId([1; 16]),
                    commitment: Some(fairness::ClientCommitment([2; 32])),
                },
                fairness::ClosingRow {
                    seat: 2,
                    player: primitives::PlayerId([2; 16]),
                    commitment: None,
                },
            ],
            key_id: [3; 8],
            signature: [4; 64],
        }),
        Event::SeedSealed {
            transcript: Transcript([7; 32]),
            seal_input: SealInput { rows: vec![row] },
        },
        Event::OperationPerformed {
            operation,
            result: OperationResult { index: 7, values: vec![5, 3], root: None },
        },
        Event::OperationPerformed {
            operation: IndexedOperation { index: 8, request: shuffle },
            result: OperationResult { index: 8, values: vec![76], root: Some([9; 32]) },
        },
        Event::CardsOpened {
            card_reveal: CardReveal { cards, audience: 4, reason: Reason::Show },
            caller: "service:table".into(),
        },
        revealed(false),
        revealed(true),
    ]
}

#[test]
fn every_event_comes_back_as_it_was_written() {
    for event in events() {
        let new = new_event(hand().id(), &event);
        assert_eq!(new.stream, StreamId::from(hand().id()));
        assert_eq!(parse(&stored(new)), Ok(event));
    }
}

#[test]
fn what_no_dealer_writes_is_corrupt() {
    let foreign = wire::TableRecord::from(pb::LeaveAsked::default()).on_stream(hand().id());
    let error = parse(&stored(foreign)).unwrap_err();
    assert_eq!((error.position, &error.what[..]), (9, "no dealer writes LeaveAsked"));
    for event in events() {
        let mut cut = new_event(hand().id(), &event);
        cut.payload = cut.payload.slice(..cut.payload.len() / 2);
        assert!(parse(&stored(cut)).is_err(), "{event:?}");
    }
}
