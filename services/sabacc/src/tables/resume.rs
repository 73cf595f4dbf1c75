//! `sabacc table resume`: resumes the stopped effects of a table, by an operator's decision.

use proto::common::v1::Resolution;
use std::path::PathBuf;

use audit::stops;
use chassis::auth::Role;
use clap::Args;
use proto::table::v1::Effect;
use serde_json::json;

use crate::endpoint::{RoomEndpoint, find_table};
use crate::output;

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    door: RoomEndpoint,
    /// The table's id, or its name if only one open table has it.
    table: String,
    /// The reason, for the record.
    #[arg(long)]
    reason: String,
    /// Pay credits that cannot be paid to their player to house/suspense, instead of trying again.
    #[arg(long)]
    suspense: bool,
}

pub(crate) async fn run(
    data: Option<PathBuf>,
    json: bool,
    options: Options,
) -> anyhow::Result<bool> {
    let Options { door, table, reason, suspense } = options;
    let client = door.connect_as(data, Role::Operator, "table")?;
    let table = find_table(&client, &table).await?;
    let view = client.get_table(table).await?;
    let resolution = if suspense { Resolution::PayToSuspense } else { Resolution::Retry };
    let answer = client.resume_table(table, resolution, &reason).await?;
    let names = |effects: &[Effect]| {
        let name = |it: &Effect| stops::describe_effect(it.kind(), it.hand_no, it.seat);
        effects.iter().map(name).collect::<Vec<_>>()
    };
    let (resumed, left) = (names(&answer.resumed), names(&answer.still_stopped));
    if json {
        let table = table.to_string();
        let value = json!({ "table": table, "resumed": resumed, "still_stopped": left });
        output::line(&serde_json::to_string(&value)?);
        return Ok(true);
    }
    for stopped in &view.stopped {
        output::line(&format!("had stopped: {}: {}", stopped.what, stopped.why));
    }
    if resumed.is_empty() {
        output::line("the table is read again from its log");
    }
    for effect in resumed {
        let how = if suspense { "is paid to house/suspense" } else { "is tried again" };
        output::line(&format!("{effect} {how}"));
    }
    for effect in left {
        output::line(&format!("{effect} stays stopped: it is no payment to a player"));
    }
    Ok(true)
}
