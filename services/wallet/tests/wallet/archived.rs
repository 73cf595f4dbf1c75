//! What a wallet shows of its past after its log was cut: the same as before.

use std::io::Cursor;
use std::sync::Arc;

use eventlog::{PgStore, Reader, Store, UnixMicros, archive};
use sabacc_wallet::repo::{Repo, StatementLine};
use sqlx::{Connection as _, PgConnection};

use crate::harness::{BEGIN, Harness, issue, player};
use crate::tables::fill_tables;
use crate::untrusted::newest_snapshot_size;

const MINUTE: u64 = 60_000_000;

/// Everything that is read of the past, by the service and in SQL.
#[derive(PartialEq, Eq, Debug)]
struct Past {
    statements: Vec<Vec<StatementLine>>,
    /// Numbers of events before times.
    sizes: Vec<u64>,
    /// Rows of the views for auditors.
    rows: Vec<String>,
}

impl Past {
    async fn read(store: &Arc<PgStore>, url: &str) -> Past {
        let repo = Repo::new(store);
        let mut statements = Vec::new();
        for n in 0..4 {
            statements.push(repo.statement(player(n), 0..1_000_000, 1000).await.unwrap());
        }
        let mut sizes = Vec::new();
        for time in [0, BEGIN, BEGIN + 1, BEGIN + MINUTE, BEGIN + 2 * MINUTE, BEGIN + 9 * MINUTE] {
            sizes.push(repo.events_before(UnixMicros(time)).await.unwrap());
        }
        let mut admin = PgConnection::connect(url).await.unwrap();
        let rows = "SELECT to_jsonb(t)::text FROM wallet.statement AS t
            UNION ALL SELECT to_jsonb(t)::text FROM wallet.pending_adjustments AS t ORDER BY 1";
        let rows = sqlx::query_scalar(rows).fetch_all(&mut admin).await.unwrap();
        Past { statements, sizes, rows }
    }
}

async fn count_rows(url: &str) -> i64 {
    let mut admin = PgConnection::connect(url).await.unwrap();
    let count = "SELECT count(*) FROM wallet.event_groups";
    sqlx::query_scalar(count).fetch_one(&mut admin).await.unwrap()
}

/// ARCHITECTURE.md §2.11.
#[tokio::test(flavor = "multi_thread")]
async fn statements_and_adjustments_are_the_same_after_a_cut() {
    let (harness, url) = Harness::over_postgres("archived_past").await;
    fill_tables(&harness).await;
    for n in 0..20 {
        harness.clock.set(BEGIN + n * MINUTE / 4);
        harness.execute_until_answered(issue(100 + n, 0, 1)).await.unwrap();
    }
    let store = harness.stop().await;
    let before = Past::read(&store, &url).await;
    assert!(before.statements.iter().flatten().all(|line| line.transfer.is_some()));
    assert!(before.sizes.windows(2).all(|pair| pair[0] <= pair[1]), "{:?}", before.sizes);
    assert!(before.rows.iter().any(|row| row.contains("counted again")), "one is pending");
    let rows = count_rows(&url).await;

    let size = newest_snapshot_size(&url).await.unwrap().unsigned_abs();
    let reader = Reader::new(Arc::clone(&store) as Arc<dyn Store>, "wallet/0");
    let mut file = Vec::new();
    archive::write(&reader, 0..size - 1, merkle::Tree::default(), &mut file).await.unwrap();
    let far = UnixMicros(u64::MAX >> 1);
    let far = archive::Retained::since(far);
    let gone = archive::remove(&url, "wallet", &mut Cursor::new(&file), far).await.unwrap();
    assert!(gone > 20 && count_rows(&url).await < rows - 10, "{gone}");
    assert_eq!(Past::read(&store, &url).await, before);

    archive::restore(&url, "wallet", &mut Cursor::new(&file)).await.unwrap();
    assert_eq!(Past::read(&store, &url).await, before);
}
