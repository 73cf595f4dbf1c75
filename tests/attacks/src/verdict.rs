//! One attack, from the start of its room to its verdict.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::attack::{Attack, AttackContext, Outcome};
use crate::crew::{Crew, CrewOptions, Period};
use crate::room::Room;
use crate::{P99, Percentiles};

/// Least ratio of hands per second during an attack to those before it. The attack itself uses part
/// of the machine.
const MIN_HANDS_RATIO: f64 = 0.5;
const WARM_UP: Duration = Duration::from_secs(3);
const AFTER: Duration = Duration::from_secs(5);
/// Number of hands that must end after an attack, and the time for them.
const RECOVERY: (u64, Duration) = (3, Duration::from_secs(15));
/// Longest time from the cancellation of an attack to its end.
const STOP_TIMEOUT: Duration = Duration::from_secs(90);

/// Dependencies of the suite.
#[derive(Debug, Clone)]
pub struct Dependencies {
    /// The program `sabacc`.
    pub program: PathBuf,
    /// Parent of the rooms' folders.
    pub folder: PathBuf,
    /// Time of the measurement before an attack.
    pub calm_time: Duration,
}

/// Result of an attack.
#[derive(Debug, Serialize)]
pub struct Verdict {
    pub attack: &'static str,
    pub passed: bool,
    /// Whether the machine was too busy for a verdict: honest decisions were slow before the
    /// attack.
    pub too_busy: bool,
    pub calm: Option<Percentiles>,
    pub during: Option<Percentiles>,
    pub calm_hands_a_second: f64,
    pub hands_a_second: f64,
    pub voided: u64,
    pub clocks: u64,
    pub sent: u64,
    pub accepted: u64,
    pub refused: std::collections::BTreeMap<String, u64>,
    pub notes: Vec<String>,
    pub faults: Vec<String>,
}

/// Starts a room, seats a crew, attacks, and judges.
///
/// # Errors
/// The room cannot be started, or the crew cannot be seated.
pub async fn judge(dependencies: &Dependencies, attack: Attack) -> anyhow::Result<Verdict> {
    let mut room = Room::start(&dependencies.program, &dependencies.folder, attack.variables())
        .await
        .context("the room")?;
    let crew = Crew::seat(&room, &CrewOptions::default()).await.context("the honest crew")?;
    tokio::time::sleep(WARM_UP).await;
    let calm = crew.measure(dependencies.calm_time).await;
    let stop = CancellationToken::new();
    let stage = AttackContext { room: &room, crew: &crew, stop: &stop };
    let timed = async {
        tokio::time::sleep(attack.min_duration()).await;
        stop.cancel();
    };
    let begun = crew.begin();
    let attacked = tokio::time::timeout(attack.min_duration() + STOP_TIMEOUT, attack.run(stage));
    let (outcome, ()) = tokio::join!(attacked, timed);
    let during = crew.end(begun);
    let outcome = outcome.unwrap_or_else(|_| Err(anyhow::anyhow!("the attack does not end")));
    let mut faults = attack.faults_of(&during);
    let Outcome { sent, notes, faults: prevented } = outcome.unwrap_or_else(|error| {
        faults.push(format!("while it was attacked the room failed: {error:#}"));
        Outcome::default()
    });
    faults.extend(prevented);
    faults.extend(crew_faults(&calm, &during));
    let (hands, timeout) = RECOVERY;
    let _ = crew.begin();
    if let Err(error) = crew.wait_for_hands(hands, timeout).await {
        faults.push(format!("after the attack: {error:#}; {}", crew.state().await));
    }
    let after = crew.measure(AFTER).await;
    faults.extend(slow("after the attack", &after));
    if let Err(error) = crew.close().await {
        faults.push(format!("at the end: {error:#}"));
    }
    if !room.is_running() {
        faults.push(format!("the room has ended: {}", room.log_tail()));
    }
    let too_busy = slow("", &calm).is_some();
    Ok(Verdict {
        attack: attack.name(),
        passed: faults.is_empty() && !too_busy,
        too_busy,
        calm: calm.percentiles(),
        during: during.percentiles(),
        calm_hands_a_second: calm.hands_per_second(),
        hands_a_second: during.hands_per_second(),
        voided: during.counts.voided,
        clocks: during.counts.clock_decisions,
        sent: sent.all(),
        accepted: sent.accepted,
        refused: sent.refused,
        notes,
        faults,
    })
}

/// Returns the faults that every attack is checked for.
fn crew_faults(calm: &Period, during: &Period) -> Vec<String> {
    let mut faults: Vec<String> = slow("beside the attack", during).into_iter().collect();
    let (before, now) = (calm.hands_per_second(), during.hands_per_second());
    if now < before * MIN_HANDS_RATIO {
        faults.push(format!("{now:.2} hands a second ended, of {before:.2} before"));
    }
    if during.counts.clock_decisions > 0 {
        faults.push(format!("{} honest decisions were the clock's", during.counts.clock_decisions));
    }
    if during.counts.blamed > 0 {
        faults.push(format!("{} hands were charged to honest seats", during.counts.blamed));
    }
    faults
}

fn slow(when: &str, phase: &Period) -> Option<String> {
    match phase.percentiles() {
        Some(spread) if spread.p99 < P99.as_secs_f64() * 1000.0 => None,
        Some(spread) => Some(format!("{when} an honest decision takes {spread}")),
        None => Some(format!("{when} no honest decision was answered")),
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match (self.passed, self.too_busy) {
            (true, _) => "passed",
            (false, true) => "MACHINE TOO BUSY",
            (false, false) => "FAILED",
        };
        let p99 = |spread: &Option<Percentiles>| {
            spread.map_or_else(|| "none".to_owned(), |spread| format!("{:.1}", spread.p99))
        };
        write!(
            f,
            "{:<12} {:<8} p99 {} -> {} ms, hands/s {:.2} -> {:.2}, void {}, sent {}, accepted {}",
            self.attack,
            word,
            p99(&self.calm),
            p99(&self.during),
            self.calm_hands_a_second,
            self.hands_a_second,
            self.voided,
            self.sent,
            self.accepted
        )?;
        let refused: Vec<String> =
            self.refused.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        if !refused.is_empty() {
            write!(f, "\n             refused: {}", refused.join(", "))?;
        }
        for note in &self.notes {
            write!(f, "\n             {note}")?;
        }
        for fault in &self.faults {
            write!(f, "\n             FAULT: {fault}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crew::CrewCounts;

    fn phase(hands: u64, millis: u64) -> Period {
        let took = vec![Duration::from_millis(millis); 200];
        Period {
            seconds: 10.0,
            counts: CrewCounts { latencies: took, hands, ..CrewCounts::default() },
        }
    }

    #[test]
    fn slow_decisions_and_hands_that_stop_are_faults() {
        let calm = phase(20, 10);
        assert_eq!(crew_faults(&calm, &phase(19, 12)), Vec::<String>::new());
        assert_eq!(crew_faults(&calm, &phase(19, 120)).len(), 1);
        assert_eq!(crew_faults(&calm, &phase(3, 12)).len(), 1);
        let silent = Period { seconds: 10.0, counts: CrewCounts::default() };
        assert_eq!(crew_faults(&calm, &silent).len(), 2, "nothing is answered, no hand ends");
        let mut late = phase(19, 12);
        (late.counts.clock_decisions, late.counts.blamed) = (1, 1);
        assert_eq!(crew_faults(&calm, &late).len(), 2);
    }
}
