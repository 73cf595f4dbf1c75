//! What was measured, beside its yardsticks, for people and for programs.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::drive::Driven;
use super::latency::Spread;
use super::{rounded, shown};
use crate::repo::Shape;

/// One thing that was measured.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: String,
    /// How many did it at once.
    pub(crate) clients: u32,
    /// Operations that counted.
    pub(crate) operations: u64,
    /// Operations a second.
    pub(crate) rate: f64,
    pub(crate) latency_ms: Option<Spread>,
    pub(crate) cpu_seconds: BTreeMap<&'static str, Option<f64>>,
    pub(crate) wal_bytes_per_operation: Option<f64>,
    pub(crate) disk_bytes_per_operation: Option<f64>,
    /// Where it stands beside PostgreSQL writing the same rows alone.
    pub(crate) floor: Option<Floor>,
    /// The figure as so many times each yardstick; none where there is no yardstick.
    pub(crate) ratios: BTreeMap<&'static str, Option<f64>>,
    pub(crate) goals: Vec<Goal>,
}

/// PostgreSQL alone, writing the same rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Floor {
    /// Events a second.
    pub(crate) rate: f64,
    /// Events that one commit wrote on average, here and there.
    pub(crate) batch: f64,
    /// Bytes of an event's payload on average.
    pub(crate) payload_bytes: usize,
    /// Bytes of a request's answer on average.
    pub(crate) answer_bytes: usize,
}

/// What a figure should come to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Goal {
    pub(crate) goal: String,
    pub(crate) value: Option<f64>,
    /// None where the yardstick is missing.
    pub(crate) reached: Option<bool>,
}

/// Everything of one run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Report {
    pub(crate) measured: &'static str,
    pub(crate) seconds: u64,
    /// Rates a second, or milliseconds where the name says so; none where one could not be had.
    pub(crate) yardsticks: BTreeMap<&'static str, Option<f64>>,
    pub(crate) figures: Vec<Figure>,
    /// What is no rate, such as bytes of memory.
    pub(crate) sizes: BTreeMap<&'static str, Option<f64>>,
    pub(crate) goals: Vec<Goal>,
    /// Nothing that was checked turned out wrong. Whether goals were reached is another matter.
    pub(crate) passed: bool,
}

impl Figure {
    pub(crate) fn new(name: impl Into<String>, clients: u32, driven: Driven) -> Figure {
        let Driven { operations, rate, latency, cpu_seconds, wal_bytes, disk_bytes } = driven;
        Figure {
            name: name.into(),
            clients,
            operations,
            rate,
            latency_ms: latency,
            cpu_seconds,
            wal_bytes_per_operation: wal_bytes,
            disk_bytes_per_operation: disk_bytes,
            floor: None,
            ratios: BTreeMap::new(),
            goals: Vec::new(),
        }
    }

    /// What a load came to: an operation is a decision.
    pub(crate) fn of_load(load: crate::load::Figures, clients: u32) -> Figure {
        Figure {
            name: format!("actions, game {}, tables of {}", load.game, load.players),
            clients,
            operations: load.actions,
            rate: load.actions_per_second,
            latency_ms: load.latency_ms,
            cpu_seconds: load.cpu_seconds,
            wal_bytes_per_operation: load.wal_bytes_per_action,
            disk_bytes_per_operation: load.disk_bytes_per_action,
            floor: None,
            ratios: BTreeMap::new(),
            goals: Vec::new(),
        }
    }

    /// The rate beside a yardstick's, with the goal where there is one.
    pub(crate) fn beside(
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

    /// The rate beside that of PostgreSQL alone writing rows of this shape.
    pub(crate) fn beside_floor(mut self, rate: f64, shape: &Shape, least: Option<f64>) -> Figure {
        self.floor = Some(Floor {
            rate,
            batch: rounded(shape.batch),
            payload_bytes: shape.payload,
            answer_bytes: shape.answer,
        });
        self.beside("UNNEST", Some(rate), least)
    }

    /// The median answer, where there was one.
    pub(crate) fn median(&self) -> Option<f64> {
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

/// One figure as so many times another.
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
        write!(f, "{}: {} ({reached})", self.goal, shown(self.value))
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
            cpu.map(|(process, spent)| format!("{process} {}", shown(*spent))).collect();
        let (wal, disk) = (self.wal_bytes_per_operation, self.disk_bytes_per_operation);
        write!(f, "\n  processor seconds: {}", cpu.join(", "))?;
        write!(f, "; bytes each: write-ahead log {}, disk {}", shown(wal), shown(disk))?;
        if let Some(Floor { rate, batch, payload_bytes, .. }) = self.floor {
            write!(
                f,
                "\n  UNNEST: {rate} events of {payload_bytes} bytes a second, {batch} a commit"
            )?;
        }
        for (yardstick, ratio) in &self.ratios {
            write!(f, "\n  {} x {yardstick}", shown(*ratio))?;
        }
        self.goals.iter().try_for_each(|goal| write!(f, "\n  goal {goal}"))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} s each", self.measured, self.seconds)?;
        for (name, value) in &self.yardsticks {
            write!(f, "\n{name}: {}", shown(*value))?;
        }
        for figure in &self.figures {
            write!(f, "\n{figure}")?;
        }
        for (name, value) in &self.sizes {
            write!(f, "\n{name}: {}", shown(*value))?;
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
    fn a_ratio_needs_both() {
        assert_eq!(ratio(Some(9000.0), Some(3000.0)), Some(3.0));
        assert_eq!(ratio(Some(9000.0), None), None);
        assert_eq!(ratio(Some(9000.0), Some(0.0)), None);
    }
}
