//! Cases of the lobby: pages, filters, and what watchers are sent.

use std::collections::BTreeMap;

use eventlog::StreamId;
use primitives::{PlayerId, UnixMicros};
use proto::event::v1 as event;
use proto::table::v1::watch_lobby_response::Message;
use rules::{FieldValue, RuleSet};
use wire::TableRecord;

use super::index::{MAX_CLOSINGS, MAX_SCANNED};
use super::watch::ROUND_INTERVAL;
use super::*;
use crate::people::registry::EventLocation;

const ANN: PlayerId = PlayerId([1; 16]);
const BOB: PlayerId = PlayerId([2; 16]);

fn table(number: u8) -> TableId {
    TableId([number; 16])
}

/// Lobby of a log that grows.
#[derive(Default)]
struct Grown {
    lobby: Lobby,
    next: u64,
}

impl Grown {
    fn add(&mut self, stream: impl Into<StreamId>, record: impl Into<TableRecord>) {
        let position = Position(self.next);
        let place = EventLocation { stream: stream.into(), position, at: UnixMicros(self.next) };
        self.next += 1;
        let changed = self.lobby.read(|index| {
            index.evolve(place, &record.into());
            index.last_change()
        });
        self.lobby.0.changed.send_if_modified(|last| std::mem::replace(last, changed) != changed);
    }

    fn open(&mut self, number: u8, variant: &str, ante: u64) {
        self.open_as(table(number), variant, ante);
    }

    fn open_as(&mut self, id: TableId, variant: &str, ante: u64) {
        let fields = [("hand_ante".to_owned(), FieldValue::Number(ante))];
        let fields = if ante == 0 { &[][..] } else { &fields[..] };
        let created = event::TableCreated {
            name: "table".to_owned(),
            rule_set: RuleSet::parse(variant, fields).unwrap().canonical(),
            seats: 4,
            min_buy_in: 20 * ante,
            max_buy_in: 200 * ante,
            ..Default::default()
        };
        self.add(id, created);
    }

    fn sit(&mut self, number: u8, seat: u32, player: PlayerId) {
        let player_id = player.0.to_vec().into();
        self.add(table(number), event::SeatTaken { seat, player_id, ..Default::default() });
    }

    fn leave(&mut self, number: u8, seat: u32) {
        self.add(table(number), event::SeatVacated { seat });
    }

    fn close(&mut self, number: u8) {
        self.add(table(number), event::TableClosed {});
    }

    /// Ids of the tables that pass a filter, from pages of `take` tables.
    fn listed(&self, filter: &Filter, take: usize) -> Vec<String> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let (page, next) = self.lobby.page(filter, after, take);
            assert!(page.len() <= take);
            all.extend(page.into_iter().map(|table| table.table_id));
            if next.is_none() {
                return all;
            }
            after = next;
        }
    }

    fn watch(&self, filter: &Filter, token: &[u8]) -> LobbyWatch {
        LobbyWatch::new(self.lobby.clone(), filter.clone(), token).unwrap()
    }
}

#[expect(clippy::needless_pass_by_value, reason = "calls are shorter")]
fn filter(message: pb::LobbyFilter, caller: Option<PlayerId>) -> Filter {
    Filter::parse(Some(&message), caller).unwrap()
}

fn all() -> Filter {
    filter(pb::LobbyFilter::default(), None)
}

fn ids(numbers: &[u8]) -> Vec<String> {
    numbers.iter().map(|number| table(*number).to_string()).collect()
}

/// A message in short: a table with its seated players, or what else it is.
fn short(message: &pb::WatchLobbyResponse) -> String {
    match message.message.as_ref().unwrap() {
        Message::Started(_) => "started".to_owned(),
        Message::Table(table) => format!("{}:{}", &table.table_id[..2], table.seated),
        Message::Delisted(gone) => {
            format!("{} {}", &gone.table_id[..2], gone.reason().as_str_name())
        }
        Message::CaughtUp(_) => "caught up".to_owned(),
        Message::Heartbeat(_) | Message::Ended(_) => panic!("{message:?}"),
    }
}

