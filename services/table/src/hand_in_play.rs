//! A hand in play, folded from its stream: the rules' state, the positions and proofs of its cards,
//! the chain of its decisions, its clock, its suspension. Pure. The time before the first card and
//! after the settlement belongs to the table: see [`crate::table`].

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use fairness::{Chain, Context, Handle, Transcript};
use primitives::{HandId, PlayerId, SeatNo, UnixMicros};
use proto::common::v1::{CardProof, CardRef, DeckRoot, MoveKind, PlayStanding};
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use rules::{DecisionAuthor, Event, Move, Outcome, Player, TableSettings, Viewer};
use serde::{Deserialize, Serialize};
use wire::card_positions::handle_from_pb;
use wire::records::{HandEvent, PlayEvent};
use wire::replay::{ReplayError, is_void};
use wire::{HandReplay, TableRecord};

use crate::batch::{Batch, JudgedInput, RuleInputs};
use crate::decisions::ChainStep;
use crate::entropy::BoundCommitment;
use crate::lost_cards::LostCards;
use crate::proof::{self, CardProofs, Face, Faces};
use crate::record_padding;
use crate::suspension::Suspension;
use crate::table::Config;

/// State that a hand takes over from its table when it opens.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct InheritedState {
    /// Decision clocks that its players have missed in a row, p1 first.
    pub missed_clocks: Vec<u32>,
    /// Standing of every seated player who is to be sent one.
    #[serde(with = "crate::stored::message_pairs")]
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

/// Meaning of an applied event for the rules and for the chain of decisions.
pub(crate) struct AppliedEvent {
    /// Input of the rules, for [`HandInPlay::evolve`].
    pub input: Option<Event>,
    /// The step in the chain, for a decision.
    pub decision: Option<ChainStep>,
}

