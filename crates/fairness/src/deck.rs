//! The commitment to a shuffled pile: an RFC 6962 tree over one salted record for each card.
//!
//! A record is LP("sabacc/fair/v1/card"), u32 operation, u16 position, u8 card, 32 bytes of salt:
//! 62 bytes. Salts come from a key of their own. So neither the keys of the operations nor another
//! card's salt give a salt away, and the seed, published after the hand, gives every one.
//!
//! Specification: fairness/SPEC.md §7.1 to §7.3.

use crate::encoding::{KeyedHmac, keyed_hmac, lp_tag, prf};
use crate::keys::Keys;

mod levels;

pub(crate) use levels::MerkleLevels;

/// Number of bytes of one card's record.
pub const RECORD_LEN: usize = 62;

/// Record of a card, as the tree hashes it. It reveals the card, so only the card's audience may
/// have it.
#[must_use]
pub fn record(op: u32, position: u16, card: u8, salt: &[u8; 32]) -> [u8; RECORD_LEN] {
    let mut record = [0; RECORD_LEN];
    let tag = lp_tag("card");
    let (head, body) = record.split_at_mut(tag.len());
    head.copy_from_slice(&tag);
    body[..4].copy_from_slice(&op.to_be_bytes());
    body[4..6].copy_from_slice(&position.to_be_bytes());
    body[6] = card;
    body[7..].copy_from_slice(salt);
    record
}

/// Salt of the card at `position` of the pile as operation `op` left it.
#[must_use]
pub fn salt(keys: &Keys, op: u32, position: u16) -> [u8; 32] {
    salt_with_key(&keyed_hmac(keys.expose_salt()), op, position)
}

/// Records of a pile whose `cards`, from the top, are as operation `op` left them.
///
/// # Panics
/// If there are more than 65,536 cards. No shuffle has so many.
#[must_use]
pub fn records(keys: &Keys, op: u32, cards: &[u8]) -> Vec<[u8; RECORD_LEN]> {
    let key = keyed_hmac(keys.expose_salt());
    let record_at = |position: usize| {
        let card = cards[position];
        let position = u16::try_from(position).expect("a pile has at most 255 cards");
        record(op, position, card, &salt_with_key(&key, op, position))
    };
    (0..cards.len()).map(record_at).collect()
}

/// Root over [`records`].
#[must_use]
pub fn root(keys: &Keys, op: u32, cards: &[u8]) -> [u8; 32] {
    merkle::root(records(keys, op, cards))
}

/// Root that one card's record and path lead to, in a pile of `count` cards. None if the path does
/// not have the length for its position.
#[must_use]
pub fn root_from_path(
    record: &[u8; RECORD_LEN],
    position: u16,
    count: u16,
    path: &[[u8; 32]],
) -> Option<[u8; 32]> {
    let leaf = merkle::leaf_hash(record);
    merkle::root_from_inclusion(&leaf, position.into(), count.into(), path).ok()
}

fn salt_with_key(key: &KeyedHmac, op: u32, position: u16) -> [u8; 32] {
    let long = prf(key, "card-salt", &[&op.to_be_bytes(), &position.to_be_bytes()]);
    let mut salt = [0; 32];
    salt.copy_from_slice(&long[..32]);
    salt
}
