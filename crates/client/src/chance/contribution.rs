//! Entropy contribution of the client's own seat: messages to send, and their answers.

use ed25519_dalek::SigningKey;
use fairness::evidence::Opening;
use fairness::{ClientCommitment, Commitment, Context, Entropy, PlayerKey};
use primitives::PlayerId;
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;

use super::closing::RosterSeat;
use super::receipts::Claim;
use super::trust::LogKind;
use super::violation::{FairnessViolation, Fault, ViolationKind as V};
use super::{Chance, Notice, Secret};
use crate::error::{Error, Refusal};

/// Maximum number of times to repeat a message to a table that is overloaded or away.
const MAX_ATTEMPTS: u8 = 20;

/// Message to send to the table once, before its deadline. What it speaks of is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntropyMessage {
    /// `key` is the public key that the client signs decisions of the hand with.
    Commit {
        hand_no: u64,
        seat: u8,
        commitment: ClientCommitment,
        key: [u8; 32],
    },
    Reveal {
        hand_no: u64,
        seat: u8,
        entropy: Entropy,
    },
}

impl EntropyMessage {
    #[must_use]
    pub fn hand_no(&self) -> u64 {
        self.place().0
    }

    /// Hand number and seat.
    const fn place(&self) -> (u64, u8) {
        match self {
            EntropyMessage::Commit { hand_no, seat, .. }
            | EntropyMessage::Reveal { hand_no, seat, .. } => (*hand_no, *seat),
        }
    }
}

/// Hand that seats contribute entropy to.
pub(super) struct EntropyRound {
    pub(super) hand_no: u64,
    /// Seats that may contribute; none: any seat.
    pub(super) roster: Option<Vec<RosterSeat>>,
    /// Seats that have committed.
    pub(super) committed: Vec<u32>,
    pub(super) is_closed: bool,
}

impl EntropyRound {
    fn is_for(&self, seat: u32) -> bool {
        let roster = self.roster.as_ref();
        roster.is_none_or(|roster| roster.iter().any(|(number, _)| *number == seat))
    }
}

/// Contribution of this client to one hand, in one seat.
pub(super) struct Contribution {
    pub(super) seat: u8,
    pub(super) entropy: Entropy,
    pub(super) commitment: ClientCommitment,
    commit: SendState,
    reveal: SendState,
    pub(super) receipt: Option<pb::EntropyReceipt>,
    pub(super) has_reveal_receipt: bool,
    /// The number was burnt because this entropy was not revealed.
    is_withheld: bool,
    /// The table took the entropy and gave no receipt: that is right of a number that it has burnt,
    /// which the stream may tell after the answer.
    lacks_reveal_receipt: bool,
}

/// Values that bind a contribution to its hand.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) context: Context,
    pub(super) dealer: Commitment,
    pub(super) seat: u8,
    pub(super) player: PlayerId,
}

impl Place {
    pub(super) fn entropy(&self, secret: &Secret) -> Entropy {
        let Place { context, dealer, seat, player } = self;
        Entropy::derived(secret.expose(), context, dealer, *seat, *player)
    }

    pub(super) fn commitment(&self, secret: &Secret) -> ClientCommitment {
        let Place { context, dealer, seat, player } = self;
        ClientCommitment::new(context, dealer, *seat, *player, &self.entropy(secret))
    }

    pub(super) fn key(&self, secret: &Secret) -> SigningKey {
        let Place { context, dealer, seat, player } = self;
        PlayerKey::derived(secret.expose(), context, dealer, *seat, *player)
    }
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
    const fn is_pending(self) -> bool {
        matches!(self, SendState::Pending(_))
    }

    /// Marks a pending message as sent.
    fn send(&mut self) {
        if let SendState::Pending(failed) = *self {
            *self = SendState::Sent(failed);
        }
    }

