//! The room's pages: the files of `services/gateway/pages`, at `/`.
//!
//! Whoever opens them needs no token. Their policy lets them run the scripts that come from here, and
//! talk to this origin alone. A reader who takes gzip gets it; a file that has not changed is not
//! sent again.
//!
//! Specification: services/gateway/README.md "Pages".

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io::Write as _;
use std::sync::LazyLock;
use std::task::{Context, Poll};

use chassis::auth::take_address_units;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    ETAG, IF_NONE_MATCH, REFERRER_POLICY, RETRY_AFTER, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use include_dir::{Dir, include_dir};
use prost::bytes::Bytes;
use sha2::{Digest as _, Sha256};
use tonic::body::Body;
use tonic::codegen::Service;

static FOLDER: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/pages");
static PAGES: LazyLock<BTreeMap<String, Page>> = LazyLock::new(|| {
    let mut pages = BTreeMap::new();
    add_all(&FOLDER, &mut pages);
    pages
});

/// Own origin alone: no inline script, no inline style, no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";

/// File as it is sent.
struct Page {
    kind: &'static str,
    /// Hash of the content, in quotes.
    tag: HeaderValue,
    plain: Bytes,
    gzip: Bytes,
}

/// Whether a path is that of a page.
pub(crate) fn is_page(path: &str) -> bool {
    page(path).is_some()
}

fn page(path: &str) -> Option<&'static Page> {
    let name = if path == "/" { "index.html" } else { path.strip_prefix('/')? };
    PAGES.get(name)
}

/// Content type of a file that is served; the folder has others that are not.
fn kind(name: &str) -> Option<&'static str> {
    match name.rsplit_once('.')?.1 {
        "html" => Some(HTML),
        "js" => Some("text/javascript; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        _ => None,
    }
}

fn add_all(folder: &'static Dir<'_>, pages: &mut BTreeMap<String, Page>) {
    folder.dirs().for_each(|folder| add_all(folder, pages));
    for file in folder.files() {
        let Some(name) = file.path().to_str() else { continue };
        let Some(kind) = kind(name) else { continue };
        let plain = Bytes::from_static(file.contents());
        let hash = hex::encode(&Sha256::digest(&plain)[..16]);
        let tag = HeaderValue::try_from(format!("\"{hash}\"")).expect("hexadecimal is a header's");
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(&plain).expect("memory takes all");
        let gzip = Bytes::from(gzip.finish().expect("memory takes all"));
        pages.insert(name.to_owned(), Page { kind, tag, plain, gzip });
    }
}

/// Server of the pages.
#[derive(Clone)]
pub(crate) struct Pages;

impl Service<Request<Body>> for Pages {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        ready(Ok(answer(&request)))
    }
}

fn answer(request: &Request<Body>) -> Response<Body> {
    let is_head = *request.method() == Method::HEAD;
    if !is_head && *request.method() != Method::GET {
        let mut refusal = text(StatusCode::METHOD_NOT_ALLOWED, "pages are read with GET\n");
        refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refusal;
    }
    let Some(page) = page(request.uri().path()) else {
        return text(StatusCode::NOT_FOUND, "there is no such page: begin at /\n");
    };
    if let Err(wait) = take_address_units(request, 0) {
        let mut refusal = text(StatusCode::TOO_MANY_REQUESTS, "too much at once: try again\n");
        refusal.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
        return refusal;
    }
    send(page, request.headers(), is_head)
}

fn send(page: &Page, asked: &HeaderMap, is_head: bool) -> Response<Body> {
    let mut answer = Response::new(Body::empty());
    let headers = answer.headers_mut();
    headers.insert(ETAG, page.tag.clone());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if asked.get(IF_NONE_MATCH) == Some(&page.tag) {
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
        return answer;
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(page.kind));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // A policy is the document's; with each of its files it would weigh as much as some of them.
    if page.kind == HTML {
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    }
    let gzip = takes_gzip(asked);
    if gzip {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if !is_head {
        let content = if gzip { &page.gzip } else { &page.plain };
        *answer.body_mut() = Body::new(Full::new(content.clone()));
    }
    answer
}

/// Whether a reader takes gzip. A weight of 0 says no.
fn takes_gzip(asked: &HeaderMap) -> bool {
    let all = asked.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let weight = |part: &str| part.strip_prefix("q=").and_then(|it| it.parse::<f32>().ok());
        parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"))
            && !parts.filter_map(weight).any(|weight| weight <= 0.0)
    })
}

fn text(status: StatusCode, words: &'static str) -> Response<Body> {
    let mut answer = Response::new(Body::new(Full::new(Bytes::from_static(words.as_bytes()))));
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;
    use http_body_util::BodyExt as _;

    use super::*;

    async fn get(path: &str, headers: &[(&str, &str)]) -> (StatusCode, HeaderMap, Bytes) {
        let mut request = Request::get(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, body) = answer(&request.body(Body::empty()).unwrap()).into_parts();
        (head.status, head.headers, body.collect().await.unwrap().to_bytes())
    }

    /// services/gateway/README.md "Pages".
    #[tokio::test]
    async fn a_page_is_sent_once_and_compressed_where_the_reader_takes_it() {
        let (status, headers, plain) = get("/", &[]).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(headers[CONTENT_TYPE], "text/html; charset=utf-8");
        let policy = headers[CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.contains("script-src 'self';") && !policy.contains("unsafe"), "{policy}");
        for taken in ["gzip", "br, gzip;q=0.5", "GZIP"] {
            let (_, headers, content) = get("/", &[("accept-encoding", taken)]).await;
            assert_eq!(headers[CONTENT_ENCODING], "gzip", "{taken}");
            let mut unfolded = Vec::new();
            GzDecoder::new(&*content).read_to_end(&mut unfolded).unwrap();
            assert_eq!(unfolded, plain);
        }
        for not_taken in ["br", "gzip;q=0", "gzip; q=0.0", "x-gzip"] {
            let (_, headers, content) = get("/", &[("accept-encoding", not_taken)]).await;
            assert_eq!((headers.get(CONTENT_ENCODING), &content), (None, &plain), "{not_taken}");
        }
        let tag = headers[ETAG].to_str().unwrap();
        let (status, _, content) = get("/index.html", &[("if-none-match", tag)]).await;
        assert_eq!((status, content.len()), (StatusCode::NOT_MODIFIED, 0));
    }

    /// services/gateway/README.md "Pages".
    #[test]
    fn the_folder_s_own_papers_are_no_pages() {
        assert!(is_page("/") && is_page("/app.js") && is_page("/style/tokens.css"));
        for other in ["/README.md", "/tsconfig.json", "/nothing.js", "/../src/lib.rs", ""] {
            assert!(!is_page(other), "{other}");
        }
        assert!(PAGES.keys().all(|name| !name.starts_with("test/")), "tests are no pages");
    }
}
