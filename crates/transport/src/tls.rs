//! Certificates, on both ends of a connection.
//!
//! A server with a `client_ca` lets in only who shows a certificate of it. One TLS library (rustls)
//! with one provider (ring) for all of it.

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

/// What one end shows and whom it believes, in PEM.
#[derive(Clone)]
pub struct Tls {
    /// Our certificate and what leads from it to its root; needed on a server.
    certificate: Option<(String, Secret)>,
    /// Whose certificates we believe. On a server: nobody else gets in. On a client: none means the
    /// well-known roots.
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

/// The certificates or keys cannot be used.
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
    /// From texts in PEM.
    #[must_use]
    pub const fn new(certificate: Option<(String, Secret)>, authority: Option<String>) -> Tls {
        Tls { certificate, authority }
    }

    /// From files; none where no file is named.
    ///
    /// # Errors
    /// A file cannot be read, or one of certificate and key is named without the other.
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

    /// For a server that speaks HTTP/2, and HTTP/1.1 too where `http1` says so.
    ///
    /// # Errors
    /// There is nothing to show, or what there is cannot be used.
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

    /// For a client.
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
