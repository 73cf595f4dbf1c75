//! One player fills the log: limits that change with every call, equal limits again and again, and
//! random request ids, each of which an unbounded log has to look up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use proto::wallet::v1::{Limits, SetLimitsRequest};
use system::ids::IdMaker;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{AttackContext, Outcome};
use crate::caller::{CallCounts, Caller, answered};

/// Calls in flight.
const MAX_IN_FLIGHT: usize = 8;
/// Maximum number of calls of each kind.
const MAX_CALLS: u64 = 3_000;
/// Recorded commands of one player in a day: less than a megabyte.
const MAX_RECORDED_PER_DAY: u64 = 1_000;
/// Random ids that are looked up within a second, with some tolerance for its start.
const MAX_LOOKED_UP: u64 = 3;

/// Content of a call.
#[derive(Clone, Copy)]
enum Kind {
    /// Other limits each time, under request ids of our clients.
    Changing,
    /// Equal limits, under request ids of our clients.
    Same,
    /// Equal limits, under random ids.
    Chosen,
}

pub(super) async fn run(stage: AttackContext<'_>) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::default();
    let (one, two) = (Caller::new(stage.room, 2).await?, Caller::new(stage.room, 3).await?);
    let before = stage.room.log_size("wallet").await?;
    let changing = flood(stage, &one, Kind::Changing).await;
    outcome.at_most(
        "changes of limits that were recorded",
        changing.accepted,
        MAX_RECORDED_PER_DAY,
    );
    // The current limits, for a player with commands left in the day.
    let first = flood_of(stage, &two, Kind::Same, 1).await;
    let same_before = settled_size(stage).await?;
    let same = flood_of(stage, &two, Kind::Same, 500).await;
    let grown = settled_size(stage).await?.saturating_sub(same_before);
    let hands = stage.crew.hands();
    outcome.note(format!("the wallet's log before: {before}, hands meanwhile: {hands}"));
    // The crew's hands and buy-ins add a few records to the same log.
    outcome.at_most("records for 500 times the same limits", grown, 250);
    let begun = Instant::now();
    let chosen = flood(stage, &two, Kind::Chosen).await;
    let seconds = begun.elapsed().as_secs() + 1;
    outcome.at_most("chosen ids that were accepted", chosen.accepted, seconds * MAX_LOOKED_UP);
    for sent in [changing, first, same, chosen] {
        outcome.sent.add_all(sent);
    }
    stage.stop.cancelled().await;
    Ok(outcome)
}

/// Returns the signed size of the log, once a checkpoint covers the calls.
async fn settled_size(stage: AttackContext<'_>) -> anyhow::Result<u64> {
    tokio::time::sleep(Duration::from_millis(1500)).await;
    stage.room.log_size("wallet").await
}

/// Sends as many calls as allowed, for at most a quarter of the available time.
async fn flood(stage: AttackContext<'_>, caller: &Caller, kind: Kind) -> CallCounts {
    flood_of(stage, caller, kind, MAX_CALLS).await
}

async fn flood_of(stage: AttackContext<'_>, caller: &Caller, kind: Kind, most: u64) -> CallCounts {
    let (count, end) = (Arc::new(AtomicU64::new(0)), Instant::now() + Duration::from_secs(25));
    let mut calling = JoinSet::new();
    for _ in 0..MAX_IN_FLIGHT {
        let (caller, count) = (caller.clone(), Arc::clone(&count));
        let stop = stage.stop.clone();
        calling.spawn(async move {
            let (mut sent, ids) = (CallCounts::default(), IdMaker::system());
            while Instant::now() < end && !stop.is_cancelled() {
                let number = count.fetch_add(1, Ordering::Relaxed);
                if number >= most {
                    break;
                }
                let request = set_limits(&ids, kind, number);
                let answer = answered(caller.wallet().set_limits(caller.request(request))).await;
                let unanswered =
                    answer.as_ref().err().is_some_and(|it| wire::status::reason_of(it).is_none());
                sent.count(answer);
                if unanswered {
                    // Without a connection the remaining calls are not used up.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
            sent
        });
    }
    let mut all = CallCounts::default();
    while let Some(sent) = calling.join_next().await {
        all.add_all(sent.unwrap_or_default());
    }
    all
}

fn set_limits(ids: &IdMaker, kind: Kind, number: u64) -> SetLimitsRequest {
    let day = match kind {
        Kind::Changing => 10_000_000 - number,
        Kind::Same | Kind::Chosen => 5_000_000,
    };
    let request_id = match kind {
        Kind::Changing | Kind::Same => ids.request_id().to_string(),
        Kind::Chosen => primitives::RequestId(ids.uuid_v4()).to_string(),
    };
    let limits = Limits { day: Some(day), ..Limits::default() };
    SetLimitsRequest { request_id, limits: Some(limits), ..SetLimitsRequest::default() }
}
