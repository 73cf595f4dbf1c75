//! Eight players request audits of every finished hand, as often as each may call.

use std::time::Duration;

use primitives::TableId;
use proto::audit::v1::{AuditHandRequest, GetHandBundleRequest};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Outcome, Stage};
use crate::caller::{Caller, Sent, answered};

const PLAYERS: u8 = 8;
/// Calls in flight of one player.
const AT_ONCE: usize = 8;
/// Maximum number of calls of each task.
const MOST: u64 = 1000;
/// Pause between two calls of a task. All tasks of a player together call as often as a player may.
const PAUSE: Duration = Duration::from_millis(400);
/// Maximum number of database sessions of all services, out of the server's hundred: the rest is
/// for operators and for new clients.
const CONNECTIONS: usize = 80;

pub(super) async fn run(stage: Stage<'_>) -> anyhow::Result<Outcome> {
    let finished = stage.crew.view().await?.hand_no.saturating_sub(2).max(1);
    let mut calling = JoinSet::new();
    for player in 0..PLAYERS {
        let caller = Caller::new(stage.room, 2 + player).await?;
        for first in 0..AT_ONCE {
            let first = u64::try_from(first)? + u64::from(player);
            let (table, stop) = (stage.crew.table, stage.stop.clone());
            calling.spawn(audit(caller.clone(), table, (first, finished), stop));
        }
    }
    let (mut outcome, mut most) = (Outcome::default(), 0);
    while !stage.stop.is_cancelled() {
        most = most.max(stage.room.database_connections()?);
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    while let Some(sent) = calling.join_next().await {
        outcome.sent.absorb(sent?);
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
    (first, finished): (u64, u64),
    stop: CancellationToken,
) -> Sent {
    let mut sent = Sent::default();
    let table_id = table.bytes().to_vec();
    for number in 0..MOST {
        if stop.is_cancelled() {
            break;
        }
        let hand_no = (first + number) % finished + 1;
        let table_id = table_id.clone();
        if number % 2 == 0 {
            let request = caller.says(AuditHandRequest { table_id, hand_no });
            sent.count(answered(caller.audit().audit_hand(request)).await);
        } else {
            let request = caller.says(GetHandBundleRequest { table_id, hand_no });
            sent.count(answered(caller.audit().get_hand_bundle(request)).await);
        }
        tokio::time::sleep(PAUSE).await;
    }
    sent
}
