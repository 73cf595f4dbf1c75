//! Logs that a house signs and that are not as they should be.

use std::fs::File;
use std::time::Duration;

use merkle::record::{LeafRecord, RECORD_LEN};
use merkle::{LogProof, TreeHead, leaf_hash};
use primitives::StreamId;
use proto::event::v1::EventType;

use crate::forge::{COMMITMENTS_CLOSED, Log, RoomFixture, TABLE, hand, honest, sign};

/// fairness/SPEC.md §18.3.
#[test]
fn an_honest_room_passes_while_it_grows() {
    let fixture = RoomFixture::new(3);
    let (code, said) = fixture.monitor("state", &[]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("3 hands opened at 1 tables, 3 ended"), "{said}");
    // Partial bundles become full, and one segment becomes several.
    for hands in [28, 29, 57, 2_000] {
        fixture.serve(|served| (served.table, served.dealer) = honest(hands));
        let (code, said) = fixture.monitor("state", &[]);
        assert_eq!(code, 0, "{said}");
        assert!(said.contains(&format!("{hands} hands opened")), "{said}");
    }
    let leaves = std::fs::metadata(fixture.path().join("state/table/leaves")).unwrap().len();
    assert_eq!(leaves, (1 + 9 * 2_000) * RECORD_LEN as u64);
    // Whoever begins later sees the same.
    let (code, said) = fixture.monitor("other", &[]);
    assert_eq!(code, 0, "{said}");
}

