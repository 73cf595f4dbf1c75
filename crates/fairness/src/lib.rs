//! Knows: how chance is made from a dealer's seed and the players' entropy, and every byte of it.
//! Does not know: games, tables, logs, clocks, where entropy comes from, or who may see a card.
//!
//! The scheme is `sabacc/fair/v1`. Neither the house nor a player can choose an outcome, and every
//! card, die and pulse can be computed again afterwards from public data:
//!
//! 1. The [`Context`] names the hand: log origin, table, hand number, rules.
//! 2. The dealer commits to a [`Seed`] of 64 bytes: [`Commitment`], signed
//!    ([`CommitmentStatement`]).
//! 3. Each client commits to 32 bytes of its own, bound to the dealer's commitment
//!    ([`ClientCommitment`]). They are revealed only when the dealer has signed the [`Closing`],
//!    which fixes them all.
//! 4. The [`Transcript`] hashes all of it, and is the salt under which the seed becomes [`Keys`].
//!    It begins the [`Chain`] of decisions, which players sign ([`DecisionStatement`]).
//! 5. [`perform`] turns the keys, an index and an [`Operation`] into an [`Outcome`]. The [`Shoe`]
//!    makes sure that each index is used once, and tracks the position of every card.
//! 6. After each shuffle the dealer publishes a root over salted card records ([`deck`]), so that a
//!    single card can be proved without showing another.
//!
//! [`evidence`] is the file in which a player keeps what was signed and what they opened. The package
//! `battery` tests outcomes.
//!
//! Everything is a function of its arguments. Secrets are wiped when dropped, compared in constant
//! time and never printed: their `Debug` shows their type alone.
//!
//! Specification: fairness/SPEC.md §4 to §8.

mod closing;
mod commit;
mod context;
mod decision;
pub mod deck;
mod encoding;
pub mod evidence;
mod hand_id;
mod keys;
mod operation;
mod player_key;
mod shoe;
mod signature;
mod transcript;
mod uniform;

pub use closing::{Closing, ClosingError, ClosingRow};
pub use commit::{ClientCommitment, Commitment, Entropy, Seed};
pub use context::{Context, rules_hash};
pub use decision::Chain;
pub use hand_id::hand_id;
pub use keys::Keys;
pub use operation::{MAX_CARDS, MAX_DICE, MAX_SAMPLE, Operation, OperationError, Outcome, perform};
pub use player_key::{KeyError, PlayerKey};
pub use shoe::{
    Handle, OperationRequest, ProvedCard, PublicOutcome, Shoe, ShoeError, ShuffleInput,
};
pub use signature::{
    BadSignature, ClosingStatement, CommitReceipt, CommitmentStatement, DecisionReceipt,
    DecisionStatement, KeyId, RevealReceipt, SignedText,
};
pub use transcript::{Beacon, RowStatus, Transcript, TranscriptError, TranscriptRow};
