//! Signed checkpoints of a log, and the proofs of its records, from its store.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use audit::bundle::ProvedLog;
use audit::log_event::LogEvent;
use eventlog::archive::{ArchiveStorage, MountedArchives};
use eventlog::{CheckpointStore as _, Event, PgStore, Position, Reader, SignedCheckpoint};
use merkle::note::VerifierKey;
use merkle::{Checkpoint, Row, TILE_WIDTH, TileId, Tiles, Tree, TreeHead, leaf_hash, leaves_root};
use merkle::{prove_consistency, tiles_for_consistency, tiles_for_records, verify_consistency};

/// Checkpoints read at a time.
const PAGE: usize = 1000;

/// Log to read, and the checkpoints signed over it.
pub(crate) struct SignedLog {
    pub(crate) reader: Reader,
    pub(crate) key: VerifierKey,
    store: Arc<PgStore>,
}

/// Outcome of comparing a tree with the one that was signed last.
pub(crate) enum Prefix {
    /// The signed tree begins with its records.
    Signed,
    /// The newest checkpoint has fewer records.
    NotYetSigned { signed: u64 },
}

impl SignedLog {
    pub(crate) fn new(store: Arc<PgStore>, name: &str, key: VerifierKey) -> SignedLog {
        SignedLog { reader: Reader::new(Arc::clone(&store) as _, name), key, store }
    }

    /// The log with archives, from which removed records are read.
    pub(crate) fn with_archives(self, storage: ArchiveStorage) -> SignedLog {
        let archives = MountedArchives::new(storage, self.store.clone(), self.reader.name());
        SignedLog { reader: self.reader.with_archives(Arc::new(archives)), ..self }
    }

    /// Returns every signed checkpoint, in order.
    pub(crate) async fn checkpoints(&self) -> anyhow::Result<Vec<SignedCheckpoint>> {
        let mut all: Vec<SignedCheckpoint> = Vec::new();
        loop {
            let from = all.last().map_or(1, |last| last.number + 1);
            let page = self.store.checkpoints(self.reader.name(), from, PAGE).await?;
            let whole = page.len() == PAGE;
            all.extend(page);
            if !whole {
                return Ok(all);
            }
        }
    }

    /// Returns the newest checkpoint, if it covers all of these records.
    async fn covering_checkpoint(&self, records: &[LogEvent]) -> anyhow::Result<SignedCheckpoint> {
        let name = self.reader.name();
        let last = self.store.last_checkpoint(name).await?;
        let last =
            last.with_context(|| format!("the log {name} has not signed a checkpoint yet"))?;
        match records.last() {
            Some(record) if record.position.0 >= last.size => bail!(
                "the last checkpoint of the log {name} is of {} records, and the hand has one at \
                 position {}: the room signs again while it runs",
                last.size,
                record.position.0
            ),
            Some(_) | None => Ok(last),
        }
    }

    /// Proves that records are in the log.
    ///
    /// # Errors
    /// No checkpoint covers them yet, or the log's tree differs from the signed one.
    pub(crate) async fn prove(&self, records: Vec<LogEvent>) -> anyhow::Result<ProvedLog> {
        let SignedCheckpoint { size, note, .. } = self.covering_checkpoint(&records).await?;
        let head = Checkpoint::open(note.as_bytes(), &self.key, &[])?.checkpoint.head();
        anyhow::ensure!(head.size == size, "the checkpoint is not of the size it is stored under");
        let positions: Vec<u64> = records.iter().map(|event| event.position.0).collect();
        let tiles = self.tiles(head, &positions).await?;
        let key = self.key.to_string();
        Ok(ProvedLog::prove(key, note.to_string(), records, &tiles, size)?)
    }

    /// Checks that the log which was signed last begins with the records of this tree.
    ///
    /// # Errors
    /// Nothing is signed with this key, or other records are.
    pub(crate) async fn check_prefix(&self, tree: &Tree) -> anyhow::Result<Prefix> {
        let SignedCheckpoint { note, .. } = self.covering_checkpoint(&[]).await?;
        let head = Checkpoint::open(note.as_bytes(), &self.key, &[])?.checkpoint.head();
        if head.size < tree.size() {
            return Ok(Prefix::NotYetSigned { signed: head.size });
        }
        let mut tiles = Vec::new();
        for tile in tiles_for_consistency(tree.size(), head.size)? {
            tiles.push((tile, self.tile_content(tile).await?));
        }
        let tiles = Tiles::authenticate(head, tiles)?;
        let path = prove_consistency(&tiles, tree.size(), head.size)?;
        verify_consistency((tree.size(), &tree.root()), (head.size, &head.root), &path)?;
        Ok(Prefix::Signed)
    }

    async fn tiles(&self, head: TreeHead, positions: &[u64]) -> anyhow::Result<Tiles> {
        let mut tiles = Vec::new();
        for tile in tiles_for_records(positions, head.size)? {
            tiles.push((tile, self.tile_content(tile).await?));
        }
        let name = self.reader.name();
        Tiles::authenticate(head, tiles)
            .with_context(|| format!("the log {name} is not the one that was signed"))
    }

    async fn tile_content(&self, tile: TileId) -> anyhow::Result<Vec<u8>> {
        let Row::Hashes(level) = tile.row() else { bail!("a proof needs no records") };
        if tile.is_full() {
            return self.full_tile(level, tile.index()).await;
        }
        let (first, width) = (tile.index() * u64::from(TILE_WIDTH), u64::from(tile.width()));
        let Some(below) = level.checked_sub(1) else {
            let mut leaves = Vec::new();
            let add = |event: Event| {
                leaves.extend(leaf_hash(&event.record()));
                anyhow::Ok(())
            };
            self.reader.for_each(Position(first), tile.width().into(), add).await?;
            return Ok(leaves);
        };
        let mut roots = Vec::new();
        for index in first..first + width {
            let hashes = self.full_tile(below, index).await?;
            roots.extend(leaves_root(hashes.as_chunks::<32>().0));
        }
        Ok(roots)
    }

    async fn full_tile(&self, level: u8, index: u64) -> anyhow::Result<Vec<u8>> {
        let found = self.store.tiles(self.reader.name(), &[(level, index)]).await?;
        let tile = found.into_iter().next().with_context(|| {
            format!("tile {level}/{index} of the log {} is missing", self.reader.name())
        })?;
        Ok(tile.hashes.to_vec())
    }
}
