//! Mounted archives: removed events are read from files as they were read from the database, and no
//! file is believed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use eventlog::archive::{ArchiveStorage, MountError, MountedArchives};
use eventlog::{
    AppendError, CheckpointStore, Event, FullTile, Position, ReadError, Reader, SignedCheckpoint,
    StreamId, UnixMicros, Version,
};
use merkle::{TILE_WIDTH, leaf_hash};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::throttle::{ThrottleConfig, ThrottledStore};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::archived::{Fixture, LONG_AGO, fixture};
use crate::{entry, run};

/// Bytes of the trailer and of the SHA-256 behind it.
const TRAILER: usize = 88;
const HASH: usize = 32;

/// Log with two archived and removed ranges, and the files of them in a folder.
struct Mounted {
    fixture: Fixture,
    folder: TempDir,
}

const CUT: u64 = 2560;

async fn mounted(name: &str) -> anyhow::Result<Mounted> {
    let mounted = Mounted { fixture: fixture(name).await?, folder: TempDir::new()? };
    let Mounted { fixture, folder } = &mounted;
    put_tiles(fixture).await?;
    for (from, to) in [(0, 1024), (1024, CUT)] {
        let (file, _) = fixture.archived(from, to).await?;
        std::fs::write(folder.path().join(format!("table-{from}-{to}.archive")), &file)?;
        fixture.remove(&file, LONG_AGO).await?;
    }
    Ok(mounted)
}

/// Stores the full tiles of hashes, as a notary does.
async fn put_tiles(fixture: &Fixture) -> anyhow::Result<()> {
    Ok(fixture.store.put_tiles("table/0", &full_tiles(fixture)).await?)
}

fn full_tiles(fixture: &Fixture) -> Vec<FullTile> {
    let full = fixture.events.chunks_exact(usize::from(TILE_WIDTH)).zip(0..);
    let tiles = full.map(|(events, index)| {
        let hashes: Vec<u8> = events.iter().flat_map(|it| leaf_hash(&it.record())).collect();
        FullTile { coordinates: (0, index), hashes: hashes.into() }
    });
    tiles.collect()
}

impl Mounted {
    /// Reader of files in a folder, which remembers nothing of them yet.
    fn reader_of(&self, folder: &Path) -> anyhow::Result<Reader> {
        let storage = ArchiveStorage {
            store: Arc::new(LocalFileSystem::new()),
            folder: object_store::path::Path::from_absolute_path(folder)?,
        };
        let store = Arc::clone(&self.fixture.store);
        let archives = MountedArchives::new(storage, store as Arc<dyn CheckpointStore>, "table/0");
        Ok(self.fixture.reader.clone().with_archives(Arc::new(archives)))
    }

    fn reader(&self) -> anyhow::Result<Reader> {
        self.reader_of(self.folder.path())
    }

    /// The older file.
    fn file(&self) -> anyhow::Result<Vec<u8>> {
        Ok(std::fs::read(self.folder.path().join("table-0-1024.archive"))?)
    }

    /// Reader of a folder with this file alone, under this name.
    fn reader_of_file(&self, name: &str, file: &[u8]) -> anyhow::Result<(TempDir, Reader)> {
        let folder = TempDir::new()?;
        std::fs::write(folder.path().join(name), file)?;
        let reader = self.reader_of(folder.path())?;
        Ok((folder, reader))
    }
}

fn of_stream(events: &[Event], stream: StreamId) -> Vec<Event> {
    events.iter().filter(|event| event.stream == stream).cloned().collect()
}

