//! Requests about the room as a whole.

use serde_json::json;

use super::Prepared;
use crate::contract::world::{World, request_id};

/// Game that nobody plays here.
const UNPLAYED_GAME: &str = "swg";

pub(super) async fn room_service(world: &World, method: &str) -> Option<Prepared> {
    let id = request_id();
    let operator = |json| Prepared::by(world.operator(), json);
    Some(match method {
        "GetRoom" => Prepared::anonymous(json!({})),
        "WatchRoom" => Prepared::by(world.auditor(), json!({})),
        "DisableTable" => {
            let table = world.new_table().await.to_string();
            let request = json!({ "request_id": id, "table_id": table, "reason": "a fault" });
            operator(request).or("reason", "another")
        }
        "EnableTable" => {
            let table = world.new_table().await.to_string();
            let disable =
                json!({ "request_id": request_id(), "table_id": table, "reason": "a fault" });
            let name = "sabacc.table.v1.RoomService/DisableTable";
            world.done(name, Some(world.operator()), disable).await;
            let request = json!({ "request_id": id, "table_id": table, "reason": "repaired" });
            operator(request).or("reason", "another")
        }
        // Other calls disable and enable the same game meanwhile: who changes nothing leaves no id behind.
        "DisableGame" | "EnableGame" => {
            operator(json!({ "request_id": id, "variant": UNPLAYED_GAME, "reason": "a fault" }))
        }
        _ => return None,
    })
}
