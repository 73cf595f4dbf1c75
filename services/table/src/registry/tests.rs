use proto::common::v1::Resolution;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use chassis::channel::{self, CredentialInterceptor};
use chassis::config::LogIdentity;
use ed25519_dalek::SigningKey;
use eventlog::{Authenticator, CheckpointStore, Limits, Log, MemStore, Options, Position, Store};
use keyring::{Keyring, SecretStore};
use notary::Notary;
use proto::dealer::v1::dealer_service_client::DealerServiceClient;
use proto::event::v1 as event;
use proto::wallet::v1::settlement_service_client::SettlementServiceClient;
use system::clock::{Clock as _, SystemClock};
use system::entropy::SystemEntropy;
use tokio::sync::oneshot;

use super::*;
use crate::actor::{CommandRequest, Query};
use crate::answer::{Answer, Outcome};
use crate::commands::Command;
use crate::development::Development;
use crate::peers::Peers;
use crate::people::directory::Directory;
use crate::player_hands::PlayerHands;
use crate::receipt::ReceiptKey;
use crate::recovery;
use crate::room_delay::RoomDelay;
use crate::snapshot::SnapshotPolicy;
use crate::stops::Resume;
use crate::tests::harness::stand_up;

mod games;
mod steps;

/// Registry over a log in memory. Its peers do not answer.
pub(crate) struct Fixture {
    pub(crate) store: Arc<MemStore>,
    requests: AtomicU64,
}

impl Fixture {
    pub(crate) fn new() -> Fixture {
        Fixture { store: MemStore::new(), requests: AtomicU64::new(0) }
    }

    async fn open(&self) -> Arc<TableRegistry> {
        self.open_in(dependencies(&self.store).await).await
    }

    pub(crate) async fn open_in(&self, shared: Dependencies) -> Arc<TableRegistry> {
        let player_keys = PlayerKeys {
            keys: SecretStore::memory(),
            keyring: Keyring::new(&[5; 32].into(), &[]),
            entropy: Arc::new(SystemEntropy),
        };
        TableRegistry::open(shared, IdMaker::system(), player_keys).await.unwrap()
    }

    pub(crate) fn request(&self) -> RequestId {
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let mut id = [0; 16];
        id[8..].copy_from_slice(&number.to_be_bytes());
        RequestId(id)
    }

    async fn create(
        &self,
        registry: &Arc<TableRegistry>,
        name: &str,
    ) -> Result<TableId, ApiRefusal> {
        let config = pb::TableConfig {
            name: name.to_owned(),
            variant: "dice".to_owned(),
            ..pb::TableConfig::default()
        };
        let by = Author {
            request: self.request(),
            digest: [1; 32],
            actor: "operator:test".into(),
            trace: [0; 16],
        };
        let answer = registry.create(&config, by).await?;
        Ok(wire::field::table_id(&answer.table_id).unwrap())
    }

    pub(crate) async fn run(
        &self,
        registry: &Arc<TableRegistry>,
        table: TableId,
        request: RequestId,
        command: Command,
    ) -> Outcome {
        let (reply, answer) = oneshot::channel();
        let message = CommandRequest {
            command,
            player: Some(PlayerId([1; 16])),
            author: Author { actor: "test".into(), trace: [0; 16], request, digest: [2; 32] },
            arrived: SystemClock::new().now(),
            span: tracing::Span::none(),
            reply,
        };
        registry
            .table(table)
            .await?
            .send(TableMessage::Command(Box::new(message)))
            .await
            .ok()
            .unwrap();
        answer.await.unwrap()
    }

    async fn close(&self, registry: &Arc<TableRegistry>, table: TableId) -> RequestId {
        let request = self.request();
        self.run(registry, table, request, Command::Close).await.unwrap();
        while registry.tables().running.contains_key(&table) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        request
    }
}

