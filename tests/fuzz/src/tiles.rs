//! Bytes as tiles of a log's tree.

use merkle::{Leaves, Node, Nodes, Row, TileId, Tiles, TreeHead, leaf_hash, root_at};

use crate::bytes::Bytes;
use crate::mutate::mutate;

/// Most records of a tree, so that it has tiles of two levels.
const MAX_RECORDS: u64 = 600;

/// Makes the tiles of a tree and changes one of them, its records and its path. Returns whether the
/// tiles lead to the tree.
///
/// # Panics
/// Reading panics, or a hash is taken that is not of the tree.
#[must_use]
pub fn tiles(bytes: &[u8]) -> bool {
    let mut bytes = Bytes::new(bytes);
    let size = 1 + bytes.below(MAX_RECORDS);
    let record = |at: u64| at.to_be_bytes();
    let leaves: Leaves = (0..size).map(|at| leaf_hash(&record(at))).collect();
    let head = TreeHead { size, root: root_at(&leaves, size).expect("the whole tree") };
    let index = bytes.below(size);
    let names = merkle::tiles_for_inclusion(index, size).expect("a record of the tree");
    let content = |tile: &TileId| (*tile, tile.content(&leaves).expect("the whole tree"));
    let mut files: Vec<(TileId, Vec<u8>)> = names.iter().map(content).collect();
    let changed = bytes.index(files.len());
    mutate(&mut bytes, &mut files[changed].1, &["", "\0", "0123456789abcdef0123456789abcdef"]);
    let authenticated = Tiles::authenticate(head, files);
    if let Ok(tiles) = &authenticated {
        for index in 0..size {
            let node = Node { level: 0, index };
            assert!(tiles.node(node).is_none_or(|hash| Some(hash) == leaves.node(node)));
        }
    }
    entries(&mut bytes, &leaves, size);
    paths(&mut bytes, size);
    authenticated.is_ok()
}

/// The records of a tile, changed.
fn entries(bytes: &mut Bytes<'_>, leaves: &Leaves, size: u64) {
    let tile = TileId::at(Row::Entries, 0, size).expect("there is a record");
    let width = u64::from(tile.width());
    let records: Vec<[u8; 8]> = (0..width).map(u64::to_be_bytes).collect();
    let mut file = merkle::bundle::encode(&records).expect("short records");
    mutate(bytes, &mut file, &["", "\0", "\0\u{1}", "\0\u{8}"]);
    if let Ok(read) = merkle::bundle::parse(&file) {
        assert_eq!(merkle::bundle::encode(&read).as_ref(), Ok(&file), "records have one spelling");
    }
    let hash = |index| leaves.node(Node { level: 0, index }).expect("a leaf");
    let hashes: Vec<_> = (0..width).map(hash).collect();
    if let Ok(read) = merkle::bundle::parse_verified(&file, &hashes) {
        assert_eq!(read, records, "no other record has the hash");
    }
}

/// The path of a tile, changed.
fn paths(bytes: &mut Bytes<'_>, size: u64) {
    let edge = TileId::edge(size << bytes.below(40));
    let mut path = edge.last().map_or_else(String::new, ToString::to_string).into_bytes();
    mutate(
        bytes,
        &mut path,
        &["", "/", "x", "x000/", "000", "tile/", "entries/", ".p/", "0", "256", "+"],
    );
    let Ok(path) = String::from_utf8(path) else { return };
    if let Ok(tile) = path.parse::<TileId>() {
        assert_eq!(tile.to_string(), path, "a tile has one path");
    }
}
