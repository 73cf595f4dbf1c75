//! Tables that are dropped, left behind or tampered with.

use std::time::Duration;

use eventlog::{PgStore, PoolSizes, Reader};
use ledger::Command;
use primitives::{AdjustmentId, Credits, HoldId, UnixMicros};
use sabacc_wallet::command::Request;
use sabacc_wallet::repo;
use sabacc_wallet::{Comparison, QueueLimits, verify};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};

use crate::harness::{
    BEGIN, Harness, TABLE, TestClock, buy_in, cash_out, id, issue, opener, own, player, seat,
    settle,
};

/// Writes a few rows of every table.
pub(crate) async fn fill_tables(harness: &Harness<PgStore>) {
    harness.open_accounts(4, 1000).await;
    for n in 0..4 {
        harness.execute(buy_in(u64::from(n), n, 400)).await.unwrap();
    }
    let pot = ledger::Account::SabaccPot(TABLE);
    let hand = [(seat(0), -50), (seat(1), 35), (pot, 10), (ledger::Account::Rake, 5)];
    harness.execute(settle(10, &hand)).await.unwrap();
    harness.execute(cash_out(11, 0, 100)).await.unwrap();
    let hold = |n: u64, amount| {
        let hold = ledger::Hold {
            id: HoldId(id(n).0),
            from: own(1),
            to: seat(1),
            amount: Credits::of(amount),
            expires_at: UnixMicros(BEGIN + 3_600_000_000),
        };
        Request::new(id(n), Command::PlaceHold(hold))
    };
    let propose = |n: u64| {
        let adjustment = ledger::Adjustment {
            id: AdjustmentId(id(n).0),
            account: own(2),
            amount: ledger::Amount::credit(Credits::of(7)),
            reason: "counted again".into(),
            proposed_by: "ops".into(),
        };
        Request::new(id(n), Command::ProposeAdjustment(adjustment))
    };
    let release = Command::ReleaseHold { hold: HoldId(id(21).0) };
    let approve = Command::ApproveAdjustment {
        id: id(32),
        adjustment: AdjustmentId(id(31).0),
        by: "boss".into(),
    };
    let freeze = Command::FreezeAccount { player: player(3), reason: "a test".into() };
    let limits = Command::SetLimits {
        player: player(2),
        by: ledger::LimitSetter::Player,
        limits: ledger::RequestedLimits::BuyIn(ledger::Limits {
            day: Some(Credits::of(500)),
            ..ledger::Limits::NONE
        }),
    };
    let exclude = Command::Exclude { player: player(2), until: None };
    let requests = [
        hold(20, 30),
        hold(21, 40),
        Request::new(id(22), release),
        propose(30),
        propose(31),
        Request::new(id(32), approve),
        Request::new(id(40), freeze),
        Request::new(id(41), limits),
        Request::new(id(42), exclude),
    ];
    for request in requests {
        harness.execute(request).await.unwrap();
    }
}

pub(crate) async fn sql(url: &str, statement: &str) {
    let mut admin = PgConnection::connect(url).await.unwrap();
    // Deliberate changes set this variable; `untrusted` tests changes without it.
    let path = "SET search_path = wallet; SET sabacc.rebuilds = 'wallet'";
    sqlx::raw_sql(path).execute(&mut admin).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(&mut admin).await.unwrap();
}

