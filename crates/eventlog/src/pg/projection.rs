//! A service's own tables, kept up with the log by the statement that appends to it.
//!
//! They are for whoever asks the database, and can be made again from the log at any time. A text is
//! put together once, so that it is prepared once for each connection.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::error::BoxDynError;
use sqlx::postgres::PgArguments;

use super::sql::comparing;
use crate::group::{Ahead, Rows};

/// Where the log's own parts stand in a statement.
const MOVE: &str = "/* move fence */";
const ROWS: &str = "/* rows */";
/// Where the service's part stands, and the part that waits for its turn.
const PLACE: &str = "/* projection */";
const TURN: &str = "/* turn */";

/// What is written beside the events.
#[derive(Clone, Debug)]
pub struct Projection {
    /// Further common table expressions, each with a comma before it, over the parameters from $24
    /// on. They read `fence (log, size)`, which has one row where the batch goes in and none where it
    /// does not: `, seen AS (INSERT INTO accounts (number) SELECT new.number FROM fence,
    /// UNNEST($24::bigint[]) AS new (number))`. They may not read what the same statement writes.
    pub ctes: &'static str,
    /// Bound where a batch carries no rows: mostly empty arrays.
    pub none: Arc<dyn Rows>,
}

impl Projection {
    /// The log alone.
    pub(super) fn nothing() -> Projection {
        Projection { ctes: "", none: Arc::new(NoRows) }
    }
}

/// How a batch goes in, with a service's further expressions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Form {
    /// The fence first: whatever stands before it is written.
    InTurn(&'static str),
    /// The rows first, while the batch before is being written.
    Ahead(Ahead),
}

impl Form {
    fn statement(self) -> Arc<str> {
        let (text, rows, turn) = match self {
            Form::InTurn(ctes) => (include_str!("sql/append.sql"), ctes, ""),
            Form::Ahead(Ahead { rows, turn }) => (include_str!("sql/append_ahead.sql"), rows, turn),
        };
        let text = text.replace(MOVE, include_str!("sql/move_fence.sql"));
        let text = text.replace(ROWS, include_str!("sql/rows.sql"));
        comparing(&text, "$5").replace(PLACE, rows).replace(TURN, turn).into()
    }
}

/// The statements of a store: few, and each put together once.
#[derive(Default)]
pub(super) struct Statements {
    known: Mutex<BTreeMap<Form, Arc<str>>>,
}

impl Statements {
    pub(super) fn of(&self, form: Form) -> Arc<str> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(form).or_insert_with(|| form.statement()))
    }
}

struct NoRows;

impl Rows for NoRows {
    fn ahead(&self) -> Option<Ahead> {
        Some(Ahead { rows: ", beside AS (SELECT 0)", turn: "" })
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
        let seen = Form::InTurn(", seen AS (SELECT 1)");
        let sql = statements.of(seen);
        assert!(sql.contains("\n, seen AS (SELECT 1)\nSELECT"), "{sql}");
        assert!(Arc::ptr_eq(&sql, &statements.of(seen)), "put together once");
        let nothing = Form::InTurn(Projection::nothing().ctes);
        let ahead = Form::Ahead(NoRows.ahead().unwrap());
        for sql in [statements.of(nothing), statements.of(ahead)] {
            assert!(sql.contains("INSERT INTO events"), "{sql}");
            assert!([MOVE, ROWS, PLACE, TURN].iter().all(|place| !sql.contains(place)), "{sql}");
        }
    }
}
