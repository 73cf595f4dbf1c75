//! Decisions that overlap: whatever part of them is written, what is written is lawful.

use ledger::{
    Account, Amount, Command, Event, InFlight, Kind, Ledger, Leg, Refusal, Transfer, Verdict,
    conserved, decide, evolve,
};
use primitives::{Credits, PlayerId, RequestId, TableId};
use proptest::collection::vec;
use proptest::prelude::*;

const TABLE: TableId = TableId([7; 16]);

fn own(n: u8) -> Account {
    Account::Player(PlayerId([n; 16]))
}

fn seat(n: u8) -> Account {
    Account::Seat(TABLE, PlayerId([n; 16]))
}

fn post(kind: Kind, legs: &[(Account, i64)]) -> Command {
    let legs = legs
        .iter()
        .map(|&(account, amount)| Leg {
            account,
            amount: Amount::try_new(amount).expect("amounts of rows are in range"),
        })
        .collect();
    Command::Post(Transfer { id: RequestId([0; 16]), kind, legs, reason: "because".into() })
}

fn issue(to: u8, amount: i64) -> Command {
    post(Kind::Issue, &[(Account::Issuance, -amount), (own(to), amount)])
}

fn buy_in(player: u8, amount: i64) -> Command {
    post(Kind::BuyIn, &[(own(player), -amount), (seat(player), amount)])
}

/// Players 0 to 2, 100 credits each.
fn given() -> Ledger {
    let mut ledger = Ledger::new();
    for n in 0..3 {
        for command in [Command::Open(PlayerId([n; 16])), issue(n, 100)] {
            for event in decide(&ledger, command).expect("the opening is lawful") {
                evolve(&mut ledger, &event);
            }
        }
    }
    ledger
}

fn lawful(in_flight: &InFlight, ledger: &Ledger, command: Command) -> Vec<Event> {
    match in_flight.decide(ledger, command) {
        Verdict::Lawful(events) => events,
        other @ (Verdict::Refused(_) | Verdict::Wait(_)) => panic!("{other:?}"),
    }
}

#[test]
fn one_credit_is_spent_once() {
    let (ledger, mut in_flight) = (given(), InFlight::new());
    let first = lawful(&in_flight, &ledger, buy_in(0, 60));
    in_flight.reserve(&first);
    let second = post(Kind::Redeem, &[(own(0), -60), (Account::Issuance, 60)]);
    assert_eq!(in_flight.decide(&ledger, second.clone()), Verdict::Wait(second.clone()));

    // Lost: the credits are there again.
    let mut lost = in_flight.clone();
    lost.release(&first);
    assert!(lost.is_empty());
    lawful(&lost, &ledger, second.clone());

    // Durable: they are gone.
    let mut ledger = ledger;
    in_flight.release(&first);
    first.iter().for_each(|event| evolve(&mut ledger, event));
    let refusal = Refusal::InsufficientCredits { account: own(0), short: Credits::of(20) };
    assert_eq!(in_flight.decide(&ledger, second), Verdict::Refused(refusal));
}

#[test]
fn credits_on_their_way_cannot_be_spent() {
    let (ledger, mut in_flight) = (given(), InFlight::new());
    in_flight.reserve(&lawful(&in_flight, &ledger, issue(0, 50)));
    lawful(&in_flight, &ledger, buy_in(0, 100));
    assert!(matches!(in_flight.decide(&ledger, buy_in(0, 101)), Verdict::Wait(_)));
}

#[test]
fn an_account_is_opened_once() {
    let (ledger, mut in_flight) = (given(), InFlight::new());
    in_flight.reserve(&lawful(&in_flight, &ledger, buy_in(0, 10)));
    assert!(matches!(in_flight.decide(&ledger, buy_in(0, 10)), Verdict::Wait(_)));
    in_flight.reserve(&lawful(&in_flight, &ledger, buy_in(1, 10)));
    let open = Command::Open(PlayerId([9; 16]));
    in_flight.reserve(&lawful(&in_flight, &ledger, open.clone()));
    assert_eq!(in_flight.decide(&ledger, open.clone()), Verdict::Wait(open));
}

