use anyhow::Context as _;
use eventlog::{
    AnsweredRequest, AppendError, Entry, KnownRequest, Limits, Log, Options, Recall, Request,
    RequestId, RequestKey, RequestLookup,
};
use futures_util::future::join_all;

use crate::world::{World, answering, digest, key, request};

/// Opens a log that caches few requests.
async fn open_with_cache_of(world: &World, requests: usize) -> anyhow::Result<Log> {
    let limits = Limits { cached_requests: requests, ..crate::world::limits() };
    Ok(Log::open(world.store.clone(), Options { limits, ..world.options("first") }).await?)
}

async fn answer(log: &Log, id: RequestId) -> anyhow::Result<AnsweredRequest> {
    appended(log, answering(id, &format!("{id}"))).await
}

/// Appends an entry; gives the record of its request.
async fn appended(log: &Log, entry: Entry) -> anyhow::Result<AnsweredRequest> {
    let key = entry.key().context("it answers a request")?;
    let Request { digest, answer, .. } = entry.request.clone().context("it answers a request")?;
    let first = log.append(entry).await?.first;
    let tag = log.authenticator().tag(key, &digest, first, &answer);
    Ok(AnsweredRequest { key, tag: Some(tag), first, answer })
}

/// Whether the log recalls what [`answer`] has appended.
async fn is_recalled(log: &Log, id: RequestId, stored: &AnsweredRequest) -> anyhow::Result<bool> {
    let recall = log.recall(stored.key, digest(&format!("{id}"))).await?;
    Ok(recall == Recall::Repeated { answer: stored.answer.clone(), first: stored.first })
}

/// Time of the world's clock, in milliseconds.
const NOW: u64 = 1_700_000_000_000;

/// UUIDv7 that is `millis` milliseconds after `NOW`.
fn v7(millis: u64, tail: u8) -> RequestId {
    let mut id = [tail; 16];
    id[..6].copy_from_slice(&(NOW + millis).to_be_bytes()[2..]);
    (id[6], id[8]) = (0x70, 0x80);
    RequestId(id)
}

fn v4(n: u8) -> RequestId {
    let mut id = [n.wrapping_mul(0x9d); 16];
    (id[6], id[8]) = (0x40, 0x80);
    RequestId(id)
}

/// Appends a service's request with a derived id.
async fn derived(log: &Log, n: u8) -> anyhow::Result<AnsweredRequest> {
    let id = RequestId([n; 16]);
    appended(log, Entry { actor: "service:table".into(), ..answering(id, "derived") }).await
}

pub(crate) async fn what_was_answered_is_known_at_once(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    let (one, two) = (v7(0, 1), v7(0, 2));
    assert_eq!(log.lookup(key(one)), RequestLookup::Fresh);
    let stored = answer(&log, one).await?;
    assert_eq!(log.lookup(key(one)), RequestLookup::Answered(stored.clone()));
    assert_eq!(log.lookup(key(two)), RequestLookup::Fresh);
    let found = log.recall_many(&[key(one), key(two), key(one)]).await?;
    assert_eq!(found, [(key(one), KnownRequest::Answered(stored))].into());
    assert_eq!(log.recall_many(&[]).await?, [].into());
    Ok(())
}

pub(crate) async fn what_is_below_the_floor_is_asked_for(world: World) -> anyhow::Result<()> {
    let log = open_with_cache_of(&world, 3).await?;
    let (mut all, ids) = (Vec::new(), [50, 10, 40, 20, 30, 60, 5].map(|millis| v7(millis, 1)));
    for id in ids {
        all.push(answer(&log, id).await?);
    }
    let kept = [40, 50, 60].map(|millis| key(v7(millis, 1)));
    for (id, stored) in ids.into_iter().zip(&all) {
        let expected = if kept.contains(&stored.key) {
            RequestLookup::Answered(stored.clone())
        } else {
            RequestLookup::Unknown
        };
        assert_eq!(log.lookup(stored.key), expected);
        assert!(is_recalled(&log, id, stored).await?, "{:?} was forgotten", stored.key);
        assert_eq!(log.recall(stored.key, digest("other")).await?, Recall::IdReused);
    }
    // New ids: above the floor the cache knows that, below it only the store does.
    let (above, below) = (key(v7(45, 9)), key(v7(7, 9)));
    for (key, known) in [(above, RequestLookup::Fresh), (below, RequestLookup::Unknown)] {
        assert_eq!(log.lookup(key), known);
        assert_eq!(log.recall(key, [0; 32]).await?, Recall::Fresh);
    }
    let keys: Vec<RequestKey> = all.iter().map(|it| it.key).chain([above, below]).collect();
    let found = log.recall_many(&keys).await?;
    assert_eq!(found, all.into_iter().map(|it| (it.key, KnownRequest::Answered(it))).collect());
    Ok(())
}

