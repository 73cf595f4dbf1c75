//! `sabacc.audit.v1.LogService` for the one log of a service.

use std::sync::Arc;

use bytes::Bytes;
use chassis::auth::{Identity, Role};
use chassis::concurrency_limiter::Permit;
use eventlog::archive::MountError;
use eventlog::{Position, RequestId, StreamId, Version};
use merkle::note::VerifierKey;
use merkle::{
    Hash, Row, TILE_WIDTH, TileId, prove_consistency, prove_inclusion, tiles_for_consistency,
    tiles_for_inclusion,
};
use proto::audit::v1 as pb;
use proto::audit::v1::log_service_server::{LogService, LogServiceServer};
use proto::audit::v1::record_selection::By;
use proto::common::v1::ErrorReason;
use tonic::{Request, Response, Status};
use wire::field::BadField;
use wire::log_record;
use wire::status::{ApiRefusal, api_refusal, unavailable};

use crate::fault::{Fault, NotaryError};
use crate::files::EntryReaders;
use crate::notary::{Notary, PublishedTree};
use crate::records::{EntriesError, MAX_RECORDS, SelectError, Selection};

/// Most selections in one request.
const MAX_SELECTIONS: usize = 16;
/// Highest level of a tree of fewer than 2^63 records.
const MAX_LEVEL: u8 = 7;

/// Request handler of one log.
#[derive(Clone)]
pub struct Api {
    notary: Notary,
    /// Name of the log in requests, such as "table".
    name: &'static str,
    /// Readers of its leaf records.
    entries: EntryReaders,
}

/// Returns the gRPC service of one log, whose name in requests is `name`.
#[must_use]
pub fn service(notary: Notary, name: &'static str, entries: EntryReaders) -> LogServiceServer<Api> {
    LogServiceServer::new(handler(notary, name, entries))
}

/// Returns the request handler of one log, whose name in requests is `name`.
#[must_use]
pub const fn handler(notary: Notary, name: &'static str, entries: EntryReaders) -> Api {
    Api { notary, name, entries }
}

#[tonic::async_trait]
impl LogService for Api {
    async fn get_checkpoint(
        &self,
        request: Request<pb::GetCheckpointRequest>,
    ) -> Result<Response<pb::GetCheckpointResponse>, Status> {
        let pb::GetCheckpointRequest { log } = request.into_inner();
        let shown = self.published(&log)?;
        let (checkpoint, key) = (shown.note.to_string(), self.notary.key().to_string());
        let witness_keys = self.notary.witness_keys().iter().map(VerifierKey::to_string).collect();
        Ok(Response::new(pb::GetCheckpointResponse { checkpoint, key, witness_keys }))
    }

    async fn get_tile(
        &self,
        request: Request<pb::GetTileRequest>,
    ) -> Result<Response<pb::GetTileResponse>, Status> {
        let pb::GetTileRequest { log, level, index, width } = request.into_inner();
        let shown = self.published(&log)?;
        let level = u8::try_from(level).ok().filter(|level| *level <= MAX_LEVEL);
        let level = level.ok_or_else(|| BadField::new("level", "a level is 0 to 7"))?;
        let width = parse_width(width)?;
        let _turn = self.read_permit().await?;
        let hashes = self
            .notary
            .tile(&shown, Row::Hashes(level), index, width)
            .await
            .map_err(error_status)?;
        let hashes = hashes.ok_or_else(|| not_in_log("the log has no such tile"))?.to_vec();
        Ok(Response::new(pb::GetTileResponse { hashes }))
    }

    async fn get_entries(
        &self,
        request: Request<pb::GetEntriesRequest>,
    ) -> Result<Response<pb::GetEntriesResponse>, Status> {
        let role = Identity::of(&request).map(|identity| identity.role);
        let pb::GetEntriesRequest { log, index, width } = request.into_inner();
        let shown = self.published(&log)?;
        self.check_reader(role)?;
        let width = parse_width(width)?;
        let entries =
            self.notary.entries(&shown, index, width).await.map_err(|error| match error {
                EntriesError::Notary(error) => error_status(error),
                EntriesError::Bundle(error) => corrupt(&error.to_string()).into(),
            })?;
        let entries = entries.ok_or_else(|| not_in_log("the log has no such entries"))?.to_vec();
        Ok(Response::new(pb::GetEntriesResponse { entries }))
    }

