//! Classification of database errors by what the failed statement may have done.
//!
//! Specification: ARCHITECTURE.md §2.6.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use sqlx::error::DatabaseError;
use sqlx::postgres::{PgDatabaseError, PgSeverity};

use crate::store::StoreError;

/// SQLSTATE of a write to a read-only server, such as a former primary after a fail-over.
const READ_ONLY: &str = "25006";
/// Longest time of one statement before its outcome counts as unknown.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);

/// Error of connecting to a store.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("a service's name is 1 to 32 letters a to z, this is {0:?}")]
    Service(String),
    #[error("the database URL cannot be read: postgres://user@host:5432/name is expected")]
    Url(#[source] sqlx::Error),
    #[error("the database cannot be reached or refuses the role")]
    Unavailable(#[source] sqlx::Error),
    #[error(
        "this database may lose what it has acknowledged: {}. Set that right, or use another database; for tests alone, which may lose everything, set SABACC_ALLOW_UNSAFE_DATABASE=true",
        .0.join("; ")
    )]
    Unsafe(Vec<String>),
    #[error(
        "schema {service} has no log that this role may use: run the migrations with an administrator's URL, and connect as sabacc_{service}"
    )]
    NotMigrated { service: String },
}

/// Error of a migration.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("the schema or its roles could not be prepared, which takes an administrator's URL")]
    Prepare(#[source] sqlx::Error),
    #[error("migration {version} of a service has a version of the log's: its own begin with 100")]
    Version { version: i64 },
    #[error(
        "schema {service} has tables of another build, which this one cannot read: go on with that build, or begin anew in an empty database or data folder"
    )]
    OtherBuild { service: String, source: sqlx::migrate::MigrateError },
    #[error("the tables of the log could not be brought up to date")]
    Migrate(#[source] sqlx::migrate::MigrateError),
}

/// Failed statement.
#[derive(Debug)]
pub(super) enum StatementError {
    /// A request was answered before. Nothing was written.
    Duplicate,
    /// Nothing was written.
    NotWritten(sqlx::Error),
    /// Nothing was written, and this connection will never write: its server is read-only.
    ReadOnly(sqlx::Error),
    /// The statement may have been executed.
    InDoubt(sqlx::Error),
    /// Nothing was written, and the same statement would fail again.
    Refused(sqlx::Error),
    /// Nothing was written, because it would contradict the stored rows.
    Corrupt(sqlx::Error),
}

impl StatementError {
    pub(super) fn classify(error: sqlx::Error) -> StatementError {
        if matches!(error, sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed) {
            return StatementError::NotWritten(error);
        }
        let Some(refusal) = error.as_database_error() else {
            if matches!(error, sqlx::Error::ColumnDecode { .. }) {
                return StatementError::Corrupt(error);
            }
            let never_sent =
                matches!(error, sqlx::Error::Encode(_) | sqlx::Error::InvalidArgument(_));
            return if never_sent {
                StatementError::Refused(error)
            } else {
                StatementError::InDoubt(error)
            };
        };
        if ends_the_session(refusal) {
            return StatementError::InDoubt(error);
        }
        let of_requests = refusal.constraint() == Some("event_groups_key");
        let code = refusal.code().unwrap_or_default();
        match code.get(..2) {
            Some("23") if refusal.is_unique_violation() && of_requests => StatementError::Duplicate,
            // A value that contradicts the stored rows.
            Some("23") => StatementError::Corrupt(error),
            // 22: a value that cannot be stored, or not in the database's encoding. XX: an internal
            // error or a damaged page, which the same statement would meet again.
            Some("22" | "XX") => StatementError::Refused(error),
            _ if code == READ_ONLY => StatementError::ReadOnly(error),
            // 08: connection. 57P: the server is going down or ends the connection.
            Some("08") | None => StatementError::InDoubt(error),
            Some("57") if code.starts_with("57P") => StatementError::InDoubt(error),
            Some(_) => StatementError::NotWritten(error),
        }
    }

