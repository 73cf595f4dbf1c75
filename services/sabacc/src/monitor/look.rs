//! One look at a log: its newest checkpoint, everything that was seen before against it, and each
//! new leaf record against the signed tree.
//!
//! Records come in segments. The signed tree's own tiles give its root at the segment's beginning,
//! which must be the tree that is kept, and at its end, which must be the tree with the new
//! records. So a false record is found after one segment, whatever size a log claims.

use anyhow::Context as _;
use audit::monitor::checkpoint::{Contradiction, LogKeys, Signed, compare};
use audit::monitor::{FollowedLog, Monitor};
use merkle::record::RECORD_LEN;
use merkle::{Row, TILE_WIDTH, TileId, Tiles, TreeHead, root_at, tiles_for_consistency};

use super::evidence::Finding;
use super::files::{RoomFiles, Unreachable};
use super::pursuit::Pursuit;
use super::state::LogState;

/// Most bundles in a segment.
const SEGMENT_BUNDLES: u64 = 64;
pub(super) const BUNDLE_RECORDS: u64 = TILE_WIDTH as u64;

/// Reason why a look does not end well.
#[derive(Debug)]
pub(super) enum Trouble {
    Unreachable(Unreachable),
    /// The room contradicts itself, or what it serves contradicts what it signed.
    Found(Box<Finding>),
    /// The monitor itself fails.
    Own(anyhow::Error),
}

impl From<Unreachable> for Trouble {
    fn from(error: Unreachable) -> Trouble {
        Trouble::Unreachable(error)
    }
}

impl From<anyhow::Error> for Trouble {
    fn from(error: anyhow::Error) -> Trouble {
        Trouble::Own(error)
    }
}

impl From<Finding> for Trouble {
    fn from(finding: Finding) -> Trouble {
        Trouble::Found(Box::new(finding))
    }
}

/// One log at a room, and what is kept of it.
pub(super) struct Look<'a> {
    pub(super) log: FollowedLog,
    pub(super) keys: &'a LogKeys,
    pub(super) files: &'a RoomFiles,
    pub(super) state: &'a mut LogState,
    pub(super) monitor: &'a mut Monitor,
}

