//! Creation of a service's schema, by an administrator before the service starts.
//!
//! The statements are static. Names that differ between services reach them as settings of the
//! transaction, and the database itself quotes them.

use sqlx::migrate::{self, MigrationType, Migrator};
use sqlx::postgres::PgConnection;
use sqlx::{Connection, SqlSafeStr};

use super::error::{ConnectError, MigrateError};
use super::writer_pool::{connect_options, set_session};

/// Forward only: a released version is never edited.
const MIGRATIONS: &[Migration] = &[
    (1, "log", include_str!("sql/0001_log.sql")),
    (2, "checkpoints", include_str!("sql/0002_checkpoints.sql")),
    (3, "snapshots", include_str!("sql/0003_snapshots.sql")),
];

/// First version of a service's own migrations.
const OWN_VERSIONS: i64 = 100;

/// Migration: version, name for people, statements.
type Migration = (i64, &'static str, &'static str);

/// Brings the schema of a service up to date: the schema, the roles `sabacc_<service>` (its own)
/// and `sabacc_auditor` (which reads every service), the tables, and the exact rights of each role.
/// Safe to repeat and to run concurrently. `role_password` is set if given; a role without a
/// password needs another way to log in, such as a certificate.
pub async fn migrate(
    admin_url: &str,
    service: &str,
    role_password: Option<&str>,
) -> Result<(), MigrateError> {
    migrate_with(admin_url, service, role_password, &[], "").await
}

/// Brings the schema of a service with its own tables up to date.
///
/// `extra` are the service's migrations, forward only, in order, under versions from 100 on; lower
/// ones are the log's. `grants` are statements, safe to repeat, that give the service's role its
/// rights on these tables; every role that may read the schema may read them anyway. In both, names
/// are looked up in the service's schema.
pub async fn migrate_with(
    admin_url: &str,
    service: &str,
    role_password: Option<&str>,
    extra: &[Migration],
    grants: &'static str,
) -> Result<(), MigrateError> {
    if let Some((version, ..)) = extra.iter().find(|(version, ..)| *version < OWN_VERSIONS) {
        return Err(MigrateError::Version { version: *version });
    }
    let options = connect_options(admin_url, service)?;
    let mut admin =
        PgConnection::connect_with(&options).await.map_err(ConnectError::Unavailable)?;
    let password = role_password.unwrap_or_default();
    run_as_service(&mut admin, &[include_str!("sql/prepare.sql")], service, password).await?;
    set_session(&mut admin, service).await.map_err(MigrateError::Prepare)?;
    let migrated = migrator(extra).run_direct(None, &mut admin, false).await;
    migrated.map_err(|error| migrate_error(service, error))?;
    run_as_service(&mut admin, &[include_str!("sql/grant.sql"), grants], service, "").await?;
    // All work is done, so an error of the close does not matter.
    let _ = admin.close().await;
    Ok(())
}

/// Error of tables that cannot be brought up to date, or are another build's.
fn migrate_error(service: &str, error: migrate::MigrateError) -> MigrateError {
    let is_other = matches!(
        error,
        migrate::MigrateError::VersionMismatch(_) | migrate::MigrateError::VersionMissing(_)
    );
    if is_other {
        MigrateError::OtherBuild { service: service.into(), source: error }
    } else {
        MigrateError::Migrate(error)
    }
}

fn migrator(extra: &[Migration]) -> Migrator {
    let migrations = MIGRATIONS.iter().chain(extra).map(|(version, name, sql)| {
        let kind = MigrationType::Simple;
        migrate::Migration::new(*version, (*name).into(), kind, (*sql).into_sql_str(), false)
    });
    Migrator::with_migrations(migrations.collect())
}

/// Runs blocks in one transaction, with the service's name and password as settings. A lock lets
/// only one run at a time in a database.
async fn run_as_service(
    admin: &mut PgConnection,
    blocks: &[&'static str],
    service: &str,
    password: &str,
) -> Result<(), MigrateError> {
    let run = async {
        let mut transaction = admin.begin().await?;
        sqlx::query(include_str!("sql/settings.sql"))
            .bind(service)
            .bind(password)
            .execute(&mut *transaction)
            .await?;
        for block in blocks {
            sqlx::raw_sql(*block).execute(&mut *transaction).await?;
        }
        transaction.commit().await
    };
    run.await.map_err(MigrateError::Prepare)
}
