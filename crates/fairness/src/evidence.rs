//! Evidence that a player keeps: signed texts, the bytes that hashes in them were taken of, and
//! notes of their own.
//!
//! The file is UTF-8 text; every line ends in LF. The first is [`HEADER`]; each other line is one
//! of
//!
//! ```text
//! signed MESSAGE SIGNATURE KEY
//! open BYTES
//! note TIME WORDS
//! ```
//!
//! MESSAGE, SIGNATURE, KEY and BYTES are base64 with padding. TIME is in microseconds since
//! 1970, decimal. WORDS are the rest of the line: their writer's word, which proves nothing.
//!
//! A file may come from anybody: an error names its line, and nothing in it is believed before
//! [`SignedEntry::statement`] has verified it.
//!
//! Specification: fairness/SPEC.md §16.

mod conflict;
mod copy;
mod opening;
mod statement;

use std::fmt;

use base64ct::{Base64, Encoding as _};
use primitives::UnixMicros;

pub use conflict::{Conflict, conflicts};
pub use copy::{copy_of_ended, ended_note};
pub use opening::{Opening, OpeningError};
pub use statement::{SignedEntryError, Statement, StatementError};

/// First line of an evidence file.
pub const HEADER: &str = "sabacc-evidence 1";

/// Maximum size of a copy that is given to others, in bytes.
pub const MAX_COPY_BYTES: usize = 256 * 1024;

/// Maximum length of a line, in bytes: a transcript of 254 seats fits.
pub const MAX_LINE_BYTES: usize = 32 * 1024;

/// Line of an evidence file.
#[derive(Clone, PartialEq, Eq)]
pub enum Entry {
    Signed(SignedEntry),
    /// Input of a hash; see [`Opening`].
    Open(Vec<u8>),
    /// Its writer's word, which proves nothing.
    Note {
        /// When: Unix microseconds in decimal, as our clients write it, or any other word.
        at: String,
        words: String,
    },
}

/// Signed text as it stands in an evidence file, not verified.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedEntry {
    pub message: Vec<u8>,
    pub signature: [u8; 64],
    /// Ed25519 public key of the signer.
    pub key: [u8; 32],
}

/// Reason why bytes are no evidence file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceError {
    #[error("the evidence has {bytes} bytes, and {max} are the most")]
    TooLarge { bytes: usize, max: usize },
    #[error("line {line} of the evidence: {kind}")]
    Line { line: usize, kind: LineError },
}

/// Reason why a line is none of an evidence file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    #[error("the first line is \"{HEADER}\"")]
    NotHeader,
    #[error("every line ends in LF")]
    NoEnd,
    #[error("a line has at most {MAX_LINE_BYTES} bytes")]
    TooLong,
    #[error("it is not UTF-8")]
    NotUtf8,
    #[error("it has a control character")]
    ControlCharacter,
    #[error("a line begins with \"signed\", \"open\" or \"note\", then one space")]
    UnknownKind,
    #[error("\"signed\" is followed by a message, a signature of 64 bytes and a key of 32")]
    NotSigned,
    #[error("\"open\" is followed by bytes")]
    NotOpen,
    #[error("\"note\" is followed by a time and words")]
    NotNote,
}