#[test]
fn nothing_waits_for_strangers() {
    let (ledger, mut in_flight) = (given(), InFlight::new());
    in_flight.reserve(&lawful(&in_flight, &ledger, buy_in(0, 10)));
    let refusal = Refusal::InsufficientCredits { account: own(1), short: Credits::of(1) };
    assert_eq!(in_flight.decide(&ledger, buy_in(1, 101)), Verdict::Refused(refusal));

    in_flight.reserve(&lawful(&in_flight, &ledger, issue(1, 50)));
    let refusal = Refusal::UnknownAccount { account: own(9) };
    assert_eq!(in_flight.decide(&ledger, issue(9, 5)), Verdict::Refused(refusal));
    let crooked = post(Kind::BuyIn, &[(own(0), -10), (seat(1), 10)]);
    let refusal = Refusal::WrongAccount { kind: Kind::BuyIn, account: seat(1) };
    let mut settled = in_flight.clone();
    settled.release(&lawful(&InFlight::new(), &ledger, buy_in(0, 10)));
    assert_eq!(settled.decide(&ledger, crooked), Verdict::Refused(refusal));
}

#[derive(Clone, Debug)]
enum Step {
    Ask(Command),
    /// The oldest decision is written (true) or known to be lost.
    Land(bool),
}

fn any_step() -> impl Strategy<Value = Step> {
    let nets = vec(-40..40_i64, 3).prop_map(|nets| {
        let mut legs: Vec<_> = (0..3).map(seat).zip(nets).collect();
        legs.push((Account::SabaccPot(TABLE), -legs.iter().map(|leg| leg.1).sum::<i64>()));
        legs.retain(|leg| leg.1 != 0);
        post(Kind::Settlement { table: TABLE }, &legs)
    });
    let cash_out = (0..4_u8, 1..60_i64)
        .prop_map(|(n, amount)| post(Kind::CashOut, &[(seat(n), -amount), (own(n), amount)]));
    let redeem = (0..4_u8, 1..60_i64).prop_map(|(n, amount)| {
        post(Kind::Redeem, &[(own(n), -amount), (Account::Issuance, amount)])
    });
    prop_oneof![
        1 => (0..4_u8).prop_map(|n| Step::Ask(Command::Open(PlayerId([n; 16])))),
        1 => (0..4_u8, 1..60_i64).prop_map(|(n, amount)| Step::Ask(issue(n, amount))),
        3 => (0..4_u8, 1..60_i64).prop_map(|(n, amount)| Step::Ask(buy_in(n, amount))),
        2 => cash_out.prop_map(Step::Ask),
        1 => redeem.prop_map(Step::Ask),
        3 => nets.prop_map(Step::Ask),
        7 => prop::bool::weighted(0.8).prop_map(Step::Land),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_part_of_what_is_in_flight_is_lawful(steps in vec(any_step(), 0..300)) {
        let mut ledger = given();
        let mut in_flight = InFlight::new();
        let mut queue = std::collections::VecDeque::new();
        for step in steps {
            match step {
                Step::Ask(command) => match in_flight.decide(&ledger, command.clone()) {
                    Verdict::Lawful(events) => {
                        in_flight.reserve(&events);
                        queue.push_back(events);
                    }
                    Verdict::Refused(refusal) => {
                        prop_assert_eq!(decide(&ledger, command), Err(refusal));
                    }
                    Verdict::Wait(again) => {
                        prop_assert_eq!(&again, &command);
                        prop_assert!(!queue.is_empty());
                    }
                },
                Step::Land(written) => {
                    let Some(events) = queue.pop_front() else { continue };
                    in_flight.release(&events);
                    if written {
                        // Lawful on the durable balances it meets, not only on those it was decided on.
                        if let Some(Event::Posted(transfer)) = events.last() {
                            let again = decide(&ledger, Command::Post(transfer.clone()));
                            prop_assert_eq!(again.as_ref(), Ok(&events));
                        }
                        events.iter().for_each(|event| evolve(&mut ledger, event));
                    }
                    prop_assert_eq!(conserved(&ledger), Ok(()));
                    prop_assert_eq!(in_flight.is_empty(), queue.is_empty());
                }
            }
        }
    }
}
