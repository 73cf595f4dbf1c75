//! Server of a private cluster.
//!
//! The server is a child of a shell (`watch.sh`) that stops it when this process ends. Both are
//! driven with `std`, not `tokio`, so a cluster is not bound to the runtime that started it.

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
/// Polls of a starting server. A server that was cut off replays its log before it answers, which
/// may take long; the bound is for one that is stuck.
const READY_TRIES: u32 = 10 * 60 * 50;
const STOP_TRIES: u32 = 60 * 50;
const MAX_OUTPUT_LINES: usize = 40;
/// Time between two checks whether the server lives.
const LIVENESS_POLL: Duration = Duration::from_millis(100);
/// Time between two starts while processes of a dead server are left. The number of starts follows.
const LEFTOVER_PAUSE: Duration = Duration::from_millis(250);
const LEFTOVER_TRIES: u32 = 120;
const OUTPUT_END_TRIES: u32 = 50;
/// Bytes of the longest socket directory: the smallest path limit of any system (103 on macOS, 107
/// on Linux) less the length of `/.s.PGSQL.5432`.
const MAX_SOCKET_DIR_BYTES: usize = 103 - 14;

/// Server of a private cluster. It stops some moments after this value is dropped.
pub(super) struct Server {
    cluster: Cluster,
    version: Version,
    sockets: SocketDirectory,
    password: String,
    /// Executable of the server.
    program: PathBuf,
    fsync: bool,
    /// Whether the cluster is removed when its server ends for any reason.
    ephemeral: bool,
    process: Process,
}

/// One run of the server.
struct Process {
    watch: Child,
    /// Write end of the pipe that keeps the server alive.
    keepalive_pipe: Option<ChildStdin>,
    output: OutputLines,
    listener: Option<JoinHandle<()>>,
}

/// Last lines of the server's output.
type OutputLines = Arc<Mutex<VecDeque<String>>>;

/// Directory of the server's socket.
struct SocketDirectory {
    dir: String,
    /// Whether it was created for this run.
    temporary: bool,
}

impl Process {
    fn spawn(
        cluster: &Cluster,
        sockets: &SocketDirectory,
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
        let said = OutputLines::default();
        let listener = watch.stderr.take().map(|stderr| collect_output(stderr, Arc::clone(&said)));
        Ok(Self { watch, keepalive_pipe: hold, output: said, listener })
    }

    /// Whether the process has ended. A process that cannot be checked counts as ended.
    fn has_ended(&mut self) -> bool {
        !matches!(self.watch.try_wait(), Ok(None))
    }
}

impl Server {
    /// Starts the server. It does not answer yet.
    pub(super) fn start(
        cluster: Cluster,
        binaries: &Binaries,
        options: &Options,
    ) -> Result<Self, PostgresError> {
        let password = cluster.password()?;
        let runtime_dir = options.environment.runtime_dir.as_deref();
        let sockets = SocketDirectory::choose(&cluster.dir, runtime_dir, &cluster.account)?;
        let program = binaries.dir.join("postgres");
        let (fsync, ephemeral) = (options.fsync, options.ephemeral);
        let process = Process::spawn(&cluster, &sockets, &program, fsync, ephemeral)?;
        let version = binaries.version.clone();
        Ok(Self { cluster, version, sockets, password, program, fsync, ephemeral, process })
    }

    /// Restarts a dead server on its data and socket, and waits until it answers. It retries while
    /// processes of the dead server are left: the server's own locks forbid two servers on one
    /// cluster.
    pub(super) async fn restart(&mut self) -> Result<(), PostgresError> {
        let mut tries = LEFTOVER_TRIES;
        loop {
            self.sockets.recreate_if_missing(&self.cluster.account)?;
            self.process = Process::spawn(
                &self.cluster,
                &self.sockets,
                &self.program,
                self.fsync,
                self.ephemeral,
            )?;
            match self.wait_until_ready().await {
                Err(error) if error.is_leftover() && tries > 0 => tries -= 1,
                outcome => return outcome,
            }
            tokio::time::sleep(LEFTOVER_PAUSE).await;
        }
    }

    /// Waits for the server's end. Returns the reason, as far as the server's output tells it.
    pub(super) async fn wait_until_ended(&mut self) -> PostgresError {
        while !self.process.has_ended() {
            tokio::time::sleep(LIVENESS_POLL).await;
        }
        self.reason_of_end().await
    }

    /// Whether the data outlives the server.
    pub(super) const fn is_durable(&self) -> bool {
        !self.ephemeral
    }

    /// Waits until the server answers and the database exists.
    pub(super) async fn wait_until_ready(&mut self) -> Result<(), PostgresError> {
        let answered = self.wait_for_answer().await;
        if answered.is_err() {
            self.process.keepalive_pipe = None;
            // The failure to start is reported even if the stop fails too.
            let _ = self.wait_until_stopped().await;
        }
        answered
    }

    async fn wait_for_answer(&mut self) -> Result<(), PostgresError> {
        let address = self.url(OWNER);
        let mut tries = READY_TRIES;
        let mut connection = loop {
            if self.process.has_ended() {
                return Err(self.reason_of_end().await);
            }
            match PgConnection::connect(&address).await {
                Ok(connection) => break connection,
                Err(e) if tries > 0 && is_not_yet(&e) => tries -= 1,
                Err(source) => return Err(self.no_answer(source)),
            }
            tokio::time::sleep(POLL).await;
        };
        let made = create_database_if_missing(&mut connection).await;
        // The connection is no longer needed, so an error of the close does not matter.
        let _ = connection.close().await;
        made.map_err(|source| self.no_answer(source))
    }

