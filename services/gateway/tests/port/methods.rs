//! Every public method, taken from the descriptors, so that a new one cannot escape.

use std::collections::BTreeSet;

use chassis::auth::{Access, Role};
use http::{Request, Version};
use http_body_util::Full;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, MethodDescriptor};
use serde_json::Value;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::harness::{Answer, Gateway};

/// Services of other ports.
pub(crate) const PRIVATE: [&str; 3] = [
    "sabacc.dealer.v1.DealerService",
    "sabacc.table.v1.RevocationService",
    "sabacc.wallet.v1.SettlementService",
];

/// Services and methods that `GET /api.json` describes.
pub(crate) async fn described(gateway: &Gateway) -> Vec<MethodDescriptor> {
    let request = Request::get("/api.json").body(Full::default()).unwrap();
    let answer = gateway.send(request).await;
    assert_eq!(
        (answer.status, &answer.headers["content-type"]),
        (200, &"application/json".parse().unwrap())
    );
    let pool = DescriptorPool::decode(proto::DESCRIPTORS).unwrap();
    let set = pool.get_message_by_name("google.protobuf.FileDescriptorSet").unwrap();
    let mut json = serde_json::Deserializer::from_slice(&answer.body);
    let set = DynamicMessage::deserialize(set, &mut json).unwrap();
    let shown = DescriptorPool::decode(&*prost::Message::encode_to_vec(&set)).unwrap();
    shown.services().flat_map(|service| service.methods().collect::<Vec<_>>()).collect()
}

fn path_of(method: &MethodDescriptor) -> String {
    format!("/{}/{}", method.parent_service().full_name(), method.name())
}

#[tokio::test]
async fn the_description_lists_the_public_services_alone_with_who_may_call_them() {
    let gateway = Gateway::open().await;
    let shown = described(&gateway).await;
    let names: BTreeSet<_> =
        shown.iter().map(|method| method.parent_service().full_name().to_owned()).collect();
    let pool = DescriptorPool::decode(proto::DESCRIPTORS).unwrap();
    let all = pool.services().map(|service| service.full_name().to_owned());
    let public: BTreeSet<_> = all.filter(|name| !PRIVATE.contains(&name.as_str())).collect();
    assert_eq!(names, public);
    // The options are kept: a client in any language can read them.
    let access = shown[0].parent_pool().get_extension_by_name("sabacc.common.v1.access").unwrap();
    assert!(shown.iter().all(|method| method.options().has_extension(&access)));
}

/// Outcome of a call: its code, and the reason of a refusal.
type Outcome = (String, String);

fn outcome_of_status(status: &Status) -> Outcome {
    let reason = status.get_error_details().error_info().map(|info| info.reason.clone());
    let code = if status.code() == Code::Ok { "ok".into() } else { format!("{:?}", status.code()) };
    (code.to_lowercase(), reason.unwrap_or_default())
}

fn outcome_of_json(error: &Value) -> Outcome {
    let reason = error["details"][0]["debug"]["reason"].as_str().unwrap_or_default();
    (error["code"].as_str().unwrap().replace('_', ""), reason.to_owned())
}

fn outcome(kind: &str, answer: &Answer) -> Outcome {
    let ok = || ("ok".to_owned(), String::new());
    match kind {
        "application/json" | "application/proto" if answer.status == 200 => ok(),
        "application/json" | "application/proto" => {
            outcome_of_json(&serde_json::from_slice(&answer.body).unwrap())
        }
        "application/connect+json" | "application/connect+proto" => {
            let end = last_envelope(&answer.body, 2);
            let end: Value = serde_json::from_slice(&end).unwrap();
            end.get("error").map_or_else(ok, outcome_of_json)
        }
        "application/grpc" => {
            let fields =
                if answer.trailers.is_empty() { &answer.headers } else { &answer.trailers };
            outcome_of_status(&Status::from_header_map(fields).unwrap())
        }
        _ => {
            if let Some(status) = Status::from_header_map(&answer.headers) {
                return outcome_of_status(&status);
            }
            let text = String::from_utf8(last_envelope(&answer.body, 0x80)).unwrap();
            let lines = text.lines().map(|line| line.split_once(": ").unwrap());
            let fields = lines.map(|(name, value)| {
                (name.parse::<http::HeaderName>().unwrap(), value.parse().unwrap())
            });
            outcome_of_status(&Status::from_header_map(&fields.collect()).unwrap())
        }
    }
}

