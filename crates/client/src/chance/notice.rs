//! Notices to a player about chance that are no violation: nobody can be convicted of them.

use std::fmt;

/// Notice for the player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Notice {
    /// The player's own number is not in the hand: the others may all be the house's.
    NotInClosing { hand_no: u64 },
    /// Many of the last twenty hand numbers were burnt or aborted.
    ManyBroken { hand_no: u64, broken: usize },
    /// The key of the dealer's log is not known, so this client contributes nothing.
    NoDealerKey,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::NotInClosing { hand_no } => write!(
                f,
                "your number is not in hand {hand_no}: whoever made all the others may have chosen \
                 its cards"
            ),
            Notice::ManyBroken { hand_no, broken } => write!(
                f,
                "{broken} of the last twenty hand numbers came to nothing, the last of them \
                 {hand_no}: somebody may be throwing away hands that they dislike"
            ),
            Notice::NoDealerKey => f.write_str(
                "the key of the dealer's log is not known: without it this client does not take \
                 part in chance",
            ),
        }
    }
}