/// Dependencies over a log in memory, with peers that do not answer.
pub(crate) async fn dependencies(store: &Arc<MemStore>) -> Dependencies {
    let owned: Arc<dyn Store> = Arc::<MemStore>::clone(store);
    let clock = Arc::new(SystemClock::new());
    let time = Arc::clone(&clock);
    let options = Options {
        name: "table/0".into(),
        owner: "test".into(),
        address: "nowhere".into(),
        lease: Duration::from_secs(5),
        take_over: true,
        clock: Arc::new(move || time.now()),
        authenticator: Authenticator::new(&[7; 32], "", Arc::new(|| [7; 8])),
        limits: Limits::default(),
    };
    let log = Log::open(owned, options).await.unwrap();
    let key = SigningKey::from_bytes(&[7; 32]);
    let store: Arc<dyn CheckpointStore> = Arc::<MemStore>::clone(store);
    let identity =
        LogIdentity { origin: "test/table".into(), key: key.clone(), previous: Vec::new() };
    let parts = notary::Dependencies {
        store,
        log: "table/0".into(),
        identity,
        checkpoint_file: None,
        archives: None,
    };
    let nobody = "http://127.0.0.1:1".parse().unwrap();
    let peer = || channel::connect_lazy(&nobody, None, CredentialInterceptor::NoToken).unwrap();
    let peers = Peers {
        dealer: DealerServiceClient::new(peer()),
        wallet: SettlementServiceClient::new(peer()),
    };
    Dependencies {
        games: Arc::default(),
        activity: crate::room::activity(SystemClock::new().now()),
        log,
        peers,
        clock,
        notary: Notary::new(parts).unwrap(),
        directory: Directory::default(),
        receipt_key: Arc::new(ReceiptKey::new(key)),
        dealer_timeout: Duration::from_secs(60),
        lease: Duration::from_secs(5),
        room_delay: Arc::new(RoomDelay::default()),
        bounds: Arc::default(),
        guests: None,
        player_hands: PlayerHands::new(None),
        snapshots: SnapshotPolicy { store: None, interval: 1 },
        development: Development::default(),
    }
}

pub(crate) async fn view(
    registry: &Arc<TableRegistry>,
    table: TableId,
    full: bool,
) -> pb::TableView {
    let (reply, view) = oneshot::channel();
    let query = Query::View { viewer: None, full, reply };
    registry.table(table).await.unwrap().send(TableMessage::Query(query)).await.ok().unwrap();
    view.await.unwrap()
}

async fn listed(registry: &TableRegistry, after: Option<TableId>, take: usize) -> Vec<TableId> {
    registry.wait_for_lobby().await;
    let everything = lobby::Filter::parse(None, None).unwrap();
    let (tables, _) = registry.lobby().page(&everything, after, take);
    tables.iter().map(|table| wire::field::table_id(&table.table_id).unwrap()).collect()
}

#[tokio::test]
async fn closed_tables_hide_no_open_one_and_cost_no_task() {
    let room = Fixture::new();
    let registry = room.open().await;
    let mut closed = Vec::new();
    for number in 0..110 {
        let table = room.create(&registry, &format!("table {number}")).await.unwrap();
        closed.push((table, room.close(&registry, table).await));
    }
    let open = room.create(&registry, "open").await.unwrap();
    let other = room.create(&registry, "other").await.unwrap();
    let mut registry = registry;
    // After a restart it is the same.
    for restarted in [false, true] {
        if restarted {
            registry.close().await;
            registry = room.open().await;
        }
        assert_eq!(listed(&registry, None, 100).await, [open, other]);
        assert_eq!(listed(&registry, None, 1).await, [open]);
        assert_eq!(listed(&registry, Some(open), 100).await, [other]);
        assert_eq!(listed(&registry, Some(other), 100).await, []);
        let count = |tables: &Tables| (tables.running.len(), tables.closed.len());
        assert_eq!(count(&registry.tables()), (2, 110));
        // A closed table answers all the same.
        let (table, request) = closed[77];
        let seen = view(&registry, table, false).await;
        assert_eq!((seen.name.as_str(), seen.closed, seen.seats.len()), ("table 77", true, 0));
        let again = room.run(&registry, table, request, Command::Close).await;
        assert_eq!(again.unwrap(), Answer::Stored(pb::CloseTableResponse {}.encode_to_vec()));
        let late = room.run(&registry, table, room.request(), stand_up()).await;
        assert_eq!(late.unwrap_err().reason(), ErrorReason::TableClosed);
        assert_eq!(registry.tables().running.len(), 2);
        let unknown = registry.table(TableId([9; 16])).await.err().unwrap();
        assert_eq!(unknown.reason(), ErrorReason::TableUnknown);
    }
}

#[tokio::test]
async fn a_late_room_opens_no_table_and_says_when_to_try_again() {
    let room = Fixture::new();
    let registry = room.open().await;
    let now = || SystemClock::new().now();
    registry.dependencies.room_delay.observe(Duration::from_secs(1), now());
    let refused = room.create(&registry, "one more").await.unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::Overloaded);
    let status = tonic::Status::from(refused);
    assert_eq!(wire::status::reason_of(&status), Some(ErrorReason::Overloaded));
    let created = async {
        loop {
            match room.create(&registry, "one more").await {
                Ok(table) => return table,
                Err(refused) => assert_eq!(refused.reason(), ErrorReason::Overloaded),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), created).await.unwrap();
}