impl Look<'_> {
    /// Looks once. Returns the tree that the room has signed, all of which is read then.
    pub(super) async fn run(&mut self) -> Result<TreeHead, Trouble> {
        let note = self.files.checkpoint(self.log).await?;
        let shown = self
            .keys
            .open(&note)
            .map_err(|error| Unreachable(format!("log/{}/checkpoint: {error}", self.log)))?;
        self.compare_with_seen(&shown)?;
        self.state.keep(&shown)?;
        while self.known().size < shown.head.size {
            self.read_segment(&shown).await?;
        }
        if self.known().root != shown.head.root {
            let size = shown.head.size;
            return Err(self.contradiction(&shown, Contradiction::Fork { size }).into());
        }
        Ok(shown.head)
    }

    fn known(&self) -> TreeHead {
        self.monitor.head(self.log)
    }

    /// Compares a checkpoint with every one that is kept, as far as two alone tell.
    fn compare_with_seen(&self, shown: &Signed) -> Result<(), Trouble> {
        for seen in self.state.notes().rev() {
            compare(seen.head, shown.head).map_err(|how| two_notes(self.log, how, seen, shown))?;
        }
        let known = self.known();
        Ok(compare(known, shown.head).map_err(|how| self.contradiction(shown, how))?)
    }

    /// A contradiction between a checkpoint and the records that are kept, which the smallest kept
    /// note at or above them vouches for.
    fn contradiction(&self, shown: &Signed, how: Contradiction) -> Finding {
        let size = self.known().size;
        let mut notes = self.state.notes();
        let seen = notes.find(|note| note.head.size >= size && note.head != shown.head);
        match seen {
            Some(seen) => two_notes(self.log, how, seen, shown),
            None => one_note(self.log, &how.to_string(), shown),
        }
    }

    /// Reads the next segment, compares it with the signed tree, and keeps it.
    async fn read_segment(&mut self, shown: &Signed) -> Result<(), Trouble> {
        let (known, end) = (self.known(), self.segment_end(shown.head.size));
        let roots = self.signed_roots(shown, known.size, end).await?;
        if roots.begin != known.root {
            let (old, new) = (known.size, shown.head.size);
            let found = self.contradiction(shown, Contradiction::Inconsistent { old, new });
            return Err(found.pursued(shown, Pursuit::Difference).into());
        }
        let records = self.read_leaves(known.size, end, shown).await?;
        let mut grown = self.monitor.tree(self.log).clone();
        records.iter().for_each(|record| grown.push(record));
        if grown.root() != roots.end {
            let words = "the leaf records that it serves are not those of the tree that it signed";
            let pursuit = Pursuit::Served { begin: known.size, records };
            let found = one_note(self.log, words, shown).unsigned();
            return Err(found.pursued(shown, pursuit).into());
        }
        self.compare_with_passed(shown, end, roots.end)?;
        self.state.append(&records, TreeHead { size: end, root: roots.end })?;
        for record in &records {
            if let Err(violation) = self.monitor.push(self.log, record) {
                let positions = violation.earlier().into_iter().chain([violation.position]);
                let pursuit = Pursuit::Records(positions.collect());
                let found = one_note(self.log, &violation.to_string(), shown);
                return Err(found.pursued(shown, pursuit).into());
            }
        }
        Ok(())
    }

    /// End of the next segment: at most so many bundles, and no further than the next note.
    fn segment_end(&self, size: u64) -> u64 {
        let known = self.known().size;
        let most = (known / BUNDLE_RECORDS).saturating_add(SEGMENT_BUNDLES) * BUNDLE_RECORDS;
        let mut notes = self.state.notes().map(|note| note.head.size);
        let note = notes.find(|size| *size > known).unwrap_or(size);
        most.min(note).min(size)
    }

    /// Compares the notes of this size that were seen before with the tree that is shown now.
    fn compare_with_passed(
        &self,
        shown: &Signed,
        size: u64,
        root: [u8; 32],
    ) -> Result<(), Trouble> {
        let mut passed = self.state.notes().filter(|note| note.head.size == size);
        match passed.find(|note| note.head.root != root) {
            Some(note) => {
                let how = Contradiction::Inconsistent { old: size, new: shown.head.size };
                Err(two_notes(self.log, how, note, shown).into())
            }
            None => Ok(()),
        }
    }

    /// Returns the roots at two sizes of the signed tree, from its own tiles.
    async fn signed_roots(
        &self,
        shown: &Signed,
        begin: u64,
        end: u64,
    ) -> Result<SignedRoots, Trouble> {
        let size = shown.head.size;
        let mut wanted = tiles_for_consistency(begin, size).context("a smaller tree")?;
        wanted.extend(tiles_for_consistency(end, size).context("a smaller tree")?);
        let tiles = self.files.tiles(self.log, wanted).await?;
        let tiles = Tiles::authenticate(shown.head, tiles).map_err(|error| {
            let why = format!("its tiles are not those of the tree that it signed: {error}");
            one_note(self.log, &why, shown).unsigned()
        })?;
        let root = |size| root_at(&tiles, size).context("the tiles of a tree have its roots");
        Ok(SignedRoots { begin: root(begin)?, end: root(end)? })
    }

    /// Reads records `begin..end`.
    async fn read_leaves(
        &self,
        begin: u64,
        end: u64,
        shown: &Signed,
    ) -> Result<Vec<[u8; RECORD_LEN]>, Trouble> {
        let mut records = Vec::new();
        for index in begin / BUNDLE_RECORDS..end.div_ceil(BUNDLE_RECORDS) {
            let tile = TileId::at(Row::Entries, index, shown.head.size).context("a bundle")?;
            let leaves = self.files.leaves(self.log, tile).await?;
            let placed = (index * BUNDLE_RECORDS..).zip(leaves);
            let wanted = placed.filter(|(position, _)| (begin..end).contains(position));
            records.extend(wanted.map(|(_, leaf)| leaf));
        }
        Ok(records)
    }
}

/// Roots of a signed tree at two sizes.
struct SignedRoots {
    begin: [u8; 32],
    end: [u8; 32],
}

/// A finding with both signed texts.
pub(super) fn two_notes(
    log: FollowedLog,
    how: Contradiction,
    seen: &Signed,
    shown: &Signed,
) -> Finding {
    Finding::new(log, format!("THE {}'S LOG CONTRADICTS ITSELF: {how}", log.name().to_uppercase()))
        .with("seen.checkpoint", seen.note.as_bytes())
        .with("shown.checkpoint", shown.note.as_bytes())
}

/// A finding with one signed text.
fn one_note(log: FollowedLog, why: &str, shown: &Signed) -> Finding {
    Finding::new(
        log,
        format!("THE {}'S LOG IS NOT AS IT SHOULD BE: {why}", log.name().to_uppercase()),
    )
    .with("shown.checkpoint", shown.note.as_bytes())
}
