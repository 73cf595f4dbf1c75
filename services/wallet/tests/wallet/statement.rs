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
use tonic_types::StatusExt as _;

use crate::api::{OPERATOR, SERVICE, by, check, given};
use ledger::Account;
use primitives::TableId;
use sqlx::Connection as _;

use crate::harness::{BEGIN, Harness, buy_in_at, id, issue, own, player, seat, settle_at};

fn at(micros: u64) -> Timestamp {
    let seconds = i64::try_from(micros / 1_000_000).unwrap();
    Timestamp { seconds, nanos: i32::try_from(micros % 1_000_000 * 1000).unwrap() }
}

async fn file(api: &Api, format: pb::StatementFormat, from: Option<Timestamp>) -> String {
    let ask = pb::ExportStatementRequest {
        player_id: player(0).to_string(),
        start_time: from,
        end_time: None,
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

/// Adds 700 entries of one credit each; some an hour later.
async fn add_entries(harness: &Harness<eventlog::PgStore>) {
    for n in 0..700 {
        if n == 400 {
            harness.clock.set(BEGIN + 3_600_000_000);
        }
        harness.execute_until_answered(issue(1000 + n, 0, 1)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_and_files_say_the_same() {
    let (harness, api) = given().await;
    add_entries(&harness).await;
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
    let lines = harness.log_content().await.lines(own(0));
    let said: Vec<_> =
        listed.iter().map(|it| (it.position, it.amount_credits, it.balance_credits)).collect();
    assert_eq!(said, lines);
    assert_eq!(listed[1].table_id, crate::harness::TABLE.to_string(), "a buy-in's table");

    let csv = file(&api, pb::StatementFormat::Csv, None).await;
    assert_eq!(csv.lines().count(), 703);
    assert!(csv.starts_with("position,record_time,kind,amount_credits,at_table_credits,balance_credits,total_credits,"), "{csv}");
    assert!(csv.contains(",BUY_IN,-40,40,60,100,"), "{csv}");
    let json = file(&api, pb::StatementFormat::Json, None).await;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["opening"], &json["closing"]), (&"0".into(), &"760".into()));
    assert_eq!((&json["opening_total"], &json["closing_total"]), (&"0".into(), &"800".into()));
    assert_eq!(json["entries"].as_array().unwrap().len(), 702);
    assert_eq!(json["entries"][1]["kind"], "TRANSFER_KIND_BUY_IN");

    // The second hour.
    let hour = at(BEGIN + 3_600_000_000);
    let json = file(&api, pb::StatementFormat::Json, Some(hour)).await;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["entries"].as_array().unwrap().len(), 300);
    assert_eq!(json["opening"], "460");
    let ask =
        pb::ListEntriesRequest { end_time: Some(hour), page_size: 1000, ..Default::default() };
    let before = api.list_entries(by(me, ask)).await.unwrap().into_inner();
    assert_eq!(before.entries.len(), 402);
    let bad = pb::ListEntriesRequest { page_token: "x".into(), ..Default::default() };
    check(api.list_entries(by(me, bad)).await, Code::InvalidArgument, ErrorReason::BadField, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_balance_of_the_past_is_what_it_was() {
    let (harness, api) = given().await;
    add_entries(&harness).await;
    let lines = harness.log_content().await.lines(own(0));
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

/// Hands at several tables, buy-ins and cash-outs are in the statements of their players, with the
/// hand's id, and add up page by page.
#[tokio::test(flavor = "multi_thread")]
async fn every_hand_is_in_its_players_statement_and_it_adds_up() {
    let (harness, api) = given().await;
    let there = |n: u8| Account::Seat(TableId([0xBB; 16]), player(n));
    let mut hands = Vec::new();
    for n in 0..2 {
        harness
            .execute_until_answered(buy_in_at(200 + u64::from(n), n, there(n), 20))
            .await
            .unwrap();
    }
    for n in 0..30_u64 {
        let (mine, other) = if n % 3 == 0 { (there(0), there(1)) } else { (seat(0), seat(1)) };
        let net = if n % 2 == 0 { -1 } else { 1 };
        let table = mine.table().unwrap();
        harness
            .execute_until_answered(settle_at(300 + n, table, &[(mine, net), (other, -net)]))
            .await
            .unwrap();
        hands.push((id(300 + n).to_string(), table.to_string(), net));
    }
    // A hand without this player, and one that moved nothing for them.
    let pot = Account::SabaccPot(crate::harness::TABLE);
    harness
        .execute_until_answered(settle_at(400, crate::harness::TABLE, &[(seat(1), -1), (pot, 1)]))
        .await
        .unwrap();
    harness.execute_until_answered(crate::harness::cash_out(401, 0, 10)).await.unwrap();
    let me = player(0).to_string();
    let me = (Role::Player, me.as_str());
    for size in [1, 2, 7, 1000] {
        let (mut all, mut token) = (Vec::new(), String::new());
        let mut expected = (0, 0);
        loop {
            let (page_size, page_token) = (size, token);
            let ask = pb::ListEntriesRequest { page_size, page_token, ..Default::default() };
            let page = api.list_entries(by(me, ask)).await.unwrap().into_inner();
            assert_eq!(
                (page.opening_balance_credits, page.opening_total_credits),
                expected,
                "pages of {size}"
            );
            assert!(page.entries.len() <= usize::try_from(size).unwrap());
            for entry in &page.entries {
                expected.0 += entry.amount_credits;
                expected.1 += entry.amount_credits + entry.at_table_credits;
                assert_eq!((entry.balance_credits, entry.total_credits), expected, "{entry:?}");
            }
            all.extend(page.entries);
            token = page.next_page_token;
            if token.is_empty() {
                break;
            }
        }
        assert_eq!(expected, (50, 100), "what the hands gave and took is even");
        let settled = all.iter().filter(|it| it.kind() == pb::TransferKind::Settlement);
        let found: Vec<_> = settled
            .map(|it| (it.hand_id.clone(), it.table_id.clone(), it.at_table_credits))
            .collect();
        assert_eq!(found, hands);
        let kinds: Vec<_> =
            all.iter().map(|it| (it.kind(), it.amount_credits, it.at_table_credits)).collect();
        use pb::TransferKind::{BuyIn, CashOut, Issue};
        assert_eq!(kinds[..3], [(Issue, 100, 0), (BuyIn, -40, 40), (BuyIn, -20, 20)]);
        assert_eq!(kinds.last(), Some(&(CashOut, 10, -10)));
        assert!(all.iter().all(|it| it.hand_id.is_empty() || it.amount_credits == 0));
    }
    let csv = file(&api, pb::StatementFormat::Csv, None).await;
    let hand = id(300).to_string();
    assert!(csv.contains(&format!(",SETTLEMENT,0,-1,40,99,{hand},{hand},")), "{csv}");
    let json = file(&api, pb::StatementFormat::Json, None).await;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["closing"], &json["closing_total"]), (&"50".into(), &"100".into()));
}

/// A hand with a net of 0 is in the player's statement with its id; the line says 0, and the sums
/// still add up.
#[tokio::test(flavor = "multi_thread")]
async fn a_hand_that_moved_nothing_for_a_player_is_in_their_statement() {
    let (harness, api) = given().await;
    let pot = Account::SabaccPot(crate::harness::TABLE);
    let hands: [&[(Account, i64)]; 4] = [
        &[(seat(0), 0), (seat(1), -10), (pot, 10)],
        &[(seat(0), 0), (seat(1), 0)],
        &[(seat(0), 5), (seat(1), 5), (pot, -10)],
        &[(seat(1), 0), (seat(0), 0)],
    ];
    for (n, legs) in (500..).zip(hands) {
        let first = harness
            .execute_until_answered(settle_at(n, crate::harness::TABLE, legs))
            .await
            .unwrap();
        let again = harness
            .execute_until_answered(settle_at(n, crate::harness::TABLE, legs))
            .await
            .unwrap();
        assert_eq!(first, again, "the first answer, and no second entry");
    }
    for (n, nets) in [(0, [0, 0, 5, 0]), (1, [-10, 0, 5, 0])] {
        let name = player(n).to_string();
        let ask = pb::ListEntriesRequest::default();
        let asked = api.list_entries(by((Role::Player, &name), ask)).await;
        let entries = asked.unwrap().into_inner().entries;
        let settled = entries.iter().filter(|it| it.kind() == pb::TransferKind::Settlement);
        let mut total = 100;
        let expected = nets.into_iter().zip(500..).map(|(net, hand)| {
            total += net;
            let (hand, table) = (id(hand).to_string(), crate::harness::TABLE.to_string());
            (hand, table, 0, net, 60, total)
        });
        let found: Vec<_> = settled
            .map(|it| {
                let (hand, table) = (it.hand_id.clone(), it.table_id.clone());
                (
                    hand,
                    table,
                    it.amount_credits,
                    it.at_table_credits,
                    it.balance_credits,
                    it.total_credits,
                )
            })
            .collect();
        assert_eq!(found, expected.collect::<Vec<_>>());
    }
    let rows: Vec<_> = harness.log_content().await.lines(seat(0));
    let rows: Vec<_> = rows.into_iter().map(|(_, amount, balance)| (amount, balance)).collect();
    assert_eq!(rows, [(40, 40), (0, 40), (0, 40), (5, 45), (0, 45)], "rows of the projection");
    harness.is_sound().await;
    let hand = id(500).to_string();
    let csv = file(&api, pb::StatementFormat::Csv, None).await;
    assert!(csv.contains(&format!(",SETTLEMENT,0,0,60,100,{hand},{hand},")), "{csv}");
    let json = file(&api, pb::StatementFormat::Json, None).await;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let line = &json["entries"][2];
    assert_eq!(line["atTableCredits"], "0", "{line}");
    assert_eq!(line["totalCredits"], "100", "{line}");
    assert_eq!(line["handId"], line["transferId"]);
}

/// A page of a statement is found by index, however many entries there are.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_a_statement_reads_no_table_whole() {
    let (harness, url) = Harness::over_postgres("plan").await;
    harness.open_accounts(2, 100).await;
    let mut admin = sqlx::PgConnection::connect(&url).await.unwrap();
    let fill = "SET search_path = wallet; \
         INSERT INTO accounts SELECT n, 'seat/' || n, md5(n::text)::uuid, md5(n::text)::uuid, 1 \
         FROM generate_series(10, 20000) AS n; \
         INSERT INTO entries SELECT 1000 + n, 1, 1, n % 20000 + 10, NULL, 5, NULL \
         FROM generate_series(0, 200000) AS n; ANALYZE accounts; ANALYZE entries";
    sqlx::raw_sql(fill).execute(&mut admin).await.unwrap();
    for file in ["statement", "holdings_before"] {
        let path = format!("{}/src/repo/sql/{file}.sql", env!("CARGO_MANIFEST_DIR"));
        let sql = std::fs::read_to_string(path).unwrap();
        let (name, id) = (own(0).to_string(), player(0).to_string());
        let values = match file {
            "statement" => format!("'wallet/0', '{name}', '{id}', 0, 300000, 202"),
            _ => format!("'{name}', '{id}', 300000"),
        };
        let plan = format!("PREPARE page AS {sql}; EXPLAIN EXECUTE page({values})");
        let (prepare, explain) = plan.split_once("; EXPLAIN").unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(prepare.to_owned())).execute(&mut admin).await.unwrap();
        let explain = sqlx::AssertSqlSafe(format!("EXPLAIN{explain}"));
        let plan: Vec<(String,)> = sqlx::query_as(explain).fetch_all(&mut admin).await.unwrap();
        let plan: Vec<String> = plan.into_iter().map(|(line,)| line).collect();
        let scans = plan.iter().find(|line| line.contains("Seq Scan"));
        assert_eq!(scans, None, "{plan:#?}");
        sqlx::raw_sql("DEALLOCATE page").execute(&mut admin).await.unwrap();
    }
}

/// Concurrent statements leave connections for other reads.
#[tokio::test(flavor = "multi_thread")]
async fn statements_leave_connections_to_others() {
    let (harness, url) = Harness::over_postgres("turns").await;
    harness.open_accounts(1, 100).await;
    let api = harness.api();
    let mut admin = sqlx::PgConnection::connect(&url).await.unwrap();
    let mut locked = admin.begin().await.unwrap();
    let lock = "LOCK TABLE wallet.entries IN ACCESS EXCLUSIVE MODE";
    sqlx::query(lock).execute(&mut *locked).await.unwrap();
    let ask = pb::ListEntriesRequest { player_id: player(0).to_string(), ..Default::default() };
    let mut asked = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let (api, ask) = (api.clone(), ask.clone());
        asked.spawn(async move { api.list_entries(by(OPERATOR, ask)).await.map(drop) });
    }
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    let began = tokio::time::Instant::now();
    let hold = harness.wallet.repo().unwrap().hold(primitives::HoldId([1; 16])).await;
    assert!(hold.unwrap().is_none() && began.elapsed() < std::time::Duration::from_secs(1));
    for _ in 0..8 {
        let refused = asked.join_next().await.unwrap().unwrap().unwrap_err();
        assert_eq!(wire::status::reason_of(&refused), Some(ErrorReason::Overloaded), "{refused}");
        assert!(refused.get_details_retry_info().is_some(), "{refused:?}");
    }
    locked.rollback().await.unwrap();
    assert_eq!(asked.join_all().await.into_iter().filter(Result::is_ok).count(), 4);
}
