//! Properties of PostgreSQL: rights, triggers, roles, and connections that die.

mod ahead;
mod archived;
mod deaf;
mod doubts;
mod fence;
mod forged;
mod mounted;
mod old_requests;
mod projection;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use eventlog::{
    AppendError, Authenticator, ConnectError, Entry, Event, Limits, Log, MigrateError, NewEvent,
    OpenError, Options, PgStore, PoolSizes, Position, Reader, Request, RequestId, StreamId,
    UnixMicros, Version, migrate,
};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

const PASSWORD: &str = "for-tests-only";
const SERVICES: [&str; 3] = ["dealer", "table", "wallet"];
const REFUSED_BY_RIGHT: &str = "42501";
const REFUSED_BY_TRIGGER: &str = "23001";

/// Database URL for another role: the last value of a parameter counts.
fn as_role(url: &str, role: &str) -> String {
    let joint = if url.contains('?') { '&' } else { '?' };
    format!("{url}{joint}user={role}&password={PASSWORD}")
}

async fn database(name: &str) -> anyhow::Result<String> {
    testkit::postgres().await?.database(name).await
}

async fn migrated(name: &str) -> anyhow::Result<String> {
    let admin = database(name).await?;
    for service in SERVICES {
        migrate(&admin, service, Some(PASSWORD)).await?;
    }
    Ok(admin)
}

async fn run(url: &str, sql: &str) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect(url).await?;
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await?;
    connection.close().await
}

/// SQLSTATE with which the server refuses a statement.
async fn refusal(url: &str, sql: &str) -> anyhow::Result<String> {
    let error = run(url, sql).await.err().with_context(|| format!("not refused: {sql}"))?;
    let code = error.as_database_error().and_then(|error| error.code());
    Ok(code.with_context(|| format!("{sql}: {error}"))?.into_owned())
}

fn options(name: &str) -> Options {
    Options {
        name: name.into(),
        owner: "owner".into(),
        address: "here".into(),
        lease: Duration::from_secs(30),
        take_over: false,
        clock: Arc::new(|| UnixMicros(1_700_000_000_000_000)),
        authenticator: Authenticator::new(&[7; 32], "", Arc::new(|| [7; 8])),
        // The clock is the test's own.
        limits: Limits { max_clock_skew: Duration::MAX, ..Limits::default() },
    }
}

fn entry(n: u16) -> Entry {
    let mut id = [0; 16];
    id[..2].copy_from_slice(&n.to_be_bytes());
    let event = NewEvent {
        stream: StreamId([(n % 5).to_be_bytes()[1]; 16]),
        kind: 1,
        schema: 1,
        sealed: false,
        payload: n.to_be_bytes().to_vec().into(),
    };
    let request = Request { id: RequestId(id), digest: [1; 32], answer: "answer".into() };
    Entry { events: vec![event], request: Some(request), actor: "actor".into(), trace: [0; 16] }
}

async fn written(admin: &str, service: &str) -> anyhow::Result<()> {
    let url = as_role(admin, &format!("sabacc_{service}"));
    let store = PgStore::connect(&url, service, PoolSizes::default()).await?;
    let log = Log::open(store, options(&format!("{service}/0"))).await?;
    log.append(entry(1)).await?;
    log.append(entry(2)).await?;
    log.close().await;
    Ok(())
}

/// ARCHITECTURE.md §2.1.
#[tokio::test]
async fn a_service_adds_and_never_changes() -> anyhow::Result<()> {
    let admin = migrated("rights").await?;
    written(&admin, "table").await?;
    let table = as_role(&admin, "sabacc_table");
    for sql in [
        "UPDATE \"table\".event_groups SET count = 2",
        "DELETE FROM \"table\".event_groups",
        "TRUNCATE \"table\".event_groups",
        "UPDATE \"table\".authors SET actor = 'x'",
        "DELETE FROM \"table\".authors",
        "TRUNCATE \"table\".authors",
        "UPDATE \"table\".logs SET name = 'x'",
        "DELETE FROM \"table\".logs",
        "INSERT INTO \"table\".archived_groups SELECT * FROM \"table\".archived_groups",
        "UPDATE \"table\".archived_groups SET position = 2",
        "DELETE FROM \"table\".archived_groups",
        "TRUNCATE \"table\".archived_groups",
        "UPDATE \"table\".tiles SET level = 2",
        "DELETE FROM \"table\".tiles",
        "UPDATE \"table\".checkpoints SET size = 2",
        "DELETE FROM \"table\".checkpoints",
        "TRUNCATE \"table\".checkpoints",
        "DELETE FROM \"table\".owners",
        "DELETE FROM \"table\".leases",
        "TRUNCATE \"table\".owners",
        "UPDATE \"table\"._sqlx_migrations SET version = 0",
        "DROP TABLE \"table\".event_groups",
        "ALTER TABLE \"table\".event_groups DISABLE TRIGGER append_only",
        "SELECT \"table\".make_append_only('pg_class')",
        "CREATE TABLE \"table\".mine ()",
        "CREATE SCHEMA mine",
        "SET session_replication_role = replica",
    ] {
        assert_eq!(refusal(&table, sql).await?, REFUSED_BY_RIGHT, "{sql}");
    }
    Ok(())
}

