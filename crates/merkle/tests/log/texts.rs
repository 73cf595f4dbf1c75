//! Notes, checkpoints, keys and proofs as text: published examples, texts that are refused, and
//! arbitrary bytes.

use merkle::note::{KeyError, KeyName, LogKey, Note, NoteError, Signature, VerifierKey};
use merkle::{
    Checkpoint, CheckpointError, Hash, LogProof, LogProofError, TileId, TreeHead, bundle,
};
use proptest::prelude::*;

use crate::sample::{LOG, SEEN, head, log_key, note, proof, witness_key};

/// The example of Go's package `sumdb/note`.
const NEUMANN: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const NEUMANN_NOTE: &str = "If you think cryptography is the answer to your problem,\n\
    then you don't know what your problem is.\n\n\
    — PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
/// The example of C2SP `tlog-cosignature`.
const SOFA: &str = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\
    — example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n\
    — witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n";

fn name(name: &str) -> KeyName {
    KeyName::try_new(name).unwrap()
}

#[test]
fn notes_of_others_are_read() {
    let key = VerifierKey::parse(NEUMANN).unwrap();
    assert_eq!(key.to_string(), NEUMANN);
    let parsed = Note::parse(NEUMANN_NOTE.as_bytes()).unwrap();
    assert_eq!(parsed.to_string(), NEUMANN_NOTE);
    let keys = [log_key().public().clone(), key];
    let verified = parsed.verify(&keys).unwrap();
    assert_eq!((verified.len(), verified[0].key, verified[0].timestamp), (1, &keys[1], None));
    let other = NEUMANN_NOTE.replace("your problem is", "my problem is");
    let other = Note::parse(other.as_bytes()).unwrap();
    assert_eq!(other.verify(&keys), Err(NoteError::Forged(name("PeterNeumann"))));
    assert_eq!(parsed.verify(&keys[..1]), Err(NoteError::Unknown));

    let sofa = Note::parse(SOFA.as_bytes()).unwrap();
    assert_eq!(sofa.to_string(), SOFA);
    let checkpoint = Checkpoint::parse(sofa.text()).unwrap();
    assert_eq!(
        (checkpoint.origin(), checkpoint.head().size),
        (sofa.signatures()[0].name.as_str(), 20_852_163)
    );
    assert_eq!(sofa.signatures()[1].bytes[..8], 1_679_315_147_u64.to_be_bytes());
}

#[test]
fn what_is_no_note_is_refused() {
    let note = NEUMANN_NOTE;
    let check = |bytes: &str, expected: NoteError| {
        assert_eq!(Note::parse(bytes.as_bytes()), Err(expected), "{bytes:?}");
    };
    check("", NoteError::Text);
    check("text\n", NoteError::Text);
    check("text\n\n", NoteError::Signatures(0));
    check(&note.replace("\n\n", "\n"), NoteError::Text);
    check(note.trim_end(), NoteError::Signatures(0));
    check(&note.replace('—', "-"), NoteError::Line(1));
    check(&note.replace("— ", "—"), NoteError::Line(1));
    check(&note.replace(" x08", "  x08"), NoteError::Line(1));
    check(&note.replace("PeterN", "Peter+N"), NoteError::Line(1));
    check(&note.replace("AM=", "AN="), NoteError::Line(1));
    check(&note.replace("AM=", "AM"), NoteError::Line(1));
    check(&note.replace("AM=\n", "AM=\nmore\n"), NoteError::Line(2));
    check(&note.replace('\n', "\r\n"), NoteError::Characters);
    check(&note.replace("think", "thi\0nk"), NoteError::Characters);
    check("text\n\n— a AAAAAA==\n", NoteError::Line(1));
    assert_eq!(Note::parse(b"text\xff\n\n"), Err(NoteError::Characters));
    let line = "— a AAAAAAE=\n";
    assert_eq!(
        Note::parse(format!("text\n\n{}", line.repeat(100)).as_bytes()).unwrap().signatures().len(),
        100
    );
    check(&format!("text\n\n{}", line.repeat(101)), NoteError::Signatures(101));
    let long = format!("{}\n\n{line}", "x".repeat(1_000_000));
    check(&long, NoteError::TooLong(long.len()));
}

#[test]
fn a_note_is_made_as_it_is_read() {
    let key = log_key();
    let first = key.sign("text\n");
    assert_eq!(Note::new("text".into(), first.clone()), Err(NoteError::Text));
    assert_eq!(Note::new("te\txt\n".into(), first.clone()), Err(NoteError::Characters));
    let empty = Signature { bytes: vec![], ..first.clone() };
    assert_eq!(Note::new("text\n".into(), empty), Err(NoteError::Line(1)));
    let long = "x".repeat(1_000_000) + "\n";
    assert!(matches!(Note::new(long, first.clone()), Err(NoteError::TooLong(_))));
    let mut note = Note::new("text\n".into(), first.clone()).unwrap();
    note.push(first.clone()).unwrap();
    assert_eq!(note.signatures(), [first]);
    for n in 1..100 {
        let key = LogKey::new(name(&format!("key{n}")), &[n; 32]);
        note.push(key.sign("text\n")).unwrap();
    }
    let more = LogKey::new(name("one-more"), &[0; 32]).sign("text\n");
    assert_eq!(note.push(more), Err(NoteError::Signatures(101)));
    assert_eq!(Note::parse(note.to_string().as_bytes()), Ok(note));
}

