//! What came of a run, for people and for programs.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::Options;
use super::crowd::Played;
use super::place::Audited;
use crate::bench::figures::ratio;
use crate::bench::gauge::Reading;
use crate::bench::latency::Spread;
use crate::bench::{rounded, shown};

/// The figures, as they go out in JSON.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figures {
    pub(crate) measured: &'static str,
    pub(crate) game: String,
    pub(crate) tables: u32,
    pub(crate) players: u32,
    /// Seconds that counted.
    pub(crate) seconds: f64,
    /// Acknowledged decisions.
    pub(crate) actions: u64,
    pub(crate) actions_per_second: f64,
    pub(crate) latency_ms: Option<Spread>,
    pub(crate) hands: u64,
    pub(crate) hands_per_second: f64,
    /// How often a seat revealed what it had committed to.
    pub(crate) parts_in_chance: u64,
    /// From the first bot to the last, warm-up and end included.
    pub(crate) errors: BTreeMap<String, u64>,
    pub(crate) cpu_seconds: BTreeMap<&'static str, Option<f64>>,
    pub(crate) wal_bytes_per_action: Option<f64>,
    pub(crate) disk_bytes_per_action: Option<f64>,
    /// Transactions a second of `pgbench` on the same PostgreSQL; nothing where it did not run.
    pub(crate) pgbench: Option<f64>,
    /// Actions a second, as so many times that.
    pub(crate) actions_of_pgbench: Option<f64>,
    /// Nothing where the logs are out of reach.
    pub(crate) audit: Option<Audited>,
    /// No audit failed.
    pub(crate) passed: bool,
}

impl Figures {
    #[expect(clippy::cast_precision_loss, reason = "counts of one run stay far below 2^52")]
    pub(crate) fn new(
        options: &Options,
        took: Duration,
        (before, after): (&Reading, &Reading),
        (played, audit): (Played, Option<Audited>),
    ) -> Figures {
        let (seconds, actions) = (took.as_secs_f64(), played.latencies.count());
        let (wal, disk) = after.written_since(before, actions);
        Figures {
            measured: "load",
            game: options.game.clone(),
            tables: options.tables,
            players: options.players,
            seconds: rounded(seconds),
            actions,
            actions_per_second: rounded(actions as f64 / seconds),
            latency_ms: played.latencies.spread(),
            hands: played.hands,
            hands_per_second: rounded(played.hands as f64 / seconds),
            parts_in_chance: played.parts,
            errors: played.errors,
            cpu_seconds: after.cpu_since(before),
            wal_bytes_per_action: wal,
            disk_bytes_per_action: disk,
            pgbench: None,
            actions_of_pgbench: None,
            audit,
            passed: audit.is_none_or(|audit| audit.passed == audit.hands && audit.ledger),
        }
    }
}

impl Figures {
    /// The same beside `pgbench`.
    pub(crate) fn beside(self, pgbench: Option<f64>) -> Figures {
        let actions_of_pgbench = ratio(Some(self.actions_per_second), pgbench);
        Figures { pgbench, actions_of_pgbench, ..self }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { game, tables, players, seconds, .. } = self;
        writeln!(f, "{tables} tables of {players}, game {game}, {seconds} s")?;
        let Figures { actions_per_second, hands_per_second, actions, hands, .. } = self;
        let parts = self.parts_in_chance;
        writeln!(
            f,
            "{actions_per_second} actions a second, {hands_per_second} hands a second ({actions} actions, {hands} hands, {parts} parts in their chance)"
        )?;
        match self.latency_ms {
            Some(latency) => writeln!(f, "an action is answered within {latency}")?,
            None => writeln!(f, "no action was answered")?,
        }
        let errors: Vec<String> =
            self.errors.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        let none = "none".to_owned();
        writeln!(f, "errors: {}", if errors.is_empty() { none } else { errors.join(", ") })?;
        let cpu = self.cpu_seconds.iter();
        let cpu: Vec<String> =
            cpu.map(|(process, spent)| format!("{process} {}", shown(*spent))).collect();
        writeln!(f, "processor seconds: {}", cpu.join(", "))?;
        let (wal, disk) = (shown(self.wal_bytes_per_action), shown(self.disk_bytes_per_action));
        writeln!(f, "bytes an action: write-ahead log {wal}, disk {disk}")?;
        if let Some(pgbench) = self.pgbench {
            let ratio = shown(self.actions_of_pgbench);
            writeln!(
                f,
                "pgbench: {pgbench} transactions a second; actions are {ratio} times that"
            )?;
        }
        match self.audit {
            Some(Audited { ended, hands, passed, ledger }) => {
                let books = if ledger {
                    "credits are conserved to the credit"
                } else {
                    "the ledger FAILED its audit"
                };
                write!(
                    f,
                    "{passed} of {hands} audited hands passed every check, of {ended} that ended; {books}"
                )
            }
            None => write!(f, "not audited: the logs of this room cannot be read from here"),
        }
    }
}
