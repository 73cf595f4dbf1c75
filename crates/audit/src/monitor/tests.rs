//! Each rule of a monitor kept once and broken once.

use std::collections::BTreeMap;

use merkle::note::{KeyName, LogKey, Note};
use merkle::record::{LeafRecord, RecordError, chain_hash};
use merkle::{Checkpoint, TreeHead, empty_root, parse_keys_file};
use primitives::{StreamId, TableId};
use proto::event::v1::EventType;

use super::checkpoint::{Contradiction, LogKeys, LogKeysError, NotSigned, compare};
use super::facts::Fact;
use super::*;

const TABLE: TableId = TableId([0x70; 16]);
const SECOND: u64 = 1_000_000;

fn hand(number: u64) -> StreamId {
    StreamId::from(fairness::hand_id(TABLE, number))
}

fn name(number: u64) -> HandName {
    HandName { table: TABLE, number }
}

fn number(kind: EventType) -> u16 {
    u16::try_from(i32::from(kind)).unwrap()
}

/// Writer of leaf records that follow from each other.
#[derive(Clone, Default)]
struct Writer {
    records: Vec<LeafRecord>,
    heads: BTreeMap<StreamId, (u64, [u8; 32])>,
    now: u64,
}

impl Writer {
    fn write_kind(&mut self, stream: impl Into<StreamId>, kind: u16) -> &mut Writer {
        let stream = stream.into();
        let (version, previous) = self.heads.get(&stream).copied().unwrap_or_default();
        self.now += SECOND;
        let record = LeafRecord {
            position: self.records.len() as u64,
            recorded_at: self.now,
            stream: stream.0,
            version: version + 1,
            kind,
            schema: 1,
            sealed: false,
            payload_len: 9,
            payload_hash: [1; 32],
            author_hash: [2; 32],
            previous,
        };
        self.heads.insert(stream, (record.version, chain_hash(&record.to_bytes())));
        self.records.push(record);
        self
    }

    fn write(&mut self, stream: impl Into<StreamId>, kind: EventType) -> &mut Writer {
        self.write_kind(stream, number(kind))
    }

    fn created() -> Writer {
        let mut log = Writer::default();
        log.write(TABLE, EventType::TableCreated).write(TABLE, EventType::HandCommitted);
        log
    }

    fn opened(&mut self, number: u64) -> &mut Writer {
        self.write(TABLE, EventType::HandStarted).write(hand(number), EventType::HandOpened);
        self.write(TABLE, EventType::HandCommitted)
    }

    fn played(&mut self, number: u64) -> &mut Writer {
        self.opened(number)
            .write(hand(number), EventType::EntropyClosed)
            .write(hand(number), EventType::EntropyRevealed)
            .write(hand(number), EventType::HandSealed)
            .write(hand(number), EventType::MoveDecided)
            .write(hand(number), EventType::HandSettled)
            .write(hand(number), EventType::SettlementPosted)
            .write(TABLE, EventType::HandFinished)
            .write(hand(number), EventType::HandRevealed)
    }

    fn burnt(&mut self, number: u64) -> &mut Writer {
        self.opened(number)
            .write(hand(number), EventType::EntropyClosed)
            .write(hand(number), EventType::HandAborted)
            .write(TABLE, EventType::HandFinished)
    }

    fn dealt(&mut self, number: u64) -> &mut Writer {
        self.write(hand(number), EventType::SeedCommitted)
            .write_kind(hand(number), EventType::CommitmentsClosed as u16)
            .write(hand(number), EventType::SeedSealed)
            .write(hand(number), EventType::OperationPerformed)
            .write(hand(number), EventType::SeedOpened)
    }
}

fn follow(monitor: &mut Monitor, log: FollowedLog, records: &[LeafRecord]) -> Option<Violation> {
    records.iter().find_map(|record| monitor.push(log, &record.to_bytes()).err())
}

/// The only caller of a fresh monitor: its violation, if there is one, is at the last record.
fn found(log: FollowedLog, written: &Writer) -> Option<ViolationKind> {
    let violation = follow(&mut Monitor::new(), log, &written.records)?;
    assert_eq!(violation.position + 1, written.records.len() as u64, "{violation}");
    assert!(violation.earlier().is_none_or(|earlier| earlier < violation.position));
    Some(violation.kind)
}

fn table(written: &Writer) -> Option<ViolationKind> {
    found(FollowedLog::Table, written)
}

