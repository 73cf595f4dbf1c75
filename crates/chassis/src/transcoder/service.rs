//! The transcoder as the outermost service of a port.

use std::convert::Infallible;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::TryFutureExt as _;
use futures_util::future::{BoxFuture, Either as EitherFuture, MapOk};
use http::{Request, Response};
use http_body_util::Either;
use tonic::body::Body;
use tower::Service;

use super::Transcoder;

/// Service behind a transcoder. Without one, every request passes as it is.
#[derive(Debug, Clone)]
pub(crate) struct Transcoded<S> {
    inner: S,
    transcoder: Option<Transcoder>,
}

impl<S> Transcoded<S> {
    pub(crate) const fn new(inner: S, transcoder: Option<Transcoder>) -> Transcoded<S> {
        Transcoded { inner, transcoder }
    }
}

/// Answer as it is, or turned back.
type Answer<B> = Response<Either<B, Body>>;

impl<S, B> Service<Request<Body>> for Transcoded<S>
where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible>,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<tonic::codegen::StdError>,
{
    type Response = Answer<B>;
    type Error = Infallible;
    type Future = EitherFuture<
        MapOk<S::Future, fn(Response<B>) -> Answer<B>>,
        BoxFuture<'static, Result<Answer<B>, Infallible>>,
    >;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let call = self.transcoder.as_ref().and_then(|transcoder| transcoder.call_of(&request));
        let Some(call) = call else {
            let as_it_is: fn(Response<B>) -> Answer<B> = |answer| answer.map(Either::Left);
            return EitherFuture::Left(self.inner.call(request).map_ok(as_it_is));
        };
        let answer = self.inner.call(call.to_grpc(request));
        EitherFuture::Right(Box::pin(async move {
            let answer = answer.await?.map(Body::new);
            Ok(call.turn_back(answer).await.map(Either::Right))
        }))
    }
}
