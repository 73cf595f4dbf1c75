//! The whole process over PostgreSQL and a port, started twice.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use chassis::auth::{Claims, Identity, IssuerKey, Role, TokenIssuer};
use chassis::channel::{self, CredentialInterceptor, PeerChannel};
use chassis::config::{LogIdentity, PreviousLogKey, Service, ServiceConfig, Source};
use chassis::drain::Drain;
use chassis::serve;
use ed25519_dalek::SigningKey;
use proto::common::v1::ErrorReason;
use proto::wallet::v1 as pb;
use proto::wallet::v1::settlement_service_client::SettlementServiceClient;
use proto::wallet::v1::wallet_service_client::WalletServiceClient;
use sabacc_wallet::service;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use system::clock::SystemClock;
use system::entropy::SystemEntropy;
use tokio::task::JoinHandle;
use tonic::Request;

use crate::batches::bring;
use crate::harness::{TABLE, id, own, player};

struct Process {
    channel: PeerChannel,
    issuer: TokenIssuer,
    drain: Drain,
    running: JoinHandle<Result<bool, service::RunError>>,
}

fn identity(key: u8) -> LogIdentity {
    let key = SigningKey::from_bytes(&[key; 32]);
    LogIdentity { origin: "test/wallet".into(), key, previous: Vec::new() }
}

impl Process {
    async fn begin(url: &str) -> Process {
        let life = Process::start(url).await;
        while !life.running.is_finished() && channel::is_ready(&life.channel).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        life
    }

    /// Starts a process without waiting until it is ready.
    async fn start(url: &str) -> Process {
        Process::start_with(url, identity(1)).await
    }

    async fn start_with(url: &str, log: LogIdentity) -> Process {
        let settings = [
            ("SABACC_DATABASE_URL", url),
            ("SABACC_LISTEN", "127.0.0.1:0"),
            ("SABACC_ALLOW_UNSAFE_DATABASE", "true"),
        ];
        let environment: BTreeMap<_, _> =
            settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let source = Source::new("", "", environment).expect("settings are texts");
        let mut config = ServiceConfig::parse(Service::Wallet, source).expect("they are right");
        let issuer = TokenIssuer::generate("test", &SystemEntropy);
        config.log = Some(log);
        config.auth.issuers = vec![IssuerKey::for_all_roles(issuer.public_key())];
        let drain = Drain::new(Duration::from_secs(10));
        let bound = serve::bind(config.listen).await.expect("a free port");
        let uri = format!("http://{}", bound.address()).parse().expect("an address is a URI");
        let channel = channel::connect_lazy(&uri, None, CredentialInterceptor::NoToken)
            .expect("no certificates");
        let running = tokio::spawn(service::run(config, bound, drain.clone(), false));
        Process { channel, issuer, drain, running }
    }

    fn call<T>(&self, role: Role, subject: &str, message: T) -> Request<T> {
        let identity = Identity::new(role, subject);
        let (clock, minute) = (SystemClock::new(), Duration::from_secs(60));
        let claims = Claims::new("test", &identity, minute, &clock, &SystemEntropy);
        let mut request = Request::new(message);
        channel::add_token(&mut request, &self.issuer.issue(&claims));
        request
    }

    /// Words with which a process ends that cannot use its log.
    async fn fault(self) -> String {
        let fault = self.running.await.expect("no panic").expect_err("it cannot start");
        let mut words = fault.to_string();
        let mut cause = fault.source();
        while let Some(error) = cause {
            words = format!("{words}: {error}");
            cause = error.source();
        }
        words
    }