#[tokio::test]
async fn not_even_a_superuser_changes_by_mistake() -> anyhow::Result<()> {
    let admin = migrated("triggers").await?;
    written(&admin, "table").await?;
    for (table, column) in [
        ("event_groups", "position"),
        ("archived_groups", "position"),
        ("authors", "actor"),
        ("logs", "name"),
        ("tiles", "level"),
        ("checkpoints", "size"),
    ] {
        for sql in [
            format!("UPDATE \"table\".{table} SET {column} = 7"),
            format!("DELETE FROM \"table\".{table}"),
            format!("TRUNCATE \"table\".{table}"),
            format!("SET session_replication_role = replica; DELETE FROM \"table\".{table}"),
        ] {
            assert_eq!(refusal(&admin, &sql).await?, REFUSED_BY_TRIGGER, "{sql}");
        }
    }
    Ok(())
}

/// ARCHITECTURE.md §2.13.
#[tokio::test]
async fn an_auditor_sees_every_event_in_a_view() -> anyhow::Result<()> {
    let admin = migrated("view").await?;
    let store =
        PgStore::connect(&as_role(&admin, "sabacc_table"), "table", PoolSizes::default()).await?;
    let log = Log::open(store, options("table/0")).await?;
    for n in 1..=3_u16 {
        let mut entry = Entry { trace: [n.to_be_bytes()[1]; 16], ..entry(n) };
        let payload = vec![0x80 | n.to_be_bytes()[1]; 300].into();
        let other =
            NewEvent { kind: 0x0102, schema: 0x0304, sealed: true, payload, ..entry.events[0] };
        entry.events.extend([other.clone(), other]);
        log.append(entry).await?;
    }
    let mut auditor = PgConnection::connect(&admin).await?;
    sqlx::raw_sql("SET ROLE sabacc_auditor").execute(&mut auditor).await?;
    let rows: Vec<String> = sqlx::query_scalar(
        "SELECT concat_ws(' ', log, position, recorded_at, stream, version, kind, schema, sealed,
            encode(payload, 'hex'), request_id, actor, trace, encode(salt, 'hex'))
        FROM \"table\".events ORDER BY position",
    )
    .fetch_all(&mut auditor)
    .await?;
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let events = log.read(Position(0), 10).await?;
    let expected: Vec<String> = events
        .iter()
        .map(|event| {
            format!(
                "table/0 {} {} {} {} {} {} {} {} {} {} {} {}",
                event.position.0,
                event.recorded_at.0,
                event.stream,
                event.version.0,
                event.kind,
                event.schema,
                if event.sealed { 't' } else { 'f' },
                hex(&event.payload),
                event.request_id.map(|id| id.to_string()).unwrap_or_default(),
                event.actor,
                StreamId(event.trace),
                hex(&event.salt),
            )
        })
        .collect();
    assert_eq!((rows.len(), rows), (9, expected));
    Ok(())
}

/// ARCHITECTURE.md §2.12.
#[tokio::test]
async fn a_service_removes_no_checkpoint_of_the_last_hour() -> anyhow::Result<()> {
    let admin = migrated("last_hour").await?;
    let service = as_role(&admin, "sabacc_table");
    let signed = "INSERT INTO \"table\".checkpoints (log, number, size, note, recorded_at)
        SELECT 'table/0', n, n, '', (extract(epoch FROM now()) * 1000000)::bigint - 1000 + n
        FROM generate_series(1, 9) AS n";
    run(&service, signed).await?;
    let thin = "SELECT \"table\".thin_checkpoints('table/0', 1, 9000000000000000000)";
    run(&service, thin).await?;
    let mut connection = PgConnection::connect(&admin).await?;
    let count = "SELECT count(*) FROM \"table\".checkpoints";
    let left: i64 = sqlx::query_scalar(count).fetch_one(&mut connection).await?;
    assert_eq!(left, 9);
    Ok(())
}

