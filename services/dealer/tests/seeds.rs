//! Rights on the dealer's seeds at rest.

use keyring::{KeyId, ResealedSecret, SealedSecret, SecretStore};
use sabacc_dealer::seeds::SCHEMA;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

fn kept(hand: u8, key: u8, byte: u8) -> SealedSecret {
    SealedSecret {
        id: [hand; 16],
        label: vec![5; 64],
        key: KeyId([key; 8]),
        nonce: [byte; 24],
        sealed: vec![byte; 80],
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
async fn the_database_keeps_the_first_seed_for_the_dealer_alone() {
    let postgres = testkit::postgres().await.expect("a PostgreSQL");
    let url = postgres.database("dealer_seeds").await.expect("a database");
    sabacc_dealer::service::migrate(&url, None).await.expect("an empty database");
    sabacc_dealer::service::migrate(&url, None).await.expect("it is safe to repeat");
    let separator = if url.contains('?') { '&' } else { '?' };
    let as_dealer = format!("{url}{separator}options[role]=sabacc_dealer");
    let seeds = SecretStore::postgres(&as_dealer, SCHEMA).expect("a URL");
    assert_eq!(seeds.insert_if_absent(kept(1, 1, 5)).await.expect("it is stored"), kept(1, 1, 5));
    assert_eq!(seeds.insert_if_absent(kept(1, 1, 6)).await.expect("it is there"), kept(1, 1, 5));
    let again = ResealedSecret { old_nonce: [5; 24], secret: kept(1, 2, 7) };
    assert_eq!(seeds.replace(&[again]).await.expect("it is replaced"), 1);
    assert_eq!(seeds.get([1; 16]).await.expect("it is there"), Some(kept(1, 2, 7)));
    assert!(seeds.delete(&[[1; 16]]).await.is_err(), "no seed is lost");

    const NO_RIGHT: &str = "42501";
    let dealer = pool(&url, "sabacc_dealer").await;
    for sql in [
        "UPDATE dealer_vault.secret SET id = id",
        "UPDATE dealer_vault.secret SET label = label",
        "DELETE FROM dealer_vault.secret",
    ] {
        assert_eq!(refusal(&dealer, sql).await, NO_RIGHT, "{sql}");
    }
    let auditor = pool(&url, "sabacc_auditor").await;
    assert_eq!(refusal(&auditor, "SELECT * FROM dealer_vault.secret").await, NO_RIGHT);
    let admin = PgPool::connect(&url).await.expect("the database is there");
    for sql in [
        "UPDATE dealer_vault.secret SET sealed = sealed",
        "UPDATE dealer_vault.secret SET nonce = substr(sha256(nonce), 1, 24)",
        "UPDATE dealer_vault.secret SET label = sha512(label), key_id = '\\x0000000000000000', \
         nonce = substr(sha256(nonce), 1, 24)",
        "DELETE FROM dealer_vault.secret",
        "TRUNCATE dealer_vault.secret",
    ] {
        assert_eq!(refusal(&admin, sql).await, "23001", "{sql}");
    }
}
