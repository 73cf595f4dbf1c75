//! Check of receipts, in which a table states that a commitment to entropy is in its log.
//!
//! A client that commits gets a receipt, signed with the key of the table's log, that names the
//! position of the record. A table that drops the commitment has signed two contradicting
//! statements, the receipt and the checkpoint over the log, and nobody without the table's key can
//! have done that.
//!
//! Specification: fairness/SPEC.md §8.2.

use std::fmt;

use fairness::{
    BadSignature, ClientCommitment, CommitReceipt, Commitment, Context, SignedText as _,
};
use merkle::note::VerifierKey;
use primitives::PlayerId;
use prost::Message as _;
use proto::table::v1::EntropyReceipt;
use serde::Serialize;
use sha2::{Digest, Sha256};
use wire::records::{Record as _, TableRecord};

use crate::bundle::{ProvedLog, TrustedKeys, proved_log};
use crate::report::CheckError;

/// Verdict on a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", content = "why", rename_all = "snake_case")]
pub enum ReceiptVerdict {
    /// The commitment is at the position that the table named.
    Kept,
    /// The commitment is not there: the table is convicted by its own two signatures.
    Broken(String),
    /// The given records do not show what is at the position.
    NotShown(String),
    /// The receipt is not the table's, or proves nothing by itself.
    Worthless(String),
}

impl fmt::Display for ReceiptVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReceiptVerdict::Kept => {
                f.write_str("the table kept its word: the commitment is in its log")
            }
            ReceiptVerdict::Broken(why) => write!(f, "the TABLE broke its word: {why}"),
            ReceiptVerdict::NotShown(why) => write!(f, "it is not shown what the table did: {why}"),
            ReceiptVerdict::Worthless(why) => write!(f, "the receipt proves nothing: {why}"),
        }
    }
}

/// Parses a receipt from a file: the encoded message, in its only spelling.
#[must_use]
pub fn parse(bytes: &[u8]) -> Option<EntropyReceipt> {
    EntropyReceipt::decode(bytes).ok().filter(|receipt| receipt.encode_to_vec() == bytes)
}

/// Compares a receipt with records of the table's log, from a bundle or proved by themselves.
#[must_use]
pub fn check(receipt: &EntropyReceipt, log: &ProvedLog, trusted: &TrustedKeys) -> ReceiptVerdict {
    let size = match proved_log("table", log, trusted) {
        Ok(size) => size,
        Err(CheckError::Failed(why) | CheckError::NotPossible(why)) => {
            return ReceiptVerdict::NotShown(why);
        }
    };
    let key = VerifierKey::parse(&log.key).ok();
    if let Err(why) =
        key.map_or_else(|| Err("there is no key".to_owned()), |key| verify_receipt(receipt, &key))
    {
        return ReceiptVerdict::Worthless(why);
    }
    let position = receipt.position;
    if position >= size {
        return ReceiptVerdict::NotShown(format!(
            "the checkpoint is of {size} records, older than position {position}"
        ));
    }
    let found = log.records.iter().find(|event| event.position.0 == position);
    let Some(event) = found else {
        return ReceiptVerdict::NotShown(format!(
            "position {position} of the table's log is not among the records: ask the log for it"
        ));
    };
    let table = event.stream.0[..] == receipt.table_id[..];
    let recorded: Option<TableRecord> = event.decode();
    if let Some(TableRecord::EntropyCommitted(given)) = &recorded
        && table
        && (given.hand_no, given.seat) == (receipt.hand_no, receipt.seat)
        && given.player_id == receipt.player_id[..]
        && given.commitment == receipt.commitment[..]
        && given.key == receipt.player_key[..]
    {
        return ReceiptVerdict::Kept;
    }
    let name = recorded.map_or("something", |recorded| recorded.name());
    ReceiptVerdict::Broken(format!(
        "it signed that the commitment of seat {} for hand {} stands at position {position}, and \
         signed a log with another {name} there",
        receipt.seat, receipt.hand_no
    ))
}

/// Checks that the receipt is signed with this key.
fn verify_receipt(receipt: &EntropyReceipt, key: &VerifierKey) -> Result<(), String> {
    let EntropyReceipt {
        table_id: _,
        hand_no: _,
        seat,
        player_id,
        commitment,
        position,
        key_id,
        signature,
        player_key,
        context,
        dealer_commitment,
    } = receipt;
    let shape = || "a field has a wrong length".to_owned();
    let array = |bytes: &[u8]| bytes.try_into().map_err(|_| shape());
    if Sha256::digest(key.bytes())[..8] != key_id[..] {
        return Err("it names another key than that of the table's log".to_owned());
    }
    let player_key = if player_key.is_empty() { None } else { Some(array(player_key)?) };
    let message = CommitReceipt {
        context: &Context(array(context)?),
        dealer: &Commitment(array(dealer_commitment)?),
        seat: u8::try_from(*seat).map_err(|_| shape())?,
        player: PlayerId::try_from(&player_id[..]).map_err(|_| shape())?,
        commitment: &ClientCommitment(array(commitment)?),
        player_key: player_key.as_ref(),
        position: *position,
    };
    let signature: [u8; 64] = signature[..].try_into().map_err(|_| shape())?;
    message.verify(key.bytes(), &signature).map_err(|BadSignature| {
        "its signature is not that of the table's key over these fields".to_owned()
    })
}
