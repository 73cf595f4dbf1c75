//! Contract of a store for the writer, call by call.

use std::time::Duration;

use eventlog::store::{AppendOutcome, Batch, Claim, ClaimOutcome, ClockReading, Fence, Renewal};
use eventlog::{
    AnsweredRequest, Event, Position, RequestKey, Store, StreamEnd, UnixMicros, Version,
};
use eventlog_core::record::chain_hash;

use crate::world::{LOG, World, request, stream};

const LEASE: Duration = Duration::from_secs(60);

/// Reading of the test's own clock, which is not compared with the store's.
fn clock(at: u64) -> ClockReading {
    ClockReading { at: UnixMicros(at), skew: Duration::MAX }
}

fn claim(owner: &str, take_over: bool) -> Claim {
    Claim {
        log: LOG.into(),
        owner: owner.into(),
        address: format!("{owner}:1").into(),
        lease: LEASE,
        take_over,
        clock: clock(1),
    }
}

async fn claimed(store: &dyn Store, claim: Claim) -> anyhow::Result<Fence> {
    match store.claim(&claim).await? {
        ClaimOutcome::Granted(fence) => Ok(fence),
        ClaimOutcome::Held { fence, .. } => anyhow::bail!("held by {}", fence.owner),
    }
}

pub(crate) fn event(position: u64, version: u64) -> Event {
    Event {
        position: Position(position),
        recorded_at: UnixMicros(77),
        stream: stream(1),
        version: Version(version),
        kind: 2,
        schema: 3,
        sealed: true,
        payload: "payload".into(),
        salt: [5; 16],
        author_hash: Event::hash_author("actor", Some(request(4)), &[6; 16]),
        request_id: Some(request(4)),
        actor: "actor".into(),
        trace: [6; 16],
        previous: [7; 32],
    }
}

/// Two adjacent events of one stream, the second linked to the first.
fn events(first: u64) -> [Event; 2] {
    let (one, two) = (event(first, first + 1), event(first + 1, first + 2));
    let previous = chain_hash(&one.record());
    [one, Event { previous, ..two }]
}

pub(crate) fn batch(epoch: u64, first: u64) -> Batch {
    Batch {
        log: LOG.into(),
        epoch,
        first,
        events: events(first).into(),
        requests: [].into(),
        rows: None,
        pipelined_after: None,
        clock: clock(78),
    }
}

/// Key that sorts by its number.
fn key(n: u8) -> RequestKey {
    RequestKey([n; 16])
}

fn stored(n: u8, first: u64) -> AnsweredRequest {
    let answer = vec![n].into();
    AnsweredRequest { key: key(n), tag: Some([n; 16]), first: Position(first), answer }
}

pub(crate) async fn a_claim_takes_waits_or_takes_over(world: World) -> anyhow::Result<()> {
    let store = &*world.store;
    assert_eq!(store.fence(LOG).await?, None);
    let first = claimed(store, claim("first", false)).await?;
    assert_eq!((first.size, first.alive_at), (0, None));
    let held = store.claim(&claim("second", false)).await?;
    let ClaimOutcome::Held { fence, remaining } = held else { anyhow::bail!("two owners") };
    assert_eq!((&*fence.owner, &*fence.address, fence.epoch), ("first", "first:1", first.epoch));
    assert!(remaining <= LEASE && remaining > LEASE / 2, "{remaining:?}");
    let second = claimed(store, claim("second", true)).await?;
    assert_ne!(second.epoch, first.epoch);
    assert_eq!(&*second.owner, "second");
    Ok(())
}

/// A database that fails over to a lagging replica forgets ownerships. An epoch that counts would
/// then give a number to two owners.
pub(crate) async fn no_two_ownerships_have_one_epoch(world: World) -> anyhow::Result<()> {
    let mut epochs = std::collections::BTreeSet::new();
    for _ in 0..20 {
        epochs.insert(claimed(&*world.store, claim("owner", true)).await?.epoch);
    }
    assert_eq!(epochs.len(), 20);
    let (first, last) = (epochs.first().copied(), epochs.last().copied());
    let spread = last.zip(first).map_or(0, |(last, first)| last - first);
    assert!(first > Some(0) && last <= Some(u64::MAX >> 1) && spread > 1 << 60, "{epochs:?}");
    Ok(())
}

pub(crate) async fn a_batch_goes_in_once_under_its_epoch_and_size(
    world: World,
) -> anyhow::Result<()> {
    let store = &*world.store;
    let one = claimed(store, claim("first", false)).await?.epoch;
    assert_eq!(store.append(&batch(one, 1)).await?, AppendOutcome::Fenced);
    assert_eq!(store.append(&batch(one ^ 1, 0)).await?, AppendOutcome::Fenced);
    assert_eq!(store.append(&batch(one, 0)).await?, AppendOutcome::Written);
    assert_eq!(store.append(&batch(one, 0)).await?, AppendOutcome::Fenced);
    let fence = store.fence(LOG).await?.ok_or_else(|| anyhow::anyhow!("no fence"))?;
    // An append leaves the lease and what is saved with it as they are.
    assert_eq!((fence.size, fence.alive_at), (2, None));
    assert_eq!((fence.saved_size, fence.tree), (0, None));
    let two = claimed(store, claim("second", true)).await?;
    assert_eq!(two.size, 2);
    let two = two.epoch;
    assert_eq!(store.append(&batch(one, 2)).await?, AppendOutcome::Fenced);
    assert_eq!(store.append(&batch(two, 2)).await?, AppendOutcome::Written);
    assert_eq!(store.read(LOG, Position(0), 10).await?, [events(0), events(2)].concat());
    let elsewhere = Batch { log: "nowhere".into(), ..batch(one, 0) };
    assert_eq!(store.append(&elsewhere).await?, AppendOutcome::Fenced);
    Ok(())
}

