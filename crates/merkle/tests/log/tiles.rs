//! The log in tiles, and proofs that are made from them alone.

use std::collections::{BTreeMap, BTreeSet};

use merkle::{
    BuildError, Edge, InvalidTilePath, Node, Nodes, Row, TileId, Tiles, TilesError, bundle,
    leaf_hash, prove_consistency, prove_inclusion, root_at, tiles_between, tiles_for_consistency,
    tiles_for_inclusion,
};

use crate::sample::{LOG, head};

fn with_content(tiles: impl IntoIterator<Item = TileId>) -> Vec<(TileId, Vec<u8>)> {
    let content = |tile: TileId| (tile, tile.content(&LOG.leaves).unwrap());
    tiles.into_iter().map(content).collect()
}

fn hash_tiles(size: u64) -> Vec<TileId> {
    tiles_between(0, size).filter(|tile| tile.row() != Row::Entries).collect()
}

fn paths(tiles: impl IntoIterator<Item = TileId>) -> Vec<String> {
    tiles.into_iter().map(|tile| tile.to_string()).collect()
}

#[test]
fn the_sizes_of_the_specification() {
    let mut rows: BTreeMap<Row, (u32, Vec<u16>)> = BTreeMap::new();
    for tile in tiles_between(0, 70_000) {
        let (full, partial) = rows.entry(tile.row()).or_default();
        if tile.is_full() { *full += 1 } else { partial.push(tile.width()) }
    }
    let expected = [
        (Row::Entries, (273, vec![112])),
        (Row::Hashes(0), (273, vec![112])),
        (Row::Hashes(1), (1, vec![17])),
        (Row::Hashes(2), (0, vec![1])),
    ];
    assert_eq!(rows, BTreeMap::from(expected));
    let all = ["tile/entries/000", "tile/0/000", "tile/1/000.p/1"];
    assert_eq!(paths(tiles_between(0, 256)), all);
    assert_eq!(paths(TileId::edge(256)), ["tile/1/000.p/1"]);
    let edge = ["tile/0/273.p/112", "tile/1/001.p/17", "tile/2/000.p/1"];
    assert_eq!(paths(TileId::edge(70_000)), edge);
    assert_eq!(paths(TileId::edge(0)), [""; 0]);
}

#[test]
fn what_a_grown_tree_adds() {
    assert_eq!(tiles_between(70_000, 70_000).count(), 0);
    for old in (0..1200).step_by(37) {
        for new in (old..1300).step_by(41) {
            let before: BTreeSet<TileId> = tiles_between(0, old).collect();
            let expected: BTreeSet<TileId> =
                tiles_between(0, new).filter(|tile| !before.contains(tile)).collect();
            let added: Vec<TileId> = tiles_between(old, new).collect();
            assert_eq!(added.len(), expected.len(), "{old} to {new}");
            assert_eq!(added.into_iter().collect::<BTreeSet<_>>(), expected, "{old} to {new}");
        }
    }
    let last: Vec<TileId> = tiles_between((1 << 63) - 2, (1 << 63) - 1).collect();
    assert_eq!(last.len(), 2);
}

#[test]
fn a_tile_has_one_path() {
    let index = |index| TileId::at(Row::Hashes(0), index, u64::MAX).unwrap().to_string();
    assert_eq!(index(0), "tile/0/000");
    assert_eq!(index(1_234_067), "tile/0/x001/x234/067");
    assert_eq!(index(1000), "tile/0/x001/000");
    for tile in tiles_between(0, 70_000).chain(TileId::edge(u64::MAX)) {
        assert_eq!(tile.to_string().parse(), Ok(tile));
    }
    assert_eq!("tile/63/x009/x223/x372/x036/x854/x775/807".parse::<TileId>().map(|_| ()), Ok(()));
    for wrong in [
        "",
        "tile",
        "tile/0",
        "tile/0/",
        "tile/0/0",
        "tile/0/00",
        "tile/0/0000",
        "tile/00/000",
        "tile/64/000",
        "tile/-1/000",
        "tile/0/x000/000",
        "tile/0/001/000",
        "tile/0/x001",
        "tile/0/x001/x000",
        "tile/0/000.p/0",
        "tile/0/000.p/256",
        "tile/0/000.p/01",
        "tile/0/000.p/",
        "tile/0/000.p",
        "tile/0/000/",
        "/tile/0/000",
        "tile/data/000",
        "tile/0/+01",
        "tile/0/x+01/000",
        "tile/8/0/000",
        "tile/entries/000.p/300",
        "tile/0/x009/x223/x372/x036/x854/x775/808",
        "tile/0/x999/x999/x999/x999/x999/x999/x999/999",
    ] {
        assert_eq!(wrong.parse::<TileId>(), Err(InvalidTilePath), "{wrong}");
    }
}

/// Checks that proofs from tiles equal proofs from memory, and that the listed tiles suffice for
/// them.
fn check(size: u64, index: u64, old: u64) {
    let listed = with_content(tiles_for_inclusion(index, size).unwrap());
    let tiles = Tiles::authenticate(head(size), listed).unwrap();
    let proof = prove_inclusion(&LOG.leaves, index, size);
    assert_eq!(prove_inclusion(&tiles, index, size), proof, "{index} of {size}");
    let leaf = Node { level: 0, index };
    assert_eq!(tiles.node(leaf), LOG.leaves.node(leaf), "{index} of {size}");

    let listed = with_content(tiles_for_consistency(old, size).unwrap());
    let tiles = Tiles::authenticate(head(size), listed).unwrap();
    let proof = prove_consistency(&LOG.leaves, old, size);
    assert_eq!(prove_consistency(&tiles, old, size), proof, "{old} to {size}");
    assert_eq!(root_at(&tiles, old), Ok(head(old).root), "{old} of {size}");
}

