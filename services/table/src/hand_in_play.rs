//! A hand in play, folded from its stream: the rules' state, the positions and proofs of its cards,
//! its clock. Pure. The time before the first card and after the settlement belongs to the table:
//! see [`crate::table`].

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use fairness::Handle;
use primitives::{HandId, PlayerId, SeatNo, UnixMicros};
use prost::Message as _;
use proto::common::v1::{CardProof, CardRef, DeckRoot, MoveKind, PlayStanding};
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use rules::{DecisionAuthor, Event, Move, Outcome, Player, Viewer};
use wire::card_positions::handle_from_pb;
use wire::records::PlayEvent;
use wire::replay::ReplayError;
use wire::{HandReplay, TableRecord};

use crate::batch::{Batch, JudgedInput, RuleInputs};
use crate::proof::{self, CardProofs, Face, Faces};
use crate::table::Config;

/// State that a hand takes over from its table when it opens.
#[derive(Debug, Clone, Default)]
pub(crate) struct InheritedState {
    /// Decision clocks that its players have missed in a row, p1 first.
    pub missed_clocks: Vec<u32>,
    /// Standing of every seated player who is to be told something.
    pub standings: Vec<(PlayerId, PlayStanding)>,
}

/// Progress of a hand outside the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HandStage {
    /// The dealer has not bound the seats' entropy yet, and no ante is paid.
    Opened,
    /// Cards are dealt and decisions made.
    Playing,
    /// The settlement is recorded.
    Settled,
}

/// Fault of the dealer that was found while the table was recovered and is not recorded yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DealerFault {
    /// The dealer does not give back the faces that the table has lost.
    Silent(String),
    /// The dealer gives other faces than its record says.
    Contradicted(String),
}

/// Decision to be judged: the move of a player, its author, and the time that counts for it.
#[derive(Debug)]
pub(crate) struct Decision {
    pub player: Player,
    pub mv: Move,
    pub author: DecisionAuthor,
    pub at: UnixMicros,
}

/// State of a hand in play after some event.
#[derive(Clone)]
pub(crate) struct HandInPlay {
    pub hand_no: u64,
    pub hand_id: HandId,
    pub opened: pb::HandOpened,
    pub replay: HandReplay,
    pub players: Vec<PlayerId>,
    pub stage: HandStage,
    /// Number of the decision that is due, or of the last one; the first is 1.
    pub turn: u32,
    /// Time at which the pending decision became due.
    pub due_at: UnixMicros,
    /// Deadline that the pending decision was given after an interruption.
    pub resumed_deadline: Option<UnixMicros>,
    /// Rest of each player's time bank.
    pub time_banks: Vec<Duration>,
    /// Decision clocks that each player has missed in a row, including those before the hand.
    pub missed_clocks: Vec<u32>,
    /// Standing that seated players are told, as of the opening of the hand.
    pub standings: Vec<(PlayerId, PlayStanding)>,
    /// Whether each player has left the hand.
    pub has_left: Vec<bool>,
    /// Events of the hand's stream so far; part of the ids of requests to the dealer.
    pub version: u64,
    /// The seats' entropy, once the dealer has bound it.
    pub sealed: Option<pb::HandSealed>,
    /// Proofs of the cards whose faces are known here.
    pub card_proofs: Arc<CardProofs>,
    /// The settlement, for the wallet.
    pub settled: Option<pb::HandSettled>,
    pub dealer_fault: Option<DealerFault>,
}

impl HandInPlay {
    /// Opens the hand that its first event describes. `seated` is as of this event.
    pub(crate) fn open(
        hand_id: HandId,
        opened: &pb::HandOpened,
        seated: InheritedState,
        at: UnixMicros,
    ) -> Result<HandInPlay, ReplayError> {
        let replay = HandReplay::try_new(opened)?;
        let players = opened
            .roster
            .iter()
            .map(|seat| wire::field::player_id(&seat.player_id))
            .collect::<Result<Vec<_>, _>>()?;
        let count = players.len();
        Ok(HandInPlay {
            hand_no: opened.hand_no,
            hand_id,
            opened: opened.clone(),
            replay,
            players,
            stage: HandStage::Opened,
            turn: 0,
            due_at: at,
            resumed_deadline: None,
            time_banks: vec![Duration::from_secs(u64::from(opened.bank_seconds)); count],
            missed_clocks: seated.missed_clocks,
            standings: seated.standings,
            has_left: vec![false; count],
            version: 1,
            sealed: None,
            card_proofs: Arc::default(),
            settled: None,
            dealer_fault: None,
        })
    }

    /// Standing that a seated player is told.
    #[must_use]
    pub(crate) fn standing_of(&self, player: PlayerId) -> Option<&PlayStanding> {
        self.standings.iter().find(|(of, _)| *of == player).map(|(_, standing)| standing)
    }

    /// Player of this hand with an id, if they are dealt in.
    #[must_use]
    pub(crate) fn player(&self, id: PlayerId) -> Option<Player> {
        let index = self.players.iter().position(|other| *other == id)?;
        u8::try_from(index).ok().and_then(Player::try_new)
    }

