//! Every limit that gRPC meets holds for Connect and gRPC-Web, and is reported in their words.

use std::num::NonZeroU32;
use std::time::Duration;

use bytes::Bytes;
use chassis::auth::Role;
use chassis::limits::Limits;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;
use tonic::codegen::http::Version;

use crate::auth::token;
use crate::echo::{Room, Setting};
use crate::raw::dial;
use crate::web_client::{
    STREAMS, UNARY, VERSIONS, answered, call, encode, frame, request, send, whole,
};

async fn room(change: impl FnOnce(&mut Limits)) -> Room {
    let mut limits = Limits::internal();
    change(&mut limits);
    Room::open(Setting { web: true, limits, ..Setting::default() }).await
}

fn bearer(room: &Room) -> String {
    format!("Bearer {}", token(room, Role::Player))
}

fn refusal(code: &str, reason: &str) -> (String, String) {
    (code.to_owned(), reason.to_owned())
}

#[tokio::test]
async fn messages_are_as_long_as_the_method_takes_in_every_encoding() {
    let room = room(|limits| limits.message_bytes = 64 * 1024).await;
    let bearer = bearer(&room);
    let headers = [("authorization", &*bearer)];
    for kind in UNARY {
        let ask = |method: &str, text: String| {
            call(room.bound, request(Version::HTTP_2, method, kind, &headers), encode(kind, &text))
        };
        assert_eq!(ask("Play", "x".repeat(60_000)).await.error, None, "{kind}");
        assert_eq!(ask("Dear", "x".repeat(190_000)).await.error, None, "{kind}");
        let long = refusal("invalidargument", "MESSAGE_TOO_LONG");
        assert_eq!(ask("Play", "x".repeat(66_000)).await.refused(), long, "{kind}");
        assert_eq!(ask("Play", "x".repeat(1 << 20)).await.refused(), long, "{kind}");
        assert_eq!(ask("Dear", "x".repeat(210_000)).await.refused(), long, "{kind}");
        // Not even the spaces of JSON are read without end.
        if kind.starts_with("application/json") {
            let spaces = format!("{{{}}}", " ".repeat(140_000));
            let request = request(Version::HTTP_2, "Play", kind, &headers);
            assert_eq!(call(room.bound, request, spaces).await.refused(), long);
        }
    }
    for kind in STREAMS {
        let long = refusal("invalidargument", "MESSAGE_TOO_LONG");
        let ask = |method: &str| request(Version::HTTP_2, method, kind, &headers);
        let body = encode(kind, &"x".repeat(1 << 20));
        assert_eq!(call(room.bound, ask("Ticks"), body.clone()).await.refused(), long, "{kind}");
        assert_eq!(call(room.bound, ask("Talk"), body).await.refused(), long, "{kind}");
    }
}

