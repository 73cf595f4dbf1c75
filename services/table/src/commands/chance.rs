//! Commands about a hand's chance: commitments and reveals.
//!
//! Specification: fairness/SPEC.md §3.3, §3.5.

use fairness::{ClientCommitment, Entropy, PlayerKey};
use primitives::SeatNo;
use proto::common::v1::ErrorReason;
use proto::dealer::v1::EntropyRow;
use proto::event::v1 as event;
use proto::table::v1 as pb;
use wire::{ApiRefusal, api_refusal};

use super::{OwnSeat, Verdict};
use crate::entropy::BoundCommitment;
use crate::hand_in_play::HandInPlay;
use crate::table::{Closing, Table, WithheldCommitment, WithheldNumber};

/// Refusal of a commitment or reveal out of order, or twice with different content. `why` is the
/// machine-readable cause.
fn out_of_order(why: &'static str, message: impl Into<String>) -> ApiRefusal {
    api_refusal(ErrorReason::ChanceRefused, message).with("refusal", why)
}

/// Judges a seat's commitment to a hand that is open, or that the dealer has committed to.
pub(super) fn commit(
    table: &Table,
    own_seat: OwnSeat,
    hand_no: u64,
    offered: OfferedCommitment,
) -> Result<Verdict, ApiRefusal> {
    let OwnSeat { number: seat, player } = own_seat;
    let OfferedCommitment { commitment, key } = offered;
    let before = table.seat_commitments_of(hand_no).get(&(seat, player));
    if let Some(same) = before.filter(|made| (made.commitment, made.key) == (commitment, key)) {
        let bound = bound_commitment(table, hand_no)?;
        let receipt = commit_receipt(table, own_seat, hand_no, &offered, &bound);
        let answer = pb::CommitEntropyResponse { receipt: Some(receipt) };
        return Verdict::repeated(same.position, &answer);
    }
    if hand_no == table.hand_no && table.entropy_round().is_some() {
        check_open_for(table, own_seat)?;
    } else if hand_no <= table.hand_no {
        let message = format!("hand {hand_no} takes no commitments any more: see next_hand");
        return Err(out_of_order("CLOSED", message).field("hand_no"));
    } else if table.closing != Closing::Open {
        return Err(api_refusal(ErrorReason::TableClosed, "this table is being closed"));
    } else if !table.dealer_commitments.contains_key(&hand_no) {
        let message = format!("the dealer has not committed to hand {hand_no} yet: see next_hand");
        return Err(out_of_order("DEALER_NOT_COMMITTED", message).field("hand_no"));
    }
    if before.is_some() {
        let message =
            format!("seat {seat} has committed to hand {hand_no} before: once is for good");
        return Err(out_of_order("COMMITTED_BEFORE", message).field("commitment"));
    }
    check_own_key(table, own_seat, hand_no, key)?;
    let committed = event::EntropyCommitted {
        hand_no,
        seat: u32::from(seat.get()),
        player_id: player.0.to_vec().into(),
        commitment: commitment.0.to_vec().into(),
        key: offered.key_bytes().into(),
    };
    let bound = bound_commitment(table, hand_no)?;
    let receipt = commit_receipt(table, own_seat, hand_no, &offered, &bound);
    let answer = pb::CommitEntropyResponse { receipt: Some(receipt) };
    Ok(Verdict::with_event(table.id, committed, &answer))
}

/// Commitment of a player, and the key that they will sign decisions of the hand with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OfferedCommitment {
    pub commitment: ClientCommitment,
    pub key: Option<PlayerKey>,
}

impl OfferedCommitment {
    /// Bytes of the key; empty if there is none.
    fn key_bytes(&self) -> Vec<u8> {
        self.key.map_or_else(Vec::new, |key| key.bytes().to_vec())
    }
}

/// Receipt for a commitment. The position and the signature are filled in once the record is
/// durable.
fn commit_receipt(
    table: &Table,
    own_seat: OwnSeat,
    hand_no: u64,
    offered: &OfferedCommitment,
    bound: &BoundCommitment,
) -> pb::EntropyReceipt {
    pb::EntropyReceipt {
        table_id: table.id.to_string(),
        hand_no,
        seat: u32::from(own_seat.number.get()),
        player_id: own_seat.player.to_string(),
        commitment: offered.commitment.0.to_vec(),
        player_key: offered.key_bytes(),
        context: bound.context.0.to_vec(),
        dealer_commitment: bound.dealer.0.to_vec(),
        ..pb::EntropyReceipt::default()
    }
}

/// Checks that nobody else has named the key for this hand: a signature must have one author.
fn check_own_key(
    table: &Table,
    own_seat: OwnSeat,
    hand_no: u64,
    key: Option<PlayerKey>,
) -> Result<(), ApiRefusal> {
    let mut others = table.seat_commitments_of(hand_no).iter();
    let is_taken =
        |key| others.any(|((_, player), made)| *player != own_seat.player && made.key == Some(key));
    if key.is_some_and(is_taken) {
        let problem = "another player has named this key for the hand: make a fresh one";
        return Err(wire::BadField::new("key", problem).into());
    }
    Ok(())
}

/// The dealer's commitment to the open hand or to one to come, with its context.
fn bound_commitment(table: &Table, hand_no: u64) -> Result<BoundCommitment, ApiRefusal> {
    let open = table.entropy_round().filter(|_| hand_no == table.hand_no);
    let coming = || table.dealer_commitments.get(&hand_no).map(|made| &made.commitment);
    let commitment = open.map(|round| &round.commitment).or_else(coming);
    let commitment = commitment.cloned().unwrap_or_default();
    let hash = &table.config.rules_hash;
    Ok(BoundCommitment::try_new(&commitment, table.id, hand_no, hash)?)
}

