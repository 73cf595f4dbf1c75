//! Violations of the rules of chance, the party at fault, and the evidence.

use proto::common::v1::Commitment;
use std::fmt;

use fairness::evidence::Entry;
use proto::table::v1::EntropyReceipt;

/// Party at fault. The dealer's messages reach a client through the table: the dealer is at fault
/// for what it signed and for what its own seed shows, the table for all that it should have
/// refused to pass on. The hand's records tell the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartyAtFault {
    Dealer,
    Table,
}

impl fmt::Display for PartyAtFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PartyAtFault::Dealer => "the dealer",
            PartyAtFault::Table => "the table",
        })
    }
}

/// Violation of the rules of chance, with the evidence. Stop playing and keep it: its signed parts
/// prove the fault to others.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{party} cannot be trusted in hand {hand_no}: {kind}")]
pub struct FairnessViolation {
    pub party: PartyAtFault,
    pub hand_no: u64,
    pub kind: ViolationKind,
    /// The dealer's commitment for this hand, as far as it is known.
    pub commitment: Option<Commitment>,
    /// The table's receipt for this client's commitment, if it gave one.
    pub receipt: Option<EntropyReceipt>,
    /// All that is kept of this hand number, as the evidence file has it.
    pub evidence: Vec<Entry>,
}

/// Kind of a violation. It never contains a card or a secret.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ViolationKind {
    #[error("{0} is missing where it is due")]
    Missing(&'static str),
    #[error("the hand has another rule set or other settings than the player sat down to")]
    OtherRules,
    #[error("{0} cannot be read, or lies outside the bounds")]
    UnreadableRules(&'static str),
    #[error("seat {seat} has withheld its entropy, and is dealt in before it has sat out")]
    NotExcluded { seat: u32 },
    #[error("hand {expected} is skipped")]
    NumberSkipped { expected: u64 },
    #[error("the number was used before")]
    NumberRepeated,
    #[error("it was opened before hand {before} ended")]
    NotEnded { before: u64 },
    #[error("the dealer's commitment is not signed with a key that is trusted")]
    CommitmentSignature,
    #[error("the dealer has committed to this hand a second time, to another seed")]
    SecondCommitment { second: Box<Commitment> },
    #[error("the receipt is for something else: {0}")]
    ReceiptContent(&'static str),
    #[error("the receipt is not signed with a key that is trusted")]
    ReceiptSignature,
    #[error("the closing is not signed with a key that is trusted")]
    ClosingSignature,
    #[error("the dealer has closed the commitments a second time, in another way")]
    SecondClosing,
    #[error("the closing is not that of the hand: {0}")]
    WrongClosing(&'static str),
    #[error("the hand was dealt from other commitments than the dealer had closed")]
    NotAsClosed,
    #[error("the hand was dealt without the commitment that a receipt was given for")]
    CommitmentDropped,
    #[error("the hand was dealt with other entropy than was revealed")]
    EntropyChanged,
    #[error("this client is blamed for withholding what the table gave a receipt for")]
    BlamedDespiteReceipt,
    #[error("this client is blamed for withholding what it never committed to")]
    BlamedWithoutCommitment,
    #[error("it is said to be burnt, and was dealt before")]
    BurntAfterDeal,
    #[error("it is said to be over because the dealer was silent, of which nothing was told")]
    SilenceUnannounced,
    #[error("it is said to be ended by all its players, and this client has not agreed")]
    EndedWithoutConsent,
    #[error("it was ended before the time was over that the dealer has to answer")]
    EndedEarly,
    #[error("what the seats brought to chance is told wrongly: {0}")]
    WrongRows(&'static str),
    #[error("the transcript is not that of what the seats brought")]
    WrongTranscript,
    #[error("a second, different commitment to shuffle {op}")]
    SecondRoot { op: u32 },
    #[error("a card is shown from shuffle {op}, which nothing was committed to for")]
    NoRoot { op: u32 },
    #[error("a card is shown without proof that it lies there")]
    Unproved,
    #[error("the card at {op}:{position} is not what was committed to when it was shuffled")]
    WrongProof { op: u32, position: u32 },
    #[error("the card at {op}:{position} is shown as another than the one that is proved")]
    OtherCard { op: u32, position: u32 },
    #[error("the chain of decisions does not go on from the decisions before")]
    WrongChain,
    #[error("a decision of this client is told that it never signed")]
    ForeignDecision,
    #[error("a decision that the table gave a receipt for is not in the chain")]
    DecisionDropped,
    #[error("the seed that was opened is not the one that was committed to")]
    WrongSeed,
    #[error("the seed that was opened gives another salt for the card at {op}:{position}")]
    WrongSalt { op: u32, position: u16 },
    #[error("the seed that was opened gives another order for shuffle {op}")]
    WrongOrder { op: u32 },
    #[error("the seed is the one that was committed to, and yet is said to be refused")]
    WronglyRefused,
    #[error("its seed was opened before it ended")]
    SeedEarly,
    #[error("its seed stays shut, an hour after it was due")]
    SeedOverdue,
    #[error("{0} has not the length that it always has")]
    Malformed(&'static str),
}

impl ViolationKind {
    /// Names the party at fault.
    pub(super) fn attributed_to(self, culprit: PartyAtFault) -> Fault {
        Fault { party: culprit, kind: self }
    }
}

/// Violation without the evidence of its hand.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    pub(super) party: PartyAtFault,
    pub(super) kind: ViolationKind,
}

/// The table is at fault by default.
impl From<ViolationKind> for Fault {
    fn from(what: ViolationKind) -> Fault {
        what.attributed_to(PartyAtFault::Table)
    }
}
