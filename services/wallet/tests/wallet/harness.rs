//! Test harness: a running wallet, and requests for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use eventlog::{
    Authenticator, Clock, Limits as LogLimits, Log, MemStore, Options, PgStore, PoolSizes,
    Position, PreviousSecret, Reader, Store, UnixMicros,
};
use ledger::{Account, Amount, Command, Kind, Ledger, Leg, Transfer, check_conservation};
use primitives::{PlayerId, RequestId, TableId};
use sabacc_wallet::api::Api;
use sabacc_wallet::command::Request;
use sabacc_wallet::repo::{self, Repo};
use sabacc_wallet::rows::{EntryRow, Rows};
use sabacc_wallet::{
    Answer, Author, Comparison, Dependencies, FatalError, Opener, QueueLimits, Wallet, WalletError,
    record, verify,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) const TABLE: TableId = TableId([0xAA; 16]);
/// Time at which tests begin: 2023-11-14T22:13:20Z.
pub(crate) const BEGIN: u64 = 1_700_000_000_000_000;

/// Timeout of a test's wait; longer than any outage that a test makes.
const TIMEOUT: Duration = Duration::from_mins(5);

/// A running wallet and its store.
pub(crate) struct Harness<S> {
    pub(crate) store: Arc<S>,
    pub(crate) wallet: Wallet,
    pub(crate) clock: TestClock,
    owner: JoinHandle<Result<(), FatalError>>,
    stopping: CancellationToken,
}

/// A clock that moves by a microsecond at each reading, and when a test sets it.
#[derive(Clone)]
pub(crate) struct TestClock(Arc<AtomicU64>);

impl TestClock {
    pub(crate) fn new() -> TestClock {
        TestClock(Arc::new(AtomicU64::new(BEGIN)))
    }

    pub(crate) fn clock(&self) -> Clock {
        let hands = Arc::clone(&self.0);
        Arc::new(move || UnixMicros(hands.fetch_add(1, Ordering::Relaxed)))
    }

    pub(crate) fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, micros: u64) {
        self.0.store(micros, Ordering::Relaxed);
    }

    pub(crate) fn forward(&self, span: Duration) {
        self.set(self.now() + u64::try_from(span.as_micros()).expect("tests are short"));
    }
}

/// Content of a log: the ledger and every entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LogContent {
    pub(crate) ledger: Ledger,
    pub(crate) entries: Vec<EntryRow>,
}

impl LogContent {
    pub(crate) async fn read(store: Arc<dyn Store>) -> LogContent {
        let reader = Reader::new(store, "wallet/0");
        let (mut ledger, mut rows, mut from) = (Ledger::new(), Rows::default(), Position(0));
        loop {
            // A connection that a test has cut fails once.
            let Ok(events) = reader.read(from, 1000).await else { continue };
            let Some(last) = events.last() else { break };
            from = Position(last.position.0 + 1);
            for stored in &events {
                if let Some(event) = record::parse(stored).expect("a wallet wrote it") {
                    let replaced = ledger::evolve(&mut ledger, stored.recorded_at, &event);
                    rows.add(&ledger, stored.position, &event, replaced);
                }
            }
        }
        assert_eq!(check_conservation(&ledger), Ok(()));
        LogContent { ledger, entries: rows.entries }
    }

    pub(crate) fn balance(&self, account: Account) -> i64 {
        self.ledger.balance(&account).map_or(0, Amount::get)
    }

    /// Position, amount and balance of an account's entries, in their order.
    pub(crate) fn lines(&self, account: Account) -> Vec<(u64, i64, i64)> {
        let Some(state) = self.ledger.account(&account) else { return Vec::new() };
        let of_account = self.entries.iter().filter(|entry| entry.account == state.number);
        of_account.map(|it| (it.position.0, it.amount.get(), it.balance.get())).collect()
    }
}

impl Harness<MemStore> {
    pub(crate) async fn open(store: Arc<MemStore>) -> Harness<MemStore> {
        Harness::open_with(store, QueueLimits::default(), Duration::from_secs(5)).await
    }

    pub(crate) async fn open_with(
        store: Arc<MemStore>,
        limits: QueueLimits,
        store_timeout: Duration,
    ) -> Harness<MemStore> {
        Harness::start(store, None, TestClock::new(), limits, store_timeout).await
    }
}

