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

/// Placeholders of the rows of events in a statement, and of the service's part.
const ROWS_PLACEHOLDER: &str = "/* rows */";
const PROJECTION_PLACEHOLDER: &str = "/* projection */";

/// Number of the first parameter of a projection in the statement that appends.
pub const FIRST_PROJECTION_PARAMETER: u32 = 21;

/// Rows that are written together with the events.
#[derive(Clone, Debug)]
pub struct Projection {
    /// Common table expressions, each with a leading comma, over the parameters from $21 on. They
    /// read `fence (log, size)`, which has one row if the batch goes in and none otherwise: `, seen
    /// AS (INSERT INTO accounts (number) SELECT new.number FROM fence, UNNEST($21::bigint[]) AS new
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
    /// Passes the fence first: all batches before it are written.
    InTurn(&'static str),
    /// Inserts the rows first, while the previous batch is being written.
    Pipelined(PipelinedCtes),
}

impl AppendForm {
    fn statement(self) -> Arc<str> {
        let (text, rows) = match self {
            AppendForm::InTurn(ctes) => (include_str!("sql/append.sql"), ctes),
            AppendForm::Pipelined(PipelinedCtes { rows }) => {
                (include_str!("sql/append_ahead.sql"), rows)
            }
        };
        let text = text.replace(ROWS_PLACEHOLDER, include_str!("sql/rows.sql"));
        with_clock_check(&text, "$4").replace(PROJECTION_PLACEHOLDER, rows).into()
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
        Some(PipelinedCtes { rows: ", beside AS (SELECT 0)" })
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
                [ROWS_PLACEHOLDER, PROJECTION_PLACEHOLDER].iter().all(|it| !sql.contains(it)),
                "{sql}"
            );
        }
    }
}
