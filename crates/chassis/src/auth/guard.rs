//! Middleware that authenticates and authorizes every gRPC call.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use tokio::time::Instant;
use tonic::Status;
use tonic::body::Body;

use super::access::{Access, Rule};
use super::anonymous::{AnonymousPermit, AnonymousStreams};
use super::open_calls::{OpenCalls, Permit};
use super::verifier::{TokenError, VerifiedToken, Verifier};
use super::{CostCharger, Identity, PeerNames, Role, TokenExpiry};
use crate::body_with_permit::BodyWithPermit;
use crate::content_type::is_grpc;
use crate::limits::Limits;
use crate::rate_limiter::RateLimiter;
use crate::refusal::{Reason, encode_refusal, no_such_method, overloaded, refusal, refusal_with};
use crate::serve::{Answer, CallerAddress, Middleware, Next, answered};

/// Span in which the wrong tokens of an address are counted.
const WRONG_TOKEN_SPAN: Duration = Duration::from_mins(1);

/// Admits a call if its token is valid, its role may call the method, and its player is within
/// their limits. A method that is open to anybody is admitted without a token too, within limits by
/// address; a token that is there must be good. Cheap to clone.
#[derive(Clone)]
pub struct Guard {
    verifier: Verifier,
    access: Arc<Access>,
    rate_limiter: Option<Arc<RateLimiter<String>>>,
    open_calls: Option<Arc<OpenCalls>>,
    /// Counts tokens by address that are malformed, or that no issuer signed.
    wrong_tokens: Option<Arc<RateLimiter<IpAddr>>>,
    anonymous_streams: Option<Arc<AnonymousStreams>>,
}

/// Takes units of calls, or returns the time to wait for them.
type TakeUnits = dyn Fn(u32) -> Result<(), Duration> + Send + Sync;

/// Rate limit for the messages of a stream. Lies in the request's extensions.
#[derive(Clone)]
pub(crate) struct MessageRateLimit(Arc<TakeUnits>);

impl MessageRateLimit {
    /// Takes one unit for a message, or returns the time that it has to wait.
    pub(crate) fn take_message(&self) -> Result<(), Duration> {
        (self.0)(1)
    }
}

/// Rate limit of the address that a request comes from. Lies in the request's extensions. The
/// address has already paid one unit for the call.
#[derive(Clone)]
pub(crate) struct AddressRateLimit {
    take: Arc<TakeUnits>,
    /// Charges work that was already done.
    charger: CostCharger,
}

impl AddressRateLimit {
    pub(crate) fn new(
        pay: impl Fn(u32) -> Result<(), Duration> + Send + Sync + 'static,
        charge: impl Fn(u32) + Send + Sync + 'static,
    ) -> AddressRateLimit {
        AddressRateLimit { take: Arc::new(pay), charger: CostCharger::new(charge) }
    }
}

/// Takes units of the address that a request without a token comes from, beyond the one unit that it
/// has paid for the call.
///
/// # Errors
/// Time to wait until the units are available. Nothing was taken.
pub fn take_address_units(request: &Request<Body>, units: u32) -> Result<(), Duration> {
    let limit = request.extensions().get::<AddressRateLimit>();
    limit.map_or(Ok(()), |limit| (limit.take)(units))
}

/// Admitted call.
enum Admitted {
    /// Call of a service that is open and not described, such as health.
    Open,
    /// Call without a token.
    Anonymous(Option<AnonymousPermit>),
    /// Call with a token.
    Caller { token: VerifiedToken, permit: Option<Permit>, streams: bool },
}

/// Call before its admission.
struct Arrival<'a> {
    path: &'a str,
    authorization: Option<&'a [u8]>,
    pace: Option<&'a AddressRateLimit>,
    address: Option<IpAddr>,
}

impl<'a> Arrival<'a> {
    fn of(request: &'a Request<Body>) -> Arrival<'a> {
        let authorization = request.headers().get(http::header::AUTHORIZATION);
        Arrival {
            path: request.uri().path(),
            authorization: authorization.map(http::HeaderValue::as_bytes),
            pace: request.extensions().get(),
            address: request.extensions().get().map(|CallerAddress(address)| *address),
        }
    }

    /// Takes the cost of a call beyond the one unit that its address has paid.
    fn take_rest(&self, rule: &Rule) -> Result<(), Box<Status>> {
        let rest = rule.cost.saturating_sub(1);
        self.pace.map_or(Ok(()), |pace| (pace.take)(rest)).map_err(address_too_fast)
    }
}

impl Guard {
    /// Guard without limits.
    #[must_use]
    pub fn new(verifier: Verifier, access: Arc<Access>) -> Guard {
        Guard {
            verifier,
            access,
            rate_limiter: None,
            open_calls: None,
            wrong_tokens: None,
            anonymous_streams: None,
        }
    }

