//! `--overload`: saturates the room, doubles the tables, then leaves half of them.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use anyhow::bail;
use proto::common::v1::ErrorReason;
use serde::Serialize;
use tokio::time::Instant;

use super::figures::room_faults;
use super::load_run::{LoadResult, LoadRun};
use super::target::{AuditResult, LoadTarget};
use super::{FINISH_TIMEOUT, Options};
use crate::latency::Percentiles;
use crate::progress_bar::note;
use crate::rounded;

/// Maximum number of times that tables are added.
pub(crate) const MAX_STEPS: u32 = 40;
/// The room is saturated if the 99th percentile of actions is over this.
const SLOW_MS: f64 = 50.0;
/// With fewer tables the room must answer in time and take a new table within this time.
const MAX_RECOVERY_TIME: Duration = Duration::from_secs(10);
const SETTLE_SECONDS: u64 = 2;
const SAMPLE_SECONDS: u64 = 4;
/// Time for which the room may refuse a table.
const MAX_REFUSAL_TIME: Duration = Duration::from_secs(5);

/// Report of the run, in the form of the JSON output.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Report {
    pub(crate) measured: &'static str,
    pub(crate) game: String,
    pub(crate) players: u32,
    /// Number of tables that saturate the room.
    pub(crate) saturated_at: usize,
    /// Reason that it counts as saturated.
    pub(crate) saturated_by: String,
    /// Tables requested beyond saturation, and those of them that were refused.
    pub(crate) asked: u32,
    pub(crate) refused_tables: u32,
    pub(crate) actions_per_second: f64,
    pub(crate) latency_ms: Option<Percentiles>,
    /// Hands that ended while events counted.
    pub(crate) hands: u64,
    /// Burnt hands from the first bot to the last.
    pub(crate) burnt_hands: u64,
    pub(crate) clock_decisions: u64,
    /// Refused calls by reason, from the first to the last.
    pub(crate) refused_calls: BTreeMap<String, u64>,
    /// Time from the closing of tables to a room that answers in time; none if it takes more than a
    /// minute.
    pub(crate) recovered_after_seconds: Option<f64>,
    pub(crate) audit: Option<AuditResult>,
    pub(crate) faults: Vec<String>,
    pub(crate) passed: bool,
}

/// Saturates the room, overloads it, and lets it recover.
pub(crate) async fn measure(target: &LoadTarget<'_>, options: &Options) -> anyhow::Result<Report> {
    let most = options.bot_count().saturating_mul(MAX_STEPS * 2);
    let mut run = LoadRun::new(target, options, most)?;
    let saturated_by = saturate(target, options, &mut run).await?;
    let saturated_at = run.open_table_count();
    note(&format!("saturated with {saturated_at} tables: {saturated_by}"));
    let asked = u32::try_from(saturated_at)?;
    let refused_tables = run.open_tables(target, asked, MAX_REFUSAL_TIME).await?;
    run.take_latencies();
    let begun = Instant::now();
    run.play_for("overload", options.seconds, true).await?;
    let (took, latencies) = (begun.elapsed(), run.take_latencies());
    let (actions, spread) = (latencies.count(), latencies.clone().percentiles());
    note(&format!("twice as many: {}", describe_percentiles(spread)));
    let recovered = recover(target, &mut run, saturated_at / 2).await?;
    let played = run.finish(target, latencies, FINISH_TIMEOUT).await?;
    let audit = target.audit(&played.tables, options.audit).await?;
    let faults = faults(&played, recovered, audit);
    let rate = f64::from(u32::try_from(actions)?) / took.as_secs_f64();
    Ok(Report {
        measured: "overload",
        game: options.game.clone(),
        players: options.players,
        saturated_at,
        saturated_by,
        asked,
        refused_tables,
        actions_per_second: rounded(rate),
        latency_ms: spread,
        hands: played.hands,
        burnt_hands: played.burnt,
        clock_decisions: played.clock_decisions,
        refused_calls: played.errors,
        recovered_after_seconds: recovered.map(|after| rounded(after.as_secs_f64())),
        audit,
        passed: faults.is_empty(),
        faults,
    })
}

