//! A table of three players who decide at once. One of them also makes every lawful call as often
//! as allowed, to stop the others: not by slow thinking, which the clock bounds. Where the match
//! says so, that player withholds entropy too.
//!
//! The match alternates between periods in which the hostile player only plays and periods with the
//! calls, in one room and at one table, so that other load on the machine affects both alike. The
//! ratio of hands with the calls to hands without must be at least [`MIN_HANDS_RATIO`], and of the
//! hand numbers with the calls at most [`MAX_BURNT_PERCENT`] in a hundred may be burnt, none of them
//! at the charge of another seat.

mod calls;

use std::fmt;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::Serialize;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use calls::Hostility;

use crate::caller::{CallCounts, Caller};
use crate::crew::{Crew, CrewOptions, Period};
use crate::disruptor::{Disruptor, Disturbance};
use crate::room::{Guest, Room};
use crate::verdict::Dependencies;

/// Least ratio of hands with hostility to hands without.
pub const MIN_HANDS_RATIO: f64 = 0.9;
/// Most hand numbers, of a hundred with hostility, that one player may burn.
/// fairness/SPEC.md §3.6.
pub const MAX_BURNT_PERCENT: u64 = 10;
/// Time in which the hostile player changes from taking part in chance to withholding.
const SWITCHES_WITHIN: Duration = Duration::from_secs(2);
const WARM_UP: Duration = Duration::from_secs(5);

/// Length of a match.
#[derive(Debug, Clone)]
pub struct MatchOptions {
    /// Time with hostility, and as long without.
    pub hostile_time: Duration,
    /// Length of each period.
    pub period: Duration,
    pub game: String,
    /// Whether the hostile player withholds entropy.
    pub withholds: bool,
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
    /// Hand numbers that were burnt with hostility, and of them those charged to an honest seat.
    pub voided: u64,
    pub blamed: u64,
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
        is_last_hostile: true,
    }
}

/// Plays the match; `report` is called with the result of each period.
///
/// # Errors
/// The room cannot be started, the crew cannot be seated, or the table stops.
pub async fn judge(
    dependencies: &Dependencies,
    plan: &MatchOptions,
    report: impl Fn(String),
) -> anyhow::Result<Verdict> {
    let room = Room::start(&dependencies.program, &dependencies.folder, &[]).await?;
    let MatchOptions { withholds, .. } = *plan;
    let players = if withholds { 2 } else { 3 };
    let is_last_hostile = !withholds;
    let options = CrewOptions { players, is_last_hostile, ..crew_options(&plan.game) };
    let crew = Crew::seat(&room, &options).await?;
    let hostile = if withholds {
        HostilePlayer::withholding(&room, &crew).await?
    } else {
        HostilePlayer::of_crew(&crew)?
    };
    tokio::time::sleep(WARM_UP).await;
    let turns = plan.hostile_time.as_millis().div_ceil(plan.period.as_millis().max(1)).max(1);
    let (mut without, mut with) = (PeriodTotals::default(), PeriodTotals::default());
    let mut sent = CallCounts::default();
    for turn in 0..turns {
        // The order alternates, so that a room that grows slower favours neither.
        for is_hostile in if turn % 2 == 0 { [false, true] } else { [true, false] } {
            let acting = is_hostile.then_some(&hostile);
            let (phase, made) = play(&room, &crew, plan.period, acting).await?;
            let (word, hands) = (if is_hostile { "with" } else { "without" }, phase.counts.hands);
            let burnt = phase.counts.voided;
            report(format!("turn {}: {hands} hands {word} hostility, {burnt} burnt", turn + 1));
            if is_hostile { &mut with } else { &mut without }.add(phase);
            sent.add_all(made);
        }
        if without.hands == 0 || with.hands == 0 {
            bail!("no hand ends any more: {} without, {} with", without.hands, with.hands);
        }
    }
    let (p99_without, p99_with) = (without.p99(), with.p99());
    hostile.leave().await?;
    crew.close().await?;
    let count = |hands: u64| f64::from(u32::try_from(hands).unwrap_or(u32::MAX));
    let left = (count(with.hands) / with.seconds) / (count(without.hands) / without.seconds);
    Ok(Verdict {
        passed: left >= MIN_HANDS_RATIO
            && with.voided * 100 <= (with.hands + with.voided) * MAX_BURNT_PERCENT
            && with.blamed == 0,
        without: without.hands,
        with: with.hands,
        left,
        seconds_each: with.seconds,
        voided: with.voided,
        blamed: with.blamed,
        clocks: with.clock_decisions,
        p99_without,
        p99_with,
        sent: sent.all(),
        accepted: sent.accepted,
        refused: sent.refused,
    })
}

