//! Entropy contribution of the client's own seat: messages to send, and their answers.

use fairness::{ClientCommitment, Entropy, Receipt};
use primitives::PlayerId;
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;

use super::distrust::{Distrust, Fault, Violation};
use super::hand::Hand;
use super::{Chance, Trust};
use crate::error::Refusal;

/// Maximum number of times to repeat a message to a table that is overloaded or away.
const ATTEMPTS: u8 = 20;

/// Message to send to the table once, before its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    Commit { hand_no: u64, commitment: ClientCommitment },
    Reveal { hand_no: u64, entropy: Entropy },
}

impl Due {
    #[must_use]
    pub fn hand_no(&self) -> u64 {
        match self {
            Due::Commit { hand_no, .. } | Due::Reveal { hand_no, .. } => *hand_no,
        }
    }
}

/// Hand that seats contribute entropy to.
pub(super) struct Open {
    pub(super) hand_no: u64,
    /// Seats that may contribute; none: any seat.
    roster: Option<Vec<u32>>,
    /// Seats that have committed.
    seats: Vec<u32>,
    closed: bool,
}

impl Open {
    pub(super) fn to_come(next: &pb::NextHand) -> Open {
        Open { hand_no: next.hand_no, roster: None, seats: next.seats.clone(), closed: false }
    }

    pub(super) fn in_hand(entropy: &pb::Entropy) -> Open {
        Open {
            hand_no: entropy.hand_no,
            roster: Some(entropy.roster.clone()),
            seats: entropy.seats.clone(),
            closed: entropy.closed,
        }
    }
}

/// Contribution of this client to one hand.
pub(super) struct Part {
    seat: u8,
    entropy: Entropy,
    commitment: ClientCommitment,
    commit: Step,
    reveal: Step,
    receipt: Option<pb::EntropyReceipt>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Not sent, after this number of failed attempts.
    Open(u8),
    /// Sent, after this number of failed attempts.
    Sent(u8),
    Taken,
    Refused,
}

impl Step {
    /// Marks the message as sent. False if it is not due.
    fn take(&mut self) -> bool {
        let Step::Open(failed) = *self else { return false };
        *self = Step::Sent(failed);
        true
    }

    fn refused(&mut self, passing: bool) {
        *self = match *self {
            Step::Sent(failed) if passing && failed < ATTEMPTS => Step::Open(failed + 1),
            Step::Open(_) | Step::Sent(_) | Step::Taken | Step::Refused => Step::Refused,
        };
    }
}

impl Part {
    pub(super) fn receipt(&self) -> Option<&pb::EntropyReceipt> {
        self.receipt.as_ref()
    }

    /// Whether it was made for this seat.
    pub(super) fn is_of(&self, seat: u32) -> bool {
        u32::from(self.seat) == seat
    }

    /// Checks that the hand contains it.
    pub(super) fn check(&self, hand: &Hand, me: PlayerId) -> Result<(), Fault> {
        let revealed = (self.reveal == Step::Taken).then_some(&self.entropy);
        hand.check_part((self.seat, me), &self.commitment, revealed)
    }
}

impl Chance {
    /// Returns the message to send now, if any. Each is returned once, unless [`Chance::refused`]
    /// makes it due again.
    pub fn due(&mut self) -> Option<Due> {
        let (me, seat) = (self.me?, self.seat);
        if seat == 0 {
            return None;
        }
        let here = |seats: &[u32]| seats.contains(&u32::from(seat));
        let open = self.open.as_ref().filter(|open| open.roster.as_deref().is_none_or(here));
        let next = self.next.as_ref().filter(|_| self.playing);
        for open in open.into_iter().chain(next) {
            let (hand_no, closed, committed) = (open.hand_no, open.closed, here(&open.seats));
            let Some(promise) = self.promises.get(&hand_no) else { continue };
            let (context, dealer) = promise.bound();
            // Made for another seat and never sent: of no use.
            let unsent = |part: &Part| matches!(part.commit, Step::Open(_)) && part.seat != seat;
            if self.parts.get(&hand_no).is_some_and(unsent) {
                self.parts.remove(&hand_no);
            }
            let part = self.parts.entry(hand_no).or_insert_with(|| {
                let secret = self.secret.expose();
                let entropy = Entropy::derived(secret, &context, &dealer, (seat, me));
                let commitment = ClientCommitment::new(&context, &dealer, seat, me, &entropy);
                let (commit, reveal) = (Step::Open(0), Step::Open(0));
                Part { seat, entropy, commitment, commit, reveal, receipt: None }
            });
            if closed && committed && part.seat == seat && part.reveal.take() {
                return Some(Due::Reveal { hand_no, entropy: part.entropy });
            }
            if !closed && !committed && part.seat == seat && part.commit.take() {
                return Some(Due::Commit { hand_no, commitment: part.commitment });
            }
        }
        None
    }

