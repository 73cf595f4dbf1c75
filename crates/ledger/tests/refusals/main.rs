//! One row for each refusal, in order of precedence. Where possible, a row also has the faults of
//! later rows, which tests the order.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod account_commands;
mod order;
mod standing;
mod transfers;
mod zero;

use std::time::Duration;

use ledger::{
    Account, Adjustment, Amount, Command, Hold, Kind, Ledger, Leg, LimitSetter, Limits, Measure,
    Refusal, RequestedLimits, Transfer, decide, evolve,
};
use primitives::{AdjustmentId, Credits, HoldId, PlayerId, RequestId, TableId, UnixMicros};

const MAX: i64 = (1 << 53) - 1;
const TABLE: TableId = TableId([1; 16]);
const OTHER_TABLE: TableId = TableId([2; 16]);
const SETTLEMENT: Kind = Kind::Settlement { table: TABLE };
const POT_REFUND: Kind = Kind::PotRefund { table: TABLE };
const ANN: Account = Account::Player(PlayerId([10; 16]));
const BOB: Account = Account::Player(PlayerId([11; 16]));
const NOBODY: Account = Account::Player(PlayerId([99; 16]));
const ANN_SEAT: Account = Account::Seat(TABLE, PlayerId([10; 16]));
const BOB_SEAT: Account = Account::Seat(TABLE, PlayerId([11; 16]));
const ANN_ELSEWHERE: Account = Account::Seat(OTHER_TABLE, PlayerId([10; 16]));
const POT: Account = Account::SabaccPot(TABLE);
const CARRIED: Account = Account::CarriedPot(TABLE);

fn post(kind: Kind, reason: &str, legs: &[(Account, i64)]) -> Command {
    let legs = legs
        .iter()
        .map(|&(account, amount)| Leg {
            account,
            amount: Amount::try_new(amount).expect("amounts of rows are in range"),
        })
        .collect();
    Command::PostTransfer(Transfer { id: RequestId([5; 16]), kind, legs, reason: reason.into() })
}

const HOUR: Duration = Duration::from_secs(3600);
const NOW: UnixMicros = UnixMicros(1_700_000_000_000_000);
const ANN_ID: PlayerId = PlayerId([10; 16]);
const BOB_ID: PlayerId = PlayerId([11; 16]);
const CAY_ID: PlayerId = PlayerId([12; 16]);
const NOBODY_ID: PlayerId = PlayerId([99; 16]);
const CAY: Account = Account::Player(CAY_ID);
const CAY_SEAT: Account = Account::Seat(TABLE, CAY_ID);

fn any_reason() -> String {
    "for a reason".to_owned()
}

fn hold(n: u8, from: Account, to: Account, amount: u64) -> Hold {
    let amount = Credits::try_new(amount).expect("amounts of rows are in range");
    Hold { id: HoldId([n; 16]), from, to, amount, expires_at: NOW.plus(HOUR) }
}

fn capture(n: u8, amount: u64) -> Command {
    let amount = Credits::try_new(amount).expect("amounts of rows are in range");
    Command::CaptureHold { id: RequestId([6; 16]), hold: HoldId([n; 16]), amount, keep_rest: false }
}

fn adjustment(n: u8, account: Account, amount: i64) -> Adjustment {
    Adjustment {
        id: AdjustmentId([n; 16]),
        account,
        amount: Amount::try_new(amount).expect("amounts of rows are in range"),
        reason: any_reason(),
        proposed_by: "first".to_owned(),
    }
}

fn approve(n: u8, by: &str) -> Command {
    let (id, adjustment) = (RequestId([7; 16]), AdjustmentId([n; 16]));
    Command::ApproveAdjustment { id, adjustment, by: by.to_owned() }
}

fn limits(player: PlayerId, day: u32) -> Command {
    let limits = Limits { day: Some(Credits::of(day)), ..Limits::NONE };
    Command::SetLimits { player, by: LimitSetter::Player, limits: RequestedLimits::BuyIn(limits) }
}

fn buy_in(from: Account, to: Account, amount: i64) -> Command {
    post(Kind::BuyIn, "", &[(from, -amount), (to, amount)])
}

fn run(ledger: &mut Ledger, commands: impl IntoIterator<Item = Command>) {
    for command in commands {
        for event in decide(ledger, NOW, command).expect("what is given is lawful") {
            evolve(ledger, NOW, &event);
        }
    }
}

/// Ann owns 500 and has 500 in play, Bob owns 900 and has 100 in play; the pot is open and empty.
fn given() -> Ledger {
    let mut ledger = Ledger::new();
    let commands = [
        Command::OpenAccount(ANN_ID),
        Command::OpenAccount(BOB_ID),
        post(Kind::Issue, "welcome", &[(Account::Issuance, -1000), (ANN, 1000)]),
        post(Kind::Issue, "welcome", &[(Account::Issuance, -1000), (BOB, 1000)]),
        buy_in(ANN, ANN_SEAT, 500),
        buy_in(BOB, BOB_SEAT, 100),
        post(SETTLEMENT, "", &[(ANN_SEAT, -10), (POT, 10)]),
        post(POT_REFUND, "", &[(POT, -10), (ANN_SEAT, 10)]),
    ];
    run(&mut ledger, commands);
    ledger
}

fn check(when: Command, then: Refusal) {
    check_after([], when, then);
}

/// Checks that `when` is refused with `then` after the commands `before`.
fn check_after(before: impl IntoIterator<Item = Command>, when: Command, then: Refusal) {
    let mut ledger = given();
    run(&mut ledger, before);
    let before = ledger.clone();
    let shown = format!("{when:?}");
    assert_eq!(decide(&ledger, NOW, when), Err(then), "{shown}");
    assert_eq!(ledger, before);
}
