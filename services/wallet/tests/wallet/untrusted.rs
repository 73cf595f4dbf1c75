//! Tables and snapshots that the log does not confirm are not believed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use eventlog::{PgStore, PoolSizes, Reader, Store, UnixMicros};
use ledger::{Account, Ledger, snapshot};
use sabacc_wallet::command::Request;
use sabacc_wallet::repo::{self, Repo};
use sabacc_wallet::{
    Dependencies, Difference, FatalError, LoadError, Opener, QueueLimits, Wallet, WalletError,
};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::harness::{
    BEGIN, Harness, TestClock, buy_in, execute_until_answered, id_at, issue, opener, own, redeem,
};
use crate::tables::{all_rows, fill_tables, sql};

/// Runs a statement as the wallet's own role; returns the database's refusal.
async fn as_the_wallet(url: &str, statement: &str) -> Result<(), String> {
    let mut admin = PgConnection::connect(url).await.unwrap();
    sqlx::raw_sql("SET search_path = wallet; SET ROLE sabacc_wallet")
        .execute(&mut admin)
        .await
        .unwrap();
    let done = sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(&mut admin).await;
    done.map(drop).map_err(|error| error.to_string())
}

/// Error of a wallet that must not start.
async fn start_error(url: &str) -> LoadError {
    let store =
        PgStore::connect_with(url, "wallet", PoolSizes::default(), repo::projection()).await;
    let store = store.unwrap();
    let clock = TestClock::new().clock();
    let opener = opener(Arc::clone(&store), Duration::from_secs(5), clock.clone());
    let ground = Dependencies { opener, clock, repo: Some(Repo::new(&store)) };
    let fault = match Wallet::open(ground, QueueLimits::default()).await {
        // On a busy machine the comparison goes on beside what it serves.
        Ok((_wallet, owner)) => {
            let ended = timeout(Duration::from_secs(60), owner.run(CancellationToken::new())).await;
            ended.expect("it believes what it was told").unwrap_err()
        }
        Err(fault) => fault,
    };
    match fault {
        FatalError::Load(error) => error,
        FatalError::Open(error) => panic!("{error}"),
    }
}

fn difference(error: LoadError) -> Difference {
    match error {
        LoadError::Differs(difference) => difference,
        error @ (LoadError::Read(_)
        | LoadError::Corrupt(_)
        | LoadError::InvariantViolation(_)
        | LoadError::Rewritten { .. }
        | LoadError::NoSnapshot { .. }) => panic!("{error}"),
    }
}

/// Two statements that mint a million on one account and debit it from issuance, so that sums still
/// agree.
const MINT: [&str; 2] = [
    "UPDATE entries SET balance = balance + 1000000 WHERE account = 2 AND position = \
     (SELECT max(position) FROM entries WHERE account = 2)",
    "UPDATE entries SET balance = balance - 1000000 WHERE account = 0 AND position = \
     (SELECT max(position) FROM entries WHERE account = 0)",
];

