//! Knows: how a gRPC connection is made and what it carries: certificates, windows, keepalive, a
//! bearer token.
//! Does not know: who may call what, what a call means, how a service is run or observed.

mod bearer;
mod coalescing_writer;
mod connection;
pub mod tls;

pub use bearer::Bearer;
pub use coalescing_writer::CoalescingWriter;
pub use connection::{ChannelError, connect};
