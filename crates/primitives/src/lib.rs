//! Knows: the values that every crate shares: credits, identifiers, seat numbers, instants.
//! Does not know: games, accounts, logs, bytes on a wire.
//!
//! Everything here is a value: it can be copied, compared and printed, and it cannot hold a state
//! that its own documentation rules out.

mod credits;
mod id;
mod quoted;
mod seat;
mod time;

pub use credits::{Credits, CreditsOutOfRange};
pub use id::{
    AdjustmentId, DisputeId, HandId, HoldId, IdError, PlayerId, RequestId, StreamId, TableId,
};
pub use quoted::{Quoted, write_escaped};
pub use seat::{SeatNo, SeatNoOutOfRange};
pub use time::UnixMicros;
