//! Keys that sign notes: their names, and the signature format of each kind of key.
//!
//! | kind | byte | signature | what is signed |
//! |---|---|---|---|
//! | log, C2SP `signed-note` | `0x01` | Ed25519, 64 bytes | the note's text |
//! | witness, C2SP `tlog-cosignature` | `0x04` | Unix seconds (u64) and Ed25519, 72 bytes | `cosignature/v1`, `time <seconds>`, the note's text |
//!
//! The id of a key is the first four bytes of SHA-256(name | newline | byte | public key). They
//! suffice to find the key, and never to trust it. A public key is written `<name>+<id in
//! hex>+<base64(byte | key)>`. Signatures are checked strictly (no small-order keys, no second
//! encoding of a signature).

use std::fmt;

use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};

use crate::checkpoint::Checkpoint;
use crate::encoding::{MAX_NUMBER, decode_base64, encode_base64};
use crate::note::Signature;

/// Name of a key.
///
/// Invariant: it is not empty and has no white space, `+` or control characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct KeyName(String);

/// First four bytes of a key's hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct KeyId(pub [u8; 4]);

/// A public key with its name and kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifierKey {
    name: KeyName,
    kind: Kind,
    id: KeyId,
    key: VerifyingKey,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Log,
    Witness,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeyError {
    #[error("a key's name is not empty, and has no white space, no + and no control characters")]
    Name,
    #[error("a key is written <name>+<id>+<base64 of its kind and 32 bytes>")]
    Format,
    #[error("the kind of a key is 1 (log) or 4 (witness), this is {0}")]
    Kind(u8),
    #[error("the key's id is not that of its name and bytes")]
    Id,
    #[error("these 32 bytes are no Ed25519 public key, or one of small order")]
    Point,
}

impl KeyName {
    pub fn try_new(name: impl Into<String>) -> Result<KeyName, KeyError> {
        let name = name.into();
        let bad =
            |letter: char| letter.is_whitespace() || letter.is_ascii_control() || letter == '+';
        if name.is_empty() || name.contains(bad) { Err(KeyError::Name) } else { Ok(KeyName(name)) }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Kind {
    const fn byte(self) -> u8 {
        match self {
            Kind::Log => 1,
            Kind::Witness => 4,
        }
    }
}

impl VerifierKey {
    fn new(name: KeyName, kind: Kind, key: VerifyingKey) -> VerifierKey {
        let hash = Sha256::new()
            .chain_update(name.as_str())
            .chain_update([b'\n', kind.byte()])
            .chain_update(key.as_bytes());
        let hash: [u8; 32] = hash.finalize().into();
        let id = KeyId([hash[0], hash[1], hash[2], hash[3]]);
        VerifierKey { name, kind, id, key }
    }

    /// Creates a log's key from its 32 bytes.
    pub fn log(name: KeyName, key: &[u8; 32]) -> Result<VerifierKey, KeyError> {
        Ok(VerifierKey::new(name, Kind::Log, parse_point(key)?))
    }

    /// Creates a witness's key from its 32 bytes.
    pub fn witness(name: KeyName, key: &[u8; 32]) -> Result<VerifierKey, KeyError> {
        Ok(VerifierKey::new(name, Kind::Witness, parse_point(key)?))
    }

    /// Parses exactly the text that `Display` writes.
    pub fn parse(text: &str) -> Result<VerifierKey, KeyError> {
        let (name, rest) = text.split_once('+').ok_or(KeyError::Format)?;
        let (id, encoded) = rest.split_once('+').ok_or(KeyError::Format)?;
        let bytes = decode_base64(encoded).ok_or(KeyError::Format)?;
        let (kind, bytes) = bytes.split_first().ok_or(KeyError::Format)?;
        let bytes: &[u8; 32] = bytes.try_into().map_err(|_| KeyError::Format)?;
        let name = KeyName::try_new(name)?;
        let key = match kind {
            1 => VerifierKey::log(name, bytes)?,
            4 => VerifierKey::witness(name, bytes)?,
            other => return Err(KeyError::Kind(*other)),
        };
        if key.id.to_string() == id { Ok(key) } else { Err(KeyError::Id) }
    }

    #[must_use]
    pub const fn name(&self) -> &KeyName {
        &self.name
    }

    #[must_use]
    pub const fn id(&self) -> KeyId {
        self.id
    }

    /// Returns the 32 bytes of the public key.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        self.key.as_bytes()
    }

    /// Whether this is a log's key and not a witness's.
    #[must_use]
    pub const fn is_log(&self) -> bool {
        matches!(self.kind, Kind::Log)
    }

    /// Whether the signature has the name and id of this key.
    pub(crate) fn is_named_by(&self, signature: &Signature) -> bool {
        signature.id == self.id && signature.name == self.name
    }

    /// Checks a signature by this key over a text. Returns its timestamp, if it has one; `None` if
    /// the signature is wrong.
    pub(crate) fn check(&self, text: &str, signature: &[u8]) -> Option<Option<u64>> {
        let (timestamp, signature) = match self.kind {
            Kind::Log => (None, signature),
            Kind::Witness => {
                let (timestamp, rest) = signature.split_first_chunk()?;
                let timestamp = u64::from_be_bytes(*timestamp);
                (Some(timestamp).filter(|time| *time <= MAX_NUMBER)?.into(), rest)
            }
        };
        let message = timestamp.map_or_else(|| text.to_owned(), |time| cosigned_text(text, time));
        let signature = ed25519_dalek::Signature::from_slice(signature).ok()?;
        self.key.verify_strict(message.as_bytes(), &signature).ok()?;
        Some(timestamp)
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let VerifierKey { name, kind, id, key } = self;
        let bytes = [&[kind.byte()][..], key.as_bytes()].concat();
        write!(f, "{name}+{id}+{}", encode_base64(&bytes))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", u32::from_be_bytes(self.0))
    }
}

/// Secret key that signs the checkpoints of one log. Its name is the log's origin.
pub struct LogKey {
    public: VerifierKey,
    secret: SigningKey,
}

/// Secret key of a witness, which cosigns checkpoints of the logs that it follows.
pub struct WitnessKey {
    public: VerifierKey,
    secret: SigningKey,
}

impl LogKey {
    /// Creates the key from the 32 bytes of an Ed25519 secret key (RFC 8032).
    #[must_use]
    pub fn new(name: KeyName, secret: &[u8; 32]) -> LogKey {
        let secret = SigningKey::from_bytes(secret);
        LogKey { public: VerifierKey::new(name, Kind::Log, secret.verifying_key()), secret }
    }

