//! Knows: how to talk to the public port: calls that repeat themselves safely, tables followed without a gap, what a viewer knows; and bots that play.
//! Does not know: how a table, a dealer or a wallet works, or anything its viewer may not see.
//!
//! ```no_run
//! # async fn example(table: primitives::TableId) -> Result<(), client::Error> {
//! let client = client::Client::connect("http://127.0.0.1:7070", "a token")?;
//! let mut watch = client.watch(table);
//! let mut state = client::TableState::new(None);
//! while let Some(seen) = watch.next().await? {
//!     state.apply(&seen);
//!     if let client::Seen::Update(update) = &seen
//!         && let Some(line) = state.tell(update)
//!     {
//!         // Show the line to somebody.
//!         drop(line);
//!     }
//! }
//! # Ok(())
//! # }
//! ```

pub mod accounts;
pub mod bot;
mod connection;
mod error;
mod patience;
mod people;
mod play;
mod state;
pub mod strategy;
mod tables;
mod tell;
mod watch;

pub use bot::{Bot, BotEnd, BotReport, run_bot};
pub use connection::{Client, TokenSource};
pub use error::{Error, Refusal};
pub use patience::Patience;
pub use play::{Acted, Heard, Play};
pub use state::TableState;
pub use strategy::Strategy;
pub use tell::tell;
pub use watch::{Seen, Watch};
