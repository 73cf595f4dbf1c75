//! Somebody outside the house who sees the log grow: C2SP `tlog-witness`, both ends of it. `keep` is
//! the witness, `serve` its port; `push` is the log that asks.

mod keep;
mod push;
mod serve;

pub use keep::{Witness, WitnessError};
pub use push::{Invited, invite};
pub use serve::Desk as WitnessDesk;
