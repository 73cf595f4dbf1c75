use std::sync::Arc;
use std::sync::Mutex;

use chassis::channel::{self, CredentialInterceptor, Pool};
use chassis::drain::Drain;
use chassis::limits::Limits;
use chassis::serve::{self, Health, Server};

use super::*;

/// Headers of a call that carry the hash of a bundle.
type Seen = Arc<Mutex<Vec<Option<HeaderValue>>>>;

/// A table that opens every dispute, and keeps the hash that came with each.
#[derive(Clone, Default)]
struct Table {
    seen: Seen,
}

impl Service<Request<Body>> for Table {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.seen.lock().unwrap().push(request.headers().get(BUNDLE).cloned());
        let mut head = Response::new(()).into_parts().0;
        head.headers.insert("content-type", HeaderValue::from_static("application/grpc"));
        let answer = OpenDisputeResponse { number: 7, ..OpenDisputeResponse::default() };
        let mut trailers = http::HeaderMap::new();
        trailers.insert("grpc-status", HeaderValue::from_static("0"));
        let body = Full::new(framed(&answer.encode_to_vec()).unwrap().into());
        let body = body.with_trailers(async move { Some(Ok(trailers)) });
        Box::pin(async move { Ok(Response::from_parts(head, Body::new(body))) })
    }
}

fn bundle() -> NamedBundle {
    NamedBundle { bundle: vec![9; 1000], sha256: vec![0xb5; 32] }
}

/// Disputes in front of a table, without the logs that bundles are collected from.
async fn disputes() -> (Disputes, Seen) {
    let bound = serve::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let uri = format!("http://{}", bound.address()).parse().unwrap();
    let server = Server::new(Limits::internal(), Health::new(), Drain::new(Duration::from_secs(1)));
    let table = Table::default();
    let seen = Arc::clone(&table.seen);
    tokio::spawn(server.run(bound, table));
    let pool = Pool::new(move || channel::connect_lazy(&uri, None, CredentialInterceptor::NoToken));
    let meter = crate::meter::Meter::new(primitives::UnixMicros(0));
    (Disputes::new(Audits::without_logs(), Forward::new(pool.unwrap(), meter)), seen)
}

fn open_request() -> Request<Body> {
    let message = OpenDisputeRequest {
        table_id: primitives::TableId([7; 16]).to_string(),
        hand_no: 1,
        ..OpenDisputeRequest::default()
    };
    let body = framed(&message.encode_to_vec()).unwrap();
    let mut request = Request::new(Body::new(Full::new(body.into())));
    *request.uri_mut() = OPEN.parse().unwrap();
    request
}

/// A room that has no bundle keeps nobody from a dispute, and nobody but the gateway names one.
#[tokio::test]
async fn without_a_bundle_a_dispute_is_opened_and_a_callers_own_hash_is_taken_away() {
    let (mut disputes, seen) = disputes().await;
    let mut forged = open_request();
    forged.headers_mut().insert(BUNDLE, header(&[0xaa; 32]).unwrap());
    let mut other = open_request();
    *other.uri_mut() = "/sabacc.audit.v1.DisputeService/ListDisputes".parse().unwrap();
    other.headers_mut().insert(BUNDLE, header(&[0xaa; 32]).unwrap());
    for request in [forged, other] {
        let answer = disputes.call(request).await.unwrap();
        let body = answer.into_body().collect().await.unwrap();
        assert_eq!(body.trailers().unwrap()["grpc-status"], "0");
        let body = body.to_bytes();
        let answer = OpenDisputeResponse::decode(message_of(&body).unwrap()).unwrap();
        assert_eq!((answer.number, answer.bundle.len()), (7, 0));
    }
    assert_eq!(seen.lock().unwrap()[..], [None, None]);
}

#[tokio::test]
async fn an_answer_gets_the_bundle_that_it_names_and_no_other() {
    let answer = |sha256: Vec<u8>| {
        let answer = OpenDisputeResponse { bundle_sha256: sha256, ..Default::default() };
        framed(&answer.encode_to_vec()).unwrap()
    };
    let named = with_bundle(&answer(vec![0xb5; 32]), bundle()).unwrap();
    let named = OpenDisputeResponse::decode(message_of(&named).unwrap()).unwrap();
    assert_eq!(named.bundle, bundle().bundle);
    assert_eq!(with_bundle(&answer(vec![1; 32]), bundle()), None);
    assert_eq!(with_bundle(&answer(Vec::new()), bundle()), None);
    assert_eq!(with_bundle(b"", bundle()), None);
    // A refusal has no message, and passes with its trailers.
    let refusal = Status::from(api_refusal(ErrorReason::DisputesOpen, "one is open")).into_http();
    let passed = attach(refusal, bundle()).await;
    assert_eq!(passed.headers()["grpc-status"], "9");
}

#[tokio::test]
async fn a_request_that_is_too_long_is_not_forwarded() {
    let (mut disputes, seen) = disputes().await;
    let mut request = open_request();
    *request.body_mut() = Body::new(Full::new(vec![0; MAX_REQUEST_BYTES + HEAD_BYTES + 1].into()));
    let answer = disputes.call(request).await.unwrap();
    assert_eq!(answer.headers()["grpc-status"], "3");
    assert!(seen.lock().unwrap().is_empty());
}
