//! Cases of the list of hands, and lists of played logs.

use std::time::Duration;

use eventlog::{Entry, MemStore};
use fairness::ClientCommitment;
use primitives::{StreamId, UnixMicros};
use proto::common::v1::{AbortCause, ErrorReason};
use proto::event::v1 as event;

use super::index::HandIndex;
use super::*;
use crate::effects::Effect;
use crate::people::registry::EventLocation;
use crate::recovery::fold;
use crate::registry::tests::dependencies;
use crate::tests::harness::{Harness, offer};
use wire::{Record as _, TableRecord};

const TABLE: TableId = TableId([7; 16]);
const OTHER: TableId = TableId([8; 16]);
const ANN: PlayerId = PlayerId([1; 16]);
const BOB: PlayerId = PlayerId([2; 16]);

/// Events of a log, which is folded as it grows.
#[derive(Default)]
struct Folded {
    index: HandIndex,
    next: u64,
}

impl Folded {
    fn add(&mut self, stream: impl Into<StreamId>, record: impl Into<TableRecord>) {
        let position = Position(self.next);
        let place = EventLocation { stream: stream.into(), position, at: UnixMicros(self.next) };
        self.index.evolve(place, &record.into());
        self.next += 1;
    }

    /// A table with hands in progress.
    fn table(id: TableId) -> Folded {
        let mut folded = Folded::default();
        folded.add(id, event::TableCreated::default());
        folded
    }

    fn start(&mut self, table: TableId, hand_no: u64, players: &[PlayerId]) {
        self.add(table, event::HandStarted { hand_no, ..Default::default() });
        let seat = |(player, seat): (&PlayerId, u32)| event::RosterSeat {
            seat,
            player_id: player.0.to_vec().into(),
            stack: 100,
            house: false,
        };
        let roster = players.iter().zip(1..).map(seat).collect();
        let opened = event::HandOpened { hand_no, roster, ..Default::default() };
        self.add(fairness::hand_id(table, hand_no), opened);
    }

    fn finish(&mut self, table: TableId, hand_no: u64, aborted: bool) {
        self.add(table, event::HandFinished { hand_no, aborted, ..Default::default() });
    }

    fn abort(&mut self, table: TableId, hand_no: u64, cause: AbortCause, seats: &[u32]) {
        let cause = cause.into();
        let aborted = event::HandAborted { cause, seats: seats.to_vec(), ..Default::default() };
        self.add(fairness::hand_id(table, hand_no), aborted);
        self.finish(table, hand_no, true);
    }

    fn reveal(&mut self, table: TableId, hand_no: u64) {
        self.add(fairness::hand_id(table, hand_no), event::HandRevealed::default());
    }

    fn play(&mut self, table: TableId, hands: std::ops::RangeInclusive<u64>, players: &[PlayerId]) {
        for hand_no in hands {
            self.start(table, hand_no, players);
            self.reveal(table, hand_no);
            self.finish(table, hand_no, false);
        }
    }

    fn list(&self, table: Option<TableId>, player: Option<PlayerId>) -> pb::ListHandsResponse {
        self.index.page(Scope { table, player }, None, 500).unwrap()
    }
}

/// Numbers and outcomes of rows.
fn rows(answer: &pb::ListHandsResponse) -> Vec<(u64, u64, pb::HandOutcome)> {
    let row = |row: &pb::HandRow| (row.first_hand_no, row.last_hand_no, row.outcome());
    answer.hands.iter().map(row).collect()
}

fn counts(answer: &pb::ListHandsResponse) -> pb::HandCounts {
    answer.counts.unwrap()
}

/// All pages of a list, each of `take` rows at most.
fn walk(index: &HandIndex, scope: Scope, take: usize) -> Vec<pb::HandRow> {
    let (mut all, mut from) = (Vec::new(), None);
    loop {
        let page = index.page(scope, from, take).unwrap();
        assert!(page.hands.len() <= take);
        all.extend(page.hands);
        if page.next_page_token.is_empty() {
            return all;
        }
        from = Some(page.next_page_token.parse().unwrap());
    }
}

#[test]
fn hands_that_went_well_are_one_row_whatever_their_number() {
    let mut folded = Folded::table(TABLE);
    folded.play(TABLE, 1..=1000, &[ANN, BOB]);
    let answer = folded.list(Some(TABLE), None);
    assert_eq!(rows(&answer), [(1, 1000, pb::HandOutcome::Played)]);
    assert_eq!((counts(&answer).played, counts(&answer).seeds_opened), (1000, 1000));
    assert_eq!(counts(&folded.list(None, Some(ANN))).numbers, 1000);
    assert!(folded.index.tables[&TABLE].hands.is_empty(), "nothing is kept of them");
}

