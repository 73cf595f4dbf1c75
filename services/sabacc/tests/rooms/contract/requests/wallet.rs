//! Requests about credits.

use serde_json::{Value, json};

use super::Prepared;
use crate::contract::world::{World, request_id};

pub(super) async fn wallet_service(world: &World, method: &str) -> Option<Prepared> {
    match method {
        "GetAccount" | "ListEntries" | "ExportStatement" | "GetLimits" | "SetLimits"
        | "Exclude" => Some(of_a_player(world, method).await),
        "ProposeAdjustment" | "ApproveAdjustment" | "RejectAdjustment" | "ListAdjustments" => {
            Some(adjustment(world, method).await)
        }
        _ => by_an_operator(world, method).await,
    }
}

async fn of_a_player(world: &World, method: &str) -> Prepared {
    let player = world.player().await;
    let (id, own) = (request_id(), player.id.to_string());
    let prepared = |json| Prepared::by(player.token, json);
    match method {
        "ListEntries" => prepared(json!({ "player_id": own, "page_size": 2 })),
        "ExportStatement" => {
            prepared(json!({ "player_id": own, "format": "STATEMENT_FORMAT_JSON" }))
        }
        "SetLimits" => {
            let limits = json!({ "day": "1000", "week": "2000" });
            prepared(json!({ "request_id": id, "player_id": own, "limits": limits }))
                .or("limits.day", "999")
        }
        "Exclude" => {
            let until = "2100-01-01T00:00:00Z";
            prepared(json!({ "request_id": id, "player_id": own, "end_time": until }))
                .or("end_time", "2100-01-02T00:00:00Z")
        }
        _ => prepared(json!({ "player_id": own })),
    }
}

async fn by_an_operator(world: &World, method: &str) -> Option<Prepared> {
    let id = request_id();
    let operator = |json| Prepared::by(world.operator(), json);
    let about =
        |player: &str| json!({ "request_id": id, "player_id": player, "reason": "asked to" });
    Some(match method {
        "OpenAccount" => {
            let [player, other] = [(); 2].map(|()| world.newcomer().id.to_string());
            operator(json!({ "request_id": id, "player_id": player })).or("player_id", other)
        }
        "OpenAccounts" => {
            let players = [(); 3].map(|()| world.newcomer().id.to_string());
            operator(json!({ "request_id": id, "player_ids": players[..2] }))
                .or("player_ids", json!(players[2..]))
        }
        "FreezeAccount" => {
            operator(about(&world.player().await.id.to_string())).or("reason", "another")
        }
        "UnfreezeAccount" => {
            let player = world.player().await.id.to_string();
            let freeze =
                json!({ "request_id": request_id(), "player_id": player, "reason": "asked to" });
            let name = "sabacc.wallet.v1.WalletService/FreezeAccount";
            world.done(name, Some(world.operator()), freeze).await;
            operator(about(&player)).or("reason", "another")
        }
        "CloseAccount" => {
            let player = world.newcomer();
            player.client.open_account(None).await.unwrap();
            operator(about(&player.id.to_string())).or("reason", "another")
        }
        "Issue" | "Redeem" => {
            let mut request = about(&world.player().await.id.to_string());
            request["amount_credits"] = "5".into();
            operator(request).or("amount_credits", "6")
        }
        _ => return None,
    })
}

async fn adjustment(world: &World, method: &str) -> Prepared {
    let operator = |json| Prepared::by(world.operator(), json);
    let id = request_id();
    match method {
        "ProposeAdjustment" => operator(proposal(world, id).await).or("amount_credits", "-6"),
        "ListAdjustments" => operator(json!({ "page_size": 2 })),
        _ => {
            let [proposed, other] = [propose(world).await, propose(world).await];
            let mut request = json!({ "request_id": id, "adjustment_id": proposed });
            if method == "RejectAdjustment" {
                request["reason"] = "a mistake".into();
            }
            operator(request).or("adjustment_id", other)
        }
    }
}

async fn proposal(world: &World, request_id: String) -> Value {
    let account = format!("player/{}", world.player().await.id);
    let reason = "miscounted";
    json!({ "request_id": request_id, "account": account, "amount_credits": "-5", "reason": reason })
}

/// Has another operator propose an adjustment; returns its id.
async fn propose(world: &World) -> Value {
    let proposal = proposal(world, request_id()).await;
    let name = "sabacc.wallet.v1.WalletService/ProposeAdjustment";
    world.done(name, Some(world.other_operator()), proposal).await["adjustment_id"].take()
}
