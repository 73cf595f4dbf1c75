//! Hidden cards appear nowhere before their time: not in the table's records, not in the wallet's,
//! in no log output.
//!
//! A hundred hands are played; then the dealer's log gives the hidden cards, and everything else is
//! searched for them. The events of the table that may name cards, and when, are listed below.

mod hands;
mod schema;
mod search;

use std::collections::BTreeSet;
use std::time::Duration;

use bots::{BotOptions, Thinking, strategy};
use eventlog::Event;
use primitives::{Credits, StreamId};
use proto::common::v1::MoveKind;
use proto::table::v1::TableConfig;
use rustix::process::Signal;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use wire::{DealerRecord, Record as _, TableRecord};

use crate::harness::{Room, RoomHarness};
use crate::people::{Guest, close, operator};
use crate::records;
use hands::OpenCards;
use schema::Payloads;
use search::Secrets;

const HANDS: u64 = 100;
const BOTS: u64 = 3;

/// Log filter that shows everything our own code logs.
const ALL_OURS: &str = "warn,sabacc=trace,sabacc_table=trace,sabacc_dealer=trace,\
                        sabacc_wallet=trace,sabacc_gateway=trace,chassis=trace,eventlog=trace,\
                        wire=trace,client=trace,rules=trace,fairness=trace,ledger=trace";

