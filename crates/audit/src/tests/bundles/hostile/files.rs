//! Bytes that are no bundle, or a bundle that says nothing.

use prost::Message as _;
use proto::audit::v1::{BundleContents, BundleLog, HandBundle, LogRecord};
use sha2::{Digest, Sha256};

use super::{Hostile, Kind, honest};

/// Wraps contents with their hash.
pub(super) fn wrapped(contents: impl Into<Vec<u8>>) -> Vec<u8> {
    let contents = contents.into();
    let sha256 = Sha256::digest(&contents).to_vec();
    HandBundle { contents, sha256 }.encode_to_vec()
}

pub(super) fn contents() -> BundleContents {
    let outer = HandBundle::decode(&honest().bundle(1).encode()[..]).unwrap();
    BundleContents::decode(&outer.contents[..]).unwrap()
}

/// The bundle of an honest hand after `edit` has changed it, which nothing is signed anew for.
pub(super) fn edited(edit: impl FnOnce(&mut BundleContents)) -> Vec<u8> {
    let mut contents = contents();
    edit(&mut contents);
    wrapped(contents.encode_to_vec())
}

pub(super) fn all() -> Vec<Hostile> {
    let of = |name, bytes| Hostile::new(Kind::Bundle, name, bytes);
    let mut all = numbers();
    all.extend(records());
    all.extend([
        of("text", b"<!doctype html><title>All of it checks out</title>".to_vec()),
        of("nothing-inside", wrapped([])),
        of("format-alone", wrapped([8, 2])),
        of("newer-and-unreadable", wrapped([8, 3, 0xff, 0xff])),
        of("groups", wrapped([&[8, 2][..], &[0x1b; 5000]].concat())),
        of("larger-than-allowed", vec![0; crate::bundle::MAX_BYTES + 1]),
        of("many-logs", edited(|it| it.logs.extend(vec![BundleLog::default(); 300_000]))),
        of(
            "many-records",
            edited(|it| {
                it.logs[0].records = vec![LogRecord::default(); 600_000];
            }),
        ),
        of("many-hashes", edited(|it| it.logs[0].proof = vec![Vec::new(); 600_000])),
        of("hash-in-a-bundle-in-a-bundle", {
            let inner = wrapped(contents().encode_to_vec());
            wrapped(inner)
        }),
    ]);
    all
}

/// Numbers and lengths that never end, or end beyond the file.
fn numbers() -> Vec<Hostile> {
    let of = |name, bytes: Vec<u8>| Hostile::new(Kind::Bundle, name, bytes);
    let field = |tag: &[u8], rest: &[u8]| [tag, rest].concat();
    vec![
        of("number-of-2-mb", field(&[0x0a], &vec![0xff; 2_000_000])),
        of("number-of-2-mb-inside", wrapped(field(&[8], &vec![0x80; 2_000_000]))),
        of("number-of-11-bytes", wrapped(field(&[8, 2, 0x12], &[0x80; 11]))),
        of("number-over-64-bits", {
            wrapped(field(&[8], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]))
        }),
        of("length-over-32-bits", field(&[0x0a], &[0xff, 0xff, 0xff, 0xff, 0xff, 1, 7])),
        of("length-over-the-end", field(&[0x0a], &[0xff, 0xff, 0x7f])),
        of("field-number-0", wrapped([8, 2, 0, 0])),
        of("field-number-over-32-bits", {
            wrapped(field(&[8, 2], &[0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1]))
        }),
    ]
}

/// Records that no log writes.
fn records() -> Vec<Hostile> {
    let of = |name: &str, edit: &dyn Fn(&mut LogRecord)| {
        let changed = edited(|it| edit(&mut it.logs[0].records[3]));
        Hostile::new(Kind::Bundle, name, changed)
    };
    vec![
        of("record-of-no-type", &|it| it.r#type = 0),
        of("record-of-a-type-over-16-bits", &|it| it.r#type += 1 << 16),
        of("record-of-a-schema-over-16-bits", &|it| it.schema += 1 << 16),
        of("record-with-a-long-stream", &|it| it.stream.push(0)),
        of("record-with-a-long-salt", &|it| it.salt.push(0)),
        of("record-without-a-salt", &|it| it.salt.clear()),
        of("record-without-an-author", &|it| it.author_hash.clear()),
        of("record-with-a-short-previous", &|it| it.previous.truncate(31)),
        of("record-at-the-last-position", &|it| it.position = u64::MAX),
        of("record-withheld-of-4-gib", &|it| {
            (it.payload_hash, it.payload_len) = (vec![1; 32], u32::MAX);
            (it.payload, it.salt) = (Vec::new(), Vec::new());
        }),
        of("record-without-a-payload", &|it| it.payload.clear()),
        of("record-with-a-deep-payload", &|it| it.payload = [0x0a, 0x7f].repeat(30_000)),
    ]
}
