//! Strategies for random commands about few accounts, so that the commands interact.

use ledger::{
    Account, Adjustment, Amount, Command, Hold, Kind, Leg, LimitSetter, Limits, RequestedLimits,
    Seconds, Transfer,
};
use primitives::{AdjustmentId, Credits, HoldId, PlayerId, RequestId, TableId, UnixMicros};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::{HOUR_MICROS, START};

const PAIRS: [Kind; 4] = [Kind::Issue, Kind::Redeem, Kind::BuyIn, Kind::CashOut];
const MAX: i64 = (1 << 53) - 1;

fn any_player() -> impl Strategy<Value = PlayerId> {
    (0..4_u8).prop_map(|n| PlayerId([n; 16]))
}

fn any_table() -> impl Strategy<Value = TableId> {
    (0..2_u8).prop_map(|n| TableId([n; 16]))
}

fn any_account() -> impl Strategy<Value = Account> {
    prop_oneof![
        Just(Account::Issuance),
        Just(Account::Rake),
        Just(Account::Suspense),
        any_player().prop_map(Account::Player),
        (any_table(), any_player()).prop_map(|(table, player)| Account::Seat(table, player)),
        any_table().prop_map(Account::SabaccPot),
        any_table().prop_map(Account::CarriedPot),
    ]
}

fn any_amount() -> impl Strategy<Value = i64> {
    prop_oneof![12 => 1..2000_i64, 1 => 1..=MAX, 1 => MAX - 2..=MAX]
}

/// Of one player in one hand.
fn any_net() -> impl Strategy<Value = i64> {
    prop_oneof![1 => Just(0), 3 => -500..500_i64]
}

fn any_credits() -> impl Strategy<Value = Credits> {
    any_amount().prop_map(|amount| Credits::try_new(amount.unsigned_abs()).unwrap())
}

fn any_reason() -> impl Strategy<Value = String> {
    prop_oneof![9 => Just("because".to_owned()), 1 => Just(String::new())]
}

/// A time near those of the tested history.
fn any_time() -> impl Strategy<Value = UnixMicros> {
    (0..400 * HOUR_MICROS).prop_map(|after| UnixMicros(START.0 + after))
}

fn any_id() -> impl Strategy<Value = RequestId> {
    (0..5_u8).prop_map(|n| RequestId([n; 16]))
}

fn transfer(kind: Kind, legs: &[(Account, i64)]) -> Command {
    let legs = legs.iter().map(|&(account, amount)| Leg {
        account,
        amount: Amount::try_new(amount).expect("amounts of rows are in range"),
    });
    let (id, reason) = (RequestId([0; 16]), "because".into());
    Command::PostTransfer(Transfer { id, kind, legs: legs.collect(), reason })
}

/// Transfers of the right shape; the accounts may lack the credits.
fn transfers() -> impl Strategy<Value = Command> {
    let parts = (any_table(), any_player(), any_amount());
    prop_oneof![
        4 => (select(&PAIRS[..]), parts).prop_map(|(kind, (table, player, amount))| {
            let (own, seat) = (Account::Player(player), Account::Seat(table, player));
            let (from, to) = match kind {
                Kind::Issue => (Account::Issuance, own),
                Kind::Redeem => (own, Account::Issuance),
                Kind::BuyIn => (own, seat),
                Kind::CashOut => (seat, own),
                Kind::Settlement { .. }
                | Kind::PotRefund { .. }
                | Kind::Adjustment { .. }
                | Kind::Capture { .. } => unreachable!("not one of these pairs"),
            };
            transfer(kind, &[(from, -amount), (to, amount)])
        }),
        1 => (any_table(), vec(option::of(any_net()), 4), 0..50_i64, any::<bool>()).prop_map(
            |(table, nets, rake, to_sabacc)| {
                let seats = (0..4_u8).map(|n| Account::Seat(table, PlayerId([n; 16])));
                // Of whom there is no net was not dealt in.
                let dealt_in = seats.zip(nets).filter_map(|(seat, net)| Some((seat, net?)));
                let mut legs: Vec<_> = dealt_in.collect();
                let seats = legs.len();
                legs.push((Account::Rake, rake));
                let rest = legs.iter().map(|(_, amount)| -amount).sum();
                let pot = if to_sabacc { Account::SabaccPot } else { Account::CarriedPot };
                legs.push((pot(table), rest));
                let of_house = legs.split_off(seats);
                legs.extend(of_house.into_iter().filter(|(_, amount)| *amount != 0));
                transfer(Kind::Settlement { table }, &legs)
            }
        ),
        1 => (any_table(), any_player(), 1..300_i64).prop_map(|(table, player, amount)| {
            let legs =
                [(Account::SabaccPot(table), -amount), (Account::Seat(table, player), amount)];
            transfer(Kind::PotRefund { table }, &legs)
        }),
        // Empties an account now and then.
        1 => any_player().prop_map(|player| {
            let legs = [(Account::Player(player), -1000), (Account::Issuance, 1000)];
            transfer(Kind::Redeem, &legs)
        }),
    ]
}

