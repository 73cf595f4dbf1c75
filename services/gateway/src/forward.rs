//! Forwarding of calls to the services behind.
//!
//! A call goes to its service as it came: path, token and body. The answer comes back in the same
//! way, streams included. The gateway adds only the time at which the request was complete. A call
//! without an answer gets an error of the gateway that tells the caller to repeat it.
//!
//! Specification: services/gateway/README.md "Effects on the other services".

use std::convert::Infallible;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll};

use chassis::auth::{CostCharger, remove_units_header};
use chassis::channel::{CallError, Pool};
use chassis::serve::{IsStream, WholeBody};
use http::{HeaderName, HeaderValue, Request, Response};
use proto::common::v1::ErrorReason;
use system::clock::{Clock as _, SystemClock};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::server::NamedService;
use tracing::Instrument as _;
use wire::status::{self, api_refusal};

use crate::meter::Meter;

/// Forwards all methods of one public service to the service behind.
pub(crate) struct Forward<N> {
    pool: Pool,
    meter: Arc<Meter>,
    name: PhantomData<fn() -> N>,
}

/// The public name `sabacc.table.v1.TableService`.
pub(crate) enum Table {}
/// The public name `sabacc.table.v1.PeopleService`.
pub(crate) enum People {}
/// The public name `sabacc.audit.v1.DisputeService`.
pub(crate) enum Disputes {}
/// The public name `sabacc.audit.v1.HandService`.
pub(crate) enum Hands {}
/// The public name `sabacc.table.v1.RulesService`.
pub(crate) enum Rules {}
/// The public name `sabacc.table.v1.RoomService`.
pub(crate) enum Room {}
/// The public name `sabacc.wallet.v1.WalletService`.
pub(crate) enum Wallet {}

/// Name of a gRPC service, known at compile time because routes are made from it.
pub(crate) trait ServiceName: 'static {
    const NAME: &'static str;
}

impl ServiceName for Table {
    const NAME: &'static str = "sabacc.table.v1.TableService";
}

impl ServiceName for People {
    const NAME: &'static str = "sabacc.table.v1.PeopleService";
}

impl ServiceName for Disputes {
    const NAME: &'static str = "sabacc.audit.v1.DisputeService";
}

impl ServiceName for Hands {
    const NAME: &'static str = "sabacc.audit.v1.HandService";
}

impl ServiceName for Rules {
    const NAME: &'static str = "sabacc.table.v1.RulesService";
}

impl ServiceName for Room {
    const NAME: &'static str = "sabacc.table.v1.RoomService";
}

impl ServiceName for Wallet {
    const NAME: &'static str = "sabacc.wallet.v1.WalletService";
}

impl<N: ServiceName> Forward<N> {
    #[must_use]
    pub(crate) fn new(pool: Pool, meter: Arc<Meter>) -> Forward<N> {
        Forward { pool, meter, name: PhantomData }
    }
}

impl<N> Clone for Forward<N> {
    fn clone(&self) -> Forward<N> {
        let (pool, meter) = (self.pool.clone(), Arc::clone(&self.meter));
        Forward { pool, meter, name: PhantomData }
    }
}

impl<N: ServiceName> NamedService for Forward<N> {
    const NAME: &'static str = N::NAME;
}

impl<N: ServiceName> Service<Request<Body>> for Forward<N> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // A call waits in its own future, so that a slow service does not hold up the routes of the
        // other.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        stamp_received(&mut request);
        let (streams, bill) =
            (request.extensions().get::<IsStream>().is_some(), request.extensions().get().cloned());
        let answer = self.pool.call(request);
        let measured = self.meter.begin(streams);
        let answer = async move {
            measured.answered(match answer.await {
                Ok(answer) => charge_units(answer, bill.as_ref()),
                Err(error) => unavailable_response(N::NAME, &error),
            })
        };
        if !streams {
            return Box::pin(async move { Ok(answer.await) });
        }
        // A caller who leaves before the answer begins pays too, so the answer is awaited in a
        // task.
        let answer = tokio::spawn(answer.in_current_span());
        Box::pin(async move { Ok(answer.await.unwrap_or_else(|_| failed_call())) })
    }
}

/// Charges the units that an answer has cost beside its method's price, and removes their header
/// from the answer.
fn charge_units(mut answer: Response<Body>, bill: Option<&CostCharger>) -> Response<Body> {
    let units = remove_units_header(answer.headers_mut());
    if let Some(bill) = bill.filter(|_| units > 0) {
        bill.charge(units);
    }
    answer
}

fn failed_call() -> Response<Body> {
    Status::from(api_refusal(ErrorReason::Corrupt, "this call broke down in the middle"))
        .into_http()
}

