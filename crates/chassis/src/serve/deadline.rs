//! Deadlines of calls.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Request};
use tonic::Status;
use tonic::body::Body;

use super::middleware::{Answer, Middleware, Next, answered};
use crate::auth::Access;
use crate::refusal::{Reason, refusal};

/// Time below which a deadline has passed when the call arrives. Timers are no finer.
const FINEST: Duration = Duration::from_millis(1);

/// Ends unary calls after the limit, or after the caller's `grpc-timeout` if that is shorter. A call
/// whose method waits for somebody outside the room has that much longer. A stream ends by
/// [`Lifetime`](super::lifetime::Lifetime).
#[derive(Clone)]
pub struct Deadline {
    pub(super) limit: Duration,
    pub(super) access: Arc<Access>,
}

impl Middleware for Deadline {
    fn call(&self, request: Request<Body>, next: &mut impl Next) -> Answer {
        let rule = self.access.rule(request.uri().path());
        let streams = rule.is_none_or(|rule| rule.streams);
        let limit = self.limit.saturating_add(rule.map_or(Duration::ZERO, |rule| rule.wait));
        let asked = grpc_timeout(request.headers());
        if asked.is_some_and(has_passed) {
            return answered(deadline_refusal().into_http());
        }
        let answer = next.call(request);
        if streams {
            return Box::pin(answer);
        }
        let deadline = asked.unwrap_or(limit).min(limit);
        Box::pin(async move {
            match tokio::time::timeout(deadline, answer).await {
                Ok(answer) => answer,
                Err(_) => Ok(deadline_refusal().into_http()),
            }
        })
    }
}

/// Whether a call with this time left is over when it arrives: nothing of it is done.
pub(super) fn has_passed(left: Duration) -> bool {
    left < FINEST
}

/// Refusal of a call whose deadline is over.
pub(super) fn deadline_refusal() -> Status {
    let message = "the call took longer than its deadline; repeat it under the same request_id, and a \
                   stream from its last resume_token";
    refusal(Reason::Deadline, message)
}

/// Parses the caller's `grpc-timeout`: up to eight digits and a unit.
pub(super) fn grpc_timeout(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(count * 3600)),
        "M" => Some(Duration::from_secs(count * 60)),
        "S" => Some(Duration::from_secs(count)),
        "m" => Some(Duration::from_millis(count)),
        "u" => Some(Duration::from_micros(count)),
        "n" => Some(Duration::from_nanos(count)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<Duration>) {
        let mut headers = HeaderMap::new();
        headers.insert("grpc-timeout", text.parse().unwrap());
        assert_eq!(grpc_timeout(&headers), expected, "{text:?}");
    }

    #[test]
    fn timeouts_as_the_protocol_writes_them() {
        check("99999999H", Some(Duration::from_secs(99_999_999 * 3600)));
        check("2M", Some(Duration::from_secs(120)));
        check("3S", Some(Duration::from_secs(3)));
        check("250m", Some(Duration::from_millis(250)));
        check("7u", Some(Duration::from_micros(7)));
        check("0n", Some(Duration::ZERO));
        for bad in ["", "m", "1", "1s", "123456789m", "-1S", "+1S", "1.5S", "1é"] {
            let mut headers = HeaderMap::new();
            let value = http::HeaderValue::from_bytes(bad.as_bytes()).unwrap();
            headers.insert("grpc-timeout", value);
            assert_eq!(grpc_timeout(&headers), None, "{bad:?}");
        }
    }
}
