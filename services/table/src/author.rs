//! Authors of commands, and the requests that they come with.

use std::sync::Arc;

use eventlog::Request;
use primitives::RequestId;
use prost::Message;

/// Author of a command, and its request.
#[derive(Clone)]
pub(crate) struct Author {
    /// Caller, as it is recorded.
    pub actor: Arc<str>,
    pub trace: [u8; 16],
    pub request: RequestId,
    /// SHA-256 of the request's content.
    pub digest: [u8; 32],
}

impl Author {
    /// Record of the request with its answer, which a repeat gets again.
    pub(crate) fn answered(&self, answer: Vec<u8>) -> Request {
        Request { id: self.request, digest: self.digest, answer: answer.into() }
    }
}

/// Digest that tells a repeated request from another one under the same id.
#[must_use]
pub(crate) fn request_digest(method: &str, actor: &str, request: &impl Message) -> [u8; 32] {
    eventlog::request_digest(method, &[actor.as_bytes(), &request.encode_to_vec()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_depends_on_who_and_what() {
        let request = proto::table::v1::StandUpRequest::default();
        let one = request_digest("StandUp", "player:a", &request);
        assert_ne!(one, request_digest("StandUp", "player:b", &request));
        assert_ne!(one, request_digest("SitOut", "player:a", &request));
        assert_eq!(one, request_digest("StandUp", "player:a", &request));
    }
}
