//! Passing calls on.
//!
//! A call goes to the service behind it as it came: path, token, body, and back the same way, streams
//! included. What does not come back at all becomes an error of ours that says to repeat the call.

use std::convert::Infallible;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use chassis::channel::Pool;
use http::{Request, Response};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::server::NamedService;
use wire::status;

/// All methods of one public service, answered by the service behind.
pub(crate) struct Forward<N> {
    to: Pool,
    name: PhantomData<fn() -> N>,
}

/// The public name `sabacc.table.v1.TableService`.
pub(crate) enum Table {}
/// The public name `sabacc.table.v1.PeopleService`.
pub(crate) enum People {}
/// The public name `sabacc.audit.v1.DisputeService`.
pub(crate) enum Disputes {}
/// The public name `sabacc.wallet.v1.WalletService`.
pub(crate) enum Wallet {}

/// A name known at compile time: routes are made from it.
pub(crate) trait Name: 'static {
    const NAME: &'static str;
}

impl Name for Table {
    const NAME: &'static str = "sabacc.table.v1.TableService";
}

impl Name for People {
    const NAME: &'static str = "sabacc.table.v1.PeopleService";
}

impl Name for Disputes {
    const NAME: &'static str = "sabacc.audit.v1.DisputeService";
}

impl Name for Wallet {
    const NAME: &'static str = "sabacc.wallet.v1.WalletService";
}

impl<N: Name> Forward<N> {
    #[must_use]
    pub(crate) fn new(to: Pool) -> Forward<N> {
        Forward { to, name: PhantomData }
    }
}

impl<N> Clone for Forward<N> {
    fn clone(&self) -> Forward<N> {
        Forward { to: self.to.clone(), name: PhantomData }
    }
}

impl<N: Name> NamedService for Forward<N> {
    const NAME: &'static str = N::NAME;
}

impl<N: Name> Service<Request<Body>> for Forward<N> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // Waited for in the call, so that one slow service does not hold up the routes of the other.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let answer = self.to.call(request);
        Box::pin(async move {
            Ok(match answer.await {
                Ok(answer) => answer,
                Err(error) => no_answer(N::NAME, &error.to_string()),
            })
        })
    }
}

/// The service behind did not answer. Whether it took the call is not known.
pub(crate) fn no_answer(service: &str, error: &str) -> Response<Body> {
    tracing::warn!(service, error, "a service does not answer");
    let status: Status =
        status::unavailable("the service behind the gateway does not answer").into();
    status.into_http()
}
