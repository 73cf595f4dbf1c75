//! `sabacc.audit.v1.DisputeService`: forwarded to the table; a new dispute with the hash of the
//! room's own bundle of the hand, which its player gets with the answer.
//!
//! The table puts the hash on record, so neither side can come with another bundle later. The bundle
//! is collected as for `GetHandBundle`, of a suspended hand too. Where the room has none, or not in
//! time, the dispute is opened all the same and its record says so: a room cannot keep players from
//! disputes by keeping bundles back.
//!
//! Specification: services/gateway/README.md "Disputes".

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Extensions, HeaderName, HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use prost::Message as _;
use proto::audit::v1::{OpenDisputeRequest, OpenDisputeResponse};
use proto::common::v1::ErrorReason;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::metadata::BinaryMetadataValue;
use tonic::server::NamedService;
use tonic::{Request as Call, Status};
use wire::field;
use wire::status::{api_refusal, reason_of, unavailable};

use crate::audits::{Audits, NamedBundle};
use crate::forward::{self, Forward};

/// Path of the call that opens a dispute.
const OPEN: &str = "/sabacc.audit.v1.DisputeService/OpenDispute";
/// Header with the hash of the room's own bundle. Only the gateway sets it.
const BUNDLE: HeaderName = HeaderName::from_static("x-sabacc-bundle-bin");
/// Bytes of the longest request to open a dispute: the limit of its method.
const MAX_REQUEST_BYTES: usize = 327_680;
/// Bytes before a message: a flag and the length.
const HEAD_BYTES: usize = 5;
/// Time for a bundle, with the wait for a witness. What is left of a call's time is the table's.
const COLLECTING_TIME: Duration = Duration::from_secs(8);

/// Forwards disputes to the table.
#[derive(Clone)]
pub(crate) struct Disputes {
    audits: Audits,
    forward: Forward<forward::Disputes>,
}

impl Disputes {
    #[must_use]
    pub(crate) const fn new(audits: Audits, forward: Forward<forward::Disputes>) -> Disputes {
        Disputes { audits, forward }
    }

    async fn open(mut self, request: Request<Body>) -> Response<Body> {
        let (mut head, body) = request.into_parts();
        let Ok(body) = Limited::new(body, MAX_REQUEST_BYTES + HEAD_BYTES).collect().await else {
            let words = "the request is longer than any message to this method may be";
            return Status::from(api_refusal(ErrorReason::BadField, words)).into_http();
        };
        let body = body.to_bytes();
        let bundle = match self.bundle(&body, &head.extensions).await {
            Ok(bundle) => bundle,
            Err(status) => return status.into_http(),
        };
        if let Some(value) = bundle.as_ref().and_then(|bundle| header(&bundle.sha256)) {
            head.headers.insert(BUNDLE, value);
        }
        let request = Request::from_parts(head, Body::new(Full::new(body)));
        let answer = match self.forward.call(request).await {
            Ok(answer) => answer,
            Err(never) => match never {},
        };
        match bundle {
            Some(bundle) => attach(answer, bundle).await,
            None => answer,
        }
    }

    /// The bundle of the hand that a request is about; `None` where there is none in time, or the
    /// request is none, which the table refuses.
    ///
    /// # Errors
    /// The caller has, or all have, as much collected as may be: the call is repeated later.
    async fn bundle(
        &self,
        body: &[u8],
        extensions: &Extensions,
    ) -> Result<Option<NamedBundle>, Status> {
        let message = message_of(body).and_then(|message| OpenDisputeRequest::decode(message).ok());
        let Some(OpenDisputeRequest { table_id, hand_no, .. }) = message else { return Ok(None) };
        let Ok(table) = field::table_id(&table_id) else { return Ok(None) };
        let mut call = Call::new(());
        *call.extensions_mut() = extensions.clone();
        let collecting = self.audits.named_bundle(table, hand_no, &call);
        match tokio::time::timeout(COLLECTING_TIME, collecting).await {
            Ok(Ok(bundle)) => Ok(Some(bundle)),
            Ok(Err(status)) if reason_of(&status) == Some(ErrorReason::Overloaded) => Err(status),
            Ok(Err(status)) => {
                tracing::warn!(%table, hand_no, %status, "a dispute is opened without a bundle");
                Ok(None)
            }
            Err(_) => {
                tracing::warn!(%table, hand_no, "a dispute is opened without a bundle: it took too long");
                Ok(None)
            }
        }
    }
}

/// Hash as the value of a binary header.
fn header(hash: &[u8]) -> Option<HeaderValue> {
    let value = BinaryMetadataValue::from_bytes(hash);
    HeaderValue::from_bytes(value.as_encoded_bytes()).ok()
}

/// The only message of a body that is whole and not compressed.
fn message_of(body: &[u8]) -> Option<&[u8]> {
    let (compressed, rest) = body.split_first()?;
    let (length, message) = rest.split_first_chunk()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    (*compressed == 0 && message.len() == length).then_some(message)
}

/// Body of one message.
fn framed(message: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(message.len()).ok()?;
    Some([&[0][..], &length.to_be_bytes(), message].concat())
}

/// Adds the bundle to an answer that names it. A repeated request has the first answer, which names
/// another bundle where the hand had to be collected anew.
async fn attach(answer: Response<Body>, bundle: NamedBundle) -> Response<Body> {
    let (head, body) = answer.into_parts();
    let Ok(body) = body.collect().await else {
        let words = "the service behind the gateway does not answer";
        return Status::from(unavailable(words)).into_http();
    };
    let trailers = body.trailers().cloned();
    let body = body.to_bytes();
    let body = with_bundle(&body, bundle).map_or(body, Into::into);
    let body = Full::new(body).with_trailers(async move { trailers.map(Ok) });
    Response::from_parts(head, Body::new(body))
}

/// The body with the bundle; `None` where it is no answer, or names another bundle.
fn with_bundle(body: &[u8], bundle: NamedBundle) -> Option<Vec<u8>> {
    let answer = OpenDisputeResponse::decode(message_of(body)?).ok()?;
    let names_it = answer.bundle_sha256 == bundle.sha256;
    let answer = OpenDisputeResponse { bundle: bundle.bundle, ..answer };
    if names_it { framed(&answer.encode_to_vec()) } else { None }
}

impl NamedService for Disputes {
    const NAME: &'static str = <Forward<forward::Disputes> as NamedService>::NAME;
}

impl Service<Request<Body>> for Disputes {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        request.headers_mut().remove(BUNDLE);
        if request.uri().path() != OPEN {
            return self.forward.call(request);
        }
        let disputes = self.clone();
        Box::pin(async move { Ok(disputes.open(request).await) })
    }
}

#[cfg(test)]
mod tests;
