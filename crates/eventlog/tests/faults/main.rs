//! Answers to callers and content of the log when its store fails. Time is paused: waiting costs
//! nothing and happens in one order.

mod batches;
mod doubt;

use std::sync::Arc;
use std::time::Duration;

use eventlog::store::{Claim, ClaimOutcome, ClockReading};
use eventlog::{
    AppendError, Authenticator, Entry, Event, Fault, Group, Limits, Log, MemStore, NewEvent,
    OpenError, Options, Position, ReadError, Recall, Receipt, Request, RequestId, RequestKey,
    RequestLookup, Store, StreamId, UnixMicros,
};
use futures_util::future::join_all;
use tokio::time::{Instant, timeout};

const LOG: &str = "wallet/0";

fn options() -> Options {
    let began = Instant::now();
    Options {
        name: LOG.into(),
        owner: "owner".into(),
        address: "here".into(),
        lease: Duration::from_secs(5),
        take_over: false,
        clock: Arc::new(move || UnixMicros(1_000).plus(began.elapsed())),
        authenticator: Authenticator::new(&[7; 32], "", Arc::new(|| [7; 8])),
        limits: Limits::default(),
    }
}

/// Service, so that its ids count as derived.
const ACTOR: &str = "service:table";

fn entry(n: u8) -> Entry {
    let payload = vec![n].into();
    let event =
        NewEvent { stream: StreamId([n % 3; 16]), kind: 1, schema: 1, sealed: false, payload };
    let request = Request { id: RequestId([n; 16]), digest: [n; 32], answer: vec![n].into() };
    Entry { events: vec![event], request: Some(request), actor: ACTOR.into(), trace: [0; 16] }
}

async fn open(store: &Arc<MemStore>) -> anyhow::Result<Log> {
    Ok(Log::open(store.clone(), options()).await?)
}

async fn all(log: &Log) -> anyhow::Result<Vec<Event>> {
    let events = log.read(Position(0), 1000).await?;
    assert_eq!(log.size(), events.len() as u64);
    assert_eq!(log.root(), merkle::root(events.iter().map(Event::record)));
    Ok(events)
}

/// Events that another reader finds.
async fn store_events(store: &MemStore) -> anyhow::Result<Vec<Event>> {
    Ok(store.read(LOG, Position(0), 1000).await?)
}

fn payloads(events: &[Event]) -> Vec<u8> {
    events.iter().map(|event| event.payload[0]).collect()
}

/// Opens a log and makes an append that meets `fault`, and one after it.
async fn append_through_fault(fault: Fault) -> anyhow::Result<(Arc<MemStore>, Log, Receipt)> {
    let store = MemStore::new();
    let log = open(&store).await?;
    log.append(entry(1)).await?;
    store.inject(fault);
    let receipt = log.append(entry(2)).await?;
    log.append(entry(3)).await?;
    assert_eq!(payloads(&all(&log).await?), [1, 2, 3], "{fault:?}");
    Ok((store, log, receipt))
}