/// Player who is hostile in some periods of the match.
struct HostilePlayer {
    guest: Guest,
    /// Switch of their withholding, and their task; none where a player of the crew is hostile.
    withholding: Option<(watch::Sender<bool>, JoinHandle<Disruptor>)>,
    stop: CancellationToken,
}

impl HostilePlayer {
    /// Last player of the crew, who counts nothing.
    fn of_crew(crew: &Crew) -> anyhow::Result<HostilePlayer> {
        let guest = crew.guests.last().cloned().context("a crew has players")?;
        Ok(HostilePlayer { guest, withholding: None, stop: CancellationToken::new() })
    }

    /// Seats another player, who withholds where the attack says so.
    async fn withholding(room: &Room, crew: &Crew) -> anyhow::Result<HostilePlayer> {
        let ((switch, withholds), stop) = (watch::channel(false), CancellationToken::new());
        let disturbance = Disturbance::Withholds(withholds);
        let disruptor = Disruptor::seat(room, crew, disturbance).await?;
        let guest = disruptor.guest.clone();
        let playing = tokio::spawn(disruptor.run(stop.clone()));
        Ok(HostilePlayer { guest, withholding: Some((switch, playing)), stop })
    }

    fn withhold(&self, on: bool) {
        if let Some((switch, _)) = &self.withholding {
            switch.send_replace(on);
        }
    }

    async fn leave(self) -> anyhow::Result<()> {
        self.stop.cancel();
        match self.withholding {
            Some((_, playing)) => playing.await.map(drop).context("the hostile player crashed"),
            None => Ok(()),
        }
    }
}

async fn play(
    room: &Room,
    crew: &Crew,
    span: Duration,
    hostile: Option<&HostilePlayer>,
) -> anyhow::Result<(Period, CallCounts)> {
    let Some(hostile) = hostile else {
        return Ok((crew.measure(span).await, CallCounts::default()));
    };
    let stop = CancellationToken::new();
    let caller = Caller::of(room, hostile.guest.clone(), 2)?;
    let hostility = Hostility::for_caller(caller, crew.table);
    let withholds = hostile.withholding.is_some();
    let hostility = if withholds { hostility.at_half_rate() } else { hostility };
    hostile.withhold(true);
    // The withholder's stream stands before the calls use up what the room allows a player.
    tokio::time::sleep(SWITCHES_WITHIN).await;
    let making = tokio::spawn(hostility.make_calls(u64::MAX, stop.clone()));
    let phase = crew.measure(span).await;
    hostile.withhold(false);
    stop.cancel();
    Ok((phase, making.await?))
}

/// Sum of all periods of one kind.
#[derive(Default)]
struct PeriodTotals {
    hands: u64,
    seconds: f64,
    voided: u64,
    blamed: u64,
    clock_decisions: u64,
    latencies: Vec<Duration>,
}

impl PeriodTotals {
    fn add(&mut self, phase: Period) {
        self.hands += phase.counts.hands;
        self.seconds += phase.seconds;
        self.voided += phase.counts.voided;
        self.blamed += phase.counts.blamed;
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
            "\nburnt {}, {} of them charged to honest seats, the clock's {}, p99 {:.1} ms without and {:.1} ms with; {} calls, {} accepted; refused: {}",
            self.voided,
            self.blamed,
            self.clocks,
            self.p99_without,
            self.p99_with,
            self.sent,
            self.accepted,
            if refused.is_empty() { "none".to_owned() } else { refused.join(", ") }
        )
    }
}
