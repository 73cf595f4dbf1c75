//! Public files: what somebody without our programs and without a token needs to check a hand.
//!
//! - `/keys.txt`: the keys that the logs are signed with now. They are the room's own word: whoever
//!   trusts nobody compares them with keys from elsewhere.
//! - `/verify.html`: the verifier's page. Its policy lets it run its own script and reach nothing.
//! - `/api.json`: the descriptors of the services of this port, as a `FileDescriptorSet` in JSON.
//! - `/reasons.html`: why calls are refused and streams end.
//! - `/hands/TABLE/NUMBER.sabacc`: the bundle of a hand that has ended or is suspended.
//!
//! Readers pay by their address, as for the calls that do the same work.
//!
//! Specification: services/gateway/README.md "Public files".

use std::convert::Infallible;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use chassis::api::Api;
use chassis::auth::take_address_units;
use chassis::serve::CallerAddress;
use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    HeaderName, RETRY_AFTER,
};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use primitives::TableId;
use proto::common::v1::ErrorReason;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::Service;
use wire::status::{REASONS_PAGE, reason_of};

use crate::audits::{Audits, PublicBundle};
use crate::reasons;

/// Path of the keys.
const KEYS: &str = "/keys.txt";
/// Path of the verifier's page.
const PAGE: &str = "/verify.html";
/// Path of the description of the API.
const API: &str = "/api.json";
/// Prefix of the paths of bundles.
const BUNDLES: &str = "/hands/";

/// Whether a path is that of a public file, or should be.
pub(crate) fn is_public(path: &str) -> bool {
    [API, BUNDLES, KEYS, REASONS_PAGE, PAGE].iter().any(|prefix| path.starts_with(prefix))
}

/// Header of a bundle: the logs of whose witnesses none had signed in time.
const UNCOSIGNED: HeaderName = HeaderName::from_static("x-sabacc-uncosigned");
/// Units of a bundle beyond the first: those of `GetHandBundle`.
const BUNDLE_UNITS: u32 = 9;
/// Units of the description of the API beyond the first: it is long.
const API_UNITS: u32 = 3;
/// Units of the keys beyond the first: one for each log that is asked.
const KEYS_UNITS: u32 = 3;

const TEXT: &str = "text/plain; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const BINARY: &str = "application/octet-stream";

/// Server of the public files.
#[derive(Clone)]
pub(crate) struct PublicFiles {
    audits: Audits,
    api: Arc<Api>,
    policy: HeaderValue,
}

/// File that a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum File {
    Api,
    Keys,
    Page,
    Reasons,
    Bundle { table: TableId, hand_no: u64 },
}

impl File {
    fn parse(path: &str) -> Option<File> {
        match path {
            API => Some(File::Api),
            KEYS => Some(File::Keys),
            PAGE => Some(File::Page),
            REASONS_PAGE => Some(File::Reasons),
            _ => {
                let (table, name) = path.strip_prefix(BUNDLES)?.split_once('/')?;
                let number = name.strip_suffix(".sabacc")?;
                let plain = number.bytes().all(|byte| byte.is_ascii_digit());
                let hand_no = number.parse().ok().filter(|_| plain && !number.starts_with('0'))?;
                Some(File::Bundle { table: table.parse().ok()?, hand_no })
            }
        }
    }

    /// Units that the reader's address pays beyond the first.
    const fn units(self) -> u32 {
        match self {
            File::Api => API_UNITS,
            File::Keys => KEYS_UNITS,
            File::Page | File::Reasons => 0,
            File::Bundle { .. } => BUNDLE_UNITS,
        }
    }
}

impl PublicFiles {
    pub(crate) fn new(audits: Audits, api: Arc<Api>) -> PublicFiles {
        let policy = policy_of(audit::VERIFIER_PAGE);
        let policy = HeaderValue::try_from(policy).expect("hashes in base64 are a header's value");
        PublicFiles { audits, api, policy }
    }

