//! Tests of the server with a small service, over real connections.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod addresses;
mod auth;
mod bounds;
mod echo;
mod limits;
mod raw;
mod stop;
mod tls;
mod tokens;
mod web;
mod web_client;
mod web_limits;
