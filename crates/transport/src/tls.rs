//! Certificates of both ends of a connection.
//!
//! A server with a `client_ca` accepts only callers with a certificate of that authority. One TLS
//! library (rustls) with one provider (ring) serves both ends.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;
use tonic::transport::{Certificate, ClientTlsConfig, Identity};

use system::secret::Secret;

/// Certificate and trusted authority of one end, in PEM.
#[derive(Clone)]
pub struct Tls {
    /// Certificate chain and private key of this end; required on a server.
    certificate: Option<(String, Secret)>,
    /// Authority by which the other end's certificates are verified. A server with one refuses
    /// callers without a certificate of it; a client without one uses the well-known roots.
    authority: Option<String>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("certificate", &self.certificate.is_some())
            .field("authority", &self.authority.is_some())
            .finish()
    }
}

/// Error of certificates or keys that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{path} cannot be read: {source}")]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("a certificate needs its key and a key its certificate: name both files")]
    HalfOfAPair,
    #[error(
        "a server cannot show a certificate without having one: name a certificate and its key"
    )]
    NothingToShow,
    #[error("not PEM of {what}: {source}")]
    NotPem { what: &'static str, source: rustls::pki_types::pem::Error },
    #[error("the certificate and its key cannot be used: {0}")]
    Unusable(#[from] rustls::Error),
    #[error("the certificates of the client authority cannot be used: {0}")]
    Authority(#[from] rustls::server::VerifierBuilderError),
}

impl Tls {
    /// TLS configuration from texts in PEM.
    #[must_use]
    pub const fn new(certificate: Option<(String, Secret)>, authority: Option<String>) -> Tls {
        Tls { certificate, authority }
    }

    /// Reads the files; `None` if no file is named.
    ///
    /// # Errors
    /// A file cannot be read, or only one of certificate and key is named.
    pub fn from_files(
        certificate: Option<&Path>,
        key: Option<&Path>,
        authority: Option<&Path>,
    ) -> Result<Option<Tls>, TlsError> {
        let pair = match (certificate, key) {
            (Some(certificate), Some(key)) => Some((read(certificate)?, Secret::new(read(key)?))),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return Err(TlsError::HalfOfAPair),
        };
        let authority = authority.map(read).transpose()?;
        Ok((pair.is_some() || authority.is_some()).then_some(Tls::new(pair, authority)))
    }

    /// Acceptor of a server with HTTP/2, and with HTTP/1.1 if `http1` is set.
    ///
    /// # Errors
    /// There is no certificate, or the certificates or the key cannot be used.
    pub fn acceptor(&self, http1: bool) -> Result<TlsAcceptor, TlsError> {
        let (certificate, key) = self.certificate.as_ref().ok_or(TlsError::NothingToShow)?;
        let chain = certificates(certificate, "a certificate")?;
        let key = PrivateKeyDer::from_pem_slice(key.expose().as_bytes())
            .map_err(|source| TlsError::NotPem { what: "a private key", source })?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?;
        let builder = match &self.authority {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                for root in certificates(authority, "the client authority's certificates")? {
                    roots.add(root)?;
                }
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.build()?)
            }
        };
        let mut config = builder.with_single_cert(chain, key)?;
        config.alpn_protocols.push(b"h2".to_vec());
        if http1 {
            config.alpn_protocols.push(b"http/1.1".to_vec());
        }
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Configuration of a client.
    #[must_use]
    pub fn client(&self) -> ClientTlsConfig {
        let mut config = ClientTlsConfig::new();
        config = match &self.authority {
            Some(authority) => config.ca_certificate(Certificate::from_pem(authority)),
            None => config.with_enabled_roots(),
        };
        if let Some((certificate, key)) = &self.certificate {
            config = config.identity(Identity::from_pem(certificate, key.expose()));
        }
        config
    }
}

fn read(path: &Path) -> Result<String, TlsError> {
    std::fs::read_to_string(path)
        .map_err(|source| TlsError::Unreadable { path: path.to_owned(), source })
}

fn certificates(pem: &str, what: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let not_pem = |source| TlsError::NotPem { what, source };
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    let all = all.map_err(not_pem)?;
    if all.is_empty() {
        return Err(not_pem(rustls::pki_types::pem::Error::NoItemsFound));
    }
    Ok(all)
}