#[test]
fn a_burnt_number_names_who_withheld_and_counts_for_player_seat_table_and_room() {
    let mut folded = Folded::table(TABLE);
    folded.play(TABLE, 1..=2, &[ANN, BOB]);
    folded.start(TABLE, 3, &[ANN, BOB]);
    folded.abort(TABLE, 3, AbortCause::Withheld, &[2]);
    folded.reveal(TABLE, 3);
    folded.play(TABLE, 4..=4, &[ANN]);
    let answer = folded.list(Some(TABLE), None);
    let (played, burnt) = (pb::HandOutcome::Played, pb::HandOutcome::Burnt);
    assert_eq!(rows(&answer), [(1, 2, played), (3, 3, burnt), (4, 4, played)]);
    let of_bob =
        pb::WithheldEntropy { seat: 2, player_id: BOB.to_string(), opened: false, bot: false };
    assert_eq!(answer.hands[1].withheld, [of_bob]);
    let totals = counts(&answer);
    assert_eq!(
        (totals.numbers, totals.burnt, totals.withheld, totals.burnt_ppm),
        (4, 1, 1, 250_000)
    );
    assert_eq!(counts(&folded.list(None, None)), totals, "the room has this table alone");
    let seats: Vec<_> =
        answer.seats.iter().map(|it| (it.seat, it.counts.unwrap().withheld)).collect();
    assert_eq!(seats, [(1, 0), (2, 1)]);
    let (ann, bob) = (folded.list(None, Some(ANN)), folded.list(None, Some(BOB)));
    assert_eq!((counts(&ann).burnt, counts(&ann).withheld), (1, 0), "not by her");
    assert_eq!((counts(&bob).numbers, counts(&bob).withheld_ppm), (3, 333_333));
    assert_eq!(rows(&bob), [(1, 2, played), (3, 3, burnt)]);

    // What was withheld may still be opened.
    let late = event::EntropyRevealed { seat: 2, ..Default::default() };
    folded.add(fairness::hand_id(TABLE, 3), late.clone());
    folded.add(fairness::hand_id(TABLE, 3), late);
    let answer = folded.list(Some(TABLE), Some(BOB));
    assert!(answer.hands[1].withheld[0].opened);
    assert_eq!((counts(&answer).withheld, counts(&answer).withheld_opened), (1, 1));
}

#[test]
fn what_was_broken_off_suspended_or_not_opened_is_distinguished() {
    let mut folded = Folded::table(TABLE);
    for (hand_no, cause) in [(1, AbortCause::Agreed), (2, AbortCause::Suspended)] {
        folded.start(TABLE, hand_no, &[ANN]);
        folded.add(fairness::hand_id(TABLE, hand_no), event::HandSuspended::default());
        assert!(folded.list(Some(TABLE), None).hands.last().unwrap().suspended);
        folded.abort(TABLE, hand_no, cause, &[]);
    }
    folded.start(TABLE, 3, &[ANN]);
    folded.add(fairness::hand_id(TABLE, 3), event::HandSuspended::default());
    folded.add(fairness::hand_id(TABLE, 3), event::HandContinued::default());
    folded.add(fairness::hand_id(TABLE, 3), event::SeedRefused::default());
    folded.finish(TABLE, 3, false);
    let answer = folded.list(Some(TABLE), None);
    let (agreed, late) = (pb::HandOutcome::Agreed, pb::HandOutcome::SuspendedTooLong);
    assert_eq!(rows(&answer), [(1, 1, agreed), (2, 2, late), (3, 3, pb::HandOutcome::Played)]);
    assert!(answer.hands.iter().all(|row| row.was_suspended && !row.suspended));
    let totals = counts(&answer);
    assert_eq!((totals.were_suspended, totals.seeds_owed, totals.seeds_refused), (3, 2, 1));
    assert_eq!(answer.hands[0].seed(), pb::SeedState::Owed);
    assert_eq!(totals.not_played_ppm, 666_666);
}

