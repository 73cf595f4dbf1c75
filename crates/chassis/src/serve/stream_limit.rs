//! Marking of streaming calls, and their limit by caller address.
//!
//! A stream holds a permit of the gateway that forwards it for as long as its caller likes. So the
//! number of streams of one address is bounded, over all its connections and players, and a mark in
//! the request tells the forwarder which calls are streams.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use tonic::body::Body;

use super::middleware::{Answer, Middleware, Next, answered};
use super::open_counter::OpenCounter;
use crate::auth::Access;
use crate::body_with_permit::BodyWithPermit;
use crate::content_type::is_grpc;
use crate::refusal::{encode_refusal, overloaded};

/// Retry time for a caller with too many streams.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Marks a request whose method streams, so the call may never end. Lies in the request's
/// extensions.
#[derive(Debug, Clone, Copy)]
pub struct IsStream;

/// Address that a request comes from and the counter of its streams. Lies in the request's
/// extensions.
#[derive(Clone)]
pub(super) struct StreamLimit(pub(super) IpAddr, pub(super) Arc<OpenCounter>);

/// Marks streams and limits their number per address.
#[derive(Clone)]
pub struct StreamLimiter {
    pub(super) access: Arc<Access>,
}

impl Middleware for StreamLimiter {
    fn call(&self, mut request: Request<Body>, next: &mut impl Next) -> Answer {
        // Methods that are open to everybody have no rule; they are not limited and not forwarded.
        let rule = self.access.rule(request.uri().path());
        if !rule.is_some_and(|rule| rule.streams) {
            return Box::pin(next.call(request));
        }
        let place = match request.extensions().get::<StreamLimit>() {
            None => None,
            Some(StreamLimit(address, places)) => match places.try_acquire(*address) {
                Some(place) => Some(place),
                None => return answered(too_many_streams(is_grpc(request.headers()))),
            },
        };
        request.extensions_mut().insert(IsStream);
        let answer = next.call(request);
        Box::pin(async move {
            Ok(answer.await?.map(|inner| Body::new(BodyWithPermit::new(inner, place))))
        })
    }
}

fn too_many_streams(grpc: bool) -> Response<Body> {
    let text = "this address has as many streams open as one may: end one before you open another";
    encode_refusal(&overloaded(text, RETRY_AFTER), grpc)
}
