//! HTTP/1.1 requests to a storage, with TLS for `https` addresses: one connection each, as few
//! requests are made. It trusts the well-known roots.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::header::HOST;
use http::uri::PathAndQuery;
use http::{HeaderValue, Uri};
use http_body_util::BodyExt as _;
use hyper_util::rt::TokioIo;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use object_store::{ClientOptions, Result};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// Longest time for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Longest time from sending a request, with its body, to the head of the answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Maker of clients.
#[derive(Clone)]
pub(crate) struct Connector {
    tls: TlsConnector,
}

impl Connector {
    pub(crate) fn new() -> Connector {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has the protocol's defaults")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Connector { tls: TlsConnector::from(Arc::new(config)) }
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connector")
    }
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Connector {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (uri, mut request) = (request.uri().clone(), request);
        let address = Address::parse(&uri)?;
        if !request.headers().contains_key(HOST) {
            let authority = uri.authority().map_or("", |authority| authority.as_str());
            let host = HeaderValue::from_str(authority);
            request.headers_mut().insert(HOST, host.map_err(|_| Address::unusable(&uri))?);
        }
        let path = uri.path_and_query().cloned();
        *request.uri_mut() = path.unwrap_or_else(|| PathAndQuery::from_static("/")).into();
        let connect = TcpStream::connect((address.host.as_str(), address.port));
        let stream = timeout(CONNECT_TIMEOUT, connect).await;
        let stream = stream.map_err(|_| timed_out(HttpErrorKind::Connect, CONNECT_TIMEOUT))?;
        let stream = stream.map_err(|error| HttpError::new(HttpErrorKind::Connect, error))?;
        if !address.is_secure {
            return exchange(stream, request).await;
        }
        let name = ServerName::try_from(address.host).map_err(|_| Address::unusable(&uri))?;
        let stream = timeout(CONNECT_TIMEOUT, self.tls.connect(name, stream)).await;
        let stream = stream.map_err(|_| timed_out(HttpErrorKind::Connect, CONNECT_TIMEOUT))?;
        let stream = stream.map_err(|error| HttpError::new(HttpErrorKind::Connect, error))?;
        exchange(stream, request).await
    }
}

/// Host and port of a request.
struct Address {
    host: String,
    port: u16,
    is_secure: bool,
}

/// An address that no request can go to, or a request that took too long.
#[derive(Debug, thiserror::Error)]
enum RequestError {
    #[error("{0} is no http:// or https:// address")]
    Address(String),
    #[error("no answer within {} s", .0.as_secs())]
    TimedOut(Duration),
}

impl Address {
    fn parse(uri: &Uri) -> Result<Address, HttpError> {
        let is_secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            Some(_) | None => return Err(Address::unusable(uri)),
        };
        let host = uri.host().ok_or_else(|| Address::unusable(uri))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        Ok(Address { host, port, is_secure })
    }

    /// Names no query: that of a signed address is a secret.
    fn unusable(uri: &Uri) -> HttpError {
        let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
        HttpError::new(HttpErrorKind::Unknown, RequestError::Address(authority))
    }
}

fn timed_out(kind: HttpErrorKind, after: Duration) -> HttpError {
    HttpError::new(kind, RequestError::TimedOut(after))
}

async fn exchange<S>(stream: S, request: HttpRequest) -> Result<HttpResponse, HttpError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let failed = |error: hyper::Error| HttpError::new(HttpErrorKind::Request, error);
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(failed)?;
    // The connection ends with the sender and the answer; its result does not matter.
    tokio::spawn(connection);
    let answer = timeout(ANSWER_TIMEOUT, sender.send_request(request)).await;
    let answer = answer.map_err(|_| timed_out(HttpErrorKind::Timeout, ANSWER_TIMEOUT))?;
    let (head, body) = answer.map_err(failed)?.into_parts();
    let interrupted = |error| HttpError::new(HttpErrorKind::Interrupted, error);
    Ok(HttpResponse::from_parts(head, HttpResponseBody::new(body.map_err(interrupted))))
}