/// State of a hand in play after some event.
#[derive(Clone)]
pub(crate) struct HandInPlay {
    pub hand_no: u64,
    pub hand_id: HandId,
    pub opened: pb::HandOpened,
    /// Time at which the opening was recorded; part of the ids of requests to the dealer.
    pub opened_at: UnixMicros,
    /// Binds what is signed of this hand.
    pub context: Context,
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
    /// Standing that seated players are sent, as of the opening of the hand.
    pub standings: Vec<(PlayerId, PlayStanding)>,
    /// Whether each player has left the hand.
    pub has_left: Vec<bool>,
    /// Events of the hand's stream so far; part of the ids of requests to the dealer.
    pub version: u64,
    /// The seats' entropy, once the dealer has bound it.
    pub sealed: Option<pb::HandSealed>,
    /// The chain of decisions, once the hand is sealed. `None` too where the hand was recovered
    /// without its cards.
    pub chain: Option<Chain>,
    /// Proofs of the cards whose faces are known here.
    pub card_proofs: Arc<CardProofs>,
    /// The settlement, for the wallet.
    pub settled: Option<pb::HandSettled>,
    /// The suspension of the hand, while the dealer is silent.
    pub suspension: Option<Suspension>,
    /// Time at which the hand went on last after a suspension; that of its opening before.
    pub continued_at: UnixMicros,
    /// The cards that the dealer has not opened again since the table was recovered. Meanwhile the
    /// hand is known only as it was opened.
    pub lost_cards: Option<Arc<LostCards>>,
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
        let settings = TableSettings::from_canonical(&opened.settings)
            .map_err(|error| ReplayError::Setup(error.to_string()))?;
        let bank = settings.time_bank();
        Ok(HandInPlay {
            hand_no: opened.hand_no,
            hand_id,
            opened: opened.clone(),
            opened_at: at,
            context: context_of(opened)?,
            replay,
            players,
            stage: HandStage::Opened,
            turn: 0,
            due_at: at,
            resumed_deadline: None,
            time_banks: vec![bank; count],
            missed_clocks: seated.missed_clocks,
            standings: seated.standings,
            has_left: vec![false; count],
            version: 1,
            sealed: None,
            chain: None,
            card_proofs: Arc::default(),
            settled: None,
            suspension: None,
            continued_at: at,
            lost_cards: None,
        })
    }

    /// Standing that a seated player is sent.
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

    /// Seats of the players who have neither folded, nor been put out, nor left. None before the
    /// hand is dealt, and none while its cards are lost.
    #[must_use]
    pub(crate) fn live_seats(&self) -> BTreeSet<SeatNo> {
        if self.stage != HandStage::Playing {
            return BTreeSet::new();
        }
        let hand = &self.replay.hand;
        let live = hand.live().iter().filter(|player| !hand.leavers().contains(*player));
        live.map(|player| self.seat(player)).collect()
    }

    /// Player whose decision is due.
    #[must_use]
    pub(crate) fn to_act(&self) -> Option<Player> {
        if self.stage != HandStage::Playing {
            return None;
        }
        self.replay.hand.to_act()
    }

    /// Time at which the clock makes the pending decision, and the time bank that is part of it;
    /// `None` while the clock stands.
    #[must_use]
    pub(crate) fn deadline(&self, config: &Config) -> Option<(UnixMicros, Duration)> {
        if self.suspension.is_some() {
            return None;
        }
        self.deadline_without_suspension(config)
    }

    /// Time at which the clock makes the pending decision if the hand does not stand still, and the
    /// time bank that is part of it.
    #[must_use]
    pub(crate) fn deadline_without_suspension(
        &self,
        config: &Config,
    ) -> Option<(UnixMicros, Duration)> {
        let bank = self.time_banks[self.to_act()?.index()];
        let action = config.settings.action_time();
        Some((self.resumed_deadline.unwrap_or_else(|| self.due_at.plus(action).plus(bank)), bank))
    }

    /// Time bank that a decision made at `now` uses.
    #[must_use]
    pub(crate) fn time_bank_used(&self, config: &Config, now: UnixMicros) -> Duration {
        let Some((deadline, bank)) = self.deadline(config) else { return Duration::ZERO };
        // Counted back from the deadline, so that an interruption costs nobody anything.
        bank.saturating_sub(deadline.since(now))
    }

    /// Applies an event that moves the hand in play. The caller passes an input of the rules to
    /// [`HandInPlay::evolve`]. It is read from its record, unless it was judged before the append.
    pub(crate) fn apply_recorded(
        &mut self,
        recorded: &TableRecord,
        event: PlayEvent<'_>,
        inputs: &mut RuleInputs,
        at: UnixMicros,
    ) -> Result<AppliedEvent, ReplayError> {
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
        let mut decision = None;
        match event {
            PlayEvent::HandSealed(sealed) => {
                let transcript = wire::field::exactly("transcript", &sealed.transcript)?;
                self.chain = Some(Chain::new(&Transcript(transcript)));
            }
            PlayEvent::ChanceUsed(used) => self.apply_shuffle(used),
            PlayEvent::CardsMoved(moved) => self.keep_proofs(moved, faces)?,
            PlayEvent::MoveDecided(decided) => {
                decision = Some(self.extend_chain(decided, input.as_ref())?);
            }
            PlayEvent::CardsShown(_)
            | PlayEvent::HandSettled(_)
            | PlayEvent::SettlementPosted(_)
            | PlayEvent::ClockResumed(_) => {}
        }
        Ok(AppliedEvent { input, decision })
    }

    /// Adds a decision to the chain. `input` is what it means to the rules, if anything.
    fn extend_chain(
        &mut self,
        decided: &pb::MoveDecided,
        input: Option<&Event>,
    ) -> Result<ChainStep, ReplayError> {
        let line = match input {
            Some(event) => self.replay.chain_line(event, false),
            None => Some(self.replay.recorded_line(decided, false)?),
        };
        let line = line.ok_or(ReplayError::Unexpected("a decision without a line"))?;
        let chain = self.chain.ok_or(ReplayError::Unexpected("a decision before the seal"))?;
        let chain = chain.with(decided.by_clock, &line);
        self.chain = Some(chain);
        Ok(ChainStep { line, chain })
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
            // No clock runs while a hand is suspended.
            PlayEvent::MoveDecided(decided) if is_void(decided) => self.agree_to_end(decided)?,
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

    /// Applies the suspension of the hand, or its end.
    pub(crate) fn apply_suspension(&mut self, event: HandEvent<'_>, at: UnixMicros) {
        match event {
            HandEvent::HandSuspended(suspended) => {
                self.suspension = Some(Suspension::recorded(suspended));
            }
            HandEvent::HandContinued(continued) => {
                self.suspension = None;
                self.continued_at = at;
                if continued.deadline_micros != 0 {
                    self.resumed_deadline = Some(UnixMicros(continued.deadline_micros));
                }
            }
            HandEvent::HandOpened(_)
            | HandEvent::EntropyClosed(_)
            | HandEvent::EntropyRevealed(_)
            | HandEvent::HandRevealed(_)
            | HandEvent::SeedRefused(_)
            | HandEvent::HandAborted(_) => {}
        }
    }

    /// Public commitment to the pile of a shuffle.
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

    /// Counts a player's agreement to end the suspended hand.
    fn agree_to_end(&mut self, decided: &pb::MoveDecided) -> Result<(), ReplayError> {
        let seat = wire::field::seat("seat", decided.seat)?;
        let suspended = self.suspension.as_mut();
        let suspended = suspended.ok_or(ReplayError::Unexpected("void in a hand that goes on"))?;
        suspended.agreed.insert(seat);
        Ok(())
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

    /// Judges a decision by the rules.
    pub(crate) fn judge(
        &self,
        player: Player,
        mv: Move,
        author: DecisionAuthor,
    ) -> Result<Event, rules::Refusal> {
        rules::decide(&self.replay.hand, player, mv, author)
    }

    /// Judges a decision of the clock, made at `now`, and builds its record. It uses up the time
    /// bank and is not signed.
    pub(crate) fn decide_by_clock(
        &self,
        config: &Config,
        decision: rules::Decision,
        now: UnixMicros,
    ) -> Result<Batch, rules::Refusal> {
        let event = self.judge(decision.player, decision.default, DecisionAuthor::Clock)?;
        Ok(self.record(event, self.time_bank_used(config, now), &[]))
    }

    /// Builds the record of a decision that [`HandInPlay::judge`] returned, with the time bank that
    /// it used and its player's signature, which was checked.
    pub(crate) fn record(&self, event: Event, used: Duration, signature: &[u8]) -> Batch {
        let recorded = self.replay.record_move(&event);
        let mut recorded = recorded
            .ok()
            .flatten()
            .expect("the rules accept only cards that the player holds, and those have places");
        recorded.bank_used_ms = u32::try_from(used.as_millis()).unwrap_or(u32::MAX);
        recorded.turn = self.turn;
        recorded.signature = signature.to_vec().into();
        self.fill_salts(&mut recorded.cards);
        if !rules::are_cards_public(&self.replay.hand, &event) {
            recorded.padding = record_padding::zeros(&recorded, record_padding::DECISION_STEP);
        }
        let judged = Some([JudgedInput { input: Some(event), positions: None }].into());
        let inputs = RuleInputs { faces: Faces::new(), judged };
        Batch { inputs, ..Batch::single(self.hand_id, recorded) }
    }
}

/// Context of a hand, from its first event.
fn context_of(opened: &pb::HandOpened) -> Result<Context, ReplayError> {
    let commitment = opened.commitment.clone().unwrap_or_default();
    let table = wire::field::table_id(&opened.table_id)?;
    let hash = fairness::rules_hash(&opened.rule_set, &opened.settings);
    Ok(BoundCommitment::try_new(&commitment, table, opened.hand_no, &hash)?.context)
}
