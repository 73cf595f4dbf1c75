//! Turns, deadlines and time banks, as a table must keep them.
//!
//! A decision is judged when it comes and recorded when the log has taken it. So a player's
//! decision that is recorded after its deadline may have come in time, and is only noted. Charging
//! less of a bank than the recorded times say is no failure either.

use std::time::Duration;

use primitives::UnixMicros;
use proto::event::v1 as pb;
use rules::{DecisionAuthor, Move, Player, TableSettings};

/// Tolerance for the deadline of a resumed clock: by this much an owner of the table may be known
/// to have been alive later than its work. A clock that is resumed twice can gain as much.
const RESUME_TOLERANCE: Duration = Duration::from_secs(10);

const NO_DECISION: &str = "the hand goes on with a deadline, and no decision is due";

pub(super) struct Clock {
    /// Number of the decision that is due, or of the last one; counts from 1.
    pub(super) turn: u32,
    action: Duration,
    /// Rest of each player's time bank, p1 first.
    banks: Vec<Duration>,
    /// Time at which the decision became due.
    due_at: UnixMicros,
    /// Deadline after an interruption.
    resumed: Option<UnixMicros>,
    /// Time from which the hand is suspended.
    suspended_at: Option<UnixMicros>,
    /// Number of decisions in a row that the clock has taken for each player, p1 first, and whether
    /// the count is known: from the records before the hand, or because the player has decided
    /// something in it.
    misses: Vec<(u32, bool)>,
    pub(super) notes: Vec<String>,
}

impl Clock {
    /// `misses` are those before the hand, where the records say so.
    pub(super) fn new(settings: &TableSettings, misses: Vec<Option<u32>>, at: UnixMicros) -> Clock {
        let bank = settings.time_bank();
        Clock {
            turn: 0,
            action: settings.action_time(),
            banks: vec![bank; misses.len()],
            due_at: at,
            resumed: None,
            suspended_at: None,
            misses: misses
                .into_iter()
                .map(|before| before.map_or((0, false), |before| (before, true)))
                .collect(),
            notes: Vec::new(),
        }
    }

    /// Whether these recorded numbers of clocks missed in a row are possible. Misses before the
    /// hand count on; where they are not known, there may have been any.
    pub(super) fn accepts_misses(&self, recorded: &[u32]) -> bool {
        let fits = |((missed, known), recorded): (&(u32, bool), &u32)| {
            if *known { recorded == missed } else { recorded >= missed }
        };
        recorded.len() == self.misses.len() && self.misses.iter().zip(recorded).all(fits)
    }

    /// Starts the clock: the hand is sealed.
    pub(super) fn start(&mut self, at: UnixMicros) {
        self.due_at = at;
    }

    /// Restarts the clock after an input of the rules; a decision may be due next.
    pub(super) fn restart(&mut self, decision: bool, at: UnixMicros) {
        self.due_at = at;
        self.resumed = None;
        if decision {
            self.turn = self.turn.saturating_add(1);
        }
    }

    fn bank(&self, player: Player) -> Duration {
        self.banks.get(player.index()).copied().unwrap_or_default()
    }

    fn deadline(&self, player: Player) -> UnixMicros {
        let whole = || self.due_at.plus(self.action).plus(self.bank(player));
        self.resumed.unwrap_or_else(whole)
    }

