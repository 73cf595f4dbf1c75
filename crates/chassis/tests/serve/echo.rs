//! Echo service for tests of the server: tells who called, sleeps, streams.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use chassis::auth::{CostCharger, IssuerKey, Revocations, ServiceToken, TokenIssuer};
use chassis::channel::{self, CredentialInterceptor, PeerChannel, Pool};
use chassis::drain::Drain;
use chassis::limits::Limits;
use chassis::serve::{self, BoundPort, GrpcApp, GrpcBuilder, Health, IsStream, Server};
use chassis::telemetry;
use chassis::transcoder::Transcoder;
use futures_util::stream::{self, BoxStream, StreamExt};
use prost::Message;
use system::clock::SystemClock;
use system::entropy::SystemEntropy;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::client::GrpcService;
use tonic::codegen::{Service, StdError, http};
use tonic::server::NamedService;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Text {
    #[prost(string, tag = "1")]
    pub(crate) text: String,
}

/// Descriptors of echo.proto, as `protoc` would make them.
pub(crate) fn descriptors() -> Vec<u8> {
    let here = env!("CARGO_MANIFEST_DIR");
    let include = [format!("{here}/tests/serve"), format!("{here}/../../proto")];
    protox::Compiler::new(include)
        .and_then(|mut compiler| {
            compiler.include_imports(true).open_file("echo.proto")?;
            Ok(compiler.encode_file_descriptor_set())
        })
        .expect("echo.proto compiles")
}

/// Echo service. Its streams watch `stopping`, if there is one.
#[derive(Clone)]
pub(crate) struct Echo {
    pub(crate) stopping: Option<CancellationToken>,
}

impl NamedService for Echo {
    const NAME: &'static str = "chassis.test.v1.EchoService";
}

type Answer = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

impl Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Answer {
        let mut grpc = tonic::server::Grpc::new(ProstCodec::<Text, Text>::default());
        let method = request.uri().path().rsplit('/').next().unwrap().to_owned();
        let echo = self.clone();
        Box::pin(async move {
            Ok(match &*method {
                "Ticks" | "Watch" => grpc.server_streaming(Ticks(echo), request).await,
                "Talk" | "Tell" => grpc.streaming(Talk, request).await,
                _ => grpc.unary(Unary, request).await,
            })
        })
    }
}

/// Text that says whether the call is marked as a stream.
fn mark<T>(request: &Request<T>) -> Text {
    let marked = request.extensions().get::<IsStream>().is_some();
    Text { text: if marked { "a stream" } else { "no stream" }.into() }
}

/// Answers `actor trace-id`. `sleep N` sleeps N milliseconds first, `mark` answers the call's mark,
/// `charge N` charges N additional units, twice.
struct Unary;

impl tonic::server::UnaryService<Text> for Unary {
    type Response = Text;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Text>, Status>> + Send>>;

    fn call(&mut self, request: Request<Text>) -> Self::Future {
        let actor = chassis::auth::Identity::of(&request).map(chassis::auth::Identity::actor);
        let mark = mark(&request);
        let bill = request.extensions().get::<CostCharger>().cloned();
        Box::pin(async move {
            let text = request.into_inner().text;
            if let Some(millis) = text.strip_prefix("sleep ") {
                tokio::time::sleep(Duration::from_millis(millis.parse().unwrap())).await;
            }
            if let (Some(units), Some(bill)) = (text.strip_prefix("charge "), bill) {
                let units = units.parse().unwrap();
                [units; 2].into_iter().for_each(|units| bill.charge(units));
            }
            if text == "mark" {
                return Ok(Response::new(mark));
            }
            if text == "fail" {
                return Err(Status::internal("as asked"));
            }
            let trace: String =
                telemetry::trace_id().iter().map(|byte| format!("{byte:02x}")).collect();
            Ok(Response::new(Text { text: format!("{} {trace}", actor.unwrap_or_default()) }))
        })
    }
}

/// Echoes each message.
struct Talk;

impl tonic::server::StreamingService<Text> for Talk {
    type Response = Text;
    type ResponseStream = tonic::Streaming<Text>;
    type Future = std::future::Ready<Result<Response<Self::ResponseStream>, Status>>;

    fn call(&mut self, request: Request<tonic::Streaming<Text>>) -> Self::Future {
        std::future::ready(Ok(Response::new(request.into_inner())))
    }
}

/// Sends one tick, then nothing until asked to stop, then "bye". `flood` sends a kilobyte again and
/// again; `mark` sends the call's mark first.
struct Ticks(Echo);

impl tonic::server::ServerStreamingService<Text> for Ticks {
    type Response = Text;
    type ResponseStream = BoxStream<'static, Result<Text, Status>>;
    type Future = std::future::Ready<Result<Response<Self::ResponseStream>, Status>>;

    fn call(&mut self, request: Request<Text>) -> Self::Future {
        let mark = mark(&request);
        let text = request.into_inner().text;
        if text == "flood" {
            let flood = stream::repeat_with(|| Ok(Text { text: "x".repeat(1024) }));
            return std::future::ready(Ok(Response::new(flood.boxed())));
        }
        let first = if text == "mark" { mark } else { Text { text: "tick".into() } };
        let tick = stream::once(async { Ok(first) });
        let rest: BoxStream<'static, _> = match self.0.stopping.clone() {
            None => stream::pending().boxed(),
            Some(token) => stream::once(async move {
                token.cancelled().await;
                Ok(Text { text: "bye".into() })
            })
            .boxed(),
        };
        std::future::ready(Ok(Response::new(tick.chain(rest).boxed())))
    }
}

