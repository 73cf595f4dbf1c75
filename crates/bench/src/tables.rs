//! `sabacc bench table`: runs [`load`], compares it with `pgbench`, and measures the memory of an
//! idle table.
//!
//! The idle tables are opened in the room before anybody plays; the growth of the process's memory
//! is theirs. A few are opened before, so that one-time allocations do not count.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use chassis::auth::Role;
use client::Client;
use proto::table::v1::TableConfig;
use tokio::task::JoinSet;

use crate::figures::{Figure, Goal, Report, ratio};
use crate::load::{self, LoadTarget};
use crate::{Baselines, Summary, process, rounded, until_signal};

/// Goals.
const ACTIONS: f64 = 1.0;
const P99_MS: f64 = 50.0;
const IDLE_BYTES: f64 = 50.0 * 1024.0;
/// Idle tables opened before memory is counted.
const UNCOUNTED_TABLES: u32 = 100;
/// Wait after the last table before memory is read.
const SETTLE_TIME: Duration = Duration::from_millis(500);

/// Arguments of `sabacc bench table`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Number of tables.
    #[arg(long, value_name = "N", default_value = "200", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    tables: u32,
    /// Number of bots at each table.
    #[arg(long, value_name = "P", default_value = "4", value_parser = clap::value_parser!(u32).range(2..=10))]
    players: u32,
    /// Seconds to measure.
    #[arg(long, value_name = "S", default_value = "20", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// The game.
    #[arg(long, value_name = "VARIANT", default_value = "dice")]
    game: String,
    /// Number of connections that the bots share.
    #[arg(long, value_name = "C", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: Option<u32>,
    /// Number of hands to audit at the end.
    #[arg(long, value_name = "K", default_value = "500")]
    audit: u64,
    /// Number of empty tables to open, to measure their memory; 0: none.
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u32).range(..=100_000))]
    idle: u32,
    /// Seconds of each run of pgbench, one before and one after; 0: none.
    #[arg(long, value_name = "S", default_value = "5", value_parser = clap::value_parser!(u64).range(..=3600))]
    pgbench: u64,
    /// The public port of a room that runs elsewhere; needs --key. Then nothing is audited, no
    /// memory is measured, and pgbench is not run.
    #[arg(long, value_name = "URL", requires = "key")]
    pub server: Option<String>,
    /// The private key (PEM) of an issuer that the room at --server trusts.
    #[arg(long, value_name = "FILE", requires = "server")]
    pub key: Option<PathBuf>,
}

impl Arguments {
    /// Number of streams and calls that a new room must take on a connection.
    #[must_use]
    pub fn streams_per_connection(&self) -> u32 {
        self.tables.saturating_mul(self.players).saturating_add(self.tables)
    }
}

/// Measures hands at the room's tables, and the memory of its idle tables.
///
/// # Errors
/// The room fails or refuses, or a signal arrives.
pub async fn run(target: &LoadTarget<'_>, arguments: &Arguments) -> anyhow::Result<Summary> {
    Summary::of(until_signal(measure(target, arguments)).await?)
}

#[expect(clippy::cast_precision_loss, reason = "counts of one run stay far below 2^52")]
async fn measure(target: &LoadTarget<'_>, arguments: &Arguments) -> anyhow::Result<Report> {
    let idle = idle_bytes(target, arguments).await?;
    let options = load::Options {
        seconds: arguments.seconds,
        warm_up: (arguments.seconds / 5).min(3),
        game: arguments.game.clone(),
        server: arguments.server.clone(),
        key: arguments.key.clone(),
        connections: arguments.connections,
        audit: arguments.audit,
        pgbench: arguments.pgbench,
        ..load::Options::playing(arguments.tables, arguments.players)
    };
    let load = load::measure(target, &options).await?;
    let (pgbench, passed) = (load.pgbench, load.passed);
    let p99 = load.latency_ms.map(|latency| latency.p99);
    let hands_per_second = load.hands_per_second;
    let errors: u64 = load.errors.values().sum();
    let audited = load.audit.map(|audit| audit.hands as f64);
    let mut figure =
        Figure::from_load(load, arguments.tables).with_baseline("pgbench", pgbench, Some(ACTIONS));
    figure.goals.push(Goal::at_most(&format!("{P99_MS} ms for 99 of 100 actions"), p99, P99_MS));
    let yardsticks = Baselines { pgbench, ..Baselines::default() };
    let mut report = yardsticks.report("table", arguments.seconds, vec![figure]);
    report.sizes = BTreeMap::from([
        ("bytes_per_idle_table", idle),
        ("errors", Some(errors as f64)),
        ("hands_audited", audited),
        ("hands_per_second", Some(hands_per_second)),
        ("hands_per_second_of_pgbench", ratio(Some(hands_per_second), pgbench)),
    ]);
    let goal = format!("{IDLE_BYTES} bytes of memory for an idle table");
    report.goals.push(Goal::at_most(&goal, idle, IDLE_BYTES));
    report.checks_passed = passed;
    Ok(report)
}

/// Returns the bytes of memory of an empty table.
#[expect(clippy::cast_precision_loss, reason = "bytes of one process stay far below 2^52")]
async fn idle_bytes(target: &LoadTarget<'_>, arguments: &Arguments) -> anyhow::Result<Option<f64>> {
    if arguments.idle == 0 || arguments.server.is_some() {
        return Ok(None);
    }
    let connection = Client::connect(target.url, String::new())?;
    let operator = target.client(&connection, Role::Operator, "bench");
    open_tables(&operator, &arguments.game, UNCOUNTED_TABLES).await?;
    let before = process::resident_bytes(std::process::id());
    open_tables(&operator, &arguments.game, arguments.idle).await?;
    let after = process::resident_bytes(std::process::id());
    let grown = after.zip(before).map(|(after, before)| after.saturating_sub(before));
    Ok(grown.map(|grown| rounded(grown as f64 / f64::from(arguments.idle))))
}

async fn open_tables(operator: &Client, game: &str, count: u32) -> anyhow::Result<()> {
    let mut opening = JoinSet::new();
    for number in 0..count {
        let (operator, game) = (operator.clone(), game.to_owned());
        if opening.len() >= 16
            && let Some(opened) = opening.join_next().await
        {
            let _: primitives::TableId = opened.context("opening a table crashed")??;
        }
        let config =
            TableConfig { name: format!("idle {number}"), variant: game, ..TableConfig::default() };
        opening.spawn(async move { operator.create_table(config).await });
    }
    while let Some(opened) = opening.join_next().await {
        opened.context("opening a table crashed")??;
    }
    tokio::time::sleep(SETTLE_TIME).await;
    Ok(())
}
