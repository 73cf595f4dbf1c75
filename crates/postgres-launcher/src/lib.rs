//! Knows: how a machine without a database gets a PostgreSQL: found, fetched, started, looked
//! after, stopped.
//! Does not know: schemas, logs, services or games.
//!
//! Sources, in this order: the database that `DATABASE_URL` names; a **private cluster** run by the
//! programs found on this machine; a private cluster run by a copy fetched earlier; a private
//! cluster run by a copy fetched now, if that was requested or is agreed to at the terminal. If
//! none works, one error lists the remedies and every place that was searched.
//!
//! A private cluster lives in `<data>/postgres` and is used by this program alone. It listens on
//! one Unix socket in a directory that only its owner can enter, never on TCP. Every role needs a
//! password; the owner's is random and kept in `<data>/postgres.password`, mode 0600. If root
//! starts it, it runs as `postgres`, or else `nobody`, since PostgreSQL refuses root. It runs in a
//! clean environment with `LC_ALL=C`, so the caller's locale and `PG*` variables cannot change it.
//! It ends with the program, even if the program is killed: a shell watches a pipe that the program
//! holds open.
//!
//! [`Postgres::supervise`] supervises it: a server that dies is started again.
//!
//! Each known failure on a stranger's machine is a variant of [`PostgresError`] that says what to
//! do about it.

mod account;
mod binaries;
mod cluster;
mod environment;
mod error;
mod external;
mod fetch;
mod files;
mod server;
mod supervisor;
mod url;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use system::entropy::{self, SystemEntropy};
use tokio_util::task::AbortOnDropHandle;

pub use environment::{Environment, default_data_dir};
pub use error::PostgresError;

use binaries::{Binaries, SearchResult};
use cluster::Cluster;
use server::Server;
use supervisor::Supervisor;

/// Name of the database in a private cluster.
pub const DATABASE: &str = "sabacc";

/// Oldest supported major version of PostgreSQL.
pub const OLDEST_MAJOR: u32 = 14;

/// Search and start options for a PostgreSQL. Without `Debug`, since an address may hold a
/// password.
#[derive(Clone)]
pub struct Options {
    /// Directory whose `postgres` holds the cluster; created if missing.
    pub data: PathBuf,
    /// Whether a commit waits for the disk. Only tests may turn this off.
    pub fsync: bool,
    /// Database to use instead of a private cluster. May hold a password: not for logs.
    pub database_url: Option<String>,
    /// Directory of the server programs to use; no other is then considered.
    pub pg_bin: Option<PathBuf>,
    /// Whether PostgreSQL may be fetched without asking.
    pub fetch: bool,
    /// Whether the user at the terminal may be asked.
    pub interactive: bool,
    /// Whether the cluster, and the whole of `data`, is removed when the server stops.
    pub ephemeral: bool,
    /// Directory that keeps fresh clusters to copy from, which is quicker than making one.
    pub templates: Option<PathBuf>,
    /// Longest time to wait for a server that still runs in the same directory.
    pub predecessor_timeout: Duration,
    /// Relevant variables of the process.
    pub environment: Environment,
}

impl Options {
    /// Options of a durable private cluster in `data`, unless `environment` names a database or
    /// programs. Nothing is fetched and nobody is asked.
    #[must_use]
    pub fn new(data: impl Into<PathBuf>, environment: Environment) -> Self {
        Self {
            data: data.into(),
            fsync: true,
            database_url: environment.database_url.clone(),
            pg_bin: environment.pg_bin.clone(),
            fetch: false,
            interactive: false,
            ephemeral: false,
            templates: None,
            predecessor_timeout: Duration::from_secs(20),
            environment,
        }
    }
}

/// A PostgreSQL that answers. A private one stops when this is dropped; [`Postgres::stop`] also
/// waits until it has.
pub struct Postgres {
    url: String,
    about: String,
    ownership: Ownership,
}

/// Ownership of a PostgreSQL server.
enum Ownership {
    /// Run by others.
    External,
    /// Run by others and checked from time to time.
    ExternalWatched {
        _watch: AbortOnDropHandle<()>,
    },
    Private(Box<Server>),
    Supervised(Supervisor),
}

/// Leaves the address out, since it holds a password.
impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres").field("about", &self.about).finish_non_exhaustive()
    }
}

/// Finds or starts a PostgreSQL, and returns when it answers.
///
/// # Errors
/// See [`PostgresError`]. A server that was started is stopped again.
pub async fn obtain(options: &Options) -> Result<Postgres, PostgresError> {
    if let Some(url) = &options.database_url {
        return external::open(url).await;
    }
    let options = options.clone();
    let started = tokio::task::spawn_blocking(move || start_private(&options)).await;
    let mut server = started.unwrap_or_else(|e| std::panic::resume_unwind(e.into_panic()))?;
    server.wait_until_ready().await?;
    let (url, about) = (server.url(DATABASE), server.describe());
    Ok(Postgres { url, about, ownership: Ownership::Private(Box::new(server)) })
}