    /// Viewer that somebody is to this hand: its player, or the public where they have no cards in
    /// it.
    #[must_use]
    pub(crate) fn viewer(&self, id: Option<PlayerId>) -> Viewer {
        id.and_then(|id| self.player(id)).map_or(Viewer::Public, Viewer::Player)
    }

    #[must_use]
    pub(crate) fn seat(&self, player: Player) -> SeatNo {
        self.replay.seats[player.index()]
    }

    /// Player whose decision is due.
    #[must_use]
    pub(crate) fn to_act(&self) -> Option<Player> {
        if self.stage != HandStage::Playing {
            return None;
        }
        self.replay.hand.to_act()
    }

    /// Time at which the clock makes the pending decision, and the time bank that is part of it.
    #[must_use]
    pub(crate) fn deadline(&self, config: &Config) -> Option<(UnixMicros, Duration)> {
        let bank = self.time_banks[self.to_act()?.index()];
        let action = Duration::from_secs(u64::from(config.action_seconds));
        Some((self.resumed_deadline.unwrap_or_else(|| self.due_at.plus(action).plus(bank)), bank))
    }

    /// Time bank that a decision made at `now` uses.
    #[must_use]
    pub(crate) fn time_bank_used(&self, config: &Config, now: UnixMicros) -> Duration {
        let Some((deadline, bank)) = self.deadline(config) else { return Duration::ZERO };
        // Counted back from the deadline, so that an interruption costs nobody anything.
        bank.saturating_sub(deadline.since(now))
    }

    /// Applies an event that moves the hand in play. An input of the rules
    /// is returned; the caller passes it to [`HandInPlay::evolve`]. It is read from its record,
    /// unless it was judged before the append.
    pub(crate) fn apply_recorded(
        &mut self,
        recorded: &TableRecord,
        event: PlayEvent<'_>,
        inputs: &mut RuleInputs,
        at: UnixMicros,
    ) -> Result<Option<Event>, ReplayError> {
        self.apply_without_cards(event, at)?;
        let RuleInputs { faces, judged } = inputs;
        let input = match judged {
            Some(judged) => {
                let JudgedInput { input, positions } = judged.pop_front().unwrap_or_default();
                if let Some(after) = positions {
                    self.replay.positions = after;
                }
                input
            }
            None => self.replay.read(recorded, &|place| Some(faces.get(&place)?.card))?,
        };
        match event {
            PlayEvent::ChanceUsed(used) => self.apply_shuffle(used),
            PlayEvent::CardsMoved(moved) => self.keep_proofs(moved, faces)?,
            PlayEvent::HandSealed(_)
            | PlayEvent::MoveDecided(_)
            | PlayEvent::CardsShown(_)
            | PlayEvent::HandSettled(_)
            | PlayEvent::SettlementPosted(_)
            | PlayEvent::ClockResumed(_) => {}
        }
        Ok(input)
    }

    /// Applies the part of an event that needs no card faces: enough to post a settled hand.
    pub(crate) fn apply_without_cards(
        &mut self,
        event: PlayEvent<'_>,
        at: UnixMicros,
    ) -> Result<(), ReplayError> {
        self.version += 1;
        match event {
            PlayEvent::HandSealed(sealed) => {
                self.stage = HandStage::Playing;
                self.due_at = at;
                self.sealed = Some(sealed.clone());
            }
            PlayEvent::HandSettled(settled) => {
                self.stage = HandStage::Settled;
                self.settled = Some(settled.clone());
            }
            PlayEvent::ClockResumed(resumed) => {
                self.resumed_deadline = Some(UnixMicros(resumed.deadline_micros));
            }
            PlayEvent::MoveDecided(decided) => self.count_clock(decided)?,
            PlayEvent::ChanceUsed(_)
            | PlayEvent::CardsMoved(_)
            | PlayEvent::CardsShown(_)
            | PlayEvent::SettlementPosted(_) => {}
        }
        Ok(())
    }

    /// Records the public root of a shuffle, and drops the proofs of the cards that it has moved.
    fn apply_shuffle(&mut self, used: &pb::ChanceUsed) {
        let shuffle = used.operation.as_ref().and_then(|operation| operation.kind.as_ref());
        let Some(dealer::operation::Kind::Shuffle(_)) = shuffle else { return };
        let places = &self.replay.positions;
        let lies_there = |card: &rules::Card, proof: &CardProof| {
            places.position_of(*card).is_ok_and(|place| {
                (place.op, u32::from(place.position)) == (proof.op, proof.position)
            })
        };
        let shown = Arc::make_mut(&mut self.card_proofs);
        shown.by_card.retain(|card, proof| lies_there(card, proof));
        shown.roots.extend(used.result.as_ref().and_then(|result| proof::root_of(result).ok()));
    }

