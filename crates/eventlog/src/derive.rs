//! Digests of requests, and ids that services derive.
//!
//! All are SHA-256 over a domain, a purpose and parts. Each part is hashed with its length, so that
//! no two lists give equal bytes.
//!
//! Specification: ARCHITECTURE.md §2.9.

use primitives::RequestId;
use sha2::{Digest as _, Sha256};

/// Digest of a request's content, which tells a repeat from another request under its id.
#[must_use]
pub fn request_digest(method: &str, content: &[&[u8]]) -> [u8; 32] {
    hash("sabacc/request-digest/v1", method, content)
}

/// Id of a request that a service derives from all that it depends on.
#[must_use]
pub fn derived_id(purpose: &str, parts: &[&[u8]]) -> RequestId {
    let hash = hash("sabacc/request-id/v2", purpose, parts);
    RequestId::derived(*hash.first_chunk().expect("a hash has 32 bytes"))
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
        let ids = lists.map(|(purpose, parts)| derived_id(purpose, parts));
        assert!(ids.iter().all(|id| id.is_derived()));
        assert_eq!(BTreeSet::from(digests).len(), lists.len());
        assert_eq!(BTreeSet::from(ids).len(), lists.len());
    }
}
