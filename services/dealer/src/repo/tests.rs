use sqlx::postgres::PgConnectOptions;

use super::*;

fn kept(hand: u8, byte: u8) -> Kept {
    Kept {
        hand: HandId([hand; 16]),
        context: Context([byte; 32]),
        commitment: Commitment([byte; 32]),
        seed: SealedSeed { nonce: [byte; 24], sealed: vec![byte; 80] },
    }
}

/// What every place of seeds does.
async fn check(seeds: &Seeds) {
    assert_eq!(seeds.get(HandId([1; 16])).await.unwrap(), None);
    assert_eq!(seeds.keep(kept(1, 5)).await.unwrap(), kept(1, 5));
    assert_eq!(seeds.keep(kept(1, 6)).await.unwrap(), kept(1, 5), "the first stays");
    assert_eq!(seeds.keep(kept(2, 7)).await.unwrap(), kept(2, 7));
    assert_eq!(seeds.get(HandId([1; 16])).await.unwrap(), Some(kept(1, 5)));
}

/// Connections that have only the rights of `role`.
async fn pool(url: &str, role: &str) -> PgPool {
    let options: PgConnectOptions = url.parse().unwrap();
    PgPoolOptions::new().connect_with(options.options([("role", role)])).await.unwrap()
}

#[tokio::test]
async fn a_url_that_is_none_is_refused_at_once() {
    assert!(Seeds::postgres("not a url").is_err());
}

#[tokio::test]
async fn memory_keeps_the_first() {
    check(&Seeds::memory()).await;
}

#[tokio::test]
async fn the_database_keeps_the_first_for_the_dealer_alone() {
    let url = testkit::postgres().await.unwrap().database("dealer_seeds").await.unwrap();
    crate::shell::migrate(&url, None).await.unwrap();
    crate::shell::migrate(&url, None).await.unwrap();
    let dealer = pool(&url, "sabacc_dealer").await;
    check(&Seeds(Place::Postgres(dealer.clone()))).await;
    let refused = |pool: PgPool, sql: &'static str| async move {
        let error = sqlx::query(sql).execute(&pool).await.unwrap_err();
        error.as_database_error().unwrap().code().unwrap().into_owned()
    };
    const NO_RIGHT: &str = "42501";
    for sql in ["UPDATE dealer_vault.seed SET hand_id = hand_id", "DELETE FROM dealer_vault.seed"] {
        assert_eq!(refused(dealer.clone(), sql).await, NO_RIGHT, "{sql}");
    }
    let auditor = pool(&url, "sabacc_auditor").await;
    assert_eq!(refused(auditor, "SELECT * FROM dealer_vault.seed").await, NO_RIGHT);
    let admin = PgPool::connect(&url).await.unwrap();
    for sql in ["UPDATE dealer_vault.seed SET hand_id = hand_id", "TRUNCATE dealer_vault.seed"] {
        assert_eq!(refused(admin.clone(), sql).await, "23001", "{sql}");
    }
}
