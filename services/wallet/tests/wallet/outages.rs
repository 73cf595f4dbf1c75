//! Faults of a real database under load: nothing is lost, nothing happens twice, and the wallet
//! recovers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use eventlog::{PgStore, Position, Reader, Store};
use ledger::{Account, Refusal};
use primitives::Credits;
use sabacc_wallet::command::Request;
use sabacc_wallet::{Answer, WalletError};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tokio::task::JoinSet;

use crate::cutting_proxy::CuttingProxy;
use crate::harness::{
    BEGIN, Harness, TestClock, buy_in, cash_out, execute_until_answered, issue, own, redeem, seat,
    test_author,
};

const PLAYERS: u8 = 8;
const EACH: u64 = 30;

async fn run_sql(url: &str, statement: &str) {
    let mut admin = PgConnection::connect(url).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(&mut admin).await.unwrap();
}

/// Ends every connection of the wallet, whatever it is doing.
const CUT: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
     WHERE datname = current_database() AND application_name = 'sabacc-wallet'";

/// Requests of one player: in and out by turns, so that each has an entry of its own.
fn player_requests(n: u8) -> Vec<Request> {
    let first = u64::from(n) * 1000;
    (0..EACH)
        .map(|k| match k % 2 {
            0 => buy_in(first + k, n, 10),
            _ => cash_out(first + k, n, 10),
        })
        .collect()
}

/// Repeats every player's requests until they are answered, during `trouble`. Returns the answers.
async fn under_load(
    harness: &Harness<PgStore>,
    trouble: impl Future<Output = ()>,
) -> BTreeMap<u8, Vec<Answer>> {
    let mut callers = JoinSet::new();
    for n in 0..PLAYERS {
        let wallet = harness.wallet.clone();
        callers.spawn(async move {
            let mut answers = Vec::new();
            for request in player_requests(n) {
                answers
                    .push(execute_until_answered(&wallet, request).await.expect("he has enough"));
            }
            (n, answers)
        });
    }
    trouble.await;
    callers.join_all().await.into_iter().collect()
}

/// Checks that every request is recorded once, that repeats get the same answers, and that the
/// tables agree.
async fn check_each_recorded_once(harness: &Harness<PgStore>, answers: BTreeMap<u8, Vec<Answer>>) {
    let books = harness.log_content().await;
    for (n, answered) in answers {
        let lines: Vec<u64> =
            books.lines(own(n)).iter().skip(1).map(|(position, ..)| *position).collect();
        let positions: Vec<u64> = answered.iter().map(|done| done.position.0).collect();
        assert_eq!(lines, positions, "player {n}");
        for (request, first) in player_requests(n).into_iter().zip(answered) {
            assert_eq!(harness.execute_until_answered(request).await, Ok(first));
        }
    }
    assert_eq!(harness.log_content().await, books, "repeats change nothing");
    harness.is_sound().await;
}

/// Closes the database to all connections for each of `outages`, under load.
async fn check_outages(name: &str, outages: &[Duration]) {
    let (harness, url) = Harness::over_postgres(name).await;
    harness.open_accounts(PLAYERS, 100).await;
    let name = url.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    let other = url.replacen(&name, "postgres", 1);
    let trouble = async {
        for outage in outages {
            tokio::time::sleep(Duration::from_millis(30)).await;
            let close = format!("ALTER DATABASE \"{name}\" ALLOW_CONNECTIONS false");
            run_sql(&other, &close).await;
            let cut = CUT.replace("current_database()", &format!("'{name}'"));
            run_sql(&other, &cut).await;
            tokio::time::sleep(*outage).await;
            run_sql(&other, &format!("ALTER DATABASE \"{name}\" ALLOW_CONNECTIONS true")).await;
        }
    };
    let answers = under_load(&harness, trouble).await;
    check_each_recorded_once(&harness, answers).await;
}

/// Outages longer than the wallet retries a write.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_goes_and_comes_back() {
    check_outages("gone", &[Duration::from_millis(800); 2]).await;
}

