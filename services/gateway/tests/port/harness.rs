//! A gateway in front of services that answer every call with an empty message.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use chassis::auth::{IssuerKey, Role, TokenIssuer};
use chassis::config::{Service, ServiceConfig, Source};
use chassis::drain::Drain;
use chassis::limits::Limits;
use chassis::serve::{self, Health, Server};
use http::{HeaderMap, HeaderValue, Request, Response, Version};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use system::entropy::SystemEntropy;
use tokio::net::TcpStream;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::Service as TowerService;
use wire::status::api_refusal;

/// A message without fields in its envelope: right for every method.
const EMPTY: &[u8] = &[0; 5];

/// Service behind the gateway.
#[derive(Clone, Default)]
pub(crate) struct Behind {
    /// Calls that are refused as overloaded before the others are answered.
    pub(crate) busy: Arc<AtomicU32>,
}

impl TowerService<Request<Body>> for Behind {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        // Calls of the gateway's own are no caller's.
        let own = request.uri().path().starts_with("/sabacc.table.v1.RevocationService/");
        let busy = !own
            && self
                .busy
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |calls| calls.checked_sub(1))
                .is_ok();
        Box::pin(async move {
            if busy {
                let refusal = api_refusal(proto::common::v1::ErrorReason::Overloaded, "later");
                return Ok(Status::from(refusal).into_http());
            }
            if request.headers().get("content-type").is_none_or(|kind| kind != "application/grpc") {
                return Ok(Status::internal("the gateway forwards gRPC alone").into_http());
            }
            if let Err(error) = request.into_body().collect().await {
                return Ok(error.into_http());
            }
            let mut trailers = HeaderMap::new();
            trailers.insert("grpc-status", HeaderValue::from_static("0"));
            let body = Full::new(EMPTY.into()).with_trailers(async move { Some(Ok(trailers)) });
            let mut answer = Response::new(Body::new(body));
            answer
                .headers_mut()
                .insert("content-type", HeaderValue::from_static("application/grpc"));
            Ok(answer)
        })
    }
}

/// Gateway with its issuer.
pub(crate) struct Gateway {
    pub(crate) address: SocketAddr,
    issuer: TokenIssuer,
    pub(crate) behind: Behind,
}

impl Gateway {
    pub(crate) async fn open() -> Gateway {
        Gateway::open_with(&[]).await
    }

    /// Gateway with these settings, as variables of the environment.
    pub(crate) async fn open_with(settings: &[(&str, &str)]) -> Gateway {
        let behind = Behind::default();
        let inner = serve::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let uri: http::Uri = format!("http://{}", inner.address()).parse().unwrap();
        let drain = Drain::new(Duration::from_secs(1));
        let server = Server::new(Limits::internal(), Health::new(), drain.clone());
        tokio::spawn(server.run(inner, behind.clone()));
        let settings: BTreeMap<_, _> =
            settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let source = Source::new("test", "", settings).unwrap();
        let mut config = ServiceConfig::parse(Service::Gateway, source).unwrap();
        let issuer = TokenIssuer::generate("test", &SystemEntropy);
        config.auth.issuers = vec![IssuerKey::for_all_roles(issuer.public_key())];
        config.auth.signing = Some(issuer.clone());
        config.limits.exempt_loopback = true;
        config.limits.player_calls = None;
        config.peers.table = Some(uri.clone());
        config.peers.wallet = Some(uri.clone());
        config.peers.dealer = Some(uri);
        let bound = serve::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = bound.address();
        tokio::spawn(sabacc_gateway::run(config, bound, drain));
        Gateway { address, issuer, behind }
    }

    pub(crate) fn token(&self, role: Role) -> String {
        let subject = match role {
            Role::Player => "0190c2f0-7d3a-4b6e-8a52-6d1f2e3c4b5a",
            Role::Operator | Role::Auditor | Role::Service => "test",
        };
        self.issuer.issue_for_a_day(role, subject)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sends a request on a connection of its own, and reads the answer whole.
    pub(crate) async fn send(&self, mut request: Request<Full<bytes::Bytes>>) -> Answer {
        let asked = format!("{} {:?}", request.uri(), request.headers());
        let io = TokioIo::new(TcpStream::connect(self.address).await.unwrap());
        let answer = if request.version() == Version::HTTP_2 {
            let builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
            let (mut requests, connection) = builder.handshake(io).await.unwrap();
            tokio::spawn(connection);
            requests.send_request(request).await.unwrap()
        } else {
            request.headers_mut().insert("host", HeaderValue::from_static("room"));
            let (mut requests, connection) =
                hyper::client::conn::http1::handshake(io).await.unwrap();
            tokio::spawn(connection);
            requests.send_request(request).await.unwrap()
        };
        let (head, body) = answer.into_parts();
        let body = body.collect().await.unwrap_or_else(|error| panic!("{asked}: {error} {head:?}"));
        let trailers = body.trailers().cloned().unwrap_or_default();
        Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            body: body.to_bytes(),
            trailers,
        }
    }
}

/// Answer to a request, read whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: bytes::Bytes,
    pub(crate) trailers: HeaderMap,
}
