//! Bytes that hashes of the protocol were taken of: with them a hash in a signed text says what it
//! stands for.

use primitives::{PlayerId, TableId};
use sha2::{Digest as _, Sha256};

use super::Entry;
use crate::closing::ClosingRow;
use crate::commit::{ClientCommitment, Commitment, Entropy};
use crate::context::Context;
use crate::decision::Chain;
use crate::encoding::{TAG_PREFIX, lp_list, read_lp_list};
use crate::transcript::{RowStatus, TranscriptRow};

/// Input of a hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opening {
    /// Of a [`Context`].
    Context { origin: String, table: TableId, hand_no: u64, rules_hash: [u8; 32] },
    /// Of a [`ClientCommitment`]: the entropy is in it.
    ClientCommitment {
        context: Context,
        dealer: Commitment,
        seat: u8,
        player: PlayerId,
        entropy: Entropy,
    },
    /// Of a [`Closing`](crate::Closing).
    Closing { context: Context, dealer: Commitment, rows: Vec<ClosingRow> },
    /// Of a [`Transcript`](crate::Transcript) without a beacon, with which the chain begins.
    Transcript { context: Context, dealer: Commitment, rows: Vec<TranscriptRow> },
    /// Of a [`Chain`] with a decision in it.
    Decision { before: Chain, by_clock: bool, line: String },
}

/// Reason why bytes are none that a hash of the protocol was taken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpeningError {
    #[error("the bytes are not a list of fields, each behind its length")]
    NotFields,
    #[error("the bytes have no tag of this protocol")]
    UnknownTag,
    #[error("the bytes have not the fields of their tag")]
    Fields,
}

impl Opening {
    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let (tag, fields) = self.fields();
        let fields: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
        lp_list(&format!("{TAG_PREFIX}{tag}"), &fields)
    }

    /// The hash of the bytes.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.bytes()).into()
    }

    /// The entry of an evidence file.
    #[must_use]
    pub fn entry(&self) -> Entry {
        Entry::Open(self.bytes())
    }

    /// Parses the bytes.
    ///
    /// # Errors
    /// The bytes are not exactly those that [`Opening::bytes`] gives.
    pub fn parse(bytes: &[u8]) -> Result<Opening, OpeningError> {
        let fields = read_lp_list(bytes).ok_or(OpeningError::NotFields)?;
        let (tag, fields) = fields.split_first().ok_or(OpeningError::NotFields)?;
        let tag = tag.strip_prefix(TAG_PREFIX.as_bytes()).ok_or(OpeningError::UnknownTag)?;
        let opening = match tag {
            b"ctx" => parse_context(fields),
            b"client-commit" => parse_client_commitment(fields),
            b"closing" => parse_closing(fields),
            b"transcript" => parse_transcript(fields),
            b"decision" => parse_decision(fields),
            _ => return Err(OpeningError::UnknownTag),
        };
        opening.filter(|opening| opening.bytes() == bytes).ok_or(OpeningError::Fields)
    }

    /// The tag without its prefix, and the fields.
    fn fields(&self) -> (&'static str, Vec<Vec<u8>>) {
        match self {
            Opening::Context { origin, table, hand_no, rules_hash } => {
                let hand_no = hand_no.to_be_bytes().to_vec();
                let (origin, table) = (origin.as_bytes().to_vec(), table.bytes().to_vec());
                ("ctx", vec![origin, table, hand_no, rules_hash.to_vec()])
            }
            Opening::ClientCommitment { context, dealer, seat, player, entropy } => {
                let (seat, player) = (vec![*seat], player.bytes().to_vec());
                let fields = [context.0.to_vec(), dealer.0.to_vec(), seat, player];
                ("client-commit", fields.into_iter().chain([entropy.0.to_vec()]).collect())
            }
            Opening::Closing { context, dealer, rows } => {
                let encoded = rows.iter().map(|row| row.encode().to_vec()).collect();
                ("closing", with_rows(vec![context.0.to_vec(), dealer.0.to_vec()], encoded))
            }
            Opening::Transcript { context, dealer, rows } => {
                let encoded = rows.iter().map(|row| row.encode().to_vec()).collect();
                let fields = vec![context.0.to_vec(), dealer.0.to_vec(), Vec::new()];
                ("transcript", with_rows(fields, encoded))
            }
            Opening::Decision { before, by_clock, line } => {
                let (clock, line) = (vec![u8::from(*by_clock)], line.as_bytes().to_vec());
                ("decision", vec![before.0.to_vec(), clock, line])
            }
        }
    }
}

