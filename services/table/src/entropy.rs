//! The seats' part in the chance of a hand: commitments, waiting, reveals. Folds and judgements, no
//! clock.
//!
//! A seat commits to 32 bytes that nobody else knows, usually while the hand before is played. The
//! commitment stands in the table's stream, so it exists before the hand. An open hand takes
//! commitments until its whole roster has committed, or until `commit_ms` after the dealer's
//! promise and after the last of its players took a seat. Then the dealer is asked to sign what
//! they are (`Close`), and those who committed reveal. A player who never commits is absent, which
//! harms nobody. A player who commits and stays silent burns the hand number before any ante.
//! Otherwise the last one to reveal could choose between two outcomes by staying silent.
//!
//! **Nothing is committed once the closing has been asked for.** The dealer signs one closing, ever,
//! and a receipt for a commitment that the closing lacks convicts the table. Whether it was asked
//! is not in the log: after a recovery it counts as asked if it can have been.
//!
//! **Windows are those of the records, and extended by the owner.** One may end while no command
//! could be taken: the table was just recovered, or its log took nothing. Then the time to reveal
//! runs again from the moment at which the table takes commands. Both are also extended by the
//! delay of the room. So nobody sits out because the service was slow.
//!
//! Specification: fairness/SPEC.md §3.3 to §3.6.

use proto::common::v1::{self as common, EntropyStatus};
use std::collections::BTreeMap;
use std::time::Duration;

use eventlog::Position;
use fairness::{
    ClientCommitment, Closing, ClosingRow, Context, Entropy, PlayerKey, RowStatus, Transcript,
    TranscriptRow,
};
use primitives::{PlayerId, SeatNo, TableId, UnixMicros};
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use serde::{Deserialize, Serialize};
use wire::BadField;

/// Commitment to entropy of a player in a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SeatCommitment {
    #[serde(with = "crate::stored::fixed")]
    pub commitment: ClientCommitment,
    /// Key that the player signs decisions of the hand with, if they named one.
    #[serde(with = "crate::stored::optional_fixed")]
    pub key: Option<PlayerKey>,
    /// Position of its record, once that is noted.
    pub position: Option<Position>,
}

