//! The service config beside the protobuf files, which gRPC's libraries read.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chassis::auth::Role;
use http::{Request, Version};
use http_body_util::Full;
use serde_json::Value;
use tonic::{Code, Status};

use crate::harness::Gateway;
use crate::methods::described;

fn service_config() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../proto/service_config.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn seconds(value: &Value) -> Duration {
    let text = value.as_str().unwrap().strip_suffix('s').unwrap();
    Duration::from_secs_f64(text.parse().unwrap())
}

#[tokio::test]
async fn the_service_config_names_every_public_service_and_no_other() {
    let gateway = Gateway::open().await;
    let public: BTreeSet<String> = described(&gateway)
        .await
        .iter()
        .map(|method| method.parent_service().full_name().to_owned())
        .collect();
    let config = service_config();
    let named = config["methodConfig"][0]["name"].as_array().unwrap();
    let named: BTreeSet<String> =
        named.iter().map(|name| name["service"].as_str().unwrap().to_owned()).collect();
    assert_eq!(named, public);
}

/// A client that does as the service config says gets through a room that is busy for a moment.
#[tokio::test]
async fn whoever_follows_the_service_config_gets_through() {
    let gateway = Gateway::open().await;
    let config = service_config();
    let policy = &config["methodConfig"][0]["retryPolicy"];
    let attempts = policy["maxAttempts"].as_u64().unwrap();
    let codes: Vec<&str> = policy["retryableStatusCodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|code| code.as_str().unwrap())
        .collect();
    assert_eq!(codes, ["UNAVAILABLE", "RESOURCE_EXHAUSTED"]);
    gateway.behind.busy.store(u32::try_from(attempts).unwrap() - 1, Ordering::Relaxed);
    let token = format!("Bearer {}", gateway.token(Role::Player));
    let mut wait = seconds(&policy["initialBackoff"]);
    let mut made = 0;
    loop {
        made += 1;
        let request = Request::post("http://room/sabacc.wallet.v1.WalletService/GetAccount")
            .version(Version::HTTP_2)
            .header("content-type", "application/grpc")
            .header("authorization", &token)
            .body(Full::new(vec![0; 5].into()))
            .unwrap();
        let answer = gateway.send(request).await;
        let fields = if answer.trailers.is_empty() { answer.headers } else { answer.trailers };
        let code = Status::from_header_map(&fields).unwrap().code();
        if code == Code::Ok {
            break;
        }
        let named = if code == Code::Unavailable { "UNAVAILABLE" } else { "RESOURCE_EXHAUSTED" };
        assert_eq!(code == Code::ResourceExhausted, named == "RESOURCE_EXHAUSTED", "{code:?}");
        assert!(codes.contains(&named) && made < attempts);
        tokio::time::sleep(wait).await;
        wait = wait
            .mul_f64(policy["backoffMultiplier"].as_f64().unwrap())
            .min(seconds(&policy["maxBackoff"]));
    }
    assert_eq!(made, attempts);
}