    /// Adds the limits per player, and those of callers without a token that is believed.
    #[must_use]
    pub fn with_limits(self, limits: &Limits) -> Guard {
        let Limits { player_calls, player_open, player_streams, wrong_tokens, .. } = limits;
        let bounded = player_open.or(*player_streams).is_some();
        let open = bounded.then(|| Arc::new(OpenCalls::new(*player_open, *player_streams)));
        let per_minute = |tokens: NonZeroU32| RateLimiter::per(tokens, WRONG_TOKEN_SPAN);
        let Limits { address_anonymous_streams, anonymous_streams, .. } = limits;
        let watched = address_anonymous_streams.or(*anonymous_streams).is_some();
        Guard {
            rate_limiter: player_calls.map(RateLimiter::new).map(Arc::new),
            open_calls: open,
            wrong_tokens: wrong_tokens.map(per_minute).map(Arc::new),
            anonymous_streams: watched.then(|| Arc::new(AnonymousStreams::new(limits))),
            ..self
        }
    }

    /// Admits a call.
    fn admit(&self, arrival: &Arrival<'_>) -> Result<Admitted, Box<Status>> {
        if Access::is_open(arrival.path) {
            return Ok(Admitted::Open);
        }
        let rule = self.access.rule(arrival.path);
        if arrival.authorization.is_none()
            && let Some(rule) = rule.filter(|rule| rule.is_for_anybody)
        {
            return self.admit_anonymous(arrival, rule);
        }
        let token = self.verify(arrival)?;
        let Some(rule) = rule else {
            return Err(Box::new(no_such_method()));
        };
        let identity = &token.identity;
        if !rule.admits(identity) {
            return Err(role_not_allowed(match identity.role {
                Role::Service => {
                    format!("the service {} may not call this method", identity.subject)
                }
                Role::Player | Role::Operator | Role::Auditor => {
                    format!("the role {} may not call this method", identity.role.name())
                }
            }));
        }
        let permit = match identity.role {
            Role::Player => {
                // The address pays in full too: one caller may hold many players' tokens.
                arrival.take_rest(rule)?;
                self.apply_player_limits(&identity.subject, rule)?
            }
            Role::Operator | Role::Auditor | Role::Service => None,
        };
        Ok(Admitted::Caller { token, permit, streams: rule.streams })
    }

    fn admit_anonymous(&self, arrival: &Arrival<'_>, rule: &Rule) -> Result<Admitted, Box<Status>> {
        arrival.take_rest(rule)?;
        let Some(streams) = self.anonymous_streams.as_ref().filter(|_| rule.streams) else {
            return Ok(Admitted::Anonymous(None));
        };
        match streams.try_acquire(arrival.address) {
            Some(permit) => Ok(Admitted::Anonymous(Some(permit))),
            None => Err(too_many_watchers()),
        }
    }

    /// Verifies the token of a call. An address that has shown too many wrong ones waits with every
    /// token that was not verified before.
    fn verify(&self, arrival: &Arrival<'_>) -> Result<VerifiedToken, Box<Status>> {
        let limit = self.wrong_tokens.as_ref().zip(arrival.address);
        if let Some((limit, address)) = &limit
            && let Err(wait) = limit.check(address, 1, Instant::now())
            && arrival.authorization.is_some_and(|header| !self.verifier.is_known(header))
        {
            let text = "this address has shown too many wrong tokens: wait as long as the RetryInfo \
                        says";
            return Err(Box::new(overloaded(text, wait)));
        }
        self.verifier.verify_header(arrival.authorization).map_err(|error| {
            match error {
                TokenError::Malformed { .. } | TokenError::Forged { .. } => {
                    if let Some((limit, address)) = &limit {
                        limit.charge(address, 1, Instant::now());
                    }
                }
                TokenError::Missing
                | TokenError::Expired { .. }
                | TokenError::Revoked { .. }
                | TokenError::RevocationsUnknown => {}
            }
            Box::new(token_refusal(error))
        })
    }

    /// Charges a call's additional cost to the player and to their address.
    fn cost_charger(&self, identity: &Identity, address: Option<AddressRateLimit>) -> CostCharger {
        let (rate, player) = (self.rate_limiter.clone(), identity.subject.clone());
        CostCharger::new(move |units| {
            if let Some(rate) = &rate {
                rate.charge(player.as_str(), units, Instant::now());
            }
            if let Some(address) = &address {
                address.charger.charge(units);
            }
        })
    }

