//! SQL of measurements: PostgreSQL's counts of written bytes, and the baseline of the same rows
//! written by PostgreSQL alone.

use std::collections::BTreeMap;

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgConnectOptions, PgHasArrayType, PgTypeInfo};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, Encode, PgConnection, Postgres, Type,
};

/// Connection to a measured database.
pub(crate) struct Database {
    connection: PgConnection,
}

/// Bytes written so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BytesWritten {
    /// Bytes of write-ahead log since the cluster was made.
    pub(crate) wal_bytes: u64,
    /// Bytes of the database's files: tables and their indexes.
    pub(crate) disk_bytes: u64,
}

/// Bytes of a table so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TableBytes {
    pub(crate) rows: u64,
    pub(crate) indexes: u64,
    /// Content of events and answers to requests in it: what could not be written shorter.
    pub(crate) content: u64,
}

/// Averages of a log's rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RowAverages {
    pub(crate) events: u64,
    /// Events per commit.
    pub(crate) events_per_commit: f64,
    /// Requests per event.
    pub(crate) requests_per_event: f64,
    /// Bytes of an event's payload.
    pub(crate) payload_bytes: usize,
    /// Bytes of a request's answer.
    pub(crate) answer_bytes: usize,
}

impl Database {
    /// Connects with the role in `url`.
    pub(crate) async fn connect(url: &str) -> Result<Database, sqlx::Error> {
        // The statements are slow on purpose: warnings about them would only add noise.
        let options: PgConnectOptions = url.parse()?;
        let options = options.disable_statement_logging();
        Ok(Database { connection: PgConnection::connect_with(&options).await? })
    }

    /// Returns the bytes written by all clients.
    pub(crate) async fn bytes_written(&mut self) -> Result<BytesWritten, sqlx::Error> {
        let (wal, disk) = sqlx::query_as::<_, (i64, i64)>(
            "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint, \
             pg_database_size(current_database())",
        )
        .fetch_one(&mut self.connection)
        .await?;
        Ok(BytesWritten { wal_bytes: unsigned(wal), disk_bytes: unsigned(disk) })
    }

    /// Deletes the snapshots of all services.
    pub(crate) async fn delete_snapshots(&mut self) -> Result<(), sqlx::Error> {
        let statements = "DELETE FROM \"table\".snapshots; DELETE FROM wallet.snapshots";
        sqlx::raw_sql(statements).execute(&mut self.connection).await.map(|_| ())
    }

    /// Returns the bytes of each table, by schema and name.
    pub(crate) async fn table_bytes(
        &mut self,
    ) -> Result<BTreeMap<String, TableBytes>, sqlx::Error> {
        let sizes = sqlx::query_as::<_, (String, i64, i64)>(
            "SELECT nspname || '.' || relname, pg_table_size(c.oid), pg_indexes_size(c.oid) \
             FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
             WHERE relkind = 'r' AND nspname IN ('dealer', 'table', 'wallet')",
        )
        .fetch_all(&mut self.connection)
        .await?;
        let mut tables = BTreeMap::new();
        for (name, rows, indexes) in sizes {
            let mut bytes =
                TableBytes { rows: unsigned(rows), indexes: unsigned(indexes), content: 0 };
            if let Some(schema) = name.strip_suffix(".event_groups") {
                let content: i64 = sqlx::query_scalar(AssertSqlSafe(format!(
                    "SELECT coalesce(sum(octet_length(content) \
                     + coalesce(octet_length(answer), 0)), 0)::bigint \
                     FROM \"{schema}\".event_groups"
                )))
                .fetch_one(&mut self.connection)
                .await?;
                bytes.content = unsigned(content);
            }
            tables.insert(name, bytes);
        }
        Ok(tables)
    }

