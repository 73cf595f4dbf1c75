//! Temporary folder, and rooms in it: started, stopped, killed, restarted.

use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use chassis::auth::{Claims, Identity, Role, TokenIssuer};
use client::{Client, TrustedKeys};
use rustix::process::{Pid, Signal};
use system::clock::SystemClock;
use system::entropy::SystemEntropy;
use tempfile::TempDir;

/// Longer than anything takes on a slow machine with other load.
pub(crate) const LONG_TIMEOUT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(25);

/// Setting of a player's call rate.
pub(crate) const PLAYER_CALLS: &str = "SABACC_LIMITS_PLAYER_CALLS";

/// Setting that exempts loopback from the limits of an address.
pub(crate) const EXEMPT_LOOPBACK: &str = "SABACC_LIMITS_EXEMPT_LOOPBACK";

/// Environment variables that a program must not inherit.
const NOT_INHERITED: &[&str] = &[
    "DATABASE_URL",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_TRACES_EXPORTER",
    "RUST_LOG",
    "SABACC_CONFIG",
    "SABACC_TOKEN",
];

/// The folder, removed with its content when dropped.
pub(crate) struct RoomHarness {
    dir: TempDir,
    started: AtomicU32,
}

impl RoomHarness {
    pub(crate) fn new() -> RoomHarness {
        let dir =
            tempfile::Builder::new().prefix("sabacc-room-").tempdir_in(fastest_folder()).unwrap();
        // When started by root, the database server runs as another user, who needs access.
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(dir.path(), open).unwrap();
        RoomHarness { dir, started: AtomicU32::new(0) }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the data folder of the rooms.
    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join("room")
    }

    /// Returns the program `sabacc` on the data folder.
    pub(crate) fn sabacc(&self, arguments: &[&str]) -> Command {
        let mut command = program("sabacc");
        command.arg("--data").arg(self.data()).args(arguments).current_dir(self.dir.path());
        command
    }

    /// Starts a program here; its output goes to files.
    pub(crate) fn spawn(&self, mut command: Command) -> RunningProgram {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let out = self.dir.path().join(format!("out-{number}"));
        let err = self.dir.path().join(format!("err-{number}"));
        command.stdin(Stdio::null());
        command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        RunningProgram { child: command.spawn().unwrap(), out, err }
    }

    /// Runs a program here to its end.
    pub(crate) async fn run(&self, command: Command) -> (ExitStatus, String) {
        let mut running = self.spawn(command);
        let status = running.wait().await;
        (status, running.output())
    }

    /// Starts a room, and waits until it serves.
    pub(crate) async fn up(&self, arguments: &[&str]) -> Room {
        self.up_with(arguments, &[]).await
    }

    /// Starts a room with environment variables.
    pub(crate) async fn up_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Room {
        let mut command = self.sabacc(&["up"]);
        command.args(arguments).envs(variables.iter().copied());
        // One demo table is enough for these tests, which share the machine.
        if !["--no-bots", "--hands", "--demo-tables"].iter().any(|one| arguments.contains(one)) {
            command.args(["--demo-tables", "1"]);
        }
        if !arguments.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        let mut running = self.spawn(command);
        let file = self.data().join("room.json");
        let pid = running.pid();
        let found = poll_until(|| {
            if let Some(status) = running.child.try_wait().unwrap() {
                panic!("the room ended with {status}:\n{}", running.output());
            }
            let text = std::fs::read(&file).ok()?;
            let room: serde_json::Value = serde_json::from_slice(&text).ok()?;
            // A killed room leaves its `room.json` behind.
            (room["pid"] == pid).then_some(room)
        });
        let Some(room) = found.await else { panic!("no room yet:\n{}", running.output()) };
        let text = |name: &str| room[name].as_str().unwrap().to_owned();
        let room = Room { running, url: text("address"), database: text("database_url") };
        // The tables are read a moment after the port opens; a client waits for them.
        let client = Client::connect(&room.url, self.token(Role::Auditor, "test")).unwrap();
        client
            .list_tables()
            .await
            .unwrap_or_else(|error| panic!("{error}\n{}", room.running.output()));
        room
    }

