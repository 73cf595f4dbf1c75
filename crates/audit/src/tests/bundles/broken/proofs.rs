//! Keys, checkpoints and trees that do not match, and records that are not in them.

use crate::bundle::{Bundle, ProvedLog};
use crate::hand::Check;
use crate::tests::fixture::AnyRecord::Table;
use crate::tests::fixture::{self, AnyRecord, LogName, TableFixture, log_key, signed_log};
use eventlog_core::{Event, Position};
use merkle::note::{KeyName, LogKey, Note};
use merkle::{Leaves, Signer, TreeHead};
use primitives::UnixMicros;
use proto::event::v1 as pb;
use wire::{Record as _, TableRecord};

use super::{Golden, golden, index_of, rich};

pub(super) fn all() -> Vec<Golden> {
    let honest = rich();
    let keys = |name, bundle| golden(name, bundle, &[Check::Keys]);
    let inclusion = |name, bundle| golden(name, bundle, &[Check::Inclusion]);
    vec![
        keys("keys-untrusted-key", untrusted(&honest)),
        keys("keys-one-key-for-two-logs", one_key(&honest)),
        inclusion("inclusion-forged-checkpoint", forged(&honest)),
        inclusion("inclusion-forked-log", forked(&honest)),
        inclusion("inclusion-older-checkpoint", older(&honest)),
        inclusion("inclusion-changed-record", {
            let mut bundle = honest.bundle(1);
            let record = bundle.wallet.records.last_mut().unwrap();
            record.recorded_at = UnixMicros(record.recorded_at.0 + 1);
            bundle
        }),
        inclusion("inclusion-changed-author", {
            let mut bundle = honest.bundle(1);
            bundle.wallet.records.last_mut().unwrap().author_hash[0] ^= 1;
            bundle
        }),
        inclusion("inclusion-endless-checkpoint-size", {
            let mut bundle = honest.bundle(1);
            let digits = "9".repeat(5_000);
            let mut lines: Vec<&str> = bundle.table.checkpoint.split('\n').collect();
            lines[1] = &digits;
            let checkpoint = lines.join("\n");
            bundle.table.checkpoint = checkpoint;
            bundle
        }),
        inclusion("inclusion-inserted-record", of_another(&with_bystander(&honest), &honest)),
        inclusion("inclusion-deleted-record", of_another(&honest, &with_bystander(&honest))),
        inclusion("inclusion-reordered-records", of_another(&reordered(&honest), &honest)),
        inclusion("inclusion-changed-proof", {
            let mut bundle = followed(&honest).bundle(1);
            bundle.table.proof.last_mut().unwrap()[0] ^= 1;
            bundle
        }),
        inclusion("inclusion-hash-too-many", {
            let mut bundle = followed(&honest).bundle(1);
            bundle.table.proof.push([7; 32]);
            bundle
        }),
        missing_event(&honest),
        not_chained(&honest),
    ]
}

/// The room after another hand.
fn followed(room: &TableFixture) -> TableFixture {
    let mut room = room.clone();
    assert!(room.play());
    room
}

/// A wallet whose key is not trusted, honest with that key.
fn untrusted(room: &TableFixture) -> Bundle {
    let mut bundle = room.bundle(1);
    let (_, head, _) = signed_log(&room.script, LogName::Wallet);
    let stranger = LogKey::new(KeyName::try_new("stranger.example/wallet").unwrap(), &[77; 32]);
    bundle.wallet.key = stranger.public().to_string();
    bundle.wallet.checkpoint = Signer::new(stranger).sign(None, head, &[]).unwrap().to_string();
    bundle
}

/// The wallet's log with the key of the table's log.
fn one_key(room: &TableFixture) -> Bundle {
    let mut bundle = room.bundle(1);
    let (_, head, _) = signed_log(&room.script, LogName::Wallet);
    let table = Signer::new(log_key(LogName::Table));
    bundle.wallet.key = table.public().to_string();
    bundle.wallet.checkpoint = table.sign(None, head, &[]).unwrap().to_string();
    bundle
}

/// Another key's signature under the table's name.
fn forged(room: &TableFixture) -> Bundle {
    let mut bundle = room.bundle(1);
    let table = log_key(LogName::Table);
    let forger = LogKey::new(table.public().name().clone(), &[77; 32]);
    let note = Note::parse(bundle.table.checkpoint.as_bytes()).unwrap();
    let mut signature = forger.sign(note.text());
    signature.id = table.public().id();
    bundle.table.checkpoint = Note::new(note.text().to_owned(), signature).unwrap().to_string();
    bundle
}

