//! A service's own tables, kept up with the log by the statement that appends to it.
//!
//! They are for whoever asks the database, and can be made again from the log at any time. The text is
//! put together once, when the store is connected, so that it is prepared once for each connection.

use std::fmt;
use std::sync::Arc;

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

    /// The statement that appends.
    pub(super) fn append(&self) -> Arc<str> {
        include_str!("sql/append.sql").replace(PLACE, self.ctes).into()
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
        let projection = Projection { ctes: ", seen AS (SELECT 1)", ..Projection::nothing() };
        let sql = projection.append();
        assert!(sql.contains("\n), seen AS (SELECT 1)\nSELECT"), "{sql}");
        assert!(!Projection::nothing().append().contains(PLACE));
    }
}