/// ARCHITECTURE.md §2.11.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn removed_events_are_read_from_archives_as_before() -> anyhow::Result<()> {
    let mounted = mounted("mounted").await?;
    let (reader, events) = (mounted.reader()?, &mounted.fixture.events);
    for (from, limit) in
        [(0, 1), (0, 3000), (1, 255), (255, 2), (1000, 100), (2559, 1), (2500, 400)]
    {
        let read = reader.read(Position(from), limit).await?;
        let first = usize::try_from(from)?;
        assert_eq!(read, events[first..(first + limit).min(events.len())], "{from} {limit}");
        let unmounted = mounted.fixture.reader.read(Position(from), limit).await;
        ensure!(matches!(unmounted, Err(ReadError::Archived { size: CUT })), "{unmounted:?}");
    }
    let mut paged = Vec::new();
    let mut pages = reader.pages(Position(0)..Position(u64::MAX));
    while let Some(page) = pages.next().await? {
        paged.extend(page);
    }
    assert_eq!(&paged, events);

    for stream in [0, 1, 4, 9].map(|n| StreamId([n; 16])) {
        let whole = of_stream(events, stream);
        for (from, limit) in
            [(0, 5000), (1, 1), (2, 64), (100, 65), (200, 200), (511, 3), (590, 50)]
        {
            let read = reader.read_stream(stream, Version(from), limit).await?;
            let expected = whole.iter().filter(|event| event.version.0 >= from).take(limit);
            let expected: Vec<Event> = expected.cloned().collect();
            assert_eq!(read, expected, "{stream} {from} {limit}");
        }
    }
    let unmounted = mounted.fixture.reader.read_stream(StreamId([1; 16]), Version(1), 5).await;
    ensure!(matches!(unmounted, Err(ReadError::Archived { size: CUT })), "{unmounted:?}");
    assert_eq!(reader.read_stream(StreamId([77; 16]), Version(1), 5).await?, []);
    assert_eq!(reader.read(Position(3000), 5).await?, []);
    Ok(())
}

/// ARCHITECTURE.md §2.11. Whoever changes the end of an archived stream has its entries refused, and no
/// others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_archived_end_is_believed_where_the_tile_has_it() -> anyhow::Result<()> {
    let Mounted { fixture, folder: _ } = mounted("ends").await?;
    let ended = StreamId([9; 16]);
    let on_ended = |n| {
        let mut entry = entry(n);
        entry.events[0].stream = ended;
        entry
    };
    for byte in [12, 44, 149] {
        let flip = format!(
            "UPDATE \"table\".stream_ends SET record = set_byte(record, {byte} - 1,
                 get_byte(record, {byte} - 1) # 1)
             WHERE stream = '09090909-0909-0909-0909-090909090909'"
        );
        run(&fixture.admin, &flip).await?;
        let read = fixture.reader.stream_end(ended).await;
        ensure!(matches!(read, Err(ReadError::Corrupt(_))), "byte {byte}: {read:?}");
        let refused = fixture.log.append(on_ended(3000 + byte)).await;
        ensure!(matches!(refused, Err(AppendError::Unavailable { .. })), "{byte}: {refused:?}");
        fixture.log.append(entry(3200 + byte)).await?;
        run(&fixture.admin, &flip).await?;
    }
    // A sound record of another stream.
    let swap = "UPDATE \"table\".stream_ends SET record = other.record
         FROM \"table\".stream_ends AS other
         WHERE stream_ends.stream = '09090909-0909-0909-0909-090909090909'
             AND other.stream = '01010101-0101-0101-0101-010101010101'";
    run(&fixture.admin, "CREATE TABLE whole AS SELECT * FROM \"table\".stream_ends").await?;
    run(&fixture.admin, swap).await?;
    let refused = fixture.log.append(on_ended(3401)).await;
    ensure!(matches!(refused, Err(AppendError::Unavailable { .. })), "{refused:?}");
    let back = "UPDATE \"table\".stream_ends SET record = whole.record FROM whole
         WHERE whole.stream = stream_ends.stream";
    run(&fixture.admin, back).await?;
    assert_eq!(fixture.log.append(on_ended(3400)).await?.versions, [Version(2)]);
    Ok(())
}

