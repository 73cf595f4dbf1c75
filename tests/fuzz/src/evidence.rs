//! Bytes as evidence files.

use ed25519_dalek::SigningKey;
use fairness::evidence::{self, Entry, MAX_COPY_BYTES, Opening};
use fairness::{Closing, ClosingStatement, Commitment, Context};
use primitives::{TableId, UnixMicros};

use crate::bytes::Bytes;
use crate::mutate::{Pieces, mutate};

const PIECES: Pieces = &[
    "",
    "\n",
    "\r\n",
    " ",
    "=",
    "==",
    "AAAA",
    "signed ",
    "open ",
    "note ",
    "note 1 words\n",
    "0",
    "-1",
    "18446744073709551616",
    "\u{0}",
    "\u{7f}",
    "\u{9f}",
    "\u{feff}",
    "\u{2028}",
];

/// Makes an evidence file and changes it. Returns whether it is evidence.
///
/// # Panics
/// As [`evidence_file`].
#[must_use]
pub fn evidence(bytes: &[u8]) -> bool {
    let mut bytes = Bytes::new(bytes);
    let key = SigningKey::from_bytes(&[5; 32]);
    let context = Context::new("a.example/dealer", TableId([1; 16]), 7, &[2; 32]);
    let (dealer, closing) = (Commitment([3; 32]), Closing([4; 32]));
    let signed = ClosingStatement { context: &context, dealer: &dealer, closing: &closing };
    let signature = fairness::SignedText::sign(&signed, &key);
    let public = key.verifying_key().to_bytes();
    let entries = [
        Entry::signed(&signed, &signature, &public),
        Entry::Open(vec![bytes.byte(); 1 + bytes.index(200)]),
        Entry::note(UnixMicros(bytes.below(1 << 50)), "words"),
        evidence::ended_note(UnixMicros(1), &context),
    ];
    let mut file = evidence::write(&entries).into_bytes();
    mutate(&mut bytes, &mut file, PIECES);
    evidence_file(&file)
}

/// Reads a file as evidence. Returns whether it is.
///
/// # Panics
/// Reading panics, or what is read is written in another way.
#[must_use]
pub fn evidence_file(file: &[u8]) -> bool {
    let Ok(read) = evidence::parse(file, MAX_COPY_BYTES) else { return false };
    assert_eq!(evidence::write(&read).as_bytes(), file, "evidence has one spelling");
    for entry in &read {
        match entry {
            Entry::Signed(signed) => drop(signed.statement()),
            Entry::Open(opened) => {
                if let Ok(opening) = Opening::parse(opened) {
                    assert_eq!(opening.bytes(), *opened, "an opening has one spelling");
                }
            }
            Entry::Note { .. } => {}
        }
    }
    let conflicts = evidence::conflicts(&read).len();
    assert!(conflicts <= read.len() * read.len(), "no more than pairs of lines");
    let copy = evidence::write(&evidence::copy_of_ended(&read));
    assert!(evidence::parse(copy.as_bytes(), usize::MAX).is_ok(), "a copy is evidence");
    true
}