#[test]
fn a_number_that_is_skipped_or_never_ends_is_missing() {
    let mut folded = Folded::table(TABLE);
    folded.play(TABLE, 1..=1, &[ANN]);
    folded.start(TABLE, 2, &[ANN]);
    assert_eq!(counts(&folded.list(None, None)).in_play, 1);
    folded.play(TABLE, 6..=6, &[ANN]);
    folded.start(TABLE, 7, &[ANN]);
    folded.add(TABLE, event::TableClosed {});
    let (played, missing) = (pb::HandOutcome::Played, pb::HandOutcome::Missing);
    let answer = folded.list(Some(TABLE), None);
    let expected =
        [(1, 1, played), (2, 2, missing), (3, 5, missing), (6, 6, played), (7, 7, missing)];
    assert_eq!(rows(&answer), expected);
    let totals = counts(&answer);
    assert_eq!((totals.numbers, totals.missing, totals.played, totals.in_play), (7, 5, 2, 0));
    assert_eq!(counts(&folded.list(None, Some(ANN))).missing, 2, "of those dealt into");
    // The largest gap that a log could claim costs one entry and one row.
    folded.start(TABLE, u64::MAX, &[ANN]);
    let answer = folded.list(Some(TABLE), None);
    assert_eq!(rows(&answer)[5], (8, u64::MAX - 1, missing));
    assert_eq!(counts(&answer).numbers, u64::MAX);
}

#[test]
fn pages_have_every_number_once_and_any_token_of_the_form_is_taken() {
    let mut folded = Folded::table(TABLE);
    folded.add(OTHER, event::TableCreated::default());
    for hand_no in 1..=30 {
        let players: &[PlayerId] = if hand_no % 3 == 0 { &[ANN, BOB] } else { &[ANN] };
        folded.start(TABLE, hand_no, players);
        if hand_no % 4 == 0 {
            folded.abort(TABLE, hand_no, AbortCause::Withheld, &[1]);
        } else {
            folded.finish(TABLE, hand_no, false);
        }
        folded.reveal(TABLE, hand_no);
    }
    folded.play(OTHER, 1..=3, &[BOB]);
    for player in [None, Some(ANN), Some(BOB)] {
        for table in [None, Some(TABLE), Some(OTHER)] {
            let scope = Scope { table, player };
            let whole = walk(&folded.index, scope, 500);
            assert_eq!(walk(&folded.index, scope, 1), whole, "{scope:?}");
            assert_eq!(walk(&folded.index, scope, 7), whole, "{scope:?}");
            let numbers: u64 =
                whole.iter().map(|row| row.last_hand_no - row.first_hand_no + 1).sum();
            assert_eq!(numbers, folded.index.page(scope, None, 1).unwrap().counts.unwrap().numbers);
        }
    }
    let everybody = Scope { table: None, player: None };
    for token in [format!("{TABLE}:0"), format!("{TABLE}:{}", u64::MAX), format!("{OTHER}:2")] {
        folded.index.page(everybody, Some(token.parse().unwrap()), 5).unwrap();
    }
    for token in ["", ":", "7", &TABLE.to_string(), &format!("{TABLE}:-1")] {
        assert_eq!(token.parse::<Cursor>(), Err(NoCursor), "{token}");
    }
    let unknown = Scope { table: Some(TableId([9; 16])), player: None };
    let refused = folded.index.page(unknown, None, 5).unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::TableUnknown);
    let nobody = folded.list(None, Some(PlayerId([9; 16])));
    assert_eq!((nobody.hands.len(), counts(&nobody)), (0, pb::HandCounts::default()));
}

/// Who comes and goes with every hand costs one stretch a hand, and a page of it no more than a
/// page.
#[test]
fn a_player_who_comes_and_goes_gets_pages_like_anybody() {
    let mut folded = Folded::table(TABLE);
    for hand_no in 1..=2000 {
        let players: &[PlayerId] = if hand_no % 2 == 0 { &[ANN, BOB] } else { &[ANN] };
        folded.play(TABLE, hand_no..=hand_no, players);
    }
    let scope = Scope { table: None, player: Some(BOB) };
    assert_eq!(walk(&folded.index, scope, 500).len(), 1000);
    let last = Some(format!("{TABLE}:1999").parse().unwrap());
    assert_eq!(folded.index.page(scope, last, 500).unwrap().hands.len(), 1);
}

/// Counts the records of a log that are wanted, without the list.
fn counted(table: &Harness, wanted: impl Fn(&TableRecord) -> bool) -> u64 {
    table.log.iter().map(|(_, record, _)| u64::from(wanted(record))).sum()
}

fn is_burn(record: &TableRecord) -> bool {
    matches!(record, TableRecord::HandAborted(it) if it.cause() == AbortCause::Withheld)
}

