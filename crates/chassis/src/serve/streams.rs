//! Streams, told from calls that end by themselves, and bounded by the address that they are for.
//!
//! A stream holds a place of whoever passes it on for as long as its caller likes. So one address has
//! only so many, over all its connections and for all its players, and whoever passes streams on knows
//! them by a mark.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use tonic::body::Body;
use tower::{Layer, Service};

use super::places::Places;
use crate::auth::Access;
use crate::held::Held;
use crate::refusal::{answer, overloaded};
use crate::telemetry::is_grpc;

/// Told to a caller who has too many streams.
const LATER: Duration = Duration::from_secs(1);

/// In a request's extensions: its method streams, and the call may never end.
#[derive(Debug, Clone, Copy)]
pub struct IsStream;

/// In a request's extensions: the address it comes from, and what its streams are counted with.
#[derive(Clone)]
pub(super) struct StreamsOf(pub(super) IpAddr, pub(super) Arc<Places>);

/// Marks streams, and bounds those of an address.
#[derive(Clone)]
pub struct StreamsLayer {
    access: Arc<Access>,
}

impl StreamsLayer {
    #[must_use]
    pub const fn new(access: Arc<Access>) -> StreamsLayer {
        StreamsLayer { access }
    }
}

impl<S> Layer<S> for StreamsLayer {
    type Service = Streams<S>;

    fn layer(&self, inner: S) -> Streams<S> {
        Streams { layer: self.clone(), inner }
    }
}

/// A service that each address has so many streams of.
#[derive(Clone)]
pub struct Streams<S> {
    layer: StreamsLayer,
    inner: S,
}

impl<S, B> Service<Request<B>> for Streams<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        // What is open to everybody has no rule, and is passed on to nobody.
        let rule = self.layer.access.rule(request.uri().path());
        if !rule.is_some_and(|rule| rule.streams) {
            return Box::pin(self.inner.call(request));
        }
        let place = match request.extensions().get::<StreamsOf>() {
            None => None,
            Some(StreamsOf(address, places)) => match places.enter(*address) {
                Some(place) => Some(place),
                None => {
                    let refused = too_many(is_grpc(request.headers()));
                    return Box::pin(std::future::ready(Ok(refused)));
                }
            },
        };
        request.extensions_mut().insert(IsStream);
        let answer = self.inner.call(request);
        Box::pin(async move { Ok(answer.await?.map(|inner| Body::new(Held::new(inner, place)))) })
    }
}

fn too_many(grpc: bool) -> Response<Body> {
    let text = "this address has as many streams open as one may: end one before you open another";
    answer(&overloaded(text, LATER), grpc)
}