/// Messages that come without any further change.
async fn taken(watch: &mut LobbyWatch) -> Vec<pb::WatchLobbyResponse> {
    let mut taken = Vec::new();
    let patience = ROUND_INTERVAL * 10;
    while let Ok(message) = tokio::time::timeout(patience, watch.next()).await {
        taken.push(message);
    }
    taken
}

async fn shorts(watch: &mut LobbyWatch) -> Vec<String> {
    taken(watch).await.iter().map(short).collect()
}

const CLOSED: &str = "DELIST_REASON_CLOSED";
const FILTERED: &str = "DELIST_REASON_FILTERED";

#[test]
fn pages_have_the_tables_that_pass_and_each_once_while_others_open_and_close() {
    let mut grown = Grown::default();
    for number in 1..=30 {
        grown.open(number, if number % 3 == 0 { "spike" } else { "dice" }, u64::from(number));
    }
    (1..=4).for_each(|seat| grown.sit(6, seat, PlayerId([40 + u8::try_from(seat).unwrap(); 16])));
    grown.sit(7, 2, ANN);
    let numbers =
        |wanted: fn(u8) -> bool| ids(&(1..=30).filter(|it| wanted(*it)).collect::<Vec<_>>());
    let default = pb::LobbyFilter::default;
    let variant = |variant: &str| pb::LobbyFilter { variant: variant.to_owned(), ..default() };
    // The ante of a table of dice is followed by 5 credits for the Sabacc Pot.
    let least = grown.lobby.page(&all(), None, 1).0[0].ante_credits;
    let ante = pb::LobbyFilter {
        min_ante_credits: least + 3,
        max_ante_credits: Some(least + 4),
        ..variant("dice")
    };
    let buy_in =
        pb::LobbyFilter { min_buy_in_credits: 1000, max_buy_in_credits: Some(100), ..default() };
    assert!(Filter::parse(Some(&buy_in), None).is_err(), "no number is in that range");
    let buy_in =
        pb::LobbyFilter { min_buy_in_credits: 900, max_buy_in_credits: Some(1000), ..default() };
    let mine = pb::LobbyFilter { mine: true, ..default() };
    let cases = [
        (all(), numbers(|_| true)),
        (filter(variant("spike"), None), numbers(|it| it % 3 == 0)),
        (filter(variant("kessel"), None), vec![]),
        (filter(ante, None), ids(&[4, 5])),
        (filter(buy_in, None), numbers(|it| (5..=50).contains(&it))),
        (filter(pb::LobbyFilter { min_free_seats: 1, ..default() }, None), numbers(|it| it != 6)),
        (filter(pb::LobbyFilter { min_free_seats: 4, ..default() }, None), {
            numbers(|it| it != 6 && it != 7)
        }),
        (filter(mine.clone(), Some(ANN)), ids(&[7])),
        (filter(mine.clone(), Some(BOB)), vec![]),
    ];
    for (filter, expected) in &cases {
        for take in [1, 7, 500] {
            assert_eq!(&grown.listed(filter, take), expected, "{filter:?} by {take}");
        }
    }
    assert!(Filter::parse(Some(&mine), None).is_err(), "nobody's tables");
    assert!(Filter::parse(Some(&variant("poker")), None).is_err());

    let (first, next) = grown.lobby.page(&all(), None, 10);
    grown.close(3);
    grown.close(12);
    grown.open(31, "dice", 1);
    let (rest, _) = grown.lobby.page(&all(), next, 500);
    let seen: Vec<_> = first.iter().chain(&rest).map(|it| it.table_id.clone()).collect();
    assert_eq!(seen, ids(&(1..=31).filter(|it| *it != 12).collect::<Vec<_>>()));
}

