//! The files under `vectors/`, which a program over Go's own packages reads, made again and
//! compared byte for byte.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use merkle::{
    Hash, Row, TileId, bundle, prove_consistency, tiles_for_consistency, tiles_for_inclusion,
};

use crate::sample::{LOG, log_key, note, proof, witness_key};

const SIZES: [u64; 6] = [1, 2, 255, 256, 257, 70_000];
const INDEXES: [u64; 8] = [0, 1, 127, 254, 255, 256, 34_567, 69_999];

/// Formats a hash on each line, in base64, like a `tlog-proof`.
fn lines(hashes: &[Hash]) -> Vec<u8> {
    use base64ct::Encoding as _;
    hashes
        .iter()
        .map(|hash| base64ct::Base64::encode_string(hash) + "\n")
        .collect::<String>()
        .into()
}

fn bundle_beside(tile: TileId, size: u64) -> Option<(String, Vec<u8>)> {
    let entries = TileId::at(Row::Entries, tile.index(), size)?;
    let first = usize::try_from(entries.index() * 256).ok()?;
    let records = &LOG.records[first..first + usize::from(entries.width())];
    Some((entries.to_string(), bundle::encode(records).unwrap()))
}

fn files() -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let keys = format!("{}\n{}\n", log_key().public(), witness_key().public());
    files.insert("keys".to_owned(), keys.into_bytes());
    let mut tiles = BTreeSet::new();
    for size in SIZES {
        files.insert(format!("checkpoint/{size}"), note(size).to_string().into());
        for index in INDEXES.into_iter().filter(|index| *index < size) {
            let text = proof(index, size).to_string();
            files.insert(format!("inclusion/{index}-of-{size}"), text.into());
            let listed = tiles_for_inclusion(index, size).unwrap();
            let leaf = TileId::at(Row::Hashes(0), index / 256, size).unwrap();
            files.extend(bundle_beside(leaf, size));
            tiles.extend(listed);
        }
        for old in SIZES.into_iter().filter(|old| *old < size) {
            let hashes = prove_consistency(&LOG.leaves, old, size).unwrap();
            files.insert(format!("consistency/{old}-to-{size}"), lines(&hashes));
            tiles.extend(tiles_for_consistency(old, size).unwrap());
        }
    }
    files.extend(
        tiles.into_iter().map(|tile| (tile.to_string(), tile.content(&LOG.leaves).unwrap())),
    );
    files
}

fn collect_files(folder: &Path, under: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder.join(under)).unwrap() {
        let path = under.join(entry.unwrap().file_name());
        if folder.join(&path).is_dir() {
            collect_files(folder, &path, files);
        } else {
            let content = std::fs::read(folder.join(&path)).unwrap();
            files.insert(path.to_str().unwrap().to_owned(), content);
        }
    }
}

/// New files that differ are written below the build folder, to be looked at and copied.
#[test]
fn the_committed_log_is_what_is_made_today() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/log");
    let (mut committed, made) = (BTreeMap::new(), files());
    if folder.is_dir() {
        collect_files(&folder, Path::new(""), &mut committed);
    }
    let names: BTreeSet<&String> = committed.keys().chain(made.keys()).collect();
    let other: Vec<_> =
        names.into_iter().filter(|name| committed.get(*name) != made.get(*name)).collect();
    if other.is_empty() {
        return;
    }
    let left = Path::new(env!("CARGO_TARGET_TMPDIR")).join("log");
    for (name, content) in &made {
        let path = left.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    panic!("{other:?} differ from {}; compare and copy {}", folder.display(), left.display());
}
