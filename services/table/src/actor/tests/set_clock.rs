//! A table's task with a clock that is stepped.

use chassis::channel::{self, CredentialInterceptor};
use chassis::config::LogIdentity;
use ed25519_dalek::SigningKey;
use eventlog::{Authenticator, Event, Limits, MemStore, Options, Position};
use proto::dealer::v1::dealer_service_client::DealerServiceClient;
use proto::wallet::v1::settlement_service_client::SettlementServiceClient;
use system::clock::ManualClock;
use tokio::time::{sleep, timeout};

use super::super::*;
use crate::tests::harness::Harness;

const HOUR: i64 = 3_600_000_000;
const LONG: Duration = Duration::from_secs(20);
/// Time for an action and the time bank.
const CLOCK: Duration = Duration::from_secs(50);

/// A table whose pending decision nobody makes.
struct WaitingTable {
    clock: Arc<ManualClock>,
    log: Log,
    deadline: UnixMicros,
    _commands: mpsc::Sender<TableMessage>,
}

/// A table at which somebody is to act.
fn table_to_act() -> Harness {
    let mut table = Harness::new("dice", |_| {});
    assert!(table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 }));
    for number in [1, 2, 4] {
        table.commit(1, number);
    }
    assert!(table.run_effect(|effect| effect == Effect::Start));
    assert!(table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no: 1 }));
    for number in [1, 2, 4] {
        table.reveal(1, number);
    }
    let due =
        |table: &Harness| table.state.play.as_ref().is_some_and(|play| play.to_act().is_some());
    table.run_while(|table| !due(table));
    assert!(due(&table), "somebody is to act");
    table
}

impl WaitingTable {
    async fn new() -> WaitingTable {
        let table = table_to_act();
        let play = table.state.play.as_ref().unwrap();
        let (deadline, _) = play.deadline(&table.state.table.config).unwrap();
        assert_eq!(deadline.since(table.now), CLOCK);
        let clock = Arc::new(ManualClock::new(table.now));
        let store_clock: eventlog::Clock = {
            let clock = Arc::clone(&clock);
            Arc::new(move || clock.now())
        };
        let store = MemStore::new();
        store.set_clock(Arc::clone(&store_clock));
        let options = Options {
            name: "table/0".into(),
            owner: "test".into(),
            address: "nowhere".into(),
            lease: Duration::from_secs(5),
            take_over: false,
            clock: store_clock,
            authenticator: Authenticator::new(&[7; 32], "", Arc::new(|| [7; 8])),
            limits: Limits::default(),
        };
        let log = Log::open(Arc::<MemStore>::clone(&store), options).await.unwrap();
        let nowhere = "http://127.0.0.1:1".parse().unwrap();
        let nowhere =
            channel::connect_lazy(&nowhere, None, CredentialInterceptor::NoToken).unwrap();
        let key = SigningKey::from_bytes(&[3; 32]);
        let identity =
            LogIdentity { origin: "test/table".into(), key: key.clone(), previous: Vec::new() };
        let parts = notary::Dependencies {
            store,
            log: "table/0".into(),
            identity,
            checkpoint_file: None,
            archives: None,
        };
        let dependencies = Dependencies {
            games: Arc::default(),
            snapshots: crate::snapshot::SnapshotPolicy { store: None, interval: 1 },
            activity: crate::room::activity(UnixMicros(0)),
            log: log.clone(),
            peers: Peers {
                dealer: DealerServiceClient::new(nowhere.clone()),
                wallet: SettlementServiceClient::new(nowhere),
            },
            clock: Arc::<ManualClock>::clone(&clock),
            notary: Notary::new(parts).unwrap(),
            directory: Directory::default(),
            room_delay: Arc::new(crate::room_delay::RoomDelay::default()),
            receipt_key: Arc::new(ReceiptKey::new(key)),
            dealer_timeout: Duration::from_secs(60),
            lease: Duration::from_secs(5),
            bounds: Arc::default(),
            guests: None,
            player_hands: crate::player_hands::PlayerHands::new(None),
            development: crate::development::Development::default(),
        };
        let (commands, inbox) = mpsc::channel(8);
        let mut actor = Actor::new(table.state.into(), dependencies, inbox);
        tokio::spawn(async move { actor.run().await });
        let waits = WaitingTable { clock, log, deadline, _commands: commands };
        waits.settled().await;
        waits
    }

    /// Lets the task see the present state.
    async fn settled(&self) {
        sleep(Duration::from_millis(100)).await;
    }

    async fn recorded(&self) -> Vec<TableRecord> {
        let events = self.log.read(Position(0), 100).await.unwrap();
        events.iter().map(|event: &Event| TableRecord::try_from(event).unwrap()).collect()
    }

    /// Checks that the clock decides after exactly this time.
    async fn decides_after(&self, left: Duration) {
        let before = self.recorded().await.len();
        self.clock.advance(left.saturating_sub(Duration::from_secs(1)));
        self.settled().await;
        assert_eq!(self.recorded().await.len(), before, "too early");
        // Every deadline is extended by the least delay.
        self.clock.advance(Duration::from_millis(1_100));
        let decided = async {
            while self.recorded().await.len() == before {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(LONG, decided).await.expect("the clock runs");
        let TableRecord::MoveDecided(decided) = &self.recorded().await[before] else {
            panic!("{:?}", self.recorded().await)
        };
        assert!(decided.by_clock);
    }
}

#[tokio::test]
async fn a_clock_set_an_hour_ahead_decides_for_nobody() {
    let table = WaitingTable::new().await;
    table.clock.advance(Duration::from_secs(10));
    table.settled().await;
    assert_eq!(table.recorded().await, []);
    table.clock.step(HOUR);
    table.settled().await;
    // The step is recorded, with what was left.
    let recorded = table.recorded().await;
    let [TableRecord::ClockResumed(resumed)] = &recorded[..] else { panic!("{recorded:?}") };
    let hour = Duration::from_micros(HOUR.unsigned_abs());
    assert_eq!(resumed.deadline_micros, table.deadline.plus(hour).0);
    table.decides_after(CLOCK - Duration::from_secs(10)).await;
}

#[tokio::test]
async fn a_clock_set_an_hour_back_freezes_nobody() {
    let table = WaitingTable::new().await;
    table.clock.advance(Duration::from_secs(10));
    table.clock.step(-HOUR);
    table.settled().await;
    assert_eq!(table.recorded().await, [], "nothing is recorded earlier than it would be");
    table.decides_after(CLOCK - Duration::from_secs(10)).await;
}

/// The jump itself is on record beside what the table makes of it, once.
#[tokio::test]
async fn a_step_with_a_decision_due_is_one_event_of_the_clock_and_one_of_the_hand() {
    let table = WaitingTable::new().await;
    let log = table.log.clone();
    let clock: Arc<dyn Clock> = Arc::<ManualClock>::clone(&table.clock);
    let recording = tokio::spawn(clocklog::record(clock, move |noticed| {
        let log = log.clone();
        async move { clocklog::append(&log, "table", noticed).await }
    }));
    table.settled().await;
    table.clock.step(HOUR);
    table.settled().await;
    let mut names: Vec<_> = table.recorded().await.iter().map(TableRecord::name).collect();
    names.sort_unstable();
    assert_eq!(names, ["ClockResumed", "ClockStepped"]);
    table.decides_after(CLOCK).await;
    recording.abort();
}