/// Plays until this number of hands are over and the table is closed.
async fn play(place: &RoomHarness, room: &Room) -> Vec<Guest> {
    let config =
        TableConfig { name: "play".into(), variant: "dice".into(), ..TableConfig::default() };
    let operator = operator(place, &room.url);
    let table = operator.create_table(config).await.unwrap();
    let (mut bots, mut guests) = (JoinSet::new(), Vec::new());
    for seed in 0..BOTS {
        let guest = Guest::new(place, &room.url).await;
        guests.push(guest.clone());
        let name = if seed == 0 { "random" } else { "steady" };
        let plays = strategy::by_name(name, seed).unwrap();
        let bot = BotOptions {
            seat: 0,
            buy_in: Credits::ZERO,
            thinking: Thinking::Fixed(Duration::ZERO),
        };
        let stop = CancellationToken::new();
        bots.spawn(async move { bots::run_bot(&guest.client, table, bot, plays, stop).await });
    }
    while operator.get_table(table).await.unwrap().hand_no <= HANDS {
        tokio::time::sleep(Duration::from_millis(100)).await;
        // A bot must not end before the table closes.
        assert_eq!(bots.len(), guests.len());
        if let Some(ended) = bots.try_join_next() {
            panic!("{ended:?}");
        }
    }
    close(place, &room.url, table).await;
    while let Some(bot) = bots.join_next().await {
        bot.unwrap().unwrap();
    }
    guests
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_shows_a_hidden_card_before_its_time() {
    let place = RoomHarness::new();
    let mut room = place.up_with(&["--no-bots"], &[("RUST_LOG", ALL_OURS)]).await;
    let guests = play(&place, &room).await;
    let dealer = records::events(&room.database, "dealer").await;
    let table = records::events(&room.database, "table").await;
    let hands = hands::dealt(&dealer);
    assert!(hands.len() as u64 >= HANDS, "{} hands", hands.len());

    let mut secrets = Secrets::default();
    for (hand, dealt) in &hands {
        secrets.bytes(&format!("the seed of hand {hand}"), &dealt.seed);
        for shuffle in dealt.shuffles.iter().filter(|shuffle| shuffle.len() >= search::WINDOW) {
            secrets.bytes(&format!("the shoe of hand {hand}"), shuffle);
        }
    }
    let codes: Vec<&str> = rules::variant("dice").unwrap().deck.faces().collect();
    codes.iter().for_each(|code| secrets.code(code));
    the_search_finds_what_is_there(&secrets, &table, hands.len());

    // The records: all of their bytes, except the events that publish a seed after the end.
    let opening = [TableRecord::HandRevealed(Default::default()).kind().into()];
    let seed_opened = [DealerRecord::SeedOpened(Default::default()).kind().into()];
    for (service, without) in
        [("table", &opening[..]), ("wallet", &[]), ("dealer", &seed_opened), ("dealer_vault", &[])]
    {
        let cells = schema::cells(&room.database, service, without).await;
        assert!(cells.len() > 100, "{} values in {service}", cells.len());
        for cell in cells {
            let text = cell.is_text.then(|| String::from_utf8_lossy(&cell.value));
            let found = match text {
                Some(text) => secrets.in_text(&text),
                None => secrets.in_bytes(&cell.value),
            };
            assert!(found.is_empty(), "{found:?} in {}", cell.place);
        }
    }
    let open = hands::opened_to_all(&dealer);
    assert_eq!(codes_too_early(&table, &codes, &open), [""; 0]);
    let wallet = records::events(&room.database, "wallet").await;
    assert_eq!(codes_too_early(&wallet, &codes, &open), [""; 0]);

    // The log output: no secrets, tokens or passwords.
    for guest in &guests {
        secrets.text("a token", &guest.token);
    }
    secrets.text("a token", "eyJ");
    for key in std::fs::read_dir(place.data().join("keys")).unwrap() {
        let path = key.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let secret = text.lines().find(|line| !line.starts_with("-----")).unwrap();
        secrets.text(&path.display().to_string(), secret);
    }
    room.running.stop(Signal::INT).await;
    let log = room.running.log();
    assert!(log.lines().count() > 1000, "{} lines", log.lines().count());
    for line in log.lines() {
        let found = secrets.in_text(line);
        assert!(found.is_empty(), "{found:?} in: {line}");
    }
}

/// The search finds every published seed, and shown cards where they are shown.
fn the_search_finds_what_is_there(secrets: &Secrets, table: &[Event], hands: usize) {
    let mut seeds = BTreeSet::new();
    let mut shown = 0;
    for event in table {
        match TableRecord::try_from(event).unwrap() {
            TableRecord::HandRevealed(_) => seeds.extend(secrets.in_bytes(&event.payload)),
            TableRecord::CardsShown(_) => {
                let texts = Payloads::new().texts(event);
                let found = |(_, text): &(String, String)| !secrets.in_text(text).is_empty();
                shown += texts.iter().filter(|text| found(text)).count();
            }
            _ => {}
        }
    }
    assert_eq!(seeds.len(), hands, "every opened seed is found");
    assert!(shown > hands, "{shown} shown cards are found");
}

/// Returns card codes in events that must not contain any.
fn codes_too_early(events: &[Event], codes: &[&str], open: &OpenCards) -> Vec<String> {
    let payloads = Payloads::new();
    let mut early = Vec::new();
    for event in events {
        for (place, text) in payloads.texts(event) {
            let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
            let says = words.any(|word| codes.contains(&word));
            if says && !may_say_cards(event, &place, open) {
                early.push(format!("{text:?} in {place}, position {}", event.position.0));
            }
        }
    }
    early
}

/// Whether an event may name cards: at the reveal, after the dealer opened them to everybody, or if
/// their player lays them open.
fn may_say_cards(event: &Event, place: &str, open: &OpenCards) -> bool {
    let Ok(record) = TableRecord::try_from(event) else { return false };
    match record {
        TableRecord::CardsShown(_) => place == "CardsShown.cards.card",
        TableRecord::CardsMoved(moved) => {
            let named = moved.cards.iter().filter(|card| !card.card.is_empty());
            let mut places = named.map(|card| (event.stream, card.op, card.position));
            place == "CardsMoved.cards.card" && places.all(|place| open.contains(&place))
        }
        TableRecord::MoveDecided(decided) => {
            let kind = decided.r#move.as_ref().map(|it| it.kind());
            let face_up = matches!(kind, Some(MoveKind::Lock | MoveKind::Unlock));
            face_up && place == "MoveDecided.cards.card"
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::common::v1::{CardRef, Move, SettlementLine};
    use proto::event::v1 as pb;

    fn event(recorded: &TableRecord) -> Event {
        let new = recorded.on_stream(primitives::HandId([1; 16]));
        Event {
            position: eventlog::Position(4),
            recorded_at: primitives::UnixMicros(0),
            stream: new.stream,
            version: eventlog::Version(1),
            kind: new.kind,
            schema: new.schema,
            sealed: new.sealed,
            payload: new.payload,
            salt: [0; 16],
            author_hash: [0; 32],
            request_id: None,
            actor: "service:table".into(),
            trace: [0; 16],
            previous: [0; 32],
        }
    }

    fn check(recorded: impl Into<TableRecord>, early: usize) {
        let open = OpenCards::from([(StreamId([1; 16]), 0, 9)]);
        let found = codes_too_early(&[event(&recorded.into())], &["S15", "C2"], &open);
        assert_eq!(found.len(), early, "{found:?}");
    }

    fn card(code: &str) -> CardRef {
        CardRef { op: 0, position: 3, card: code.to_owned(), salt: Vec::new() }
    }

    #[test]
    fn a_planted_card_is_found_where_it_must_not_be() {
        let moved = |seat, cards| pb::CardsMoved { seat, cards };
        check(moved(2, vec![card(""), card("")]), 0);
        check(moved(2, vec![card(""), card("S15")]), 1);
        let open = |code: &str| CardRef { position: 9, ..card(code) };
        check(moved(2, vec![card(""), open("S15")]), 0);
        check(moved(0, vec![open("C2"), card("S15")]), 2);
        let decided = |kind: MoveKind, cards: &[&str], code| pb::MoveDecided {
            r#move: Some(Move {
                kind: kind.into(),
                cards: cards.iter().map(|&card| card.to_owned()).collect(),
                ..Move::default()
            }),
            cards: vec![card(code)],
            ..pb::MoveDecided::default()
        };
        check(decided(MoveKind::Trade, &[], ""), 0);
        check(decided(MoveKind::Trade, &[], "C2"), 1);
        check(decided(MoveKind::Trade, &["C2"], ""), 1);
        check(decided(MoveKind::Lock, &[], "C2"), 0);
        check(decided(MoveKind::Lock, &["C2"], "C2"), 1);
        check(pb::CardsShown { seat: 1, cards: vec![card("S15"), card("C2")] }, 0);
        let line = SettlementLine { text: "p1 wins main 100 with S15 C2".to_owned() };
        check(pb::HandSettled { lines: vec![line], ..pb::HandSettled::default() }, 1);
        let name = "table S15".to_owned();
        check(pb::TableCreated { name, ..pb::TableCreated::default() }, 1);
    }

    #[test]
    fn event_names_are_those_of_their_types() {
        assert_eq!(schema::name(13), "CardsMoved");
        assert_eq!(schema::name(104), "SeedOpened");
    }
}