    /// Makes a message due again that has no answer.
    fn lose(&mut self) {
        if let SendState::Sent(failed) = *self {
            *self = SendState::Pending(failed);
        }
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
    pub(super) fn new(place: &Place, secret: &Secret) -> Contribution {
        Contribution {
            seat: place.seat,
            entropy: place.entropy(secret),
            commitment: place.commitment(secret),
            commit: SendState::Pending(0),
            reveal: SendState::Pending(0),
            receipt: None,
            has_reveal_receipt: false,
            is_withheld: false,
            lacks_reveal_receipt: false,
        }
    }

    pub(super) fn is_revealed(&self) -> bool {
        self.reveal == SendState::Accepted
    }

    /// Checks that what counts as revealed in time has its receipt.
    pub(super) fn check_has_receipt(&self) -> Result<(), Fault> {
        if self.lacks_reveal_receipt {
            return Err(V::Missing("a receipt for revealed entropy").into());
        }
        Ok(())
    }
}

impl Chance {
    /// Returns the message to send now, if any. Each is returned once, unless [`Chance::refused`]
    /// makes it due again. What it speaks of is stored first.
    ///
    /// # Errors
    /// [`Error::Evidence`] if it cannot be stored; the message is due again.
    pub fn next_message(&mut self) -> Result<Option<EntropyMessage>, Error> {
        let Some(due) = self.due_message()? else { return Ok(None) };
        self.record.store_hand(due.hand_no())?;
        let part = self.contributions.get_mut(&due.place());
        let part = part.expect("a message is due of a contribution that there is");
        match due {
            EntropyMessage::Commit { .. } => part.commit.send(),
            EntropyMessage::Reveal { .. } => part.reveal.send(),
        }
        Ok(Some(due))
    }

    fn due_message(&mut self) -> Result<Option<EntropyMessage>, Error> {
        let Some(player) = self.player.filter(|_| self.seat != 0) else { return Ok(None) };
        if let Some(due) = self.due_opening() {
            return Ok(Some(due));
        }
        let seat = u32::from(self.seat);
        let open = self.open_round.as_ref().filter(|open| open.is_for(seat));
        let next = self.next_round.as_ref().filter(|_| self.playing);
        let states = open.into_iter().chain(next);
        let states = states
            .map(|round| (round.hand_no, round.is_closed, round.committed.contains(&seat)))
            .collect::<Vec<_>>();
        for (hand_no, is_closed, has_committed) in states {
            let due = match (is_closed, has_committed) {
                (false, false) => self.due_commitment(hand_no, player)?,
                (true, _) => self.due_reveal(hand_no, player),
                (false, true) => None,
            };
            if due.is_some() {
                return Ok(due);
            }
        }
        Ok(None)
    }

    fn place(&self, hand_no: u64, player: PlayerId) -> Option<Place> {
        let (context, dealer) = self.commitments.get(&hand_no)?.binding();
        Some(Place { context, dealer, seat: self.seat, player })
    }

    /// A client commits only while it is in front and knows that the dealer has promised, and to no
    /// number that it has seen pass.
    fn due_commitment(
        &mut self,
        hand_no: u64,
        player: PlayerId,
    ) -> Result<Option<EntropyMessage>, Error> {
        let is_promised = self.commitments.get(&hand_no).is_some_and(|promise| promise.is_signed);
        if !self.trust.has(LogKind::Dealer) && !self.unchecked {
            self.notify_once(Notice::NoDealerKey);
        }
        if !self.in_front || !(is_promised || self.unchecked) || self.record.is_passed(hand_no)? {
            return Ok(None);
        }
        let Some(place) = self.place(hand_no, player) else { return Ok(None) };
        let at = (hand_no, place.seat);
        let part = self.contributions.entry(at);
        let part = part.or_insert_with(|| Contribution::new(&place, &self.secret));
        if !part.commit.is_pending() {
            return Ok(None);
        }
        let Place { context, dealer, seat, player } = place;
        let (entropy, commitment) = (part.entropy, part.commitment);
        let opening = Opening::ClientCommitment { context, dealer, seat, player, entropy };
        self.keep(hand_no, opening.entry());
        let key = place.key(&self.secret).verifying_key().to_bytes();
        Ok(Some(EntropyMessage::Commit { hand_no, seat, commitment, key }))
    }

