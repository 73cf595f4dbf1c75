//! Answers of commands, on their way from a table's task to the caller. Each is encoded once for the
//! log and once for the caller.

use prost::Message;
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use wire::{ApiRefusal, api_refusal};

use crate::commands::Command;

/// Answer of a command.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// The bytes that the log keeps: all of the answer.
    Stored(Vec<u8>),
    Act(pb::ActResponse),
    CommitEntropy(pb::CommitEntropyResponse),
    RevealEntropy(pb::RevealEntropyResponse),
    StandUp(pb::StandUpResponse),
}

/// Answer of a command, or its refusal.
pub(crate) type Outcome = Result<Answer, ApiRefusal>;

impl Answer {
    /// Answer to a command that has written nothing, as it was encoded: without a receipt.
    pub(crate) fn without_receipt(command: &Command, encoded: Vec<u8>) -> Outcome {
        match command {
            Command::CommitEntropy { .. } => decode(&encoded).map(Answer::CommitEntropy),
            Command::RevealEntropy { .. } => decode(&encoded).map(Answer::RevealEntropy),
            Command::Act(_) => decode(&encoded).map(Answer::Act),
            Command::StandUp { .. } => decode(&encoded).map(Answer::StandUp),
            Command::SitDown { .. }
            | Command::SitOut { .. }
            | Command::Resume(_)
            | Command::PublishName { .. }
            | Command::Disable(_)
            | Command::Enable(_)
            | Command::Close => Ok(Answer::Stored(encoded)),
        }
    }
}

/// Message that answers a call.
pub(crate) trait FromAnswer: Sized {
    /// The message of an answer; `CORRUPT` for the answer of another command.
    fn from_answer(answer: Answer) -> Result<Self, ApiRefusal>;
}

/// Implements the conversion for messages that are always as the log keeps them.
macro_rules! stored {
    ($($message:ident)*) => {$(
        impl FromAnswer for pb::$message {
            fn from_answer(answer: Answer) -> Result<Self, ApiRefusal> {
                match answer {
                    Answer::Stored(bytes) => decode(&bytes),
                    Answer::Act(_)
                    | Answer::CommitEntropy(_)
                    | Answer::RevealEntropy(_)
                    | Answer::StandUp(_) => Err(damaged()),
                }
            }
        }
    )*};
}

/// Implements the conversion for messages with a receipt, which the log does not keep.
macro_rules! receipted {
    ($($variant:ident $message:ident;)*) => {$(
        impl FromAnswer for pb::$message {
            fn from_answer(answer: Answer) -> Result<Self, ApiRefusal> {
                if let Answer::$variant(message) = answer { Ok(message) } else { Err(damaged()) }
            }
        }
    )*};
}

stored! {
    SitDownResponse SitOutResponse CloseTableResponse ResumeTableResponse DisableTableResponse
    EnableTableResponse
}

receipted! {
    Act ActResponse;
    CommitEntropy CommitEntropyResponse;
    RevealEntropy RevealEntropyResponse;
    StandUp StandUpResponse;
}

/// Decodes what the log keeps of an answer.
pub(crate) fn decode<M: Message + Default>(stored: &[u8]) -> Result<M, ApiRefusal> {
    M::decode(stored).map_err(|_| damaged())
}

pub(crate) fn damaged() -> ApiRefusal {
    api_refusal(ErrorReason::Corrupt, "the stored answer is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_that_of_its_command_alone() {
        let act = pb::ActResponse { sequence: 7, receipt: None };
        assert_eq!(pb::ActResponse::from_answer(Answer::Act(act.clone())).unwrap(), act);
        let stored = Answer::Stored(act.encode_to_vec());
        let refusal = pb::ActResponse::from_answer(stored).unwrap_err();
        assert_eq!(refusal.reason(), ErrorReason::Corrupt);
        let refusal = pb::CloseTableResponse::from_answer(Answer::Act(act)).unwrap_err();
        assert_eq!(refusal.reason(), ErrorReason::Corrupt);
        let seat = pb::SitDownResponse { seat: 3 };
        let stored = Answer::Stored(seat.encode_to_vec());
        assert_eq!(pb::SitDownResponse::from_answer(stored).unwrap(), seat);
    }
}
