//! Connection of a command to a room: the one that runs in the data folder, or another.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use audit::bundle::Trusted;
use chassis::auth::Role;
use clap::Args;
use client::checkpoints::{Checkpoints, InFolder};
use client::{Client, Trust};
use postgres_launcher::{Environment, default_data_dir};

use crate::folder::Folder;
use crate::{keys, room};

#[derive(Args)]
pub(crate) struct Door {
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

impl Door {
    /// Whether the room is that of the data folder.
    #[must_use]
    pub(crate) fn is_here(&self) -> bool {
        self.server.is_none()
    }

    /// Opens the monitor of the room's log checkpoints, with its storage in the data folder.
    pub(crate) fn logs(&self, data: Option<&Path>) -> anyhow::Result<Checkpoints<InFolder>> {
        let path = data.map_or_else(|| default_data_dir(&Environment::read()), Path::to_owned);
        if let Some(named) = data.filter(|named| !is_for_memory(named)) {
            bail!(
                "{}: no room's folder, and no empty one to remember in: name another with --data",
                named.display()
            );
        }
        let known = known(self.keys.as_deref(), self.server.as_deref(), &path)?;
        let keys = Trusted::parse(&known).context("the keys of the logs cannot be used")?;
        let memory = InFolder::open(path.join("seen"));
        let memory = memory.context("seen/ cannot be made in the data folder")?;
        Ok(Checkpoints::new(keys.keys().to_vec(), memory))
    }

    /// Opens a client of the room, as an auditor of this name if no token is given.
    pub(crate) fn open(self, data: Option<PathBuf>, name: &str) -> anyhow::Result<Client> {
        self.open_as(data, (Role::Auditor, name))
    }

    /// Opens a client of the room, in this role and under this name if no token is given.
    pub(crate) fn open_as(
        self,
        data: Option<PathBuf>,
        (role, name): (Role, &str),
    ) -> anyhow::Result<Client> {
        let Door { server, token, keys } = self;
        let path = data.unwrap_or_else(|| default_data_dir(&Environment::read()));
        let folder = || Folder::open(&path);
        let known = known(keys.as_deref(), server.as_deref(), &path)?;
        let trust = Trust::parse(&known).context("the keys of the logs cannot be used")?;
        let server = match server {
            Some(server) => server,
            None => {
                let running = folder()?.running().with_context(|| {
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
            None => room::token(&folder()?.issuer()?, role, name),
        };
        Ok(Client::connect(&server, token)?.trusting(trust))
    }
}

/// Whether checkpoints may be stored in a folder: it is a room's, was used for it before, or is
/// empty.
fn is_for_memory(path: &Path) -> bool {
    let ours = path.join("keys").is_dir() || path.join("seen").is_dir();
    ours || std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// Reads the public keys of the room's logs, as text.
fn known(keys: Option<&Path>, server: Option<&str>, data: &Path) -> anyhow::Result<String> {
    match (keys, server) {
        (Some(file), _) => {
            let text = std::fs::read_to_string(file);
            text.with_context(|| format!("{} cannot be read", file.display()))
        }
        (None, None) => keys::of_room(&Folder::open(data)?),
        // For another room without keys only signatures go unchecked.
        (None, Some(_)) => Ok(String::new()),
    }
}
