//! Attacks by a dishonest dealer, table or client with every key that it has. Each test shows what
//! the audit says and whom it names.
//!
//! Two attacks are tested elsewhere: biased or short chance by the statistical tests of `fairness`,
//! and the size of messages that carry cards by the table service's tests.

use std::collections::BTreeMap;

use crate::Verdict;
use crate::hand::{self, Check, HandVerdict, Report, audit};
use crate::log_event::LogEvent;
use crate::table::{TableAudit, TableReport};
use crate::tests::fixture::AnyRecord::{Dealer, Table};
use crate::tests::fixture::{
    AnyRecord, EntropyBehaviour, Entry, HandOptions, LogName, ORIGINS, SECRETS, Suspension,
    SuspensionEnd, TableFixture, log_key, signed_log, trusted,
};
use ed25519_dalek::SigningKey;
use fairness::SignedText as _;
use wire::{DealerRecord, TableRecord};

fn played(ways: HandOptions) -> TableFixture {
    let mut room = TableFixture::seated(40, "dice", 3).with_options(ways);
    assert!(room.play());
    room
}

fn verdict(room: &TableFixture) -> Report {
    audit(&room.bundle(1).records(&trusted()))
}

/// Returns the one check that fails, and its reason.
fn only_failure(report: &Report) -> (Check, String) {
    let failed: Vec<Check> = report.checks.failed().collect();
    let [check] = failed[..] else { panic!("{report:#?}") };
    match report.checks.of(check) {
        Some(Verdict::Failed(why)) => (check, why.clone()),
        other => panic!("{other:?}"),
    }
}

fn index_of(entries: &[Entry], test: impl Fn(&AnyRecord) -> bool) -> usize {
    entries.iter().position(|entry| test(&entry.recorded)).unwrap()
}

fn tables(rooms: &TableFixture) -> TableReport {
    let mut audit_of_table = TableAudit::new(rooms.table);
    for hand_no in 1..=rooms.hand_no {
        let records = rooms.records(hand_no);
        audit_of_table.hand(hand_no, &records, &audit(&records));
    }
    audit_of_table.finish()
}

/// The dealer waits for the clients' entropy before it picks its seed. Its commitment is late, in
/// its own log and in the table's, where the seats' commitments already are.
#[test]
fn a_seed_picked_late_names_the_dealer() {
    let mut room = played(HandOptions::default());
    let entries = &mut room.script.entries;
    let given = index_of(entries, |it| matches!(it, Table(TableRecord::EntropyCommitted(_))));
    let noted = index_of(entries, |it| matches!(it, Table(TableRecord::HandCommitted(_))));
    let mut first = entries.remove(given);
    first.at = entries[noted].at;
    entries.insert(noted, first);
    let (check, why) = only_failure(&verdict(&room));
    assert_eq!(check, Check::Commitment);
    assert!(why.contains("before the dealer's commitment"), "{why}");
}

/// The dealer tries seeds: two commitments for one hand number, each with its signature, are the
/// proof.
/// fairness/SPEC.md §2.2.
#[test]
fn ground_seeds_are_two_signed_promises_and_name_the_dealer() {
    let mut room = played(HandOptions::default());
    let (_, other) = room.signed_commitment(1, [42; 64]);
    let again = Dealer(room.seed_committed(1, other.clone()).into());
    let entries = &mut room.script.entries;
    let first = index_of(entries, |it| matches!(it, Dealer(DealerRecord::SeedCommitted(_))));
    let mut entry = entries[first].clone();
    entry.recorded = again;
    entries.insert(first + 1, entry);
    let (check, why) = only_failure(&verdict(&room));
    assert_eq!(check, Check::Commitment);
    assert_eq!(why, "the dealer committed to a second seed for this hand number");
    // Both are under the dealer's own key, for one table and number.
    let key = SigningKey::from_bytes(&SECRETS[1]).verifying_key().to_bytes();
    let mut promises = Vec::new();
    for event in room.records(1).dealer {
        if let Some(DealerRecord::SeedCommitted(it)) = event.decode() {
            let made = it.commitment.unwrap();
            let commitment = fairness::Commitment(made.commitment[..].try_into().unwrap());
            let signed = fairness::CommitmentStatement {
                origin: ORIGINS[1],
                table: room.table,
                hand_no: it.hand_no,
                rules_hash: it.rules_hash[..].try_into().unwrap(),
                commitment: &commitment,
            };
            signed.verify(&key, &made.signature[..].try_into().unwrap()).unwrap();
            promises.push(commitment);
        }
    }
    assert_eq!(promises.len(), 2);
    assert_ne!(promises[0], promises[1]);
}