impl Harness<PgStore> {
    /// A wallet over a fresh database, and an administrator's address of the database.
    pub(crate) async fn over_postgres(name: &str) -> (Harness<PgStore>, String) {
        let server = testkit::postgres().await.expect("there is a PostgreSQL");
        let url = server.database(name).await.expect("a fresh database");
        repo::migrate(&url, None).await.expect("the schema can be made");
        (Harness::over_database(&url, TestClock::new()).await, url)
    }

    /// A wallet over an existing database.
    pub(crate) async fn over_database(url: &str, clock: TestClock) -> Harness<PgStore> {
        let store_timeout = Duration::from_millis(500);
        Harness::over_database_with(url, clock, QueueLimits::default(), store_timeout).await
    }

    pub(crate) async fn over_database_with(
        url: &str,
        clock: TestClock,
        limits: QueueLimits,
        store_timeout: Duration,
    ) -> Harness<PgStore> {
        let projection = repo::projection();
        let store = PgStore::connect_with(url, "wallet", PoolSizes::default(), projection).await;
        let store = store.expect("the database answers");
        let repo = Repo::new(&store);
        Harness::start(store, Some(repo), clock, limits, store_timeout).await
    }

    /// Compares the tables with the log.
    pub(crate) async fn verified(&self) -> Comparison {
        let reader = Reader::new(Arc::clone(&self.store) as _, "wallet/0");
        verify(&reader, &Repo::new(&self.store)).await.expect("the database answers")
    }

    /// Asserts that the tables agree with the log.
    pub(crate) async fn is_sound(&self) {
        let compared = self.verified().await;
        assert_eq!(compared.difference, None, "{compared:?}");
    }
}

impl<S: Store + 'static> Harness<S> {
    pub(crate) async fn start(
        store: Arc<S>,
        repo: Option<Repo>,
        clock: TestClock,
        limits: QueueLimits,
        store_timeout: Duration,
    ) -> Harness<S> {
        let opener = opener(Arc::clone(&store), store_timeout, clock.clock());
        let ground = Dependencies { opener, clock: clock.clock(), repo };
        let (wallet, owner) = Wallet::open(ground, limits).await.expect("the store is up");
        let stopping = CancellationToken::new();
        let owner = tokio::spawn(owner.run(stopping.clone()));
        Harness { store, wallet, clock, owner, stopping }
    }

    pub(crate) fn api(&self) -> Api {
        Api::new(&self.wallet, self.clock.clock(), self.stopping.clone())
    }

    pub(crate) async fn stop(self) -> Arc<S> {
        self.stopping.cancel();
        self.owner.await.expect("the owner does not panic").expect("the log is sound");
        self.store
    }

    /// Error with which the wallet ended by itself.
    pub(crate) async fn fatal_error(self) -> FatalError {
        let ended = tokio::time::timeout(TIMEOUT, self.owner).await.expect("it ends");
        ended.expect("the owner does not panic").expect_err("nobody told it to stop")
    }

    pub(crate) async fn execute(&self, command: Request) -> Result<Answer, WalletError> {
        self.wallet.execute(command, test_author()).await
    }

    /// Repeats a request until it is answered.
    pub(crate) async fn execute_until_answered(
        &self,
        command: Request,
    ) -> Result<Answer, WalletError> {
        execute_until_answered(&self.wallet, command).await
    }

    /// Opens accounts of players 0 to `players` - 1, with `credits` each.
    pub(crate) async fn open_accounts(&self, players: u8, credits: i64) {
        for n in 0..players {
            self.execute_until_answered(open(n)).await.expect("a new player");
            self.execute_until_answered(issue(u64::from(n) + 1_000_000, n, credits))
                .await
                .expect("credits");
        }
    }

    pub(crate) async fn balance(&self, account: Account) -> i64 {
        self.log_content().await.balance(account)
    }

    /// Events in the log.
    pub(crate) async fn size(&self) -> u64 {
        self.store.size("wallet/0").await.expect("the store answers")
    }

    /// Content of the log, checked.
    pub(crate) async fn log_content(&self) -> LogContent {
        LogContent::read(Arc::clone(&self.store) as _).await
    }
}

/// Author of the tests' commands.
pub(crate) fn test_author() -> Author {
    Author { actor: "operator:test".into(), trace: [0; 16] }
}