/// An outage longer than the lease of the log.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_gone_for_a_minute() {
    check_outages("minute", &[Duration::from_secs(60)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_cut_again_and_again() {
    let (harness, url) = Harness::over_postgres("cut").await;
    harness.open_accounts(PLAYERS, 100).await;
    let trouble = async {
        for _ in 0..15 {
            tokio::time::sleep(Duration::from_millis(11)).await;
            run_sql(&url, CUT).await;
        }
    };
    let answers = under_load(&harness, trouble).await;
    check_each_recorded_once(&harness, answers).await;
}

/// The server ends the connection within COMMIT: the writes are undone, which the wallet only
/// learns by asking.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_cut_within_commit() {
    let (harness, url) = Harness::over_postgres("commit").await;
    harness.open_accounts(PLAYERS, 100).await;
    let trap = "SET search_path = wallet; CREATE SEQUENCE commits; \
         CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             IF nextval('wallet.commits') % 5 = 0 THEN \
                 PERFORM pg_terminate_backend(pg_backend_pid()); END IF; \
             RETURN NULL; END $$; \
         CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON entries DEFERRABLE INITIALLY DEFERRED \
             FOR EACH ROW EXECUTE FUNCTION cut()";
    let trouble = async {
        run_sql(&url, trap).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        run_sql(&url, "DROP TRIGGER cut ON wallet.entries").await;
    };
    let answers = under_load(&harness, trouble).await;
    check_each_recorded_once(&harness, answers).await;
}

/// The connection is cut after COMMIT and before its answer: the writes stand, which the wallet
/// only learns by asking.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_cut_after_commit() {
    let server = testkit::postgres().await.expect("there is a PostgreSQL");
    let url = server.database("answer").await.expect("a fresh database");
    sabacc_wallet::repo::migrate(&url, None).await.expect("the schema can be made");
    let cutter = CuttingProxy::in_front_of(&url).await;
    let harness = Harness::over_database(&cutter.url, TestClock::new()).await;
    harness.open_accounts(PLAYERS, 100).await;
    let trouble = async {
        cutter.arm();
        tokio::time::sleep(Duration::from_millis(400)).await;
        assert!(cutter.disarm() > 0, "answers were swallowed");
    };
    let answers = under_load(&harness, trouble).await;
    check_each_recorded_once(&harness, answers).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_is_full_for_a_while() {
    let (harness, url) = Harness::over_postgres("full").await;
    harness.open_accounts(PLAYERS, 100).await;
    let full = "SET search_path = wallet; \
         CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             RAISE EXCEPTION 'could not extend file: No space left on device' \
                 USING ERRCODE = 'disk_full'; END $$; \
         CREATE TRIGGER full_disk BEFORE INSERT ON event_groups EXECUTE FUNCTION full_disk()";
    let before = harness.log_content().await;
    run_sql(&url, full).await;
    assert_eq!(harness.execute(buy_in(9000, 0, 1)).await, Err(WalletError::Unavailable));
    assert_eq!(harness.log_content().await, before);
    let trouble = async {
        tokio::time::sleep(Duration::from_millis(700)).await;
        run_sql(&url, "DROP TRIGGER full_disk ON wallet.event_groups").await;
    };
    let answers = under_load(&harness, trouble).await;
    check_each_recorded_once(&harness, answers).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_wallets_that_want_the_same_log() {
    let (harness, url) = Harness::over_postgres("two").await;
    harness.open_accounts(PLAYERS, 100).await;
    let other = Harness::over_database(&url, harness.clock.clone()).await;
    let mut callers = JoinSet::new();
    for n in 0..PLAYERS {
        let wallets = [harness.wallet.clone(), other.wallet.clone()];
        callers.spawn(async move {
            let mut positions = Vec::new();
            // The same request at both: the owner of the log answers it.
            for (k, request) in player_requests(n).into_iter().take(6).enumerate() {
                let first = execute_until_answered(&wallets[k % 2], request.clone())
                    .await
                    .expect("he has enough");
                let second = execute_until_answered(&wallets[(k + 1) % 2], request).await;
                positions.push(first.position.0);
                assert_eq!(second, Ok(first));
            }
            (n, positions)
        });
    }
    let positions = callers.join_all().await;
    let books = harness.log_content().await;
    for (n, answered) in positions {
        let lines: Vec<u64> = books.lines(own(n)).iter().skip(1).map(|line| line.0).collect();
        assert_eq!(lines, answered);
    }
    harness.is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_whose_log_another_has_refuses_nothing_by_what_it_remembers() {
    let (harness, url) = Harness::over_postgres("stale").await;
    harness.open_accounts(1, 1).await;
    let other = Harness::over_database(&url, harness.clock.clone()).await;
    let (more, less) = (issue(1, 0, 5), redeem(2, 0, 5));
    other.execute_until_answered(more).await.unwrap();
    let first = other.execute_until_answered(less.clone()).await;
    assert!(first.is_ok(), "{first:?}");
    // The old owner remembers an account with one credit, unless it has the log back already.
    let answer = harness.wallet.execute(less.clone(), test_author()).await;
    assert!(answer == Err(WalletError::Unavailable) || answer == first, "{answer:?}");
    assert_eq!(harness.execute_until_answered(less).await, first);
    harness.is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_gone_lets_nothing_be_refused() {
    let (harness, url) = Harness::over_postgres("silent").await;
    harness.open_accounts(1, 5).await;
    let short = Refusal::InsufficientCredits { account: own(0), short: Credits::of(1) };
    assert_eq!(harness.execute(redeem(1, 0, 6)).await, Err(WalletError::Refused(short)));
    let admin = &mut PgConnection::connect(&url).await.expect("the database answers");
    let rename = "ALTER TABLE wallet.owners RENAME TO lent";
    sqlx::query(rename).execute(&mut *admin).await.expect("an administrator may");
    assert_eq!(harness.execute(redeem(2, 0, 6)).await, Err(WalletError::Unavailable));
    let back = "ALTER TABLE wallet.lent RENAME TO owners";
    sqlx::query(back).execute(&mut *admin).await.expect("an administrator may");
    assert_eq!(harness.execute(redeem(2, 0, 6)).await, Err(WalletError::Refused(short)));
    harness.execute(redeem(3, 0, 5)).await.unwrap();
    harness.is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_steps_back_an_hour() {
    let (harness, _) = Harness::over_postgres("clock").await;
    harness.clock.set(BEGIN + 7_200_000_000);
    harness.open_accounts(1, 100).await;
    harness.execute(buy_in(1, 0, 10)).await.unwrap();
    harness.clock.set(BEGIN + 3_600_000_000);
    harness.execute(buy_in(2, 0, 10)).await.unwrap();
    harness.execute(cash_out(3, 0, 5)).await.unwrap();
    let reader = Reader::new(Arc::clone(&harness.store) as Arc<dyn Store>, "wallet/0");
    let events = reader.read(Position(0), 100).await.unwrap();
    assert!(events.is_sorted_by_key(|event| event.recorded_at), "no time goes back");
    assert!(events[0].recorded_at.0 >= BEGIN + 7_200_000_000);
    assert_eq!(harness.balance(seat(0)).await, 15);
    harness.is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_request_and_the_last_credit_from_100_callers() {
    let (harness, _) = Harness::over_postgres("hundred").await;
    harness.open_accounts(2, 1).await;
    let mut callers = JoinSet::new();
    for n in 0..100_u64 {
        let wallet = harness.wallet.clone();
        callers.spawn(async move {
            let same = wallet.execute(buy_in(7, 0, 1), test_author()).await;
            let own = if n % 2 == 0 { buy_in(100 + n, 1, 1) } else { redeem(100 + n, 1, 1) };
            (same, wallet.execute(own, test_author()).await)
        });
    }
    let answers = callers.join_all().await;
    let (first, _) = answers[0].clone();
    assert!(first.is_ok() && answers.iter().all(|(same, _)| *same == first), "{answers:?}");
    assert_eq!(answers.iter().filter(|(_, own)| own.is_ok()).count(), 1);
    let broke = Refusal::InsufficientCredits { account: own(1), short: Credits::of(1) };
    let refused = answers.iter().filter(|(_, own)| *own == Err(WalletError::Refused(broke)));
    assert_eq!(refused.count(), 99);
    assert_eq!(harness.balance(seat(0)).await, 1);
    harness.is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn amounts_at_the_limits_of_their_type() {
    const MOST: i64 = (1 << 53) - 1;
    let (harness, _) = Harness::over_postgres("most").await;
    harness.open_accounts(1, 1).await;
    harness.execute(redeem(1, 0, 1)).await.unwrap();
    harness.execute(issue(2, 0, MOST)).await.unwrap();
    let over = Refusal::BalanceOutOfRange { account: Account::Issuance };
    assert_eq!(harness.execute(issue(3, 0, 1)).await, Err(WalletError::Refused(over)));
    harness.execute(buy_in(4, 0, MOST)).await.unwrap();
    let short = Refusal::InsufficientCredits { account: own(0), short: Credits::of(1) };
    assert_eq!(harness.execute(buy_in(5, 0, 1)).await, Err(WalletError::Refused(short)));
    harness.execute(cash_out(6, 0, MOST)).await.unwrap();
    harness.is_sound().await;
    let books = harness.log_content().await;
    assert_eq!((books.balance(own(0)), books.balance(Account::Issuance)), (MOST, -MOST));
    harness.execute(redeem(7, 0, MOST)).await.unwrap();
    assert_eq!(harness.log_content().await.ledger.balance(&own(0)), Some(ledger::Amount::ZERO));
    harness.is_sound().await;
    assert!(harness.execute(issue(8, 0, 1)).await.is_ok());
}
