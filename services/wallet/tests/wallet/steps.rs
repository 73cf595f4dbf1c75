//! A wallet whose clock is set: on record, and nothing else.

use std::sync::Arc;
use std::time::Duration;

use eventlog::{Fault, MemStore, Position, Reader, Store, UnixMicros};
use system::clock::ManualClock;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use wire::clock::parse;

use crate::harness::{BEGIN, Harness, buy_in, cash_out, own};
use crate::tables::{fill_tables, sql};

const HOUR: i64 = 3_600_000_000;
const LONG: Duration = Duration::from_secs(60);

/// The clock of a wallet, whose steps are recorded.
struct Steps {
    clock: Arc<ManualClock>,
    recording: JoinHandle<()>,
}

impl Steps {
    fn of<S>(harness: &Harness<S>) -> Steps {
        let clock = Arc::new(ManualClock::new(UnixMicros(BEGIN)));
        let steps = harness.wallet.record_steps(Arc::<ManualClock>::clone(&clock));
        Steps { clock, recording: tokio::spawn(steps) }
    }

    /// Lets seconds of the clock pass until so many steps are on record, and a few more.
    async fn until<S: Store + 'static>(
        &self,
        harness: &Harness<S>,
        count: usize,
    ) -> Vec<(i64, u64)> {
        let recorded = async {
            while steps(harness).await.len() < count {
                self.clock.advance(Duration::from_secs(1));
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(LONG, recorded).await.expect("it is recorded in the end");
        for _ in 0..5 {
            self.clock.advance(Duration::from_secs(1));
            sleep(Duration::from_millis(5)).await;
        }
        steps(harness).await
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.recording.abort();
    }
}

/// Steps on record, with their authors seen to.
async fn steps<S: Store + 'static>(harness: &Harness<S>) -> Vec<(i64, u64)> {
    let reader = Reader::new(Arc::clone(&harness.store) as _, "wallet/0");
    let Ok(events) = reader.read(Position(0), 10_000).await else { return Vec::new() };
    let found = events.iter().filter_map(|event| {
        let step = parse(event).unwrap()?;
        assert_eq!(&*event.actor, "service:wallet");
        Some((step.micros(), step.count()))
    });
    found.collect()
}

#[tokio::test]
async fn a_step_of_the_wallets_clock_is_one_event_and_holds_nobody_up() {
    let harness = Harness::open(MemStore::new()).await;
    let set = Steps::of(&harness);
    harness.open_accounts(2, 1000).await;
    set.clock.step(-HOUR);
    harness.execute(buy_in(1, 0, 400)).await.unwrap();
    assert_eq!(set.until(&harness, 1).await, [(-HOUR, 1)]);
    // Its place in the log was the wallet's own doing: nothing has to be read again.
    harness.execute(buy_in(2, 1, 300)).await.unwrap();
    harness.execute(cash_out(3, 0, 100)).await.unwrap();
    set.clock.step(2 * HOUR);
    assert_eq!(set.until(&harness, 2).await, [(-HOUR, 1), (2 * HOUR, 1)]);
    drop(set);
    let store = harness.stop().await;
    let harness = Harness::open(store).await;
    harness.execute(buy_in(4, 0, 50)).await.unwrap();
    assert_eq!(harness.balance(own(0)).await, 650);
}

#[tokio::test]
async fn steps_while_the_log_takes_nothing_are_recorded_afterwards() {
    let harness =
        Harness::open_with(MemStore::new(), sabacc_wallet::QueueLimits::default(), LONG / 600)
            .await;
    harness.open_accounts(1, 1000).await;
    let set = Steps::of(&harness);
    harness.store.set_down(true);
    set.clock.step(HOUR);
    for _ in 0..20 {
        set.clock.advance(Duration::from_secs(1));
        sleep(Duration::from_millis(10)).await;
    }
    set.clock.step(-HOUR);
    harness.store.set_down(false);
    let recorded = set.until(&harness, 2).await;
    assert_eq!(recorded, [(HOUR, 1), (-HOUR, 1)]);
}

#[tokio::test]
async fn a_step_whose_group_was_in_doubt_is_recorded_once() {
    for fault in [
        Fault::InDoubtNotWritten,
        Fault::InDoubtWritten,
        Fault::InDoubtWrittenLate,
        Fault::Unavailable,
    ] {
        let harness = Harness::open(MemStore::new()).await;
        harness.open_accounts(1, 1000).await;
        let set = Steps::of(&harness);
        harness.store.inject(fault);
        set.clock.step(HOUR);
        assert_eq!(set.until(&harness, 1).await, [(HOUR, 1)], "{fault:?}");
    }
}

/// With snapshots, without, and with tables that are made anew: the accounts are the same, and the
/// tables are compared with the log.
#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_starts_over_steps_of_its_clock() {
    let (harness, url) = Harness::over_postgres("stepped").await;
    let set = Steps::of(&harness);
    set.clock.step(HOUR);
    set.until(&harness, 1).await;
    fill_tables(&harness).await;
    set.clock.step(-HOUR);
    assert_eq!(set.until(&harness, 2).await, [(HOUR, 1), (-HOUR, 1)]);
    harness.is_sound().await;
    let (clock, books) = (harness.clock.clone(), harness.log_content().await);
    drop(set);
    harness.stop().await;
    for harm in ["SELECT 1", "DELETE FROM snapshots", "UPDATE projected SET size = 3"] {
        sql(&url, harm).await;
        let harness = Harness::over_database(&url, clock.clone()).await;
        assert_eq!(harness.log_content().await, books, "{harm}");
        harness.is_sound().await;
        let set = Steps::of(&harness);
        let before = steps(&harness).await.len();
        set.clock.step(HOUR);
        assert_eq!(set.until(&harness, before + 1).await.len(), before + 1);
        drop(set);
        harness.stop().await;
    }
}
