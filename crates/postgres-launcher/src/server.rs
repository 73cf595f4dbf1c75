//! A running private cluster.
//!
//! The server is a child of a shell (`watch.sh`) that ends it when we end. Both are driven with
//! `std`, not `tokio`, so a cluster is not bound to the runtime that started it.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use sqlx::{Connection as _, PgConnection};

use super::account::Account;
use super::binaries::{Binaries, Version};
use super::cluster::{Cluster, OWNER};
use super::{DATABASE, Options, PostgresError, files, random_hex, url};

const WATCH: &str = include_str!("watch.sh");
const POLL: Duration = Duration::from_millis(20);
/// A server that was cut off reads its log before it answers, which takes as long as it takes;
/// this is for one that is stuck.
const READY_TRIES: u32 = 10 * 60 * 50;
const STOP_TRIES: u32 = 60 * 50;
const KEPT_LINES: usize = 40;
/// Between two looks at whether the server lives.
const LOOK: Duration = Duration::from_millis(100);
/// Between two starts while processes of a dead server are left, and how many of them.
const LEFTOVER: Duration = Duration::from_millis(250);
const LEFTOVER_TRIES: u32 = 120;
const LAST_WORDS_TRIES: u32 = 50;
/// The shortest limit of any system on a socket's path (103 bytes on macOS, 107 on Linux) less
/// `/.s.PGSQL.5432`.
const LONGEST_SOCKET_DIR: usize = 103 - 14;

/// A private cluster's server. Stops some moments after this is dropped.
pub(super) struct Server {
    cluster: Cluster,
    version: Version,
    sockets: Sockets,
    password: String,
    /// The server's program, and what it is started with.
    program: PathBuf,
    fsync: bool,
    /// Whether the cluster goes away when its server ends, however that ends.
    ephemeral: bool,
    process: Process,
}

/// One run of the server.
struct Process {
    watch: Child,
    /// The end of the pipe that keeps the server alive.
    hold: Option<ChildStdin>,
    said: Said,
    listener: Option<JoinHandle<()>>,
}

/// The last lines that the server wrote.
type Said = Arc<Mutex<VecDeque<String>>>;

/// The folder of the server's socket.
struct Sockets {
    dir: String,
    /// Whether it was made for this run.
    temporary: bool,
}

impl Process {
    fn spawn(
        cluster: &Cluster,
        sockets: &Sockets,
        program: &Path,
        fsync: bool,
        ephemeral: bool,
    ) -> Result<Self, PostgresError> {
        let mut command = cluster.account.command("/bin/sh");
        command.args(["-c", WATCH, "watch"]).arg(&cluster.dir);
        command.arg(if ephemeral { "QUIT" } else { "INT" });
        command.arg(if sockets.temporary { sockets.dir.as_str() } else { "" });
        command.arg(if ephemeral { cluster.data.as_path() } else { Path::new("") });
        command.arg(program).arg("-D").arg(&cluster.dir);
        for setting in settings(sockets, fsync) {
            command.args(["-c", &setting]);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut watch = command.spawn().map_err(PostgresError::io("running", program))?;
        let hold = watch.stdin.take();
        let said = Said::default();
        let listener = watch.stderr.take().map(|stderr| listen(stderr, Arc::clone(&said)));
        Ok(Self { watch, hold, said, listener })
    }

    /// Whether it has ended. One that cannot be asked has.
    fn ended(&mut self) -> bool {
        !matches!(self.watch.try_wait(), Ok(None))
    }
}

impl Server {
    /// Starts the server; it does not answer yet.
    pub(super) fn start(
        cluster: Cluster,
        binaries: &Binaries,
        options: &Options,
    ) -> Result<Self, PostgresError> {
        let password = cluster.password()?;
        let runtime_dir = options.environment.runtime_dir.as_deref();
        let sockets = Sockets::choose(&cluster.dir, runtime_dir, &cluster.account)?;
        let program = binaries.dir.join("postgres");
        let (fsync, ephemeral) = (options.fsync, options.ephemeral);
        let process = Process::spawn(&cluster, &sockets, &program, fsync, ephemeral)?;
        let version = binaries.version.clone();
        Ok(Self { cluster, version, sockets, password, program, fsync, ephemeral, process })
    }

