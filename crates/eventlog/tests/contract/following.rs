use std::time::Duration;

use eventlog::store::READ_BYTES;
use eventlog::{Event, Limits, Log, Options, Position, ReadError, Version};
use futures_util::{Stream, StreamExt};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::world::{World, all, entry, new_event, note, stream};

const LONG: Duration = Duration::from_secs(20);

async fn take(
    events: &mut (impl Stream<Item = Result<Event, ReadError>> + Unpin),
    count: usize,
) -> anyhow::Result<Vec<Event>> {
    let mut taken = Vec::new();
    while taken.len() < count {
        let next = timeout(LONG, events.next()).await?;
        taken.push(next.ok_or_else(|| anyhow::anyhow!("ended early"))??);
    }
    Ok(taken)
}

/// The bound of a read is one of bytes too, for few records may be long: a read is short, and
/// whoever reads on gets all of them.
pub(crate) async fn long_records_are_read_a_few_at_a_time(world: World) -> anyhow::Result<()> {
    const LENGTH: usize = 512 << 10;
    let log = world.open().await?;
    for n in 0..20 {
        log.append(entry(vec![new_event(stream(n % 2), &vec![n; LENGTH])])).await?;
    }
    let in_one_read = usize::try_from(READ_BYTES)? / LENGTH;
    let positions =
        |events: Vec<Event>| events.iter().map(|event| event.position.0).collect::<Vec<_>>();
    let page = positions(log.read(Position(1), 1000).await?);
    assert_eq!(page, (1..9).collect::<Vec<_>>());
    assert_eq!(page.len(), in_one_read);
    let of_stream = positions(log.read_stream(stream(1), Version(1), 1000).await?);
    assert_eq!(of_stream, (0..8).map(|n| 2 * n + 1).collect::<Vec<_>>());
    assert_eq!(positions(log.read_stream(stream(1), Version(9), 1000).await?), [17, 19]);
    let mut seen = Vec::new();
    let add = |event: Event| {
        seen.push(event.position.0);
        Ok::<_, ReadError>(())
    };
    log.reader().for_each(Position(2), 17, add).await?;
    assert_eq!(seen, (2..19).collect::<Vec<_>>());
    let followed = take(&mut log.subscribe(Position(0)), 20).await?;
    assert_eq!(positions(followed), (0..20).collect::<Vec<_>>());
    log.close().await;
    // Whoever opens it builds its tree from all of them.
    world.save_tree(20, None).await?;
    assert_eq!(world.open().await?.size(), 20);
    Ok(())
}

pub(crate) async fn from_the_beginning_and_on(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    for n in 0..20 {
        log.append(note(n)).await?;
    }
    let mut events = log.subscribe(Position(0));
    let mut seen = take(&mut events, 10).await?;
    let writer = tokio::spawn({
        let log = log.clone();
        async move {
            for n in 20..120 {
                log.append(note(n)).await?;
            }
            anyhow::Ok(())
        }
    });
    while seen.len() < 120 {
        let next = take(&mut events, 1).await?;
        // A subscriber never sees an event that a reader does not.
        assert_eq!(log.read(next[0].position, 1).await?, next);
        seen.extend(next);
    }
    writer.await??;
    assert_eq!(seen, all(&log).await?);
    // Nothing is left; the next event comes live, without a read.
    assert!(futures_util::poll!(events.next()).is_pending());
    log.append(note(1)).await?;
    assert_eq!(take(&mut events, 1).await?[0].position, Position(120));
    Ok(())
}

pub(crate) async fn from_the_middle_and_from_the_future(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    for n in 0..5 {
        log.append(note(n)).await?;
    }
    let mut middle = log.subscribe(Position(3));
    let mut future = log.subscribe(Position(7));
    assert_eq!(take(&mut middle, 2).await?[0].position, Position(3));
    assert!(futures_util::poll!(future.next()).is_pending());
    for n in 0..4 {
        log.append(note(n)).await?;
    }
    assert_eq!(take(&mut middle, 4).await?[3].position, Position(8));
    assert_eq!(take(&mut future, 2).await?[0].position, Position(7));
    Ok(())
}

pub(crate) async fn a_slow_reader_misses_nothing(world: World) -> anyhow::Result<()> {
    let limits = Limits { live_commits: 2, ..crate::world::limits() };
    let options = Options { limits, ..world.options("first") };
    let log = Log::open(world.store.clone(), options).await?;
    let mut slow = log.subscribe(Position(0));
    let mut seen = Vec::new();
    for round in 1..=6_u8 {
        // The subscriber has caught up; then it falls behind by far more commits than are kept for
        // it.
        assert!(futures_util::poll!(slow.next()).is_pending() || round == 1);
        for n in 0..10 * round {
            log.append(note(n)).await?;
        }
        seen.extend(take(&mut slow, usize::from(10 * round)).await?);
    }
    assert_eq!(seen, all(&log).await?);
    Ok(())
}

/// Subscribers that are never polled and constant readers do not delay the writer.
pub(crate) async fn nobody_who_reads_holds_the_writer_up(world: World) -> anyhow::Result<()> {
    let limits = Limits { live_commits: 1, ..crate::world::limits() };
    let options = Options { limits, ..world.options("first") };
    let log = Log::open(world.store.clone(), options).await?;
    let mut asleep: Vec<_> = (0..50).map(|_| log.subscribe(Position(0))).collect();
    for subscriber in &mut asleep {
        assert!(futures_util::poll!(subscriber.next()).is_pending() || log.size() == 0);
    }
    // More readers than there are connections for reading, all of them busy.
    let enough = CancellationToken::new();
    let readers: Vec<_> = (0..6)
        .map(|_| {
            let (log, enough) = (log.clone(), enough.clone());
            tokio::spawn(async move {
                while !enough.is_cancelled() {
                    log.read(Position(0), 10_000).await?;
                    // A store in memory answers at once and would not yield the thread.
                    tokio::task::yield_now().await;
                }
                Ok::<(), ReadError>(())
            })
        })
        .collect();
    for n in 0..200 {
        timeout(LONG, log.append(note(n))).await??;
    }
    enough.cancel();
    for reader in readers {
        reader.await??;
    }
    assert_eq!(take(&mut asleep[49], 200).await?, all(&log).await?);
    Ok(())
}

pub(crate) async fn a_stopped_log_says_so(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    let mut events = log.subscribe(Position(0));
    log.append(note(1)).await?;
    log.append(note(2)).await?;
    let reader = log.clone();
    log.close().await;
    // A subscription gives the committed events first, even if it begins after the stop.
    for mut events in [&mut events, &mut reader.subscribe(Position(0))] {
        assert_eq!(take(&mut events, 2).await?.len(), 2);
        let last = timeout(LONG, events.next()).await?;
        assert!(matches!(last, Some(Err(ReadError::Stopped))), "{last:?}");
        assert!(timeout(LONG, events.next()).await?.is_none());
    }
    Ok(())
}