/// A range may end within a tile that is not full yet: the events of that tile stay, and their streams go
/// on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_go_on_behind_a_cut_within_a_tile() -> anyhow::Result<()> {
    let fixture = fixture("within-tile").await?;
    let full: Vec<FullTile> = full_tiles(&fixture).into_iter().take(3).collect();
    fixture.store.put_tiles("table/0", &full).await?;
    let signed = SignedCheckpoint {
        number: 1,
        size: 3000,
        recorded_at: fixture.events[2999].recorded_at,
        note: "a note".into(),
    };
    ensure!(fixture.store.put_checkpoint("table/0", &signed).await?);
    let (file, _) = fixture.archived(0, 1000).await?;
    assert_eq!(fixture.remove(&file, LONG_AGO).await?, 768);
    for n in 0..5 {
        fixture.log.append(entry(3100 + n)).await?;
    }
    Ok(())
}

/// Events whose tile was not full when they were removed cannot be compared.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_full_tile_vouches_for_is_not_served() -> anyhow::Result<()> {
    let fixture = fixture("partial").await?;
    let folder = TempDir::new()?;
    put_tiles(&fixture).await?;
    let (file, _) = fixture.archived(0, 2900).await?;
    std::fs::write(folder.path().join("table-0-2900.archive"), &file)?;
    fixture.remove(&file, LONG_AGO).await?;
    let mounted = Mounted { fixture, folder };
    let reader = mounted.reader()?;
    assert_eq!(reader.read(Position(2700), 300).await?, mounted.fixture.events[2700..2816]);
    let read = reader.read(Position(2816), 1).await;
    ensure!(matches!(read, Err(ReadError::Archived { size: 2900 })), "{read:?}");
    assert_eq!(reader.read(Position(2900), 500).await?, mounted.fixture.events[2900..]);
    Ok(())
}

fn damage(read: Result<Vec<Event>, ReadError>) -> anyhow::Result<(Arc<str>, u64, &'static str)> {
    match read {
        Err(ReadError::Archive(MountError::Damaged { file, position, what })) => {
            Ok((file, position, what))
        }
        other => anyhow::bail!("{other:?}"),
    }
}

/// The file with other bytes somewhere, and a SHA-256 that fits them.
fn forged(file: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut forged = file.to_vec();
    forged[at..at + bytes.len()].copy_from_slice(bytes);
    let end = forged.len() - HASH;
    let hash = Sha256::digest(&forged[..end]);
    forged[end..].copy_from_slice(&hash);
    forged
}

