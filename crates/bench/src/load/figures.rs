//! Figures of a run, for people and as JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::Options;
use super::load_run::LoadResult;
use super::spectators::SpectatorFigures;
use super::target::AuditResult;
use crate::cost_table::{CostTable, SignatureCounts};
use crate::costs::CostReading;
use crate::figures::ratio;
use crate::latency::Percentiles;
use crate::{format_figure, rounded};

/// The figures, in the form of the JSON output.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figures {
    pub(crate) measured: &'static str,
    pub(crate) game: String,
    pub(crate) tables: u32,
    pub(crate) players: u32,
    /// Measured seconds.
    pub(crate) seconds: f64,
    /// Acknowledged decisions.
    pub(crate) actions: u64,
    pub(crate) actions_per_second: f64,
    pub(crate) latency_ms: Option<Percentiles>,
    pub(crate) hands: u64,
    pub(crate) hands_per_second: f64,
    /// Number of entropy contributions that were revealed.
    pub(crate) contributions: u64,
    /// Range of thinking times; none without thinking.
    pub(crate) think: Option<String>,
    /// Burnt or voided hands, warm-up and end included.
    pub(crate) burnt_hands: u64,
    /// Decisions taken by the clock, warm-up and end included.
    pub(crate) clock_decisions: u64,
    /// Tables that the room refused as overloaded.
    pub(crate) refused_tables: u32,
    /// Refused or unanswered calls by reason, warm-up and end included.
    pub(crate) errors: BTreeMap<String, u64>,
    pub(crate) cpu_seconds: BTreeMap<&'static str, Option<f64>>,
    pub(crate) wal_bytes_per_action: Option<f64>,
    pub(crate) disk_bytes_per_action: Option<f64>,
    /// Costs an action by stage and process.
    pub(crate) costs: CostTable,
    /// Transactions per second of `pgbench` on the same PostgreSQL; none if it did not run.
    pub(crate) pgbench: Option<f64>,
    /// Ratio of actions per second to `pgbench`.
    pub(crate) actions_of_pgbench: Option<f64>,
    /// None without `--spectators`.
    pub(crate) spectators: Option<SpectatorFigures>,
    /// None if the logs cannot be read.
    pub(crate) audit: Option<AuditResult>,
    /// Failed checks, in words.
    pub(crate) faults: Vec<String>,
    /// Whether no audit and no other judged check failed.
    pub(crate) passed: bool,
}

/// Readings of the costs at both ends of a run.
pub(crate) struct RunCosts {
    pub(crate) before: CostReading,
    pub(crate) after: CostReading,
    /// Costs an action.
    pub(crate) table: CostTable,
}

impl Figures {
    #[expect(clippy::cast_precision_loss, reason = "counts of one run stay far below 2^52")]
    pub(crate) fn new(
        options: &Options,
        took: Duration,
        costs: &RunCosts,
        played: LoadResult,
        audit: Option<AuditResult>,
    ) -> Figures {
        let RunCosts { before, after, table } = costs;
        let (seconds, actions) = (took.as_secs_f64(), played.latencies.count());
        let (wal, disk) = after.written_since(before, actions);
        let costs = table.clone().with_signatures(signatures(&played, actions), actions);
        let latency_ms = played.latencies.clone().percentiles();
        let mut faults = Vec::new();
        if audit.is_some_and(|audit| audit.passed < audit.hands || !audit.ledger) {
            faults.push("an audit failed".to_owned());
        }
        if options.think.is_nonzero() {
            faults.extend(room_faults(&played));
        }
        faults.extend(too_slow(options, latency_ms));
        Figures {
            measured: "load",
            game: options.game.clone(),
            tables: options.tables,
            players: options.players,
            seconds: rounded(seconds),
            actions,
            actions_per_second: rounded(actions as f64 / seconds),
            latency_ms,
            hands: played.hands,
            hands_per_second: rounded(played.hands as f64 / seconds),
            contributions: played.contributions,
            think: options.think.is_nonzero().then(|| options.think.to_string()),
            burnt_hands: played.burnt,
            clock_decisions: played.clock_decisions,
            refused_tables: played.refused_tables,
            errors: played.errors,
            cpu_seconds: after.cpu_since(before),
            wal_bytes_per_action: wal,
            disk_bytes_per_action: disk,
            costs,
            pgbench: None,
            actions_of_pgbench: None,
            spectators: None,
            audit,
            passed: faults.is_empty(),
            faults,
        }
    }
}

