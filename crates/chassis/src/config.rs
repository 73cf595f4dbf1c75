//! Settings of a service, read whole before anything starts.
//!
//! A setting comes from a TOML file (`--config FILE` or `SABACC_CONFIG`) or from the environment.
//! The environment wins. `limits.streams` in the file is `SABACC_LIMITS_STREAMS` in the
//! environment. Unknown keys and values that do not parse are errors. All errors are reported
//! together, each with the values that are allowed. Key files are read here too, so a service with
//! a wrong key never opens its port. Crates `figment` and `config` stop at the first error and pass
//! over unknown variables.

mod archives;
mod base;
mod limits;
mod log;
mod problem;
mod settings;
mod source;

pub use archives::{ArchiveConfig, ArchiveLocation, BucketAccess};
pub use base::{AuthConfig, Peers, Service, ServiceConfig, caller_tls};
pub use log::{LogIdentity, LogWitnesses, PreviousLogKey};
pub use problem::{ConfigError, Problem};
pub use settings::Settings;
pub use source::Source;
