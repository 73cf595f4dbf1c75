//! Rebuild of the tables from the log.

use eventlog::{FIRST_PROJECTION_PARAMETER, ReadError, with_timeout};
use sqlx::postgres::PgArguments;
use sqlx::{Arguments as _, AssertSqlSafe};

use super::{GroupRows, LOG, Repo, STATEMENT_TIMEOUT, read_error};

/// Last parameter of the rows in the statement that appends. In a rebuild the rows follow the log,
/// the new size and the old one.
const LAST_PARAMETER: u32 = 53;
const PARAMETER_SHIFT: u32 = FIRST_PROJECTION_PARAMETER - 4;

/// The log got another owner while its tables were rebuilt.
#[derive(Debug, thiserror::Error)]
#[error("the log was taken by another owner while its tables were made anew")]
struct Displaced;

fn displaced() -> ReadError {
    ReadError::Unavailable { source: Some(std::sync::Arc::new(Displaced)) }
}

impl Repo {
    /// Whether the tables were built to the log's end, so that each of its events since was written
    /// with its rows.
    pub(crate) async fn follows_log(&self) -> Result<bool, ReadError> {
        let follows: Option<bool> = self
            .with_retry(|| {
                sqlx::query_scalar("SELECT size IS NULL FROM projected WHERE log = $1")
                    .bind(LOG)
                    .fetch_optional(&self.pool)
            })
            .await?;
        Ok(follows.unwrap_or(false))
    }

    /// Empties the tables, if `epoch` is still that of the log's owner.
    pub(crate) async fn empty_tables(&self, epoch: u64) -> Result<(), ReadError> {
        let empty = sqlx::query_scalar("SELECT empty_tables($1, $2)")
            .bind(LOG)
            .bind(epoch.cast_signed())
            .fetch_one(&self.pool);
        if with_timeout(STATEMENT_TIMEOUT, empty).await.map_err(read_error)? {
            Ok(())
        } else {
            Err(displaced())
        }
    }

    /// Ends a rebuild of the tables from all `size` events of the log, if `epoch` is still that of
    /// the log's owner: from now on they follow it.
    pub(crate) async fn finish_rebuild(&self, epoch: u64, size: u64) -> Result<(), ReadError> {
        let finish = sqlx::query(include_str!("sql/finish_rebuild.sql"))
            .bind(LOG)
            .bind(epoch.cast_signed())
            .bind(size.cast_signed())
            .execute(&self.pool);
        let finished = with_timeout(STATEMENT_TIMEOUT, finish).await.map_err(read_error)?;
        if finished.rows_affected() == 1 { Ok(()) } else { Err(displaced()) }
    }

    /// Adds the rows of the events from `from` up to `to`. Two concurrent rebuilds add the same
    /// rows; the second of each piece is refused.
    pub(crate) async fn add_rows(
        &self,
        from: u64,
        to: u64,
        rows: &GroupRows,
    ) -> Result<(), ReadError> {
        let add = async {
            let mut arguments = PgArguments::default();
            arguments.add(LOG).map_err(sqlx::Error::Encode)?;
            arguments.add(to.cast_signed()).map_err(sqlx::Error::Encode)?;
            arguments.add(from.cast_signed()).map_err(sqlx::Error::Encode)?;
            rows.bind_all(&mut arguments).map_err(sqlx::Error::Encode)?;
            // Put together from static parts.
            let added: i64 = sqlx::query_scalar_with(AssertSqlSafe(rebuild_statement()), arguments)
                .fetch_one(&self.pool)
                .await?;
            Ok(added == 1)
        };
        if with_timeout(STATEMENT_TIMEOUT, add).await.map_err(read_error)? {
            Ok(())
        } else {
            Err(displaced())
        }
    }
}

/// Statement that writes a group's rows without its events, and moves `projected`.
fn rebuild_statement() -> String {
    let mut tables = super::ALL_TABLES.to_owned();
    for number in FIRST_PROJECTION_PARAMETER..=LAST_PARAMETER {
        tables =
            tables.replace(&format!("${number}::"), &format!("${}::", number - PARAMETER_SHIFT));
    }
    format!(
        "WITH fence AS (UPDATE projected SET size = $2 WHERE log = $1 AND size = $3 \
         RETURNING log, size) {tables} SELECT count(*) FROM fence"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_of_a_rebuild_follow_each_other() {
        let statement = rebuild_statement();
        for number in 1..=(LAST_PARAMETER - PARAMETER_SHIFT) {
            assert!(statement.contains(&format!("${number}")), "{number}");
        }
        assert!(
            !statement.contains(&format!("${}", LAST_PARAMETER - PARAMETER_SHIFT + 1)),
            "{statement}"
        );
    }
}
