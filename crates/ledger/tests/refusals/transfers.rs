//! Refusals of transfers. Where possible, a row also has the faults of later rows.

use ledger::{
    Account, Amount, Command, Event, Kind, MAX_LEGS, MAX_REASON_CHARS, PostedTransfer, Refusal,
};
use ledger::{decide, evolve};
use primitives::{AdjustmentId, Credits, HandId, HoldId, PlayerId};

use crate::{ANN, ANN_ELSEWHERE, ANN_SEAT, BOB, BOB_SEAT, CARRIED, MAX, NOBODY, NOW, OTHER_TABLE};
use crate::{POT, POT_REFUND, SETTLEMENT, TABLE, check, given, post};

const CAPTURE: Kind = Kind::Capture { hold: HoldId([1; 16]), keep_rest: false };
const ADJUSTMENT: Kind = Kind::Adjustment { adjustment: AdjustmentId([1; 16]) };

#[test]
fn too_few_legs() {
    check(post(Kind::Issue, "", &[(NOBODY, 0)]), Refusal::TooFewLegs { legs: 1 });
    check(post(POT_REFUND, "", &[]), Refusal::TooFewLegs { legs: 0 });
    check(post(SETTLEMENT, "", &[(NOBODY, 0)]), Refusal::TooFewLegs { legs: 1 });
}

#[test]
fn too_many_legs() {
    let legs = vec![(NOBODY, 0); MAX_LEGS + 1];
    check(post(Kind::Issue, "", &legs), Refusal::TooManyLegs { legs: 65 });
}

#[test]
fn zero_leg() {
    let legs = [(NOBODY, 5), (NOBODY, 5), (POT, 0)];
    check(post(Kind::Issue, "", &legs), Refusal::ZeroLeg);
}

#[test]
fn duplicate_account() {
    let legs = [(ANN, -5), (NOBODY, 1), (NOBODY, 3)];
    check(post(Kind::Issue, "", &legs), Refusal::DuplicateAccount { account: NOBODY });
}

#[test]
fn not_balanced() {
    let legs = [(ANN, -5), (NOBODY, 4)];
    check(post(Kind::Issue, "", &legs), Refusal::NotBalanced { sum: -1 });
    let mut everything = vec![];
    for n in 0..64 {
        everything.push((Account::Player(PlayerId([n; 16])), MAX));
    }
    check(post(Kind::Issue, "", &everything), Refusal::NotBalanced { sum: MAX * 64 });
}

