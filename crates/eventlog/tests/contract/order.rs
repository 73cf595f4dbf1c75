use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use anyhow::ensure;
use eventlog::{
    AppendError, Event, Limits, Log, Options, Position, Receipt, StreamId, UnixMicros, Version,
};
use sha2::{Digest, Sha256};

use crate::world::{World, all, entry, new_event, note, stream};

pub(crate) async fn a_new_log_is_empty(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    assert_eq!(log.size(), 0);
    assert_eq!(log.root(), <[u8; 32]>::from(Sha256::digest([])));
    assert_eq!(log.last_alive(), None);
    assert_eq!(all(&log).await?, []);
    assert_eq!(log.read_stream(stream(1), Version(0), 10).await?, []);
    Ok(())
}

/// Checks the invariants of a log from its events alone.
pub(crate) fn lawful(events: &[Event]) {
    let mut ends: BTreeMap<StreamId, (u64, [u8; 32])> = BTreeMap::new();
    let mut before = UnixMicros(0);
    for (event, position) in events.iter().zip(0..) {
        assert_eq!(event.position, Position(position));
        assert!(event.recorded_at >= before);
        before = event.recorded_at;
        let (version, hash) = ends.entry(event.stream).or_default();
        *version += 1;
        assert_eq!(event.version, Version(*version));
        assert_eq!(event.previous, *hash);
        *hash = Sha256::digest(event.record()).into();
    }
}

pub(crate) async fn concurrent_callers_get_one_order(world: World) -> anyhow::Result<()> {
    // More streams than are cached, and small batches.
    let limits = Limits { batch_events: 20, cached_streams: 3, ..crate::world::limits() };
    let options = Options { limits, ..world.options("first") };
    let log = Log::open(world.store.clone(), options).await?;
    let callers = (0..200_u8).map(|n| {
        let log = log.clone();
        tokio::spawn(async move {
            let twice = [new_event(stream(n % 7), &[n]), new_event(stream(n % 5), &[n, n])];
            (n, log.append(entry(twice.into())).await)
        })
    });
    let mut receipts: Vec<(u8, Receipt)> = Vec::new();
    for caller in callers.collect::<Vec<_>>() {
        let (n, receipt) = caller.await?;
        receipts.push((n, receipt?));
    }
    let events = all(&log).await?;
    assert_eq!(events.len(), 400);
    lawful(&events);
    for (n, receipt) in &receipts {
        let pair = log.read(receipt.first, 2).await?;
        assert_eq!(
            pair.iter().map(|it| it.payload.to_vec()).collect::<Vec<_>>(),
            [vec![*n], vec![*n, *n]]
        );
        assert_eq!(pair.iter().map(|it| it.version).collect::<Vec<_>>(), receipt.versions);
        assert!(pair.iter().all(|it| it.recorded_at == receipt.recorded_at));
    }
    let firsts: BTreeSet<Position> = receipts.iter().map(|(_, receipt)| receipt.first).collect();
    assert_eq!(firsts.len(), 200);
    assert_eq!(log.size(), 400);
    assert_eq!(log.root(), merkle::root(events.iter().map(Event::record)));
    log.close().await;

    let again = world.open().await?;
    assert_eq!(all(&again).await?, events);
    assert_eq!(again.root(), merkle::root(events.iter().map(Event::record)));
    again.append(note(3)).await?;
    lawful(&all(&again).await?);
    Ok(())
}

/// Enough entries for batches that go ahead of their turn.
pub(crate) async fn many_appends_get_one_order(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    let callers = (0..200_u8).map(|n| {
        let log = log.clone();
        tokio::spawn(async move {
            let mut appended = Vec::new();
            for round in 0..5 {
                appended
                    .push(log.append(entry(vec![new_event(stream(n % 90), &[n, round])])).await?);
            }
            anyhow::Ok((n, appended))
        })
    });
    let mut receipts = Vec::new();
    for caller in callers.collect::<Vec<_>>() {
        receipts.push(caller.await??);
    }
    let events = all(&log).await?;
    assert_eq!((events.len(), log.size()), (1000, 1000));
    lawful(&events);
    for (n, appended) in &receipts {
        assert!(appended.is_sorted_by_key(|receipt| receipt.first), "in the order of his calls");
        for (receipt, round) in appended.iter().zip(0..) {
            let event = &events[usize::try_from(receipt.first.0)?];
            assert_eq!(event.payload, [*n, round].as_slice());
            assert_eq!(
                (vec![event.version], event.recorded_at),
                (receipt.versions.clone(), receipt.recorded_at)
            );
        }
    }
    assert_eq!(log.root(), merkle::root(events.iter().map(Event::record)));
    log.close().await;
    let again = world.open().await?;
    assert_eq!(all(&again).await?, events);
    Ok(())
}

