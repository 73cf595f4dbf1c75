//! Pages of other origins that may call (CORS).
//!
//! A browser asks before it lets a page call another origin with a token or with JSON, and shows an
//! answer only where the answer allows it. Tokens are in a header that a page sets itself; no cookie
//! is ever read, so credentials of the browser are not allowed. Nobody but browsers is kept out by
//! this: the guard is the guard.

use std::sync::Arc;

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    CONTENT_TYPE, HeaderMap, HeaderValue, ORIGIN, VARY,
};
use http::{Method, Request, Response, StatusCode, Uri};
use tonic::body::Body;

/// Headers that a page may send.
const ALLOWED: &str = "authorization, content-type, connect-protocol-version, connect-timeout-ms, \
                       connect-content-encoding, connect-accept-encoding, grpc-timeout, x-grpc-web, \
                       x-user-agent, traceparent, tracestate";
/// Headers that a page may read.
const EXPOSED: &str = "grpc-status, grpc-message, grpc-status-details-bin, trace-id, retry-after, \
                       connect-content-encoding, trailer-trace-id, x-sabacc-uncosigned";
/// Seconds for which a browser remembers the answer: two hours, the most that browsers take.
const MAX_AGE: &str = "7200";

/// Origins whose pages may call. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cors {
    origins: Arc<[HeaderValue]>,
    /// Whether pages of every origin may call.
    any: bool,
}

impl Cors {
    /// Parses a comma-separated list of origins, such as `https://cards.example`, or `*` for all.
    #[must_use]
    pub fn parse(text: &str) -> Option<Cors> {
        if text.trim() == "*" {
            return Some(Cors { origins: Arc::default(), any: true });
        }
        let origins = text.split(',').map(|origin| parse_origin(origin.trim()));
        Some(Cors { origins: origins.collect::<Option<_>>()?, any: false })
    }

    /// Whether no page of another origin may call.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.any && self.origins.is_empty()
    }

    fn allows(&self, origin: &HeaderValue) -> bool {
        self.any || self.origins.contains(origin)
    }

    /// Answer to a browser that asks before a call; `None` if the request is something else.
    pub(super) fn preflight<B>(&self, request: &Request<B>) -> Option<Response<Body>> {
        let headers = request.headers();
        let asks = *request.method() == Method::OPTIONS
            && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        let origin = headers.get(ORIGIN).filter(|_| asks)?;
        let mut answer = Response::new(Body::empty());
        if self.allows(origin) {
            *answer.status_mut() = StatusCode::NO_CONTENT;
            let headers = answer.headers_mut();
            headers
                .insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD, POST"));
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ALLOWED));
            headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
        } else {
            *answer.status_mut() = StatusCode::FORBIDDEN;
            *answer.body_mut() = Body::new(
                "pages of this origin may not call this port: its operator lists those that may \
                 in SABACC_CORS_ORIGINS\n"
                    .to_owned(),
            );
            let text = HeaderValue::from_static("text/plain; charset=utf-8");
            answer.headers_mut().insert(CONTENT_TYPE, text);
        }
        Some(answer)
    }

    /// Lets a page of `origin` read an answer, if it may. An answer that everybody may read stays as
    /// it is.
    pub(super) fn allow(&self, origin: &HeaderValue, headers: &mut HeaderMap) {
        if headers.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN) {
            return;
        }
        headers.append(VARY, HeaderValue::from_static("origin"));
        if self.allows(origin) {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
        }
    }
}

/// Parses `scheme://host[:port]`, as browsers write it.
fn parse_origin(text: &str) -> Option<HeaderValue> {
    let uri: Uri = text.parse().ok()?;
    let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"))?;
    let whole = format!("{scheme}://{}", uri.authority()?.as_str()).to_ascii_lowercase();
    (whole == text && !text.contains('@')).then(|| HeaderValue::try_from(whole).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_written_as_browsers_write_them() {
        assert!(Cors::default().is_empty());
        assert!(!Cors::parse("*").unwrap().is_empty());
        let two = Cors::parse("https://cards.example, http://127.0.0.1:7400").unwrap();
        assert!(two.allows(&HeaderValue::from_static("https://cards.example")));
        assert!(!two.allows(&HeaderValue::from_static("https://cards.example.evil")));
        assert!(!two.allows(&HeaderValue::from_static("null")));
        for bad in ["", "cards.example", "https://cards.example/", "ftp://x", "https://a@b", "*,*"]
        {
            assert_eq!(Cors::parse(bad), None, "{bad:?}");
        }
    }

    fn preflight(cors: &Cors, origin: &str) -> Response<Body> {
        let request = Request::options("/x").header(ORIGIN, origin);
        let request = request.header(ACCESS_CONTROL_REQUEST_METHOD, "POST").body(()).unwrap();
        let mut answer = cors.preflight(&request).unwrap();
        cors.allow(&request.headers()[ORIGIN], answer.headers_mut());
        answer
    }

    #[test]
    fn a_page_of_another_origin_learns_whether_it_may_call() {
        let cors = Cors::parse("https://cards.example").unwrap();
        let answer = preflight(&cors, "https://cards.example");
        assert_eq!(answer.status(), StatusCode::NO_CONTENT);
        assert_eq!(answer.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "https://cards.example");
        assert!(
            answer.headers()[ACCESS_CONTROL_ALLOW_HEADERS]
                .to_str()
                .unwrap()
                .contains("authorization")
        );
        let answer = preflight(&cors, "https://other.example");
        assert_eq!(answer.status(), StatusCode::FORBIDDEN);
        assert!(!answer.headers().contains_key(ACCESS_CONTROL_ALLOW_ORIGIN));
        assert_eq!(answer.headers()[VARY], "origin");
        let plain =
            Request::options("/x").header(ORIGIN, "https://cards.example").body(()).unwrap();
        assert!(cors.preflight(&plain).is_none(), "it asks for nothing");
    }
}
