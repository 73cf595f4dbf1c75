//! Signatures of the player's own decisions, and their receipts.

use fairness::Chain;
use fairness::evidence::Entry;
use proto::common::v1::{Move, MoveKind};
use proto::table::v1 as pb;

use super::decisions::Signed;
use super::violation::FairnessViolation;
use super::{Chance, hand, receipts};
use crate::error::{Error, Refusal};

/// Fact of a refusal of a signature: the chain as it stands, in hex.
const CHAIN: &str = "chain";

impl Chance {
    /// Signs a decision for the turn that is due in a hand. Empty if this client has no key in the
    /// hand. What is signed is stored first.
    ///
    /// # Errors
    /// [`Error::Evidence`] if it cannot be stored.
    pub fn sign_decision(&mut self, hand_no: u64, decision: &Move) -> Result<Vec<u8>, Error> {
        self.sign_over(hand_no, decision, None).map(Option::unwrap_or_default)
    }

    /// Signs a decision anew whose signature was refused: somebody left in between. None if the
    /// leave is not known here yet, or explains nothing; the decision is due again after the next
    /// update.
    ///
    /// # Errors
    /// [`Error::Evidence`] if it cannot be stored.
    pub fn sign_again(
        &mut self,
        hand_no: u64,
        decision: &Move,
        refusal: &Refusal,
    ) -> Result<Option<Vec<u8>>, Error> {
        match refusal.metadata.get(CHAIN) {
            Some(hint) => self.sign_over(hand_no, decision, Some(hint)),
            None => Ok(None),
        }
    }

    fn sign_over(
        &mut self,
        hand_no: u64,
        decision: &Move,
        hint: Option<&str>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let Some(hand) = self.hands.get_mut(&hand_no) else { return Ok(None) };
        let Some(chain) = hand.decisions.base(hint) else { return Ok(None) };
        let signed = hand.decisions.sign(decision, chain);
        self.store_signed(hand_no, signed)
    }

    /// Signs leaving the table while a hand is in play, whose number comes first. Empty if this
    /// client is not in one, or has no key in it.
    ///
    /// # Errors
    /// [`Error::Evidence`] if it cannot be stored.
    pub fn sign_leave(&mut self) -> Result<(u64, Vec<u8>), Error> {
        let running = self.hands.iter_mut().rev().find(|(no, _)| self.sequence.is_running(**no));
        let Some((&hand_no, hand)) = running else { return Ok((0, Vec::new())) };
        let signed = hand.decisions.sign_leave(None);
        let signature = self.store_signed(hand_no, signed)?;
        Ok((hand_no, signature.unwrap_or_default()))
    }

    /// Signs a leave anew whose signature was refused, as [`Chance::sign_again`] does a decision.
    ///
    /// # Errors
    /// [`Error::Evidence`] if it cannot be stored.
    pub fn sign_leave_again(
        &mut self,
        hand_no: u64,
        refusal: &Refusal,
    ) -> Result<Option<Vec<u8>>, Error> {
        let hint = refusal.metadata.get(CHAIN);
        let (Some(hint), Some(hand)) = (hint, self.hands.get_mut(&hand_no)) else {
            return Ok(None);
        };
        let signed = hand.decisions.sign_leave(Some(hint));
        self.store_signed(hand_no, signed)
    }

    /// The decision with which this client gives up a hand that its number is not in, if it is due:
    /// hand number, turn, and a fold where the rules allow one, else what the clock would take.
    #[must_use]
    pub fn due_fold(&self) -> Option<(u64, u32, Move)> {
        let (hand_no, hand) = self.hands.iter().rev().find(|(no, _)| self.must_fold(**no))?;
        let turn = hand.decisions.own_turn()?;
        let gives_up = |kind: MoveKind| matches!(kind, MoveKind::Fold | MoveKind::Junk);
        let fold = turn.legal.iter().map(|legal| legal.kind()).find(|kind| gives_up(*kind));
        let fold = fold.map(|kind| Move { kind: kind.into(), ..Move::default() });
        Some((*hand_no, turn.turn, fold.or_else(|| turn.default_move.clone())?))
    }

    fn store_signed(
        &mut self,
        hand_no: u64,
        signed: Option<Signed>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let Some(Signed { signature, chain: _, entry }) = signed else { return Ok(None) };
        self.keep(hand_no, entry);
        self.record.store_hand(hand_no)?;
        Ok(Some(signature.to_vec()))
    }

    /// Records the receipt for a decision of this client's.
    ///
    /// # Errors
    /// Returns the violation if the receipt is missing, is for no line that this client signed, is
    /// not signed, or if the chain has gone on without the line.
    pub fn accept_decision_receipt(
        &mut self,
        hand_no: u64,
        receipt: Option<&pb::DecisionReceipt>,
    ) -> Result<(), Box<FairnessViolation>> {
        let checked = self.check_decision_receipt(hand_no, receipt);
        let judged = checked.map(|entry| self.keep_receipt(hand_no, entry));
        self.judge(hand_no, judged)
    }

    fn check_decision_receipt(
        &mut self,
        hand_no: u64,
        receipt: Option<&pb::DecisionReceipt>,
    ) -> Result<Option<Entry>, super::violation::Fault> {
        let Some(hand) = self.hands.get(&hand_no) else { return Ok(None) };
        let bytes = receipt.map(|receipt| hand::to_array("a receipt's chain", &receipt.chain));
        let chain = bytes.transpose()?.map(Chain);
        let context = *hand.decisions.context();
        let chain = chain.unwrap_or(Chain([0; 32]));
        let signer = self.table_signer(hand_no);
        let entry = receipts::check_decision(receipt, &context, &chain, signer)?;
        let hand = self.hands.get_mut(&hand_no);
        hand.map_or(Ok(()), |hand| hand.decisions.receive(&chain))?;
        Ok(entry)
    }
}
