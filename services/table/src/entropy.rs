//! The seats' part in the chance of a hand: commitments, waiting, reveals. Folds and judgements, no
//! clock.
//!
//! A seat commits to 32 bytes that nobody else knows, usually while the hand before is played. The
//! commitment stands in the table's stream, so it exists before the hand. An open hand takes
//! commitments until its whole roster has committed or its deadline has passed. Then it is closed
//! to commitments, and those who committed reveal. A player who never commits is absent, which
//! harms nobody. A player who commits and stays silent burns the hand number before any ante.
//! Otherwise the last one to reveal could choose between two outcomes by staying silent.
//!
//! **A player who never takes part costs one wait and no more.** A hand waits only for players who
//! were not absent from the last hand that they were dealt into at this table. Where it waits for
//! nobody, one append opens it and closes its commitments.
//!
//! **Deadlines are recorded, and extended by the owner.** A deadline may pass while no command
//! could be taken: the table was just recovered, or its log took nothing. Then the whole time runs
//! again from the moment at which the table takes commands. Every deadline is also extended by the
//! delay of the room. So nobody sits out because the service was slow.
//!
//! Specification: fairness/SPEC.md §3.3 to §3.6.

use std::collections::BTreeMap;
use std::time::Duration;

use fairness::{ClientCommitment, Context, Entropy, RowStatus, Transcript, TranscriptRow};
use primitives::{PlayerId, SeatNo, TableId, UnixMicros};
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use wire::BadField;

/// Commitment of a seat's player to entropy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SeatCommitment {
    pub player: PlayerId,
    pub commitment: ClientCommitment,
}

/// Commitments of one hand, by seat.
pub(crate) type SeatCommitments = BTreeMap<SeatNo, SeatCommitment>;

/// Present time of a table, and the times and delays that its effects depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    pub at: UnixMicros,
    /// Time since which the table has been listening without a break.
    pub listening_since: UnixMicros,
    /// Time for which the dealer may be silent.
    pub dealer_timeout: Duration,
    /// Delay of the room, by which deadlines are extended.
    pub room_delay: Duration,
    /// Time before which no hand starts, because the room is behind.
    pub starts_held_until: Option<UnixMicros>,
    /// Time of the wallet's last report on the standing of idle players; at first the time of
    /// recovery.
    pub standing_checked_at: UnixMicros,
}

/// Round of commitments and reveals of a hand that is open and not sealed.
#[derive(Debug, Clone)]
pub(crate) struct EntropyRound {
    pub commitment: dealer::Commitment,
    /// Seats and players, p1 first.
    pub roster: Vec<(SeatNo, PlayerId)>,
    /// Time of the last step: the opening, the close of commitments, or a reveal.
    pub step_at: UnixMicros,
    /// Deadline to commit or, once commitments are closed, to reveal.
    pub deadline: UnixMicros,
    /// Seats that have committed and must reveal, in ascending order; `None` until commitments are
    /// closed.
    pub revealing: Option<Vec<SeatNo>>,
    pub revealed: BTreeMap<SeatNo, Entropy>,
}

/// Next step of an open hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EntropyStep {
    /// A seat may still commit or reveal until this time.
    Wait(UnixMicros),
    /// Commitments are to be closed.
    Close,
    /// Every commitment is revealed, and the dealer is to bind them.
    Seal,
    /// These seats have withheld their entropy.
    Burn(Vec<SeatNo>),
}

impl EntropyRound {
    /// Starts the round from the hand's first event.
    pub(crate) fn open(opened: &pb::HandOpened, at: UnixMicros) -> Result<EntropyRound, BadField> {
        let mut roster = Vec::new();
        for pb::RosterSeat { seat, player_id, stack: _ } in &opened.roster {
            let player = wire::field::player_id(player_id)?;
            roster.push((wire::field::seat("roster.seat", *seat)?, player));
        }
        // Hands from before seats took part in chance have nothing to close.
        let older = opened.entropy_deadline_micros == 0;
        Ok(EntropyRound {
            commitment: opened.commitment.clone().unwrap_or_default(),
            roster,
            step_at: at,
            deadline: UnixMicros(opened.entropy_deadline_micros),
            revealing: older.then(Vec::new),
            revealed: BTreeMap::new(),
        })
    }

    /// Seats of the roster that have committed, in ascending order. A commitment of a seat's former
    /// player does not count.
    #[must_use]
    pub(crate) fn committed_seats(&self, commitments: &SeatCommitments) -> Vec<SeatNo> {
        committed_seats(&self.roster, commitments)
    }

