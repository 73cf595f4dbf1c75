//! C2SP `tlog-tiles`: names of the files that a tree is cut into.
//!
//! A tile holds up to 256 hashes of one level: at level 0 the leaf hashes, at level L the roots of
//! full tiles of level L - 1, each over 256^L records. An entry bundle holds the up to 256 records
//! themselves. A full tile never changes. At the right edge of a tree each level has one partial
//! tile, named with its width, and none where it would be empty.
//!
//! Paths are `tile/<level>/<index>` and `tile/entries/<index>`, with `.p/<width>` at the end of a
//! partial tile's path. The index is written in groups of three digits, each but the last with an
//! `x` before it: 1234067 is `x001/x234/067`.

use std::fmt;
use std::str::FromStr;

use crate::encoding::{MAX_NUMBER, parse_decimal};
use crate::hash::Hash;
use crate::nodes::{BuildError, Node, Nodes};

/// Number of hashes in a full tile, and of records in a full bundle.
pub const TILE_WIDTH: u16 = 256;
/// Highest level that a path can name. Trees of fewer than 2^63 records end at level 7.
pub const MAX_TILE_LEVEL: u8 = 63;

/// Row of tiles: the entry bundles, or the hash tiles of one level.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Row {
    /// Records, in the format of [`crate::bundle`].
    Entries,
    /// Hashes of 32 bytes each, of this level.
    Hashes(u8),
}

/// Name of a tile.
///
/// Invariant: the level is at most [`MAX_TILE_LEVEL`], the index at most 2^63 - 1, the width 1 to
/// [`TILE_WIDTH`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TileId {
    row: Row,
    index: u64,
    width: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("this is no path of a tile: tile/<level>/<index> or tile/entries/<index>, .p/<width>")]
pub struct InvalidTilePath;

impl TileId {
    /// Returns the tile as it is in a tree of `size` records, or `None` if it would be empty there.
    #[must_use]
    pub fn at(row: Row, index: u64, size: u64) -> Option<TileId> {
        let first = index.checked_mul(TILE_WIDTH.into())?;
        let filled = row.count_at(size).checked_sub(first).filter(|filled| *filled > 0)?;
        let width = u16::try_from(filled).map_or(TILE_WIDTH, |filled| filled.min(TILE_WIDTH));
        Some(TileId { row, index, width })
    }

    #[must_use]
    pub const fn row(self) -> Row {
        self.row
    }

    /// Returns the index of the tile in its row.
    #[must_use]
    pub const fn index(self) -> u64 {
        self.index
    }

    /// Returns the number of hashes or records in the tile.
    #[must_use]
    pub const fn width(self) -> u16 {
        self.width
    }

    #[must_use]
    pub const fn is_full(self) -> bool {
        self.width == TILE_WIDTH
    }

    /// Returns the tile that holds the root of this one, in a tree of `size` records. `None` if
    /// this tile is partial, or holds records.
    #[must_use]
    pub fn parent(self, size: u64) -> Option<TileId> {
        match self.row {
            Row::Hashes(level) if level < MAX_TILE_LEVEL && self.is_full() => {
                TileId::at(Row::Hashes(level + 1), self.index / u64::from(TILE_WIDTH), size)
            }
            Row::Hashes(_) | Row::Entries => None,
        }
    }

    /// Returns the partial tiles of hashes at the right edge of a tree, the lowest first. The root
    /// is computed from exactly their hashes.
    #[must_use]
    pub fn edge(size: u64) -> Vec<TileId> {
        let level = |level| {
            let row = Row::Hashes(level);
            TileId::at(row, row.count_at(size) / u64::from(TILE_WIDTH), size)
        };
        (0..=MAX_TILE_LEVEL).filter_map(level).collect()
    }

    /// Returns the tile that a full subtree is computed from, in a tree of `size` records, and the
    /// range of its hashes there: 2^(level mod 8) of them.
    pub(crate) fn containing(node: Node, size: u64) -> Option<(TileId, std::ops::Range<usize>)> {
        let height = node.level % 8;
        let first = node.index.checked_mul(1 << height)?;
        let (index, place) = (first / u64::from(TILE_WIDTH), first % u64::from(TILE_WIDTH));
        let start = usize::try_from(place).ok()?;
        let tile = TileId::at(Row::Hashes(node.level / 8), index, size)?;
        Some((tile, start..start + (1 << height)))
    }

