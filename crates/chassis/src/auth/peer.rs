//! Names in the certificate that a caller showed on its connection.
//!
//! A token is a bearer credential: a third party that reads it can show it. Where callers have
//! certificates, a service's token is valid only on a connection whose certificate has the
//! service's name.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;

use super::{Identity, Role};

/// DNS names of a caller's certificate. Lies in the extensions of each request that came over a
/// connection with a client certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PeerNames(Arc<[String]>);

impl PeerNames {
    /// DNS names in the certificate's subjectAltName; empty if the certificate cannot be parsed.
    pub(crate) fn from_certificate(certificate: &CertificateDer<'_>) -> PeerNames {
        let read = webpki::EndEntityCert::try_from(certificate);
        let names = read.iter().flat_map(|read| read.valid_dns_names().map(str::to_owned));
        PeerNames(names.collect())
    }

    /// Whether a token of this identity may come over the connection. Only tokens of services are
    /// bound to the certificate: services forward the tokens of people.
    pub(crate) fn allows(&self, identity: &Identity) -> bool {
        match identity.role {
            Role::Service => self.0.contains(&identity.subject),
            Role::Player | Role::Operator | Role::Auditor => true,
        }
    }
}
