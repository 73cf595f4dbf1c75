//! Commitments that both sides make before either can know the outcome.
//!
//! The dealer commits first, and every client's commitment contains the dealer's: the dealer cannot
//! pick a seed to suit entropy it has seen, and a client cannot replay entropy from another hand,
//! seat or player. Commitments hide 32 and 64 random bytes, so they need no salt of their own.
//!
//! Specification: fairness/SPEC.md §5.2 to §5.4.

use std::fmt;

use primitives::PlayerId;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::context::Context;
use crate::encoding::{hash, keyed_hmac, prf};

/// The dealer's secret for one hand: 64 bytes, because 76! has 370 bits and 32 bytes could not
/// reach every order of the largest deck. Wiped when dropped, compared in constant time.
#[derive(Clone)]
pub struct Seed(Zeroizing<[u8; 64]>);

impl Seed {
    /// Makes a seed of `bytes`, fresh from the operating system or out of storage.
    #[must_use]
    pub fn new(bytes: Zeroizing<[u8; 64]>) -> Seed {
        Seed(bytes)
    }

    /// The bytes, to seal them at rest and to publish them after the hand.
    #[must_use]
    pub fn expose(&self) -> &[u8; 64] {
        &self.0
    }
}

impl PartialEq for Seed {
    fn eq(&self, other: &Seed) -> bool {
        self.0[..].ct_eq(&other.0[..]).into()
    }
}

impl Eq for Seed {}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(..)")
    }
}

/// The dealer's commitment to its seed: H("dealer-commit", context, seed).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commitment(pub [u8; 32]);

impl Commitment {
    #[must_use]
    pub fn new(context: &Context, seed: &Seed) -> Commitment {
        Commitment(hash("dealer-commit", &[&context.0, seed.expose()]))
    }

    /// Whether `seed` is the one committed to.
    #[must_use]
    pub fn opens(&self, context: &Context, seed: &Seed) -> bool {
        self.0.ct_eq(&Commitment::new(context, seed).0).into()
    }
}

/// A client's contribution: 32 random bytes, secret until the client reveals them.
#[derive(Clone, Copy)]
pub struct Entropy(pub [u8; 32]);

impl Entropy {
    /// Derives entropy for a client that keeps one secret instead of remembering what it committed
    /// to: the first half of PRF(secret, "client-entropy", context, dealer's commitment, seat,
    /// player), with the secret padded with zeros to 64 bytes. Without the secret nothing can be
    /// learned of it, not even from entropy revealed in other hands. It differs in every hand and
    /// seat.
    #[must_use]
    pub fn derived(
        secret: &[u8; 32],
        context: &Context,
        dealer: &Commitment,
        seat: u8,
        player: PlayerId,
    ) -> Entropy {
        let mut key = Zeroizing::new([0; 64]);
        key[..32].copy_from_slice(secret);
        let fields: [&[u8]; 4] = [&context.0, &dealer.0, &[seat], player.bytes()];
        let long = prf(&keyed_hmac(&key), "client-entropy", &fields);
        Entropy(*long.first_chunk().expect("64 bytes are more than 32"))
    }
}

impl PartialEq for Entropy {
    fn eq(&self, other: &Entropy) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Entropy {}

impl fmt::Debug for Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entropy(..)")
    }
}

/// A client's commitment: H("client-commit", context, dealer's commitment, seat, player, entropy).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientCommitment(pub [u8; 32]);

impl ClientCommitment {
    #[must_use]
    pub fn new(
        context: &Context,
        dealer: &Commitment,
        seat: u8,
        player: PlayerId,
        entropy: &Entropy,
    ) -> ClientCommitment {
        let fields: [&[u8]; 5] = [&context.0, &dealer.0, &[seat], player.bytes(), &entropy.0];
        ClientCommitment(hash("client-commit", &fields))
    }

    /// Whether both commitments are equal, compared in constant time.
    #[must_use]
    pub fn matches(&self, other: &ClientCommitment) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(byte: u8) -> Seed {
        Seed::new(Zeroizing::new([byte; 64]))
    }

    /// fairness/SPEC.md §5.2.
    #[test]
    fn a_commitment_opens_with_its_seed_in_its_hand_only() {
        let (here, elsewhere) = (Context([1; 32]), Context([2; 32]));
        let commitment = Commitment::new(&here, &seed(9));
        assert!(commitment.opens(&here, &seed(9)));
        assert!(!commitment.opens(&here, &seed(8)));
        assert!(!commitment.opens(&elsewhere, &seed(9)));
    }

    /// fairness/SPEC.md §5.4.
    #[test]
    fn derived_entropy_is_another_wherever_anything_is() {
        let (context, dealer, player) = (Context([1; 32]), Commitment([2; 32]), PlayerId([3; 16]));
        let base = Entropy::derived(&[9; 32], &context, &dealer, 5, player);
        assert_eq!(base, Entropy::derived(&[9; 32], &context, &dealer, 5, player));
        let others = [
            Entropy::derived(&[8; 32], &context, &dealer, 5, player),
            Entropy::derived(&[9; 32], &Context([8; 32]), &dealer, 5, player),
            Entropy::derived(&[9; 32], &context, &Commitment([8; 32]), 5, player),
            Entropy::derived(&[9; 32], &context, &dealer, 6, player),
            Entropy::derived(&[9; 32], &context, &dealer, 5, PlayerId([8; 16])),
        ];
        assert!(others.iter().all(|other| *other != base));
    }

    /// fairness/SPEC.md §5.7.
    #[test]
    fn secrets_do_not_print() {
        assert_eq!(format!("{:?}", seed(0x41)), "Seed(..)");
        assert_eq!(format!("{:?}", Entropy([0x41; 32])), "Entropy(..)");
    }

    /// fairness/SPEC.md §5.3.
    #[test]
    fn every_field_of_a_client_commitment_counts() {
        let (context, dealer) = (Context([1; 32]), Commitment([2; 32]));
        let (player, entropy) = (PlayerId([3; 16]), Entropy([4; 32]));
        let base = ClientCommitment::new(&context, &dealer, 5, player, &entropy);
        let others = [
            ClientCommitment::new(&Context([9; 32]), &dealer, 5, player, &entropy),
            ClientCommitment::new(&context, &Commitment([9; 32]), 5, player, &entropy),
            ClientCommitment::new(&context, &dealer, 6, player, &entropy),
            ClientCommitment::new(&context, &dealer, 5, PlayerId([9; 16]), &entropy),
            ClientCommitment::new(&context, &dealer, 5, player, &Entropy([9; 32])),
        ];
        assert!(others.iter().all(|other| !base.matches(other)));
    }
}
