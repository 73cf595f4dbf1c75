//! Form of an answer's messages.

use bytes::Bytes;
use prost_reflect::MessageDescriptor;
use tonic::Status;

use super::json;
use crate::content_type::Codec;

/// Form of an answer's messages.
#[derive(Debug, Clone)]
pub(super) struct AnswerForm {
    pub(super) codec: Codec,
    pub(super) descriptor: MessageDescriptor,
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
}