#[test]
fn keys_have_one_spelling() {
    for key in [log_key().public().to_string(), witness_key().public().to_string()] {
        assert_eq!(VerifierKey::parse(&key).unwrap().to_string(), key);
    }
    let check = |text: String, expected| assert_eq!(VerifierKey::parse(&text), Err(expected));
    check(NEUMANN.replace("c74f", "C74F"), KeyError::Id);
    check(NEUMANN.replace("c74f20a3", "c74f20a4"), KeyError::Id);
    check(NEUMANN.replace("Peter", "Pater"), KeyError::Id);
    check(NEUMANN.replace("Peter", "Peter "), KeyError::Name);
    check(NEUMANN.replace("+ARpc", "+AhpC"), KeyError::Kind(2));
    check(NEUMANN.replace("10TW", "10T"), KeyError::Format);
    check("a+b".to_owned(), KeyError::Format);
    check(format!("a+00000000+AQ{}", "A".repeat(42)), KeyError::Point);
    for wrong in ["", "a b", "a+b", "a\nb", "a\u{a0}b", "a\0b"] {
        assert_eq!(KeyName::try_new(wrong), Err(KeyError::Name));
    }
}

#[test]
fn what_is_no_checkpoint_is_refused() {
    let root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";
    let check = |text: String, expected| assert_eq!(Checkpoint::parse(&text), Err(expected));
    let whole = format!("log\n7\n{root}\nmore\nand more\n");
    let parsed = Checkpoint::parse(&whole).unwrap();
    assert_eq!((parsed.to_string(), parsed.extensions().len()), (whole.clone(), 2));
    check(String::new(), CheckpointError::Lines);
    check(format!("log\n7\n{root}"), CheckpointError::Lines);
    check("log\n7\n".to_owned(), CheckpointError::Lines);
    check(format!("\n7\n{root}\n"), CheckpointError::Lines);
    check(whole.replace("and more", ""), CheckpointError::Lines);
    for size in ["07", "+7", "-7", "7 ", "", "9223372036854775808"] {
        check(whole.replace("\n7\n", &format!("\n{size}\n")), CheckpointError::Size);
    }
    check(whole.replace("q2I=", "q2J="), CheckpointError::Root);
    check(whole.replace("q2I=", "q2I"), CheckpointError::Root);
    check(whole.replace(root, "AAAA"), CheckpointError::Root);
    check(whole.replace("\n7\n", "\n0\n"), CheckpointError::Empty);
    let head = TreeHead { size: 7, root: [7; 32] };
    assert_eq!(Checkpoint::try_new("a\nb", head, vec![]), Err(CheckpointError::Lines));
    assert_eq!(Checkpoint::try_new("a", head, vec!["\t".into()]), Err(CheckpointError::Lines));
}

#[test]
fn a_checkpoint_is_its_logs_own() {
    let (log, witness) = (log_key(), witness_key());
    let signed = note(300);
    let bytes = signed.to_string().into_bytes();
    let witnesses = [witness.public().clone()];
    let opened = Checkpoint::open(&bytes, log.public(), &witnesses).unwrap();
    assert_eq!(opened.checkpoint.head(), head(300));
    assert_eq!(
        (&opened.cosignatures[0].witness, opened.cosignatures[0].time),
        (witness.public().name(), SEEN)
    );
    assert_eq!(Checkpoint::open(&bytes, log.public(), &[]).unwrap().cosignatures, []);
    let text = signed.text().to_owned();
    let alone = Note::new(text.clone(), witness.cosign(&opened.checkpoint, SEEN)).unwrap();
    let verdict = Checkpoint::open_note(&alone, log.public(), &witnesses);
    assert_eq!(verdict, Err(CheckpointError::Unsigned(log.public().name().clone())));
    // One secret key under another log's name: signed, but not that log's checkpoint.
    let other = LogKey::new(name("sabacc.example/table/1"), &[1; 32]);
    let note = Note::new(text.clone(), other.sign(&text)).unwrap();
    let verdict = Checkpoint::open_note(&note, other.public(), &[]);
    assert!(matches!(verdict, Err(CheckpointError::Origin { .. })), "{verdict:?}");
    // A signature in a log's format is no cosignature, whatever its line says.
    let forged = Signature {
        id: witness.public().id(),
        name: witness.public().name().clone(),
        ..log.sign(&text)
    };
    let mut note = signed;
    note.push(forged).unwrap();
    let verdict = Checkpoint::open_note(&note, log.public(), &witnesses);
    assert!(matches!(verdict, Err(CheckpointError::Note(NoteError::Forged(_)))), "{verdict:?}");
}