    fn no_answer(&self, source: sqlx::Error) -> PostgresError {
        let cluster = self.cluster.dir.clone();
        PostgresError::recognise(&source.to_string(), &cluster)
            .unwrap_or(PostgresError::NoAnswer { cluster, source })
    }

    /// Reason of the server's end, from its output.
    async fn reason_of_end(&mut self) -> PostgresError {
        // The output is complete when the last process of the server has ended.
        for _ in 0..OUTPUT_END_TRIES {
            if self.process.listener.as_ref().is_none_or(JoinHandle::is_finished) {
                break;
            }
            tokio::time::sleep(POLL).await;
        }
        let said = self.process.output.lock().unwrap_or_else(PoisonError::into_inner);
        let output = said.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
        let cluster = self.cluster.dir.clone();
        PostgresError::recognise(&output, &cluster)
            .unwrap_or(PostgresError::Start { cluster, output })
    }

    pub(super) async fn stop(mut self) -> Result<(), PostgresError> {
        self.process.keepalive_pipe = None;
        self.wait_until_stopped().await
    }

    async fn wait_until_stopped(&mut self) -> Result<(), PostgresError> {
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

    /// Address of a database, for the cluster's owner.
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

impl SocketDirectory {
    /// Chooses the cluster's own directory, which only its owner can enter. If its path is too long
    /// for a socket or not UTF-8, creates a private directory with a short path.
    fn choose(
        cluster: &Path,
        runtime_dir: Option<&Path>,
        account: &Account,
    ) -> Result<Self, PostgresError> {
        let fits = |dir: &Path| {
            dir.to_str().filter(|dir| dir.len() <= MAX_SOCKET_DIR_BYTES).map(str::to_owned)
        };
        if let Some(dir) = fits(cluster) {
            return Ok(Self { dir, temporary: false });
        }
        let name = format!("sabacc-{}", random_hex::<8>());
        // Another user cannot enter the caller's runtime directory.
        let runtime_dir = runtime_dir.filter(|dir| !account.switches_user && dir.is_dir());
        let own = runtime_dir.map(|dir| dir.join(&name)).as_deref().and_then(fits);
        let dir = own.unwrap_or_else(|| format!("/tmp/{name}"));
        files::make_private_dir(&PathBuf::from(&dir), account)?;
        Ok(Self { dir, temporary: true })
    }

    /// Creates a temporary directory again if it was removed with the server.
    fn recreate_if_missing(&self, account: &Account) -> Result<(), PostgresError> {
        let path = Path::new(&self.dir);
        if !self.temporary || path.is_dir() {
            return Ok(());
        }
        files::make_private_dir(path, account)
    }
}

/// Settings that differ from the defaults. They are given at every start, so that older clusters
/// follow.
fn settings(sockets: &SocketDirectory, fsync: bool) -> Vec<String> {
    let on = |setting: &str| format!("{setting}={}", if fsync { "on" } else { "off" });
    let fixed = [
        "listen_addresses=",
        "port=5432",
        "unix_socket_permissions=0700",
        "max_connections=100",
        "shared_buffers=256MB",
        // A log at full speed fills the default size quickly, and each checkpoint makes it write
        // every page once more in full.
        "max_wal_size=4GB",
        "checkpoint_timeout=15min",
        "wal_buffers=16MB",
        "timezone=UTC",
        // This process reads the server's log from its standard error.
        "logging_collector=off",
        "log_destination=stderr",
        "log_line_prefix=",
        // The log must hold no row and no statement: either may contain a secret.
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

/// Forwards the server's output to the log and keeps its last lines.
fn collect_output(stderr: ChildStderr, said: OutputLines) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let lines = BufReader::new(stderr).split(b'\n');
        for line in lines.map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            // Every line begins with its severity. Errors of a client's request are reported to the
            // client, so they are logged at `debug` here.
            if line.starts_with("PANIC") {
                tracing::error!(target: "postgres", "{line}");
            } else if line.starts_with("WARNING") {
                tracing::warn!(target: "postgres", "{line}");
            } else {
                tracing::debug!(target: "postgres", "{line}");
            }
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            if said.len() == MAX_OUTPUT_LINES {
                said.pop_front();
            }
            said.push_back(line);
        }
    })
}

/// Whether the error means that the server will answer later: its socket does not exist yet,
/// nothing listens on it, or `cannot_connect_now` while it starts.
fn is_not_yet(error: &sqlx::Error) -> bool {
    match error.as_database_error() {
        Some(refused) => refused.code().as_deref() == Some("57P03"),
        None => matches!(error, sqlx::Error::Io(_)),
    }
}

async fn create_database_if_missing(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
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
        let own = SocketDirectory::choose(short, None, &account).unwrap();
        assert_eq!((own.dir.as_str(), own.temporary), ("/var/lib/sabacc/postgres", false));
        let long = PathBuf::from(format!("/{}", "long".repeat(30)));
        let other = SocketDirectory::choose(&long, Some(&long), &account).unwrap();
        assert!(other.temporary && other.dir.len() <= MAX_SOCKET_DIR_BYTES, "{}", other.dir);
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