    /// Starts the server again after its death, on the same data and the same socket, and waits until
    /// it answers. What is left of the old one is waited for: two at work on one cluster would ruin it,
    /// and the server's own locks see to that.
    pub(super) async fn restart(&mut self) -> Result<(), PostgresError> {
        let mut tries = LEFTOVER_TRIES;
        loop {
            self.sockets.make_again(&self.cluster.account)?;
            self.process = Process::spawn(
                &self.cluster,
                &self.sockets,
                &self.program,
                self.fsync,
                self.ephemeral,
            )?;
            match self.ready().await {
                Err(error) if error.is_leftover() && tries > 0 => tries -= 1,
                outcome => return outcome,
            }
            tokio::time::sleep(LEFTOVER).await;
        }
    }

    /// Waits for the server's end; why it ended, as far as it said.
    pub(super) async fn ended(&mut self) -> PostgresError {
        while !self.process.ended() {
            tokio::time::sleep(LOOK).await;
        }
        self.died().await
    }

    /// Whether its data outlives it.
    pub(super) const fn is_lasting(&self) -> bool {
        !self.ephemeral
    }

    /// Waits until the server answers and the database is there.
    pub(super) async fn ready(&mut self) -> Result<(), PostgresError> {
        let answered = self.answered().await;
        if answered.is_err() {
            self.process.hold = None;
            // The failure to start is the news; a stop that fails on top of it is not.
            let _ = self.stopped().await;
        }
        answered
    }

    async fn answered(&mut self) -> Result<(), PostgresError> {
        let address = self.url(OWNER);
        let mut tries = READY_TRIES;
        let mut connection = loop {
            if self.process.ended() {
                return Err(self.died().await);
            }
            match PgConnection::connect(&address).await {
                Ok(connection) => break connection,
                Err(e) if tries > 0 && is_not_yet(&e) => tries -= 1,
                Err(source) => return Err(self.no_answer(source)),
            }
            tokio::time::sleep(POLL).await;
        };
        let made = make_database(&mut connection).await;
        // Nothing is left to be said on this line.
        let _ = connection.close().await;
        made.map_err(|source| self.no_answer(source))
    }

    fn no_answer(&self, source: sqlx::Error) -> PostgresError {
        let cluster = self.cluster.dir.clone();
        PostgresError::recognise(&source.to_string(), &cluster)
            .unwrap_or(PostgresError::NoAnswer { cluster, source })
    }

    /// Why the server is gone, from what it said.
    async fn died(&mut self) -> PostgresError {
        // What it said is complete when the last of its processes has ended.
        for _ in 0..LAST_WORDS_TRIES {
            if self.process.listener.as_ref().is_none_or(JoinHandle::is_finished) {
                break;
            }
            tokio::time::sleep(POLL).await;
        }
        let said = self.process.said.lock().unwrap_or_else(PoisonError::into_inner);
        let output = said.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
        let cluster = self.cluster.dir.clone();
        PostgresError::recognise(&output, &cluster)
            .unwrap_or(PostgresError::Start { cluster, output })
    }

    pub(super) async fn stop(mut self) -> Result<(), PostgresError> {
        self.process.hold = None;
        self.stopped().await
    }

    async fn stopped(&mut self) -> Result<(), PostgresError> {
        for _ in 0..STOP_TRIES {
            let dir = &self.cluster.dir;
            let waited = self.process.watch.try_wait();
            if waited.map_err(PostgresError::io("waiting for", dir))?.is_some() {
                return Ok(());
            }
            tokio::time::sleep(POLL).await;
        }
        Err(PostgresError::StillRunning { cluster: self.cluster.dir.clone() })
    }

    /// The address of a database, as the cluster's owner.
    pub(super) fn url(&self, database: &str) -> String {
        let socket = url::Socket { dir: &self.sockets.dir, role: OWNER, password: &self.password };
        url::of_socket(&socket, database)
    }

    pub(super) fn describe(&self) -> String {
        let Version { text, .. } = &self.version;
        let Cluster { dir, account, .. } = &self.cluster;
        let socket = &self.sockets.dir;
        let (dir, user) = (dir.display(), &account.name);
        format!("PostgreSQL {text}, private cluster {dir}, socket in {socket}, run by {user}")
    }
}

impl Sockets {
    /// The cluster's own folder, which only its owner can enter; where that is too long for a
    /// socket, or not text, a short one of the same kind.
    fn choose(
        cluster: &Path,
        runtime_dir: Option<&Path>,
        account: &Account,
    ) -> Result<Self, PostgresError> {
        let fits = |dir: &Path| {
            dir.to_str().filter(|dir| dir.len() <= LONGEST_SOCKET_DIR).map(str::to_owned)
        };
        if let Some(dir) = fits(cluster) {
            return Ok(Self { dir, temporary: false });
        }
        let name = format!("sabacc-{}", random_hex::<8>());
        // The caller's runtime folder is of no use to another user.
        let runtime_dir = runtime_dir.filter(|dir| !account.switch && dir.is_dir());
        let own = runtime_dir.map(|dir| dir.join(&name)).as_deref().and_then(fits);
        let dir = own.unwrap_or_else(|| format!("/tmp/{name}"));
        files::make_private_dir(&PathBuf::from(&dir), account)?;
        Ok(Self { dir, temporary: true })
    }

