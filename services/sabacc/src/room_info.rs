//! `sabacc room`: shows the room as a whole, and disables games in it.

mod as_json;

use std::path::PathBuf;

use chassis::auth::Role;
use clap::{Args, Subcommand};
use proto::table::v1 as pb;
use serde_json::json;

use crate::endpoint::RoomEndpoint;
use crate::output;

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    room: RoomEndpoint,
    #[command(subcommand)]
    command: Option<RoomCommand>,
}

#[derive(Subcommand)]
enum RoomCommand {
    /// Open no table of a game, and start no hand of it, until it is enabled, as an operator; hands
    /// in play go on to their end.
    DisableGame(GameOptions),
    /// Let a game be played again, as an operator.
    EnableGame(GameOptions),
}

#[derive(Args)]
struct GameOptions {
    #[command(flatten)]
    room: RoomEndpoint,
    /// The game: `sabacc rules` lists all.
    game: String,
    /// The reason, 1 to 200 characters; everybody sees it.
    #[arg(long)]
    reason: String,
}

pub(crate) async fn run(
    data: Option<PathBuf>,
    json: bool,
    options: Options,
) -> anyhow::Result<bool> {
    let Options { room, command } = options;
    match command {
        None => show(data, json, room).await,
        Some(RoomCommand::DisableGame(options)) => change(data, json, options, true).await,
        Some(RoomCommand::EnableGame(options)) => change(data, json, options, false).await,
    }
}

async fn change(
    data: Option<PathBuf>,
    json: bool,
    options: GameOptions,
    disable: bool,
) -> anyhow::Result<bool> {
    let GameOptions { room, game, reason } = options;
    let client = room.connect_as(data, Role::Operator, "room")?;
    if disable {
        client.disable_game(&game, &reason).await?;
    } else {
        client.enable_game(&game, &reason).await?;
    }
    output::line(&if json {
        json!({ "game": game, "disabled": disable.then_some(reason) }).to_string()
    } else if disable {
        format!("no table of {game} is opened, and none starts a hand, until it is enabled")
    } else {
        format!("{game} is played again")
    });
    Ok(true)
}

/// Shows the room. False where a service did not answer.
async fn show(data: Option<PathBuf>, json: bool, room: RoomEndpoint) -> anyhow::Result<bool> {
    let room = room.connect(data, "room")?.room().await?;
    if json {
        output::line(&as_json::room(&room).to_string());
    } else {
        describe(&room).iter().for_each(|line| output::line(&output::one_line(line)));
    }
    Ok(room.silent.is_empty())
}

fn describe(room: &pb::Room) -> Vec<String> {
    let mut lines = Vec::new();
    for pb::ServiceBuild { service, version, commit, program_sha256 } in &room.builds {
        let commit = if commit.is_empty() { "commit not told" } else { commit };
        lines.push(format!("{service:<10} {version}  {commit}  {}", hex(program_sha256)));
    }
    for game in &room.games {
        let state = game.disabled.as_ref();
        let state = state.map_or_else(String::new, |it| format!("  disabled: {}", it.reason));
        lines.push(format!("game       {:<10} {}{state}", game.variant, game.title));
    }
    for pb::LogKeys { log, key, witness_keys } in &room.log_keys {
        lines.push(format!("key        {log:<10} {key}"));
        lines.extend(witness_keys.iter().map(|key| format!("witness    {log:<10} {key}")));
    }
    lines.extend(room.activity.iter().flat_map(describe_activity));
    lines.extend(room.silent.iter().map(|service| format!("silent     {service}")));
    lines
}

fn describe_activity(activity: &pb::RoomActivity) -> Vec<String> {
    let pb::RoomActivity { open_tables, hands_in_play, open_streams, .. } = activity;
    let mut lines = vec![format!(
        "now        {open_tables} tables, {hands_in_play} hands in play, {open_streams} streams"
    )];
    for log in &activity.logs {
        let by = log.cosigned_by.join(", ");
        let by = if by.is_empty() { "no witness" } else { &by };
        lines.push(format!("log        {:<10} {} records, cosigned by {by}", log.log, log.size));
    }
    for (service, counted) in [("table", &activity.table), ("gateway", &activity.gateway)] {
        for window in counted.iter().flat_map(|counted| &counted.windows) {
            lines.push(format!("{service:<10} {}", describe_window(window)));
        }
    }
    lines
}

fn describe_window(window: &pb::ActivityWindow) -> String {
    let count = |it: &pb::ActivityCount| {
        format!("{} {} ({} an hour)", it.count, kind(it.kind()), it.per_hour)
    };
    let latency = |it: &pb::StepLatency| {
        let millis = |micros: u64| format!("{}.{} ms", micros / 1000, micros % 1000 / 100);
        let (half, most) = (millis(it.p50_us), millis(it.p99_us));
        format!("{} {half}, 99 % {most}", step(it.step()))
    };
    let counts = window.counts.iter().map(count);
    let steps = window.steps.iter().filter(|step| step.count > 0).map(latency);
    let parts: Vec<String> = counts.chain(steps).collect();
    format!("{:>5} s of {}: {}", window.covered_ms / 1000, window.seconds, parts.join("; "))
}

/// Name of a kind, such as `hands played`.
fn kind(kind: pb::ActivityKind) -> String {
    name(kind.as_str_name(), "ACTIVITY_KIND_")
}

/// Name of a step, such as `append`.
fn step(step: pb::LatencyStep) -> String {
    name(step.as_str_name(), "LATENCY_STEP_")
}

fn name(full: &str, prefix: &str) -> String {
    full.trim_start_matches(prefix).to_lowercase().replace('_', " ")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
