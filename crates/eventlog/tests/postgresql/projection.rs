//! Projections: a service's own tables, written together with the log.

use std::sync::Arc;

use anyhow::ensure;
use eventlog::{
    Group, Limits, Log, MigrateError, Options, PgStore, PipelinedCtes, PoolSizes, Position,
    Projection, ProjectionRows, UnixMicros, migrate_with,
};
use sqlx::error::BoxDynError;
use sqlx::postgres::PgArguments;
use sqlx::{Arguments as _, Connection, PgConnection};

use crate::{PASSWORD, REFUSED_BY_RIGHT, as_role, database, entry, options, refusal};

const TABLES: &[(i64, &str, &str)] = &[
    (100, "sums", "CREATE TABLE sums (number bigint PRIMARY KEY, sum bigint NOT NULL)"),
    (101, "seen", "ALTER TABLE sums ADD COLUMN log_size bigint NOT NULL"),
];
const GRANTS: &str = "GRANT INSERT, UPDATE ON sums TO sabacc_wallet";
const CTES: &str = ", seen AS (
    INSERT INTO sums (number, sum, log_size)
    SELECT new.number, new.sum, fence.size
    FROM fence, UNNEST($21::bigint[], $22::bigint[]) AS new (number, sum)
    ON CONFLICT (number) DO UPDATE SET sum = excluded.sum, log_size = excluded.log_size
)";

const AHEAD: PipelinedCtes = PipelinedCtes {
    rows: ", seen AS (
        INSERT INTO sums (number, sum, log_size)
        SELECT new.number, new.sum, fence.size
        FROM fence, UNNEST($21::bigint[], $22::bigint[]) AS new (number, sum)
        ON CONFLICT (number) DO UPDATE SET sum = excluded.sum, log_size = excluded.log_size
        RETURNING 1
    ), beside AS (SELECT count(*) FROM seen)",
};

#[derive(Debug)]
pub(crate) struct Sums(pub(crate) Vec<(i64, i64)>);

impl ProjectionRows for Sums {
    fn pipelined(&self) -> Option<PipelinedCtes> {
        Some(AHEAD)
    }

    fn bind(&self, arguments: &mut PgArguments) -> Result<(), BoxDynError> {
        let (numbers, sums): (Vec<i64>, Vec<i64>) = self.0.iter().copied().unzip();
        arguments.add(numbers)?;
        arguments.add(sums)
    }
}

pub(crate) async fn migrated(admin: &str) -> Result<(), MigrateError> {
    migrate_with(admin, "wallet", Some(PASSWORD), TABLES, GRANTS).await
}

pub(crate) async fn wallet_store(admin: &str) -> anyhow::Result<Arc<PgStore>> {
    let url = as_role(admin, "sabacc_wallet");
    let projection = Projection { ctes: CTES, no_rows: Arc::new(Sums(Vec::new())) };
    Ok(PgStore::connect_with(&url, "wallet", PoolSizes::default(), projection).await?)
}

pub(crate) async fn wallet(admin: &str) -> anyhow::Result<Log> {
    let store = wallet_store(admin).await?;
    let limits = Limits { cached_requests: 0, ..options("").limits };
    Ok(Log::open(store, Options { limits, ..options("wallet/0") }).await?)
}

pub(crate) fn group(first: u16, sums: &[(i64, i64)]) -> Group {
    Group {
        entries: vec![entry(first), entry(1000)],
        first: Position(first.into()),
        at: UnixMicros(0),
        rows: Some(Arc::new(Sums(sums.to_vec()))),
    }
}

pub(crate) async fn sums(admin: &str) -> anyhow::Result<Vec<(i64, i64, i64)>> {
    let mut connection = PgConnection::connect(admin).await?;
    let sql = "SELECT number, sum, log_size FROM wallet.sums ORDER BY number";
    Ok(sqlx::query_as(sql).fetch_all(&mut connection).await?)
}

#[tokio::test]
async fn rows_go_in_with_their_events_or_not_at_all() -> anyhow::Result<()> {
    let admin = database("projection").await?;
    migrated(&admin).await?;
    let log = wallet(&admin).await?;
    log.append_group(group(0, &[(1, 10), (2, 20)])).await?;
    assert_eq!(sums(&admin).await?, [(1, 10, 2), (2, 20, 2)]);
    // Without rows the projection does not change.
    log.append(entry(7)).await?;
    assert_eq!(sums(&admin).await?, [(1, 10, 2), (2, 20, 2)]);
    // One of the requests was answered before and is not cached: the store refuses the whole group.
    let twice = Group { entries: vec![entry(3), entry(7)], ..group(3, &[(1, -1)]) };
    ensure!(log.append_group(twice).await.is_err());
    assert_eq!((log.size(), sums(&admin).await?), (3, vec![(1, 10, 2), (2, 20, 2)]));
    let alone = Group { entries: vec![entry(8)], ..group(3, &[(2, 21), (3, 30)]) };
    log.append_group(alone).await?;
    assert_eq!(sums(&admin).await?, [(1, 10, 2), (2, 21, 4), (3, 30, 4)]);
    log.close().await;

    // A batch that the fence keeps out leaves no row.
    let url = as_role(&admin, "sabacc_wallet");
    let first = wallet(&admin).await?;
    let other = PgStore::connect(&url, "wallet", PoolSizes::default()).await?;
    let taken = Options { take_over: true, ..options("wallet/0") };
    let _second = Log::open(other, taken).await?;
    let late = Group { entries: vec![entry(9)], ..group(4, &[(1, 99)]) };
    ensure!(first.append_group(late).await.is_err());
    assert_eq!(sums(&admin).await?[0], (1, 10, 2));
    Ok(())
}

#[tokio::test]
async fn a_service_has_the_rights_it_asks_for_and_no_others() -> anyhow::Result<()> {
    let admin = database("own_tables").await?;
    for _ in 0..2 {
        migrated(&admin).await?;
    }
    let wallet = as_role(&admin, "sabacc_wallet");
    crate::run(&wallet, "INSERT INTO wallet.sums VALUES (1, 2, 3)").await?;
    for sql in ["DELETE FROM wallet.sums", "DELETE FROM wallet.event_groups"] {
        assert_eq!(refusal(&wallet, sql).await?, REFUSED_BY_RIGHT, "{sql}");
    }
    crate::run(&wallet, "SELECT * FROM wallet.sums").await?;
    crate::run(&admin, "SET ROLE sabacc_auditor; SELECT * FROM wallet.sums").await?;
    let change = "SET ROLE sabacc_auditor; UPDATE wallet.sums SET sum = 0";
    assert_eq!(refusal(&admin, change).await?, REFUSED_BY_RIGHT);
    let clash = migrate_with(&admin, "wallet", None, &[(99, "clash", "SELECT 1")], "").await;
    ensure!(matches!(clash, Err(MigrateError::Version { version: 99 })), "{clash:?}");
    Ok(())
}
