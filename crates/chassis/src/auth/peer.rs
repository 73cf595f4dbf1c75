//! Who is at the other end of a connection, by the certificate that was shown.
//!
//! A token says who calls, and whoever reads one can show it. Where callers have certificates, a
//! service's token counts only on a connection whose certificate bears the service's name.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;

use super::{Identity, Role};

/// The names in a caller's certificate. In the extensions of every request that came over a
/// connection with one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PeerNames(Arc<[String]>);

impl PeerNames {
    /// The DNS names in the certificate's subjectAltName; none where it cannot be read.
    pub(crate) fn of(certificate: &CertificateDer<'_>) -> PeerNames {
        let read = webpki::EndEntityCert::try_from(certificate);
        let names = read.iter().flat_map(|read| read.valid_dns_names().map(str::to_owned));
        PeerNames(names.collect())
    }

    /// Whether a token of this identity may come over the connection. People's tokens are passed on
    /// by services.
    pub(crate) fn fits(&self, identity: &Identity) -> bool {
        match identity.role {
            Role::Service => self.0.contains(&identity.subject),
            Role::Player | Role::Operator | Role::Auditor => true,
        }
    }
}