/// Parses an evidence file of at most `max_bytes` bytes; a copy for others has
/// [`MAX_COPY_BYTES`] at most.
///
/// # Errors
/// The file is too large, or the first line that is none of an evidence file.
pub fn parse(bytes: &[u8], max_bytes: usize) -> Result<Vec<Entry>, EvidenceError> {
    if bytes.len() > max_bytes {
        return Err(EvidenceError::TooLarge { bytes: bytes.len(), max: max_bytes });
    }
    let mut entries = Vec::new();
    let mut lines = (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n'));
    let (line, header) = lines.next().unwrap_or((1, b""));
    let at = |line| move |kind| EvidenceError::Line { line, kind };
    if text_of(header).map_err(at(line))? != HEADER {
        return Err(at(line)(LineError::NotHeader));
    }
    for (line, bytes) in lines {
        entries.push(text_of(bytes).and_then(parse_line).map_err(at(line))?);
    }
    Ok(entries)
}

/// Writes an evidence file.
#[must_use]
pub fn write(entries: &[Entry]) -> String {
    let lines = entries.iter().map(|entry| format!("{entry}\n"));
    std::iter::once(format!("{HEADER}\n")).chain(lines).collect()
}

/// The text of one line without its LF.
fn text_of(line: &[u8]) -> Result<&str, LineError> {
    if line.len() > MAX_LINE_BYTES {
        return Err(LineError::TooLong);
    }
    let line = line.strip_suffix(b"\n").ok_or(LineError::NoEnd)?;
    let text = str::from_utf8(line).map_err(|_| LineError::NotUtf8)?;
    if text.chars().any(char::is_control) { Err(LineError::ControlCharacter) } else { Ok(text) }
}

fn parse_line(text: &str) -> Result<Entry, LineError> {
    match text.split_once(' ') {
        Some(("signed", rest)) => parse_signed(rest).ok_or(LineError::NotSigned),
        Some(("open", rest)) => decode(rest)
            .filter(|bytes| !bytes.is_empty())
            .map(Entry::Open)
            .ok_or(LineError::NotOpen),
        Some(("note", rest)) => parse_note(rest).ok_or(LineError::NotNote),
        Some(_) | None => Err(LineError::UnknownKind),
    }
}

fn parse_signed(rest: &str) -> Option<Entry> {
    let mut parts = rest.split(' ');
    let (message, signature, key) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let message = decode(message).filter(|message| !message.is_empty())?;
    let signature = decode(signature)?.try_into().ok()?;
    let key = decode(key)?.try_into().ok()?;
    Some(Entry::Signed(SignedEntry { message, signature, key }))
}

fn parse_note(rest: &str) -> Option<Entry> {
    let (time, words) = rest.split_once(' ')?;
    let is_note = !time.is_empty() && !words.is_empty();
    is_note.then(|| Entry::Note { at: time.to_owned(), words: words.to_owned() })
}

/// Decodes only what [`encode`] writes.
fn decode(text: &str) -> Option<Vec<u8>> {
    Base64::decode_vec(text).ok().filter(|bytes| encode(bytes) == text)
}

fn encode(bytes: &[u8]) -> String {
    Base64::encode_string(bytes)
}

impl Entry {
    /// A note. Control characters in `words` become spaces, and what does not fit into a line is
    /// cut off.
    #[must_use]
    pub fn note(at: UnixMicros, words: &str) -> Entry {
        const MAX_CHARS: usize = 1000;
        let shown = |letter: char| if letter.is_control() { ' ' } else { letter };
        let words: String = words.chars().take(MAX_CHARS).map(shown).collect();
        Entry::Note {
            at: at.0.to_string(),
            words: if words.is_empty() { "-".to_owned() } else { words },
        }
    }
}

/// Writes the line, without its LF.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Signed(SignedEntry { message, signature, key }) => {
                write!(f, "signed {} {} {}", encode(message), encode(signature), encode(key))
            }
            Entry::Open(bytes) => write!(f, "open {}", encode(bytes)),
            Entry::Note { at, words } => write!(f, "note {at} {words}"),
        }
    }
}

/// Leaves out the bytes: they may hold entropy.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Signed(signed) => fmt::Debug::fmt(signed, f),
            Entry::Open(_) => f.write_str("Open(..)"),
            Entry::Note { at, words } => {
                f.debug_struct("Note").field("at", at).field("words", words).finish()
            }
        }
    }
}

/// Leaves out the bytes: a message may hold entropy.
impl fmt::Debug for SignedEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SignedEntry(..)")
    }
}

#[cfg(test)]
mod tests;
