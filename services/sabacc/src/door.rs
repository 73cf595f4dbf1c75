//! The way into a room: the public port of the one that runs in the data folder, or any other.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use chassis::auth::Role;
use clap::Args;
use client::{Client, Trust};

use crate::folder::Folder;
use crate::{keys, room};

#[derive(Args)]
pub(crate) struct Door {
    /// The public port, where it is not that of the room in the data folder.
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// A token, where the issuer is not that of the data folder.
    #[arg(long, env = "SABACC_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// The public keys of the room's logs, one verifier key a line, where they are not those of the
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

    /// The public keys of the room's logs, as a text.
    pub(crate) fn known(&self, data: &Path) -> anyhow::Result<String> {
        match (&self.keys, &self.server) {
            (Some(file), _) => {
                let text = std::fs::read_to_string(file);
                text.with_context(|| format!("{} cannot be read", file.display()))
            }
            (None, None) => keys::of_room(&Folder::open(data)?),
            // Somebody else's room: only signatures go unchecked.
            (None, Some(_)) => Ok(String::new()),
        }
    }

    /// A client of the room, as an auditor of this name where no token is given.
    pub(crate) fn open(&self, data: &Path, name: &str) -> anyhow::Result<Client> {
        let folder = || Folder::open(data);
        let trust = Trust::parse(&self.known(data)?).context("the keys cannot be used")?;
        let server = match &self.server {
            Some(server) => server.clone(),
            None => {
                let running = folder()?.running().with_context(|| {
                    format!(
                        "no room runs in {}: start one with `sabacc up`, or name --server",
                        data.display()
                    )
                })?;
                running.address
            }
        };
        let token = match &self.token {
            Some(token) => token.clone(),
            None => room::token(&folder()?.issuer()?, Role::Auditor, name),
        };
        Ok(Client::connect(&server, token)?.trusting(trust))
    }
}
