//! `sabacc watch`: follows a table in the terminal, as everybody may see it, and checks its chance.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use client::checkpoints::{CheckError, CheckpointMonitor, DirectoryStore};
use client::{Client, TableState, WatchMessage};
use primitives::TableId;
use proto::table::v1::table_update::What;

use crate::endpoint::{self, RoomEndpoint};
use crate::evidence;
use crate::output;

#[derive(Args)]
pub(crate) struct Options {
    /// The table's id, or its name if only one open table has it; `demo` for the demo table, or for
    /// the first table where there is no demo.
    #[arg(default_value = "demo")]
    table: String,
    /// Folder for what proves a fault of the room [default: in memory].
    #[arg(long, value_name = "DIR")]
    evidence: Option<PathBuf>,
    #[command(flatten)]
    door: RoomEndpoint,
}

pub(crate) async fn run(
    data: Option<PathBuf>,
    json: bool,
    options: Options,
) -> anyhow::Result<bool> {
    let Options { table, evidence: kept_in, door } = options;
    let door = door.with_pinned_keys(data.as_deref()).await?;
    let logs = door.checkpoint_monitor(data.as_deref())?;
    let mut client = door.connect(data, "watch")?;
    if let Some(path) = &kept_in {
        client = client.with_evidence(evidence::open(path)?);
    }
    let table = find_table(&client, &table).await?;
    let mut watch = client.watch(table);
    let (mut state, mut chance) = (TableState::new(None), client.chance(table, None));
    let mut trusted = true;
    while let Some(seen) = watch.next().await? {
        if is_hand_end(&seen) {
            trusted &= logs_are_consistent(&logs, &client).await;
        }
        if let Err(found) = chance.apply(&seen) {
            trusted = false;
            output::error(&found.to_string());
        }
        for notice in chance.take_notices() {
            output::error(&notice.to_string());
        }
        state.apply(&seen);
        match &seen {
            WatchMessage::Snapshot(view) if json => output::line(
                &serde_json::json!({
                    "table": table.to_string(), "snapshot": view.sequence, "hand": view.hand_no,
                })
                .to_string(),
            ),
            WatchMessage::Snapshot(view) => output::line(&format!(
                "{} · {} · {} seated · hand {} · sabacc pot {}",
                view.name,
                view.variant,
                view.seats.len(),
                view.hand_no,
                view.sabacc_pot
            )),
            WatchMessage::Update(update) => {
                let Some(text) = state.describe(update) else { continue };
                if json {
                    let line = serde_json::json!({ "sequence": update.sequence, "text": text });
                    output::line(&line.to_string());
                } else {
                    output::line(&text);
                }
            }
            WatchMessage::CaughtUp => {}
        }
    }
    output::line("the table is closed");
    Ok(trusted)
}

/// Whether no log contradicts itself. A log that cannot be asked passes.
async fn logs_are_consistent(logs: &CheckpointMonitor<DirectoryStore>, client: &Client) -> bool {
    let Err(found) = logs.check(client).await else { return true };
    output::error(&found.to_string());
    match found {
        CheckError::Contradiction(_) | CheckError::Unsigned { .. } | CheckError::Corrupt { .. } => {
            false
        }
        CheckError::Store { .. } | CheckError::Call(_) => true,
    }
}

/// Whether a hand ended, which is when the logs' checkpoints are checked.
fn is_hand_end(seen: &WatchMessage) -> bool {
    match seen {
        WatchMessage::Update(update) => matches!(update.what, Some(What::HandEnded(_))),
        WatchMessage::Snapshot(_) | WatchMessage::CaughtUp => false,
    }
}

/// Returns the table with this id, or the demo table.
async fn find_table(client: &Client, named: &str) -> anyhow::Result<TableId> {
    if named != "demo" {
        return endpoint::find_table(client, named).await;
    }
    let tables = client.list_tables().await?;
    let demo = tables.iter().find(|table| table.name == crate::demo::NAME).or(tables.first());
    let demo = demo.context("there is no table here yet")?;
    Ok(TableId::try_from(demo.table_id.as_slice())?)
}