/// ARCHITECTURE.md §2.6.
#[tokio::test(start_paused = true)]
async fn an_unknown_outcome_is_resolved_whichever_it_was() -> anyhow::Result<()> {
    for (fault, attempts) in [
        (Fault::Unavailable, 4),
        (Fault::InDoubtNotWritten, 4),
        (Fault::InDoubtWritten, 4),
        (Fault::InDoubtWrittenLate, 4),
        (Fault::Delay(Duration::from_secs(2)), 3),
    ] {
        let (store, log, receipt) = append_through_fault(fault).await?;
        assert_eq!(receipt.first, Position(1), "{fault:?}");
        assert_eq!(store.appends(), attempts, "{fault:?}");
        assert!(!log.stopped().is_cancelled());
        log.close().await;
        let again = open(&store).await?;
        assert_eq!(payloads(&all(&again).await?), [1, 2, 3]);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn doubt_outlasts_any_timeout() -> anyhow::Result<()> {
    for fault in [Fault::InDoubtNotWritten, Fault::InDoubtWritten, Fault::InDoubtWrittenLate] {
        let store = MemStore::new();
        let log = open(&store).await?;
        store.inject(fault);
        let appending = tokio::spawn({
            let log = log.clone();
            async move { log.append(entry(1)).await }
        });
        while store.appends() == 0 {
            tokio::task::yield_now().await;
        }
        store.set_down(true);
        tokio::time::sleep(options().limits.store_timeout * 10).await;
        assert!(!appending.is_finished(), "{fault:?}");
        store.set_down(false);
        assert_eq!(appending.await??.first, Position(0));
        assert_eq!(payloads(&all(&log).await?), [1]);
    }
    Ok(())
}

/// ARCHITECTURE.md §2.6.
#[tokio::test(start_paused = true)]
async fn a_store_that_is_not_there_gives_entries_back() -> anyhow::Result<()> {
    let store = MemStore::new();
    let limits = Limits { cached_requests: 2, ..Limits::default() };
    let log = Log::open(store.clone(), Options { limits, ..options() }).await?;
    for n in [0, 200, 1] {
        log.append(entry(n)).await?;
    }
    store.set_down(true);
    let began = Instant::now();
    for outcome in join_all((2..6).map(|n| log.append(entry(n)))).await {
        assert!(matches!(outcome, Err(AppendError::Unavailable { .. })), "{outcome:?}");
    }
    let waited = began.elapsed();
    let timeout = options().limits.store_timeout;
    assert!(waited >= timeout && waited < timeout * 2, "{waited:?}");
    // Cached requests need no store; others cannot be looked up.
    let mut remembered = 0;
    for n in [0, 200, 1] {
        let key = RequestKey::new(ACTOR, RequestId([n; 16]));
        let (known, recall) = (log.lookup(key), log.recall(key, [n; 32]).await);
        match known {
            RequestLookup::Answered(_) => {
                assert!(matches!(recall, Ok(Recall::Repeated { .. })), "{recall:?}");
                remembered += 1;
            }
            RequestLookup::Unknown => {
                assert!(matches!(recall, Err(ReadError::Unavailable { .. })), "{n}")
            }
            RequestLookup::Fresh => panic!("{n} was answered"),
        }
    }
    assert_eq!(remembered, 2);
    store.set_down(false);
    log.append(entry(6)).await?;
    assert_eq!(payloads(&all(&log).await?), [0, 200, 1, 6]);
    // An entry that was given back may be sent again with its request id.
    log.append(entry(2)).await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_lost_log_fails_everyone_who_waits() -> anyhow::Result<()> {
    let store = MemStore::new();
    let limits = Limits { batch_events: 2, ..Limits::default() };
    let log = Log::open(store.clone(), Options { limits, ..options() }).await?;
    log.append(entry(1)).await?;
    let mut events = log.subscribe(Position(1));
    store.inject(Fault::LoseOwnership);
    for outcome in join_all((2..20).map(|n| log.append(entry(n)))).await {
        assert!(matches!(outcome, Err(AppendError::Lost)), "{outcome:?}");
    }
    timeout(Duration::from_secs(1), log.stopped().cancelled()).await?;
    let read = futures_util::StreamExt::next(&mut events).await;
    assert!(matches!(read, Some(Err(ReadError::Stopped))), "{read:?}");
    assert_eq!(payloads(&all(&log).await?), [1]);
    let outcome = log.append(entry(20)).await;
    assert!(matches!(outcome, Err(AppendError::Lost)), "{outcome:?}");
    timeout(Duration::from_secs(1), log.close()).await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn doubt_about_a_lost_log_is_reported_as_lost() -> anyhow::Result<()> {
    for (fault, written) in [(Fault::InDoubtNotWritten, vec![]), (Fault::InDoubtWritten, vec![1])] {
        let store = MemStore::new();
        let log = open(&store).await?;
        store.inject(fault);
        store.inject(Fault::LoseOwnership);
        let outcome = log.append(entry(1)).await;
        assert!(matches!(outcome, Err(AppendError::Lost)), "{outcome:?}");
        let next = Log::open(store, Options { take_over: true, ..options() }).await?;
        assert_eq!(payloads(&all(&next).await?), written, "{fault:?}");
    }
    Ok(())
}

/// ARCHITECTURE.md §7.6.
#[tokio::test(start_paused = true)]
async fn a_full_queue_refuses_and_forgets() -> anyhow::Result<()> {
    let store = MemStore::new();
    for limits in [
        Limits { queue_entries: 3, ..Limits::default() },
        // Each entry counts for a little more than its payload.
        Limits { queue_bytes: 3 * 150, batch_bytes: 150, ..Limits::default() },
    ] {
        let log = Log::open(store.clone(), Options { limits, ..options() }).await?;
        let before = log.size();
        store.inject(Fault::Delay(Duration::from_secs(1)));
        let outcomes =
            join_all((0..10).map(|n| log.append(Entry { request: None, ..entry(n) }))).await;
        let full = outcomes.iter().filter(|it| matches!(it, Err(AppendError::QueueFull))).count();
        let written = outcomes.iter().filter(|it| it.is_ok()).count() as u64;
        assert!(written >= 3 && full >= 5, "{outcomes:?}");
        assert_eq!(written + full as u64, 10, "{outcomes:?}");
        assert_eq!(log.size(), before + written);
        log.append(Entry { request: None, ..entry(1) }).await?;
        log.close().await;
    }
    Ok(())
}

/// ARCHITECTURE.md §2.5.
#[tokio::test(start_paused = true)]
async fn callers_share_commits() -> anyhow::Result<()> {
    let store = MemStore::new();
    let log = open(&store).await?;
    store.inject(Fault::Delay(Duration::from_millis(10)));
    for outcome in join_all((0..200).map(|n| log.append(entry(n)))).await {
        outcome?;
    }
    assert!(store.appends() <= 2, "{} commits", store.appends());
    assert_eq!(all(&log).await?.len(), 200);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_store_that_contradicts_itself_is_not_opened() -> anyhow::Result<()> {
    let store = MemStore::new();
    let log = open(&store).await?;
    log.append(entry(1)).await?;
    log.append(entry(2)).await?;
    log.close().await;
    store.lose_last_event(LOG);
    store.save_tree(LOG, 2, None);
    let outcome = open(&store).await.map(drop);
    let error = outcome.expect_err("an event is missing").downcast::<OpenError>()?;
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error:?}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_log_that_is_taken_while_it_is_opened_is_lost_and_not_corrupt() -> anyhow::Result<()> {
    let store = MemStore::new();
    open(&store).await?.append(entry(1)).await?;
    let taking = || Log::open(store.clone(), Options { take_over: true, ..options() });
    store.set_read_delay(Duration::from_secs(1));
    let first = taking();
    let second = async {
        store.set_read_delay(Duration::ZERO);
        taking().await?.append(entry(2)).await?;
        anyhow::Ok(())
    };
    let (first, second) = tokio::join!(first, second);
    second?;
    let first = first.map(drop);
    assert!(matches!(first, Err(OpenError::Lost { .. })), "{first:?}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_outage_longer_than_the_lease_ends_nothing() -> anyhow::Result<()> {
    let store = MemStore::new();
    let log = open(&store).await?;
    log.append(entry(1)).await?;
    store.set_down(true);
    tokio::time::sleep(options().lease * 4).await;
    let asked = log.confirm_ownership().await;
    assert!(matches!(asked, Err(AppendError::Unavailable { .. })), "{asked:?}");
    store.set_down(false);
    log.append(entry(2)).await?;
    assert_eq!(payloads(&all(&log).await?), [1, 2]);
    Ok(())
}

/// Appends do not renew the lease. It is renewed while one batch follows the other, and while one
/// takes long.
/// ARCHITECTURE.md §2.3.
#[tokio::test(start_paused = true)]
async fn a_busy_log_keeps_its_lease() -> anyhow::Result<()> {
    let (store, log) = (MemStore::new(), Options { lease: Duration::from_secs(5), ..options() });
    let log = Log::open(store.clone(), log).await?;
    for (count, delay_ms) in [(2000_u64, 10), (10, 4_000)] {
        let first = log.size();
        (0..count).for_each(|_| store.inject(Fault::Delay(Duration::from_millis(delay_ms))));
        let groups = (0..count).map(|n| {
            let entries = vec![Entry { request: None, ..entry(1) }];
            let place = Position(first + n);
            log.append_group(Group { entries, first: place, at: UnixMicros(0), rows: None })
        });
        let written = tokio::spawn(join_all(groups.collect::<Vec<_>>()));
        while !written.is_finished() {
            let other = Claim {
                log: LOG.into(),
                owner: "other".into(),
                address: "there".into(),
                lease: Duration::from_secs(5),
                take_over: false,
                clock: ClockReading { at: UnixMicros(0), skew: Duration::MAX },
            };
            let claimed = store.claim(&other).await?;
            assert!(matches!(claimed, ClaimOutcome::Held { .. }), "{claimed:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        written.await?.into_iter().try_for_each(|outcome| outcome.map(drop))?;
    }
    Ok(())
}

fn group(first: u64, n: u8) -> Group {
    let entries = vec![entry(n), entry(n + 1)];
    Group { entries, first: Position(first), at: UnixMicros(0), rows: None }
}

#[tokio::test(start_paused = true)]
async fn a_group_that_was_not_written_misplaces_those_after_it() -> anyhow::Result<()> {
    let store = MemStore::new();
    let log = open(&store).await?;
    store.set_down(true);
    let groups = [group(0, 1), group(2, 3), group(4, 5)].map(|group| log.append_group(group));
    let back = tokio::spawn({
        let store = store.clone();
        async move {
            tokio::time::sleep(options().limits.store_timeout * 2).await;
            store.set_down(false);
        }
    });
    let outcomes = join_all(groups).await;
    back.await?;
    let [Err(AppendError::Unavailable { .. }), rest @ ..] = &outcomes[..] else {
        anyhow::bail!("{outcomes:?}")
    };
    for outcome in rest {
        assert!(matches!(outcome, Err(AppendError::Misplaced { size: 0, .. })), "{outcome:?}");
    }
    log.append_group(group(0, 1)).await?;
    assert_eq!(payloads(&all(&log).await?), [1, 2]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_group_of_unknown_outcome_is_written_once() -> anyhow::Result<()> {
    for fault in [
        Fault::Unavailable,
        Fault::InDoubtNotWritten,
        Fault::InDoubtWritten,
        Fault::InDoubtWrittenLate,
    ] {
        let store = MemStore::new();
        let log = open(&store).await?;
        store.inject(fault);
        let groups = [group(0, 1), group(2, 3)].map(|group| log.append_group(group));
        for outcome in join_all(groups).await {
            assert_eq!(outcome?.len(), 2, "{fault:?}");
        }
        assert_eq!(payloads(&all(&log).await?), [1, 2, 3, 4], "{fault:?}");
    }
    Ok(())
}

/// Opens a log that can send batches ahead, since it has cached all streams. It meets `faults` from
/// its next append on, which is for position 3.
async fn opened_with(
    faults: impl IntoIterator<Item = Fault>,
) -> anyhow::Result<(Arc<MemStore>, Log)> {
    let store = MemStore::new();
    let log = open(&store).await?;
    for n in [7, 8, 9] {
        log.append(entry(n)).await?;
    }
    faults.into_iter().for_each(|fault| store.inject(fault));
    Ok((store, log))
}

/// The first batch is never written, however often it is tried; the one sent ahead behind it meets
/// `second`.
fn never_written(second: Fault) -> impl Iterator<Item = Fault> {
    [Fault::Unavailable, second].into_iter().chain(std::iter::repeat_n(Fault::Unavailable, 1000))
}

/// All pairs of faults of a batch and of the one that is sent ahead behind it.
fn pairs_of_faults() -> Vec<(Fault, Fault)> {
    let wait = Fault::Delay(Duration::from_millis(50));
    let faults = [
        Fault::Unavailable,
        Fault::InDoubtNotWritten,
        Fault::InDoubtWritten,
        Fault::InDoubtWrittenLate,
        wait,
    ];
    faults.iter().flat_map(|first| faults.map(|second| (*first, second))).collect()
}

#[tokio::test(start_paused = true)]
async fn two_groups_of_unknown_outcome_are_written_once_and_in_order() -> anyhow::Result<()> {
    for (first, second) in pairs_of_faults() {
        let (_, log) = opened_with([first, second]).await?;
        let groups = [group(3, 1), group(5, 3), group(7, 5)].map(|it| log.append_group(it));
        for outcome in join_all(groups).await {
            assert_eq!(outcome?.len(), 2, "{first:?}, {second:?}");
        }
        assert_eq!(
            payloads(&all(&log).await?),
            [7, 8, 9, 1, 2, 3, 4, 5, 6],
            "{first:?}, {second:?}"
        );
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn doubt_behind_what_was_not_written_ends_the_log() -> anyhow::Result<()> {
    for (second, lost) in [(Fault::InDoubtNotWritten, true), (Fault::Unavailable, false)] {
        let (_, log) = opened_with(never_written(second)).await?;
        let outcomes = join_all([group(3, 1), group(5, 3)].map(|it| log.append_group(it))).await;
        let as_it_must_be = match &outcomes[..] {
            [Err(AppendError::Lost), Err(AppendError::Lost)] => lost,
            [Err(AppendError::Unavailable { .. }), Err(AppendError::Misplaced { .. })] => !lost,
            _ => false,
        };
        assert!(as_it_must_be, "{second:?}: {outcomes:?}");
        assert_eq!(log.stopped().is_cancelled(), lost);
    }
    Ok(())
}

/// Entries for two batches of plain entries, one sent ahead of the other.
const TWO_BATCHES: std::ops::Range<u8> = 100..180;

#[tokio::test(start_paused = true)]
async fn two_batches_of_unknown_outcome_are_written_once() -> anyhow::Result<()> {
    for (first, second) in pairs_of_faults() {
        let (store, log) = opened_with([first, second]).await?;
        let mut places = Vec::new();
        for outcome in join_all(TWO_BATCHES.map(|n| log.append(entry(n)))).await {
            places.push(outcome?.first.0);
        }
        assert_eq!(places, (3..83).collect::<Vec<_>>(), "{first:?}, {second:?}");
        let written = payloads(&all(&log).await?);
        assert_eq!(written[3..], TWO_BATCHES.collect::<Vec<_>>(), "{first:?}, {second:?}");
        assert_eq!(store.pipelined_appends(), 1, "{first:?}, {second:?}");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_batch_behind_one_that_was_not_written_is_given_back_or_in_doubt() -> anyhow::Result<()> {
    for (second, lost) in [(Fault::InDoubtNotWritten, true), (Fault::Unavailable, false)] {
        let (store, log) = opened_with(never_written(second)).await?;
        for outcome in join_all(TWO_BATCHES.map(|n| log.append(entry(n)))).await {
            let as_it_must_be = match &outcome {
                Err(AppendError::Lost) => lost,
                Err(AppendError::Unavailable { .. }) => !lost,
                _ => false,
            };
            assert!(as_it_must_be, "{second:?}: {outcome:?}");
        }
        assert!(store.pipelined_appends() > 0);
        assert_eq!(log.stopped().is_cancelled(), lost);
        assert_eq!(payloads(&store_events(&store).await?), [7, 8, 9]);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn groups_of_a_lost_log_are_lost() -> anyhow::Result<()> {
    let store = MemStore::new();
    let log = open(&store).await?;
    store.inject(Fault::LoseOwnership);
    let groups = [group(0, 1), group(2, 3)].map(|group| log.append_group(group));
    for outcome in join_all(groups).await {
        assert!(matches!(outcome, Err(AppendError::Lost)), "{outcome:?}");
    }
    Ok(())
}
