//! `sabacc watch`: a table in the terminal, as everybody may see it, and whether its chance is what it
//! says.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use audit::bundle::Trusted;
use chassis::auth::Role;
use chassis::postgres::{Environment, default_data_dir};
use clap::Args;
use client::checkpoints::{Checkpoints, InFolder, LookError};
use client::{Client, Seen, TableState, Trust};
use primitives::TableId;
use proto::table::v1::table_update::What;

use crate::folder::Folder;
use crate::{keys, room, say};

#[derive(Args)]
pub(crate) struct Options {
    /// The table's id; `demo` for the demo table, or the only table there is.
    #[arg(default_value = "demo")]
    table: String,
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

pub(crate) async fn run(
    data: Option<PathBuf>,
    json: bool,
    options: Options,
) -> anyhow::Result<bool> {
    let Options { table, server, token, keys } = options;
    let path = data.unwrap_or_else(|| default_data_dir(&Environment::read()));
    let folder = || Folder::open(&path);
    let known = known(keys.as_deref(), server.as_deref(), &path)?;
    let trust = Trust::parse(&known).context("the keys cannot be used")?;
    let logs = Checkpoints::new(Trusted::parse(&known)?.keys().to_vec(), memory(&path)?);
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
        None => room::token(&folder()?.issuer()?, Role::Auditor, "watch"),
    };
    let client = Client::connect(&server, token)?.trusting(trust);
    let table = find(&client, &table).await?;
    let mut watch = client.watch(table);
    let (mut state, mut chance) = (TableState::new(None), client.chance(table, None));
    let mut trusted = true;
    while let Some(seen) = watch.next().await? {
        if is_hands_end(&seen) {
            trusted &= stand(&logs, &client).await;
        }
        if let Err(found) = chance.see(&seen) {
            trusted = false;
            say::error(&found.to_string());
        }
        state.apply(&seen);
        match &seen {
            Seen::Snapshot(view) if json => say::line(
                &serde_json::json!({
                    "table": table.to_string(), "snapshot": view.sequence, "hand": view.hand_no,
                })
                .to_string(),
            ),
            Seen::Snapshot(view) => say::line(&format!(
                "{} · {} · {} seated · hand {} · sabacc pot {}",
                view.name,
                view.variant,
                view.seats.len(),
                view.hand_no,
                view.sabacc_pot
            )),
            Seen::Update(update) => {
                let Some(text) = state.tell(update) else { continue };
                if json {
                    let line = serde_json::json!({ "sequence": update.sequence, "text": text });
                    say::line(&line.to_string());
                } else {
                    say::line(&text);
                }
            }
            Seen::CaughtUp => {}
        }
    }
    say::line("the table is closed");
    Ok(trusted)
}

/// The public keys of the room's logs, as a text.
fn known(keys: Option<&Path>, server: Option<&str>, data: &Path) -> anyhow::Result<String> {
    match (keys, server) {
        (Some(file), _) => {
            let text = std::fs::read_to_string(file);
            text.with_context(|| format!("{} cannot be read", file.display()))
        }
        (None, None) => keys::of_room(&Folder::open(data)?),
        // Somebody else's room: only signatures go unchecked.
        (None, Some(_)) => Ok(String::new()),
    }
}

/// Whether every log stands by what it signed before, as far as it can be asked.
async fn stand(logs: &Checkpoints<InFolder>, client: &Client) -> bool {
    let Err(found) = logs.look(client).await else { return true };
    say::error(&found.to_string());
    match found {
        LookError::Contradiction(_) | LookError::Unsigned { .. } | LookError::Damaged { .. } => {
            false
        }
        LookError::Memory { .. } | LookError::Call(_) => true,
    }
}

/// Where the logs' last checkpoints are remembered, for whoever watches from here the next time.
fn memory(data: &Path) -> anyhow::Result<InFolder> {
    InFolder::open(data.join("seen")).context("seen/ cannot be made in the data folder")
}

/// A good moment to look at what the logs have signed.
fn is_hands_end(seen: &Seen) -> bool {
    match seen {
        Seen::Update(update) => matches!(update.what, Some(What::HandEnded(_))),
        Seen::Snapshot(_) | Seen::CaughtUp => false,
    }
}

/// The table that somebody means.
async fn find(client: &Client, named: &str) -> anyhow::Result<TableId> {
    if named != "demo" {
        return named.parse().with_context(|| format!("`{named}` is no table's id"));
    }
    let tables = client.list_tables().await?;
    let demo = tables.iter().find(|table| table.name == crate::demo::NAME).or(tables.first());
    let demo = demo.context("there is no table here yet")?;
    Ok(TableId::try_from(demo.table_id.as_slice())?)
}