    /// Returns the bytes of write-ahead log between two counts of them, by the resource manager
    /// that wrote them, and those of whole pages apart. Leaves nothing behind in the database.
    pub(crate) async fn wal_by_kind(
        &mut self,
        from: u64,
        to: u64,
    ) -> Result<BTreeMap<String, u64>, sqlx::Error> {
        let position = |bytes: u64| format!("{:X}/{:X}", bytes >> 32, bytes & 0xffff_ffff);
        let mut transaction = self.connection.begin().await?;
        sqlx::query("CREATE EXTENSION IF NOT EXISTS pg_walinspect")
            .execute(&mut *transaction)
            .await?;
        let kinds = sqlx::query_as::<_, (String, i64, i64)>(
            "SELECT \"resource_manager/record_type\", record_size, fpi_size \
             FROM pg_get_wal_stats($1::pg_lsn, $2::pg_lsn)",
        )
        .bind(position(from))
        .bind(position(to))
        .fetch_all(&mut *transaction)
        .await?;
        transaction.rollback().await?;
        let pages = kinds.iter().map(|(_, _, pages)| unsigned(*pages)).sum();
        let kinds = kinds.into_iter().map(|(kind, records, _)| (kind, unsigned(records)));
        Ok(kinds.chain([("whole pages".to_owned(), pages)]).filter(|(_, it)| *it > 0).collect())
    }

    /// Creates an empty database.
    pub(crate) async fn create_database(&mut self, name: &'static str) -> Result<(), sqlx::Error> {
        let statement = AssertSqlSafe(format!("CREATE DATABASE {name}"));
        sqlx::query(statement).execute(&mut self.connection).await.map(|_| ())
    }

    /// Writes dirty buffers to disk, so that no measurement pays for the one before.
    pub(crate) async fn checkpoint(&mut self) -> Result<(), sqlx::Error> {
        sqlx::query("CHECKPOINT").execute(&mut self.connection).await.map(|_| ())
    }

    /// Takes a snapshot and keeps it open for as long as the connection lives, as a backup does.
    pub(crate) async fn hold_snapshot(&mut self) -> Result<(), sqlx::Error> {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class";
        sqlx::raw_sql(begin).execute(&mut self.connection).await.map(|_| ())
    }

    /// Returns the number of events in a service's log.
    pub(crate) async fn event_count(&mut self, schema: &'static str) -> Result<u64, sqlx::Error> {
        let size: Option<i64> =
            sqlx::query_scalar(AssertSqlSafe(format!("SELECT max(size) FROM {schema}.log_sizes")))
                .fetch_one(&mut self.connection)
                .await?;
        Ok(unsigned(size.unwrap_or_default()))
    }

    /// Returns the averages of a service's log from a position on.
    pub(crate) async fn row_averages(
        &mut self,
        schema: &'static str,
        from: u64,
    ) -> Result<RowAverages, sqlx::Error> {
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        let (events, commits, payload) =
            sqlx::query_as::<_, (i64, i64, i64)>(AssertSqlSafe(format!(
                "SELECT coalesce(sum(count), 0)::bigint, count(DISTINCT xmin::text), \
             coalesce(sum(octet_length(content) - 25 * count) / sum(count), 0)::bigint \
             FROM {schema}.event_groups WHERE position >= $1"
            )))
            .bind(from)
            .fetch_one(&mut self.connection)
            .await?;
        let (requests, answer) = sqlx::query_as::<_, (i64, i64)>(AssertSqlSafe(format!(
            "SELECT count(*), coalesce(avg(octet_length(answer)), 0)::bigint \
             FROM {schema}.event_groups WHERE position >= $1 AND key IS NOT NULL"
        )))
        .bind(from)
        .fetch_one(&mut self.connection)
        .await?;
        Ok(RowAverages {
            events: unsigned(events),
            events_per_commit: average(events, commits),
            requests_per_event: average(requests, events),
            payload_bytes: usize::try_from(payload).unwrap_or_default(),
            answer_bytes: usize::try_from(answer).unwrap_or_default(),
        })
    }

