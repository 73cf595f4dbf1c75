//! Knows: calls of the public port with safe retries, guests' logins, tables followed without a gap,
//! a viewer's knowledge of a table, a seat's entropy, signed decisions and evidence, and the checks of
//! chance.
//! Does not know: how a table, a dealer or a wallet works, or anything its viewer may not see.
//!
//! ```no_run
//! # async fn example(table: primitives::TableId) -> Result<(), client::Error> {
//! let client = client::Client::connect("http://127.0.0.1:7400", "a token")?;
//! let mut watch = client.watch(table);
//! let mut state = client::TableState::new(None);
//! while let Some(seen) = watch.next().await? {
//!     state.apply(&seen);
//!     if let client::WatchMessage::Update(update) = &seen
//!         && let Some(line) = state.describe(update)
//!     {
//!         // Show the line to somebody.
//!         drop(line);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! In a room for play money a player signs in by themselves ([`Guest`]), and comes back with a login
//! that is kept in a file. Its access token is kept fresh for as long as the guest lives:
//!
//! ```no_run
//! # async fn example() -> Result<(), client::Error> {
//! let room = client::Client::connect("http://127.0.0.1:7400", client::TokenSource::none())?;
//! let guest = client::Guest::open(&room, "guest.json", "Lando").await?;
//! let account = guest.client().get_account(None).await?;
//! assert!(account.balance_credits > 0, "credits to begin with");
//! # Ok(())
//! # }
//! ```
//!
//! To play, follow a table, and choose among the moves that the turn lists. What a
//! [`LegalMove`](proto::common::v1::LegalMove) says is enough; `examples/bot.rs` plays every game so:
//!
//! ```no_run
//! # use primitives::{Credits, PlayerId, TableId};
//! # use proto::common::v1::Move;
//! # async fn example(client: client::Client, table: TableId, me: PlayerId)
//! # -> Result<(), client::Error> {
//! client.sit_down(table, 0, Credits::of(200)).await?;
//! let mut play = client.play(table).contributing_entropy(me);
//! let mut state = client::TableState::new(Some(me));
//! while let Some(message) = play.next().await? {
//!     let client::PlayMessage::Watch(seen) = message else { continue };
//!     state.apply(&seen);
//!     let Some(turn) = state.my_turn().filter(|_| play.is_live()) else { continue };
//!     let plain = turn.legal.iter().find(|legal| legal.move_arguments.is_empty());
//!     if let Some(legal) = plain {
//!         let decision = Move { kind: legal.kind, ..Move::default() };
//!         // Signed; the outcome comes as a message, and a lost one is sent again.
//!         play.decide(state.view().hand_no, turn.turn, decision)?;
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A player who takes part in chance knows that nobody chose their cards. [`chance`] specifies it
//! byte by byte, for clients in any language:
//!
//! ```no_run
//! # use primitives::{PlayerId, TableId};
//! # async fn example(table: TableId, me: PlayerId, keys: &str, secret: [u8; 32])
//! # -> Result<(), Box<dyn std::error::Error>> {
//! let client = client::Client::connect("http://127.0.0.1:7400", "a token")?
//!     .with_trusted_keys(client::TrustedKeys::parse(keys)?)          // the room's keys.txt
//!     .with_secret(client::Secret::from_bytes(secret));     // 32 random bytes, kept over restarts
//! let mut play = client.play(table).contributing_entropy(me);
//! loop {
//!     match play.next().await {
//!         Ok(Some(_)) => { /* show it; decide */ }
//!         Ok(None) => break,
//!         // The violation, the party at fault, and the evidence.
//!         Err(client::Error::FairnessViolation(found)) => return Err(found.into()),
//!         Err(_) => { /* the connection failed; go on */ }
//!     }
//! }
//! # Ok(())
//! # }
//! ```

pub mod accounts;
mod adjustments;
mod audits;
pub mod chance;
pub mod checkpoints;
mod connection;
mod describe;
mod durable;
mod error;
pub mod evidence;
mod guest;
mod hands;
mod limits;
mod lobby;
mod people;
mod play;
mod retry;
mod room;
mod rules;
mod state;
mod tables;
mod watch;

pub use chance::{
    Chance, FairnessViolation, HandProofs, Notice, PartyAtFault, Secret, TrustedKeys, ViolationKind,
};
pub use connection::{Client, TokenSource};
pub use describe::{describe, describe_with};
pub use error::{Error, Refusal};
pub use evidence::{EvidenceDirectory, EvidenceStore};
pub use guest::{Guest, GuestLogin, LoginError};
pub use limits::NewLimits;
pub use lobby::{LobbyMessage, LobbyWatch};
pub use play::{DecisionOutcome, EntropyOutcome, Play, PlayMessage};
pub use retry::RetryPolicy;
pub use state::TableState;
pub use watch::{Watch, WatchMessage};
