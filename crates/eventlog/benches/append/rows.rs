//! Rows of the benchmark: events of 300 bytes with a request each, in 256 streams.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use system::clock::{Clock as _, SystemClock};

pub(crate) const PAYLOAD: usize = 300;
pub(crate) const ACTOR: &str = "player/01890a5d-ac96-774b-bcce-b302099a8057";

static NEXT: AtomicU64 = AtomicU64::new(0);

/// Incompressible bytes that depend on `state` alone.
fn noise<const N: usize>(mut state: u64) -> [u8; N] {
    let mut bytes = [0; N];
    for chunk in bytes.chunks_mut(8) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        chunk.copy_from_slice(&(word ^ (word >> 31)).to_be_bytes()[..chunk.len()]);
    }
    bytes
}

pub(crate) struct Row {
    pub(crate) stream: [u8; 16],
    pub(crate) payload: Bytes,
    /// UUIDv7 of the request.
    pub(crate) request: [u8; 16],
    pub(crate) digest: [u8; 32],
    pub(crate) answer: Bytes,
}

pub(crate) fn row() -> Row {
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let millis = SystemClock::new().now().0 / 1000;
    let mut request = noise::<16>(n);
    request[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
    request[6] = 0x70 | request[6] & 0x0f;
    request[8] = 0x80 | request[8] & 0x3f;
    Row {
        stream: noise(n % 256),
        payload: Bytes::copy_from_slice(&noise::<PAYLOAD>(n << 8)),
        request,
        digest: noise(n << 16),
        answer: Bytes::copy_from_slice(&noise::<16>(n)),
    }
}
