//! Encryption of personal data: XChaCha20-Poly1305, twice.
//!
//! Each player has a key, which opens the sealed events about them and nobody else. The keys are
//! stored in the database, wrapped under one key that is not. So a copy of the database alone, even
//! an old one, reveals nothing. A player is erased by destroying their key. The sealed events,
//! which the log's tree commits to, stay as they are.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use primitives::{PlayerId, StreamId};
use proto::event::v1::SealedPayload;
use sha2::Sha256;
use zeroize::Zeroizing;

/// Sealed messages are padded to a multiple of this many bytes.
const PADDING_BLOCK: usize = 64;
/// Mark between a message and its padding.
const PADDING_MARK: u8 = 0x80;

/// Wraps the players' keys under the key that is not in the database.
#[derive(Clone)]
pub(crate) struct Vault(XChaCha20Poly1305);

/// A player's key, wrapped by the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrappedKey {
    pub nonce: [u8; 24],
    /// Ciphertext: 32 bytes and the tag of 16.
    pub wrapped: Vec<u8>,
}

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
pub(crate) struct PlayerKey(Zeroizing<[u8; 32]>);

/// The data was sealed or wrapped under another key, belongs elsewhere, or is corrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("what is kept of a player does not open: is this the key it was kept under?")]
pub(crate) struct DecryptionFailed;

impl Vault {
    #[must_use]
    pub(crate) fn new(key: &Zeroizing<[u8; 32]>) -> Vault {
        Vault(XChaCha20Poly1305::new(&Key::from(**key)))
    }

    /// `nonce` is 24 fresh random bytes.
    ///
    /// # Panics
    /// Never: the cipher takes 256 GiB.
    #[must_use]
    pub(crate) fn wrap(&self, player: PlayerId, key: &PlayerKey, nonce: [u8; 24]) -> WrappedKey {
        let payload = Payload { msg: &key.0[..], aad: &player.0 };
        let wrapped = self.0.encrypt(&XNonce::from(nonce), payload);
        WrappedKey { nonce, wrapped: wrapped.expect("32 bytes are within the cipher's limits") }
    }

    pub(crate) fn unwrap(
        &self,
        player: PlayerId,
        stored: &WrappedKey,
    ) -> Result<PlayerKey, DecryptionFailed> {
        let payload = Payload { msg: &stored.wrapped, aad: &player.0 };
        let key =
            self.0.decrypt(&XNonce::from(stored.nonce), payload).map_err(|_| DecryptionFailed)?;
        let key = Zeroizing::new(key);
        let key = <[u8; 32]>::try_from(&key[..]).map_err(|_| DecryptionFailed)?;
        Ok(PlayerKey::new(Zeroizing::new(key)))
    }
}

impl PlayerKey {
    /// `key` is 32 fresh random bytes.
    #[must_use]
    pub(crate) const fn new(key: Zeroizing<[u8; 32]>) -> PlayerKey {
        PlayerKey(key)
    }

    /// Seals a message into the payload of an event. `nonce` is 24 fresh random bytes.
    ///
    /// # Panics
    /// Never: the cipher takes 256 GiB.
    #[must_use]
    pub(crate) fn seal(
        &self,
        player: PlayerId,
        binding: SealBinding,
        message: &[u8],
        nonce: [u8; 24],
    ) -> SealedPayload {
        let mut filled = Zeroizing::new(Vec::with_capacity(message.len() + PADDING_BLOCK));
        filled.extend_from_slice(message);
        filled.push(PADDING_MARK);
        let whole = filled.len().next_multiple_of(PADDING_BLOCK);
        filled.resize(whole, 0);
        let aad = binding.bytes();
        let payload = Payload { msg: &filled, aad: &aad };
        let sealed = self.cipher().encrypt(&XNonce::from(nonce), payload);
        SealedPayload {
            player_id: player.0.to_vec().into(),
            nonce: nonce.to_vec().into(),
            sealed: sealed.expect("a message is within the cipher's limits").into(),
        }
    }

    /// Opens the payload of an event.
    pub(crate) fn open(
        &self,
        binding: SealBinding,
        payload: &SealedPayload,
    ) -> Result<Zeroizing<Vec<u8>>, DecryptionFailed> {
        let SealedPayload { player_id: _, nonce, sealed } = payload;
        let nonce = <[u8; 24]>::try_from(&nonce[..]).map_err(|_| DecryptionFailed)?;
        let aad = binding.bytes();
        let payload = Payload { msg: sealed, aad: &aad };
        let opened = self.cipher().decrypt(&XNonce::from(nonce), payload);
        let mut opened = Zeroizing::new(opened.map_err(|_| DecryptionFailed)?);
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
        let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(&self.0[..])
            .expect("HMAC takes keys of any length");
        mac.update(b"request");
        mac.update(&content);
        mac.finalize().into_bytes().into()
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&Key::from(*self.0))
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
    fn a_key_is_unwrapped_for_its_player_under_its_key_only() {
        let vault = Vault::new(&Zeroizing::new([7; 32]));
        let stored = vault.wrap(PLAYER, &key(2), [3; 24]);
        assert_eq!(*vault.unwrap(PLAYER, &stored).unwrap().0, [2; 32]);
        assert!(!stored.wrapped.windows(4).any(|four| four == [2; 4]), "it is not in the clear");
        assert!(vault.unwrap(PlayerId([9; 16]), &stored).is_err());
        assert!(Vault::new(&Zeroizing::new([8; 32])).unwrap(PLAYER, &stored).is_err());
        let mut corrupt = stored;
        corrupt.wrapped[0] ^= 1;
        assert!(vault.unwrap(PLAYER, &corrupt).is_err());
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
    fn the_size_tells_little_and_zeros_survive() {
        let size = |message: &[u8]| {
            let sealed = key(2).seal(PLAYER, binding(STREAM, 33), message, [4; 24]);
            assert_eq!(key(2).open(binding(STREAM, 33), &sealed).unwrap()[..], *message);
            sealed.sealed.len()
        };
        assert_eq!([size(b""), size(b"\x00"), size(&[0; 63])], [80, 80, 80]);
        assert_eq!([size(&[0x80; 64]), size(&[0; 127])], [144, 144]);
    }

    #[test]
    fn requests_are_told_apart_by_whoever_has_the_key() {
        assert_eq!(key(2).digest([5; 32]), key(2).digest([5; 32]));
        assert_ne!(key(2).digest([5; 32]), key(2).digest([6; 32]));
        assert_ne!(key(2).digest([5; 32]), key(3).digest([5; 32]));
    }
}