fn start_private(options: &Options) -> Result<Server, PostgresError> {
    let cluster = Cluster::claim(options)?;
    let binaries = find_binaries(options, &cluster)?;
    cluster.initialise(&binaries, options)?;
    Server::start(cluster, &binaries, options)
}

/// Finds the first programs that can run this cluster. Fetches them if there are none and fetching
/// is agreed to.
fn find_binaries(options: &Options, cluster: &Cluster) -> Result<Binaries, PostgresError> {
    let SearchResult { found, searched } = binaries::search(options, &cluster.account)?;
    let made_by = cluster.major()?;
    let fits = |b: &Binaries| made_by.is_none_or(|major| major == b.version.major);
    if let Some(binaries) = found.iter().find(|b| fits(b)) {
        return Ok(binaries.clone());
    }
    let fetching_helps = made_by.is_none_or(|major| major == fetch::MAJOR);
    if fetching_helps && fetch::is_wanted(options)? {
        let dir = fetch::fetch(&fetch::cache_dir(options, &cluster.account))?;
        return binaries::probe(&dir, &cluster.account)
            .map_err(|why| PostgresError::UnusableBinaries { dir, why });
    }
    match made_by {
        Some(major) if !found.is_empty() => Err(PostgresError::VersionMismatch {
            cluster: cluster.dir.clone(),
            made_by: major,
            found: found.iter().map(|b| b.version.major).collect(),
        }),
        Some(_) | None => Err(PostgresError::NotFound { searched }),
    }
}

impl Postgres {
    /// Address of the database for the role that owns everything in it. Holds a password: not for
    /// logs.
    #[must_use]
    pub fn admin_url(&self) -> String {
        self.url.clone()
    }

    /// Address of the database for another role. Holds a password: not for logs.
    #[must_use]
    pub fn url_for(&self, role: &str, password: &str) -> String {
        url::with_role(&self.url, role, password)
    }

    /// Address of another database of this server, for the owner. Holds a password: not for logs.
    #[must_use]
    pub fn url_of(&self, database: &str) -> String {
        url::with_database(&self.url, database)
    }

    /// Version and location, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        self.about.clone()
    }

    /// Supervises the server from now on. A private cluster's server is restarted whenever it dies.
    /// A database given by address is checked, with a log line once a minute while it does not
    /// answer. Needs a running tokio runtime, whose end is the server's too.
    #[must_use]
    pub fn supervise(self) -> Self {
        let Postgres { url, about, ownership: held } = self;
        let held = match held {
            Ownership::External => {
                let watch = tokio::spawn(supervisor::watch_external(url.clone()));
                Ownership::ExternalWatched { _watch: AbortOnDropHandle::new(watch) }
            }
            Ownership::Private(server) => Ownership::Supervised(Supervisor::start(*server)),
            watched @ (Ownership::ExternalWatched { .. } | Ownership::Supervised(_)) => watched,
        };
        Postgres { url, about, ownership: held }
    }

    /// Waits until the supervisor gives the server up: it cannot start again, or dies again and
    /// again. Never ends for an unsupervised server.
    pub async fn wait_until_given_up(&self) -> Arc<PostgresError> {
        match &self.ownership {
            Ownership::Supervised(supervisor) => supervisor.wait_until_given_up().await,
            Ownership::External | Ownership::ExternalWatched { .. } | Ownership::Private(_) => {
                std::future::pending().await
            }
        }
    }

    /// Checks whether the server answers, for two seconds at most.
    pub async fn answers(&self) -> bool {
        match &self.ownership {
            Ownership::Supervised(supervisor) if supervisor.is_given_up() => false,
            Ownership::Supervised(_)
            | Ownership::External
            | Ownership::ExternalWatched { .. }
            | Ownership::Private(_) => supervisor::answers(&self.url).await,
        }
    }

    /// Stops a private cluster and waits until it is down; a database given by address is left
    /// alone. Open connections are cut.
    ///
    /// # Errors
    /// [`PostgresError::StillRunning`] if the server is not down after a minute.
    pub async fn stop(self) -> Result<(), PostgresError> {
        match self.ownership {
            Ownership::Private(server) => server.stop().await,
            Ownership::Supervised(supervisor) => supervisor.stop().await,
            Ownership::External | Ownership::ExternalWatched { .. } => Ok(()),
        }
    }
}

/// Random hexadecimal text of `N` bytes.
fn random_hex<const N: usize>() -> String {
    hex::encode(entropy::bytes::<N>(&SystemEntropy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_holds_no_password() {
        let url = "postgres://owner:hunter2@host/db".to_owned();
        let postgres =
            Postgres { url, about: "PostgreSQL 15".into(), ownership: Ownership::External };
        assert!(!format!("{postgres:?}").contains("hunter2"));
    }
}
