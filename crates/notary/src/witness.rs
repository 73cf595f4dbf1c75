//! Witnesses outside the room, who see the log grow: both ends of C2SP `tlog-witness`. `keep` is
//! the witness, `serve` its port, `push` the log that requests cosignatures.

mod keep;
mod push;
mod serve;

pub use keep::{Witness, WitnessError};
pub use push::{Invited, invite};
pub use serve::Desk as WitnessDesk;
