//! Holds, limits, exclusions, freezes, closings and adjustments through the API, and every refusal.

use std::time::Duration;

use chassis::auth::Role;
use eventlog::PgStore;
use ledger::Account;
use primitives::PlayerId;
use prost_types::Timestamp;
use proto::common::v1::ErrorReason;
use proto::wallet::v1 as pb;
use proto::wallet::v1::settlement_service_server::SettlementService as _;
use proto::wallet::v1::wallet_service_server::WalletService as _;
use sabacc_wallet::api::Api;
use sabacc_wallet::command::{Request, RequestContent};
use tonic::{Code, Response, Status};
use tonic_types::StatusExt as _;

use crate::api::{
    OPERATOR, SERVICE, buy_in_request, by, bytes, check, given, issue_request, settle_request,
};
use crate::harness::{Harness, id, own, player, seat};
use crate::tables::{fill_tables, sql};

const OTHER: (Role, &str) = (Role::Operator, "boss");

fn seconds(harness: &Harness<PgStore>, ahead: u64) -> Option<Timestamp> {
    let at = harness.clock.now() / 1_000_000 + ahead;
    Some(Timestamp { seconds: i64::try_from(at).unwrap(), nanos: 0 })
}

fn hold_request(harness: &Harness<PgStore>, n: u64, amount: u64) -> pb::PlaceHoldRequest {
    pb::PlaceHoldRequest {
        request_id: bytes(id(n).0),
        account: own(0).to_string(),
        to: seat(0).to_string(),
        amount,
        expires_at: seconds(harness, 60),
    }
}

fn capture(n: u64, hold: u64, amount: u64, keep_rest: bool) -> pb::CaptureHoldRequest {
    let (request_id, hold_id) = (bytes(id(n).0), bytes(id(hold).0));
    pb::CaptureHoldRequest { request_id, hold_id, amount, keep_rest }
}

async fn hold_of(api: &Api, hold: u64) -> (u64, u64, pb::HoldState) {
    let ask = pb::GetHoldRequest { hold_id: bytes(id(hold).0) };
    let found = api.get_hold(by(SERVICE, ask)).await.unwrap().into_inner();
    (found.amount, found.left, found.state())
}

