//! Knows: configuration, tokens, ports, peers, limits, telemetry and stopping of a service.
//! Does not know: games, credits, logs, or any message of our protocols.
//!
//! The only crate that reads a service's environment and listens to signals. The clock and entropy
//! are the crate `system`, connections to other services the crate `transport`. A service's `main`
//! is [`program`]: read the [`config`], start [`telemetry`], listen to signals ([`drain`]),
//! [`serve::bind`] the port, build the services, [`serve::Server::run`], flush.

pub mod activity;
pub mod api;
pub mod auth;
pub mod body_with_permit;
pub mod build;
pub mod channel;
pub mod concurrency_limiter;
pub mod config;
mod connect_error;
mod content_type;
pub mod daily_quota;
pub mod drain;
pub mod http_client;
pub mod limits;
pub mod memory;
pub mod program;
pub mod proxies;
pub mod rate_limiter;
mod refusal;
pub mod request_ids;
pub mod serve;
pub mod telemetry;
pub mod threads;
pub mod transcoder;
