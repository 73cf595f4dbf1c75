//! Players' hands: rows of cases, and lists of a played log in a database.

use eventlog::{MemStore, StreamId};
use proto::common::v1::AbortCause;
use proto::event::v1 as event;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, PgPool, Row as _};
use wire::TableRecord;

use super::*;
use crate::hand_list::tests::{hostile_table, write as append};
use crate::people::registry::EventLocation;
use crate::registry::tests::dependencies;
use rows::{HandRowEnd, SeatRow, SeatRowEnd, TableRow};

const TABLE: TableId = TableId([7; 16]);
const ANN: PlayerId = PlayerId([1; 16]);
const HAND: HandId = HandId([9; 16]);

/// Rows of records, each at the position and the time of its place in the list.
fn rows_of(records: &[(StreamId, TableRecord)]) -> HandRows {
    let mut rows = HandRows::default();
    for ((stream, record), number) in records.iter().zip(0..) {
        let place =
            EventLocation { stream: *stream, position: Position(number), at: UnixMicros(number) };
        rows.add_record(place, record);
    }
    rows
}

#[test]
fn a_hand_has_a_row_for_each_seat_and_its_end_in_it() {
    let seat = |stack| event::RosterSeat {
        seat: 3,
        player_id: ANN.0.to_vec().into(),
        stack,
        house: false,
    };
    let rule_set = rules::RuleSet::defaults(rules::variant("dice").unwrap()).canonical();
    let created = event::TableCreated { name: "Den".to_owned(), rule_set, ..Default::default() };
    let (table_id, hand_id) = (TABLE.0.to_vec().into(), HAND.0.to_vec().into());
    let opened =
        event::HandOpened { table_id, hand_no: 5, roster: vec![seat(100)], ..Default::default() };
    let finished = |aborted| event::HandFinished {
        hand_no: 5,
        hand_id: HAND.0.to_vec().into(),
        seats: vec![seat(130)],
        aborted,
        ..Default::default()
    };
    let started = event::HandStarted { hand_no: 5, hand_id };
    let mut records: Vec<(StreamId, TableRecord)> = vec![
        (TABLE.into(), created.into()),
        (TABLE.into(), started.into()),
        (HAND.into(), opened.into()),
        (TABLE.into(), finished(false).into()),
    ];
    let (name, variant) = ("Den".to_owned(), "dice".to_owned());
    let (start, end) = (UnixMicros(2), UnixMicros(3));
    let expected = HandRows {
        tables: vec![TableRow { table: TABLE, name, variant }],
        seats: vec![SeatRow {
            player: ANN,
            started_at: start,
            position: Position(2),
            table: TABLE,
            hand_no: 5,
            hand: HAND,
            seat: 3,
            stack: 100,
        }],
        ends: vec![SeatRowEnd { hand: HAND, seat: 3, stack: 130, ended_at: end }],
        aborts: vec![],
        started: [(TABLE, 5)].into(),
    };
    assert_eq!(rows_of(&records), expected);
    // A hand that came to nothing moved nothing.
    let aborted = event::HandAborted { cause: AbortCause::Agreed.into(), ..Default::default() };
    records[3] = (HAND.into(), aborted.into());
    records.push((TABLE.into(), finished(true).into()));
    records.push((TABLE.into(), event::TableClosed {}.into()));
    let agreed = HandRowEnd { hand: HAND, outcome: 4, ended_at: end };
    let (ends, aborts) = (vec![], vec![agreed]);
    let started = [(TABLE, u64::MAX)].into();
    assert_eq!(rows_of(&records), HandRows { ends, aborts, started, ..expected });
}

/// A hand of a player as the log says it, computed without rows.
#[derive(Debug, PartialEq, Eq)]
struct ExpectedHand {
    hand_no: u64,
    net: i64,
    outcome: pb::HandOutcome,
}

/// Hands of a player by the records of a log, newest first.
fn expected_hands(
    log: &[(StreamId, TableRecord, UnixMicros)],
    player: PlayerId,
) -> Vec<ExpectedHand> {
    let mut all: Vec<ExpectedHand> = Vec::new();
    let mut stack = 0;
    let mut cause = AbortCause::Unspecified;
    for (_, record, _) in log {
        if let TableRecord::HandOpened(opened) = record {
            let of = |seat: &&event::RosterSeat| seat.player_id[..] == player.0;
            if let Some(seat) = opened.roster.iter().find(of) {
                stack = seat.stack;
                let outcome = pb::HandOutcome::InPlay;
                all.push(ExpectedHand { hand_no: opened.hand_no, net: 0, outcome });
            }
        } else if let TableRecord::HandAborted(aborted) = record {
            cause = aborted.cause();
        } else if let TableRecord::HandFinished(finished) = record
            && let Some(last) = all.last_mut().filter(|last| last.hand_no == finished.hand_no)
        {
            let mut seats = finished.seats.iter();
            let seat = seats.find(|seat| seat.player_id[..] == player.0);
            last.outcome = match (finished.aborted, cause) {
                (false, _) => pb::HandOutcome::Played,
                (true, AbortCause::Withheld) => pb::HandOutcome::Burnt,
                (true, _) => pb::HandOutcome::SuspendedTooLong,
            };
            if !finished.aborted {
                last.net = seat.unwrap().stack.cast_signed() - stack.cast_signed();
            }
        }
    }
    all.reverse();
    all
}

