//! `sabacc watch`: follows a table in the terminal, as everybody may see it, and checks its chance.
//!
//! In a terminal the table is drawn; elsewhere, and with `--plain`, each update is a line.

mod drawn;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use client::checkpoints::{CheckError, CheckpointMonitor, DirectoryStore};
use client::{Client, TableState, WatchMessage};
use primitives::TableId;

use crate::endpoint::{self, RoomEndpoint};
use crate::evidence;
use crate::output;
use crate::screen;

#[derive(Args)]
pub(crate) struct Options {
    /// The table's id, or its name if only one open table has it; `demo` for the demo table, or for
    /// the first table where there is no demo.
    #[arg(default_value = "demo")]
    table: String,
    /// Folder for what proves a fault of the room [default: in memory].
    #[arg(long, value_name = "DIR")]
    evidence: Option<PathBuf>,
    /// Print a line for each update, also in a terminal.
    #[arg(long)]
    plain: bool,
    #[command(flatten)]
    door: RoomEndpoint,
}

pub(crate) async fn run(
    data: Option<PathBuf>,
    json: bool,
    options: Options,
) -> anyhow::Result<bool> {
    let Options { table, evidence: kept_in, plain, door } = options;
    let door = door.with_pinned_keys(data.as_deref()).await?;
    let logs = door.checkpoint_monitor(data.as_deref())?;
    let mut client = door.connect(data, "watch")?;
    if let Some(path) = &kept_in {
        client = client.with_evidence(evidence::open(path)?);
    }
    let table = find_table(&client, &table).await?;
    if json || plain || !screen::can_draw() {
        print(&client, &logs, table, json).await
    } else {
        drawn::run(&client, &logs, table).await
    }
}

/// Prints a line for each update, until the table is closed. Returns whether everything checked.
async fn print(
    client: &Client,
    logs: &CheckpointMonitor<DirectoryStore>,
    table: TableId,
    json: bool,
) -> anyhow::Result<bool> {
    let mut watch = client.watch(table);
    let (mut state, mut chance) = (TableState::new(None), client.chance(table, None));
    let mut trusted = true;
    while let Some(seen) = watch.next().await? {
        if seen.is_hand_end() {
            trusted &= logs_are_consistent(logs, client).await;
        }
        if let Err(found) = chance.apply(&seen) {
            trusted = false;
            output::error(&output::one_line(&found.to_string()));
        }
        for notice in chance.take_notices() {
            output::error(&notice.to_string());
        }
        state.apply(&seen);
        if let Some(line) = describe(&seen, &state, table, json) {
            output::line(&line);
        }
    }
    output::line("the table is closed");
    Ok(trusted)
}

/// Line that tells of a message; none for one of which there is nothing to tell. Names and texts are
/// the room's: they begin no line.
fn describe(seen: &WatchMessage, state: &TableState, table: TableId, json: bool) -> Option<String> {
    match seen {
        WatchMessage::Snapshot(view) if json => Some(
            serde_json::json!({
                "table": table.to_string(), "snapshot": view.sequence, "hand": view.hand_no,
            })
            .to_string(),
        ),
        WatchMessage::Snapshot(view) => Some(output::one_line(&format!(
            "{} · {} · {} seated, {} of them bots · hand {} · sabacc pot {}",
            view.name,
            view.variant,
            view.seats.len(),
            view.seats.iter().filter(|seat| seat.bot).count(),
            view.hand_no,
            view.sabacc_pot_credits
        ))),
        WatchMessage::Update(update) => {
            let text = state.describe(update)?;
            Some(if json {
                serde_json::json!({ "sequence": update.sequence, "text": text }).to_string()
            } else {
                output::one_line(&text)
            })
        }
        WatchMessage::CaughtUp => None,
    }
}

/// Whether no log contradicts itself. A log that cannot be asked passes.
async fn logs_are_consistent(logs: &CheckpointMonitor<DirectoryStore>, client: &Client) -> bool {
    let Err(found) = logs.check(client).await else { return true };
    // Signed notes have several lines, and are not this program's.
    output::error(&found.to_string().replace('\n', "\n    "));
    !is_fault(&found)
}

/// Whether an error of a check is a fault of the room.
fn is_fault(found: &CheckError) -> bool {
    match found {
        CheckError::Contradiction(_) | CheckError::Unsigned { .. } | CheckError::Corrupt { .. } => {
            true
        }
        CheckError::Store { .. } | CheckError::Call(_) => false,
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
    Ok(wire::field::table_id(&demo.table_id)?)
}

#[cfg(test)]
mod tests {
    use proto::table::v1 as pb;
    use proto::table::v1::table_update::What;

    use super::*;

    #[test]
    fn a_name_of_the_rooms_begins_no_line() {
        let state = TableState::new(None);
        let described = |seen| describe(&seen, &state, TableId([1; 16]), false);
        let name = "Demo\nthe table is closed\r".to_owned();
        let view = pb::TableView { name, ..pb::TableView::default() };
        let line = described(WatchMessage::Snapshot(Box::new(view))).unwrap();
        assert!(line.starts_with("Demo\\u{a}the table is closed\\u{d} ·"), "{line}");
        let dealt = pb::HandAction {
            chance: pb::ChanceKind::Deal.into(),
            seat: 1,
            cards: vec!["S1\nthe table is closed".to_owned()],
            ..pb::HandAction::default()
        };
        let what = Some(What::Action(dealt));
        let update = pb::TableUpdate { sequence: 1, record_time: None, what };
        let line = described(WatchMessage::Update(Box::new(update))).unwrap();
        assert_eq!(line, "seat 1 is dealt S1\\u{a}the table is closed");
    }
}
