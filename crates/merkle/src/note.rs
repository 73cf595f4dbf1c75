//! C2SP `signed-note`: a text with signatures under it.
//!
//! ```text
//! <text, one or more lines>
//!
//! — <key name> <base64(key id (4 bytes) | signature)>
//! ```
//!
//! The lines after the last blank line are signatures. Parsing believes none of them:
//! [`Note::verify`] checks them with the caller's keys. A signature by an unknown key (its name and
//! id together) is passed over, so that keys can be changed and witnesses can add theirs. A wrong
//! signature under the name and id of a known key refuses the whole note.
//!
//! One note has one spelling: `parse` takes exactly the bytes that `Display` writes. The limits
//! ([`MAX_NOTE`] and [`MAX_SIGNATURES`]) are those of Go's `sumdb/note`, which therefore reads
//! every note that is read here.
//!
//! It is written over `ed25519-dalek` instead of the crate `signed_note` 0.2, because that crate
//! brings the previous versions of `ed25519-dalek`, `sha2`, `base64`, `rand_core` and `thiserror`
//! along a second time, and depends on `rand_core`: code that has no use for entropy should not
//! reach it.

use std::fmt;

use crate::encoding::{decode_base64, encode_base64};
pub use crate::key::{KeyError, KeyId, KeyName, LogKey, VerifierKey, WitnessKey};

/// Length of the longest note, in bytes.
pub const MAX_NOTE: usize = 1_000_000;
/// Most signatures under one note.
pub const MAX_SIGNATURES: usize = 100;

const SIGNATURE_PREFIX: &str = "— ";

/// A parsed or signed note. Having one verifies nothing.
///
/// Invariant: the text ends with a newline and holds no other control character; there are 1 to
/// [`MAX_SIGNATURES`] signatures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    text: String,
    signatures: Vec<Signature>,
}

/// A signature line under a note.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    pub name: KeyName,
    pub id: KeyId,
    /// The signature in the format of the key's algorithm, at least one byte.
    pub bytes: Vec<u8>,
}

/// A verified signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VerifiedSignature<'k> {
    pub key: &'k VerifierKey,
    /// Time of the signature in Unix seconds. Cosignatures have one, other signatures do not.
    pub timestamp: Option<u64>,
}

/// Error of a note that cannot be parsed or verified.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoteError {
    #[error("a note has at most {MAX_NOTE} bytes, this has {0}")]
    TooLong(usize),
    #[error("a note is UTF-8 without control characters other than the newline")]
    Characters,
    #[error("a note's text ends with a newline, and a blank line stands before its signatures")]
    Text,
    #[error("line {0} under the note is no signature")]
    Line(usize),
    #[error("a note has 1 to {MAX_SIGNATURES} signatures, this has {0}")]
    Signatures(usize),
    #[error("the signature of {0} is not its own over this text")]
    Forged(KeyName),
    #[error("nobody known has signed this note")]
    Unknown,
}

impl Note {
    /// Creates a note from a text and its first signature, which is not checked.
    pub fn new(text: String, first: Signature) -> Result<Note, NoteError> {
        if text.chars().any(is_control) {
            return Err(NoteError::Characters);
        }
        if !text.ends_with('\n') {
            return Err(NoteError::Text);
        }
        let mut note = Note { text, signatures: Vec::new() };
        note.push(first)?;
        Ok(note)
    }

    /// Appends a signature without checking it. A signature that the note already has is not added
    /// again.
    pub fn push(&mut self, signature: Signature) -> Result<(), NoteError> {
        if self.signatures.contains(&signature) {
            return Ok(());
        }
        if signature.bytes.is_empty() {
            return Err(NoteError::Line(self.signatures.len() + 1));
        }
        if self.signatures.len() == MAX_SIGNATURES {
            return Err(NoteError::Signatures(MAX_SIGNATURES + 1));
        }
        self.signatures.push(signature);
        let length = self.to_string().len();
        if length > MAX_NOTE {
            self.signatures.pop();
            return Err(NoteError::TooLong(length));
        }
        Ok(())
    }

    /// Parses exactly the bytes that `Display` writes.
    pub fn parse(bytes: &[u8]) -> Result<Note, NoteError> {
        if bytes.len() > MAX_NOTE {
            return Err(NoteError::TooLong(bytes.len()));
        }
        let note = std::str::from_utf8(bytes).map_err(|_| NoteError::Characters)?;
        if note.chars().any(is_control) {
            return Err(NoteError::Characters);
        }
        let blank = note.rfind("\n\n").ok_or(NoteError::Text)?;
        let (text, lines) = (&note[..=blank], &note[blank + 2..]);
        let lines = lines.strip_suffix('\n').ok_or(NoteError::Signatures(0))?;
        let count = lines.split('\n').count();
        if count > MAX_SIGNATURES {
            return Err(NoteError::Signatures(count));
        }
        let signatures = lines
            .split('\n')
            .enumerate()
            .map(|(at, line)| Signature::parse(line).ok_or(NoteError::Line(at + 1)))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Note { text: text.to_owned(), signatures })
    }

    /// Returns the signed text with its last newline.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    #[must_use]
    pub fn signatures(&self) -> &[Signature] {
        &self.signatures
    }

    /// Verifies the signatures by these keys and returns them in the note's order. Fails if one of
    /// them is wrong or there is none.
    pub fn verify<'k>(
        &self,
        keys: &'k [VerifierKey],
    ) -> Result<Vec<VerifiedSignature<'k>>, NoteError> {
        let mut verified = Vec::new();
        for signature in &self.signatures {
            for key in keys.iter().filter(|key| key.is_named_by(signature)) {
                let timestamp = key
                    .check(&self.text, &signature.bytes)
                    .ok_or_else(|| NoteError::Forged(signature.name.clone()))?;
                verified.push(VerifiedSignature { key, timestamp });
            }
        }
        if verified.is_empty() { Err(NoteError::Unknown) } else { Ok(verified) }
    }
}

/// Formats the line without its newline.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Signature { name, id, bytes } = self;
        write!(f, "{SIGNATURE_PREFIX}{name} {}", encode_base64(&[&id.0[..], bytes].concat()))
    }
}

impl Signature {
    /// Parses a line without its newline.
    fn parse(line: &str) -> Option<Signature> {
        let (name, encoded) = line.strip_prefix(SIGNATURE_PREFIX)?.split_once(' ')?;
        let blob = decode_base64(encoded)?;
        let (id, bytes) = blob.split_first_chunk()?;
        let name = KeyName::try_new(name).ok()?;
        (!bytes.is_empty()).then(|| Signature { name, id: KeyId(*id), bytes: bytes.to_vec() })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures.iter().try_for_each(|signature| writeln!(f, "{signature}"))
    }
}

pub(crate) fn is_control(letter: char) -> bool {
    letter.is_ascii_control() && letter != '\n'
}
