//! `sabacc resume`: resumes the stopped effects of a table, by an operator's decision.

use std::path::PathBuf;

use anyhow::Context as _;
use audit::stops;
use chassis::auth::Role;
use clap::Args;
use primitives::TableId;
use proto::event::v1::{Effect, Resolution};
use serde_json::json;

use crate::endpoint::RoomEndpoint;
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
    let client = door.connect_as(data, Role::Operator, "resume")?;
    let table = match table.parse() {
        Ok(id) => id,
        Err(_) => find_table(&client, &table).await?,
    };
    let view = client.get_table(table).await?;
    let resolution = if suspense { Resolution::PayToSuspense } else { Resolution::Retry };
    let answer = client.resume_table(table, resolution, &reason).await?;
    let names = |effects: &[Effect]| effects.iter().map(stops::describe_effect).collect::<Vec<_>>();
    let (resumed, left) = (names(&answer.resumed), names(&answer.still_stopped));
    if json {
        let table = table.to_string();
        let told = json!({ "table": table, "resumed": resumed, "still_stopped": left });
        output::line(&serde_json::to_string(&told)?);
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

async fn find_table(client: &client::Client, name: &str) -> anyhow::Result<TableId> {
    let tables = client.list_tables().await.context("the tables cannot be listed")?;
    let found: Vec<_> = tables.iter().filter(|table| table.name == name).collect();
    match found[..] {
        [table] => TableId::try_from(&*table.table_id).context("the room answers with no id"),
        [] => anyhow::bail!("no open table is called `{name}`: `sabacc resume` takes an id too"),
        [..] => anyhow::bail!("{} open tables are called `{name}`: name the id", found.len()),
    }
}
