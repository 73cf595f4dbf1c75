//! Plain HTTP for probes, on every port and without a token. `GET /healthz` says that the process
//! is alive. `GET /readyz` says whether the server is ready, with a line for each unmet condition.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::{Either, MapOk, TryFutureExt as _};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use tonic::body::Body;
use tower::Service;

use super::readiness::Readiness;

const ALIVE: &str = "/healthz";
const READY: &str = "/readyz";

/// Service with the probes in front of it.
#[derive(Clone)]
pub(super) struct Probes<S> {
    app: S,
    readiness: Readiness,
}

type Answer = Ready<Result<Response<Body>, Infallible>>;

impl<S> Probes<S> {
    pub(super) const fn new(app: S, readiness: Readiness) -> Probes<S> {
        Probes { app, readiness }
    }

    fn probe(&self, path: &str) -> Option<(StatusCode, String)> {
        match path {
            ALIVE => Some((StatusCode::OK, "alive\n".to_owned())),
            READY => {
                let missing = self.readiness.unmet_conditions();
                Some(if missing.is_empty() {
                    (StatusCode::OK, "ready\n".to_owned())
                } else {
                    (StatusCode::SERVICE_UNAVAILABLE, format!("{}\n", missing.join("\n")))
                })
            }
            _ => None,
        }
    }
}

impl<S, B> Service<Request<Body>> for Probes<S>
where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<tonic::codegen::StdError> + Send + Sync,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Either<Answer, MapOk<S::Future, fn(Response<B>) -> Response<Body>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.app.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let asks = [Method::GET, Method::HEAD].contains(request.method());
        let probe = if asks { self.probe(request.uri().path()) } else { None };
        let Some((status, text)) = probe else {
            let body: fn(Response<B>) -> Response<Body> = |response| response.map(Body::new);
            return Either::Right(self.app.call(request).map_ok(body));
        };
        let mut response = Response::new(Body::new(Full::new(Bytes::from(text))));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Either::Left(ready(Ok(response)))
    }
}
