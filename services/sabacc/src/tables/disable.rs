//! `sabacc table disable` and `sabacc table enable`: an operator's word on whether hands start.

use std::path::PathBuf;

use chassis::auth::Role;
use clap::Args;
use serde_json::json;

use crate::endpoint::{RoomEndpoint, find_table};
use crate::output;

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    room: RoomEndpoint,
    /// The table's id, or its name if only one open table has it.
    table: String,
    /// The reason, 1 to 200 characters; everybody sees it.
    #[arg(long)]
    reason: String,
}

pub(super) async fn disable(
    data: Option<PathBuf>,
    json: bool,
    options: Options,
) -> anyhow::Result<bool> {
    let Options { room, table, reason } = options;
    let client = room.connect_as(data, Role::Operator, "table")?;
    let table = find_table(&client, &table).await?;
    let hand = client.disable_table(table, &reason).await?;
    output::line(&if json {
        json!({ "table": table.to_string(), "disabled": reason, "hand_in_play": hand }).to_string()
    } else if hand == 0 {
        format!("table {table} starts no hand until it is enabled")
    } else {
        format!("table {table} starts no hand after hand {hand} until it is enabled")
    });
    Ok(true)
}

pub(super) async fn enable(
    data: Option<PathBuf>,
    json: bool,
    options: Options,
) -> anyhow::Result<bool> {
    let Options { room, table, reason } = options;
    let client = room.connect_as(data, Role::Operator, "table")?;
    let table = find_table(&client, &table).await?;
    client.enable_table(table, &reason).await?;
    output::line(&if json {
        json!({ "table": table.to_string(), "disabled": null }).to_string()
    } else {
        format!("table {table} starts hands again")
    });
    Ok(true)
}