pub(crate) async fn what_is_read_is_what_was_written(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    let payloads: [&[u8]; 4] = [b"", b"\0", b"\xff\xfe zero \0 quote ' \\", &[7; 70_000]];
    let events = payloads.map(|payload| new_event(stream(9), payload)).to_vec();
    let mut written = entry(events.clone());
    written.actor = "player/\u{e9}\0'".into();
    let receipt = log.append(written).await?;
    log.append(note(1)).await?;
    let read = log.read_stream(stream(9), Version(0), 100).await?;
    ensure!(read.len() == 4, "{read:?}");
    for (read, written) in read.iter().zip(&events) {
        assert_eq!(read.payload, written.payload);
        assert_eq!((read.kind, read.schema), (written.kind, written.schema));
        assert_eq!((read.sealed, read.stream), (written.sealed, written.stream));
        assert_eq!(&*read.actor, "player/\u{e9}\u{fffd}'");
        assert_eq!((read.trace, read.request_id), ([5; 16], None));
        assert_eq!(read.recorded_at, receipt.recorded_at);
    }
    assert_eq!(log.read_stream(stream(9), Version(3), 1).await?, [read[2].clone()]);
    assert_eq!(log.read_stream(stream(9), Version(5), 1).await?, []);
    assert_eq!(log.read(Position(1), 2).await?, [read[1].clone(), read[2].clone()]);
    assert_eq!(log.read(Position(u64::MAX), 2).await?, []);
    Ok(())
}

pub(crate) async fn recorded_time_never_steps_back(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    let start = world.now.load(Ordering::Relaxed);
    let first = log.append(note(1)).await?;
    world.now.store(start - 1_000_000, Ordering::Relaxed);
    let second = log.append(note(1)).await?;
    world.now.store(start + 5, Ordering::Relaxed);
    let third = log.append(note(1)).await?;
    let times = [&first, &second, &third].map(|receipt| receipt.recorded_at.0);
    assert_eq!(times, [start, start, start + 5]);
    log.close().await;

    world.now.store(start - 7, Ordering::Relaxed);
    let log = world.open().await?;
    assert_eq!(log.head().recorded_at.0, start + 5);
    assert_eq!(log.append(note(1)).await?.recorded_at.0, start + 5);
    Ok(())
}

pub(crate) async fn entries_over_the_limits_are_refused(world: World) -> anyhow::Result<()> {
    let limits = Limits { batch_events: 3, batch_bytes: 2000, ..crate::world::limits() };
    let options = Options { limits, ..world.options("first") };
    let log = Log::open(world.store.clone(), options).await?;
    let refusal = log.append(entry(vec![])).await;
    assert!(matches!(refusal, Err(AppendError::Empty)), "{refusal:?}");
    let many = log.append(entry(vec![new_event(stream(1), b""); 4])).await;
    assert!(matches!(many, Err(AppendError::TooLarge { events: 4, .. })), "{many:?}");
    let long = log.append(entry(vec![new_event(stream(1), &[0; 2001])])).await;
    assert!(matches!(long, Err(AppendError::TooLarge { events: 1, .. })), "{long:?}");
    assert_eq!(log.size(), 0);
    log.append(entry(vec![new_event(stream(1), &[0; 500]); 3])).await?;
    assert_eq!(log.size(), 3);
    Ok(())
}

pub(crate) async fn two_logs_in_one_store_are_strangers(world: World) -> anyhow::Result<()> {
    let one = world.open().await?;
    let options = Options { name: "table/1".into(), ..world.options("first") };
    let other = Log::open(world.store.clone(), options).await?;
    let same = crate::world::answering(crate::world::request(1), "same");
    let (mine, theirs) = tokio::join!(one.append(same.clone()), other.append(same));
    assert_eq!((mine?.first, theirs?.first), (Position(0), Position(0)));
    one.append(note(1)).await?;
    assert_eq!((one.size(), other.size()), (2, 1));
    lawful(&all(&one).await?);
    lawful(&all(&other).await?);
    Ok(())
}
