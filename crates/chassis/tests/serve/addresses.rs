//! Limits per address, with a token or without one.

use std::num::NonZeroU32;
use std::time::Duration;

use chassis::auth::{Claims, Identity, Role, TokenIssuer};
use chassis::limits::Limits;
use chassis::proxies::{Network, TrustedProxies};
use chassis::serve::Server;
use hyper::body::Incoming;
use system::clock::SystemClock;
use system::entropy::SystemEntropy;
use tokio::io::AsyncReadExt as _;
use tonic::Code;
use tonic::codegen::http::Response;
use tonic_types::StatusExt as _;

use crate::auth::{token, token_of};
use crate::echo::{Room, Setting};
use crate::limits::with_limits;
use crate::raw::{RawClient, dial, reason};

/// `Bearer` with a valid token of a player.
fn believed(room: &Room) -> String {
    format!("Bearer {}", token(room, Role::Player))
}

/// `Bearer` with a valid token of another player.
fn another(room: &Room) -> String {
    let subject = "0190c2f0-7d3a-4b6e-8a52-6d1f2e3c4b5b";
    format!("Bearer {}", token_of(room, Role::Player, subject))
}

/// `Bearer` with a valid token of an operator.
fn operating(room: &Room) -> String {
    format!("Bearer {}", token(room, Role::Operator))
}

/// `Bearer` with a token whose signature comes from an unknown issuer.
fn forged(room: &Room) -> String {
    let believed = believed(room);
    let (payload, _) = believed.rsplit_once('.').unwrap();
    let identity = Identity::new(Role::Player, "0190c2f0-7d3a-4b6e-8a52-6d1f2e3c4b5a");
    let (clock, stranger) = (SystemClock::new(), TokenIssuer::generate("test", &SystemEntropy));
    let life = Duration::from_secs(60);
    let theirs = stranger.issue(&Claims::new("test", &identity, life, &clock, &SystemEntropy));
    let (_, signature) = theirs.rsplit_once('.').unwrap();
    format!("{payload}.{signature}")
}

fn edge(change: impl FnOnce(&mut Limits)) -> Setting {
    with_limits(|limits| {
        limits.address_calls = NonZeroU32::new(40);
        limits.player_calls = None;
        limits.wrong_tokens = None;
        change(limits);
    })
}

#[tokio::test]
async fn forged_tokens_end_with_their_address_and_not_with_others() {
    let room = Room::open(edge(|_| {})).await;
    let (forged, honest) = (forged(&room), believed(&room));
    let mut attacker = RawClient::open("127.0.0.2", room.bound).await.unwrap();
    let mut player = RawClient::open("127.0.0.1", room.bound).await.unwrap();
    let (mut looked_at, mut refused, mut gone, mut served) = (0, 0, 0, 0);
    for round in 0..1000 {
        match attacker.call("Play", &[("authorization", &forged)], "hello").await {
            Some(status) if reason(&status) == "TOKEN_FORGED" => looked_at += 1,
            Some(status) => {
                assert_eq!(
                    (status.code(), &*reason(&status)),
                    (Code::ResourceExhausted, "OVERLOADED")
                );
                assert!(status.get_details_retry_info().unwrap().retry_delay.is_some());
                refused += 1;
            }
            None => gone += 1,
        }
        if round % 50 == 0 {
            let status = player.call("Play", &[("authorization", &honest)], "hello").await.unwrap();
            assert_eq!(status.code(), Code::Ok);
            served += 1;
        }
    }
    assert!((1..50).contains(&looked_at), "{looked_at} forged tokens were verified");
    assert!(refused >= 10 && gone > 100, "{refused} refused, {gone} not heard: it is closed");
    assert_eq!(served, 20);
    let again = dial("127.0.0.2", room.bound).await.unwrap().read_u8().await;
    assert!(again.is_err(), "nor is another connection served: {again:?}");
}

#[tokio::test]
async fn a_connection_too_many_receives_the_reason() {
    let room = Room::open(edge(|limits| limits.address_connections = Some(2))).await;
    let honest = believed(&room);
    let headers = [("authorization", &*honest)];
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut raw = RawClient::open("127.0.0.2", room.bound).await.unwrap();
        assert_eq!(raw.call("Play", &headers, "hello").await.unwrap().code(), Code::Ok);
        open.push(raw);
    }
    let mut third = RawClient::open("127.0.0.2", room.bound).await.unwrap();
    let status = third.call("Play", &headers, "hello").await.unwrap();
    assert_eq!((status.code(), &*reason(&status)), (Code::ResourceExhausted, "OVERLOADED"));
    let mut other = RawClient::open("127.0.0.3", room.bound).await.unwrap();
    assert_eq!(other.call("Play", &headers, "hello").await.unwrap().code(), Code::Ok);
    open.pop();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let mut again = RawClient::open("127.0.0.2", room.bound).await.unwrap();
    assert_eq!(again.call("Play", &headers, "hello").await.unwrap().code(), Code::Ok);
}

