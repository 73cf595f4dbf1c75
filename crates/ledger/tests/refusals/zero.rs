//! Legs of 0 credits: lawful on seats in the settlement of a hand, and nowhere else.

use ledger::{Account, Amount, Command, Event, Kind, Leg, Limits, MAX_LEGS};
use ledger::{LimitSetter, Refusal, RequestedLimits, Seconds, decide, evolve, snapshot};
use primitives::{Credits, PlayerId};

use crate::{ANN, ANN_ELSEWHERE, ANN_ID, ANN_SEAT, BOB_ID, BOB_SEAT, CARRIED, HOUR, NOBODY, NOW};
use crate::{POT, POT_REFUND, SETTLEMENT, TABLE, check, check_after, given, post, run};

const EVEN: [(Account, i64); 2] = [(ANN_SEAT, 0), (BOB_SEAT, 0)];

#[test]
fn a_hand_in_which_nobody_won_has_a_leg_for_everybody() {
    for legs in [EVEN.to_vec(), vec![(ANN_SEAT, -8), (POT, 8), (BOB_SEAT, 0)]] {
        let mut ledger = given();
        let before = ledger.clone();
        let events = decide(&ledger, NOW, post(SETTLEMENT, "", &legs)).unwrap();
        let [Event::TransferPosted(posted)] = &events[..] else { panic!("{events:?}") };
        let legs = legs.iter().map(|&(account, amount)| {
            let amount = Amount::try_new(amount).unwrap();
            Leg { account, amount }
        });
        assert_eq!(
            posted.transfer.legs,
            legs.clone().collect::<Vec<_>>(),
            "in the order asked for"
        );
        evolve(&mut ledger, NOW, &events[0]);
        for Leg { account, amount } in legs {
            let was = before.balance(&account).unwrap();
            assert_eq!(ledger.balance(&account), Some(was.plus(amount).unwrap()));
        }
    }
}

/// Each of these is refused for the leg alone.
#[test]
fn nothing_else_has_one() {
    let rows: [(Kind, &[(Account, i64)]); 11] = [
        (SETTLEMENT, &[(ANN_SEAT, -5), (BOB_SEAT, 5), (POT, 0)]),
        (SETTLEMENT, &[(ANN_SEAT, -5), (BOB_SEAT, 5), (CARRIED, 0)]),
        (SETTLEMENT, &[(ANN_SEAT, 0), (BOB_SEAT, 0), (Account::Rake, 0)]),
        (SETTLEMENT, &[(ANN_SEAT, 0), (BOB_SEAT, 0), (ANN, 0)]),
        (POT_REFUND, &[(POT, -5), (ANN_SEAT, 5), (BOB_SEAT, 0)]),
        (Kind::BuyIn, &[(ANN, 0), (ANN_SEAT, 0)]),
        (Kind::CashOut, &[(ANN_SEAT, 0), (ANN, 0)]),
        (Kind::CashOut, &[(ANN_SEAT, 0), (Account::Suspense, 0)]),
        (Kind::Issue, &[(Account::Issuance, 0), (ANN, 0)]),
        (Kind::Redeem, &[(ANN, 0), (Account::Issuance, 0)]),
        (Kind::Issue, &[(Account::Issuance, -5), (ANN, 5), (BOB_SEAT, 0)]),
    ];
    for (kind, legs) in rows {
        check(post(kind, "because", legs), Refusal::ZeroLeg);
    }
}

#[test]
fn it_is_one_leg_of_an_open_seat_of_the_same_table() {
    let settle = |legs: &[(Account, i64)]| post(SETTLEMENT, "", legs);
    check(settle(&[(ANN_SEAT, 0)]), Refusal::TooFewLegs { legs: 1 });
    let twice = Refusal::DuplicateAccount { account: ANN_SEAT };
    check(settle(&[(ANN_SEAT, 0), (BOB_SEAT, 0), (ANN_SEAT, 0)]), twice);
    check(settle(&[(ANN_SEAT, 0), (BOB_SEAT, -5), (POT, 5), (ANN_SEAT, 0)]), twice);
    check(settle(&[(ANN_SEAT, 0), (BOB_SEAT, -5)]), Refusal::NotBalanced { sum: -5 });
    let elsewhere = Refusal::WrongAccount { account: ANN_ELSEWHERE };
    check_after(
        [crate::buy_in(ANN, ANN_ELSEWHERE, 5)],
        settle(&[(ANN_SEAT, 0), (BOB_SEAT, 0), (ANN_ELSEWHERE, 0)]),
        elsewhere,
    );
    let account = Account::Seat(TABLE, PlayerId([99; 16]));
    assert!(given().account(&NOBODY).is_none());
    check(
        settle(&[(ANN_SEAT, 0), (BOB_SEAT, 0), (account, 0)]),
        Refusal::AccountUnknown { account },
    );
}

#[test]
fn legs_of_zero_count_among_the_most_a_transfer_has() {
    let seats = |count: usize| {
        let seat = |n| (Account::Seat(TABLE, PlayerId([n; 16])), 0);
        (100..).map(seat).take(count).collect::<Vec<_>>()
    };
    let account = Account::Seat(TABLE, PlayerId([100; 16]));
    check(post(SETTLEMENT, "", &seats(MAX_LEGS)), Refusal::AccountUnknown { account });
    check(post(SETTLEMENT, "", &seats(MAX_LEGS + 1)), Refusal::TooManyLegs { legs: 65 });
}

/// Whoever lost nothing has used nothing; a seat that is empty or frozen in its player's account
/// takes the leg all the same.
#[test]
fn it_uses_no_limit_and_no_time() {
    let loss = Limits { day: Some(Credits::of(500)), ..Limits::NONE };
    let time = Limits { day: Some(Seconds(3600)), ..Limits::NONE };
    let set = |limits| Command::SetLimits { player: ANN_ID, by: LimitSetter::Player, limits };
    let mut ledger = given();
    let commands = [
        set(RequestedLimits::Loss(loss)),
        set(RequestedLimits::Time(time)),
        Command::FreezeAccount { player: ANN_ID, reason: "because".to_owned() },
        // Bob has lost all he had and is still there.
        post(SETTLEMENT, "", &[(BOB_SEAT, -100), (ANN_SEAT, 100)]),
    ];
    run(&mut ledger, commands);
    for hours in [0, 1, 30, 1000] {
        let now = NOW.plus(HOUR * hours);
        ledger.forget(now);
        let (standing, used) = (ledger.standing(ANN_ID, now), ledger.limit_usage(ANN_ID, now));
        let before = snapshot::write(&ledger);
        for event in decide(&ledger, now, post(SETTLEMENT, "", &EVEN)).unwrap() {
            evolve(&mut ledger, now, &event);
        }
        assert_eq!(ledger.standing(ANN_ID, now), standing);
        assert_eq!(ledger.limit_usage(ANN_ID, now), used);
        assert!(snapshot::write(&ledger) == before, "nothing at all has changed");
    }
    assert_eq!(ledger.play_history(BOB_ID), None, "of a hand that changed nothing nothing is kept");
}
