//! A registry of tables whose clock is set: one event a step, whatever its tables do.

use eventlog::{Event, UnixMicros};
use system::clock::ManualClock;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::*;
use crate::steps;

const BEGIN: UnixMicros = UnixMicros(1_700_000_000_000_000);
const HOUR: i64 = 3_600_000_000;
const LONG: Duration = Duration::from_secs(60);

/// Registry of tables by a clock that the test sets. Its log has the machine's clock.
struct Timed {
    room: Fixture,
    clock: Arc<ManualClock>,
    registry: watch::Sender<Option<Arc<TableRegistry>>>,
    recording: JoinHandle<()>,
}

impl Timed {
    async fn new(tables: usize) -> Timed {
        let (room, clock) = (Fixture::new(), Arc::new(ManualClock::new(BEGIN)));
        let (registry, watched) = watch::channel(None);
        let steps = steps::record(Arc::<ManualClock>::clone(&clock), watched);
        let timed = Timed { room, clock, registry, recording: tokio::spawn(steps) };
        let registry = timed.open().await;
        for number in 0..tables {
            timed.room.create(&registry, &format!("table {number}")).await.unwrap();
        }
        timed
    }

    /// Takes the log again, as after it was lost.
    async fn open(&self) -> Arc<TableRegistry> {
        let mut dependencies = dependencies(&self.room.store).await;
        dependencies.clock = Arc::<ManualClock>::clone(&self.clock);
        let registry = self.room.open_in(dependencies).await;
        self.registry.send_replace(Some(Arc::clone(&registry)));
        registry
    }

    async fn events(&self) -> Vec<Event> {
        let store: Arc<dyn Store> = Arc::<MemStore>::clone(&self.room.store);
        let reader = eventlog::Reader::new(store, "table/0");
        reader.read(Position(0), 1000).await.unwrap_or_default()
    }

    /// Microseconds of the steps on record.
    async fn steps(&self) -> Vec<i64> {
        let events = self.events().await;
        let steps = events.iter().filter_map(|event| {
            let step = wire::clock::parse(event).unwrap()?;
            assert_eq!(&*event.actor, "service:table");
            Some(step.micros())
        });
        steps.collect()
    }

    async fn pass(&self, seconds: u32) {
        for _ in 0..seconds {
            self.clock.advance(Duration::from_secs(1));
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Lets seconds of the clock pass until so many steps are on record, and a few more.
    async fn until(&self, count: usize) -> Vec<i64> {
        let recorded = async {
            while self.steps().await.len() < count {
                self.pass(1).await;
            }
        };
        timeout(LONG, recorded).await.expect("it is recorded in the end");
        self.pass(10).await;
        self.steps().await
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        self.recording.abort();
    }
}

#[tokio::test]
async fn a_step_with_no_decision_due_is_one_event() {
    let timed = Timed::new(1).await;
    timed.pass(10).await;
    assert_eq!(timed.events().await.len(), 1, "the table, and nothing of a clock that runs");
    timed.clock.step(-HOUR);
    assert_eq!(timed.until(1).await, [-HOUR]);
    timed.clock.step(HOUR);
    assert_eq!(timed.until(2).await, [-HOUR, HOUR]);
    assert_eq!(timed.events().await.len(), 3);
}

#[tokio::test]
async fn with_a_hundred_tables_a_step_is_one_event() {
    let timed = Timed::new(100).await;
    timed.clock.step(HOUR);
    assert_eq!(timed.until(1).await, [HOUR]);
    assert_eq!(timed.events().await.len(), 101);
}

#[tokio::test]
async fn a_step_while_there_is_no_log_is_recorded_afterwards_and_the_log_is_read_over_it() {
    let timed = Timed::new(1).await;
    let registry = timed.registry.send_replace(None).unwrap();
    registry.close().await;
    timed.clock.step(HOUR);
    timed.pass(20).await;
    timed.clock.step(-2 * HOUR);
    timed.pass(20).await;
    assert!(timed.steps().await.is_empty());
    let registry = timed.open().await;
    assert_eq!(timed.until(2).await, [HOUR, -2 * HOUR]);
    // The tables of a log with steps in it are there, take commands, and are folded one by one too.
    registry.close().await;
    let registry = timed.open().await;
    let [table] = listed(&registry, None, 10).await[..] else { panic!("one table") };
    recovery::fold_table(&registry.dependencies.log, None, table).await.unwrap();
    timed.room.close(&registry, table).await;
    assert_eq!(timed.until(2).await.len(), 2);
}

#[tokio::test]
async fn a_step_in_the_stream_of_a_table_breaks_that_table_down() {
    let timed = Timed::new(2).await;
    let registry = timed.registry.send_replace(None).unwrap();
    let tables = listed(&registry, None, 10).await;
    let step = wire::clock::new_event(&wire::clock::Step::new(HOUR, BEGIN, 1));
    leave(&registry, eventlog::NewEvent { stream: tables[0].into(), ..step }).await;
    registry.close().await;
    let registry = timed.open().await;
    assert!(!view(&registry, tables[0], true).await.stopped.is_empty());
    assert!(view(&registry, tables[1], true).await.stopped.is_empty());
}
