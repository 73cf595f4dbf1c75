//! Form of an answer's messages.

use std::sync::Arc;

use bytes::Bytes;
use prost_reflect::MessageDescriptor;
use tonic::Status;

use super::json;
use super::recent_answers::RecentAnswers;
use crate::content_type::Codec;

/// Form of an answer's messages.
#[derive(Debug, Clone)]
pub(super) struct AnswerForm {
    pub(super) codec: Codec,
    pub(super) descriptor: MessageDescriptor,
    /// Messages that streams have converted last.
    pub(super) recent: Arc<RecentAnswers>,
}

impl AnswerForm {
    /// Converts a message of gRPC.
    ///
    /// # Errors
    /// The message cannot be written as JSON.
    pub(super) fn convert(&self, message: Bytes) -> Result<Bytes, Box<Status>> {
        match self.codec {
            Codec::Protobuf => Ok(message),
            Codec::Json => json::from_protobuf(&self.descriptor, &message).map(Bytes::from),
        }
    }

    /// Converts a message of a stream, which others may have converted just now.
    ///
    /// # Errors
    /// As [`convert`](Self::convert).
    pub(super) fn convert_streamed(&self, message: Bytes) -> Result<Bytes, Box<Status>> {
        match self.codec {
            Codec::Protobuf => Ok(message),
            Codec::Json => self.recent.json_of(&self.descriptor, &message),
        }
    }
}