pub(crate) async fn a_repeated_request_keeps_the_batch_out(world: World) -> anyhow::Result<()> {
    let store = &*world.store;
    let one = claimed(store, claim("first", false)).await?.epoch;
    let first = Batch { requests: [stored(1, 0), stored(2, 1)].into(), ..batch(one, 0) };
    assert_eq!(store.append(&first).await?, AppendOutcome::Written);
    let second = Batch { requests: [stored(3, 2), stored(2, 3)].into(), ..batch(one, 2) };
    assert_eq!(store.append(&second).await?, AppendOutcome::Duplicate);
    assert_eq!(store.fence(LOG).await?.map(|fence| fence.size), Some(2));
    assert_eq!(store.read(LOG, Position(0), 10).await?.len(), 2);
    assert_eq!(store.requests(LOG, &[key(3)]).await?, []);
    // A mismatch of the fence is reported before a repeat.
    assert_eq!(store.append(&first).await?, AppendOutcome::Fenced);
    Ok(())
}

pub(crate) async fn lookups_find_what_is_there_and_nothing_else(
    world: World,
) -> anyhow::Result<()> {
    let store = &*world.store;
    let one = claimed(store, claim("first", false)).await?.epoch;
    let written = Batch { requests: [stored(1, 0), stored(2, 1)].into(), ..batch(one, 0) };
    store.append(&written).await?;
    let ends: Vec<_> = events(0)[1..].iter().cloned().map(StreamEnd::Stored).collect();
    assert_eq!(store.stream_ends(LOG, &[stream(1), stream(2)]).await?, ends);
    assert_eq!(store.stream_ends("nowhere", &[stream(1)]).await?, []);
    assert_eq!(store.requests(LOG, &[key(2), key(9)]).await?, [stored(2, 1)]);
    assert_eq!(store.requests("nowhere", &[key(2)]).await?, []);
    let latest = async |below: Option<u8>, limit| {
        let below = below.map(key);
        store.latest_keys(LOG, below, limit).await
    };
    assert_eq!(latest(None, 10).await?, [key(2), key(1)]);
    assert_eq!(latest(None, 1).await?, [key(2)]);
    assert_eq!(latest(Some(2), 10).await?, [key(1)]);
    assert_eq!(latest(Some(1), 10).await?, []);
    assert_eq!(store.latest_keys("nowhere", None, 10).await?, []);
    assert_eq!(store.read(LOG, Position(1), 10).await?, events(0)[1..]);
    assert_eq!(store.read(LOG, Position(0), 1).await?, [event(0, 1)]);
    assert_eq!(store.read_stream(LOG, stream(1), Version(2), 10).await?, events(0)[1..]);
    assert_eq!(store.read_stream(LOG, stream(2), Version(0), 10).await?, []);
    Ok(())
}

pub(crate) async fn a_lease_is_renewed_and_released_by_its_epoch(
    world: World,
) -> anyhow::Result<()> {
    let store = &*world.store;
    let one = claimed(store, claim("first", false)).await?.epoch;
    let renewal = |epoch, lease, alive_at: Option<u64>| Renewal {
        log: LOG.into(),
        epoch,
        lease,
        clock: clock(alive_at.unwrap_or(99)),
        is_serving: alive_at.is_some(),
        size: 0,
        tree: None,
    };
    let alive = async || anyhow::Ok(store.fence(LOG).await?.and_then(|fence| fence.alive_at));
    assert!(!store.renew(&renewal(one ^ 1, Duration::ZERO, Some(9))).await?);
    assert!(store.renew(&renewal(one, LEASE, None)).await?);
    assert_eq!(alive().await?, None);
    assert!(store.renew(&renewal(one, LEASE, Some(50))).await?);
    assert!(store.renew(&renewal(one, LEASE, Some(40))).await?);
    assert!(store.renew(&renewal(one, LEASE, None)).await?);
    assert_eq!(alive().await?, Some(UnixMicros(50)));
    let more = Renewal { size: 1, ..renewal(one, LEASE, None) };
    assert!(!store.renew(&more).await?, "a store with fewer events than were committed");
    assert_eq!(store.append(&batch(one, 0)).await?, AppendOutcome::Written);
    let saved = Renewal { size: 2, tree: Some(vec![[9; 32]]), ..renewal(one, LEASE, None) };
    assert!(store.renew(&saved).await?);
    assert!(store.renew(&renewal(one, Duration::ZERO, None)).await?);
    let second = claimed(store, claim("second", false)).await?;
    assert_eq!(second.alive_at, Some(UnixMicros(50)));
    assert_eq!((second.saved_size, second.tree), (2, Some(vec![[9; 32]])));
    assert!(!store.renew(&renewal(one, LEASE, None)).await?, "it is another's by now");
    Ok(())
}
