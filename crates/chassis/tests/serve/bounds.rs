//! Limits per player and per stream, for callers with a token.

use std::num::NonZeroU32;
use std::time::Duration;

use chassis::auth::{Claims, Identity, Role};
use chassis::channel::{PeerChannel, add_token};
use futures_util::StreamExt as _;
use http_body_util::BodyExt as _;
use system::clock::SystemClock;
use system::entropy::SystemEntropy;
use tokio::time::Instant;
use tonic::server::NamedService as _;
use tonic::{Code, Request, Status, Streaming};
use tonic_prost::ProstCodec;
use tonic_types::StatusExt as _;

use crate::auth::token;
use crate::echo::{Echo, Room, Setting, Text, call, text, ticks, ticks_of};
use crate::limits::with_limits;
use crate::raw::{RawClient, reason};

fn played(room: &Room, request: &str) -> Request<Text> {
    let mut request = text(request);
    add_token(&mut request, &token(room, Role::Player));
    request
}

/// Opens a stream of `Talk` that sends these texts.
async fn talk(
    room: &Room,
    channel: &PeerChannel,
    said: Vec<String>,
) -> Result<Streaming<Text>, Status> {
    let said = said.into_iter().map(|text| Text { text });
    let mut request = Request::new(futures_util::stream::iter(said));
    add_token(&mut request, &token(room, Role::Player));
    let path = format!("/{}/Talk", Echo::NAME).parse().unwrap();
    let mut client = tonic::client::Grpc::new(channel.clone());
    client.ready().await.unwrap();
    let answers = client.streaming(request, path, ProstCodec::<Text, Text>::default()).await?;
    Ok(answers.into_inner())
}

#[tokio::test]
async fn a_request_that_is_too_long_is_refused_with_its_reason() {
    let room = Room::open(with_limits(|limits| limits.player_calls = None)).await;
    let channel = room.plain();
    assert!(call(&channel, "Play", played(&room, &"x".repeat(65_000))).await.is_ok());
    for length in [65_536, 1 << 20] {
        let long = played(&room, &"x".repeat(length));
        let status = call(&channel, "Play", long).await.unwrap_err();
        assert_eq!((status.code(), &*reason(&status)), (Code::InvalidArgument, "MESSAGE_TOO_LONG"));
    }
    let method_takes_more = played(&room, &"x".repeat(150_000));
    assert!(call(&channel, "Dear", method_takes_more).await.is_ok());
    let status = call(&channel, "Dear", played(&room, &"x".repeat(200_000))).await.unwrap_err();
    assert_eq!(reason(&status), "MESSAGE_TOO_LONG");
}

#[tokio::test]
async fn a_stream_with_a_message_that_is_too_long_ends_with_its_reason() {
    let room = Room::open(with_limits(|_| {})).await;
    let channel = room.plain();
    let said = vec!["one".to_owned(), "x".repeat(65_536), "three".to_owned()];
    let ended = async {
        let mut answers = talk(&room, &channel, said).await?;
        assert_eq!(answers.message().await?.unwrap().text, "one");
        answers.message().await
    };
    let status = ended.await.unwrap_err();
    assert_eq!((status.code(), &*reason(&status)), (Code::InvalidArgument, "MESSAGE_TOO_LONG"));
}

#[tokio::test]
async fn a_stream_ends_with_its_token() {
    let room = Room::open(with_limits(|_| {})).await;
    let identity = Identity::new(Role::Player, "0190c2f0-7d3a-4b6e-8a52-6d1f2e3c4b5a");
    let (clock, life) = (SystemClock::new(), Duration::from_secs(2));
    let claims = Claims::new("test", &identity, life, &clock, &SystemEntropy);
    let (quiet, busy) = (text("go"), text("flood"));
    let ended = |mut request: Request<Text>| {
        add_token(&mut request, &room.issuer.issue(&claims));
        let channel = room.plain();
        async move {
            let mut stream = ticks_of(&channel, request).await.unwrap();
            loop {
                match stream.message().await {
                    Ok(message) => assert!(message.is_some(), "it ended without a word"),
                    Err(status) => return status,
                }
            }
        }
    };
    let both = async { tokio::join!(ended(quiet), ended(busy)) };
    let (quiet, busy) = tokio::time::timeout(Duration::from_secs(30), both).await.unwrap();
    for status in [quiet, busy] {
        assert_eq!((status.code(), &*reason(&status)), (Code::Unauthenticated, "TOKEN_EXPIRED"));
    }
}

#[tokio::test]
async fn a_stream_ends_by_its_callers_deadline() {
    let room = Room::open(with_limits(|_| {})).await;
    let mut request = text("go");
    request.set_timeout(Duration::from_millis(300));
    let mut stream = ticks_of(&room.channel(), request).await.unwrap();
    assert_eq!(stream.message().await.unwrap().unwrap().text, "tick");
    let rest = async {
        loop {
            match stream.message().await {
                Ok(message) => assert!(message.is_some(), "it ended without a word"),
                Err(status) => return status,
            }
        }
    };
    let status = tokio::time::timeout(Duration::from_secs(30), rest).await.unwrap();
    assert_eq!((status.code(), &*reason(&status)), (Code::DeadlineExceeded, "DEADLINE"));
}

#[tokio::test]
async fn a_stream_ends_with_its_connections_age() {
    let room = Room::open(with_limits(|limits| {
        limits.max_connection_age = Duration::from_millis(200);
        limits.connection_grace = Some(Duration::from_millis(500));
    }))
    .await;
    let channel = room.channel();
    let mut stream = ticks(&channel).await.unwrap();
    assert_eq!(stream.message().await.unwrap().unwrap().text, "tick");
    let slow = call(&channel, "Operate", text("sleep 400")).await;
    assert!(slow.is_ok(), "what can end in time does: {slow:?}");
    let status = tokio::time::timeout(Duration::from_secs(10), stream.message()).await;
    let status = status.expect("it ends").unwrap_err();
    assert_eq!((status.code(), &*reason(&status)), (Code::Unavailable, "UNAVAILABLE"));
}