    /// Next step at this time. `each` is the time that seats have for each half.
    #[must_use]
    pub(crate) fn next_step(
        &self,
        commitments: &SeatCommitments,
        now: &Timing,
        each: Duration,
    ) -> EntropyStep {
        let deadline = if now.listening_since > self.step_at {
            self.deadline.max(now.listening_since.plus(each))
        } else {
            self.deadline
        };
        let deadline = deadline.plus(now.room_delay);
        let over = now.at >= deadline;
        match &self.revealing {
            None if over || self.committed_seats(commitments).len() == self.roster.len() => {
                EntropyStep::Close
            }
            None => EntropyStep::Wait(deadline),
            Some(closed) => {
                let silent = closed.iter().filter(|seat| !self.revealed.contains_key(seat));
                let silent: Vec<SeatNo> = silent.copied().collect();
                match (silent.is_empty(), over) {
                    (true, _) => EntropyStep::Seal,
                    (false, true) => EntropyStep::Burn(silent),
                    (false, false) => EntropyStep::Wait(deadline),
                }
            }
        }
    }

    /// Entropy of every seat of the roster, in ascending order: revealed or absent.
    #[must_use]
    pub(crate) fn rows(&self, commitments: &SeatCommitments) -> Vec<dealer::EntropyRow> {
        let mut roster = self.roster.clone();
        roster.sort_unstable();
        let row = |seat: SeatNo, player: PlayerId| {
            let contribution = commitments.get(&seat).zip(self.revealed.get(&seat));
            let (status, commitment, entropy) = match contribution {
                Some((committed, entropy)) => (
                    dealer::EntropyStatus::Revealed,
                    committed.commitment.0.to_vec(),
                    entropy.0.to_vec(),
                ),
                None => (dealer::EntropyStatus::Absent, Vec::new(), Vec::new()),
            };
            dealer::EntropyRow {
                seat: u32::from(seat.get()),
                player_id: player.0.to_vec(),
                status: status.into(),
                commitment,
                entropy,
            }
        };
        roster.into_iter().map(|(seat, player)| row(seat, player)).collect()
    }

    /// Transcript that the dealer must derive from the rows of the roster.
    pub(crate) fn transcript(
        &self,
        commitments: &SeatCommitments,
        table: TableId,
        hand_no: u64,
        rule_set_hash: &[u8; 32],
    ) -> Result<Transcript, BadField> {
        let (context, dealer) = bound_commitment(&self.commitment, table, hand_no, rule_set_hash)?;
        let mut roster = self.roster.clone();
        roster.sort_unstable();
        let row = |seat: SeatNo, player: PlayerId| {
            let contribution = commitments.get(&seat).zip(self.revealed.get(&seat));
            let (status, commitment, entropy) = match contribution {
                Some((committed, entropy)) => (RowStatus::Revealed, committed.commitment, *entropy),
                None => (RowStatus::Absent, ClientCommitment([0; 32]), Entropy([0; 32])),
            };
            TranscriptRow { seat: seat.get(), player, status, commitment, entropy }
        };
        let rows: Vec<TranscriptRow> =
            roster.into_iter().map(|(seat, player)| row(seat, player)).collect();
        Transcript::try_new(&context, &dealer, None, &rows)
            .map_err(|error| BadField::new("rows", error.to_string()))
    }
}

/// Seats of a roster that have committed, in ascending order.
#[must_use]
pub(crate) fn committed_seats(
    roster: &[(SeatNo, PlayerId)],
    commitments: &SeatCommitments,
) -> Vec<SeatNo> {
    let committed = |(seat, player): &&(SeatNo, PlayerId)| {
        commitments.get(seat).is_some_and(|committed| committed.player == *player)
    };
    let mut seats: Vec<SeatNo> = roster.iter().filter(committed).map(|(seat, _)| *seat).collect();
    seats.sort_unstable();
    seats
}

/// Context that a dealer's commitment is bound to, and the commitment itself.
pub(crate) fn bound_commitment(
    commitment: &dealer::Commitment,
    table: TableId,
    hand_no: u64,
    rule_set_hash: &[u8; 32],
) -> Result<(Context, fairness::Commitment), BadField> {
    let dealer::Commitment { commitment, key_id: _, signature: _, origin } = commitment;
    let context = Context::new(origin, table, hand_no, rule_set_hash);
    Ok((context, fairness::Commitment(wire::field::exactly("commitment", commitment)?)))
}
