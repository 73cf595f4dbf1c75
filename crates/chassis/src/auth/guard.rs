//! Middleware that authenticates and authorizes every gRPC call.

use std::sync::Arc;
use std::time::Duration;

use http::Request;
use primitives::UnixMicros;
use system::clock::Clock;
use tokio::time::Instant;
use tonic::Status;
use tonic::body::Body;

use super::access::{Access, Rule};
use super::open_calls::{OpenCalls, Permit};
use super::verifier::{TokenError, Verifier};
use super::{CostCharger, Identity, PeerNames, Role};
use crate::body_with_permit::BodyWithPermit;
use crate::content_type::is_grpc;
use crate::limits::Limits;
use crate::rate_limiter::RateLimiter;
use crate::refusal::{Reason, encode_refusal, no_such_method, overloaded, refusal};
use crate::serve::{Answer, Middleware, Next, answered};

/// Admits a call if its token is valid, its role may call the method, and its player is within
/// their limits. Cheap to clone.
#[derive(Clone)]
pub struct Guard {
    verifier: Verifier,
    access: Arc<Access>,
    rate_limiter: Option<Arc<RateLimiter<String>>>,
    open_calls: Option<Arc<OpenCalls>>,
}

/// Expiry of the token that a request was admitted with. Lies in the request's extensions.
#[derive(Clone)]
pub(crate) struct TokenExpiry {
    expires_at: UnixMicros,
    clock: Arc<dyn Clock>,
}

impl TokenExpiry {
    /// Time until the token expires.
    pub(crate) fn remaining(&self) -> Duration {
        self.expires_at.since(self.clock.now())
    }
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

/// Admitted call with its caller.
struct AdmittedCall {
    identity: Identity,
    expires_at: UnixMicros,
    permit: Option<Permit>,
}

impl Guard {
    /// Guard without limits per player.
    #[must_use]
    pub fn new(verifier: Verifier, access: Arc<Access>) -> Guard {
        Guard { verifier, access, rate_limiter: None, open_calls: None }
    }

    /// Adds the limits per player.
    #[must_use]
    pub fn with_limits(self, limits: &Limits) -> Guard {
        let Limits { player_calls, player_open, player_streams, .. } = limits;
        let bounded = player_open.or(*player_streams).is_some();
        let open = bounded.then(|| Arc::new(OpenCalls::new(*player_open, *player_streams)));
        Guard {
            rate_limiter: player_calls.map(RateLimiter::new).map(Arc::new),
            open_calls: open,
            ..self
        }
    }

    /// Admits a call of `path` with this `authorization` header. `Ok(None)` if the path needs no
    /// token.
    fn admit(
        &self,
        path: &str,
        authorization: Option<&[u8]>,
        address: Option<&AddressRateLimit>,
    ) -> Result<Option<AdmittedCall>, Box<Status>> {
        if Access::is_open(path) {
            return Ok(None);
        }
        let (identity, until) =
            self.verifier.verify_header(authorization).map_err(unauthenticated)?;
        let Some(rule) = self.access.rule(path) else {
            return Err(Box::new(no_such_method()));
        };
        if !rule.admits(&identity) {
            return Err(role_not_allowed(match identity.role {
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
                address.map_or(Ok(()), |address| (address.take)(rest)).map_err(address_too_fast)?;
                self.apply_player_limits(&identity.subject, rule)?
            }
            Role::Operator | Role::Auditor | Role::Service => None,
        };
        Ok(Some(AdmittedCall { identity, expires_at: until, permit: place }))
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

fn unauthenticated(error: TokenError) -> Box<Status> {
    let reason = match error {
        TokenError::Missing => Reason::TokenMissing,
        TokenError::Malformed => Reason::TokenMalformed,
        TokenError::Expired => Reason::TokenExpired,
        TokenError::Forged => Reason::TokenForged,
    };
    Box::new(refusal(reason, error.to_string()))
}

impl Middleware for Guard {
    fn call(&self, mut request: Request<Body>, next: &mut impl Next) -> Answer {
        // Only the guard may set the identity and the bill.
        request.extensions_mut().remove::<Identity>();
        request.extensions_mut().remove::<CostCharger>();
        let authorization = request.headers().get(http::header::AUTHORIZATION);
        let path = request.uri().path();
        let address = request.extensions().get::<AddressRateLimit>();
        let authorization = authorization.map(http::HeaderValue::as_bytes);
        let admitted = self.admit(path, authorization, address);
        let names = request.extensions().get::<PeerNames>();
        let admitted = admitted.and_then(|admitted| match (&admitted, names) {
            (Some(caller), Some(names)) if !names.allows(&caller.identity) => {
                Err(role_not_allowed(
                    "the certificate of this connection does not bear the token's name",
                ))
            }
            (Some(_) | None, _) => Ok(admitted),
        });
        match admitted {
            Ok(None) => {
                // Without an identity only the address can pay for the messages.
                if let Some(AddressRateLimit { take: pay, charger: _ }) =
                    request.extensions_mut().remove::<AddressRateLimit>()
                {
                    request.extensions_mut().insert(MessageRateLimit(pay));
                }
                Box::pin(next.call(request))
            }
            Ok(Some(AdmittedCall { identity, expires_at: until, permit: place })) => {
                let clock = Arc::clone(self.verifier.clock());
                request.extensions_mut().insert(TokenExpiry { expires_at: until, clock });
                if identity.role == Role::Player {
                    let address = request.extensions().get::<AddressRateLimit>().cloned();
                    request.extensions_mut().insert(self.cost_charger(&identity, address));
                }
                if let (Role::Player, Some(rate)) = (identity.role, &self.rate_limiter) {
                    let (rate, player) = (Arc::clone(rate), identity.subject.clone());
                    let pay = move |units| rate.take(player.as_str(), units, Instant::now());
                    request.extensions_mut().insert(MessageRateLimit(Arc::new(pay)));
                }
                request.extensions_mut().insert(identity);
                let answer = next.call(request);
                match place {
                    None => Box::pin(answer),
                    Some(place) => Box::pin(async move {
                        Ok(answer.await?.map(|inner| Body::new(BodyWithPermit::new(inner, place))))
                    }),
                }
            }
            Err(status) => {
                let grpc = is_grpc(request.headers());
                answered(encode_refusal(&status, grpc))
            }
        }
    }
}