/// A monitor that follows goes on where the room cannot be checked for a while, and ends where it
/// finds something.
/// fairness/SPEC.md §18.3.
#[test]
fn a_monitor_that_follows_ends_with_a_finding() {
    let fixture = RoomFixture::new(3);
    let out = File::create(fixture.path().join("out")).unwrap();
    let mut command = fixture.command("state");
    command.args(["--interval", "1"]).stdout(out.try_clone().unwrap()).stderr(out);
    let mut running = command.spawn().unwrap();
    let mut wait_for = |words: &str| {
        for _ in 0..600 {
            if std::fs::read_to_string(fixture.path().join("out")).unwrap().contains(words) {
                return;
            }
            assert!(running.try_wait().unwrap().is_none(), "it ended before {words}");
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("never said: {words}");
    };
    wait_for("3 hands opened");
    fixture.serve(|served| served.withheld = vec!["log/".to_owned()]);
    wait_for("the room cannot be checked: log/table/checkpoint: there is no such file");
    fixture.serve(|served| {
        served.withheld.clear();
        (served.table, served.dealer) = honest(4);
    });
    wait_for("4 hands opened");
    fixture.serve(|served| served.dealer = served.dealer.forked(3));
    assert_eq!(running.wait().unwrap().code(), Some(1));
    let (said, evidence) = fixture.found("state");
    assert!(said.contains("it signed two trees of 16 records"), "{said}");
    fixture.assert_both_signed(&evidence, 1);
}

/// fairness/SPEC.md §18.3.
#[test]
fn two_trees_of_one_size_are_found() {
    let fixture = RoomFixture::new(3);
    assert_eq!(fixture.monitor("state", &[]).0, 0);
    fixture.serve(|served| served.table = served.table.forked(7));
    let (said, evidence) = fixture.finds("state", &[]);
    assert!(said.contains("it signed two trees of 28 records"), "{said}");
    fixture.assert_both_signed(&evidence, 0);
}

/// fairness/SPEC.md §18.3.
#[test]
fn a_history_that_was_changed_is_found_with_the_record() {
    for (hands, more, at) in [(3, 5, 7), (80, 90, 700), (300, 301, 255), (29, 300, 261)] {
        let fixture = RoomFixture::new(hands);
        assert_eq!(fixture.monitor("state", &[]).0, 0);
        fixture.serve(|served| (served.table, served.dealer) = honest(more));
        fixture.serve(|served| served.table = served.table.forked(at));
        let (said, evidence) = fixture.finds("state", &[]);
        assert!(said.contains("does not begin with the one of"), "{said}");
        assert!(said.contains(&format!("two records at position {at},")), "{said}");
        fixture.assert_both_signed(&evidence, 0);
        let leaf = |name: &str| LeafRecord::parse(&evidence[&format!("{name}-{at}.leaf")]).unwrap();
        assert_eq!(leaf("kept").payload_hash, [1; 32]);
        assert_eq!(leaf("shown").payload_hash, [9; 32]);
        assert_eq!((leaf("kept").stream, leaf("kept").version), {
            (leaf("shown").stream, leaf("shown").version)
        });
    }
}

/// A house that is found gains nothing by showing no more.
/// fairness/SPEC.md §18.3.
#[test]
fn a_fork_is_found_without_the_record_too() {
    let fixture = RoomFixture::new(3);
    assert_eq!(fixture.monitor("state", &[]).0, 0);
    fixture.serve(|served| {
        served.table = honest(5).0.forked(7);
        served.withheld = vec!["log/table/tile/entries/".to_owned()];
    });
    let (said, evidence) = fixture.finds("state", &[]);
    assert!(said.contains("does not begin with the one of 28 records"), "{said}");
    assert!(said.contains("what more it was asked for did not come"), "{said}");
    fixture.assert_both_signed(&evidence, 0);
}

/// fairness/SPEC.md §18.3.
#[test]
fn a_log_that_shrinks_is_found() {
    let fixture = RoomFixture::new(3);
    assert_eq!(fixture.monitor("state", &[]).0, 0);
    fixture.serve(|served| served.dealer = honest(2).1);
    let (said, evidence) = fixture.finds("state", &[]);
    assert!(said.contains("it shows 8 records, and signed 12 before"), "{said}");
    fixture.assert_both_signed(&evidence, 1);
}

/// A signed checkpoint counts from the moment it was seen, also where its records are withheld.
/// fairness/SPEC.md §18.3.
#[test]
fn a_checkpoint_cannot_be_taken_back_by_withholding_its_records() {
    let fixture = RoomFixture::new(3);
    assert_eq!(fixture.monitor("state", &[]).0, 0);
    let honest_log = honest(4).0;
    fixture.serve(|served| {
        served.table = honest_log.forked(7);
        served.withheld = vec!["log/table/tile/".to_owned()];
    });
    let (code, said) = fixture.monitor("state", &[]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("there is no such file"), "{said}");
    fixture.serve(|served| {
        served.table = honest(5).0;
        served.withheld.clear();
    });
    let (said, evidence) = fixture.finds("state", &[]);
    assert!(said.contains("its tree of 46 records does not begin with the one of 37"), "{said}");
    fixture.assert_both_signed(&evidence, 0);
}

/// Checks that a monitor finds this, with the records and their proofs.
fn check_violation(
    table: impl FnOnce(&mut Log),
    dealer: impl FnOnce(&mut Log),
    words: &str,
    of: usize,
) {
    let fixture = RoomFixture::new(2);
    fixture.serve(|served| {
        table(&mut served.table);
        dealer(&mut served.dealer);
    });
    let (said, evidence) = fixture.finds("state", &[]);
    assert!(said.contains(words), "{said}");
    let leaves: Vec<_> = evidence.keys().filter(|name| name.ends_with(".leaf")).collect();
    assert!(!leaves.is_empty(), "{said}");
    for name in leaves {
        let proof = &evidence[&name.replace(".leaf", ".tlog-proof")];
        let proof = LogProof::parse(proof).unwrap();
        proof.verify(&evidence[name], fixture.keys[of].public(), &[]).unwrap();
    }
}

/// fairness/SPEC.md §18.2.
#[test]
fn rules_that_signed_records_break_are_found_with_proofs() {
    let nothing = |_: &mut Log| {};
    let end = |log: &mut Log| {
        log.write(hand(2), EventType::HandAborted);
    };
    check_violation(
        end,
        nothing,
        "hand 2 of table 70707070-7070-7070-7070-707070707070 ends a second",
        0,
    );
    let closing = |log: &mut Log| {
        log.write_kind(hand(2), COMMITMENTS_CLOSED);
    };
    check_violation(nothing, closing, "the dealer closes the commitments of stream", 1);
    let gap = |log: &mut Log| {
        log.write(TABLE, EventType::HandCommitted).write(TABLE, EventType::HandStarted);
        log.write(hand(4), EventType::HandOpened);
    };
    check_violation(gap, nothing, "hand numbers have a gap", 0);
    let chain = |log: &mut Log| {
        let mut record = log.records.pop().unwrap();
        record.previous = [0; 32];
        log.push(record);
    };
    check_violation(chain, nothing, "does not name the record before it there", 0);
    let version = |log: &mut Log| {
        let last = *log.records.last().unwrap();
        log.push(LeafRecord { position: last.position + 1, ..last });
    };
    check_violation(nothing, version, "version 4 of stream", 1);
    let late = |log: &mut Log| {
        log.write(StreamId([5; 16]), EventType::SeedCommitted);
        let mut record = log.records.pop().unwrap();
        record.recorded_at += 3_700_000_000;
        log.push(record);
    };
    let opened = |log: &mut Log| {
        log.write(TABLE, EventType::HandCommitted).write(TABLE, EventType::HandStarted);
        log.write(hand(3), EventType::HandOpened);
    };
    let fixture = RoomFixture::new(2);
    fixture.serve(|served| {
        opened(&mut served.table);
        late(&mut served.dealer);
    });
    let (said, _) = fixture.finds("state", &[]);
    assert!(said.contains("its dealer has never promised it"), "{said}");
}

/// fairness/SPEC.md §18.3.
#[test]
fn leaf_records_that_are_not_in_the_signed_tree_are_found() {
    for at in [0, 255, 300] {
        let fixture = RoomFixture::new(40);
        fixture.serve(|served| {
            let mut other = served.table.records[at];
            other.payload_hash = [9; 32];
            served.table.served.insert(at as u64, other);
        });
        let (code, said) = fixture.monitor("state", &[]);
        assert_eq!(code, 1, "{said}");
        let first = format!("that it signed: the first is at position {at}");
        assert!(said.contains(&first), "{said}");
        let evidence = fixture.kept("state", "served");
        assert_ne!(leaf_hash(&evidence[&format!("served-{at}.leaf")]), [0; 32]);
        assert!(evidence.contains_key("shown.checkpoint"));
        // It was not signed: somebody on the way could have done it, and it passes.
        fixture.serve(|served| served.table.served.clear());
        assert_eq!(fixture.monitor("state", &[]).0, 0);
    }
    let fixture = RoomFixture::new(40);
    fixture.serve(|served| {
        served.replaced.insert("log/table/tile/1/000.p/1".to_owned(), vec![7; 32]);
    });
    let (code, said) = fixture.monitor("state", &[]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("its tiles are not those of the tree that it signed"), "{said}");
}

/// fairness/SPEC.md §18.4.
#[test]
fn a_checkpoint_that_somebody_else_was_shown_is_compared() {
    let fixture = RoomFixture::new(3);
    let theirs = fixture.path().join("theirs");
    let option = ["--against", theirs.to_str().unwrap()];
    let write = |head: TreeHead| std::fs::write(&theirs, sign(&fixture.keys[0], head)).unwrap();
    write(honest(2).0.head());
    assert_eq!(fixture.monitor("state", &option).0, 0);
    write(honest(4).0.head());
    let (code, said) = fixture.monitor("state", &option);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("somebody was shown 37 records of the table's log, and 28"), "{said}");
    write(honest(2).0.forked(5).head());
    let (said, evidence) = fixture.finds("state", &option);
    assert!(said.contains("it signed two trees of 19 records"), "{said}");
    fixture.assert_both_signed(&evidence, 0);
}
