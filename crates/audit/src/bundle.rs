//! The records of a hand for a reader who trusts nobody: each is proved to be in the log of the
//! service that wrote it. The file's extension is `.sabacc`.
//!
//! The message `HandBundle` describes the file. Parsing is strict: one bundle has one spelling. The
//! parsed file is encoded again and must give the same bytes. So a file is no bundle if it has an
//! unknown field, a field twice or out of order, a number with a longer spelling or a byte too many
//! at the end; nor if a payload is not the only spelling of the event that its type names. A file
//! that is no bundle gets no verdict.
//!
//! A bundle contains the keys of its logs, but they are not believed for that: the reader names the
//! keys that they trust ([`TrustedKeys`]).

mod compare;
mod read;
mod trust;
mod withhold;

use merkle::{Hash, Nodes, prove_records};
use primitives::{HandId, StreamId};
use prost::Message as _;
use proto::audit::v1 as pb;
use sha2::{Digest, Sha256};
use wire::log_record;

use crate::hand::{HandRecords, TextKey};
use crate::log_event::{LogEvent, WithheldPayload};

pub use compare::{Contradiction, Histories};
pub use read::BundleError;
pub use trust::{TrustedKeys, WitnessKeysError, Witnessed, Witnesses};
pub use withhold::withhold;

/// Format that is written. A field that is added to a bundle, or to an event in it, raises it.
pub const FORMAT: u32 = 2;

/// First format that was released. Every one from it on is read.
pub const FIRST_FORMAT: u32 = 2;

/// Bytes of the largest file that is read.
pub const MAX_BYTES: usize = 16 << 20;

/// Names of the logs, in their order in a bundle.
pub const LOG_NAMES: [&str; 3] = ["table", "dealer", "wallet"];

/// The parsed or assembled bundle of a hand. Having one verifies nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    pub hand_id: HandId,
    pub table: ProvedLog,
    pub dealer: ProvedLog,
    pub wallet: ProvedLog,
}

/// Records of one log, and the unverified proof that they are in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvedLog {
    /// C2SP verifier key, as it is in the bundle.
    pub key: String,
    /// C2SP signed note.
    pub checkpoint: String,
    /// Ascending by position. They do not tell the callers who asked for them.
    pub records: Vec<LogEvent>,
    /// Proof in the format of [`merkle::verify_records`].
    pub proof: Vec<Hash>,
}

impl ProvedLog {
    /// Proves records of a log. `checkpoint` has signed the first `size` records, `nodes` knows the
    /// tree.
    ///
    /// # Errors
    /// If the records do not ascend, one of them is not in the tree, or `nodes` lacks a hash.
    pub fn prove(
        key: String,
        checkpoint: String,
        records: Vec<LogEvent>,
        nodes: &impl Nodes,
        size: u64,
    ) -> Result<ProvedLog, merkle::BuildError> {
        let positions: Vec<u64> = records.iter().map(|event| event.position.0).collect();
        let proof = prove_records(nodes, &positions, size)?;
        Ok(ProvedLog { key, checkpoint, records, proof })
    }
}

impl Bundle {
    /// Parses exactly the bytes that [`Bundle::encode`] writes.
    ///
    /// # Errors
    /// If the bytes are no bundle.
    pub fn parse(bytes: &[u8]) -> Result<Bundle, BundleError> {
        read::bundle(bytes)
    }

    /// Encodes the bytes of a `.sabacc` file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let Bundle { hand_id, table, dealer, wallet } = self;
        let [table_name, dealer_name, wallet_name] = LOG_NAMES;
        let logs = [(table_name, table), (dealer_name, dealer), (wallet_name, wallet)];
        encode_file(*hand_id, logs.map(|(name, log)| encode_log(name, log)))
    }

    /// Returns the logs with their names, in their order.
    #[must_use]
    pub fn logs(&self) -> [(&'static str, &ProvedLog); 3] {
        let [table, dealer, wallet] = LOG_NAMES;
        [(table, &self.table), (dealer, &self.dealer), (wallet, &self.wallet)]
    }

    /// Returns the records in the form that an audit takes, with the verdict on the proofs for a
    /// reader who trusts these keys and asks for no witness.
    #[must_use]
    pub fn records(&self, trusted: &TrustedKeys) -> HandRecords {
        self.witnessed_records(trusted, &Witnesses::default())
    }

    /// Returns the records in the form that an audit takes, with the verdict on the proofs for a
    /// reader who trusts these keys and witnesses.
    #[must_use]
    pub fn witnessed_records(&self, trusted: &TrustedKeys, witnesses: &Witnesses) -> HandRecords {
        let stream = StreamId::from(self.hand_id);
        let (hand, table) =
            self.table.records.iter().cloned().partition(|event| event.stream == stream);
        HandRecords {
            hand_id: self.hand_id,
            hand,
            table,
            dealer: self.dealer.records.clone(),
            wallet: self.wallet.records.clone(),
            dealer_keys: trust::text_keys(&self.dealer.key, trusted),
            proofs: Some(trust::check_proofs(self, trusted, witnesses)),
        }
    }
}

impl Bundle {
    /// Returns the public keys that texts of the table may be signed with: its log's own, and the
    /// trusted ones of its name.
    #[must_use]
    pub fn table_keys(&self, trusted: &TrustedKeys) -> Vec<TextKey> {
        trust::text_keys(&self.table.key, trusted)
    }
}

/// Encodes a `.sabacc` file from logs that are encoded already, in their order. [`Bundle::parse`]
/// decides whether they are a bundle.
#[must_use]
pub fn encode_file(hand_id: HandId, logs: [pb::BundleLog; 3]) -> Vec<u8> {
    let (hand_id, logs) = (hand_id.0.to_vec(), logs.into());
    let contents = pb::BundleContents { format: FORMAT, hand_id, logs }.encode_to_vec();
    let sha256 = Sha256::digest(&contents).to_vec();
    pb::HandBundle { contents, sha256 }.encode_to_vec()
}

fn encode_log(name: &str, log: &ProvedLog) -> pb::BundleLog {
    let ProvedLog { key, checkpoint, records, proof } = log;
    pb::BundleLog {
        name: name.to_owned(),
        key: key.clone(),
        checkpoint: checkpoint.clone(),
        records: records.iter().map(encode_record).collect(),
        proof: proof.iter().map(|hash| hash.to_vec()).collect(),
    }
}

fn encode_record(record: &LogEvent) -> pb::LogRecord {
    let whole = log_record(&record.event);
    let Some(WithheldPayload { hash, length }) = record.withheld else { return whole };
    let (payload, salt) = (Vec::new(), Vec::new());
    pb::LogRecord { payload, salt, payload_hash: hash.to_vec(), payload_len: length, ..whole }
}