#[tokio::test(flavor = "multi_thread")]
async fn the_wallets_role_can_change_no_entry() {
    let (harness, url) = Harness::over_postgres("role").await;
    fill_tables(&harness).await;
    let rows = all_rows(&url).await;
    let rebuilds = "SELECT set_config('sabacc.rebuilds', 'wallet', false); ";
    let harms = [
        MINT[0],
        MINT[1],
        "DELETE FROM entries",
        "TRUNCATE entries",
        "UPDATE accounts SET name = 'x' WHERE number = 2",
        "DELETE FROM accounts",
        "UPDATE adjustments SET amount = 1000000",
        "UPDATE adjustments SET proposed_by = 'x'",
        "UPDATE holds SET amount = 1",
        "UPDATE states SET account = 9",
        "INSERT INTO projected VALUES ('other', NULL)",
        "TRUNCATE projected, accounts, entries, states, holds, adjustments",
        "ALTER TABLE entries DISABLE TRIGGER no_edit",
    ];
    for harm in harms {
        for statement in [harm.to_owned(), format!("{rebuilds}{harm}")] {
            assert!(as_the_wallet(&url, &statement).await.is_err(), "{statement}");
        }
    }
    // Only the owner of the log may empty the tables.
    as_the_wallet(&url, "SELECT empty_tables('wallet/0', 0)").await.unwrap();
    assert_eq!(all_rows(&url).await, rows);
    // An administrator cannot change them by mistake either.
    let mut admin = PgConnection::connect(&url).await.unwrap();
    for harm in ["UPDATE wallet.entries SET balance = 1", "TRUNCATE wallet.entries"] {
        let refused = sqlx::raw_sql(harm).execute(&mut admin).await.unwrap_err();
        assert!(refused.to_string().contains("says what the log says"), "{refused}");
    }
    assert_eq!(all_rows(&url).await, rows);
    harness.is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn credits_that_two_updates_mint_are_not_there_after_a_restart() {
    let (harness, url) = Harness::over_postgres("minted").await;
    fill_tables(&harness).await;
    let live = harness.log_content().await;
    harness.stop().await;
    // A superuser can.
    for mint in MINT {
        sql(&url, mint).await;
    }
    let found = difference(start_error(&url).await);
    assert_eq!((found.table, found.column), ("entries", "balance"), "{found}");
    assert!(
        ["player/", "house/issuance"].iter().any(|it| found.account.starts_with(it)),
        "{found}"
    );
    let said = LoadError::Differs(found).to_string();
    assert!(said.contains("sabacc migrate --rebuild"), "{said}");
    // Follows the message: the tables are rebuilt, and the minted credits are gone.
    repo::request_rebuild(&url).await.unwrap();
    let again = Harness::over_database(&url, TestClock::new()).await;
    assert_eq!(again.log_content().await, live);
    let had = live.balance(own(0));
    let greedy = again.execute(redeem(900, 0, had + 1)).await;
    assert!(matches!(greedy, Err(WalletError::Refused(_))), "{greedy:?}");
    again.is_sound().await;
    again.stop().await;
}

/// With many accounts the comparison takes long. Here a lock on their table holds it up.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_comparison_delays_no_transfer_and_nothing_is_read_before_it_ends() {
    let (harness, url) = Harness::over_postgres("long").await;
    fill_tables(&harness).await;
    harness.stop().await;
    for harm in [None, Some(MINT[0])] {
        if let Some(harm) = harm {
            sql(&url, harm).await;
        }
        let mut holder = PgConnection::connect(&url).await.unwrap();
        let lock = "BEGIN; LOCK TABLE wallet.accounts IN ACCESS EXCLUSIVE MODE";
        sqlx::raw_sql(lock).execute(&mut holder).await.unwrap();
        let again = Harness::over_database(&url, TestClock::new()).await;
        let had = again.balance(own(0)).await;
        again.execute(issue(700 + u64::from(harm.is_some()), 0, 5)).await.unwrap();
        assert_eq!(again.balance(own(0)).await, had + 5);
        assert!(matches!(again.wallet.repo(), Err(WalletError::Unavailable)));
        holder.close().await.unwrap();
        if harm.is_none() {
            again.is_sound().await;
            again.stop().await;
        } else {
            let FatalError::Load(error) = again.fatal_error().await else { panic!("it was read") };
            assert_eq!(difference(error).column, "balance");
        }
    }
}