/// Every row of every table, as text.
pub(crate) async fn all_rows(url: &str) -> Vec<String> {
    let mut admin = PgConnection::connect(url).await.unwrap();
    let mut all = Vec::new();
    for table in ["accounts", "entries", "states", "holds", "adjustments", "projected"] {
        let rows = AssertSqlSafe(format!(
            "SELECT to_jsonb(t)::text AS row FROM wallet.{table} AS t ORDER BY 1"
        ));
        let rows = sqlx::query(rows).fetch_all(&mut admin).await.unwrap();
        all.extend(rows.iter().map(|row| format!("{table} {}", row.get::<String, _>("row"))));
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_tables_or_behind_a_wallet_starts_the_same() {
    let (harness, url) = Harness::over_postgres("books").await;
    fill_tables(&harness).await;
    harness.is_sound().await;
    let (live, rows) = (harness.log_content().await, all_rows(&url).await);
    harness.stop().await;
    let empty = "TRUNCATE projected, accounts, entries, states, holds, adjustments";
    let unsound =
        "UPDATE entries SET balance = balance + 1 WHERE account = 1; DELETE FROM projected";
    let mut rows = rows;
    for harm in ["SELECT 1", "DELETE FROM projected", empty, unsound] {
        sql(&url, harm).await;
        // A stop adds a snapshot event to the log, and no row to these tables.
        let again = Harness::over_database(&url, TestClock::new()).await;
        rows.retain(|row| !row.starts_with("projected "));
        let mut found = all_rows(&url).await;
        found.retain(|row| !row.starts_with("projected "));
        assert_eq!(found, rows, "{harm}");
        again.is_sound().await;
        // The restored state gives the same refusals and the same answers.
        assert_eq!(again.execute(issue(1_000_000, 0, 1000)).await.unwrap().position.0, 1, "{harm}");
        assert!(again.execute(buy_in(50, 3, 1)).await.is_err(), "{harm}: he is frozen");
        assert!(
            again.execute(buy_in(51, 2, 1)).await.is_err(),
            "{harm}: he keeps himself from play"
        );
        assert!(again.execute(buy_in(52, 1, 571)).await.is_err(), "{harm}: 30 are held");
        assert_eq!(again.log_content().await, live, "{harm}");
        again.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_that_lose_their_place_while_groups_go_ahead_are_made_anew() {
    let (harness, url) = Harness::over_postgres("lost_place").await;
    fill_tables(&harness).await;
    sql(&url, "DELETE FROM projected").await;
    let place = || async {
        let rows = all_rows(&url).await;
        rows.into_iter().find_map(|row| row.strip_prefix("projected ").map(str::to_owned))
    };
    let requests: Vec<_> = (10_000..12_000).map(|id| harness.execute(issue(id, 1, 1))).collect();
    assert!(futures_util::future::join_all(requests).await.iter().all(Result::is_ok));
    assert_eq!(place().await, None, "no group says how far the tables go");
    let live = harness.log_content().await;
    harness.stop().await;
    let again = Harness::over_database(&url, TestClock::new()).await;
    assert_eq!(place().await.as_deref(), Some(r#"{"log": "wallet/0", "size": null}"#));
    again.is_sound().await;
    assert_eq!(again.log_content().await, live);
    again.stop().await;
}

/// While somebody keeps a snapshot open, as a backup does, every change of a row makes the next one
/// slower. Transfers change none: neither those of many tables at once nor the accounts that all of
/// them pay to.
#[tokio::test(flavor = "multi_thread")]
async fn transfers_change_no_row() {
    let (harness, url) = Harness::over_postgres("no_row").await;
    fill_tables(&harness).await;
    let mut admin = PgConnection::connect(&url).await.unwrap();
    let mut versions = async || {
        let sql = "SELECT concat_ws(' ', 'projected', ctid, xmin) FROM wallet.projected
            UNION ALL SELECT concat_ws(' ', 'owners', ctid, xmin) FROM wallet.owners
            UNION ALL SELECT concat_ws(' ', 'states', ctid, xmin) FROM wallet.states";
        sqlx::query_scalar::<_, String>(sql).fetch_all(&mut admin).await.unwrap()
    };
    let before = versions().await;
    let mut backup = PgConnection::connect(&url).await.unwrap();
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM wallet.projected";
    sqlx::raw_sql(begin).execute(&mut backup).await.unwrap();
    let pot = ledger::Account::SabaccPot(TABLE);
    let hand = [(seat(0), -3), (pot, 2), (ledger::Account::Rake, 1)];
    for _ in 0..2 {
        let settle = (1000..1050).map(|id| harness.execute(settle(id, &hand)));
        let issue = (2000..2200).map(|id| harness.execute(issue(id, 0, 1)));
        assert!(futures_util::future::join_all(settle).await.iter().all(Result::is_ok));
        assert!(futures_util::future::join_all(issue).await.iter().all(Result::is_ok));
    }
    assert_eq!(versions().await, before);
    backup.close().await.unwrap();
    harness.is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_that_an_older_wallet_did_not_keep_up_are_made_anew() {
    let (harness, url) = Harness::over_postgres("behind").await;
    fill_tables(&harness).await;
    harness.stop().await;
    // A wallet without tables.
    let store = PgStore::connect(&url, "wallet", PoolSizes::default()).await.unwrap();
    let (limits, timeout) = (QueueLimits::default(), Duration::from_secs(5));
    let old = Harness::start(store, None, TestClock::new(), limits, timeout).await;
    old.execute(cash_out(60, 1, 35)).await.unwrap();
    old.stop().await;
    let store = PgStore::connect(&url, "wallet", PoolSizes::default()).await.unwrap();
    let books = repo::Repo::new(&store);
    let found = verify(&Reader::new(store, "wallet/0"), &books).await;
    let Comparison { difference, .. } = found.unwrap();
    assert_eq!(difference.expect("they are behind").table, "entries");
    let again = Harness::over_database(&url, TestClock::new()).await;
    again.is_sound().await;
    assert_eq!(again.balance(seat(1)).await, 400);
    again.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_builder_who_lost_the_log_changes_nothing() {
    let (harness, url) = Harness::over_postgres("displaced").await;
    fill_tables(&harness).await;
    let rows = all_rows(&url).await;
    // Another owner takes the log: the wallet's next write finds another epoch and writes no rows.
    let clock = harness.clock.clock();
    let other = opener(harness.store.clone(), Duration::from_secs(1), clock)().await.unwrap();
    assert!(harness.execute(issue(70, 0, 1)).await.is_err());
    assert_eq!(all_rows(&url).await, rows);
    other.close().await;
    harness.execute_until_answered(issue(70, 0, 1)).await.unwrap();
    harness.is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_from_nowhere_does_not_keep_the_log_from_being_written() {
    let (harness, url) = Harness::over_postgres("nowhere").await;
    fill_tables(&harness).await;
    let row = "INSERT INTO entries SELECT size, 1, 1, 2, NULL, 1, 'mine' FROM covered";
    sql(&url, row).await;
    assert_eq!(harness.verified().await.difference.expect("it is one too many").column, "row");
    harness.execute(issue(70, 0, 5)).await.unwrap();
    harness.is_sound().await;
}

/// One changed value in each table, one row too many and one too few: the verifier names each.
#[tokio::test(flavor = "multi_thread")]
async fn the_verifier_names_what_was_changed() {
    let (harness, url) = Harness::over_postgres("verify").await;
    fill_tables(&harness).await;
    harness.is_sound().await;
    let of = |n: u8| own(n).to_string();
    let rows = [
        ("accounts", "opened = 3", "number = 2", "opened", of(0), "0", "3"),
        ("accounts", "name = 'x'", "number = 2", "name", of(0), &of(0), "x"),
        ("entries", "balance = 601", "account = 2 AND kind = 3", "balance", of(0), "600", "601"),
        ("entries", "amount = -1", "account = 2 AND kind = 3", "amount", of(0), "-400", "-1"),
        ("entries", "other = 3", "account = 2 AND kind = 4", "other", of(0), "", "3"),
        ("entries", "reason = 'y'", "account = 2 AND kind = 1", "reason", of(0), "a test", "y"),
        ("states", "held = 29", "held = 30", "held", of(1), "30", "29"),
        ("states", "frozen = false", "frozen", "frozen", of(3), "true", "false"),
        ("states", "excluded_until = 5", "excluded_until > 5", "excluded_until", of(2), "", "5"),
        ("holds", "remaining = 1", "state = 1", "remaining", of(1), "30", "1"),
        ("holds", "state = 4", "state = 3", "state", of(1), "3", "4"),
        ("adjustments", "amount = 8", "state = 2", "amount", of(2), "7", "8"),
        ("adjustments", "reason = 'z'", "state = 1", "reason", of(2), "counted again", "z"),
        ("projected", "size = 3", "true", "size", String::new(), "", ""),
    ];
    for (table, set, whose, column, account, expected, found) in rows {
        let keep = format!("CREATE TABLE kept AS SELECT * FROM {table}");
        sql(&url, &format!("{keep}; UPDATE {table} SET {set} WHERE {whose}")).await;
        let difference = harness.verified().await.difference.expect("it was changed");
        let named = (difference.table, difference.column, &*difference.account);
        assert_eq!(named, (table, column, &*account), "{difference}");
        for (said, wanted) in [(&difference.expected, expected), (&difference.found, found)] {
            assert!(wanted.is_empty() || said == wanted, "{set}: {difference}");
        }
        let back = format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept");
        sql(&url, &format!("{back}; DROP TABLE kept")).await;
        harness.is_sound().await;
    }
    let more = "INSERT INTO entries VALUES (2, 1, 1, 1, NULL, 1, NULL)";
    let rows = [
        ("DELETE FROM entries WHERE account = 2 AND kind = 3", ("one", "none")),
        (more, ("none", "one")),
    ];
    for (harm, (expected, found)) in rows {
        sql(&url, &format!("CREATE TABLE kept AS SELECT * FROM entries; {harm}")).await;
        let difference = harness.verified().await.difference.expect("it was changed");
        assert_eq!((difference.table, difference.column), ("entries", "row"), "{difference}");
        assert_eq!((&*difference.expected, &*difference.found), (expected, found));
        sql(&url, "DELETE FROM entries; INSERT INTO entries SELECT * FROM kept; DROP TABLE kept")
            .await;
    }
    harness.is_sound().await;
    // The views for operators.
    let mut admin = PgConnection::connect(&url).await.unwrap();
    let sum: i64 = sqlx::query_scalar("SELECT sum(balance)::bigint FROM wallet.balances")
        .fetch_one(&mut admin)
        .await
        .unwrap();
    assert_eq!(sum, 0);
    for view in ["statement", "pending_holds", "pending_adjustments"] {
        let count = AssertSqlSafe(format!("SELECT count(*) FROM wallet.{view}"));
        let count: i64 = sqlx::query_scalar(count).fetch_one(&mut admin).await.unwrap();
        assert!(count > 0, "{view}");
    }
}

/// Every table, view and column has a comment.
#[tokio::test(flavor = "multi_thread")]
async fn everything_is_commented() {
    let (_house, url) = Harness::over_postgres("comments").await;
    let mut admin = PgConnection::connect(&url).await.unwrap();
    let bare = "SELECT c.relname || coalesce('.' || a.attname, '') FROM pg_class c \
         LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
         WHERE c.relnamespace = 'wallet'::regnamespace AND c.relkind IN ('r', 'v') \
         AND c.relname IN ('projected', 'covered', 'accounts', 'entries', 'states', 'holds', 'adjustments', \
         'balances', 'statement', 'pending_holds', 'pending_adjustments') \
         AND (col_description(c.oid, a.attnum) IS NULL OR obj_description(c.oid) IS NULL)";
    let bare: Vec<String> = sqlx::query_scalar(bare).fetch_all(&mut admin).await.unwrap();
    assert_eq!(bare, Vec::<String>::new());
}
