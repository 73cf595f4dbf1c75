//! Replay of a hand: conversion between a hand's stream and the rules' events.
//!
//! [`HandReplay`] is a hand in play together with the positions of its cards. The table builds it
//! from its own log after a crash; the audit builds it from the records that it is given. Both take
//! the same steps in the same order. Hidden faces are not recorded: `faces` supplies them, from the
//! dealer or from the revealed seed.

use std::collections::VecDeque;

use fairness::Handle;
use primitives::{Credits, CreditsOutOfRange, SeatNo, SeatNoOutOfRange};
use proto::common::v1 as common;
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use rules::{
    Card, Chance, DecisionAuthor, Destination, Event, Hand, Move, Outcome, Player, RuleSet, Setup,
};

use crate::card_positions::{CardPositions, PositionError, handle_from_pb};
use crate::field::BadField;
use crate::moves::{self, MoveReader};
use crate::records::{PlayEvent, TableRecord, TableSubject};

/// Hand in play, with the positions of its cards.
#[derive(Clone)]
pub struct HandReplay {
    pub hand: Hand,
    pub positions: CardPositions,
    /// Seats of p1, p2 …
    pub seats: Vec<SeatNo>,
    /// Layout of a deal whose restocking shuffle is recorded and whose cards are not recorded yet.
    layout: Option<DealLayout>,
}

/// Positions of the cards of one deal, in order.
#[derive(Debug, Clone, Default)]
pub struct DealLayout {
    /// Shuffles of discards into piles that run out during the deal.
    pub restocks: VecDeque<dealer::Operation>,
    pub positions: Vec<Handle>,
}