#[test]
fn a_page_looks_at_so_many_tables_and_goes_on_behind_them() {
    let mut grown = Grown::default();
    for number in 0..=MAX_SCANNED {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&(number as u64).to_be_bytes());
        grown.open_as(TableId(id), if number == MAX_SCANNED { "spike" } else { "dice" }, 0);
    }
    let spike = filter(pb::LobbyFilter { variant: "spike".to_owned(), ..Default::default() }, None);
    let (page, next) = grown.lobby.page(&spike, None, 10);
    assert!(page.is_empty() && next.is_some());
    assert_eq!(grown.lobby.page(&spike, next, 10).0.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_watcher_is_sent_the_list_then_each_table_once_a_second() {
    let mut grown = Grown::default();
    (1..=3).for_each(|number| grown.open(number, "dice", 1));
    grown.sit(1, 1, ANN);
    let mut watch = grown.watch(&all(), &[]);
    assert_eq!(shorts(&mut watch).await, ["started", "02:0", "03:0", "01:1", "caught up"]);
    // A change after a quiet time is sent at once.
    let before = tokio::time::Instant::now();
    grown.sit(3, 1, BOB);
    assert_eq!(short(&watch.next().await), "03:1");
    assert_eq!(before.elapsed(), std::time::Duration::ZERO);
    // A table that changes a thousand times in ten seconds is sent ten times.
    let (mut received, start) = (Vec::new(), tokio::time::Instant::now());
    for change in 0..1000_u32 {
        if change % 2 == 0 {
            grown.sit(2, 1, BOB)
        } else {
            grown.leave(2, 1)
        }
        let tick = std::time::Duration::from_millis(10);
        if let Ok(message) = tokio::time::timeout(tick, watch.next()).await {
            received.push(short(&message));
            tokio::time::sleep_until(start + tick * (change + 1)).await;
        }
    }
    received.extend(shorts(&mut watch).await);
    assert!((9..=11).contains(&received.len()), "{received:?}");
    assert_eq!(received.last().unwrap(), "02:0", "the last state is told");
    // A hand is no change, and neither is what is none of a table's.
    grown.add(table(1), event::HandStarted { hand_no: 1, ..Default::default() });
    grown.add(table(9), event::SeatVacated { seat: 1 });
    assert_eq!(shorts(&mut watch).await, [""; 0]);
    assert_eq!(grown.lobby.page(&all(), None, 1).0[0].hand_no, 1, "pages have it");
    grown.close(1);
    grown.open(4, "dice", 1);
    assert_eq!(shorts(&mut watch).await, [format!("01 {CLOSED}"), "04:0".to_owned()]);
}

/// A watcher who resumes behind any message gets exactly what followed it.
#[tokio::test(start_paused = true)]
async fn a_watcher_who_resumes_after_any_message_misses_and_repeats_nothing() {
    let mut grown = Grown::default();
    for number in 1..=100 {
        grown.open(number, "dice", 1);
    }
    let mut watch = grown.watch(&all(), &[]);
    let listed = taken(&mut watch).await;
    for number in (1..=100).step_by(3) {
        grown.sit(number, 1, ANN);
    }
    (50..60).for_each(|number| grown.close(number));
    grown.open(101, "spike", 1);
    let changed = taken(&mut watch).await;
    assert_eq!((listed.len(), changed.len()), (102, 34 - 3 + 10 + 1));
    for (at, message) in changed.iter().enumerate() {
        let rest = taken(&mut grown.watch(&all(), &message.resume_token)).await;
        let (caught_up, rest) = rest.split_last().unwrap();
        assert_eq!(short(caught_up), "caught up");
        assert_eq!(rest, &changed[at + 1..], "after {at}");
    }
    // Behind each message of the first list the tables come as they are now, each once.
    for (at, message) in listed.iter().enumerate() {
        let mut known: BTreeMap<String, String> = BTreeMap::new();
        let rest = taken(&mut grown.watch(&all(), &message.resume_token)).await;
        assert!(rest.iter().all(|message| short(message) != "started"), "after {at}");
        for message in listed[..=at].iter().chain(&rest) {
            match message.message.as_ref().unwrap() {
                Message::Table(table) => {
                    let state = format!("{table:?}");
                    let before = known.insert(table.table_id.clone(), state.clone());
                    assert_ne!(before, Some(state), "told twice, after {at}");
                }
                Message::Delisted(gone) => drop(known.remove(&gone.table_id)),
                Message::Started(_)
                | Message::CaughtUp(_)
                | Message::Heartbeat(_)
                | Message::Ended(_) => {}
            }
        }
        let now = grown.lobby.page(&all(), None, 500).0;
        let now = now.iter().map(|it| (it.table_id.clone(), format!("{it:?}"))).collect();
        assert_eq!(known, now, "after {at}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_table_that_no_longer_passes_the_filter_is_delisted() {
    let mut grown = Grown::default();
    grown.open(1, "dice", 1);
    grown.open(2, "dice", 1);
    grown.open(3, "spike", 1);
    grown.sit(1, 1, ANN);
    let dice = pb::LobbyFilter { variant: "dice".to_owned(), ..Default::default() };
    let free = filter(pb::LobbyFilter { min_free_seats: 3, ..dice.clone() }, None);
    let mine = filter(pb::LobbyFilter { mine: true, ..dice }, Some(ANN));
    let (mut free_watch, mut own_watch) = (grown.watch(&free, &[]), grown.watch(&mine, &[]));
    assert_eq!(shorts(&mut free_watch).await, ["started", "02:0", "01:1", "caught up"]);
    let own = taken(&mut own_watch).await;
    assert_eq!(own.iter().map(short).collect::<Vec<_>>(), ["started", "01:1", "caught up"]);

    grown.sit(1, 2, BOB);
    grown.sit(2, 1, BOB);
    grown.sit(3, 1, ANN);
    assert_eq!(shorts(&mut free_watch).await, [format!("01 {FILTERED}"), "02:1".to_owned()]);
    assert_eq!(shorts(&mut own_watch).await, ["01:2"], "a table of others is no news");
    grown.leave(1, 2);
    grown.sit(2, 2, ANN);
    assert_eq!(shorts(&mut free_watch).await, ["01:1".to_owned(), format!("02 {FILTERED}")]);
    assert_eq!(shorts(&mut own_watch).await, ["01:1", "02:2"]);
    grown.leave(1, 1);
    grown.leave(2, 1);
    assert_eq!(shorts(&mut own_watch).await, [format!("01 {FILTERED}"), "02:1".to_owned()]);
    grown.close(1);
    grown.close(3);
    assert_eq!(shorts(&mut own_watch).await, [""; 0], "neither is in the list");
    // Who comes back is sent what has gone, also where it may never have been listed.
    let token = &own.last().unwrap().resume_token;
    let back = shorts(&mut grown.watch(&mine, token)).await;
    assert_eq!(back, ["02:1".to_owned(), format!("01 {CLOSED}"), "caught up".to_owned()]);
}

#[tokio::test(start_paused = true)]
async fn tokens_hold_over_a_restart_and_others_are_refused() {
    let mut grown = Grown::default();
    (1..=5).for_each(|number| grown.open(number, "dice", 1));
    let listed = taken(&mut grown.watch(&all(), &[])).await;
    let token = &listed[2].resume_token;
    // The same log, folded anew.
    let mut again = Grown::default();
    (1..=5).for_each(|number| again.open(number, "dice", 1));
    assert_eq!(taken(&mut again.watch(&all(), token)).await, &listed[3..]);

    let refused = |filter: &Filter, token: &[u8]| {
        LobbyWatch::new(grown.lobby.clone(), filter.clone(), token).map(drop).unwrap_err().field
    };
    let other = filter(pb::LobbyFilter { min_free_seats: 1, ..Default::default() }, None);
    assert_eq!(refused(&other, token), "resume_token");
    let mine = pb::LobbyFilter { mine: true, ..Default::default() };
    let (own, others) = (filter(mine.clone(), Some(ANN)), filter(mine, Some(BOB)));
    let own_token = taken(&mut grown.watch(&own, &[])).await[0].resume_token.clone();
    assert_eq!(refused(&others, &own_token), "resume_token", "another player's");
    let mut ahead = token.clone();
    ahead[8] = 200;
    for token in [&ahead[..], &token[1..], &[&token[..], &[0]].concat(), &[0; 17], b"x"] {
        assert_eq!(refused(&all(), token), "resume_token", "{token:?}");
    }
    // Whoever was away for more closings than are remembered gets the list anew.
    for _ in 0..=MAX_CLOSINGS {
        grown.open(9, "dice", 1);
        grown.close(9);
    }
    let received = shorts(&mut grown.watch(&all(), token)).await;
    assert_eq!(received, ["started", "01:0", "02:0", "03:0", "04:0", "05:0", "caught up"]);
}

/// A watcher keeps one page of messages, however many tables change.
#[tokio::test(start_paused = true)]
async fn a_reader_who_is_slow_gets_the_newest_state() {
    let mut grown = Grown::default();
    (1..=200).for_each(|number| grown.open(number, "dice", 1));
    let mut watch = grown.watch(&all(), &[]);
    assert_eq!(watch.units(), 1, "200 tables are listed");
    assert_eq!(short(&watch.next().await), "started");
    for _ in 0..50 {
        for number in 1..=200 {
            grown.sit(number, 1, ANN);
            grown.leave(number, 1);
        }
    }
    (1..=200).for_each(|number| grown.sit(number, 1, BOB));
    let received = shorts(&mut watch).await;
    let newest = received.iter().filter(|row| row.ends_with(":1")).count();
    assert_eq!(newest, 200);
    assert!(received.len() <= 401, "{}", received.len());
}

#[test]
fn a_disabled_table_is_listed_with_its_reason_and_is_a_change() {
    let mut grown = Grown::default();
    grown.open(1, "dice", 5);
    let disabled = |grown: &Grown| grown.lobby.page(&all(), None, 9).0[0].disabled.clone();
    assert_eq!(disabled(&grown), None);
    let (reason, with_game) = ("a fault".to_owned(), true);
    grown.add(table(1), event::TableDisabled { reason: reason.clone(), with_game });
    assert_eq!(grown.lobby.read(|index| index.last_change()), 2);
    let disable_time = Some(wire::time::timestamp(UnixMicros(1)));
    assert_eq!(disabled(&grown), Some(pb::Disabled { reason, disable_time, with_game }));
    grown.add(table(1), event::TableEnabled { reason: "repaired".to_owned(), with_game });
    assert_eq!(grown.lobby.read(|index| index.last_change()), 3);
    assert_eq!(disabled(&grown), None);
}

#[tokio::test(start_paused = true)]
async fn bots_are_counted_and_a_mark_is_sent_where_it_changes_the_count() {
    let mut grown = Grown::default();
    grown.open(1, "dice", 10);
    grown.sit(1, 2, ANN);
    grown.sit(1, 3, BOB);
    let bots = |grown: &Grown| grown.lobby.page(&all(), None, 1).0[0].bots;
    let mut watch = grown.watch(&all(), &[]);
    assert_eq!((bots(&grown), shorts(&mut watch).await.len()), (0, 3));
    grown.add(StreamId(ANN.0), event::PlayerMarked { bot: true });
    grown.add(table(1), event::SeatRenamed { seat: 2 });
    assert_eq!((bots(&grown), shorts(&mut watch).await), (1, vec!["01:2".to_owned()]));
    // A name alone is in no list.
    grown.add(table(1), event::SeatRenamed { seat: 3 });
    assert!(taken(&mut watch).await.is_empty());
    grown.add(StreamId(ANN.0), event::PlayerMarked { bot: false });
    grown.add(table(1), event::SeatRenamed { seat: 2 });
    assert_eq!((bots(&grown), shorts(&mut watch).await.len()), (0, 1));
}