/// Counts the signatures of a run: the player's and the receipt of each decision and, without the
/// commitments' own, two receipts of each contribution; the client verifies all receipts.
fn signatures(played: &LoadResult, actions: u64) -> SignatureCounts {
    let receipts = actions + 2 * played.contributions;
    SignatureCounts { made: actions + receipts, verified: actions + receipts }
}

/// Returns the faults of the room: bots never withhold entropy, and think for less than the clock
/// gives.
pub(crate) fn room_faults(played: &LoadResult) -> Vec<String> {
    let mut faults = Vec::new();
    if played.burnt > 0 {
        faults.push(format!("{} hands came to nothing", played.burnt));
    }
    if played.clock_decisions > 0 {
        faults.push(format!("the clock took {} decisions", played.clock_decisions));
    }
    faults
}

fn too_slow(options: &Options, latency: Option<Percentiles>) -> Option<String> {
    let limit = options.p99?.as_secs_f64() * 1000.0;
    match latency {
        Some(latency) if latency.p99 < limit => None,
        Some(latency) => {
            Some(format!("an action's p99 is {:.2} ms, not below {limit}", latency.p99))
        }
        None => Some("no action was answered".to_owned()),
    }
}

impl Figures {
    /// Adds the rate of `pgbench`.
    pub(crate) fn with_pgbench(self, pgbench: Option<f64>) -> Figures {
        let actions_of_pgbench = ratio(Some(self.actions_per_second), pgbench);
        Figures { pgbench, actions_of_pgbench, ..self }
    }

    /// Adds the figures of spectators, and what is wrong with them.
    pub(crate) fn with_spectators(mut self, spectators: Option<SpectatorFigures>) -> Figures {
        self.faults.extend(spectators.iter().flat_map(SpectatorFigures::faults));
        Figures { passed: self.faults.is_empty(), spectators, ..self }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { game, tables, players, seconds, .. } = self;
        let think = self.think.as_ref().map(|think| format!(", thinking {think}"));
        let think = think.unwrap_or_default();
        writeln!(f, "{tables} tables of {players}, game {game}, {seconds} s{think}")?;
        let Figures { actions_per_second, hands_per_second, actions, hands, .. } = self;
        let contributions = self.contributions;
        writeln!(
            f,
            "{actions_per_second} actions a second, {hands_per_second} hands a second ({actions} actions, {hands} hands, {contributions} contributions of entropy)"
        )?;
        match self.latency_ms {
            Some(latency) => writeln!(f, "an action is answered within {latency}")?,
            None => writeln!(f, "no action was answered")?,
        }
        let errors: Vec<String> =
            self.errors.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        let none = "none".to_owned();
        let Figures { burnt_hands, clock_decisions, refused_tables, .. } = self;
        writeln!(
            f,
            "burnt hands {burnt_hands}, decisions of the clock {clock_decisions}, refused tables {refused_tables}"
        )?;
        writeln!(f, "refused calls: {}", if errors.is_empty() { none } else { errors.join(", ") })?;
        let cpu = self.cpu_seconds.iter();
        let cpu: Vec<String> =
            cpu.map(|(process, spent)| format!("{process} {}", format_figure(*spent))).collect();
        writeln!(f, "processor seconds: {}", cpu.join(", "))?;
        let (wal, disk) =
            (format_figure(self.wal_bytes_per_action), format_figure(self.disk_bytes_per_action));
        writeln!(f, "bytes an action: write-ahead log {wal}, disk {disk}")?;
        writeln!(f, "{}", self.costs)?;
        if let Some(pgbench) = self.pgbench {
            let ratio = format_figure(self.actions_of_pgbench);
            writeln!(
                f,
                "pgbench: {pgbench} transactions a second; actions are {ratio} times that"
            )?;
        }
        if let Some(spectators) = &self.spectators {
            writeln!(f, "{spectators}")?;
        }
        match self.audit {
            Some(AuditResult { ended, hands, passed, ledger }) => {
                let books = if ledger {
                    "credits are conserved to the credit"
                } else {
                    "the ledger FAILED its audit"
                };
                write!(
                    f,
                    "{passed} of {hands} audited hands passed every check, of {ended} that ended; {books}"
                )?;
            }
            None => write!(f, "not audited: the logs of this room cannot be read from here")?,
        }
        self.faults.iter().try_for_each(|fault| write!(f, "\nFAILED: {fault}"))
    }
}