#[test]
fn wrong_account() {
    type Row = (Kind, &'static [(Account, i64)], Account);
    let rows: &[Row] = &[
        (Kind::Issue, &[(ANN, -5), (NOBODY, 5)], ANN),
        (Kind::Issue, &[(ANN, -5), (Account::Issuance, 5)], ANN),
        (Kind::Issue, &[(Account::Issuance, -5), (ANN_SEAT, 5)], ANN_SEAT),
        (Kind::Issue, &[(Account::Issuance, -5), (ANN, 3), (BOB, 2)], BOB),
        (Kind::Redeem, &[(Account::Issuance, -5), (ANN, 5)], Account::Issuance),
        (Kind::Redeem, &[(ANN, -5), (BOB, 5)], BOB),
        (Kind::Redeem, &[(Account::Rake, -5), (Account::Issuance, 5)], Account::Rake),
        (Kind::BuyIn, &[(ANN, -5), (BOB_SEAT, 5)], BOB_SEAT),
        (Kind::BuyIn, &[(ANN_SEAT, -5), (ANN, 5)], ANN_SEAT),
        (Kind::BuyIn, &[(ANN, -5), (BOB, 5)], BOB),
        (Kind::BuyIn, &[(ANN, -5), (POT, 5)], POT),
        (Kind::BuyIn, &[(ANN, -5), (ANN_SEAT, 3), (ANN_ELSEWHERE, 2)], ANN_ELSEWHERE),
        (Kind::CashOut, &[(ANN_SEAT, -5), (BOB, 5)], BOB),
        (Kind::CashOut, &[(ANN, -5), (ANN_SEAT, 5)], ANN),
        (Kind::CashOut, &[(ANN_SEAT, -5), (Account::Rake, 5)], Account::Rake),
        (SETTLEMENT, &[(ANN_SEAT, -5), (BOB, 5)], BOB),
        (SETTLEMENT, &[(ANN_SEAT, -5), (ANN_ELSEWHERE, 5)], ANN_ELSEWHERE),
        (SETTLEMENT, &[(ANN_ELSEWHERE, -5), (Account::Rake, 5)], ANN_ELSEWHERE),
        (SETTLEMENT, &[(Account::Rake, -5), (ANN_SEAT, 5)], Account::Rake),
        (SETTLEMENT, &[(ANN_SEAT, -5), (Account::Issuance, 5)], Account::Issuance),
        (
            SETTLEMENT,
            &[(ANN_SEAT, -5), (Account::SabaccPot(OTHER_TABLE), 5)],
            Account::SabaccPot(OTHER_TABLE),
        ),
        (POT_REFUND, &[(POT, -5), (Account::Rake, 5)], Account::Rake),
        (POT_REFUND, &[(POT, -5), (ANN, 5)], ANN),
        (POT_REFUND, &[(POT, -5), (CARRIED, 5)], CARRIED),
        (POT_REFUND, &[(ANN_SEAT, -5), (POT, 5)], ANN_SEAT),
        (POT_REFUND, &[(POT, -5), (ANN_ELSEWHERE, 5)], ANN_ELSEWHERE),
        (CAPTURE, &[(ANN, -5), (ANN_SEAT, 5)], ANN),
        (ADJUSTMENT, &[(Account::Issuance, -5), (Account::Rake, 5)], Account::Issuance),
    ];
    for &(kind, legs, account) in rows {
        check(post(kind, "", legs), Refusal::WrongAccount { account });
    }
}

#[test]
fn reason_missing() {
    for (kind, legs) in [
        (Kind::Issue, [(Account::Issuance, -MAX), (NOBODY, MAX)]),
        (Kind::Redeem, [(NOBODY, -5), (Account::Issuance, 5)]),
    ] {
        let blank = " ".repeat(MAX_REASON_CHARS + 1);
        check(post(kind, &blank, &legs), Refusal::ReasonMissing);
    }
}

#[test]
fn reason_too_long() {
    let reason = "é".repeat(MAX_REASON_CHARS + 1);
    let legs = [(Account::Issuance, -MAX), (NOBODY, MAX)];
    check(post(Kind::Issue, &reason, &legs), Refusal::ReasonTooLong { chars: 201 });
    check(
        post(Kind::BuyIn, &reason, &[(ANN, -5), (ANN_SEAT, 5)]),
        Refusal::ReasonTooLong { chars: 201 },
    );
}

#[test]
fn account_exists() {
    check(Command::OpenAccount(PlayerId([10; 16])), Refusal::AccountExists { account: ANN });
}

#[test]
fn unknown_account() {
    let unknown = |account| Refusal::AccountUnknown { account };
    let issue = [(Account::Issuance, -MAX), (NOBODY, MAX)];
    check(post(Kind::Issue, "typo", &issue), unknown(NOBODY));
    let settle = [(ANN_SEAT, -MAX), (Account::Seat(TABLE, PlayerId([99; 16])), MAX)];
    let stranger = Account::Seat(TABLE, PlayerId([99; 16]));
    check(post(SETTLEMENT, "", &settle), unknown(stranger));
    check(post(SETTLEMENT, "", &[(CARRIED, -5), (ANN_SEAT, 5)]), unknown(CARRIED));
    let cash_out = [(ANN_ELSEWHERE, -5), (ANN, 5)];
    check(post(Kind::CashOut, "", &cash_out), unknown(ANN_ELSEWHERE));
}

#[test]
fn insufficient_credits() {
    let short =
        |account, short| Refusal::InsufficientCredits { account, short: Credits::of(short) };
    check(post(Kind::BuyIn, "", &[(ANN, -501), (ANN_SEAT, 501)]), short(ANN, 1));
    check(post(Kind::CashOut, "", &[(BOB_SEAT, -1000), (BOB, 1000)]), short(BOB_SEAT, 900));
    let first_of_two = [(ANN_SEAT, -502), (BOB_SEAT, -101), (Account::Rake, 603)];
    check(post(SETTLEMENT, "", &first_of_two), short(ANN_SEAT, 2));
    check(post(POT_REFUND, "", &[(ANN_SEAT, 5), (POT, -5)]), short(POT, 5));
    // The seat would leave the range too, which comes later in the order.
    let beyond = Refusal::InsufficientCredits {
        account: BOB_SEAT,
        short: Credits::try_new((1 << 53) - 101).unwrap(),
    };
    check(post(SETTLEMENT, "", &[(ANN_SEAT, MAX), (BOB_SEAT, -MAX)]), beyond);
}

#[test]
fn balance_out_of_range() {
    let all_that_is_left = MAX - 2000;
    let one_more = all_that_is_left + 1;
    let too_much = [(Account::Issuance, -one_more), (ANN, one_more)];
    check(
        post(Kind::Issue, "all", &too_much),
        Refusal::BalanceOutOfRange { account: Account::Issuance },
    );
    let all = [(Account::Issuance, -all_that_is_left), (ANN, all_that_is_left)];
    assert!(decide(&given(), NOW, post(Kind::Issue, "all", &all)).is_ok());
}

#[test]
fn the_first_credit_opens_a_seat_or_a_pot() {
    let buy_in = [(ANN, -500), (ANN_ELSEWHERE, 500)];
    let events = decide(&given(), NOW, post(Kind::BuyIn, "", &buy_in)).unwrap();
    assert!(
        matches!(events[..], [Event::AccountOpened(ANN_ELSEWHERE), Event::TransferPosted(_)]),
        "{events:?}"
    );
    let settle = [(ANN_SEAT, -8), (CARRIED, 5), (Account::Rake, 3)];
    let events = decide(&given(), NOW, post(SETTLEMENT, "", &settle)).unwrap();
    assert!(
        matches!(events[..], [Event::AccountOpened(CARRIED), Event::TransferPosted(_)]),
        "{events:?}"
    );
}

#[test]
fn a_hand_that_moved_nothing_is_on_record() {
    let events = decide(&given(), NOW, post(SETTLEMENT, "", &[])).unwrap();
    let [Event::TransferPosted(PostedTransfer { transfer, approved_by: None })] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(transfer.table(), Some(TABLE));
    assert_eq!(transfer.hand(), Some(HandId([5; 16])));
}

#[test]
fn exactly_everything_can_be_spent() {
    let mut ledger = given();
    for event in
        decide(&ledger, NOW, post(Kind::CashOut, "", &[(ANN_SEAT, -500), (ANN, 500)])).unwrap()
    {
        evolve(&mut ledger, NOW, &event);
    }
    assert_eq!(ledger.balance(&ANN_SEAT), Some(Amount::ZERO));
    assert_eq!(ledger.balance(&ANN).map(Amount::get), Some(1000));
    let seats: Vec<_> = ledger.seats(TABLE).map(|(player, on)| (player.0[0], on.get())).collect();
    assert_eq!(seats, [(10, 0), (11, 100)]);
}
