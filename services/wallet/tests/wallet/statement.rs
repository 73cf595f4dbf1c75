//! Statements, page by page and as files, and balances of the past.

use chassis::auth::Role;
use futures_util::StreamExt as _;
use prost_types::Timestamp;
use proto::common::v1::ErrorReason;
use proto::wallet::v1 as pb;
use proto::wallet::v1::get_balance_request::AsOf;
use proto::wallet::v1::settlement_service_server::SettlementService as _;
use proto::wallet::v1::wallet_service_server::WalletService as _;
use sabacc_wallet::api::Api;
use tonic::Code;

use crate::api::{OPERATOR, SERVICE, by, bytes, check, given};
use crate::house::{BEGIN, House, issue, own, player, seat};

fn at(micros: u64) -> Timestamp {
    let seconds = i64::try_from(micros / 1_000_000).unwrap();
    Timestamp { seconds, nanos: i32::try_from(micros % 1_000_000 * 1000).unwrap() }
}

async fn file(api: &Api, format: pb::StatementFormat, from: Option<Timestamp>) -> String {
    let ask = pb::ExportStatementRequest {
        player_id: bytes(player(0).0),
        from,
        to: None,
        format: format.into(),
    };
    let mut chunks = api.export_statement(by(OPERATOR, ask)).await.unwrap().into_inner();
    let mut bytes = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.unwrap().chunk;
        assert!(chunk.len() <= 32 * 1024);
        bytes.extend(chunk);
    }
    String::from_utf8(bytes).unwrap()
}

/// 700 entries of one credit each beside those of `given`; some an hour later.
async fn long(house: &House<eventlog::PgStore>) {
    for n in 0..700 {
        if n == 400 {
            house.clock.set(BEGIN + 3_600_000_000);
        }
        house.insist(issue(1000 + n, 0, 1)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_and_files_say_the_same() {
    let (house, api) = given().await;
    long(&house).await;
    let me = player(0).to_string();
    let me = (Role::Player, me.as_str());
    let (mut listed, mut token) = (Vec::new(), String::new());
    loop {
        let ask =
            pb::ListEntriesRequest { page_size: 250, page_token: token, ..Default::default() };
        let page = api.list_entries(by(me, ask)).await.unwrap().into_inner();
        listed.extend(page.entries);
        token = page.next_page_token;
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(listed.len(), 702);
    let lines = house.books().await.lines(own(0));
    let said: Vec<_> = listed.iter().map(|it| (it.position, it.amount, it.balance)).collect();
    assert_eq!(said, lines);
    assert_eq!(listed[1].table_id, bytes(crate::house::TABLE.0), "a buy-in's table");

    let csv = file(&api, pb::StatementFormat::Csv, None).await;
    assert_eq!(csv.lines().count(), 703);
    assert!(csv.starts_with("position,recorded_at,kind,amount,balance,"), "{csv}");
    assert!(csv.contains(",BUY_IN,-40,60,"), "{csv}");
    let json = file(&api, pb::StatementFormat::Json, None).await;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["opening"], &json["closing"]), (&"0".into(), &"760".into()));
    assert_eq!(json["entries"].as_array().unwrap().len(), 702);
    assert_eq!(json["entries"][1]["kind"], "TRANSFER_KIND_BUY_IN");

    // From the second hour on.
    let hour = at(BEGIN + 3_600_000_000);
    let json = file(&api, pb::StatementFormat::Json, Some(hour)).await;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["entries"].as_array().unwrap().len(), 300);
    assert_eq!(json["opening"], "460");
    let ask = pb::ListEntriesRequest { to: Some(hour), page_size: 1000, ..Default::default() };
    let before = api.list_entries(by(me, ask)).await.unwrap().into_inner();
    assert_eq!(before.entries.len(), 402);
    let bad = pb::ListEntriesRequest { page_token: "x".into(), ..Default::default() };
    check(api.list_entries(by(me, bad)).await, Code::InvalidArgument, ErrorReason::BadField, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_balance_of_the_past_is_what_it_was() {
    let (house, api) = given().await;
    long(&house).await;
    let lines = house.books().await.lines(own(0));
    let balance = async |account: String, as_of| {
        let ask = pb::GetBalanceRequest { account, as_of };
        api.get_balance(by(SERVICE, ask)).await.map(tonic::Response::into_inner)
    };
    for (position, _, expected) in lines.iter().step_by(50) {
        let found = balance(own(0).to_string(), Some(AsOf::Position(*position))).await.unwrap();
        assert_eq!((found.balance, found.size), (*expected, position + 1));
    }
    let hour = Some(AsOf::Time(at(BEGIN + 3_599_999_999)));
    assert_eq!(balance(own(0).to_string(), hour).await.unwrap().balance, 460);
    assert_eq!(balance(own(0).to_string(), None).await.unwrap().balance, 760);
    let early = Some(AsOf::Time(at(1)));
    let unknown = balance(seat(0).to_string(), early).await.map(tonic::Response::new);
    check(unknown, Code::NotFound, ErrorReason::AccountUnknown, None);
    assert_eq!(balance("house/issuance".into(), early).await.unwrap().balance, 0);
    let ahead = balance(own(0).to_string(), Some(AsOf::Position(1 << 40))).await;
    let ahead = ahead.map(tonic::Response::new);
    check(ahead, Code::InvalidArgument, ErrorReason::BadField, None);
    let nobody = balance(own(9).to_string(), None).await.map(tonic::Response::new);
    let name = own(9).to_string();
    check(nobody, Code::NotFound, ErrorReason::AccountUnknown, Some(("account", &name)));
}
