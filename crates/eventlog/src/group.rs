//! What an engine appends that decides ahead of its log.
//!
//! Such an engine keeps the only copy of its state, decides one command after the other against it
//! and hands over what it decided in groups, each while the one before is still being written. It
//! knows where each group will stand, since nobody else appends; where a group before it was not
//! written, the ones after it are refused as [`AppendError::Misplaced`], and the engine forgets its
//! state and folds the log again.
//!
//! A group is one commit of its own. It may carry rows of the service's projection, which are written
//! by the same statement and so never run ahead of the log nor behind it.
//!
//! [`AppendError::Misplaced`]: crate::AppendError::Misplaced

use std::fmt;
use std::sync::Arc;

use eventlog_core::Position;
use primitives::UnixMicros;
use sqlx::error::BoxDynError;
use sqlx::postgres::PgArguments;

use crate::event::Entry;

/// Entries that are committed together, with nothing between them: all or none.
#[derive(Clone, Debug)]
pub struct Group {
    /// At least one. No two of them answer the same request.
    pub entries: Vec<Entry>,
    /// Where the caller knows that the first event will stand.
    pub first: Position,
    /// When it was decided: the events are recorded at this time, or that of the event before them
    /// where that is later.
    pub at: UnixMicros,
    /// What the store's projection is to take in with it. A store in memory has none.
    pub rows: Option<Arc<dyn Rows>>,
}

/// Rows for a service's own tables, written by the statement that writes the events: see
/// [`Projection`](crate::Projection).
pub trait Rows: Send + Sync + fmt::Debug {
    /// Common table expressions in place of the projection's, for rows that need only a part of its
    /// tables: each one more costs the statement a fixed time, rows or none.
    fn ctes(&self) -> Option<&'static str> {
        None
    }

    /// A statement for the case that the database refuses what [`ctes`](Rows::ctes) insert because
    /// somebody put rows in their place: it removes them, and the batch is tried once more. So nothing
    /// has to be asked first, row by row, and no right to write over rows is needed.
    fn clearing(&self) -> Option<&'static str> {
        None
    }

    /// What lets rows go in ahead of their turn: see [`Ahead`]. Nothing where they need what the batch
    /// before writes; then they wait until it is written.
    fn ahead(&self) -> Option<Ahead> {
        None
    }

    /// Adds the values of the parameters from the 24th on, in order. All rows for the same
    /// expressions add the same number of the same types.
    fn bind(&self, arguments: &mut PgArguments) -> Result<(), BoxDynError>;
}

/// The expressions of rows that the database takes while the batch before is still being written:
/// inserted first, and undone unless that batch is found written. They may not read what a batch before
/// may have written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Ahead {
    /// Inserts, over `fence (log, size)` as ever, and at the end of them `beside`, one row that reads from
    /// each, so that they are made first: `, beside AS (SELECT count(*) FROM seen)`.
    pub rows: &'static str,
    /// Expressions for when the turn has come, over `passed (log, size)`. What they update may have been
    /// changed since the statement began: what depends on its old value belongs into `SET`, not `WHERE`,
    /// and it is best an insert that finds the row in its way. For an UPDATE the server sets up the whole
    /// statement once more to look at what the row has become, which costs as much as thirty rows.
    pub turn: &'static str,
}
