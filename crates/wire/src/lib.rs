//! Knows: protobuf messages and domain types, their conversion, and gRPC codes.
//! Does not know: sockets, logs, tables in play, databases, clocks.
//!
//! The conversions that more than one crate needs; a service converts the messages of its own API.
//! Parsing destructures every field of a message, so that a new field is a compile error here and
//! is never silently ignored.

pub mod activity;
pub mod card_positions;
pub mod clock;
pub mod field;
pub mod game_state;
pub mod history;
pub mod ledger;
mod log_record;
pub mod moves;
pub mod public;
pub mod ranks;
pub mod records;
pub mod replay;
pub mod rules_text;
pub mod ruleset;
pub mod settlement;
pub mod standing;
pub mod status;
pub mod time;

pub use field::BadField;
pub use log_record::{leaf_only, log_record};
pub use records::{DealerRecord, Record, TableRecord, WalletRecord};
pub use replay::HandReplay;
pub use status::{ApiRefusal, api_refusal};
