//! Conversion of the state that only one game has, between the rules and the messages of updates.
//!
//! A game's message is written and read by the functions of its name, and by nothing else.

mod kessel;
mod read;

use primitives::SeatNo;
use proto::table::v1 as pb;
use proto::table::v1::game_state::State;
use rules::{
    Announced, Card, CoruscantState, Deck, ElevenState, ForceState, GameState, Player, PlayerSet,
    Selection, ShiftingState, Side, SpikeState, SwgState, Target,
};

use crate::moves::seat_of;

pub use read::GameStateReader;

/// Converts the state of a game as its viewer may know it.
#[must_use]
pub fn write(state: &GameState, deck: &Deck, seats: &[SeatNo]) -> pb::GameState {
    let writer = Writer { deck, seats };
    let state = match state {
        GameState::Coruscant(state) => State::Coruscant(writer.coruscant(state)),
        GameState::Dice(state) => {
            State::Dice(pb::DiceState { declared_totals: writer.declared_totals(state) })
        }
        GameState::Electronic(state) => State::Electronic(pb::ElectronicState {
            declared_totals: writer.declared_totals(state),
        }),
        GameState::Eleven(state) => State::Eleven(writer.eleven(*state)),
        GameState::Force(state) => State::Force(writer.force(*state)),
        GameState::Kessel(state) => State::Kessel(writer.kessel(state)),
        GameState::Spike(state) => State::Spike(writer.spike(*state)),
        GameState::Swg(SwgState { ends_at }) => {
            State::Swg(pb::SwgState { ends_at_seat: writer.seat(*ends_at) })
        }
    };
    pb::GameState { state: Some(state) }
}

/// Context of writing a state.
#[derive(Clone, Copy)]
struct Writer<'a> {
    deck: &'a Deck,
    seats: &'a [SeatNo],
}

impl Writer<'_> {
    fn seat(self, player: Player) -> u32 {
        seat_of(player, self.seats)
    }

    fn seats_of(self, players: PlayerSet) -> Vec<u32> {
        players.iter().map(|player| self.seat(player)).collect()
    }

    fn code(self, card: Card) -> String {
        self.deck.code(card).to_owned()
    }

    /// Code of a card, or empty where there is none.
    fn code_or_empty(self, card: Option<Card>) -> String {
        card.map_or_else(String::new, |card| self.code(card))
    }

    fn codes(self, cards: &[Card]) -> Vec<String> {
        cards.iter().map(|card| self.code(*card)).collect()
    }

    fn coruscant(self, state: &CoruscantState) -> pb::CoruscantState {
        let CoruscantState { target, selections } = state;
        let selection = |Selection { player, count, cards }: &Selection| pb::CoruscantSelection {
            seat: self.seat(*player),
            count: u32::from(*count),
            cards: self.codes(cards),
        };
        pb::CoruscantState {
            target: target.map(|Target { total, suit }| pb::CoruscantTarget {
                total: i32::from(total),
                suit: suit as i32 + 1,
            }),
            selections: selections.iter().map(selection).collect(),
        }
    }

    fn declared_totals(self, state: &ShiftingState) -> Vec<pb::DeclaredTotal> {
        let ShiftingState { declared_totals } = state;
        let totals = self.seats.iter().zip(declared_totals);
        totals
            .map(|(seat, total)| pb::DeclaredTotal {
                seat: u32::from(seat.get()),
                total: i32::from(*total),
            })
            .collect()
    }

    fn eleven(self, state: ElevenState) -> pb::ElevenState {
        let ElevenState { announced, stood } = state;
        let face =
            |face: u8| self.deck.faces().nth(usize::from(face)).unwrap_or_default().to_owned();
        let (wild, clone) = announced
            .map(|Announced { wild, clone }| (face(wild), face(clone)))
            .unwrap_or_default();
        pb::ElevenState { wild, clone, stood_seats: self.seats_of(stood) }
    }

    fn force(self, state: ForceState) -> pb::ForceState {
        let ForceState { sides } = state;
        let side_name = |side| match side {
            Side::Light => pb::ForceSide::Light,
            Side::Dark => pb::ForceSide::Dark,
        };
        let known = self.seats.iter().zip(sides).filter_map(|(seat, side)| {
            let side = side_name(side?).into();
            Some(pb::ForceAlignment { seat: u32::from(seat.get()), side })
        });
        pb::ForceState { alignments: known.collect() }
    }

    fn spike(self, state: SpikeState) -> pb::SpikeState {
        let SpikeState { top_discard } = state;
        pb::SpikeState { top_discard: self.code_or_empty(top_discard) }
    }
}

#[cfg(test)]
mod tests;
