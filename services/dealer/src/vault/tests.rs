use super::*;

const OF: (&Context, &Commitment) = (&Context([3; 32]), &Commitment([4; 32]));

fn key(byte: u8) -> Zeroizing<[u8; 32]> {
    Zeroizing::new([byte; 32])
}

fn id(byte: u8) -> KeyId {
    KeyId::of(&key(byte))
}

fn seed() -> Seed {
    Seed::new(Zeroizing::new([2; 64]))
}

/// fairness/SPEC.md §3.2.
#[test]
fn a_seed_opens_under_its_key_and_for_its_hand_only() {
    let vault = Vault::new(&key(1), &[]);
    let kept = vault.seal(&seed(), OF, [5; 24]);
    assert_eq!(vault.open(&kept, OF), Ok(seed()));
    assert!(!kept.sealed.windows(4).any(|four| four == [2; 4]), "it is not in the clear");
    let damaged = Err(VaultError::Corrupt(id(1)));
    assert_eq!(vault.open(&kept, (&Context([9; 32]), OF.1)), damaged);
    assert_eq!(vault.open(&kept, (OF.0, &Commitment([9; 32]))), damaged);
    let stranger = Vault::new(&key(9), &[key(8)]);
    assert_eq!(stranger.open(&kept, OF), Err(VaultError::UnknownKey(id(1))));
    let mut broken = kept;
    broken.sealed[10] ^= 1;
    assert_eq!(vault.open(&broken, OF), damaged);
}

#[test]
fn previous_keys_open_and_never_seal() {
    let old = Vault::new(&key(1), &[]).seal(&seed(), OF, [5; 24]);
    let vault = Vault::new(&key(2), &[key(3), key(1), key(2)]);
    assert_eq!(vault.open(&old, OF), Ok(seed()));
    let new = vault.seal(&seed(), OF, [6; 24]);
    assert_eq!((old.key, new.key, vault.current()), (Some(id(1)), Some(id(2)), id(2)));
    assert!(vault.has_previous());
    assert!(!Vault::new(&key(2), &[key(2)]).has_previous(), "the current one is not previous");
}

#[test]
fn a_seed_without_the_name_of_its_key_is_tried_under_each() {
    let mut unnamed = Vault::new(&key(1), &[]).seal(&seed(), OF, [5; 24]);
    unnamed.key = None;
    assert_eq!(Vault::new(&key(1), &[]).open(&unnamed, OF), Ok(seed()));
    assert_eq!(Vault::new(&key(2), &[key(3), key(1)]).open(&unnamed, OF), Ok(seed()));
    assert_eq!(Vault::new(&key(2), &[key(3)]).open(&unnamed, OF), Err(VaultError::NoKeyOpens));
}

/// Key ids are in databases, so they never change. Computed with another language's library.
#[test]
fn a_known_key_has_its_known_name() {
    assert_eq!(id(2).to_string(), "249d6a466d17434b");
    let error = VaultError::UnknownKey(id(2)).to_string();
    assert!(error.contains("249d6a466d17434b"), "{error}");
    assert!(!error.contains("0202"), "{error}");
}
