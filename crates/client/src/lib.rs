//! Knows: how to talk to the public port: calls that repeat themselves safely, tables followed without a gap, what a viewer knows, a seat's part in chance and the checks that belong to it.
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
//!
//! Whoever plays takes part in chance, so that nobody can have chosen his cards: [`chance`] says how,
//! byte by byte, for clients in any language, and does it here:
//!
//! ```no_run
//! # async fn example(table: primitives::TableId, me: primitives::PlayerId, keys: &str, secret: [u8; 32])
//! # -> Result<(), Box<dyn std::error::Error>> {
//! let client = client::Client::connect("http://127.0.0.1:7070", "a token")?
//!     .trusting(client::Trust::parse(keys)?)          // the room's keys.txt
//!     .with_secret(client::Secret::kept(secret));     // 32 random bytes of yours, kept over restarts
//! let mut play = client.play(table).taking_part(me);
//! loop {
//!     match play.next().await {
//!         Ok(Some(_)) => { /* show it; decide */ }
//!         Ok(None) => break,
//!         // What is wrong, who answers for it, and the evidence.
//!         Err(client::Error::Distrust(found)) => return Err(found.into()),
//!         Err(_) => { /* the way to the server; go on */ }
//!     }
//! }
//! # Ok(())
//! # }
//! ```

pub mod accounts;
mod audits;
pub mod chance;
pub mod checkpoints;
mod connection;
mod error;
mod patience;
mod people;
mod play;
mod state;
mod tables;
mod tell;
mod watch;

pub use chance::{Chance, Culprit, Distrust, Secret, Trust, Violation};
pub use connection::{Client, TokenSource};
pub use error::{Error, Refusal};
pub use patience::Patience;
pub use play::{Acted, Heard, Play, TookPart};
pub use state::TableState;
pub use tell::tell;
pub use watch::{Seen, Watch};
