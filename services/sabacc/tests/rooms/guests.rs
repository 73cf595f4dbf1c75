//! Guests of a room for play money: they sign in without a token, play, come back with a refresh
//! token, and are signed out by an operator.

use std::time::Duration;

use chassis::auth::{Role, TokenIssuer};
use client::Client;
use primitives::{PlayerId, RequestId, TableId};
use proto::audit::v1 as audit;
use proto::audit::v1::audit_service_client::AuditServiceClient;
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use proto::table::v1::people_service_client::PeopleServiceClient;
use proto::table::v1::play_request::Message as PlayMessage;
use proto::table::v1::play_response::Message as PlayOutcome;
use proto::table::v1::watch_table_response::Message;
use rustix::process::Signal;
use sha2::{Digest as _, Sha256};
use system::ids::IdMaker;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Status, Streaming};
use wire::status::reason_of;

use crate::harness::{LONG_TIMEOUT, RoomHarness, token};
use crate::people::{Guest, Party, channel, operator, slow_table, tables, with_token};

/// Credits that a guest of `sabacc up` begins with.
const STARTING_CREDITS: u64 = 100_000;
/// Time in which a revocation reaches open streams.
const REVOKED_WITHIN: Duration = Duration::from_secs(5);

fn people(url: &str) -> PeopleServiceClient<Channel> {
    PeopleServiceClient::new(channel(url))
}

fn request_id() -> RequestId {
    IdMaker::system().request_id()
}

async fn sign_in(
    url: &str,
    request: RequestId,
    name: &str,
) -> Result<pb::SignInAsGuestResponse, Status> {
    // Of one request always the same.
    let secret = Sha256::digest(request.bytes()).to_vec();
    sign_in_with(url, request, name, secret).await
}

async fn sign_in_with(
    url: &str,
    request: RequestId,
    name: &str,
    sign_in_secret: Vec<u8>,
) -> Result<pb::SignInAsGuestResponse, Status> {
    let (request_id, name) = (request.to_string(), name.to_owned());
    let request = pb::SignInAsGuestRequest { request_id, name, sign_in_secret };
    Ok(people(url).sign_in_as_guest(request).await?.into_inner())
}

async fn refresh(url: &str, request: RequestId, token: &str) -> Result<pb::Tokens, Status> {
    let request =
        pb::RefreshRequest { request_id: request.to_string(), refresh_token: token.to_owned() };
    Ok(people(url).refresh(request).await?.into_inner().tokens.unwrap())
}

/// A guest, and the refresh token that they come back with.
struct SignedIn {
    guest: Guest,
    refresh_token: String,
}

impl SignedIn {
    async fn new(harness: &RoomHarness, url: &str, name: &str) -> SignedIn {
        let answer = sign_in(url, request_id(), name).await.unwrap();
        assert_eq!((&*answer.name, answer.starting_credits), (name, STARTING_CREDITS));
        let tokens = answer.tokens.unwrap();
        let client = Client::connect(url, tokens.access_token.clone()).unwrap();
        let client = client.with_trusted_keys(harness.trusted_keys());
        let id = answer.player_id.parse().unwrap();
        let guest = Guest { id, token: tokens.access_token, client };
        SignedIn { guest, refresh_token: tokens.refresh_token }
    }
}

/// A guest's token of this life, made with the room's own key for guests.
fn short_token(harness: &RoomHarness, player: PlayerId, life: Duration) -> String {
    let pem = std::fs::read_to_string(harness.data().join("keys/guests.pem")).unwrap();
    let issuer = TokenIssuer::from_pem("guests", &pem).unwrap();
    token(&issuer, Role::Player, &player.to_string(), life)
}

async fn watch(
    url: &str,
    token: &str,
    table: TableId,
    resume_token: Vec<u8>,
) -> Result<Streaming<pb::WatchTableResponse>, Status> {
    let request = pb::WatchTableRequest { table_id: table.to_string(), resume_token };
    Ok(tables(url).watch_table(with_token(token, request)).await?.into_inner())
}