#[tokio::test]
async fn inside_a_stream_outlives_its_connections_age() {
    let mut limits = chassis::limits::Limits::internal();
    limits.max_connection_age = Duration::from_millis(100);
    let room = Room::open(Setting { limits, ..Setting::default() }).await;
    let mut stream = ticks(&room.channel()).await.unwrap();
    stream.message().await.unwrap();
    let still = tokio::time::timeout(Duration::from_millis(600), stream.message()).await;
    assert!(still.is_err(), "{still:?}");
}

#[tokio::test]
async fn a_stream_that_takes_nothing_is_reset_and_its_neighbours_go_on() {
    let room = Room::open(with_limits(|limits| {
        limits.stream_stall_timeout = Duration::from_millis(600);
        limits.player_streams = None;
    }))
    .await;
    let bearer = format!("Bearer {}", token(&room, Role::Player));
    let headers = [("authorization", &*bearer)];
    let mut raw = RawClient::open("127.0.0.1", room.bound).await.unwrap();
    let mut silent = raw.send("Ticks", &headers, "go").await.unwrap().into_body();
    let mut read = raw.send("Ticks", &headers, "flood").await.unwrap().into_body();
    let unread = raw.send("Ticks", &headers, "flood").await.unwrap().into_body();
    let until = Instant::now() + Duration::from_millis(1500);
    while Instant::now() < until {
        read.frame().await.unwrap().unwrap();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let rest = tokio::time::timeout(Duration::from_secs(5), unread.collect()).await;
    assert!(rest.expect("it has ended").is_err(), "reset");
    read.frame().await.unwrap().unwrap();
    silent.frame().await.unwrap().unwrap();
    let open = tokio::time::timeout(Duration::from_millis(900), silent.frame()).await;
    assert!(open.is_err(), "who has nothing to take is not reset: {open:?}");
}

#[tokio::test]
async fn answers_that_nobody_reads_leave_the_others_their_room() {
    let room = Room::open(Setting::default()).await;
    let channel = room.channel();
    let mut unread = Vec::new();
    for _ in 0..200 {
        unread.push(ticks_of(&channel, text("flood")).await.unwrap());
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    for _ in 0..20 {
        let answer = call(&channel, "Operate", text("hello"));
        let answer = tokio::time::timeout(Duration::from_secs(5), answer).await;
        answer.expect("it is not kept waiting").unwrap();
    }
    let mut read = ticks_of(&channel, text("flood")).await.unwrap();
    for _ in 0..1000 {
        let message = tokio::time::timeout(Duration::from_secs(5), read.message()).await;
        assert!(message.expect("it is not kept waiting").unwrap().is_some());
    }
}

#[tokio::test]
async fn calls_and_streams_of_a_player_count_together_over_all_connections() {
    let room = Room::open(with_limits(|limits| {
        limits.player_open = Some(4);
        limits.player_streams = Some(3);
        limits.player_calls = None;
    }))
    .await;
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(ticks_of(&room.plain(), played(&room, "go")).await.unwrap());
    }
    let status = ticks_of(&room.plain(), played(&room, "go")).await.unwrap_err();
    assert_eq!((status.code(), &*reason(&status)), (Code::ResourceExhausted, "OVERLOADED"));
    assert!(status.get_details_retry_info().unwrap().retry_delay.is_some());
    let (channel, slow) = (room.plain(), played(&room, "sleep 500"));
    let slow = tokio::spawn(async move { call(&channel, "Play", slow).await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    let status = call(&room.plain(), "Play", played(&room, "hello")).await.unwrap_err();
    assert_eq!(reason(&status), "OVERLOADED");
    assert!(slow.await.unwrap().is_ok());
    open.pop();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(ticks_of(&room.plain(), played(&room, "go")).await.is_ok());
}

#[tokio::test]
async fn a_dear_call_costs_what_it_costs() {
    let room = Room::open(with_limits(|limits| limits.player_calls = NonZeroU32::new(20))).await;
    let channel = room.plain();
    for _ in 0..2 {
        call(&channel, "Dear", played(&room, "hello")).await.unwrap();
    }
    let status = call(&channel, "Dear", played(&room, "hello")).await.unwrap_err();
    let wait = status.get_details_retry_info().unwrap().retry_delay.unwrap();
    assert!(wait > Duration::from_millis(200), "{wait:?}");
    assert_eq!(reason(&status), "OVERLOADED");
}

#[tokio::test]
async fn what_is_said_on_a_stream_is_counted_with_calls() {
    let room = Room::open(with_limits(|limits| limits.player_calls = NonZeroU32::new(10))).await;
    let channel = room.plain();
    let begun = Instant::now();
    let said = (0..15).map(|number| number.to_string()).collect();
    let answers = talk(&room, &channel, said).await.unwrap();
    let received: Vec<_> = answers.map(|answer| answer.unwrap().text).collect().await;
    let expected: Vec<_> = (0..15).map(|number| number.to_string()).collect();
    assert_eq!(received, expected, "in order, and all of it");
    assert!(begun.elapsed() >= Duration::from_millis(500), "{:?}", begun.elapsed());
    let status = call(&channel, "Play", played(&room, "hello")).await.unwrap_err();
    assert_eq!(reason(&status), "OVERLOADED");
}