/// Changes that the role is allowed to make are found too.
#[tokio::test(flavor = "multi_thread")]
async fn rows_that_the_role_adds_or_changes_are_not_believed() {
    let (harness, url) = Harness::over_postgres("added").await;
    fill_tables(&harness).await;
    harness.stop().await;
    let harms = [
        (
            "INSERT INTO entries SELECT size, 1000000, 1000600, 2, 0, 1, 'mine' FROM covered",
            "entries",
        ),
        ("INSERT INTO accounts VALUES (99, 'player/x', NULL, NULL, 1)", "accounts"),
        ("UPDATE states SET frozen = false WHERE frozen", "states"),
        ("UPDATE states SET excluded_until = 5 WHERE excluded_until > 5", "states"),
        ("UPDATE holds SET remaining = 1 WHERE state = 1", "holds"),
        ("UPDATE holds SET state = 3 WHERE state = 1", "holds"),
        ("UPDATE adjustments SET state = 3 WHERE state = 1", "adjustments"),
    ];
    for (harm, table) in harms {
        as_the_wallet(&url, harm).await.unwrap();
        match start_error(&url).await {
            LoadError::Differs(found) => assert_eq!(found.table, table, "{harm}: {found}"),
            // The row has a name that is no account's.
            LoadError::Read(error) => assert!(error.to_string().contains("account"), "{error}"),
            error @ (LoadError::Corrupt(_)
            | LoadError::InvariantViolation(_)
            | LoadError::Rewritten { .. }
            | LoadError::NoSnapshot { .. }) => panic!("{harm}: {error}"),
        }
        sql(&url, "DELETE FROM projected").await;
        let again = Harness::over_database(&url, TestClock::new()).await;
        again.is_sound().await;
        again.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_past_that_was_changed_ends_the_wallet_while_it_serves() {
    let (harness, url) = Harness::over_postgres("past").await;
    fill_tables(&harness).await;
    harness.execute_until_answered(issue(500, 0, 1)).await.unwrap();
    harness.stop().await;
    let harms = [
        (
            "UPDATE entries SET amount = 999 WHERE account = 2 AND kind = 1 AND amount = 1000",
            "amount",
        ),
        (
            "UPDATE entries SET reason = 'mine' WHERE account = 2 AND kind = 1 AND amount = 1000",
            "row",
        ),
        ("DELETE FROM entries WHERE account = 2 AND kind = 3", "row"),
        ("INSERT INTO entries VALUES (2, 1, 1, 2, NULL, 1, NULL)", "row"),
    ];
    for (harm, column) in harms {
        sql(&url, harm).await;
        let again = Harness::over_database(&url, TestClock::new()).await;
        let wallet = again.wallet.clone();
        let FatalError::Load(error) = again.fatal_error().await else { panic!("{harm}") };
        let found = difference(error);
        let of = own(0).to_string();
        assert_eq!(
            (found.table, found.column, &found.account),
            ("entries", column, &of),
            "{found}"
        );
        assert!(wallet.repo().is_err(), "{harm}: nothing is read any more");
        sql(&url, "DELETE FROM projected").await;
        let mended = Harness::over_database(&url, TestClock::new()).await;
        mended.is_sound().await;
        mended.stop().await;
    }
}

/// A superuser changes the last event of a stream, which no snapshot covers yet, and the wallet reads its
/// log again.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_was_rewritten_ends_the_wallet_that_wrote_it() {
    let (harness, url) = Harness::over_postgres("rewritten").await;
    fill_tables(&harness).await;
    let size = harness.size().await;
    sql(&url, "UPDATE owners SET epoch = epoch + 1").await;
    harness.execute_until_answered(issue(500, 0, 1)).await.unwrap();
    sql(
        &url,
        "ALTER TABLE event_groups DISABLE TRIGGER append_only; \
         UPDATE event_groups AS old SET trace = gen_random_uuid() \
         WHERE position = (SELECT min(position) FROM event_groups AS last WHERE NOT EXISTS ( \
             SELECT FROM event_groups WHERE stream = last.stream AND version > last.version)); \
         UPDATE owners SET epoch = epoch + 1",
    )
    .await;
    let wallet = harness.wallet.clone();
    let insisting =
        tokio::spawn(async move { execute_until_answered(&wallet, issue(501, 0, 1)).await });
    let FatalError::Load(error) = harness.fatal_error().await else { panic!("another fault") };
    insisting.abort();
    assert!(matches!(error, LoadError::Rewritten { events } if events >= size), "{error}");
}

/// Neither an unreadable row nor one of another account stops the comparison.
#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_is_not_switched_off() {
    let (harness, url) = Harness::over_postgres("switched_off").await;
    fill_tables(&harness).await;
    harness.stop().await;
    let harms = [
        ("UPDATE entries SET amount = -9223372036854775808 WHERE account = 2 AND kind = 1", None),
        ("UPDATE accounts SET opened = opened + 1 WHERE number = 4", Some("opened")),
    ];
    for (harm, column) in harms {
        sql(&url, harm).await;
        let again = Harness::over_database(&url, TestClock::new()).await;
        let FatalError::Load(error) = again.fatal_error().await else { panic!("{harm}") };
        match (error, column) {
            (LoadError::Read(eventlog::ReadError::Corrupt(_)), None) => {}
            (LoadError::Differs(found), Some(column)) => {
                assert_eq!((found.table, found.column), ("accounts", column), "{found}");
            }
            (error, _) => panic!("{harm}: {error}"),
        }
        sql(&url, "DELETE FROM projected").await;
        Harness::over_database(&url, TestClock::new()).await.stop().await;
    }
    for (column, other) in [("player", "NULL"), ("table_id", "gen_random_uuid()")] {
        sql(&url, &format!("UPDATE accounts SET {column} = {other} WHERE number = 4")).await;
        assert_eq!(difference(start_error(&url).await).column, column);
        sql(&url, "DELETE FROM projected").await;
        Harness::over_database(&url, TestClock::new()).await.stop().await;
    }
}

