//! What an operator may set, read whole before anything starts.
//!
//! A setting comes from a TOML file (`--config FILE` or `SABACC_CONFIG`) or from the environment,
//! which wins: `limits.streams` in the file is `SABACC_LIMITS_STREAMS` there. A key that nobody
//! knows and a value that does not parse are errors, all told at once, each with what is allowed.
//! Key files are read here too, so that a service with a wrong key never opens its port.

mod base;
mod limits;
mod log;
mod problem;
mod settings;
mod source;

pub use base::{AuthConfig, Peers, Service, ServiceConfig, caller_tls};
pub use log::{LogIdentity, LogWitnesses};
pub use problem::{ConfigError, Problem};
pub use settings::Settings;
pub use source::Source;
