//! The gRPC services called without a network.

use chassis::auth::{Identity, Role};
use eventlog::PgStore;
use ledger::Account;
use proto::common::v1::ErrorReason;
use proto::wallet::v1 as pb;
use proto::wallet::v1::settlement_service_server::SettlementService as _;
use proto::wallet::v1::wallet_service_server::WalletService as _;
use sabacc_wallet::api::Api;
use tonic::{Code, Request, Response, Status};
use tonic_types::StatusExt as _;

use crate::harness::{Harness, TABLE, id, own, player, seat};

pub(crate) const OPERATOR: (Role, &str) = (Role::Operator, "ops");
pub(crate) const SERVICE: (Role, &str) = (Role::Service, "table");

pub(crate) fn by<T>(caller: (Role, &str), message: T) -> Request<T> {
    let (role, subject) = caller;
    let mut request = Request::new(message);
    request.extensions_mut().insert(Identity::new(role, subject));
    request
}

pub(crate) fn bytes(id: [u8; 16]) -> Vec<u8> {
    id.to_vec()
}

pub(crate) fn issue_request(request: u64, to: u8, amount: u64) -> pb::IssueRequest {
    pb::IssueRequest {
        request_id: id(request).to_string(),
        player_id: player(to).to_string(),
        amount_credits: amount,
        reason: "welcome".into(),
    }
}

pub(crate) fn buy_in_request(request: u64, n: u8, amount: u64) -> pb::BuyInRequest {
    pb::BuyInRequest {
        request_id: bytes(id(request).0),
        table_id: bytes(TABLE.0),
        player_id: bytes(player(n).0),
        amount,
    }
}

pub(crate) fn settle_request(request: u64, legs: &[(Account, i64)]) -> pb::SettleRequest {
    let legs = legs
        .iter()
        .map(|(account, amount)| pb::Leg { account: account.to_string(), amount: *amount });
    pb::SettleRequest {
        request_id: bytes(id(request).0),
        table_id: bytes(TABLE.0),
        kind: pb::TransferKind::Settlement.into(),
        legs: legs.collect(),
    }
}

/// Players 0 and 1 with 100 credits each, 40 of them at the table.
pub(crate) async fn given() -> (Harness<PgStore>, Api) {
    let (harness, _) = Harness::over_postgres("api").await;
    harness.open_accounts(2, 100).await;
    let api = harness.api();
    for n in 0..2 {
        api.buy_in(by(SERVICE, buy_in_request(u64::from(n), n, 40))).await.expect("they can pay");
    }
    (harness, api)
}

