//! Authentication of stored events and answers, so that an owner of a log believes no row that no
//! owner of it has written.
//!
//! Checkpoints protect what was signed; whoever may write to the database could still append rows
//! behind the last one, and the next owner would take them for its own and have them signed. So half
//! of each salt is a message authentication code under a key that is derived from the log's signing
//! key and never in the database. An owner checks it wherever it reads an event
//! ([`AuthenticatedStore`](crate::authenticated_store::AuthenticatedStore)). The other half is random:
//! a leaf record tells nothing about a short payload even to those who have the key.
//!
//! Answers stand in no leaf record. Each has a tag over its request, the digest of the request's
//! content and the answer: the digest itself is not stored, and only the same content with the stored
//! answer gives the same tag.
//!
//! The codes are HMAC-SHA-256 (RFC 2104), of which 64 bits are kept of an event's and 128 of an
//! answer's. A forger cannot try codes but by writing rows and starting the service.
//!
//! Specification: ARCHITECTURE.md §2.2, §2.9.

use std::fmt;
use std::sync::Arc;

use eventlog_core::record::SALT_LEN;
use eventlog_core::{Event, Position};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::event::AnsweredRequest;
use crate::key::RequestKey;

/// Bytes of a salt that are random. The others are the code.
const NONCE_LEN: usize = 8;

/// Source of the random halves of salts: bytes that nobody can foresee, fresh for each event.
pub type Nonces = Arc<dyn Fn() -> [u8; NONCE_LEN] + Send + Sync>;

/// Bytes of the tag of an answer.
pub type AnswerTag = [u8; 16];

/// Maker and judge of the codes of one log.
#[derive(Clone)]
pub struct Authenticator {
    /// Code with the log's key and nothing added.
    keyed: Arc<Hmac<Sha256>>,
    previous: Arc<[(Option<Hmac<Sha256>>, Position)]>,
    nonces: Nonces,
}

/// Secret that a log had before.
#[derive(Clone, Copy, Debug)]
pub struct PreviousSecret<'a> {
    /// `None` where it is lost: events are believed as they stand, and repeats of requests get no
    /// answer.
    pub secret: Option<&'a [u8]>,
    /// Position from which on it counts no more: the log's size when it was replaced.
    pub until: Position,
}

impl Authenticator {
    /// `secret` is the log's secret, such as the seed of its signing key, and `log` its name.
    #[must_use]
    pub fn new(secret: &[u8], log: &str, nonces: Nonces) -> Authenticator {
        Authenticator { keyed: Arc::new(of_log(secret, log)), previous: Arc::default(), nonces }
    }

    /// Authenticator that also believes what was written with these secrets before.
    #[must_use]
    pub fn with_previous<'a>(
        self,
        secrets: impl Iterator<Item = PreviousSecret<'a>>,
        log: &str,
    ) -> Authenticator {
        let keyed =
            |it: PreviousSecret<'a>| (it.secret.map(|secret| of_log(secret, log)), it.until);
        Authenticator { previous: secrets.map(keyed).collect(), ..self }
    }

    /// Codes with the keys that count at a position; `None` for a key that is lost.
    fn keys(&self, at: Position) -> impl Iterator<Item = Option<&Hmac<Sha256>>> {
        let previous = self.previous.iter().filter(move |(_, until)| at < *until);
        std::iter::once(Some(&*self.keyed)).chain(previous.map(|(key, _)| key.as_ref()))
    }

    /// Salt of an event that has everything but its salt.
    #[must_use]
    pub fn salt(&self, event: &Event) -> [u8; SALT_LEN] {
        let nonce = (self.nonces)();
        let code = event_code(&self.keyed, event, &nonce).finalize().into_bytes();
        let mut salt = [0; SALT_LEN];
        salt[..NONCE_LEN].copy_from_slice(&nonce);
        salt[NONCE_LEN..].copy_from_slice(&code[..SALT_LEN - NONCE_LEN]);
        salt
    }

    /// Whether an owner of the log has written the event, as it is.
    #[must_use]
    pub fn is_authentic(&self, event: &Event) -> bool {
        let (nonce, code) = event.salt.split_at(NONCE_LEN);
        self.keys(event.position).any(|key| {
            key.is_none_or(|key| event_code(key, event, nonce).verify_truncated_left(code).is_ok())
        })
    }

    /// Tag of the answer to a request, whose content has this SHA-256.
    #[must_use]
    pub fn tag(
        &self,
        key: RequestKey,
        digest: &[u8; 32],
        first: Position,
        answer: &[u8],
    ) -> AnswerTag {
        let code = answer_code(&self.keyed, key, digest, first, answer).finalize().into_bytes();
        *code.first_chunk().expect("a code has 32 bytes")
    }

    /// Whether the answer is that to a request with this content. Not so where the content is another,
    /// and where no owner of the log has written the answer.
    #[must_use]
    pub fn answers(&self, stored: &AnsweredRequest, digest: &[u8; 32]) -> bool {
        let AnsweredRequest { key, tag, first, answer } = stored;
        let Some(tag) = tag else { return false };
        let code = |keyed| answer_code(keyed, *key, digest, *first, answer);
        self.keys(*first).flatten().any(|keyed| code(keyed).verify_truncated_left(tag).is_ok())
    }
}

fn event_code(keyed: &Hmac<Sha256>, event: &Event, nonce: &[u8]) -> Hmac<Sha256> {
    let mut code = keyed.clone();
    code.update(b"event");
    code.update(nonce);
    code.update(&event.position.0.to_be_bytes());
    code.update(&event.recorded_at.0.to_be_bytes());
    code.update(&event.stream.0);
    code.update(&event.version.0.to_be_bytes());
    code.update(&event.kind.to_be_bytes());
    code.update(&event.schema.to_be_bytes());
    code.update(&[u8::from(event.sealed)]);
    code.update(&event.author_hash);
    code.update(&event.previous);
    code.update(&event.payload);
    code
}

fn answer_code(
    keyed: &Hmac<Sha256>,
    key: RequestKey,
    digest: &[u8; 32],
    first: Position,
    answer: &[u8],
) -> Hmac<Sha256> {
    let mut code = keyed.clone();
    code.update(b"answer");
    code.update(&key.0);
    code.update(digest);
    code.update(&first.0.to_be_bytes());
    code.update(answer);
    code
}

/// Code with the key of a log, which its secret gives, and nothing added.
fn of_log(secret: &[u8], log: &str) -> Hmac<Sha256> {
    let mut derived = with_key(secret);
    derived.update(b"sabacc/log-authenticator/v1");
    derived.update(log.as_bytes());
    with_key(&derived.finalize().into_bytes())
}

fn with_key(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("a key of any length is taken")
}

impl fmt::Debug for Authenticator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authenticator").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
