//! Files that are no bundles.

use crate::bundle::Bundle;
use crate::tests::fixture::TableFixture;
use prost::Message as _;
use proto::audit::v1::{BundleContents, HandBundle, LogRecord};
use sha2::{Digest, Sha256};

use crate::tests::bundles::honest::earlier;

fn honest() -> Bundle {
    // Another hand follows, so that proofs are of more than these records.
    let mut room = earlier(TableFixture::seated(100, "dice", 2));
    assert!(room.play());
    room.bundle(1)
}

/// Wraps contents with their hash.
fn wrapped(contents: Vec<u8>) -> Vec<u8> {
    let sha256 = Sha256::digest(&contents).to_vec();
    HandBundle { contents, sha256 }.encode_to_vec()
}

fn edited(edit: impl FnOnce(&mut BundleContents)) -> Vec<u8> {
    let outer = HandBundle::decode(&honest().encode()[..]).unwrap();
    let mut contents = BundleContents::decode(&outer.contents[..]).unwrap();
    edit(&mut contents);
    wrapped(contents.encode_to_vec())
}

fn withhold(record: &mut LogRecord, hash: Vec<u8>) {
    (record.payload_hash, record.payload_len) = (hash, 9);
    (record.payload, record.salt) = (Vec::new(), Vec::new());
}

pub(super) fn all() -> Vec<(&'static str, Vec<u8>)> {
    let honest = honest().encode();
    let outer = HandBundle::decode(&honest[..]).unwrap();
    let inner = outer.contents.clone();
    let mut wrong = outer.clone();
    wrong.sha256[0] ^= 1;
    vec![
        ("empty", Vec::new()),
        ("cut", honest[..honest.len() - 1].to_vec()),
        ("trailing-byte", [&honest[..], &[0]].concat()),
        ("unknown-field", [&honest[..], &[0x18, 1]].concat()),
        ("wrong-hash", wrong.encode_to_vec()),
        ("contents-unknown-field", wrapped([&inner[..], &[0x78, 1]].concat())),
        ("contents-field-twice", wrapped([&inner[..2], &inner[..]].concat())),
        // The format as a number of two bytes.
        ("contents-long-number", wrapped([&[0x08, 0x82, 0x00], &inner[2..]].concat())),
        ("contents-default-written", { wrapped([&inner[..], &[0x12, 0x00]].concat()) }),
        ("older-format", edited(|it| it.format = 1)),
        ("newer-format", edited(|it| it.format = 3)),
        ("withheld-with-payload", edited(|it| it.logs[0].records[0].payload_hash = vec![1; 32])),
        ("withheld-short-hash", { edited(|it| withhold(&mut it.logs[0].records[0], vec![1; 31])) }),
        ("withheld-unknown-event-type", {
            edited(|it| {
                withhold(&mut it.logs[0].records[0], vec![1; 32]);
                it.logs[0].records[0].r#type = 9999;
            })
        }),
        ("length-without-hash", edited(|it| it.logs[0].records[0].payload_len = 9)),
        ("short-hand-id", edited(|it| it.hand_id.truncate(15))),
        ("logs-out-of-order", edited(|it| it.logs.swap(0, 1))),
        ("log-missing", edited(|it| drop(it.logs.pop()))),
        ("records-out-of-order", edited(|it| it.logs[0].records.swap(0, 1))),
        ("short-proof-hash", edited(|it| it.logs[0].proof[0].truncate(31))),
        ("unknown-event-type", edited(|it| it.logs[0].records[0].r#type = 9999)),
        ("other-schema", edited(|it| it.logs[0].records[0].schema = 2)),
        ("sealed-payload", edited(|it| it.logs[0].records[0].sealed = true)),
        ("payload-damaged", edited(|it| it.logs[0].records[0].payload = vec![0xff; 9])),
        // A field that the event does not have.
        ("payload-unknown-field", {
            edited(|it| it.logs[0].records[0].payload.extend([0x7a, 2, b'S', b'1']))
        }),
    ]
}