    fn keep_proofs(&mut self, moved: &pb::CardsMoved, faces: &Faces) -> Result<(), ReplayError> {
        let shown = Arc::make_mut(&mut self.card_proofs);
        for CardRef { op, position, card: _, salt: _ } in &moved.cards {
            let place = handle_from_pb(&dealer::Handle { op: *op, position: *position })?;
            if let Some(Face { card, proof: Some(proof) }) = faces.get(&place) {
                shown.by_card.insert(*card, Arc::clone(proof));
            }
        }
        Ok(())
    }

    /// Fills in the salts of the cards that everybody sees.
    pub(crate) fn fill_salts(&self, cards: &mut [CardRef]) {
        let lies_at = |card: &CardRef| {
            let position = u16::try_from(card.position).ok()?;
            let card = self.replay.positions.card_at(Handle { op: card.op, position }).ok()?;
            self.card_proofs.by_card.get(&card)
        };
        for card in cards.iter_mut().filter(|card| !card.card.is_empty()) {
            card.salt = lies_at(card).map_or_else(Vec::new, |proof| proof.salt.clone());
        }
    }

    /// TableRecord commitment to the pile of a shuffle.
    #[must_use]
    pub(crate) fn deck_root(&self, op: u32) -> Option<DeckRoot> {
        self.card_proofs.root(op).cloned()
    }

    /// Moves the rules' state by an event that [`HandInPlay::apply_recorded`] returned.
    pub(crate) fn evolve(&mut self, event: &Event, at: UnixMicros) {
        rules::evolve(&mut self.replay.hand, event);
        self.due_at = at;
        self.resumed_deadline = None;
        if self.to_act().is_some() {
            self.turn += 1;
        }
    }

    /// Updates time bank and missed clocks of a player after a decision.
    fn count_clock(&mut self, decided: &pb::MoveDecided) -> Result<(), ReplayError> {
        let player = self.replay.player_of(decided.seat)?.index();
        let used = Duration::from_millis(u64::from(decided.bank_used_ms));
        self.time_banks[player] = self.time_banks[player].saturating_sub(used);
        self.missed_clocks[player] =
            if decided.by_clock { self.missed_clocks[player] + 1 } else { 0 };
        if decided.r#move.as_ref().is_some_and(|mv| mv.kind() == MoveKind::Leave) {
            self.has_left[player] = true;
        }
        Ok(())
    }

    /// Judges results of chance, in their order, on a copy of the replay. Results that the rules do
    /// not accept are an error.
    pub(crate) fn judge_chance(
        &self,
        events: Vec<TableRecord>,
        faces: Faces,
    ) -> Result<Batch, ReplayError> {
        let mut replay = self.replay.clone();
        let mut judged = VecDeque::with_capacity(events.len());
        for event in &events {
            let input = replay.apply(event, &|place| Some(faces.get(&place)?.card))?;
            // A restocking shuffle is no input of the rules.
            let shuffled = matches!(input, None | Some(Event::Chance(Outcome::Shuffled)));
            let positions = shuffled.then(|| replay.positions.clone());
            judged.push_back(JudgedInput { input, positions });
        }
        if let Some(last) = judged.back_mut() {
            last.positions = Some(replay.positions);
        }
        let judged = Some(judged);
        let events = events.into_iter().map(|event| (self.hand_id.into(), event)).collect();
        Ok(Batch { events, inputs: RuleInputs { faces, judged } })
    }

    /// Judges a decision and builds its record.
    pub(crate) fn decide(
        &self,
        config: &Config,
        decision: Decision,
    ) -> Result<Batch, rules::Refusal> {
        let Decision { player, mv, author, at } = decision;
        let is_leave = mv == Move::Leave;
        let event = rules::decide(&self.replay.hand, player, mv, author)?;
        let recorded = self.replay.record_move(&event);
        let mut recorded = recorded
            .ok()
            .flatten()
            .expect("the rules accept only cards that the player holds, and those have places");
        // Leaving costs no time bank.
        let used = if is_leave { Duration::ZERO } else { self.time_bank_used(config, at) };
        recorded.bank_used_ms = u32::try_from(used.as_millis()).unwrap_or(u32::MAX);
        recorded.turn = self.turn;
        self.fill_salts(&mut recorded.cards);
        if !rules::are_cards_public(&self.replay.hand, &event) {
            pad_decision(&mut recorded);
        }
        let judged = Some([JudgedInput { input: Some(event), positions: None }].into());
        let inputs = RuleInputs { faces: Faces::new(), judged };
        Ok(Batch { inputs, ..Batch::single(self.hand_id, recorded) })
    }
}

/// Length in bytes of the record of a decision that others do not see: lengths are public with the
/// leaf records, and those of names and positions differ. Five cards or three names of tokens take
/// less than half of it.
const HIDDEN_DECISION_LEN: usize = 320;

/// Fills a record up to [`HIDDEN_DECISION_LEN`] with zeros.
fn pad_decision(recorded: &mut pb::MoveDecided) {
    // The field's number and length take three bytes, since at least 128 bytes are missing.
    let missing = HIDDEN_DECISION_LEN.saturating_sub(recorded.encoded_len() + 3);
    recorded.padding = vec![0; missing].into();
}
