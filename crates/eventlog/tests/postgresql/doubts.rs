//! Commits whose acknowledgement by the server is not reliable.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use eventlog::{AppendError, ConnectError, Log, Options, PgStore, PoolSizes, Position, migrate};
use postgres_launcher::{self as launcher, Environment, Options as Cluster};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tokio::time::{Instant, sleep, timeout};

use crate::{as_role, entry, migrated, options, run};

const LONG: Duration = Duration::from_secs(60);

async fn open(admin: &str) -> anyhow::Result<Log> {
    let url = as_role(admin, "sabacc_table");
    let store = PgStore::connect(&url, "table", PoolSizes::default()).await?;
    Ok(Log::open(store, options("table/0")).await?)
}

/// Process ids that wait for a replica. No other server in the test does.
async fn waiting(admin: &mut PgConnection) -> anyhow::Result<Vec<i32>> {
    let sql = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    Ok(sqlx::query_scalar(sql).fetch_all(admin).await?)
}

/// A commit waits for a replica that is away, and its connection is ended, so only this server has
/// the commit. It is not acknowledged until a later write of the log has reached a replica.
/// ARCHITECTURE.md §2.6.
#[tokio::test]
async fn a_commit_that_no_replica_has_is_not_acknowledged() -> anyhow::Result<()> {
    not_acknowledged("SELECT pg_terminate_backend($1)", Duration::ZERO).await
}

/// The server acknowledges such a commit with a notice, which no client reads.
#[tokio::test]
async fn a_commit_whose_wait_an_operator_ends_is_not_acknowledged() -> anyhow::Result<()> {
    not_acknowledged("SELECT pg_cancel_backend($1)", Duration::from_millis(1200)).await
}

