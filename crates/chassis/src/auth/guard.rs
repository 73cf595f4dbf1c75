//! Tower layer that authenticates and authorizes every gRPC call.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::{Request, Response};
use primitives::UnixMicros;
use system::clock::Clock;
use tokio::time::Instant;
use tonic::body::Body;
use tonic::{Code, Status};
use tower::{Layer, Service};

use super::access::{Access, Rule};
use super::open_calls::{OpenCalls, Place};
use super::verifier::{TokenError, Verifier};
use super::{Bill, Identity, PeerNames, Role};
use crate::held::Held;
use crate::limits::Limits;
use crate::rate_limiter::RateLimiter;
use crate::refusal::{answer, overloaded, refusal};
use crate::telemetry::is_grpc;

/// Admits a call if its token is valid, its role may call the method, and its player is within
/// their limits. Cheap to clone.
#[derive(Clone)]
pub struct Guard {
    verifier: Verifier,
    access: Arc<Access>,
    rate: Option<Arc<RateLimiter<String>>>,
    open: Option<Arc<OpenCalls>>,
}

/// Expiry of the token that a request was admitted with. Lies in the request's extensions.
#[derive(Clone)]
pub(crate) struct TokenLife {
    until: UnixMicros,
    clock: Arc<dyn Clock>,
}

impl TokenLife {
    /// Time until the token expires.
    pub(crate) fn left(&self) -> Duration {
        self.until.since(self.clock.now())
    }
}

/// Takes units of calls, or returns the time to wait for them.
type Pay = dyn Fn(u32) -> Result<(), Duration> + Send + Sync;

/// Rate limit for the messages of a stream. Lies in the request's extensions.
#[derive(Clone)]
pub(crate) struct Paced(Arc<Pay>);

impl Paced {
    /// Takes one unit for a message, or returns the time that it has to wait.
    pub(crate) fn message(&self) -> Result<(), Duration> {
        (self.0)(1)
    }
}

/// Rate limit of the address that a request comes from. Lies in the request's extensions. The
/// address has already paid one unit for the call.
#[derive(Clone)]
pub(crate) struct AddressPays {
    pay: Arc<Pay>,
    /// Charges work that was already done.
    bill: Bill,
}

impl AddressPays {
    pub(crate) fn new(
        pay: impl Fn(u32) -> Result<(), Duration> + Send + Sync + 'static,
        charge: impl Fn(u32) + Send + Sync + 'static,
    ) -> AddressPays {
        AddressPays { pay: Arc::new(pay), bill: Bill::new(charge) }
    }
}

/// Admitted call with its caller.
struct Admitted {
    identity: Identity,
    until: UnixMicros,
    place: Option<Place>,
}

impl Guard {
    /// Guard without limits per player.
    #[must_use]
    pub fn new(verifier: Verifier, access: Arc<Access>) -> Guard {
        Guard { verifier, access, rate: None, open: None }
    }

    /// Adds the limits per player.
    #[must_use]
    pub fn limited(self, limits: &Limits) -> Guard {
        let Limits { player_calls, player_open, player_streams, .. } = limits;
        let bounded = player_open.or(*player_streams).is_some();
        let open = bounded.then(|| Arc::new(OpenCalls::new(*player_open, *player_streams)));
        Guard { rate: player_calls.map(RateLimiter::new).map(Arc::new), open, ..self }
    }

    /// Admits a call of `path` with this `authorization` header. `Ok(None)` if the path needs no
    /// token.
    fn admit(
        &self,
        path: &str,
        authorization: Option<&[u8]>,
        address: Option<&AddressPays>,
    ) -> Result<Option<Admitted>, Box<Status>> {
        if Access::is_open(path) {
            return Ok(None);
        }
        let (identity, until) =
            self.verifier.verify_header(authorization).map_err(unauthenticated)?;
        let Some(rule) = self.access.rule(path) else {
            return Err(Box::new(refusal(
                Code::Unimplemented,
                "NO_SUCH_METHOD",
                "this server does not have this method",
            )));
        };
        if !rule.admits(&identity) {
            return Err(not_allowed(match identity.role {
                Role::Service => {
                    format!("the service {} may not call this method", identity.subject)
                }
                Role::Player | Role::Operator | Role::Auditor => {
                    format!("the role {} may not call this method", identity.role.name())
                }
            }));
        }
        let place = match identity.role {
            Role::Player => {
                // The address pays in full too: one caller may hold many players' tokens.
                let rest = rule.cost.saturating_sub(1);
                address.map_or(Ok(()), |address| (address.pay)(rest)).map_err(address_too_fast)?;
                self.limit(&identity.subject, rule)?
            }
            Role::Operator | Role::Auditor | Role::Service => None,
        };
        Ok(Some(Admitted { identity, until, place }))
    }

