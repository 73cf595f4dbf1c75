use anyhow::ensure;
use eventlog::{AppendError, Entry, Position, Recall, RequestKey};

use crate::order::lawful;
use crate::world::{World, all, answering, digest, key, note, request};

/// ARCHITECTURE.md §2.9.
pub(crate) async fn a_repeat_gets_the_first_answer(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    assert_eq!(log.recall(key(request(1)), digest("bet 5")).await?, Recall::Fresh);
    log.append(note(1)).await?;
    let receipt = log.append(answering(request(1), "bet 5")).await?;
    let same = Recall::Repeated { answer: "answer to bet 5".into(), first: receipt.first };
    assert_eq!(log.recall(key(request(1)), digest("bet 5")).await?, same);
    assert_eq!(log.recall(key(request(1)), digest("bet 6")).await?, Recall::IdReused);
    assert_eq!(log.recall(key(request(2)), digest("bet 5")).await?, Recall::Fresh);

    // A repeat with other content gets the first request's record too.
    let repeat = log.append(answering(request(1), "bet 6")).await;
    let Err(AppendError::Duplicate { stored }) = repeat else {
        anyhow::bail!("a repeat was taken: {repeat:?}")
    };
    assert_eq!(stored.clone().recall(&digest("bet 5"), log.authenticator()), same);
    assert_eq!(stored.recall(&digest("bet 6"), log.authenticator()), Recall::IdReused);
    assert_eq!(log.size(), 2);
    assert_eq!(all(&log).await?[1].request_id, Some(request(1)));
    Ok(())
}

pub(crate) async fn a_repeat_fails_nobody_else(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    log.append(answering(request(0), "old")).await?;
    // Three entries of each id at once, among them the id that was answered before.
    let callers = (0..120_u8).map(|n| {
        let log = log.clone();
        tokio::spawn(async move { (n % 40, log.append(answering(request(n % 40), "x")).await) })
    });
    let mut taken = vec![0; 40];
    for caller in callers.collect::<Vec<_>>() {
        let (id, outcome) = caller.await?;
        match outcome {
            Ok(_) => taken[usize::from(id)] += 1,
            Err(AppendError::Duplicate { stored }) => assert_eq!(stored.key, key(request(id))),
            Err(error) => return Err(error.into()),
        }
    }
    ensure!(taken[0] == 0 && taken[1..].iter().all(|times| *times == 1), "{taken:?}");
    let events = all(&log).await?;
    assert_eq!((events.len(), log.size()), (40, 40));
    lawful(&events);
    Ok(())
}

/// ARCHITECTURE.md §2.9.
pub(crate) async fn an_id_belongs_to_its_caller(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    let by = |actor: &str, command| Entry { actor: actor.into(), ..answering(request(7), command) };
    let callers = ["player:a", "player:b", "operator:a", "service:table"];
    for (actor, command) in callers.iter().zip(["1", "2", "3", "4"]) {
        log.append(by(actor, command)).await?;
        let again = log.append(by(actor, "5")).await;
        assert!(matches!(again, Err(AppendError::Duplicate { .. })), "{actor}: {again:?}");
    }
    log.close().await;
    let log = world.open().await?;
    for (actor, command) in callers.iter().zip(["1", "2", "3", "4"]) {
        let recall = log.recall(RequestKey::new(actor, request(7)), digest(command)).await?;
        ensure!(matches!(recall, Recall::Repeated { .. }), "{actor}: {recall:?}");
    }
    let other = RequestKey::new("player:c", request(7));
    assert_eq!(log.recall(other, digest("1")).await?, Recall::Fresh);
    Ok(())
}

/// ARCHITECTURE.md §2.9.
pub(crate) async fn an_id_is_taken_for_ever(world: World) -> anyhow::Result<()> {
    let log = world.open().await?;
    let mut ids = vec![[0; 16], [0xff; 16]];
    // UUIDv7 of the years 1970 to 2100: the first two bytes count spans of 50 days.
    ids.extend((0..600_u16).step_by(7).map(|n| {
        let mut id = [0x70; 16];
        id[..2].copy_from_slice(&n.to_be_bytes());
        id
    }));
    for id in &ids {
        log.append(answering(eventlog::RequestId(*id), "once")).await?;
    }
    log.close().await;
    let log = world.open().await?;
    for (id, n) in ids.iter().zip(0..) {
        let again = log.append(answering(eventlog::RequestId(*id), "once")).await;
        let Err(AppendError::Duplicate { stored }) = again else {
            anyhow::bail!("{id:02x?} was taken twice")
        };
        assert_eq!(stored.first, Position(n));
    }
    Ok(())
}
