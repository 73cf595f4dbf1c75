//! Maps the dealer's errors and refusals to gRPC status.

use fairness::{ShoeError, TranscriptError};
use proto::common::v1::ErrorReason;
use tonic::Status;
use wire::refused;

use crate::dealer::Problem;
use crate::hand::Refusal;

impl From<Problem> for Status {
    fn from(problem: Problem) -> Status {
        let text = problem.to_string();
        match problem {
            Problem::Refused(refusal) => {
                refused(ErrorReason::ChanceRefused, text).with("refusal", name(&refusal)).into()
            }
            Problem::UnknownHand => refused(ErrorReason::HandUnknown, text).into(),
            Problem::Reused => wire::status::request_id_reused().into(),
            Problem::Overloaded => refused(ErrorReason::Overloaded, text).into(),
            Problem::Entropy(_) | Problem::NoKey(_) | Problem::Clock(_) => {
                refused(ErrorReason::Unavailable, text).into()
            }
            Problem::Unavailable => {
                wire::status::unavailable("the dealer's log is out of reach").into()
            }
            Problem::Corrupt => refused(ErrorReason::Corrupt, text).into(),
        }
    }
}

/// Name of a refusal in the metadata `refusal`.
fn name(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::OtherRules => "OTHER_RULES",
        Refusal::NotSealed => "NOT_SEALED",
        Refusal::SealedOtherwise => "SEALED_OTHERWISE",
        Refusal::Withheld => "WITHHELD",
        Refusal::Revealed => "REVEALED",
        Refusal::RevealedOtherwise { .. } => "REVEALED_OTHERWISE",
        Refusal::Transcript(TranscriptError::NotAscending { .. }) => "SEATS_NOT_ASCENDING",
        Refusal::Transcript(TranscriptError::NotOpened { .. }) => "REVEAL_DOES_NOT_OPEN",
        Refusal::Shoe(ShoeError::Gap { .. }) => "INDEX_GAP",
        Refusal::Shoe(ShoeError::Different { .. }) => "INDEX_USED",
        Refusal::Shoe(ShoeError::NoCards { .. }) => "PILE_EMPTY",
        Refusal::Shoe(ShoeError::NotFresh { .. }) => "PILE_NOT_FRESH",
        Refusal::Shoe(ShoeError::FreshRange { .. }) => "CARDS_NOT_NEW",
        Refusal::Shoe(ShoeError::Unknown(_)) => "CARD_UNKNOWN",
        Refusal::Shoe(ShoeError::Stale(_)) => "CARD_STALE",
        Refusal::Shoe(ShoeError::Twice(_)) => "CARD_TWICE",
        Refusal::Shoe(ShoeError::Operation(_)) => "OUT_OF_BOUNDS",
    }
}