/// Header with the time at which a request was complete at this gateway, in microseconds since
/// 1970. The service behind computes from it how long the request has waited. Streams have none.
const RECEIVED: HeaderName = HeaderName::from_static("x-sabacc-received");

static CLOCK: LazyLock<SystemClock> = LazyLock::new(SystemClock::new);

/// Sets the header [`RECEIVED`] of a complete request, and removes one that the caller has set.
pub(crate) fn stamp_received(request: &mut Request<Body>) {
    let whole = request.extensions().get::<WholeBody>().is_some();
    let headers = request.headers_mut();
    headers.remove(RECEIVED);
    if whole {
        headers.insert(RECEIVED, HeaderValue::from(CLOCK.now().0));
    }
}

/// Answers for a service that did not. Except for [`CallError::Busy`] it is unknown whether the
/// service took the call.
pub(crate) fn unavailable_response(service: &str, error: &CallError) -> Response<Body> {
    match error {
        CallError::Busy => {
            tracing::debug!(service, "a service behind has all calls that it may have");
            let words = "the service behind the gateway has too much to do: try again in a moment";
            return Status::from(api_refusal(ErrorReason::Overloaded, words)).into_http();
        }
        CallError::Transport(error) => {
            tracing::warn!(
                runbook = "deploy/README.md, A service does not answer",
                service,
                %error,
                "a service does not answer"
            );
        }
    }
    let status: Status =
        status::unavailable("the service behind the gateway does not answer").into();
    status.into_http()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use chassis::auth::UNITS_HEADER;
    use chassis::channel::{self, CredentialInterceptor};
    use chassis::drain::Drain;
    use chassis::limits::Limits;
    use chassis::serve::{self, Health, Server};

    use super::*;

    /// A service whose answers are delayed and have cost units.
    #[derive(Clone)]
    struct CostlyService;

    const ANSWER_DELAY: Duration = Duration::from_millis(100);

    impl Service<Request<Body>> for CostlyService {
        type Response = Response<Body>;
        type Error = Infallible;
        type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: Request<Body>) -> Self::Future {
            Box::pin(async {
                tokio::time::sleep(ANSWER_DELAY).await;
                let mut answer = Status::ok("").into_http();
                answer.headers_mut().insert(UNITS_HEADER, HeaderValue::from_static("32"));
                Ok(answer)
            })
        }
    }

    #[tokio::test]
    async fn what_a_stream_has_cost_is_charged_also_to_who_has_left() {
        let bound = serve::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let uri = format!("http://{}", bound.address()).parse().unwrap();
        let drain = Drain::new(Duration::from_secs(1));
        let server = Server::new(Limits::internal(), Health::new(), drain);
        tokio::spawn(server.run(bound, CostlyService));
        let pool =
            Pool::new(move || channel::connect_lazy(&uri, None, CredentialInterceptor::NoToken))
                .unwrap();
        let meter = Meter::new(CLOCK.now());
        let mut forward = Forward::<Table>::new(pool, Arc::clone(&meter));
        let charged = Arc::new(AtomicU32::new(0));
        let mut watch = || {
            let charged = Arc::clone(&charged);
            let mut request = Request::new(Body::empty());
            *request.uri_mut() = "/sabacc.table.v1.TableService/WatchTable".parse().unwrap();
            request.extensions_mut().insert(IsStream);
            request.extensions_mut().insert(CostCharger::new(move |units| {
                charged.fetch_add(units, Ordering::Relaxed);
            }));
            forward.call(request)
        };
        let answer = watch().await.unwrap();
        assert!(!answer.headers().contains_key(UNITS_HEADER), "it is nobody else's affair");
        assert_eq!(charged.load(Ordering::Relaxed), 32);
        assert!(tokio::time::timeout(ANSWER_DELAY / 4, watch()).await.is_err());
        tokio::time::sleep(ANSWER_DELAY * 4).await;
        assert_eq!(charged.load(Ordering::Relaxed), 64);
        assert_eq!(meter.open_streams(), 0, "one has ended, and the other was left");
    }

    #[test]
    fn only_the_gateway_says_when_a_request_was_here() {
        let mut request = Request::new(Body::empty());
        request.headers_mut().insert(RECEIVED, HeaderValue::from_static("1"));
        stamp_received(&mut request);
        assert!(!request.headers().contains_key(RECEIVED), "a stream's");
        request.headers_mut().append(RECEIVED, HeaderValue::from_static("1"));
        request.headers_mut().append(RECEIVED, HeaderValue::from_static("2"));
        request.extensions_mut().insert(WholeBody);
        let before = CLOCK.now().0;
        stamp_received(&mut request);
        let said: Vec<_> = request.headers().get_all(RECEIVED).iter().collect();
        let [said] = said[..] else { panic!("{said:?}") };
        assert!(said.to_str().unwrap().parse::<u64>().unwrap() >= before);
    }
}
