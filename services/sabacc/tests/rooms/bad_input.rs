//! Bad input: each is refused with one code, one reason and the field at fault, and changes
//! nothing.

use std::fmt::Debug;

use chassis::auth::{Claims, Identity, Role, TokenIssuer};
use client::Client;
use primitives::{Credits, PlayerId, RequestId, TableId};
use proto::common::v1::{ErrorReason, MoveKind};
use proto::table::v1 as pb;
use proto::table::v1::table_service_client::TableServiceClient;
use proto::wallet::v1 as wallet;
use proto::wallet::v1::wallet_service_client::WalletServiceClient;
use rustix::process::Signal;
use system::clock::SystemClock;
use system::entropy::SystemEntropy;
use system::ids::IdMaker;
use tonic::transport::Channel;
use tonic::{Code, Response, Status};
use tonic_types::StatusExt as _;

use crate::harness::{Room, RoomHarness, token};
use crate::people::{
    Guest, Party, cards, channel, legal, operator, plain, slow_table, turn_of, with_token,
};

/// Room with a party of two in the middle of a hand, and a player without a seat.
struct Fixture {
    harness: RoomHarness,
    room: Room,
    party: Party,
    stranger: Guest,
    tables: TableServiceClient<Channel>,
    wallet: WalletServiceClient<Channel>,
}

/// State that must not change.
type Facts = (Vec<pb::TableView>, Vec<(u64, Vec<u64>)>, usize);

impl Fixture {
    async fn new() -> Fixture {
        let harness = RoomHarness::new();
        let room = harness.up(&["--no-bots"]).await;
        let mut party = Party::new(&harness, &room.url, 2).await;
        let stranger = Guest::new(&harness, &room.url).await;
        party.play_until(|view| legal(view, MoveKind::Bet).is_some()).await;
        let channel = channel(&room.url);
        let tables = TableServiceClient::new(channel.clone());
        let wallet = WalletServiceClient::new(channel);
        Fixture { harness, room, party, stranger, tables, wallet }
    }

    async fn facts(&self) -> Facts {
        let mut views = Vec::new();
        let mut credits = vec![self.stranger.credits().await];
        for guest in &self.party.guests {
            views.push(guest.client.get_table(self.party.table).await.unwrap());
            credits.push(guest.credits().await);
        }
        let tables = operator(&self.harness, &self.room.url).list_tables().await.unwrap();
        (views, credits, tables.len())
    }

    async fn end(self) {
        let Fixture { mut room, .. } = self;
        room.running.stop(Signal::INT).await;
    }
}

/// Checks the refusal of a call.
fn check_refused<T: Debug>(
    answer: Result<Response<T>, Status>,
    expected: (Code, ErrorReason),
    field: Option<&str>,
) -> Status {
    let status = answer.expect_err("it should be refused");
    let (code, reason) = expected;
    assert_eq!((status.code(), wire::status::reason_of(&status)), (code, Some(reason)), "{status}");
    let info = status.get_details_error_info().expect("every refusal has one");
    let name = wire::status::reason_name(reason);
    assert_eq!((info.domain.as_str(), info.reason.as_str()), ("sabacc", name), "{status}");
    let blamed = status.get_details_bad_request().map(|bad| bad.field_violations);
    let blamed = blamed.into_iter().flatten().next().map(|violation| violation.field);
    assert_eq!(blamed.as_deref(), field, "{status}");
    assert!(status.metadata().contains_key("trace-id"), "{status:?}");
    assert!(!status.message().is_empty() && !status.message().contains("eyJ"), "{status}");
    status
}

/// Returns a metadata value of a refusal.
fn metadata(status: &Status, key: &str) -> String {
    let info = status.get_details_error_info().unwrap();
    info.metadata.get(key).unwrap_or_else(|| panic!("no {key}: {status:?}")).clone()
}

fn id() -> RequestId {
    IdMaker::system().request_id()
}

fn id_text() -> String {
    id().to_string()
}

const FIELD: (Code, ErrorReason) = (Code::InvalidArgument, ErrorReason::BadField);

const fn not_now(reason: ErrorReason) -> (Code, ErrorReason) {
    (Code::FailedPrecondition, reason)
}

