//! Requests of a log to a witness, and the witness's answers.

use merkle::note::{KeyName, LogKey, Note, VerifierKey};
use merkle::witness::{self, AddCheckpoint, Unwitnessed};
use merkle::{Signer, TreeHead, prove_consistency};

use crate::sample::{LOG, SEEN, head, log_key, witness_key};

fn signed(head: TreeHead) -> Note {
    Signer::new(log_key()).sign(None, head, &[]).unwrap()
}

fn request(old: u64, new: u64) -> AddCheckpoint {
    let proof = prove_consistency(&LOG.leaves, old, new).unwrap();
    AddCheckpoint::try_new(old, proof, signed(head(new))).unwrap()
}

fn check(asked: &AddCheckpoint, known: Option<u64>, expected: &Result<u64, Unwitnessed>) {
    // Every request survives being encoded and parsed.
    assert_eq!(AddCheckpoint::parse(asked.to_string().as_bytes()).as_ref(), Ok(asked));
    let key = log_key();
    let verdict = asked.check(Some(key.public()), known.map(head));
    assert_eq!(&verdict.map(|checkpoint| checkpoint.head().size), expected);
}

#[test]
fn what_grows_is_cosigned() {
    check(&request(0, 0), None, &Ok(0));
    check(&request(0, 300), None, &Ok(300));
    check(&request(0, 300), Some(0), &Ok(300));
    check(&request(300, 70_000), Some(300), &Ok(70_000));
    check(&request(300, 300), Some(300), &Ok(300));
}

#[test]
fn what_does_not_follow_is_refused_by_name() {
    check(&request(0, 300), Some(5), &Err(Unwitnessed::Stale { known: 5 }));
    check(&request(5, 300), None, &Err(Unwitnessed::Stale { known: 0 }));
    // A log that was put back to an older state.
    check(&request(5, 6), Some(300), &Err(Unwitnessed::Stale { known: 300 }));
    let shrunk = AddCheckpoint::try_new(7, Vec::new(), signed(head(5))).unwrap();
    check(&shrunk, Some(7), &Err(Unwitnessed::Shrunk));
    let fork = TreeHead { size: 300, root: [9; 32] };
    let forked = AddCheckpoint::try_new(300, Vec::new(), signed(fork)).unwrap();
    check(&forked, Some(300), &Err(Unwitnessed::Forked { size: 300 }));
    let proof = prove_consistency(&LOG.leaves, 200, 300).unwrap();
    let rewritten = AddCheckpoint::try_new(200, proof.clone(), signed(fork)).unwrap();
    check(&rewritten, Some(200), &Err(Unwitnessed::Inconsistent));
    let wrong = AddCheckpoint::try_new(201, proof, signed(head(300))).unwrap();
    check(&wrong, Some(201), &Err(Unwitnessed::Inconsistent));
}

#[test]
fn strangers_and_forgers_are_distinguished() {
    let asked = request(0, 300);
    assert_eq!(asked.check(None, None), Err(Unwitnessed::Unknown));
    assert_eq!(asked.origin(), log_key().public().name().as_str());
    let name = log_key().public().name().clone();
    let other: VerifierKey = LogKey::new(name, &[3; 32]).public().clone();
    assert!(matches!(asked.check(Some(&other), None), Err(Unwitnessed::Unsigned(_))));
    // The log's own signature under another text.
    let elsewhere = LogKey::new(KeyName::try_new("elsewhere").unwrap(), &[1; 32]);
    let note = Signer::new(elsewhere).sign(None, head(300), &[]).unwrap();
    let asked = AddCheckpoint::try_new(0, Vec::new(), note).unwrap();
    assert!(matches!(asked.check(Some(log_key().public()), None), Err(Unwitnessed::Unsigned(_))));
    let text = "sabacc.example/table/0\nno size\n".to_owned();
    let note = Note::new(text.clone(), log_key().sign(&text)).unwrap();
    let asked = AddCheckpoint::try_new(0, Vec::new(), note).unwrap();
    assert!(matches!(asked.check(Some(log_key().public()), None), Err(Unwitnessed::Malformed(_))));
}

#[test]
fn only_one_spelling_is_read() {
    let good = request(5, 300).to_string();
    for bad in [
        String::new(),
        good.replacen("old 5", "old 05", 1),
        good.replacen("old 5", "old -5", 1),
        good.replacen("old 5\n", "old 5 \n", 1),
        good.replacen("old 5\n", "old 5\nAAAA\n", 1),
        good.replacen("\n\n", "\n", 1),
        format!("old 5\n{}\n{}", format!("{}=\n", "A".repeat(43)).repeat(64), signed(head(9))),
    ] {
        assert!(AddCheckpoint::parse(bad.as_bytes()).is_err(), "{bad}");
    }
}

#[test]
fn the_answer_goes_under_the_note() {
    let asked = request(0, 300);
    let checkpoint = asked.check(Some(log_key().public()), None).unwrap();
    let answer = format!("{}\n", witness_key().cosign(&checkpoint, SEEN));
    let mut note = asked.note().clone();
    for line in witness::parse_cosignatures(answer.as_bytes()).unwrap() {
        note.push(line).unwrap();
    }
    let keys = [witness_key().public().clone()];
    assert_eq!(note.verify(&keys).unwrap()[0].timestamp, Some(SEEN));
    assert!(
        witness::parse_cosignatures(b"").is_err() && witness::parse_cosignatures(b"\n").is_err()
    );
    assert_eq!(witness::parse_size(b"300\n"), Some(300));
    assert_eq!(witness::parse_size(b"300"), None);
    assert_eq!(witness::parse_size(b"0300\n"), None);
}
