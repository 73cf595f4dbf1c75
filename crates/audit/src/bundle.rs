//! A hand for somebody who trusts nobody: its records, each proved to stand in the log of the
//! service that wrote it, in a file `.sabacc`.
//!
//! What is in the file is described with the message `HandBundle`. It is read strictly: one bundle
//! has one spelling. What is read is written down again and must come out byte for byte, so that a
//! field that nobody knows, one that stands twice or out of order, a number with a longer spelling
//! or a byte at the end make a file that is no bundle. So does a payload that is not the event that
//! its number names, in that event's only spelling. What is no bundle gets no verdict.
//!
//! A bundle brings the keys of its logs with it, and nobody believes them for that: the reader says
//! whom he trusts ([`Trusted`]).

mod read;
mod trust;

use eventlog_core::Event;
use merkle::{Hash, Nodes, prove_records};
use primitives::{HandId, StreamId};
use prost::Message as _;
use proto::audit::v1 as pb;
use sha2::{Digest, Sha256};

use crate::hand::HandRecords;

pub use read::NotABundle;
pub(crate) use trust::proved_log;
pub use trust::{BadKeys, Trusted};

/// The only format there is.
pub const FORMAT: u32 = 1;

/// The names of the logs, in the order they stand in.
pub const LOGS: [&str; 3] = ["table", "dealer", "wallet"];

/// One hand's bundle as it was read or made. Nothing is verified by having one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    pub hand_id: HandId,
    pub table: ProvedLog,
    pub dealer: ProvedLog,
    pub wallet: ProvedLog,
}

/// Records of one log, and what is said to prove that they stand in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvedLog {
    /// A C2SP verifier key, as it stands in the bundle.
    pub key: String,
    /// A C2SP signed note.
    pub checkpoint: String,
    /// Ascending by position. Who asked for them is not in a bundle.
    pub records: Vec<Event>,
    /// As [`merkle::verify_records`] takes it.
    pub proof: Vec<Hash>,
}

impl ProvedLog {
    /// Proves records of a log: `size` is what `checkpoint` has signed, `nodes` knows the tree.
    ///
    /// # Errors
    /// Where the records do not ascend or are not all in the tree, or `nodes` lacks a hash.
    pub fn prove(
        (key, checkpoint): (String, String),
        records: Vec<Event>,
        (nodes, size): (&impl Nodes, u64),
    ) -> Result<ProvedLog, merkle::BuildError> {
        let positions: Vec<u64> = records.iter().map(|event| event.position.0).collect();
        let proof = prove_records(nodes, &positions, size)?;
        Ok(ProvedLog { key, checkpoint, records, proof })
    }
}

impl Bundle {
    /// Reads what [`Bundle::encode`] writes, and nothing else.
    ///
    /// # Errors
    /// The bytes are no bundle.
    pub fn parse(bytes: &[u8]) -> Result<Bundle, NotABundle> {
        read::bundle(bytes)
    }

    /// The bytes of a `.sabacc` file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let Bundle { hand_id, table, dealer, wallet } = self;
        let [table_name, dealer_name, wallet_name] = LOGS;
        let logs = [(table_name, table), (dealer_name, dealer), (wallet_name, wallet)];
        wrap(*hand_id, logs.map(|(name, log)| written(name, log)))
    }

    /// The logs with their names, in their order.
    #[must_use]
    pub fn logs(&self) -> [(&'static str, &ProvedLog); 3] {
        let [table, dealer, wallet] = LOGS;
        [(table, &self.table), (dealer, &self.dealer), (wallet, &self.wallet)]
    }

    /// The records as an audit takes them, with what the proofs are worth to a reader who trusts
    /// these keys; with none, nobody's.
    #[must_use]
    pub fn records(&self, trusted: &Trusted) -> HandRecords {
        let stream = StreamId::from(self.hand_id);
        let (hand, table) =
            self.table.records.iter().cloned().partition(|event| event.stream == stream);
        HandRecords {
            hand_id: self.hand_id,
            hand,
            table,
            dealer: self.dealer.records.clone(),
            wallet: self.wallet.records.clone(),
            dealer_keys: trust::public(&self.dealer.key).into_iter().collect(),
            proofs: Some(trust::proofs(self, trusted)),
        }
    }
}

/// The bytes of a `.sabacc` file of logs that are written down already, in their order. Whether they
/// are a bundle, [`Bundle::parse`] says.
#[must_use]
pub fn wrap(hand_id: HandId, logs: [pb::BundleLog; 3]) -> Vec<u8> {
    let (hand_id, logs) = (hand_id.0.to_vec(), logs.into());
    let contents = pb::BundleContents { format: FORMAT, hand_id, logs }.encode_to_vec();
    let sha256 = Sha256::digest(&contents).to_vec();
    pb::HandBundle { contents, sha256 }.encode_to_vec()
}

fn written(name: &str, log: &ProvedLog) -> pb::BundleLog {
    let ProvedLog { key, checkpoint, records, proof } = log;
    pb::BundleLog {
        name: name.to_owned(),
        key: key.clone(),
        checkpoint: checkpoint.clone(),
        records: records.iter().map(record).collect(),
        proof: proof.iter().map(|hash| hash.to_vec()).collect(),
    }
}

/// An event as a bundle holds it.
#[must_use]
pub fn record(event: &Event) -> pb::LogRecord {
    pb::LogRecord {
        position: event.position.0,
        recorded_at_micros: event.recorded_at.0,
        stream: event.stream.0.to_vec(),
        version: event.version.0,
        r#type: event.kind.into(),
        schema: event.schema.into(),
        sealed: event.sealed,
        payload: event.payload.to_vec(),
        previous: event.previous.to_vec(),
    }
}
