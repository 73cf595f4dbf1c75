//! `sabacc bench`: how fast the pieces are, each beside what it stands on.
//!
//! **How to measure.** A release build, on a machine with nothing else to do; `TMPDIR` on the disk
//! that is meant, for commits wait for it (a folder in memory gives figures that no durable system
//! has):
//!
//! ```text
//! cargo run --release -- load --tables 200 --players 4 --seconds 30
//! cargo run --release -- bench ledger
//! cargo run --release -- bench log
//! cargo run --release -- bench table
//! ```
//!
//! Each starts what it measures, on a PostgreSQL of its own that waits for the disk, warms up, measures,
//! prints a summary for people and then one line of JSON (with `--json` only that).
//!
//! **What the figures mean.** `rate` is operations a second that were acknowledged, which is to say
//! durable. Latencies are of every operation, from the asking to the answer. Processor seconds are of
//! the measured time, by process: who asks is in them, since it takes its share of the machine.
//! Bytes are of the write-ahead log and of the database's files, for each operation.
//!
//! **What they are beside.** A rate says more of the machine than of the program. So each stands beside
//! yardsticks of the same run: `pgbench` (its simple transactions, 16 clients, on the same PostgreSQL,
//! right before and right after each; the mean of the two), and `UNNEST`, the floor: PostgreSQL alone,
//! writing the same rows with the same indexes from one connection in batches of the same size. For
//! calls of one transfer: calls that do nothing. For one caller alone: such a call and the commit of one
//! row. Goals are stated as ratios and reported as reached or not; not reaching one does not fail the
//! command, what is wrong does.

pub(crate) mod bar;
mod child;
pub(crate) mod drive;
pub(crate) mod figures;
pub(crate) mod gauge;
pub(crate) mod latency;
mod ledger;
mod log;
pub(crate) mod pgbench;
pub(crate) mod process;
pub(crate) mod rig;
mod tables;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, bail};
use chassis::drain::Drain;
use chassis::telemetry;
use clap::{Args, Subcommand};

use crate::say;
use crate::up::telemetry_config;
use drive::Stint;
use figures::{Figure, Report};

#[derive(Subcommand)]
pub(crate) enum What {
    /// Transfers, of a wallet in a process of its own.
    Ledger(ledger::Arguments),
    /// Appends to a log, in this process.
    Log(log::Arguments),
    /// Hands at many tables over the public port, and what an idle table takes.
    Table(tables::Arguments),
    /// A wallet to be measured.
    #[command(hide = true)]
    Wallet,
}

#[derive(Args, Clone, Copy)]
pub(crate) struct Common {
    /// How many seconds each thing is measured.
    #[arg(long, value_name = "S", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
    /// How many ask at once.
    #[arg(long, value_name = "C", default_value = "64", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) clients: u32,
    /// Seconds of each run of pgbench, one before and one after; 0: none.
    #[arg(long, value_name = "S", default_value = "5", value_parser = clap::value_parser!(u64).range(..=3600))]
    pub(crate) pgbench: u64,
}

impl Common {
    /// A stint of the usual length, with a fifth of it before to warm up.
    pub(crate) fn stint(self, what: &'static str) -> Stint {
        let measured = Duration::from_secs(self.seconds);
        Stint { what, warm_up: (measured / 5).min(Duration::from_secs(3)), measured }
    }

    /// A short one, for what one caller alone does, which varies little.
    pub(crate) fn short(self, what: &'static str) -> Stint {
        let measured = Duration::from_secs(self.seconds.min(3));
        Stint { what, warm_up: measured / 5, measured }
    }
}

/// What figures are beside.
#[derive(Default)]
pub(crate) struct Yardsticks {
    /// Transactions a second.
    pub(crate) pgbench: Option<f64>,
    /// Calls that do nothing, a second, and what one caller alone cannot do without, in milliseconds.
    pub(crate) calls: Vec<(&'static str, Option<f64>)>,
}

impl Yardsticks {
    pub(crate) fn report(
        self,
        measured: &'static str,
        seconds: u64,
        figures: Vec<Figure>,
    ) -> Report {
        let mut yardsticks = BTreeMap::from([("pgbench", self.pgbench)]);
        yardsticks.extend(self.calls);
        let (sizes, goals) = (BTreeMap::new(), Vec::new());
        Report { measured, seconds, yardsticks, figures, sizes, goals, passed: true }
    }
}

/// What `measure` comes to, unless somebody stops it before its end: then what was started for it is
/// stopped in order all the same.
pub(crate) async fn unless_stopped<T>(
    measure: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    let signals = Drain::new(Duration::from_secs(10));
    signals.on_signals().context("signals cannot be listened to")?;
    tokio::select! {
        outcome = measure => outcome,
        () = signals.stopping().cancelled() => bail!("stopped before the end: nothing was measured"),
    }
}

/// False where something turned out wrong.
pub(crate) async fn run(json: bool, what: What) -> anyhow::Result<bool> {
    if let What::Wallet = what {
        return child::serve().await;
    }
    let telemetry = telemetry::start("sabacc", &telemetry_config()?)?;
    let report = measure(what).await;
    telemetry.flush().await;
    let report = report?;
    if !json {
        say::line(&report.to_string());
    }
    say::line(&serde_json::to_string(&report)?);
    Ok(report.passed)
}

async fn measure(what: What) -> anyhow::Result<Report> {
    match what {
        What::Ledger(arguments) => Box::pin(ledger::run(&arguments)).await,
        What::Log(arguments) => Box::pin(log::run(&arguments)).await,
        What::Table(arguments) => Box::pin(tables::run(&arguments)).await,
        What::Wallet => bail!("a wallet is served and not measured here"),
    }
}

/// With three digits behind the point, which is more than any figure here is good for.
pub(crate) fn rounded(figure: f64) -> f64 {
    (figure * 1000.0).round() / 1000.0
}

/// A figure, or that there is none.
pub(crate) fn shown(figure: Option<f64>) -> String {
    figure.map_or_else(|| "not known".to_owned(), |figure| figure.to_string())
}