/// The dealer falls silent whenever it dislikes the hand. Each seed is opened all the same, and the
/// audit of the table counts such hands and lists the cards that were thrown away.
/// fairness/SPEC.md §12.2.
#[test]
fn disliked_hands_are_counted_against_the_dealer_with_their_outcomes() {
    let mut room = TableFixture::seated(40, "dice", 3);
    for hand in 0..6 {
        let silent = Suspension { after: Some(5), end: SuspensionEnd::Agreed };
        let suspension = (hand % 2 == 0).then_some(silent);
        room.options = HandOptions { suspension, ..HandOptions::default() };
        assert!(room.play());
    }
    let report = tables(&room);
    assert!(report.passed(), "{report:#?}");
    assert_eq!((report.played, report.agreed), (3, 3));
    let outcomes: Vec<_> = report.hands.iter().filter_map(|hand| hand.discarded.clone()).collect();
    assert_eq!(outcomes.len(), 3);
    assert!(outcomes.iter().all(|outcome| outcome.contains("seat 1: ")), "{outcomes:?}");

    // A dealer that does not open the seed of such a hand is found.
    let id = fairness::hand_id(room.table, 3);
    room.script.entries.retain(|entry| {
        let open = matches!(
            entry.recorded,
            Dealer(DealerRecord::SeedOpened(_)) | Table(TableRecord::HandRevealed(_))
        );
        !(open && entry.stream == id.into())
    });
    let report = tables(&room);
    assert_eq!(report.missing, ["the seed of hand 3 was thrown away, and is not open"]);
}

/// The last client to reveal sees the entropy of the others and withholds its own. It has not seen
/// the seed, so it chooses blindly. The hand is burnt and the client is named, each time.
/// fairness/SPEC.md §12.1.
#[test]
fn the_last_revealer_is_named_and_counted() {
    let entropy: BTreeMap<u32, EntropyBehaviour> = [
        (1, EntropyBehaviour::Reveals),
        (2, EntropyBehaviour::Reveals),
        (3, EntropyBehaviour::Withholds),
    ]
    .into();
    let mut room = TableFixture::seated(40, "dice", 3)
        .with_options(HandOptions { entropy, ..HandOptions::default() });
    // The number between them is played without the client, who is excluded from it.
    assert!(room.play() && room.play() && room.play());
    for hand_no in [1, 3] {
        let report = audit(&room.bundle(hand_no).records(&trusted()));
        assert!(report.passed(), "{report:#?}");
        assert_eq!(report.verdict, HandVerdict::BrokenOff);
        assert!(report.notes[0].contains("at fault: seat 3"), "{:?}", report.notes);
    }
    let report = tables(&room);
    let player = room.seats[&3].player.to_string();
    assert_eq!(report.burnt, [(player, 2)].into());
    // The seed was nowhere on record when the client withheld.
    let records = room.records(1);
    let opened = records.dealer.last().unwrap();
    let aborted = hand_event(&records, |it| matches!(it, TableRecord::HandAborted(_)));
    assert!(opened.recorded_at > aborted.recorded_at);
}

fn hand_event(records: &hand::HandRecords, test: impl Fn(&TableRecord) -> bool) -> &LogEvent {
    let fits = |event: &&LogEvent| event.decode().is_some_and(|recorded| test(&recorded));
    records.hand.iter().find(fits).unwrap()
}

/// A client reveals the entropy of an earlier hand again. The commitment is bound to the hand, so
/// it gains nothing, and the audit of the table warns.
#[test]
fn replayed_entropy_is_a_warning_that_names_the_client() {
    let twice = |number| {
        let mut room = TableFixture::seated(number, "swg", 3);
        (room.play() && room.play()).then_some(room)
    };
    let mut room = (0..).find_map(twice).unwrap();
    let mut first = None;
    for entry in &mut room.script.entries {
        if let Table(TableRecord::EntropyRevealed(revealed)) = &mut entry.recorded
            && revealed.seat == 1
        {
            match &first {
                None => first = Some(revealed.entropy.clone()),
                Some(entropy) => revealed.entropy = entropy.clone(),
            }
        }
    }
    let report = tables(&room);
    let player = room.seats[&1].player;
    assert_eq!(report.warnings.len(), 1, "{:?}", report.warnings);
    assert!(report.warnings[0].contains(&player.to_string()), "{:?}", report.warnings);
    // It does not open a commitment that was made for another hand.
    let (check, why) = only_failure(&audit(&room.bundle(2).records(&trusted())));
    assert_eq!(check, Check::Transcript);
    assert!(why.contains("what seat 1 revealed does not open"), "{why}");
}