/// Repeats a request until it is answered; fails the test after [`LONGEST`].
pub(crate) async fn execute_until_answered(
    wallet: &Wallet,
    command: Request,
) -> Result<Answer, WalletError> {
    let asking = repeat_until_answered(wallet, command);
    tokio::time::timeout(TIMEOUT, asking).await.expect("a wallet that is there answers")
}

async fn repeat_until_answered(wallet: &Wallet, command: Request) -> Result<Answer, WalletError> {
    loop {
        match wallet.execute(command.clone(), test_author()).await {
            Err(WalletError::Unavailable | WalletError::Overloaded) => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            answer @ (Ok(_) | Err(_)) => return answer,
        }
    }
}

/// Opens the log by taking it over, without waiting for a lease.
pub(crate) fn opener<S: Store + 'static>(
    store: Arc<S>,
    store_timeout: Duration,
    clock: Clock,
) -> Opener {
    Box::new(move || {
        // What the log itself would refuse is for the wallet to find. `service.rs` runs a strict one.
        let lost = PreviousSecret { secret: None, until: Position(u64::MAX) };
        let authenticator = Authenticator::new(&[7; 32], "", Arc::new(|| [7; 8]));
        let options = Options {
            name: "wallet/0".into(),
            owner: "test".into(),
            address: "nowhere".into(),
            lease: Duration::from_secs(5),
            take_over: true,
            clock: clock.clone(),
            authenticator: authenticator.with_previous([lost].into_iter(), ""),
            limits: LogLimits {
                store_timeout,
                batch_events: 6_000,
                // The test's clock differs from the database's.
                max_clock_skew: Duration::MAX,
                ..LogLimits::default()
            },
        };
        let store: Arc<dyn Store> = store.clone();
        Box::pin(Log::open(store, options))
    })
}

pub(crate) fn player(n: u8) -> PlayerId {
    PlayerId([n; 16])
}

pub(crate) fn own(n: u8) -> Account {
    Account::Player(player(n))
}

pub(crate) fn seat(n: u8) -> Account {
    Account::Seat(TABLE, player(n))
}

/// A UUIDv7 of the test's beginning.
pub(crate) fn id(n: u64) -> RequestId {
    id_at(n, BEGIN)
}

/// A UUIDv7 of this time, in Unix microseconds.
pub(crate) fn id_at(n: u64, at: u64) -> RequestId {
    let mut id = [1; 16];
    id[..6].copy_from_slice(&(at / 1000).to_be_bytes()[2..]);
    id[6] = 0x70;
    id[8..].copy_from_slice(&(n | 1 << 63).to_be_bytes());
    RequestId(id)
}

pub(crate) fn open(n: u8) -> Request {
    Request::new(id(2_000_000 + u64::from(n)), Command::OpenAccount(player(n)))
}

pub(crate) fn issue(request: u64, to: u8, amount: i64) -> Request {
    post(request, Kind::Issue, &[(Account::Issuance, -amount), (own(to), amount)])
}

pub(crate) fn redeem(request: u64, from: u8, amount: i64) -> Request {
    post(request, Kind::Redeem, &[(own(from), -amount), (Account::Issuance, amount)])
}

pub(crate) fn buy_in(request: u64, n: u8, amount: i64) -> Request {
    post(request, Kind::BuyIn, &[(own(n), -amount), (seat(n), amount)])
}

pub(crate) fn buy_in_at(request: u64, n: u8, seat: Account, amount: i64) -> Request {
    post(request, Kind::BuyIn, &[(own(n), -amount), (seat, amount)])
}

pub(crate) fn settle_at(request: u64, table: TableId, legs: &[(Account, i64)]) -> Request {
    post(request, Kind::Settlement { table }, legs)
}

pub(crate) fn cash_out(request: u64, n: u8, amount: i64) -> Request {
    post(request, Kind::CashOut, &[(seat(n), -amount), (own(n), amount)])
}

pub(crate) fn settle(request: u64, legs: &[(Account, i64)]) -> Request {
    post(request, Kind::Settlement { table: TABLE }, legs)
}

fn post(n: u64, kind: Kind, legs: &[(Account, i64)]) -> Request {
    let legs = legs
        .iter()
        .map(|&(account, amount)| Leg {
            account,
            amount: Amount::try_new(amount).expect("amounts of tests are in range"),
        })
        .collect();
    let reason = if kind.needs_reason() { "a test".to_owned() } else { String::new() };
    Request::new(id(n), Command::PostTransfer(Transfer { id: id(n), kind, legs, reason }))
}
