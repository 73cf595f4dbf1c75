//! Rebuild of the tables from the log.

use eventlog::{FIRST_PROJECTION_PARAMETER, ReadError, with_timeout};
use sqlx::postgres::PgArguments;
use sqlx::{Arguments as _, AssertSqlSafe};

use super::read::decode;
use super::{GroupRows, LOG, Repo, STATEMENT_TIMEOUT, read_error};

/// Last parameter of the rows in the statement that appends. In a rebuild the rows follow the log,
/// the new size and the old one.
const LAST_PARAMETER: u32 = 55;
const PARAMETER_SHIFT: u32 = FIRST_PROJECTION_PARAMETER - 4;

/// The log got another owner while its tables were rebuilt.
#[derive(Debug, thiserror::Error)]
#[error("the log was taken by another owner while its tables were made anew")]
struct Displaced;

fn displaced() -> ReadError {
    ReadError::Unavailable { source: Some(std::sync::Arc::new(Displaced)) }
}

impl Repo {
    /// Number of the log's events that the tables cover; `None` if they do not say.
    pub(crate) async fn projected_size(&self) -> Result<Option<u64>, ReadError> {
        let size: Option<i64> = self
            .with_retry(|| {
                sqlx::query_scalar("SELECT size FROM projected WHERE log = $1")
                    .bind(LOG)
                    .fetch_optional(&self.pool)
            })
            .await?;
        size.map(|size| u64::try_from(size).map_err(|error| read_error(decode(error)))).transpose()
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
    let mut tables = super::REBUILD.to_owned();
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