/// Whether the open hand takes a commitment from this seat.
fn check_open_for(table: &Table, own_seat: OwnSeat) -> Result<(), ApiRefusal> {
    let Some(round) = table.entropy_round() else { return Ok(()) };
    if !round.roster.contains(&(own_seat.number, own_seat.player)) {
        let message = "you are not dealt into this hand: commit to the next one";
        return Err(api_refusal(ErrorReason::NotYourSeat, message));
    }
    if round.is_close_asked || round.closing.is_some() {
        let message = "commitments to this hand are closed: commit to the next one";
        return Err(out_of_order("CLOSED", message).field("hand_no"));
    }
    Ok(())
}

/// Judges a seat's reveal of its entropy. A repeat is accepted even after the seal, for players who
/// do not know whether the first one arrived, and gets the same receipt.
pub(super) fn reveal(
    table: &Table,
    play: Option<&HandInPlay>,
    own_seat: OwnSeat,
    hand_no: u64,
    entropy: Entropy,
) -> Result<Verdict, ApiRefusal> {
    let OwnSeat { number: seat, player } = own_seat;
    let sealed = play.filter(|play| play.hand_no == hand_no).and_then(|play| play.sealed.as_ref());
    let mine = |row: &&EntropyRow| {
        row.seat == u32::from(seat.get()) && row.player_id == player.0 && row.entropy == entropy.0
    };
    let position = table.hand.as_ref().and_then(|hand| hand.reveals_at.get(&seat).copied());
    if sealed.is_some_and(|sealed| sealed.rows.iter().any(|row| mine(&row)))
        && let Some(play) = play
    {
        let bound = BoundCommitment::of_opened(&play.opened, play.context)?;
        return Verdict::repeated(position, &reveal_answer(&bound, own_seat, &entropy));
    }
    let over = |message: String| out_of_order("NOT_OPEN", message).field("hand_no");
    let round = table.entropy_round().filter(|_| hand_no == table.hand_no);
    let round = round
        .ok_or_else(|| over(format!("hand {hand_no} is not open: nothing is revealed for it")))?;
    let Some(closed) = round.revealing() else {
        let message = "commitments are not closed yet: reveal when they are, and not before";
        return Err(out_of_order("NOT_CLOSED", message));
    };
    let commitment = table.seat_commitments_of(hand_no).get(&(seat, player));
    let commitment = commitment.filter(|_| closed.contains(&seat));
    let commitment = commitment.ok_or_else(|| {
        out_of_order("NOT_COMMITTED", "you have committed to nothing for this hand")
    })?;
    let bound = bound_commitment(table, hand_no)?;
    check_opens(&bound, own_seat, &entropy, &commitment.commitment)?;
    let answer = reveal_answer(&bound, own_seat, &entropy);
    if round.revealed.contains_key(&seat) {
        return Verdict::repeated(position, &answer);
    }
    let hand = table.hand.as_ref().map(|hand| hand.id);
    let hand = hand.ok_or_else(|| over("no hand is in play".to_owned()))?;
    Ok(Verdict::with_event(hand, revealed(seat, &entropy), &answer))
}

/// Judges the opening of entropy that its player has withheld: the number stays burnt. It gets no
/// receipt, for a reveal receipt beside a burn that names the seat convicts the table.
pub(super) fn open_withheld(
    number: &WithheldNumber,
    seat: SeatNo,
    withheld: WithheldCommitment,
    entropy: Entropy,
) -> Result<Verdict, ApiRefusal> {
    let own_seat = OwnSeat { number: seat, player: withheld.player };
    check_opens(&number.bound, own_seat, &entropy, &withheld.commitment)?;
    let answer = pb::RevealEntropyResponse::default();
    if withheld.is_opened {
        return Ok(Verdict::unchanged(&answer));
    }
    Ok(Verdict::with_event(number.id, revealed(seat, &entropy), &answer))
}

fn revealed(seat: SeatNo, entropy: &Entropy) -> event::EntropyRevealed {
    event::EntropyRevealed { seat: u32::from(seat.get()), entropy: entropy.0.to_vec().into() }
}

/// Checks that entropy opens a commitment of a seat.
fn check_opens(
    bound: &BoundCommitment,
    own_seat: OwnSeat,
    entropy: &Entropy,
    commitment: &ClientCommitment,
) -> Result<(), ApiRefusal> {
    let OwnSeat { number, player } = own_seat;
    let made = ClientCommitment::new(&bound.context, &bound.dealer, number.get(), player, entropy);
    if made.matches(commitment) {
        return Ok(());
    }
    let message = "this is not what you have committed to: send the same 32 bytes";
    Err(out_of_order("DOES_NOT_OPEN", message).field("entropy"))
}

/// Answer to a reveal. The position and the signature of its receipt are filled in once the record
/// is durable.
fn reveal_answer(
    bound: &BoundCommitment,
    own_seat: OwnSeat,
    entropy: &Entropy,
) -> pb::RevealEntropyResponse {
    let receipt = pb::RevealReceipt {
        context: bound.context.0.to_vec(),
        dealer_commitment: bound.dealer.0.to_vec(),
        seat: u32::from(own_seat.number.get()),
        player_id: own_seat.player.to_string(),
        entropy: entropy.0.to_vec(),
        ..pb::RevealReceipt::default()
    };
    pb::RevealEntropyResponse { receipt: Some(receipt) }
}