fn dealer(written: &Writer) -> Option<ViolationKind> {
    found(FollowedLog::Dealer, written)
}

/// fairness/SPEC.md §18.2.
#[test]
fn an_honest_room_passes_and_its_hands_are_counted() {
    let mut log = Writer::created();
    log.played(1).burnt(2).played(3).opened(4).write(hand(4), EventType::EntropyClosed);
    log.write(hand(2), EventType::EntropyRevealed);
    log.write(StreamId([9; 16]), EventType::PlayerNamed);
    log.write(StreamId::CLOCK, EventType::ClockStepped);
    log.write(StreamId::ROOM, EventType::GameDisabled).write(TABLE, EventType::TableDisabled);
    log.write_kind(StreamId([8; 16]), 999);
    let mut deals = Writer::default();
    deals.dealt(1).dealt(2).write(hand(3), EventType::SeedCommitted);
    deals.write(hand(4), EventType::SeedCommitted).write(hand(5), EventType::SeedCommitted);
    deals.write(StreamId::CHANCE, EventType::OutcomesTested);
    deals.write(StreamId::CHANCE, EventType::BiasFound);
    let mut monitor = Monitor::new();
    assert_eq!(follow(&mut monitor, FollowedLog::Table, &log.records), None);
    assert_eq!(follow(&mut monitor, FollowedLog::Dealer, &deals.records), None);
    monitor.compare().unwrap();
    let expected = Counts {
        tables: 1,
        hands: 4,
        ended: 3,
        aborted: 1,
        owed: 1,
        alarms: 1,
        unknown: 1,
        ..Counts::default()
    };
    assert_eq!(monitor.counts(), expected);
    let leaves: Vec<_> =
        log.records.iter().map(|record| merkle::leaf_hash(&record.to_bytes())).collect();
    assert_eq!(monitor.head(FollowedLog::Table).root, merkle::leaves_root(&leaves));
}

/// fairness/SPEC.md §18.2.
#[test]
fn records_that_do_not_follow_are_found() {
    let broken = |change: fn(&mut LeafRecord)| {
        let mut log = Writer::created();
        log.opened(1);
        change(log.records.last_mut().unwrap());
        table(&log)
    };
    assert_eq!(broken(|it| it.position += 1), Some(ViolationKind::Position { found: 5 }));
    assert_eq!(broken(|it| it.recorded_at = 1), Some(ViolationKind::Time));
    let (stream, earlier) = (StreamId(TABLE.0), Some(2));
    let gap = ViolationKind::Version { stream, due: 4, found: 5, earlier };
    assert_eq!(broken(|it| it.version += 1), Some(gap));
    let again = ViolationKind::Version { stream, due: 4, found: 3, earlier };
    assert_eq!(broken(|it| it.version -= 1), Some(again));
    let cut = ViolationKind::Chain { stream, version: 4, earlier };
    assert_eq!(broken(|it| it.previous = [0; 32]), Some(cut));
    // What stands before is changed, and the chain no longer leads to it.
    let mut log = Writer::created();
    log.records[0].payload_hash = [7; 32];
    let cut = ViolationKind::Chain { stream, version: 2, earlier: Some(0) };
    assert_eq!(table(&log), Some(cut));
    let short = Monitor::new().push(FollowedLog::Table, b"SLE2").unwrap_err();
    assert_eq!(short.kind, ViolationKind::Record(RecordError::Length(4)));
}

/// Whatever is changed in a record that another one of its stream follows, is found.
/// fairness/SPEC.md §18.2.
#[test]
fn no_bit_of_a_record_with_a_successor_can_be_changed() {
    let mut log = Writer::created();
    log.played(1).burnt(2).played(3);
    for (at, record) in log.records.iter().enumerate() {
        if !log.records[at + 1..].iter().any(|later| later.stream == record.stream) {
            continue;
        }
        for bit in 0..8 * merkle::record::RECORD_LEN {
            let mut monitor = Monitor::new();
            let found = log.records.iter().enumerate().find_map(|(place, record)| {
                let mut bytes = record.to_bytes();
                if place == at {
                    bytes[bit / 8] ^= 1 << (bit % 8);
                }
                monitor.push(FollowedLog::Table, &bytes).err()
            });
            assert!(found.is_some_and(|it| it.position >= at as u64), "bit {bit} of record {at}");
        }
    }
}

