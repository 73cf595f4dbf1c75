//! `sabacc load` and `sabacc bench`: measurements of the crate `bench`, of rooms that are started or
//! found here.

mod room;

use std::path::PathBuf;

use anyhow::bail;
use bench::{BenchCommand, Summary, ledger, load, log, start, tables};
use chassis::telemetry;

use crate::output;
use crate::up::telemetry_config;
use room::{LastingRoom, LoadedRoom};

/// Runs `sabacc load`. False if an audit or another judged check fails.
pub(crate) async fn load(
    data: Option<PathBuf>,
    json: bool,
    options: load::Options,
) -> anyhow::Result<bool> {
    if options.server.is_some() && data.is_some() {
        bail!("--data and --server name two rooms: leave one of them away");
    }
    print(json, async {
        let room = match (&options.server, &options.key, data) {
            (Some(server), Some(key), _) => LoadedRoom::remote(server, key)?,
            (_, _, Some(data)) => LoadedRoom::running_in(&data)?,
            (_, _, None) => LoadedRoom::start(options.streams_per_connection()).await?,
        };
        let target = room.target(options.evidence.as_deref())?;
        let summary = Box::pin(load::run(&target, &options)).await;
        drop(target);
        room.close().await?;
        summary
    })
    .await
}

/// Runs `sabacc bench`. False if a check failed.
pub(crate) async fn bench(json: bool, command: BenchCommand) -> anyhow::Result<bool> {
    match command {
        BenchCommand::Wallet => bench::serve_wallet().await,
        BenchCommand::Ledger(arguments) => print(json, ledger::run(&arguments)).await,
        BenchCommand::Log(arguments) => print(json, log::run(&arguments)).await,
        BenchCommand::Table(arguments) => print(json, measure_tables(&arguments)).await,
        BenchCommand::Start(arguments) => print(json, measure_start(&arguments)).await,
    }
}

async fn measure_tables(arguments: &tables::Arguments) -> anyhow::Result<Summary> {
    let room = match (&arguments.server, &arguments.key) {
        (Some(server), Some(key)) => LoadedRoom::remote(server, key)?,
        _ => LoadedRoom::start(arguments.streams_per_connection()).await?,
    };
    let summary = Box::pin(tables::run(&room.target(None)?, arguments)).await;
    room.close().await?;
    summary
}

async fn measure_start(arguments: &start::Arguments) -> anyhow::Result<Summary> {
    let lasting = LastingRoom::create(arguments.streams_per_connection())?;
    let (room, ..) = lasting.start().await?;
    let history = Box::pin(start::make_history(&room.target(None)?, arguments)).await;
    room.close().await?;
    let history = history?;
    let with_snapshots = lasting.time_start(&history).await?;
    lasting.delete_snapshots().await?;
    let without = lasting.time_start(&history).await?;
    start::report(history, with_snapshots, without)
}

/// Prints a measurement; with `json` only its line of JSON. False if a check failed.
async fn print(
    json: bool,
    measure: impl Future<Output = anyhow::Result<Summary>>,
) -> anyhow::Result<bool> {
    let telemetry = telemetry::start("sabacc", &telemetry_config()?)?;
    let summary = Box::pin(measure).await;
    telemetry.flush().await;
    let summary = summary?;
    if !json {
        output::line(&summary.text);
    }
    output::line(&summary.json);
    Ok(summary.passed)
}
