//! What holds after any commands whatever, lawful or not.

use ledger::{
    Account, Amount, Command, Event, Kind, Ledger, Leg, Transfer, Unsound, conserved, decide,
    evolve,
};
use primitives::{Credits, PlayerId, RequestId, TableId};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

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
        any_player().prop_map(Account::Player),
        (any_table(), any_player()).prop_map(|(table, player)| Account::Seat(table, player)),
        any_table().prop_map(Account::SabaccPot),
        any_table().prop_map(Account::CarriedPot),
    ]
}

fn any_amount() -> impl Strategy<Value = i64> {
    prop_oneof![8 => 1..2000_i64, 1 => 1..=MAX, 1 => MAX - 2..=MAX]
}

fn transfer(kind: Kind, legs: &[(Account, i64)]) -> Command {
    let legs = legs
        .iter()
        .map(|&(account, amount)| Leg {
            account,
            amount: Amount::try_new(amount).expect("amounts of rows are in range"),
        })
        .collect();
    Command::Post(Transfer { id: RequestId([0; 16]), kind, legs, reason: "because".into() })
}

/// Of the right shape, with amounts that may or may not be there.
fn lawful() -> impl Strategy<Value = Command> {
    let parts = (any_table(), any_player(), any_amount());
    prop_oneof![
        any_player().prop_map(Command::Open),
        (select(&PAIRS[..]), parts).prop_map(|(kind, (table, player, amount))| {
            let (own, seat) = (Account::Player(player), Account::Seat(table, player));
            let (from, to) = match kind {
                Kind::Issue => (Account::Issuance, own),
                Kind::Redeem => (own, Account::Issuance),
                Kind::BuyIn => (own, seat),
                Kind::CashOut => (seat, own),
                Kind::Settlement { .. } | Kind::PotRefund { .. } => unreachable!("not a pair"),
            };
            transfer(kind, &[(from, -amount), (to, amount)])
        }),
        (any_table(), vec(-500..500_i64, 4), 0..50_i64, any::<bool>()).prop_map(
            |(table, nets, rake, to_sabacc)| {
                let seats = (0..4_u8).map(|n| Account::Seat(table, PlayerId([n; 16])));
                let mut legs: Vec<_> = seats.zip(nets).collect();
                legs.push((Account::Rake, rake));
                let rest = legs.iter().map(|(_, amount)| -amount).sum();
                let pot = if to_sabacc { Account::SabaccPot } else { Account::CarriedPot };
                legs.push((pot(table), rest));
                legs.retain(|(_, amount)| *amount != 0);
                transfer(Kind::Settlement { table }, &legs)
            }
        ),
        (any_table(), any_player(), 1..300_i64).prop_map(|(table, player, amount)| {
            let legs =
                [(Account::SabaccPot(table), -amount), (Account::Seat(table, player), amount)];
            transfer(Kind::PotRefund { table }, &legs)
        }),
    ]
}

/// Any legs of any kind.
fn wild() -> impl Strategy<Value = Command> {
    let legs = vec((any_account(), -MAX..=MAX), 0..6);
    let kind = prop_oneof![
        select(&PAIRS[..]),
        any_table().prop_map(|table| Kind::Settlement { table }),
        any_table().prop_map(|table| Kind::PotRefund { table }),
    ];
    (kind, legs).prop_map(|(kind, legs)| transfer(kind, &legs))
}

fn any_command() -> impl Strategy<Value = Command> {
    prop_oneof![9 => lawful(), 1 => wild()]
}

/// Players with means, so that later commands find something to move.
fn opening() -> Vec<Command> {
    let mut commands = vec![];
    for n in 0..3 {
        let (player, table) = (PlayerId([n; 16]), TableId([n % 2; 16]));
        commands.push(Command::Open(player));
        let own = Account::Player(player);
        commands.push(transfer(Kind::Issue, &[(Account::Issuance, -5000), (own, 5000)]));
        let seat = Account::Seat(table, player);
        commands.push(transfer(Kind::BuyIn, &[(own, -2000), (seat, 2000)]));
    }
    commands
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_credit_is_made_or_lost(commands in vec(any_command(), 0..200)) {
        let mut live = Ledger::new();
        let mut history = vec![];
        for command in opening().into_iter().chain(commands) {
            let before = live.clone();
            match decide(&live, command) {
                Ok(events) => {
                    prop_assert!(!events.is_empty());
                    for event in &events {
                        evolve(&mut live, event);
                    }
                    history.extend(events);
                }
                Err(_) => prop_assert_eq!(&live, &before),
            }
            prop_assert_eq!(conserved(&live), Ok(()));
        }
        // What players, tables and the rake own together is what was issued and not redeemed.
        let issued: i64 = history.iter().map(issued_by).sum();
        prop_assert_eq!(live.balance(&Account::Issuance).map(Amount::get), Some(-issued));

        let mut replayed = Ledger::new();
        for event in &history {
            evolve(&mut replayed, event);
        }
        prop_assert_eq!(replayed, live);
    }

    #[test]
    fn what_is_posted_is_exactly_what_was_asked(commands in vec(any_command(), 0..60)) {
        let mut ledger = Ledger::new();
        for command in opening().into_iter().chain(commands) {
            let Ok(events) = decide(&ledger, command.clone()) else { continue };
            let before = ledger.clone();
            for event in &events {
                evolve(&mut ledger, event);
            }
            let Command::Post(asked) = command else { continue };
            prop_assert_eq!(events.last(), Some(&Event::Posted(asked.clone())));
            for (account, after) in ledger.accounts() {
                let was = before.balance(account).unwrap_or_default();
                let leg = asked.legs.iter().find(|leg| leg.account == *account);
                let moved = leg.map_or(0, |leg| leg.amount.get());
                prop_assert_eq!(was.get() + moved, after.get(), "{}", account);
            }
        }
    }
}

fn issued_by(event: &Event) -> i64 {
    match event {
        Event::Opened(_) => 0,
        Event::Posted(transfer) => transfer
            .legs
            .iter()
            .filter(|leg| leg.account == Account::Issuance)
            .map(|leg| -leg.amount.get())
            .sum(),
    }
}

/// The checker itself must be able to say no.
#[test]
fn a_history_nobody_decided_is_found_out() {
    let forged = |legs: &[(Account, i64)]| {
        let Command::Post(transfer) = transfer(Kind::Issue, legs) else { unreachable!() };
        let mut ledger = Ledger::new();
        evolve(&mut ledger, &Event::Posted(transfer));
        conserved(&ledger)
    };
    let ann = Account::Player(PlayerId([1; 16]));
    assert_eq!(forged(&[(ann, 7)]), Err(Unsound::Sum { sum: 7 }));
    let owing = Unsound::Negative { account: ann, owed: Credits::of(7) };
    assert_eq!(forged(&[(ann, -7), (Account::Rake, 7)]), Err(owing));
}
