//! Hands that come to nothing: a suspension by the dealer's silence, and whom an end is blamed on.

use super::*;

/// Difference between a suspension's record and the update that reports it.
const RECORD_TOLERANCE: Duration = Duration::from_secs(10);

/// A hand that stands still because the dealer is silent.
#[derive(Clone, Copy)]
pub(super) struct Suspended {
    hand_no: u64,
    since: UnixMicros,
    /// Earliest end of it that is not agreed: what the table reports, and never less than the settings
    /// give.
    until: UnixMicros,
}

impl Chance {
    /// Notes that a hand stands still, or goes on.
    pub(super) fn suspension_changed(
        &mut self,
        changed: &pb::SuspensionChanged,
    ) -> Result<(), Box<FairnessViolation>> {
        // The table sends it when it is recorded.
        let recorded = Some(self.now);
        let judged = self.suspend(changed.hand_no, changed.suspension.as_ref(), recorded);
        if let Some(hand) = self.hands.get_mut(&changed.hand_no) {
            hand.decisions.due(changed.turn.as_ref());
        }
        judged
    }

    /// Notes what a snapshot says of a hand that stands still.
    pub(super) fn snapshot_suspension(
        &mut self,
        view: &pb::TableView,
    ) -> Result<(), Box<FairnessViolation>> {
        let open = view.entropy.as_ref().map(|open| (open.hand_no, open.suspension.as_ref()));
        let in_play = view.hand.as_ref().map(|hand| (hand.hand_no, hand.suspension.as_ref()));
        let mut suspensions = open.into_iter().chain(in_play);
        let (hand_no, suspension) = suspensions.find(|(_, it)| it.is_some()).unwrap_or_default();
        self.suspend(hand_no, suspension, None)
    }

    /// Notes a suspension that was recorded at this time, or at an unknown one after the dealer was
    /// asked first.
    fn suspend(
        &mut self,
        hand_no: u64,
        suspension: Option<&pb::Suspension>,
        recorded: Option<UnixMicros>,
    ) -> Result<(), Box<FairnessViolation>> {
        let before = self.suspended.take();
        let Some(pb::Suspension { start_time: since, end_time: until, agreed: _ }) = suspension
        else {
            return Ok(());
        };
        let Some(since) = since.and_then(table_time) else {
            return self.judge(hand_no, Err(V::Missing("since when the dealer is silent").into()));
        };
        let announced_end = until.and_then(table_time).unwrap_or_default();
        // One that goes on keeps its end.
        let known = before.filter(|known| known.hand_no == hand_no && since <= known.since);
        let lasts = self.agreed.as_ref().map_or(Duration::ZERO, |agreed| agreed.suspend_time);
        let least = match (known, recorded) {
            (Some(known), _) => known.until,
            (None, Some(at)) => at.plus(lasts.saturating_sub(RECORD_TOLERANCE)),
            (None, None) => since.plus(lasts),
        };
        self.suspended = Some(Suspended { hand_no, since, until: announced_end.max(least) });
        Ok(())
    }

    /// Checks why a hand came to nothing: a burn by who is blamed, any other end by the dealer's
    /// silence, and by this client's own agreement where all players are said to have agreed.
    pub(super) fn check_abort(&mut self, voided: &pb::HandVoided) -> Result<(), Fault> {
        let (hand_no, cause) = (voided.hand_no, voided.cause());
        if cause == AbortCause::Withheld {
            let is_dealt = self.hands.contains_key(&hand_no);
            return if is_dealt { Err(V::BurntAfterDeal.into()) } else { self.check_blame(voided) };
        }
        let hand = self.hands.get(&hand_no);
        let is_open = self.open_round.as_ref().is_some_and(|open| open.hand_no == hand_no);
        if hand.is_none() && !is_open {
            return Ok(());
        }
        let suspended = self.suspended.filter(|suspended| suspended.hand_no == hand_no);
        let suspended = suspended.ok_or(V::SilenceUnannounced)?;
        match (cause, hand) {
            (AbortCause::Agreed, Some(hand)) if hand.decisions.has_not_agreed() => {
                Err(V::EndedWithoutConsent.into())
            }
            (AbortCause::Suspended, Some(_)) if self.now < suspended.until => {
                Err(V::EndedEarly.into())
            }
            (AbortCause::Agreed | AbortCause::Suspended, _) => Ok(()),
            (AbortCause::Unspecified | AbortCause::Withheld, _) => {
                Err(V::Missing("why a hand came to nothing").into())
            }
        }
    }

    /// Checks a burn: only who is in the closing can have withheld, and who has a receipt has not.
    fn check_blame(&mut self, voided: &pb::HandVoided) -> Result<(), Fault> {
        let (hand_no, seat) = (voided.hand_no, self.seat);
        let Some(closing) = self.closings.get(&hand_no) else {
            let followed = self.open_round.as_ref().is_some_and(|open| open.hand_no == hand_no);
            return if followed { Err(V::Missing("the dealer's closing").into()) } else { Ok(()) };
        };
        let Some(player) = self.player else { return Ok(()) };
        let Some(row) = closing.row(seat, player) else { return Ok(()) };
        let has_committed = row.commitment.is_some();
        let part = self.contributions.get(&(hand_no, seat));
        if !is_named(voided, seat) {
            // What was taken from this client without a receipt counts as revealed, then.
            return part.map_or(Ok(()), Contribution::check_has_receipt);
        }
        if !has_committed {
            return Err(V::BlamedWithoutCommitment.into());
        }
        let has_receipt = part.is_some_and(|part| part.has_reveal_receipt)
            || self.kept_receipts(hand_no, seat, player).entropy.is_some();
        if has_receipt { Err(V::BlamedDespiteReceipt.into()) } else { Ok(()) }
    }
}

/// Whether a burn names this seat as withholding.
pub(super) fn is_named(voided: &pb::HandVoided, seat: u8) -> bool {
    voided.cause() == AbortCause::Withheld && voided.seats.contains(&u32::from(seat))
}