async fn not_acknowledged(end: &'static str, after: Duration) -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    std::fs::set_permissions(data.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let mut cluster = Cluster::new(data.path(), Environment::read());
    (cluster.fsync, cluster.database_url) = (false, None);
    let server = launcher::obtain(&cluster).await?;
    let url = server.admin_url();
    migrate(&url, "table", Some("for-tests-only")).await?;
    let log = open(&url).await?;
    log.append(entry(1)).await?;
    let mut admin = PgConnection::connect(&url).await?;
    let replica = async |admin: &mut PgConnection, name: &str| {
        let set = format!("ALTER SYSTEM SET synchronous_standby_names = '{name}'");
        sqlx::query(AssertSqlSafe(set)).execute(&mut *admin).await?;
        sqlx::query("SELECT pg_reload_conf()").execute(admin).await
    };
    replica(&mut admin, "away").await?;
    timeout(LONG, commits_wait(&url, &mut admin)).await??;
    let append = tokio::spawn({
        let log = log.clone();
        async move { log.append(entry(2)).await }
    });
    let ended = async {
        loop {
            // Of the append, not of a renewal of the lease.
            let sql = "SELECT pid FROM pg_stat_activity
                 WHERE wait_event = 'SyncRep' AND query LIKE '-- append%'";
            let appending: Option<i32> = sqlx::query_scalar(sql).fetch_optional(&mut admin).await?;
            if let Some(pid) = appending {
                sleep(after).await;
                return anyhow::Ok(sqlx::query(end).bind(pid).execute(&mut admin).await?);
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LONG, ended).await??;
    // The batch is written, as every reader sees, and the write after it waits.
    let in_and_waiting = async {
        loop {
            let size: i64 = sqlx::query_scalar("SELECT size FROM \"table\".log_sizes")
                .fetch_one(&mut admin)
                .await?;
            if size == 2 && !waiting(&mut admin).await?.is_empty() {
                return anyhow::Ok(());
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LONG, in_and_waiting).await??;
    sleep(Duration::from_millis(500)).await;
    ensure!(!append.is_finished(), "acknowledged: {:?}", append.await);
    ensure!(log.size() == 1, "nobody is told");
    replica(&mut admin, "").await?;
    let receipt = timeout(LONG, append).await???;
    assert_eq!(receipt.first, Position(1));
    server.stop().await?;
    Ok(())
}

/// Returns once a commit waits for a replica: the server takes such a setting some time after it has
/// been told to.
async fn commits_wait(url: &str, admin: &mut PgConnection) -> anyhow::Result<()> {
    loop {
        let mut probe = PgConnection::connect(url).await?;
        let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut probe).await?;
        let write = "SELECT pg_logical_emit_message(true, 'probe', '')";
        let commit = sqlx::query(write).execute(&mut probe);
        if timeout(Duration::from_millis(200), commit).await.is_err()
            && waiting(admin).await?.contains(&pid)
        {
            sqlx::query("SELECT pg_terminate_backend($1)").bind(pid).execute(&mut *admin).await?;
            while waiting(admin).await?.contains(&pid) {
                sleep(Duration::from_millis(20)).await;
            }
            return Ok(());
        }
    }
}

/// After a fail-over to a replica that lacks events, the former owner neither confirms nor refuses.
#[tokio::test]
async fn a_store_that_has_lost_events_has_no_owner() -> anyhow::Result<()> {
    let admin = migrated("lost_events").await?;
    let log = open(&admin).await?;
    log.append(entry(1)).await?;
    log.append(entry(2)).await?;
    log.confirm_ownership().await?;
    run(
        &admin,
        "SET search_path = \"table\"; ALTER TABLE event_groups DISABLE TRIGGER append_only;
        DELETE FROM event_groups WHERE position = 1; UPDATE leases SET size = 1, tree = NULL",
    )
    .await?;
    let confirmed = log.confirm_ownership().await;
    ensure!(matches!(confirmed, Err(AppendError::Lost)), "{confirmed:?}");
    ensure!(log.stopped().is_cancelled(), "and the log is opened anew");
    Ok(())
}

/// A former primary that restarted as a replica: its connections are useless for a writer.
#[tokio::test]
async fn a_connection_that_only_reads_is_given_up() -> anyhow::Result<()> {
    let admin = migrated("read_only").await?;
    let log = open(&admin).await?;
    log.append(entry(1)).await?;
    let name = admin.rsplit('/').next().and_then(|name| name.split('?').next());
    let name = name.context("a database")?.to_owned();
    let only_reads = async |only: &str| {
        let set = format!(
            "SET transaction_read_only = off;
            ALTER DATABASE \"{name}\" SET default_transaction_read_only = {only}"
        );
        run(&admin, &set).await
    };
    only_reads("on").await?;
    let end = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
        WHERE usename = 'sabacc_table' AND datname = current_database()";
    run(&admin, end).await?;
    let refused = log.append(entry(2)).await;
    ensure!(matches!(refused, Err(AppendError::Unavailable { .. })), "{refused:?}");
    only_reads("off").await?;
    assert_eq!(timeout(LONG, log.append(entry(2))).await??.first, Position(1));
    Ok(())
}

/// An error that the server reports comes before the commit, whatever its class.
#[tokio::test]
async fn what_the_server_refuses_for_good_is_not_sent_for_ever() -> anyhow::Result<()> {
    let admin = migrated("refused_for_good").await?;
    let log = open(&admin).await?;
    log.append(entry(1)).await?;
    for code in ["XX000", "XX001", "22021", "22P05"] {
        let breaks = format!(
            "CREATE OR REPLACE FUNCTION \"table\".breaks() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'it broke' USING ERRCODE = '{code}'; END $$;
            CREATE OR REPLACE TRIGGER breaks BEFORE INSERT ON \"table\".event_groups
            FOR EACH STATEMENT EXECUTE FUNCTION \"table\".breaks()"
        );
        let mut connection = PgConnection::connect(&admin).await?;
        sqlx::raw_sql(AssertSqlSafe(breaks)).execute(&mut connection).await?;
        let began = Instant::now();
        let refused = timeout(LONG, log.append(entry(2))).await?;
        let Err(AppendError::Unavailable { source: Some(source) }) = refused else {
            anyhow::bail!("{code}: {refused:?}")
        };
        assert!(source.to_string().contains("it broke"), "{source}");
        assert!(began.elapsed() < Duration::from_secs(4), "{code}: {:?}", began.elapsed());
        run(&admin, "DROP TRIGGER breaks ON \"table\".event_groups").await?;
        assert!(!log.stopped().is_cancelled(), "the log goes on");
    }
    assert_eq!(log.append(entry(2)).await?.first, Position(1));
    Ok(())
}

/// The tests' server does not wait for its disk, so no log may be given to it.
/// ARCHITECTURE.md §3.
#[tokio::test]
async fn a_database_that_may_lose_what_it_acknowledged_is_refused() -> anyhow::Result<()> {
    let admin = migrated("unsafe").await?;
    let url = as_role(&admin, "sabacc_table");
    let store = PgStore::connect(&url, "table", PoolSizes::default()).await?;
    let mut connection = PgConnection::connect(&admin).await?;
    let fsync: String = sqlx::query_scalar("SHOW fsync").fetch_one(&mut connection).await?;
    let wrong = async |store: &PgStore| match store.require_durability().await {
        Ok(()) => Ok(String::new()),
        Err(error @ ConnectError::Unsafe(_)) => Ok(error.to_string()),
        Err(error) => Err(anyhow::Error::from(error)),
    };
    assert_eq!(wrong(&store).await?.contains("fsync is off"), fsync == "off");
    let name: String =
        sqlx::query_scalar("SELECT current_database()").fetch_one(&mut connection).await?;
    let off = format!("ALTER DATABASE \"{name}\" SET synchronous_commit = off");
    sqlx::query(AssertSqlSafe(off)).execute(&mut connection).await?;
    let store = PgStore::connect(&url, "table", PoolSizes::default()).await?;
    let said = wrong(&store).await?;
    ensure!(said.contains("synchronous_commit is off"), "{said}");
    ensure!(said.contains("ALTER DATABASE"), "it says what to do: {said}");
    Ok(())
}

/// The clock of the database was set back by a day: a lease that begins tomorrow holds nobody up.
#[tokio::test]
async fn a_lease_that_begins_in_the_future_holds_nobody_off() -> anyhow::Result<()> {
    let admin = migrated("lease_of_tomorrow").await?;
    let limits = eventlog::Limits::default();
    let clock = system::clock::SystemClock::new();
    let clock: eventlog::Clock = std::sync::Arc::new(move || system::clock::Clock::now(&clock));
    let options = Options { limits, clock, ..options("table/0") };
    let url = as_role(&admin, "sabacc_table");
    let store = PgStore::connect(&url, "table", PoolSizes::default()).await?;
    // Its task never gets to renew the lease.
    let first = Log::open(store.clone(), options.clone()).await?;
    let tomorrow = "UPDATE \"table\".leases SET leased_at = leased_at + interval '1 day',
        lease_ends = lease_ends + interval '1 day'";
    run(&admin, tomorrow).await.context("the fence")?;
    let second = timeout(LONG, Log::open(store, options)).await??;
    second.append(entry(1)).await?;
    timeout(LONG, first.append(entry(2))).await?.expect_err("another has it");
    Ok(())
}
