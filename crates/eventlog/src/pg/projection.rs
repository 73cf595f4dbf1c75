//! A service's own tables, kept up with the log by the statement that appends to it.
//!
//! They are for whoever asks the database, and can be made again from the log at any time. A text is
//! put together once, so that it is prepared once for each connection.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::error::BoxDynError;
use sqlx::postgres::PgArguments;

use crate::group::Rows;

/// Where the service's part of the statement stands.
const PLACE: &str = "/* projection */";

/// What is written beside the events.
#[derive(Clone, Debug)]
pub struct Projection {
    /// Further common table expressions, each with a comma before it, over the parameters from $22
    /// on. They read `fence (log, size)`, which has one row where the batch goes in and none where it
    /// does not: `, seen AS (INSERT INTO accounts (number) SELECT new.number FROM fence,
    /// UNNEST($22::bigint[]) AS new (number))`. They may not read what the same statement writes.
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

/// The statement that appends, with further expressions.
fn append(ctes: &str) -> Arc<str> {
    include_str!("sql/append.sql").replace(PLACE, ctes).into()
}

/// The statements of a store, by their further expressions: few, and each put together once.
#[derive(Default)]
pub(super) struct Statements {
    known: Mutex<BTreeMap<&'static str, Arc<str>>>,
}

impl Statements {
    pub(super) fn with(&self, ctes: &'static str) -> Arc<str> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(ctes).or_insert_with(|| append(ctes)))
    }
}

struct NoRows;

impl Rows for NoRows {
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
        let sql = statements.with(", seen AS (SELECT 1)");
        assert!(sql.contains("\n), seen AS (SELECT 1)\nSELECT"), "{sql}");
        assert!(!statements.with(Projection::nothing().ctes).contains(PLACE));
        assert!(Arc::ptr_eq(&sql, &statements.with(", seen AS (SELECT 1)")), "put together once");
    }
}
