//! The log as files: C2SP `tlog-tiles` under `/log/<name>/`, for everybody, without a token.
//! Checkpoints and hashes reveal nothing of a hand. Entry bundles hold hashes of payloads, which
//! could be guessed while a hand is played, and are not served here.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use merkle::{MAX_TILE_LEVEL, Row, TileId};
use tonic::body::Body;
use tower::Service;

use crate::notary::Notary;

/// Longest time for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Prefix of the paths of all logs' files.
pub const LOGS: &str = "/log/";

/// Cache header of files that never change.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
const TEXT: &str = "text/plain; charset=utf-8";
const BYTES: &str = "application/octet-stream";

/// Server of a log's checkpoint and tiles.
#[derive(Clone)]
pub struct Files {
    notary: Notary,
    /// Path prefix of the log's files: `/log/<name>/`.
    root: String,
}

impl Files {
    /// Creates the server of the files under `/log/<name>/`.
    #[must_use]
    pub fn new(notary: Notary, name: &str) -> Files {
        Files { notary, root: format!("{LOGS}{name}/") }
    }

    async fn answer(&self, method: &Method, path: &str) -> Response<Body> {
        if *method != Method::GET && *method != Method::HEAD {
            let mut refusal = text(StatusCode::METHOD_NOT_ALLOWED, "files are read with GET\n");
            refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return refusal;
        }
        let Some(file) = path.strip_prefix(&self.root) else { return nothing() };
        let Some(shown) = self.notary.shown() else {
            return text(StatusCode::SERVICE_UNAVAILABLE, "nothing is signed yet\n");
        };
        if file == "checkpoint" {
            let mut answer = text(StatusCode::OK, &shown.note.to_string());
            answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            return answer;
        }
        let tile = file.parse().ok().filter(|tile: &TileId| match tile.row() {
            Row::Hashes(level) => level <= MAX_TILE_LEVEL,
            Row::Entries => false,
        });
        let Some(tile) = tile else { return nothing() };
        let asked = (tile.row(), tile.index(), tile.width());
        let Some(_turn) = self.notary.desk.reads.enter().await else {
            return text(StatusCode::SERVICE_UNAVAILABLE, "too many read this log at once\n");
        };
        match tokio::time::timeout(PATIENCE, self.notary.tile(&shown, asked)).await {
            Ok(Ok(Some(hashes))) => {
                let mut answer = file_of(StatusCode::OK, BYTES, hashes);
                answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(FOR_EVER));
                answer
            }
            Ok(Ok(None)) => nothing(),
            Ok(Err(_)) | Err(_) => {
                text(StatusCode::SERVICE_UNAVAILABLE, "the tile cannot be read for the moment\n")
            }
        }
    }
}

impl Service<Request<Body>> for Files {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let files = self.clone();
        Box::pin(async move {
            let (method, path) = (request.method(), request.uri().path());
            Ok(files.answer(method, path).await)
        })
    }
}

fn nothing() -> Response<Body> {
    text(StatusCode::NOT_FOUND, "there is no such file in this log\n")
}

fn text(status: StatusCode, text: &str) -> Response<Body> {
    file_of(status, TEXT, Bytes::copy_from_slice(text.as_bytes()))
}

fn file_of(status: StatusCode, kind: &'static str, content: Bytes) -> Response<Body> {
    let mut answer = Response::new(Body::new(http_body_util::Full::new(content)));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    // A page of any origin may check the log in a browser.
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    answer
}
