//! Of two refusals that apply at once, the first in the order of precedence is returned.

use ledger::{Kind, Window};

use super::*;

/// Commands, then a command that is refused for two reasons.
struct Row {
    given: Vec<Command>,
    when: Command,
    then: u8,
    /// Precedence of the second refusal.
    next: u8,
    /// The command without its first fault, and the commands before it.
    without_first_fault: (Vec<Command>, Command),
}

fn row(then: u8, over: u8, case: (Vec<Command>, Command), mended: (Vec<Command>, Command)) -> Row {
    let (given, when) = case;
    Row { given, when, then, next: over, without_first_fault: mended }
}

fn issue(reason: &str, legs: &[(Account, i64)]) -> Command {
    post(Kind::Issue, reason, legs)
}

/// Pairs of neighbouring faults of the command itself.
fn form_faults() -> Vec<Row> {
    let many = |amount| issue("", &vec![(ANN, amount); 65]);
    let long = "x".repeat(201);
    let blank = " ".repeat(201);
    let pair = [(Account::Issuance, -MAX), (NOBODY, MAX)];
    let alone = |when| (vec![], when);
    let late = |from, to| Command::PlaceHold(Hold { expires_at: NOW, ..hold(1, from, to, 5) });
    vec![
        row(1, 3, alone(issue("", &[(ANN, 0)])), alone(issue("", &[(ANN, 0), (BOB, 0)]))),
        row(2, 3, alone(many(0)), alone(issue("", &[(ANN, 0); 64]))),
        row(
            3,
            4,
            alone(issue("", &[(ANN, 5), (ANN, 5), (BOB, 0)])),
            alone(issue("", &[(ANN, 5), (ANN, 5)])),
        ),
        row(4, 5, alone(issue("", &[(ANN, 5), (ANN, 5)])), alone(issue("", &[(ANN, 5), (BOB, 5)]))),
        row(
            5,
            6,
            alone(issue("", &[(ANN, 5), (BOB, 5)])),
            alone(issue("", &[(ANN, -5), (BOB, 5)])),
        ),
        row(6, 7, alone(issue("", &[(ANN, -5), (BOB, 5)])), alone(issue("", &pair))),
        row(6, 8, alone(issue(&long, &[(ANN, -5), (BOB, 5)])), alone(issue(&long, &pair))),
        row(6, 9, alone(late(POT, ANN_SEAT)), alone(late(ANN, ANN_SEAT))),
        row(7, 8, alone(issue(&blank, &pair)), alone(issue(&long, &pair))),
        row(8, 11, alone(issue(&long, &pair)), alone(issue("fine", &pair))),
        row(
            9,
            11,
            alone(late(NOBODY, Account::Seat(TABLE, NOBODY_ID))),
            alone(Command::PlaceHold(hold(1, NOBODY, Account::Seat(TABLE, NOBODY_ID), 5))),
        ),
    ]
}

/// Commands that close Cay's account, freeze it, exclude her or set her limit to 0, by precedence
/// of the fault.
fn cay(faults: &[u8]) -> Vec<Command> {
    let reason = any_reason;
    let player = CAY_ID;
    let mut given = vec![Command::OpenAccount(player)];
    for fault in faults {
        given.push(match fault {
            13 => Command::FreezeAccount { player, reason: reason() },
            19 => Command::Exclude { player, until: None },
            21 => limits(player, 0),
            12 => Command::CloseAccount { player, reason: reason() },
            other => unreachable!("{other} is no state of an account"),
        });
    }
    given
}

/// Pairs of neighbouring faults against the current state.
fn state_faults() -> Vec<Row> {
    let buy = || buy_in(CAY, CAY_SEAT, 5);
    let both = |known, to| post(SETTLEMENT, "", &[(known, -5000), (to, 5000)]);
    let stranger = Account::Seat(TABLE, NOBODY_ID);
    let held = || Command::PlaceHold(hold(1, ANN, ANN_SEAT, 100));
    let freeze = Command::FreezeAccount { player: ANN_ID, reason: any_reason() };
    let propose = |amount| Command::ProposeAdjustment(adjustment(2, ANN, amount));
    vec![
        row(10, 12, (cay(&[12]), Command::OpenAccount(CAY_ID)), (cay(&[12]), limits(CAY_ID, 5))),
        row(11, 23, (vec![], both(ANN_SEAT, stranger)), (vec![], both(ANN_SEAT, BOB_SEAT))),
        row(12, 13, (cay(&[13, 12]), buy()), (cay(&[13]), buy())),
        row(13, 19, (cay(&[13, 19]), buy()), (cay(&[19]), buy())),
        row(13, 22, (vec![held(), freeze], capture(1, 101)), (vec![held()], capture(1, 101))),
        row(
            18,
            23,
            (vec![propose(-501)], approve(2, "first")),
            (vec![propose(-501)], approve(2, "second")),
        ),
        row(19, 21, (cay(&[19, 21]), buy()), (cay(&[21]), buy())),
        row(21, 23, (cay(&[21]), buy()), (cay(&[]), buy())),
        row(
            23,
            24,
            (vec![], post(SETTLEMENT, "", &[(ANN_SEAT, MAX), (BOB_SEAT, -MAX)])),
            // Only an issue can exceed the range without exceeding a balance.
            (vec![], issue("all", &[(Account::Issuance, -MAX), (ANN, MAX)])),
        ),
    ]
}

#[test]
fn the_first_of_two_is_the_answer() {
    for Row { given: commands, when, then, next: over, without_first_fault: mended } in
        form_faults().into_iter().chain(state_faults())
    {
        let refused = |commands, when| {
            let mut ledger = given();
            run(&mut ledger, commands);
            decide(&ledger, NOW, when).unwrap_err().precedence()
        };
        let shown = format!("{when:?}");
        assert_eq!(refused(commands, when), then, "{shown}");
        assert_eq!(refused(mended.0, mended.1), over, "{then} mended: {shown}");
    }
}

#[test]
fn every_refusal_has_its_place() {
    let (account, hold) = (ANN, HoldId([1; 16]));
    let (short, left) = (Credits::of(1), Credits::of(1));
    let order = [
        Refusal::TooFewLegs { legs: 1 },
        Refusal::TooManyLegs { legs: 65 },
        Refusal::ZeroLeg,
        Refusal::DuplicateAccount { account },
        Refusal::NotBalanced { sum: 1 },
        Refusal::WrongAccount { account },
        Refusal::ReasonMissing,
        Refusal::ReasonTooLong { chars: 201 },
        Refusal::TimePassed,
        Refusal::AccountExists { account },
        Refusal::AccountUnknown { account },
        Refusal::AccountClosed { account },
        Refusal::AccountFrozen { account },
        Refusal::AccountNotFrozen { account },
        Refusal::AccountNotEmpty { account },
        Refusal::HoldNotPending { hold },
        Refusal::AdjustmentNotPending { adjustment: AdjustmentId([1; 16]) },
        Refusal::SameOperator,
        Refusal::Excluded { account, until: None },
        Refusal::ExclusionShorter { until: None },
        Refusal::LimitReached {
            measure: Measure::BuyIn,
            window: Window::Day,
            limit: 1,
            left: 1,
            until: None,
        },
        Refusal::HoldTooSmall { left },
        Refusal::InsufficientCredits { account, short },
        Refusal::BalanceOutOfRange { account },
        Refusal::LinkedRefused,
        Refusal::ShareInPot { account, table: TABLE },
    ];
    let places: Vec<u8> = order.iter().map(Refusal::precedence).collect();
    assert_eq!(places, (1..=26).collect::<Vec<u8>>());
}