#[tokio::test]
async fn a_table_that_contradicts_its_log_is_read_again_when_an_operator_says_so() {
    let room = Fixture::new();
    let registry = room.open().await;
    let table = room.create(&registry, "table").await.unwrap();
    registry.close().await;
    let registry = room.open().await;
    // As after a bug: a task with stale memory.
    let found = recovery::fold_table(&registry.dependencies.log, None, table).await.unwrap();
    let messages = registry.register(table);
    let mut actor = registry.recover(found, messages).await;
    actor.halt("two and two are five");
    let this = Arc::clone(&registry);
    tokio::spawn(async move { this.run(actor).await });
    let public = view(&registry, table, false).await.stopped;
    assert_eq!((public[0].what.as_str(), public[0].why.as_str()), ("the table as a whole", ""));
    assert_eq!(view(&registry, table, true).await.stopped[0].why, "two and two are five");
    let refused = room.run(&registry, table, room.request(), stand_up()).await;
    assert_eq!(refused.unwrap_err().reason(), ErrorReason::Corrupt);
    let resume = |resolution| Command::Resume(Resume { reason: "tested".to_owned(), resolution });
    let suspense = resume(Resolution::PayToSuspense);
    let refused = room.run(&registry, table, room.request(), suspense).await;
    assert_eq!(refused.unwrap_err().reason(), ErrorReason::NothingStopped);
    let (retried, retry) = (room.request(), resume(Resolution::Retry));
    room.run(&registry, table, retried, retry.clone()).await.unwrap();
    let request = room.request();
    let refused = room.run(&registry, table, request, stand_up()).await;
    assert_eq!(refused.unwrap_err().reason(), ErrorReason::NotYourSeat);
    assert!(view(&registry, table, true).await.stopped.is_empty());
    // The same request again gets its first answer.
    room.run(&registry, table, retried, retry).await.unwrap();
}

/// Appends an event as a bug, or a fault of the database, could have left it.
async fn leave(registry: &TableRegistry, event: eventlog::NewEvent) -> Position {
    let actor = "service:table".into();
    let entry = Entry { events: vec![event], request: None, actor, trace: [0; 16] };
    registry.dependencies.log.append(entry).await.unwrap().first
}

#[tokio::test]
async fn a_damaged_record_breaks_its_own_table_down_and_no_other() {
    let room = Fixture::new();
    let registry = room.open().await;
    let table = room.create(&registry, "damaged").await.unwrap();
    let other = room.create(&registry, "other").await.unwrap();
    // The seat is free. After it come a hand that the table cannot have started, and a record that
    // cannot be read.
    let free = TableRecord::from(event::SeatFunded { seat: 3 });
    let Position(damage) = leave(&registry, free.on_stream(table)).await;
    let hand = primitives::HandId([8; 16]);
    let started = event::HandStarted { hand_no: 1, hand_id: hand.0.to_vec().into() };
    leave(&registry, TableRecord::from(started).on_stream(table)).await;
    leave(&registry, TableRecord::from(event::HandOpened::default()).on_stream(hand)).await;
    leave(&registry, eventlog::NewEvent { payload: vec![0xff].into(), ..free.on_stream(table) })
        .await;
    let unknown = primitives::HandId([9; 16]);
    let opened = event::HandOpened { table_id: table.0.to_vec().into(), ..Default::default() };
    leave(&registry, TableRecord::from(opened).on_stream(unknown)).await;
    leave(&registry, TableRecord::from(event::HandAborted::default()).on_stream(unknown)).await;
    registry.close().await;
    let registry = room.open().await;
    assert_eq!(listed(&registry, None, 9).await, [table, other]);
    let leave = |id| room.run(&registry, id, room.request(), stand_up());
    assert_eq!(leave(other).await.unwrap_err().reason(), ErrorReason::NotYourSeat);
    assert!(view(&registry, other, true).await.stopped.is_empty());
    let words = format!("position {damage}: ");
    // An operator has the table read again, with the same result.
    for _ in 0..2 {
        assert_eq!(leave(table).await.unwrap_err().reason(), ErrorReason::Corrupt);
        let stopped = view(&registry, table, true).await.stopped;
        assert!(stopped[0].why.contains(&words), "{stopped:?}");
        let resolution = Resolution::Retry;
        let resume = Command::Resume(Resume { reason: "tested".to_owned(), resolution });
        room.run(&registry, table, room.request(), resume).await.unwrap();
    }
}

