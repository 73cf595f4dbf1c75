//! Rights on the players' keys.

use keyring::{KeyId, ResealedSecret, SealedSecret, SecretStore};
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

fn kept(key: u8, byte: u8) -> SealedSecret {
    SealedSecret {
        id: [1; 16],
        label: Vec::new(),
        key: KeyId([key; 8]),
        nonce: [byte; 24],
        sealed: vec![byte; 48],
    }
}

/// Makes connections that have only the rights of `role`.
async fn pool(url: &str, role: &str) -> PgPool {
    let options: PgConnectOptions = url.parse().expect("a URL");
    let options = options.options([("role", role)]);
    PgPoolOptions::new().connect_with(options).await.expect("the database is there")
}

async fn refusal(pool: &PgPool, sql: &'static str) -> String {
    let error = sqlx::query(sql).execute(pool).await.expect_err(sql);
    error.as_database_error().and_then(|error| error.code()).expect("a code").into_owned()
}

#[tokio::test]
async fn the_database_keeps_the_first_key_for_the_table_alone_and_forgets() {
    let postgres = testkit::postgres().await.expect("a PostgreSQL");
    let url = postgres.database("table_keys").await.expect("a database");
    sabacc_table::service::migrate(&url, None).await.expect("an empty database");
    sabacc_table::service::migrate(&url, None).await.expect("it is safe to repeat");
    let separator = if url.contains('?') { '&' } else { '?' };
    let as_table = format!("{url}{separator}options[role]=sabacc_table");
    let keys = SecretStore::postgres(&as_table, "table_people").expect("a URL");
    assert_eq!(keys.insert_if_absent(kept(1, 5)).await.expect("it is stored"), kept(1, 5));
    assert_eq!(keys.insert_if_absent(kept(1, 6)).await.expect("it is there"), kept(1, 5));
    let again = ResealedSecret { old_nonce: [5; 24], secret: kept(2, 7) };
    assert_eq!(keys.replace(&[again]).await.expect("it is replaced"), 1);
    assert_eq!(keys.get([1; 16]).await.expect("it is there"), Some(kept(2, 7)));
    keys.delete(&[[1; 16]]).await.expect("the table may");
    assert_eq!(keys.get([1; 16]).await.expect("the table is there"), None);

    const NO_RIGHT: &str = "42501";
    let update = "UPDATE table_people.secret SET id = id";
    assert_eq!(refusal(&pool(&url, "sabacc_table").await, update).await, NO_RIGHT);
    let auditor = pool(&url, "sabacc_auditor").await;
    assert_eq!(refusal(&auditor, "SELECT * FROM table_people.secret").await, NO_RIGHT);
    let admin = PgPool::connect(&url).await.expect("the database is there");
    for sql in [update, "TRUNCATE table_people.secret"] {
        assert_eq!(refusal(&admin, sql).await, "23001", "{sql}");
    }
}
