//! Receipts of the table, compared with the records of a hand.
//!
//! Positions of a log are given once, so a receipt for any hand contradicts a file that shows another
//! record at its position. Where a record must be in the file if it is anywhere, its absence does too.

use fairness::evidence::Statement;
use fairness::{Chain, ClientCommitment, Entropy};
use primitives::PlayerId;
use proto::common::v1::AbortCause;
use proto::event::v1 as pb;
use wire::TableRecord;

use super::Examination;
use super::positions::AtPosition;
use crate::hand::closing::dealer_closing;
use crate::hand::signatures;

/// Commitment of a seat as a receipt states it.
struct Given<'a> {
    seat: u8,
    player: PlayerId,
    commitment: &'a ClientCommitment,
    key: Option<&'a [u8; 32]>,
}

/// Position that a receipt names; `None` for a text that is none.
pub(super) fn position(statement: &Statement) -> Option<u64> {
    match statement {
        Statement::CommitReceipt { position, .. }
        | Statement::RevealReceipt { position, .. }
        | Statement::DecisionReceipt { position, .. } => Some(*position),
        Statement::Commitment { .. } | Statement::Closing { .. } | Statement::Decision { .. } => {
            None
        }
    }
}

impl Examination<'_> {
    /// Contradiction between a receipt and the records; `None` also for a text that is no receipt.
    pub(super) fn receipt(&self, statement: &Statement) -> Option<String> {
        match statement {
            Statement::CommitReceipt {
                context,
                dealer,
                seat,
                player,
                commitment,
                player_key,
                position,
            } => {
                let key = player_key.as_ref();
                let given = Given { seat: *seat, player: *player, commitment, key };
                if self.is_of_the_hand(context, dealer) {
                    self.commit_receipt(&given, *position)
                } else {
                    self.foreign(*position, |shown| is_commitment(shown, &given))
                }
            }
            Statement::RevealReceipt { context, dealer, seat, player, entropy, position } => {
                if self.is_of_the_hand(context, dealer) {
                    self.reveal_receipt(*seat, entropy, *position)
                } else {
                    // Reveals stand in the stream of their hand alone.
                    self.excluded(context, *seat, *player)
                        .or_else(|| self.foreign(*position, |_| false))
                }
            }
            Statement::DecisionReceipt { context, chain, position } => {
                if *context == self.promise.context {
                    self.decision_receipt(chain, *position)
                } else {
                    let may_be = |shown: &_| matches!(shown, TableRecord::LeaveAsked(_));
                    self.foreign(*position, may_be)
                }
            }
            Statement::Commitment { .. }
            | Statement::Closing { .. }
            | Statement::Decision { .. } => None,
        }
    }

    fn has_ended(&self) -> bool {
        self.decoded.settled().is_ok() || self.decoded.aborted().is_ok()
    }

    fn commit_receipt(&self, given: &Given<'_>, position: u64) -> Option<String> {
        let seat = given.seat;
        if let Ok((_, closing)) = dealer_closing(self.decoded) {
            let mine = |row: &&proto::dealer::v1::ClosingRow| {
                row.seat == u32::from(seat) && row.player_id == given.player.bytes()
            };
            let mut rows = closing.rows.iter().filter(mine);
            if rows.any(|row| row.commitment[..] != given.commitment.0) {
                return Some(format!(
                    "a receipt was signed for what seat {seat} committed to, and the closing has \
                     another number or none: the TABLE or the DEALER left it out"
                ));
            }
        }
        let is_it = |shown: &_| {
            let TableRecord::EntropyCommitted(it) = shown else { return false };
            it.hand_no == self.promise.hand_no && is_commitment(shown, given)
        };
        self.differs(position, is_it).then(|| broken_receipt("a commitment", seat, position))
    }

    fn reveal_receipt(&self, seat: u8, entropy: &Entropy, position: u64) -> Option<String> {
        let burnt = self.decoded.aborted().is_ok_and(|(_, aborted)| {
            aborted.cause() == AbortCause::Withheld && aborted.seats.contains(&u32::from(seat))
        });
        if burnt {
            return Some(format!(
                "the TABLE signed that seat {seat} had revealed, and burnt the hand because it had not"
            ));
        }
        let is_it = |shown: &_| {
            let TableRecord::EntropyRevealed(it) = shown else { return false };
            let pb::EntropyRevealed { seat: shown, entropy: revealed } = it;
            *shown == u32::from(seat) && *revealed == entropy.0[..]
        };
        // The stream of a hand that was sealed or has ended has all that was revealed.
        let is_whole = self.decoded.sealed().is_ok() || self.has_ended();
        let is_beyond = is_whole && matches!(self.at_position(position), AtPosition::Beyond);
        (is_beyond || self.differs(position, is_it))
            .then(|| broken_receipt("a reveal", seat, position))
    }

    /// The chain is compared as far as the hand could be replayed; what kind of record it is, always.
    fn decision_receipt(&self, chain: &Chain, position: u64) -> Option<String> {
        let is_asked = || {
            signatures::asked_leaves(self.decoded).iter().any(|leave| leave.position == position)
        };
        let is_it = |shown: &TableRecord| {
            (matches!(shown, TableRecord::MoveDecided(_)) || is_asked())
                && self.chains.get(&position).is_none_or(|recorded| recorded == chain)
        };
        // A hand that has ended, and was replayed to its end, has all that was decided.
        let is_beyond =
            matches!(self.at_position(position), AtPosition::Beyond | AtPosition::Withheld)
                && self.is_replayed
                && self.has_ended()
                && self.chains.values().all(|recorded| recorded != chain);
        (is_beyond || self.differs(position, is_it)).then(|| {
            format!(
                "the TABLE signed that a decision stands at position {position} of its log, with all \
                 decided before it, and that is not so"
            )
        })
    }
}

/// Whether a record is a commitment, of whichever number.
fn is_commitment(shown: &TableRecord, given: &Given<'_>) -> bool {
    let TableRecord::EntropyCommitted(it) = shown else { return false };
    let key = given.key.map_or(&[][..], |key| &key[..]);
    it.seat == u32::from(given.seat)
        && it.player_id == given.player.bytes()[..]
        && it.commitment == given.commitment.0[..]
        && it.key == *key
}

fn broken_receipt(what: &str, seat: u8, position: u64) -> String {
    format!(
        "the TABLE signed that {what} of seat {seat} stands at position {position} of its log, and \
         something else stands there"
    )
}
