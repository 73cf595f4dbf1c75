//! Flips of any bit of what a log publishes.

use merkle::note::VerifierKey;
use merkle::verify_consistency;
use merkle::{Checkpoint, Row, TileId, Tiles, bundle, leaf_hash, prove_consistency, tiles_between};

use crate::sample::{LOG, head, log_key, note, proof, witness_key};

/// Returns every way to flip one bit, with the byte's index.
fn flipped(bytes: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    (0..bytes.len() * 8).map(|bit| {
        let mut other = bytes.to_vec();
        other[bit / 8] ^= 1 << (bit % 8);
        (bit / 8, other)
    })
}

fn keys() -> (VerifierKey, [VerifierKey; 1]) {
    (log_key().public().clone(), [witness_key().public().clone()])
}

#[test]
fn a_flipped_checkpoint_is_never_what_was_signed() {
    let (log, witnesses) = keys();
    let bytes = note(300).to_string().into_bytes();
    let opened = Checkpoint::open(&bytes, &log, &witnesses).unwrap();
    assert_eq!((opened.checkpoint.head(), opened.cosignatures.len()), (head(300), 1));
    let witness_line = String::from_utf8(bytes.clone()).unwrap().rfind('—').unwrap();
    for (at, other) in flipped(&bytes) {
        match Checkpoint::open(&other, &log, &witnesses) {
            Err(_) => {}
            // The line names an unknown key now, so it is not counted.
            Ok(alone) => {
                assert!(at >= witness_line, "byte {at}");
                assert_eq!(
                    (alone.checkpoint, alone.cosignatures),
                    (opened.checkpoint.clone(), vec![])
                );
            }
        }
        // The log's own part is unchanged.
        let whole = at == witness_line;
        assert!(whole || Checkpoint::open(&other[..at], &log, &witnesses).is_err(), "cut at {at}");
    }
}

#[test]
fn a_flipped_proof_proves_nothing() {
    let (log, _) = keys();
    let mut bytes = proof(123, 300).to_string();
    // The part that the log signs: the witness's lines have a test of their own.
    bytes.truncate(bytes.rfind('—').unwrap());
    let record = &LOG.records[123];
    let verify = |bytes: &[u8], record: &[u8]| {
        merkle::LogProof::parse(bytes).and_then(|proof| proof.verify(record, &log, &[]))
    };
    verify(bytes.as_bytes(), record).unwrap();
    for (at, other) in flipped(bytes.as_bytes()) {
        assert!(verify(&other, record).is_err(), "byte {at}: {}", other.escape_ascii());
        assert!(verify(&other[..at], record).is_err(), "cut at {at}");
    }
    for (at, other) in flipped(record) {
        assert!(verify(bytes.as_bytes(), &other).is_err(), "byte {at} of the record");
    }
}

#[test]
fn a_flipped_tile_is_refused() {
    let tiles: Vec<(TileId, Vec<u8>)> = tiles_between(0, 300)
        .filter(|tile| tile.row() != Row::Entries)
        .map(|tile| (tile, tile.content(&LOG.leaves).unwrap()))
        .collect();
    Tiles::authenticate(head(300), tiles.clone()).unwrap();
    for which in 0..tiles.len() {
        // One bit of each byte, and every bit of a few: each costs as much as the whole tile.
        for at in 0..tiles[which].1.len() {
            let mut other = tiles.clone();
            other[which].1[at] ^= 1 << (at % 8);
            assert!(Tiles::authenticate(head(300), other).is_err(), "byte {at} of {which}");
        }
        for (longer, by) in [(true, 1), (true, 32), (false, 1), (false, 32)] {
            let mut other = tiles.clone();
            let length = other[which].1.len();
            other[which].1.resize(if longer { length + by } else { length - by }, 0);
            assert!(Tiles::authenticate(head(300), other).is_err(), "{which} by {by}");
        }
    }
}

#[test]
fn a_flipped_bundle_is_refused() {
    let records = &LOG.records[256..300];
    let hashes: Vec<_> = records.iter().map(|record| leaf_hash(record)).collect();
    let content = bundle::encode(records).unwrap();
    for (at, other) in flipped(&content) {
        assert!(bundle::parse_verified(&other, &hashes).is_err(), "byte {at}");
    }
}

#[test]
fn a_flipped_consistency_proof_is_refused() {
    let (was, is) = (head(77), head(300));
    let proof = prove_consistency(&LOG.leaves, 77, 300).unwrap();
    let verify = |proof: &[_]| verify_consistency((77, &was.root), (300, &is.root), proof);
    verify(&proof).unwrap();
    for which in 0..proof.len() {
        for bit in 0..256 {
            let mut other = proof.clone();
            other[which][bit / 8] ^= 1 << (bit % 8);
            assert!(verify(&other).is_err(), "bit {bit} of {which}");
        }
    }
}
