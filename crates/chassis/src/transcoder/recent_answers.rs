//! Messages of streams that were written as JSON last. All who watch a table without a seat get the
//! same messages, so each is written once, however many watch.
//!
//! The oldest goes first: a map and a queue, too little for crate `lru`.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use prost_reflect::MessageDescriptor;
use tonic::Status;

use super::json;

/// Most bytes of messages and their JSON that are kept.
const MAX_KEPT_BYTES: usize = 4 << 20;
/// Most bytes of a message that is kept, so that one caller's long message does not displace all
/// others.
const MAX_MESSAGE_BYTES: usize = 64 << 10;

/// Cache of messages as JSON. Who has the same bytes to send gets the same text.
#[derive(Debug, Default)]
pub(super) struct RecentAnswers(Mutex<Recent>);

#[derive(Debug, Default)]
struct Recent {
    json: BTreeMap<Message, Bytes>,
    /// Keys of `json` in the order of their arrival.
    order: VecDeque<Message>,
    /// Bytes of keys and texts.
    bytes: usize,
}

/// Message in protobuf, with its type.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Message {
    descriptor: MessageDescriptor,
    encoded: Bytes,
}

impl Ord for Message {
    fn cmp(&self, other: &Message) -> Ordering {
        let by_length = self.encoded.len().cmp(&other.encoded.len());
        by_length
            .then_with(|| self.encoded.cmp(&other.encoded))
            .then_with(|| self.descriptor.full_name().cmp(other.descriptor.full_name()))
    }
}

impl PartialOrd for Message {
    fn partial_cmp(&self, other: &Message) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl RecentAnswers {
    /// Writes a message as JSON, unless that was done just now.
    ///
    /// # Errors
    /// The bytes are no such message.
    pub(super) fn json_of(
        &self,
        descriptor: &MessageDescriptor,
        encoded: &[u8],
    ) -> Result<Bytes, Box<Status>> {
        if encoded.len() > MAX_MESSAGE_BYTES {
            return json::from_protobuf(descriptor, encoded).map(Bytes::from);
        }
        // A copy, so that no whole buffer of a connection stays for a message's sake.
        let encoded = Bytes::copy_from_slice(encoded);
        let message = Message { descriptor: descriptor.clone(), encoded };
        if let Some(written) = self.recent().json.get(&message) {
            return Ok(written.clone());
        }
        let written = Bytes::from(json::from_protobuf(descriptor, &message.encoded)?);
        self.recent().keep(message, written.clone());
        Ok(written)
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recent {
    fn keep(&mut self, message: Message, written: Bytes) {
        let bytes = message.encoded.len() + written.len();
        if self.json.insert(message.clone(), written).is_some() {
            // Another stream was as fast.
            return;
        }
        self.bytes += bytes;
        self.order.push_back(message);
        while self.bytes > MAX_KEPT_BYTES {
            let Some(oldest) = self.order.pop_front() else { return };
            let text = self.json.remove(&oldest).unwrap_or_default();
            self.bytes -= oldest.encoded.len() + text.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use prost_reflect::DescriptorPool;

    use super::*;

    fn descriptor(name: &str) -> MessageDescriptor {
        let pool = DescriptorPool::decode(tonic_health::pb::FILE_DESCRIPTOR_SET).unwrap();
        pool.get_message_by_name(&format!("grpc.health.v1.{name}")).unwrap()
    }

    /// Request for the health of a service whose name has this length.
    fn request(length: usize) -> Vec<u8> {
        let mut encoded = vec![0x0a];
        prost::encoding::encode_varint(length as u64, &mut encoded);
        encoded.resize(encoded.len() + length, b'a');
        encoded
    }

    #[test]
    fn the_same_message_is_written_once_and_another_type_is_another_message() {
        let (recent, request) = (RecentAnswers::default(), request(1));
        let (descriptor, other) =
            (descriptor("HealthCheckRequest"), descriptor("HealthCheckResponse"));
        let first = recent.json_of(&descriptor, &request).unwrap();
        assert_eq!(first, br#"{"service":"a"}"#[..]);
        let again = recent.json_of(&descriptor, &request).unwrap();
        assert_eq!(again.as_ptr(), first.as_ptr());
        // Its first field is a number.
        assert!(recent.json_of(&other, &request).is_err());
        assert!(recent.json_of(&descriptor, b"\x0a\x05a").is_err());
        assert_eq!(recent.recent().order.len(), 1);
    }

    #[test]
    fn the_oldest_goes_and_a_long_message_is_not_kept() {
        let recent = RecentAnswers::default();
        let descriptor = descriptor("HealthCheckRequest");
        let long = recent.json_of(&descriptor, &request(MAX_MESSAGE_BYTES)).unwrap();
        assert!(long.len() > MAX_MESSAGE_BYTES && recent.recent().order.is_empty());
        for length in 0..200 {
            recent.json_of(&descriptor, &request(MAX_MESSAGE_BYTES - 200 + length)).unwrap();
        }
        let kept = recent.recent();
        assert!(kept.bytes <= MAX_KEPT_BYTES && kept.order.len() > 20, "{}", kept.order.len());
        assert_eq!(kept.order.len(), kept.json.len());
        let bytes = kept.json.iter().map(|(message, text)| message.encoded.len() + text.len());
        assert_eq!(bytes.sum::<usize>(), kept.bytes);
        let oldest = Message { descriptor, encoded: request(MAX_MESSAGE_BYTES - 200).into() };
        assert!(!kept.json.contains_key(&oldest));
    }
}