#[tokio::test]
async fn what_a_call_turns_out_to_cost_is_charged_to_its_player_and_their_address() {
    let player_calls = NonZeroU32::new(10);
    let room = Room::open(edge(|limits| limits.player_calls = player_calls)).await;
    let (dear, other) = (believed(&room), another(&room));
    let mut elsewhere = RawClient::open("127.0.0.3", room.bound).await.unwrap();
    let mut same = RawClient::open("127.0.0.2", room.bound).await.unwrap();
    let headers = [("authorization", &*dear)];
    let status = same.call("Play", &headers, "charge 100").await.unwrap();
    assert_eq!(status.code(), Code::Ok);
    let status = elsewhere.call("Play", &headers, "hello").await.unwrap();
    assert!(status.message().starts_with("you call faster"), "{status:?}");
    let headers = [("authorization", &*other)];
    let status = same.call("Play", &headers, "hello").await.unwrap();
    assert!(status.message().starts_with("this address calls faster"), "{status:?}");
    let status = elsewhere.call("Play", &headers, "hello").await.unwrap();
    assert_eq!(status.code(), Code::Ok);
}

/// Whether the answer is an open stream and not a refusal.
fn is_open(answer: &Response<Incoming>) -> bool {
    !answer.headers().contains_key("grpc-status")
}

#[tokio::test]
async fn streams_of_an_address_are_bounded_over_all_its_connections_and_players() {
    let room = Room::open(edge(|limits| limits.address_streams = Some(2))).await;
    let (one, another) = (believed(&room), operating(&room));
    let mut first = RawClient::open("127.0.0.2", room.bound).await.unwrap();
    let mut second = RawClient::open("127.0.0.2", room.bound).await.unwrap();
    let stream = first.send("Ticks", &[("authorization", &one)], "go").await.unwrap();
    let other_stream = first.send("Ticks", &[("authorization", &another)], "go").await.unwrap();
    assert!(is_open(&stream) && is_open(&other_stream));
    for token in [&one, &another] {
        let headers = [("authorization", &**token)];
        let status = second.call("Ticks", &headers, "go").await.unwrap();
        assert_eq!((status.code(), &*reason(&status)), (Code::ResourceExhausted, "OVERLOADED"));
        assert!(status.message().contains("streams"), "{}", status.message());
        assert!(status.get_details_retry_info().unwrap().retry_delay.is_some());
    }
    let status = second.call("Play", &[("authorization", &one)], "hello").await.unwrap();
    assert_eq!(status.code(), Code::Ok, "calls that end are no streams");
    let mut other = RawClient::open("127.0.0.3", room.bound).await.unwrap();
    assert!(is_open(&other.send("Ticks", &[("authorization", &one)], "go").await.unwrap()));
    drop(stream);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(is_open(&second.send("Ticks", &[("authorization", &one)], "go").await.unwrap()));
}

