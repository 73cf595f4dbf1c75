//! Round trips of all events, and refusals of events that no wallet writes.

use eventlog_core::{Position, Version};
use primitives::{AdjustmentId, HoldId, RequestId};
use prost::Message as _;

use super::*;

const TABLE: TableId = TableId([1; 16]);
const PLAYER: PlayerId = PlayerId([10; 16]);
const OWN: Account = Account::Player(PLAYER);
const SEAT: Account = Account::Seat(TABLE, PLAYER);
const HOLD: HoldId = HoldId([3; 16]);
const ADJUSTMENT: AdjustmentId = AdjustmentId([4; 16]);

fn stored(new: NewEvent) -> eventlog_core::Event {
    let NewEvent { stream, kind, schema, sealed, payload } = new;
    eventlog_core::Event {
        position: Position(0),
        recorded_at: UnixMicros(1),
        stream,
        version: Version(1),
        kind,
        schema,
        sealed,
        payload,
        request_id: None,
        actor: "wallet".into(),
        trace: [0; 16],
        previous: [0; 32],
    }
}

fn transfer(kind: Kind, from: Account, to: Account) -> Posted {
    let amount = Amount::credit(Credits::of(5));
    let legs = vec![Leg { account: from, amount: amount.negated() }, Leg { account: to, amount }];
    Transfer { id: RequestId([7; 16]), kind, legs, reason: String::new() }.into()
}

/// All events, each with the first byte of its stream.
fn all() -> Vec<(Event, u8)> {
    let ended = Ended { hold: HOLD, from: OWN, to: SEAT, amount: Credits::of(9) };
    let approved = Posted {
        approved_by: Some("second".into()),
        ..transfer(Kind::Adjustment { adjustment: ADJUSTMENT }, Account::Issuance, Account::Rake)
    };
    let pot = Account::SabaccPot(TABLE);
    let reason = || "because".to_owned();
    vec![
        (Event::Opened(OWN), 10),
        (Event::Opened(SEAT), 1),
        (Event::Posted(transfer(Kind::Issue, Account::Issuance, OWN)), 10),
        (Event::Posted(transfer(Kind::Redeem, OWN, Account::Issuance)), 10),
        (Event::Posted(transfer(Kind::BuyIn, OWN, SEAT)), 1),
        (Event::Posted(transfer(Kind::CashOut, SEAT, OWN)), 1),
        (Event::Posted(transfer(Kind::Settlement { table: TABLE }, SEAT, pot)), 1),
        (Event::Posted(transfer(Kind::PotRefund { table: TABLE }, pot, SEAT)), 1),
        (Event::Posted(transfer(Kind::Capture { hold: HOLD, keep_rest: true }, SEAT, pot)), 1),
        (Event::Posted(transfer(Kind::Capture { hold: HOLD, keep_rest: false }, OWN, SEAT)), 1),
        (Event::Posted(approved), 0),
        (Event::Frozen { player: PLAYER, reason: reason() }, 10),
        (Event::Unfrozen { player: PLAYER, reason: reason() }, 10),
        (Event::Closed { player: PLAYER, reason: reason() }, 10),
        (
            Event::HoldPlaced(Hold {
                id: HOLD,
                from: OWN,
                to: SEAT,
                amount: Credits::MAX,
                expires_at: UnixMicros(u64::MAX),
            }),
            1,
        ),
        (Event::HoldReleased(ended), 1),
        (Event::HoldExpired(ended), 1),
        (Event::SnapshotTaken { digest: [9; 32] }, 0),
        (Event::Excluded { player: PLAYER, until: None }, 10),
        (Event::Excluded { player: PLAYER, until: Some(UnixMicros(5)) }, 10),
        (
            Event::AdjustmentProposed(Adjustment {
                id: ADJUSTMENT,
                account: Account::Rake,
                amount: Amount::debit(Credits::MAX),
                reason: reason(),
                proposed_by: "first".into(),
            }),
            0,
        ),
        (Event::AdjustmentRejected { adjustment: ADJUSTMENT, account: SEAT, reason: reason() }, 1),
    ]
    .into_iter()
    .chain(limits().into_iter().map(|event| (event, 10)))
    .collect()
}

