//! Knows: how the parts of a card room are measured, each against its baselines, and how a whole room
//! is loaded by bots.
//! Does not know: how a room is started, where its keys and logs lie, how records are audited.
//!
//! The program `sabacc` runs it as `sabacc bench` and [`sabacc load`](load).
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

mod cost_table;
mod costs;
mod drive;
mod figures;
mod harness;
mod latency;
pub mod ledger;
pub mod load;
pub mod log;
mod pgbench;
mod process;
mod progress_bar;
mod repo;
pub mod start;
pub mod tables;
mod wallet_process;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::bail;
use chassis::drain::Drain;
use clap::{Args, Subcommand};

pub use costs::MeasuredServer;
use drive::Sample;
use figures::{Figure, Report};
pub use harness::{private_postgres, temporary_folder};
pub use progress_bar::ProgressBar;
pub use wallet_process::serve as serve_wallet;

/// Commands of `sabacc bench`.
#[derive(Subcommand)]
pub enum BenchCommand {
    /// Measure transfers, of a wallet in its own process.
    Ledger(ledger::Arguments),
    /// Measure appends to a log, in this process.
    Log(log::Arguments),
    /// Measure hands at many tables over the public port, and the memory of an idle table.
    Table(tables::Arguments),
    /// Measure a start behind a long log, with many tables and accounts.
    Start(start::Arguments),
    /// Serve a wallet for a measurement.
    #[command(hide = true)]
    Wallet,
}

/// Options of every measurement.
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

/// Report of a measurement.
pub struct Summary {
    /// Text for people.
    pub text: String,
    /// One line of JSON.
    pub json: String,
    /// Whether every check passed. A missed goal fails no check.
    pub passed: bool,
}

impl Summary {
    fn of(report: Report) -> anyhow::Result<Summary> {
        let report = report.judged();
        Ok(Summary {
            text: report.to_string(),
            json: serde_json::to_string(&report)?,
            passed: report.checks_passed,
        })
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
