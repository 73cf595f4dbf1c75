//! Witnesses outside the room, who see the log grow: both ends of C2SP `tlog-witness`. `cosigner`
//! is the witness, `serve` its port, `push` the log that requests cosignatures.

mod cosigner;
mod push;
mod serve;

pub use cosigner::{Witness, WitnessError};
pub use push::{WitnessEndpoint, push_checkpoints};
pub use serve::WitnessService;