    /// Checks the time of a recorded decision and charges the time bank.
    ///
    /// # Errors
    /// If the clock decided before its deadline, or more of a bank was charged than was used.
    pub(super) fn check_decision(
        &mut self,
        player: Player,
        mv: &Move,
        decided: &pb::MoveDecided,
        at: UnixMicros,
    ) -> Result<(), String> {
        let by = if decided.by_clock { DecisionAuthor::Clock } else { DecisionAuthor::Player };
        let (turn, seat) = (decided.turn, decided.seat);
        let (deadline, bank) = (self.deadline(player), self.bank(player));
        let taken = Duration::from_millis(u64::from(decided.bank_used_ms));
        if let Some(bank) = self.banks.get_mut(player.index()) {
            *bank = bank.saturating_sub(taken);
        }
        if let Some((missed, is_known)) = self.misses.get_mut(player.index()) {
            (*missed, *is_known) = match by {
                DecisionAuthor::Clock => (missed.saturating_add(1), *is_known),
                DecisionAuthor::Player => (0, true),
            };
        }
        let used = if *mv == Move::Leave {
            Duration::ZERO
        } else {
            bank.saturating_sub(deadline.since(at))
        };
        if by == DecisionAuthor::Clock && self.suspended_at.is_some() {
            return Err(format!(
                "turn {turn}: the clock decided for seat {seat} while the hand was suspended"
            ));
        }
        if by == DecisionAuthor::Clock && at < deadline {
            return Err(format!(
                "turn {turn}: the clock decided for seat {seat} at {at}, before the deadline {deadline}"
            ));
        }
        if by == DecisionAuthor::Clock && taken != bank {
            return Err(format!("turn {turn}: the clock ran out and the time bank did not"));
        }
        if by == DecisionAuthor::Player && *mv != Move::Leave && at > deadline {
            self.notes.push(format!(
                "Turn {turn}: the decision of seat {seat} is recorded at {at}, behind its deadline \
                 {deadline}."
            ));
        }
        if taken > used {
            return Err(format!(
                "turn {turn}: {} ms of seat {seat}'s time bank were taken, {} ms were used",
                taken.as_millis(),
                used.as_millis()
            ));
        }
        Ok(())
    }

    /// Applies the new deadline after an interruption.
    ///
    /// # Errors
    /// If no such decision is due, or the new deadline takes time away or gives more than a whole
    /// clock.
    pub(super) fn resume(
        &mut self,
        resumed: &pb::ClockResumed,
        to_act: Option<Player>,
        at: UnixMicros,
    ) -> Result<(), String> {
        let pb::ClockResumed { turn, deadline_micros } = resumed;
        let Some(player) = to_act.filter(|_| *turn == self.turn) else {
            return Err(format!("the clock of turn {turn} is resumed, and is not running"));
        };
        let (before, deadline) = (self.deadline(player), UnixMicros(*deadline_micros));
        self.resumed = Some(deadline);
        if deadline < before {
            return Err(format!(
                "turn {turn}: the deadline {before} is moved forward to {deadline}"
            ));
        }
        if deadline > at.plus(self.action).plus(self.bank(player)).plus(RESUME_TOLERANCE) {
            return Err(format!("turn {turn}: the resumed clock has more time than a whole one"));
        }
        Ok(())
    }

    /// Stops the clock: the hand is suspended.
    pub(super) fn suspend(&mut self, at: UnixMicros) {
        self.suspended_at = Some(at);
    }

    /// Runs the clock again: the dealer is back.
    ///
    /// # Errors
    /// If the deadline is not that of the decision due, with what was left of it.
    pub(super) fn continue_after(
        &mut self,
        continued: &pb::HandContinued,
        to_act: Option<Player>,
        at: UnixMicros,
    ) -> Result<(), String> {
        let stood_at = self.suspended_at.take();
        let Some(player) = to_act else {
            let none = continued.deadline_micros == 0;
            return if none { Ok(()) } else { Err(NO_DECISION.to_owned()) };
        };
        let deadline = UnixMicros(continued.deadline_micros);
        let left = self.deadline(player).since(stood_at.unwrap_or(at));
        self.resumed = Some(deadline);
        if deadline.plus(RESUME_TOLERANCE) < at.plus(left) {
            return Err(format!(
                "the hand goes on at {at} with less time for a decision than was left"
            ));
        }
        if deadline > at.plus(self.action).plus(self.bank(player)).plus(RESUME_TOLERANCE) {
            return Err(format!("the hand goes on at {at} with more than a whole clock"));
        }
        Ok(())
    }
}