/// Transfers of any kind with arbitrary legs.
fn arbitrary_transfers() -> impl Strategy<Value = Command> {
    let legs = vec((any_account(), -MAX..=MAX), 0..6);
    let kind = prop_oneof![
        select(&PAIRS[..]),
        any_table().prop_map(|table| Kind::Settlement { table }),
        any_table().prop_map(|table| Kind::PotRefund { table }),
        any_id().prop_map(|id| Kind::Capture { hold: id.into(), keep_rest: true }),
        any_id().prop_map(|id| Kind::Adjustment { adjustment: AdjustmentId(id.0) }),
    ];
    (kind, legs).prop_map(|(kind, legs)| transfer(kind, &legs))
}

fn about_accounts() -> impl Strategy<Value = Command> {
    let limit = || option::of(0..4000_u32);
    let limits = (limit(), limit(), limit(), 0..3_u8).prop_map(|(day, week, month, measure)| {
        let credits = |limit: Option<u32>| limit.map(Credits::of);
        let seconds = |limit: Option<u32>| limit.map(|limit| Seconds(u64::from(limit)));
        let of_credits = Limits { day: credits(day), week: credits(week), month: credits(month) };
        match measure {
            0 => RequestedLimits::BuyIn(of_credits),
            1 => RequestedLimits::Loss(of_credits),
            _ => RequestedLimits::Time(Limits {
                day: seconds(day),
                week: seconds(week),
                month: seconds(month),
            }),
        }
    });
    let by = select(&[LimitSetter::Player, LimitSetter::Operator][..]);
    prop_oneof![
        1 => any_player().prop_map(Command::OpenAccount),
        1 => (any_player(), any_reason())
            .prop_map(|(player, reason)| Command::FreezeAccount { player, reason }),
        2 => (any_player(), any_reason())
            .prop_map(|(player, reason)| Command::UnfreezeAccount { player, reason }),
        1 => (any_player(), any_reason())
            .prop_map(|(player, reason)| Command::CloseAccount { player, reason }),
        3 => (any_player(), by, limits)
            .prop_map(|(player, by, limits)| Command::SetLimits { player, by, limits }),
        1 => (any_player(), option::weighted(0.95, any_time()))
            .prop_map(|(player, until)| Command::Exclude { player, until }),
    ]
}

/// Commands about holds and adjustments. Ids are few, so that commands meet what others left, or
/// reuse a pending id.
fn holds_and_adjustments() -> impl Strategy<Value = Command> {
    let seat = (any_table(), any_player()).prop_map(|(table, player)| (table, player));
    let hold = (any_id(), seat, 0..3_u8, any_credits(), any_time()).prop_map(
        |(id, (table, player), to, amount, expires_at)| {
            let (own, seat) = (Account::Player(player), Account::Seat(table, player));
            let (from, to) = match to {
                0 => (own, seat),
                1 => (seat, Account::SabaccPot(table)),
                _ => (seat, Account::Seat(table, PlayerId([1; 16]))),
            };
            Command::PlaceHold(Hold { id: id.into(), from, to, amount, expires_at })
        },
    );
    let operator = || select(&["first", "second"][..]).prop_map(str::to_owned);
    prop_oneof![
        3 => hold,
        3 => (any_id(), any_credits(), any::<bool>()).prop_map(|(id, amount, keep_rest)| {
            Command::CaptureHold { id, hold: HoldId(id.0), amount, keep_rest }
        }),
        1 => any_id().prop_map(|id| Command::ReleaseHold { hold: id.into() }),
        1 => (any_id(), any_account(), -2000..2000_i64, operator(), any_reason()).prop_map(
            |(id, account, amount, proposed_by, reason)| {
                let amount = Amount::try_new(amount).unwrap();
                Command::ProposeAdjustment(Adjustment { id: AdjustmentId(id.0), account, amount, reason, proposed_by })
            }
        ),
        1 => (any_id(), operator()).prop_map(|(id, by)| {
            Command::ApproveAdjustment { id, adjustment: AdjustmentId(id.0), by }
        }),
        1 => (any_id(), any_reason()).prop_map(|(id, reason)| {
            Command::RejectAdjustment { adjustment: AdjustmentId(id.0), reason }
        }),
    ]
}

pub(crate) fn any_command() -> impl Strategy<Value = Command> {
    prop_oneof![8 => transfers(), 4 => holds_and_adjustments(), 2 => about_accounts(), 1 => arbitrary_transfers()]
}

/// Opens accounts and issues credits, so that later commands find something to move.
pub(crate) fn initial_commands() -> Vec<Command> {
    let mut commands = vec![];
    for n in 0..3 {
        let (player, table) = (PlayerId([n; 16]), TableId([n % 2; 16]));
        commands.push(Command::OpenAccount(player));
        let own = Account::Player(player);
        commands.push(transfer(Kind::Issue, &[(Account::Issuance, -5000), (own, 5000)]));
        let seat = Account::Seat(table, player);
        commands.push(transfer(Kind::BuyIn, &[(own, -2000), (seat, 2000)]));
    }
    commands
}
