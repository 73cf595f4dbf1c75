//! A player uses up request ids that a table derives from its state.
//!
//! Anybody can compute the ids of the hands to come. The ids of other transfers depend on the time
//! at which the last hand before them was started, to the microsecond. Viewers of the table see
//! that time, so the ids are known once the hand has begun, and not before. Here an operator's
//! client is asked for it.

use std::time::Duration;

use client::Client;
use primitives::{RequestId, TableId, UnixMicros};
use proto::audit::v1::ListPlayerHandsRequest;
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
    let operator = stage.room.operator()?;
    let mut last: Option<StartedHand> = None;
    let mut used = std::collections::BTreeSet::new();
    'rounds: for _ in 0..MAX_ROUNDS {
        let hand_no = stage.crew.view().await?.hand_no;
        if last.is_none_or(|last| last.number < hand_no) {
            last = last_hand(stage, &operator).await?;
        }
        let mut wanted = hand_ids(table, hand_no);
        if let Some(last) = last {
            wanted.extend(transfer_ids(table, last, &victims));
        }
        wanted.retain(|id| !used.contains(id));
        for id in wanted {
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

/// A hand that was started, and when.
#[derive(Clone, Copy)]
struct StartedHand {
    number: u64,
    at: UnixMicros,
}

/// Returns the hand that was started last, as far as it is listed; none before the first.
async fn last_hand(
    stage: AttackContext<'_>,
    operator: &Client,
) -> anyhow::Result<Option<StartedHand>> {
    let Some(dealt_in) = stage.crew.guests.first() else { return Ok(None) };
    let request = ListPlayerHandsRequest {
        player_id: dealt_in.id.to_string(),
        table_id: stage.crew.table.to_string(),
        page_size: 1,
        ..ListPlayerHandsRequest::default()
    };
    let newest = operator.list_player_hands(request).await?.hands.into_iter().next();
    Ok(newest.and_then(|hand| {
        let at = wire::time::instant(hand.start_time?)?;
        Some(StartedHand { number: hand.hand_no, at })
    }))
}

/// Returns the ids of the settlements of this hand and of later ones.
fn hand_ids(table: TableId, hand_no: u64) -> Vec<[u8; 16]> {
    let numbers = hand_no..=hand_no + HANDS_AHEAD;
    numbers.map(|number| *fairness::hand_id(table, number).bytes()).collect()
}

/// Returns ids of transfers after a hand, if it is the table's last: of the pot's refund, of shares
/// of players who left.
fn transfer_ids(table: TableId, last: StartedHand, victims: &[[u8; 16]]) -> Vec<[u8; 16]> {
    let StartedHand { number, at } = last;
    let number = number.to_be_bytes();
    let mut ids = vec![derived("refund", at, &[table.bytes(), &number, &[]])];
    for player in victims {
        ids.push(derived("absent", at, &[table.bytes(), player, &number]));
    }
    ids
}

/// Derives an id as the table service does.
fn derived(what: &str, at: UnixMicros, parts: &[&[u8]]) -> [u8; 16] {
    let time = at.0.to_be_bytes();
    let first: [&[u8]; 2] = [what.as_bytes(), &time];
    let mut hash = Sha256::new();
    hash.update(b"sabacc/request-id/v3");
    for part in first.iter().chain(parts) {
        hash.update(u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
        hash.update(part);
    }
    let hash: [u8; 32] = hash.finalize().into();
    let mut id = [0; 16];
    id.copy_from_slice(&hash[..16]);
    RequestId::derived(at, id).0
}