/// fairness/SPEC.md §18.2.
#[test]
fn a_gap_in_hand_numbers_is_found() {
    let mut log = Writer::created();
    log.played(1).write(TABLE, EventType::HandStarted).write(hand(3), EventType::HandOpened);
    let gap = ViolationKind::Gap { due: name(2), found: name(3) };
    assert_eq!(table(&log), Some(gap));
    let mut log = Writer::created();
    log.played(1).write(TABLE, EventType::HandStarted);
    log.write(StreamId([5; 16]), EventType::HandOpened);
    let nobody = ViolationKind::NoHandOfTable { stream: StreamId([5; 16]) };
    assert_eq!(table(&log), Some(nobody));
    let mut log = Writer::created();
    log.played(1).write(hand(2), EventType::HandOpened);
    assert_eq!(table(&log), Some(ViolationKind::NotStarted { hand: name(2) }));
    let mut log = Writer::created();
    log.write(TABLE, EventType::HandStarted).write(TABLE, EventType::HandStarted);
    assert_eq!(table(&log), Some(ViolationKind::NeverOpened { hand: name(1) }));
    let mut log = Writer::created();
    log.played(1).write(hand(1), EventType::HandOpened);
    assert_eq!(table(&log), Some(ViolationKind::SecondBeginning { stream: hand(1) }));
}

/// fairness/SPEC.md §18.2.
#[test]
fn a_number_is_promised_once_and_before_its_hand() {
    let mut log = Writer::created();
    log.write(TABLE, EventType::HandCommitted);
    assert_eq!(table(&log), Some(ViolationKind::SecondPromise { hand: name(2) }));
    let mut log = Writer::default();
    log.write(TABLE, EventType::TableCreated).write(TABLE, EventType::HandStarted);
    assert_eq!(table(&log), Some(ViolationKind::NotPromised { hand: name(1) }));
}

/// fairness/SPEC.md §18.2.
#[test]
fn no_hand_starts_at_a_disabled_table_and_the_one_in_play_goes_on() {
    let mut log = Writer::created();
    log.opened(1).write(TABLE, EventType::TableDisabled);
    log.write(hand(1), EventType::EntropyClosed).write(hand(1), EventType::MoveDecided);
    log.write(hand(1), EventType::HandSettled).write(TABLE, EventType::HandFinished);
    let mut enabled = log.clone();
    enabled.write(TABLE, EventType::TableEnabled).write(TABLE, EventType::HandStarted);
    assert_eq!(table(&enabled), None);
    log.write(TABLE, EventType::TableDisabled).write(TABLE, EventType::HandStarted);
    assert_eq!(table(&log), Some(ViolationKind::StartedWhileDisabled { hand: name(2) }));
}

/// fairness/SPEC.md §18.2.
#[test]
fn a_hand_ends_once_and_goes_on_no_more() {
    for (end, again) in [
        (EventType::HandSettled, EventType::HandAborted),
        (EventType::HandSettled, EventType::HandSettled),
        (EventType::HandAborted, EventType::HandSettled),
        (EventType::HandAborted, EventType::HandAborted),
    ] {
        let mut log = Writer::created();
        log.opened(1).write(hand(1), end).write(hand(1), again);
        let second = ViolationKind::SecondEnd { hand: name(1), earlier: 5 };
        assert_eq!(table(&log), Some(second), "{end:?} {again:?}");
    }
    for more in [EventType::MoveDecided, EventType::ChanceUsed, EventType::HandSealed] {
        let mut log = Writer::created();
        log.burnt(1).write(hand(1), more);
        let after = ViolationKind::AfterEnd { hand: name(1), earlier: 6 };
        assert_eq!(table(&log), Some(after), "{more:?}");
    }
    let mut log = Writer::created();
    log.opened(1).write(TABLE, EventType::HandStarted);
    assert_eq!(table(&log), Some(ViolationKind::NoEnd { hand: name(1) }));
    let mut log = Writer::created();
    log.burnt(1).write(TABLE, EventType::HandFinished);
    assert_eq!(table(&log), Some(ViolationKind::FinishedTwice { hand: name(1) }));
    let mut log = Writer::created();
    log.opened(1).write(TABLE, EventType::HandFinished);
    assert_eq!(table(&log), Some(ViolationKind::FinishedTwice { hand: name(1) }));
}

