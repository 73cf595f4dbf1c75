//! The logs of all services under one name: a call goes to the service whose log it names, a
//! request for a file to the service whose log its path names. Answers are passed back unchanged.
//!
//! Specification: ARCHITECTURE.md §1.2.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use chassis::auth::take_address_units;
use chassis::channel::Pool;
use http::header::RETRY_AFTER;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use prost::Message as _;
use proto::audit::v1::GetCheckpointRequest;
use proto::common::v1::ErrorReason;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::server::NamedService;
use wire::status::api_refusal;

use crate::forward::{stamp_received, unavailable_response};

const NAME: &str = "sabacc.audit.v1.LogService";

/// Beginning of the paths of entry bundles within a log.
const ENTRIES: &str = "tile/entries/";
/// Units of an entry bundle beyond the first.
const ENTRIES_UNITS: u32 = 3;

/// The services whose logs are public, by the names of their logs.
#[derive(Clone)]
pub(crate) struct Logs {
    services: Arc<BTreeMap<&'static str, Pool>>,
    /// Longest request, in bytes.
    max_request_bytes: usize,
}

impl Logs {
    pub(crate) fn new(services: BTreeMap<&'static str, Pool>, longest: usize) -> Logs {
        Logs { services: Arc::new(services), max_request_bytes: longest }
    }

    /// Returns the service of the logs' files, for paths below `/log/`.
    pub(crate) fn files(&self) -> Files {
        Files(self.clone())
    }

    async fn call(self, request: Request<Body>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let Ok(body) = Limited::new(body, self.max_request_bytes + 5).collect().await else {
            return too_long().into_http();
        };
        let body = body.to_bytes();
        let Some(log) = log_of(&body) else { return unreadable().into_http() };
        let Some(mut pool) = self.services.get(log.as_str()).cloned() else {
            return unknown_log().into_http();
        };
        let mut request = Request::from_parts(head, Body::new(Full::new(body)));
        stamp_received(&mut request);
        match pool.call(request).await {
            Ok(answer) => answer,
            Err(error) => unavailable_response(NAME, &error),
        }
    }
}

/// Returns the log that a request names. It is the first field of every request to the service.
fn log_of(body: &[u8]) -> Option<String> {
    let (compressed, rest) = body.split_first()?;
    let (length, message) = rest.split_first_chunk()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let whole = *compressed == 0 && message.len() == length;
    let GetCheckpointRequest { log } = GetCheckpointRequest::decode(message).ok()?;
    whole.then_some(log)
}

fn unknown_log() -> Status {
    let words = "the logs are table, dealer and wallet, as far as this gateway reaches them";
    api_refusal(ErrorReason::NotInLog, words).field("log").into()
}

fn unreadable() -> Status {
    api_refusal(ErrorReason::BadField, "the request is no message of this method").into()
}

fn too_long() -> Status {
    api_refusal(ErrorReason::BadField, "the request is longer than any message may be").into()
}

impl NamedService for Logs {
    const NAME: &'static str = NAME;
}

impl Service<Request<Body>> for Logs {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let logs = self.clone();
        Box::pin(async move { Ok(Logs::call(logs, request).await) })
    }
}

/// Service of the logs' files.
#[derive(Clone)]
pub(crate) struct Files(Logs);

impl Service<Request<Body>> for Files {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let mut path = request.uri().path().splitn(4, '/').skip(2);
        let pool = path.next().and_then(|log| self.0.services.get(log)).cloned();
        Box::pin(async move {
            let Some(mut pool) = pool else {
                return Ok(text_response(StatusCode::NOT_FOUND, "there is no such log\n"));
            };
            if let Err(wait) = take_address_units(&request, units(request.uri().path())) {
                let words = "too much at once: try again\n";
                let mut refusal = text_response(StatusCode::TOO_MANY_REQUESTS, words);
                let wait = HeaderValue::from(wait.as_secs() + 1);
                refusal.headers_mut().insert(RETRY_AFTER, wait);
                return Ok(refusal);
            }
            // Neither token nor body is forwarded, since the files are public.
            let (method, uri) = (request.method().clone(), request.uri().path().to_owned());
            let plain = Request::builder().method(method).uri(uri).body(Body::empty());
            let Ok(plain) = plain else {
                return Ok(text_response(StatusCode::NOT_FOUND, "there is no such file\n"));
            };
            Ok(match pool.call(plain).await {
                Ok(answer) => answer,
                Err(error) => {
                    tracing::warn!(runbook = "deploy/README.md, A service does not answer", %error, "a service does not answer");
                    text_response(StatusCode::BAD_GATEWAY, "the log's service does not answer\n")
                }
            })
        })
    }
}

/// Units of a file beyond the first. A bundle of leaf records costs what `GetEntries` costs.
fn units(path: &str) -> u32 {
    let is_bundle = path.splitn(4, '/').nth(3).is_some_and(|file| file.starts_with(ENTRIES));
    if is_bundle { ENTRIES_UNITS } else { 0 }
}

fn text_response(status: StatusCode, text: &str) -> Response<Body> {
    let mut answer = Response::new(Body::new(text.to_owned()));
    *answer.status_mut() = status;
    answer
}

#[cfg(test)]
mod tests {
    use proto::audit::v1::{ProveInclusionRequest, ReadRecordsRequest};

    use super::*;

    fn framed(message: &[u8]) -> Vec<u8> {
        let length = u32::try_from(message.len()).unwrap().to_be_bytes();
        [&[0][..], &length, message].concat()
    }

    #[test]
    fn every_request_names_its_log_alike() {
        let inclusion = ProveInclusionRequest { log: "table".into(), position: 7, size: 9 };
        assert_eq!(log_of(&framed(&inclusion.encode_to_vec())).as_deref(), Some("table"));
        let records =
            ReadRecordsRequest { log: "wallet".into(), selections: vec![], cosigned: false };
        assert_eq!(log_of(&framed(&records.encode_to_vec())).as_deref(), Some("wallet"));
        assert_eq!(log_of(&framed(&[])).as_deref(), Some(""));
    }

    #[test]
    fn what_is_no_request_names_none() {
        let good = framed(&GetCheckpointRequest { log: "table".into() }.encode_to_vec());
        let compressed = [&[1][..], &good[1..]].concat();
        let broken = &good[..good.len() - 1];
        for bad in [&[][..], &good[..3], broken, &compressed, &framed(&[0xff, 0xff])] {
            assert_eq!(log_of(bad), None, "{bad:?}");
        }
    }

    /// services/gateway/README.md "Public files".
    #[test]
    fn a_bundle_of_leaf_records_costs_what_the_call_costs() {
        assert_eq!(units("/log/table/tile/entries/000"), 3);
        assert_eq!(units("/log/dealer/tile/entries/x001/000.p/7"), 3);
        for path in
            ["/log/table/checkpoint", "/log/table/tile/0/000", "/log/", "/log/tile/entries/"]
        {
            assert_eq!(units(path), 0, "{path}");
        }
    }
}
