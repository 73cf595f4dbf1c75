//! Encryption of personal data in events: XChaCha20-Poly1305 under a key of each player.
//!
//! A player's key opens the sealed events about them and nobody else. The keys are stored in the
//! database, sealed under one key that is not. So a copy of the database alone, even an old one,
//! reveals nothing. A player is erased by destroying their key. The sealed events, which the log's
//! tree commits to, stay as they are.

use hmac::{Hmac, Mac};
use keyring::{Cipher, Key, Nonce};
use primitives::{PlayerId, StreamId};
use proto::event::v1::SealedPayload;
use sha2::Sha256;
use zeroize::Zeroizing;

/// Sealed messages are padded to a multiple of this many bytes.
const PADDING_BLOCK: usize = 64;
/// Mark between a message and its padding.
const PADDING_MARK: u8 = 0x80;

/// Event that a sealed payload is bound to: it opens only as an event of this type on this stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SealBinding {
    pub stream: StreamId,
    /// Type number of the event.
    pub kind: u16,
}

impl SealBinding {
    /// Associated data of the cipher.
    fn bytes(self) -> [u8; 18] {
        let mut bytes = [0; 18];
        bytes[..16].copy_from_slice(&self.stream.0);
        bytes[16..].copy_from_slice(&self.kind.to_be_bytes());
        bytes
    }
}

/// Key of one player.
#[derive(Clone)]
pub(crate) struct PlayerKey(Key);

/// The payload was sealed under another key, belongs elsewhere, or is corrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("what is kept of a player does not open: is this the key it was kept under?")]
pub(crate) struct DecryptionFailed;

impl PlayerKey {
    /// Key of 32 bytes that were random when it was made.
    #[must_use]
    pub(crate) const fn new(key: Key) -> PlayerKey {
        PlayerKey(key)
    }

    /// Bytes of the key, which are sealed where they are kept.
    #[must_use]
    pub(super) fn expose(&self) -> &[u8] {
        &self.0[..]
    }

    /// Seals a message into the payload of an event.
    #[must_use]
    pub(crate) fn seal(
        &self,
        player: PlayerId,
        binding: SealBinding,
        message: &[u8],
        nonce: Nonce,
    ) -> SealedPayload {
        let mut filled = Zeroizing::new(Vec::with_capacity(message.len() + PADDING_BLOCK));
        filled.extend_from_slice(message);
        filled.push(PADDING_MARK);
        let whole = filled.len().next_multiple_of(PADDING_BLOCK);
        filled.resize(whole, 0);
        let sealed = Cipher::new(&self.0).seal(&filled, &binding.bytes(), nonce);
        SealedPayload {
            player_id: player.0.to_vec().into(),
            nonce: nonce.to_vec().into(),
            sealed: sealed.into(),
        }
    }

    /// Opens the payload of an event.
    pub(crate) fn open(
        &self,
        binding: SealBinding,
        payload: &SealedPayload,
    ) -> Result<Zeroizing<Vec<u8>>, DecryptionFailed> {
        let SealedPayload { player_id: _, nonce, sealed } = payload;
        let nonce = Nonce::try_from(&nonce[..]).map_err(|_| DecryptionFailed)?;
        let opened = Cipher::new(&self.0).open(sealed, &binding.bytes(), nonce);
        let mut opened = opened.ok_or(DecryptionFailed)?;
        let end = opened.iter().rposition(|byte| *byte != 0).ok_or(DecryptionFailed)?;
        if opened[end] != PADDING_MARK {
            return Err(DecryptionFailed);
        }
        opened.truncate(end);
        Ok(opened)
    }

    /// Digest that tells a request from another one. It is made under the player's key, since the
    /// plain hash of a name could be found by hashing names.
    ///
    /// # Panics
    /// Never: the construction takes keys of any length.
    #[must_use]
    pub(crate) fn digest(&self, content: [u8; 32]) -> [u8; 32] {
        let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(self.expose())
            .expect("HMAC takes keys of any length");
        mac.update(b"request");
        mac.update(&content);
        mac.finalize().into_bytes().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAYER: PlayerId = PlayerId([1; 16]);
    const STREAM: StreamId = StreamId([1; 16]);

    fn binding(stream: StreamId, kind: u16) -> SealBinding {
        SealBinding { stream, kind }
    }

    fn key(byte: u8) -> PlayerKey {
        PlayerKey::new(Zeroizing::new([byte; 32]))
    }

    #[test]
    fn what_is_sealed_opens_in_its_place_only() {
        let message = b"\x0a\x05Lando";
        let sealed = key(2).seal(PLAYER, binding(STREAM, 33), message, [4; 24]);
        assert_eq!(key(2).open(binding(STREAM, 33), &sealed).unwrap()[..], message[..]);
        assert!(!sealed.sealed.windows(5).any(|five| five == b"Lando"));
        assert!(key(3).open(binding(STREAM, 33), &sealed).is_err(), "another's key");
        assert!(key(2).open(binding(STREAM, 36), &sealed).is_err(), "another type");
        assert!(key(2).open(binding(StreamId([9; 16]), 33), &sealed).is_err(), "another stream");
        for at in 0..sealed.sealed.len() {
            let mut bytes = sealed.sealed.to_vec();
            bytes[at] ^= 1;
            let corrupt = SealedPayload { sealed: bytes.into(), ..sealed.clone() };
            assert!(key(2).open(binding(STREAM, 33), &corrupt).is_err(), "byte {at}");
        }
    }

    #[test]
    fn the_size_reveals_little_and_zeros_survive() {
        let size = |message: &[u8]| {
            let sealed = key(2).seal(PLAYER, binding(STREAM, 33), message, [4; 24]);
            assert_eq!(key(2).open(binding(STREAM, 33), &sealed).unwrap()[..], *message);
            sealed.sealed.len()
        };
        assert_eq!([size(b""), size(b"\x00"), size(&[0; 63])], [80, 80, 80]);
        assert_eq!([size(&[0x80; 64]), size(&[0; 127])], [144, 144]);
    }

    #[test]
    fn requests_are_distinguished_by_whoever_has_the_key() {
        assert_eq!(key(2).digest([5; 32]), key(2).digest([5; 32]));
        assert_ne!(key(2).digest([5; 32]), key(2).digest([6; 32]));
        assert_ne!(key(2).digest([5; 32]), key(3).digest([5; 32]));
    }
}
