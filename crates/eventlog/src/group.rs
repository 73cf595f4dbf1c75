//! Groups of entries, appended by an engine that decides ahead of its log.
//!
//! Such an engine holds the only copy of its state. It decides commands one by one and submits the
//! results in groups, each while the previous one is still being written. It knows the position of
//! each group, since nothing else appends. If a group is not written, the groups after it are
//! refused with [`AppendError::Misplaced`]; the engine then drops its state and folds the log
//! again.
//!
//! A group is one commit of its own. It may carry rows of the service's projection, which the same
//! statement writes, so the projection is never ahead of the log or behind it.
//!
//! Specification: ARCHITECTURE.md §2.5.
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
    /// At least one entry. No two of them have the same request key.
    pub entries: Vec<Entry>,
    /// Position that the first event must get.
    pub first: Position,
    /// Time of the decision. The events are recorded at this time, or at the time of the previous
    /// event if that is later.
    pub at: UnixMicros,
    /// Rows for the store's projection. A store in memory ignores them.
    pub rows: Option<Arc<dyn ProjectionRows>>,
}

/// Rows for a service's own tables, written by the statement that writes the events: see
/// [`Projection`](crate::Projection).
pub trait ProjectionRows: Send + Sync + fmt::Debug {
    /// Common table expressions to use instead of the projection's, for rows that need only a part
    /// of its tables: each expression costs the statement a fixed time, even without rows.
    fn ctes(&self) -> Option<&'static str> {
        None
    }

    /// Statement for the case that the database refuses the inserts of
    /// [`ctes`](ProjectionRows::ctes) because other rows occupy their keys: it removes those rows,
    /// and the batch is tried once more. So the usual case needs no check for each row and no right
    /// to update rows.
    fn clearing_statement(&self) -> Option<&'static str> {
        None
    }

    /// Expressions for writing the rows ahead of their turn: see [`PipelinedCtes`]. `None` if the
    /// rows depend on the previous batch and must wait until it is written.
    fn pipelined(&self) -> Option<PipelinedCtes> {
        None
    }

    /// Adds the values of the parameters from the 21st on, in order. All rows of the same
    /// expressions add the same number of values of the same types.
    fn bind(&self, arguments: &mut PgArguments) -> Result<(), BoxDynError>;
}

/// Expressions for rows that are written while the previous batch is still being written: they are
/// inserted first, and rolled back unless that batch is found written. They must not read anything
/// that a previous batch may write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PipelinedCtes {
    /// Inserts over `fence (log, size)`, and at the end `beside`, one row that reads from each
    /// insert, so that all of them are executed first: `, beside AS (SELECT count(*) FROM seen)`.
    pub rows: &'static str,
}
