//! Knows: the append-only log: order, durability, ownership, repeats, tamper evidence, its store.
//! Does not know: what an event means, who may ask, how a request is answered.
//!
//! The log is the only source of truth of a service; all other state is a fold of it. One process
//! owns a log at a time, and one task in it writes: [`Log`]. An entry that [`Log::append`] has
//! acknowledged is durable and never changes. Auditors read with [`Reader`], without owning the
//! log.
//!
//! - [`event`]: entries and their requests. Events and their leaf records are the crate
//!   `eventlog-core`.
//! - `log` is the owner's handle, `open` takes a log, `standby` waits for one, `queue` holds
//!   waiting callers, `writer` is the one task that writes, `batch` the pure part of a commit,
//!   `stream_heads` caches the ends of streams, `answer_cache` caches answered requests, `key`
//!   makes their keys, `derive` digests and derived ids, `authenticator` marks what an owner writes and
//!   `authenticated_store` reads nothing else, `subscription` follows commits. `group` is
//!   for an engine that decides ahead of its log.
//! - [`archive`] moves old events into files, and reads them there for others. [`CheckpointStore`] keeps tiles and signed
//!   checkpoints.
//! - [`store`] specifies a store. `pg` implements it in PostgreSQL, `mem` in memory, with faults on
//!   demand.
//!
//! Specification: ARCHITECTURE.md §2.

mod answer_cache;
pub mod archive;
mod authenticated_store;
mod authenticator;
mod batch;
mod checkpoint_store;
mod derive;
mod error;
pub mod event;
mod group;
mod key;
mod log;
mod mem;
mod open;
mod pages;
mod pg;
mod queue;
mod reader;
mod standby;
pub mod store;
mod stream_heads;
mod subscription;
mod writer;

pub use answer_cache::RequestLookup;
pub use authenticator::{AnswerTag, Authenticator, Nonces, PreviousSecret};
pub use checkpoint_store::{
    CheckpointStore, FullTile, SignedCheckpoint, TILE_BYTES, TileCoordinates,
};
pub use derive::{derived_id, request_digest};
pub use error::{AppendError, OpenError, ReadError, Source};
pub use event::{
    AnsweredRequest, Entry, KnownRequest, Recall, Receipt, Request, StreamEnd, TreeHead,
};
pub use eventlog_core::record;
pub use eventlog_core::{Event, NewEvent, Position, Version};
pub use group::{Group, PipelinedCtes, ProjectionRows};
pub use key::RequestKey;
pub use log::{Clock, Health, Limits, Log, Options};
pub use mem::{Fault, MemStore};
pub use pages::Pages;
pub use pg::{
    ConnectError, FIRST_PROJECTION_PARAMETER, MigrateError, PgStore, PoolSizes, Projection,
    SnapshotPlace, Snapshots, drop_idle, migrate, migrate_with, with_statement_timeout,
    with_timeout,
};
pub use primitives::{RequestId, StreamId, UnixMicros};
pub use reader::Reader;
pub use standby::{WaitReason, WriteHealth};
pub use store::{ClockSkew, Store};
