use ed25519_dalek::SigningKey;
use primitives::{PlayerId, TableId};
use proptest::prelude::*;

use super::*;
use crate::{
    Chain, ClientCommitment, Closing, ClosingRow, ClosingStatement, CommitReceipt, Commitment,
    CommitmentStatement, Context, DecisionReceipt, DecisionStatement, Entropy, RevealReceipt,
    RowStatus, SignedText, Transcript, TranscriptRow,
};

const TABLE: TableId = TableId([5; 16]);
const ME: PlayerId = PlayerId([6; 16]);
const RULES: [u8; 32] = [7; 32];
const DEALER: Commitment = Commitment([2; 32]);
const ENTROPY: Entropy = Entropy([0x41; 32]);

fn context() -> Context {
    Context::new("room/dealer", TABLE, 7, &RULES)
}

fn key(byte: u8) -> SigningKey {
    SigningKey::from_bytes(&[byte; 32])
}

fn signed(text: &impl SignedText, key: &SigningKey) -> Entry {
    Entry::signed(text, &text.sign(key), key.verifying_key().as_bytes())
}

fn commitment(entropy: &Entropy) -> ClientCommitment {
    ClientCommitment::new(&context(), &DEALER, 1, ME, entropy)
}

fn promise(dealer: &Commitment) -> Entry {
    let (table, hand_no, rules_hash) = (TABLE, 7, &RULES);
    let text = CommitmentStatement {
        origin: "room/dealer",
        table,
        hand_no,
        rules_hash,
        commitment: dealer,
    };
    signed(&text, &key(1))
}

fn commit_receipt(entropy: &Entropy, position: u64) -> Entry {
    let (context, commitment) = (context(), commitment(entropy));
    let text = CommitReceipt {
        context: &context,
        dealer: &DEALER,
        seat: 1,
        player: ME,
        commitment: &commitment,
        player_key: Some(&[9; 32]),
        position,
    };
    signed(&text, &key(2))
}

fn reveal_receipt(position: u64) -> Entry {
    let (context, dealer, entropy) = (&context(), &DEALER, &ENTROPY);
    let text = RevealReceipt { context, dealer, seat: 1, player: ME, entropy, position };
    signed(&text, &key(2))
}

fn rows(entropy: Option<&Entropy>) -> Vec<ClosingRow> {
    let other = Some(ClientCommitment([8; 32]));
    vec![
        ClosingRow { seat: 1, player: ME, commitment: entropy.map(commitment) },
        ClosingRow { seat: 3, player: PlayerId([3; 16]), commitment: other },
    ]
}

/// A closing, opened and signed.
fn closing(rows: Vec<ClosingRow>) -> [Entry; 2] {
    let context = context();
    let closing = Closing::try_new(&context, &DEALER, &rows).unwrap();
    let text = ClosingStatement { context: &context, dealer: &DEALER, closing: &closing };
    let opening = Opening::Closing { context, dealer: DEALER, rows };
    assert_eq!(opening.hash(), closing.0);
    [opening.entry(), signed(&text, &key(1))]
}

fn decision() -> Entry {
    let (context, chain) = (context(), Chain([3; 32]));
    signed(&DecisionStatement { context: &context, chain: &chain, said: "p1 bet 20" }, &key(9))
}

fn transcript_rows() -> Vec<TranscriptRow> {
    let commitment = commitment(&ENTROPY);
    let mine = TranscriptRow {
        seat: 1,
        player: ME,
        status: RowStatus::Revealed,
        commitment,
        entropy: ENTROPY,
    };
    let none = TranscriptRow {
        seat: 3,
        player: PlayerId([3; 16]),
        status: RowStatus::Absent,
        commitment: ClientCommitment([0; 32]),
        entropy: Entropy([0; 32]),
    };
    vec![mine, none]
}

fn own_commitment() -> Opening {
    let (seat, player) = (1, ME);
    Opening::ClientCommitment { context: context(), dealer: DEALER, seat, player, entropy: ENTROPY }
}

/// One entry of every kind.
fn whole_file() -> Vec<Entry> {
    let chain = Chain([3; 32]);
    let receipt = DecisionReceipt { context: &context(), chain: &chain, position: 9 };
    let hand = Opening::Context {
        origin: "room/dealer".into(),
        table: TABLE,
        hand_no: 7,
        rules_hash: RULES,
    };
    let before = Chain([1; 32]);
    let decided = Opening::Decision { before, by_clock: true, line: "p1 fold".into() };
    let transcript =
        Opening::Transcript { context: context(), dealer: DEALER, rows: transcript_rows() };
    let [opened, closed] = closing(rows(Some(&ENTROPY)));
    vec![
        Entry::note(UnixMicros(1_700_000_000_000_000), "sat down at \u{1b}[31m\n"),
        hand.entry(),
        promise(&DEALER),
        own_commitment().entry(),
        commit_receipt(&ENTROPY, 5),
        opened,
        closed,
        reveal_receipt(6),
        transcript.entry(),
        decided.entry(),
        decision(),
        signed(&receipt, &key(2)),
    ]
}

