//! A table of three players who decide at once. One of them also makes every lawful call as often
//! as allowed, to stop the others: not by slow thinking, which the clock bounds, nor by withholding
//! entropy, which the proof bounds.
//!
//! The match alternates between periods in which the hostile player only plays and periods with the
//! calls, in one room and at one table, so that other load on the machine affects both alike. The
//! ratio of hands with the calls to hands without must be at least [`MIN_HANDS_RATIO`].

mod calls;

use std::fmt;
use std::time::Duration;

use anyhow::bail;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

pub use calls::Hostility;

use crate::caller::CallCounts;
use crate::crew::{Crew, CrewOptions, Period};
use crate::room::Room;
use crate::verdict::Dependencies;

/// Least ratio of hands with hostility to hands without.
pub const MIN_HANDS_RATIO: f64 = 0.9;
const WARM_UP: Duration = Duration::from_secs(5);

/// Length of a match.
#[derive(Debug, Clone)]
pub struct MatchOptions {
    /// Time with hostility, and as long without.
    pub hostile_time: Duration,
    /// Length of each period.
    pub period: Duration,
    pub game: String,
}

/// Result of a match.
#[derive(Debug, Serialize)]
pub struct Verdict {
    pub passed: bool,
    /// Hands that ended in all periods without hostility, and with it.
    pub without: u64,
    pub with: u64,
    /// Ratio of hands with hostility to hands without.
    pub left: f64,
    pub seconds_each: f64,
    pub voided: u64,
    pub clocks: u64,
    pub p99_without: f64,
    pub p99_with: f64,
    pub sent: u64,
    pub accepted: u64,
    pub refused: std::collections::BTreeMap<String, u64>,
}

/// Style of three players who decide at once.
#[must_use]
pub fn crew_options(game: &str) -> CrewOptions {
    CrewOptions {
        players: 3,
        seats: 3,
        game: game.to_owned(),
        think_time: (Duration::ZERO, Duration::ZERO),
    }
}

/// Plays the match; `tell` is called with the result of each period.
///
/// # Errors
/// The room cannot be started, the crew cannot be seated, or the table stops.
pub async fn judge(
    dependencies: &Dependencies,
    plan: &MatchOptions,
    tell: impl Fn(String),
) -> anyhow::Result<Verdict> {
    let room = Room::start(&dependencies.program, &dependencies.folder, &[]).await?;
    let crew = Crew::seat(&room, &crew_options(&plan.game)).await?;
    tokio::time::sleep(WARM_UP).await;
    let turns = plan.hostile_time.as_millis().div_ceil(plan.period.as_millis().max(1)).max(1);
    let (mut without, mut with) = (PeriodTotals::default(), PeriodTotals::default());
    let mut sent = CallCounts::default();
    for turn in 0..turns {
        // The order alternates, so that a room that grows slower favours neither.
        for hostile in if turn % 2 == 0 { [false, true] } else { [true, false] } {
            let (phase, made) = play(&room, &crew, plan.period, hostile).await?;
            let (word, hands) = (if hostile { "with" } else { "without" }, phase.counts.hands);
            tell(format!("turn {}: {hands} hands {word} hostility", turn + 1));
            if hostile { &mut with } else { &mut without }.add(phase);
            sent.add_all(made);
        }
        if without.hands == 0 || with.hands == 0 {
            bail!("no hand ends any more: {} without, {} with", without.hands, with.hands);
        }
    }
    let (p99_without, p99_with) = (without.p99(), with.p99());
    crew.close().await?;
    let count = |hands: u64| f64::from(u32::try_from(hands).unwrap_or(u32::MAX));
    let left = (count(with.hands) / with.seconds) / (count(without.hands) / without.seconds);
    Ok(Verdict {
        passed: left >= MIN_HANDS_RATIO,
        without: without.hands,
        with: with.hands,
        left,
        seconds_each: with.seconds,
        voided: with.voided,
        clocks: with.clock_decisions,
        p99_without,
        p99_with,
        sent: sent.all(),
        accepted: sent.accepted,
        refused: sent.refused,
    })
}

async fn play(
    room: &Room,
    crew: &Crew,
    span: Duration,
    hostile: bool,
) -> anyhow::Result<(Period, CallCounts)> {
    if !hostile {
        return Ok((crew.measure(span).await, CallCounts::default()));
    }
    let stop = CancellationToken::new();
    let hostility = Hostility::of(room, crew)?;
    let making = tokio::spawn(hostility.make_calls(u64::MAX, stop.clone()));
    let phase = crew.measure(span).await;
    stop.cancel();
    Ok((phase, making.await?))
}

/// Sum of all periods of one kind.
#[derive(Default)]
struct PeriodTotals {
    hands: u64,
    seconds: f64,
    voided: u64,
    clock_decisions: u64,
    latencies: Vec<Duration>,
}

impl PeriodTotals {
    fn add(&mut self, phase: Period) {
        self.hands += phase.counts.hands;
        self.seconds += phase.seconds;
        self.voided += phase.counts.voided;
        self.clock_decisions += phase.counts.clock_decisions;
        self.latencies.extend(phase.counts.latencies);
    }

    fn p99(&mut self) -> f64 {
        crate::Percentiles::of(std::mem::take(&mut self.latencies)).map_or(0.0, |spread| spread.p99)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verdict { without, with, left, seconds_each, .. } = self;
        let word = if self.passed { "passed" } else { "FAILED" };
        write!(
            f,
            "hostile table: {word}: {with} hands with hostility, {without} without, in {seconds_each:.0} s each: {left:.3} of them, at least {MIN_HANDS_RATIO}"
        )?;
        let refused: Vec<String> =
            self.refused.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        write!(
            f,
            "\nvoid {}, the clock's {}, p99 {:.1} ms without and {:.1} ms with; {} calls, {} accepted; refused: {}",
            self.voided,
            self.clocks,
            self.p99_without,
            self.p99_with,
            self.sent,
            self.accepted,
            if refused.is_empty() { "none".to_owned() } else { refused.join(", ") }
        )
    }
}
