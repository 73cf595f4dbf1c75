use sqlx::postgres::PgConnectOptions;

use super::*;

const ONE: PlayerId = PlayerId([1; 16]);
const TWO: PlayerId = PlayerId([2; 16]);

fn wrapped(byte: u8) -> WrappedKey {
    WrappedKey { nonce: [byte; 24], wrapped: vec![byte; 48] }
}

/// Checks the behaviour that every store of keys has.
async fn check(keys: &KeyRepo) {
    assert_eq!(keys.page(None, 9).await.unwrap(), []);
    assert_eq!(keys.get(&[ONE]).await.unwrap(), BTreeMap::new());
    assert_eq!(keys.insert_or_get(ONE, wrapped(5)).await.unwrap(), wrapped(5));
    assert_eq!(keys.insert_or_get(ONE, wrapped(6)).await.unwrap(), wrapped(5), "the first stays");
    assert_eq!(keys.insert_or_get(TWO, wrapped(7)).await.unwrap(), wrapped(7));
    let both = BTreeMap::from([(ONE, wrapped(5)), (TWO, wrapped(7))]);
    assert_eq!(keys.get(&[TWO, ONE, PlayerId([3; 16])]).await.unwrap(), both);
    assert_eq!(keys.page(None, 1).await.unwrap(), [(ONE, wrapped(5))]);
    assert_eq!(keys.page(Some(ONE), 9).await.unwrap(), [(TWO, wrapped(7))]);
    let again =
        |player, was, now| RewrappedKey { player, old_nonce: [was; 24], new_key: wrapped(now) };
    // A key that was rewrapped meanwhile, or is gone, stays as it is.
    let third = PlayerId([3; 16]);
    keys.rewrap(&[again(TWO, 7, 8), again(ONE, 9, 9), again(third, 1, 1)]).await.unwrap();
    let both = vec![(ONE, wrapped(5)), (TWO, wrapped(8))];
    assert_eq!(keys.page(None, 9).await.unwrap(), both);
    keys.destroy(&[ONE, PlayerId([3; 16])]).await.unwrap();
    keys.destroy(&[ONE]).await.unwrap();
    assert_eq!(keys.get(&[ONE, TWO]).await.unwrap(), BTreeMap::from([(TWO, wrapped(8))]));
}

/// Connections with only the rights of `role`.
async fn pool(url: &str, role: &str) -> PgPool {
    let options: PgConnectOptions = url.parse().unwrap();
    PgPoolOptions::new().connect_with(options.options([("role", role)])).await.unwrap()
}

#[tokio::test]
async fn a_url_that_is_none_is_refused_at_once() {
    assert!(KeyRepo::postgres("not a url").is_err());
}

#[tokio::test]
async fn memory_keeps_the_first_and_forgets() {
    check(&KeyRepo::memory()).await;
}

#[tokio::test]
async fn the_database_keeps_the_first_for_the_table_alone_and_forgets() {
    let url = testkit::postgres().await.unwrap().database("table_keys").await.unwrap();
    crate::service::migrate(&url, None).await.unwrap();
    crate::service::migrate(&url, None).await.unwrap();
    let table = pool(&url, "sabacc_table").await;
    check(&KeyRepo(Backend::Postgres(table.clone()))).await;
    let refused = |pool: PgPool, sql: &'static str| async move {
        let error = sqlx::query(sql).execute(&pool).await.unwrap_err();
        error.as_database_error().unwrap().code().unwrap().into_owned()
    };
    const NO_RIGHT: &str = "42501";
    let update = "UPDATE table_people.player_key SET player_id = player_id";
    assert_eq!(refused(table, update).await, NO_RIGHT);
    let auditor = pool(&url, "sabacc_auditor").await;
    assert_eq!(refused(auditor, "SELECT * FROM table_people.player_key").await, NO_RIGHT);
    let admin = PgPool::connect(&url).await.unwrap();
    for sql in [update, "TRUNCATE table_people.player_key"] {
        assert_eq!(refused(admin.clone(), sql).await, "23001", "{sql}");
    }
}
