//! Connection of a command to a room: the one that runs in the data folder, or another.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use audit::bundle;
use chassis::auth::Role;
use clap::Args;
use client::checkpoints::{CheckpointMonitor, DirectoryStore};
use client::{Client, TrustedKeys};
use postgres_launcher::{Environment, default_data_dir};

use crate::data_directory::DataDirectory;
use crate::keys;

#[derive(Args)]
pub(crate) struct RoomEndpoint {
    /// The public port of another room than the one in the data folder.
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// A token, if the issuer is not that of the data folder.
    #[arg(long, env = "SABACC_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// The public keys of the room's logs, one verifier key a line, if they are not those of the
    /// data folder.
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
}

impl RoomEndpoint {
    /// Whether the room is that of the data folder.
    #[must_use]
    pub(crate) fn is_local(&self) -> bool {
        self.server.is_none()
    }

    /// Opens the monitor of the room's log checkpoints, with its storage in the data folder.
    pub(crate) fn checkpoint_monitor(
        &self,
        data: Option<&Path>,
    ) -> anyhow::Result<CheckpointMonitor<DirectoryStore>> {
        let path = data.map_or_else(|| default_data_dir(&Environment::read()), Path::to_owned);
        if let Some(named) = data.filter(|named| !can_store_checkpoints(named)) {
            bail!(
                "{}: no room's folder, and no empty one to remember in: name another with --data",
                named.display()
            );
        }
        let known = read_keys(self.keys.as_deref(), self.server.as_deref(), &path)?;
        let keys =
            bundle::TrustedKeys::parse(&known).context("the keys of the logs cannot be used")?;
        let memory = DirectoryStore::open(path.join("seen"));
        let memory = memory.context("seen/ cannot be made in the data folder")?;
        Ok(CheckpointMonitor::new(keys.keys().to_vec(), memory))
    }

    /// Opens a client of the room, as an auditor of this name if no token is given.
    pub(crate) fn connect(self, data: Option<PathBuf>, name: &str) -> anyhow::Result<Client> {
        self.connect_as(data, Role::Auditor, name)
    }

    /// Opens a client of the room, in this role and under this name if no token is given.
    pub(crate) fn connect_as(
        self,
        data: Option<PathBuf>,
        role: Role,
        name: &str,
    ) -> anyhow::Result<Client> {
        let RoomEndpoint { server, token, keys } = self;
        let path = data.unwrap_or_else(|| default_data_dir(&Environment::read()));
        let folder = || DataDirectory::open(&path);
        let known = read_keys(keys.as_deref(), server.as_deref(), &path)?;
        let trust = TrustedKeys::parse(&known).context("the keys of the logs cannot be used")?;
        let server = match server {
            Some(server) => server,
            None => {
                let running = folder()?.running_room().with_context(|| {
                    format!(
                        "no room runs in {}: start one with `sabacc up`, or name --server",
                        path.display()
                    )
                })?;
                running.address
            }
        };
        let token = match token {
            Some(token) => token,
            None => folder()?.issuer()?.issue_for_a_day(role, name),
        };
        Ok(Client::connect(&server, token)?.with_trusted_keys(trust))
    }
}

/// Whether checkpoints may be stored in a folder: it is a room's, was used for it before, or is
/// empty.
fn can_store_checkpoints(path: &Path) -> bool {
    let ours = path.join("keys").is_dir() || path.join("seen").is_dir();
    ours || std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// Reads the public keys of the room's logs, as text.
fn read_keys(keys: Option<&Path>, server: Option<&str>, data: &Path) -> anyhow::Result<String> {
    match (keys, server) {
        (Some(file), _) => {
            let text = std::fs::read_to_string(file);
            text.with_context(|| format!("{} cannot be read", file.display()))
        }
        (None, None) => keys::room_keys(&DataDirectory::open(data)?),
        // For another room without keys only signatures go unchecked.
        (None, Some(_)) => Ok(String::new()),
    }
}
