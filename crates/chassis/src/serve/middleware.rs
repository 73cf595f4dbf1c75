//! Middleware: steps that every call takes on its way to its service.

use std::convert::Infallible;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use http::{Request, Response};
use tonic::body::Body;
use tower::Service;

/// Pending answer of a call.
pub(crate) type Answer = BoxFuture<'static, Result<Response<Body>, Infallible>>;

/// Service that answers calls, or the rest of its middleware.
pub trait Next:
    Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>
    + Clone
    + Send
    + 'static
{
}

impl<S> Next for S where
    S: Service<
            Request<Body>,
            Response = Response<Body>,
            Error = Infallible,
            Future: Send + 'static,
        > + Clone
        + Send
        + 'static
{
}

/// One step of every call. It answers the call itself, or has `next` answer it.
pub trait Middleware {
    fn call(&self, request: Request<Body>, next: &mut impl Next) -> Answer;
}

/// Service behind a middleware.
#[derive(Clone)]
pub struct Behind<M, S> {
    middleware: M,
    inner: S,
}

impl<M, S> Behind<M, S> {
    pub(super) const fn new(middleware: M, inner: S) -> Behind<M, S> {
        Behind { middleware, inner }
    }
}

impl<M: Middleware, S: Next> Service<Request<Body>> for Behind<M, S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        self.middleware.call(request, &mut self.inner)
    }
}

/// Answer that needs no waiting.
pub(crate) fn answered(response: Response<Body>) -> Answer {
    Box::pin(std::future::ready(Ok(response)))
}
