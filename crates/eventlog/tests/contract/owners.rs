use std::sync::atomic::Ordering;
use std::time::Duration;

use eventlog::store::{Claim, ClockReading};
use eventlog::{AppendError, Event, Log, OpenError, Options, UnixMicros};
use futures_util::future::maybe_done;
use tokio::time::{Instant, timeout};

use crate::order::lawful;
use crate::world::{LOG, World, all, note, stream};

const SHORT: Duration = Duration::from_millis(600);
const LONG: Duration = Duration::from_secs(20);

/// ARCHITECTURE.md §2.3.
pub(crate) async fn an_owner_who_renews_keeps_the_log(world: World) -> anyhow::Result<()> {
    let options = Options { lease: SHORT, ..world.options("first") };
    let log = Log::open(world.store.clone(), options).await?;
    let second = Log::open(world.store.clone(), world.options("second")).await;
    let Err(OpenError::Held { log: name, owner, address, remaining }) = second.map(drop) else {
        anyhow::bail!("two owners")
    };
    assert_eq!((&*name, &*owner, &*address), (LOG, "first", "127.0.0.1:1"));
    assert!(remaining <= SHORT, "{remaining:?}");
    log.append(note(1)).await?;
    Ok(())
}

/// ARCHITECTURE.md §2.3.
pub(crate) async fn the_lease_of_a_silent_owner_ends(world: World) -> anyhow::Result<()> {
    let claim = Claim {
        log: LOG.into(),
        owner: "dead".into(),
        address: "nowhere".into(),
        lease: SHORT,
        take_over: false,
        clock: ClockReading { at: UnixMicros(1), skew: Duration::MAX },
    };
    world.store.claim(&claim).await?;
    let began = Instant::now();
    let log = world.open().await?;
    let waited = began.elapsed();
    assert!(waited >= SHORT - Duration::from_millis(50) && waited < LONG, "{waited:?}");
    log.append(note(1)).await?;
    Ok(())
}

/// ARCHITECTURE.md §2.3, §2.4.
pub(crate) async fn taking_over_stops_the_owner(world: World) -> anyhow::Result<()> {
    let first = world.open().await?;
    let now = world.now.fetch_add(1000, Ordering::Relaxed) + 1000;
    first.append(note(1)).await?;
    let second = world.take_over().await?;
    assert_eq!((second.size(), second.root()), (1, first.root()));
    assert_eq!(second.last_alive(), Some(UnixMicros(now)), "the time of the last event");
    // The second owner has written nothing yet, so only the epoch keeps the first out.
    let late = first.append(note(2)).await;
    assert!(matches!(late, Err(AppendError::Lost)), "{late:?}");
    timeout(LONG, first.stopped().cancelled()).await?;
    let later = first.append(note(2)).await;
    assert!(matches!(later, Err(AppendError::Lost)), "{later:?}");
    second.append(note(3)).await?;
    let events = all(&second).await?;
    lawful(&events);
    assert_eq!(events.iter().map(|it| it.stream).collect::<Vec<_>>(), [stream(1), stream(3)]);
    Ok(())
}

/// ARCHITECTURE.md §2.3.
pub(crate) async fn an_owner_who_asks_learns_of_the_other(world: World) -> anyhow::Result<()> {
    let first = world.open().await?;
    first.confirm_ownership().await?;
    first.append(note(1)).await?;
    first.confirm_ownership().await?;
    let second = world.take_over().await?;
    let asked = first.confirm_ownership().await;
    assert!(matches!(asked, Err(AppendError::Lost)), "{asked:?}");
    assert!(first.stopped().is_cancelled());
    second.confirm_ownership().await?;
    second.append(note(2)).await?;
    assert_eq!(second.size(), 2);
    Ok(())
}

/// ARCHITECTURE.md §2.3.
pub(crate) async fn an_idle_owner_notices_too(world: World) -> anyhow::Result<()> {
    let options = Options { lease: SHORT, ..world.options("first") };
    let first = Log::open(world.store.clone(), options).await?;
    let second = world.take_over().await?;
    timeout(LONG, first.stopped().cancelled()).await?;
    assert!(!second.stopped().is_cancelled());
    Ok(())
}

/// ARCHITECTURE.md §4.
pub(crate) async fn closing_writes_what_waits_and_lets_the_next_in(
    world: World,
) -> anyhow::Result<()> {
    let log = world.open().await?;
    let mut waiting = Vec::new();
    for n in 0..50 {
        let log = log.clone();
        let mut append = Box::pin(maybe_done(async move { log.append(note(n)).await }));
        // The entry is queued by the first poll and keeps its position.
        let _ = futures_util::poll!(&mut append);
        waiting.push(append);
    }
    world.now.fetch_add(1000, Ordering::Relaxed);
    let (stopped, other) = (log.stopped(), log.clone());
    log.close().await;
    assert!(stopped.is_cancelled());
    for (mut append, n) in waiting.into_iter().zip(0..) {
        append.as_mut().await;
        let receipt = append.as_mut().take_output().ok_or_else(|| anyhow::anyhow!("no answer"))?;
        assert_eq!(receipt?.first.0, n);
    }
    assert!(matches!(other.append(note(1)).await, Err(AppendError::Lost)));

    let next = timeout(LONG, world.open()).await??;
    assert_eq!(next.size(), 50);
    assert_eq!(next.last_alive(), Some(UnixMicros(world.now.load(Ordering::Relaxed))));
    Ok(())
}

/// ARCHITECTURE.md §2.4.
pub(crate) async fn the_saved_tree_is_a_convenience(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    for round in 0..3 {
        let many = vec![crate::world::new_event(stream(round), b"x"); 500];
        log.append(crate::world::entry(many)).await?;
    }
    let events = all(&log).await?;
    let root = merkle::root(events.iter().map(Event::record));
    log.close().await;
    let peaks_of = |events: &[Event]| {
        let mut tree = merkle::Tree::new();
        events.iter().for_each(|event| tree.push(&event.record()));
        tree.peaks().to_vec()
    };
    let peaks = peaks_of(&events);
    assert!(peaks.len() > 2);
    let mut wrong_small = peaks.clone();
    wrong_small[2][0] ^= 1;
    let short = peaks[1..].to_vec();
    let mut wrong_before = peaks_of(&events[..1100]);
    wrong_before[2][0] ^= 1;
    for (size, saved) in [
        (1500, Some(peaks)),
        (1500, None),
        (1500, Some(wrong_small)),
        (1500, Some(short)),
        (1500, Some(vec![])),
        // Of an owner that did not renew its lease again.
        (1100, Some(peaks_of(&events[..1100]))),
        (1100, Some(wrong_before)),
        (10, Some(peaks_of(&events[..10]))),
        (0, Some(vec![])),
    ] {
        world.save_tree(size, saved.clone()).await?;
        let log = world.open().await?;
        assert_eq!((log.size(), log.root()), (1500, root), "{saved:?}");
        log.close().await;
    }
    Ok(())
}
