//! Connect and gRPC-Web beside gRPC: the same calls, answers, streams and errors.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use chassis::auth::Role;
use chassis::serve::Cors;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use serde_json::Value;
use tonic::codegen::http::{Request, Version};

use crate::auth::token;
use crate::echo::{Room, Setting};
use crate::web_client::{
    Answered, STREAMS, UNARY, VERSIONS, answered, call, encode, frame, request, send, whole,
};

const SOON: Duration = Duration::from_secs(5);

async fn room() -> Room {
    Room::open(Setting { web: true, ..Setting::default() }).await
}

fn bearer(room: &Room) -> String {
    format!("Bearer {}", token(room, Role::Player))
}

/// Whether a protocol is spoken over this version of HTTP.
fn is_spoken(version: Version, content_type: &str) -> bool {
    version == Version::HTTP_2 || content_type != "application/grpc"
}

#[tokio::test]
async fn a_call_is_the_same_in_every_protocol() {
    let room = room().await;
    let bearer = bearer(&room);
    for version in VERSIONS {
        for kind in UNARY.into_iter().filter(|kind| is_spoken(version, kind)) {
            let request = request(version, "Play", kind, &[("authorization", &bearer)]);
            let Answered { texts, error } = call(room.bound, request, encode(kind, "mark")).await;
            assert_eq!((texts, error), (vec!["no stream".to_owned()], None), "{kind} {version:?}");
        }
    }
}

#[tokio::test]
async fn an_error_has_its_code_and_its_reason_in_every_protocol() {
    let room = room().await;
    let bearer = bearer(&room);
    let expected = |code: &str, reason: &str| (code.to_owned(), reason.to_owned());
    for kind in UNARY {
        let ask = |method: &str, headers: &[(&str, &str)], body: Bytes| {
            call(room.bound, request(Version::HTTP_2, method, kind, headers), body)
        };
        let refused = ask("Play", &[], encode(kind, "x")).await.refused();
        assert_eq!(refused, expected("unauthenticated", "TOKEN_MISSING"), "{kind}");
        let authorized = [("authorization", &*bearer)];
        let refused = ask("Audit", &authorized, encode(kind, "x")).await.refused();
        assert_eq!(refused, expected("permissiondenied", "ROLE_NOT_ALLOWED"), "{kind}");
        let refused = ask("Play", &authorized, frame(kind, b"\xff{".to_vec())).await.refused();
        assert_eq!(refused, expected("invalidargument", "BAD_FIELD"), "{kind}");
        let refused = ask("Play", &authorized, encode(kind, "fail")).await;
        assert_eq!(refused.error.map(|(code, _)| code).as_deref(), Some("internal"), "{kind}");
    }
    for kind in STREAMS {
        let request = request(Version::HTTP_2, "Ticks", kind, &[]);
        let refused = call(room.bound, request, encode(kind, "x")).await.refused();
        assert_eq!(refused, expected("unauthenticated", "TOKEN_MISSING"), "{kind}");
    }
}