/// fairness/SPEC.md §16.
#[test]
fn a_file_is_read_as_it_was_written() {
    let entries = whole_file();
    let text = write(&entries);
    assert!(text.starts_with("sabacc-evidence 1\nnote 1700000000000000 sat down at  [31m \nopen "));
    assert_eq!(parse(text.as_bytes(), MAX_COPY_BYTES).unwrap(), entries);
    assert_eq!(parse(write(&[]).as_bytes(), MAX_COPY_BYTES).unwrap(), []);
}

/// fairness/SPEC.md §16.
#[test]
fn signed_texts_say_what_was_signed() {
    for entry in whole_file() {
        let Entry::Signed(signed) = entry else { continue };
        let statement = signed.statement().unwrap();
        assert_eq!(statement.context(), context());
        for at in 0..signed.message.len() {
            let mut other = signed.clone();
            other.message[at] ^= 1;
            assert!(other.statement().is_err(), "{statement:?} {at}");
        }
        let other = SignedEntry { key: [1; 32], ..signed.clone() };
        assert_eq!(other.statement(), Err(SignedEntryError::OtherKey));
        let other = SignedEntry { signature: [1; 64], ..signed };
        assert_eq!(other.statement(), Err(SignedEntryError::Signature));
    }
}

/// fairness/SPEC.md §16.
#[test]
fn openings_hash_to_what_they_open() {
    let opened: Vec<[u8; 32]> = whole_file()
        .iter()
        .filter_map(|entry| if let Entry::Open(bytes) = entry { Some(bytes) } else { None })
        .map(|bytes| Opening::parse(bytes).unwrap().hash())
        .collect();
    let transcript = Transcript::try_new(&context(), &DEALER, None, &transcript_rows()).unwrap();
    let closing = Closing::try_new(&context(), &DEALER, &rows(Some(&ENTROPY))).unwrap();
    let decided = Chain([1; 32]).with(true, "p1 fold");
    let made = [context().0, commitment(&ENTROPY).0, closing.0, transcript.0, decided.0];
    assert_eq!(opened, made);
}

/// fairness/SPEC.md §16.
#[test]
fn each_bad_line_is_named() {
    let check = |line: &[u8], kind: LineError| {
        let text = [b"sabacc-evidence 1\nnote 1 x\n".as_slice(), line].concat();
        let error = parse(&text, MAX_COPY_BYTES).unwrap_err();
        assert_eq!(error, EvidenceError::Line { line: 3, kind }, "{}", line.escape_ascii());
    };
    check(b"note 1 x", LineError::NoEnd);
    check(b"note 1 x\r\n", LineError::ControlCharacter);
    check(b"note 1 \x1b[2J\n", LineError::ControlCharacter);
    check(b"note 1 \xc2\x85\n", LineError::ControlCharacter);
    check(b"note 1 \xff\n", LineError::NotUtf8);
    for line in ["note 1\n", "note 1 \n", "note  x\n"] {
        check(line.as_bytes(), LineError::NotNote);
    }
    for line in ["\n", "open\n", " open AA==\n", "Open AA==\n", "seal AA==\n", "# x\n"] {
        check(line.as_bytes(), LineError::UnknownKind);
    }
    for line in
        ["open \n", "open AA\n", "open AB==\n", "open  AA==\n", "open AA== \n", "open A-==\n"]
    {
        check(line.as_bytes(), LineError::NotOpen);
    }
    let good = decision().to_string();
    for line in
        [format!("{good} \n"), format!("{good} AA==\n"), good.replacen("== ", " ", 1) + "\n"]
    {
        check(line.as_bytes(), LineError::NotSigned);
    }
    check(b"signed AA== AA== AA==\n", LineError::NotSigned);
    check(&[b'x'; MAX_LINE_BYTES + 1], LineError::TooLong);
}

/// fairness/SPEC.md §16.
#[test]
fn other_files_are_refused_at_their_first_line() {
    let check = |text: &[u8], kind| {
        let error = parse(text, MAX_COPY_BYTES).unwrap_err();
        assert_eq!(error, EvidenceError::Line { line: 1, kind });
    };
    check(b"", LineError::NoEnd);
    check(b"sabacc-evidence 1", LineError::NoEnd);
    check(b"sabacc-evidence 2\n", LineError::NotHeader);
    check(b"\xef\xbb\xbfsabacc-evidence 1\n", LineError::NotHeader);
    let large = vec![b'\n'; MAX_COPY_BYTES + 1];
    let (bytes, max) = (MAX_COPY_BYTES + 1, MAX_COPY_BYTES);
    assert_eq!(parse(&large, max), Err(EvidenceError::TooLarge { bytes, max }));
}

