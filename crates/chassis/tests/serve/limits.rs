//! Limits of calls and connections.

use std::num::NonZeroU32;
use std::time::Duration;

use chassis::auth::Role;
use chassis::channel::{self, Pool};
use chassis::limits::Limits;
use chassis::serve;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;

use crate::echo::{Room, Setting, call, text, ticks, ticks_of};

pub(crate) fn with_limits(change: impl FnOnce(&mut Limits)) -> Setting {
    let mut limits = Limits::public();
    change(&mut limits);
    Setting { limits, ..Setting::default() }
}

#[tokio::test]
async fn a_unary_call_ends_at_its_deadline_and_a_stream_does_not() {
    let room =
        Room::open(with_limits(|limits| limits.unary_deadline = Duration::from_millis(100))).await;
    let channel = room.channel();
    let mut stream = ticks(&channel).await.unwrap();
    assert_eq!(stream.message().await.unwrap().unwrap().text, "tick");
    let status = call(&channel, "Operate", text("sleep 5000")).await.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    assert_eq!(status.get_error_details().error_info().unwrap().reason, "DEADLINE");
    let still = tokio::time::timeout(Duration::from_millis(300), stream.message()).await;
    assert!(still.is_err(), "the stream goes on, silent: {still:?}");
}

#[tokio::test]
async fn a_caller_may_ask_for_less_time() {
    let room = Room::open(Setting::default()).await;
    let mut request: Request<_> = text("sleep 3000");
    request.set_timeout(Duration::from_millis(100));
    let status = call(&room.channel(), "Operate", request).await.unwrap_err();
    assert!(matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled), "{status}");
}

#[tokio::test]
async fn calls_beyond_the_connections_share_are_refused_at_once() {
    let room = Room::open(with_limits(|limits| limits.connection_calls = 1)).await;
    let channel = room.channel();
    let slow = channel.clone();
    let first = tokio::spawn(async move { call(&slow, "Operate", text("sleep 500")).await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    let status = call(&channel, "Operate", text("hello")).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert_eq!(status.get_error_details().error_info().unwrap().reason, "OVERLOADED");
    assert!(status.get_details_retry_info().unwrap().retry_delay.is_some());
    assert!(first.await.unwrap().is_ok());
    assert!(call(&channel, "Operate", text("hello")).await.is_ok());
}

#[tokio::test]
async fn streams_beyond_the_limit_wait_for_one_to_end() {
    let room = Room::open(with_limits(|limits| limits.streams = 1)).await;
    let channel = room.channel();
    call(&channel, "Operate", text("the settings have arrived after this")).await.unwrap();
    let mut stream = ticks(&channel).await.unwrap();
    stream.message().await.unwrap();
    let mut waiting = Box::pin(call(&channel, "Operate", text("hello")));
    let early = tokio::time::timeout(Duration::from_millis(200), &mut waiting).await;
    assert!(early.is_err(), "{early:?}");
    drop(stream);
    assert!(waiting.await.is_ok());
}

#[tokio::test]
async fn headers_are_bounded() {
    let room = Room::open(with_limits(|_| {})).await;
    let channel = room.plain();
    let asked = |bytes: usize| {
        let mut request = text("hello");
        chassis::channel::add_token(&mut request, &crate::auth::token(&room, Role::Player));
        request.metadata_mut().insert("padding", "x".repeat(bytes).parse().unwrap());
        call(&channel, "Play", request)
    };
    assert!(asked(4000).await.is_ok());
    for bytes in [9000, 30_000] {
        assert!(asked(bytes).await.is_err());
    }
    let status = asked(9000).await.unwrap_err();
    assert_eq!(status.get_error_details().error_info().unwrap().reason, "MESSAGE_TOO_LONG");
}

/// HTTP/2 frame: length in 24 bits, type, flags, stream.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, length @ ..] = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

#[tokio::test]
async fn a_storm_of_resets_ends_the_connection() {
    const HEADERS: u8 = 1;
    const RST_STREAM: u8 = 3;
    const SETTINGS: u8 = 4;
    const GOAWAY: u8 = 7;
    const CANCEL: [u8; 4] = [0, 0, 0, 8];
    const ENHANCE_YOUR_CALM: [u8; 4] = [0, 0, 0, 11];

    let room = Room::open(with_limits(|_| {})).await;
    let mut stream = tokio::net::TcpStream::connect(room.bound).await.unwrap();
    let mut storm = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    storm.extend(frame(SETTINGS, 0, 0, &[]));
    for number in 0..200 {
        // POST, http, /: three entries of HPACK's static table.
        storm.extend(frame(HEADERS, 4, 2 * number + 1, &[0x83, 0x86, 0x84]));
        storm.extend(frame(RST_STREAM, 0, 2 * number + 1, &CANCEL));
    }
    stream.write_all(&storm).await.unwrap();
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.expect("a good-bye before the end");
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut payload).await.unwrap();
        if head[3] == GOAWAY {
            assert_eq!(payload[4..8], ENHANCE_YOUR_CALM);
            break;
        }
    }
}