async fn account(api: &Api, n: u8) -> pb::GetAccountResponse {
    let ask = pb::GetAccountRequest { player_id: player(n).to_string() };
    api.get_account(by(OPERATOR, ask)).await.unwrap().into_inner()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_held_is_captured_released_or_expires() {
    let (harness, api) = given().await;
    for n in 100..104 {
        api.place_hold(by(SERVICE, hold_request(&harness, n, 10))).await.unwrap();
    }
    let again = api.place_hold(by(SERVICE, hold_request(&harness, 100, 11))).await;
    check(again, Code::AlreadyExists, ErrorReason::RequestIdReused, None);
    assert_eq!(
        (account(&api, 0).await.balance_credits, account(&api, 0).await.held_credits),
        (60, 40)
    );
    let broke = api.buy_in(by(SERVICE, buy_in_request(105, 0, 21))).await;
    check(broke, Code::FailedPrecondition, ErrorReason::InsufficientCredits, Some(("short", "1")));

    api.capture_hold(by(SERVICE, capture(110, 100, 4, true))).await.unwrap();
    assert_eq!(hold_of(&api, 100).await, (10, 6, pb::HoldState::Pending));
    let greedy = api.capture_hold(by(SERVICE, capture(111, 100, 7, false))).await;
    let small = Some(("refusal", "HOLD_TOO_SMALL"));
    check(greedy, Code::FailedPrecondition, ErrorReason::TransferRefused, small);
    let first = api.capture_hold(by(SERVICE, capture(112, 100, 5, false))).await.unwrap();
    let again = api.capture_hold(by(SERVICE, capture(112, 100, 5, false))).await.unwrap();
    assert_eq!(first.into_inner(), again.into_inner(), "the first answer, though it is captured");
    assert_eq!(hold_of(&api, 100).await, (10, 0, pb::HoldState::Captured));
    let release =
        pb::ReleaseHoldRequest { request_id: bytes(id(113).0), hold_id: bytes(id(101).0) };
    api.release_hold(by(SERVICE, release)).await.unwrap();
    assert_eq!(hold_of(&api, 101).await, (10, 0, pb::HoldState::Released));
    assert_eq!(
        (account(&api, 0).await.balance_credits, account(&api, 0).await.held_credits),
        (51, 20)
    );

    // No request comes: the wallet ends the holds by a timer.
    harness.clock.forward(Duration::from_secs(61));
    while hold_of(&api, 103).await.2 == pb::HoldState::Pending {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(hold_of(&api, 102).await, (10, 0, pb::HoldState::Expired));
    assert_eq!(account(&api, 0).await.held_credits, 0);
    let never = pb::GetHoldRequest { hold_id: bytes(id(999).0) };
    let never = api.get_hold(by(SERVICE, never)).await;
    check(never, Code::NotFound, ErrorReason::HoldUnknown, None);
    harness.is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_looser_limit_waits_and_a_tighter_one_holds_at_once() {
    let (harness, api) = given().await;
    let me = player(0).to_string();
    let me = (Role::Player, me.as_str());
    let set = |n, day| pb::SetLimitsRequest {
        request_id: id(n).to_string(),
        player_id: String::new(),
        limits: Some(pb::Limits { day, week: None, month: None }),
        ..Default::default()
    };
    let now = api.set_limits(by(me, set(100, Some(45)))).await.unwrap().into_inner();
    assert_eq!((now.now.unwrap().day, now.later), (Some(45), None));
    // 40 were brought before.
    let much = api.buy_in(by(SERVICE, buy_in_request(101, 0, 6))).await;
    check(much, Code::FailedPrecondition, ErrorReason::TransferRefused, Some(("left", "5")));
    api.buy_in(by(SERVICE, buy_in_request(102, 0, 5))).await.unwrap();
    let looser = api.set_limits(by(me, set(103, None))).await.unwrap().into_inner();
    assert_eq!(looser.now.unwrap().day, Some(45));
    assert!(looser.later.is_some() && looser.later_time.is_some());
    // A repeated request for the same limits is answered, not recorded, and delays nothing.
    let size = harness.size().await;
    harness.clock.forward(Duration::from_secs(60));
    for n in 120..125 {
        assert_eq!(api.set_limits(by(me, set(n, None))).await.unwrap().into_inner(), looser);
    }
    assert_eq!(harness.size().await, size);
    let of_operator = pb::SetLimitsRequest {
        player_id: player(0).to_string(),
        limits: Some(pb::Limits { week: Some(1000), ..Default::default() }),
        ..set(104, None)
    };
    api.set_limits(by(OPERATOR, of_operator)).await.unwrap();
    let ask = || pb::GetLimitsRequest { player_id: player(0).to_string() };
    let limits = api.get_limits(by(OPERATOR, ask())).await.unwrap().into_inner();
    assert_eq!(limits.own_limits.unwrap(), looser);
    assert_eq!(limits.operator_limits.unwrap().now.unwrap().week, Some(1000));
    assert_eq!(limits.used.unwrap().day, Some(45));
    harness.is_sound().await;

    harness.clock.forward(Duration::from_secs(24 * 3600 + 1));
    api.buy_in(by(SERVICE, buy_in_request(105, 0, 6))).await.unwrap();
    let again = api.set_limits(by(me, set(103, None))).await.unwrap().into_inner();
    assert_eq!(again, looser, "the first answer");
    harness.is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_keeps_himself_from_play_can_still_take_his_credits_out() {
    let (harness, api) = given().await;
    let me = player(0).to_string();
    let me = (Role::Player, me.as_str());
    let exclude = |n, until| pb::ExcludeRequest {
        request_id: id(n).to_string(),
        player_id: String::new(),
        end_time: until,
    };
    let until = seconds(&harness, 3600);
    let kept = api.exclude(by(me, exclude(100, until))).await.unwrap().into_inner();
    assert_eq!(kept.end_time, until);
    assert_eq!(account(&api, 0).await.exclusion_end_time, until);
    let refused = api.buy_in(by(SERVICE, buy_in_request(101, 0, 1))).await;
    let name = Some(("refusal", "EXCLUDED"));
    check(refused, Code::FailedPrecondition, ErrorReason::TransferRefused, name);
    let shorter = api.exclude(by(me, exclude(102, seconds(&harness, 60)))).await;
    let name = Some(("refusal", "EXCLUSION_SHORTER"));
    check(shorter, Code::FailedPrecondition, ErrorReason::TransferRefused, name);
    let out = pb::CashOutRequest {
        request_id: bytes(id(103).0),
        table_id: bytes(crate::harness::TABLE.0),
        player_id: bytes(player(0).0),
        amount: 40,
        to_suspense: false,
    };
    api.cash_out(by(SERVICE, out)).await.unwrap();
    harness.clock.forward(Duration::from_secs(3601));
    assert_eq!(account(&api, 0).await.exclusion_end_time, None);
    api.buy_in(by(SERVICE, buy_in_request(104, 0, 1))).await.unwrap();
    let good = api.exclude(by(me, exclude(105, None))).await.unwrap().into_inner();
    assert_eq!(good.end_time, None);
    assert!(account(&api, 0).await.exclusion_end_time.is_some());
    harness.is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_operators_set_an_account_right() {
    let (harness, api) = given().await;
    let propose = |n, amount| pb::ProposeAdjustmentRequest {
        request_id: id(n).to_string(),
        account: own(0).to_string(),
        amount_credits: amount,
        reason: "counted again".into(),
    };
    for (n, account) in (90..).zip([seat(0), Account::SabaccPot(crate::harness::TABLE)]) {
        let at_a_table =
            pb::ProposeAdjustmentRequest { account: account.to_string(), ..propose(n, -5) };
        let refused = api.propose_adjustment(by(OPERATOR, at_a_table)).await;
        let name = Some(("refusal", "WRONG_ACCOUNT"));
        check(refused, Code::FailedPrecondition, ErrorReason::TransferRefused, name);
    }
    let mut proposed = Vec::new();
    for n in 100..103 {
        let answer = api.propose_adjustment(by(OPERATOR, propose(n, -5))).await.unwrap();
        proposed.push(answer.into_inner().adjustment_id);
    }
    let list = |size, token: &str| pb::ListAdjustmentsRequest {
        page_size: size,
        page_token: token.to_owned(),
    };
    let first = api.list_adjustments(by(OTHER, list(2, ""))).await.unwrap().into_inner();
    let rest = api.list_adjustments(by(OTHER, list(2, &first.next_page_token))).await.unwrap();
    let rest = rest.into_inner();
    assert_eq!((first.adjustments.len(), rest.adjustments.len()), (2, 1));
    assert_eq!(rest.next_page_token, "");
    assert_eq!(first.adjustments[0].proposed_by, "ops");
    let approve = |n, adjustment: usize| pb::ApproveAdjustmentRequest {
        request_id: id(n).to_string(),
        adjustment_id: proposed[adjustment].clone(),
    };
    let own_work = api.approve_adjustment(by(OPERATOR, approve(110, 0))).await;
    let name = Some(("refusal", "SAME_OPERATOR"));
    check(own_work, Code::FailedPrecondition, ErrorReason::TransferRefused, name);
    api.approve_adjustment(by(OTHER, approve(110, 0))).await.unwrap();
    let reject = pb::RejectAdjustmentRequest {
        request_id: id(111).to_string(),
        adjustment_id: proposed[1].clone(),
        reason: "no".into(),
    };
    api.reject_adjustment(by(OPERATOR, reject)).await.unwrap();
    let over = api.approve_adjustment(by(OTHER, approve(112, 1))).await;
    let name = Some(("refusal", "ADJUSTMENT_NOT_PENDING"));
    check(over, Code::FailedPrecondition, ErrorReason::TransferRefused, name);
    let left = api.list_adjustments(by(OTHER, list(0, ""))).await.unwrap().into_inner();
    assert_eq!(left.adjustments.len(), 1);
    // Another operator's same id names another adjustment.
    let other = api.propose_adjustment(by(OTHER, propose(102, -7))).await.unwrap().into_inner();
    assert!(!proposed.contains(&other.adjustment_id));
    let left = api.list_adjustments(by(OTHER, list(0, ""))).await.unwrap().into_inner();
    assert_eq!(left.adjustments.len(), 2);
    assert_eq!((harness.balance(own(0)).await, harness.balance(seat(0)).await), (55, 40));
    harness.is_sound().await;
}

/// A change of the tables changes neither the pending adjustments nor the holds that callers are
/// shown.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_and_what_holds_is_what_the_ledger_says() {
    let (harness, url) = Harness::over_postgres("shown").await;
    fill_tables(&harness).await;
    let api = harness.api();
    sql(
        &url,
        "UPDATE adjustments SET amount = 1, proposed_by = 'x' WHERE state = 1; \
         UPDATE holds SET amount = 99, remaining = 99 WHERE state = 1",
    )
    .await;
    let list = pb::ListAdjustmentsRequest::default();
    let waiting = api.list_adjustments(by(OTHER, list)).await.unwrap().into_inner().adjustments;
    let shown: Vec<_> =
        waiting.iter().map(|it| (it.amount_credits, it.proposed_by.as_str())).collect();
    assert_eq!(shown, [(7, "ops")]);
    assert_eq!(hold_of(&api, 20).await, (30, 30, pb::HoldState::Pending));
    // An ended hold is shown as its event in the log says, or not at all.
    assert_eq!(hold_of(&api, 21).await, (40, 0, pb::HoldState::Released));
    let ask = |hold: u64| pb::GetHoldRequest { hold_id: bytes(id(hold).0) };
    for harm in ["destination = 'house/rake'", "state = 2", "state = 1", "changed = 3"] {
        sql(&url, "CREATE TABLE kept AS SELECT * FROM holds").await;
        sql(&url, &format!("UPDATE holds SET {harm} WHERE state = 3")).await;
        let answer = api.get_hold(by(SERVICE, ask(21))).await;
        assert_eq!(answer.map(drop).map_err(|it| it.code()), Err(Code::Internal), "{harm}");
        sql(&url, "DELETE FROM holds; INSERT INTO holds SELECT * FROM kept; DROP TABLE kept").await;
    }
    assert_eq!(hold_of(&api, 21).await, (40, 0, pb::HoldState::Released));
}

fn no<T: std::fmt::Debug>(answer: Result<Response<T>, Status>) -> Status {
    answer.expect_err("it should have been refused")
}

/// Requests that are refused whatever the balances are.
async fn refused_in_themselves(harness: &Harness<PgStore>, api: &Api) -> Vec<Status> {
    let many: Vec<_> = (0..65).map(|n| (seat(n), 1)).collect();
    let transfers: &[&[(Account, i64)]] = &[
        &[(seat(0), -1)],
        &many,
        &[(seat(0), 0), (Account::Rake, 0)],
        &[(seat(0), -1), (seat(0), 1)],
        &[(seat(0), -1), (seat(1), 2)],
        &[(seat(0), -1), (own(1), 1)],
    ];
    let mut refused = Vec::new();
    for (n, legs) in (200..).zip(transfers) {
        refused.push(no(api.settle(by(SERVICE, settle_request(n, legs))).await));
    }
    let blank = pb::IssueRequest { reason: " ".into(), ..issue_request(210, 0, 1) };
    refused.push(no(api.issue(by(OPERATOR, blank)).await));
    let past = Some(Timestamp { seconds: 1, nanos: 0 });
    let past = pb::PlaceHoldRequest { expires_at: past, ..hold_request(harness, 211, 1) };
    refused.push(no(api.place_hold(by(SERVICE, past)).await));
    refused
}

/// Requests that are refused by state: player 1 is frozen, player 5's account is closed, and player
/// 0's 10 credits are held.
async fn refused_as_things_stand(api: &Api) -> Vec<Status> {
    let (request_id, player_id) = (id(215).to_string(), player(0).to_string());
    let reason = String::from("a test");
    let unfreeze = pb::UnfreezeAccountRequest {
        request_id: request_id.clone(),
        player_id: player_id.clone(),
        reason: reason.clone(),
    };
    let close = pb::CloseAccountRequest { request_id, player_id, reason };
    let approve = pb::ApproveAdjustmentRequest {
        request_id: id(219).to_string(),
        adjustment_id: id(999).to_string(),
    };
    vec![
        no(api.issue(by(OPERATOR, issue_request(212, 9, 1))).await),
        no(api.issue(by(OPERATOR, issue_request(213, 5, 1))).await),
        no(api.buy_in(by(SERVICE, buy_in_request(214, 1, 1))).await),
        no(api.unfreeze_account(by(OPERATOR, unfreeze)).await),
        no(api.close_account(by(OPERATOR, close)).await),
        no(api.capture_hold(by(SERVICE, capture(217, 999, 1, true))).await),
        no(api.capture_hold(by(SERVICE, capture(218, 102, 11, true))).await),
        no(api.approve_adjustment(by(OTHER, approve)).await),
        no(api.buy_in(by(SERVICE, buy_in_request(220, 0, 1000))).await),
        no(api.issue(by(OPERATOR, issue_request(221, 0, (1 << 53) - 1))).await),
    ]
}

/// Every refusal has its name in the API: first faults of the request, then faults by state.
#[tokio::test(flavor = "multi_thread")]
async fn every_refusal_has_its_name() {
    let (harness, api) = given().await;
    harness.execute_until_answered(crate::harness::open(5)).await.unwrap();
    let (request_id, player_id) = (id(100).to_string(), player(5).to_string());
    let close = pb::CloseAccountRequest { request_id, player_id, reason: "a test".into() };
    api.close_account(by(OPERATOR, close)).await.unwrap();
    let (request_id, player_id) = (id(101).to_string(), player(1).to_string());
    let freeze = pb::FreezeAccountRequest { request_id, player_id, reason: "a test".into() };
    api.freeze_account(by(OPERATOR, freeze)).await.unwrap();
    assert!(account(&api, 5).await.closed && account(&api, 1).await.frozen);
    api.place_hold(by(SERVICE, hold_request(&harness, 102, 10))).await.unwrap();

    let mut answers = refused_in_themselves(&harness, &api).await;
    answers.extend(refused_as_things_stand(&api).await);
    let named = |status: &Status| {
        let info = status.get_details_error_info().expect("every error of ours has one");
        format!("REFUSAL_{}", info.metadata.get("refusal").expect("it says which"))
    };
    let found: Vec<String> = answers.iter().map(named).collect();
    // Refusals that other tests cover: opening again is answered as the first time, the length of a
    // reason is checked with its field, and the rest needs longer setups.
    let elsewhere = [
        pb::Refusal::ReasonTooLong,
        pb::Refusal::AccountExists,
        pb::Refusal::SameOperator,
        pb::Refusal::Excluded,
        pb::Refusal::ExclusionShorter,
        pb::Refusal::LimitReached,
        pb::Refusal::LinkedRefused,
    ];
    let all = (1..=25).map(|n| pb::Refusal::try_from(n).expect("there are 25"));
    let expected: Vec<&str> =
        all.filter(|it| !elsewhere.contains(it)).map(|it| it.as_str_name()).collect();
    let mut sorted = found.clone();
    sorted.sort_by_key(|name| pb::Refusal::from_str_name(name).map(i32::from));
    assert_eq!(sorted, expected);
    harness.is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_accounts_are_opened_at_once() {
    let (harness, api) = given().await;
    let players: Vec<_> = (0..=200).map(|n| player(n).to_string()).collect();
    let open =
        |n, player_ids| pb::OpenAccountsRequest { request_id: id(n).to_string(), player_ids };
    let opened = api.open_accounts(by(OPERATOR, open(100, players.clone()))).await.unwrap();
    assert_eq!(opened.into_inner().opened, 199, "two were open");
    let again = api.open_accounts(by(OPERATOR, open(100, players.clone()))).await.unwrap();
    assert_eq!(again.into_inner().opened, 199, "the first answer");
    let nothing = api.open_accounts(by(OPERATOR, open(101, players))).await.unwrap();
    assert_eq!(nothing.into_inner().opened, 0);
    let twice = open(102, vec![player(7).to_string(); 2]);
    let twice = api.open_accounts(by(OPERATOR, twice)).await;
    check(twice, Code::InvalidArgument, ErrorReason::BadField, None);
    harness.is_sound().await;
}

/// Many commands that open a thousand accounts each fill more than one commit.
#[tokio::test(flavor = "multi_thread")]
async fn commands_that_open_many_accounts_take_more_commits_than_one() {
    let harness = Harness::open(std::sync::Arc::default()).await;
    let request = |n: u8| {
        let players = (0..1000_u16).map(|index| {
            let mut bytes = [n; 16];
            bytes[..2].copy_from_slice(&index.to_be_bytes());
            PlayerId(bytes)
        });
        let content = RequestContent::OpenAccounts(players.collect());
        Request { id: id(u64::from(n)), content, linked: false }
    };
    let opened = (1..=16).map(|n| harness.execute(request(n)));
    for opened in futures_util::future::join_all(opened).await {
        assert!(opened.is_ok(), "{opened:?}");
    }
    assert_eq!(harness.size().await, 16_000);
}
