//! Callers without a token, tokens that are revoked, fresh tokens in a stream, and wrong ones.

use std::time::Duration;

use chassis::auth::{Claims, Identity, Revocation, RevokedTokens, Role, TokenIssuer};
use chassis::channel::add_token;
use primitives::UnixMicros;
use prost::Message;
use system::clock::{Clock as _, SystemClock};
use system::entropy::SystemEntropy;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;
use tonic_types::StatusExt as _;

use crate::auth::token;
use crate::echo::{Caller, Room, Text, call, text};
use crate::limits::with_limits;
use crate::raw::{RawClient, reason};

const PLAYER: &str = "0190c2f0-7d3a-4b6e-8a52-6d1f2e3c4b5a";

/// Longer than anything takes on a slow machine.
const LONG: Duration = Duration::from_secs(30);

/// Message with a text or a fresh token.
#[derive(Clone, PartialEq, Message)]
struct Said {
    #[prost(string, tag = "1")]
    text: String,
    #[prost(string, tag = "2")]
    token: String,
}

fn claims(subject: &str, life: Duration) -> Claims {
    let identity = Identity::new(Role::Player, subject);
    Claims::new("test", &identity, life, &SystemClock::new(), &SystemEntropy)
}

fn claim(status: &Status) -> Option<String> {
    status.get_details_error_info()?.metadata.get("claim").cloned()
}

/// Opens a stream without a token, or with one.
async fn stream(
    channel: &impl Caller,
    method: &str,
    token: Option<&str>,
) -> Result<tonic::Streaming<Text>, Status> {
    let path = format!("/chassis.test.v1.EchoService/{method}").parse().unwrap();
    let mut client = tonic::client::Grpc::new(channel.clone());
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let mut request = text("go");
    if let Some(token) = token {
        add_token(&mut request, token);
    }
    let codec = ProstCodec::<Text, Text>::default();
    client.server_streaming(request, path, codec).await.map(tonic::Response::into_inner)
}

/// ARCHITECTURE.md §6.1.
#[tokio::test]
async fn looking_needs_no_token_and_a_wrong_one_is_refused_all_the_same() {
    let room = Room::open(with_limits(|_| {})).await;
    let channel = room.plain();
    let seen = call(&channel, "Look", text("hello")).await.unwrap().into_inner().text;
    assert!(seen.starts_with(' '), "nobody is named: {seen}");
    let stranger = TokenIssuer::generate("test", &SystemEntropy);
    let old = Claims { exp: 1_600_000_060, iat: 1_600_000_000, ..claims(PLAYER, LONG) };
    for (shown, expected) in [
        (stranger.issue(&claims(PLAYER, LONG)), "TOKEN_FORGED"),
        (room.issuer.issue(&old), "TOKEN_EXPIRED"),
        (String::new(), "TOKEN_MALFORMED"),
        ("nonsense".to_owned(), "TOKEN_MALFORMED"),
    ] {
        let mut request = text("hello");
        add_token(&mut request, &shown);
        let status = call(&channel, "Look", request).await.unwrap_err();
        assert_eq!((status.code(), &*reason(&status)), (Code::Unauthenticated, expected));
    }
    let mut request = text("hello");
    add_token(&mut request, &token(&room, Role::Operator));
    let status = call(&channel, "Look", request).await.unwrap_err();
    assert_eq!(reason(&status), "ROLE_NOT_ALLOWED", "whose role is not named");
}

/// ARCHITECTURE.md §7.1.
#[tokio::test]
async fn watchers_without_a_token_take_no_stream_of_players() {
    let limits = with_limits(|limits| {
        limits.address_anonymous_streams = Some(2);
        limits.player_streams = Some(4);
    });
    let room = Room::open(limits).await;
    let channel = room.plain();
    let first = stream(&channel, "Watch", None).await.unwrap();
    let _second = stream(&channel, "Watch", None).await.unwrap();
    let status = stream(&channel, "Watch", None).await.unwrap_err();
    assert_eq!((status.code(), &*reason(&status)), (Code::ResourceExhausted, "OVERLOADED"));
    let own = token(&room, Role::Player);
    let mut watched = stream(&channel, "Watch", Some(&own)).await.unwrap();
    assert_eq!(watched.message().await.unwrap().unwrap().text, "tick");
    drop(first);
    let again = async {
        while stream(&channel, "Watch", None).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LONG, again).await.expect("a place is given back");
}

/// A conversation with the server, opened with a token of this life.
struct Conversation {
    say: mpsc::Sender<Said>,
    answers: tonic::Streaming<Text>,
}

impl Conversation {
    async fn open(room: &Room, life: Duration) -> Conversation {
        let channel = room.plain();
        let mut client = tonic::client::Grpc::new(channel);
        client.ready().await.unwrap();
        let (say, said) = mpsc::channel(8);
        let mut request = Request::new(ReceiverStream::new(said));
        add_token(&mut request, &room.issuer.issue(&claims(PLAYER, life)));
        let path = "/chassis.test.v1.EchoService/Tell".parse().unwrap();
        let codec = ProstCodec::<Said, Text>::default();
        let answers = client.streaming(request, path, codec).await.unwrap().into_inner();
        Conversation { say, answers }
    }

