//! One PostgreSQL for each test process.
//!
//! It is started by the first test that asks, from a copy of a cluster kept in the target folder,
//! and does not wait for the disk. It ends with the process, however that ends, and its files with
//! it. With `DATABASE_URL` set, databases are made there instead, and left there.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Context as _;
use postgres_launcher::{self as launcher, Environment, Options};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tokio::sync::OnceCell;

/// The process's server.
#[derive(Debug)]
pub struct Postgres {
    server: launcher::Postgres,
    databases: AtomicU32,
}

/// The process's server, started if this is the first call.
///
/// # Errors
/// If there is no PostgreSQL to be had; the error says what to do.
pub async fn postgres() -> anyhow::Result<&'static Postgres> {
    static POSTGRES: OnceCell<Postgres> = OnceCell::const_new();
    POSTGRES.get_or_try_init(start).await
}

async fn start() -> anyhow::Result<Postgres> {
    let data = tempfile::Builder::new().prefix("sabacc-test-").tempdir_in(quickest_folder())?;
    let mut options = Options::new(data.path(), Environment::read());
    options.fsync = false;
    options.ephemeral = true;
    options.templates = target_folder().map(|target| target.join("tmp"));
    let server = launcher::obtain(&options).await?;
    // From here on the server's own watch removes the folder, since a static is never dropped.
    if options.database_url.is_none() {
        let _ = data.keep();
    }
    Ok(Postgres { server, databases: AtomicU32::new(0) })
}

/// Memory where there is plenty (containers often have 64 MB), or else the usual temporary folder.
/// A cluster is a thousand small files, which some disks take seconds to write.
fn quickest_folder() -> PathBuf {
    const PLENTY: u64 = 2 << 30;
    let memory = Path::new("/dev/shm");
    match rustix::fs::statvfs(memory) {
        Ok(room) if room.f_bavail.saturating_mul(room.f_frsize) >= PLENTY => memory.to_owned(),
        Ok(_) | Err(_) => std::env::temp_dir(),
    }
}

/// Cargo's target folder, which the test program lies in.
fn target_folder() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists()).map(PathBuf::from)
}

impl Postgres {
    /// The address, as superuser, of a fresh and empty database; `name` is for people who look at
    /// the server while tests run, and may be used again.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn database(&self, name: &str) -> anyhow::Result<String> {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let name: String = name.chars().take(40).map(plain).collect();
        // Unique on a shared server, too, and within the 63 bytes of a name.
        let name = format!("{name}_{}_{number}", std::process::id());
        let mut connection = PgConnection::connect(&self.server.admin_url()).await?;
        // Letters, digits and underscores only, so nothing can break out of the quotes.
        let create = AssertSqlSafe(format!("CREATE DATABASE \"{name}\" TEMPLATE template0"));
        sqlx::query(create)
            .execute(&mut connection)
            .await
            .with_context(|| format!("making the database {name}"))?;
        connection.close().await?;
        Ok(self.server.url_of(&name))
    }

    /// The server's own address, as superuser, for what concerns all databases (roles, say).
    #[must_use]
    pub fn admin_url(&self) -> String {
        self.server.admin_url()
    }

    /// Version and whereabouts, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        self.server.describe()
    }
}
