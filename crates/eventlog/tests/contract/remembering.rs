use eventlog::{Known, Limits, Log, Options, Recall, RequestId, Stored};

use crate::world::{World, answering, digest, request};

/// A log that remembers few requests.
async fn forgetful(world: &World, requests: usize) -> anyhow::Result<Log> {
    let limits = Limits { requests, ..Limits::default() };
    Ok(Log::open(world.store.clone(), Options { limits, ..world.options("first") }).await?)
}

async fn answer(log: &Log, id: RequestId) -> anyhow::Result<Stored> {
    let command = format!("{id}");
    let entry = answering(id, &command);
    let answer = entry.request.as_ref().map(|it| it.answer.clone()).unwrap_or_default();
    let first = log.append(entry).await?.first;
    Ok(Stored { id, digest: digest(&command), first, answer })
}

fn v7(millis: u64, tail: u8) -> RequestId {
    let mut id = [tail; 16];
    id[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
    id[6] = 0x70;
    RequestId(id)
}

fn v4(n: u8) -> RequestId {
    let mut id = [n.wrapping_mul(0x9d); 16];
    (id[6], id[8]) = (0x40, 0x80);
    RequestId(id)
}

pub(crate) async fn what_was_answered_is_known_at_once(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    assert_eq!(log.known(request(1)), Known::Fresh);
    let stored = answer(&log, request(1)).await?;
    assert_eq!(log.known(request(1)), Known::Stored(stored.clone()));
    assert_eq!(log.known(request(2)), Known::Fresh);
    let found = log.recall_many(&[request(1), request(2), request(1)]).await?;
    assert_eq!(found, [(request(1), stored)].into());
    assert_eq!(log.recall_many(&[]).await?, [].into());
    Ok(())
}

pub(crate) async fn what_is_below_the_floor_is_asked_for(world: World) -> anyhow::Result<()> {
    let log = forgetful(&world, 3).await?;
    let mut all = Vec::new();
    for millis in [50, 10, 40, 20, 30, 60, 5] {
        all.push(answer(&log, v7(millis, 1)).await?);
    }
    let kept = [40, 50, 60].map(|millis| v7(millis, 1));
    for stored in &all {
        let expected =
            if kept.contains(&stored.id) { Known::Stored(stored.clone()) } else { Known::Ask };
        assert_eq!(log.known(stored.id), expected);
        let Recall::Same { first, .. } = log.recall(stored.id, stored.digest).await? else {
            anyhow::bail!("{} was forgotten", stored.id)
        };
        assert_eq!(first, stored.first);
        assert_eq!(log.recall(stored.id, digest("other")).await?, Recall::Different);
    }
    // Never seen: above the floor memory says so, below only the store.
    for (id, known) in [(v7(45, 9), Known::Fresh), (v7(7, 9), Known::Ask)] {
        assert_eq!(log.known(id), known);
        assert_eq!(log.recall(id, [0; 32]).await?, Recall::Fresh);
    }
    let ids: Vec<RequestId> = all.iter().map(|it| it.id).chain([v7(7, 9), v7(45, 9)]).collect();
    let found = log.recall_many(&ids).await?;
    assert_eq!(found, all.into_iter().map(|stored| (stored.id, stored)).collect());
    Ok(())
}

pub(crate) async fn an_id_of_the_future_hides_nothing(world: World) -> anyhow::Result<()> {
    let log = forgetful(&world, 2).await?;
    answer(&log, RequestId([0xff; 16])).await?;
    for millis in 1..20 {
        let id = v7(millis, 0);
        assert_eq!(log.known(id), Known::Fresh);
        let stored = answer(&log, id).await?;
        assert_eq!(log.known(id), Known::Stored(stored));
    }
    assert!(matches!(log.known(RequestId([0xff; 16])), Known::Stored(_)));
    // Two of them take all the room there is: then the store is asked, and all is as it was.
    answer(&log, RequestId([0xfe; 16])).await?;
    for millis in 50..55 {
        let id = v7(millis, 0);
        assert_eq!(log.known(id), Known::Fresh);
        let stored = answer(&log, id).await?;
        assert_eq!(log.known(id), Known::Ask);
        assert!(matches!(log.recall(id, stored.digest).await?, Recall::Same { .. }));
        assert!(answer(&log, id).await.is_err());
    }
    Ok(())
}

pub(crate) async fn ids_without_a_time_are_remembered_too(world: World) -> anyhow::Result<()> {
    let log = forgetful(&world, 4).await?;
    for n in 0..40 {
        assert_eq!(log.recall(v4(n), [0; 32]).await?, Recall::Fresh);
        answer(&log, v4(n)).await?;
        for before in 0..=n {
            let digest = digest(&format!("{}", v4(before)));
            let recall = log.recall(v4(before), digest).await?;
            assert!(matches!(recall, Recall::Same { .. }), "{before} of {n}: {recall:?}");
        }
    }
    Ok(())
}

pub(crate) async fn memory_is_filled_when_the_log_is_opened(world: World) -> anyhow::Result<()> {
    let log = forgetful(&world, 100).await?;
    let mut all = Vec::new();
    for n in 0..12 {
        all.push(answer(&log, if n % 2 == 0 { v7(u64::from(n), n) } else { v4(n) }).await?);
    }
    log.close().await;
    all.sort_by_key(|stored| stored.id);
    for capacity in [0, 1, 5, 11, 12, 13] {
        let log = forgetful(&world, capacity).await?;
        for (stored, place) in all.iter().zip(0..) {
            let expected = if place + capacity >= all.len() {
                Known::Stored(stored.clone())
            } else {
                Known::Ask
            };
            assert_eq!(log.known(stored.id), expected, "{place} of {capacity}");
        }
        let below = if capacity >= all.len() { Known::Fresh } else { Known::Ask };
        assert_eq!(log.known(RequestId([0; 16])), below, "{capacity}");
        assert_eq!(log.known(RequestId([0xff; 16])), Known::Fresh);
        log.close().await;
    }
    Ok(())
}

pub(crate) async fn a_log_that_is_gone_claims_to_know_nothing(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    answer(&log, request(1)).await?;
    let other = log.clone();
    log.close().await;
    assert_eq!(other.known(request(1)), Known::Ask);
    assert_eq!(other.known(request(2)), Known::Ask);
    let next = world.open().await?;
    answer(&next, request(2)).await?;
    assert_eq!(other.recall(request(2), [0; 32]).await?, Recall::Different);
    Ok(())
}