    /// Charges a call's additional cost to the player and to their address.
    fn bill(&self, identity: &Identity, address: Option<AddressPays>) -> Bill {
        let (rate, player) = (self.rate.clone(), identity.subject.clone());
        Bill::new(move |units| {
            if let Some(rate) = &rate {
                rate.charge(player.as_str(), units, Instant::now());
            }
            if let Some(address) = &address {
                address.bill.charge(units);
            }
        })
    }

    /// Applies the player's rate limit and takes a permit for an open call.
    fn limit(&self, player: &str, rule: &Rule) -> Result<Option<Place>, Box<Status>> {
        if let Some(rate) = &self.rate {
            rate.take(player, rule.cost, Instant::now()).map_err(too_fast)?;
        }
        let Some(open) = &self.open else { return Ok(None) };
        match open.enter(player, rule.streams) {
            Some(place) => Ok(Some(place)),
            None => Err(too_many(rule.streams)),
        }
    }
}

fn not_allowed(message: impl Into<String>) -> Box<Status> {
    Box::new(refusal(Code::PermissionDenied, "ROLE_NOT_ALLOWED", message))
}

fn too_fast(wait: Duration) -> Box<Status> {
    let text = "you call faster than a player may: wait as long as the RetryInfo says";
    Box::new(overloaded(text, wait))
}

fn address_too_fast(wait: Duration) -> Box<Status> {
    let text = "this address calls faster than one may: wait as long as the RetryInfo says";
    Box::new(overloaded(text, wait))
}

fn too_many(streams: bool) -> Box<Status> {
    let text = if streams {
        "you have as many streams open as a player may: end one before you open another"
    } else {
        "you have as many calls open as a player may: wait for some to end"
    };
    Box::new(overloaded(text, Duration::from_secs(1)))
}

fn unauthenticated(error: TokenError) -> Box<Status> {
    let reason = match error {
        TokenError::Missing => "TOKEN_MISSING",
        TokenError::Malformed => "TOKEN_MALFORMED",
        TokenError::Expired => "TOKEN_EXPIRED",
        TokenError::Forged => "TOKEN_FORGED",
    };
    Box::new(refusal(Code::Unauthenticated, reason, error.to_string()))
}

impl<S> Layer<S> for Guard {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded { guard: self.clone(), inner }
    }
}

/// Service behind a [`Guard`].
#[derive(Clone)]
pub struct Guarded<S> {
    guard: Guard,
    inner: S,
}

impl<S, B> Service<Request<B>> for Guarded<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<Body>, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        // Only the guard may set the identity and the bill.
        request.extensions_mut().remove::<Identity>();
        request.extensions_mut().remove::<Bill>();
        let authorization = request.headers().get(http::header::AUTHORIZATION);
        let path = request.uri().path();
        let address = request.extensions().get::<AddressPays>();
        let authorization = authorization.map(http::HeaderValue::as_bytes);
        let admitted = self.guard.admit(path, authorization, address);
        let names = request.extensions().get::<PeerNames>();
        let admitted = admitted.and_then(|admitted| match (&admitted, names) {
            (Some(caller), Some(names)) if !names.fits(&caller.identity) => Err(not_allowed(
                "the certificate of this connection does not bear the token's name",
            )),
            (Some(_) | None, _) => Ok(admitted),
        });
        match admitted {
            Ok(None) => {
                // Without an identity only the address can pay for the messages.
                if let Some(AddressPays { pay, bill: _ }) =
                    request.extensions_mut().remove::<AddressPays>()
                {
                    request.extensions_mut().insert(Paced(pay));
                }
                Box::pin(self.inner.call(request))
            }
            Ok(Some(Admitted { identity, until, place })) => {
                let clock = Arc::clone(self.guard.verifier.clock());
                request.extensions_mut().insert(TokenLife { until, clock });
                if identity.role == Role::Player {
                    let address = request.extensions().get::<AddressPays>().cloned();
                    request.extensions_mut().insert(self.guard.bill(&identity, address));
                }
                if let (Role::Player, Some(rate)) = (identity.role, &self.guard.rate) {
                    let (rate, player) = (Arc::clone(rate), identity.subject.clone());
                    let pay = move |units| rate.take(player.as_str(), units, Instant::now());
                    request.extensions_mut().insert(Paced(Arc::new(pay)));
                }
                request.extensions_mut().insert(identity);
                let answer = self.inner.call(request);
                match place {
                    None => Box::pin(answer),
                    Some(place) => Box::pin(async move {
                        Ok(answer.await?.map(|inner| Body::new(Held::new(inner, place))))
                    }),
                }
            }
            Err(status) => {
                let grpc = is_grpc(request.headers());
                Box::pin(std::future::ready(Ok(answer(&status, grpc))))
            }
        }
    }
}
