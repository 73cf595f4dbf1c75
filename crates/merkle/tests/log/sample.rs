//! One log for all tests, and its keys.

use std::sync::LazyLock;

use merkle::note::{KeyName, LogKey, Note, WitnessKey};
use merkle::record::{LeafRecord, RECORD_LEN, author_hash, chain_hash, payload_hash};
use merkle::{Checkpoint, Leaves, LogProof, Signer, TreeHead, leaf_hash, prove_inclusion, root_at};

pub(crate) const SIZE: u64 = 70_000;
/// Time of the cosignatures, Unix seconds.
pub(crate) const SEEN: u64 = 1_700_000_100;
const STREAMS: u8 = 7;

pub(crate) struct Log {
    pub(crate) records: Vec<[u8; RECORD_LEN]>,
    pub(crate) leaves: Leaves,
}

pub(crate) static LOG: LazyLock<Log> = LazyLock::new(|| {
    let mut last = [[0; 32]; STREAMS as usize];
    let mut log = Log { records: Vec::new(), leaves: Leaves::new() };
    for position in 0..SIZE {
        let stream = u8::try_from(position % u64::from(STREAMS)).unwrap();
        let record = LeafRecord {
            position,
            recorded_at: 1_700_000_000_000_000 + 1000 * position,
            stream: [stream + 1; 16],
            version: position / u64::from(STREAMS),
            kind: u16::try_from(position % 3).unwrap() + 1,
            schema: 1,
            sealed: position % 5 == 0,
            payload_len: u32::try_from(position % 400).unwrap(),
            payload_hash: payload_hash(&[stream; 16], position.to_string().as_bytes()),
            author_hash: author_hash("sample", None, &[0; 16]),
            previous: last[usize::from(stream)],
        }
        .to_bytes();
        last[usize::from(stream)] = chain_hash(&record);
        log.leaves.push(leaf_hash(&record));
        log.records.push(record);
    }
    log
});

pub(crate) fn log_key() -> LogKey {
    LogKey::new(KeyName::try_new("sabacc.example/table/0").unwrap(), &[1; 32])
}

pub(crate) fn witness_key() -> WitnessKey {
    WitnessKey::new(KeyName::try_new("witness.example/w1").unwrap(), &[2; 32])
}

pub(crate) fn head(size: u64) -> TreeHead {
    TreeHead { size, root: root_at(&LOG.leaves, size).unwrap() }
}

/// Returns a checkpoint note signed by the log and the witness.
pub(crate) fn note(size: u64) -> Note {
    let mut note = Signer::new(log_key()).sign(None, head(size), &[]).unwrap();
    let checkpoint = Checkpoint::parse(note.text()).unwrap();
    note.push(witness_key().cosign(&checkpoint, SEEN)).unwrap();
    note
}

pub(crate) fn proof(index: u64, size: u64) -> LogProof {
    let path = prove_inclusion(&LOG.leaves, index, size).unwrap();
    LogProof::new(index, path, note(size)).unwrap()
}