    /// Returns the content of the file: the hashes of the tile, one after another.
    ///
    /// # Errors
    /// If `nodes` lacks one of the hashes, or the tile is a bundle, which [`crate::bundle`] writes.
    pub fn content(self, nodes: &impl Nodes) -> Result<Vec<u8>, BuildError> {
        let level = match self.row {
            Row::Hashes(level) => level.saturating_mul(8),
            Row::Entries => return Err(BuildError::Entries),
        };
        let first = self.index.saturating_mul(TILE_WIDTH.into());
        let mut content = Vec::with_capacity(usize::from(self.width) * size_of::<Hash>());
        for place in 0..u64::from(self.width) {
            let node = Node { level, index: first.saturating_add(place) };
            content.extend(nodes.node(node).ok_or(BuildError::Missing(node))?);
        }
        Ok(content)
    }
}

impl Row {
    /// Returns the number of hashes or records in the row, in a tree of `size` records.
    fn count_at(self, size: u64) -> u64 {
        match self {
            Row::Entries => size,
            Row::Hashes(level) => size.checked_shr(8 * u32::from(level)).unwrap_or(0),
        }
    }
}

/// Returns the tiles and bundles that a tree of `new` records has and one of `old` records has not:
/// those to write after it has grown. Bundles come first, then each level from left to right.
pub fn tiles_between(old: u64, new: u64) -> impl Iterator<Item = TileId> {
    let rows = std::iter::once(Row::Entries).chain((0..=7).map(Row::Hashes));
    rows.flat_map(move |row| {
        let width = u64::from(TILE_WIDTH);
        let (was, is) = (row.count_at(old), row.count_at(new));
        let from = if was < is { was / width } else { is.div_ceil(width) };
        (from..is.div_ceil(width)).filter_map(move |index| TileId::at(row, index, new))
    })
}

/// Formats the path of the file, relative to the log's address.
impl fmt::Display for TileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            Row::Entries => f.write_str("tile/entries/")?,
            Row::Hashes(level) => write!(f, "tile/{level}/")?,
        }
        let mut groups = vec![self.index % 1000];
        let mut rest = self.index / 1000;
        while rest > 0 {
            groups.push(rest % 1000);
            rest /= 1000;
        }
        let (last, before) = (groups[0], &groups[1..]);
        before.iter().rev().try_for_each(|group| write!(f, "x{group:03}/"))?;
        write!(f, "{last:03}")?;
        if self.is_full() { Ok(()) } else { write!(f, ".p/{}", self.width) }
    }
}

/// Parses exactly the paths that `Display` writes.
impl FromStr for TileId {
    type Err = InvalidTilePath;

    fn from_str(path: &str) -> Result<TileId, InvalidTilePath> {
        let (row, rest) = path
            .strip_prefix("tile/")
            .and_then(|rest| rest.split_once('/'))
            .ok_or(InvalidTilePath)?;
        let row = match row {
            "entries" => Row::Entries,
            level => Row::Hashes(parse_bounded(level, MAX_TILE_LEVEL.into())?),
        };
        let (index, width) = match rest.split_once(".p/") {
            Some((index, width)) => (index, parse_bounded(width, TILE_WIDTH - 1)?),
            None => (rest, TILE_WIDTH),
        };
        let mut number = 0_u64;
        for group in index.split('/') {
            let digits = group.strip_prefix('x').unwrap_or(group);
            let digits: u64 = digits.parse().map_err(|_| InvalidTilePath)?;
            number = number
                .checked_mul(1000)
                .and_then(|n| n.checked_add(digits))
                .ok_or(InvalidTilePath)?;
        }
        let tile = TileId { row, index: number, width };
        // One tile has one path: other spellings that the loop above accepts are refused here.
        if number <= MAX_NUMBER && width > 0 && tile.to_string() == path {
            Ok(tile)
        } else {
            Err(InvalidTilePath)
        }
    }
}

fn parse_bounded<N: TryFrom<u64>>(text: &str, most: u16) -> Result<N, InvalidTilePath> {
    parse_decimal(text)
        .filter(|number| *number <= u64::from(most))
        .and_then(|number| N::try_from(number).ok())
        .ok_or(InvalidTilePath)
}