    /// Whether the connection can be used again.
    pub(super) const fn keeps_connection(&self) -> bool {
        match self {
            StatementError::Duplicate
            | StatementError::NotWritten(_)
            | StatementError::Refused(_)
            | StatementError::Corrupt(_) => true,
            StatementError::InDoubt(_) | StatementError::ReadOnly(_) => false,
        }
    }

    /// Error of a read, which changes nothing, so that its outcome is never in doubt.
    pub(super) fn into_read_error(self) -> StoreError {
        match self {
            StatementError::InDoubt(error) | StatementError::Refused(error) => {
                StoreError::unavailable(error)
            }
            StatementError::Duplicate
            | StatementError::NotWritten(_)
            | StatementError::ReadOnly(_)
            | StatementError::Corrupt(_) => self.into(),
        }
    }
}

impl From<StatementError> for StoreError {
    fn from(trouble: StatementError) -> StoreError {
        match trouble {
            StatementError::Duplicate => StoreError::Corrupt("a repeat where none can be".into()),
            StatementError::NotWritten(error) | StatementError::ReadOnly(error) => {
                StoreError::unavailable(error)
            }
            StatementError::InDoubt(error) => StoreError::InDoubt(Arc::new(error)),
            StatementError::Refused(error) => StoreError::Refused(Arc::new(error)),
            StatementError::Corrupt(error) => StoreError::Corrupt(error.to_string().into()),
        }
    }
}

impl StoreError {
    pub(super) fn unavailable(error: sqlx::Error) -> StoreError {
        StoreError::Unavailable(Arc::new(error))
    }
}

/// Whether an error ends the session. One that does not is reported before the commit: the server
/// has rolled the statement back. Once a commit is on record nothing short of a panic can fail, and
/// a session that was ended meanwhile may have committed.
fn ends_the_session(error: &dyn DatabaseError) -> bool {
    let error = error.try_downcast_ref::<PgDatabaseError>();
    error.is_none_or(|error| matches!(error.severity(), PgSeverity::Fatal | PgSeverity::Panic))
}

/// Whether a statement was refused and rolled back because a row of the service's own tables exists
/// already.
pub(super) fn is_projection_conflict(error: &sqlx::Error) -> bool {
    let Some(refusal) = error.as_database_error() else { return false };
    let of_the_log = ["event_groups", "authors", "logs", "owners", "leases"];
    let table = refusal.table().unwrap_or_default();
    refusal.is_unique_violation() && !of_the_log.contains(&table)
}

/// Whether a batch sent ahead was rolled back because the log is not in the required state: its
/// statement then divides by zero, which nothing else does, or finds that another batch, perhaps
/// itself, has taken its place since it began.
pub(super) fn is_pipeline_conflict(error: &sqlx::Error) -> bool {
    let Some(refusal) = error.as_database_error() else { return false };
    let places = ["event_groups_position", "event_groups_version"];
    let taken = refusal.constraint().is_some_and(|constraint| places.contains(&constraint));
    refusal.code().is_some_and(|code| code == "22012") || (taken && refusal.is_unique_violation())
}

/// Outcome of a statement. No answer within 10 seconds is an error of its own: a server that was
/// cut off sends none, and the connection alone does not notice for a quarter of an hour.
///
/// # Errors
/// The statement's own error, or an I/O error of the kind `TimedOut`.
pub async fn with_statement_timeout<T>(
    statement: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    with_timeout(STATEMENT_TIMEOUT, statement).await
}

/// Outcome of a statement with a time limit of its own, for statements that may take long.
///
/// # Errors
/// The statement's own error, or an I/O error of the kind `TimedOut`.
pub async fn with_timeout<T>(
    limit: Duration,
    statement: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    let late = |_| sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, "no answer in time"));
    tokio::time::timeout(limit, statement).await.map_err(late)?
}
