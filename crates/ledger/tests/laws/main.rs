//! Invariants of the ledger after arbitrary commands at arbitrary times, lawful or not.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod commands;
mod naive_ledger;
mod snapshots;

use ledger::{
    Account, Amount, Command, Event, InvariantViolation, Kind, Ledger, Leg, Transfer,
    check_conservation, decide, decide_linked, evolve, snapshot,
};
use primitives::{Credits, PlayerId, RequestId, UnixMicros};
use proptest::collection::vec;
use proptest::prelude::*;

use commands::{any_command, initial_commands};
use naive_ledger::NaiveLedger;

/// A pause in microseconds, then a command.
type PausedCommand = (u64, Command);

const START: UnixMicros = UnixMicros(1_700_000_000_000_000);
const HOUR_MICROS: u64 = 3_600_000_000;

/// Mostly moments, now and then a day or a month, so that holds expire and limits loosen.
fn any_pause() -> impl Strategy<Value = u64> {
    prop_oneof![
        12 => 0..2_000_000_u64,
        3 => 0..30 * HOUR_MICROS,
        1 => 0..800 * HOUR_MICROS,
        1 => Just(HOUR_MICROS),
    ]
}

fn any_steps(most: usize) -> impl Strategy<Value = Vec<PausedCommand>> {
    vec((any_pause(), any_command()), 0..most)
}

/// A ledger driven as the owner of the log drives it: holds whose time is over end first, then the
/// command is decided.
struct Harness {
    ledger: Ledger,
    now: UnixMicros,
    history: Vec<(UnixMicros, Event)>,
}

impl Harness {
    fn new() -> Harness {
        let mut owner = Harness { ledger: Ledger::new(), now: START, history: vec![] };
        for command in initial_commands() {
            owner.decide_and_apply(0, command);
        }
        owner
    }

    /// Decides a command and applies its events; returns none if it is refused.
    fn decide_and_apply(&mut self, pause: u64, command: Command) -> Vec<Event> {
        self.now.0 += pause;
        for event in self.ledger.expired(self.now) {
            self.apply(event);
        }
        assert!(self.ledger.next_expiry().is_none_or(|end| end > self.now));
        let before = self.ledger.clone();
        let decided = decide(&self.ledger, self.now, command);
        assert_eq!(self.ledger, before);
        let events = decided.unwrap_or_default();
        for event in &events {
            self.apply(event.clone());
        }
        events
    }

    fn apply(&mut self, event: Event) {
        let before = self.ledger.clone();
        let undo = self.ledger.undo_for(&event);
        evolve(&mut self.ledger, self.now, &event);
        let after = self.ledger.clone();
        self.ledger.undo(undo);
        assert_eq!(self.ledger, before, "taken back: {event:?}");
        evolve(&mut self.ledger, self.now, &event);
        assert_eq!(self.ledger, after);
        self.history.push((self.now, event));
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..Default::default() }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn no_credit_is_made_or_lost_and_what_is_held_is_there(steps in any_steps(150)) {
        let mut owner = Harness::new();
        for (pause, command) in steps {
            owner.decide_and_apply(pause, command);
            prop_assert_eq!(check_conservation(&owner.ledger), Ok(()));
            for (account, state) in owner.ledger.accounts() {
                let free = !state.available().is_debit() || *account == Account::Issuance;
                prop_assert!(free, "{account} has {:?} available", state.available());
            }
        }
        // The sum of all other balances is what was issued.
        let made: i64 = owner.history.iter().map(|(_, event)| issued_by(event)).sum();
        prop_assert_eq!(owner.ledger.balance(&Account::Issuance).map(Amount::get), Some(-made));
    }

    #[test]
    fn what_is_restored_or_replayed_is_what_was(steps in any_steps(150)) {
        let mut owner = Harness::new();
        for (pause, command) in steps {
            owner.decide_and_apply(pause, command);
        }
        let mut replayed = Ledger::new();
        for (at, event) in &owner.history {
            evolve(&mut replayed, *at, event);
        }
        prop_assert_eq!(&replayed, &owner.ledger);
        let bytes = snapshot::write(&replayed);
        let restored = snapshot::read(&bytes);
        prop_assert_eq!(restored.as_ref(), Ok(&owner.ledger));
        prop_assert_eq!(restored.map(|ledger| snapshot::write(&ledger)), Ok(bytes));
    }

    #[test]
    fn a_snapshot_is_the_same_wherever_its_log_is_folded(steps in any_steps(80), more in any_steps(40)) {
        let mut owner = Harness::new();
        for (pause, command) in steps {
            owner.decide_and_apply(pause, command);
            // It does not matter when old entries are dropped.
            owner.ledger.forget(owner.now);
        }
        let taken = Event::SnapshotTaken { digest: [0; 32] };
        owner.apply(taken);
        let bytes = snapshot::write(&owner.ledger);
        let mut replayed = Ledger::new();
        for (at, event) in &owner.history {
            evolve(&mut replayed, *at, event);
        }
        prop_assert!(snapshot::write(&replayed) == bytes);
        let mut from_snapshot = snapshot::read(&bytes).unwrap();
        let since = owner.history.len();
        for (pause, command) in more {
            owner.decide_and_apply(pause, command);
        }
        for (at, event) in &owner.history[since..] {
            evolve(&mut from_snapshot, *at, event);
        }
        prop_assert_eq!(from_snapshot, owner.ledger);
    }

