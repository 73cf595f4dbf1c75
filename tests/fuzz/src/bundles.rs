//! Bytes as bundles: golden ones, changed in their records, chained, proved and signed anew.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use audit::bundle::{Bundle, TrustedKeys};
use audit::hand::{self, Work};

use merkle::note::{KeyName, LogKey, VerifierKey};
use merkle::record::{LeafRecord, chain_hash, payload_hash};
use merkle::{Leaves, leaf_hash, root_at};
use prost::Message as _;
use proto::audit::v1::{BundleContents, BundleLog, HandBundle, LogRecord};
use sha2::{Digest as _, Sha256};

use crate::bytes::Bytes;
use crate::mutate::mutate;

/// Golden bundles that are changed: of every game and end of a hand.
const GOLDEN: &[&str] = &[
    "agreed",
    "after-burnt-numbers",
    "burnt-by-one",
    "coruscant-short",
    "delayed-reveal",
    "dice-short",
    "electronic-short",
    "eleven-short",
    "force-short",
    "kessel-short",
    "seed-owed",
    "spike-short",
    "suspended-in-play",
    "swg-short",
];

/// Secrets of the logs' keys of golden bundles.
const SECRETS: [[u8; 32]; 3] = [[5; 32], [7; 32], [9; 32]];

/// Most records of a tree that is built anew.
const MAX_RECORDS: u64 = 4096;

/// Work that any file may take, beside that for each of its bytes: a few rounds of the rules are due
/// in any. All verifiers have these bounds.
const ALWAYS: Work = Work { steps: 20_000, bytes: 100_000, signatures: 16 };

static CONTENTS: LazyLock<Vec<BundleContents>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden/bundles");
    let read = |name: &&str| {
        let file = std::fs::read(folder.join(format!("{name}.sabacc"))).expect("it is there");
        let outer = HandBundle::decode(&file[..]).expect("a bundle");
        BundleContents::decode(&outer.contents[..]).expect("a bundle")
    };
    GOLDEN.iter().map(read).collect()
});

static TRUSTED: LazyLock<TrustedKeys> = LazyLock::new(|| {
    let key = |log: &BundleLog| VerifierKey::parse(&log.key).expect("a key");
    TrustedKeys::new(CONTENTS[0].logs.iter().map(key).collect())
});

/// Changes a golden bundle and audits it. Returns whether it is a bundle.
///
/// # Panics
/// As [`bundle_file`].
#[must_use]
pub fn bundles(bytes: &[u8]) -> bool {
    let mut bytes = Bytes::new(bytes);
    let at = bytes.index(CONTENTS.len());
    let mut contents = CONTENTS[at].clone();
    for _ in 0..bytes.below(5) {
        change(&mut bytes, &mut contents);
    }
    if bytes.below(8) != 0 {
        contents.logs.iter_mut().zip(SECRETS).for_each(|(log, secret)| seal(log, secret));
    }
    let mut file = wrapped(&contents.encode_to_vec());
    if bytes.below(16) == 0 {
        mutate(&mut bytes, &mut file, &["", "\0", "\u{7f}"]);
    }
    bundle_file(&file)
}

/// Audits a file. Returns whether it is a bundle.
///
/// # Panics
/// Reading or auditing panics, does more work than the file's size allows, or what is read is
/// written in another way.
#[must_use]
pub fn bundle_file(file: &[u8]) -> bool {
    let Ok(bundle) = Bundle::parse(file) else { return false };
    assert_eq!(bundle.encode(), file, "a bundle has one spelling");
    let records = bundle.records(&TRUSTED);
    let report = hand::audit(&records);
    assert_eq!(report.checks.0.len(), hand::Check::ALL.len(), "every check has a verdict");
    assert!(report.sentences.iter().all(|sentence| !sentence.is_empty()));
    assert!(hand::story(&records, &report).iter().all(|line| !line.what.is_empty()));
    let length = u64::try_from(file.len()).unwrap_or(u64::MAX);
    let work = report.work;
    assert!(work.steps <= ALWAYS.steps + 2 * length, "{work:?} of {length} bytes");
    assert!(work.bytes <= ALWAYS.bytes + 40 * length, "{work:?} of {length} bytes");
    assert!(work.signatures <= ALWAYS.signatures + length / 32, "{work:?} of {length} bytes");
    assert_eq!(report, hand::audit(&records), "an audit is the same twice");
    true
}

/// Changes one record, or the place of one.
fn change(bytes: &mut Bytes<'_>, contents: &mut BundleContents) {
    let log = bytes.index(contents.logs.len());
    let records = &mut contents.logs[log].records;
    if records.is_empty() {
        return;
    }
    let (at, other) = (bytes.index(records.len()), bytes.index(records.len()));
    let position = records[at].position;
    match bytes.below(8) {
        0 => drop(records.remove(at)),
        1 => {
            let (payload, salt) = (records[other].payload.clone(), records[other].salt.clone());
            (records[at].payload, records[at].salt) = (payload, salt);
            records[at].r#type = records[other].r#type;
        }
        2 => {
            let moved = records.remove(at);
            records.insert(other.min(records.len()), moved);
        }
        3 => records.insert(at, LogRecord { position, ..records[other].clone() }),
        4 => records[at].stream = records[other].stream.clone(),
        5 => records[at].recorded_at_micros = any_number(bytes),
        _ => change_payload(bytes, &mut records[at].payload),
    }
}