/// ARCHITECTURE.md §2.11.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forged_archive_is_named_and_nothing_of_it_is_served() -> anyhow::Result<()> {
    let mounted = mounted("forged").await?;
    let file = mounted.file()?;
    const NAME: &str = "table-0-1024.archive";
    let number = |at: usize| -> anyhow::Result<usize> {
        let bytes = file.get(at..at + 8).and_then(|it| it.first_chunk()).context("a number")?;
        Ok(usize::try_from(u64::from_be_bytes(*bytes))?)
    };
    let trailer = file.len() - HASH - TRAILER;
    let index = number(trailer + 32 + 40)?;
    let event_500 = number(index + 8 * 500)?;
    let end_500 = number(index + 8 * 501)?;
    let list = index + 8 * 1025;
    let table = list + 4 * 1024;

    // A payload, salt, author or time, with a hash of the file that fits.
    for at in [event_500, event_500 + 7, end_500 - 1, event_500 + 90, end_500 - 12] {
        let wrong = forged(&file, at, &[file[at] ^ 1]);
        let (_folder, reader) = mounted.reader_of_file(NAME, &wrong)?;
        let (file, position, _) = damage(reader.read(Position(500), 1).await)?;
        assert_eq!((&*file, position), (NAME, 500), "byte {at}");
        let (_, position, _) = damage(reader.read(Position(400), 200).await)?;
        assert_eq!(position, 500);
    }
    // Offsets that point to another event, nowhere, or far too far.
    for offset in [0, number(index + 8 * 499)? as u64, file.len() as u64, u64::MAX] {
        let wrong = forged(&file, index + 8 * 500, &offset.to_be_bytes());
        let (_folder, reader) = mounted.reader_of_file(NAME, &wrong)?;
        damage(reader.read(Position(500), 1).await)?;
        // What is true is served, also by a file that lies elsewhere.
        let (_folder, reader) = mounted.reader_of_file(NAME, &wrong)?;
        assert_eq!(reader.read(Position(300), 1).await?, mounted.fixture.events[300..301]);
    }
    // Lists and tables of streams that lie: another stream's event, one left out, huge counts.
    let stream = StreamId([1; 16]);
    let ones = of_stream(&mounted.fixture.events[..1024], stream).len();
    let zeros = of_stream(&mounted.fixture.events[..1024], StreamId([0; 16])).len();
    let of_one = list + 4 * zeros;
    let entry = table + 32;
    let lies = [
        (of_one, 2_u32.to_be_bytes().to_vec()),
        (of_one, u32::MAX.to_be_bytes().to_vec()),
        (of_one + 4, 1_u32.to_be_bytes().to_vec()),
        (entry + 16, 2_u64.to_be_bytes().to_vec()),
        (entry + 16, u64::MAX.to_be_bytes().to_vec()),
        (entry + 24, u64::MAX.to_be_bytes().to_vec()),
        (entry + 24, 0_u64.to_be_bytes().to_vec()),
        (entry, vec![2; 16]),
        (entry + 32 + 24, (zeros as u64 + ones as u64 - 1).to_be_bytes().to_vec()),
    ];
    let newer = std::fs::read(mounted.folder.path().join("table-1024-2560.archive"))?;
    for (at, bytes) in lies {
        let (folder, reader) = mounted.reader_of_file(NAME, &forged(&file, at, &bytes))?;
        std::fs::write(folder.path().join("table-1024-2560.archive"), &newer)?;
        let read = reader.read_stream(stream, Version(1), 5000).await;
        let (name, ..) = damage(read).with_context(|| format!("byte {at}"))?;
        assert_eq!(&*name, NAME);
    }
    // Trailers that count more than there is.
    for field in 0..6 {
        for huge in [u64::MAX, 1 << 40, 0] {
            let at = trailer + 32 + 8 * field;
            let wrong = forged(&file, at, &huge.to_be_bytes());
            let (_folder, reader) = mounted.reader_of_file(NAME, &wrong)?;
            let read = reader.read(Position(500), 1).await;
            let is_harmless = huge == 0 && field == 0 || (2..4).contains(&field);
            ensure!(damage(read).is_err() == is_harmless, "{field} {huge}");
        }
    }
    Ok(())
}

