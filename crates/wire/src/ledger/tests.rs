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

fn transfer(kind: Kind, from: Account, to: Account) -> PostedTransfer {
    let amount = Amount::credit(Credits::of(5));
    let legs = vec![Leg { account: from, amount: amount.negated() }, Leg { account: to, amount }];
    Transfer { id: RequestId([7; 16]), kind, legs, reason: String::new() }.into()
}

/// All events, each with the first byte of its stream.
fn all() -> Vec<(Event, u8)> {
    let ended = EndedHold { hold: HOLD, from: OWN, to: SEAT, amount: Credits::of(9) };
    let approved = PostedTransfer {
        approved_by: Some("second".into()),
        ..transfer(Kind::Adjustment { adjustment: ADJUSTMENT }, Account::Issuance, Account::Rake)
    };
    let pot = Account::SabaccPot(TABLE);
    let reason = || "because".to_owned();
    vec![
        (Event::AccountOpened(OWN), 10),
        (Event::AccountOpened(SEAT), 1),
        (Event::TransferPosted(transfer(Kind::Issue, Account::Issuance, OWN)), 10),
        (Event::TransferPosted(transfer(Kind::Redeem, OWN, Account::Issuance)), 10),
        (Event::TransferPosted(transfer(Kind::BuyIn, OWN, SEAT)), 1),
        (Event::TransferPosted(transfer(Kind::CashOut, SEAT, OWN)), 1),
        (Event::TransferPosted(transfer(Kind::Settlement { table: TABLE }, SEAT, pot)), 1),
        (Event::TransferPosted(transfer(Kind::PotRefund { table: TABLE }, pot, SEAT)), 1),
        (
            Event::TransferPosted(transfer(
                Kind::Capture { hold: HOLD, keep_rest: true },
                SEAT,
                pot,
            )),
            1,
        ),
        (
            Event::TransferPosted(transfer(
                Kind::Capture { hold: HOLD, keep_rest: false },
                OWN,
                SEAT,
            )),
            1,
        ),
        (Event::TransferPosted(approved), 0),
        (Event::AccountFrozen { player: PLAYER, reason: reason() }, 10),
        (Event::AccountUnfrozen { player: PLAYER, reason: reason() }, 10),
        (Event::AccountClosed { player: PLAYER, reason: reason() }, 10),
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
        (Event::PlayerExcluded { player: PLAYER, until: None }, 10),
        (Event::PlayerExcluded { player: PLAYER, until: Some(UnixMicros(5)) }, 10),
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
        set(LimitSetter::Player, MeasureTerms::BuyIn(LimitTerms { now: some, later: None })),
        set(LimitSetter::Operator, MeasureTerms::BuyIn(LimitTerms { now: some, later })),
        set(LimitSetter::Player, MeasureTerms::Loss(LimitTerms { now: some, later: None })),
        set(LimitSetter::Operator, MeasureTerms::Loss(LimitTerms { now: some, later })),
        set(
            LimitSetter::Player,
            MeasureTerms::Time(LimitTerms { now: time, later: Some((UnixMicros(78), time)) }),
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
        assert!(matches!(parse(&elsewhere), Err(WalletEventError::WrongStream(..))), "{event:?}");

        let mut sealed = stored(new_event(&event));
        sealed.sealed = true;
        let refused = Err(WalletEventError::Unreadable(PayloadError::Sealing(sealed.kind)));
        assert_eq!(parse(&sealed), refused, "{event:?}");

        // A field that protobuf ignores.
        let mut longer = stored(new_event(&event));
        longer.payload = [&longer.payload[..], &[0xf8, 0x01, 0x01]].concat().into();
        assert_eq!(parse(&longer), Err(WalletEventError::NotCanonical), "{event:?}");
    }
}

#[test]
fn no_field_is_believed() {
    fn check(event: &Event, edit: impl FnOnce(&mut pb::TransferPosted)) -> WalletEventError {
        let mut written = stored(new_event(event));
        let mut message = pb::TransferPosted::decode(written.payload).unwrap();
        edit(&mut message);
        written.payload = message.encode_to_vec().into();
        parse(&written).unwrap_err()
    }
    let buy_in = Event::TransferPosted(transfer(Kind::BuyIn, OWN, SEAT));
    let other: bytes::Bytes = vec![8; 16].into();
    assert_eq!(check(&buy_in, |it| it.kind = 0), WalletEventError::Field("kind"));
    assert_eq!(check(&buy_in, |it| it.kind = 99), WalletEventError::Field("kind"));
    assert_eq!(check(&buy_in, |it| it.kind = 7), WalletEventError::Field("adjustment_id"));
    assert_eq!(check(&buy_in, |it| it.kind = 8), WalletEventError::Field("hold_id"));
    assert_eq!(check(&buy_in, |it| it.transfer_id.clear()), WalletEventError::Field("transfer_id"));
    assert_eq!(
        check(&buy_in, |it| it.legs[0].amount = i64::MIN),
        WalletEventError::Field("amount")
    );
    let upper = check(&buy_in, |it| it.legs[0].account.make_ascii_uppercase());
    assert_eq!(upper, WalletEventError::Field("account"));
    assert_eq!(
        check(&buy_in, |it| it.approved_by.push('x')),
        WalletEventError::Field("approved_by")
    );
    assert_eq!(check(&buy_in, |it| it.table_id = other.clone()), WalletEventError::NotCanonical);
    assert_eq!(check(&buy_in, |it| it.hand_id = other.clone()), WalletEventError::NotCanonical);
    assert_eq!(check(&buy_in, |it| it.hold_id = other.clone()), WalletEventError::NotCanonical);
    assert_eq!(check(&buy_in, |it| it.keep_rest = true), WalletEventError::NotCanonical);
    assert_eq!(check(&buy_in, |it| it.adjustment_id = other), WalletEventError::NotCanonical);
}

#[test]
fn what_others_write_is_no_event_of_the_wallet() {
    let other = crate::TableRecord::from(pb::PotRefunded {});
    let foreign = PayloadError::Foreign("wallet", "PotRefunded".to_owned());
    assert_eq!(parse(&stored(other.on_stream(TABLE))), Err(WalletEventError::Unreadable(foreign)));
}