    async fn say(&mut self, said: Said) -> Result<Option<Text>, Status> {
        self.say.send(said).await.unwrap();
        tokio::time::timeout(LONG, self.answers.message()).await.expect("it answers or ends")
    }

    fn word(text: &str) -> Said {
        Said { text: text.to_owned(), token: String::new() }
    }

    fn fresh(token: &str) -> Said {
        Said { text: String::new(), token: token.to_owned() }
    }
}

#[tokio::test]
async fn a_stream_lives_by_the_fresh_token_that_is_sent_in_it() {
    let room = Room::open(with_limits(|_| {})).await;
    let mut talk = Conversation::open(&room, Duration::from_secs(2)).await;
    assert_eq!(talk.say(Conversation::word("one")).await.unwrap().unwrap().text, "one");
    let fresh = room.issuer.issue(&claims(PLAYER, LONG));
    assert_eq!(talk.say(Conversation::fresh(&fresh)).await.unwrap().unwrap().text, "");
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(talk.say(Conversation::word("two")).await.unwrap().unwrap().text, "two");
    let other = room.issuer.issue(&claims("0190c2f0-7d3a-4b6e-8a52-6d1f2e3c4b5b", LONG));
    let status = talk.say(Conversation::fresh(&other)).await.unwrap_err();
    assert_eq!((status.code(), &*reason(&status)), (Code::Unauthenticated, "TOKEN_FORGED"));
    assert_eq!(claim(&status).as_deref(), Some("sub"));
}

/// ARCHITECTURE.md §6.5.
#[tokio::test]
async fn a_revocation_ends_what_is_open_and_lets_nothing_in() {
    let room = Room::open(with_limits(|_| {})).await;
    let (one, two) = (claims(PLAYER, LONG), claims(PLAYER, LONG));
    let [first, second] = [&one, &two].map(|claims| room.issuer.issue(claims));
    let channel = room.plain();
    let mut ends = stream(&channel, "Watch", Some(&first)).await.unwrap();
    let mut stays = stream(&channel, "Watch", Some(&second)).await.unwrap();
    for stream in [&mut ends, &mut stays] {
        assert_eq!(stream.message().await.unwrap().unwrap().text, "tick");
    }
    let now = SystemClock::new().now();
    let forgotten_at = now.plus(LONG);
    room.revocations.add([Revocation { tokens: RevokedTokens::Id(one.jti), forgotten_at }]);
    let ended = tokio::time::timeout(Duration::from_secs(5), ends.message()).await;
    let status = ended.expect("within five seconds").unwrap_err();
    assert_eq!((status.code(), &*reason(&status)), (Code::Unauthenticated, "TOKEN_REVOKED"));
    assert_eq!(claim(&status).as_deref(), Some("jti"));
    let status = stream(&channel, "Watch", Some(&first)).await.unwrap_err();
    assert_eq!(reason(&status), "TOKEN_REVOKED");
    assert!(stream(&channel, "Watch", Some(&second)).await.is_ok(), "another token is good");
    let tokens =
        RevokedTokens::Subject { subject: PLAYER.to_owned(), issued_until: UnixMicros(now.0 + 1) };
    room.revocations.add([Revocation { tokens, forgotten_at }]);
    let ended = tokio::time::timeout(Duration::from_secs(5), stays.message()).await;
    let status = ended.expect("within five seconds").unwrap_err();
    assert_eq!((&*reason(&status), claim(&status).as_deref()), ("TOKEN_REVOKED", Some("sub")));
}

/// ARCHITECTURE.md §7.2.
#[tokio::test]
async fn who_shows_five_wrong_tokens_waits_with_the_next_and_not_with_known_ones() {
    let room = Room::open(with_limits(|_| {})).await;
    let known = format!("Bearer {}", token(&room, Role::Player));
    let mut caller = RawClient::open("127.0.0.2", room.bound).await.unwrap();
    let mut shown = async |authorization: &str| {
        let status = caller.call("Play", &[("authorization", authorization)], "hello").await;
        status.map(|status| (status.code(), reason_of(&status))).unwrap()
    };
    assert_eq!(shown(&known).await.0, Code::Ok);
    for _ in 0..5 {
        assert_eq!(shown("Bearer nonsense").await.1, "TOKEN_MALFORMED");
    }
    assert_eq!(shown("Bearer nonsense").await.1, "OVERLOADED");
    let new = format!("Bearer {}", token(&room, Role::Player));
    assert_eq!(shown(&new).await, (Code::ResourceExhausted, "OVERLOADED".to_owned()));
    assert_eq!(shown(&known).await.0, Code::Ok, "it was verified before");
    let mut neighbour = RawClient::open("127.0.0.3", room.bound).await.unwrap();
    let status = neighbour.call("Play", &[("authorization", &new)], "hello").await.unwrap();
    assert_eq!(status.code(), Code::Ok, "another address is another's");
}

fn reason_of(status: &Status) -> String {
    if status.code() == Code::Ok { String::new() } else { reason(status) }
}