    /// Creates tables with a row for each event and each request.
    pub(crate) async fn create_floor_tables(&mut self) -> Result<(), sqlx::Error> {
        let statements = concat!(
            "DROP SCHEMA IF EXISTS floor CASCADE; CREATE SCHEMA floor; SET search_path = floor; ",
            "CREATE TABLE single (number bigint PRIMARY KEY, content bytea NOT NULL); ",
            include_str!("../../eventlog/benches/event_rows.sql"),
            "; SET search_path = public"
        );
        sqlx::raw_sql(statements).execute(&mut self.connection).await.map(|_| ())
    }

    /// Writes rows as a log writes them, in one statement.
    pub(crate) async fn write_floor(&mut self, rows: &Rows) -> Result<(), sqlx::Error> {
        sqlx::query(
            "WITH written AS (INSERT INTO floor.events (log, position, recorded_at, stream, \
             version, kind, schema, sealed, payload, previous, request_id, actor, trace, salt) \
             SELECT 'floor', * FROM UNNEST($1::bigint[], $2::bigint[], $3::uuid[], $4::bigint[], \
             $5::integer[], $6::integer[], $7::boolean[], $8::bytea[], $9::bytea[], $10::uuid[], \
             $11::text[], $12::bytea[], $17::bytea[])) \
             INSERT INTO floor.requests (log, key, digest, first, answer) \
             SELECT 'floor', * FROM UNNEST($13::uuid[], $14::bytea[], $15::bigint[], $16::bytea[])",
        )
        .bind(&rows.positions)
        .bind(&rows.times)
        .bind(&rows.ids)
        .bind(vec![1_i64; rows.positions.len()])
        .bind(vec![3_i32; rows.positions.len()])
        .bind(vec![1_i32; rows.positions.len()])
        .bind(vec![false; rows.positions.len()])
        .bind(vec![&rows.payload[..]; rows.positions.len()])
        .bind(vec![&rows.hash[..]; rows.positions.len()])
        .bind(&rows.ids)
        .bind(vec!["service:floor"; rows.positions.len()])
        .bind(vec![&rows.hash[..16]; rows.positions.len()])
        .bind(&rows.ids[..rows.requests])
        .bind(vec![&rows.hash[..]; rows.requests])
        .bind(&rows.positions[..rows.requests])
        .bind(vec![&rows.answer[..]; rows.requests])
        .bind(vec![&rows.hash[..16]; rows.positions.len()])
        .execute(&mut self.connection)
        .await
        .map(|_| ())
    }

    /// Commits one row.
    pub(crate) async fn write_single(
        &mut self,
        number: u64,
        content: &[u8],
    ) -> Result<(), sqlx::Error> {
        sqlx::query("INSERT INTO floor.single VALUES ($1, $2)")
            .bind(i64::try_from(number).unwrap_or(i64::MAX))
            .bind(content)
            .execute(&mut self.connection)
            .await
            .map(|_| ())
    }
}

/// Rows of events, and of requests for the first of them.
pub(crate) struct Rows {
    pub(crate) positions: Vec<i64>,
    pub(crate) times: Vec<i64>,
    /// Streams of one event each, and request ids.
    pub(crate) ids: Vec<SqlUuid>,
    pub(crate) requests: usize,
    pub(crate) payload: Vec<u8>,
    pub(crate) answer: Vec<u8>,
    pub(crate) hash: [u8; 32],
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "counts of one run stay far below 2^52")]
fn average(count: i64, of: i64) -> f64 {
    if of == 0 { 0.0 } else { count as f64 / of as f64 }
}

/// An id as a `uuid`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SqlUuid(pub(crate) [u8; 16]);

impl Type<Postgres> for SqlUuid {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(2950))
    }
}

impl PgHasArrayType for SqlUuid {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(2951))
    }
}

impl Encode<'_, Postgres> for SqlUuid {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        buffer.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }
}