    /// Makes the folder once more where it went with the server before.
    fn make_again(&self, account: &Account) -> Result<(), PostgresError> {
        let path = Path::new(&self.dir);
        if !self.temporary || path.is_dir() {
            return Ok(());
        }
        files::make_private_dir(path, account)
    }
}

/// What differs from the defaults; given at every start, so that older clusters follow.
fn settings(sockets: &Sockets, fsync: bool) -> Vec<String> {
    let on = |setting: &str| format!("{setting}={}", if fsync { "on" } else { "off" });
    let fixed = [
        "listen_addresses=",
        "port=5432",
        "unix_socket_permissions=0700",
        "max_connections=100",
        "shared_buffers=256MB",
        // A log at full speed writes its gigabyte of the default size in half a minute, and after
        // each checkpoint every page once more, whole.
        "max_wal_size=4GB",
        "checkpoint_timeout=15min",
        "wal_buffers=16MB",
        "timezone=UTC",
        // Where the server is told to write its log is where we read it.
        "logging_collector=off",
        "log_destination=stderr",
        "log_line_prefix=",
        // No row and no statement in the log: either may hold a secret.
        "log_error_verbosity=terse",
        "log_min_error_statement=panic",
        "log_statement=none",
    ];
    let dir = sockets.dir.replace('"', "\"\"");
    let mut all: Vec<String> = fixed.into_iter().map(str::to_owned).collect();
    all.push(format!("unix_socket_directories=\"{dir}\""));
    all.push(on("fsync"));
    all.push(on("full_page_writes"));
    all
}

/// Passes the server's words on and keeps the last of them.
fn listen(stderr: ChildStderr, said: Said) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let lines = BufReader::new(stderr).split(b'\n');
        for line in lines.map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            // Every line of the server starts with its severity. What comes of a client's
            // request, the client is told.
            if line.starts_with("PANIC") {
                tracing::error!(target: "postgres", "{line}");
            } else if line.starts_with("WARNING") {
                tracing::warn!(target: "postgres", "{line}");
            } else {
                tracing::debug!(target: "postgres", "{line}");
            }
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            if said.len() == KEPT_LINES {
                said.pop_front();
            }
            said.push_back(line);
        }
    })
}

/// Whether this is what a server says that will answer later: no socket yet, nobody listening on
/// it, or `cannot_connect_now` while it starts.
fn is_not_yet(error: &sqlx::Error) -> bool {
    match error.as_database_error() {
        Some(refused) => refused.code().as_deref() == Some("57P03"),
        None => matches!(error, sqlx::Error::Io(_)),
    }
}

async fn make_database(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let exists: bool =
        sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
            .bind(DATABASE)
            .fetch_one(&mut *connection)
            .await?;
    if !exists {
        sqlx::query("CREATE DATABASE sabacc").execute(connection).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_folder_gets_a_short_private_socket_folder() {
        let account = Account::choose(None).unwrap();
        let short = Path::new("/var/lib/sabacc/postgres");
        let own = Sockets::choose(short, None, &account).unwrap();
        assert_eq!((own.dir.as_str(), own.temporary), ("/var/lib/sabacc/postgres", false));
        let long = PathBuf::from(format!("/{}", "long".repeat(30)));
        let other = Sockets::choose(&long, Some(&long), &account).unwrap();
        assert!(other.temporary && other.dir.len() <= LONGEST_SOCKET_DIR, "{}", other.dir);
        let found = std::fs::metadata(&other.dir).unwrap();
        use std::os::unix::fs::MetadataExt as _;
        assert_eq!((found.mode() & 0o777, found.uid()), (0o700, account.uid));
        std::fs::remove_dir(&other.dir).unwrap();
    }

    #[test]
    fn the_database_made_is_the_one_that_is_named() {
        assert_eq!(DATABASE, "sabacc");
    }

    #[test]
    fn only_a_server_on_its_way_is_waited_for() {
        assert!(is_not_yet(&sqlx::Error::Io(std::io::ErrorKind::NotFound.into())));
        assert!(!is_not_yet(&sqlx::Error::RowNotFound));
    }
}
