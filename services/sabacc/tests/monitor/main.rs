//! `sabacc monitor` against a house that forges its logs: a small web server shows what a hostile
//! room would sign and serve. Rooms of real services are in `rooms/monitor.rs`.
//!
//! `forge` writes logs and serves them, `hostile` has the forgeries of a server.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod forge;
mod histories;
mod hostile;