/// Content of the last envelope, which has these flags.
fn last_envelope(body: &[u8], flags: u8) -> Vec<u8> {
    let mut rest = body;
    loop {
        let length = usize::try_from(u32::from_be_bytes(rest[1..5].try_into().unwrap())).unwrap();
        if rest.len() == 5 + length {
            assert_eq!(rest[0], flags);
            return rest[5..].to_vec();
        }
        rest = &rest[5 + length..];
    }
}

fn body_of(kind: &str, json: &str) -> Vec<u8> {
    let message = if kind.contains("json") { json.as_bytes() } else { b"" };
    let mut body = Vec::new();
    if kind.contains("grpc") || kind.contains("connect") {
        body.push(0);
        body.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    }
    body.extend(message);
    body
}

const WEB: [&str; 2] = ["application/grpc-web+proto", "application/grpc-web+json"];

#[tokio::test]
async fn every_method_has_one_outcome_in_all_protocols() {
    let gateway = Gateway::open().await;
    let access = Access::from_descriptors(proto::DESCRIPTORS).unwrap();
    let mut reached = 0;
    for method in described(&gateway).await {
        let path = path_of(&method);
        if path == crate::room::WATCH {
            // The gateway's own stream, which does not end by itself.
            continue;
        }
        let role = access.methods().find(|(named, _)| *named == path).map(|(_, roles)| roles);
        let role = *role.unwrap().first().unwrap_or(&Role::Player);
        let token = format!("Bearer {}", gateway.token(role));
        let streams = method.is_client_streaming() || method.is_server_streaming();
        let own = if streams {
            ["application/connect+json", "application/connect+proto"]
        } else {
            ["application/json", "application/proto"]
        };
        for authorization in [Some(&token), None] {
            let ask = async |kind: &str, version| {
                let uri = format!("http://room{path}");
                let uri = if version == Version::HTTP_2 { uri.as_str() } else { &*path };
                let mut request = Request::post(uri).version(version).header("content-type", kind);
                if let Some(token) = authorization {
                    request = request.header("authorization", token.as_str());
                }
                let body = Full::new(body_of(kind, "{}").into());
                outcome(kind, &gateway.send(request.body(body).unwrap()).await)
            };
            let expected = ask("application/grpc", Version::HTTP_2).await;
            reached += usize::from(expected.0 == "ok");
            for kind in own.into_iter().chain(WEB) {
                assert_eq!(ask(kind, Version::HTTP_2).await, expected, "{path} {kind}");
                if !method.is_client_streaming() {
                    assert_eq!(ask(kind, Version::HTTP_11).await, expected, "{path} {kind}");
                }
            }
        }
    }
    assert!(reached > 20, "most are forwarded: {reached}");
}

/// The depth of a request in JSON is that of its message: none contains itself or anything.
#[test]
fn no_request_is_deeper_than_its_message() {
    fn depth(message: &MessageDescriptor, above: &mut Vec<String>) -> usize {
        let name = message.full_name().to_owned();
        assert!(!above.contains(&name), "{name} contains itself");
        let open = ["google.protobuf.Any", "google.protobuf.Struct", "google.protobuf.Value"];
        assert!(!open.contains(&name.as_str()), "{above:?} contains {name}");
        above.push(name);
        let deepest = message
            .fields()
            .filter_map(|field| field.kind().as_message().map(|inner| depth(inner, above)));
        let deepest = deepest.max().unwrap_or(0);
        above.pop();
        deepest + 1
    }
    let pool = DescriptorPool::decode(proto::DESCRIPTORS).unwrap();
    for service in pool.services() {
        for method in service.methods() {
            assert!(depth(&method.input(), &mut Vec::new()) < 16, "{}", method.full_name());
        }
    }
}

#[tokio::test]
async fn private_services_are_nowhere() {
    let gateway = Gateway::open().await;
    for service in PRIVATE {
        let pool = DescriptorPool::decode(proto::DESCRIPTORS).unwrap();
        for method in pool.get_service_by_name(service).unwrap().methods() {
            let request =
                Request::post(path_of(&method)).header("content-type", "application/json");
            let token = format!("Bearer {}", gateway.token(Role::Operator));
            let request = request.header("authorization", token).body(Full::from("{}")).unwrap();
            assert_eq!(gateway.send(request).await.status, 404, "{}", method.full_name());
        }
    }
}
