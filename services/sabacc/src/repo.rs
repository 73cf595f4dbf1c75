//! SQL of this program: the owners of a database's logs, and the room's lock.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection};

/// Single connection, outside of the services' pools.
pub(crate) struct Database {
    connection: PgConnection,
}

/// Owner of a log whose lease runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogOwner {
    pub(crate) log: String,
    pub(crate) owner: String,
    /// Address of the owner.
    pub(crate) address: String,
    /// Date and time of the claim, by the database's clock.
    pub(crate) since: String,
    /// Time until the lease ends, unless it is renewed.
    pub(crate) remaining: Duration,
}

/// Schemas of the services that have a log.
const SCHEMAS: [&str; 3] = ["dealer", "wallet", "table"];

impl Database {
    /// Connects with the role in `url`.
    pub(crate) async fn connect(url: &str) -> Result<Database, sqlx::Error> {
        let options = url.parse::<PgConnectOptions>()?.disable_statement_logging();
        Ok(Database { connection: PgConnection::connect_with(&options).await? })
    }

    /// Takes the lock of a room on this database; false if another holds it. It is released with
    /// the connection.
    pub(crate) async fn try_lock(&mut self) -> Result<bool, sqlx::Error> {
        sqlx::query_scalar("SELECT pg_try_advisory_lock(hashtext('sabacc'), hashtext('up'))")
            .fetch_one(&mut self.connection)
            .await
    }

    /// Whether the connection still exists, and with it the lock.
    pub(crate) async fn is_alive(&mut self) -> bool {
        eventlog::with_statement_timeout(self.connection.ping()).await.is_ok()
    }

    /// Whether any log was ever begun.
    pub(crate) async fn has_logs(&mut self) -> Result<bool, sqlx::Error> {
        for schema in SCHEMAS {
            let there: bool = sqlx::query_scalar("SELECT to_regclass($1) IS NOT NULL")
                .bind(format!("\"{schema}\".owners"))
                .fetch_one(&mut self.connection)
                .await?;
            if there {
                let statement = format!("SELECT EXISTS (SELECT FROM \"{schema}\".owners)");
                let begun: bool = sqlx::query_scalar(AssertSqlSafe(statement))
                    .fetch_one(&mut self.connection)
                    .await?;
                if begun {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Returns owners of logs whose lease runs. A lease that begins in the future was given by a
    /// clock that was set back since, and is ignored.
    pub(crate) async fn owners(&mut self) -> Result<Vec<LogOwner>, sqlx::Error> {
        let mut owners = Vec::new();
        for schema in SCHEMAS {
            // Missing in tables of another build, which the migration refuses.
            let there: bool = sqlx::query_scalar("SELECT to_regclass($1) IS NOT NULL")
                .bind(format!("\"{schema}\".leases"))
                .fetch_one(&mut self.connection)
                .await?;
            if !there {
                continue;
            }
            let leased: Vec<(String, String, String, String, i64)> =
                sqlx::query_as(AssertSqlSafe(format!(
                    "SELECT log, owner, address, \
                     to_char(claimed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC', \
                     (extract(epoch FROM lease_ends - clock_timestamp()) * 1000)::bigint \
                     FROM \"{schema}\".owners JOIN \"{schema}\".leases USING (log) \
                     WHERE lease_ends > clock_timestamp() \
                     AND leased_at <= clock_timestamp() + interval '2 seconds'"
                )))
                .fetch_all(&mut self.connection)
                .await?;
            owners.extend(leased.into_iter().map(|(log, owner, address, since, left)| {
                let remaining = Duration::from_millis(unsigned(left));
                LogOwner { log, owner, address, since, remaining }
            }));
        }
        Ok(owners)
    }
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