/// Commitments of one hand, by seat and player: one counts for its player in its seat, also if they
/// leave and come back, and the seat's next player makes another.
pub(crate) type SeatCommitments = BTreeMap<(SeatNo, PlayerId), SeatCommitment>;

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
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct EntropyRound {
    #[serde(with = "crate::stored::message")]
    pub commitment: common::Commitment,
    /// Seats and players, p1 first.
    pub roster: Vec<(SeatNo, PlayerId)>,
    /// Time of the last step: the opening, the close of commitments, or a reveal.
    pub step_at: UnixMicros,
    /// Deadline to commit or, once commitments are closed, to reveal.
    pub deadline: UnixMicros,
    /// Whether the dealer has, or may have, been asked for the closing. In memory alone.
    pub is_close_asked: bool,
    /// The dealer's closing; `None` until commitments are closed.
    #[serde(with = "crate::stored::optional_message")]
    pub closing: Option<dealer::Closing>,
    #[serde(with = "crate::stored::fixed_by_seat")]
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
    /// Starts the round from the hand's first event. Seats may commit until `commit_until`.
    pub(crate) fn open(
        opened: &pb::HandOpened,
        at: UnixMicros,
        commit_until: UnixMicros,
    ) -> Result<EntropyRound, BadField> {
        let mut roster = Vec::new();
        for pb::RosterSeat { seat, player_id, stack: _, house: _ } in &opened.roster {
            let player = wire::field::player_id(player_id)?;
            roster.push((wire::field::seat("roster.seat", *seat)?, player));
        }
        Ok(EntropyRound {
            commitment: opened.commitment.clone().unwrap_or_default(),
            roster,
            step_at: at,
            deadline: commit_until,
            is_close_asked: false,
            closing: None,
            revealed: BTreeMap::new(),
        })
    }

    /// Takes the dealer's closing, recorded at `at`: who committed reveals for the time `each`.
    pub(crate) fn close(&mut self, closing: &dealer::Closing, at: UnixMicros, each: Duration) {
        self.step_at = at;
        self.deadline = at.plus(each);
        self.closing = Some(closing.clone());
    }

    /// Seats that must reveal, in ascending order; `None` until commitments are closed.
    #[must_use]
    pub(crate) fn revealing(&self) -> Option<Vec<SeatNo>> {
        let committed = self.closing.as_ref()?.rows.iter().filter(|row| !row.commitment.is_empty());
        Some(committed.filter_map(|row| SeatNo::try_from(row.seat).ok()).collect())
    }

    /// Whether commitments may close by now.
    #[must_use]
    pub(crate) fn can_be_closed(&self, commitments: &SeatCommitments, now: UnixMicros) -> bool {
        now >= self.deadline || self.has_whole_roster(commitments)
    }

    fn has_whole_roster(&self, commitments: &SeatCommitments) -> bool {
        self.committed_seats(commitments).len() == self.roster.len()
    }

    /// Seats of the roster that have committed, in ascending order.
    #[must_use]
    pub(crate) fn committed_seats(&self, commitments: &SeatCommitments) -> Vec<SeatNo> {
        committed_seats(&self.roster, commitments)
    }

    /// Next step at this time. `each` is the time that seats have to reveal.
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
        match self.revealing() {
            None if self.is_close_asked || over || self.has_whole_roster(commitments) => {
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

    /// Commitments of every seat of the roster, in ascending order.
    #[must_use]
    pub(crate) fn closing_rows(&self, commitments: &SeatCommitments) -> Vec<dealer::ClosingRow> {
        let mut roster = self.roster.clone();
        roster.sort_unstable();
        let row = |seat: SeatNo, player: PlayerId| {
            let committed = commitments.get(&(seat, player));
            dealer::ClosingRow {
                seat: u32::from(seat.get()),
                player_id: player.0.to_vec(),
                commitment: committed.map_or_else(Vec::new, |made| made.commitment.0.to_vec()),
            }
        };
        roster.into_iter().map(|(seat, player)| row(seat, player)).collect()
    }

    /// Checks that the dealer's closing is of exactly these rows, has the hash that they give, and
    /// is signed by something of a signature's shape. Who it was signed by is the clients' to check.
    pub(crate) fn check_closing(
        &self,
        closing: &dealer::Closing,
        commitments: &SeatCommitments,
        bound: &BoundCommitment,
    ) -> Result<(), BadField> {
        let dealer::Closing { closing, rows, key_id, signature } = closing;
        if *rows != self.closing_rows(commitments) {
            return Err(BadField::new("closing.rows", "other rows than were sent"));
        }
        let made = Closing::try_new(&bound.context, &bound.dealer, &parse_rows(rows)?)
            .map_err(|error| BadField::new("closing.rows", error.to_string()))?;
        if wire::field::exactly::<32>("closing.closing", closing)? != made.0 {
            return Err(BadField::new("closing.closing", "not the hash of its rows"));
        }
        wire::field::exactly::<8>("closing.key_id", key_id)?;
        wire::field::exactly::<64>("closing.signature", signature)?;
        Ok(())
    }

    /// Entropy of every seat of the roster, in ascending order: revealed or absent.
    #[must_use]
    pub(crate) fn rows(&self, commitments: &SeatCommitments) -> Vec<dealer::EntropyRow> {
        let mut roster = self.roster.clone();
        roster.sort_unstable();
        let row = |seat: SeatNo, player: PlayerId| {
            let contribution = commitments.get(&(seat, player)).zip(self.revealed.get(&seat));
            let (status, commitment, entropy) = match contribution {
                Some((committed, entropy)) => {
                    (EntropyStatus::Revealed, committed.commitment.0.to_vec(), entropy.0.to_vec())
                }
                None => (EntropyStatus::Absent, Vec::new(), Vec::new()),
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
        bound: &BoundCommitment,
    ) -> Result<Transcript, BadField> {
        let BoundCommitment { context, dealer } = bound;
        let mut roster = self.roster.clone();
        roster.sort_unstable();
        let row = |seat: SeatNo, player: PlayerId| {
            let contribution = commitments.get(&(seat, player)).zip(self.revealed.get(&seat));
            let (status, commitment, entropy) = match contribution {
                Some((committed, entropy)) => (RowStatus::Revealed, committed.commitment, *entropy),
                None => (RowStatus::Absent, ClientCommitment([0; 32]), Entropy([0; 32])),
            };
            TranscriptRow { seat: seat.get(), player, status, commitment, entropy }
        };
        let rows: Vec<TranscriptRow> =
            roster.into_iter().map(|(seat, player)| row(seat, player)).collect();
        Transcript::try_new(context, dealer, None, &rows)
            .map_err(|error| BadField::new("rows", error.to_string()))
    }
}

/// Seats of a roster that have committed, in ascending order.
#[must_use]
pub(crate) fn committed_seats(
    roster: &[(SeatNo, PlayerId)],
    commitments: &SeatCommitments,
) -> Vec<SeatNo> {
    let committed = |key: &&(SeatNo, PlayerId)| commitments.contains_key(*key);
    let mut seats: Vec<SeatNo> = roster.iter().filter(committed).map(|(seat, _)| *seat).collect();
    seats.sort_unstable();
    seats
}

fn parse_rows(rows: &[dealer::ClosingRow]) -> Result<Vec<ClosingRow>, BadField> {
    let row = |row: &dealer::ClosingRow| {
        let dealer::ClosingRow { seat, player_id, commitment } = row;
        let committed = !commitment.is_empty();
        let commitment = committed.then(|| wire::field::exactly("commitment", commitment));
        Ok(ClosingRow {
            seat: wire::field::seat("seat", *seat)?.get(),
            player: wire::field::player_id(player_id)?,
            commitment: commitment.transpose()?.map(ClientCommitment),
        })
    };
    rows.iter().map(row).collect()
}

/// A dealer's commitment, and the context that it is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BoundCommitment {
    #[serde(with = "crate::stored::fixed")]
    pub context: Context,
    #[serde(with = "crate::stored::fixed")]
    pub dealer: fairness::Commitment,
}

impl BoundCommitment {
    /// Binds the commitment to a hand under the rules of this hash.
    pub(crate) fn try_new(
        commitment: &common::Commitment,
        table: TableId,
        hand_no: u64,
        rules_hash: &[u8; 32],
    ) -> Result<BoundCommitment, BadField> {
        let common::Commitment { commitment, key_id: _, signature: _, origin } = commitment;
        let context = Context::new(origin, table, hand_no, rules_hash);
        let dealer = fairness::Commitment(wire::field::exactly("commitment", commitment)?);
        Ok(BoundCommitment { context, dealer })
    }

    /// The commitment of a hand that was opened, with its context.
    pub(crate) fn of_opened(
        opened: &pb::HandOpened,
        context: Context,
    ) -> Result<BoundCommitment, BadField> {
        let commitment = opened.commitment.as_ref().map_or(&[][..], |made| &made.commitment);
        let dealer = fairness::Commitment(wire::field::exactly("commitment", commitment)?);
        Ok(BoundCommitment { context, dealer })
    }
}
