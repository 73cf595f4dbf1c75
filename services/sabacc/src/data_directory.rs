//! The data folder of a room on one machine, and its lock.
//!
//! `postgres/` is the database; `keys/` the private keys and passwords, made once and readable by
//! their owner alone; `keys.txt` the logs' public keys; `checkpoints/` the last checkpoint of each
//! log; `archives/` old events that were removed from the logs; `room.json` the address of the running room. Nothing here can be made from anything else,
//! so it is backed up together.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use chassis::auth::{TokenIssuer, private_key_pem};
use chassis::config::{LogIdentity, PreviousLogKey, Service};
use ed25519_dalek::SigningKey;
use ed25519_dalek::pkcs8::DecodePrivateKey as _;
use sabacc_dealer::fixed_seeds::ORIGIN_PREFIX;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use system::entropy::{self, SystemEntropy};
use zeroize::Zeroizing;

mod keys;

pub(crate) use keys::{PEOPLE_KEY, SEED_KEY};

/// File name of the dealer's key in folders of older versions.
const LEGACY_DEALER_KEY: &str = "commitment.pem";
/// Name of every room in folders of older versions.
const LEGACY_ROOM: &str = "sabacc.local";

/// Data folder.
#[derive(Debug, Clone)]
pub(crate) struct DataDirectory {
    path: PathBuf,
    /// Whether missing files may be made.
    can_create: bool,
    /// Number that a room for developers is made from.
    fixed_seed: Option<[u8; 32]>,
}

/// Secrets of the bots, which follow from the fixed seed where there is one. No other secret does.
const BOT_SECRETS: [&str; 2] = ["demo.key", "bots.secret"];

/// Lock on a data folder, held while a room runs in it.
#[derive(Debug)]
pub(crate) struct DirectoryLock {
    _file: File,
    instance: String,
    predecessor: String,
}

impl DirectoryLock {
    /// Name of this process: its process id, and a random part that makes it unique.
    #[must_use]
    pub(crate) fn instance(&self) -> String {
        format!("up {}", self.instance)
    }

    /// Whether the owner of a log is the process that held the lock before, which is dead.
    #[must_use]
    pub(crate) fn is_predecessor(&self, owner: &str) -> bool {
        !self.predecessor.is_empty() && owner.ends_with(&format!(" up {}", self.predecessor))
    }
}

/// Address of a running room.
#[derive(Serialize, Deserialize)]
pub(crate) struct RunningRoom {
    /// Process id of the room.
    pub(crate) pid: u32,
    /// The address for the commands of this folder.
    pub(crate) address: String,
    /// The database's address, as its owner. A secret.
    pub(crate) database_url: String,
}

impl DataDirectory {
    /// Opens the folder of an existing room. Makes nothing in it.
    pub(crate) fn open(path: &Path) -> anyhow::Result<DataDirectory> {
        let named = path.display();
        if path.join("keys").is_dir() {
            let path = path.canonicalize();
            let path = path.with_context(|| format!("the folder {named} cannot be found"))?;
            return Ok(DataDirectory { path, can_create: false, fixed_seed: None });
        }
        let what = match fs::metadata(path) {
            Err(_) => "there is no such folder",
            Ok(found) if found.is_dir() => "there is no room in that folder",
            Ok(_) => "that is no folder",
        };
        bail!(
            "{named}: {what}. Name a room's folder with --data, or start a room there: `sabacc up`"
        )
    }

