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

use super::cosigner::{CosignError, Witness};

/// Longest request in bytes: a note of many signatures and the longest proof.
const MAX_REQUEST_BYTES: usize = 64 * 1024;

/// HTTP service of a witness.
#[derive(Clone)]
pub struct WitnessService {
    witness: Arc<Witness>,
    clock: Arc<dyn Clock>,
}

impl WitnessService {
    #[must_use]
    pub fn new(witness: Arc<Witness>, clock: Arc<dyn Clock>) -> WitnessService {
        WitnessService { witness, clock }
    }

    async fn answer(self, request: Request<Body>) -> Response<Body> {
        let (head, body) = request.into_parts();
        if head.uri.path() != "/add-checkpoint" {
            return text_response(
                StatusCode::NOT_FOUND,
                "a witness answers POST /add-checkpoint\n",
            );
        }
        if head.method != Method::POST {
            return text_response(
                StatusCode::METHOD_NOT_ALLOWED,
                "checkpoints are added with POST\n",
            );
        }
        let Ok(body) = Limited::new(body, MAX_REQUEST_BYTES).collect().await else {
            return text_response(StatusCode::PAYLOAD_TOO_LARGE, "at most 64 KiB\n");
        };
        let asked = match AddCheckpoint::parse(&body.to_bytes()) {
            Ok(asked) => asked,
            Err(error) => return text_response(StatusCode::BAD_REQUEST, &format!("{error}\n")),
        };
        let origin = asked.origin().to_owned();
        let time = self.clock.now().0 / 1_000_000;
        let cosigned = tokio::task::spawn_blocking(move || self.witness.cosign(&asked, time)).await;
        match cosigned {
            Ok(cosigned) => response_to(&origin, cosigned),
            Err(_) => text_response(StatusCode::INTERNAL_SERVER_ERROR, "the witness broke down\n"),
        }
    }
}

fn response_to(origin: &str, cosigned: Result<Signature, CosignError>) -> Response<Body> {
    let denied = match cosigned {
        Ok(signature) => return text_response(StatusCode::OK, &format!("{signature}\n")),
        Err(denied) => denied,
    };
    let words = format!("{denied}\n");
    match denied {
        CosignError::Unwitnessed(Unwitnessed::Unknown) => {
            text_response(StatusCode::NOT_FOUND, &words)
        }
        CosignError::Unwitnessed(Unwitnessed::Unsigned(_)) => {
            text_response(StatusCode::FORBIDDEN, &words)
        }
        CosignError::Unwitnessed(Unwitnessed::Malformed(_) | Unwitnessed::Shrunk) => {
            text_response(StatusCode::BAD_REQUEST, &words)
        }
        CosignError::Unwitnessed(Unwitnessed::Stale { known }) => {
            let mut answer = text_response(StatusCode::CONFLICT, &format!("{known}\n"));
            let kind = HeaderValue::from_static("text/x.tlog.size");
            answer.headers_mut().insert(CONTENT_TYPE, kind);
            answer
        }
        CosignError::Unwitnessed(Unwitnessed::Forked { .. }) => {
            tracing::error!(origin, "the log signed two trees of one size");
            text_response(StatusCode::CONFLICT, &words)
        }
        CosignError::Unwitnessed(Unwitnessed::Inconsistent) => {
            tracing::error!(origin, "the log signed a tree that does not follow from the last");
            text_response(StatusCode::UNPROCESSABLE_ENTITY, &words)
        }
        CosignError::NotStored(error) => {
            tracing::error!(origin, %error, "a checkpoint cannot be remembered, so none is cosigned");
            text_response(StatusCode::INTERNAL_SERVER_ERROR, "the witness cannot remember it\n")
        }
    }
}

impl Service<Request<Body>> for WitnessService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.answer(request).await) })
    }
}

fn text_response(status: StatusCode, text: &str) -> Response<Body> {
    let mut answer = Response::new(Body::new(text.to_owned()));
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}
