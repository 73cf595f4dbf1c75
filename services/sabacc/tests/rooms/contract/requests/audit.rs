//! Requests about hands that were played, disputes of them, and the logs.

use serde_json::{Value, json};

use super::Prepared;
use crate::contract::world::{World, request_id};
use crate::people::Guest;

pub(super) async fn audit_service(world: &World, method: &str) -> Option<Prepared> {
    match method {
        "GetHandBundle" | "AuditHand" => {
            let table = world.party().await.lock().await.table.to_string();
            Some(Prepared::anonymous(json!({ "table_id": table, "hand_no": "1" })))
        }
        "GetHand" => {
            let table = world.party().await.lock().await.table.to_string();
            Some(Prepared::anonymous(json!({ "table_id": table, "hand_no": "1" })))
        }
        "Subscribe" => Some(Prepared::anonymous(json!({ "log": "table", "from_position": "0" }))),
        _ => None,
    }
}

pub(super) async fn hand_service(world: &World, method: &str) -> Option<Prepared> {
    match method {
        "ListHands" => {
            let party = world.party().await.lock().await;
            let (table, player) = (party.table.to_string(), party.guests[0].id.to_string());
            let request = json!({ "table_id": table, "player_id": player, "page_size": 2 });
            Some(Prepared::anonymous(request))
        }
        "ListPlayerHands" => {
            let token = world.party().await.lock().await.guests[0].token.clone();
            Some(Prepared::by(token, json!({ "page_size": 2 })))
        }
        _ => None,
    }
}

pub(super) async fn dispute_service(world: &World, method: &str) -> Option<Prepared> {
    Some(match method {
        "OpenDispute" => {
            let (player, request) = dispute(world).await;
            Prepared::by(player.token, request).or("text", "something else")
        }
        "ListDisputes" => Prepared::by(world.newcomer().token, json!({ "page_size": 2 })),
        "GetDispute" => {
            let (player, id) = disputed(world).await;
            Prepared::by(player.token, json!({ "dispute_id": id }))
        }
        "AnswerDispute" => {
            let (_, id) = disputed(world).await;
            let request = json!({
                "request_id": request_id(),
                "dispute_id": id,
                "verdict": "DISPUTE_VERDICT_REJECTED",
                "text": "every check passes",
            });
            Prepared::by(world.auditor(), request).or("text", "another answer")
        }
        _ => return None,
    })
}

async fn dispute(world: &World) -> (Guest, Value) {
    let (player, table, hand_no) = world.disputer().await;
    let request = json!({
        "request_id": request_id(),
        "table_id": table.to_string(),
        "hand_no": hand_no.to_string(),
        "text": "the cards were known",
    });
    (player, request)
}

/// Opens a dispute; returns who has opened it, and its id.
async fn disputed(world: &World) -> (Guest, Value) {
    let (player, request) = dispute(world).await;
    let name = "sabacc.audit.v1.DisputeService/OpenDispute";
    let opened = world.done(name, Some(player.token.clone()), request).await["dispute_id"].take();
    (player, opened)
}

pub(super) fn log_service(world: &World, method: &str) -> Option<Prepared> {
    let anonymous = Prepared::anonymous;
    Some(match method {
        "GetCheckpoint" => anonymous(json!({ "log": "table" })),
        "GetTile" => anonymous(json!({ "log": "table", "level": 0, "index": "0", "width": 1 })),
        "GetEntries" => anonymous(json!({ "log": "table", "index": "0", "width": 1 })),
        "ProveInclusion" => anonymous(json!({ "log": "table", "position": "0" })),
        "ProveConsistency" => anonymous(json!({ "log": "table", "old_size": "1" })),
        "ReadRecords" => {
            let selection = json!({ "positions": { "first": "0", "count": 1 } });
            let request = json!({ "log": "table", "selections": [selection] });
            Prepared::by(world.auditor(), request)
        }
        _ => return None,
    })
}
