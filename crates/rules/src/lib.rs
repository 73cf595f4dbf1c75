//! Knows: how sabacc is played: decks, rule sets, legal moves, pots, settlements, who may see what.
//! Does not know: where chance comes from, what time it is, who the players are, how anything is
//! stored.
//!
//! Start at [`hand`]: [`next`] says what a hand waits for, [`decide`] and [`chance`] check an
//! input, [`evolve`] applies it, [`view`] shows the hand to a viewer. A variant is one module under
//! `games` and one line in its registry.

mod c62;
mod cards;
mod chance;
mod deck;
mod event;
pub mod explain;
mod game;
mod games;
pub mod hand;
mod legal;
mod line;
mod moves;
pub mod notation;
pub mod play;
mod player;
mod rank;
mod refusal;
mod ruleset;
mod s76;
mod scale;
mod seen;
mod setup;
mod state;
mod token;
mod variant;
mod view;

pub use cards::{Card, CardSet, Cards};
pub use chance::{Chance, Count, Deal, Outcome, Part, Pick, Restock, Roll, Sample, To, Why};
pub use deck::{C62, Deck, K44, P42, S76};
pub use event::{By, Event};
pub use explain::explain;
pub use hand::{Decision, Hand, Next, chance, decide, evolve, next};
pub use legal::{Legal, LegalMoves};
pub use line::{FinalHand, Line, Pot, Settlement};
pub use moves::{Move, Side, Source};
pub use player::{Player, PlayerSet, Viewer};
pub use rank::Rank;
pub use refusal::Refusal;
pub use ruleset::{Field, FieldValue, RuleSet, RuleSetError};
pub use scale::{Scale, Strength};
pub use seen::{Actor, SeenEvent, Word, Words, censor, line, public_cards};
pub use setup::{Setup, SetupError, players};
pub use token::Token;
pub use variant::{ALL, PileSpec, Variant, variant};
pub use view::{CardView, PlayerView, Status, View, cards_differ, view};