#[test]
fn proofs_come_from_the_tiles_that_are_listed() {
    for size in (1..=300).chain([511, 512, 513]) {
        for index in [0, size / 3, size / 2, size - 1] {
            check(size, index, size - index);
        }
    }
    for size in [65_535, 65_536, 65_537, 65_792, 70_000] {
        for index in [0, 255, 256, 34_567, 65_279, size - 1] {
            check(size, index, index + 1);
        }
    }
}

#[test]
fn tiles_of_a_grown_log_serve_its_older_trees() {
    for (old, new) in [(1, 2), (5, 300), (255, 256), (300, 301), (257, 70_000)] {
        let wider = hash_tiles(old)
            .into_iter()
            .map(|tile| TileId::at(tile.row(), tile.index(), new).unwrap());
        let tiles = Tiles::authenticate(head(old), with_content(wider)).unwrap();
        assert_eq!(root_at(&tiles, old), Ok(head(old).root));
        assert!(root_at(&tiles, old + 1).is_err(), "{old} of {new}: no more than was signed");
        let narrower = with_content(hash_tiles(old));
        assert!(matches!(
            Tiles::authenticate(head(new), narrower),
            Err(TilesError::NotInTree(_) | TilesError::Edge(_))
        ));
    }
}

#[test]
fn a_growing_edge_writes_the_same_tiles() {
    let none: [(TileId, Vec<u8>); 0] = [];
    let (mut edge, mut full) = (Edge::new(), BTreeMap::new());
    assert_eq!(edge, Edge::resume(&Tiles::authenticate(head(0), none).unwrap()));
    for (n, record) in (1..).zip(&LOG.records) {
        full.extend(edge.push(leaf_hash(record)));
        if n > 600 && !(65_530..65_540).contains(&n) && n != 70_000 {
            continue;
        }
        assert_eq!(edge.size(), n);
        assert_eq!(edge.head(), head(n));
        assert_eq!(edge.partial(), with_content(TileId::edge(n)), "{n}");
        let tiles = Tiles::authenticate(head(n), edge.partial()).unwrap();
        assert_eq!(Edge::resume(&tiles), edge, "{n}");
    }
    let expected = with_content(hash_tiles(70_000)).into_iter().filter(|(tile, _)| tile.is_full());
    assert_eq!(full, expected.collect());
}

#[test]
fn tiles_that_are_missing_are_named() {
    let tiles = hash_tiles(70_000);
    for missing in TileId::edge(70_000) {
        let rest = tiles.iter().copied().filter(|tile| *tile != missing);
        let error = Tiles::authenticate(head(70_000), with_content(rest)).unwrap_err();
        assert!(matches!(error, TilesError::Edge(BuildError::Missing(_))), "{error}");
    }
    let above: TileId = "tile/1/000".parse().unwrap();
    let rest = tiles.into_iter().filter(|tile| *tile != above);
    let error = Tiles::authenticate(head(70_000), with_content(rest)).unwrap_err();
    assert_eq!(error, TilesError::MissingParent(above));
    let entries = TileId::at(Row::Entries, 0, 5).unwrap();
    assert_eq!(entries.content(&LOG.leaves), Err(BuildError::Entries));
    let error = Tiles::authenticate(head(5), [(entries, vec![])]).unwrap_err();
    assert_eq!(error, TilesError::NotInTree(entries));
    let none: [(TileId, Vec<u8>); 0] = [];
    assert_eq!(root_at(&Tiles::authenticate(head(0), none).unwrap(), 0), Ok(head(0).root));
}

#[test]
fn bundles_hold_the_records_of_their_tile() {
    let records = &LOG.records[256..300];
    let hashes: Vec<_> = records.iter().map(|record| leaf_hash(record)).collect();
    let content = bundle::encode(records).unwrap();
    assert_eq!(content.len(), 44 * (2 + 149));
    assert_eq!(content[..2], [0, 149]);
    assert_eq!(bundle::parse_verified(&content, &hashes).unwrap(), records);
    let width = bundle::BundleError::Width { got: 44, expected: 43 };
    assert_eq!(bundle::parse_verified(&content, &hashes[1..]), Err(width));
    assert_eq!(bundle::encode(&[[0; 65_536]]), Err(bundle::BundleError::RecordTooLong(65_536)));
    assert_eq!(bundle::encode::<[u8; 1]>(&[]), Err(bundle::BundleError::Count));
    assert_eq!(bundle::encode(&[[]; 257] as &[[u8; 0]]), Err(bundle::BundleError::Count));
    assert_eq!(bundle::parse(&[0; 2 * 257]), Err(bundle::BundleError::Count));
    assert_eq!(bundle::parse(&[0; 2 * 256]).unwrap().len(), 256);
    assert_eq!(bundle::parse(&[]), Err(bundle::BundleError::Count));
    assert_eq!(bundle::parse(&[0, 1, 9, 0]), Err(bundle::BundleError::Truncated(1)));
    assert_eq!(bundle::parse(&[0, 2, 9]), Err(bundle::BundleError::Truncated(0)));
}