    /// Opens a folder for a room, and creates it if it is missing.
    pub(crate) fn create(path: &Path) -> anyhow::Result<DataDirectory> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o755)
            .create(path)
            .with_context(|| format!("the data folder {} cannot be made", path.display()))?;
        let path = path.canonicalize().context("the data folder cannot be found")?;
        Ok(DataDirectory { path, can_create: true, fixed_seed: None })
    }

    /// Begins a room whose seeds follow from a number, or goes on with that room.
    ///
    /// # Errors
    /// The folder has another room: no room changes from one to the other.
    pub(crate) fn with_fixed_seed(self, seed: Option<[u8; 32]>) -> anyhow::Result<DataDirectory> {
        let keys = self.path.join("keys");
        let room = fs::read_to_string(keys.join("room")).unwrap_or_default();
        match seed {
            None if room.starts_with(ORIGIN_PREFIX) => bail!(
                "the room in {} was begun with --insecure-fixed-seed: start it with the same, or \
                 another folder without",
                self.path.display()
            ),
            Some(seed) if keys.exists() && room != fixed_room(&seed) => bail!(
                "{} has a room already, and --insecure-fixed-seed is for a fresh folder: name \
                 another with --data",
                self.path.display()
            ),
            Some(_) | None => Ok(DataDirectory { fixed_seed: seed, ..self }),
        }
    }

    /// Number that this room's seeds follow from, if an option fixes them.
    #[must_use]
    pub(crate) fn fixed_seed(&self) -> Option<[u8; 32]> {
        self.fixed_seed
    }

    /// Whether no room was ever started here.
    #[must_use]
    pub(crate) fn is_fresh(&self) -> bool {
        !self.path.join("keys").exists()
    }

    #[must_use]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Folder of archives, where no setting names another place. It may not be there.
    #[must_use]
    pub(crate) fn archives_path(&self) -> PathBuf {
        self.path.join("archives")
    }

    /// Locks the folder for this process.
    pub(crate) fn lock(&self) -> anyhow::Result<DirectoryLock> {
        lock_file(&self.path.join("up.lock"), &self.path, "--data")
    }

    /// Returns the key that tokens are signed with.
    pub(crate) fn issuer(&self) -> anyhow::Result<TokenIssuer> {
        self.token_issuer("issuer.pem", "up")
    }

    /// Returns the key that guests' tokens are signed with, which is good for nothing else.
    pub(crate) fn guest_issuer(&self) -> anyhow::Result<TokenIssuer> {
        self.token_issuer("guests.pem", "guests")
    }

    fn token_issuer(&self, file: &str, name: &str) -> anyhow::Result<TokenIssuer> {
        let pem = self.read_or_create_secret(file, new_key_pem)?;
        let issuer = TokenIssuer::from_pem(name, &pem);
        issuer.with_context(|| format!("keys/{file} cannot be used"))
    }

    /// Returns the identity of a service's log: its origin, and the key that signs for it.
    pub(crate) fn log_identity(&self, of: Service) -> anyhow::Result<LogIdentity> {
        // The name comes before the first key: a folder with keys and no name is an older one.
        let room = self.room_name()?;
        let mut file = format!("{}.pem", of.name());
        // A room of an older version, in which this key signed only commitments.
        if of == Service::Dealer && self.path.join("keys").join(LEGACY_DEALER_KEY).exists() {
            LEGACY_DEALER_KEY.clone_into(&mut file);
        }
        let pem = self.read_or_create_secret(&file, new_key_pem)?;
        let key = SigningKey::from_pkcs8_pem(&pem);
        let key = key.with_context(|| format!("keys/{file} cannot be used"))?;
        Ok(LogIdentity {
            origin: format!("{}/{}", *room, of.name()).into(),
            key,
            previous: self.previous_log_keys(of)?,
        })
    }

    /// Keys that a service's log had before, by the file `keys/SERVICE.previous` where there is one.
    fn previous_log_keys(&self, of: Service) -> anyhow::Result<Vec<PreviousLogKey>> {
        let path = self.path.join("keys").join(format!("{}.previous", of.name()));
        if !path.exists() {
            return Ok(Vec::new());
        }
        let keys = PreviousLogKey::read(&path).map_err(anyhow::Error::msg);
        keys.with_context(|| format!("{} cannot be used", path.display()))
    }

    /// Returns the room's name: the first part of its logs' origins. It is random, so that the logs
    /// of two rooms are never taken for one another's.
    fn room_name(&self) -> anyhow::Result<Zeroizing<String>> {
        let keys = self.path.join("keys");
        let has_key = |of: &str| keys.join(of).exists();
        let older = ["table.pem", "dealer.pem", "wallet.pem", LEGACY_DEALER_KEY];
        if !keys.join("room").exists() && older.into_iter().any(has_key) {
            return Ok(Zeroizing::new(LEGACY_ROOM.to_owned()));
        }
        self.read_or_create_secret("room", || {
            let random = || format!("room-{}.local", &random_hex()[..16]);
            Zeroizing::new(self.fixed_seed.as_ref().map_or_else(random, fixed_room))
        })
    }

    /// Path of the stored checkpoint of a service's log, outside of the database.
    pub(crate) fn checkpoint_path(&self, of: Service) -> anyhow::Result<PathBuf> {
        let folder = self.path.join("checkpoints");
        fs::create_dir_all(&folder).context("checkpoints/ cannot be made")?;
        Ok(folder.join(of.name()))
    }

    /// Writes the public keys that verify this room's logs.
    pub(crate) fn write_public_keys(&self, keys: &str) -> anyhow::Result<()> {
        write(&self.path.join("keys.txt"), keys.as_bytes(), 0o644)
    }

    /// Returns a random text of 64 hexadecimal digits, stored under `name`.
    pub(crate) fn secret_text(&self, name: &str) -> anyhow::Result<Zeroizing<String>> {
        let fixed = self.fixed_seed.filter(|_| BOT_SECRETS.contains(&name));
        self.read_or_create_secret(name, || match fixed {
            Some(seed) => Zeroizing::new(hex::encode(fixed_hash(name, &seed))),
            None => random_hex(),
        })
    }

    /// Reads a secret, or makes it and stores it before it is used.
    fn read_or_create_secret(
        &self,
        name: &str,
        make: impl FnOnce() -> Zeroizing<String>,
    ) -> anyhow::Result<Zeroizing<String>> {
        let keys = self.path.join("keys");
        let path = keys.join(name);
        if self.can_create && !path.exists() {
            let mut folder = fs::DirBuilder::new();
            folder.recursive(true).mode(0o700).create(&keys).context("keys/ cannot be made")?;
            write_private(&path, make().as_bytes())?;
        }
        let text = fs::read_to_string(&path);
        text.map(Zeroizing::new).with_context(|| format!("{} cannot be read", path.display()))
    }

    /// Stores a token, readable by the owner of the folder.
    pub(crate) fn write_token(&self, name: &str, token: &str) -> anyhow::Result<()> {
        write_private(&self.path.join("keys").join(name), token.as_bytes())
    }

    /// Stores the address of the running room.
    pub(crate) fn write_running_room(&self, running: &RunningRoom) -> anyhow::Result<()> {
        write_private(&self.path.join("room.json"), &serde_json::to_vec_pretty(running)?)
    }

    /// Removes the address of the room.
    pub(crate) fn remove_running_room(&self) {
        // A leftover file does no harm: its address does not answer.
        let _ = fs::remove_file(self.path.join("room.json"));
    }

    /// Returns the address of the room that runs here, if one does.
    #[must_use]
    pub(crate) fn running_room(&self) -> Option<RunningRoom> {
        let text = fs::read(self.path.join("room.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }
}

/// Locks a folder for this process, by a file in it. `option` is the option that names another
/// folder.
pub(crate) fn lock_file(path: &Path, folder: &Path, option: &str) -> anyhow::Result<DirectoryLock> {
    let mut before = String::new();
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("{} cannot be written", path.display()))?;
    let taken = file.try_lock().is_err();
    // An unreadable file names no predecessor.
    let _ = file.read_to_string(&mut before);
    if taken {
        bail!(
            "the folder {} is in use by process {}: stop that one, or choose another folder with \
             {option}",
            folder.display(),
            before.split_whitespace().next().unwrap_or("?")
        );
    }
    let chance = hex::encode(entropy::bytes::<8>(&SystemEntropy));
    let instance = format!("{} {chance}", std::process::id());
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(instance.as_bytes())?;
    Ok(DirectoryLock { _file: file, instance, predecessor: before })
}

/// Name of the room with a fixed seed.
fn fixed_room(seed: &[u8; 32]) -> String {
    format!("{ORIGIN_PREFIX}{}.local", hex::encode(&fixed_hash("room", seed)[..8]))
}

fn fixed_hash(name: &str, seed: &[u8; 32]) -> [u8; 32] {
    let hash = Sha256::new().chain_update(b"sabacc/fixed-room/v1").chain_update(seed);
    hash.chain_update(name).finalize().into()
}

/// Returns a new private key in PEM.
pub(crate) fn new_key_pem() -> Zeroizing<String> {
    private_key_pem(&SigningKey::from_bytes(&entropy::secret::<32>(&SystemEntropy)))
}

/// Returns 64 random hexadecimal digits.
fn random_hex() -> Zeroizing<String> {
    let bytes = Zeroizing::new(entropy::secret::<32>(&SystemEntropy));
    Zeroizing::new(hex::encode(&bytes[..]))
}

/// Writes a file that only its owner can read.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    write(path, content, 0o600)
}

/// Writes a file atomically and durably.
fn write(path: &Path, content: &[u8], mode: u32) -> anyhow::Result<()> {
    let new = path.with_extension("new");
    let write = || -> std::io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(mode).open(&new)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        // Makes the name durable before anything that is written after it.
        path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    };
    write().with_context(|| format!("{} cannot be written", path.display()))
}
