//! Maps the dealer's errors and refusals to gRPC status.
//!
//! Specification: services/dealer/README.md "Commands".

use fairness::{ClosingError, ShoeError, TranscriptError};
use proto::common::v1::ErrorReason;
use tonic::Status;
use wire::api_refusal;

use crate::dealer::DealerError;
use crate::hand::Refusal;

impl From<DealerError> for Status {
    fn from(problem: DealerError) -> Status {
        let text = problem.to_string();
        match problem {
            DealerError::Refused(refusal) => api_refusal(ErrorReason::ChanceRefused, text)
                .with("refusal", refusal_name(&refusal))
                .into(),
            DealerError::UnknownHand => api_refusal(ErrorReason::HandUnknown, text).into(),
            DealerError::RequestIdReused => wire::status::request_id_reused().into(),
            DealerError::RequestIdTooOld => wire::status::request_id_too_old().into(),
            DealerError::Overloaded => api_refusal(ErrorReason::Overloaded, text).into(),
            DealerError::Entropy(_) | DealerError::MissingKey(_) | DealerError::Clock(_) => {
                api_refusal(ErrorReason::Unavailable, text).into()
            }
            DealerError::Unavailable => {
                wire::status::unavailable("the dealer's log is out of reach").into()
            }
            DealerError::Corrupt => api_refusal(ErrorReason::Corrupt, text).into(),
        }
    }
}

/// Name of a refusal in the metadata `refusal`.
fn refusal_name(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::OtherRules => "OTHER_RULES",
        Refusal::OutOfOrder => "OUT_OF_ORDER",
        Refusal::ForeignPromise => "FOREIGN_PROMISE",
        Refusal::NumberLost { .. } => "NUMBER_LOST",
        Refusal::NotClosed => "NOT_CLOSED",
        Refusal::ClosedOtherwise => "CLOSED_OTHERWISE",
        Refusal::NotTheClosing => "NOT_THE_CLOSING",
        Refusal::Closing(ClosingError::Empty) => "NO_SEATS",
        Refusal::Closing(ClosingError::SeatsNotAscending { .. }) => "SEATS_NOT_ASCENDING",
        Refusal::Closing(ClosingError::PlayerTwice { .. }) => "PLAYER_TWICE",
        Refusal::NotSealed => "NOT_SEALED",
        Refusal::SealedOtherwise => "SEALED_OTHERWISE",
        Refusal::Withheld => "WITHHELD",
        Refusal::Revealed => "REVEALED",
        Refusal::RevealedOtherwise { .. } => "REVEALED_OTHERWISE",
        Refusal::Transcript(TranscriptError::SeatsNotAscending { .. }) => "SEATS_NOT_ASCENDING",
        Refusal::Transcript(TranscriptError::RevealDoesNotOpen { .. }) => "REVEAL_DOES_NOT_OPEN",
        Refusal::Shoe(ShoeError::IndexGap { .. }) => "INDEX_GAP",
        Refusal::Shoe(ShoeError::IndexUsed { .. }) => "INDEX_USED",
        Refusal::Shoe(ShoeError::PileEmpty { .. }) => "PILE_EMPTY",
        Refusal::Shoe(ShoeError::PileNotFresh { .. }) => "PILE_NOT_FRESH",
        Refusal::Shoe(ShoeError::CardsNotNew { .. }) => "CARDS_NOT_NEW",
        Refusal::Shoe(ShoeError::CardUnknown(_)) => "CARD_UNKNOWN",
        Refusal::Shoe(ShoeError::CardStale(_)) => "CARD_STALE",
        Refusal::Shoe(ShoeError::CardTwice(_)) => "CARD_TWICE",
        Refusal::Shoe(ShoeError::Operation(_)) => "OUT_OF_BOUNDS",
    }
}