/// fairness/SPEC.md §18.2.
#[test]
fn commitments_close_once_and_before_numbers_are_revealed() {
    let mut log = Writer::created();
    log.opened(1).write(hand(1), EventType::EntropyClosed);
    log.write(hand(1), EventType::EntropyClosed);
    let again = ViolationKind::SecondClosing { hand: name(1), earlier: 5 };
    assert_eq!(table(&log), Some(again));
    let mut log = Writer::created();
    log.opened(1).write(hand(1), EventType::EntropyRevealed);
    assert_eq!(table(&log), Some(ViolationKind::RevealBeforeClosing { hand: name(1) }));
    let mut log = Writer::created();
    log.opened(1).write(hand(1), EventType::HandAborted).write(hand(1), EventType::EntropyClosed);
    let after = ViolationKind::AfterEnd { hand: name(1), earlier: 5 };
    assert_eq!(table(&log), Some(after));
}

/// fairness/SPEC.md §18.2.
#[test]
fn the_dealer_does_each_step_of_a_hand_once() {
    let (stream, mut deals) = (hand(1), Writer::default());
    deals.dealt(1).write_kind(stream, EventType::CommitmentsClosed as u16);
    let again = ViolationKind::SecondDealerClosing { stream, earlier: 1 };
    assert_eq!(dealer(&deals), Some(again));
    let mut deals = Writer::default();
    deals.write(stream, EventType::SeedCommitted).write(stream, EventType::SeedSealed);
    deals.write_kind(stream, EventType::CommitmentsClosed as u16);
    let late = ViolationKind::ClosingAfterSeal { stream, earlier: 1 };
    assert_eq!(dealer(&deals), Some(late));
    let mut deals = Writer::default();
    deals.dealt(1).write(stream, EventType::SeedSealed);
    assert_eq!(dealer(&deals), Some(ViolationKind::SecondSeal { stream, earlier: 2 }));
    let mut deals = Writer::default();
    deals.dealt(1).write(stream, EventType::SeedOpened);
    assert_eq!(dealer(&deals), Some(ViolationKind::SecondSeed { stream, earlier: 4 }));
    let mut deals = Writer::default();
    deals.dealt(1).write(stream, EventType::SeedCommitted);
    assert_eq!(dealer(&deals), Some(ViolationKind::SecondBeginning { stream }));
}

/// fairness/SPEC.md §18.2.
#[test]
fn records_in_a_log_or_stream_of_another_kind_are_found() {
    let other = |kind: EventType| ViolationKind::OtherLog { kind: number(kind) };
    for kind in [EventType::SeedCommitted, EventType::TransferPosted] {
        let mut log = Writer::created();
        assert_eq!(table(log.write(hand(1), kind)), Some(other(kind)));
    }
    for kind in [EventType::HandOpened, EventType::HandSettled, EventType::AccountOpened] {
        let mut deals = Writer::default();
        assert_eq!(dealer(deals.write(hand(1), kind)), Some(other(kind)));
    }
    let foreign = |kind: EventType, stream: StreamId| {
        Some(ViolationKind::OtherStream { kind: number(kind), stream })
    };
    for (kind, stream) in [
        (EventType::SeatTaken, hand(1)),
        (EventType::MoveDecided, StreamId(TABLE.0)),
        (EventType::PlayerNamed, StreamId(TABLE.0)),
        (EventType::DisputeOpened, hand(1)),
        (EventType::ClockStepped, StreamId([3; 16])),
        (EventType::TableCreated, StreamId::CLOCK),
        (EventType::TableCreated, StreamId::CHANCE),
        (EventType::TableCreated, StreamId::ROOM),
        (EventType::GameDisabled, StreamId(TABLE.0)),
        (EventType::TableDisabled, StreamId::ROOM),
        (EventType::TableEnabled, hand(1)),
    ] {
        let mut log = Writer::created();
        assert_eq!(table(log.write(stream, kind)), foreign(kind, stream), "{kind:?}");
    }
    let mut deals = Writer::default();
    let alarm = deals.write(hand(1), EventType::EntropyFailed);
    assert_eq!(dealer(alarm), foreign(EventType::EntropyFailed, hand(1)));
    let mut deals = Writer::default();
    let undealt = deals.write(hand(1), EventType::OperationPerformed);
    assert_eq!(dealer(undealt), foreign(EventType::OperationPerformed, hand(1)));
}