#[tokio::test]
async fn an_old_connection_is_left_and_the_channel_goes_on() {
    let room =
        Room::open(with_limits(|limits| limits.max_connection_age = Duration::from_millis(200)))
            .await;
    let channel = room.channel();
    for _ in 0..20 {
        call(&channel, "Operate", text("hello")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    // A call on an old connection may end.
    assert!(call(&channel, "Operate", text("sleep 500")).await.is_ok());
}

#[tokio::test]
async fn a_taken_port_is_reported_with_a_way_out() {
    let bound = serve::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    assert_ne!(bound.address().port(), 0);
    let error = serve::bind(bound.address()).await.unwrap_err().to_string();
    assert!(error.contains(&bound.address().to_string()), "{error}");
    assert!(error.contains("SABACC_LISTEN"), "{error}");
    let elsewhere = serve::bind("192.0.2.1:0".parse().unwrap()).await.unwrap_err().to_string();
    assert!(elsewhere.contains("no address of this machine"), "{elsewhere}");
}

#[tokio::test]
async fn the_older_protocol_is_spoken_only_where_it_is_asked_for() {
    let answer = |room: Room| async move {
        let mut stream = tokio::net::TcpStream::connect(room.bound).await.unwrap();
        stream
            .write_all(b"GET / HTTP/1.1\r\nhost: room\r\nconnection: close\r\n\r\n")
            .await
            .unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    };
    let both = Setting { change: |server| server.http1 = true, ..Setting::default() };
    assert!(answer(Room::open(both).await).await.starts_with("HTTP/1.1 404"));
    let one = answer(Room::open(Setting::default()).await).await;
    assert!(!one.starts_with("HTTP/1.1"), "{one}");
}

#[tokio::test]
async fn a_bug_in_a_service_is_an_answer_and_not_the_end() {
    let room = Room::open(Setting::default()).await;
    let channel = room.channel();
    let status = call(&channel, "Operate", text("sleep for ever")).await.unwrap_err();
    assert_eq!(status.code(), Code::Internal);
    assert_eq!(status.get_error_details().error_info().unwrap().reason, "CORRUPT");
    assert!(call(&channel, "Operate", text("hello")).await.is_ok());
}

#[tokio::test]
async fn a_connection_on_which_nothing_is_asked_is_closed() {
    let room = Room::open(with_limits(|limits| {
        limits.keepalive_interval = Duration::from_millis(100);
        limits.keepalive_timeout = Duration::from_millis(100);
    }))
    .await;
    let channel = room.channel();
    let mut stream = ticks(&channel).await.unwrap();
    stream.message().await.unwrap();
    let mut silent = tokio::net::TcpStream::connect(room.bound).await.unwrap();
    let mut nothing = Vec::new();
    let closed = tokio::time::timeout(Duration::from_secs(5), silent.read_to_end(&mut nothing));
    closed.await.expect("it is closed").unwrap();
    let open = tokio::time::timeout(Duration::from_millis(300), stream.message()).await;
    assert!(open.is_err(), "the one in use stays: {open:?}");
}

#[tokio::test]
async fn a_pool_opens_connections_as_streams_need_them() {
    let room = Room::open(Setting::default()).await;
    let (uri, interceptor) = (room.uri(), room.interceptor());
    let pool = Pool::new(move || channel::connect_lazy(&uri, None, interceptor.clone())).unwrap();
    let mut open = Vec::new();
    for _ in 0..450 {
        // Each stream answers before the next is opened, so none waits behind another.
        let mut stream = ticks(&pool).await.unwrap();
        assert!(stream.message().await.unwrap().is_some());
        open.push(stream);
    }
    assert_eq!(pool.connections(), 3, "200 on each");
    open.clear();
    call(&pool, "Operate", text("hello")).await.unwrap();
    assert_eq!(pool.connections(), 3, "what there is is used");
}

#[tokio::test]
async fn a_call_that_streams_is_marked_and_no_other_is() {
    let room = Room::open(Setting::default()).await;
    let mut stream = ticks_of(&room.channel(), text("mark")).await.unwrap();
    assert_eq!(stream.message().await.unwrap().unwrap().text, "a stream");
    let answer = call(&room.channel(), "Operate", text("mark")).await.unwrap();
    assert_eq!(answer.into_inner().text, "no stream");
}

#[tokio::test]
async fn a_player_who_calls_too_fast_learns_when_to_come_again() {
    let room = Room::open(with_limits(|limits| limits.player_calls = NonZeroU32::new(3))).await;
    let channel = room.plain();
    let play = async |role| {
        let mut request = text("hello");
        chassis::channel::add_token(&mut request, &crate::auth::token(&room, role));
        call(&channel, if role == Role::Player { "Play" } else { "Operate" }, request).await
    };
    for _ in 0..3 {
        play(Role::Player).await.unwrap();
    }
    let status = play(Role::Player).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert_eq!(status.get_error_details().error_info().unwrap().reason, "OVERLOADED");
    let wait = status.get_details_retry_info().unwrap().retry_delay.unwrap();
    assert!(wait <= Duration::from_millis(334), "{wait:?}");
    tokio::time::sleep(wait).await;
    play(Role::Player).await.unwrap();
    for _ in 0..10 {
        play(Role::Operator).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn inside_no_call_ends_by_the_age_of_its_connection() {
    // Half an hour is scaled down to a tenth of a second.
    let max_connection_age = Limits::internal().max_connection_age / 18_000;
    let limits = Limits { max_connection_age, ..Limits::internal() };
    let room = Room::open(Setting { limits, ..Setting::default() }).await;
    let (uri, interceptor) = (room.uri(), room.interceptor());
    let pool = Pool::new(move || channel::connect_lazy(&uri, None, interceptor.clone())).unwrap();
    // A call and a stream that last much longer than the age of a connection.
    let long = tokio::spawn({
        let pool = pool.clone();
        async move { call(&pool, "Operate", text("sleep 1500")).await }
    });
    let mut stream = ticks(&pool).await.unwrap();
    assert!(stream.message().await.unwrap().is_some());
    // Calls that begin at any moment of a connection's life and of its end.
    let mut callers = JoinSet::new();
    for _ in 0..8 {
        let pool = pool.clone();
        callers.spawn(async move {
            for _ in 0..150 {
                call(&pool, "Operate", text("sleep 10")).await?;
            }
            Ok::<_, Status>(())
        });
    }
    while let Some(outcome) = callers.join_next().await {
        outcome.unwrap().unwrap();
    }
    long.await.unwrap().unwrap();
    let open = tokio::time::timeout(Duration::from_millis(100), stream.message()).await;
    assert!(open.is_err(), "the stream is still open: {open:?}");
}
