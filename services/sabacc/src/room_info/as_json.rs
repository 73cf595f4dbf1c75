//! The room as JSON.

use proto::table::v1 as pb;
use serde_json::{Map, Value, json};

use super::{hex, kind, step};

/// Writes the room.
pub(super) fn room(room: &pb::Room) -> Value {
    let builds = room.builds.iter().map(|it| {
        json!({
            "service": it.service, "version": it.version, "commit": it.commit,
            "program_sha256": hex(&it.program_sha256),
        })
    });
    let games = room.games.iter().map(|it| {
        let disabled = it.disabled.as_ref().map(|disabled| &disabled.reason);
        json!({ "game": it.variant, "title": it.title, "disabled": disabled })
    });
    let keys = room
        .log_keys
        .iter()
        .map(|it| json!({ "log": it.log, "key": it.key, "witnesses": it.witness_keys }));
    json!({
        "builds": builds.collect::<Vec<_>>(),
        "games": games.collect::<Vec<_>>(),
        "limits": room.limits.as_ref().map(limits),
        "keys": keys.collect::<Vec<_>>(),
        "activity": room.activity.as_ref().map(activity),
        "silent": room.silent,
    })
}

fn limits(limits: &pb::PortLimits) -> Value {
    json!({
        "message_bytes": limits.message_bytes, "header_bytes": limits.header_bytes,
        "unary_deadline_ms": limits.unary_deadline_ms,
        "player": {
            "units": limits.player_units, "open": limits.player_open,
            "streams": limits.player_streams,
        },
        "address": {
            "units": limits.address_units, "connections": limits.address_connections,
            "streams": limits.address_streams,
            "anonymous_streams": limits.address_anonymous_streams,
            "wrong_tokens": limits.wrong_tokens,
        },
        "connection": {
            "streams": limits.connection_streams, "calls": limits.connection_calls,
            "age_ms": limits.connection_age_ms, "stream_stall_ms": limits.stream_stall_ms,
        },
        "connections": limits.connections, "anonymous_streams": limits.anonymous_streams,
    })
}

fn activity(activity: &pb::RoomActivity) -> Value {
    let logs = activity
        .logs
        .iter()
        .map(|log| json!({ "log": log.log, "size": log.size, "cosigned_by": log.cosigned_by }));
    json!({
        "open_tables": activity.open_tables, "hands_in_play": activity.hands_in_play,
        "open_streams": activity.open_streams,
        "table": activity.table.as_ref().map(service),
        "gateway": activity.gateway.as_ref().map(service),
        "logs": logs.collect::<Vec<_>>(),
    })
}

fn service(counted: &pb::ServiceActivity) -> Value {
    let since = counted.since_time.and_then(wire::time::instant);
    json!({
        "since": since.map(|at| at.to_string()),
        "windows": counted.windows.iter().map(window).collect::<Vec<_>>(),
    })
}

fn window(window: &pb::ActivityWindow) -> Value {
    let counts = window.counts.iter().map(|it| {
        let name = kind(it.kind()).replace(' ', "_");
        (name, json!({ "count": it.count, "per_hour": it.per_hour }))
    });
    let steps = window.steps.iter().map(|it| {
        let latency = json!({
            "count": it.count, "mean_us": it.mean_us, "p50_us": it.p50_us,
            "p95_us": it.p95_us, "p99_us": it.p99_us,
        });
        (step(it.step()), latency)
    });
    json!({
        "seconds": window.seconds, "covered_ms": window.covered_ms,
        "counts": counts.collect::<Map<_, _>>(), "steps": steps.collect::<Map<_, _>>(),
    })
}