pub(crate) fn check<T: std::fmt::Debug>(
    answer: Result<Response<T>, Status>,
    code: Code,
    reason: ErrorReason,
    fact: Option<(&str, &str)>,
) {
    let status = answer.expect_err("it should have been refused");
    assert_eq!((status.code(), wire::status::reason_of(&status)), (code, Some(reason)), "{status}");
    if let Some((key, value)) = fact {
        let info = status.get_details_error_info().expect("every error of ours has one");
        assert_eq!(info.metadata.get(key).map(String::as_str), Some(value), "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_from_opening_to_statement() {
    let (harness, api) = given().await;
    let me = player(0).to_string();
    let me = (Role::Player, me.as_str());
    let open = pb::OpenAccountRequest {
        request_id: primitives::RequestId([9; 16]).to_string(),
        player_id: Default::default(),
    };
    let opened = api.open_account(by(me, open)).await.unwrap().into_inner();
    assert_eq!(opened.account, own(0).to_string());

    let issued = api.issue(by(OPERATOR, issue_request(50, 0, 25))).await.unwrap().into_inner();
    assert_eq!(issued.balance_credits, 85);
    let redeem = pb::RedeemRequest {
        request_id: id(51).to_string(),
        player_id: player(0).to_string(),
        amount_credits: 5,
        reason: "cash".into(),
    };
    let redeemed = api.redeem(by(OPERATOR, redeem)).await.unwrap().into_inner();
    assert_eq!((redeemed.balance_credits, redeemed.position), (80, issued.position + 1));
    let repeated = api.issue(by(OPERATOR, issue_request(50, 0, 25))).await.unwrap().into_inner();
    assert_eq!(repeated, issued, "the first answer, though the balance is another now");

    let found = api.get_account(by(me, pb::GetAccountRequest::default())).await.unwrap();
    let found = found.into_inner();
    assert_eq!(
        (found.balance_credits, found.seats.len(), found.seats[0].balance_credits),
        (80, 1, 40)
    );

    let mut amounts = Vec::new();
    let mut token = String::new();
    loop {
        let ask = pb::ListEntriesRequest { page_size: 3, page_token: token, ..Default::default() };
        let page = api.list_entries(by(me, ask)).await.unwrap().into_inner();
        amounts
            .extend(page.entries.iter().map(|entry| (entry.amount_credits, entry.balance_credits)));
        token = page.next_page_token;
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(amounts, [(100, 100), (-40, 60), (25, 85), (-5, 80)]);
    harness.is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hand_is_settled_under_its_own_id() {
    let (harness, api) = given().await;
    let hand = settle_request(60, &[(seat(0), -10), (seat(1), 9), (Account::Rake, 1)]);
    let settled = api.settle(by(SERVICE, hand.clone())).await.unwrap().into_inner();
    assert_eq!(api.settle(by(SERVICE, hand)).await.unwrap().into_inner(), settled);
    let moved_nothing = settle_request(61, &[]);
    let next = api.settle(by(SERVICE, moved_nothing)).await.unwrap().into_inner();
    assert_eq!(next.position, settled.position + 1);
    // A repeat that names whoever won and lost nothing is the same request, and changes no record.
    let same = settle_request(61, &[(seat(0), 0), (seat(1), 0)]);
    assert_eq!(api.settle(by(SERVICE, same)).await.unwrap().into_inner(), next);
    assert_eq!(harness.size().await, next.position + 1);
    let balance = |account: Account| {
        let ask = pb::GetBalanceRequest { account: account.to_string(), as_of: None };
        api.get_balance(by(SERVICE, ask))
    };
    assert_eq!(balance(seat(1)).await.unwrap().into_inner().balance, 49);
    assert_eq!(balance(Account::Rake).await.unwrap().into_inner().balance, 1);
    assert_eq!(balance(Account::Issuance).await.unwrap().into_inner().balance, -200);
    let cash_out = pb::CashOutRequest {
        request_id: bytes(id(62).0),
        table_id: bytes(TABLE.0),
        player_id: bytes(player(1).0),
        amount: 49,
        to_suspense: false,
    };
    api.cash_out(by(SERVICE, cash_out)).await.unwrap();
    assert_eq!((harness.balance(own(1)).await, harness.balance(seat(1)).await), (109, 0));
    harness.is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_say_what_is_short_and_what_is_unknown() {
    let (_house, api) = given().await;
    let broke = api.buy_in(by(SERVICE, buy_in_request(70, 0, 63))).await;
    check(broke, Code::FailedPrecondition, ErrorReason::InsufficientCredits, Some(("short", "3")));
    let stranger = own(9).to_string();
    let unknown = api.issue(by(OPERATOR, issue_request(71, 9, 1))).await;
    check(unknown, Code::NotFound, ErrorReason::AccountUnknown, Some(("account", &stranger)));
    let unknown = api.buy_in(by(SERVICE, buy_in_request(72, 9, 1))).await;
    check(unknown, Code::NotFound, ErrorReason::AccountUnknown, Some(("account", &stranger)));
    let reused = api.buy_in(by(SERVICE, buy_in_request(0, 0, 1))).await;
    check(reused, Code::AlreadyExists, ErrorReason::RequestIdReused, None);
    // The same id of another caller names another request.
    api.issue(by(OPERATOR, issue_request(0, 0, 1))).await.expect("it is new");
    let nobody = api.buy_in(Request::new(buy_in_request(73, 0, 1))).await;
    check(nobody, Code::Unauthenticated, ErrorReason::TokenMissing, None);

    let refused = Code::FailedPrecondition;
    let many: Vec<_> = (0..65).map(|n| (seat(n), 1)).collect();
    let rows: &[(&[(Account, i64)], &str)] = &[
        (&[(seat(0), -1)], "TOO_FEW_LEGS"),
        (&many, "TOO_MANY_LEGS"),
        (&[(seat(0), 0), (Account::Rake, 0)], "ZERO_LEG"),
        (&[(seat(0), -1), (seat(0), 1)], "DUPLICATE_ACCOUNT"),
        (&[(seat(0), -1), (seat(1), 2)], "NOT_BALANCED"),
        (&[(seat(0), -1), (seat(1), 0)], "NOT_BALANCED"),
        (&[(seat(0), -1), (own(1), 1)], "WRONG_ACCOUNT"),
    ];
    for (n, (legs, refusal)) in (80..).zip(rows) {
        let answer = api.settle(by(SERVICE, settle_request(n, legs))).await;
        check(answer, refused, ErrorReason::TransferRefused, Some(("refusal", refusal)));
    }
    let all = api.issue(by(OPERATOR, issue_request(90, 0, (1 << 53) - 1))).await;
    let name = Some(("refusal", "BALANCE_OUT_OF_RANGE"));
    check(all, refused, ErrorReason::TransferRefused, name);
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_fields_are_named() {
    let (_house, api) = given().await;
    let good = || issue_request(70, 0, 1);
    let rows = [
        ("request_id", pb::IssueRequest { request_id: Default::default(), ..good() }),
        ("player_id", pb::IssueRequest { player_id: "me".to_owned(), ..good() }),
        ("amount_credits", pb::IssueRequest { amount_credits: 0, ..good() }),
        ("amount_credits", pb::IssueRequest { amount_credits: 1 << 53, ..good() }),
        ("reason", pb::IssueRequest { reason: String::new(), ..good() }),
        ("reason", pb::IssueRequest { reason: "x".repeat(201), ..good() }),
    ];
    for (field, request) in rows {
        let status = api.issue(by(OPERATOR, request)).await.unwrap_err();
        assert_eq!(wire::status::reason_of(&status), Some(ErrorReason::BadField));
        let violations = status.get_details_bad_request().unwrap().field_violations;
        assert_eq!(violations[0].field, field);
    }
    let mut legs = settle_request(71, &[(seat(0), -1), (seat(1), 1)]);
    legs.legs[1].account = "purse/1".into();
    let status = api.settle(by(SERVICE, legs)).await.unwrap_err();
    let violations = status.get_details_bad_request().unwrap().field_violations;
    assert_eq!(violations[0].field, "legs[1].account");
    let buy_in_by_settling =
        pb::SettleRequest { kind: pb::TransferKind::BuyIn.into(), ..settle_request(72, &[]) };
    let answer = api.settle(by(SERVICE, buy_in_by_settling)).await;
    check(answer, Code::InvalidArgument, ErrorReason::BadField, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_sees_only_his_own_account() {
    let (_house, api) = given().await;
    let (me, other) = (player(0).to_string(), player(1));
    let me = (Role::Player, me.as_str());
    let ask = pb::GetAccountRequest { player_id: other.to_string() };
    let denied = (Code::PermissionDenied, ErrorReason::RoleNotAllowed);
    check(api.get_account(by(me, ask.clone())).await, denied.0, denied.1, None);
    assert!(api.get_account(by(OPERATOR, ask)).await.is_ok());
    let ask = pb::ListEntriesRequest { player_id: other.to_string(), ..Default::default() };
    check(api.list_entries(by(me, ask)).await, denied.0, denied.1, None);
    let open = pb::OpenAccountRequest {
        request_id: primitives::RequestId([9; 16]).to_string(),
        player_id: other.to_string(),
    };
    check(api.open_account(by(me, open)).await, denied.0, denied.1, None);
    let whose = api.get_account(by(OPERATOR, pb::GetAccountRequest::default())).await;
    check(whose, Code::InvalidArgument, ErrorReason::BadField, None);
}
