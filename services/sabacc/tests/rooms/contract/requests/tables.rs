//! Requests about tables, and about the games played there.

use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use serde_json::{Value, json};
use system::ids::IdMaker;

use super::Prepared;
use crate::contract::world::{World, bytes, quick_table, request_id};
use crate::people::turn_of;

pub(super) async fn table_service(world: &World, method: &str) -> Option<Prepared> {
    let id = request_id();
    let with_table = |table| json!({ "request_id": id, "table_id": table });
    Some(match method {
        "CreateTable" => {
            let config = world.json("sabacc.table.v1.TableConfig", &quick_table("contract"));
            let request = json!({ "request_id": id, "config": config });
            Prepared::by(world.operator(), request).or("config.name", "another")
        }
        "ListTables" => Prepared::anonymous(json!({ "page_size": 2 })),
        "ListSeats" => {
            let token = world.party().await.lock().await.guests[0].token.clone();
            Prepared::by(token, json!({ "page_size": 2 }))
        }
        "WatchLobby" => Prepared::anonymous(json!({})),
        "GetTable" => Prepared::anonymous(json!({ "table_id": shared_table(world).await })),
        "WatchTable" => Prepared::anonymous(json!({ "table_id": shared_table(world).await })),
        "Play" => {
            let watch = json!({ "watch": { "table_id": shared_table(world).await } });
            Prepared::by(world.newcomer().token, watch)
        }
        "SitDown" => sit_down(world, id).await,
        "StandUp" => {
            let (player, table) = world.seated().await;
            let request = with_table(table.to_string());
            Prepared::by(player.token, request).or("signature", bytes([7; 64]))
        }
        "SitOut" => {
            let (player, table) = world.seated().await;
            let request =
                json!({ "request_id": id, "table_id": table.to_string(), "sit_out": true });
            Prepared::by(player.token, request).or("sit_out", false)
        }
        "Act" => act(world).await,
        "CommitEntropy" => commit_entropy(world, id).await,
        "RevealEntropy" => reveal_entropy(world, id).await,
        "CloseTable" => {
            let other = world.new_table().await.to_string();
            let request = with_table(world.new_table().await.to_string());
            Prepared::by(world.operator(), request).or("table_id", other)
        }
        "ResumeTable" => {
            let request = json!({
                "request_id": id,
                "table_id": shared_table(world).await,
                "reason": "looked into",
                "resolution": "RESOLUTION_RETRY",
            });
            let refused = Some(ErrorReason::NothingStopped);
            Prepared { refused, ..Prepared::by(world.operator(), request) }
        }
        _ => return None,
    })
}

pub(super) fn rules_service(method: &str) -> Option<Prepared> {
    Some(Prepared::anonymous(match method {
        "ListVariants" => json!({}),
        "GetVariant" => json!({ "variant": "kessel" }),
        "ExplainRules" => {
            let field = json!({ "name": "hand_ante", "number": "5" });
            json!({ "proposed": { "variant": "dice", "rule_set": [field], "action_seconds": 30 } })
        }
        _ => return None,
    }))
}

async fn shared_table(world: &World) -> String {
    world.party().await.lock().await.table.to_string()
}

async fn sit_down(world: &World, id: String) -> Prepared {
    let (player, table) = (world.player().await, world.new_table().await);
    let least = player.client.get_table(table).await.unwrap().min_buy_in_credits;
    let request = json!({
        "request_id": id,
        "table_id": table.to_string(),
        "seat": 1,
        "buy_in_credits": least.to_string(),
    });
    Prepared::by(player.token, request).or("buy_in_credits", (least + 1).to_string())
}

async fn act(world: &World) -> Prepared {
    let party = world.playing().await;
    let (guest, view) = party.turn().await;
    let act = party.act_request(guest, &view, IdMaker::system().request_id());
    let act = pb::ActRequest { decision: turn_of(&view).unwrap().default_move.clone(), ..act };
    let request = world.json("sabacc.table.v1.ActRequest", &act);
    let fold = json!({ "kind": "MOVE_KIND_FOLD" });
    Prepared::by(&*party.guests[guest].token, request).or("decision", fold)
}

async fn commit_entropy(world: &World, id: String) -> Prepared {
    let two = world.contributing().await;
    let asked = |view: &pb::TableView| view.next_hand.is_some() || view.entropy.is_some();
    let view = two.wait_for(asked).await;
    let next = view.next_hand.map(|next| next.hand_no);
    let hand_no = next.or(view.entropy.map(|open| open.hand_no)).unwrap();
    let request = json!({
        "request_id": id,
        "table_id": two.table.to_string(),
        "hand_no": hand_no.to_string(),
        "commitment": bytes([7; 32]),
    });
    Prepared::by(&*two.guests[0].token, request).or("commitment", bytes([8; 32]))
}

async fn reveal_entropy(world: &World, id: String) -> Prepared {
    let two = world.contributing().await;
    two.both_commit(1).await;
    two.closed(1).await;
    let request: Value = json!({
        "request_id": id,
        "table_id": two.table.to_string(),
        "hand_no": "1",
        "entropy": bytes(two.secret(0).0),
    });
    Prepared::by(&*two.guests[0].token, request).or("entropy", bytes([8; 32]))
}
