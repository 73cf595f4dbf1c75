//! Knows: protobuf messages and the domain's own words, how each becomes the other, and gRPC codes.
//! Does not know: sockets, logs, tables in play, databases, the time.
//!
//! The only room where a generated type meets a domain type. Parsing destructures every field of a
//! message, so that a new field is a compile error here and nowhere silently ignored.

pub mod clock;
pub mod field;
pub mod history;
pub mod ledger;
pub mod moves;
pub mod places;
pub mod recorded;
pub mod replay;
pub mod ruleset;
pub mod standing;
pub mod status;

pub use field::BadField;
pub use recorded::Recorded;
pub use replay::HandReplay;
pub use status::{Refused, refused};
