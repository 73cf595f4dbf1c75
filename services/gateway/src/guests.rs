//! Limits on new guests, by the address that they come from.
//!
//! A guest costs the room records for ever and play money, so an address may make few. The room's
//! own bound on all guests of a day is the table's, which knows no addresses. Everything else of
//! `PeopleService` is forwarded.
//!
//! Specification: ARCHITECTURE.md §7.5.

use std::convert::Infallible;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use chassis::daily_quota::DailyQuota;
use chassis::rate_limiter::RateLimiter;
use chassis::serve::CallerAddress;
use http::{Request, Response};
use proto::common::v1::ErrorReason;
use system::clock::Clock;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::server::NamedService;
use wire::api_refusal;

use crate::config::GuestLimits;
use crate::forward::{self, Forward};

/// Path of the method that makes guests.
const SIGN_IN: &str = "/sabacc.table.v1.PeopleService/SignInAsGuest";
const MINUTE: Duration = Duration::from_mins(1);

/// `PeopleService` behind the limits on guests. Clones share them.
#[derive(Clone)]
pub(crate) struct Guests {
    forward: Forward<forward::People>,
    limits: Arc<Limits>,
}

struct Limits {
    pace: RateLimiter<IpAddr>,
    guests: DailyQuota<IpAddr>,
    clock: Arc<dyn Clock>,
}

impl Guests {
    pub(crate) fn new(
        forward: Forward<forward::People>,
        limits: GuestLimits,
        clock: Arc<dyn Clock>,
    ) -> Guests {
        let GuestLimits { per_minute, per_day } = limits;
        let (pace, guests) = (RateLimiter::per(per_minute, MINUTE), DailyQuota::new(per_day));
        Guests { forward, limits: Arc::new(Limits { pace, guests, clock }) }
    }
}

impl Limits {
    /// Checks that an address may try to make another guest.
    fn check(&self, address: IpAddr) -> Result<(), Status> {
        self.guests.check(address, self.clock.now()).map_err(|wait| {
            let words = "this address has had as many new guests today as one may";
            api_refusal(ErrorReason::RecordsSpent, words).retry_after(wait)
        })?;
        self.pace.take(&address, 1, tokio::time::Instant::now()).map_err(|wait| {
            let words = "this address makes guests faster than one may";
            api_refusal(ErrorReason::Overloaded, words).retry_after(wait).into()
        })
    }
}

/// Network that counts as one address: in IPv6 one of 48 bits, which is one site's.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(address) => {
            let [a, b, c, ..] = address.segments();
            IpAddr::from([a, b, c, 0, 0, 0, 0, 0])
        }
        IpAddr::V4(_) => address,
    }
}

/// Whether an answer to a unary call is no refusal.
fn is_fine(answer: &Response<Body>) -> bool {
    // A refusal has its status in the headers.
    answer.status().is_success() && answer.headers().get("grpc-status").is_none()
}

impl NamedService for Guests {
    const NAME: &'static str = <Forward<forward::People> as NamedService>::NAME;
}

impl Service<Request<Body>> for Guests {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        // Who is exempt from the limits by address has none.
        let address = request.extensions().get::<CallerAddress>();
        let address = address.map(|CallerAddress(address)| network(*address));
        let Some(address) = address.filter(|_| request.uri().path() == SIGN_IN) else {
            return self.forward.call(request);
        };
        let limits = Arc::clone(&self.limits);
        if let Err(status) = limits.check(address) {
            return Box::pin(std::future::ready(Ok(status.into_http())));
        }
        let answer = self.forward.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            if is_fine(&answer) {
                limits.guests.count(address, limits.clock.now());
            }
            Ok(answer)
        })
    }
}

#[cfg(test)]
mod tests {
    use primitives::UnixMicros;
    use system::clock::ManualClock;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_address_makes_few_guests_a_minute_and_a_day() {
        let clock = Arc::new(ManualClock::new(UnixMicros(1_800_000_000_000_000)));
        let GuestLimits { per_minute, per_day } = GuestLimits::default();
        let limits = Limits {
            pace: RateLimiter::per(per_minute, MINUTE),
            guests: DailyQuota::new(per_day),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
        };
        let (one, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let reason = |address| {
            limits.check(address).err().map(|status| wire::status::reason_of(&status).unwrap())
        };
        for _ in 0..per_minute.get() {
            assert_eq!(reason(one), None);
            limits.guests.count(one, clock.now());
        }
        assert_eq!(reason(one), Some(ErrorReason::Overloaded));
        assert_eq!(reason(other), None);
        for _ in per_minute.get()..per_day {
            limits.guests.count(one, clock.now());
        }
        tokio::time::advance(MINUTE).await;
        assert_eq!(reason(one), Some(ErrorReason::RecordsSpent));
        clock.advance(Duration::from_hours(24));
        assert_eq!(reason(one), None);
    }

    #[test]
    fn a_site_is_one_address() {
        let [one, two, three] =
            ["2001:db8:1::1", "2001:db8:1:ffff::2", "2001:db8:2::1"].map(|it| it.parse().unwrap());
        assert_eq!(network(one), network(two));
        assert_ne!(network(one), network(three));
        let four = IpAddr::from([192, 0, 2, 1]);
        assert_eq!(network(four), four);
    }
}