/// fairness/SPEC.md §18.2.
#[test]
fn a_hand_that_the_dealer_never_promised_is_found_within_an_hour() {
    let mut log = Writer::created();
    log.burnt(1).burnt(2);
    let mut deals = Writer::default();
    deals.write(hand(1), EventType::SeedCommitted);
    let mut monitor = Monitor::new();
    assert_eq!(follow(&mut monitor, FollowedLog::Table, &log.records), None);
    assert_eq!(follow(&mut monitor, FollowedLog::Dealer, &deals.records), None);
    monitor.compare().unwrap();
    deals.now += 3_700 * SECOND;
    deals.write(hand(9), EventType::SeedCommitted);
    assert_eq!(follow(&mut monitor, FollowedLog::Dealer, &deals.records[1..]), None);
    let violation = monitor.compare().unwrap_err();
    assert_eq!(violation.kind, ViolationKind::NeverPromised { hand: name(2) });
    let counts = monitor.counts();
    assert_eq!((counts.owed, counts.overdue, counts.unclaimed), (2, 0, 0));
    assert_eq!(counts.unpromised, 1);
    deals.now += 25 * 3_600 * SECOND;
    deals.write(hand(3), EventType::SeedCommitted);
    assert_eq!(follow(&mut monitor, FollowedLog::Dealer, &deals.records[2..]), None);
    let counts = monitor.counts();
    assert_eq!((counts.owed, counts.overdue, counts.unclaimed), (2, 2, 1));
}

/// Every type of the log has a meaning for a monitor, the one that is not used has none.
#[test]
fn every_type_is_known() {
    for kind in (1..=400).filter(|kind| EventType::try_from(*kind).is_ok()) {
        assert!(Fact::of(u16::try_from(kind).unwrap()).is_some(), "{kind}");
    }
    assert_eq!(Fact::of(0), None);
}

fn log_key(name: &str, secret: u8) -> LogKey {
    LogKey::new(KeyName::try_new(name).unwrap(), &[secret; 32])
}

fn signed(key: &LogKey, head: TreeHead) -> String {
    let text = Checkpoint::try_new(key.public().name().as_str(), head, Vec::new()).unwrap();
    Note::new(text.to_string(), key.sign(&text.to_string())).unwrap().to_string()
}

/// fairness/SPEC.md §18.3.
#[test]
fn two_checkpoints_of_one_log_contradict_each_other_or_not() {
    let head = |size, root| TreeHead { size, root: [root; 32] };
    assert_eq!(compare(head(5, 1), head(5, 1)), Ok(()));
    assert_eq!(compare(head(5, 1), head(6, 2)), Ok(()));
    assert_eq!(compare(head(5, 1), head(5, 2)), Err(Contradiction::Fork { size: 5 }));
    let shrunk = Contradiction::Shrunk { seen: 5, shown: 4 };
    assert_eq!(compare(head(5, 1), head(4, 1)), Err(shrunk));
}

/// fairness/SPEC.md §17, §18.3.
#[test]
fn a_checkpoint_counts_with_a_key_of_its_own_log_before_that_keys_end() {
    let (old, new, dealer) =
        (log_key("room/table", 1), log_key("room/table", 2), log_key("room/dealer", 3));
    let text = format!("{} until 10\n{}\n{}\n", old.public(), new.public(), dealer.public());
    let all = parse_keys_file(&text).unwrap();
    let keys = LogKeys::select(&all, "table").unwrap();
    let head = |size| TreeHead { size, root: if size == 0 { empty_root() } else { [7; 32] } };
    for (key, size) in [(&old, 0), (&old, 10), (&new, 11)] {
        let opened = keys.open(signed(key, head(size)).as_bytes()).unwrap();
        assert_eq!(opened.head, head(size));
    }
    let refused = |key, size| keys.open(signed(key, head(size)).as_bytes()).unwrap_err();
    assert_eq!(refused(&old, 11), NotSigned::Ended { size: 11 });
    assert!(matches!(refused(&dealer, 5), NotSigned::Checkpoint(_)));
    assert!(matches!(refused(&log_key("room/table", 9), 5), NotSigned::Checkpoint(_)));
    assert_eq!(keys.open(b"\xff"), Err(NotSigned::Text));
    assert!(matches!(keys.open(b"<html>"), Err(NotSigned::Checkpoint(_))));
    assert_eq!(LogKeys::select(&all, "wallet"), Err(LogKeysError::Missing("wallet")));
    let text = format!("{text}{}", log_key("other/table", 4).public());
    let several = LogKeys::select(&parse_keys_file(&text).unwrap(), "table");
    assert!(matches!(several, Err(LogKeysError::Several { .. })));
}