    async fn end(self) {
        self.drain.begin();
        drop(self.channel);
        let finished = self.running.await.expect("no panic").expect("no fault");
        assert!(finished, "somebody was cut off");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn credits_outlive_the_process() {
    let url = testkit::postgres().await.unwrap().database("wallet").await.unwrap();
    service::migrate(&url, None).await.unwrap();
    let me = player(1).to_string();

    let life = Process::begin(&url).await;
    let mut accounts = WalletServiceClient::new(life.channel.clone());
    let mut settlement = SettlementServiceClient::new(life.channel.clone());
    let open = pb::OpenAccountRequest { request_id: id(1).to_string(), player_id: String::new() };
    accounts.open_account(life.call(Role::Player, &me, open)).await.unwrap();
    let issue = pb::IssueRequest {
        request_id: id(2).to_string(),
        player_id: player(1).to_string(),
        amount_credits: 500,
        reason: "welcome".into(),
    };
    let greedy = accounts.issue(life.call(Role::Player, &me, issue.clone())).await.unwrap_err();
    assert_eq!(wire::status::reason_of(&greedy), Some(ErrorReason::RoleNotAllowed));
    let issued = accounts.issue(life.call(Role::Operator, "ops", issue.clone())).await.unwrap();
    let issued = issued.into_inner();
    assert_eq!((issued.balance_credits, issued.position), (500, 1));
    let buy_in = pb::BuyInRequest {
        request_id: id(3).0.to_vec(),
        table_id: TABLE.0.to_vec(),
        player_id: player(1).0.to_vec(),
        amount: 200,
    };
    let bought = settlement.buy_in(life.call(Role::Service, "table", buy_in.clone())).await;
    let bought = bought.unwrap().into_inner();
    drop((accounts, settlement));
    life.end().await;

    let life = Process::begin(&url).await;
    let mut accounts = WalletServiceClient::new(life.channel.clone());
    let mut settlement = SettlementServiceClient::new(life.channel.clone());
    let again = settlement.buy_in(life.call(Role::Service, "table", buy_in)).await.unwrap();
    assert_eq!(again.into_inner(), bought);
    let again = accounts.issue(life.call(Role::Operator, "ops", issue)).await.unwrap();
    assert_eq!(again.into_inner(), issued, "the first answer, in another life");
    let ask = pb::GetAccountRequest::default();
    let found = accounts.get_account(life.call(Role::Player, &me, ask)).await.unwrap();
    let found = found.into_inner();
    assert_eq!((found.account, found.balance_credits), (own(1).to_string(), 300));
    assert_eq!(found.seats.iter().map(|seat| seat.balance_credits).collect::<Vec<_>>(), [200]);
    let ask = pb::ListEntriesRequest::default();
    let listed = accounts.list_entries(life.call(Role::Auditor, "a", ask)).await.unwrap_err();
    assert_eq!(wire::status::reason_of(&listed), Some(ErrorReason::BadField), "whose account?");
    drop((accounts, settlement));
    life.end().await;
}

/// A ready wallet answers: the log is taken first, and the accounts are read after that.
#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_is_ready_once_the_accounts_are_read() {
    let url = testkit::postgres().await.unwrap().database("ready").await.unwrap();
    service::migrate(&url, None).await.unwrap();
    let mut admin = PgConnection::connect(&url).await.unwrap();
    let mut locks = admin.begin().await.unwrap();
    sqlx::query("LOCK TABLE wallet.projected").execute(&mut *locks).await.unwrap();
    let life = Process::start(&url).await;
    let unread = "it is not ready: state: the accounts are not read yet";
    while channel::is_ready(&life.channel).await != Err(unread.to_owned()) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(channel::is_ready(&life.channel).await, Err(unread.to_owned()));
    locks.rollback().await.unwrap();
    while channel::is_ready(&life.channel).await.is_err() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let mut accounts = WalletServiceClient::new(life.channel.clone());
    let ask = pb::GetAccountRequest { player_id: player(99).to_string() };
    let read = accounts.get_account(life.call(Role::Operator, "ops", ask)).await.unwrap_err();
    assert_eq!(wire::status::reason_of(&read), Some(ErrorReason::AccountUnknown), "{read}");
    drop(accounts);
    life.end().await;
}

/// A superuser posts a transfer behind the wallet's back; the log's key is another one, and is named as
/// a previous one.
/// ARCHITECTURE.md §2.2.
#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_believes_what_was_written_with_its_key() {
    const UNKNOWN: &str = "is not as it was written with this log's key";
    let url = testkit::postgres().await.unwrap().database("forged").await.unwrap();
    service::migrate(&url, None).await.unwrap();
    let life = Process::begin(&url).await;
    let mut accounts = WalletServiceClient::new(life.channel.clone());
    let me = player(1).to_string();
    let open = pb::OpenAccountRequest { request_id: id(1).to_string(), player_id: String::new() };
    accounts.open_account(life.call(Role::Player, &me, open)).await.unwrap();
    let issue = pb::IssueRequest {
        request_id: id(2).to_string(),
        player_id: me.clone(),
        amount_credits: 500,
        reason: "welcome".into(),
    };
    accounts.issue(life.call(Role::Operator, "ops", issue)).await.unwrap();
    drop(accounts);
    life.end().await;

