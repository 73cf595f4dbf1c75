//! Router by path, for plain files and gRPC on one port: some paths go to a service of their own,
//! without a token; all others go to the gRPC services.

use std::convert::Infallible;
use std::task::{Context, Poll};

use futures_util::future::Either;
use http::{Request, Response};
use tonic::body::Body;
use tower::Service;

/// Two services on one port, distinguished by the path.
#[derive(Clone)]
pub struct PathRouter<P, A> {
    is_plain: fn(&str) -> bool,
    plain: P,
    app: A,
}

impl<P, A> PathRouter<P, A> {
    /// `plain` answers the paths of which `is_plain` holds; `app` answers the others.
    #[must_use]
    pub const fn new(is_plain: fn(&str) -> bool, plain: P, app: A) -> PathRouter<P, A> {
        PathRouter { is_plain, plain, app }
    }
}

impl<P, A> Service<Request<Body>> for PathRouter<P, A>
where
    P: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    A: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Either<P::Future, A::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        if self.plain.poll_ready(context).is_pending() {
            return Poll::Pending;
        }
        self.app.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if (self.is_plain)(request.uri().path()) {
            Either::Left(self.plain.call(request))
        } else {
            Either::Right(self.app.call(request))
        }
    }
}
