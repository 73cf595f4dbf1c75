//! Decisions on record: legal, in turn, and the clock's no other than the default; and agreements to
//! end a suspended hand.

use eventlog_core::Event;
use proto::common::v1::{AbortCause, MoveKind};
use proto::event::v1 as pb;
use rules::{Decision, DecisionAuthor, Move, Next, Player, PlayerSet};
use wire::records::{HandEvent, TableRecord};
use wire::replay::is_void;

use super::{Replayer, RuleInput, Stop, stop};
use crate::hand::Check;
use crate::hand::signatures::AskedLeave;

/// A decision as the chain of decisions takes it.
pub(in crate::hand) struct RecordedDecision {
    /// In the table's log.
    pub(in crate::hand) position: u64,
    pub(in crate::hand) seat: u32,
    pub(in crate::hand) by_clock: bool,
    pub(in crate::hand) kind: MoveKind,
    pub(in crate::hand) line: String,
    /// The line with a secret choice in the clear.
    pub(in crate::hand) said: String,
    pub(in crate::hand) signature: Vec<u8>,
}

/// Suspension of the hand, and who has agreed to end it.
#[derive(Default)]
pub(super) struct Agreement {
    is_suspended: bool,
    agreed: PlayerSet,
    /// Players who have asked to leave, with the positions of their records.
    leaves: Vec<(u64, Player)>,
}

impl Agreement {
    pub(super) fn new(leaves: &[AskedLeave<'_>]) -> Agreement {
        let leaves = leaves.iter().map(|leave| (leave.position, leave.player)).collect();
        Agreement { leaves, ..Agreement::default() }
    }

    fn restart(&mut self, is_suspended: bool) {
        (self.is_suspended, self.agreed) = (is_suspended, PlayerSet::EMPTY);
    }
}

impl Replayer {
    pub(super) fn decision(
        &mut self,
        event: &Event,
        decided: &pb::MoveDecided,
    ) -> Result<(), Stop> {
        self.note_line(event, decided)?;
        if is_void(decided) {
            return self.agree(event, decided);
        }
        // The default in the form that the rules record it in: of cards that look alike, a decision
        // names the one held longest.
        let default = match rules::next(&self.replay.hand) {
            Next::Decision(decision) => {
                let Decision { player, default, legal: _ } = decision;
                rules::decide(&self.replay.hand, player, default, DecisionAuthor::Clock).ok()
            }
            Next::Chance(_) | Next::Done(_) => None,
        };
        let input = self.replay.read(&TableRecord::MoveDecided(decided.clone()), &|_| None);
        let input = input.map_err(|error| stop(Check::Decisions, error))?;
        let Some(rules::Event::Decided { player, mv, author: by }) = &input else { return Ok(()) };
        self.check_turn(decided, mv, *by == DecisionAuthor::Clock && default != input);
        self.check_named_cards(input.as_ref(), decided);
        if let Err(why) = self.clock.check_decision(*player, mv, decided, event.recorded_at) {
            self.findings.add_failure(Check::Clocks, || why);
        }
        let step = RuleInput::Decision(*player, mv.clone(), *by);
        self.findings.inputs.insert(event.position.0, step);
        self.since = event.recorded_at;
        self.evolve(event, input.as_ref());
        Ok(())
    }

    /// Adds a decision to those that the chain takes.
    fn note_line(&mut self, event: &Event, decided: &pb::MoveDecided) -> Result<(), Stop> {
        let line = |said| {
            let line = self.replay.recorded_line(decided, said);
            line.map_err(|error| stop(Check::Decisions, error))
        };
        let recorded = RecordedDecision {
            position: event.position.0,
            seat: decided.seat,
            by_clock: decided.by_clock,
            kind: decided.r#move.as_ref().map_or(MoveKind::Unspecified, |mv| mv.kind()),
            line: line(false)?,
            said: line(true)?,
            signature: decided.signature.to_vec(),
        };
        self.findings.decisions.push(recorded);
        Ok(())
    }

    fn check_turn(&mut self, decided: &pb::MoveDecided, mv: &Move, not_default: bool) {
        let (turn, recorded, seat) = (self.clock.turn, decided.turn, decided.seat);
        if turn != recorded {
            self.findings.add_failure(Check::Decisions, || {
                format!("the decision of turn {turn} is recorded as turn {recorded}")
            });
        }
        if not_default {
            self.findings.add_failure(Check::Decisions, || {
                format!("turn {turn}: the clock decided for seat {seat} what is not the default")
            });
        }
        if self.agreement.is_suspended && *mv != Move::Leave {
            self.findings.add_failure(Check::Decisions, || {
                format!("turn {turn}: seat {seat} decided while the hand was suspended")
            });
        }
    }

    /// Takes a player's agreement to end the suspended hand.
    fn agree(&mut self, event: &Event, decided: &pb::MoveDecided) -> Result<(), Stop> {
        let player = self.replay.player_of(decided.seat);
        let player = player.map_err(|error| stop(Check::Decisions, error))?;
        let seat = decided.seat;
        let why = if !self.agreement.is_suspended {
            "the hand was not suspended"
        } else if decided.by_clock {
            "the clock agrees for nobody"
        } else if !self.voters(event.position.0).contains(player) {
            "its player is not in the hand any more"
        } else if self.agreement.agreed.contains(player) {
            "it had agreed before"
        } else {
            self.agreement.agreed = self.agreement.agreed.with(player);
            return Ok(());
        };
        Err(stop(Check::Decisions, format!("seat {seat} agreed to end the hand, and {why}")))
    }

    /// Players whose agreement ends a suspended hand, at this position: all that are live and have not
    /// asked to leave before. Nobody else takes a player's vote away.
    fn voters(&self, position: u64) -> PlayerSet {
        let live = self.replay.hand.live().minus(self.replay.hand.leavers());
        let left = self.agreement.leaves.iter().filter(|(at, _)| *at < position);
        left.fold(live, |voters, (_, player)| voters.without(*player))
    }

    /// Checks that all of these players have agreed, at least one.
    fn check_agreed(&mut self, voters: PlayerSet) {
        let agreed = self.agreement.agreed;
        let why = match voters.minus(agreed).lowest() {
            Some(player) => format!("the hand was ended by agreement, and {player} had not agreed"),
            None if agreed.is_empty() => {
                "the hand was ended by agreement, and nobody was left to agree".to_owned()
            }
            None => return,
        };
        self.findings.add_failure(Check::Decisions, || why);
    }

    /// Follows the suspension of the hand, and what ends it.
    pub(super) fn suspension(&mut self, event: &Event, of_hand: HandEvent<'_>) {
        match of_hand {
            HandEvent::HandSuspended(_) => {
                self.agreement.restart(true);
                self.clock.suspend(event.recorded_at);
            }
            HandEvent::HandContinued(continued) => {
                self.agreement.restart(false);
                let to_act = self.replay.hand.to_act();
                if let Err(why) = self.clock.continue_after(continued, to_act, event.recorded_at) {
                    self.findings.add_failure(Check::Clocks, || why);
                }
            }
            HandEvent::HandAborted(aborted) if aborted.cause() == AbortCause::Agreed => {
                self.check_agreed(self.voters(event.position.0));
            }
            HandEvent::HandOpened(_)
            | HandEvent::EntropyClosed(_)
            | HandEvent::EntropyRevealed(_)
            | HandEvent::HandRevealed(_)
            | HandEvent::SeedRefused(_)
            | HandEvent::HandAborted(_) => {}
        }
    }
}