fn any_number(bytes: &mut Bytes<'_>) -> u64 {
    match bytes.below(4) {
        0 => u64::MAX - bytes.below(3),
        1 => bytes.below(3),
        2 => u64::from(u32::MAX) - 1 + bytes.below(3),
        _ => 1_700_000_000_000_000 + bytes.below(1 << 40),
    }
}

/// Changes one field of a message, or of a message in it.
fn change_payload(bytes: &mut Bytes<'_>, payload: &mut Vec<u8>) {
    let Some(mut fields) = fields(payload).filter(|fields| !fields.is_empty()) else {
        return mutate(bytes, payload, &["", "0", "9", "\u{1b}[2J", "\u{202e}", "p1 leave"]);
    };
    let at = bytes.index(fields.len());
    match bytes.below(6) {
        0 => drop(fields.remove(at)),
        1 => fields.insert(at, fields[at].clone()),
        _ => match &mut fields[at].1 {
            Value::Number(number) => *number = any_number(bytes),
            Value::Bytes(content) => change_payload(bytes, content),
        },
    }
    *payload = encoded(&fields);
}

#[derive(Clone)]
enum Value {
    Number(u64),
    Bytes(Vec<u8>),
}

/// Splits a message into its fields; `None` if it is none.
fn fields(mut message: &[u8]) -> Option<Vec<(u64, Value)>> {
    let mut found = Vec::new();
    while !message.is_empty() {
        let key = prost::encoding::decode_varint(&mut message).ok()?;
        let number = prost::encoding::decode_varint(&mut message).ok()?;
        let value = match key & 7 {
            0 => Value::Number(number),
            2 => {
                let (content, rest) = message.split_at_checked(usize::try_from(number).ok()?)?;
                message = rest;
                Value::Bytes(content.to_vec())
            }
            _ => return None,
        };
        found.push((key >> 3, value));
    }
    Some(found)
}

/// Joins fields to a message in its one spelling.
fn encoded(fields: &[(u64, Value)]) -> Vec<u8> {
    let mut message = Vec::new();
    for (tag, value) in fields {
        match value {
            Value::Number(0) => {}
            Value::Number(number) => {
                prost::encoding::encode_varint(tag << 3, &mut message);
                prost::encoding::encode_varint(*number, &mut message);
            }
            Value::Bytes(content) => {
                prost::encoding::encode_varint(tag << 3 | 2, &mut message);
                prost::encoding::encode_varint(
                    u64::try_from(content.len()).unwrap_or(u64::MAX),
                    &mut message,
                );
                message.extend(content);
            }
        }
    }
    message
}

fn wrapped(contents: &[u8]) -> Vec<u8> {
    let sha256 = Sha256::digest(contents).to_vec();
    HandBundle { contents: contents.to_vec(), sha256 }.encode_to_vec()
}

/// Numbers a log's records, chains them and signs a tree in which they stand.
fn seal(log: &mut BundleLog, secret: [u8; 32]) {
    let mut heads: BTreeMap<Vec<u8>, (u64, [u8; 32])> = BTreeMap::new();
    let mut leaves = Leaves::new();
    let mut positions = Vec::new();
    for record in &mut log.records {
        record.position = record.position.max(leaves.size());
        if record.position >= MAX_RECORDS {
            return;
        }
        if let Some((version, previous)) = heads.get(&record.stream) {
            record.version = version + 1;
            record.previous = previous.to_vec();
        }
        let Some(leaf) = leaf(record) else { return };
        while leaves.size() < record.position {
            leaves.push(leaf_hash(b"a record of others"));
        }
        leaves.push(leaf_hash(&leaf));
        heads.insert(record.stream.clone(), (record.version, chain_hash(&leaf)));
        positions.push(record.position);
    }
    let size = leaves.size();
    let (Ok(root), Ok(proof)) =
        (root_at(&leaves, size), merkle::prove_records(&leaves, &positions, size))
    else {
        return;
    };
    log.proof = proof.iter().map(|hash| hash.to_vec()).collect();
    let Some((name, _)) = log.key.split_once('+') else { return };
    let key = LogKey::new(KeyName::try_new(name).expect("a name"), &secret);
    let head = merkle::TreeHead { size, root };
    let checkpoint = merkle::Checkpoint::try_new(name, head, Vec::new()).expect("a checkpoint");
    let text = checkpoint.to_string();
    log.checkpoint = format!("{text}\n{}\n", key.sign(&text));
}

/// The leaf record; `None` for a record that has none.
fn leaf(record: &LogRecord) -> Option<[u8; 149]> {
    let withheld = record.payload_hash[..].try_into().ok();
    let length = u32::try_from(record.payload.len()).ok()?;
    let salt = record.salt[..].try_into().ok();
    let leaf = LeafRecord {
        position: record.position,
        recorded_at: record.recorded_at_micros,
        stream: record.stream[..].try_into().ok()?,
        version: record.version,
        kind: u16::try_from(record.r#type).ok()?,
        schema: u16::try_from(record.schema).ok()?,
        sealed: record.sealed,
        payload_len: if withheld.is_some() { record.payload_len } else { length },
        payload_hash: withheld.or_else(|| Some(payload_hash(&salt?, &record.payload)))?,
        author_hash: record.author_hash[..].try_into().ok()?,
        previous: record.previous[..].try_into().ok()?,
    };
    Some(leaf.to_bytes())
}
