//! Entropy contribution of the client's own seat: messages to send, and their answers.

use fairness::{ClientCommitment, Entropy, Receipt};
use primitives::PlayerId;
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;

use super::hand::Hand;
use super::violation::{FairnessViolation, Fault, ViolationKind};
use super::{Chance, TrustedKeys};
use crate::error::Refusal;

/// Maximum number of times to repeat a message to a table that is overloaded or away.
const MAX_ATTEMPTS: u8 = 20;

/// Message to send to the table once, before its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntropyMessage {
    Commit { hand_no: u64, commitment: ClientCommitment },
    Reveal { hand_no: u64, entropy: Entropy },
}

impl EntropyMessage {
    #[must_use]
    pub fn hand_no(&self) -> u64 {
        match self {
            EntropyMessage::Commit { hand_no, .. } | EntropyMessage::Reveal { hand_no, .. } => {
                *hand_no
            }
        }
    }
}

/// Hand that seats contribute entropy to.
pub(super) struct EntropyRound {
    pub(super) hand_no: u64,
    /// Seats that may contribute; none: any seat.
    roster: Option<Vec<u32>>,
    /// Seats that have committed.
    committed: Vec<u32>,
    is_closed: bool,
}

impl EntropyRound {
    pub(super) fn next_hand(next: &pb::NextHand) -> EntropyRound {
        EntropyRound {
            hand_no: next.hand_no,
            roster: None,
            committed: next.seats.clone(),
            is_closed: false,
        }
    }

    pub(super) fn current_hand(entropy: &pb::Entropy) -> EntropyRound {
        EntropyRound {
            hand_no: entropy.hand_no,
            roster: Some(entropy.roster.clone()),
            committed: entropy.seats.clone(),
            is_closed: entropy.closed,
        }
    }
}

/// Contribution of this client to one hand.
pub(super) struct Contribution {
    seat: u8,
    entropy: Entropy,
    commitment: ClientCommitment,
    commit: SendState,
    reveal: SendState,
    receipt: Option<pb::EntropyReceipt>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SendState {
    /// Not sent, after this number of failed attempts.
    Pending(u8),
    /// Sent, after this number of failed attempts.
    Sent(u8),
    Accepted,
    Refused,
}

impl SendState {
    /// Marks the message as sent. False if it is not due.
    fn begin_send(&mut self) -> bool {
        let SendState::Pending(failed) = *self else { return false };
        *self = SendState::Sent(failed);
        true
    }

    fn refuse(&mut self, transient: bool) {
        *self = match *self {
            SendState::Sent(failed) if transient && failed < MAX_ATTEMPTS => {
                SendState::Pending(failed + 1)
            }
            SendState::Pending(_)
            | SendState::Sent(_)
            | SendState::Accepted
            | SendState::Refused => SendState::Refused,
        };
    }
}

impl Contribution {
    pub(super) fn receipt(&self) -> Option<&pb::EntropyReceipt> {
        self.receipt.as_ref()
    }

    /// Whether it was made for this seat.
    pub(super) fn is_for_seat(&self, seat: u32) -> bool {
        u32::from(self.seat) == seat
    }

    /// Checks that the hand contains it.
    pub(super) fn check(&self, hand: &Hand, me: PlayerId) -> Result<(), Fault> {
        let revealed = (self.reveal == SendState::Accepted).then_some(&self.entropy);
        hand.check_contribution(self.seat, me, &self.commitment, revealed)
    }
}

impl Chance {
    /// Returns the message to send now, if any. Each is returned once, unless [`Chance::refused`]
    /// makes it due again.
    pub fn next_message(&mut self) -> Option<EntropyMessage> {
        let (me, seat) = (self.player?, self.seat);
        if seat == 0 {
            return None;
        }
        let here = |seats: &[u32]| seats.contains(&u32::from(seat));
        let open = self.open_round.as_ref().filter(|open| open.roster.as_deref().is_none_or(here));
        let next = self.next_round.as_ref().filter(|_| self.playing);
        for open in open.into_iter().chain(next) {
            let (hand_no, closed, committed) =
                (open.hand_no, open.is_closed, here(&open.committed));
            let Some(promise) = self.commitments.get(&hand_no) else { continue };
            let (context, dealer) = promise.binding();
            // Made for another seat and never sent: of no use.
            let unsent = |part: &Contribution| {
                matches!(part.commit, SendState::Pending(_)) && part.seat != seat
            };
            if self.contributions.get(&hand_no).is_some_and(unsent) {
                self.contributions.remove(&hand_no);
            }
            let part = self.contributions.entry(hand_no).or_insert_with(|| {
                let secret = self.secret.expose();
                let entropy = Entropy::derived(secret, &context, &dealer, seat, me);
                let commitment = ClientCommitment::new(&context, &dealer, seat, me, &entropy);
                let (commit, reveal) = (SendState::Pending(0), SendState::Pending(0));
                Contribution { seat, entropy, commitment, commit, reveal, receipt: None }
            });
            if closed && committed && part.seat == seat && part.reveal.begin_send() {
                return Some(EntropyMessage::Reveal { hand_no, entropy: part.entropy });
            }
            if !closed && !committed && part.seat == seat && part.commit.begin_send() {
                return Some(EntropyMessage::Commit { hand_no, commitment: part.commitment });
            }
        }
        None
    }

