//! Requests about people: names, sign-ins, revocations.

use serde_json::json;
use system::entropy::SystemEntropy;

use super::Prepared;
use crate::contract::world::{World, bytes, request_id};

pub(super) async fn people_service(world: &World, method: &str) -> Option<Prepared> {
    let id = request_id();
    Some(match method {
        "SetName" => {
            let request = json!({ "request_id": id, "name": "Lando" });
            Prepared::by(world.newcomer().token, request).or("name", "Han")
        }
        "GetPlayer" => {
            let player = world.party().await.lock().await.guests[0].id;
            Prepared::anonymous(json!({ "player_id": player.to_string() }))
        }
        "MarkPlayer" => {
            let player = world.newcomer().id.to_string();
            let request = json!({ "request_id": id, "player_id": player, "bot": true });
            Prepared::by(world.operator(), request).or("bot", false)
        }
        "SignInAsGuest" => {
            let secret = bytes(system::entropy::bytes::<32>(&SystemEntropy));
            let request = json!({ "request_id": id, "name": "Chewie", "sign_in_secret": secret });
            Prepared::anonymous(request).or("name", "Han")
        }
        "Refresh" => {
            let secret = bytes(system::entropy::bytes::<32>(&SystemEntropy));
            let request = json!({ "request_id": request_id(), "sign_in_secret": secret });
            let name = "sabacc.table.v1.PeopleService/SignInAsGuest";
            let signed_in = world.done(name, None, request).await;
            let token = &signed_in["tokens"]["refresh_token"];
            Prepared::anonymous(json!({ "request_id": id, "refresh_token": token }))
        }
        "SignOut" => {
            let request = json!({ "request_id": id });
            let by = Prepared::by(world.newcomer().token, request);
            Prepared { revokes_token: true, ..by }
        }
        "RevokeTokens" => {
            let subject = world.newcomer().id.to_string();
            let request = json!({ "request_id": id, "subject": subject, "reason": "asked to" });
            Prepared::by(world.operator(), request).or("reason", "another")
        }
        "ErasePlayer" => {
            let player = world.player().await.id.to_string();
            let request = json!({ "request_id": id, "player_id": player, "reason": "asked to" });
            Prepared::by(world.operator(), request).or("reason", "another")
        }
        _ => return None,
    })
}