    async fn prove_inclusion(
        &self,
        request: Request<pb::ProveInclusionRequest>,
    ) -> Result<Response<pb::ProveInclusionResponse>, Status> {
        let pb::ProveInclusionRequest { log, position, size } = request.into_inner();
        let shown = self.published(&log)?;
        let size = size_within(size, &shown)?;
        let wanted =
            tiles_for_inclusion(position, size).map_err(|error| not_in_log(&error.to_string()))?;
        let _turn = self.read_permit().await?;
        let proof = async {
            let trees = &self.notary.shared.tiles;
            let tiles = trees.authenticated(shown.head(), &shown.edge, wanted).await?;
            Ok(prove_inclusion(&tiles, position, size)?)
        };
        let proof = hashes(proof.await.map_err(error_status)?);
        let checkpoint = shown.note.to_string();
        Ok(Response::new(pb::ProveInclusionResponse { size, proof, checkpoint }))
    }

    async fn prove_consistency(
        &self,
        request: Request<pb::ProveConsistencyRequest>,
    ) -> Result<Response<pb::ProveConsistencyResponse>, Status> {
        let pb::ProveConsistencyRequest { log, old_size, new_size } = request.into_inner();
        let shown = self.published(&log)?;
        let new_size = size_within(new_size, &shown)?;
        let wanted = tiles_for_consistency(old_size, new_size)
            .map_err(|error| not_in_log(&error.to_string()))?;
        let _turn = self.read_permit().await?;
        let proof = async {
            let trees = &self.notary.shared.tiles;
            let tiles = trees.authenticated(shown.head(), &shown.edge, wanted).await?;
            Ok(prove_consistency(&tiles, old_size, new_size)?)
        };
        let proof = hashes(proof.await.map_err(error_status)?);
        let checkpoint = shown.note.to_string();
        Ok(Response::new(pb::ProveConsistencyResponse { new_size, proof, checkpoint }))
    }

    async fn read_records(
        &self,
        request: Request<pb::ReadRecordsRequest>,
    ) -> Result<Response<pb::ReadRecordsResponse>, Status> {
        let pb::ReadRecordsRequest { log, selections, cosigned } = request.into_inner();
        self.check_name(&log)?;
        if selections.is_empty() || selections.len() > MAX_SELECTIONS {
            return Err(BadField::new("selections", "name 1 to 16 of them").into());
        }
        let selections = selections.into_iter().map(parse_selection);
        let selections = selections.collect::<Result<Vec<_>, BadField>>()?;
        let shown = self
            .notary
            .wait_until_all_published()
            .await
            .map_err(error_status)?
            .ok_or_else(not_signed)?;
        let (shown, in_time) =
            if cosigned { self.notary.wait_until_cosigned(shown).await } else { (shown, true) };
        let proved = self.notary.prove(&shown, &selections).await.map_err(select_error_status)?;
        let log = pb::BundleLog {
            name: self.name.to_owned(),
            key: self.notary.key().to_string(),
            checkpoint: shown.note.to_string(),
            records: proved.events.iter().map(log_record).collect(),
            proof: hashes(proved.proof),
        };
        Ok(Response::new(pb::ReadRecordsResponse { log: Some(log), uncosigned: !in_time }))
    }
}

impl Api {
    fn check_name(&self, log: &str) -> Result<(), ApiRefusal> {
        if log == self.name {
            return Ok(());
        }
        Err(not_in_log("the logs are table, dealer and wallet").field("log"))
    }

    /// Checks that a caller may read leaf records: those of this log may be for auditors alone.
    fn check_reader(&self, role: Option<Role>) -> Result<(), ApiRefusal> {
        match self.entries {
            EntryReaders::Everybody => Ok(()),
            EntryReaders::Auditors if role == Some(Role::Auditor) => Ok(()),
            EntryReaders::Auditors => {
                let text = "the leaf records of this log are for auditors";
                Err(api_refusal(ErrorReason::RoleNotAllowed, text))
            }
        }
    }

    /// Waits for a permit to read from the store.
    async fn read_permit(&self) -> Result<Permit, ApiRefusal> {
        self.notary.shared.reads.acquire().await.ok_or_else(busy)
    }

    fn published(&self, log: &str) -> Result<Arc<PublishedTree>, ApiRefusal> {
        self.check_name(log)?;
        self.notary.published().ok_or_else(not_signed)
    }
}

