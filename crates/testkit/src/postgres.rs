//! One PostgreSQL per test process.
//!
//! The first test that asks for it starts it, from a copy of a cluster kept in the target
//! directory. Its commits do not wait for the disk. It ends with the process, in whatever way that
//! ends, and its files are removed. With `DATABASE_URL` set, databases are created there instead,
//! and are left there.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Context as _;
use postgres_launcher::{self as launcher, Environment, Options};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tokio::sync::OnceCell;

/// PostgreSQL server of this test process.
#[derive(Debug)]
pub struct Postgres {
    server: launcher::Postgres,
    databases: AtomicU32,
}

/// Server of this process, started by the first call.
///
/// # Errors
/// No PostgreSQL is available; the error says what to do.
pub async fn postgres() -> anyhow::Result<&'static Postgres> {
    static POSTGRES: OnceCell<Postgres> = OnceCell::const_new();
    POSTGRES.get_or_try_init(start).await
}

async fn start() -> anyhow::Result<Postgres> {
    let data = tempfile::Builder::new().prefix("sabacc-test-").tempdir_in(fastest_directory())?;
    let mut options = Options::new(data.path(), Environment::read());
    options.fsync = false;
    options.ephemeral = true;
    options.templates = target_directory().map(|target| target.join("tmp"));
    let server = launcher::obtain(&options).await?;
    // From here on the server's own watch removes the directory, since a static is never dropped.
    if options.database_url.is_none() {
        let _ = data.keep();
    }
    Ok(Postgres { server, databases: AtomicU32::new(0) })
}

/// Directory in memory if that has plenty of room (containers often have 64 MB), else the temporary
/// directory. A cluster is a thousand small files, which are slow to write on some disks.
fn fastest_directory() -> PathBuf {
    const PLENTY: u64 = 2 << 30;
    let memory = Path::new("/dev/shm");
    match rustix::fs::statvfs(memory) {
        Ok(room) if room.f_bavail.saturating_mul(room.f_frsize) >= PLENTY => memory.to_owned(),
        Ok(_) | Err(_) => std::env::temp_dir(),
    }
}

/// Target directory of Cargo, which contains the test program.
fn target_directory() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists()).map(PathBuf::from)
}

impl Postgres {
    /// Creates an empty database and returns its address for the superuser. `name` is for people
    /// who look at the server while tests run; it may be used again.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn database(&self, name: &str) -> anyhow::Result<String> {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let name: String = name.chars().take(40).map(plain).collect();
        // Unique on a shared server too, and within the 63 bytes of a name.
        let name = format!("{name}_{}_{number}", std::process::id());
        let mut connection = PgConnection::connect(&self.server.admin_url()).await?;
        // Only letters, digits and underscores, so that the name needs no escaping.
        let create = AssertSqlSafe(format!("CREATE DATABASE \"{name}\" TEMPLATE template0"));
        sqlx::query(create)
            .execute(&mut connection)
            .await
            .with_context(|| format!("making the database {name}"))?;
        connection.close().await?;
        Ok(self.server.url_of(&name))
    }

    /// Address of the server for the superuser, for what concerns all databases, such as roles.
    #[must_use]
    pub fn admin_url(&self) -> String {
        self.server.admin_url()
    }

    /// Version and location, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        self.server.describe()
    }
}
