//! C2SP `tlog-tiles`, entry bundles: up to 256 records, each after its length (u16, big-endian).

use crate::hash::{Hash, leaf_hash};
use crate::tile::TILE_WIDTH;

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BundleError {
    #[error("a record in a bundle has at most 65535 bytes, this has {0}")]
    RecordTooLong(usize),
    #[error("a bundle holds 1 to 256 records")]
    Count,
    #[error("the bundle ends within record {0}")]
    Truncated(usize),
    #[error("the bundle holds {got} records, the tile beside it {expected} hashes")]
    Width { got: usize, expected: usize },
    #[error("record {0} of the bundle is not the one whose hash the tile beside it holds")]
    Corrupt(usize),
}

/// Encodes a bundle.
pub fn encode<R: AsRef<[u8]>>(records: &[R]) -> Result<Vec<u8>, BundleError> {
    check_count(records.len())?;
    let mut content = Vec::new();
    for record in records {
        let record = record.as_ref();
        let length =
            u16::try_from(record.len()).map_err(|_| BundleError::RecordTooLong(record.len()))?;
        content.extend(length.to_be_bytes());
        content.extend(record);
    }
    Ok(content)
}

/// Parses the records of a bundle, without checking their hashes.
pub fn parse(content: &[u8]) -> Result<Vec<&[u8]>, BundleError> {
    let (mut records, mut rest) = (Vec::new(), content);
    while !rest.is_empty() {
        let cut = BundleError::Truncated(records.len());
        let (length, after) = rest.split_first_chunk().ok_or(cut)?;
        let length = usize::from(u16::from_be_bytes(*length));
        let (record, after) = after.split_at_checked(length).ok_or(cut)?;
        records.push(record);
        check_count(records.len())?;
        rest = after;
    }
    check_count(records.len())?;
    Ok(records)
}

/// Parses the records of a bundle and checks each against its hash in the level 0 tile.
pub fn parse_verified<'a>(
    content: &'a [u8],
    hashes: &[Hash],
) -> Result<Vec<&'a [u8]>, BundleError> {
    let records = parse(content)?;
    let (got, expected) = (records.len(), hashes.len());
    if got != expected {
        return Err(BundleError::Width { got, expected });
    }
    match records.iter().zip(hashes).position(|(record, hash)| leaf_hash(record) != *hash) {
        Some(at) => Err(BundleError::Corrupt(at)),
        None => Ok(records),
    }
}

fn check_count(count: usize) -> Result<(), BundleError> {
    if (1..=usize::from(TILE_WIDTH)).contains(&count) { Ok(()) } else { Err(BundleError::Count) }
}