    async fn answer(&self, request: Request<Body>) -> Response<Body> {
        if *request.method() != Method::GET && *request.method() != Method::HEAD {
            let refusal = text(StatusCode::METHOD_NOT_ALLOWED, "files are read with GET\n");
            return with(refusal, ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        let Some(file) = File::parse(request.uri().path()) else {
            let words = "there is no such file: /api.json, /keys.txt, /verify.html, /reasons.html, \
                         /hands/TABLE/NUMBER.sabacc\n";
            return text(StatusCode::NOT_FOUND, words);
        };
        if let Err(wait) = take_address_units(&request, file.units()) {
            let refusal = text(StatusCode::TOO_MANY_REQUESTS, "too much at once: try again\n");
            return with(refusal, RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
        }
        let address = request.extensions().get::<CallerAddress>().map(|caller| caller.0);
        match file {
            File::Page => {
                let page = file_response(HTML, audit::VERIFIER_PAGE);
                with(page, CONTENT_SECURITY_POLICY, self.policy.clone())
            }
            File::Api => file_response(JSON, self.api.json()),
            File::Reasons => {
                let page = file_response(HTML, reasons::page());
                let policy = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
                with(page, CONTENT_SECURITY_POLICY, policy)
            }
            File::Keys => match self.audits.public_keys().await {
                Ok(keys) => {
                    let keys = file_response(TEXT, keys);
                    with(keys, CACHE_CONTROL, HeaderValue::from_static("no-cache"))
                }
                Err(status) => refused(&status),
            },
            File::Bundle { table, hand_no } => self.bundle(table, hand_no, address).await,
        }
    }

    async fn bundle(
        &self,
        table: TableId,
        hand_no: u64,
        address: Option<IpAddr>,
    ) -> Response<Body> {
        match self.audits.public_bundle(table, hand_no, address).await {
            Ok(PublicBundle { bundle, uncosigned }) => {
                let file = file_response(BINARY, bundle);
                match HeaderValue::from_str(&uncosigned.join(", ")) {
                    Ok(logs) if !logs.is_empty() => with(file, UNCOSIGNED, logs),
                    Ok(_) | Err(_) => file,
                }
            }
            Err(status) => refused(&status),
        }
    }
}

impl Service<Request<Body>> for PublicFiles {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let files = self.clone();
        Box::pin(async move { Ok(files.answer(request).await) })
    }
}

/// Policy that a page gives itself in its head: it runs its own inline script and style, and reaches
/// nothing. Nobody may frame the page either, which only a header can say.
fn policy_of(page: &str) -> String {
    const META: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"";
    let own = page.split_once(META).and_then(|(_, rest)| rest.split_once('"'));
    format!("{}; frame-ancestors 'none'", own.map_or("default-src 'none'", |(policy, _)| policy))
}

fn refused(status: &Status) -> Response<Body> {
    let reason = reason_of(status);
    let code = if matches!(reason, Some(ErrorReason::HandUnknown | ErrorReason::TableUnknown)) {
        StatusCode::NOT_FOUND
    } else if reason == Some(ErrorReason::HandInPlay) {
        StatusCode::CONFLICT
    } else if reason == Some(ErrorReason::Overloaded) {
        StatusCode::TOO_MANY_REQUESTS
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    text(code, &format!("{}\n", status.message()))
}

fn text(status: StatusCode, words: &str) -> Response<Body> {
    let mut answer = file_response(TEXT, words.to_owned());
    *answer.status_mut() = status;
    answer
}

fn file_response(kind: &'static str, content: impl Into<prost::bytes::Bytes>) -> Response<Body> {
    let mut answer = Response::new(Body::new(http_body_util::Full::new(content.into())));
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    // A page of any origin may check hands in a browser.
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    answer
}

fn with(mut answer: Response<Body>, name: HeaderName, value: HeaderValue) -> Response<Body> {
    answer.headers_mut().insert(name, value);
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    /// services/gateway/README.md "Public files".
    #[test]
    fn a_path_names_one_file_or_none() {
        let table = TableId([0xab; 16]);
        let bundle = |number: &str| File::parse(&format!("/hands/{table}/{number}"));
        assert_eq!(bundle("7.sabacc"), Some(File::Bundle { table, hand_no: 7 }));
        for number in ["", "7", ".sabacc", "07.sabacc", "+7.sabacc", "0.sabacc", "7.sabacc/x"] {
            assert_eq!(bundle(number), None, "{number}");
        }
        assert_eq!(File::parse("/hands/x/7.sabacc"), None);
        assert_eq!(File::parse("/keys.txt"), Some(File::Keys));
        assert_eq!(File::parse("/keys.txt.old"), None);
        assert_eq!(File::parse("/api.json"), Some(File::Api));
        assert_eq!(File::parse("/verify.html"), Some(File::Page));
        assert_eq!(File::parse("/reasons.html"), Some(File::Reasons));
    }

    /// services/gateway/README.md "Public files".
    #[test]
    fn the_page_runs_its_own_script_and_reaches_nothing() {
        let policy = policy_of(audit::VERIFIER_PAGE);
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(policy.contains("script-src 'sha256-"), "{policy}");
        assert!(policy.contains("style-src 'sha256-"), "{policy}");
        assert!(policy.contains("connect-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert!(policy.ends_with("; frame-ancestors 'none'"), "{policy}");
        assert_eq!(policy_of(""), "default-src 'none'; frame-ancestors 'none'");
    }
}
