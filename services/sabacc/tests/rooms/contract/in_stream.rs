//! Decisions in a `Play` stream: what `Act` refuses is refused there with the same, and ends nothing.

use primitives::TableId;
use prost::Message as _;
use proto::table::v1 as pb;
use proto::table::v1::acted::Outcome;
use proto::table::v1::play_request::Message as Asked;
use serde_json::Value;
use system::ids::IdMaker;

use super::check::Report;
use super::fields::{Expected, FieldRules, Replacement, replace};
use super::protocol::message_of;
use super::world::{World, request_id};
use crate::people::{Guest, turn_of};
use crate::playing::RawStream;

/// Makes every change to a decision that `fields.txt` has for `Act`, in one stream.
pub(super) async fn check(world: &World, rules: &FieldRules) -> Report {
    let party = world.playing().await;
    let (guest, view) = party.turn().await;
    let valid = party.act_request(guest, &view, IdMaker::system().request_id());
    let valid = pb::ActRequest { decision: turn_of(&view).unwrap().default_move.clone(), ..valid };
    let mut stream = open(world, &party.guests[guest], party.table).await;
    let method = world.method("sabacc.table.v1.TableService/Act");
    let json = world.json(method.input().full_name(), &valid);
    let Ok(crossings) = rules.crossings(&method) else { return Report::default() };
    let mut report = Report::default();
    for crossing in crossings.iter().filter(|it| !matches!(it.value, Replacement::Whole)) {
        let mut json = json.clone();
        json["request_id"] = request_id().into();
        replace(&mut json, &method.input(), &crossing.field, &crossing.value);
        let request = request(&json, &method);
        let id = request.request_id.clone();
        let acted = stream.act(request).await;
        report.calls += 1;
        // A stream is at one table, so another one is no table of its.
        let expected = if crossing.field == "table_id" {
            let field = Some("table_id".to_owned());
            Expected { reason: Some(proto::common::v1::ErrorReason::BadField), field }
        } else {
            crossing.expected.clone()
        };
        if let Err(fault) = compare(&acted, &id, &expected) {
            let what = format!("Play act {} {:.60?}: {fault}", crossing.field, crossing.value);
            report.findings.push(what);
        }
    }
    let done = stream.act(valid).await.outcome;
    if !matches!(done, Some(Outcome::Done(_))) {
        report.findings.push(format!("Play act: after all that a valid one gets {done:?}"));
    }
    report
}

async fn open(world: &World, guest: &Guest, table: TableId) -> RawStream {
    let to_watch = pb::WatchTableRequest { table_id: table.to_string(), resume_token: Vec::new() };
    RawStream::open(&world.room.url, guest, Asked::Watch(to_watch)).await.unwrap()
}

fn request(json: &Value, method: &prost_reflect::MethodDescriptor) -> pb::ActRequest {
    pb::ActRequest::decode(&*message_of(method.input(), json).encode_to_vec()).unwrap()
}

fn compare(acted: &pb::Acted, id: &str, expected: &Expected) -> Result<(), String> {
    let pb::Acted { request_id, outcome } = acted;
    let Some(Outcome::Refused(refused)) = outcome else {
        return Err(format!("{outcome:?}"));
    };
    let reason = refused.reason();
    let field = refused.metadata.get("field");
    let named = |wanted: &String| field.is_some_and(|field| field == wanted);
    let whole = request_id == id
        && Some(reason) == expected.reason
        && expected.field.as_ref().is_none_or(named)
        && refused.code == i32::from(wire::status::code(reason))
        && refused.doc == wire::status::doc_link(reason.as_str_name())
        && refused.trace_id.len() == 32
        && !refused.text.is_empty();
    if whole { Ok(()) } else { Err(format!("{refused:?}, not {expected:?}")) }
}