#[tokio::test]
async fn compressed_requests_and_odd_envelopes_are_refused() {
    let room = room(|_| {}).await;
    let bearer = bearer(&room);
    let bad = refusal("invalidargument", "BAD_FIELD");
    let ask = |method: &str, kind: &str, header: (&str, &str)| {
        request(Version::HTTP_2, method, kind, &[("authorization", &bearer), header])
    };
    let compressed = refusal("unimplemented", "COMPRESSED");
    let calls = UNARY.map(|kind| ("Play", "content-encoding", kind));
    let streams = STREAMS.map(|kind| ("Ticks", "connect-content-encoding", kind));
    for (method, connect, kind) in calls.into_iter().chain(streams) {
        let name = if kind.contains("grpc") { "grpc-encoding" } else { connect };
        let gzip = ask(method, kind, (name, "gzip"));
        let refused = call(room.bound, gzip, encode(kind, "x")).await.refused();
        assert_eq!(refused, compressed, "{kind} {name}");
    }
    let identity = ask("Play", "application/json", ("content-encoding", "identity"));
    assert_eq!(call(room.bound, identity, r#"{"text":"x"}"#).await.error, None);
    for (name, value) in [
        ("connect-timeout-ms", "12345678901"),
        ("connect-timeout-ms", "-1"),
        ("connect-timeout-ms", ""),
        ("connect-protocol-version", "2"),
    ] {
        let odd = ask("Play", "application/json", (name, value));
        assert_eq!(call(room.bound, odd, "{}").await.refused(), bad, "{name}: {value}");
    }
    for kind in STREAMS {
        for flags in [1, 2, 0x80, 0xff] {
            let mut body = encode("application/grpc", "x").to_vec();
            body[0] = flags;
            if kind.contains("json") || kind.contains("text") {
                continue;
            }
            let odd = ask("Ticks", kind, ("x-nothing", "x"));
            assert_eq!(call(room.bound, odd, body).await.refused(), bad, "{kind} {flags}");
        }
    }
    let mut json = frame("application/connect+json", br#"{"text":"x"}"#.to_vec()).to_vec();
    json[0] = 1;
    let odd = ask("Talk", "application/connect+json", ("connect-content-encoding", "identity"));
    assert_eq!(call(room.bound, odd, json).await.refused(), bad);
    let text = ask("Play", "application/grpc-web-text", ("x-nothing", "x"));
    assert_eq!(call(room.bound, text, "AAAA!").await.refused(), bad, "no base64");
}

/// Headers that the transcoder takes away count too, as they cost the same.
#[tokio::test]
async fn headers_are_bounded_in_every_protocol() {
    let room = room(|_| {}).await;
    let bearer = bearer(&room);
    let long = "x".repeat(9000);
    for kind in UNARY {
        for name in ["x-long", "grpc-timeout"] {
            let headers = [("authorization", &*bearer), (name, &*long)];
            let ask = request(Version::HTTP_2, "Play", kind, &headers);
            let refused = call(room.bound, ask, encode(kind, "x")).await.refused();
            assert_eq!(refused, refusal("invalidargument", "MESSAGE_TOO_LONG"), "{kind} {name}");
        }
    }
}

#[tokio::test]
async fn a_caller_asks_for_less_time_in_connects_words() {
    let room = room(|limits| limits.unary_deadline = Duration::from_secs(5)).await;
    let bearer = bearer(&room);
    let headers = [("authorization", &*bearer), ("connect-timeout-ms", "30")];
    let began = Instant::now();
    let request = request(Version::HTTP_11, "Play", "application/json", &headers);
    let refused = call(room.bound, request, r#"{"text":"sleep 4000"}"#).await.refused();
    assert_eq!(refused, refusal("deadlineexceeded", "DEADLINE"));
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn a_token_that_is_not_believed_costs_the_same_in_every_protocol() {
    for (at, kind) in UNARY.into_iter().enumerate() {
        let room = room(|limits| limits.address_calls = NonZeroU32::new(20)).await;
        let from = format!("127.0.7.{}", at + 1);
        let mut codes = Vec::new();
        for _ in 0..4 {
            let headers = [("authorization", "Bearer a.b.c")];
            let request = request(Version::HTTP_2, "Play", kind, &headers);
            let request = request.body(whole(encode(kind, "x"))).unwrap();
            match send(&from, room.bound, request).await {
                Ok(answer) => codes.push(answered(answer).await.refused().0),
                // The address cannot pay for the connection any more.
                Err(_) => codes.push("closed".into()),
            }
        }
        assert_eq!(codes[0], "unauthenticated", "{kind}");
        assert_ne!(codes[2], "unauthenticated", "{kind}: {codes:?}");
    }
    for (at, kind) in STREAMS.into_iter().enumerate() {
        let room = room(|limits| limits.address_calls = NonZeroU32::new(20)).await;
        let from = format!("127.0.8.{}", at + 1);
        let mut let_in = 0;
        for _ in 0..4 {
            let headers = [("authorization", "Bearer a.b.c")];
            let request = request(Version::HTTP_2, "Ticks", kind, &headers);
            let request = request.body(whole(encode(kind, "x"))).unwrap();
            let Ok(answer) = send(&from, room.bound, request).await else { break };
            let_in += u32::from(answered(answer).await.refused().0 == "unauthenticated");
        }
        assert!(let_in <= 2, "{kind}: {let_in}");
    }
}

#[tokio::test]
async fn streams_of_all_protocols_are_counted_together() {
    let room = room(|limits| limits.player_streams = Some(1)).await;
    let bearer = bearer(&room);
    for kind in STREAMS {
        let ask = |kind| request(Version::HTTP_2, "Ticks", kind, &[("authorization", &*bearer)]);
        let first = ask(kind).body(whole(encode(kind, "go"))).unwrap();
        let mut first = send("127.0.0.1", room.bound, first).await.unwrap();
        assert!(first.frame().await.unwrap().is_ok());
        for other in STREAMS {
            let refused = call(room.bound, ask(other), encode(other, "go")).await.refused();
            assert_eq!(refused, refusal("resourceexhausted", "OVERLOADED"), "{kind} {other}");
        }
        drop(first);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test]
async fn whoever_takes_nothing_of_a_stream_is_cut_off_in_every_protocol() {
    let room = room(|limits| limits.stream_stall_timeout = Duration::from_millis(300)).await;
    let bearer = bearer(&room);
    for version in VERSIONS {
        for kind in STREAMS {
            if version == Version::HTTP_11 && kind == "application/grpc" {
                continue;
            }
            let ask = request(version, "Ticks", kind, &[("authorization", &*bearer)]);
            let ask = ask.body(whole(encode(kind, "flood"))).unwrap();
            let mut answer = send("127.0.0.1", room.bound, ask).await.unwrap();
            assert!(answer.frame().await.unwrap().is_ok());
            tokio::time::sleep(Duration::from_millis(1500)).await;
            let cut = async {
                while let Some(frame) = answer.frame().await {
                    if frame.is_err() {
                        return;
                    }
                }
            };
            let cut = tokio::time::timeout(Duration::from_secs(5), cut).await;
            assert!(cut.is_ok(), "{kind} {version:?} goes on for ever");
        }
    }
}

/// Streams end with their token, with a status that says so.
#[tokio::test]
async fn a_stream_ends_with_its_connections_age_in_every_protocol() {
    for kind in STREAMS {
        let room = room(|limits| {
            limits.max_connection_age = Duration::from_millis(200);
            limits.connection_grace = Some(Duration::from_millis(100));
        })
        .await;
        let bearer = bearer(&room);
        let ask = request(Version::HTTP_2, "Ticks", kind, &[("authorization", &*bearer)]);
        let answer = call(room.bound, ask, encode(kind, "go")).await;
        assert_eq!(answer.texts, ["tick"], "{kind}");
        assert_eq!(answer.error, Some(refusal("unavailable", "UNAVAILABLE")), "{kind}");
    }
}

/// An answer comes before its request has ended, and its sender can finish sending.
#[tokio::test]
async fn a_refusal_reaches_who_has_not_finished_sending() {
    let room = room(|_| {}).await;
    for version in VERSIONS {
        for kind in UNARY {
            if version == Version::HTTP_11 && kind == "application/grpc" {
                continue;
            }
            let (pieces, sent) = tokio::sync::mpsc::channel(1);
            let sent = tokio_stream::wrappers::ReceiverStream::new(sent);
            let body = StreamBody::new(sent).boxed_unsync();
            let ask = request(version, "Play", kind, &[]).body(body).unwrap();
            let answer = tokio::spawn(send("127.0.0.1", room.bound, ask));
            let piece = encode(kind, &"x".repeat(1000));
            pieces.send(Ok(Frame::data(piece))).await.unwrap();
            let answer = tokio::time::timeout(Duration::from_secs(2), answer).await;
            let answer = answer.expect("it is answered at once").unwrap().unwrap();
            // A megabyte more is taken, and then the answer is still whole.
            for _ in 0..64 {
                let piece = Frame::data(Bytes::from(vec![b'x'; 16 * 1024]));
                if pieces.send(Ok(piece)).await.is_err() {
                    break;
                }
            }
            drop(pieces);
            let refused = answered(answer).await.refused();
            assert_eq!(refused, refusal("unauthenticated", "TOKEN_MISSING"), "{kind} {version:?}");
        }
    }
}

/// Two lengths of one body are two requests to somebody in between.
#[tokio::test]
async fn a_body_with_two_lengths_is_one_request_or_none() {
    let room = room(|_| {}).await;
    let inner = "GET /healthz HTTP/1.1\r\nHost: room\r\n\r\n";
    for lengths in ["Content-Length: 4\r\nContent-Length: 0", "Content-Length: 4, 0"] {
        let mut stream = dial("127.0.0.1", room.bound).await.unwrap();
        let head = format!(
            "POST /chassis.test.v1.EchoService/Play HTTP/1.1\r\nHost: room\r\n\
             Content-Type: application/json\r\n{lengths}\r\n\r\n{inner}"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(1), stream.read_to_end(&mut answer)).await;
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with("HTTP/1.1 400") && !answer.contains("alive"), "{answer}");
    }
    let mut stream = dial("127.0.0.1", room.bound).await.unwrap();
    let head = format!(
        "POST /chassis.test.v1.EchoService/Play HTTP/1.1\r\nHost: room\r\nContent-Length: 4\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{inner}"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(1), stream.read_to_end(&mut answer)).await;
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 40"), "{answer}");
    assert!(answer.matches("HTTP/1.1").count() <= 2, "{answer}");
}
