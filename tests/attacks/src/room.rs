//! A room as a separate program, in a temporary folder.

use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use chassis::auth::{Claims, Identity, Role, TokenIssuer};
use chassis::http_client::HttpClient;
use client::{Client, TrustedKeys};
use primitives::{Credits, PlayerId};
use system::clock::SystemClock;
use system::entropy::SystemEntropy;
use system::ids::IdMaker;
use tempfile::TempDir;

/// Longest time of a start or a stop.
const START_TIMEOUT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(25);
const DAY: Duration = Duration::from_secs(86_400);
/// Credits of each player.
const BANKROLL: u32 = 10_000_000;

/// Environment variables that the program must not inherit.
const NOT_INHERITED: &[&str] = &[
    "DATABASE_URL",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_TRACES_EXPORTER",
    "RUST_LOG",
    "SABACC_CONFIG",
    "SABACC_TOKEN",
];

/// Running room; killed when dropped.
pub struct Room {
    child: Child,
    dir: TempDir,
    /// The public port.
    pub url: String,
    issuer: TokenIssuer,
    /// Public keys of its logs.
    keys: TrustedKeys,
}

/// A player with an account.
#[derive(Clone)]
pub struct Guest {
    pub id: PlayerId,
    pub token: String,
    pub client: Client,
}

impl Room {
    /// Starts `program up` in a new folder under `folder`, with these variables, and waits until it
    /// serves.
    ///
    /// # Errors
    /// The program cannot be started, or ends before it serves.
    pub async fn start(
        program: &Path,
        folder: &Path,
        variables: &[(&str, &str)],
    ) -> anyhow::Result<Room> {
        let dir = tempfile::Builder::new().prefix("sabacc-attack-").tempdir_in(folder)?;
        // When started by root, the database server runs as another user, who needs access.
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755))?;
        let mut command = Command::new(program);
        for name in NOT_INHERITED {
            command.env_remove(name);
        }
        command.arg("--data").arg(dir.path().join("room")).args(["up", "--no-bots"]);
        command.args(["--listen", "127.0.0.1:0"]).envs(variables.iter().copied());
        command.current_dir(dir.path()).stdin(Stdio::null());
        let (out, err) = (dir.path().join("out"), dir.path().join("err"));
        command.stdout(File::create(&out)?).stderr(File::create(&err)?);
        let child =
            command.spawn().with_context(|| format!("{} cannot be started", program.display()))?;
        let mut starting = StartingRoom { child: Some(child), dir };
        let address = starting.address().await?;
        let StartingRoom { child, dir } = starting;
        let child = child.context("the room was started")?;
        let pem = std::fs::read_to_string(dir.path().join("room/keys/issuer.pem"))?;
        let issuer = TokenIssuer::from_pem("up", &pem)?;
        let answer = HttpClient::new().get(&address.parse()?, "keys.txt").await?;
        let keys = TrustedKeys::parse(std::str::from_utf8(&answer.body)?)?;
        let room = Room { child, dir, url: address, issuer, keys };
        // The tables are read a moment after the port opens; a client waits for them.
        room.operator()?.list_tables().await?;
        Ok(room)
    }

    /// Issues a token of the room, good for a day.
    #[must_use]
    pub fn token(&self, role: Role, subject: &str) -> String {
        token(&self.issuer, role, subject)
    }

    /// Returns a client with an operator's token.
    ///
    /// # Errors
    /// The room's address is malformed.
    pub fn operator(&self) -> anyhow::Result<Client> {
        Ok(Client::connect(&self.url, self.token(Role::Operator, "attacks"))?)
    }

    /// Creates a new player with an account and credits.
    ///
    /// # Errors
    /// The room refuses.
    pub async fn guest(&self) -> anyhow::Result<Guest> {
        let id = IdMaker::system().player_id();
        let token = self.token(Role::Player, &id.to_string());
        let client = Client::connect(&self.url, token.clone())?;
        let client = client.with_trusted_keys(self.keys.clone());
        client.open_account(None).await?;
        self.operator()?.issue(id, Credits::of(BANKROLL), "to play beside an attack").await?;
        Ok(Guest { id, token, client })
    }

    /// Returns the number of records that a log of the room has signed.
    ///
    /// # Errors
    /// The room refuses, or signs no checkpoint.
    pub async fn log_size(&self, log: &str) -> anyhow::Result<u64> {
        let auditor = Client::connect(&self.url, self.token(Role::Auditor, "attacks"))?;
        let note = auditor.checkpoint(log).await?;
        let size = note.lines().nth(1).and_then(|line| line.parse().ok());
        size.with_context(|| format!("the checkpoint of {log} has no size: {note}"))
    }

    /// Returns the number of connections of all services to the room's database.
    ///
    /// # Errors
    /// The database's processes cannot be read.
    pub fn database_connections(&self) -> anyhow::Result<usize> {
        let note = self.data().join("postgres/postmaster.pid");
        let text = std::fs::read_to_string(&note)
            .with_context(|| format!("{} cannot be read", note.display()))?;
        let postmaster = text.lines().next().context("the database's note is empty")?.to_owned();
        let mut connections = 0;
        for entry in std::fs::read_dir("/proc")? {
            let path = entry?.path();
            let Ok(status) = std::fs::read_to_string(path.join("status")) else { continue };
            let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
            let command = std::fs::read(path.join("cmdline")).unwrap_or_default();
            let session = String::from_utf8_lossy(&command).contains("sabacc_");
            connections += usize::from(session && parent.is_some_and(|it| it.trim() == postmaster));
        }
        Ok(connections)
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("room")
    }

    /// Returns the last lines of the room's log.
    #[must_use]
    pub fn log_tail(&self) -> String {
        log_tail(self.dir.path())
    }

    /// Whether the program still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Room {
    /// A database stops some moments after its room and writes files until then.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let note = self.data().join("postgres/postmaster.pid");
        for _ in 0..400 {
            if !note.exists() {
                return;
            }
            std::thread::sleep(POLL);
        }
    }
}

