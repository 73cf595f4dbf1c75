//! The way into a room: the public port of the one that runs in the data folder, or any other.

use std::path::PathBuf;

use anyhow::Context as _;
use chassis::auth::Role;
use chassis::postgres::{Environment, default_data_dir};
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

    /// A client of the room, as an auditor of this name where no token is given.
    pub(crate) fn open(self, data: Option<PathBuf>, name: &str) -> anyhow::Result<Client> {
        let Door { server, token, keys } = self;
        let path = data.unwrap_or_else(|| default_data_dir(&Environment::read()));
        let folder = || Folder::open(&path);
        let trust = match (&keys, &server) {
            (Some(file), _) => {
                let text = std::fs::read_to_string(file);
                let text = text.with_context(|| format!("{} cannot be read", file.display()))?;
                Trust::parse(&text).with_context(|| format!("{} cannot be used", file.display()))?
            }
            (None, None) => keys::trust(&folder()?)?,
            // Somebody else's room: only signatures go unchecked.
            (None, Some(_)) => Trust::default(),
        };
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
            None => room::token(&folder()?.issuer()?, Role::Auditor, name),
        };
        Ok(Client::connect(&server, token)?.trusting(trust))
    }
}