    /// Applies the player's rate limit and takes a permit for an open call.
    fn apply_player_limits(
        &self,
        player: &str,
        rule: &Rule,
    ) -> Result<Option<Permit>, Box<Status>> {
        if let Some(rate) = &self.rate_limiter {
            rate.take(player, rule.cost, Instant::now()).map_err(player_too_fast)?;
        }
        let Some(open) = &self.open_calls else { return Ok(None) };
        match open.try_acquire(player, rule.streams) {
            Some(place) => Ok(Some(place)),
            None => Err(too_many_open(rule.streams)),
        }
    }
}

fn role_not_allowed(message: impl Into<String>) -> Box<Status> {
    Box::new(refusal(Reason::RoleNotAllowed, message))
}

fn player_too_fast(wait: Duration) -> Box<Status> {
    let text = "you call faster than a player may: wait as long as the RetryInfo says";
    Box::new(overloaded(text, wait))
}

fn address_too_fast(wait: Duration) -> Box<Status> {
    let text = "this address calls faster than one may: wait as long as the RetryInfo says";
    Box::new(overloaded(text, wait))
}

fn too_many_open(streams: bool) -> Box<Status> {
    let text = if streams {
        "you have as many streams open as a player may: end one before you open another"
    } else {
        "you have as many calls open as a player may: wait for some to end"
    };
    Box::new(overloaded(text, Duration::from_secs(1)))
}

fn too_many_watchers() -> Box<Status> {
    let text = "as many streams without a token are open as may be: end one, or sign in";
    Box::new(overloaded(text, Duration::from_secs(1)))
}

/// Refusal of a call for its token.
fn token_refusal(error: TokenError) -> Status {
    let reason = match error {
        TokenError::Missing => Reason::TokenMissing,
        TokenError::Malformed { .. } => Reason::TokenMalformed,
        TokenError::Expired { .. } => Reason::TokenExpired,
        TokenError::Forged { .. } => Reason::TokenForged,
        TokenError::Revoked { .. } => Reason::TokenRevoked,
        TokenError::RevocationsUnknown => Reason::Unavailable,
    };
    refusal_with(reason, error.to_string(), error.claim().map(|claim| ("claim", claim)))
}

/// Status that ends a stream for its token.
pub(crate) fn stream_token_refusal(error: TokenError) -> Status {
    match error {
        TokenError::Expired { claim } => {
            let text = "the token of this stream is over: open another with a new one";
            refusal_with(Reason::TokenExpired, text, Some(("claim", claim)))
        }
        TokenError::Missing
        | TokenError::Malformed { .. }
        | TokenError::Forged { .. }
        | TokenError::Revoked { .. }
        | TokenError::RevocationsUnknown => token_refusal(error),
    }
}

impl Middleware for Guard {
    fn call(&self, mut request: Request<Body>, next: &mut impl Next) -> Answer {
        // Only the guard may set these.
        request.extensions_mut().remove::<Identity>();
        request.extensions_mut().remove::<CostCharger>();
        request.extensions_mut().remove::<TokenExpiry>();
        let names = request.extensions().get::<PeerNames>();
        let admitted =
            self.admit(&Arrival::of(&request)).and_then(|admitted| match (&admitted, names) {
                (Admitted::Caller { token, .. }, Some(names)) if !names.allows(&token.identity) => {
                    Err(role_not_allowed(
                        "the certificate of this connection does not bear the token's name",
                    ))
                }
                (Admitted::Open | Admitted::Anonymous(_) | Admitted::Caller { .. }, _) => {
                    Ok(admitted)
                }
            });
        match admitted {
            Ok(Admitted::Open) => {
                let pace = request.extensions_mut().remove::<AddressRateLimit>();
                address_pays(&mut request, pace);
                Box::pin(next.call(request))
            }
            Ok(Admitted::Anonymous(permit)) => {
                let pace = request.extensions().get::<AddressRateLimit>().cloned();
                if let Some(pace) = &pace {
                    request.extensions_mut().insert(pace.charger.clone());
                }
                address_pays(&mut request, pace);
                with_permit(next.call(request), permit)
            }
            Ok(Admitted::Caller { token, permit, streams }) => {
                self.insert_caller(&mut request, token, streams);
                with_permit(next.call(request), permit)
            }
            Err(status) => {
                let grpc = is_grpc(request.headers());
                answered(encode_refusal(&status, grpc))
            }
        }
    }
}

impl Guard {
    /// Puts the caller and their limits into a request's extensions.
    fn insert_caller(&self, request: &mut Request<Body>, token: VerifiedToken, streams: bool) {
        let identity = token.identity.clone();
        let address = request.extensions().get::<AddressRateLimit>().cloned();
        let extensions = request.extensions_mut();
        if streams {
            extensions.insert(TokenExpiry::new(self.verifier.clone(), token));
        }
        if identity.role == Role::Player {
            extensions.insert(self.cost_charger(&identity, address));
        }
        if let (Role::Player, Some(rate)) = (identity.role, &self.rate_limiter) {
            let (rate, player) = (Arc::clone(rate), identity.subject.clone());
            let pay = move |units| rate.take(player.as_str(), units, Instant::now());
            extensions.insert(MessageRateLimit(Arc::new(pay)));
        }
        extensions.insert(identity);
    }
}

/// Lets an address pay for the messages of a stream: without an identity nobody else can.
fn address_pays(request: &mut Request<Body>, pace: Option<AddressRateLimit>) {
    if let Some(AddressRateLimit { take, charger: _ }) = pace {
        request.extensions_mut().insert(MessageRateLimit(take));
    }
}

/// Holds a permit until the answer has ended.
fn with_permit<T: Send + Unpin + 'static>(
    answer: impl Future<Output = Result<http::Response<Body>, std::convert::Infallible>>
    + Send
    + 'static,
    permit: Option<T>,
) -> Answer {
    match permit {
        None => Box::pin(answer),
        Some(permit) => Box::pin(async move {
            Ok(answer.await?.map(|inner| Body::new(BodyWithPermit::new(inner, permit))))
        }),
    }
}