fn query(player: PlayerId) -> HandsQuery {
    HandsQuery {
        player,
        table: None,
        variant: None,
        result: None,
        start: UnixMicros(0),
        end: UnixMicros(u64::MAX),
        before: None,
        scan: 0,
        take: 500,
    }
}

/// All pages of a query, once the tables have so many records.
async fn walk(hands: &PlayerHands, query: HandsQuery, log_size: u64) -> Vec<pb::PlayerHand> {
    hands.log_size.subscribe().wait_for(|size| *size >= log_size).await.unwrap();
    let (mut all, mut before) = (Vec::new(), query.before);
    loop {
        let page = hands.page(HandsQuery { before, ..query.clone() }, log_size).await.unwrap();
        assert!(page.hands.len() <= query.take && page.log_size >= log_size);
        all.extend(page.hands);
        if page.next_page_token.is_empty() {
            return all;
        }
        before = Some(page.next_page_token.parse().unwrap());
    }
}

fn short(hands: &[pb::PlayerHand]) -> Vec<ExpectedHand> {
    let shorten = |hand: &pb::PlayerHand| {
        let (hand_no, net) = (hand.hand_no, hand.net_credits);
        ExpectedHand { hand_no, net, outcome: hand.outcome() }
    };
    hands.iter().map(shorten).collect()
}

/// Connections with the rights of the table service alone.
async fn service_pool(url: &str) -> PgPool {
    let options: PgConnectOptions = url.parse().unwrap();
    let options = options.options([("role", "sabacc_table"), ("search_path", "\"table\"")]);
    PgPoolOptions::new().max_connections(2).connect_with(options).await.unwrap()
}

#[tokio::test]
async fn lists_are_what_a_played_log_says_after_a_restart_and_a_rebuild_too() {
    let postgres = testkit::postgres().await.unwrap();
    let url = postgres.database("player_hands").await.unwrap();
    crate::service::migrate(&url, None).await.unwrap();
    let repo = Repo::of_pool(service_pool(&url).await);
    let table = hostile_table(8);
    let players: Vec<PlayerId> = table.state.table.seats.values().map(|it| it.player).collect();
    assert!(players.len() > 2);

    // The log grows while it is followed, and is followed by another process at the end.
    let store = MemStore::new();
    let log = dependencies(&store).await.log;
    let hands = PlayerHands::new(Some(repo.clone()));
    let (before, after) = table.log.split_at(table.log.len() / 2);
    append(&log, before).await;
    let following = tokio::spawn(follow(log.clone(), hands.clone()));
    hands.page(query(players[0]), log.size()).await.unwrap();
    following.abort();
    append(&log, after).await;
    let hands = PlayerHands::new(Some(repo.clone()));
    tokio::spawn(follow(log.clone(), hands.clone()));
    let size = log.size();
    let mut outcomes = Vec::new();
    let mut lists = Vec::new();
    for player in &players {
        let list = walk(&hands, query(*player), size).await;
        assert_eq!(short(&list), expected_hands(&table.log, *player), "{player}");
        assert_eq!(walk(&hands, HandsQuery { take: 1, ..query(*player) }, size).await, list);
        assert_eq!(walk(&hands, HandsQuery { take: 3, ..query(*player) }, size).await, list);
        outcomes.extend(list.iter().map(pb::PlayerHand::outcome));
        check_filters(&hands, *player, size, &list).await;
        lists.push(list);
    }
    assert!(outcomes.contains(&pb::HandOutcome::Burnt));
    let nobody = hands.page(query(PlayerId([0xee; 16])), size).await.unwrap();
    assert!(nobody.hands.is_empty() && nobody.next_page_token.is_empty());

    // Tables that are emptied, or ahead of the log, are written anew.
    crate::repo::request_rebuild(&url).await.unwrap();
    for ahead in [false, true] {
        let admin = PgPool::connect(&url).await.unwrap();
        if ahead {
            let ahead = "UPDATE \"table\".followed SET size = size + 1000";
            sqlx::query(ahead).execute(&admin).await.unwrap();
            let lie = "UPDATE \"table\".hand_seats SET net = 1000000";
            sqlx::query(lie).execute(&admin).await.unwrap();
        }
        let again = PlayerHands::new(Some(repo.clone()));
        let following = tokio::spawn(follow(log.clone(), again.clone()));
        for (player, list) in players.iter().zip(&lists) {
            assert_eq!(&walk(&again, query(*player), size).await, list);
        }
        following.abort();
    }
    // Tables that are emptied while they are followed are whole again with the next record.
    crate::repo::request_rebuild(&url).await.unwrap();
    append(&log, &[(TABLE.into(), event::CloseAsked {}.into(), UnixMicros(0))]).await;
    for (player, list) in players.iter().zip(&lists) {
        assert_eq!(&walk(&hands, query(*player), log.size()).await, list);
    }
    the_hands_of_a_busy_player(&url, &hands, log.size()).await;
}