/// A short outage does not end the comparison for good.
#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_that_was_cut_short_begins_anew() {
    let (harness, url) = Harness::over_postgres("cut_short").await;
    fill_tables(&harness).await;
    harness.stop().await;
    sql(
        &url,
        "UPDATE entries SET amount = 999 WHERE account = 2 AND kind = 1; \
         ALTER TABLE accounts RENAME COLUMN opened TO away",
    )
    .await;
    let again = Harness::over_database(&url, TestClock::new()).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    sql(&url, "ALTER TABLE accounts RENAME COLUMN away TO opened").await;
    let FatalError::Load(error) = again.fatal_error().await else { panic!("it goes on") };
    assert_eq!(difference(error).table, "entries");
}

/// Size of the newest snapshot, in events.
pub(crate) async fn newest_snapshot_size(url: &str) -> Option<i64> {
    let mut admin = PgConnection::connect(url).await.unwrap();
    let newest = "SELECT max(size) FROM wallet.snapshots";
    sqlx::query_scalar(newest).fetch_one(&mut admin).await.unwrap()
}

/// ARCHITECTURE.md §2.10.
#[tokio::test(flavor = "multi_thread")]
async fn without_snapshots_or_with_false_ones_a_wallet_starts_the_same() {
    let (harness, url) = Harness::over_postgres("snapshots").await;
    fill_tables(&harness).await;
    let live = harness.log_content().await;
    harness.stop().await;
    let mut minted = Ledger::new();
    ledger::evolve(&mut minted, UnixMicros(1), &ledger::Event::AccountOpened(own(7)));
    let hex: String = snapshot::write(&minted).iter().map(|byte| format!("{byte:02x}")).collect();
    let other = format!("UPDATE snapshots SET bytes = '\\x{hex}'");
    let ahead = format!(
        "INSERT INTO snapshots SELECT 'wallet/0', size, size - 1, 0, '\\x{hex}' FROM unnest(ARRAY[5, 900]) AS size"
    );
    let flipped = "UPDATE snapshots SET bytes = set_byte(bytes, 40, 255 - get_byte(bytes, 40))";
    let harms = ["SELECT 1", "DELETE FROM snapshots", &other, flipped, &ahead];
    for harm in harms {
        assert!(newest_snapshot_size(&url).await.is_some());
        sql(&url, harm).await;
        let again = Harness::over_database(&url, TestClock::new()).await;
        assert_eq!(again.log_content().await, live, "{harm}");
        assert!(again.execute(buy_in(50, 3, 1)).await.is_err(), "{harm}: frozen");
        again.is_sound().await;
        again.stop().await;
        sql(&url, "DELETE FROM snapshots WHERE size = 900").await;
    }
}

