//! Database that others run, given by its address.

use sqlx::{Connection as _, PgConnection};

use super::{OLDEST_MAJOR, Ownership, Postgres, PostgresError, url};

/// Connects once, so that a wrong address is found at the start and not at the first hand.
pub(super) async fn open(address: &str) -> Result<Postgres, PostgresError> {
    let shown = url::redacted(address);
    let unusable = |source| PostgresError::DatabaseUrl { address: shown.clone(), source };
    let mut connection = PgConnection::connect(address).await.map_err(unusable)?;
    let version: String = sqlx::query_scalar("SHOW server_version")
        .fetch_one(&mut connection)
        .await
        .map_err(unusable)?;
    // The version is already read, so an error of the close does not matter.
    let _ = connection.close().await;
    if major(&version) < OLDEST_MAJOR {
        return Err(PostgresError::TooOld { address: shown, version });
    }
    let about = format!("PostgreSQL {version} at {shown}, from DATABASE_URL");
    Ok(Postgres { url: address.to_owned(), about, ownership: Ownership::External })
}

/// Major version of a text such as `15.13 (Debian …)` or `16beta1`. 0, which is older than any
/// version, if the text does not begin with a number.
fn major(version: &str) -> u32 {
    let end = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
    version[..end].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leading_number_is_the_major_version() {
        assert_eq!(major("15.13 (Debian 15.13-0+deb12u1)"), 15);
        assert_eq!(major("18beta1"), 18);
        assert_eq!(major("9.6.24"), 9);
        assert_eq!(major("unknown"), 0);
    }

    #[tokio::test]
    async fn nobody_at_the_address_is_said_without_the_password() {
        let error = open("postgres://owner:hunter2@127.0.0.1:1/room").await.unwrap_err();
        assert!(matches!(error, PostgresError::DatabaseUrl { .. }), "{error}");
        assert!(error.to_string().contains("127.0.0.1:1/room"), "{error}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
}
