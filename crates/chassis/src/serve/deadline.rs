//! Deadlines of unary calls.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{HeaderMap, Request, Response};
use tonic::Code;
use tonic::body::Body;
use tower::{Layer, Service};

use crate::auth::Access;
use crate::refusal::refusal;

/// Ends unary calls after the limit, or after the caller's `grpc-timeout` if that is shorter.
/// Streams have no deadline here.
#[derive(Clone)]
pub struct DeadlineLayer {
    limit: Duration,
    access: Arc<Access>,
}

impl DeadlineLayer {
    #[must_use]
    pub const fn new(limit: Duration, access: Arc<Access>) -> DeadlineLayer {
        DeadlineLayer { limit, access }
    }
}

impl<S> Layer<S> for DeadlineLayer {
    type Service = Deadline<S>;

    fn layer(&self, inner: S) -> Deadline<S> {
        Deadline { layer: self.clone(), inner }
    }
}

/// Service whose unary calls have a deadline.
#[derive(Clone)]
pub struct Deadline<S> {
    layer: DeadlineLayer,
    inner: S,
}

impl<S, B> Service<Request<B>> for Deadline<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let streams = self.layer.access.rule(request.uri().path()).is_none_or(|rule| rule.streams);
        let asked = grpc_timeout(request.headers());
        let answer = self.inner.call(request);
        if streams {
            return Box::pin(answer);
        }
        let deadline = asked.unwrap_or(self.layer.limit).min(self.layer.limit);
        Box::pin(async move {
            match tokio::time::timeout(deadline, answer).await {
                Ok(answer) => answer,
                Err(_) => {
                    let message = "the call took longer than its deadline; repeat it under the \
                                   same request_id";
                    Ok(refusal(Code::DeadlineExceeded, "DEADLINE", message).into_http())
                }
            }
        })
    }
}

/// Parses the caller's `grpc-timeout`: up to eight digits and a unit.
fn grpc_timeout(headers: &HeaderMap) -> Option<Duration> {
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
