//! A table of three who all decide at once, one of whom also makes every lawful call as often as anybody
//! may, aimed at stopping the others: neither by thinking long, which the clock bounds, nor by
//! withholding entropy, which the proof bounds.
//!
//! It is played in turns: a turn in which that one only plays, a turn with the hostility, and so on, in
//! one room and at one table, so that whatever else the machine does meets both alike. Hands finished
//! with it must be at least [`LEFT`] of those without.

mod calls;

use std::fmt;
use std::time::Duration;

use anyhow::bail;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

pub use calls::Hostility;

use crate::caller::Sent;
use crate::crew::{Crew, Phase, Style};
use crate::room::Room;
use crate::verdict::Ground;

/// Of the hands without hostility so many must be finished with it.
pub const LEFT: f64 = 0.9;
const WARM_UP: Duration = Duration::from_secs(5);

/// How long is played.
#[derive(Debug, Clone)]
pub struct Match {
    /// With hostility, and as long without.
    pub with: Duration,
    /// Of each turn.
    pub turn: Duration,
    pub game: String,
}

/// What came of it.
#[derive(Debug, Serialize)]
pub struct Verdict {
    pub passed: bool,
    /// Hands that ended in all turns without hostility, and with it.
    pub without: u64,
    pub with: u64,
    /// Of the latter by the former.
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

/// Three who decide at once.
#[must_use]
pub fn style(game: &str) -> Style {
    Style {
        players: 3,
        seats: 3,
        game: game.to_owned(),
        thinking: (Duration::ZERO, Duration::ZERO),
    }
}

/// Plays the match; `tell` is told of each turn.
///
/// # Errors
/// The room cannot be started or the crew be seated, or the table stops.
pub async fn judge(
    ground: &Ground,
    plan: &Match,
    tell: impl Fn(String),
) -> anyhow::Result<Verdict> {
    let room = Room::start(&ground.program, &ground.folder, &[]).await?;
    let crew = Crew::seat(&room, &style(&plan.game)).await?;
    tokio::time::sleep(WARM_UP).await;
    let turns = plan.with.as_millis().div_ceil(plan.turn.as_millis().max(1)).max(1);
    let (mut without, mut with) = (Sum::default(), Sum::default());
    let mut sent = Sent::default();
    for turn in 0..turns {
        // Which of the two is first changes, so that a room that grows slower wrongs neither.
        for hostile in if turn % 2 == 0 { [false, true] } else { [true, false] } {
            let (phase, made) = play(&room, &crew, (plan.turn, hostile)).await?;
            let (word, hands) = (if hostile { "with" } else { "without" }, phase.counts.hands);
            tell(format!("turn {}: {hands} hands {word} hostility", turn + 1));
            if hostile { &mut with } else { &mut without }.add(phase);
            sent.absorb(made);
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
        passed: left >= LEFT,
        without: without.hands,
        with: with.hands,
        left,
        seconds_each: with.seconds,
        voided: with.voided,
        clocks: with.clocks,
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
    (span, hostile): (Duration, bool),
) -> anyhow::Result<(Phase, Sent)> {
    if !hostile {
        return Ok((crew.measure(span).await, Sent::default()));
    }
    let stop = CancellationToken::new();
    let hostility = Hostility::of(room, crew)?;
    let making = tokio::spawn(hostility.make(u64::MAX, stop.clone()));
    let phase = crew.measure(span).await;
    stop.cancel();
    Ok((phase, making.await?))
}

/// All turns of one kind.
#[derive(Default)]
struct Sum {
    hands: u64,
    seconds: f64,
    voided: u64,
    clocks: u64,
    took: Vec<Duration>,
}

impl Sum {
    fn add(&mut self, phase: Phase) {
        self.hands += phase.counts.hands;
        self.seconds += phase.seconds;
        self.voided += phase.counts.voided;
        self.clocks += phase.counts.clocks;
        self.took.extend(phase.counts.took);
    }

    fn p99(&mut self) -> f64 {
        crate::Spread::of(std::mem::take(&mut self.took)).map_or(0.0, |spread| spread.p99)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verdict { without, with, left, seconds_each, .. } = self;
        let word = if self.passed { "passed" } else { "FAILED" };
        write!(
            f,
            "hostile table: {word}: {with} hands with hostility, {without} without, in {seconds_each:.0} s each: {left:.3} of them, at least {LEFT}"
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