/// Fixture: an echo server on a free port, its issuer, and its drain.
pub(crate) struct Room {
    pub(crate) bound: std::net::SocketAddr,
    pub(crate) issuer: TokenIssuer,
    pub(crate) drain: Drain,
    pub(crate) served: JoinHandle<bool>,
    pub(crate) revocations: Revocations,
}

/// Options of the fixture.
pub(crate) struct Setting {
    pub(crate) limits: Limits,
    pub(crate) grace: Duration,
    pub(crate) watches: bool,
    /// Whether the port speaks Connect and gRPC-Web too, and HTTP/1.1.
    pub(crate) web: bool,
    pub(crate) change: fn(&mut Server),
}

impl Default for Setting {
    fn default() -> Setting {
        Setting {
            limits: Limits::internal(),
            grace: Duration::from_secs(5),
            watches: true,
            web: false,
            change: |_| {},
        }
    }
}

pub(crate) async fn app(
    health: &Health,
    limits: &Limits,
    issuer: &TokenIssuer,
    echo: Echo,
    revocations: Option<Revocations>,
) -> GrpcApp {
    let descriptors = descriptors();
    let key = IssuerKey::for_all_roles(issuer.public_key());
    let grpc = GrpcBuilder::new(health.clone()).add(echo).await;
    let grpc = grpc.with_revocations(revocations);
    grpc.build(&descriptors, &[key], limits, Arc::new(SystemClock::new())).unwrap()
}

impl Room {
    pub(crate) async fn open(setting: Setting) -> Room {
        let bound: BoundPort = serve::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let issuer = TokenIssuer::generate("test", &SystemEntropy);
        let drain = Drain::new(setting.grace);
        let health = Health::new();
        let stopping = setting.watches.then(|| drain.stopping().clone());
        let revocations = Revocations::new(Arc::new(SystemClock::new()));
        let followed = Some(revocations.clone());
        let app = app(&health, &setting.limits, &issuer, Echo { stopping }, followed).await;
        let mut server = Server::new(setting.limits, health, drain.clone());
        if setting.web {
            let services = GrpcBuilder::new(Health::new()).add(Echo { stopping: None }).await;
            let api = services.api(&descriptors(), &server.limits).unwrap();
            server.transcoder = Some(Transcoder::new(api));
            server.http1 = true;
        }
        (setting.change)(&mut server);
        let address = bound.address();
        let served = tokio::spawn(server.run(bound, app));
        let room = Room { bound: address, issuer, drain, served, revocations };
        room.revocations.note_current();
        room
    }

    pub(crate) fn uri(&self) -> http::Uri {
        format!("http://{}", self.bound).parse().unwrap()
    }

    /// Interceptor with the token of a service.
    pub(crate) fn interceptor(&self) -> CredentialInterceptor {
        let (clock, entropy) = (Arc::new(SystemClock::new()), Arc::new(SystemEntropy));
        CredentialInterceptor::OwnToken(ServiceToken::new(
            self.issuer.clone(),
            "test",
            clock,
            entropy,
        ))
    }

    /// Channel with the token of a service.
    pub(crate) fn channel(&self) -> PeerChannel {
        channel::connect_lazy(&self.uri(), None, self.interceptor()).unwrap()
    }

    /// Channel without a token of its own.
    pub(crate) fn plain(&self) -> PeerChannel {
        channel::connect_lazy(&self.uri(), None, CredentialInterceptor::NoToken).unwrap()
    }
}

/// Client of the service: one connection, or a pool of them.
pub(crate) trait Caller:
    Clone
    + GrpcService<
        Body,
        Error: std::fmt::Display,
        ResponseBody: http_body::Body<Data = bytes::Bytes, Error: Into<StdError> + Send>
                          + Send
                          + 'static,
    >
{
}

impl Caller for PeerChannel {}
impl Caller for Pool {}

/// Makes a unary call of `/chassis.test.v1.EchoService/<method>`.
pub(crate) async fn call(
    channel: &impl Caller,
    method: &str,
    request: Request<Text>,
) -> Result<Response<Text>, Status> {
    let path = format!("/{}/{method}", Echo::NAME).parse().unwrap();
    let mut client = tonic::client::Grpc::new(channel.clone());
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    client.unary(request, path, ProstCodec::<Text, Text>::default()).await
}

/// Opens a stream of ticks.
pub(crate) async fn ticks(channel: &impl Caller) -> Result<tonic::Streaming<Text>, Status> {
    ticks_of(channel, text("go")).await
}

/// Opens a stream of ticks with the given request.
pub(crate) async fn ticks_of(
    channel: &impl Caller,
    request: Request<Text>,
) -> Result<tonic::Streaming<Text>, Status> {
    let path = format!("/{}/Ticks", Echo::NAME).parse().unwrap();
    let mut client = tonic::client::Grpc::new(channel.clone());
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let codec = ProstCodec::<Text, Text>::default();
    client.server_streaming(request, path, codec).await.map(Response::into_inner)
}

pub(crate) fn text(text: &str) -> Request<Text> {
    Request::new(Text { text: text.to_owned() })
}