    #[test]
    fn whatever_is_no_snapshot_is_refused(steps in any_steps(30), at in any::<usize>(), bit in 0..8_u8) {
        let mut owner = Harness::new();
        for (pause, command) in steps {
            owner.decide_and_apply(pause, command);
        }
        let bytes = snapshot::write(&owner.ledger);
        let at = at % bytes.len();
        prop_assert!(snapshot::read(&bytes[..at]).is_err());
        let mut other = bytes.clone();
        other[at] ^= 1 << bit;
        // The reader never panics and never takes changed bytes for the same ledger.
        prop_assert!(snapshot::read(&other).map(|read| read == owner.ledger) != Ok(true));
    }

    #[test]
    fn what_others_count_is_what_is_counted(steps in any_steps(150)) {
        let mut owner = Harness::new();
        for (pause, command) in steps {
            owner.decide_and_apply(pause, command);
        }
        let mut naive = NaiveLedger::default();
        for (at, event) in &owner.history {
            naive.next(*at, event)?;
        }
        naive.compare(&owner.ledger)?;
        naive.compare_play(&owner.ledger, owner.now)?;
    }

    #[test]
    fn what_counts_no_more_can_be_forgotten(steps in any_steps(80), last in vec(any_command(), 1..20)) {
        let mut owner = Harness::new();
        for (pause, command) in steps {
            owner.decide_and_apply(pause, command);
        }
        let mut forgetful = owner.ledger.clone();
        forgetful.forget(owner.now);
        for command in last {
            let found = decide(&forgetful, owner.now, command.clone());
            prop_assert_eq!(found, decide(&owner.ledger, owner.now, command));
        }
    }

    #[test]
    fn a_group_is_whole_or_nothing(steps in any_steps(60), group in vec(any_command(), 1..8)) {
        let mut owner = Harness::new();
        for (pause, command) in steps {
            owner.decide_and_apply(pause, command);
        }
        let mut linked = owner.ledger.clone();
        let refused = |command: &Command, owner: &mut Harness| owner.decide_and_apply(0, command.clone()).is_empty();
        let before = owner.ledger.clone();
        match decide_linked(&mut linked, owner.now, group.clone()) {
            Ok(_) => {
                prop_assert!(!group.iter().any(|command| refused(command, &mut owner)));
                prop_assert_eq!(linked, owner.ledger);
            }
            Err(unlinked) => {
                prop_assert_eq!(linked, before);
                let first = group.iter().position(|command| refused(command, &mut owner));
                prop_assert_eq!(first, Some(unlinked.index));
            }
        }
    }

    #[test]
    fn what_is_posted_is_exactly_what_was_asked(steps in any_steps(60)) {
        let mut owner = Harness::new();
        for (pause, command) in steps {
            // Expiries come first, and change no balance.
            let before = owner.ledger.clone();
            let events = owner.decide_and_apply(pause, command.clone());
            let Command::PostTransfer(asked) = command else { continue };
            if events.is_empty() {
                continue;
            }
            prop_assert_eq!(events.last(), Some(&Event::TransferPosted(asked.clone().into())));
            for (account, state) in owner.ledger.accounts() {
                let was = before.balance(account).unwrap_or_default();
                let leg = asked.legs.iter().find(|leg| leg.account == *account);
                let moved = leg.map_or(0, |leg| leg.amount.get());
                prop_assert_eq!(was.get() + moved, state.balance.get(), "{}", account);
            }
        }
    }
}

fn issued_by(event: &Event) -> i64 {
    let Event::TransferPosted(posted) = event else { return 0 };
    let issuance = posted.transfer.legs.iter().filter(|leg| leg.account == Account::Issuance);
    issuance.map(|leg| -leg.amount.get()).sum()
}

/// The checker itself must find violations.
#[test]
fn a_history_nobody_decided_is_found_out() {
    let forged = |legs: &[(Account, i64)]| {
        let legs = legs
            .iter()
            .map(|&(account, amount)| Leg { account, amount: Amount::try_new(amount).unwrap() });
        let (id, reason) = (RequestId([0; 16]), "because".into());
        let transfer = Transfer { id, kind: Kind::Issue, legs: legs.collect(), reason };
        let mut ledger = Ledger::new();
        evolve(&mut ledger, START, &Event::TransferPosted(transfer.into()));
        check_conservation(&ledger)
    };
    let ann = Account::Player(PlayerId([1; 16]));
    assert_eq!(forged(&[(ann, 7)]), Err(InvariantViolation::NonZeroSum { sum: 7 }));
    let owing = InvariantViolation::NegativeBalance { account: ann, owed: Credits::of(7) };
    assert_eq!(forged(&[(ann, -7), (Account::Rake, 7)]), Err(owing));
}
