//! The shell around a small service, over real connections.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod auth;
mod echo;
mod limits;
mod stop;
mod tls;
