//! Requests that are no call, at the door of the gRPC services: each answer says what to do instead.
//!
//! Calls in other protocols have been turned into gRPC before. What comes here in another content
//! type names a method that there is not, or a method in the wrong way.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::Either;
use http::header::{ALLOW, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode, Version};
use tonic::body::Body;
use tower::Service;

use crate::api::Api;
use crate::content_type::is_grpc;
use crate::refusal::{Reason, encode_json, no_such_method, refusal};

const ACCEPT_POST: HeaderName = HeaderName::from_static("accept-post");

/// Service behind a door that only gRPC passes.
#[derive(Clone)]
pub struct OnlyGrpc<S> {
    api: Arc<Api>,
    inner: S,
}

impl<S> OnlyGrpc<S> {
    pub(super) const fn new(api: Arc<Api>, inner: S) -> OnlyGrpc<S> {
        OnlyGrpc { api, inner }
    }

    /// Answer to a request that is not passed on.
    fn refuse(&self, request: &Request<Body>) -> Option<Response<Body>> {
        let posts = *request.method() == Method::POST;
        let grpc = is_grpc(request.headers());
        let current = request.version() >= Version::HTTP_2;
        if grpc && posts && current {
            return None;
        }
        let method = self.api.method(request.uri().path());
        let Some(method) = method else {
            // Whoever speaks gRPC gets its word for an unknown method, after their token.
            return if grpc && posts && current { None } else { Some(not_found()) };
        };
        if !posts {
            let words = "a method is called with POST; GET /api.json describes all of them";
            let answer = answer(StatusCode::METHOD_NOT_ALLOWED, words);
            return Some(with(answer, ALLOW, "POST"));
        }
        if !current && (grpc || method.descriptor.is_client_streaming()) {
            let words = if grpc {
                "gRPC needs HTTP/2; over HTTP/1.1 there are gRPC-Web and Connect \
                 (application/json)"
            } else {
                "this method's requests are a stream, which needs HTTP/2"
            };
            return Some(answer(StatusCode::HTTP_VERSION_NOT_SUPPORTED, words));
        }
        let (words, types) = if method.streams() {
            (
                "this method streams: its content type is one of application/connect+json, \
                 application/connect+proto, application/grpc, application/grpc-web",
                "application/connect+json, application/connect+proto, application/grpc, \
                 application/grpc-web",
            )
        } else {
            (
                "this method takes one content type, of these: application/json, \
                 application/proto, application/grpc, application/grpc-web",
                "application/json, application/proto, application/grpc, application/grpc-web",
            )
        };
        let answer = answer(StatusCode::UNSUPPORTED_MEDIA_TYPE, words);
        Some(with(answer, ACCEPT_POST, types))
    }
}

fn not_found() -> Response<Body> {
    let words = "there is nothing at this path: GET /api.json describes the methods, each at \
                 /package.Service/Method";
    let mut status = no_such_method();
    status = tonic::Status::with_details(status.code(), words, status.details().to_vec().into());
    encode_json(StatusCode::NOT_FOUND, &status)
}

fn answer(code: StatusCode, words: &str) -> Response<Body> {
    encode_json(code, &refusal(Reason::BadField, words))
}

fn with(mut answer: Response<Body>, name: HeaderName, value: &'static str) -> Response<Body> {
    answer.headers_mut().insert(name, HeaderValue::from_static(value));
    answer
}

impl<S> Service<Request<Body>> for OnlyGrpc<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Either<Ready<Result<Response<Body>, Infallible>>, S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        match self.refuse(&request) {
            Some(answer) => Either::Left(ready(Ok(answer))),
            None => Either::Right(self.inner.call(request)),
        }
    }
}