/// The log is cut and archived to a file; the wallet starts from its snapshot, and not without it.
/// ARCHITECTURE.md §2.10, §2.11.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_was_cut_starts_from_a_snapshot_that_it_vouches_for() {
    let (harness, url) = Harness::over_postgres("cut_log").await;
    fill_tables(&harness).await;
    let live = harness.balance(own(0)).await;
    let store = harness.stop().await;
    let size = newest_snapshot_size(&url).await.unwrap().unsigned_abs();
    let reader = Reader::new(store as Arc<dyn Store>, "wallet/0");
    let mut file = Vec::new();
    let none = merkle::Tree::default();
    eventlog::archive::write(&reader, 0..size - 1, none, &mut file).await.unwrap();
    let mut file = std::io::Cursor::new(file);
    let far = UnixMicros(u64::MAX >> 1);
    let far = eventlog::archive::Retained::since(far);
    let gone = eventlog::archive::remove(&url, "wallet", &mut file, far).await.unwrap();
    assert!(gone > 0);
    let again = Harness::over_database(&url, TestClock::new()).await;
    // An id of the time before the cut may have been answered, and never acts twice.
    let old = again.execute_until_answered(issue(80, 0, 5)).await;
    assert_eq!(old, Err(WalletError::RequestIdTooOld));
    let newer = Request { id: id_at(80, BEGIN + 1_000_000), ..issue(80, 0, 5) };
    again.execute_until_answered(newer).await.unwrap();
    let read =
        again.wallet.repo().unwrap().account(Account::Player(crate::harness::player(0))).await;
    assert_eq!(read.unwrap().unwrap().balance.get(), live + 5);
    again.stop().await;
    sql(&url, "CREATE TABLE kept AS SELECT * FROM snapshots; DELETE FROM snapshots").await;
    assert!(matches!(start_error(&url).await, LoadError::NoSnapshot { .. }));
    // Tables that could not be rebuilt are not emptied.
    let rows = all_rows(&url).await.len();
    sql(&url, "DELETE FROM projected").await;
    assert!(matches!(start_error(&url).await, LoadError::Read(_)));
    assert_eq!(all_rows(&url).await.len() + 1, rows);
}

/// Opens the log. The first time, another owner takes it at once and a row of a later event is in
/// the tables; the next time the tables agree with the log.
fn opener_with_interfering_owner(
    store: &Arc<PgStore>,
    url: String,
    clock: eventlog::Clock,
) -> Opener {
    let open = Arc::new(opener(Arc::clone(store), Duration::from_secs(5), clock));
    let first = AtomicBool::new(true);
    Box::new(move || {
        let (open, url) = (Arc::clone(&open), url.clone());
        let first = first.swap(false, Ordering::Relaxed);
        Box::pin(async move {
            if !first {
                repo::request_rebuild(&url).await.expect("the database answers");
                return open().await;
            }
            let log = open().await?;
            drop(open().await?);
            let later = "INSERT INTO wallet.entries SELECT size, 7, 1000, 2, 0, 1, 'later' \
                 FROM wallet.covered";
            sql(&url, later).await;
            Ok(log)
        })
    })
}

/// Differences that are found while another owner writes do not end the wallet.
#[tokio::test(flavor = "multi_thread")]
async fn tables_are_not_judged_by_who_has_lost_the_log() {
    let (harness, url) = Harness::over_postgres("meanwhile").await;
    harness.open_accounts(1, 100).await;
    let store = harness.stop().await;
    let clock = TestClock::new().clock();
    let opener = opener_with_interfering_owner(&store, url, clock.clone());
    let ground = Dependencies { opener, clock, repo: Some(Repo::new(&store)) };
    let (wallet, standby) = Wallet::standby(ground, QueueLimits::default());
    let owner = tokio::spawn(standby.run(tokio_util::sync::CancellationToken::new()));
    let bought = execute_until_answered(&wallet, buy_in(1, 0, 10));
    tokio::select! {
        bought = bought => drop(bought.expect("there are credits")),
        () = async { while !owner.is_finished() { tokio::time::sleep(Duration::from_millis(20)).await } } => {
            panic!("it ended: {:?}", owner.await)
        }
    }
}
