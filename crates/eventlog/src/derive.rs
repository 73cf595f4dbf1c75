//! Digests of requests, and ids that services derive.
//!
//! All are SHA-256 over a domain, a purpose and parts. Each part is hashed with its length, so that
//! no two lists give equal bytes.
//!
//! Specification: ARCHITECTURE.md §2.9.

use primitives::{RequestId, UnixMicros};
use sha2::{Digest as _, Sha256};

/// Digest of a request's content, which tells a repeat from another request under its id.
#[must_use]
pub fn request_digest(method: &str, content: &[&[u8]]) -> [u8; 32] {
    hash("sabacc/request-digest/v1", method, content)
}

/// Id of a request that a service derives from all that it depends on. It begins with the time `at`,
/// so that ids sort nearly in the order in which they are used.
///
/// A repeat needs the same id, so `at` is a time that does not change while the request may be
/// repeated, such as that of a recorded event. Where there is none it is zero.
#[must_use]
pub fn derived_id(purpose: &str, at: UnixMicros, parts: &[&[u8]]) -> RequestId {
    let time = at.0.to_be_bytes();
    let parts = [&[&time[..]], parts].concat();
    let hash = hash("sabacc/request-id/v3", purpose, &parts);
    RequestId::derived(at, *hash.first_chunk().expect("a hash has 32 bytes"))
}

pub(crate) fn hash(domain: &str, purpose: &str, parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(domain);
    for part in [purpose.as_bytes()].iter().chain(parts) {
        hash.update(u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// ARCHITECTURE.md §2.9.
    #[test]
    fn purpose_and_every_part_distinguish_digests() {
        let lists: [(&str, &[&[u8]]); 6] = [
            ("a", &[]),
            ("a", &[b""]),
            ("a", &[b"bc"]),
            ("a", &[b"b", b"c"]),
            ("ab", &[b"c"]),
            ("b", &[b"bc"]),
        ];
        let digests = lists.map(|(method, parts)| request_digest(method, parts));
        assert_eq!(BTreeSet::from(digests).len(), lists.len());
        // Two times within a millisecond, and none.
        let times = [0, 1_700_000_000_000_000, 1_700_000_000_000_001].map(UnixMicros);
        let mut ids = BTreeSet::new();
        for at in times {
            for (purpose, parts) in lists {
                let id = derived_id(purpose, at, parts);
                assert!(id.is_derived());
                assert_eq!(id.leading_time(), (at != times[0]).then_some(times[1]));
                assert_eq!(derived_id(purpose, at, parts), id);
                ids.insert(id);
            }
        }
        assert_eq!(ids.len(), times.len() * lists.len());
    }
}
