//! Envelopes of messages: one byte of flags, four bytes of length, the message. gRPC, gRPC-Web and
//! Connect's streams share them; the flags of an answer's end differ.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};

use crate::serve::HEAD_BYTES;

/// Flags of a message that is not compressed.
pub(super) const MESSAGE: u8 = 0;
/// Flags of the end of a Connect stream: JSON with the error and the trailers.
pub(super) const CONNECT_END: u8 = 2;
/// Flags of the end of a gRPC-Web answer: the trailers as text.
pub(super) const GRPC_WEB_END: u8 = 0x80;

/// Envelope that stands at the beginning of `buffer`; `None` if its head is not there yet.
pub(super) fn peek(buffer: &[u8]) -> Option<(u8, usize)> {
    let (flags, rest) = buffer.split_first()?;
    let length = rest.first_chunk()?;
    Some((*flags, usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX)))
}

/// Takes the first message of `buffer`; `None` if it is not whole yet.
pub(super) fn take(buffer: &mut BytesMut) -> Option<(u8, Bytes)> {
    let (flags, length) = peek(buffer)?;
    if buffer.len() - HEAD_BYTES < length {
        return None;
    }
    buffer.advance(HEAD_BYTES);
    Some((flags, buffer.split_to(length).freeze()))
}

/// Puts a message into its envelope.
pub(super) fn wrap(flags: u8, message: &[u8], into: &mut BytesMut) {
    into.reserve(HEAD_BYTES + message.len());
    into.put_u8(flags);
    into.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    into.put_slice(message);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrapped_is_taken_out_again_and_nothing_before_it_is_whole() {
        let mut wire = BytesMut::new();
        wrap(MESSAGE, b"abc", &mut wire);
        wrap(CONNECT_END, b"", &mut wire);
        let whole = wire.clone().freeze();
        for cut in 0..HEAD_BYTES + 3 {
            assert_eq!(take(&mut BytesMut::from(&whole[..cut])), None, "{cut}");
        }
        assert_eq!(take(&mut wire), Some((MESSAGE, Bytes::from_static(b"abc"))));
        assert_eq!(take(&mut wire), Some((CONNECT_END, Bytes::new())));
        assert_eq!(take(&mut wire), None);
    }
}