/// Adds the number of rows, then the rows. More than 255 have no encoding: what they give is read
/// back by nobody.
fn with_rows(mut fields: Vec<Vec<u8>>, rows: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    fields.push(vec![u8::try_from(rows.len()).unwrap_or(u8::MAX)]);
    fields.extend(rows);
    fields
}

fn array<const N: usize>(field: &[u8]) -> Option<[u8; N]> {
    field.try_into().ok()
}

fn text(field: &[u8]) -> Option<String> {
    str::from_utf8(field).ok().map(str::to_owned)
}

fn parse_context(fields: &[&[u8]]) -> Option<Opening> {
    let [origin, table, hand_no, rules_hash] = fields else { return None };
    Some(Opening::Context {
        origin: text(origin)?,
        table: TableId(array(table)?),
        hand_no: u64::from_be_bytes(array(hand_no)?),
        rules_hash: array(rules_hash)?,
    })
}

fn parse_client_commitment(fields: &[&[u8]]) -> Option<Opening> {
    let [context, dealer, [seat], player, entropy] = fields else { return None };
    Some(Opening::ClientCommitment {
        context: Context(array(context)?),
        dealer: Commitment(array(dealer)?),
        seat: *seat,
        player: PlayerId(array(player)?),
        entropy: Entropy(array(entropy)?),
    })
}

fn parse_closing(fields: &[&[u8]]) -> Option<Opening> {
    let [context, dealer, _, rows @ ..] = fields else { return None };
    let rows = rows.iter().map(|row| closing_row(row)).collect::<Option<_>>()?;
    let (context, dealer) = (Context(array(context)?), Commitment(array(dealer)?));
    Some(Opening::Closing { context, dealer, rows })
}

fn closing_row(row: &[u8]) -> Option<ClosingRow> {
    let row: &[u8; 50] = row.try_into().ok()?;
    let commitment = match row[17] {
        0 => None,
        1 => Some(ClientCommitment(array(&row[18..])?)),
        _ => return None,
    };
    Some(ClosingRow { seat: row[0], player: PlayerId(array(&row[1..17])?), commitment })
}

fn parse_transcript(fields: &[&[u8]]) -> Option<Opening> {
    let [context, dealer, [], _, rows @ ..] = fields else { return None };
    let rows = rows.iter().map(|row| transcript_row(row)).collect::<Option<_>>()?;
    let (context, dealer) = (Context(array(context)?), Commitment(array(dealer)?));
    Some(Opening::Transcript { context, dealer, rows })
}

fn transcript_row(row: &[u8]) -> Option<TranscriptRow> {
    let row: &[u8; 82] = row.try_into().ok()?;
    let status = match row[17] {
        1 => RowStatus::Revealed,
        2 => RowStatus::Withheld,
        3 => RowStatus::Absent,
        _ => return None,
    };
    Some(TranscriptRow {
        seat: row[0],
        player: PlayerId(array(&row[1..17])?),
        status,
        commitment: ClientCommitment(array(&row[18..50])?),
        entropy: Entropy(array(&row[50..])?),
    })
}

fn parse_decision(fields: &[&[u8]]) -> Option<Opening> {
    let [before, [clock @ (0 | 1)], line] = fields else { return None };
    Some(Opening::Decision {
        before: Chain(array(before)?),
        by_clock: *clock == 1,
        line: text(line)?,
    })
}
