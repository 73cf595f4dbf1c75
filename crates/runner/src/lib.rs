//! Knows: how a service that owns a log runs: its database, log, notary, port and orderly stop.
//! Does not know: which service it is, what its events mean, how its calls are answered.
//!
//! A service connects ([`Service::connect`]), makes what answers its calls, and hands both to
//! [`Service::run`]. The port answers from the start; the service is ready once its log is owned
//! and the state read from the log is in memory. A process whose log is owned by another one is a
//! standby and waits. [`own_log`] holds such a state, and reads it again after the log is lost.
//!
//! Specification: ARCHITECTURE.md §4, §5.

mod own_log;
mod service;

pub use notary::EntryReaders;
pub use own_log::{LogState, own_log};
pub use service::{BoxError, LEASE, RunError, Service, Spec};