/// A log with played hands and burnt ones, in which the player of seat 4 withholds.
pub(crate) fn hostile_table(hands: u64) -> Harness {
    let mut table = Harness::new("dice", |_| {});
    table.steady = true;
    while table.state.table.hand_no < hands {
        let _ = table.run_effect(|effect| matches!(effect, Effect::Commit { .. }));
        let hand_no = table.state.table.hand_no + 1;
        if hand_no.is_multiple_of(3) {
            // Refused while the player is excluded, which changes nothing.
            let _ = table.command(4, offer(hand_no, ClientCommitment([0x5a; 32])));
        }
        assert!(table.run_effect(|effect| effect == Effect::Start));
        table.wait(Duration::from_secs(2));
        table.run_effect(|effect| matches!(effect, Effect::CloseEntropy { .. }));
        table.wait(Duration::from_secs(2));
        if !table.run_effect(|effect| matches!(effect, Effect::Burn { .. })) {
            table.wait(Duration::from_secs(15));
            table.run_while(|table| {
                table.state.table.hand_no == hand_no && table.state.play.is_some()
            });
        }
    }
    table
}

#[test]
fn the_list_is_what_a_played_log_says() {
    let table = hostile_table(12);
    let mut folded = Folded::default();
    for (stream, record, _) in &table.log {
        folded.add(*stream, record.clone());
    }
    let answer = folded.list(Some(TABLE), None);
    let (totals, burnt) = (counts(&answer), counted(&table, is_burn));
    let played =
        counted(&table, |record| matches!(record, TableRecord::HandFinished(it) if !it.aborted));
    let started = counted(&table, |record| matches!(record, TableRecord::HandStarted(_)));
    let opened = counted(&table, |record| matches!(record, TableRecord::HandRevealed(_)));
    assert!(burnt > 0 && played > 0, "{burnt} burnt, {played} played");
    assert_eq!((totals.numbers, totals.burnt), (started, burnt));
    assert_eq!((totals.played, totals.seeds_opened), (played, opened));
    assert_eq!(answer.log_size, table.log.len() as u64);
    let burnt = answer.hands.iter().filter(|row| row.outcome() == pb::HandOutcome::Burnt);
    assert!(burnt.clone().all(|row| row.withheld.len() == 1 && row.withheld[0].seat == 4));
    for row in burnt {
        let (_, record, _) = &table.log[usize::try_from(row.position).unwrap()];
        let finished =
            matches!(record, TableRecord::HandFinished(it) if it.hand_no == row.first_hand_no);
        assert!(finished, "the position is that of the number's end");
    }
}

/// Lists follow the log as it grows, and are the same when it is folded anew: also where a table
/// waits for an operator because it cannot take its records.
#[tokio::test]
async fn a_restart_changes_nothing() {
    let table = hostile_table(6);
    let store = MemStore::new();
    let log = dependencies(&store).await.log;
    let (before, after) = table.log.split_at(table.log.len() / 2);
    write(&log, before).await;
    let list = HandList::new(fold(&log, None).await.unwrap().hands);
    let activity = crate::room::activity(UnixMicros(0));
    let following = tokio::spawn(follow(log.clone(), list.clone(), Arc::clone(&activity)));
    write(&log, after).await;
    while list.log_size() < log.size() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let scope = Scope { table: Some(TABLE), player: None };
    let page = list.page(scope, None, 500).unwrap();
    log.close().await;
    following.await.unwrap();
    // What was written meanwhile is counted, in all three windows.
    let count = |name: &str| after.iter().filter(|(_, record, _)| record.name() == name).count();
    for window in crate::room::activity_view(&activity).windows {
        let counted = |kind: ActivityKind| {
            let found = window.counts.iter().find(|count| count.kind() == kind).unwrap();
            usize::try_from(found.count).unwrap()
        };
        assert_eq!(counted(ActivityKind::Records), after.len());
        assert_eq!(counted(ActivityKind::Decisions), count("MoveDecided"));
        assert_eq!(counted(ActivityKind::HandsStarted), count("HandStarted"));
        let is_burnt = |it: &event::HandFinished| it.aborted;
        let burnt = after.iter().filter(
            |(_, record, _)| matches!(record, TableRecord::HandFinished(it) if is_burnt(it)),
        );
        assert_eq!(counted(ActivityKind::HandsBurnt), burnt.count());
        let ended = counted(ActivityKind::HandsBurnt) + counted(ActivityKind::HandsPlayed);
        assert_eq!(ended, count("HandFinished"));
    }
    let again = HandList::new(fold(&dependencies(&store).await.log, None).await.unwrap().hands);
    assert_eq!(again.page(scope, None, 500).unwrap(), page);
    assert_eq!(page.log_size, table.log.len() as u64);
    assert!(counts(&page).burnt > 0);
}

pub(crate) async fn write(log: &Log, records: &[(StreamId, TableRecord, UnixMicros)]) {
    for (stream, record, _) in records {
        let events = vec![record.on_stream(*stream)];
        let entry = Entry { events, request: None, actor: "test".into(), trace: [0; 16] };
        log.append(entry).await.unwrap();
    }
}
