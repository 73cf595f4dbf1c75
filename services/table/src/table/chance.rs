//! Events of the hand in play, of the seats' part in its chance, and of the dealer's seeds.

use primitives::{HandId, StreamId, UnixMicros};
use proto::event::v1 as pb;

use super::{Corrupt, EntropyRound, SeatCommitment, SeatCommitments, Table, TableHand, seat_no};
use wire::records::{HandEvent, PlayEvent};

impl Table {
    pub(super) fn evolve_hand(
        &mut self,
        event: HandEvent<'_>,
        stream: StreamId,
        at: UnixMicros,
    ) -> Result<(), Corrupt> {
        match event {
            HandEvent::HandOpened(opened) => self.hand_opened(opened, at)?,
            HandEvent::EntropyClosed(closed) => self.entropy_closed(closed, at)?,
            HandEvent::EntropyRevealed(revealed) => self.entropy_revealed(revealed, at)?,
            HandEvent::HandAborted(aborted) => self.hand_aborted(aborted, at),
            HandEvent::HandRevealed(_) | HandEvent::SeedRefused(_) => {
                let pending = self.seeds.remove(stream);
                pending.ok_or_else(|| Corrupt("a seed that is not pending".to_owned()))?;
            }
        }
        Ok(())
    }

    pub(super) fn evolve_play(&mut self, event: PlayEvent<'_>, at: UnixMicros) {
        match event {
            PlayEvent::HandSealed(_) => self.end_entropy_round(),
            PlayEvent::HandSettled(settled) => self.hand_settled(settled, at),
            PlayEvent::SettlementPosted(_) => self.settlement_posted(),
            PlayEvent::ChanceUsed(_)
            | PlayEvent::CardsMoved(_)
            | PlayEvent::MoveDecided(_)
            | PlayEvent::CardsShown(_)
            | PlayEvent::ClockResumed(_) => {}
        }
    }

    /// Seats' commitments to entropy for a hand.
    #[must_use]
    pub(crate) fn seat_commitments_of(&self, hand_no: u64) -> &SeatCommitments {
        static NONE: SeatCommitments = SeatCommitments::new();
        self.seat_commitments.get(&hand_no).unwrap_or(&NONE)
    }

    /// Round of commitments and reveals of the open hand, until it is sealed.
    #[must_use]
    pub(crate) fn entropy_round(&self) -> Option<&EntropyRound> {
        self.hand.as_ref()?.entropy_round.as_ref()
    }

    pub(super) fn hand_started(&mut self, hand_no: u64, id: HandId) {
        self.hand_no = hand_no;
        self.paused_until = None;
        self.hand = Some(TableHand {
            id,
            roster: Vec::new(),
            entropy_round: None,
            settled: None,
            posted: false,
            finished: false,
        });
        let commitment = self.dealer_commitments.remove(&hand_no).unwrap_or_default();
        self.seeds.started(hand_no, id, commitment);
    }

    pub(super) fn hand_opened(
        &mut self,
        opened: &pb::HandOpened,
        at: UnixMicros,
    ) -> Result<(), Corrupt> {
        let round = EntropyRound::open(opened, at)?;
        let hand = self.hand_mut()?;
        hand.roster.clone_from(&round.roster);
        for (seat, _) in &round.roster {
            if let Some(seat) = self.seats.get_mut(seat) {
                seat.idle_since = None;
            }
        }
        self.hand_mut()?.entropy_round = Some(round);
        Ok(())
    }

    pub(super) fn entropy_committed(
        &mut self,
        committed: &pb::EntropyCommitted,
    ) -> Result<(), Corrupt> {
        let pb::EntropyCommitted { hand_no, seat, player_id, commitment } = committed;
        let commitment = wire::field::exactly("commitment", commitment)?;
        let entry = SeatCommitment {
            player: wire::field::player_id(player_id)?,
            commitment: fairness::ClientCommitment(commitment),
        };
        self.seat_commitments.entry(*hand_no).or_default().insert(seat_no(*seat)?, entry);
        Ok(())
    }

    pub(super) fn entropy_closed(
        &mut self,
        closed: &pb::EntropyClosed,
        at: UnixMicros,
    ) -> Result<(), Corrupt> {
        let pb::EntropyClosed { seats, deadline_micros } = closed;
        let seats = seats.iter().map(|seat| seat_no(*seat)).collect::<Result<Vec<_>, _>>()?;
        let round = self.entropy_round_mut()?;
        round.step_at = at;
        round.deadline = UnixMicros(*deadline_micros);
        let roster = round.roster.clone();
        round.revealing = Some(seats.clone());
        for (seat, player) in roster {
            if seats.contains(&seat) {
                self.absentees.remove(&player);
            } else {
                self.absentees.insert(player);
            }
        }
        Ok(())
    }

    pub(super) fn entropy_revealed(
        &mut self,
        revealed: &pb::EntropyRevealed,
        at: UnixMicros,
    ) -> Result<(), Corrupt> {
        let pb::EntropyRevealed { seat, entropy } = revealed;
        let (seat, entropy) = (seat_no(*seat)?, wire::field::exactly("entropy", entropy)?);
        let round = self.entropy_round_mut()?;
        round.step_at = at;
        round.revealed.insert(seat, fairness::Entropy(entropy));
        Ok(())
    }

    pub(super) fn hand_settled(&mut self, settled: &pb::HandSettled, at: UnixMicros) {
        if let Some(hand) = &mut self.hand {
            hand.settled = Some(Box::new(settled.clone()));
        }
        let delay = std::time::Duration::from_secs(u64::from(self.config.reveal_delay_seconds));
        self.seeds.ended(self.hand_no, at.plus(delay), false);
    }

    pub(super) fn settlement_posted(&mut self) {
        let over = self.hand_no;
        self.forget_stops(|effect| effect.is_of_hand(over));
        match &mut self.hand {
            Some(hand) if !hand.finished => hand.posted = true,
            Some(_) | None => self.hand = None,
        }
    }

    pub(super) fn hand_aborted(&mut self, aborted: &pb::HandAborted, at: UnixMicros) {
        if aborted.at_fault() == pb::AtFault::Seat {
            self.note_withheld(&aborted.seats, at);
        }
        self.end_entropy_round();
        let settled = self.hand.as_mut().and_then(|hand| hand.settled.take());
        // The dealer was asked for the seed of a settled hand already, and opens it in one way
        // only.
        self.seeds.ended(self.hand_no, at, settled.is_none());
    }

    fn end_entropy_round(&mut self) {
        let hand_no = self.hand_no;
        self.seat_commitments.retain(|committed, _| *committed > hand_no);
        if let Some(hand) = &mut self.hand {
            hand.entropy_round = None;
        }
    }

    fn hand_mut(&mut self) -> Result<&mut TableHand, Corrupt> {
        self.hand.as_mut().ok_or_else(|| Corrupt("a hand's event without a hand".to_owned()))
    }

    fn entropy_round_mut(&mut self) -> Result<&mut EntropyRound, Corrupt> {
        let sealed = || Corrupt("a part in the chance of a hand that is sealed".to_owned());
        self.hand_mut()?.entropy_round.as_mut().ok_or_else(sealed)
    }
}
