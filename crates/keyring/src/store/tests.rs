use super::*;

const ONE: SecretId = [1; 16];
const TWO: SecretId = [2; 16];
const THREE: SecretId = [3; 16];
const OLD: KeyId = KeyId([1; 8]);
const NEW: KeyId = KeyId([2; 8]);

fn kept(id: SecretId, key: KeyId, byte: u8) -> SealedSecret {
    SealedSecret { id, label: vec![byte; 5], key, nonce: [byte; 24], sealed: vec![byte; 48] }
}

/// Checks the behaviour that every store has.
async fn check(store: &SecretStore) {
    assert_eq!(store.get(ONE).await.unwrap(), None);
    assert_eq!(store.get_many(&[ONE]).await.unwrap(), BTreeMap::new());
    assert_eq!(store.list_under_other_keys(NEW, None, 9).await.unwrap(), []);
    let first = kept(ONE, OLD, 5);
    assert_eq!(store.insert_if_absent(first.clone()).await.unwrap(), first);
    let again = store.insert_if_absent(kept(ONE, OLD, 6)).await.unwrap();
    assert_eq!(again, first, "the first stays");
    for (id, key, byte) in [(TWO, OLD, 7), (THREE, KeyId([3; 8]), 9)] {
        let new = kept(id, key, byte);
        assert_eq!(store.insert_if_absent(new.clone()).await.unwrap(), new);
    }
    assert_eq!(store.get(ONE).await.unwrap(), Some(first.clone()));
    let both = BTreeMap::from([(ONE, first), (TWO, kept(TWO, OLD, 7))]);
    assert_eq!(store.get_many(&[TWO, ONE, [9; 16]]).await.unwrap(), both);
    check_resealing(store).await;
    store.delete(&[ONE, [9; 16]]).await.unwrap();
    store.delete(&[ONE]).await.unwrap();
    let left = store.get_many(&[ONE, TWO, THREE]).await.unwrap();
    assert_eq!(left.into_keys().collect::<Vec<_>>(), [TWO, THREE]);
}

async fn check_resealing(store: &SecretStore) {
    let others = |current, after, limit| async move {
        let page = store.list_under_other_keys(current, after, limit).await.unwrap();
        page.iter().map(|kept| kept.id[0]).collect::<Vec<_>>()
    };
    assert_eq!(others(NEW, None, 2).await, [1, 2]);
    assert_eq!(others(NEW, Some(TWO), 2).await, [3]);
    assert_eq!(others(OLD, None, 9).await, [3]);
    let again = |id, old_nonce: u8, byte| {
        let secret = SealedSecret { label: vec![5; 5], ..kept(id, NEW, byte) };
        ResealedSecret { old_nonce: [old_nonce; 24], secret }
    };
    let all = [again(ONE, 5, 20), again(THREE, 77, 21), again([9; 16], 5, 22)];
    assert_eq!(store.replace(&all).await.unwrap(), 1, "one is as it was read, one not, one none");
    assert_eq!(store.replace(&all).await.unwrap(), 0);
    assert_eq!(store.get(ONE).await.unwrap().as_ref(), Some(&all[0].secret));
    assert_eq!(store.get(THREE).await.unwrap(), Some(kept(THREE, KeyId([3; 8]), 9)));
    assert_eq!(others(NEW, None, 9).await, [2, 3]);
}

#[tokio::test]
async fn a_url_that_is_none_is_refused_at_once() {
    assert!(SecretStore::postgres("not a url", "keyring").is_err());
}

#[tokio::test]
async fn memory_keeps_the_first() {
    check(&SecretStore::memory()).await;
}

#[tokio::test]
async fn the_database_keeps_the_first_in_the_schema_that_is_named() {
    let url = testkit::postgres().await.unwrap().database("keyring").await.unwrap();
    let table = "CREATE SCHEMA IF NOT EXISTS \"a b\"; \
        CREATE TABLE IF NOT EXISTS \"a b\".secret (id bytea PRIMARY KEY, label bytea NOT NULL, \
        key_id bytea NOT NULL, nonce bytea NOT NULL, sealed bytea NOT NULL)";
    migrate(&url, table).await.unwrap();
    migrate(&url, table).await.unwrap();
    check(&SecretStore::postgres(&url, "a b").unwrap()).await;
}