    let mut admin = PgConnection::connect(&url).await.unwrap();
    let again = "INSERT INTO wallet.event_groups
        SELECT position + 1, recorded_at, version + 1, author, log, count, stream, NULL, trace, NULL, NULL,
            sha256('any'), content, NULL
        FROM wallet.event_groups WHERE position = 1";
    let size: i64 = sqlx::query_scalar("SELECT size FROM wallet.log_sizes")
        .fetch_one(&mut admin)
        .await
        .unwrap();
    sqlx::raw_sql("ALTER TABLE wallet.event_groups DISABLE TRIGGER append_only")
        .execute(&mut admin)
        .await
        .unwrap();
    // The last event names a snapshot, which is the wallet's own; the issue stands before it.
    let forged = again.replace("position + 1", &size.to_string());
    sqlx::raw_sql(AssertSqlSafe(forged)).execute(&mut admin).await.unwrap();
    let fault = Process::start(&url).await.fault().await;
    assert!(fault.contains(UNKNOWN) && fault.contains(&format!("position {size} ")), "{fault}");
    let removed = sqlx::query("DELETE FROM wallet.event_groups WHERE position >= $1").bind(size);
    assert_eq!(removed.execute(&mut admin).await.unwrap().rows_affected(), 1);

    let fault = Process::start_with(&url, identity(2)).await.fault().await;
    assert!(fault.contains(UNKNOWN), "{fault}");
    let until = size.unsigned_abs();
    let old = PreviousLogKey { secret: Some([1; 32].into()), until };
    let changed = LogIdentity { previous: vec![old], ..identity(2) };
    let life = Process::start_with(&url, changed).await;
    while channel::is_ready(&life.channel).await.is_err() {
        assert!(!life.running.is_finished());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut accounts = WalletServiceClient::new(life.channel.clone());
    let ask = pb::GetAccountRequest { player_id: String::new() };
    let found = accounts.get_account(life.call(Role::Player, &me, ask)).await.unwrap();
    assert_eq!(found.into_inner().balance_credits, 500);
    drop(accounts);
    life.end().await;
}

/// An open stream does not delay a stop, and its transfers are answered in order.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_transfers_and_a_stop() {
    let url = testkit::postgres().await.unwrap().database("stream").await.unwrap();
    service::migrate(&url, None).await.unwrap();
    let life = Process::begin(&url).await;
    let mut accounts = WalletServiceClient::new(life.channel.clone());
    let mut settlement = SettlementServiceClient::new(life.channel.clone());
    let open = pb::OpenAccountsRequest {
        request_id: id(1).to_string(),
        player_ids: vec![player(1).to_string()],
    };
    accounts.open_accounts(life.call(Role::Operator, "ops", open)).await.unwrap();
    let issue = pb::IssueRequest {
        request_id: id(2).to_string(),
        player_id: player(1).to_string(),
        amount_credits: 2000,
        reason: "welcome".into(),
    };
    accounts.issue(life.call(Role::Operator, "ops", issue)).await.unwrap();

    let (send, sent) = tokio::sync::mpsc::channel(16);
    let requests = futures_util::stream::unfold(sent, |mut sent| async move {
        sent.recv().await.map(|request| (request, sent))
    });
    let call = life.call(Role::Service, "table", requests);
    let mut results = settlement.post(call).await.unwrap().into_inner();
    let sending = send.clone();
    let sender = tokio::spawn(async move {
        for n in 0..3000 {
            let mut transfer = bring(100 + n, 1, 1);
            transfer.linked = n == 5;
            let request = pb::PostRequest { transfer: Some(transfer) };
            sending.send(request).await.unwrap();
        }
    });
    let (mut posted, mut short) = (0, 0);
    for n in 0..3000 {
        let result = results.message().await.unwrap().unwrap().result.unwrap();
        assert_eq!(result.transfer_id, id(100 + n).0, "in their order");
        match result.outcome.unwrap() {
            pb::post_result::Outcome::Position(_) => posted += 1,
            pb::post_result::Outcome::Refused(refused) => {
                let linked = refused.reason() == ErrorReason::BadField && n == 5;
                let broke = refused.refusal() == pb::Refusal::InsufficientCredits;
                assert!(linked || broke, "{refused:?}");
                short += 1;
            }
        }
    }
    sender.await.unwrap();
    assert_eq!((posted, short), (2000, 1000));
    drop((accounts, settlement));
    life.drain.begin();
    let status = results.message().await.unwrap_err();
    assert_eq!(wire::status::reason_of(&status), Some(ErrorReason::Unavailable));
    drop((results, send));
    life.end().await;
}