#[tokio::test]
async fn damage_of_no_single_table_ends_everything() {
    let room = Fixture::new();
    let registry = room.open().await;
    room.create(&registry, "table").await.unwrap();
    let free = TableRecord::from(event::SeatFunded { seat: 3 });
    let Position(damage) = leave(&registry, free.on_stream(TableId([9; 16]))).await;
    registry.close().await;
    match fold(&dependencies(&room.store).await.log, None).await {
        Err(FoldError::Corrupt { position, why: _ }) => assert_eq!(position, damage),
        Err(error @ (FoldError::Read(_) | FoldError::NoSnapshot { .. })) => panic!("{error}"),
        Ok(_) => panic!("nobody knows whose this is"),
    }
}

#[tokio::test]
async fn a_table_whose_task_panics_is_read_again_and_one_that_panics_again_waits_for_an_operator() {
    let room = Fixture::new();
    let registry = room.open().await;
    let table = room.create(&registry, "table").await.unwrap();
    let panic = || async {
        let sender = registry.table(table).await.unwrap();
        sender.send(TableMessage::Query(Query::Panic)).await.ok().unwrap();
        tokio::time::timeout(Duration::from_secs(9), sender.closed()).await.unwrap();
        // The table is found again as soon as the panic is noticed.
        let found = async {
            while registry.table(table).await.unwrap().is_closed() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(9), found).await.unwrap();
    };
    panic().await;
    let leave = || room.run(&registry, table, room.request(), stand_up());
    assert_eq!(leave().await.unwrap_err().reason(), ErrorReason::NotYourSeat);
    assert!(view(&registry, table, true).await.stopped.is_empty());
    let last = registry.dependencies.log.read(Position(1), 9).await.unwrap();
    let [Ok(TableRecord::EffectResumed(read))] =
        &last.iter().map(TableRecord::try_from).collect::<Vec<_>>()[..]
    else {
        panic!("{} records", last.len())
    };
    assert_eq!(read.reason, "the table's task had panicked");
    panic().await;
    let stopped = view(&registry, table, true).await.stopped;
    assert!(stopped[0].why.contains("panicked again"), "{stopped:?}");
    assert_eq!(leave().await.unwrap_err().reason(), ErrorReason::Corrupt);
    let resume = Resume { reason: "mended".to_owned(), resolution: Resolution::Retry };
    room.run(&registry, table, room.request(), Command::Resume(resume)).await.unwrap();
    assert_eq!(leave().await.unwrap_err().reason(), ErrorReason::NotYourSeat);
}

#[tokio::test]
async fn an_owner_that_was_silent_for_long_refuses_nobody_before_it_knows_whose_the_log_is() {
    let room = Fixture::new();
    // With a lease of zero any silence is long.
    let silent = Dependencies { lease: Duration::ZERO, ..dependencies(&room.store).await };
    let registry = room.open_in(silent).await;
    let table = room.create(&registry, "table").await.unwrap();
    let stand_up = || async {
        let answer = room.run(&registry, table, room.request(), stand_up());
        answer.await.unwrap_err().reason()
    };
    assert_eq!(stand_up().await, ErrorReason::NotYourSeat);
    room.store.set_down(true);
    assert_eq!(stand_up().await, ErrorReason::Unavailable);
    room.store.set_down(false);
    assert_eq!(stand_up().await, ErrorReason::NotYourSeat);
    // Another owner has the log, and may have given the seat since.
    let _other = dependencies(&room.store).await;
    assert_eq!(stand_up().await, ErrorReason::Unavailable);
    tokio::time::timeout(Duration::from_secs(1), registry.lost()).await.unwrap();
}

#[tokio::test]
async fn a_refusal_costs_the_store_nothing_while_it_takes_what_is_written() {
    let room = Fixture::new();
    let registry = room.open().await;
    let table = room.create(&registry, "table").await.unwrap();
    room.store.set_fence_delay(Duration::from_secs(60));
    let answer = room.run(&registry, table, room.request(), stand_up());
    let refused = tokio::time::timeout(Duration::from_secs(1), answer).await.unwrap();
    assert_eq!(refused.unwrap_err().reason(), ErrorReason::NotYourSeat);
}
