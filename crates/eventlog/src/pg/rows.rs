//! Conversion between the log's types and the database's columns: ids are `uuid`, unsigned numbers
//! are signed columns with checks, hashes are `bytea`.

use std::sync::Arc;

use bytes::Bytes;
use eventlog_core::record::LeafRecord;
use eventlog_core::{Event, Position, Version};
use merkle::{Tree, leaf_hash};
use primitives::{RequestId, StreamId, UnixMicros};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType, PgRow, PgTypeInfo, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Row, Type};

use super::groups::StoredGroup;
use crate::checkpoint_store::{FullTile, SignedCheckpoint};
use crate::event::AnsweredRequest;
use crate::key::RequestKey;
use crate::store::{Fence, StoreTime};

/// Id as a `uuid`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PgUuid(pub(super) [u8; 16]);

impl Type<Postgres> for PgUuid {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(2950))
    }
}

impl PgHasArrayType for PgUuid {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(2951))
    }
}

impl Encode<'_, Postgres> for PgUuid {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        buffer.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }
}

/// All statements are prepared, so their values are binary.
impl Decode<'_, Postgres> for PgUuid {
    fn decode(value: PgValueRef<'_>) -> Result<PgUuid, BoxDynError> {
        Ok(PgUuid(value.as_bytes()?.try_into()?))
    }
}

/// Number as a value of a signed column.
pub(super) fn signed(number: u64) -> Result<i64, sqlx::Error> {
    i64::try_from(number).map_err(|error| sqlx::Error::Encode(error.into()))
}

fn unsigned(row: &PgRow, column: &'static str) -> Result<u64, sqlx::Error> {
    convert(column, row.try_get::<i64, _>(column)?)
}

fn convert<T, U>(column: &str, value: T) -> Result<U, sqlx::Error>
where
    U: TryFrom<T, Error: std::error::Error + Send + Sync + 'static>,
{
    U::try_from(value).map_err(|error| undecodable(column, error))
}

fn undecodable(column: &str, error: impl std::error::Error + Send + Sync + 'static) -> sqlx::Error {
    sqlx::Error::ColumnDecode { index: column.into(), source: Box::new(error) }
}

fn array<const N: usize>(row: &PgRow, column: &'static str) -> Result<[u8; N], sqlx::Error> {
    convert(column, row.try_get::<&[u8], _>(column)?)
}

fn bytes(row: &PgRow, column: &'static str) -> Result<Bytes, sqlx::Error> {
    row.try_get::<Vec<u8>, _>(column).map(Bytes::from)
}

fn text(row: &PgRow, column: &'static str) -> Result<Arc<str>, sqlx::Error> {
    row.try_get::<&str, _>(column).map(Arc::from)
}

/// Unpacks rows of events, which are in order.
pub(super) fn events(rows: &[PgRow]) -> Result<Vec<Event>, sqlx::Error> {
    let mut events = Vec::with_capacity(rows.len());
    for row in rows {
        let request_id = row.try_get::<Option<PgUuid>, _>("request_id")?.map(|id| RequestId(id.0));
        let group = StoredGroup {
            position: Position(unsigned(row, "position")?),
            recorded_at: UnixMicros(unsigned(row, "recorded_at")?),
            stream: StreamId(row.try_get::<PgUuid, _>("stream")?.0),
            version: Version(unsigned(row, "version")?),
            count: convert("count", row.try_get::<i16, _>("count")?)?,
            request_id,
            actor: text(row, "actor")?,
            trace: row.try_get::<Option<PgUuid>, _>("trace")?.map_or([0; 16], |trace| trace.0),
            previous: array(row, "previous")?,
            content: row.try_get("content")?,
        };
        group.unpack(&mut events).map_err(|error| undecodable("content", error))?;
    }
    Ok(events)
}

/// Leaf record that is not the end of its stream.
#[derive(Debug, thiserror::Error)]
#[error(
    "the record at position {0}, the end of a stream, is not the one in the log's tile, or is another stream's"
)]
struct ForeignEnd(u64);

/// Leaf record of a stream's archived end, if a row has one behind the version `stored`, that of the
/// last stored event. It must stand in the full tile of its position: events of a tile that is
/// not full stay stored. A log that was never signed has no tiles.
pub(super) fn archived_end(
    row: &PgRow,
    stored: Option<Version>,
) -> Result<Option<LeafRecord>, sqlx::Error> {
    let Some(bytes) = row.try_get::<Option<&[u8]>, _>("record")? else { return Ok(None) };
    let record = LeafRecord::parse(bytes).map_err(|error| undecodable("record", error))?;
    if stored.is_some_and(|stored| record.version <= stored.0) {
        return Ok(None);
    }
    // A sound record of another stream would let this one begin anew.
    if record.stream != row.try_get::<PgUuid, _>("wanted")?.0 {
        return Err(undecodable("record", ForeignEnd(record.position)));
    }
    let is_signed: bool = row.try_get("is_signed")?;
    match row.try_get::<Option<&[u8]>, _>("leaf")? {
        Some(leaf) if leaf == leaf_hash(bytes) => Ok(Some(record)),
        None if !is_signed => Ok(Some(record)),
        Some(_) | None => Err(undecodable("record", ForeignEnd(record.position))),
    }
}

pub(super) fn stored(row: &PgRow) -> Result<AnsweredRequest, sqlx::Error> {
    Ok(AnsweredRequest {
        key: RequestKey(row.try_get::<PgUuid, _>("key")?.0),
        tag: Some(row.try_get::<PgUuid, _>("tag")?.0),
        first: Position(unsigned(row, "first")?),
        answer: bytes(row, "answer")?,
    })
}

pub(super) fn fence(row: &PgRow) -> Result<Fence, sqlx::Error> {
    let alive_at: Option<i64> = row.try_get("alive_at")?;
    let tree: Option<&[u8]> = row.try_get("tree")?;
    Ok(Fence {
        epoch: unsigned(row, "epoch")?,
        size: unsigned(row, "size")?,
        saved_size: unsigned(row, "saved_size")?,
        owner: text(row, "owner")?,
        address: text(row, "address")?,
        alive_at: alive_at.map(|at| convert("alive_at", at)).transpose()?.map(UnixMicros),
        tree: tree.map(|tree| tree.as_chunks().0.to_vec()),
    })
}

/// Clock of the database, as each statement that writes returns it.
pub(super) fn store_time(row: &PgRow) -> Result<StoreTime, sqlx::Error> {
    let (received, now) = (unsigned(row, "received")?, unsigned(row, "now")?);
    Ok(StoreTime { received: UnixMicros(received), now: UnixMicros(now) })
}

pub(super) fn full_tile(row: &PgRow) -> Result<FullTile, sqlx::Error> {
    let level = convert("level", row.try_get::<i32, _>("level")?)?;
    Ok(FullTile { coordinates: (level, unsigned(row, "index")?), hashes: bytes(row, "hashes")? })
}

pub(super) fn checkpoint(row: &PgRow) -> Result<SignedCheckpoint, sqlx::Error> {
    let (number, size) = (unsigned(row, "number")?, unsigned(row, "size")?);
    let recorded_at = UnixMicros(unsigned(row, "recorded_at")?);
    Ok(SignedCheckpoint { number, size, recorded_at, note: text(row, "note")? })
}

/// Tree at a log's cut.
pub(super) fn tree(row: &PgRow) -> Result<Tree, sqlx::Error> {
    let peaks: &[u8] = row.try_get("tree")?;
    let tree = Tree::restore(unsigned(row, "size")?, peaks.as_chunks().0.to_vec());
    tree.map_err(|error| undecodable("tree", error))
}
