//! Keys that players sign decisions with.
//!
//! A key is taken only in its one spelling, and only if nobody can sign for it without its secret:
//! every verifier then agrees on what it has signed.
//!
//! Specification: fairness/SPEC.md §9.3.

use ed25519_dalek::{SigningKey, VerifyingKey};
use primitives::PlayerId;
use zeroize::Zeroizing;

use crate::commit::Commitment;
use crate::context::Context;
use crate::encoding::{keyed_hmac, prf};

/// Reason why 32 bytes are no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("these 32 bytes are no Ed25519 public key")]
    NotAPoint,
    #[error("the key is of small order: anybody can sign for it")]
    SmallOrder,
    #[error("the key is not in its canonical encoding")]
    NotCanonical,
}

/// Ed25519 public key of a player, fresh for a hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlayerKey([u8; 32]);

impl PlayerKey {
    /// Checks `bytes`, the encoded key.
    pub fn try_new(bytes: [u8; 32]) -> Result<PlayerKey, KeyError> {
        if !is_canonical(&bytes) {
            return Err(KeyError::NotCanonical);
        }
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| KeyError::NotAPoint)?;
        if key.is_weak() {
            return Err(KeyError::SmallOrder);
        }
        Ok(PlayerKey(bytes))
    }

    /// Derives the secret key of a client that keeps one secret, as [`crate::Entropy::derived`] does
    /// its entropy, under the tag "client-key". It differs in every hand and seat.
    #[must_use]
    pub fn derived(
        secret: &[u8; 32],
        context: &Context,
        dealer: &Commitment,
        seat: u8,
        player: PlayerId,
    ) -> SigningKey {
        let mut key = Zeroizing::new([0; 64]);
        key[..32].copy_from_slice(secret);
        let fields: [&[u8]; 4] = [&context.0, &dealer.0, &[seat], player.bytes()];
        let long = prf(&keyed_hmac(&key), "client-key", &fields);
        SigningKey::from_bytes(long.first_chunk().expect("64 bytes are more than 32"))
    }

    /// The encoded key.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Whether the encoded coordinate, all but the last bit, is below the field's prime 2^255 - 19. The
/// other spelling that decoding would take, a sign of the coordinate 0, is one of small order.
fn is_canonical(bytes: &[u8; 32]) -> bool {
    let [first, middle @ .., last] = bytes;
    *first < 0xed || last & 0x7f != 0x7f || middle.iter().any(|byte| *byte != 0xff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_dalek::SigningKey;

    /// The encoding of a small coordinate, with the sign bit if `sign`.
    fn encoded(first: u8, rest: u8, last: u8) -> [u8; 32] {
        let mut bytes = [rest; 32];
        (bytes[0], bytes[31]) = (first, last);
        bytes
    }

    /// fairness/SPEC.md §9.3.
    #[test]
    fn keys_of_signers_are_taken() {
        for secret in 0..50 {
            let key = SigningKey::from_bytes(&[secret; 32]).verifying_key().to_bytes();
            assert_eq!(PlayerKey::try_new(key).map(|key| *key.bytes()), Ok(key));
        }
    }

    /// fairness/SPEC.md §9.3.
    #[test]
    fn derived_keys_are_others_wherever_anything_is() {
        let (context, dealer, player) = (Context([1; 32]), Commitment([2; 32]), PlayerId([3; 16]));
        let base = PlayerKey::derived(&[9; 32], &context, &dealer, 5, player);
        assert!(PlayerKey::try_new(base.verifying_key().to_bytes()).is_ok());
        let others = [
            PlayerKey::derived(&[8; 32], &context, &dealer, 5, player),
            PlayerKey::derived(&[9; 32], &Context([8; 32]), &dealer, 5, player),
            PlayerKey::derived(&[9; 32], &context, &Commitment([8; 32]), 5, player),
            PlayerKey::derived(&[9; 32], &context, &dealer, 6, player),
            PlayerKey::derived(&[9; 32], &context, &dealer, 5, PlayerId([8; 16])),
        ];
        assert!(others.iter().all(|other| *other != base));
        let entropy = crate::Entropy::derived(&[9; 32], &context, &dealer, 5, player);
        assert_ne!(base.to_bytes(), entropy.0);
    }

    /// fairness/SPEC.md §9.3.
    #[test]
    fn keys_that_anybody_can_sign_for_are_refused() {
        // The neutral element, the point of order 2, those of order 4, and the ones with a sign of
        // the coordinate 0.
        let weak = [
            encoded(1, 0, 0),
            encoded(0xec, 0xff, 0x7f),
            encoded(0, 0, 0),
            encoded(0, 0, 0x80),
            encoded(1, 0, 0x80),
            encoded(0xec, 0xff, 0xff),
        ];
        for bytes in weak {
            assert!(
                matches!(
                    PlayerKey::try_new(bytes),
                    Err(KeyError::SmallOrder | KeyError::NotAPoint)
                ),
                "{bytes:?}"
            );
        }
    }

    /// fairness/SPEC.md §9.3.
    #[test]
    fn other_spellings_and_other_bytes_are_refused() {
        for first in 0xed..=0xff {
            for last in [0x7f, 0xff] {
                let bytes = encoded(first, 0xff, last);
                assert_eq!(PlayerKey::try_new(bytes), Err(KeyError::NotCanonical));
            }
        }
        assert_eq!(PlayerKey::try_new(encoded(2, 0, 0)), Err(KeyError::NotAPoint));
    }
}