#[tokio::test(flavor = "multi_thread")]
async fn decisions_that_cannot_be() {
    use ErrorReason::{AmountOutOfRange, IllegalMove, NotYourSeat, NotYourTurn, TableUnknown};
    let scene = Fixture::new().await;
    let before = scene.facts().await;
    let party = &scene.party;
    let (guest, view) = party.turn().await;
    let other = 1 - guest;
    let right = || party.act_request(guest, &view, id());
    let act = async |guest, act| party.act(guest, act).await;
    let with = |kind| pb::ActRequest { decision: Some(plain(kind)), ..right() };
    let bet = |amount| {
        let bet = proto::common::v1::Move { amount_credits: amount, ..plain(MoveKind::Bet) };
        pb::ActRequest { decision: Some(bet), ..right() }
    };

    let status = check_refused(act(other, right()).await, not_now(NotYourTurn), None);
    assert_eq!(metadata(&status, "seat"), (guest + 1).to_string());
    let stale = pb::ActRequest { turn: right().turn - 1, ..right() };
    check_refused(act(guest, stale).await, not_now(NotYourTurn), Some("turn"));
    let early = pb::ActRequest { hand_no: view.hand_no + 1, ..right() };
    check_refused(act(guest, early).await, not_now(NotYourTurn), Some("hand_no"));
    let status = check_refused(act(guest, with(MoveKind::Match)).await, not_now(IllegalMove), None);
    assert!(metadata(&status, "legal").contains("bet"), "{status:?}");
    let most = legal(&view, MoveKind::Bet).unwrap().max_credits;
    let field = Some("decision.amount_credits");
    let status = check_refused(act(guest, bet(most + 1)).await, not_now(AmountOutOfRange), field);
    assert_eq!(metadata(&status, "max"), most.to_string());
    check_refused(act(guest, bet(u64::MAX)).await, FIELD, field);
    check_refused(act(guest, with(MoveKind::Leave)).await, FIELD, Some("decision.kind"));
    check_refused(act(guest, with(MoveKind::Unspecified)).await, FIELD, Some("decision.kind"));
    check_refused(
        act(guest, pb::ActRequest { decision: None, ..right() }).await,
        FIELD,
        Some("decision"),
    );
    let short = pb::ActRequest { request_id: "0101".to_owned(), ..right() };
    check_refused(act(guest, short).await, FIELD, Some("request_id"));
    let short = pb::ActRequest { table_id: "01".repeat(17), ..right() };
    check_refused(act(guest, short).await, FIELD, Some("table_id"));
    let nowhere = pb::ActRequest { table_id: TableId([1; 16]).to_string(), ..right() };
    check_refused(act(guest, nowhere).await, (Code::NotFound, TableUnknown), Some("table_id"));
    // A card that the player does not hold; the refusal must not reveal whether somebody else does.
    let held = cards(&view);
    let deck = rules::variant("dice").unwrap().deck;
    let strange = deck.faces().filter(|code| !held.iter().any(|own| own == code));
    let mut answers = std::collections::BTreeSet::new();
    for code in strange {
        let trade =
            proto::common::v1::Move { cards: vec![code.to_owned()], ..plain(MoveKind::Trade) };
        let status = act(guest, pb::ActRequest { decision: Some(trade), ..right() }).await;
        let status = status.expect_err("it is not his");
        answers.insert((status.code() as i32, status.message().replace(code, "that card")));
    }
    assert_eq!(answers.len(), 1, "{answers:?}");
    // A player without a seat.
    let mut tables = scene.tables.clone();
    let answer = tables.act(with_token(&scene.stranger.token, right())).await;
    check_refused(answer, (Code::PermissionDenied, NotYourSeat), None);
    let leave = pb::StandUpRequest {
        request_id: id_text(),
        table_id: right().table_id,
        signature: Vec::new(),
    };
    let answer = tables.stand_up(with_token(&scene.stranger.token, leave)).await;
    check_refused(answer, (Code::PermissionDenied, NotYourSeat), None);
    assert_eq!(scene.facts().await, before);
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn seats_that_cannot_be_taken() {
    use ErrorReason::{AlreadySeated, BuyInOutOfRange, InsufficientCredits, SeatTaken};
    let scene = Fixture::new().await;
    let before = scene.facts().await;
    let view = scene.party.view_of(0).await;
    let (least, most) = (view.min_buy_in_credits, view.max_buy_in_credits);
    let table_id = scene.party.table.to_string();
    let sit = |seat, buy_in| pb::SitDownRequest {
        request_id: id_text(),
        table_id: table_id.clone(),
        seat,
        buy_in_credits: buy_in,
    };
    let down = async |token: &str, sit| scene.tables.clone().sit_down(with_token(token, sit)).await;
    let stranger = scene.stranger.token.as_str();
    let seated = scene.party.guests[0].token.as_str();

    check_refused(down(stranger, sit(1, least)).await, not_now(SeatTaken), Some("seat"));
    check_refused(down(stranger, sit(99, least)).await, FIELD, Some("seat"));
    check_refused(down(stranger, sit(3, 0)).await, FIELD, Some("buy_in_credits"));
    check_refused(down(stranger, sit(3, u64::MAX)).await, FIELD, Some("buy_in_credits"));
    check_refused(down(seated, sit(3, least)).await, not_now(AlreadySeated), None);
    for buy_in in [least - 1, most + 1] {
        let answer = down(stranger, sit(3, buy_in)).await;
        let status = check_refused(answer, not_now(BuyInOutOfRange), Some("buy_in_credits"));
        assert_eq!(metadata(&status, "min"), least.to_string());
        assert_eq!(metadata(&status, "max"), most.to_string());
    }
    assert_eq!(scene.facts().await, before);
    // The wallet refuses: the seat was held meanwhile, and is free again.
    let poor = Guest::of(&scene.harness, &scene.room.url, IdMaker::system().player_id());
    poor.client.open_account(None).await.unwrap();
    let request = sit(3, least);
    let status = check_refused(
        down(&poor.token, request.clone()).await,
        not_now(InsufficientCredits),
        Some("buy_in_credits"),
    );
    let again = check_refused(
        down(&poor.token, request).await,
        not_now(InsufficientCredits),
        Some("buy_in_credits"),
    );
    assert_eq!(status.message(), again.message(), "the same request, the same answer");
    let after = scene.facts().await;
    assert_eq!(after.0[0].seats, before.0[0].seats);
    assert_eq!((&after.0[0].hand, after.1), (&before.0[0].hand, before.1));
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_who_are_not_who_they_should_be() {
    use ErrorReason::{RoleNotAllowed, TokenExpired, TokenForged, TokenMalformed, TokenMissing};
    let scene = Fixture::new().await;
    let before = scene.facts().await;
    let ask = async |token: Option<&str>| {
        let table_id = scene.party.table.to_string();
        let request = pb::StandUpRequest { request_id: id_text(), table_id, signature: Vec::new() };
        let request = match token {
            Some(token) => with_token(token, request),
            None => tonic::Request::new(request),
        };
        scene.tables.clone().stand_up(request).await
    };
    let issuer = scene.harness.issuer();
    let seated = &scene.party.guests[0];
    let (subject, unknown) = (seated.id.to_string(), |reason| (Code::Unauthenticated, reason));

    check_refused(ask(None).await, unknown(TokenMissing), None);
    for text in ["", "x", "a.b.c", &seated.token[..seated.token.len() / 2]] {
        check_refused(ask(Some(text)).await, unknown(TokenMalformed), None);
    }
    let other = TokenIssuer::generate("up", &SystemEntropy);
    let day = std::time::Duration::from_secs(86_400);
    let forged = token(&other, Role::Player, &subject, day);
    check_refused(ask(Some(&forged)).await, unknown(TokenForged), None);
    let (head, signature) = seated.token.rsplit_once('.').unwrap();
    let payload = scene.harness.token(Role::Operator, "test");
    let swapped = format!("{}.{signature}", payload.rsplit_once('.').unwrap().0);
    check_refused(ask(Some(&swapped)).await, unknown(TokenForged), None);
    assert!(head.len() > 20);
    let identity = Identity::new(Role::Player, subject.clone());
    let mut claims = Claims::new("up", &identity, day, &SystemClock::new(), &SystemEntropy);
    claims.exp = claims.iat - 3600;
    check_refused(ask(Some(&issuer.issue(&claims))).await, unknown(TokenExpired), None);
    let auditor = scene.harness.token(Role::Auditor, "test");
    check_refused(ask(Some(&auditor)).await, (Code::PermissionDenied, RoleNotAllowed), None);
    // Another player's account.
    let of_another = wallet::GetAccountRequest { player_id: scene.stranger.id.to_string() };
    let answer = scene.wallet.clone().get_account(with_token(&seated.token, of_another)).await;
    let status = answer.expect_err("it is not his");
    assert_eq!(status.code(), Code::PermissionDenied, "{status:?}");
    assert_eq!(scene.facts().await, before);
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_id_stands_for_one_request() {
    const REUSED: (Code, ErrorReason) = (Code::AlreadyExists, ErrorReason::RequestIdReused);
    let scene = Fixture::new().await;
    let party = &scene.party;
    let (guest, view) = party.turn().await;
    let act = party.act_request(guest, &view, id());
    let first = party.act(guest, act.clone()).await.unwrap().into_inner();
    let (next, _) = party.turn().await;
    let seat = pb::SitDownRequest {
        request_id: id_text(),
        table_id: act.table_id.clone(),
        seat: 0,
        buy_in_credits: view.min_buy_in_credits,
    };
    let sit = async |seat| {
        let seat = with_token(&scene.stranger.token, seat);
        scene.tables.clone().sit_down(seat).await
    };
    let seated = sit(seat.clone()).await.unwrap().into_inner();
    let operator = scene.harness.token(Role::Operator, "test");
    let issue = wallet::IssueRequest {
        request_id: id_text(),
        player_id: scene.stranger.id.to_string(),
        amount_credits: 7,
        reason: "once".to_owned(),
    };
    let give = async |issue| scene.wallet.clone().issue(with_token(&operator, issue)).await;
    let given = give(issue.clone()).await.unwrap().into_inner();
    let open = pb::CreateTableRequest { request_id: id_text(), config: Some(slow_table("once")) };
    let make = async |open| scene.tables.clone().create_table(with_token(&operator, open)).await;
    let made = make(open.clone()).await.unwrap().into_inner();

    let before = scene.facts().await;
    for _ in 0..2 {
        assert_eq!(party.act(guest, act.clone()).await.unwrap().into_inner(), first);
        assert_eq!(sit(seat.clone()).await.unwrap().into_inner(), seated);
        assert_eq!(give(issue.clone()).await.unwrap().into_inner(), given);
        assert_eq!(make(open.clone()).await.unwrap().into_inner(), made);
    }
    let other = pb::ActRequest { decision: Some(plain(MoveKind::Fold)), ..act.clone() };
    check_refused(party.act(guest, other).await, REUSED, Some("request_id"));
    let theirs = pb::ActRequest { request_id: act.request_id.clone(), ..act.clone() };
    // With another caller the same id is another request, and is judged separately.
    let theirs = party.act(1 - guest, theirs).await.unwrap_err();
    assert_eq!(wire::status::reason_of(&theirs), Some(ErrorReason::NotYourTurn), "{theirs}");
    check_refused(
        sit(pb::SitDownRequest { buy_in_credits: seat.buy_in_credits + 1, ..seat }).await,
        REUSED,
        Some("request_id"),
    );
    check_refused(
        give(wallet::IssueRequest { amount_credits: 8, ..issue }).await,
        REUSED,
        Some("request_id"),
    );
    let renamed = pb::CreateTableRequest { config: Some(slow_table("twice")), ..open };
    check_refused(make(renamed).await, REUSED, Some("request_id"));
    assert_eq!(party.turn().await.0, next);
    assert_eq!(scene.facts().await, before);
    scene.end().await;
}

/// Returns table configurations with invalid times, and the field at fault.
fn odd_times() -> [(pb::TableConfig, &'static str); 5] {
    let ages = pb::TableConfig { action_seconds: 601, ..slow_table("slow") };
    let hasty = pb::TableConfig { commit_ms: 499, ..slow_table("hasty") };
    let lazy = pb::TableConfig { reveal_ms: 10_001, ..slow_table("lazy") };
    let patient = pb::TableConfig { suspend_hours: 169, ..slow_table("patient") };
    let crowded = pb::TableConfig { contributors_min: Some(8), seats: 3, ..slow_table("crowded") };
    [
        (ages, "config.action_seconds"),
        (hasty, "config.commit_ms"),
        (lazy, "config.reveal_ms"),
        (patient, "config.suspend_hours"),
        (crowded, "config.contributors_min"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_that_make_no_sense() {
    use ErrorReason::{AccountUnknown, InsufficientCredits, RuleSetInvalid, TableUnknown};
    let scene = Fixture::new().await;
    let before = scene.facts().await;
    let operator = scene.harness.token(Role::Operator, "test");
    let make = async |config| {
        let open = pb::CreateTableRequest { request_id: id_text(), config };
        scene.tables.clone().create_table(with_token(&operator, open)).await
    };
    check_refused(make(None).await, FIELD, Some("config"));
    check_refused(make(Some(slow_table(""))).await, FIELD, Some("config.name"));
    for (config, field) in odd_times() {
        check_refused(make(Some(config)).await, FIELD, Some(field));
    }
    let unknown = pb::TableConfig { variant: "poker".to_owned(), ..slow_table("other") };
    let status = make(Some(unknown)).await.expect_err("we do not play that");
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
    let field = proto::common::v1::RuleSetField {
        name: "hand_anti".to_owned(),
        value: Some(proto::common::v1::rule_set_field::Value::Number(5)),
    };
    let odd = pb::TableConfig { rule_set: vec![field], ..slow_table("odd") };
    let status = make(Some(odd)).await.expect_err("there is no such field");
    assert_eq!(wire::status::reason_of(&status), Some(RuleSetInvalid), "{status:?}");

    let token = scene.stranger.token.as_str();
    let mut tables = scene.tables.clone();
    let page = pb::ListTablesRequest { page_size: -1, ..Default::default() };
    check_refused(tables.list_tables(with_token(token, page)).await, FIELD, Some("page_size"));
    let page = pb::ListTablesRequest { page_size: 1, page_token: "next".to_owned(), filter: None };
    check_refused(tables.list_tables(with_token(token, page)).await, FIELD, Some("page_token"));
    let watch = |table_id: &str, resume_token: &[u8]| pb::WatchTableRequest {
        table_id: table_id.to_owned(),
        resume_token: resume_token.to_vec(),
    };
    let table = scene.party.table.bytes();
    for junk in [&b"junk"[..], &[0; 24], &[table.as_slice(), &[255; 8]].concat()] {
        let answer = tables
            .watch_table(with_token(token, watch(&scene.party.table.to_string(), junk)))
            .await;
        check_refused(answer.map(|stream| stream.map(drop)), FIELD, Some("resume_token"));
    }
    let answer =
        tables.watch_table(with_token(token, watch(&TableId([9; 16]).to_string(), &[]))).await;
    let unknown = (Code::NotFound, TableUnknown);
    check_refused(answer.map(|stream| stream.map(drop)), unknown, Some("table_id"));
    let nowhere = scene.stranger.client.get_table(TableId([9; 16])).await.unwrap_err();
    assert_eq!(nowhere.reason(), Some(TableUnknown), "{nowhere}");

    let issue = |amount, reason: &str| wallet::IssueRequest {
        request_id: id_text(),
        player_id: scene.stranger.id.to_string(),
        amount_credits: amount,
        reason: reason.to_owned(),
    };
    let give = async |issue| scene.wallet.clone().issue(with_token(&operator, issue)).await;
    check_refused(give(issue(0, "nothing")).await, FIELD, Some("amount_credits"));
    check_refused(give(issue(u64::MAX, "all")).await, FIELD, Some("amount_credits"));
    check_refused(give(issue(1, "")).await, FIELD, Some("reason"));
    check_refused(give(issue(1, &"why ".repeat(51))).await, FIELD, Some("reason"));
    let nobody =
        wallet::IssueRequest { player_id: PlayerId([3; 16]).to_string(), ..issue(1, "nobody") };
    check_refused(give(nobody).await, (Code::NotFound, AccountUnknown), None);
    let short = wallet::IssueRequest { player_id: "0303".to_owned(), ..issue(1, "short") };
    check_refused(give(short).await, FIELD, Some("player_id"));
    let person = Client::connect(&scene.room.url, operator.clone()).unwrap();
    let all = Credits::try_new(crate::people::BANKROLL + 1).unwrap();
    let poor = person.redeem(scene.stranger.id, all, "too much").await.unwrap_err();
    assert_eq!(poor.reason(), Some(InsufficientCredits), "{poor}");
    assert_eq!(scene.facts().await, before);
    assert!(turn_of(&scene.party.turn().await.1).is_some());
    scene.end().await;
}
