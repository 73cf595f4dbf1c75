//! Seeds at rest: XChaCha20-Poly1305 under a key that is not in the database.
//!
//! The associated data is the hand's context and the commitment, so that a sealed seed opens as
//! that of its own hand only.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use fairness::{Commitment, Context, Seed};
use zeroize::Zeroizing;

/// Seals and opens seeds. Holds the key.
#[derive(Clone)]
pub struct Vault(XChaCha20Poly1305);

/// A sealed seed: nobody's but the vault's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSeed {
    pub nonce: [u8; 24],
    /// 64 bytes and the tag of 16.
    pub sealed: Vec<u8>,
}

/// The sealed bytes are another hand's, another key's, or damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a kept seed does not open: is this the key it was kept under?")]
pub struct DoesNotOpen;

impl Vault {
    #[must_use]
    pub fn new(key: &Zeroizing<[u8; 32]>) -> Vault {
        Vault(XChaCha20Poly1305::new(&Key::from(**key)))
    }

    /// `nonce` is 24 fresh random bytes.
    ///
    /// # Panics
    /// Never: the cipher takes 256 GiB.
    #[must_use]
    pub fn seal(&self, seed: &Seed, of: (&Context, &Commitment), nonce: [u8; 24]) -> SealedSeed {
        let aad = aad(of);
        let payload = Payload { msg: seed.expose(), aad: &aad };
        let sealed = self.0.encrypt(&XNonce::from(nonce), payload);
        SealedSeed { nonce, sealed: sealed.expect("64 bytes are within the cipher's limits") }
    }

    pub fn open(
        &self,
        kept: &SealedSeed,
        of: (&Context, &Commitment),
    ) -> Result<Seed, DoesNotOpen> {
        let aad = aad(of);
        let payload = Payload { msg: &kept.sealed, aad: &aad };
        let opened = self.0.decrypt(&XNonce::from(kept.nonce), payload).map_err(|_| DoesNotOpen)?;
        let opened = Zeroizing::new(opened);
        let mut bytes = Zeroizing::new([0; 64]);
        if opened.len() != bytes.len() {
            return Err(DoesNotOpen);
        }
        bytes.copy_from_slice(&opened);
        Ok(Seed::new(bytes))
    }
}

fn aad((context, commitment): (&Context, &Commitment)) -> Vec<u8> {
    [context.0, commitment.0].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_opens_under_its_key_and_for_its_hand_only() {
        let vault = Vault::new(&Zeroizing::new([1; 32]));
        let seed = Seed::new(Zeroizing::new([2; 64]));
        let (context, commitment) = (Context([3; 32]), Commitment([4; 32]));
        let kept = vault.seal(&seed, (&context, &commitment), [5; 24]);
        assert_eq!(vault.open(&kept, (&context, &commitment)), Ok(seed));
        assert!(!kept.sealed.windows(4).any(|four| four == [2; 4]), "it is not in the clear");
        let other = Context([9; 32]);
        assert_eq!(vault.open(&kept, (&other, &commitment)), Err(DoesNotOpen));
        assert_eq!(vault.open(&kept, (&context, &Commitment([9; 32]))), Err(DoesNotOpen));
        let stranger = Vault::new(&Zeroizing::new([9; 32]));
        assert_eq!(stranger.open(&kept, (&context, &commitment)), Err(DoesNotOpen));
        let mut damaged = kept;
        damaged.sealed[10] ^= 1;
        assert_eq!(vault.open(&damaged, (&context, &commitment)), Err(DoesNotOpen));
    }
}
