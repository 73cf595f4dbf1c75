use std::sync::atomic::Ordering;

use anyhow::ensure;
use eventlog::{
    AppendError, Entry, Event, Group, Limits, Log, Options, Position, Receipt, UnixMicros,
};
use futures_util::future::join_all;

use crate::order::lawful;
use crate::world::{World, all, answering, entry, key, new_event, note, request, stream};

fn group(first: u64, entries: Vec<Entry>) -> Group {
    Group { entries, first: Position(first), at: UnixMicros(5), rows: None }
}

fn notes(ns: impl IntoIterator<Item = u8>) -> Vec<Entry> {
    ns.into_iter().map(note).collect()
}

fn firsts(receipts: &[Receipt]) -> Vec<u64> {
    receipts.iter().map(|receipt| receipt.first.0).collect()
}

/// ARCHITECTURE.md §2.5.
pub(crate) async fn groups_stand_in_the_order_of_their_calls(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    let two = entry(vec![new_event(stream(1), b"a"), new_event(stream(2), b"b")]);
    let written = [
        log.append_group(group(0, vec![two, note(1)])),
        log.append_group(group(3, notes([1]))),
        log.append_group(group(4, notes([2, 3, 4]))),
    ];
    let after = log.append(note(5));
    // The answers are awaited in another order than the groups were queued in.
    let (after, written) = futures_util::join!(after, join_all(written.into_iter().rev()));
    let written: Vec<Vec<Receipt>> = written.into_iter().collect::<Result<_, _>>()?;
    assert_eq!(
        written.iter().map(|it| firsts(it)).collect::<Vec<_>>(),
        [vec![4, 5, 6], vec![3], vec![0, 2]]
    );
    assert_eq!(after?.first, Position(7));
    let events = all(&log).await?;
    assert_eq!((events.len(), log.size()), (8, 8));
    assert_eq!(log.root(), merkle::root(events.iter().map(Event::record)));
    lawful(&events);
    Ok(())
}

pub(crate) async fn a_group_takes_its_place_before_it_is_waited_for(
    world: World,
) -> anyhow::Result<()> {
    let log = world.open().await?;
    let never_waited_for = log.append_group(group(0, notes([1])));
    log.append(note(2)).await?;
    drop(never_waited_for);
    let streams: Vec<_> = all(&log).await?.iter().map(|event| event.stream).collect();
    assert_eq!(streams, [stream(1), stream(2)]);
    Ok(())
}

pub(crate) async fn a_group_has_the_time_it_says(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    let now = world.now.load(Ordering::Relaxed);
    for (at, recorded) in [(7, 7), (3, 7), (now + 9, now + 9)] {
        let group = Group { at: UnixMicros(at), ..group(log.size(), notes([1, 2])) };
        let receipts = log.append_group(group).await?;
        ensure!(receipts.iter().all(|it| it.recorded_at.0 == recorded), "{receipts:?}");
    }
    assert_eq!(log.append(note(1)).await?.recorded_at.0, now + 9);
    lawful(&all(&log).await?);
    Ok(())
}

/// ARCHITECTURE.md §2.5.
pub(crate) async fn a_group_elsewhere_is_misplaced(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    for first in [1, u64::MAX] {
        let refused = log.append_group(group(first, notes([1]))).await;
        let Err(AppendError::Misplaced { first: Position(wanted), size: 0 }) = refused else {
            anyhow::bail!("{refused:?}")
        };
        assert_eq!(wanted, first);
    }
    log.append_group(group(0, notes([1]))).await?;
    let refused = log.append_group(group(0, notes([1]))).await;
    assert!(matches!(refused, Err(AppendError::Misplaced { size: 1, .. })), "{refused:?}");
    assert_eq!(all(&log).await?.len(), 1);
    Ok(())
}

/// Covers requests that are cached, and requests that only the store knows.
pub(crate) async fn a_repeat_refuses_its_group_and_those_after_it(
    world: World,
) -> anyhow::Result<()> {
    for requests in [0, 100] {
        let limits = Limits { cached_requests: requests, ..crate::world::limits() };
        let options = Options { take_over: true, limits, ..world.options("first") };
        let log = Log::open(world.store.clone(), options).await?;
        let old = request(0x10 + u8::try_from(requests)?);
        log.append(answering(request(0xf0 + u8::try_from(requests / 10)?), "highest")).await?;
        log.append(answering(old, "old")).await?;
        let size = log.size();
        let fresh = request(0x20 + u8::try_from(requests)?);
        let repeats =
            log.append_group(group(size, vec![answering(fresh, "new"), answering(old, "new")]));
        let follows = log.append_group(group(size + 2, notes([1])));
        let Err(AppendError::Duplicate { stored }) = repeats.await else {
            anyhow::bail!("a repeat was taken")
        };
        assert_eq!((stored.key, stored.first.0), (key(old), size - 1));
        let refused = follows.await;
        assert!(matches!(refused, Err(AppendError::Misplaced { .. })), "{refused:?}");
        assert_eq!(log.size(), size);
        log.append_group(group(size, vec![answering(fresh, "new"), note(1)])).await?;
        lawful(&all(&log).await?);
    }
    Ok(())
}

/// Two groups with the same request, both queued before the first is answered.
pub(crate) async fn a_repeat_of_what_is_being_written_is_answered(
    world: World,
) -> anyhow::Result<()> {
    let log = world.open().await?;
    let once = || vec![answering(request(1), "x")];
    let first = log.append_group(group(0, once()));
    let second = log.append_group(group(1, once()));
    let third = log.append(answering(request(1), "y"));
    let (first, second, third) = futures_util::join!(first, second, third);
    assert_eq!(firsts(&first?), [0]);
    assert!(matches!(second, Err(AppendError::Duplicate { .. })), "{second:?}");
    assert!(matches!(third, Err(AppendError::Duplicate { .. })), "{third:?}");
    assert_eq!(all(&log).await?.len(), 1);
    Ok(())
}

pub(crate) async fn groups_that_cannot_be_are_refused(world: World) -> anyhow::Result<()> {
    let limits = Limits { batch_events: 3, ..crate::world::limits() };
    let options = Options { limits, ..world.options("first") };
    let log = Log::open(world.store.clone(), options).await?;
    for empty in [vec![], vec![note(1), entry(vec![])]] {
        let refused = log.append_group(group(0, empty)).await;
        assert!(matches!(refused, Err(AppendError::Empty)), "{refused:?}");
    }
    let refused = log.append_group(group(0, notes(0..4))).await;
    assert!(matches!(refused, Err(AppendError::TooLarge { events: 4, .. })), "{refused:?}");
    let twice = vec![answering(request(1), "x"), answering(request(1), "y")];
    let refused = log.append_group(group(0, twice)).await;
    assert!(
        matches!(refused, Err(AppendError::DuplicateInGroup { id }) if id == request(1)),
        "{refused:?}"
    );
    let receipts = log.append_group(group(0, notes(0..3))).await?;
    assert_eq!(firsts(&receipts), [0, 1, 2]);
    Ok(())
}