/// ARCHITECTURE.md §1.1.
#[tokio::test]
async fn services_do_not_see_each_other() -> anyhow::Result<()> {
    let admin = migrated("strangers").await?;
    for owner in SERVICES {
        written(&admin, owner).await?;
    }
    for (role, others) in
        SERVICES.map(|role| (role, SERVICES.into_iter().filter(move |other| *other != role)))
    {
        let url = as_role(&admin, &format!("sabacc_{role}"));
        for other in others {
            for table in [
                "events",
                "event_groups",
                "archived_groups",
                "authors",
                "owners",
                "leases",
                "log_sizes",
            ] {
                let sql = format!("SELECT * FROM \"{other}\".{table}");
                assert_eq!(refusal(&url, &sql).await?, REFUSED_BY_RIGHT, "{role}: {sql}");
            }
            let store = PgStore::connect(&url, other, PoolSizes::default()).await.map(drop);
            ensure!(matches!(store, Err(ConnectError::NotMigrated { .. })), "{role}, {other}");
        }
    }
    Ok(())
}

/// ARCHITECTURE.md §1.1.
#[tokio::test]
async fn an_auditor_reads_everything_and_writes_nothing() -> anyhow::Result<()> {
    let admin = migrated("auditor").await?;
    run(&admin, &format!("ALTER ROLE sabacc_auditor PASSWORD '{PASSWORD}'")).await?;
    let auditor = as_role(&admin, "sabacc_auditor");
    for service in SERVICES {
        written(&admin, service).await?;
        let name = format!("{service}/0");
        let store = PgStore::connect(&auditor, service, PoolSizes::default()).await?;
        let reader = Reader::new(store.clone(), &*name);
        assert_eq!(reader.size().await?, 2);
        let events = reader.read(Position(0), 10).await?;
        assert_eq!(events.len(), 2);
        let stream = events[1].stream;
        assert_eq!(reader.read_stream(stream, Version(0), 10).await?, events[1..]);
        let stored = reader.request(entry(2).key().context("a request")?).await?;
        assert_eq!(stored.map(|stored| stored.first), Some(Position(1)));
        let absent = Reader::new(store.clone(), "nowhere");
        assert_eq!((absent.size().await?, absent.read(Position(0), 1).await?), (0, vec![]));

        let owner = Log::open(store, options(&name)).await.map(drop);
        ensure!(matches!(owner, Err(OpenError::Unavailable { .. })), "{owner:?}");
        for sql in [
            format!("INSERT INTO \"{service}\".authors (actor) VALUES ('x')"),
            format!(
                "INSERT INTO \"{service}\".event_groups SELECT * FROM \"{service}\".event_groups"
            ),
            format!("UPDATE \"{service}\".owners SET epoch = 9"),
            // Nor does it keep anybody from writing.
            format!("SELECT FROM \"{service}\".owners FOR NO KEY UPDATE"),
            format!("SELECT FROM \"{service}\".owners FOR KEY SHARE"),
            format!("SELECT FROM \"{service}\".leases FOR SHARE"),
            format!("BEGIN; LOCK TABLE \"{service}\".owners IN SHARE MODE"),
            format!("SELECT \"{service}\".log_end('{name}', 1)"),
        ] {
            assert_eq!(refusal(&auditor, &sql).await?, REFUSED_BY_RIGHT, "{sql}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn migrations_may_run_twice_and_at_once() -> anyhow::Result<()> {
    let admin = database("migrations").await?;
    let runs = SERVICES.into_iter().chain(SERVICES).map(|service| {
        let admin = admin.clone();
        tokio::spawn(async move { migrate(&admin, service, Some(PASSWORD)).await })
    });
    for run in runs.collect::<Vec<_>>() {
        run.await??;
    }
    written(&admin, "wallet").await?;
    // A right that was granted by hand is revoked; the data stays.
    run(&admin, "GRANT DELETE ON wallet.owners TO sabacc_wallet").await?;
    migrate(&admin, "wallet", None).await?;
    let wallet = as_role(&admin, "sabacc_wallet");
    assert_eq!(refusal(&wallet, "DELETE FROM wallet.owners").await?, REFUSED_BY_RIGHT);
    let store = PgStore::connect(&wallet, "wallet", PoolSizes::default()).await?;
    assert_eq!(Reader::new(store, "wallet/0").size().await?, 2);
    // Tables that another build has made are left as they are.
    run(&admin, "UPDATE wallet._sqlx_migrations SET checksum = '' WHERE version = 1").await?;
    let other = migrate(&admin, "wallet", None).await;
    let Err(MigrateError::OtherBuild { service, .. }) = other else {
        anyhow::bail!("{other:?}");
    };
    assert_eq!(service, "wallet");
    Ok(())
}

#[tokio::test]
async fn errors_say_what_to_do() -> anyhow::Result<()> {
    let admin = database("errors").await?;
    let store = PgStore::connect(&admin, "table", PoolSizes::default()).await.map(drop);
    ensure!(matches!(store, Err(ConnectError::NotMigrated { .. })), "{store:?}");
    for name in ["", "Table", "a\"; DROP SCHEMA public", &"a".repeat(33)] {
        let store = PgStore::connect(&admin, name, PoolSizes::default()).await.map(drop);
        ensure!(matches!(store, Err(ConnectError::Service(_))), "{store:?}");
        let made = migrate(&admin, name, None).await;
        ensure!(matches!(made, Err(MigrateError::Connect(ConnectError::Service(_)))), "{made:?}");
    }
    let store = PgStore::connect("not a url", "table", PoolSizes::default()).await.map(drop);
    ensure!(matches!(store, Err(ConnectError::Url(_))), "{store:?}");
    let nobody = as_role(&admin, "nobody_at_all");
    let store = PgStore::connect(&nobody, "table", PoolSizes::default()).await.map(drop);
    ensure!(matches!(store, Err(ConnectError::Unavailable(_))), "{store:?}");
    migrate(&admin, "table", Some(PASSWORD)).await?;
    let powerless = migrate(&as_role(&admin, "sabacc_table"), "table", None).await;
    ensure!(powerless.is_err());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_never_comes_is_found_out() -> anyhow::Result<()> {
    let admin = migrated("unanswered").await?;
    let cut = deaf::DeafConnection::to(&admin).await?;
    let url = as_role(&cut.url, "sabacc_table");
    let store = PgStore::connect(&url, "table", PoolSizes::default()).await?;
    let log = Log::open(store, options("table/0")).await?;
    for n in 0..20 {
        let receipt = {
            // The server receives and commits the statement; its answer is lost with the
            // connection.
            cut.deafen();
            log.append(entry(n)).await?
        };
        assert_eq!(receipt.first, Position(u64::from(n)));
    }
    assert!(cut.lost() >= 20, "only {} answers were lost", cut.lost());
    let events = log.read(Position(0), 100).await?;
    assert_eq!(events.len(), 20);
    assert_eq!(log.root(), merkle::root(events.iter().map(Event::record)));
    Ok(())
}

#[tokio::test]
async fn a_restart_of_the_database_fails_no_read() -> anyhow::Result<()> {
    let admin = migrated("restarted").await?;
    written(&admin, "table").await?;
    let url = as_role(&admin, "sabacc_table");
    let store = PgStore::connect(&url, "table", PoolSizes::default()).await?;
    let readers = PoolSizes::default().readers;
    let in_use = (0..readers).map(|_| store.readers().acquire());
    drop(futures_util::future::try_join_all(in_use).await?);
    while store.readers().num_idle() < usize::try_from(readers)? {
        tokio::task::yield_now().await;
    }
    run(
        &admin,
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
        WHERE usename = 'sabacc_table' AND datname = current_database()",
    )
    .await?;
    let reader = Reader::new(store, "table/0");
    assert_eq!(reader.size().await?, 2);
    Ok(())
}

/// Ends or cancels all statements of the service's role, again and again.
const DISTURB: &str = "SELECT CASE WHEN random() < 0.5 THEN pg_terminate_backend(pid)
    ELSE pg_cancel_backend(pid) END
    FROM pg_stat_activity WHERE usename = 'sabacc_table' AND datname = current_database()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dying_connections_lose_nothing_and_write_nothing_twice() -> anyhow::Result<()> {
    let admin = migrated("dying").await?;
    let url = as_role(&admin, "sabacc_table");
    let store = PgStore::connect(&url, "table", PoolSizes::default()).await?;
    // A busy machine connects more slowly than it is disturbed.
    let limits = Limits { store_timeout: Duration::from_secs(120), ..options("").limits };
    let log = Log::open(store, Options { limits, ..options("table/0") }).await?;
    let disturbing = tokio::spawn(async move {
        let mut connection = PgConnection::connect(&admin).await?;
        loop {
            sqlx::query(DISTURB).execute(&mut connection).await?;
            tokio::time::sleep(Duration::from_millis(7)).await;
        }
        #[expect(unreachable_code, reason = "names the type of the error")]
        Ok::<(), sqlx::Error>(())
    });
    let mut expected = Vec::new();
    for round in 0..60_u16 {
        let callers = (0..10).map(|n| log.append(entry(round * 10 + n)));
        for (outcome, n) in futures_util::future::join_all(callers).await.into_iter().zip(0..) {
            expected.push((outcome?.first, round * 10 + n));
        }
    }
    ensure!(!disturbing.is_finished(), "{:?}", disturbing.await);
    disturbing.abort();
    ensure!(disturbing.await.is_err_and(|ended| ended.is_cancelled()));
    expected.sort_unstable();
    let events = log.read(Position(0), 1000).await?;
    let found: Vec<(Position, u16)> = events
        .iter()
        .map(|event| (event.position, u16::from_be_bytes([event.payload[0], event.payload[1]])))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(log.root(), merkle::root(events.iter().map(Event::record)));
    let repeat = log.append(entry(599)).await;
    ensure!(matches!(repeat, Err(AppendError::Duplicate { .. })), "{repeat:?}");
    Ok(())
}
