//! Figures and their baselines, for people and as JSON.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::cost_table::CostTable;
use crate::drive::Measurement;
use crate::latency::Percentiles;
use crate::repo::RowAverages;
use crate::{format_figure, rounded};

/// Figure of one measured operation.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: String,
    /// Number of concurrent clients.
    pub(crate) clients: u32,
    /// Operations within the measured time.
    pub(crate) operations: u64,
    /// Operations per second.
    pub(crate) rate: f64,
    pub(crate) latency_ms: Option<Percentiles>,
    pub(crate) cpu_seconds: BTreeMap<&'static str, Option<f64>>,
    pub(crate) wal_bytes_per_operation: Option<f64>,
    pub(crate) disk_bytes_per_operation: Option<f64>,
    /// Costs an operation by stage and process.
    pub(crate) costs: CostTable,
    /// Comparison with PostgreSQL writing the same rows alone.
    pub(crate) floor: Option<Floor>,
    /// Ratio of the rate to each baseline; none without the baseline.
    pub(crate) ratios: BTreeMap<&'static str, Option<f64>>,
    pub(crate) goals: Vec<Goal>,
}

/// Rate of PostgreSQL alone, writing the same rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Floor {
    /// Events per second.
    pub(crate) rate: f64,
    /// Average number of events per commit, in both.
    pub(crate) batch: f64,
    /// Average bytes of an event's payload.
    pub(crate) payload_bytes: usize,
    /// Average bytes of a request's answer.
    pub(crate) answer_bytes: usize,
}

/// Goal of a figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Goal {
    pub(crate) goal: String,
    pub(crate) value: Option<f64>,
    /// None without the baseline.
    pub(crate) reached: Option<bool>,
}

/// Report of one run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Report {
    pub(crate) measured: &'static str,
    pub(crate) seconds: u64,
    /// Rates per second, or milliseconds if the name says so; none if it could not be measured.
    pub(crate) yardsticks: BTreeMap<&'static str, Option<f64>>,
    pub(crate) figures: Vec<Figure>,
    /// Sizes and times that are not rates, such as bytes of memory.
    pub(crate) sizes: BTreeMap<&'static str, Option<f64>>,
    pub(crate) goals: Vec<Goal>,
    /// Whether every check passed.
    pub(crate) checks_passed: bool,
    /// Whether every check passed and every goal was reached, as [`Report::judged`] found.
    pub(crate) passed: bool,
}

impl Report {
    /// Sets `passed`. A goal without its baseline was not reached.
    pub(crate) fn judged(mut self) -> Report {
        let mut goals = self.figures.iter().flat_map(|figure| &figure.goals).chain(&self.goals);
        self.passed = self.checks_passed && goals.all(|goal| goal.reached == Some(true));
        self
    }
}

impl Figure {
    pub(crate) fn new(name: impl Into<String>, clients: u32, driven: Measurement) -> Figure {
        let Measurement { operations, rate, latency, cpu_seconds, .. } = driven;
        let Measurement { wal_bytes, disk_bytes, costs, .. } = driven;
        Figure {
            name: name.into(),
            clients,
            operations,
            rate,
            latency_ms: latency,
            cpu_seconds,
            wal_bytes_per_operation: wal_bytes,
            disk_bytes_per_operation: disk_bytes,
            costs,
            floor: None,
            ratios: BTreeMap::new(),
            goals: Vec::new(),
        }
    }

    /// Creates the figure of a load run: an operation is a decision.
    pub(crate) fn from_load(load: crate::load::Figures, clients: u32) -> Figure {
        Figure {
            name: format!("actions, game {}, tables of {}", load.game, load.players),
            clients,
            operations: load.actions,
            rate: load.actions_per_second,
            latency_ms: load.latency_ms,
            cpu_seconds: load.cpu_seconds,
            wal_bytes_per_operation: load.wal_bytes_per_action,
            disk_bytes_per_operation: load.disk_bytes_per_action,
            costs: load.costs,
            floor: None,
            ratios: BTreeMap::new(),
            goals: Vec::new(),
        }
    }

    /// Adds the ratio to a baseline's rate, with a goal if there is one.
    pub(crate) fn with_baseline(
        mut self,
        yardstick: &'static str,
        rate: Option<f64>,
        least: Option<f64>,
    ) -> Figure {
        let ratio = ratio(Some(self.rate), rate);
        self.ratios.insert(yardstick, ratio);
        if let Some(least) = least {
            self.goals.push(Goal::at_least(&format!("{least} x {yardstick}"), ratio, least));
        }
        self
    }

    /// Adds the ratio to PostgreSQL alone, writing rows of this shape.
    pub(crate) fn with_floor(
        mut self,
        rate: f64,
        shape: &RowAverages,
        least: Option<f64>,
    ) -> Figure {
        self.floor = Some(Floor {
            rate,
            batch: rounded(shape.events_per_commit),
            payload_bytes: shape.payload_bytes,
            answer_bytes: shape.answer_bytes,
        });
        self.with_baseline("UNNEST", Some(rate), least)
    }

