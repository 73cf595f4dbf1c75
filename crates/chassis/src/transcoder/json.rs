//! Messages in JSON, by their descriptors (the JSON mapping of protobuf).
//!
//! An unknown field is refused with its name: a misspelt one must not be passed over in silence.
//! The depth of a request is bounded twice: by `serde_json`, and by the messages themselves, none
//! of which contains itself or an `Any`.

use prost::Message as _;
use prost_reflect::{DynamicMessage, MessageDescriptor};
use tonic::Status;

use crate::refusal::{Reason, bad_request, refusal};

/// Most characters of a parser's error that are repeated to the caller, since they are the caller's
/// own words and an answer's headers are bounded.
const MAX_ERROR_CHARS: usize = 200;

/// Encodes a JSON text as a message.
///
/// # Errors
/// The text is no JSON of this message; the status says where.
pub(super) fn to_protobuf(
    descriptor: &MessageDescriptor,
    text: &[u8],
) -> Result<Vec<u8>, Box<Status>> {
    if text.is_empty() {
        let words = "the body is empty: a message in JSON is an object, {} at the least";
        return Err(Box::new(refusal(Reason::BadField, words)));
    }
    let mut reader = serde_json::Deserializer::from_slice(text);
    let message = DynamicMessage::deserialize(descriptor.clone(), &mut reader)
        .and_then(|message| reader.end().map(|()| message));
    message.map(|message| message.encode_to_vec()).map_err(|error| {
        let error = cut(&error.to_string());
        let words = format!("the request is no {} in JSON: {error}", descriptor.full_name());
        Box::new(bad_request(words, &field_of(&error), &error))
    })
}

/// Decodes a message and writes it as JSON.
///
/// # Errors
/// The bytes are no such message.
pub(super) fn from_protobuf(
    descriptor: &MessageDescriptor,
    message: &[u8],
) -> Result<Vec<u8>, Box<Status>> {
    let json = DynamicMessage::decode(descriptor.clone(), message)
        .map_err(|error| error.to_string())
        .and_then(|message| serde_json::to_vec(&message).map_err(|error| error.to_string()));
    json.map_err(|error| {
        tracing::warn!(message = descriptor.full_name(), %error, "an answer cannot be written as JSON");
        let words = "the answer cannot be written as JSON: ask for it in protobuf";
        Box::new(refusal(Reason::Corrupt, words))
    })
}

fn cut(text: &str) -> String {
    let end = text.char_indices().nth(MAX_ERROR_CHARS).map_or(text.len(), |(at, _)| at);
    text[..end].chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Name of the unknown field that an error is about; empty if it is about something else.
fn field_of(error: &str) -> String {
    let name =
        error.split_once("unrecognized field name '").and_then(|(_, rest)| rest.split_once('\''));
    name.map(|(name, _)| name.to_owned()).unwrap_or_default()
}