#[tokio::test]
async fn all_connections_together_are_bounded() {
    let room = Room::open(edge(|limits| limits.connections = Some(3))).await;
    let mut open = Vec::new();
    for host in 2..5 {
        open.push(dial(&format!("127.0.0.{host}"), room.bound).await.unwrap());
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let mut fourth = dial("127.0.0.9", room.bound).await.unwrap();
    let closed = tokio::time::timeout(Duration::from_secs(5), fourth.read_u8()).await;
    assert!(closed.expect("it is closed").is_err());
    open.pop();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let honest = believed(&room);
    let mut next = RawClient::open("127.0.0.9", room.bound).await.unwrap();
    let status = next.call("Play", &[("authorization", &honest)], "hello").await.unwrap();
    assert_eq!(status.code(), Code::Ok);
}

#[tokio::test]
async fn this_machine_is_exempt_only_where_it_is_said() {
    for (exempt, from, expected) in [
        (true, "127.0.0.1", Code::Ok),
        (true, "127.0.0.2", Code::ResourceExhausted),
        (false, "127.0.0.1", Code::ResourceExhausted),
    ] {
        let room = Room::open(edge(|limits| {
            limits.address_calls = NonZeroU32::new(10);
            limits.exempt_loopback = exempt;
        }))
        .await;
        let honest = believed(&room);
        let mut raw = RawClient::open(from, room.bound).await.unwrap();
        let mut last = Code::Ok;
        for _ in 0..30 {
            last = raw.call("Play", &[("authorization", &honest)], "hello").await.unwrap().code();
        }
        assert_eq!(last, expected, "{from}, exempt: {exempt}");
    }
}

#[tokio::test]
async fn a_proxy_on_this_machine_exempts_nobody() {
    let trusted = |server: &mut Server| {
        server.proxies = TrustedProxies::new(vec![Network::parse("127.0.0.1").unwrap()]);
    };
    for change in [trusted as fn(&mut Server), |_| {}] {
        let setting = edge(|limits| {
            limits.address_calls = NonZeroU32::new(10);
            limits.exempt_loopback = true;
        });
        let room = Room::open(Setting { change, ..setting }).await;
        let honest = believed(&room);
        let headers = [("authorization", &*honest), ("x-forwarded-for", "192.0.2.1")];
        let mut raw = RawClient::open("127.0.0.1", room.bound).await.unwrap();
        let mut last = Code::Ok;
        for _ in 0..30 {
            last = raw.call("Play", &headers, "hello").await.unwrap().code();
        }
        assert_eq!(last, Code::ResourceExhausted);
    }
}

fn behind_proxies(server: &mut Server) {
    server.proxies = TrustedProxies::new(vec![Network::parse("127.0.0.3").unwrap()]);
}

#[tokio::test]
async fn a_trusted_proxys_word_is_taken_for_each_call_and_nobody_elses_is() {
    let setting = edge(|limits| limits.address_calls = NonZeroU32::new(10));
    let room = Room::open(Setting { change: behind_proxies, ..setting }).await;
    let honest = believed(&room);
    let calls = async |raw: &mut RawClient, name, value: &str, count| {
        let mut taken = 0;
        for _ in 0..count {
            let headers = [("authorization", &*honest), (name, value)];
            let status = raw.call("Play", &headers, "hello").await.unwrap();
            taken += usize::from(status.code() == Code::Ok);
        }
        taken
    };
    let mut proxy = RawClient::open("127.0.0.3", room.bound).await.unwrap();
    assert!(calls(&mut proxy, "x-forwarded-for", "192.0.2.1", 30).await < 20);
    assert_eq!(calls(&mut proxy, "x-forwarded-for", "192.0.2.2", 8).await, 8);
    let forged = "192.0.2.77, 192.0.2.1";
    assert!(calls(&mut proxy, "x-forwarded-for", forged, 20).await < 8, "the last one counts");
    assert_eq!(calls(&mut proxy, "forwarded", "for=192.0.2.3;proto=https", 8).await, 8);

    let mut other = RawClient::open("127.0.0.4", room.bound).await.unwrap();
    let mut taken = 0;
    for number in 0..30 {
        taken += calls(&mut other, "x-forwarded-for", &format!("192.0.2.{number}"), 1).await;
    }
    assert!(taken < 20, "{taken} calls of one address that claims to be many");
}

#[tokio::test]
async fn a_trusted_proxy_names_an_address_before_the_first_byte() {
    let setting = edge(|limits| limits.address_connections = Some(1));
    let room = Room::open(Setting { change: behind_proxies, ..setting }).await;
    let honest = believed(&room);
    let headers = [("authorization", &*honest)];
    let second = |host: u8| {
        let addresses = [192, 0, 2, host, 127, 0, 0, 1, 0, 7, 0, 8];
        [&b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"[..], &addresses].concat()
    };
    let first = b"PROXY TCP4 192.0.2.1 127.0.0.1 7 8\r\n";
    let mut one = RawClient::open_after("127.0.0.3", room.bound, first).await.unwrap();
    assert_eq!(one.call("Play", &headers, "hello").await.unwrap().code(), Code::Ok);
    let mut same = RawClient::open_after("127.0.0.3", room.bound, &second(1)).await.unwrap();
    let status = same.call("Play", &headers, "hello").await.unwrap();
    assert_eq!(status.code(), Code::ResourceExhausted);
    let mut two = RawClient::open_after("127.0.0.3", room.bound, &second(2)).await.unwrap();
    assert_eq!(two.call("Play", &headers, "hello").await.unwrap().code(), Code::Ok);

    let stranger = RawClient::open_after("127.0.0.4", room.bound, first).await;
    let answer = match stranger {
        Ok(mut raw) => raw.call("Play", &headers, "hello").await,
        Err(_) => None,
    };
    assert!(answer.is_none(), "who is not trusted speaks HTTP: {answer:?}");
}
