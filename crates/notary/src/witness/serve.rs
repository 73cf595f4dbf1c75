//! The witness's port: `POST /add-checkpoint`, over HTTP/1.1 or HTTP/2.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use merkle::note::Signature;
use merkle::witness::{AddCheckpoint, Unwitnessed};
use system::clock::Clock;
use tonic::body::Body;
use tower::Service;

use super::keep::{Denied, Witness};

/// Longest request in bytes: a note of many signatures and the longest proof.
const LONGEST: usize = 64 * 1024;

/// HTTP service of a witness.
#[derive(Clone)]
pub struct Desk {
    witness: Arc<Witness>,
    clock: Arc<dyn Clock>,
}

impl Desk {
    #[must_use]
    pub fn new(witness: Arc<Witness>, clock: Arc<dyn Clock>) -> Desk {
        Desk { witness, clock }
    }

    async fn answer(self, request: Request<Body>) -> Response<Body> {
        let (head, body) = request.into_parts();
        if head.uri.path() != "/add-checkpoint" {
            return text(StatusCode::NOT_FOUND, "a witness answers POST /add-checkpoint\n");
        }
        if head.method != Method::POST {
            return text(StatusCode::METHOD_NOT_ALLOWED, "checkpoints are added with POST\n");
        }
        let Ok(body) = Limited::new(body, LONGEST).collect().await else {
            return text(StatusCode::PAYLOAD_TOO_LARGE, "at most 64 KiB\n");
        };
        let asked = match AddCheckpoint::parse(&body.to_bytes()) {
            Ok(asked) => asked,
            Err(error) => return text(StatusCode::BAD_REQUEST, &format!("{error}\n")),
        };
        let origin = asked.origin().to_owned();
        let time = self.clock.now().0 / 1_000_000;
        let cosigned = tokio::task::spawn_blocking(move || self.witness.add(&asked, time)).await;
        match cosigned {
            Ok(cosigned) => told(&origin, cosigned),
            Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, "the witness broke down\n"),
        }
    }
}

fn told(origin: &str, cosigned: Result<Signature, Denied>) -> Response<Body> {
    let denied = match cosigned {
        Ok(signature) => return text(StatusCode::OK, &format!("{signature}\n")),
        Err(denied) => denied,
    };
    let words = format!("{denied}\n");
    match denied {
        Denied::Unwitnessed(Unwitnessed::Unknown) => text(StatusCode::NOT_FOUND, &words),
        Denied::Unwitnessed(Unwitnessed::Unsigned(_)) => text(StatusCode::FORBIDDEN, &words),
        Denied::Unwitnessed(Unwitnessed::Malformed(_) | Unwitnessed::Shrunk) => {
            text(StatusCode::BAD_REQUEST, &words)
        }
        Denied::Unwitnessed(Unwitnessed::Stale { known }) => {
            let mut answer = text(StatusCode::CONFLICT, &format!("{known}\n"));
            let kind = HeaderValue::from_static("text/x.tlog.size");
            answer.headers_mut().insert(CONTENT_TYPE, kind);
            answer
        }
        Denied::Unwitnessed(Unwitnessed::Forked { .. }) => {
            tracing::error!(origin, "the log signed two trees of one size");
            text(StatusCode::CONFLICT, &words)
        }
        Denied::Unwitnessed(Unwitnessed::Inconsistent) => {
            tracing::error!(origin, "the log signed a tree that does not follow from the last");
            text(StatusCode::UNPROCESSABLE_ENTITY, &words)
        }
        Denied::Forgetful(error) => {
            tracing::error!(origin, %error, "a checkpoint cannot be remembered, so none is cosigned");
            text(StatusCode::INTERNAL_SERVER_ERROR, "the witness cannot remember it\n")
        }
    }
}

impl Service<Request<Body>> for Desk {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let desk = self.clone();
        Box::pin(async move { Ok(desk.answer(request).await) })
    }
}

fn text(status: StatusCode, text: &str) -> Response<Body> {
    let mut answer = Response::new(Body::new(text.to_owned()));
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}