/// Adds tables until the room is saturated, and returns the reason.
async fn saturate(
    target: &LoadTarget<'_>,
    options: &Options,
    run: &mut LoadRun,
) -> anyhow::Result<String> {
    for _ in 0..MAX_STEPS {
        let refused = run.open_tables(target, options.tables, MAX_REFUSAL_TIME).await?;
        run.play_for("settling", SETTLE_SECONDS, false).await?;
        run.take_latencies();
        run.play_for("looking", SAMPLE_SECONDS, true).await?;
        let latencies = run.take_latencies();
        let rate = latencies.count() / SAMPLE_SECONDS;
        let spread = latencies.percentiles();
        note(&format!(
            "{} tables: {rate} actions a second, {}",
            run.open_table_count(),
            describe_percentiles(spread)
        ));
        if refused > 0 {
            return Ok(format!("it refused {refused} of {} tables more", options.tables));
        }
        if spread.is_some_and(|spread| spread.p99 > SLOW_MS) {
            return Ok(format!("an action's p99 is over {SLOW_MS} ms"));
        }
    }
    bail!(
        "the room is not saturated by {} tables: add more at a time with --tables, or let bots think \
         for less",
        run.open_table_count()
    )
}

/// Leaves `left` tables, and waits until the room answers in time and takes a table again.
async fn recover(
    target: &LoadTarget<'_>,
    run: &mut LoadRun,
    left: usize,
) -> anyhow::Result<Option<Duration>> {
    run.close_until(target, left.max(1)).await?;
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        run.take_latencies();
        run.play_for("recovering", 1, true).await?;
        let spread = run.take_latencies().percentiles();
        let in_time = spread.is_none_or(|spread| spread.p99 < SLOW_MS);
        if in_time && run.can_open_table(target).await? {
            return Ok(Some(begun.elapsed()));
        }
    }
    Ok(None)
}

fn faults(
    played: &LoadResult,
    recovered: Option<Duration>,
    audit: Option<AuditResult>,
) -> Vec<String> {
    let mut faults = room_faults(played);
    // A decision may come too late, a commitment when its number has opened without the newcomer, and
    // a table be closed; an overloaded room has one reason.
    let allowed = [
        ErrorReason::Overloaded,
        ErrorReason::NotYourTurn,
        ErrorReason::NotYourSeat,
        ErrorReason::TableClosed,
        ErrorReason::SeatTaken,
        ErrorReason::AlreadySeated,
    ];
    for (reason, count) in &played.errors {
        if !allowed.iter().any(|honest| wire::status::reason_name(*honest) == reason) {
            faults.push(format!("{count} calls were refused with {reason}"));
        }
    }
    match recovered {
        Some(after) if after <= MAX_RECOVERY_TIME => {}
        Some(after) => faults.push(format!("it took {after:.1?} to recover")),
        None => faults.push("it did not recover within a minute".to_owned()),
    }
    if audit.is_some_and(|audit| audit.passed < audit.hands || !audit.ledger) {
        faults.push("an audit failed".to_owned());
    }
    faults
}

fn describe_percentiles(spread: Option<Percentiles>) -> String {
    spread.map_or_else(|| "no action was answered".to_owned(), |spread| spread.to_string())
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { saturated_at, saturated_by, asked, refused_tables, .. } = self;
        writeln!(f, "saturated with {saturated_at} tables of {}: {saturated_by}", self.players)?;
        writeln!(f, "{asked} tables more: {refused_tables} were refused")?;
        let Report { actions_per_second, burnt_hands, clock_decisions, hands, .. } = self;
        writeln!(
            f,
            "{actions_per_second} actions a second, {hands} hands, burnt {burnt_hands}, decisions of the clock {clock_decisions}; {}",
            describe_percentiles(self.latency_ms)
        )?;
        let refused: Vec<String> =
            self.refused_calls.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        let none = "none".to_owned();
        writeln!(
            f,
            "refused calls: {}",
            if refused.is_empty() { none } else { refused.join(", ") }
        )?;
        match self.recovered_after_seconds {
            Some(after) => write!(f, "recovered after {after} s")?,
            None => write!(f, "not recovered within a minute")?,
        }
        if let Some(AuditResult { hands, passed, ledger, .. }) = self.audit {
            let books = if ledger { "the ledger too" } else { "the ledger did NOT" };
            write!(f, "\n{passed} of {hands} audited hands passed every check, {books}")?;
        }
        self.faults.iter().try_for_each(|fault| write!(f, "\nFAILED: {fault}"))
    }
}
