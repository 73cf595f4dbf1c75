//! Bytes as signed notes, checkpoints and files of keys.

use merkle::note::{KeyName, LogKey, Note, WitnessKey};
use merkle::{Checkpoint, ListedKey, TreeHead, parse_keys_file};

use crate::bytes::Bytes;
use crate::mutate::{Pieces, mutate};

const PIECES: Pieces = &[
    "",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\u{2014} ",
    "\n\n",
    "+",
    "=",
    "#",
    "0",
    "7",
    "07",
    " until ",
    " until 7",
    "9223372036854775807",
    "18446744073709551616",
    "\u{feff}",
    "\u{7f}",
    "\u{2028}",
    "\u{85}",
    "\u{0}",
    "a.example/table",
    "AAAA",
];

fn log_key() -> LogKey {
    LogKey::new(KeyName::try_new("a.example/table").expect("a name"), &[3; 32])
}

fn witness_key() -> WitnessKey {
    WitnessKey::new(KeyName::try_new("b.example").expect("a name"), &[4; 32])
}

/// Makes a signed checkpoint, changes it, and signs it anew or not. Returns whether it is a
/// checkpoint under the key.
///
/// # Panics
/// As [`note_file`], or what nobody signed is believed.
#[must_use]
pub fn checkpoints(bytes: &[u8]) -> bool {
    let mut bytes = Bytes::new(bytes);
    let head = TreeHead { size: 1 + bytes.below(1 << 40), root: [bytes.byte(); 32] };
    let key = log_key();
    let checkpoint = Checkpoint::try_new(key.public().name().as_str(), head, Vec::new());
    let mut text = checkpoint.expect("a checkpoint").to_string().into_bytes();
    let is_signed_late = bytes.below(2) == 0;
    if is_signed_late {
        mutate(&mut bytes, &mut text, PIECES);
    }
    let Ok(text) = String::from_utf8(text) else { return false };
    let mut note = format!("{text}\n{}\n", key.sign(&text)).into_bytes();
    if !is_signed_late {
        mutate(&mut bytes, &mut note, PIECES);
    }
    if !note_file(&note) {
        return false;
    }
    let Ok(opened) = Checkpoint::open(&note, key.public(), &[witness_key().public().clone()])
    else {
        return false;
    };
    let read = opened.checkpoint.to_string();
    assert!(is_signed_late || read == text, "nothing else is signed");
    true
}

/// Reads a file as a note, and its text as a checkpoint. Returns whether it is a note.
///
/// # Panics
/// Reading panics, or what is read is written in another way.
#[must_use]
pub fn note_file(file: &[u8]) -> bool {
    let Ok(read) = Note::parse(file) else { return false };
    assert_eq!(read.to_string().as_bytes(), file, "a note has one spelling");
    if let Ok(checkpoint) = Checkpoint::parse(read.text()) {
        assert_eq!(checkpoint.to_string(), read.text(), "a checkpoint has one spelling");
    }
    true
}

/// Makes a file of keys and changes it. Returns whether it is one.
///
/// # Panics
/// As [`keys_file`].
#[must_use]
pub fn keys(bytes: &[u8]) -> bool {
    let mut bytes = Bytes::new(bytes);
    let (log, witness) = (log_key(), witness_key());
    let file = format!("# ours\n{}\n\n{} until 70\r\n", log.public(), witness.public());
    let mut file = file.into_bytes();
    mutate(&mut bytes, &mut file, PIECES);
    keys_file(&file)
}

/// Reads a file of keys. Returns whether it is one.
///
/// # Panics
/// Reading panics, or the keys that are read cannot be written and read again alike.
#[must_use]
pub fn keys_file(file: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(file) else { return false };
    let Ok(listed) = parse_keys_file(text) else { return false };
    let line = |ListedKey { key, until }: &ListedKey| match until {
        None => format!("{key}\n"),
        Some(until) => format!("{key} until {until}\n"),
    };
    let again: String = listed.iter().map(line).collect();
    assert_eq!(parse_keys_file(&again), Ok(listed), "nothing is lost");
    true
}