#[test]
fn what_is_no_proof_is_refused() {
    let whole = proof(0, 1).with_extra(b"abc".to_vec()).unwrap().to_string();
    let parsed = LogProof::parse(whole.as_bytes()).unwrap();
    assert_eq!((parsed.to_string(), parsed.extra()), (whole.clone(), &b"abc"[..]));
    let check = |text: &str, expected| {
        assert_eq!(LogProof::parse(text.as_bytes()), Err(expected), "{text}")
    };
    check("", LogProofError::Format);
    check(&whole.replace("@v1", "@v2"), LogProofError::Format);
    check(&whole.replace("index 0", "0"), LogProofError::Format);
    check(&whole.replace("index 0", "index 00"), LogProofError::Index);
    check(&whole.replace("index 0\n", ""), LogProofError::Format);
    check(&whole.replace("index 0\n", "index 0\nabc\n"), LogProofError::Path(1));
    check(&whole.replace("extra YWJj", "extra "), LogProofError::Extra);
    check(&whole.replace("extra YWJj", "extra YWJ"), LogProofError::Extra);
    check(
        &whole.replace("index 0\n\n", "index 0\n\n\n"),
        LogProofError::Checkpoint(CheckpointError::Size),
    );
    let cut = whole.split_once("\n\n").unwrap().0.to_owned() + "\n\n";
    check(&cut, LogProofError::Note(NoteError::Text));
    let hash = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
    check(
        &whole.replace("index 0\n", &format!("index 0\n{}", hash.repeat(64))),
        LogProofError::Path(64),
    );
    assert_eq!(proof(0, 1).with_extra(vec![]), Err(LogProofError::Extra));
    assert_eq!(proof(0, 1).with_extra(vec![0; 65_537]), Err(LogProofError::Extra));
    let path: Vec<Hash> = vec![[0; 32]; 64];
    assert_eq!(LogProof::new(0, path, note(1)), Err(LogProofError::Path(64)));
    assert_eq!(LogProof::new(u64::MAX, vec![], note(1)), Err(LogProofError::Index));
    proof(299, 300).verify(&LOG.records[299], log_key().public(), &[]).unwrap();
}

/// Every text that is parsed is written in the same bytes; nothing panics.
fn parse_everything(bytes: &[u8]) {
    if let Ok(note) = Note::parse(bytes) {
        assert_eq!(note.to_string().as_bytes(), bytes);
        let _ = note.verify(&[log_key().public().clone(), witness_key().public().clone()]);
    }
    if let Ok(proof) = LogProof::parse(bytes) {
        assert_eq!(proof.to_string().as_bytes(), bytes);
    }
    if let Ok(records) = bundle::parse(bytes) {
        assert_eq!(bundle::encode(&records).unwrap(), bytes);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(checkpoint) = Checkpoint::parse(text) {
        assert_eq!(checkpoint.to_string(), text);
    }
    if let Ok(key) = VerifierKey::parse(text) {
        assert_eq!(key.to_string(), text);
    }
    if let Ok(tile) = text.parse::<TileId>() {
        assert_eq!(tile.to_string(), text);
    }
}

fn any_text() -> impl Strategy<Value = Vec<u8>> {
    let valid = prop::sample::select(vec![
        note(300).to_string(),
        note(300).text().to_owned(),
        proof(123, 300).to_string(),
        NEUMANN.to_owned(),
        SOFA.to_owned(),
        "tile/0/x001/234.p/7".to_owned(),
    ]);
    let edit = (any::<prop::sample::Index>(), 0..4_usize, prop::collection::vec(any::<u8>(), 0..4));
    (valid, prop::collection::vec(edit, 0..4)).prop_map(|(text, edits)| {
        let mut bytes = text.into_bytes();
        for (at, cut, with) in edits {
            let from = at.index(bytes.len() + 1);
            let to = (from + cut).min(bytes.len());
            bytes.splice(from..to, with);
        }
        bytes
    })
}

proptest! {
    #[test]
    fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        parse_everything(&bytes);
    }

    #[test]
    fn any_edit_can_be_read(bytes in any_text()) {
        parse_everything(&bytes);
    }

    #[test]
    fn any_note_is_read_as_it_was_written(
        lines in prop::collection::vec("[^\\x00-\\x1f\\x7f]{0,20}", 1..6),
        seeds in prop::collection::vec(any::<[u8; 32]>(), 1..5),
    ) {
        let text = lines.join("\n") + "\n";
        let mut signatures = seeds.iter().map(|seed| LogKey::new(name("n"), seed).sign(&text));
        let mut note = Note::new(text.clone(), signatures.next().unwrap()).unwrap();
        signatures.for_each(|signature| note.push(signature).unwrap());
        let again = Note::parse(note.to_string().as_bytes()).unwrap();
        prop_assert_eq!(&again, &note);
        let keys: Vec<VerifierKey> =
            seeds.iter().map(|seed| LogKey::new(name("n"), seed).public().clone()).collect();
        prop_assert!(again.verify(&keys).unwrap().len() >= note.signatures().len());
    }
}
