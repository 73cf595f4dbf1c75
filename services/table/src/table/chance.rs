//! Events of the hand in play, of the seats' part in its chance, and of the dealer's seeds.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use eventlog::Position;
use fairness::PlayerKey;
use primitives::{HandId, PlayerId, SeatNo, StreamId, UnixMicros};
use proto::event::v1 as pb;

use crate::decisions;

use super::{Corrupt, EntropyRound, SeatCommitment, SeatCommitments, Table, TableHand, seat_no};
use wire::TableRecord;
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
            HandEvent::EntropyRevealed(revealed) => {
                let id = HandId(stream.0);
                if !self.note_opened(id, seat_no(revealed.seat)?)? {
                    self.entropy_revealed(revealed, at)?;
                }
            }
            HandEvent::HandAborted(aborted) => {
                self.note_withheld(aborted)?;
                self.hand_aborted(aborted, at);
            }
            HandEvent::HandSuspended(_) | HandEvent::HandContinued(_) => {}
            HandEvent::HandRevealed(_) | HandEvent::SeedRefused(_) => {
                let pending = self.seeds.remove(stream);
                pending.ok_or_else(|| Corrupt("a seed that is not pending".to_owned()))?;
            }
        }
        Ok(())
    }

    pub(super) fn evolve_play(&mut self, event: PlayEvent<'_>, at: UnixMicros) {
        match event {
            PlayEvent::HandSealed(_) => {
                self.keep_player_keys();
                self.end_entropy_round();
            }
            PlayEvent::HandSettled(settled) => self.hand_settled(settled, at),
            PlayEvent::SettlementPosted(_) => self.settlement_posted(),
            PlayEvent::MoveDecided(decided) => self.note_decided(decided),
            PlayEvent::ChanceUsed(_)
            | PlayEvent::CardsMoved(_)
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

    /// Remembers that the dealer is being asked to close the open hand's commitments.
    pub(crate) fn note_close_asked(&mut self) {
        if let Ok(round) = self.entropy_round_mut() {
            round.is_close_asked = true;
        }
    }

    /// After a recovery, counts the closing of the open hand as asked for if it can have been.
    pub(crate) fn assume_close_asked(&mut self, now: UnixMicros) {
        let commitments = self.seat_commitments_of(self.hand_no).clone();
        if let Ok(round) = self.entropy_round_mut() {
            round.is_close_asked = round.can_be_closed(&commitments, now);
        }
    }

    pub(super) fn hand_started(&mut self, hand_no: u64, id: HandId, at: UnixMicros) {
        (self.hand_no, self.last_started_at) = (hand_no, at);
        let promised = self.dealer_commitments.remove(&hand_no).unwrap_or_default();
        self.hand = Some(TableHand {
            id,
            committed_at: promised.at,
            roster: Vec::new(),
            entropy_round: None,
            player_keys: BTreeMap::new(),
            reveals_at: BTreeMap::new(),
            pending_leaves: Vec::new(),
            leavers: BTreeSet::new(),
            last_committed_at: promised.at,
            settled: None,
        });
        self.seeds.started(hand_no, id, promised.commitment);
    }

    pub(super) fn hand_opened(
        &mut self,
        opened: &pb::HandOpened,
        at: UnixMicros,
    ) -> Result<(), Corrupt> {
        let committed_at = self.hand.as_ref().map_or(at, |hand| hand.committed_at);
        let round = EntropyRound::open(opened, at, self.commit_deadline(opened, committed_at))?;
        let hand = self.hand_mut()?;
        hand.roster.clone_from(&round.roster);
        hand.last_committed_at = at;
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
        at: UnixMicros,
    ) -> Result<(), Corrupt> {
        let pb::EntropyCommitted { hand_no, seat, player_id, commitment, key } = committed;
        let commitment = wire::field::exactly("commitment", commitment)?;
        let key = decisions::parse_key(key)?;
        let by = (seat_no(*seat)?, wire::field::player_id(player_id)?);
        let commitment = fairness::ClientCommitment(commitment);
        let entry = SeatCommitment { commitment, key, position: None };
        self.seat_commitments.entry(*hand_no).or_default().insert(by, entry);
        if let Some(hand) = self.hand.as_mut().filter(|_| *hand_no == self.hand_no) {
            hand.last_committed_at = at;
        }
        Ok(())
    }

    pub(super) fn entropy_closed(
        &mut self,
        closed: &pb::EntropyClosed,
        at: UnixMicros,
    ) -> Result<(), Corrupt> {
        let missing = || Corrupt("a close of commitments without a closing".to_owned());
        let closing = closed.closing.as_ref().ok_or_else(missing)?;
        let each = self.config.reveal_time();
        self.entropy_round_mut()?.close(closing, at, each);
        Ok(())
    }

    /// Time until which the seats of an opening hand may commit: `commit_ms` after the dealer's
    /// commitment was recorded, and after the last of the players took a seat or sat in again. A client
    /// commits while it is dealt in, so who sits in again has had no other time to.
    fn commit_deadline(&self, opened: &pb::HandOpened, committed_at: UnixMicros) -> UnixMicros {
        let ready_at = |seat: &pb::RosterSeat| {
            let number = SeatNo::try_from(seat.seat).ok()?;
            self.seats.get(&number).map(|seat| seat.ready_at)
        };
        let last_ready = opened.roster.iter().filter_map(ready_at).max();
        committed_at.max(last_ready.unwrap_or(committed_at)).plus(self.config.commit_time())
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
        let player = round.roster.iter().find(|(number, _)| *number == seat);
        if let Some((_, player)) = player.copied() {
            self.exclusions.note_revealed(player);
        }
        Ok(())
    }

    /// Notes where a record stands that a receipt is given for: the receipt is given again, in the
    /// same bytes, to whoever sends the same under another request id.
    pub(crate) fn note_position(
        &mut self,
        stream: StreamId,
        recorded: &TableRecord,
        position: Position,
    ) -> Result<(), Corrupt> {
        if let TableRecord::EntropyCommitted(committed) = recorded {
            let player = wire::field::player_id(&committed.player_id)?;
            let by = (seat_no(committed.seat)?, player);
            let made = self.seat_commitments.get_mut(&committed.hand_no);
            if let Some(made) = made.and_then(|made| made.get_mut(&by)) {
                made.position = Some(position);
            }
        }
        let hand = self.hand.as_mut().filter(|hand| StreamId::from(hand.id) == stream);
        if let (TableRecord::EntropyRevealed(revealed), Some(hand)) = (recorded, hand) {
            hand.reveals_at.insert(seat_no(revealed.seat)?, position);
        }
        Ok(())
    }

    pub(super) fn hand_settled(&mut self, settled: &pb::HandSettled, at: UnixMicros) {
        if let Some(hand) = &mut self.hand {
            hand.settled = Some(Box::new(settled.clone()));
        }
        self.seeds.ended(self.hand_no, at.plus(self.reveal_delay()), false);
    }

    pub(super) fn settlement_posted(&mut self) {
        let over = self.hand_no;
        self.forget_stops(|effect| effect.is_of_hand(over));
    }

    /// Ends the hand without a result. The seed of a number that is burnt before the antes is due
    /// at once, that of a hand which was dealt as the settings say.
    fn hand_aborted(&mut self, aborted: &pb::HandAborted, at: UnixMicros) {
        let was_dealt = self.entropy_round().is_none();
        self.give_commitments_back(&aborted.seats);
        self.end_entropy_round();
        let delay = if was_dealt { self.reveal_delay() } else { Duration::ZERO };
        self.seeds.ended(self.hand_no, at.plus(delay), true);
    }

    /// Time from the end of a hand to the opening of its seed.
    fn reveal_delay(&self) -> Duration {
        self.config.settings.seed_delay()
    }

    /// Key that the player in a seat of the sealed hand signs with, if they have named one.
    #[must_use]
    pub(crate) fn player_key(&self, seat: SeatNo) -> Option<&PlayerKey> {
        self.hand.as_ref()?.player_keys.get(&seat)
    }

    /// Keeps the keys that the players of the hand named with their commitments.
    fn keep_player_keys(&mut self) {
        let commitments = self.seat_commitments_of(self.hand_no);
        let roster = self.entropy_round().map_or(&[][..], |round| &round.roster);
        let key = |by: &(SeatNo, PlayerId)| Some((by.0, commitments.get(by)?.key?));
        let keys = roster.iter().filter_map(key).collect();
        if let Some(hand) = &mut self.hand {
            hand.player_keys = keys;
        }
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