    #[must_use]
    pub const fn public(&self) -> &VerifierKey {
        &self.public
    }

    /// Signs any text. [`crate::Signer`] decides what a log may sign.
    #[must_use]
    pub fn sign(&self, text: &str) -> Signature {
        let bytes = self.secret.sign(text.as_bytes()).to_bytes().to_vec();
        Signature { name: self.public.name.clone(), id: self.public.id, bytes }
    }
}

impl WitnessKey {
    /// Creates the key from the 32 bytes of an Ed25519 secret key (RFC 8032). It must be used for
    /// nothing else, because the cosigned text does not name the witness.
    #[must_use]
    pub fn new(name: KeyName, secret: &[u8; 32]) -> WitnessKey {
        let secret = SigningKey::from_bytes(secret);
        WitnessKey { public: VerifierKey::new(name, Kind::Witness, secret.verifying_key()), secret }
    }

    #[must_use]
    pub const fn public(&self) -> &VerifierKey {
        &self.public
    }

    /// States that at `time` this was the largest tree seen of the log. `time` is in Unix seconds;
    /// values over 2^63 - 1 are cut to it. [`crate::may_follow`] decides whether the tree follows
    /// from those seen before.
    #[must_use]
    pub fn cosign(&self, checkpoint: &Checkpoint, time: u64) -> Signature {
        let time = time.min(MAX_NUMBER);
        let signature = self.secret.sign(cosigned_text(&checkpoint.to_string(), time).as_bytes());
        let bytes = [&time.to_be_bytes()[..], &signature.to_bytes()].concat();
        Signature { name: self.public.name.clone(), id: self.public.id, bytes }
    }
}

/// Formats the public key only.
impl fmt::Debug for LogKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LogKey({})", self.public)
    }
}

/// Formats the public key only.
impl fmt::Debug for WitnessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WitnessKey({})", self.public)
    }
}

fn cosigned_text(text: &str, time: u64) -> String {
    format!("cosignature/v1\ntime {time}\n{text}")
}

fn parse_point(bytes: &[u8; 32]) -> Result<VerifyingKey, KeyError> {
    let key = VerifyingKey::from_bytes(bytes).map_err(|_| KeyError::Point)?;
    if key.is_weak() { Err(KeyError::Point) } else { Ok(key) }
}
