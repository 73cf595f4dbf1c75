//! `sabacc watch`: follows a table in the terminal, as everybody may see it, and checks its chance.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use client::checkpoints::{Checkpoints, InFolder, LookError};
use client::{Client, Seen, TableState};
use primitives::TableId;
use proto::table::v1::table_update::What;

use crate::door::Door;
use crate::say;

#[derive(Args)]
pub(crate) struct Options {
    /// The table's id; `demo` for the demo table, or for the first table where there is no demo.
    #[arg(default_value = "demo")]
    table: String,
    #[command(flatten)]
    door: Door,
}

pub(crate) async fn run(
    data: Option<PathBuf>,
    json: bool,
    options: Options,
) -> anyhow::Result<bool> {
    let Options { table, door } = options;
    let logs = door.logs(data.as_deref())?;
    let client = door.open(data, "watch")?;
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

/// Whether no log contradicts itself. A log that cannot be asked passes.
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

/// Whether a hand ended, which is when the logs' checkpoints are checked.
fn is_hands_end(seen: &Seen) -> bool {
    match seen {
        Seen::Update(update) => matches!(update.what, Some(What::HandEnded(_))),
        Seen::Snapshot(_) | Seen::CaughtUp => false,
    }
}

/// Returns the table with this id, or the demo table.
async fn find(client: &Client, named: &str) -> anyhow::Result<TableId> {
    if named != "demo" {
        return named.parse().with_context(|| format!("`{named}` is no table's id"));
    }
    let tables = client.list_tables().await?;
    let demo = tables.iter().find(|table| table.name == crate::demo::NAME).or(tables.first());
    let demo = demo.context("there is no table here yet")?;
    Ok(TableId::try_from(demo.table_id.as_slice())?)
}
