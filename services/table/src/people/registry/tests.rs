use super::*;
use crate::people::permissions;
use proto::common::v1::ErrorReason;

const ANN: PlayerId = PlayerId([1; 16]);
const BOB: PlayerId = PlayerId([2; 16]);
const TABLE: TableId = TableId([7; 16]);

fn place(stream: impl Into<StreamId>, position: u64) -> EventLocation {
    EventLocation {
        stream: stream.into(),
        position: Position(position),
        at: UnixMicros(1000 + position),
    }
}

fn named(player: PlayerId, nonce: u8) -> TableRecord {
    TableRecord::PlayerNamed(SealedPayload {
        player_id: player.0.to_vec().into(),
        nonce: vec![nonce; 24].into(),
        sealed: vec![0; 80].into(),
    })
}

fn opened(player: PlayerId, hand_no: u64) -> TableRecord {
    TableRecord::from(pb::DisputeOpened {
        player_id: player.0.to_vec().into(),
        table_id: TABLE.0.to_vec().into(),
        hand_no,
        hand_id: vec![u8::try_from(hand_no).unwrap(); 16].into(),
        ..Default::default()
    })
}

fn answered() -> TableRecord {
    TableRecord::from(pb::DisputeAnswered { verdict: DisputeVerdict::Upheld.into() })
}

fn erased() -> TableRecord {
    TableRecord::from(pb::PlayerErased { reason: "asked".to_owned(), ..Default::default() })
}

fn id(number: u8) -> DisputeId {
    DisputeId([number; 16])
}

/// A hand that these players were dealt into.
fn hand(players: &[PlayerId]) -> pb::HandOpened {
    let seat = |player: &PlayerId| pb::RosterSeat {
        player_id: player.0.to_vec().into(),
        ..Default::default()
    };
    pb::HandOpened { hand_no: 1, roster: players.iter().map(seat).collect(), ..Default::default() }
}

fn folded(events: &[(TableRecord, StreamId)]) -> Result<Registry, Corrupt> {
    let mut registry = Registry::default();
    for ((event, stream), position) in events.iter().zip(0..) {
        registry.evolve(event, place(*stream, position))?;
    }
    Ok(registry)
}

#[test]
fn the_last_name_counts_until_its_player_is_erased() {
    let events = [(named(ANN, 1), ANN.into()), (named(ANN, 2), ANN.into())];
    let mut registry = folded(&events).unwrap();
    let (sealed, place_of_name) = registry.person(ANN).unwrap().named.clone().unwrap();
    assert_eq!((sealed.nonce[0], place_of_name), (2, RecordPlace::from(place(ANN, 1))));
    assert!(permissions::check_not_erased(&registry, ANN).is_ok());
    registry.evolve(&erased(), place(ANN, 2)).unwrap();
    assert_eq!(registry.person(ANN).unwrap().named, None);
    assert_eq!(registry.erased().collect::<Vec<_>>(), [ANN]);
    let refused = permissions::check_not_erased(&registry, ANN).unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::PlayerErased);
    assert!(permissions::check_not_erased(&registry, BOB).is_ok());
}

#[test]
fn what_cannot_be_is_damage() {
    let cases: [&[(TableRecord, StreamId)]; 7] = [
        &[(named(ANN, 1), BOB.into())],
        &[(erased(), ANN.into()), (named(ANN, 1), ANN.into())],
        &[(erased(), ANN.into()), (erased(), ANN.into())],
        &[(erased(), ANN.into()), (opened(ANN, 1), id(1).into())],
        &[(opened(ANN, 1), id(1).into()), (opened(ANN, 2), id(1).into())],
        &[(answered(), id(1).into())],
        &[(opened(ANN, 1), id(1).into()), (answered(), id(1).into()), (answered(), id(1).into())],
    ];
    for (case, number) in cases.iter().zip(0..) {
        assert!(folded(case).is_err(), "case {number}");
    }
}

#[test]
fn disputes_are_listed_as_they_were_opened() {
    let registry = folded(&[
        (opened(ANN, 1), id(9).into()),
        (opened(BOB, 1), id(3).into()),
        (opened(ANN, 2), id(5).into()),
        (answered(), id(9).into()),
    ])
    .unwrap();
    let ids =
        |of| registry.disputes_from(of, 0).map(|(place, it)| (place, it.id)).collect::<Vec<_>>();
    assert_eq!(ids(None), [(0, id(9)), (1, id(3)), (2, id(5))]);
    assert_eq!(ids(Some(ANN)), [(0, id(9)), (1, id(5))]);
    assert_eq!(ids(Some(PlayerId([8; 16]))), []);
    let numbers: Vec<u64> = registry.disputes_from(None, 1).map(|(_, it)| it.number).collect();
    assert_eq!(numbers, [2, 3], "without a gap, in the order of the log");
    assert_eq!(registry.next_number(), 4);
    let dispute = registry.dispute(id(9)).unwrap();
    let answered = Some((DisputeVerdict::Upheld, UnixMicros(1003)));
    assert_eq!((dispute.opened_at, dispute.answered), (UnixMicros(1000), answered));
    // Another player's dispute is not visible.
    assert!(permissions::visible_dispute(&registry, id(3), Some(BOB)).is_ok());
    let refused = permissions::visible_dispute(&registry, id(3), Some(ANN)).unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::DisputeUnknown);
    let refused = permissions::answerable_dispute(&registry, id(9)).unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::DisputeAnswered);
    assert!(permissions::answerable_dispute(&registry, id(5)).is_ok());
}

/// ARCHITECTURE.md §7.5.
#[test]
fn only_who_was_dealt_in_disputes_a_hand_and_one_at_a_time() {
    let (one, two) = (HandId([1; 16]), HandId([2; 16]));
    let empty = Registry::default();
    assert!(permissions::check_dealt_into(ANN, &hand(&[BOB, ANN])).is_ok());
    assert!(permissions::check_dispute(&empty, ANN, one).is_ok());
    let refused = permissions::check_dealt_into(ANN, &hand(&[BOB])).unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::NotYourHand);
    let mut registry = folded(&[(opened(ANN, 1), id(1).into())]).unwrap();
    let refused = permissions::check_dispute(&registry, ANN, one).unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::AlreadyExists);
    let refused = permissions::check_dispute(&registry, ANN, two).unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::DisputesOpen);
    assert!(permissions::check_dispute(&registry, BOB, one).is_ok(), "another's holds nobody up");
    registry.evolve(&answered(), place(id(1), 1)).unwrap();
    assert!(permissions::check_dispute(&registry, ANN, one).is_ok(), "again, once answered");
}

#[test]
fn nobody_is_erased_who_sits_or_waits_for_an_answer() {
    let mut registry = folded(&[(opened(ANN, 1), id(1).into())]).unwrap();
    let refused = permissions::check_erasure(&registry, BOB, &[TABLE]).unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::PlayerSeated);
    assert!(refused.message().contains(&TABLE.to_string()));
    let refused = permissions::check_erasure(&registry, ANN, &[]).unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::DisputesOpen);
    registry.evolve(&answered(), place(id(1), 1)).unwrap();
    assert!(permissions::check_erasure(&registry, ANN, &[]).is_ok());
    assert!(permissions::check_erasure(&registry, BOB, &[]).is_ok());
}