/// Reads a stream to its end: its last resume token, and what ended it.
async fn read_to_end(
    mut stream: Streaming<pb::WatchTableResponse>,
    within: Duration,
) -> (Vec<u8>, Result<pb::EndReason, ErrorReason>) {
    let mut resume_token = Vec::new();
    let ended = async {
        loop {
            match stream.message().await {
                Ok(Some(message)) => {
                    resume_token.clone_from(&message.resume_token);
                    if let Some(Message::Ended(ended)) = message.message {
                        return Ok(ended.reason());
                    }
                }
                Ok(None) => panic!("a stream ends with a word"),
                Err(status) => return Err(reason_of(&status).unwrap()),
            }
        }
    };
    let ended = tokio::time::timeout(within, ended).await.expect("the stream ends in time");
    (resume_token, ended)
}

/// ARCHITECTURE.md §6.5.
#[tokio::test(flavor = "multi_thread")]
async fn a_guest_plays_a_hand_comes_back_and_is_signed_out_by_an_operator() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let url = room.url.clone();
    let [one, two] =
        [SignedIn::new(&harness, &url, "Lando").await, SignedIn::new(&harness, &url, "").await];
    assert_eq!(one.guest.credits().await, (STARTING_CREDITS, vec![]));
    let guests = vec![one.guest.clone(), two.guest.clone()];
    let mut party = Party::of(&harness, &url, guests, slow_table("guests")).await;
    party.play_until(|view| view.hand_no >= 2).await;

    // A token ends, and its stream by a word of its own; a new one goes on from there.
    let short = short_token(&harness, one.guest.id, Duration::from_secs(3));
    let stream = watch(&url, &short, party.table, Vec::new()).await.unwrap();
    let (resume_token, ended) = read_to_end(stream, LONG_TIMEOUT).await;
    assert_eq!(ended, Ok(pb::EndReason::TokenExpired));
    let expired = watch(&url, &short, party.table, resume_token.clone()).await.unwrap_err();
    assert_eq!(reason_of(&expired), Some(ErrorReason::TokenExpired));
    let request = request_id();
    let tokens = refresh(&url, request, &one.refresh_token).await.unwrap();
    let again = refresh(&url, request, &one.refresh_token).await.unwrap();
    assert_eq!(again.refresh_token, tokens.refresh_token, "a repeat gets the first answer");
    let mut resumed = watch(&url, &tokens.access_token, party.table, resume_token).await.unwrap();
    let first = resumed.message().await.unwrap().unwrap().message;
    assert!(!matches!(first, Some(Message::Snapshot(_))), "nothing was missed: {first:?}");

    // An operator signs the guest out: what is open ends, and nothing lets them in.
    let revoke = pb::RevokeTokensRequest {
        request_id: request_id().to_string(),
        tokens: Some(pb::revoke_tokens_request::Tokens::Subject(one.guest.id.to_string())),
        reason: "asked to".to_owned(),
    };
    let by = std::fs::read_to_string(harness.data().join("keys/operator.token")).unwrap();
    people(&url).revoke_tokens(with_token(&by, revoke)).await.unwrap();
    let (_, ended) = read_to_end(resumed, REVOKED_WITHIN).await;
    assert_eq!(ended, Err(ErrorReason::TokenRevoked));
    let refused = watch(&url, &tokens.access_token, party.table, Vec::new()).await.unwrap_err();
    assert_eq!(reason_of(&refused), Some(ErrorReason::TokenRevoked));
    let out = refresh(&url, request_id(), &tokens.refresh_token).await.unwrap_err();
    assert_eq!(reason_of(&out), Some(ErrorReason::TokenRevoked));

    // A killed room remembers who was signed out, and who may come back.
    room.running.kill();
    let mut room = harness.up(&["--no-bots"]).await;
    let url = room.url.clone();
    let out = refresh(&url, request_id(), &tokens.refresh_token).await.unwrap_err();
    assert_eq!(reason_of(&out), Some(ErrorReason::TokenRevoked));
    let refused = watch(&url, &tokens.access_token, party.table, Vec::new()).await.unwrap_err();
    assert_eq!(
        reason_of(&refused),
        Some(ErrorReason::TokenRevoked),
        "also a token that has not ended"
    );
    let tokens = refresh(&url, request_id(), &two.refresh_token).await.unwrap();
    assert!(watch(&url, &tokens.access_token, party.table, Vec::new()).await.is_ok());
    let (status, said) = harness.run(harness.sabacc(&["audit", "ledger"])).await;
    assert!(status.success(), "no credit was made or lost: {said}");
    room.running.stop(Signal::INT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_that_is_repeated_gives_credits_once_and_a_stolen_token_ends_it() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let request = request_id();
    let first = sign_in(&room.url, request, "Lando").await.unwrap();
    room.running.kill();
    let mut room = harness.up(&["--no-bots"]).await;
    let url = room.url.clone();
    let again = sign_in(&url, request, "Lando").await.unwrap();
    assert_eq!(again.player_id, first.player_id);
    let other = sign_in(&url, request, "Han").await.unwrap_err();
    assert_eq!(reason_of(&other), Some(ErrorReason::RequestIdReused));
    // Who knows the request's id and not its secret gets nothing.
    let stranger = sign_in_with(&url, request, "Lando", (0..32).collect()).await.unwrap_err();
    assert_eq!(reason_of(&stranger), Some(ErrorReason::RequestIdReused));
    let none = sign_in_with(&url, request, "Lando", Vec::new()).await.unwrap_err();
    assert_eq!(reason_of(&none), Some(ErrorReason::BadField));
    let (old, tokens) = (first.tokens.unwrap(), again.tokens.unwrap());
    assert_eq!(tokens.refresh_token, old.refresh_token);
    let client = Client::connect(&url, tokens.access_token.clone()).unwrap();
    let account = client.get_account(None).await.unwrap();
    assert_eq!(account.balance_credits, STARTING_CREDITS, "credits come once");

    // Who has stolen the refresh token is first; the owner comes with it too.
    let stolen = refresh(&url, request_id(), &tokens.refresh_token).await.unwrap();
    let owner = refresh(&url, request_id(), &tokens.refresh_token).await.unwrap_err();
    assert_eq!(reason_of(&owner), Some(ErrorReason::TokenRevoked));
    let thief = refresh(&url, request_id(), &stolen.refresh_token).await.unwrap_err();
    assert_eq!(reason_of(&thief), Some(ErrorReason::TokenRevoked));
    let until = tokio::time::Instant::now() + REVOKED_WITHIN;
    loop {
        let request = with_token(&stolen.access_token, pb::ListTablesRequest::default());
        let thief = tables(&url).list_tables(request).await;
        match thief {
            Err(status) => break assert_eq!(reason_of(&status), Some(ErrorReason::TokenRevoked)),
            Ok(_) => assert!(tokio::time::Instant::now() < until, "the thief is still in"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    // A player signs themselves out.
    let own = SignedIn::new(&harness, &url, "").await;
    let out = pb::SignOutRequest { request_id: request_id().to_string() };
    people(&url).sign_out(with_token(&own.guest.token, out)).await.unwrap();
    let back = refresh(&url, request_id(), &own.refresh_token).await.unwrap_err();
    assert_eq!(reason_of(&back), Some(ErrorReason::TokenRevoked));
    room.running.stop(Signal::INT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_play_lives_by_the_token_that_is_sent_in_it() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let table = operator(&harness, &room.url).create_table(slow_table("play")).await.unwrap();
    let one = SignedIn::new(&harness, &room.url, "").await;
    let (say, said) = mpsc::channel(8);
    let to_watch = pb::WatchTableRequest { table_id: table.to_string(), resume_token: Vec::new() };
    let message = |message| pb::PlayRequest { message: Some(message) };
    say.send(message(PlayMessage::Watch(to_watch))).await.unwrap();
    let short = short_token(&harness, one.guest.id, Duration::from_secs(4));
    let request = with_token(&short, ReceiverStream::new(said));
    let mut stream = tables(&room.url).play(request).await.unwrap().into_inner();
    stream.message().await.unwrap().unwrap();
    let fresh = short_token(&harness, one.guest.id, Duration::from_secs(10));
    say.send(message(PlayMessage::AccessToken(fresh))).await.unwrap();
    let begun = tokio::time::Instant::now();
    let ended = async {
        loop {
            let outcome = stream.message().await.unwrap().unwrap().message;
            if let Some(PlayOutcome::Seen(pb::WatchTableResponse {
                message: Some(Message::Ended(ended)),
                ..
            })) = outcome
            {
                return ended.reason();
            }
        }
    };
    let reason = tokio::time::timeout(LONG_TIMEOUT, ended).await.unwrap();
    assert_eq!(reason, pb::EndReason::TokenExpired);
    assert!(begun.elapsed() > Duration::from_secs(6), "it lived by the fresh token");
    room.running.stop(Signal::INT).await;
}

/// ARCHITECTURE.md §6.3.
#[tokio::test(flavor = "multi_thread")]
async fn looking_needs_no_token_and_shows_no_seats_cards() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let url = room.url.clone();
    let mut party = Party::new(&harness, &url, 2).await;
    party.play_until(|view| view.hand_no >= 2).await;
    let (_, own) = party.play_until(|view| !crate::people::cards(view).is_empty()).await;
    assert!(crate::people::cards(&own).iter().all(|card| card != "??"));
    let listed = tables(&url).list_tables(pb::ListTablesRequest::default()).await.unwrap();
    assert_eq!(listed.into_inner().tables.len(), 1);
    let table_id = party.table.to_string();
    let asked = pb::GetTableRequest { table_id: table_id.clone() };
    let view = tables(&url).get_table(asked).await.unwrap().into_inner().table.unwrap();
    let asked = pb::WatchTableRequest { table_id: table_id.clone(), resume_token: Vec::new() };
    let mut watched = tables(&url).watch_table(asked).await.unwrap().into_inner();
    let Some(Message::Snapshot(snapshot)) = watched.message().await.unwrap().unwrap().message
    else {
        panic!("a snapshot comes first")
    };
    for view in [view, *snapshot] {
        assert_eq!(view.your_seat, 0);
        let seats = view.hand.as_ref().unwrap().seats.iter();
        let cards: Vec<&str> =
            seats.flat_map(|seat| &seat.cards).map(|card| card.code.as_str()).collect();
        assert!(!cards.is_empty() && cards.iter().all(|card| *card == "??"), "{cards:?}");
    }
    let asked = audit::GetHandBundleRequest { table_id, hand_no: 1 };
    let mut audits = AuditServiceClient::new(channel(&url)).max_decoding_message_size(8 << 20);
    assert!(!audits.get_hand_bundle(asked).await.unwrap().into_inner().bundle.is_empty());
    let asked = pb::GetPlayerRequest { player_id: party.guests[0].id.to_string() };
    people(&url).get_player(asked).await.unwrap();
    // A token that is there must be good.
    let wrong = with_token("nonsense", pb::ListTablesRequest::default());
    let status = tables(&url).list_tables(wrong).await.unwrap_err();
    assert_eq!(reason_of(&status), Some(ErrorReason::TokenMalformed));
    room.running.stop(Signal::INT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_made_offline_and_a_room_may_have_no_guests() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots", "--no-guests"]).await;
    let refused = sign_in(&room.url, request_id(), "").await.unwrap_err();
    assert_eq!(reason_of(&refused), Some(ErrorReason::NoSuchMethod));
    for role in ["operator", "auditor"] {
        let file = harness.data().join(format!("keys/{role}.token"));
        let left = std::fs::read_to_string(file).unwrap();
        let arguments = ["token", "--role", role, "--sub", "till-1", "--ttl", "15m"];
        let (status, said) = harness.run(harness.sabacc(&arguments)).await;
        assert!(status.success(), "{said}");
        for token in [left.trim(), said.trim()] {
            let client = Client::connect(&room.url, token.to_owned()).unwrap();
            client.list_tables().await.unwrap();
        }
    }
    for wrong in
        [["token", "--role", "player", "--sub", "lando"], ["token", "--role", "king", "--sub", "x"]]
    {
        let (status, said) = harness.run(harness.sabacc(&wrong)).await;
        assert!(!status.success(), "{said}");
    }
    room.running.stop(Signal::INT).await;
}
