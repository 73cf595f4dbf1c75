use super::*;
use proto::common::v1::EntropyStatus;

#[track_caller]
fn bad<T: std::fmt::Debug>(parsed: Result<T, BadField>, field: &str) {
    assert_eq!(parsed.unwrap_err().field, field);
}

fn pb_row(status: EntropyStatus) -> pb::EntropyRow {
    pb::EntropyRow {
        seat: 2,
        player_id: vec![1; 16],
        status: status.into(),
        commitment: vec![2; 32],
        entropy: vec![3; 32],
    }
}

/// fairness/SPEC.md §5.5.
#[test]
fn rows_hold_what_their_status_says_and_no_more() {
    use EntropyStatus::{Absent, Revealed, Withheld};
    let parse = |row| parse_seal_input(&[], vec![row]).map(|sealing| sealing.rows[0]);
    let revealed = parse(pb_row(Revealed)).unwrap();
    assert_eq!(row_to_pb(&revealed), pb_row(Revealed));
    bad(parse(pb_row(Withheld)), "rows[0].entropy");
    bad(parse(pb_row(Absent)), "rows[0].commitment");
    bad(parse(pb::EntropyRow { entropy: vec![], ..pb_row(Revealed) }), "rows[0].entropy");
    bad(parse(pb_row(EntropyStatus::Unspecified)), "rows[0].status");
    bad(parse(pb::EntropyRow { seat: 9, ..pb_row(Revealed) }), "rows[0].seat");
    bad(parse(pb::EntropyRow { player_id: vec![1; 15], ..pb_row(Revealed) }), "rows[0].player_id");
    let withheld = pb::EntropyRow { entropy: vec![], ..pb_row(Withheld) };
    assert_eq!(row_to_pb(&parse(withheld.clone()).unwrap()), withheld);
    let absent = pb::EntropyRow { commitment: vec![], entropy: vec![], ..pb_row(Absent) };
    assert_eq!(row_to_pb(&parse(absent.clone()).unwrap()), absent);
    bad(parse_seal_input(&[], vec![]), "rows");
}

/// fairness/SPEC.md §5.6.
#[test]
fn a_beacon_is_refused_whatever_it_is() {
    let row = || vec![pb_row(EntropyStatus::Revealed)];
    parse_seal_input(&[], row()).unwrap();
    for beacon in [&[0][..], &[0; 41], &[1; 41], &[1; 42]] {
        let refused = parse_seal_input(beacon, row()).unwrap_err();
        assert_eq!(refused.field, "beacon");
        assert!(refused.problem.contains("must be empty"), "{}", refused.problem);
    }
}

fn operations() -> Vec<pb::Operation> {
    use pb::operation::Kind::{Pick, Pulse, Roll, Sample, Shuffle};
    let cards = vec![pb::Handle { op: 0, position: 5 }, pb::Handle { op: 0, position: 6 }];
    let kinds = [
        Shuffle(pb::Shuffle { pile: 1, fresh: 22, first_fresh: 22, cards: vec![] }),
        Shuffle(pb::Shuffle { pile: 1, fresh: 0, first_fresh: 0, cards }),
        Roll(pb::Roll { sides: vec![6, 6] }),
        Pulse(pb::Pulse { ppm: 5 }),
        Pick(pb::Pick { n: 70_000 }),
        Sample(pb::Sample { n: 16, k: 3 }),
    ];
    (0..).zip(kinds).map(|(index, kind)| pb::Operation { index, kind: Some(kind) }).collect()
}

#[test]
fn operations_and_openings_keep_every_field() {
    for operation in operations() {
        let parsed = super::parse_operation(operation.clone()).unwrap();
        assert_eq!(operation_to_pb(&parsed), operation);
    }
    for reason in [1, 2, 3, 4] {
        let cards = vec![pb::Handle { op: 3, position: 4 }];
        let opening = pb::Opening { cards, audience_seat: 8, reason };
        assert_eq!(card_reveal_to_pb(&super::parse_card_reveal(opening.clone()).unwrap()), opening);
    }
}

#[test]
fn a_bad_field_is_named_with_its_path() {
    use pb::operation::Kind::{Roll, Sample, Shuffle};
    let asked = |kind| {
        let good = operations().swap_remove(0);
        parse_perform(vec![good, pb::Operation { index: 1, kind: Some(kind) }], vec![])
    };
    let shuffle = pb::Shuffle { pile: 0, fresh: 76, first_fresh: 0, cards: vec![] };
    bad(asked(Shuffle(pb::Shuffle { pile: 256, ..shuffle.clone() })), "operations[1].shuffle.pile");
    let cards = vec![pb::Handle { op: 0, position: 70_000 }];
    bad(
        asked(Shuffle(pb::Shuffle { cards: cards.clone(), ..shuffle.clone() })),
        "operations[1].shuffle.fresh",
    );
    bad(
        asked(Shuffle(pb::Shuffle { fresh: 0, cards, ..shuffle })),
        "operations[1].shuffle.cards[0].position",
    );
    bad(asked(Roll(pb::Roll { sides: vec![6, 256] })), "operations[1].roll.sides[1]");
    bad(asked(Roll(pb::Roll { sides: vec![6; 17] })), "operations[1].roll.sides");
    bad(asked(Sample(pb::Sample { n: 256, k: 1 })), "operations[1].sample.n");
    bad(parse_perform(vec![pb::Operation { index: 0, kind: None }], vec![]), "operations[0].kind");
    bad(parse_perform(vec![], vec![]), "operations");
    bad(parse_perform(vec![pb::Operation::default(); 65], vec![]), "operations");
    let opening = pb::Opening { cards: vec![], audience_seat: 1, reason: 1 };
    bad(parse_perform(vec![], vec![opening.clone()]), "openings[0].cards");
    let cards = vec![pb::Handle::default()];
    let silent = pb::Opening { cards: cards.clone(), reason: 0, ..opening.clone() };
    bad(parse_perform(vec![], vec![silent]), "openings[0].reason");
    let nobody = pb::Opening { cards, audience_seat: 9, ..opening };
    bad(parse_perform(vec![], vec![nobody]), "openings[0].audience_seat");
    bad(parse_hand_name(&[1; 16], 0), "hand_no");
}