async fn check_filters(hands: &PlayerHands, player: PlayerId, size: u64, list: &[pb::PlayerHand]) {
    let with = async |query: HandsQuery| {
        let wide = walk(hands, query.clone(), size).await;
        assert_eq!(walk(hands, HandsQuery { take: 2, ..query }, size).await, wide);
        wide
    };
    let mut by_result = 0;
    for (sign, result) in
        [(1, pb::HandResult::Won), (-1, pb::HandResult::Lost), (0, pb::HandResult::Even)]
    {
        let found = with(HandsQuery { result: Some(sign), ..query(player) }).await;
        let expected: Vec<_> =
            list.iter().filter(|hand| hand.result() == result).cloned().collect();
        by_result += expected.len();
        assert_eq!(found, expected, "{result:?}");
    }
    let ended = list.iter().filter(|hand| hand.outcome() != pb::HandOutcome::InPlay);
    assert_eq!(by_result, ended.count());
    let of_game = |game: &str| HandsQuery { variant: Some(game.to_owned()), ..query(player) };
    assert_eq!(with(of_game("dice")).await, list);
    assert!(with(of_game("spike")).await.is_empty());
    let of_table = |table| HandsQuery { table: Some(table), ..query(player) };
    assert_eq!(with(of_table(TABLE)).await, list);
    assert!(with(of_table(TableId([8; 16]))).await.is_empty());
    let at = |hand: &pb::PlayerHand| wire::time::instant(hand.start_time.unwrap()).unwrap();
    let middle = at(&list[list.len() / 2]);
    let since = with(HandsQuery { start: middle, ..query(player) }).await;
    let until = with(HandsQuery { end: middle, ..query(player) }).await;
    assert_eq!([since.clone(), until].concat(), list);
    assert!(since.iter().all(|hand| at(hand) >= middle) && since.len() <= list.len());
}

/// A page costs what it looks at, by the key, whatever a player has: of 100,000 hands a filter that
/// passes one of the oldest finds it in pages of a bounded number each.
async fn the_hands_of_a_busy_player(url: &str, hands: &PlayerHands, size: u64) {
    let admin = PgPool::connect(url).await.unwrap();
    let busy = PlayerId([0xbb; 16]);
    let insert = format!(
        "INSERT INTO \"table\".hand_seats SELECT '{busy}'::uuid, 1000 + n, n, '{TABLE}'::uuid, n, \
         gen_random_uuid(), 1, 100, CASE n WHEN 5 THEN 1 ELSE -1 END, 2, 2000 + n \
         FROM generate_series(1, 100000) AS n"
    );
    sqlx::query(AssertSqlSafe(insert)).execute(&admin).await.unwrap();
    sqlx::query("ANALYZE \"table\".hand_seats").execute(&admin).await.unwrap();
    let newest = hands.page(HandsQuery { take: 100, ..query(busy) }, size).await.unwrap();
    assert_eq!(newest.hands.len(), 100);
    assert_eq!((newest.hands[0].hand_no, newest.hands[99].hand_no), (100_000, 99_901));

    let won = HandsQuery { result: Some(1), take: 100, ..query(busy) };
    let (mut pages, mut before, mut found) = (0, None, Vec::new());
    loop {
        let page = hands.page(HandsQuery { before, ..won.clone() }, size).await.unwrap();
        pages += 1;
        found.extend(page.hands);
        let next = page.next_page_token;
        before = (!next.is_empty()).then(|| next.parse().unwrap());
        if before.is_none() {
            break;
        }
    }
    assert_eq!(found.iter().map(|hand| hand.hand_no).collect::<Vec<_>>(), [5]);
    assert_eq!(pages, 100_000 / MAX_SCANNED + 1);

    let plan = format!("EXPLAIN {}", include_str!("../repo/hands.sql"));
    let pool = service_pool(url).await;
    let plan = sqlx::query(AssertSqlSafe(plan))
        .bind(busy.to_string())
        .bind(0_i64)
        .bind(i64::MAX)
        .bind(50_000_i64)
        .bind(50_000_i64)
        .bind(101_i64)
        .bind(None::<String>)
        .bind(None::<String>)
        .bind(None::<i16>)
        .bind(101_i64)
        .fetch_all(&pool)
        .await
        .unwrap();
    let plan: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
    let plan = plan.join("\n");
    assert!(plan.contains("Index Scan Backward using hand_seats_key"), "{plan}");
    assert!(!plan.contains("Seq Scan on hand_seats"), "{plan}");
}

#[test]
fn a_pages_token_is_the_key_of_a_hand() {
    let key = HandKey { started_at: 1_700_000_000_000_000, position: 12 };
    assert_eq!(key.to_string().parse(), Ok(key));
    for token in ["", ":", "5", "5:", "-1:2", "5:x", "5:6:7"] {
        assert_eq!(token.parse::<HandKey>(), Err(NoCursor), "{token}");
    }
}
