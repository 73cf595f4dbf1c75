//! Requests to a room once something was found: the records concerned, with their proofs.
//! The finding stands without it, so a room gains nothing by being silent now.

use std::time::Duration;

use anyhow::Context as _;
use audit::monitor::checkpoint::Signed;
use merkle::note::Note;
use merkle::record::RECORD_LEN;
use merkle::{LogProof, Node, Nodes as _, Tiles, leaf_hash, prove_inclusion, tiles_for_inclusion};

use super::difference;
use super::evidence::Finding;
use super::files::{RoomFiles, Unreachable};
use super::look::BUNDLE_RECORDS;
use super::state::LogState;

/// Longest time for it.
const LONGEST: Duration = Duration::from_secs(30);

/// Records that are asked for.
#[derive(Debug)]
pub(super) enum Pursuit {
    /// The first record of the signed tree that is not as it is kept.
    Difference,
    /// The first of these records, from position `begin` on, that is not in the signed tree.
    Served { begin: u64, records: Vec<[u8; RECORD_LEN]> },
    /// Proofs of kept records.
    Records(Vec<u64>),
}

/// Completes a finding as far as the room lets it.
pub(super) async fn complete(files: &RoomFiles, state: &LogState, mut found: Finding) -> Finding {
    let Some((shown, pursuit)) = found.pursuit.take() else { return found };
    let pursuer = Pursuer { files, state, shown: &shown };
    let asked = async {
        match pursuit {
            Pursuit::Difference => pursuer.difference(&mut found).await,
            Pursuit::Served { begin, records } => pursuer.served(&mut found, begin, &records).await,
            Pursuit::Records(positions) => pursuer.records(&mut found, &positions).await,
        }
    };
    let why = match tokio::time::timeout(LONGEST, asked).await {
        Ok(Ok(())) => return found,
        Ok(Err(error)) => format!("{error:#}"),
        Err(_) => "it does not answer in time".to_owned(),
    };
    found.words = format!("{} (what more it was asked for did not come: {why})", found.words);
    found
}

struct Pursuer<'a> {
    files: &'a RoomFiles,
    state: &'a LogState,
    shown: &'a Signed,
}

impl Pursuer<'_> {
    async fn difference(&self, found: &mut Finding) -> anyhow::Result<()> {
        let kept = self.state.leaves()?;
        let other = difference::find(self.files, found.log, self.shown.head, &kept).await;
        let other = other.map_err(anyhow::Error::msg)?;
        let position = other.position;
        found.words = format!(
            "{}; it has two records at position {position}, one of them version {} of stream {}",
            found.words, other.version, other.stream
        );
        let kept = usize::try_from(position).ok().and_then(|at| kept.get(at));
        found.add(&format!("kept-{position}.leaf"), *kept.context("no such record is kept")?);
        found.add(&format!("shown-{position}.leaf"), other.leaf);
        Ok(())
    }

    async fn served(
        &self,
        found: &mut Finding,
        begin: u64,
        records: &[[u8; RECORD_LEN]],
    ) -> anyhow::Result<()> {
        let served: Vec<(u64, &[u8; RECORD_LEN])> = (begin..).zip(records).collect();
        let bundle_of = |position: u64| position / BUNDLE_RECORDS;
        for bundle in served.chunk_by(|(a, _), (b, _)| bundle_of(*a) == bundle_of(*b)) {
            let tiles = self.tiles_of(found, bundle[0].0).await?;
            let is_signed = |index: u64, leaf: &[u8; RECORD_LEN]| {
                tiles.node(Node { level: 0, index }) == Some(leaf_hash(leaf))
            };
            if let Some((at, leaf)) = bundle.iter().find(|(index, leaf)| !is_signed(*index, leaf)) {
                found.words = format!("{}: the first is at position {at}", found.words);
                found.add(&format!("served-{at}.leaf"), **leaf);
                return Ok(());
            }
        }
        anyhow::bail!("each single one is in its tiles")
    }

    async fn records(&self, found: &mut Finding, positions: &[u64]) -> anyhow::Result<()> {
        let leaves = self.state.leaves()?;
        for position in positions {
            let leaf = usize::try_from(*position).ok().and_then(|at| leaves.get(at));
            let Some(leaf) = leaf else { continue };
            found.add(&format!("record-{position}.leaf"), *leaf);
        }
        for position in positions {
            let tiles = self.tiles_of(found, *position).await?;
            let path = prove_inclusion(&tiles, *position, self.shown.head.size)?;
            let note = Note::parse(self.shown.note.as_bytes())?;
            let proof = LogProof::new(*position, path, note)?;
            found.add(&format!("record-{position}.tlog-proof"), proof.to_string());
        }
        Ok(())
    }

    /// Returns the tiles of the signed tree in which a record's leaf hash lies.
    async fn tiles_of(&self, found: &Finding, position: u64) -> anyhow::Result<Tiles> {
        let wanted = tiles_for_inclusion(position, self.shown.head.size)?;
        let tiles = self.files.tiles(found.log, wanted).await;
        let tiles = tiles.map_err(|Unreachable(why)| anyhow::Error::msg(why))?;
        Ok(Tiles::authenticate(self.shown.head, tiles)?)
    }
}