/// ARCHITECTURE.md §2.11.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_files_in_the_folder_change_nothing() -> anyhow::Result<()> {
    let mounted = mounted("folder").await?;
    let (file, events) = (mounted.file()?, &mounted.fixture.events);
    // A name that lies about its range, half a file, none at all.
    for (name, content, of) in [
        ("table-0-2048.archive", &file[..], 100),
        ("table-0-1024.archive", &file[..file.len() / 2], 100),
        ("table-0-1024.archive", &[], 100),
    ] {
        let (_folder, reader) = mounted.reader_of_file(name, content)?;
        damage(reader.read(Position(of), 1).await)?;
    }
    // A file of another log, under its own name and under one of this log.
    let other = forged(&file, file.len() - HASH - TRAILER, &Sha256::digest(b"dealer/0"));
    let (_folder, reader) = mounted.reader_of_file("table-0-1024.archive", &other)?;
    let (_, _, what) = damage(reader.read(Position(100), 1).await)?;
    assert_eq!(what, "it is of another log");
    let (_folder, reader) = mounted.reader_of_file("dealer-0-1024.archive", &file)?;
    let read = reader.read(Position(100), 1).await;
    ensure!(matches!(read, Err(ReadError::Archived { size: CUT })), "{read:?}");

    // Beside the good ones: a longer one that is bad is tried first, told and left alone.
    let bad = forged(&file, file.len() - HASH - 8, b"SLARCH9\n");
    std::fs::write(mounted.folder.path().join("table-0-99999999.archive"), bad)?;
    std::fs::write(mounted.folder.path().join("table-x-1.archive"), b"")?;
    std::fs::write(mounted.folder.path().join("table-9-3.archive"), b"")?;
    std::fs::create_dir(mounted.folder.path().join("table-0-77.archive"))?;
    let reader = mounted.reader()?;
    assert_eq!(reader.read(Position(100), 50).await?, events[100..150]);
    let stream = StreamId([3; 16]);
    assert_eq!(reader.read_stream(stream, Version(1), 5000).await?, of_stream(events, stream));

    // Overlapping files that are both good.
    std::fs::remove_file(mounted.folder.path().join("table-0-99999999.archive"))?;
    let (file, _) = fixture("elsewhere").await?.archived(512, 2048).await?;
    std::fs::write(mounted.folder.path().join("table-512-2048.archive"), file)?;
    let reader = mounted.reader()?;
    assert_eq!(reader.read(Position(0), 3000).await?, *events);
    for stream in [0, 2, 9].map(|n| StreamId([n; 16])) {
        assert_eq!(reader.read_stream(stream, Version(1), 5000).await?, of_stream(events, stream));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_archive_is_found_when_it_comes() -> anyhow::Result<()> {
    let mounted = mounted("missing").await?;
    let (reader, events) = (mounted.reader()?, &mounted.fixture.events);
    assert_eq!(reader.read(Position(100), 1).await?, events[100..101]);
    let (there, away) = (mounted.folder.path(), mounted.folder.path().with_extension("away"));
    std::fs::rename(there, &away)?;
    for from in [100, 2000] {
        let read = reader.read(Position(from), 1).await;
        ensure!(matches!(read, Err(ReadError::Archived { size: CUT })), "{read:?}");
    }
    let read = reader.read_stream(StreamId([1; 16]), Version(1), 1).await;
    ensure!(matches!(read, Err(ReadError::Archived { size: CUT })), "{read:?}");
    std::fs::rename(&away, there)?;
    // Listed anew some seconds after the last time.
    let until = tokio::time::Instant::now() + Duration::from_secs(20);
    while let Err(error) = reader.read(Position(100), 1).await {
        ensure!(tokio::time::Instant::now() < until, "{error}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(reader.read(Position(100), 1).await?, events[100..101]);
    // The newer alone cannot answer for the beginning of a stream.
    std::fs::remove_file(there.join("table-0-1024.archive"))?;
    let reader = mounted.reader()?;
    let read = reader.read_stream(StreamId([1; 16]), Version(1), 1).await;
    ensure!(matches!(read, Err(ReadError::Archived { size: CUT })), "{read:?}");
    assert_eq!(reader.read(Position(1024), 1).await?, events[1024..1025]);
    // What is not archived at all is read without any archive.
    assert!(reader.size().await? == 3000 && LONG_AGO > UnixMicros(0));
    Ok(())
}

/// A storage that does not answer costs a few seconds, and then nothing for a while.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storage_that_hangs_is_given_up_and_left_alone() -> anyhow::Result<()> {
    let mounted = mounted("hanging").await?;
    let slow = ThrottleConfig {
        wait_get_per_call: Duration::from_secs(600),
        wait_list_per_call: Duration::from_secs(600),
        ..ThrottleConfig::default()
    };
    let storage = ArchiveStorage {
        store: Arc::new(ThrottledStore::new(InMemory::new(), slow)),
        folder: object_store::path::Path::default(),
    };
    let store = Arc::clone(&mounted.fixture.store) as Arc<dyn CheckpointStore>;
    let archives = MountedArchives::new(storage, store, "table/0");
    let reader = mounted.fixture.reader.clone().with_archives(Arc::new(archives));
    for longest in [10, 1] {
        let begun = tokio::time::Instant::now();
        let read = reader.read(Position(100), 1).await;
        let is_away = matches!(read, Err(ReadError::Archive(MountError::Unavailable(_))));
        ensure!(is_away, "{read:?}");
        ensure!(begun.elapsed() < Duration::from_secs(longest), "{:?}", begun.elapsed());
        // Whatever is in the database is read at once.
        let read = reader.read(Position(CUT), 1).await?;
        assert_eq!(read[..], mounted.fixture.events[usize::try_from(CUT)?..][..1]);
    }
    Ok(())
}