/// Starting room; killed if the start fails.
struct StartingRoom {
    child: Option<Child>,
    dir: TempDir,
}

impl StartingRoom {
    async fn address(&mut self) -> anyhow::Result<String> {
        let child = self.child.as_mut().context("the room was started")?;
        let file = self.dir.path().join("room/room.json");
        let end = tokio::time::Instant::now() + START_TIMEOUT;
        while tokio::time::Instant::now() < end {
            if let Some(status) = child.try_wait()? {
                bail!("the room ended with {status}: {}", log_tail(self.dir.path()));
            }
            let note = std::fs::read(&file).ok();
            let note: Option<serde_json::Value> =
                note.and_then(|text| serde_json::from_slice(&text).ok());
            if let Some(address) = note.as_ref().and_then(|note| note["address"].as_str()) {
                return Ok(address.to_owned());
            }
            tokio::time::sleep(POLL).await;
        }
        let _ = child.kill();
        bail!("the room does not serve within {START_TIMEOUT:?}: {}", log_tail(self.dir.path()))
    }
}

fn log_tail(folder: &Path) -> String {
    let text = std::fs::read_to_string(folder.join("err")).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

/// Issues a token with this key.
#[must_use]
pub fn token(key: &TokenIssuer, role: Role, subject: &str) -> String {
    let identity = Identity::new(role, subject);
    let clock = SystemClock::new();
    key.issue(&Claims::new(key.name(), &identity, DAY, &clock, &SystemEntropy))
}

/// Returns a folder in memory if there is plenty, otherwise the temporary folder: a database is a
/// thousand small files.
#[must_use]
pub fn fastest_folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    match rustix::fs::statvfs(memory) {
        Ok(room) if room.f_bavail.saturating_mul(room.f_frsize) >= 4 << 30 => memory.to_owned(),
        Ok(_) | Err(_) => std::env::temp_dir(),
    }
}

/// Returns the program `sabacc` in the folder of this program.
///
/// # Errors
/// It is not built.
pub fn sabacc_program() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("this program does not know where it lies")?;
    let folder = own.parent().context("a program lies in a folder")?;
    // A test's program lies one folder deeper.
    let found =
        [folder.join("sabacc"), folder.join("../sabacc")].into_iter().find(|it| it.exists());
    found.with_context(|| {
        format!("{} is not built: cargo build -p sabacc", folder.join("sabacc").display())
    })
}