impl Notary {
    /// Returns the first `width` hashes of a tile, or `None` if the tile is narrower in the
    /// published tree.
    pub(crate) async fn tile(
        &self,
        published: &PublishedTree,
        row: Row,
        index: u64,
        width: u16,
    ) -> Result<Option<Bytes>, NotaryError> {
        let there = TileId::at(row, index, published.head().size);
        let Some(tile) = there.filter(|tile| tile.width() >= width) else { return Ok(None) };
        let bytes = usize::from(width) * size_of::<Hash>();
        if !tile.is_full() {
            let partial = published.edge.partial().into_iter().find(|(edge, _)| *edge == tile);
            return Ok(partial.map(|(_, hashes)| Bytes::from(hashes).slice(..bytes)));
        }
        let Some(place) = crate::tile_store::place(tile) else { return Ok(None) };
        let found = self.shared.tiles.full_tiles([place]).await?;
        let hashes = found.get(&place).ok_or(NotaryError::MissingTile(tile))?;
        Ok(Some(hashes.slice(..bytes)))
    }
}

fn parse_width(width: u32) -> Result<u16, BadField> {
    let width = if width == 0 { TILE_WIDTH } else { u16::try_from(width).unwrap_or(u16::MAX) };
    if width <= TILE_WIDTH { Ok(width) } else { Err(BadField::new("width", "at most 256")) }
}

/// Checks a requested size against the published checkpoint. 0 stands for the newest.
fn size_within(size: u64, published: &PublishedTree) -> Result<u64, ApiRefusal> {
    let newest = published.head().size;
    if size > newest {
        return Err(not_in_log(&format!("the newest checkpoint has {newest} records")));
    }
    Ok(if size == 0 { newest } else { size })
}

fn parse_selection(selection: pb::RecordSelection) -> Result<Selection, BadField> {
    let pb::RecordSelection { by } = selection;
    match by.ok_or_else(|| BadField::new("selections.by", "say what is wanted"))? {
        By::Stream(pb::StreamSelection { stream_id, from_version, limit, before_position }) => {
            let stream = wire::field::id::<StreamId>("selections.stream.stream_id", &stream_id)?;
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            // One more than is allowed, so that a longer stream is refused.
            let limit = if limit == 0 { MAX_RECORDS + 1 } else { limit };
            if before_position > 0 {
                let position = Position(before_position);
                return Ok(Selection::StreamBefore { stream, position, limit });
            }
            Ok(Selection::StreamFrom { stream, version: Version(from_version.max(1)), limit })
        }
        By::Positions(pb::PositionSelection { first, count }) => {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            if count == 0 {
                return Err(BadField::new("selections.positions.count", "at least 1"));
            }
            Ok(Selection::Positions { first: Position(first), count })
        }
        By::Request(pb::RequestSelection { request_id, actor }) => {
            let request =
                wire::field::id::<RequestId>("selections.request.request_id", &request_id)?;
            if actor.is_empty() {
                let problem = "missing: class and subject, such as service:table";
                return Err(BadField::new("selections.request.actor", problem));
            }
            Ok(Selection::Request { actor, request })
        }
    }
}

fn hashes(of: Vec<Hash>) -> Vec<Vec<u8>> {
    of.into_iter().map(Vec::from).collect()
}

fn not_in_log(message: &str) -> ApiRefusal {
    api_refusal(ErrorReason::NotInLog, message)
}

fn not_signed() -> ApiRefusal {
    api_refusal(
        ErrorReason::NotSigned,
        "the log has not signed this yet: try again in a moment; where it stays so, tell the operator",
    )
}

fn busy() -> ApiRefusal {
    let text = "too many read this log at once: try again in a moment";
    api_refusal(ErrorReason::Overloaded, text)
}

fn corrupt(message: &str) -> ApiRefusal {
    api_refusal(ErrorReason::Corrupt, message)
}

fn error_status(trouble: NotaryError) -> Status {
    match trouble {
        NotaryError::Unavailable(_) => unavailable("the log's store does not answer").into(),
        NotaryError::Superseded => not_signed().into(),
        NotaryError::MissingTile(tile) => corrupt(&format!("{tile} is not in the store")).into(),
        NotaryError::Busy => busy().into(),
        NotaryError::Archive(MountError::Unavailable(_)) => {
            unavailable("the storage of the log's archives does not answer").into()
        }
        NotaryError::Archive(error @ MountError::Damaged { .. }) => {
            corrupt(&error.to_string()).into()
        }
        NotaryError::Fault(fault) => {
            if let Fault::Archived { size } = *fault {
                let message =
                    format!("records before position {size} are archived: have them restored");
                return not_in_log(&message).into();
            }
            corrupt(&fault.to_string()).into()
        }
    }
}

fn select_error_status(error: SelectError) -> Status {
    match error {
        SelectError::TooMany => BadField::new("selections", error.to_string()).into(),
        SelectError::Notary(error) => error_status(error),
    }
}