    /// Whether the other players wait for this seat: a hand with it in the roster collects entropy.
    /// A client that lost its connection then reconnects quickly; otherwise the hand is burnt and
    /// the seat sits out.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        let dealt = |open: &EntropyRound| {
            open.roster.iter().flatten().any(|seat| *seat == u32::from(self.seat))
        };
        self.open_round.as_ref().is_some_and(dealt)
    }

    /// Records the receipt that answered the commitment of hand `hand_no`.
    ///
    /// # Errors
    /// Returns the violation if the receipt differs from what was sent or is not signed, or if the
    /// hand started without the contribution meanwhile.
    pub fn accept_receipt(
        &mut self,
        hand_no: u64,
        receipt: &pb::EntropyReceipt,
    ) -> Result<(), Box<FairnessViolation>> {
        let Some(me) = self.player else { return Ok(()) };
        let Some(part) = self.contributions.get_mut(&hand_no) else {
            // The hand is over.
            return Ok(());
        };
        part.commit = SendState::Accepted;
        part.receipt = Some(receipt.clone());
        if self.unchecked {
            return Ok(());
        }
        let part = &self.contributions[&hand_no];
        let hand = self.hands.get(&hand_no);
        let dealt = hand.filter(|hand| hand.is_dealt_in);
        let judged = self
            .check_receipt(hand_no, receipt, part, me)
            .and_then(|()| dealt.map_or(Ok(()), |hand| part.check(hand, me)));
        judged.map_err(|fault| self.violation(hand_no, fault))
    }

    /// Records that the table accepted the revealed entropy.
    pub fn reveal_accepted(&mut self, hand_no: u64) {
        if let Some(part) = self.contributions.get_mut(&hand_no) {
            part.reveal = SendState::Accepted;
        }
    }

    /// Records a refusal. A transient refusal makes the message due again.
    pub fn refused(&mut self, due: &EntropyMessage, refusal: &Refusal) {
        let passing = matches!(
            refusal.reason,
            Some(ErrorReason::Unavailable | ErrorReason::Overloaded | ErrorReason::Deadline)
        );
        let (hand_no, reason) = (due.hand_no(), refusal.reason);
        tracing::debug!(table = %self.table, hand_no, ?reason, "a part in chance was refused");
        let Some(part) = self.contributions.get_mut(&hand_no) else { return };
        match due {
            EntropyMessage::Commit { .. } => part.commit.refuse(passing),
            EntropyMessage::Reveal { .. } => part.reveal.refuse(passing),
        }
    }

    /// Returns the receipt for a hand that is about to start or has started.
    #[must_use]
    pub fn receipt_of(&self, hand_no: u64) -> Option<&pb::EntropyReceipt> {
        let kept = self.hands.get(&hand_no).and_then(|hand| hand.receipt.as_ref());
        self.contributions.get(&hand_no).and_then(Contribution::receipt).or(kept)
    }

    fn check_receipt(
        &self,
        hand_no: u64,
        receipt: &pb::EntropyReceipt,
        part: &Contribution,
        me: PlayerId,
    ) -> Result<(), Fault> {
        let other = |what| Err(ViolationKind::ReceiptContent(what).into());
        if receipt.hand_no != hand_no {
            return other("another hand");
        }
        if receipt.table_id != self.table.bytes() {
            return other("another table");
        }
        if receipt.seat != u32::from(part.seat) {
            return other("another seat");
        }
        if receipt.player_id != me.bytes() {
            return other("another player");
        }
        if receipt.commitment != part.commitment.0 {
            return other("another commitment");
        }
        let signed = Receipt {
            table: self.table,
            hand_no,
            seat: part.seat,
            player: me,
            commitment: &part.commitment,
            position: receipt.position,
            key_id: &receipt.key_id,
        };
        if self.trust.is_empty() || is_signed(&self.trust, &signed, &receipt.signature) {
            Ok(())
        } else {
            Err(ViolationKind::ReceiptSignature.into())
        }
    }
}

fn is_signed(trust: &TrustedKeys, signed: &Receipt<'_>, signature: &[u8]) -> bool {
    let Ok(signature) = <[u8; 64]>::try_from(signature) else { return false };
    trust.by_id(signed.key_id).any(|(_, key)| signed.verify(key, &signature).is_ok())
}
