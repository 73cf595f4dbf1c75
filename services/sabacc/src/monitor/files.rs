//! A room's log files at its public address, as an untrusted server gives them.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::bail;
use audit::monitor::FollowedLog;
use chassis::http_client::HttpClient;
use merkle::record::RECORD_LEN;
use merkle::{Row, TileId, bundle};
use tonic::transport::Uri;

/// Longest file that a log has: an entry bundle of 256 records of 65,535 bytes would be longer, one
/// of leaf records is not.
const MAX_FILE_BYTES: usize = 256 * (2 + RECORD_LEN);
/// Longest checkpoint with its cosignatures.
const MAX_CHECKPOINT_BYTES: usize = 64 << 10;
/// Attempts at a file that a server does not give for the moment.
const ATTEMPTS: u32 = 8;
/// Wait before the second attempt; doubled before each further one, up to a limit.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Reason why a log cannot be checked now. Nothing follows from it, and it may pass.
#[derive(Debug, Clone)]
pub(super) struct Unreachable(pub(super) String);

/// A room's public address.
pub(super) struct RoomFiles {
    client: HttpClient,
    base: Uri,
}

impl RoomFiles {
    /// # Errors
    /// The address is none of a web server.
    pub(super) fn new(address: &str) -> anyhow::Result<RoomFiles> {
        let base: Uri = match address.parse() {
            Ok(uri) => uri,
            Err(error) => bail!("{address} is no address: {error}"),
        };
        if !matches!(base.scheme_str(), Some("http" | "https")) || base.host().is_none() {
            bail!("{address} is no address of a room: write http://HOST:PORT or https://HOST:PORT");
        }
        Ok(RoomFiles { client: HttpClient::new(), base })
    }

    pub(super) async fn checkpoint(&self, log: FollowedLog) -> Result<Vec<u8>, Unreachable> {
        let path = format!("log/{log}/checkpoint");
        match self.get(&path, MAX_CHECKPOINT_BYTES).await? {
            Some(note) => Ok(note),
            None => Err(Unreachable(format!("{path}: there is no such file"))),
        }
    }

    /// Returns the content of tiles of hashes.
    pub(super) async fn tiles(
        &self,
        log: FollowedLog,
        wanted: impl IntoIterator<Item = TileId>,
    ) -> Result<BTreeMap<TileId, Vec<u8>>, Unreachable> {
        let mut tiles = BTreeMap::new();
        for tile in wanted {
            tiles.insert(tile, self.tile(log, tile).await?);
        }
        Ok(tiles)
    }

    /// Returns the leaf records of a bundle, as many as its name says.
    pub(super) async fn leaves(
        &self,
        log: FollowedLog,
        tile: TileId,
    ) -> Result<Vec<[u8; RECORD_LEN]>, Unreachable> {
        let content = self.tile(log, tile).await?;
        let odd = |why: String| Unreachable(format!("log/{log}/{tile}: {why}"));
        let records = bundle::parse(&content).map_err(|error| odd(error.to_string()))?;
        if records.len() != usize::from(tile.width()) {
            return Err(odd(format!("{} records where {} belong", records.len(), tile.width())));
        }
        let record = |record: &[u8]| {
            record.try_into().map_err(|_| odd(format!("a record of {} bytes", record.len())))
        };
        records.into_iter().map(record).collect()
    }

    /// Returns a tile or bundle; where it is partial and no longer there, the full one is cut.
    async fn tile(&self, log: FollowedLog, tile: TileId) -> Result<Vec<u8>, Unreachable> {
        if let Some(content) = self.get(&format!("log/{log}/{tile}"), MAX_FILE_BYTES).await? {
            return Ok(content);
        }
        let missing = || Unreachable(format!("log/{log}/{tile}: there is no such file"));
        let full = TileId::at(tile.row(), tile.index(), u64::MAX);
        let full = full.filter(|full| *full != tile).ok_or_else(missing)?;
        let content = self.get(&format!("log/{log}/{full}"), MAX_FILE_BYTES).await?;
        let mut content = content.ok_or_else(missing)?;
        let width = usize::from(tile.width());
        let bytes = match tile.row() {
            Row::Entries => width * (2 + RECORD_LEN),
            Row::Hashes(_) => width * 32,
        };
        if bytes > content.len() {
            return Err(missing());
        }
        content.truncate(bytes);
        Ok(content)
    }

    /// Gets a file; `None` if there is none. Waits where the server asks for it, or does not
    /// answer.
    async fn get(&self, path: &str, longest: usize) -> Result<Option<Vec<u8>>, Unreachable> {
        let mut wait = FIRST_WAIT;
        for left in (0..ATTEMPTS).rev() {
            let why = match self.client.get(&self.base, path).await {
                Ok(answer) if answer.status == 200 && answer.body.len() <= longest => {
                    return Ok(Some(answer.body.to_vec()));
                }
                Ok(answer) if answer.status == 200 => {
                    let bytes = answer.body.len();
                    return Err(Unreachable(format!("{path}: {bytes} bytes, {longest} at most")));
                }
                Ok(answer) if answer.status == 404 => return Ok(None),
                Ok(answer) => format!("the server answers {}", answer.status),
                Err(error) => error.to_string(),
            };
            if left == 0 {
                return Err(Unreachable(format!("{path}: {why}")));
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
        Err(Unreachable(format!("{path}: it was not asked for")))
    }
}