    /// A client reveals only under the dealer's closing, which was checked when it came, and while
    /// the hand is the one that runs.
    fn due_reveal(&mut self, hand_no: u64, player: PlayerId) -> Option<EntropyMessage> {
        let place = self.place(hand_no, player)?;
        let closing = self.closings.get(&hand_no)?;
        let listed = closing.row(place.seat, player)?.commitment?;
        let may_reveal = closing.may_reveal() && self.sequence.is_running(hand_no);
        let at = (hand_no, place.seat);
        // A client that was started anew derives what it had committed to.
        let part = self.contributions.entry(at);
        let part = part.or_insert_with(|| Contribution::new(&place, &self.secret));
        if !listed.matches(&part.commitment) || !(may_reveal || self.unchecked) {
            return None;
        }
        let (seat, entropy) = (place.seat, part.entropy);
        part.reveal.is_pending().then_some(EntropyMessage::Reveal { hand_no, seat, entropy })
    }

    /// Makes the entropy of a number due that was burnt for want of it: what its hand would have been
    /// is then known to everybody.
    pub(super) fn open_withheld(&mut self, hand_no: u64) {
        let Some(place) = self.player.and_then(|player| self.place(hand_no, player)) else {
            return;
        };
        let listed = self.closings.get(&hand_no).filter(|closing| closing.may_reveal());
        let listed = listed.and_then(|closing| closing.row(place.seat, place.player)?.commitment);
        let part = self.contributions.entry((hand_no, place.seat));
        let part = part.or_insert_with(|| Contribution::new(&place, &self.secret));
        if listed.is_some_and(|listed| listed.matches(&part.commitment)) {
            part.is_withheld = true;
            // It was refused when it came too late.
            if part.reveal == SendState::Refused {
                part.reveal = SendState::Pending(0);
            }
        }
    }

    fn due_opening(&self) -> Option<EntropyMessage> {
        let due = |part: &Contribution| part.is_withheld && part.reveal.is_pending();
        let (&(hand_no, seat), part) = self.contributions.iter().find(|(_, part)| due(part))?;
        Some(EntropyMessage::Reveal { hand_no, seat, entropy: part.entropy })
    }

    /// Whether the other players wait for this seat: a hand with it in the roster collects entropy.
    /// A client that lost its connection then reconnects quickly; otherwise the hand is burnt and
    /// the seat sits out.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        let seat = u32::from(self.seat);
        self.open_round.as_ref().is_some_and(|open| open.roster.is_some() && open.is_for(seat))
    }

    /// Records the receipt that answered the commitment of hand `hand_no`.
    ///
    /// # Errors
    /// Returns the violation if the receipt differs from what was sent or is not signed, or if the
    /// hand was closed without the contribution meanwhile.
    pub fn accept_receipt(
        &mut self,
        hand_no: u64,
        receipt: &pb::EntropyReceipt,
    ) -> Result<(), Box<FairnessViolation>> {
        let is_same = |no: &(u64, u8), part: &Contribution| {
            no.0 == hand_no && receipt.commitment == part.commitment.0
        };
        let same = self.contributions.iter().find(|(no, part)| is_same(no, part));
        let of_hand = self.contributions.range((hand_no, 0)..=(hand_no, u8::MAX));
        let at = same.or(of_hand.last()).map(|(at, _)| *at);
        let Some(part) = at.and_then(|at| self.contributions.get_mut(&at)) else {
            // The hand is over.
            return Ok(());
        };
        part.commit = SendState::Accepted;
        part.receipt = Some(receipt.clone());
        let judged = self.check_receipt(hand_no, at.map_or(0, |(_, seat)| seat), receipt);
        self.judge(hand_no, judged)
    }

    fn check_receipt(
        &mut self,
        hand_no: u64,
        seat: u8,
        receipt: &pb::EntropyReceipt,
    ) -> Result<(), Fault> {
        let (Some(player), Some(part)) = (self.player, self.contributions.get(&(hand_no, seat)))
        else {
            return Ok(());
        };
        let Some((context, dealer)) = self.commitments.get(&hand_no).map(|it| it.binding()) else {
            return Ok(());
        };
        let place = Place { context, dealer, seat, player };
        let key = place.key(&self.secret).verifying_key().to_bytes();
        let own = part.commitment;
        let entry = self.claim(hand_no, &place).commitment(receipt, &own, Some(&key))?;
        self.keep_receipt(hand_no, entry);
        let closing = self.closings.get(&hand_no);
        closing.map_or(Ok(()), |closing| closing.check_own(seat, player, Some(&own), true))
    }