/// The checkpoint is of a log that differs in its end.
fn forked(room: &TableFixture) -> Bundle {
    let mut fork = room.clone();
    let last = fork.script.entries.iter_mut().rfind(|entry| entry.log == LogName::Table).unwrap();
    last.at = UnixMicros(last.at.0 + 1);
    let mut bundle = room.bundle(1);
    (_, _, bundle.table.checkpoint) = signed_log(&fork.script, LogName::Table);
    bundle
}

/// The checkpoint is older than the hand's last records.
fn older(room: &TableFixture) -> Bundle {
    let mut older = room.clone();
    let last = older.script.entries.iter().rposition(|entry| entry.log == LogName::Table).unwrap();
    older.script.entries.remove(last);
    let mut bundle = room.bundle(1);
    (_, _, bundle.table.checkpoint) = signed_log(&older.script, LogName::Table);
    bundle
}

/// Records of one room with proofs of another.
fn of_another(records: &TableFixture, proofs: &TableFixture) -> Bundle {
    let (shown, mut bundle) = (records.bundle(1), proofs.bundle(1));
    bundle.table.records = shown.table.records;
    bundle.dealer.records = shown.dealer.records;
    bundle.wallet.records = shown.wallet.records;
    bundle
}

/// A player who is not dealt in commits to entropy, which has no effect.
fn with_bystander(room: &TableFixture) -> TableFixture {
    let mut room = room.clone();
    let entries = &mut room.script.entries;
    let first =
        index_of(entries, |recorded| matches!(recorded, Table(TableRecord::EntropyCommitted(_))));
    let mut entry = entries[first].clone();
    if let Table(TableRecord::EntropyCommitted(given)) = &mut entry.recorded {
        given.seat = 8;
        given.player_id = vec![8; 16].into();
    }
    entries.insert(first, entry);
    room
}

/// Two seats' commitments change places.
fn reordered(room: &TableFixture) -> TableFixture {
    let mut room = room.clone();
    let entries = &mut room.script.entries;
    let first =
        index_of(entries, |recorded| matches!(recorded, Table(TableRecord::EntropyCommitted(_))));
    let (one, two) = (entries[first].recorded.clone(), entries[first + 1].recorded.clone());
    (entries[first].recorded, entries[first + 1].recorded) = (two, one);
    room
}

/// A record of the log is withheld.
fn missing_event(room: &TableFixture) -> Golden {
    let room = resumed(room);
    let mut records = room.records(1);
    let kept_back = TableRecord::from(pb::ClockResumed::default()).kind();
    records.hand.retain(|event| event.kind != kept_back);
    golden("streams-missing-event", fixture::bundle(&room.script, records), &[Check::Streams])
}

/// A clock is resumed during a decision, with no more time than it had.
pub(super) fn resumed(room: &TableFixture) -> TableFixture {
    let mut room = room.clone();
    let entries = &mut room.script.entries;
    let decides =
        |it: &AnyRecord| matches!(it, Table(TableRecord::MoveDecided(it)) if !it.by_clock);
    let index = index_of(entries, decides);
    let Table(TableRecord::MoveDecided(decided)) = &entries[index].recorded else { unreachable!() };
    let turn = decided.turn;
    let mut entry = entries[index - 1].clone();
    let seconds = u64::from(fixture::ACTION_SECONDS + fixture::BANK_SECONDS);
    let deadline_micros = entry.at.0 + seconds * 1_000_000;
    entry.log = LogName::Table;
    entry.stream = entries[index].stream;
    entry.recorded = Table(pb::ClockResumed { turn, deadline_micros }.into());
    entries.insert(index, entry);
    room
}

/// A record of the log does not have the hash of the one before it in its stream.
fn not_chained(room: &TableFixture) -> Golden {
    let mut bundle = room.bundle(1);
    let hand = bundle.hand_id;
    let records = &mut bundle.table.records;
    let broken = records.iter().rposition(|event| event.stream == hand.into()).unwrap();
    records[broken].previous[0] ^= 1;
    // The tree is built over the log as it is.
    let mut events: Vec<Event> = room.script.events(LogName::Table);
    let Position(place) = records[broken].position;
    events[usize::try_from(place).unwrap()].previous[0] ^= 1;
    let nodes: Leaves = events.iter().map(|event| merkle::leaf_hash(&event.record())).collect();
    let root = merkle::root_at(&nodes, nodes.size()).unwrap();
    let head = TreeHead { size: nodes.size(), root };
    let signer = Signer::new(log_key(LogName::Table));
    let note = signer.sign(None, head, &[]).unwrap().to_string();
    let key = signer.public().to_string();
    bundle.table = ProvedLog::prove(key, note, records.clone(), &nodes, head.size).unwrap();
    golden("streams-not-chained", bundle, &[Check::Streams])
}
