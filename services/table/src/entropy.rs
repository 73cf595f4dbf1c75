//! The seats' part in the chance of a hand: who has committed to what, who is waited for, who has
//! revealed. Folds and judgements, no clock.
//!
//! A seat commits to 32 bytes that nobody knows, normally while the hand before is played: the
//! commitment lies in the table's stream, so that it is there before the hand is. An open hand takes
//! commitments until all of its roster have committed or its deadline has passed; then they are closed
//! and those who committed reveal. Whoever never commits is absent, which harms nobody; who commits
//! and is silent burns the hand number before any ante, since otherwise the last to reveal could pick
//! among two outcomes by keeping silent.
//!
//! **Who never takes part costs one wait and no more**: waited for is only who was not absent in the
//! last hand that he was dealt into here. Where nobody is waited for the hand is opened and its
//! commitments are closed in one append.
//!
//! **Deadlines are the log's, patience is the owner's.** A deadline that passes while nobody could be
//! heard (the table was just taken up, or its log took nothing) is honoured from the moment on when
//! the table listens again, and any deadline later by as much as the room is late: nobody sits out for
//! the house's trouble.

use std::collections::BTreeMap;
use std::time::Duration;

use fairness::{ClientCommitment, Context, Entropy, Row, Status, Transcript};
use primitives::{PlayerId, SeatNo, TableId, UnixMicros};
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use wire::BadField;

/// What a seat has committed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Promise {
    pub player: PlayerId,
    pub commitment: ClientCommitment,
}

/// Of one hand.
pub type Promises = BTreeMap<SeatNo, Promise>;

/// Since when the table has been listening, and what time it is.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    pub at: UnixMicros,
    /// It has been heard and has heard everybody since then.
    pub since: UnixMicros,
    /// How long the dealer may be silent.
    pub patience: Duration,
    /// The room is late by so much, which deadlines are honoured later by.
    pub late: Duration,
    /// No hand starts before, if there is such a time: the room is behind.
    pub hold: Option<UnixMicros>,
    /// When the wallet last said how idle players stand; at first when the table was taken up.
    pub checked: UnixMicros,
}

/// A hand that is open and not sealed.
#[derive(Debug, Clone)]
pub struct Sealing {
    pub commitment: dealer::Commitment,
    /// p1 first.
    pub roster: Vec<(SeatNo, PlayerId)>,
    /// When it came to what is happening now.
    pub since: UnixMicros,
    /// Until then seats commit, or, once that is closed, reveal.
    pub deadline: UnixMicros,
    /// The seats that have committed and reveal now, ascending.
    pub closed: Option<Vec<SeatNo>>,
    pub revealed: BTreeMap<SeatNo, Entropy>,
}

/// What an open hand has come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Due {
    /// Somebody may still commit or reveal until then.
    Wait(UnixMicros),
    /// No more commitments are taken.
    Close,
    /// All that was committed to is revealed: the dealer binds it.
    Seal,
    /// These have kept silent.
    Burn(Vec<SeatNo>),
}

impl Sealing {
    /// The hand as its first event has it.
    pub fn open(opened: &pb::HandOpened, at: UnixMicros) -> Result<Sealing, BadField> {
        let mut roster = Vec::new();
        for pb::RosterSeat { seat, player_id, stack: _ } in &opened.roster {
            let player = wire::field::player_id(player_id)?;
            roster.push((wire::field::seat("roster.seat", *seat)?, player));
        }
        // Before seats could take part in chance there was nothing to close.
        let older = opened.entropy_deadline_micros == 0;
        Ok(Sealing {
            commitment: opened.commitment.clone().unwrap_or_default(),
            roster,
            since: at,
            deadline: UnixMicros(opened.entropy_deadline_micros),
            closed: older.then(Vec::new),
            revealed: BTreeMap::new(),
        })
    }

    /// The seats of the roster that have committed, ascending. A seat that was left and taken anew
    /// has not.
    #[must_use]
    pub fn committed(&self, promises: &Promises) -> Vec<SeatNo> {
        committed(&self.roster, promises)
    }

    /// What is due. `each` is how long seats have for either half.
    #[must_use]
    pub fn due(&self, promises: &Promises, now: &Now, each: Duration) -> Due {
        let deadline = if now.since > self.since {
            self.deadline.max(now.since.plus(each))
        } else {
            self.deadline
        };
        let deadline = deadline.plus(now.late);
        let over = now.at >= deadline;
        match &self.closed {
            None if over || self.committed(promises).len() == self.roster.len() => Due::Close,
            None => Due::Wait(deadline),
            Some(closed) => {
                let silent = closed.iter().filter(|seat| !self.revealed.contains_key(seat));
                let silent: Vec<SeatNo> = silent.copied().collect();
                match (silent.is_empty(), over) {
                    (true, _) => Due::Seal,
                    (false, true) => Due::Burn(silent),
                    (false, false) => Due::Wait(deadline),
                }
            }
        }
    }

    /// What every seat brought, ascending: revealed or absent.
    #[must_use]
    pub fn rows(&self, promises: &Promises) -> Vec<dealer::EntropyRow> {
        let mut roster = self.roster.clone();
        roster.sort_unstable();
        let row = |(seat, player): (SeatNo, PlayerId)| {
            let brought = promises.get(&seat).zip(self.revealed.get(&seat));
            let (status, commitment, entropy) = match brought {
                Some((promise, entropy)) => (
                    dealer::EntropyStatus::Revealed,
                    promise.commitment.0.to_vec(),
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
        roster.into_iter().map(row).collect()
    }

    /// What the dealer must make of those rows.
    pub fn transcript(
        &self,
        promises: &Promises,
        (table, hand_no): (TableId, u64),
        rule_set_hash: &[u8; 32],
    ) -> Result<Transcript, BadField> {
        let (context, dealer) = bound(&self.commitment, (table, hand_no), rule_set_hash)?;
        let mut roster = self.roster.clone();
        roster.sort_unstable();
        let row = |(seat, player): (SeatNo, PlayerId)| {
            let brought = promises.get(&seat).zip(self.revealed.get(&seat));
            let (status, commitment, entropy) = match brought {
                Some((promise, entropy)) => (Status::Revealed, promise.commitment, *entropy),
                None => (Status::Absent, ClientCommitment([0; 32]), Entropy([0; 32])),
            };
            Row { seat: seat.get(), player, status, commitment, entropy }
        };
        let rows: Vec<Row> = roster.into_iter().map(row).collect();
        Transcript::try_new(&context, &dealer, None, &rows)
            .map_err(|error| BadField::new("rows", error.to_string()))
    }
}

/// The seats of a roster that have committed, ascending.
#[must_use]
pub fn committed(roster: &[(SeatNo, PlayerId)], promises: &Promises) -> Vec<SeatNo> {
    let promised = |(seat, player): &&(SeatNo, PlayerId)| {
        promises.get(seat).is_some_and(|promise| promise.player == *player)
    };
    let mut seats: Vec<SeatNo> = roster.iter().filter(promised).map(|(seat, _)| *seat).collect();
    seats.sort_unstable();
    seats
}

/// The hand that a dealer's commitment is bound to, and the commitment itself.
pub fn bound(
    commitment: &dealer::Commitment,
    (table, hand_no): (TableId, u64),
    rule_set_hash: &[u8; 32],
) -> Result<(Context, fairness::Commitment), BadField> {
    let dealer::Commitment { commitment, key_id: _, signature: _, origin } = commitment;
    let context = Context::new(origin, table, hand_no, rule_set_hash);
    Ok((context, fairness::Commitment(wire::field::exactly("commitment", commitment)?)))
}
