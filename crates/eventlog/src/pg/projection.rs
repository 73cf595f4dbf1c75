//! Projections: a service's own tables, kept up to date by the statement that appends to the log.
//!
//! They serve queries and can be rebuilt from the log at any time. The text of a statement is
//! assembled once, so that it is prepared once per connection.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::error::BoxDynError;
use sqlx::postgres::PgArguments;

use super::sql::with_clock_check;
use crate::group::{PipelinedCtes, ProjectionRows};

/// Placeholders of the log's own parts in a statement.
const FENCE_PLACEHOLDER: &str = "/* move fence */";
const ROWS_PLACEHOLDER: &str = "/* rows */";
/// Placeholders of the service's part, and of the part that waits for its turn.
const PROJECTION_PLACEHOLDER: &str = "/* projection */";
const AFTER_FENCE_PLACEHOLDER: &str = "/* turn */";

/// Number of the first parameter of a projection in the statement that appends.
pub const FIRST_PROJECTION_PARAMETER: u32 = 23;

/// Rows that are written together with the events.
#[derive(Clone, Debug)]
pub struct Projection {
    /// Common table expressions, each with a leading comma, over the parameters from $23 on. They
    /// read `fence (log, size)`, which has one row if the batch goes in and none otherwise: `, seen
    /// AS (INSERT INTO accounts (number) SELECT new.number FROM fence, UNNEST($23::bigint[]) AS new
    /// (number))`. They must not read what the same statement writes.
    pub ctes: &'static str,
    /// Parameters of a batch without rows: mostly empty arrays.
    pub no_rows: Arc<dyn ProjectionRows>,
}

impl Projection {
    /// Projection of a service without tables of its own.
    #[must_use]
    pub fn nothing() -> Projection {
        Projection { ctes: "", no_rows: Arc::new(NoRows) }
    }
}

/// Form of an append statement, with a service's expressions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum AppendForm {
    /// Moves the fence first: all batches before it are written.
    InTurn(&'static str),
    /// Inserts the rows first, while the previous batch is being written.
    Pipelined(PipelinedCtes),
}

impl AppendForm {
    fn statement(self) -> Arc<str> {
        let (text, rows, turn) = match self {
            AppendForm::InTurn(ctes) => (include_str!("sql/append.sql"), ctes, ""),
            AppendForm::Pipelined(PipelinedCtes { rows, after_fence: turn }) => {
                (include_str!("sql/append_ahead.sql"), rows, turn)
            }
        };
        let text = text.replace(FENCE_PLACEHOLDER, include_str!("sql/move_fence.sql"));
        let text = text.replace(ROWS_PLACEHOLDER, include_str!("sql/rows.sql"));
        with_clock_check(&text, "$5")
            .replace(PROJECTION_PLACEHOLDER, rows)
            .replace(AFTER_FENCE_PLACEHOLDER, turn)
            .into()
    }
}

/// Statements of a store. There are few, and each is assembled once.
#[derive(Default)]
pub(super) struct Statements {
    cache: Mutex<BTreeMap<AppendForm, Arc<str>>>,
}

impl Statements {
    pub(super) fn of(&self, form: AppendForm) -> Arc<str> {
        let mut known = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(form).or_insert_with(|| form.statement()))
    }
}

struct NoRows;

impl ProjectionRows for NoRows {
    fn pipelined(&self) -> Option<PipelinedCtes> {
        Some(PipelinedCtes { rows: ", beside AS (SELECT 0)", after_fence: "" })
    }

    fn bind(&self, _: &mut PgArguments) -> Result<(), BoxDynError> {
        Ok(())
    }
}

impl fmt::Debug for NoRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NoRows")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_projection_stands_within_the_statement() {
        let statements = Statements::default();
        let seen = AppendForm::InTurn(", seen AS (SELECT 1)");
        let sql = statements.of(seen);
        assert!(sql.contains("\n, seen AS (SELECT 1)\nSELECT"), "{sql}");
        assert!(Arc::ptr_eq(&sql, &statements.of(seen)), "put together once");
        let nothing = AppendForm::InTurn(Projection::nothing().ctes);
        let ahead = AppendForm::Pipelined(NoRows.pipelined().unwrap());
        for sql in [statements.of(nothing), statements.of(ahead)] {
            assert!(sql.contains("INSERT INTO event_groups"), "{sql}");
            assert!(
                [
                    FENCE_PLACEHOLDER,
                    ROWS_PLACEHOLDER,
                    PROJECTION_PLACEHOLDER,
                    AFTER_FENCE_PLACEHOLDER
                ]
                .iter()
                .all(|place| !sql.contains(place)),
                "{sql}"
            );
        }
    }
}
