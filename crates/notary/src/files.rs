//! The log as files: C2SP `tlog-tiles` under `/log/<name>/`, for everybody, without a token.
//! Checkpoints and hashes reveal nothing of a hand. Entry bundles hold leaf records, which name
//! streams and types, and payloads by a salted hash alone: those of the table and the dealer are
//! public at once, so that anybody can follow these logs; the wallet's would show when and how
//! often each account moves, and are the auditors'.
//!
//! Specification: ARCHITECTURE.md §2.12, fairness/SPEC.md §18.1.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use merkle::{MAX_TILE_LEVEL, Row, TileId};
use tonic::body::Body;
use tower::Service;

use crate::fault::NotaryError;
use crate::notary::{Notary, PublishedTree};
use crate::records::EntriesError;

/// Longest time for an answer.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// Prefix of the paths of all logs' files.
pub const LOGS_PATH: &str = "/log/";

/// Cache header of files that never change.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";
const TEXT: &str = "text/plain; charset=utf-8";
const BINARY: &str = "application/octet-stream";

/// Readers of a log's entry bundles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryReaders {
    /// All readers: the bundles are files.
    Everybody,
    /// Auditors alone, by `LogService`.
    Auditors,
}

/// Server of a log's checkpoint and tiles.
#[derive(Clone)]
pub struct Files {
    notary: Notary,
    /// Path prefix of the log's files: `/log/<name>/`.
    root: String,
    entries: EntryReaders,
}

impl Files {
    /// Creates the server of the files under `/log/<name>/`.
    #[must_use]
    pub fn new(notary: Notary, name: &str, entries: EntryReaders) -> Files {
        Files { notary, root: format!("{LOGS_PATH}{name}/"), entries }
    }

    async fn answer(&self, method: &Method, path: &str) -> Response<Body> {
        if *method != Method::GET && *method != Method::HEAD {
            let mut refusal =
                text_response(StatusCode::METHOD_NOT_ALLOWED, "files are read with GET\n");
            refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return refusal;
        }
        let Some(file) = path.strip_prefix(&self.root) else { return not_found() };
        let Some(shown) = self.notary.published() else {
            return text_response(StatusCode::SERVICE_UNAVAILABLE, "nothing is signed yet\n");
        };
        if file == "checkpoint" {
            let mut answer = text_response(StatusCode::OK, &shown.note.to_string());
            answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            return answer;
        }
        let tile = file.parse().ok().filter(|tile: &TileId| match tile.row() {
            Row::Hashes(level) => level <= MAX_TILE_LEVEL,
            Row::Entries => self.entries == EntryReaders::Everybody,
        });
        let Some(tile) = tile else { return not_found() };
        match tokio::time::timeout(READ_TIMEOUT, self.content(&shown, tile)).await {
            Ok(Ok(Some(content))) => {
                let mut answer = file_response(StatusCode::OK, BINARY, content);
                answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(IMMUTABLE));
                answer
            }
            Ok(Ok(None)) => not_found(),
            Ok(Err(EntriesError::Notary(NotaryError::Busy))) => {
                text_response(StatusCode::SERVICE_UNAVAILABLE, "too many read this log at once\n")
            }
            Ok(Err(_)) | Err(_) => text_response(
                StatusCode::SERVICE_UNAVAILABLE,
                "the tile cannot be read for the moment\n",
            ),
        }
    }

    /// Returns the content of a tile, or `None` if the published tree has no such tile.
    async fn content(
        &self,
        published: &Arc<PublishedTree>,
        tile: TileId,
    ) -> Result<Option<Bytes>, EntriesError> {
        match tile.row() {
            Row::Entries => self.notary.entries(published, tile.index(), tile.width()).await,
            Row::Hashes(_) => {
                let turn = self.notary.shared.reads.acquire().await;
                let _turn = turn.ok_or(NotaryError::Busy)?;
                let hashes = self.notary.tile(published, tile.row(), tile.index(), tile.width());
                Ok(hashes.await?)
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

fn not_found() -> Response<Body> {
    text_response(StatusCode::NOT_FOUND, "there is no such file in this log\n")
}

fn text_response(status: StatusCode, text: &str) -> Response<Body> {
    file_response(status, TEXT, Bytes::copy_from_slice(text.as_bytes()))
}

fn file_response(status: StatusCode, kind: &'static str, content: Bytes) -> Response<Body> {
    let mut answer = Response::new(Body::new(http_body_util::Full::new(content)));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    // A page of any origin may check the log in a browser.
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    answer
}
