//! Servers that answer nothing, too much, or what is no log: the monitor ends in time, says so, and
//! accuses nobody.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::Duration;

use merkle::{TreeHead, empty_root};
use system::clock::{Clock as _, SystemClock};

use crate::forge::{RoomFixture, honest, sign};

/// Checks that a room cannot be checked, and that this is said in these words.
fn check_unreachable(fixture: &RoomFixture, options: &[&str], words: &str) {
    let (code, said) = fixture.monitor("state", options);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains(words), "{said}");
    assert!(!fixture.path().join("state/evidence").exists(), "{said}");
}

/// fairness/SPEC.md §18.5.
#[test]
fn a_server_that_is_no_room_is_not_accused() {
    let fixture = RoomFixture::new(1);
    fixture.serve(|served| {
        let page = b"<html>\x1b[2J\x07 log in first</html>".to_vec();
        served.replaced.insert("log/table/checkpoint".to_owned(), page);
    });
    check_unreachable(&fixture, &[], "log/table/checkpoint");
    fixture.serve(|served| {
        let page = sign(&fixture.keys[1], TreeHead { size: 0, root: empty_root() }).into_bytes();
        served.replaced.insert("log/table/checkpoint".to_owned(), page);
    });
    check_unreachable(&fixture, &[], "is not signed by its log");
    fixture.serve(|served| served.replaced.clear());
    fixture.serve(|served| served.withheld = vec!["log/dealer/checkpoint".to_owned()]);
    check_unreachable(&fixture, &[], "log/dealer/checkpoint: there is no such file");
}

/// fairness/SPEC.md §18.5.
#[test]
fn control_characters_of_a_server_are_shown_escaped() {
    let fixture = RoomFixture::new(1);
    let name = "forged.example/table";
    fixture.serve(|served| {
        let text = format!("\x1b[2Jother\u{202e}\n1\n{}\n", "A".repeat(43) + "=");
        let note = format!("{text}\n— {name} {}\n", "A".repeat(90) + "==");
        served.replaced.insert("log/table/checkpoint".to_owned(), note.into_bytes());
    });
    let (code, said) = fixture.monitor("state", &[]);
    assert_eq!(code, 2, "{said}");
    assert!(!said.contains('\x1b') && !said.contains('\u{202e}'), "{said:?}");
}

/// fairness/SPEC.md §18.5.
#[test]
fn a_server_that_sends_too_much_or_nothing_ends_in_time() {
    let fixture = RoomFixture::new(1);
    fixture.serve(|served| {
        served.replaced.insert("log/table/checkpoint".to_owned(), vec![b'a'; 100_000]);
    });
    check_unreachable(&fixture, &[], "65536 at most");
    fixture.serve(|served| {
        served.replaced.clear();
        let bundle = "log/table/tile/entries/000.p/10".to_owned();
        served.replaced.insert(bundle, vec![0; 900_000]);
    });
    check_unreachable(&fixture, &[], "900000 bytes");
    fixture.serve(|served| {
        let bundle = "log/table/tile/entries/000.p/10".to_owned();
        served.replaced.insert(bundle, vec![0, 1, 7, 0]);
    });
    check_unreachable(&fixture, &[], "the bundle ends within record 1");
    fixture.serve(|served| {
        served.replaced.clear();
        served.stalled = Some("log/table/".to_owned());
    });
    let start = SystemClock::new().now();
    check_unreachable(&fixture, &["--within", "2"], "could not be read within 2 seconds");
    assert!(SystemClock::new().now().since(start) < Duration::from_secs(20));
}

/// A size is the house's word: nothing is allocated or waited for because of it.
/// fairness/SPEC.md §18.5.
#[test]
fn a_claim_of_very_many_records_costs_one_segment() {
    let fixture = RoomFixture::new(1);
    fixture.serve(|served| {
        let head = TreeHead { size: (1 << 63) - 1, root: [7; 32] };
        served.table.checkpoint = Some(sign(&fixture.keys[0], head).into_bytes());
    });
    let start = SystemClock::new().now();
    check_unreachable(&fixture, &[], "there is no such file");
    assert!(SystemClock::new().now().since(start) < Duration::from_secs(20));
    // It was signed, so the honest log is a contradiction from now on.
    fixture.serve(|served| served.table.checkpoint = None);
    let (said, evidence) = fixture.finds("state", &[]);
    assert!(said.contains("it shows 10 records, and signed 9223372036854775807"), "{said}");
    fixture.assert_both_signed(&evidence, 0);
}

/// A monitor that was killed at any moment goes on from what it had finished.
/// fairness/SPEC.md §18.3.
#[test]
fn what_was_not_finished_is_read_again() {
    let fixture = RoomFixture::new(30);
    assert_eq!(fixture.monitor("state", &[]).0, 0);
    let table = fixture.path().join("state/table");
    let mut leaves = OpenOptions::new().append(true).open(table.join("leaves")).unwrap();
    leaves.write_all(&[0; 1_000]).unwrap();
    std::fs::write(table.join("tree.new"), b"forged").unwrap();
    std::fs::write(table.join("checkpoints/5-00.new"), b"forged").unwrap();
    fixture.serve(|served| (served.table, served.dealer) = honest(40));
    let (code, said) = fixture.monitor("state", &[]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("40 hands opened"), "{said}");
}

/// fairness/SPEC.md §18.5.
#[test]
fn what_cannot_be_used_is_refused_and_named() {
    let fixture = RoomFixture::new(1);
    assert_eq!(fixture.monitor("state", &[]).0, 0);
    let (code, said) = fixture.monitor("state", &["--server", "ftp://room"]);
    assert_eq!(code, 2, "{said}");
    std::fs::write(fixture.path().join("state/table/leaves"), b"short").unwrap();
    let (code, said) = fixture.monitor("state", &[]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("is damaged: it has 5 bytes of 1490"), "{said}");
    let mut leaves = std::fs::read(fixture.path().join("state/dealer/leaves")).unwrap();
    leaves[100] ^= 1;
    let (code, _) = fixture.monitor("other", &[]);
    assert_eq!(code, 0);
    std::fs::write(fixture.path().join("other/dealer/leaves"), leaves).unwrap();
    let (code, said) = fixture.monitor("other", &[]);
    assert_eq!(code, 2, "{said}");
    let keys = fixture.path().join("keys.txt");
    let text = std::fs::read_to_string(&keys).unwrap();
    std::fs::write(&keys, text.lines().next().unwrap()).unwrap();
    let (code, said) = fixture.monitor("third", &[]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("no key is one of a dealer's log"), "{said}");
}