fn limits() -> Vec<Event> {
    let some = Limits { day: Some(Credits::ZERO), week: None, month: Some(Credits::MAX) };
    let time = Limits { day: Some(Seconds(0)), week: None, month: Some(Seconds::MAX) };
    let set = |by, terms| Event::LimitsSet { player: PLAYER, by, terms };
    let later = Some((UnixMicros(77), Limits::NONE));
    vec![
        set(Setter::Player, SetTerms::BuyIn(Terms { now: some, later: None })),
        set(Setter::Operator, SetTerms::BuyIn(Terms { now: some, later })),
        set(Setter::Player, SetTerms::Loss(Terms { now: some, later: None })),
        set(Setter::Operator, SetTerms::Loss(Terms { now: some, later })),
        set(
            Setter::Player,
            SetTerms::Time(Terms { now: time, later: Some((UnixMicros(78), time)) }),
        ),
    ]
}

#[test]
fn every_event_comes_back_as_it_was_from_the_stream_it_belongs_to() {
    for (event, first) in all() {
        let written = stored(new_event(&event));
        assert_eq!(written.stream.0, [first; 16], "{event:?}");
        assert_eq!(parse(&written), Ok(event));
    }
}

#[test]
fn nothing_comes_from_another_stream_or_in_other_words() {
    for (event, _) in all() {
        let mut elsewhere = stored(new_event(&event));
        elsewhere.stream = StreamId([99; 16]);
        assert!(matches!(parse(&elsewhere), Err(Foreign::Stream(..))), "{event:?}");

        let mut sealed = stored(new_event(&event));
        sealed.sealed = true;
        let refused = Err(Foreign::Unreadable(Unreadable::Sealing(sealed.kind)));
        assert_eq!(parse(&sealed), refused, "{event:?}");

        // A field that protobuf ignores.
        let mut longer = stored(new_event(&event));
        longer.payload = [&longer.payload[..], &[0xf8, 0x01, 0x01]].concat().into();
        assert_eq!(parse(&longer), Err(Foreign::Words), "{event:?}");
    }
}

#[test]
fn no_field_is_believed() {
    fn check(event: &Event, edit: impl FnOnce(&mut pb::TransferPosted)) -> Foreign {
        let mut written = stored(new_event(event));
        let mut message = pb::TransferPosted::decode(written.payload).unwrap();
        edit(&mut message);
        written.payload = message.encode_to_vec().into();
        parse(&written).unwrap_err()
    }
    let buy_in = Event::Posted(transfer(Kind::BuyIn, OWN, SEAT));
    let other: bytes::Bytes = vec![8; 16].into();
    assert_eq!(check(&buy_in, |it| it.kind = 0), Foreign::Field("kind"));
    assert_eq!(check(&buy_in, |it| it.kind = 99), Foreign::Field("kind"));
    assert_eq!(check(&buy_in, |it| it.kind = 7), Foreign::Field("adjustment_id"));
    assert_eq!(check(&buy_in, |it| it.kind = 8), Foreign::Field("hold_id"));
    assert_eq!(check(&buy_in, |it| it.transfer_id.clear()), Foreign::Field("transfer_id"));
    assert_eq!(check(&buy_in, |it| it.legs[0].amount = i64::MIN), Foreign::Field("amount"));
    let upper = check(&buy_in, |it| it.legs[0].account.make_ascii_uppercase());
    assert_eq!(upper, Foreign::Field("account"));
    assert_eq!(check(&buy_in, |it| it.approved_by.push('x')), Foreign::Field("approved_by"));
    assert_eq!(check(&buy_in, |it| it.table_id = other.clone()), Foreign::Words);
    assert_eq!(check(&buy_in, |it| it.hand_id = other.clone()), Foreign::Words);
    assert_eq!(check(&buy_in, |it| it.hold_id = other.clone()), Foreign::Words);
    assert_eq!(check(&buy_in, |it| it.keep_rest = true), Foreign::Words);
    assert_eq!(check(&buy_in, |it| it.adjustment_id = other), Foreign::Words);
}

#[test]
fn what_others_write_is_no_event_of_the_wallet() {
    let other: Recorded = pb::PotRefunded {}.into();
    assert_eq!(parse(&stored(other.on(TABLE))), Err(Foreign::Kind("PotRefunded")));
}
