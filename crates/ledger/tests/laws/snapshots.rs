//! Memory of an account, and snapshots that are refused.

use ledger::{
    Account, AccountDetails, AccountState, Amount, Hold, InvariantViolation, Ledger, PendingHold,
    snapshot,
};
use primitives::{Credits, HoldId, PlayerId, TableId, UnixMicros};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use crate::{Harness, any_steps};

/// A leaf of the tree has room for 11 accounts. Filled in the order of their names, its worst case,
/// it keeps 6, and one more moves to the node above: 7 accounts a leaf. In the same way an inner
/// node has 6 keys and 7 leaves in space for 11 keys and 12 pointers.
#[test]
fn an_idle_account_takes_less_than_120_bytes() {
    let entry = size_of::<Account>() + size_of::<AccountState>();
    let leaf = 11 * entry + 16;
    let inner = leaf + 12 * size_of::<usize>();
    let of_inner = inner.div_ceil(7);
    let account = (leaf + of_inner).div_ceil(7);
    assert_eq!(size_of::<AccountState>(), 24);
    assert!(account < 120, "{account}");
}

const OWN: Account = Account::Player(PlayerId([1; 16]));
const SEAT: Account = Account::Seat(TableId([2; 16]), PlayerId([1; 16]));

fn state(number: u32, balance: i64, held: u32) -> AccountState {
    let extra = AccountDetails { held: Credits::of(held), ..AccountDetails::NONE };
    AccountState {
        number,
        balance: Amount::try_new(balance).unwrap(),
        details: Some(Box::new(extra)),
    }
}

fn pending(amount: u32, left: u32) -> PendingHold {
    let (id, amount) = (HoldId([3; 16]), Credits::of(amount));
    let hold = Hold { id, from: OWN, to: SEAT, amount, expires_at: UnixMicros(9) };
    PendingHold { hold, left: Credits::of(left) }
}

fn sound() -> Vec<(Account, AccountState)> {
    vec![
        (OWN, state(2, 100, 7)),
        (Account::Rake, state(1, 0, 0)),
        (Account::Issuance, state(0, -100, 0)),
    ]
}

fn check(
    edit: impl FnOnce(&mut Vec<(Account, AccountState)>),
    holds: &[PendingHold],
    unsound: InvariantViolation,
) {
    let mut accounts = sound();
    edit(&mut accounts);
    assert_eq!(Ledger::restore(accounts, holds.iter().copied(), []), Err(unsound));
}

#[test]
fn an_unsound_snapshot_is_refused() {
    let restored = Ledger::restore(sound(), [pending(9, 7)], []).unwrap();
    assert_eq!(restored.next_expiry(), Some(UnixMicros(9)));
    assert_eq!(
        restored.account(&Account::Rake).unwrap().details,
        None,
        "nothing is kept of nothing"
    );

    let held =
        |held, sum| InvariantViolation::HeldMismatch { account: OWN, held: Credits::of(held), sum };
    let hold = InvariantViolation::InvalidHold { hold: HoldId([3; 16]) };
    let all = [pending(9, 7)];
    check(|_| {}, &[], held(7, 0));
    check(|_| {}, &[pending(9, 6)], held(7, 6));
    check(|_| {}, &[pending(9, 7), pending(9, 7)], hold);
    check(|_| {}, &[pending(6, 7)], hold);
    check(|_| {}, &[pending(6, 0)], hold);
    check(
        |it| it[0].1.balance = Amount::ZERO,
        &all,
        InvariantViolation::Overheld { account: OWN, held: Credits::of(7) },
    );
    check(
        |it| it[0].1.balance = Amount::try_new(99).unwrap(),
        &all,
        InvariantViolation::NonZeroSum { sum: -1 },
    );
    check(
        |it| it[0].1.number = 3,
        &all,
        InvariantViolation::InvalidNumber { account: OWN, number: 3 },
    );
    check(
        |it| it[0].1.number = 1,
        &all,
        InvariantViolation::InvalidNumber { account: OWN, number: 1 },
    );
    let rake = Account::Rake;
    check(
        |it| it[1].1.number = 2,
        &all,
        InvariantViolation::InvalidNumber { account: rake, number: 2 },
    );
    check(|it| drop(it.remove(1)), &all, InvariantViolation::MissingAccount { account: rake });
    check(
        |it| it.push((OWN, state(3, 0, 0))),
        &all,
        InvariantViolation::DuplicateAccount { account: OWN },
    );
    check(
        |it| it[0].0 = SEAT,
        &all,
        InvariantViolation::HeldMismatch { account: SEAT, held: Credits::of(7), sum: 0 },
    );
}

/// Released snapshot of a wallet.
const RELEASED: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/snapshots/wallet-1.bin");

/// Whether a ledger has something of nearly everything that a snapshot has a place for.
fn has_everything(ledger: &Ledger) -> bool {
    let has = |wanted: fn(&AccountDetails) -> bool| {
        ledger.accounts().any(|(_, state)| state.details.as_deref().is_some_and(wanted))
    };
    let played = |(account, _): (&Account, &AccountState)| {
        account.player().is_some_and(|player| ledger.play_history(player).is_some())
    };
    ledger.holds().len() > 0
        && ledger.adjustments().len() > 0
        && ledger.accounts().any(played)
        && has(|details| details.frozen)
        && has(|details| details.exclusion.is_some())
        && has(|details| details.own_limits.is_some())
        && has(|details| details.operator_limits.is_some())
}

/// The form of a snapshot never changes: each start that folds over an event that names one writes it
/// anew and compares the hashes. `SABACC_WRITE_SNAPSHOTS=1` makes the released one if there is none.
/// ARCHITECTURE.md §2.10.
#[test]
fn a_released_snapshot_is_read_and_written_as_it_was() {
    #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
    let makes_missing = std::env::var_os("SABACC_WRITE_SNAPSHOTS").is_some();
    if makes_missing && !std::fs::exists(RELEASED).unwrap() {
        let mut runner = TestRunner::deterministic();
        let ledgers = std::iter::repeat_with(|| {
            let mut owner = Harness::new();
            let steps = any_steps(400).new_tree(&mut runner).unwrap().current();
            steps.into_iter().find_map(|(pause, command)| {
                owner.decide_and_apply(pause, command);
                has_everything(&owner.ledger).then(|| owner.ledger.clone())
            })
        });
        let whole = ledgers.take(2000).flatten().next().unwrap();
        std::fs::write(RELEASED, snapshot::write(&whole)).unwrap();
    }
    let stored = std::fs::read(RELEASED).unwrap();
    let ledger = snapshot::read(&stored).unwrap();
    assert!(has_everything(&ledger));
    assert!(snapshot::write(&ledger) == stored);
}