/// Error of a hand's stream that cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    #[error("the hand cannot be set up: {0}")]
    Setup(String),
    #[error("the rules refuse what is on record: {0}")]
    Refused(#[from] rules::Refusal),
    #[error(transparent)]
    Position(#[from] PositionError),
    #[error("the record is damaged: {0}")]
    Corrupt(String),
    #[error("what is on record is not what the rules call for: {0}")]
    Unexpected(&'static str),
    #[error("the face of a hidden card is not known")]
    FaceUnknown,
}

impl From<BadField> for ReplayError {
    fn from(bad: BadField) -> ReplayError {
        ReplayError::Corrupt(bad.to_string())
    }
}

impl From<CreditsOutOfRange> for ReplayError {
    fn from(error: CreditsOutOfRange) -> ReplayError {
        ReplayError::Corrupt(error.to_string())
    }
}

impl From<SeatNoOutOfRange> for ReplayError {
    fn from(error: SeatNoOutOfRange) -> ReplayError {
        ReplayError::Corrupt(error.to_string())
    }
}

impl HandReplay {
    /// Sets the hand up as its first event describes it.
    pub fn try_new(opened: &pb::HandOpened) -> Result<HandReplay, ReplayError> {
        let setup = setup(opened)?;
        let hand = Hand::try_new(&setup).map_err(|error| ReplayError::Setup(error.to_string()))?;
        Ok(HandReplay {
            hand,
            positions: CardPositions::default(),
            seats: setup.seats,
            layout: None,
        })
    }

    /// Applies a recorded event and returns the rules' event that it stands for; `None` for records
    /// that are no input of the rules. `faces` gives the face of a hidden card.
    pub fn apply(
        &mut self,
        recorded: &TableRecord,
        faces: &dyn Fn(Handle) -> Option<Card>,
    ) -> Result<Option<Event>, ReplayError> {
        let event = self.read(recorded, faces)?;
        if let Some(event) = &event {
            rules::evolve(&mut self.hand, event);
        }
        Ok(event)
    }

    /// Reads a recorded event like [`HandReplay::apply`], but leaves the hand unchanged. A caller
    /// that needs the hand before the event passes the event to [`rules::evolve`] itself.
    pub fn read(
        &mut self,
        recorded: &TableRecord,
        faces: &dyn Fn(Handle) -> Option<Card>,
    ) -> Result<Option<Event>, ReplayError> {
        let TableSubject::Play(event) = recorded.subject() else { return Ok(None) };
        match event {
            PlayEvent::ChanceUsed(used) => self.read_chance(used),
            PlayEvent::CardsMoved(moved) => self.read_cards(moved, faces).map(Some),
            PlayEvent::MoveDecided(decided) if is_void(decided) => Ok(None),
            PlayEvent::MoveDecided(decided) => self.read_move(decided).map(Some),
            PlayEvent::HandSealed(_)
            | PlayEvent::ClockResumed(_)
            | PlayEvent::CardsShown(_)
            | PlayEvent::HandSettled(_)
            | PlayEvent::SettlementPosted(_) => Ok(None),
        }
    }

    fn due_chance(&self) -> Result<Chance, ReplayError> {
        let due = self.hand.due().cloned();
        due.ok_or(ReplayError::Unexpected("a use of chance where none is due"))
    }

    fn read_chance(&mut self, used: &pb::ChanceUsed) -> Result<Option<Event>, ReplayError> {
        let pb::ChanceUsed { operation, result, restock } = used;
        let missing = || ReplayError::Corrupt("an operation without content".to_owned());
        let operation = operation.as_ref().ok_or_else(missing)?;
        let result = result.as_ref().ok_or_else(missing)?;
        let due = self.due_chance()?;
        let expected =
            if *restock { self.restock(&due)? } else { self.positions.operation_for(&due)? };
        if expected != *operation {
            return Err(ReplayError::Unexpected("another operation of chance"));
        }
        if *restock {
            return Ok(None);
        }
        let outcome = outcome(&due, &result.values)?;
        Ok(Some(rules::resolve_chance(&self.hand, outcome)?))
    }

    /// Next shuffle of discards that the due deal needs.
    fn restock(&mut self, due: &Chance) -> Result<dealer::Operation, ReplayError> {
        let Chance::Deal(deal) = due else {
            return Err(ReplayError::Unexpected("a restock where no deal is due"));
        };
        let mut layout = match self.layout.take() {
            Some(layout) => layout,
            None => self.positions.take_layout(deal)?,
        };
        let restock = layout.restocks.pop_front();
        self.layout = Some(layout);
        restock.ok_or(ReplayError::Unexpected("a restock of a pile that does not run out"))
    }

    fn read_cards(
        &mut self,
        moved: &pb::CardsMoved,
        faces: &dyn Fn(Handle) -> Option<Card>,
    ) -> Result<Event, ReplayError> {
        let pb::CardsMoved { seat, cards } = moved;
        let due = self.due_chance()?;
        let Chance::Deal(deal) = &due else {
            return Err(ReplayError::Unexpected("cards where no deal is due"));
        };
        if *seat != self.recipient(deal.to) {
            return Err(ReplayError::Unexpected("cards for another seat"));
        }
        let places = match self.layout.take() {
            Some(DealLayout { restocks, positions: places }) if restocks.is_empty() => places,
            Some(_) => return Err(ReplayError::Unexpected("cards before the restock they need")),
            None => self.positions.take_positions(deal, cards.len())?,
        };
        let deck = self.hand.rules().variant().deck;
        let mut known = Vec::with_capacity(cards.len());
        for common::CardRef { op, position, card, salt: _ } in cards {
            let place = handle_from_pb(&dealer::Handle { op: *op, position: *position })?;
            let face = faces(place).ok_or(ReplayError::FaceUnknown)?;
            if !card.is_empty() && deck.code(face) != card {
                return Err(ReplayError::Unexpected("another card than lay there"));
            }
            known.push((place, face));
        }
        if !known.iter().map(|(place, _)| *place).eq(places) {
            return Err(PositionError::OtherPositions.into());
        }
        let outcome = Outcome::Cards(known.iter().map(|(_, face)| *face).collect());
        let event = rules::resolve_chance(&self.hand, outcome)?;
        for (place, face) in known {
            self.positions.record(place, face);
        }
        Ok(event)
    }

    fn read_move(&self, decided: &pb::MoveDecided) -> Result<Event, ReplayError> {
        let pb::MoveDecided {
            seat,
            r#move: mv,
            cards,
            by_clock,
            bank_used_ms: _,
            turn: _,
            signature: _,
            padding: _,
        } = decided;
        let player = self.player_of(*seat)?;
        let by = if *by_clock { DecisionAuthor::Clock } else { DecisionAuthor::Player };
        let mv = self.move_of(mv.as_ref(), cards)?;
        Ok(rules::decide(&self.hand, player, mv, by)?)
    }

    /// Parses a recorded move with its cards.
    fn move_of(
        &self,
        mv: Option<&common::Move>,
        cards: &[common::CardRef],
    ) -> Result<Move, ReplayError> {
        let mv = mv.ok_or_else(|| ReplayError::Corrupt("a decision without a move".to_owned()))?;
        let deck = self.hand.rules().variant().deck;
        let mut named = Vec::with_capacity(cards.len());
        let mut codes = Vec::with_capacity(cards.len());
        for common::CardRef { op, position, card: _, salt: _ } in cards {
            let place = handle_from_pb(&dealer::Handle { op: *op, position: *position })?;
            let card = self.positions.card_at(place)?;
            named.push(card);
            codes.push(deck.code(card).to_owned());
        }
        let reader = MoveReader { deck, cards: &named, seats: &self.seats };
        Ok(reader.read(&common::Move { cards: codes, ..mv.clone() })?)
    }

    /// Player of a seat.
    pub fn player_of(&self, seat: u32) -> Result<Player, ReplayError> {
        let index = self.seats.iter().position(|other| u32::from(other.get()) == seat);
        index
            .and_then(|index| u8::try_from(index).ok())
            .and_then(Player::try_new)
            .ok_or(ReplayError::Unexpected("a seat that is not in the hand"))
    }

    /// Seat that a deal goes to; 0 for the table.
    #[must_use]
    pub fn recipient(&self, to: Destination) -> u32 {
        match to {
            Destination::Player(player) => moves::seat_of(player, &self.seats),
            Destination::Table => 0,
        }
    }

    /// Record of a decision, with the faces of only those cards that become public by it.
    pub fn record_move(&self, event: &Event) -> Result<Option<pb::MoveDecided>, PositionError> {
        let Event::Decided { player, mv, author: by } = event else { return Ok(None) };
        let public = rules::are_cards_public(&self.hand, event);
        let arguments = mv.arguments();
        let cards = arguments.cards().iter().map(|card| self.card_ref(*card, public));
        Ok(Some(pb::MoveDecided {
            seat: moves::seat_of(*player, &self.seats),
            r#move: Some(moves::write_without_cards(mv, &self.seats)),
            cards: cards.collect::<Result<_, _>>()?,
            by_clock: *by == DecisionAuthor::Clock,
            bank_used_ms: 0,
            turn: 0,
            signature: bytes::Bytes::new(),
            padding: bytes::Bytes::new(),
        }))
    }

    /// Line of a recorded decision as the chain of decisions takes it, before it is applied. With
    /// `said`, a secret choice stands in it in the clear, as it is signed.
    pub fn recorded_line(
        &self,
        decided: &pb::MoveDecided,
        said: bool,
    ) -> Result<String, ReplayError> {
        if is_void(decided) {
            return Ok(void_line(self.player_of(decided.seat)?));
        }
        let event = self.read_move(decided)?;
        self.chain_line(&event, said).ok_or(ReplayError::Unexpected("a decision without a line"))
    }

    /// Line of a decision as the chain of decisions takes it, before it is applied; none for
    /// chance. With `said`, a secret choice stands in it in the clear, as it is signed.
    #[must_use]
    pub fn chain_line(&self, event: &Event, said: bool) -> Option<String> {
        let place = |card| match self.positions.position_of(card) {
            Ok(Handle { op, position }) => format!("{op}.{position}"),
            // The rules took the move, so its cards lie somewhere.
            Err(_) => "?".to_owned(),
        };
        rules::chain_line(&self.hand, event, said, place)
    }

    /// Position of a known card, with its face if it is public.
    pub fn card_ref(&self, card: Card, public: bool) -> Result<common::CardRef, PositionError> {
        let Handle { op, position } = self.positions.position_of(card)?;
        let code = if public { self.hand.rules().variant().deck.code(card) } else { "" };
        Ok(common::CardRef {
            op,
            position: u32::from(position),
            card: code.to_owned(),
            salt: Vec::new(),
        })
    }
}

/// Whether a recorded decision agrees to end a suspended hand, which is no input of the rules.
#[must_use]
pub fn is_void(decided: &pb::MoveDecided) -> bool {
    decided.r#move.as_ref().is_some_and(|mv| mv.kind() == common::MoveKind::Void)
}

/// Line of the decision that agrees to end a suspended hand.
#[must_use]
pub fn void_line(player: Player) -> String {
    format!("{player} void")
}

/// Parses the setup of a hand from its first event.
pub fn setup(opened: &pb::HandOpened) -> Result<Setup, ReplayError> {
    let rules = RuleSet::from_canonical(&opened.rule_set)
        .map_err(|error| ReplayError::Setup(error.to_string()))?;
    let mut seats = Vec::new();
    let mut stacks = Vec::new();
    for pb::RosterSeat { seat, player_id: _, stack, house: _ } in &opened.roster {
        seats.push(SeatNo::try_from(*seat)?);
        stacks.push(Credits::try_new(*stack)?);
    }
    Ok(Setup {
        rules,
        seats,
        stacks,
        sabacc_pot: Credits::try_new(opened.sabacc_pot)?,
        carried_pot: Credits::try_new(opened.carried_pot)?,
    })
}

/// Outcome of a use of chance from the dealer's public numbers.
pub fn outcome(due: &Chance, values: &[u32]) -> Result<Outcome, ReplayError> {
    let damaged = || ReplayError::Corrupt("chance gave numbers that cannot be".to_owned());
    match due {
        Chance::Shuffle { .. } => Ok(Outcome::Shuffled),
        Chance::Deal(_) => Err(ReplayError::Unexpected("numbers where cards are due")),
        Chance::Roll { .. } => {
            let faces = values.iter().map(|value| u8::try_from(*value)).collect::<Result<_, _>>();
            Ok(Outcome::Rolled(faces.map_err(|_| damaged())?))
        }
        Chance::Pulse { .. } => match values {
            [0] => Ok(Outcome::Pulsed(false)),
            [1] => Ok(Outcome::Pulsed(true)),
            _ => Err(damaged()),
        },
        Chance::Pick { .. } => match values {
            [picked] => Ok(Outcome::Picked(*picked)),
            _ => Err(damaged()),
        },
        Chance::Sample { .. } => Ok(Outcome::Sampled(values.iter().copied().collect())),
    }
}
