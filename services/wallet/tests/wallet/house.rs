//! A wallet to test, and the words to ask it with.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use eventlog::{Limits as LogLimits, Log, MemStore, Options, UnixMicros};
use ledger::{Account, Amount, Command, Kind, Leg, Transfer, conserved};
use primitives::{PlayerId, RequestId, TableId};
use sabacc_wallet::books::Books;
use sabacc_wallet::command::Request;
use sabacc_wallet::{Done, Fault, Limits, Opener, Problem, Wallet};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) const TABLE: TableId = TableId([0xAA; 16]);

/// A running wallet and the store behind it.
pub(crate) struct House {
    pub(crate) store: Arc<MemStore>,
    pub(crate) wallet: Wallet,
    owner: JoinHandle<Result<(), Fault>>,
    stopping: CancellationToken,
}

impl House {
    pub(crate) async fn open(store: Arc<MemStore>) -> House {
        House::open_with(store, Limits::default(), Duration::from_secs(5)).await
    }

    pub(crate) async fn open_with(
        store: Arc<MemStore>,
        limits: Limits,
        patience: Duration,
    ) -> House {
        let opener = opener(Arc::clone(&store), patience);
        let (wallet, owner) = Wallet::open(opener, limits).await.expect("the store is up");
        let stopping = CancellationToken::new();
        let owner = tokio::spawn(owner.run(stopping.clone()));
        House { store, wallet, owner, stopping }
    }

    pub(crate) async fn stop(self) -> Arc<MemStore> {
        self.stopping.cancel();
        self.owner.await.expect("the owner does not panic").expect("the log is sound");
        self.store
    }

    pub(crate) async fn ask(&self, command: Request) -> Result<Done, Problem> {
        self.wallet.ask(command).await
    }

    /// Asks until there is an answer.
    pub(crate) async fn insist(&self, command: Request) -> Result<Done, Problem> {
        loop {
            match self.wallet.ask(command.clone()).await {
                Err(Problem::Unavailable | Problem::Overloaded) => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                answer @ (Ok(_) | Err(_)) => return answer,
            }
        }
    }

    /// Players 0 to `players`, with so many credits each.
    pub(crate) async fn welcome(&self, players: u8, credits: i64) {
        for n in 0..players {
            self.insist(open(n)).await.expect("a new player");
            self.insist(issue(u64::from(n) + 1_000_000, n, credits)).await.expect("credits");
        }
    }

    pub(crate) fn balance(&self, account: Account) -> i64 {
        let balance = self.wallet.read(|books| books.ledger().balance(&account));
        balance.expect("the books are open").map_or(0, Amount::get)
    }

    /// The books, found sound.
    pub(crate) fn books(&self) -> Books {
        let books = self.wallet.read(Books::clone).expect("the books are open");
        assert_eq!(conserved(books.ledger()), Ok(()));
        books
    }
}

/// Takes the log over at once: a test does not wait for leases.
pub(crate) fn opener(store: Arc<MemStore>, patience: Duration) -> Opener {
    let now = Arc::new(AtomicU64::new(1));
    Box::new(move || {
        let (store, now) = (Arc::clone(&store), Arc::clone(&now));
        let options = Options {
            name: "wallet/0".into(),
            owner: "test".into(),
            address: "nowhere".into(),
            lease: Duration::from_secs(5),
            take_over: true,
            clock: Arc::new(move || UnixMicros(now.fetch_add(1, Ordering::Relaxed))),
            limits: LogLimits { patience, ..LogLimits::default() },
        };
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

pub(crate) fn id(n: u64) -> RequestId {
    let mut id = [1; 16];
    id[8..].copy_from_slice(&n.to_be_bytes());
    RequestId(id)
}

pub(crate) fn open(n: u8) -> Request {
    request(id(2_000_000 + u64::from(n)), Command::Open(player(n)))
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
    request(id(n), Command::Post(Transfer { id: id(n), kind, legs, reason }))
}

fn request(id: RequestId, command: Command) -> Request {
    Request { id, command, actor: "operator:test".into(), trace: [0; 16] }
}
