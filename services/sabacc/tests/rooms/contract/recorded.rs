//! Requests as clients of every release have sent them: `tests/golden/requests`, in bytes and JSON.
//! Today's schema reads each and writes the same bytes, and the room serves it.
//!
//! A request is recorded once, when its method is new:
//! `WRITE_REQUESTS=1 cargo test -p sabacc --test rooms contract`. Ids and secrets in it stand
//! for those of the room that it is sent to, and are as long.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64ct::{Base64, Encoding as _};
use prost::Message as _;
use prost_reflect::{DynamicMessage, MethodDescriptor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tonic::Code;

use super::check::Report;
use super::protocol::{Call, Connection, Protocol, message_of};
use super::requests::{self, Prepared};
use super::world::{World, json_of};

/// Recorded request.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Recorded {
    /// The message in JSON, by the names of the protobuf files.
    json: Value,
    /// The message in protobuf, as base64.
    bytes: String,
}

/// Recorded requests of a package by `Service/Method`.
type Package = BTreeMap<String, Recorded>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/requests")
}

fn file_of(package: &str) -> PathBuf {
    folder().join(format!("{package}.json"))
}

fn read() -> BTreeMap<String, Package> {
    let Ok(files) = std::fs::read_dir(folder()) else { return BTreeMap::new() };
    let package = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
    };
    files.map(|file| package(file.unwrap().path())).collect()
}

fn write(packages: &BTreeMap<String, Package>) {
    std::fs::create_dir_all(folder()).unwrap();
    for (name, requests) in packages {
        let text = serde_json::to_string_pretty(requests).unwrap();
        std::fs::write(file_of(name), format!("{text}\n")).unwrap();
    }
}

/// Serves the recorded request of every method, or records it where that is asked for.
pub(super) async fn serve(world: &World, methods: &[MethodDescriptor]) -> Report {
    #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
    let writes = std::env::var_os("WRITE_REQUESTS").is_some();
    let (mut packages, mut report) = (read(), Report::default());
    let connection = Connection::open(&world.room.url).await;
    for method in methods {
        let service = method.parent_service();
        let Some(prepared) = requests::prepare(world, service.full_name(), method.name()).await
        else {
            continue;
        };
        let requests = packages.entry(service.package_name().to_owned()).or_default();
        let name = format!("{}/{}", service.name(), method.name());
        let recorded = match requests.get(&name) {
            Some(recorded) => recorded,
            None if writes => requests.entry(name.clone()).or_insert(record(method, &prepared)),
            None => {
                let how = "no recorded request: contract/recorded.rs says how to record it";
                report.findings.push(format!("{name}: {how}"));
                continue;
            }
        };
        report.calls += 1;
        if let Err(fault) = check(&connection, method, recorded, &prepared).await {
            report.findings.push(format!("the recorded request to {name}: {fault}"));
        }
    }
    let known = |package: &str, name: &str| {
        let named = format!("{package}.{}", name.replace('/', "."));
        methods.iter().any(|method| method.full_name() == named)
    };
    for (package, requests) in &packages {
        let gone = requests.keys().filter(|name| !known(package, name));
        report.findings.extend(gone.map(|name| format!("{package}.{name} was a method")));
    }
    if writes {
        write(&packages);
    }
    report
}

fn record(method: &MethodDescriptor, prepared: &Prepared) -> Recorded {
    let json = with_stand_ins(&prepared.json, &mut 0);
    let bytes = message_of(method.input(), &json).encode_to_vec();
    Recorded { json, bytes: Base64::encode_string(&bytes) }
}

/// Checks that a recorded request is read as it was, and served.
async fn check(
    connection: &Connection,
    method: &MethodDescriptor,
    recorded: &Recorded,
    prepared: &Prepared,
) -> Result<(), String> {
    let mut bytes = Base64::decode_vec(&recorded.bytes).map_err(|error| error.to_string())?;
    let read =
        DynamicMessage::decode(method.input(), &*bytes).map_err(|error| error.to_string())?;
    let said = message_of(method.input(), &recorded.json);
    let is_same = read.encode_to_vec() == bytes && said.encode_to_vec() == bytes;
    if !is_same || read.unknown_fields().next().is_some() {
        return Err(format!("today it is {}", json_of(&read)));
    }
    let mut stand_ins = Vec::new();
    pair(&recorded.json, &prepared.json, &mut stand_ins);
    for (recorded, own) in stand_ins {
        exchange(&mut bytes, recorded.as_bytes(), own.as_bytes())?;
    }
    let (method, token) = (method.clone(), prepared.token.clone());
    let call = Call { method, token, json: Value::Null, unknown: Vec::new() };
    let status = connection.call_with(Protocol::Grpc, &call, &bytes).await.status;
    // A hand is another one each time, so a decision in it may not be due.
    match status.code() {
        Code::Ok => Ok(()),
        Code::FailedPrecondition if wire::status::reason_of(&status).is_some() => Ok(()),
        _ => Err(format!("{status:?}")),
    }
}

/// Puts other bytes in place of some, which are there and as many.
fn exchange(message: &mut [u8], old: &[u8], new: &[u8]) -> Result<(), String> {
    let at = message.windows(old.len()).position(|found| found == old);
    let at = at.filter(|_| old.len() == new.len()).ok_or("an id has no place in it")?;
    message[at..at + old.len()].copy_from_slice(new);
    Ok(())
}

/// Texts that stand for something of the room, with what the room has there.
fn pair(recorded: &Value, own: &Value, into: &mut Vec<(String, String)>) {
    match (recorded, own) {
        (Value::Object(recorded), Value::Object(own)) => {
            for (name, recorded) in recorded {
                pair(recorded, own.get(name).unwrap_or(&Value::Null), into);
            }
        }
        (Value::Array(recorded), Value::Array(own)) => {
            recorded.iter().zip(own).for_each(|(recorded, own)| pair(recorded, own, into));
        }
        (Value::String(recorded), Value::String(own)) if stand_in(own, &mut 0).is_some() => {
            into.push((recorded.clone(), own.clone()));
        }
        _ => {}
    }
}

/// Request with a stand-in for each id and secret, all of them different.
fn with_stand_ins(json: &Value, count: &mut u32) -> Value {
    match json {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, it)| (name.clone(), with_stand_ins(it, count)));
            Value::Object(fields.collect())
        }
        Value::Array(items) => items.iter().map(|item| with_stand_ins(item, count)).collect(),
        Value::String(text) => stand_in(text, count).unwrap_or_else(|| text.clone()).into(),
        other => other.clone(),
    }
}

/// Text in place of one that is an id, ends with one, or is a refresh token; `None` for others.
fn stand_in(text: &str, count: &mut u32) -> Option<String> {
    const REFRESH_TOKEN: &str = "sabacc_refresh_";
    if let Some(secret) = text.strip_prefix(REFRESH_TOKEN) {
        return Some(format!("{REFRESH_TOKEN}{}", "0".repeat(secret.len())));
    }
    let (before, id) = text.split_at_checked(text.len().checked_sub(36)?)?;
    let is_id = wire::field::id::<primitives::StreamId>("id", id).is_ok();
    is_id.then(|| {
        *count += 1;
        format!("{before}0198f0c2-7a3e-7000-8000-{count:012x}")
    })
}