/// Ids from the future, or without a time, displace nothing from the cache: present ids are found
/// there, and the others in the store.
pub(crate) async fn chosen_ids_hide_nothing(world: World) -> anyhow::Result<()> {
    const HOUR: u64 = 3_600_000;
    let log = open_with_cache_of(&world, 3).await?;
    let first = answer(&log, v7(0, 0)).await?;
    for n in 0..40 {
        for chosen in [v4(n), v7(HOUR + u64::from(n), n)] {
            assert_eq!(log.lookup(key(chosen)), RequestLookup::Unknown);
            let stored = answer(&log, chosen).await?;
            assert_eq!(log.lookup(stored.key), RequestLookup::Unknown);
            anyhow::ensure!(is_recalled(&log, chosen, &stored).await?, "{n} was forgotten");
            anyhow::ensure!(answer(&log, chosen).await.is_err(), "{n} is taken twice");
        }
        assert_eq!(log.lookup(key(v7(1, n))), RequestLookup::Fresh);
    }
    assert_eq!(log.lookup(first.key), RequestLookup::Answered(first));
    Ok(())
}

/// Of what was answered before, keys are in memory and answers in the store.
pub(crate) async fn memory_is_filled_when_the_log_is_opened(world: World) -> anyhow::Result<()> {
    let log = open_with_cache_of(&world, 100).await?;
    let (mut timed, mut by_service) = (Vec::new(), Vec::new());
    for n in 0..12 {
        timed.push(answer(&log, v7(u64::from(n), n)).await?);
        by_service.push(derived(&log, n + 1).await?);
        answer(&log, v4(n)).await?;
        answer(&log, v7(3_600_000 + u64::from(n), n)).await?;
    }
    log.close().await;
    by_service.sort_by_key(|stored| stored.key);
    let mut before = timed[0].key;
    before.0[6..].fill(0);
    for capacity in [0, 1, 5, 11, 12, 13] {
        let log = open_with_cache_of(&world, capacity).await?;
        for all in [&timed, &by_service] {
            for (stored, place) in all.iter().zip(0_usize..) {
                assert_eq!(log.lookup(stored.key), RequestLookup::Unknown, "{place} of {capacity}");
                let known = log.recall_many(&[stored.key]).await?;
                assert_eq!(known, [(stored.key, KnownRequest::Answered(stored.clone()))].into());
            }
        }
        let below =
            if capacity >= timed.len() { RequestLookup::Fresh } else { RequestLookup::Unknown };
        assert_eq!(log.lookup(before), below, "{capacity}");
        assert_eq!(log.lookup(key(v7(13, 0))), RequestLookup::Fresh);
        log.close().await;
    }
    Ok(())
}

pub(crate) async fn a_log_that_is_gone_claims_to_know_nothing(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    answer(&log, request(1)).await?;
    let other = log.clone();
    log.close().await;
    assert_eq!(other.lookup(key(request(1))), RequestLookup::Unknown);
    assert_eq!(other.lookup(key(request(2))), RequestLookup::Unknown);
    let next = world.open().await?;
    answer(&next, request(2)).await?;
    assert_eq!(other.recall(key(request(2)), [0; 32]).await?, Recall::IdReused);
    Ok(())
}

/// An id that is new to the cache but not to the store is refused by the store once, and from then
/// on by the cache.
pub(crate) async fn a_repeat_that_the_store_refuses_is_remembered(
    world: World,
) -> anyhow::Result<()> {
    const DAY: u64 = 86_400_000;
    let log = world.open().await?;
    // More ids from the future than the cache holds, so that the first is dropped.
    let ids = (0..1_001).map(|n| v7(DAY + n, 1));
    let stored = join_all(ids.map(|id| answer(&log, id))).await;
    let first = stored.into_iter().next().ok_or_else(|| anyhow::anyhow!("there are some"))??;
    world.now.fetch_add(DAY * 1000, std::sync::atomic::Ordering::Relaxed);
    anyhow::ensure!(
        !matches!(log.lookup(first.key), RequestLookup::Answered(_)),
        "it is forgotten"
    );
    let again = log.append(answering(v7(DAY, 1), "again")).await;
    anyhow::ensure!(matches!(again, Err(AppendError::Duplicate { .. })), "{again:?}");
    assert_eq!(log.lookup(first.key), RequestLookup::Answered(first));
    Ok(())
}
