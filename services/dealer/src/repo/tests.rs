use sqlx::postgres::PgConnectOptions;

use super::*;

fn kept(hand: u8, byte: u8) -> StoredSeed {
    StoredSeed {
        hand: HandId([hand; 16]),
        context: Context([byte; 32]),
        commitment: Commitment([byte; 32]),
        seed: sealed(None, byte),
    }
}

fn sealed(key: Option<KeyId>, byte: u8) -> SealedSeed {
    SealedSeed { key, nonce: [byte; 24], sealed: vec![byte; 80] }
}

/// Checks the behaviour that both kinds of storage have.
async fn check(seeds: &SeedRepository) {
    assert_eq!(seeds.get(HandId([1; 16])).await.unwrap(), None);
    assert_eq!(seeds.insert_if_absent(kept(1, 5)).await.unwrap(), kept(1, 5));
    assert_eq!(seeds.insert_if_absent(kept(1, 6)).await.unwrap(), kept(1, 5), "the first stays");
    assert_eq!(seeds.insert_if_absent(kept(2, 7)).await.unwrap(), kept(2, 7));
    assert_eq!(seeds.get(HandId([1; 16])).await.unwrap(), Some(kept(1, 5)));
    check_resealing(seeds).await;
}

/// Checks resealing. Seeds of hands 1 and 2 must be there, without a key id; one of hand 3 gets
/// one.
async fn check_resealing(seeds: &SeedRepository) {
    let (old, new) = (KeyId([1; 8]), KeyId([2; 8]));
    let third = StoredSeed { seed: sealed(Some(old), 9), ..kept(3, 8) };
    assert_eq!(seeds.insert_if_absent(third.clone()).await.unwrap(), third);
    let others = |current, after: Option<u8>, limit| async move {
        let after = after.map(|hand| HandId([hand; 16]));
        let page = seeds.list_under_other_keys(current, after, limit).await.unwrap();
        page.iter().map(|kept| kept.hand.0[0]).collect::<Vec<_>>()
    };
    assert_eq!(others(new, None, 2).await, [1, 2]);
    assert_eq!(others(new, Some(2), 2).await, [3]);
    assert_eq!(others(old, None, 9).await, [1, 2]);
    let again = |hand: u8, old_nonce: u8, byte| ResealedSeed {
        hand: HandId([hand; 16]),
        old_nonce: [old_nonce; 24],
        seed: sealed(Some(new), byte),
    };
    let both = [again(1, 5, 20), again(3, 77, 21), again(9, 5, 22)];
    assert_eq!(seeds.replace(&both).await.unwrap(), 1, "one is as it was read, one not, one none");
    assert_eq!(seeds.replace(&both).await.unwrap(), 0);
    let first = StoredSeed { seed: sealed(Some(new), 20), ..kept(1, 5) };
    assert_eq!(seeds.get(HandId([1; 16])).await.unwrap(), Some(first));
    assert_eq!(seeds.get(HandId([3; 16])).await.unwrap(), Some(third));
    assert_eq!(others(new, None, 9).await, [2, 3]);
}

/// Makes connections that have only the rights of `role`.
async fn pool(url: &str, role: &str) -> PgPool {
    let options: PgConnectOptions = url.parse().unwrap();
    PgPoolOptions::new().connect_with(options.options([("role", role)])).await.unwrap()
}

#[tokio::test]
async fn a_url_that_is_none_is_refused_at_once() {
    assert!(SeedRepository::postgres("not a url").is_err());
}

#[tokio::test]
async fn memory_keeps_the_first() {
    check(&SeedRepository::memory()).await;
}

#[tokio::test]
async fn the_database_keeps_the_first_for_the_dealer_alone() {
    let url = testkit::postgres().await.unwrap().database("dealer_seeds").await.unwrap();
    crate::service::migrate(&url, None).await.unwrap();
    crate::service::migrate(&url, None).await.unwrap();
    let dealer = pool(&url, "sabacc_dealer").await;
    check(&SeedRepository(Backend::Postgres(dealer.clone()))).await;
    let refused = |pool: PgPool, sql: &'static str| async move {
        let error = sqlx::query(sql).execute(&pool).await.unwrap_err();
        error.as_database_error().unwrap().code().unwrap().into_owned()
    };
    const NO_RIGHT: &str = "42501";
    for sql in [
        "UPDATE dealer_vault.seed SET hand_id = hand_id",
        "UPDATE dealer_vault.seed SET commitment = commitment",
        "UPDATE dealer_vault.seed SET context = context",
        "DELETE FROM dealer_vault.seed",
    ] {
        assert_eq!(refused(dealer.clone(), sql).await, NO_RIGHT, "{sql}");
    }
    let auditor = pool(&url, "sabacc_auditor").await;
    assert_eq!(refused(auditor, "SELECT * FROM dealer_vault.seed").await, NO_RIGHT);
    let admin = PgPool::connect(&url).await.unwrap();
    for sql in [
        "UPDATE dealer_vault.seed SET sealed = sealed",
        "UPDATE dealer_vault.seed SET key_id = NULL, nonce = substr(sha256(nonce), 1, 24)",
        "UPDATE dealer_vault.seed SET commitment = sha256(commitment), key_id = '\\x0000000000000000', \
         nonce = substr(sha256(nonce), 1, 24)",
        "DELETE FROM dealer_vault.seed",
        "TRUNCATE dealer_vault.seed",
    ] {
        assert_eq!(refused(admin.clone(), sql).await, "23001", "{sql}");
    }
}

/// The table in its form without key ids.
const OLD: &str = "\
    CREATE SCHEMA dealer_vault; \
    CREATE TABLE dealer_vault.seed (hand_id bytea PRIMARY KEY, context bytea NOT NULL, \
        commitment bytea NOT NULL, nonce bytea NOT NULL, sealed bytea NOT NULL); \
    CREATE FUNCTION dealer_vault.seeds_stay() RETURNS trigger LANGUAGE plpgsql AS \
        $stay$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'restrict_violation'; END $stay$; \
    CREATE TRIGGER seeds_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON dealer_vault.seed \
        FOR EACH STATEMENT EXECUTE FUNCTION dealer_vault.seeds_stay(); \
    INSERT INTO dealer_vault.seed SELECT decode(repeat(h, 16), 'hex'), decode(repeat('05', 32), 'hex'), \
        decode(repeat('05', 32), 'hex'), decode(repeat('05', 24), 'hex'), decode(repeat('05', 80), 'hex') \
        FROM (VALUES ('01'), ('02')) AS hands(h)";

#[tokio::test]
async fn an_older_table_keeps_its_rows_and_learns_the_names_of_keys() {
    let url = testkit::postgres().await.unwrap().database("dealer_old_seeds").await.unwrap();
    let admin = PgPool::connect(&url).await.unwrap();
    sqlx::raw_sql(OLD).execute(&admin).await.unwrap();
    crate::service::migrate(&url, None).await.unwrap();
    let seeds = SeedRepository(Backend::Postgres(pool(&url, "sabacc_dealer").await));
    for hand in [1, 2] {
        assert_eq!(seeds.get(HandId([hand; 16])).await.unwrap(), Some(kept(hand, 5)));
    }
    check_resealing(&seeds).await;
}
