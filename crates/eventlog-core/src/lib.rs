//! Knows: the shape of a log's events, and the leaf records that its Merkle tree commits to.
//! Does not know: how a log is written, read or stored, or what an event means.
//!
//! Auditors and parsers of events link this crate alone; the log itself is the crate `eventlog`.

pub mod event;
pub mod record;

pub use event::{Event, NewEvent, Position, Version};
