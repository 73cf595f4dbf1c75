//! Knows: how a growing log is published: what is signed and when, tiles, proofs, witnesses.
//! Does not know: what an event means, how it came into the log.
//!
//! A [`Notary`] runs beside the one writer of a log and takes no part in writing. It is notified that
//! the log has grown, reads the stored records, and keeps the right edge of the tree over them. It
//! signs where its root equals the writer's and the tree follows from the one signed before. So a
//! signature says three things: these records are durable, they are the records that were
//! acknowledged, and nothing that was signed before was taken back. Where one of them does not hold
//! ([`Fault`]), the notary reports it and never signs again in this process, because such a fault
//! does not pass by retrying.
//!
//! A signed checkpoint is stored before it is published, under a number that is given once
//! ([`eventlog::CheckpointStore`]). So there is one chain of checkpoints after a crash, and with
//! two processes on one log. A database that is put back to an older state forgets the newer
//! checkpoints. A file outside the database ([`CheckpointFile`]) remembers the last one, and so do
//! witnesses ([`witness`]) and players.
//!
//! - `notary` is the handle, `follow` its task, `resume` its start, `scrub` its check of old
//!   records.
//! - `tile_store` finds hashes for proofs, `records` finds records, `api` answers calls, `files`
//!   serves the files of C2SP `tlog-tiles`.
//! - `open_log` opens a log together with its notary.
//!
//! Specification: ARCHITECTURE.md §2.12.

pub mod api;
mod checkpoint_file;
mod fault;
mod files;
mod follow;
mod notary;
mod open_log;
mod records;
mod resume;
mod scrub;
mod tile_store;
pub mod witness;

pub use checkpoint_file::CheckpointFile;
pub use fault::Fault;
pub use files::{EntryReaders, Files, LOGS_PATH};
pub use merkle::note::KeyError;
pub use notary::{Dependencies, Notary, PublishedTree, SigningState};
