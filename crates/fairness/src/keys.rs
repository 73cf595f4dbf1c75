//! The keys of one hand: HKDF-SHA-512 (RFC 5869) of the seed, salted with the transcript.
//!
//! Specification: fairness/SPEC.md §5.7.

use std::fmt;

use hkdf::Hkdf;
use sha2::Sha512;
use zeroize::Zeroizing;

use crate::commit::Seed;
use crate::encoding::{Secret64, keyed_hmac, lp_tag, prf};
use crate::transcript::Transcript;

/// Secrets from which every operation and every card's salt of one hand come. Wiped when dropped.
#[derive(Clone)]
pub struct Keys {
    hand: Secret64,
    salt: Secret64,
}

impl Keys {
    #[must_use]
    pub fn derive(transcript: &Transcript, seed: &Seed) -> Keys {
        let hkdf = Hkdf::<Sha512>::new(Some(&transcript.0), seed.expose());
        let expand = |info| {
            let mut key = Zeroizing::new([0; 64]);
            hkdf.expand(&lp_tag(info), &mut key[..]).expect("64 bytes are one block of SHA-512");
            key
        };
        Keys { hand: expand("hand-key"), salt: expand("salt-key") }
    }

    /// k_hand, from which operations come. It gives every hidden card.
    #[must_use]
    pub fn expose_hand(&self) -> &[u8; 64] {
        &self.hand
    }

    /// k_salt, from which the salts in the deck's commitment come.
    #[must_use]
    pub fn expose_salt(&self) -> &[u8; 64] {
        &self.salt
    }

    /// Key of operation `index`: PRF(k_hand, "op", index, kind, params).
    pub(crate) fn operation(&self, index: u32, kind: &str, params: &[u8]) -> Secret64 {
        prf(&keyed_hmac(&self.hand), "op", &[&index.to_be_bytes(), kind.as_bytes(), params])
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(..)")
    }
}
