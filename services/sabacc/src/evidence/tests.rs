use ed25519_dalek::SigningKey;
use fairness::{
    Chain, Closing, ClosingRow, ClosingStatement, Commitment, Context, DecisionStatement,
    SignedText as _,
};
use merkle::note::{KeyName, VerifierKey};
use primitives::{PlayerId, UnixMicros};

use super::*;

fn dealer() -> SigningKey {
    SigningKey::from_bytes(&[3; 32])
}

fn closing(seat: u8) -> Entry {
    let (context, dealer_commitment) = (Context([1; 32]), Commitment([2; 32]));
    let rows = [ClosingRow { seat, player: PlayerId([1; 16]), commitment: None }];
    let closing = Closing::try_new(&context, &dealer_commitment, &rows).unwrap();
    let text =
        ClosingStatement { context: &context, dealer: &dealer_commitment, closing: &closing };
    Entry::signed(&text, &text.sign(&dealer()), dealer().verifying_key().as_bytes())
}

/// Runs the command over files with these entries.
fn check(files: &[(&str, String)], key_name: Option<&str>, code: u8) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let keys = key_name.map(|name| {
        let name = KeyName::try_new(name).unwrap();
        let key = VerifierKey::log(name, dealer().verifying_key().as_bytes()).unwrap();
        let path = folder.path().join("keys.txt");
        std::fs::write(&path, format!("{key}\n")).unwrap();
        path
    });
    let options = Options { paths: vec![folder.path().to_owned()], keys, copy: None };
    assert_eq!(run(false, &options), code);
    assert_eq!(run(true, &options), code);
}

fn file(entries: &[Entry]) -> String {
    evidence::write(entries)
}

#[test]
fn the_exit_code_says_what_was_found() {
    let note = Entry::note(UnixMicros(1), "sat down");
    let one = file(&[note, closing(1)]);
    check(&[("me/table/5.evidence", one.clone())], None, 0);
    check(&[("me/table/5.evidence", one.clone())], Some("room/dealer"), 0);
    let two = file(&[closing(1), closing(2)]);
    check(&[("5.evidence", two.clone())], None, 1);
    check(&[("4.evidence", "nonsense\n".to_owned()), ("5.evidence", two)], None, 1);
    check(&[("4.evidence", "nonsense\n".to_owned()), ("5.evidence", one.clone())], None, 2);
    check(&[("other.txt", one.clone())], None, 2);
    // The key of another log, or of nobody.
    check(&[("5.evidence", one.clone())], Some("room/table"), 1);
    let mut forged = closing(1);
    if let Entry::Signed(signed) = &mut forged {
        signed.signature[0] ^= 1;
    }
    check(&[("5.evidence", file(&[forged]))], None, 1);
}

/// Two players were sent two closings of one number: neither file contradicts itself.
#[test]
fn files_of_two_players_are_held_against_each_other() {
    let (one, two) = (file(&[closing(1)]), file(&[Entry::note(UnixMicros(1), "a"), closing(2)]));
    let files =
        |second: &str| vec![("ann/5.evidence", one.clone()), ("bob/5.evidence", second.to_owned())];
    check(&files(&one), None, 0);
    check(&files(&two), None, 1);
    check(&files("nonsense\n"), None, 2);
}

#[test]
fn what_contradicts_is_named_by_file_and_line() {
    let (ann, bob) = (Path::new("ann"), Path::new("bob"));
    let files = [
        EvidenceFile { path: ann, entries: vec![closing(1)] },
        EvidenceFile { path: bob, entries: vec![Entry::note(UnixMicros(1), "a"), closing(2)] },
    ];
    assert_eq!(locate(&files, 0), Some((ann, 2)));
    assert_eq!(locate(&files, 2), Some((bob, 3)));
    assert_eq!(locate(&files, 3), None);
    assert_eq!(report_between(&files, None, false).unwrap(), Outcome::Contradiction);
    assert_eq!(report_between(&files[..1], None, false).unwrap(), Outcome::Consistent);
    assert_eq!(report_between(&[], None, false).unwrap(), Outcome::Refused);
}

#[test]
fn a_copy_is_of_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("5.evidence");
    std::fs::write(&path, file(&[closing(1), Entry::Open(b"unknown".to_vec())])).unwrap();
    let copy = Some(folder.path().join("copy"));
    let options = Options { paths: vec![path.clone()], keys: None, copy };
    assert_eq!(run(false, &options), 0);
    let text = std::fs::read(folder.path().join("copy")).unwrap();
    assert_eq!(evidence::parse(&text, MAX_COPY_BYTES).unwrap(), [closing(1)]);
    let options = Options { paths: vec![path.clone(), path], ..options };
    assert_eq!(run(false, &options), 2);
}

/// Whoever wrote the file chose its texts.
#[test]
fn a_text_of_a_file_begins_no_line_of_the_answer() {
    let forged = "p1 fold\nnothing here contradicts itself\r\u{202e}";
    let (context, chain) = (Context([1; 32]), Chain([2; 32]));
    let text = DecisionStatement { context: &context, chain: &chain, said: forged };
    let key = dealer().verifying_key().to_bytes();
    let said = Entry::signed(&text, &text.sign(&dealer()), &key);
    let line = Opening::Decision { before: chain, by_clock: false, line: forged.to_owned() };
    let (origin, rules_hash) = (format!("room/dealer{forged}"), [3; 32]);
    let table = primitives::TableId([4; 16]);
    let context = Opening::Context { origin, table, hand_no: 5, rules_hash };
    let entries = [said, line.entry(), context.entry()];
    let lines: Vec<_> = entries.iter().map(|entry| describe(entry, None, &[]).0).collect();
    let printed = summary(Path::new("5.evidence"), &lines, &[], Outcome::Contradiction);
    assert_eq!(printed.lines().count(), 5, "{printed}");
    assert_eq!(printed.matches("p1 fold\\u{a}nothing here").count(), 3, "{printed}");
    assert!(!printed.contains('\r') && !printed.contains('\u{202e}'), "{printed}");
}
