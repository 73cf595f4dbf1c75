//! Client for single requests to third parties' web servers: HTTP/1.1, with TLS for `https`
//! addresses. Time and answer size are bounded. It does not retry and does not follow redirections.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Longest time from connecting to the last byte of the answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of the longest answer.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// Error of a request without an answer.
#[derive(Debug, thiserror::Error)]
pub enum HttpClientError {
    #[error("{0} is no http:// or https:// address")]
    Address(String),
    #[error("it cannot be connected: {0}")]
    Connect(#[from] std::io::Error),
    #[error("it does not speak HTTP: {0}")]
    Http(#[from] hyper::Error),
    #[error("the answer is longer than {MAX_ANSWER_BYTES} bytes, or breaks off")]
    Body,
    #[error("it took longer than ten seconds")]
    Timeout,
}

/// Answer of a web server.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: StatusCode,
    /// Content type; empty if there is none.
    pub content_type: String,
    pub body: Bytes,
}

/// Client that trusts the well-known roots.
#[derive(Clone)]
pub struct HttpClient {
    tls: TlsConnector,
}

impl Default for HttpClient {
    fn default() -> HttpClient {
        HttpClient::new()
    }
}

impl HttpClient {
    #[must_use]
    pub fn new() -> HttpClient {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has the protocol's defaults")
            .with_root_certificates(roots)
            .with_no_client_auth();
        HttpClient { tls: TlsConnector::from(Arc::new(config)) }
    }

    /// Gets `path` below `base`.
    ///
    /// # Errors
    /// No answer came; the outcome of the request is unknown.
    pub async fn get(&self, base: &Uri, path: &str) -> Result<Answer, HttpClientError> {
        self.send(Method::GET, base, path, String::new()).await
    }

    /// Posts a text to `path` below `base`.
    ///
    /// # Errors
    /// No answer came; the outcome of the request is unknown.
    pub async fn post(
        &self,
        base: &Uri,
        path: &str,
        text: String,
    ) -> Result<Answer, HttpClientError> {
        self.send(Method::POST, base, path, text).await
    }

    async fn send(
        &self,
        method: Method,
        base: &Uri,
        path: &str,
        text: String,
    ) -> Result<Answer, HttpClientError> {
        let asked = self.send_without_timeout(method, base, path, text);
        tokio::time::timeout(TIMEOUT, asked).await.unwrap_or(Err(HttpClientError::Timeout))
    }

    async fn send_without_timeout(
        &self,
        method: Method,
        base: &Uri,
        path: &str,
        text: String,
    ) -> Result<Answer, HttpClientError> {
        let address = || HttpClientError::Address(base.to_string());
        let secure = match base.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            Some(_) | None => return Err(address()),
        };
        let host = base.host().ok_or_else(address)?;
        let port = base.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let request = Request::builder()
            .method(method)
            .uri(format!("{}/{path}", base.path().trim_end_matches('/')))
            .header(HOST, base.authority().ok_or_else(address)?.as_str())
            .header(CONTENT_TYPE, "text/plain; charset=utf-8")
            .body(Full::new(Bytes::from(text)))
            .map_err(|_| address())?;
        let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let stream = TcpStream::connect((bare.as_str(), port)).await?;
        stream.set_nodelay(true)?;
        if !secure {
            return exchange(stream, request).await;
        }
        let name = ServerName::try_from(bare).map_err(|_| address())?;
        exchange(self.tls.connect(name, stream).await?, request).await
    }
}

async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> Result<Answer, HttpClientError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    // The connection task ends with the sender and the answer; its result does not matter.
    let connection = tokio::spawn(connection);
    let answer = sender.send_request(request).await?;
    let (head, body) = answer.into_parts();
    let body =
        Limited::new(body, MAX_ANSWER_BYTES).collect().await.map_err(|_| HttpClientError::Body)?;
    connection.abort();
    let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    Ok(Answer {
        status: head.status,
        content_type: kind.unwrap_or_default().to_owned(),
        body: body.to_bytes(),
    })
}