    /// Whether the other players wait for this seat: a hand with it in the roster collects entropy.
    /// A client that lost its connection then reconnects quickly; otherwise the hand is burnt and
    /// the seat sits out.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        let dealt =
            |open: &Open| open.roster.iter().flatten().any(|seat| *seat == u32::from(self.seat));
        self.open.as_ref().is_some_and(dealt)
    }

    /// Records the receipt that answered the commitment of hand `hand_no`.
    ///
    /// # Errors
    /// Returns the violation if the receipt differs from what was sent or is not signed, or if the
    /// hand started without the contribution meanwhile.
    pub fn receipt(
        &mut self,
        hand_no: u64,
        receipt: &pb::EntropyReceipt,
    ) -> Result<(), Box<Distrust>> {
        let Some(me) = self.me else { return Ok(()) };
        let Some(part) = self.parts.get_mut(&hand_no) else {
            // The hand is over.
            return Ok(());
        };
        part.commit = Step::Taken;
        part.receipt = Some(receipt.clone());
        if self.blind {
            return Ok(());
        }
        let part = &self.parts[&hand_no];
        let hand = self.hands.get(&hand_no);
        let dealt = hand.filter(|hand| hand.dealt);
        let judged = self
            .is_mine((hand_no, receipt), part, me)
            .and_then(|()| dealt.map_or(Ok(()), |hand| part.check(hand, me)));
        judged.map_err(|fault| self.distrust(hand_no, fault))
    }

    /// Records that the table accepted the revealed entropy.
    pub fn revealed(&mut self, hand_no: u64) {
        if let Some(part) = self.parts.get_mut(&hand_no) {
            part.reveal = Step::Taken;
        }
    }

    /// Records a refusal. A transient refusal makes the message due again.
    pub fn refused(&mut self, due: &Due, refusal: &Refusal) {
        let passing = matches!(
            refusal.reason,
            Some(ErrorReason::Unavailable | ErrorReason::Overloaded | ErrorReason::Deadline)
        );
        let (hand_no, reason) = (due.hand_no(), refusal.reason);
        tracing::debug!(table = %self.table, hand_no, ?reason, "a part in chance was refused");
        let Some(part) = self.parts.get_mut(&hand_no) else { return };
        match due {
            Due::Commit { .. } => part.commit.refused(passing),
            Due::Reveal { .. } => part.reveal.refused(passing),
        }
    }

    /// Returns the receipt for a hand that is about to start or has started.
    #[must_use]
    pub fn receipt_of(&self, hand_no: u64) -> Option<&pb::EntropyReceipt> {
        let kept = self.hands.get(&hand_no).and_then(|hand| hand.receipt.as_ref());
        self.parts.get(&hand_no).and_then(Part::receipt).or(kept)
    }

    fn is_mine(
        &self,
        (hand_no, receipt): (u64, &pb::EntropyReceipt),
        part: &Part,
        me: PlayerId,
    ) -> Result<(), Fault> {
        let other = |what| Err(Violation::ReceiptContent(what).into());
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
            Err(Violation::ReceiptSignature.into())
        }
    }
}

fn is_signed(trust: &Trust, signed: &Receipt<'_>, signature: &[u8]) -> bool {
    let Ok(signature) = <[u8; 64]>::try_from(signature) else { return false };
    trust.by_id(signed.key_id).any(|(_, key)| signed.verify(key, &signature).is_ok())
}