    /// Median latency, in milliseconds.
    pub(crate) fn median_latency(&self) -> Option<f64> {
        self.latency_ms.map(|latency| latency.p50)
    }
}

impl Goal {
    pub(crate) fn at_least(goal: &str, value: Option<f64>, least: f64) -> Goal {
        let reached = value.map(|value| value >= least);
        Goal { goal: format!("at least {goal}"), value, reached }
    }

    pub(crate) fn at_most(goal: &str, value: Option<f64>, most: f64) -> Goal {
        let reached = value.map(|value| value <= most);
        Goal { goal: format!("at most {goal}"), value, reached }
    }
}

/// Ratio of a figure to a baseline.
pub(crate) fn ratio(figure: Option<f64>, yardstick: Option<f64>) -> Option<f64> {
    let (figure, yardstick) = figure.zip(yardstick)?;
    (yardstick > 0.0).then(|| rounded(figure / yardstick))
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reached = match self.reached {
            Some(true) => "reached",
            Some(false) => "NOT reached",
            None => "not known",
        };
        write!(f, "{}: {} ({reached})", self.goal, format_figure(self.value))
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figure { name, clients, rate, .. } = self;
        write!(f, "{name}, {clients} at once: {rate} a second")?;
        if let Some(latency) = self.latency_ms {
            write!(f, "; {latency}")?;
        }
        let cpu = self.cpu_seconds.iter();
        let cpu: Vec<String> =
            cpu.map(|(process, spent)| format!("{process} {}", format_figure(*spent))).collect();
        let (wal, disk) = (self.wal_bytes_per_operation, self.disk_bytes_per_operation);
        write!(f, "\n  processor seconds: {}", cpu.join(", "))?;
        write!(
            f,
            "; bytes each: write-ahead log {}, disk {}",
            format_figure(wal),
            format_figure(disk)
        )?;
        write!(f, "\n{}", self.costs)?;
        if let Some(Floor { rate, batch, payload_bytes, .. }) = self.floor {
            write!(
                f,
                "\n  UNNEST: {rate} events of {payload_bytes} bytes a second, {batch} a commit"
            )?;
        }
        for (yardstick, ratio) in &self.ratios {
            write!(f, "\n  {} x {yardstick}", format_figure(*ratio))?;
        }
        self.goals.iter().try_for_each(|goal| write!(f, "\n  goal {goal}"))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} s each", self.measured, self.seconds)?;
        for (name, value) in &self.yardsticks {
            write!(f, "\n{name}: {}", format_figure(*value))?;
        }
        for figure in &self.figures {
            write!(f, "\n{figure}")?;
        }
        for (name, value) in &self.sizes {
            write!(f, "\n{name}: {}", format_figure(*value))?;
        }
        self.goals.iter().try_for_each(|goal| write!(f, "\ngoal {goal}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_without_its_yardstick_is_neither_reached_nor_missed() {
        assert_eq!(Goal::at_least("3 x pgbench", Some(3.0), 3.0).reached, Some(true));
        assert_eq!(Goal::at_least("3 x pgbench", Some(2.9), 3.0).reached, Some(false));
        assert_eq!(Goal::at_least("3 x pgbench", None, 3.0).reached, None);
        assert_eq!(Goal::at_most("50 ms", Some(50.1), 50.0).reached, Some(false));
    }

    #[test]
    fn a_report_passes_if_every_check_passed_and_every_goal_was_reached() {
        let goal = |value| Goal::at_least("3 x pgbench", value, 3.0);
        let (reached, missed, not_known) = (goal(Some(3.0)), goal(Some(2.9)), goal(None));
        let passed = |checks_passed, of_figure: &[&Goal], of_report: &[&Goal]| {
            let baselines = crate::Baselines::default();
            let mut report = baselines.report("log", 1, vec![figure(of_figure)]);
            report.goals = of_report.iter().copied().cloned().collect();
            report.checks_passed = checks_passed;
            report.judged().passed
        };
        assert!(passed(true, &[], &[]));
        assert!(passed(true, &[&reached], &[&reached]));
        assert!(!passed(true, &[&reached, &missed], &[&reached]));
        assert!(!passed(true, &[&reached], &[&missed]));
        assert!(!passed(true, &[&not_known], &[]));
        assert!(!passed(false, &[&reached], &[&reached]));
    }

    fn figure(goals: &[&Goal]) -> Figure {
        Figure {
            name: "append".to_owned(),
            clients: 1,
            operations: 1,
            rate: 1.0,
            latency_ms: None,
            cpu_seconds: BTreeMap::new(),
            wal_bytes_per_operation: None,
            disk_bytes_per_operation: None,
            costs: CostTable::default(),
            floor: None,
            ratios: BTreeMap::new(),
            goals: goals.iter().copied().cloned().collect(),
        }
    }

    #[test]
    fn a_ratio_needs_both() {
        assert_eq!(ratio(Some(9000.0), Some(3000.0)), Some(3.0));
        assert_eq!(ratio(Some(9000.0), None), None);
        assert_eq!(ratio(Some(9000.0), Some(0.0)), None);
    }
}