    /// Issues a token of the rooms, good for a day.
    pub(crate) fn token(&self, role: Role, subject: &str) -> String {
        token(&self.issuer(), role, subject, Duration::from_secs(86_400))
    }

    /// Returns the public keys of a room's logs, as the room gives them out.
    pub(crate) fn trusted_keys(&self) -> TrustedKeys {
        let keys = std::fs::read_to_string(self.data().join("keys.txt"));
        keys.map_or_else(|_| TrustedKeys::default(), |keys| TrustedKeys::parse(&keys).unwrap())
    }

    pub(crate) fn issuer(&self) -> TokenIssuer {
        let pem = std::fs::read_to_string(self.data().join("keys/issuer.pem")).unwrap();
        TokenIssuer::from_pem("up", &pem).unwrap()
    }
}

impl Drop for RoomHarness {
    /// A database stops some moments after its room and writes files until then.
    fn drop(&mut self) {
        let note = self.data().join("postgres/postmaster.pid");
        for _ in 0..400 {
            if !note.exists() {
                return;
            }
            std::thread::sleep(POLL);
        }
    }
}

/// Issues a token with this key.
pub(crate) fn token(key: &TokenIssuer, role: Role, subject: &str, lifetime: Duration) -> String {
    let identity = Identity::new(role, subject);
    let clock = SystemClock::new();
    key.issue(&Claims::new(key.name(), &identity, lifetime, &clock, &SystemEntropy))
}

/// Whether suites with a long form run in it: on demand, with `LONG_TESTS` set.
pub(crate) fn is_long() -> bool {
    #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
    std::env::var_os("LONG_TESTS").is_some()
}

/// Returns a program of this workspace; all are in one folder.
pub(crate) fn program(name: &str) -> Command {
    let path = Path::new(env!("CARGO_BIN_EXE_sabacc")).with_file_name(name);
    assert!(path.exists(), "{} is not built: test the whole workspace", path.display());
    let mut command = Command::new(path);
    for name in NOT_INHERITED {
        command.env_remove(name);
    }
    // The guests of these tests poll their tables.
    command.env(PLAYER_CALLS, "1000").env(EXEMPT_LOOPBACK, "true");
    command
}

/// Running program; killed when dropped.
pub(crate) struct RunningProgram {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl RunningProgram {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send_signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Kills it with SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Whether it is still running.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for its end.
    pub(crate) async fn wait(&mut self) -> ExitStatus {
        let ended = poll_until(|| self.child.try_wait().unwrap()).await;
        ended.unwrap_or_else(|| panic!("it does not end:\n{}", self.output()))
    }

    /// Sends a signal, and waits for an orderly end without errors.
    pub(crate) async fn stop(&mut self, signal: Signal) {
        self.send_signal(signal);
        let status = self.wait().await;
        assert!(status.success(), "{status}:\n{}", self.output());
    }

    /// Returns all of its output.
    pub(crate) fn output(&self) -> String {
        format!("{}{}", self.written(&self.out), self.log())
    }

    /// Returns its log output.
    pub(crate) fn log(&self) -> String {
        self.written(&self.err)
    }

    fn written(&self, path: &Path) -> String {
        String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        // It may have ended long ago.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Running room.
pub(crate) struct Room {
    pub(crate) running: RunningProgram,
    /// The public port.
    pub(crate) url: String,
    /// The database, as its owner.
    pub(crate) database: String,
}

/// Polls until there is an answer; none after a long time.
pub(crate) async fn poll_until<T>(mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let answered = async {
        loop {
            if let Some(answer) = ask() {
                return answer;
            }
            tokio::time::sleep(POLL).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, answered).await.ok()
}

/// Returns a folder in memory if there is plenty: a database is a thousand small files.
fn fastest_folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    match rustix::fs::statvfs(memory) {
        Ok(room) if room.f_bavail.saturating_mul(room.f_frsize) >= 4 << 30 => memory.to_owned(),
        Ok(_) | Err(_) => std::env::temp_dir(),
    }
}
