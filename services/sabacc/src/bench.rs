//! `sabacc bench`: measures the parts of the card room, each against its baselines.
//!
//! **Measuring.** Use a release build on an idle machine, and set `TMPDIR` to the disk in question,
//! because commits wait for it: a folder in memory gives figures that no durable system reaches.
//!
//! ```text
//! cargo run --release -- load --tables 200 --players 4 --seconds 30
//! cargo run --release -- bench ledger
//! cargo run --release -- bench log
//! cargo run --release -- bench table
//! ```
//!
//! Each command starts its subject on a private PostgreSQL with synchronous commits, warms up,
//! measures, and prints a summary and then one line of JSON (with `--json` only that).
//!
//! **Figures.** `rate` is acknowledged, that is durable, operations per second. Latencies are of
//! every operation, from request to answer. Processor seconds cover the measured time, by process;
//! the load generator's are included, since it uses the same machine. Bytes are of the write-ahead
//! log and of the database's files, per operation.
//!
//! **Baselines.** A rate says more about the machine than about the program, so each is compared
//! with baselines of the same run: `pgbench` (its simple transactions, 16 clients, on the same
//! PostgreSQL, before and after; the mean of both), and `UNNEST`, the floor: PostgreSQL alone,
//! writing the same rows with the same indexes from one connection in batches of the same size. The
//! baseline of calls with one transfer is calls that do nothing; that of a single caller is such a
//! call and the commit of one row. Goals are ratios, and are reported as reached or not. `passed`
//! is true if every check passed and every goal was reached. A missed goal does not fail the
//! command; a failed check does.

pub(crate) mod costs;
pub(crate) mod drive;
pub(crate) mod figures;
pub(crate) mod harness;
pub(crate) mod latency;
mod ledger;
mod log;
pub(crate) mod pgbench;
pub(crate) mod process;
pub(crate) mod progress_bar;
mod tables;
mod wallet_process;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::bail;
use chassis::drain::Drain;
use chassis::telemetry;
use clap::{Args, Subcommand};

use crate::output;
use crate::up::telemetry_config;
use drive::Sample;
use figures::{Figure, Report};

#[derive(Subcommand)]
pub(crate) enum BenchCommand {
    /// Measure transfers, of a wallet in its own process.
    Ledger(ledger::Arguments),
    /// Measure appends to a log, in this process.
    Log(log::Arguments),
    /// Measure hands at many tables over the public port, and the memory of an idle table.
    Table(tables::Arguments),
    /// Serve a wallet for a measurement.
    #[command(hide = true)]
    Wallet,
}

#[derive(Args, Clone, Copy)]
pub(crate) struct CommonOptions {
    /// Seconds that each figure is measured.
    #[arg(long, value_name = "S", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
    /// Number of concurrent clients.
    #[arg(long, value_name = "C", default_value = "64", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) clients: u32,
    /// Seconds of each run of pgbench, one before and one after; 0: none.
    #[arg(long, value_name = "S", default_value = "5", value_parser = clap::value_parser!(u64).range(..=3600))]
    pub(crate) pgbench: u64,
}

impl CommonOptions {
    /// Returns a sample of the usual length, with a warm-up of a fifth of it.
    pub(crate) fn sample(self, what: &'static str) -> Sample {
        let measured = Duration::from_secs(self.seconds);
        Sample { label: what, warm_up: (measured / 5).min(Duration::from_secs(3)), measured }
    }

    /// Returns a short sample, for a single caller, whose figures vary little.
    pub(crate) fn short_sample(self, what: &'static str) -> Sample {
        let measured = Duration::from_secs(self.seconds.min(3));
        Sample { label: what, warm_up: measured / 5, measured }
    }
}

/// Baselines of a run's figures.
#[derive(Default)]
pub(crate) struct Baselines {
    /// Transactions per second.
    pub(crate) pgbench: Option<f64>,
    /// Calls that do nothing, per second, and the least latency of a single caller, in
    /// milliseconds.
    pub(crate) others: Vec<(&'static str, Option<f64>)>,
}

impl Baselines {
    pub(crate) fn report(
        self,
        measured: &'static str,
        seconds: u64,
        figures: Vec<Figure>,
    ) -> Report {
        let mut yardsticks = BTreeMap::from([("pgbench", self.pgbench)]);
        yardsticks.extend(self.others);
        let (sizes, goals) = (BTreeMap::new(), Vec::new());
        Report {
            measured,
            seconds,
            yardsticks,
            figures,
            sizes,
            goals,
            checks_passed: true,
            passed: false,
        }
    }
}

/// Runs `measure` until its end or a signal. After a signal the caller still stops in order what it
/// started.
pub(crate) async fn until_signal<T>(
    measure: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    let signals = Drain::new(Duration::from_secs(10));
    signals.on_signals()?;
    tokio::select! {
        outcome = measure => outcome,
        () = signals.stopping().cancelled() => bail!("stopped before the end: nothing was measured"),
    }
}

/// Runs the command. False if a check failed.
pub(crate) async fn run(json: bool, what: BenchCommand) -> anyhow::Result<bool> {
    if let BenchCommand::Wallet = what {
        return wallet_process::serve().await;
    }
    let telemetry = telemetry::start("sabacc", &telemetry_config()?)?;
    let report = measure(what).await;
    telemetry.flush().await;
    let report = report?.judged();
    if !json {
        output::line(&report.to_string());
    }
    output::line(&serde_json::to_string(&report)?);
    Ok(report.checks_passed)
}

async fn measure(what: BenchCommand) -> anyhow::Result<Report> {
    match what {
        BenchCommand::Ledger(arguments) => Box::pin(ledger::run(&arguments)).await,
        BenchCommand::Log(arguments) => Box::pin(log::run(&arguments)).await,
        BenchCommand::Table(arguments) => Box::pin(tables::run(&arguments)).await,
        BenchCommand::Wallet => bail!("a wallet is served and not measured here"),
    }
}

/// Rounds to three decimals, more than the accuracy of any figure here.
pub(crate) fn rounded(figure: f64) -> f64 {
    (figure * 1000.0).round() / 1000.0
}

/// Formats a figure, or "not known".
pub(crate) fn format_figure(figure: Option<f64>) -> String {
    figure.map_or_else(|| "not known".to_owned(), |figure| figure.to_string())
}
