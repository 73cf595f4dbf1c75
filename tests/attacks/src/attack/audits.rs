//! Eight players request audits of every finished hand, as often as each may call.

use std::time::Duration;

use primitives::TableId;
use proto::audit::v1::{AuditHandRequest, GetHandBundleRequest};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{AttackContext, Outcome};
use crate::caller::{CallCounts, Caller, answered};

const PLAYERS: u8 = 8;
/// Calls in flight of one player.
const IN_FLIGHT_PER_PLAYER: usize = 8;
/// Maximum number of calls of each task.
const MAX_CALLS: u64 = 1000;
/// Pause between two calls of a task. All tasks of a player together call as often as a player may.
const PAUSE: Duration = Duration::from_millis(400);
/// Maximum number of database sessions of all services, out of the server's hundred: the rest is
/// for operators and for new clients.
const CONNECTIONS: usize = 80;

pub(super) async fn run(stage: AttackContext<'_>) -> anyhow::Result<Outcome> {
    let finished = stage.crew.view().await?.hand_no.saturating_sub(2).max(1);
    let mut calling = JoinSet::new();
    for player in 0..PLAYERS {
        let caller = Caller::new(stage.room, 2 + player).await?;
        for first in 0..IN_FLIGHT_PER_PLAYER {
            let first = u64::try_from(first)? + u64::from(player);
            let (table, stop) = (stage.crew.table, stage.stop.clone());
            calling.spawn(audit(caller.clone(), table, first, finished, stop));
        }
    }
    let (mut outcome, mut most) = (Outcome::default(), 0);
    while !stage.stop.is_cancelled() {
        most = most.max(stage.room.database_connections()?);
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    while let Some(sent) = calling.join_next().await {
        outcome.sent.add_all(sent?);
    }
    outcome.at_most(
        "database sessions of all services",
        u64::try_from(most)?,
        u64::try_from(CONNECTIONS)?,
    );
    Ok(outcome)
}

async fn audit(
    caller: Caller,
    table: TableId,
    first: u64,
    finished: u64,
    stop: CancellationToken,
) -> CallCounts {
    let mut sent = CallCounts::default();
    let table_id = table.to_string();
    for number in 0..MAX_CALLS {
        if stop.is_cancelled() {
            break;
        }
        let hand_no = (first + number) % finished + 1;
        let table_id = table_id.clone();
        if number % 2 == 0 {
            let request = caller.request(AuditHandRequest { table_id, hand_no });
            sent.count(answered(caller.audit().audit_hand(request)).await);
        } else {
            let request = caller.request(GetHandBundleRequest { table_id, hand_no });
            sent.count(answered(caller.audit().get_hand_bundle(request)).await);
        }
        tokio::time::sleep(PAUSE).await;
    }
    sent
}