/// The table records a commitment and acts as if it had not.
#[test]
fn an_overlooked_commitment_names_the_table() {
    let room = played(HandOptions {
        entropy: [(1, EntropyBehaviour::Dropped)].into(),
        ..HandOptions::default()
    });
    let (check, why) = only_failure(&verdict(&room));
    assert_eq!(check, Check::Closing);
    assert_eq!(why, "the closing leaves out what seat 1 committed to");
}

/// The table rolls again until it likes the dice. The dealer has recorded each roll under its
/// index.
#[test]
fn another_roll_is_found_in_the_dealers_log() {
    let mut room = played(HandOptions::default());
    let entries = &mut room.script.entries;
    let last = entries
        .iter()
        .rposition(|entry| matches!(entry.recorded, Dealer(DealerRecord::OperationPerformed(_))))
        .unwrap();
    let mut again = entries[last].clone();
    if let Dealer(DealerRecord::OperationPerformed(done)) = &mut again.recorded {
        done.operation.as_mut().unwrap().index += 1;
        done.result.as_mut().unwrap().index += 1;
    }
    entries.insert(last + 1, again);
    let (check, why) = only_failure(&verdict(&room));
    assert_eq!(check, Check::Operations);
    assert!(why.contains("which the hand did not use"), "{why}");
}

/// A caller makes the dealer reveal a card to them. The dealer records it with the caller's name.
#[test]
fn a_peek_names_who_peeked() {
    let mut room = played(HandOptions::default());
    let entries = &mut room.script.entries;
    let moved = index_of(entries, |it| matches!(it, Dealer(DealerRecord::CardsOpened(_))));
    let mut peek = entries[moved].clone();
    if let Dealer(DealerRecord::CardsOpened(opened)) = &mut peek.recorded {
        opened.caller = "operator/curious".to_owned();
        opened.opening.as_mut().unwrap().audience_seat = 99;
    }
    let decided = index_of(entries, |it| matches!(it, Table(TableRecord::MoveDecided(_))));
    peek.at = entries[decided].at;
    entries.insert(decided + 1, peek);
    let (check, why) = only_failure(&verdict(&room));
    assert_eq!(check, Check::Openings);
    assert!(why.contains("operator/curious had"), "{why}");
    let opened = hand::reveal_report(&room.records(1));
    let [(caller, _, _)] = &opened.uncalled[..] else { panic!("{opened:?}") };
    assert_eq!(caller, "operator/curious");
    assert_eq!(opened.cards.len(), 2);
}

/// An attacker with the database rewrites events and chains them anew, but has no key of the log:
/// the last signed checkpoint is of another tree.
#[test]
fn a_rewritten_log_contradicts_its_own_signature() {
    let honest = played(HandOptions::default());
    let mut rewritten = honest.clone();
    for entry in &mut rewritten.script.entries {
        if let Table(TableRecord::CardsMoved(moved)) = &mut entry.recorded {
            moved.seat = moved.seat % 3 + 1;
        }
    }
    let (_, _, signed_before) = signed_log(&honest.script, LogName::Table);
    let key = log_key(LogName::Table);
    let events = rewritten.script.events(LogName::Table);
    let report = crate::log::audit(&events, std::slice::from_ref(&signed_before), key.public());
    let failed: Vec<_> = report.checks.failed().collect();
    assert_eq!(failed, [crate::log::Check::Trees]);

    let mut bundle = rewritten.bundle(1);
    bundle.table.checkpoint = signed_before;
    let report = audit(&bundle.records(&trusted()));
    assert!(report.checks.failed().any(|check| check == Check::Inclusion));

    // An attacker who has the key and signs both: two notes over one size are proof against the
    // log.
    let (_, one, first) = signed_log(&honest.script, LogName::Table);
    let (_, other, second) = signed_log(&rewritten.script, LogName::Table);
    assert_eq!(one.size, other.size);
    assert_ne!(one.root, other.root);
    for note in [first, second] {
        merkle::Checkpoint::open(note.as_bytes(), key.public(), &[]).unwrap();
    }
}