    fn claim(&self, hand_no: u64, place: &Place) -> Claim<'_> {
        let Place { context, dealer, seat, player } = *place;
        let signer = self.table_signer(hand_no);
        Claim { table: self.table, hand_no, context, dealer, seat, player, signer }
    }

    /// Records that the table accepted the revealed entropy, and its receipt. A number that is burnt
    /// gets none; if the stream goes on to tell that this one is not, that is the violation.
    ///
    /// # Errors
    /// Returns the violation if the receipt differs from what was sent or is not signed, or is missing
    /// where the number is known not to be burnt.
    pub fn reveal_accepted(
        &mut self,
        hand_no: u64,
        receipt: Option<&pb::RevealReceipt>,
    ) -> Result<(), Box<FairnessViolation>> {
        let judged = self.check_reveal_receipt(hand_no, receipt);
        self.judge(hand_no, judged)
    }

    fn check_reveal_receipt(
        &mut self,
        hand_no: u64,
        receipt: Option<&pb::RevealReceipt>,
    ) -> Result<(), Fault> {
        let sent = |part: &&mut Contribution| matches!(part.reveal, SendState::Sent(_));
        let parts = self.contributions.range_mut((hand_no, 0)..=(hand_no, u8::MAX));
        let Some(part) = parts.map(|(_, part)| part).find(sent) else { return Ok(()) };
        part.reveal = SendState::Accepted;
        let Some(receipt) = receipt else {
            part.lacks_reveal_receipt = !part.is_withheld;
            let may_be_burnt =
                self.sequence.is_running(hand_no) && !self.hands.contains_key(&hand_no);
            return if may_be_burnt { Ok(()) } else { part.check_has_receipt() };
        };
        let (seat, entropy) = (part.seat, part.entropy);
        let binding = self.commitments.get(&hand_no).map(|promise| promise.binding());
        let (Some(player), Some((context, dealer))) = (self.player, binding) else {
            return Ok(());
        };
        let place = Place { context, dealer, seat, player };
        let entry = self.claim(hand_no, &place).reveal(receipt, &entropy)?;
        if let Some(part) = self.contributions.get_mut(&(hand_no, seat)) {
            part.has_reveal_receipt = entry.is_some();
        }
        self.keep_receipt(hand_no, entry);
        Ok(())
    }

    /// Records a refusal. A transient refusal makes the message due again.
    pub fn refused(&mut self, due: &EntropyMessage, refusal: &Refusal) {
        let passing = matches!(
            refusal.reason,
            Some(ErrorReason::Unavailable | ErrorReason::Overloaded | ErrorReason::Deadline)
        );
        let (hand_no, reason) = (due.hand_no(), refusal.reason);
        tracing::debug!(table = %self.table, hand_no, ?reason, "a part in chance was refused");
        let Some(part) = self.contributions.get_mut(&due.place()) else { return };
        match due {
            EntropyMessage::Commit { .. } => part.commit.refuse(passing),
            EntropyMessage::Reveal { .. } => part.reveal.refuse(passing),
        }
    }

    /// Records that no answer came: whether the table has the message is not known, and it is due
    /// again.
    pub fn unanswered(&mut self, due: &EntropyMessage) {
        let Some(part) = self.contributions.get_mut(&due.place()) else { return };
        match due {
            EntropyMessage::Commit { .. } => part.commit.lose(),
            EntropyMessage::Reveal { .. } => part.reveal.lose(),
        }
    }

    /// Returns the receipt for a hand that is about to start or has started.
    #[must_use]
    pub fn receipt_of(&self, hand_no: u64) -> Option<&pb::EntropyReceipt> {
        let kept = self.hands.get(&hand_no).and_then(|hand| hand.receipt.as_ref());
        let mut parts = self.contributions.range((hand_no, 0)..=(hand_no, u8::MAX));
        parts.find_map(|(_, part)| part.receipt.as_ref()).or(kept)
    }
}
