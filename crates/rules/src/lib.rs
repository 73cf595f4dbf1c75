//! Knows: how sabacc is played: decks, rule sets, legal moves, pots, settlements, who may see what.
//! Does not know: where chance comes from, what time it is, who the players are, how anything is
//! stored.
//!
//! Start at [`hand`]: [`next`] says what a hand waits for, [`decide`] and [`resolve_chance`] check
//! an input, [`evolve`] applies it, [`view`] shows the hand to a viewer. A variant is one module
//! under `games` and its lines in the registry there.
//!
//! Specification: rules/SPEC.md §2.1.

mod c62;
mod cards;
mod chance;
mod deck;
mod evaluator;
mod event;
mod event_view;
pub mod explain;
mod game;
mod games;
pub mod hand;
mod hand_phase;
mod legal;
mod moves;
pub mod notation;
pub mod play;
mod player;
mod rank;
mod refusal;
mod ruleset;
mod s76;
mod settings;
mod settlement;
mod setup;
mod state;
mod token;
mod variant;
mod view;

pub use c62::Suit;
pub use cards::{Card, CardSet, Cards};
pub use chance::{
    CardCount, Chance, Deal, DealPart, DealReason, Destination, Outcome, PickPurpose, Restock,
    RollPurpose, SamplePurpose,
};
pub use deck::{C62, Deck, K44, P42, S76};
pub use evaluator::{Evaluator, Strength};
pub use event::{DecisionAuthor, Event};
pub use event_view::{
    Actor, EventView, Word, Words, are_cards_public, censor, chain_line, history_line,
    is_choice_secret,
};
pub use explain::explain;
pub use games::GameState;
pub use games::coruscant::{CoruscantState, Selection, worth::Target};
pub use games::eleven::{ElevenState, worth::Announced};
pub use games::force::ForceState;
pub use games::kessel::{
    ImpostorState, KesselPlayerState, KesselState, RevealedHand, ranking::FixTokens,
};
pub use games::shifting::ShiftingState;
pub use games::spike::{SpikeState, ladder::Rung};
pub use games::swg::SwgState;
pub use hand::{Decision, Hand, Next, decide, evolve, next, resolve_chance};
pub use hand_phase::HandPhase;
pub use legal::{Choices, Legal, LegalMoves};
pub use moves::{Arguments, DrawSource, Move, MoveKind, Shape, Side};
pub use player::{Player, PlayerSet, Viewer};
pub use rank::Rank;
pub use refusal::Refusal;
pub use ruleset::{Field, FieldValue, RuleSet, RuleSetError};
pub use settings::{SeedOpening, SettingsError, TableSettings};
pub use settlement::{FinalHand, Pot, Settlement, SettlementItem};
pub use setup::{Setup, SetupError, check_player_count};
pub use token::ShiftToken;
pub use variant::{ALL, PileSpec, Variant, variant};
pub use view::{CardView, PlayerView, Status, View, cards_differ, game_state, view};
