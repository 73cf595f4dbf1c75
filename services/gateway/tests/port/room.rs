//! The room as a whole, at a gateway whose services say nothing of themselves.

use std::time::Duration;

use chassis::auth::Role;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::harness::Gateway;

/// Path of the stream that follows the room.
pub(crate) const WATCH: &str = "/sabacc.table.v1.RoomService/WatchRoom";

async fn room(gateway: &Gateway, role: Option<Role>) -> Value {
    let mut request = Request::post("/sabacc.table.v1.RoomService/GetRoom")
        .header("content-type", "application/json");
    if let Some(role) = role {
        request = request.header("authorization", format!("Bearer {}", gateway.token(role)));
    }
    let answer = gateway.send(request.body(Full::from("{}")).unwrap()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    serde_json::from_slice::<Value>(&answer.body).unwrap()["room"].take()
}

#[tokio::test]
async fn everybody_sees_what_the_port_takes_and_the_staff_how_busy_it_is() {
    let gateway = Gateway::open_with(&[("SABACC_LIMITS_ADDRESS_STREAMS", "7")]).await;
    for role in [None, Some(Role::Player)] {
        let room = room(&gateway, role).await;
        assert_eq!(room["limits"]["addressStreams"], "7", "{room}");
        assert_eq!(room["limits"]["playerUnits"], Value::Null, "none is set here: {room}");
        let build = &room["builds"][0];
        assert_eq!((&build["service"], build["version"].is_string()), (&"gateway".into(), true));
        assert!(room.get("activity").is_none(), "{room}");
        // A log without a key is there all the same: it was asked, and said so.
        let logs: Vec<&str> = room["logKeys"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["log"].as_str().unwrap())
            .collect();
        assert_eq!(logs, ["table", "dealer", "wallet"]);
        assert_eq!(room["silent"], serde_json::json!(["table"]), "its part is none");
    }
    let called = Request::post("/sabacc.wallet.v1.WalletService/GetAccount")
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {}", gateway.token(Role::Player)));
    assert_eq!(gateway.send(called.body(Full::from("{}")).unwrap()).await.status, 200);
    // What was collected is kept for a second.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    for role in [Role::Operator, Role::Auditor] {
        let activity = room(&gateway, Some(role)).await["activity"].take();
        let windows = activity["gateway"]["windows"].as_array().unwrap();
        let seconds: Vec<_> = windows.iter().map(|it| it["seconds"].as_u64().unwrap()).collect();
        assert_eq!(seconds, [60, 3_600, 86_400]);
        for window in windows {
            let counts = window["counts"].as_array().unwrap();
            let calls = counts.iter().find(|it| it["kind"] == "ACTIVITY_KIND_CALLS").unwrap();
            assert_eq!(calls["count"], "1", "{window}");
            assert_eq!(window["steps"][0]["count"], "1", "{window}");
        }
    }
}

/// Opens a stream; returns its status, and its body where it is one.
async fn watch(gateway: &Gateway, role: Role) -> (StatusCode, hyper::body::Incoming) {
    let io = TokioIo::new(TcpStream::connect(gateway.address).await.unwrap());
    let (mut requests, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
    tokio::spawn(connection);
    let request = Request::post(WATCH)
        .header("host", "room")
        .header("content-type", "application/connect+json")
        .header("authorization", format!("Bearer {}", gateway.token(role)));
    let body = Full::<bytes::Bytes>::from(&b"\0\0\0\0\x02{}"[..]);
    let answer = requests.send_request(request.body(body).unwrap()).await.unwrap();
    // The connection ends with its sender.
    std::mem::forget(requests);
    (answer.status(), answer.into_body())
}

async fn first_message(body: &mut hyper::body::Incoming) -> String {
    let frame = tokio::time::timeout(Duration::from_secs(20), body.frame()).await.unwrap();
    String::from_utf8_lossy(&frame.unwrap().unwrap().into_data().unwrap()).into_owned()
}

#[tokio::test]
async fn the_staff_follow_the_room_and_so_many_of_them() {
    let gateway = Gateway::open_with(&[("SABACC_LIMITS_ADDRESS_STREAMS", "100")]).await;
    let (_, mut refused) = watch(&gateway, Role::Player).await;
    assert!(first_message(&mut refused).await.contains("ROLE_NOT_ALLOWED"));
    let mut open = Vec::new();
    for _ in 0..32 {
        let (status, mut body) = watch(&gateway, Role::Auditor).await;
        let first = first_message(&mut body).await;
        assert!(status == StatusCode::OK && first.contains("activity"), "{first}");
        open.push(body);
    }
    let (_, mut refused) = watch(&gateway, Role::Operator).await;
    assert!(first_message(&mut refused).await.contains("OVERLOADED"));
    // Whoever leaves makes room, once the gateway has noticed.
    open.clear();
    for _ in 0..200 {
        let (_, mut body) = watch(&gateway, Role::Operator).await;
        if first_message(&mut body).await.contains("activity") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the streams that were left are held for ever");
}