/// fairness/SPEC.md §16.
#[test]
fn a_copy_has_no_entropy_of_a_hand_that_runs() {
    let mut entries = whole_file();
    let needle = |entries: &[Entry]| {
        let raw = entries.iter().any(|entry| match entry {
            Entry::Open(bytes) => bytes.windows(32).any(|part| part == ENTROPY.0),
            Entry::Signed(signed) => signed.message.windows(32).any(|part| part == ENTROPY.0),
            Entry::Note { .. } => false,
        });
        raw || write(entries).contains("said")
    };
    assert!(needle(&entries));
    let copy = copy_of_ended(&entries);
    assert!(!needle(&copy));
    assert_eq!(copy.len(), entries.len() - 4, "own entropy, its receipt, transcript, decision");
    entries.push(ended_note(UnixMicros(1), &Context([1; 32])));
    assert_eq!(copy_of_ended(&entries).len(), entries.len() - 4);
    entries.push(ended_note(UnixMicros(1), &context()));
    entries.push(Entry::Open(b"unknown".to_vec()));
    assert_eq!(copy_of_ended(&entries).len(), entries.len() - 1);
}

/// fairness/SPEC.md §16.
#[test]
fn contradictions_are_found_by_their_signed_texts() {
    let check = |extra: Vec<Entry>, expected: fn(usize, usize) -> Conflict, first: usize| {
        let mut entries = whole_file();
        entries.extend(extra);
        assert_eq!(conflicts(&entries), [expected(first, entries.len() - 1)]);
    };
    let whole = whole_file();
    assert_eq!(conflicts(&[whole.clone(), whole.clone()].concat()), [], "the same twice");
    let place = |wanted: &Entry| whole.iter().position(|entry| entry == wanted).unwrap();

    let second = vec![promise(&Commitment([9; 32]))];
    check(
        second,
        |first, second| Conflict::TwoPromises { first, second },
        place(&promise(&DEALER)),
    );
    let mut third = rows(Some(&ENTROPY));
    third[1].commitment = None;
    let [_, closed] = closing(rows(Some(&ENTROPY)));
    let two_closings = |first, second| Conflict::TwoClosings { first, second };
    check(closing(third).to_vec(), two_closings, place(&closed));
    let receipt = place(&commit_receipt(&ENTROPY, 5));
    let at_six = vec![commit_receipt(&ENTROPY, 7)];
    check(at_six, |first, second| Conflict::TwoCommitReceipts { first, second }, receipt);
    let one = vec![reveal_receipt(5)];
    check(one, |first, second| Conflict::OnePosition { first, second }, receipt);
}

/// fairness/SPEC.md §16.
#[test]
fn a_receipt_contradicts_a_closing_without_its_commitment() {
    let receipt = commit_receipt(&ENTROPY, 5);
    for mine in [None, Some(&Entropy([1; 32]))] {
        let [opened, closed] = closing(rows(mine));
        let entries = [receipt.clone(), opened.clone(), closed.clone()];
        let expected = Conflict::ReceiptNotInClosing { receipt: 0, closing: 2 };
        assert_eq!(conflicts(&entries), [expected]);
        assert_eq!(conflicts(&[receipt.clone(), opened]), [], "nobody signed the rows");
        assert_eq!(conflicts(&[receipt.clone(), closed]), [], "nobody knows the rows");
    }
}

proptest! {
    /// fairness/SPEC.md §16.
    #[test]
    fn any_bytes_are_judged(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(&bytes, MAX_COPY_BYTES);
        let _ = parse(&[b"sabacc-evidence 1\n".as_slice(), &bytes].concat(), MAX_COPY_BYTES);
        let _ = Statement::parse(&bytes);
        let _ = Opening::parse(&bytes);
    }

    /// fairness/SPEC.md §16.
    #[test]
    fn any_line_is_judged(line in "(signed|open|note)( [A-Za-z0-9+/=]{0,90}){0,4}\n") {
        let text = format!("{HEADER}\n{line}");
        if let Ok(entries) = parse(text.as_bytes(), MAX_COPY_BYTES) {
            prop_assert_eq!(write(&entries), text);
            let _ = (conflicts(&entries), copy_of_ended(&entries));
        }
    }

    /// fairness/SPEC.md §16.
    #[test]
    fn a_changed_opening_is_another_or_none(at in 0_usize..400, bit in 0_u8..8) {
        for entry in whole_file() {
            let Entry::Open(bytes) = entry else { continue };
            let mut other = bytes.clone();
            let length = other.len();
            other[at % length] ^= 1 << bit;
            if let Ok(opening) = Opening::parse(&other) {
                prop_assert_eq!(opening.bytes(), other);
                prop_assert_ne!(opening, Opening::parse(&bytes).unwrap());
            }
        }
    }
}

/// An entry that is printed by mistake gives no entropy away.
#[test]
fn an_entry_prints_without_its_bytes() {
    let open = Entry::Open(vec![0xab, 0xcd]);
    let key = SignedEntry { message: vec![0xab, 0xcd], signature: [0xab; 64], key: [0xcd; 32] };
    assert_eq!(format!("{open:?}"), "Open(..)");
    assert_eq!(format!("{:?}", Entry::Signed(key)), "SignedEntry(..)");
    let note = format!("{:?}", Entry::note(UnixMicros(7), "sat down"));
    assert!(note.contains('7') && note.contains("sat down"), "{note}");
}
