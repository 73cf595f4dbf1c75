//! Readers that do not read: each of three players opens as many streams of a table as a connection
//! takes, from the beginning of its history, and takes no message out of them.

use std::time::Duration;

use anyhow::Context as _;
use proto::table::v1::{WatchTableRequest, WatchTableResponse};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tonic::Streaming;

use super::{AttackContext, Outcome};
use crate::caller::{CallCounts, Caller, answered};

const PLAYERS: u8 = 3;
/// Streams requested on each connection.
const STREAMS: usize = 32;
const CONNECTIONS: usize = 3;
const OPENS_WITHIN: Duration = Duration::from_secs(2);
/// Pause between two calls: as often as a player may.
const PAUSE: Duration = Duration::from_millis(55);
/// Milliseconds within which an honest new reader must have a snapshot.
const MAX_SNAPSHOT_MS: u64 = 2_000;
/// Time after which the streams must have ended: the room allows a stream that takes nothing half a
/// minute.
const ENDED_WITHIN: Duration = Duration::from_secs(36);
/// Time for each stream to report its end.
const END_TIMEOUT: Duration = Duration::from_millis(125);

/// Opens as many streams as these connections take, as often as a player may call.
async fn open(
    connections: Vec<Caller>,
    watch: WatchTableRequest,
) -> (Vec<Streaming<WatchTableResponse>>, CallCounts) {
    let (mut streams, mut sent) = (Vec::new(), CallCounts::default());
    for caller in connections {
        for _ in 0..STREAMS {
            let request = caller.request(watch.clone());
            let mut client = caller.table();
            let opening = tokio::time::timeout(OPENS_WITHIN, client.watch_table(request));
            // A stream beyond the connection's limit is never opened.
            let Ok(opened) = opening.await else { break };
            streams.extend(sent.count(opened));
            tokio::time::sleep(PAUSE).await;
        }
    }
    (streams, sent)
}

pub(super) async fn run(stage: AttackContext<'_>) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::default();
    let watch = |resume_token: Vec<u8>| WatchTableRequest {
        table_id: stage.crew.table.to_string(),
        resume_token,
    };
    // From the table's first message, so that each stream is sent everything since.
    let honest = Caller::new(stage.room, 20).await?;
    let mut first = answered(honest.table().watch_table(honest.request(watch(Vec::new())))).await?;
    let token = first.get_mut().message().await?.context("a followed table has a snapshot")?;
    drop(first);
    stage.crew.wait_for_hands(20, Duration::from_secs(60)).await?;
    let mut opening = JoinSet::new();
    for player in 0..PLAYERS {
        let caller = Caller::new(stage.room, 2 + player).await?;
        let connections = (0..CONNECTIONS).map(|_| caller.reconnect(stage.room, 2 + player));
        let connections = connections.collect::<anyhow::Result<Vec<_>>>()?;
        opening.spawn(open(connections, watch(token.resume_token.clone())));
    }
    let mut unread: Vec<Streaming<WatchTableResponse>> = Vec::new();
    while let Some(opened) = opening.join_next().await {
        let (streams, sent) = opened?;
        unread.extend(streams);
        outcome.sent.add_all(sent);
    }
    outcome.note(format!("{} streams were opened and not read", unread.len()));
    let begun = Instant::now();
    let looked_at = begun + ENDED_WITHIN;
    let mut seen = answered(honest.table().watch_table(honest.request(watch(Vec::new())))).await;
    let snapshot = match &mut seen {
        Ok(stream) => tokio::time::timeout(Duration::from_secs(10), stream.get_mut().message())
            .await
            .is_ok_and(|message| message.is_ok_and(|message| message.is_some())),
        Err(_) => false,
    };
    let took = if snapshot { u64::try_from(begun.elapsed().as_millis())? } else { u64::MAX };
    outcome.at_most("milliseconds to a new reader's snapshot", took, MAX_SNAPSHOT_MS);
    stage.stop.cancelled().await;
    tokio::time::sleep_until(looked_at).await;
    let mut left = 0_u64;
    for stream in &mut unread {
        // Messages in flight are still delivered; the end follows them, if there was one.
        let drained = async { while let Ok(Some(_)) = stream.message().await {} };
        left += u64::from(tokio::time::timeout(END_TIMEOUT, drained).await.is_err());
    }
    outcome.at_most("unread streams that the room left open", left, 0);
    Ok(outcome)
}
