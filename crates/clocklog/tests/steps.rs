//! Steps of a clock that the test sets, and a log in memory that fails on demand. No real time
//! passes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use clocklog::Noticed;
use eventlog::{
    Authenticator, Fault, Limits, Log, MemStore, Options, Position, Store, StreamId, UnixMicros,
};
use system::clock::{Clock as _, ManualClock};
use wire::clock::{Step, parse};

const BEGIN: UnixMicros = UnixMicros(1_700_000_000_000_000);
const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3600 * SECOND;

/// A service that does nothing but to record its clock.
struct Service {
    clock: Arc<ManualClock>,
    store: Arc<MemStore>,
    log: Log,
    /// Steps as they were handed over.
    noticed: Arc<Mutex<Vec<Noticed>>>,
}

impl Service {
    async fn new() -> Service {
        let clock = Arc::new(ManualClock::new(BEGIN));
        let store = MemStore::new();
        let log = open(&store, &clock).await;
        let service = Service { clock, store, log, noticed: Arc::default() };
        service.records();
        service.runs().await;
        service
    }

    fn records(&self) {
        let (log, all) = (self.log.clone(), Arc::clone(&self.noticed));
        tokio::spawn(clocklog::record(Arc::<ManualClock>::clone(&self.clock), move |noticed| {
            let log = log.clone();
            all.lock().expect("nobody panics").push(noticed);
            async move { clocklog::append(&log, "test", noticed).await }
        }));
    }

    /// Everything does what it can, without any time passing by the service's clock. The runtime's
    /// own is paused.
    async fn runs(&self) {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }

    async fn step(&self, micros: i64) {
        self.clock.step(micros);
        self.runs().await;
    }

    async fn pass(&self, seconds: u64) {
        for _ in 0..seconds {
            self.clock.advance(Duration::from_secs(1));
            self.runs().await;
        }
    }

    async fn recorded(&self) -> Vec<Step> {
        let events = self.log.read(Position(0), 1000).await.expect("the store works");
        assert!(events.iter().all(|event| &*event.actor == "service:test"));
        assert!(events.iter().all(|event| event.stream == StreamId::CLOCK));
        events.iter().map(|event| parse(event).expect("a step").expect("a step")).collect()
    }

    /// Microseconds and number of the steps on record.
    async fn sums(&self) -> Vec<(i64, u64)> {
        self.recorded().await.iter().map(|step| (step.micros(), step.count())).collect()
    }
}

async fn open(store: &Arc<MemStore>, clock: &Arc<ManualClock>) -> Log {
    let time = Arc::clone(clock);
    let options = Options {
        name: "test/0".into(),
        owner: "test".into(),
        address: "nowhere".into(),
        lease: Duration::from_secs(5),
        take_over: true,
        clock: Arc::new(move || time.now()),
        authenticator: Authenticator::new(&[7; 32], "", Arc::new(|| [7; 8])),
        limits: Limits { store_timeout: Duration::ZERO, ..Limits::default() },
    };
    Log::open(Arc::<MemStore>::clone(store) as Arc<dyn Store>, options).await.expect("it is free")
}

#[tokio::test(start_paused = true)]
async fn each_step_is_one_event_with_the_times_around_it() {
    let service = Service::new().await;
    service.pass(10).await;
    assert_eq!(service.recorded().await, []);
    let at = service.clock.now();
    service.step(HOUR).await;
    let [forward] = service.recorded().await[..] else { panic!("one event") };
    let after = UnixMicros(at.0.saturating_add_signed(HOUR));
    assert_eq!((forward.before(), forward.after(), forward.count()), (at, after, 1));
    service.pass(10).await;
    service.step(-HOUR).await;
    service.pass(10).await;
    assert_eq!(service.sums().await, [(HOUR, 1), (-HOUR, 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_all_the_time_writes_one_event_a_second() {
    let service = Service::new().await;
    for _ in 0..100 {
        for _ in 0..10 {
            service.step(SECOND).await;
            service.clock.advance(Duration::from_millis(100));
            service.runs().await;
        }
    }
    service.pass(2).await;
    let sums = service.sums().await;
    assert!((100..=102).contains(&sums.len()), "{}", sums.len());
    assert_eq!(sums.iter().map(|(micros, _)| micros).sum::<i64>(), 1000 * SECOND);
    assert_eq!(sums.iter().map(|(_, count)| count).sum::<u64>(), 1000, "none is forgotten");
}

#[tokio::test(start_paused = true)]
async fn steps_that_take_each_other_back_are_recorded() {
    let service = Service::new().await;
    service.clock.step(HOUR);
    service.clock.step(-HOUR);
    service.runs().await;
    assert_eq!(service.sums().await, [(0, 2)]);
}

#[tokio::test(start_paused = true)]
async fn steps_in_an_outage_are_recorded_after_it() {
    let service = Service::new().await;
    service.store.set_down(true);
    service.step(HOUR).await;
    service.pass(30).await;
    service.step(5 * SECOND).await;
    service.pass(30).await;
    service.step(-8 * SECOND).await;
    service.pass(30).await;
    service.store.set_down(false);
    service.pass(5).await;
    // The first, and what came behind it.
    assert_eq!(service.sums().await, [(HOUR, 1), (-3 * SECOND, 2)]);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_the_fence_refuses_is_recorded_once_the_clocks_agree() {
    let service = Service::new().await;
    let database = Arc::new(ManualClock::new(BEGIN));
    let time = Arc::clone(&database);
    service.store.set_clock(Arc::new(move || time.now()));
    service.step(HOUR).await;
    service.pass(10).await;
    database.advance(Duration::from_secs(10));
    assert_eq!(service.recorded().await, [], "an hour ahead of the database");
    database.advance(Duration::from_secs(3600));
    service.pass(2).await;
    assert_eq!(service.sums().await, [(HOUR, 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_step_whose_entry_was_in_doubt_is_recorded_once() {
    for fault in [Fault::InDoubtWritten, Fault::InDoubtWrittenLate, Fault::InDoubtNotWritten] {
        let service = Service::new().await;
        service.store.inject(fault);
        service.step(HOUR).await;
        service.pass(10).await;
        assert_eq!(service.sums().await, [(HOUR, 1)], "{fault:?}");
        // Whoever reads the log again, and tries the same again.
        let noticed = *service.noticed.lock().expect("nobody panics").first().expect("a step");
        let log = open(&service.store, &service.clock).await;
        assert!(clocklog::append(&log, "test", noticed).await);
        assert_eq!(log.size(), 1);
    }
}
