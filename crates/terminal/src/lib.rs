//! Knows: how a table, a lobby and a room look in a terminal, which keys make which move, and the
//! words for a refusal.
//! Does not know: terminals, sockets, files or clocks: it turns a state and a key into cells and a
//! request.
//!
//! A screen is drawn from what its viewer was sent and from the time that its caller gives. Moves are
//! made from [`LegalMove`](proto::common::v1::LegalMove) alone, so a game that this crate has never
//! seen can be played; [`games`] adds what only one game lays on the felt.
//!
//! Colours are chosen by meaning ([`Tone`], [`Background`]) and looked up in a [`Palette`] for what the
//! terminal can show: 24 bits, 256 colours, 16, or none, where weight and reversed cells carry the
//! meaning.

pub mod cards;
pub mod colour;
pub mod composer;
mod draw;
pub mod games;
mod key;
mod lobby;
pub mod refusals;
mod room;
mod table;
mod text;
pub mod tokens;
pub mod verbs;

pub use colour::{Background, Colours, Palette, Tone};
pub use key::Key;
pub use lobby::{LobbyRequest, LobbyScreen};
pub use room::{RoomSample, RoomScreen};
pub use table::{Connection, Request, TableScreen};