/// An unknown field is named; a misspelt one would otherwise be passed over.
#[tokio::test]
async fn json_is_read_strictly_and_its_faults_are_reported_in_words() {
    let room = room().await;
    let bearer = bearer(&room);
    let ask = async |body: String| {
        let headers = [("authorization", &*bearer)];
        let request = request(Version::HTTP_11, "Play", "application/json", &headers);
        let answer =
            send("127.0.0.1", room.bound, request.body(whole(body)).unwrap()).await.unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice::<Value>(&body).unwrap())
    };
    let (status, error) = ask(r#"{"text":"a","txet":"b"}"#.into()).await;
    assert_eq!(status, 400);
    let words = error["message"].as_str().unwrap();
    assert!(words.contains("'txet'") && words.contains("chassis.test.v1.Text"), "{words}");
    assert_eq!(error["details"][1]["debug"]["fieldViolations"][0]["field"], "txet");
    let deep = format!("{}{}", r#"{"text":"#.repeat(10_000), "}".repeat(10_000));
    let long_name = format!(r#"{{"{}":1}}"#, "x".repeat(50_000));
    for bad in [String::new(), "[]".into(), "{".into(), r#"{"text":1}"#.into(), deep, long_name] {
        let (status, error) = ask(bad).await;
        assert_eq!((status, &error["code"]), (400, &Value::from("invalid_argument")), "{error}");
        assert_eq!(error["details"][0]["debug"]["reason"], "BAD_FIELD");
        assert!(error["message"].as_str().unwrap().len() < 400);
    }
}

#[tokio::test]
async fn a_stream_gives_each_message_at_once_and_ends_with_its_status() {
    for version in VERSIONS {
        for kind in STREAMS.into_iter().filter(|kind| is_spoken(version, kind)) {
            let room = room().await;
            let bearer = bearer(&room);
            let request = request(version, "Ticks", kind, &[("authorization", &bearer)]);
            let request = request.body(whole(encode(kind, "mark"))).unwrap();
            let answer = send("127.0.0.1", room.bound, request).await.unwrap();
            assert_eq!(answer.status(), 200);
            let (head, mut body) = answer.into_parts();
            let first = tokio::time::timeout(SOON, body.frame()).await;
            let first = first.expect("it is not kept back").unwrap().unwrap();
            let first = first.into_data().unwrap();
            room.drain.begin();
            let mut rest = BytesMut::from(&first[..]);
            let mut trailers = None;
            while let Some(frame) = body.frame().await {
                match frame.unwrap().into_data() {
                    Ok(data) => rest.extend_from_slice(&data),
                    Err(frame) => trailers = frame.into_trailers().ok(),
                }
            }
            assert_eq!(trailers.is_some(), kind == "application/grpc");
            let rest = StreamBody::new(futures_util::stream::iter(
                [Some(Frame::data(rest.freeze())), trailers.map(Frame::trailers)]
                    .into_iter()
                    .flatten()
                    .map(Ok::<_, std::convert::Infallible>),
            ));
            let answer = tonic::codegen::http::Response::from_parts(head, rest);
            let Answered { texts, error } = answered(answer).await;
            assert_eq!((texts, error), (vec!["a stream".into(), "bye".into()], None), "{kind}");
        }
    }
}

#[tokio::test]
async fn both_sides_stream_at_once_over_http_2_and_are_refused_over_http_1() {
    let room = room().await;
    let bearer = bearer(&room);
    let headers = [("authorization", &*bearer)];
    for kind in STREAMS {
        let (messages, said) = tokio::sync::mpsc::channel(1);
        let said = tokio_stream::wrappers::ReceiverStream::new(said);
        let body = StreamBody::new(said).boxed_unsync();
        let request = request(Version::HTTP_2, "Talk", kind, &headers).body(body).unwrap();
        let answer = send("127.0.0.1", room.bound, request);
        let say = async {
            messages.send(Ok(Frame::data(encode(kind, "one")))).await.unwrap();
        };
        let (answer, ()) = tokio::join!(answer, say);
        let (head, mut body) = answer.unwrap().into_parts();
        let first = tokio::time::timeout(SOON, body.frame()).await.expect("it is echoed at once");
        let first = first.unwrap().unwrap().into_data().unwrap();
        messages.send(Ok(Frame::data(encode(kind, "two")))).await.unwrap();
        drop(messages);
        let rest = body.collect().await.unwrap();
        let trailers = rest.trailers().cloned().map(Frame::trailers);
        let whole = [&first[..], &rest.to_bytes()].concat();
        let frames = [Some(Frame::data(Bytes::from(whole))), trailers].into_iter().flatten();
        let whole = StreamBody::new(futures_util::stream::iter(
            frames.map(Ok::<_, std::convert::Infallible>),
        ));
        let answer = tonic::codegen::http::Response::from_parts(head, whole);
        let Answered { texts, error } = answered(answer).await;
        assert_eq!((texts, error), (vec!["one".into(), "two".into()], None), "{kind}");
    }
    let request = request(Version::HTTP_11, "Talk", "application/connect+json", &headers);
    let request = request.body(whole(encode("application/connect+json", "one"))).unwrap();
    let answer = send("127.0.0.1", room.bound, request).await.unwrap();
    assert_eq!(answer.status(), 505);
}

/// Sends a request and returns the status, the headers as text, and the message of its error.
async fn error_answer(
    room: &Room,
    request: Request<crate::web_client::Sent>,
) -> (u16, String, String) {
    let answer = send("127.0.0.1", room.bound, request).await.unwrap();
    let (status, headers) = (answer.status().as_u16(), format!("{:?}", answer.headers()));
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    let body: Value = serde_json::from_slice(&body).unwrap();
    (status, headers, body["message"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn what_is_no_call_gets_advice() {
    let room = room().await;
    let json = "application/json";
    for version in VERSIONS {
        let plain = |method: &str, kind| request(version, method, kind, &[]);
        let body = || whole("{}");
        let nowhere = plain("Nothing", json).body(body()).unwrap();
        let (status, _, words) = error_answer(&room, nowhere).await;
        assert!(status == 404 && words.contains("/api.json"), "{status} {words}");
        let get = plain("Play", json).method("GET").body(body()).unwrap();
        let (status, headers, words) = error_answer(&room, get).await;
        assert!(status == 405 && headers.contains("POST") && words.contains("POST"), "{headers}");
        for kind in
            ["text/plain", "application/xml", "application/connect+json", "application/grpcx"]
        {
            let (status, headers, words) =
                error_answer(&room, plain("Play", kind).body(body()).unwrap()).await;
            assert!(status == 415 && headers.contains("accept-post"), "{kind} {status} {headers}");
            assert!(words.contains(json), "{words}");
        }
        let stream = plain("Ticks", json).body(body()).unwrap();
        let (status, _, words) = error_answer(&room, stream).await;
        assert!(status == 415 && words.contains("application/connect+json"), "{words}");
        // A proxy in front may have read the other one.
        let twice = plain("Play", json).header("content-type", "application/grpc");
        let (status, _, _) = error_answer(&room, twice.body(body()).unwrap()).await;
        assert_eq!(status, 415);
    }
    let old = request(Version::HTTP_11, "Play", "application/grpc", &[]);
    let (status, _, words) = error_answer(&room, old.body(whole("")).unwrap()).await;
    assert!(status == 505 && words.contains("HTTP/2"), "{status} {words}");
}

#[tokio::test]
async fn health_and_reflection_are_spoken_in_json_too() {
    let room = room().await;
    let request = Request::post("/grpc.health.v1.Health/Check")
        .header("content-type", "application/json")
        .body(whole(r#"{"service":"chassis.test.v1.EchoService"}"#))
        .unwrap();
    let answer = send("127.0.0.1", room.bound, request).await.unwrap();
    assert_eq!(answer.status(), 200);
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, r#"{"status":"SERVING"}"#);
    let kind = "application/connect+json";
    let ask = frame(kind, br#"{"listServices":""}"#.to_vec());
    let request =
        Request::post("http://room/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
            .version(Version::HTTP_2)
            .header("content-type", kind)
            .body(whole(ask))
            .unwrap();
    let answer = send("127.0.0.1", room.bound, request).await.unwrap();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    let length = usize::try_from(u32::from_be_bytes(body[1..5].try_into().unwrap())).unwrap();
    let list: Value = serde_json::from_slice(&body[5..5 + length]).unwrap();
    let services = list["listServicesResponse"]["service"].as_array().unwrap();
    let mut names: Vec<_> = services.iter().map(|name| name["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "chassis.test.v1.EchoService",
            "grpc.health.v1.Health",
            "grpc.reflection.v1.ServerReflection"
        ]
    );
}

#[tokio::test]
async fn pages_of_the_origins_that_are_configured_may_call_and_read_refusals() {
    let room = Room::open(Setting {
        web: true,
        change: |server| server.cors = Cors::parse("https://cards.example").unwrap(),
        ..Setting::default()
    })
    .await;
    for (origin, allowed) in [("https://cards.example", true), ("https://other.example", false)] {
        let ask = |method: &str| {
            let request =
                request(Version::HTTP_11, "Play", "application/json", &[("origin", origin)]);
            request.method(method).header("access-control-request-method", "POST")
        };
        let answer = send("127.0.0.1", room.bound, ask("OPTIONS").body(whole("")).unwrap()).await;
        let answer = answer.unwrap();
        assert_eq!(answer.status(), if allowed { 204 } else { 403 });
        assert_eq!(answer.headers().contains_key("access-control-allow-headers"), allowed);
        let answer = send("127.0.0.1", room.bound, ask("POST").body(whole("{}")).unwrap()).await;
        let answer = answer.unwrap();
        assert_eq!(answer.status(), 401);
        let exposed = answer.headers().get("access-control-expose-headers");
        assert_eq!(exposed.is_some(), allowed, "without its token it is told so, all the same");
    }
}
