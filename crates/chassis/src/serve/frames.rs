//! gRPC message framing in a body: one byte of flags, four bytes of length, the message.

/// Position in a body, relative to its messages.
#[derive(Debug, Clone, Default)]
pub(crate) struct FramePosition {
    head: [u8; HEAD_BYTES],
    /// Bytes of the current head that were seen.
    seen: usize,
    /// Bytes of the current message that were not seen yet.
    left: usize,
}

/// Bytes before each message.
pub(crate) const HEAD_BYTES: usize = 5;

/// Result of advancing over bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Advance {
    /// Number of bytes: up to the end of a message, or all.
    pub(crate) bytes: usize,
    /// Length of the message whose head was completed.
    pub(crate) message_bytes: Option<usize>,
}

impl FramePosition {
    /// Whether the position is between two messages.
    pub(crate) const fn is_between(&self) -> bool {
        self.seen == 0
    }

    /// Advances over bytes, at most to the end of the current message.
    pub(crate) fn advance(&mut self, bytes: &[u8]) -> Advance {
        let mut begun = None;
        let of_head = bytes.len().min(HEAD_BYTES - self.seen);
        if let Some(head) = self.head.get_mut(self.seen..self.seen + of_head) {
            head.copy_from_slice(&bytes[..of_head]);
        }
        if of_head > 0 && self.seen + of_head == HEAD_BYTES {
            let [_, length @ ..] = self.head;
            self.left = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
            begun = Some(self.left);
        }
        self.seen += of_head;
        let of_message = self.left.min(bytes.len() - of_head);
        self.left -= of_message;
        if self.seen == HEAD_BYTES && self.left == 0 {
            self.seen = 0;
        }
        Advance { bytes: of_head + of_message, message_bytes: begun }
    }

    /// Advances over all bytes.
    pub(crate) fn advance_all(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let Advance { bytes: passed, message_bytes: _ } = self.advance(bytes);
            bytes = &bytes[passed..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_however_they_are_cut() {
        let body = [&[0, 0, 0, 0, 3][..], b"abc", &[0; 5], &[1, 0, 0, 1, 0], &[9; 256]].concat();
        for cut in 1..body.len() {
            let (mut frames, mut lengths, mut ends) =
                (FramePosition::default(), Vec::new(), Vec::new());
            let mut at = 0;
            for mut piece in body.chunks(cut) {
                while !piece.is_empty() {
                    let Advance { bytes, message_bytes: begun } = frames.advance(piece);
                    assert!(bytes > 0);
                    lengths.extend(begun);
                    at += bytes;
                    if frames.is_between() {
                        ends.push(at);
                    }
                    piece = &piece[bytes..];
                }
            }
            assert_eq!((lengths, ends), (vec![3, 0, 256], vec![8, 13, body.len()]), "{cut}");
        }
        let mut frames = FramePosition::default();
        frames.advance_all(&body[..10]);
        assert!(!frames.is_between());
        frames.advance_all(&body[10..]);
        assert!(frames.is_between());
    }
}
