//! The log as files.

use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use merkle::Checkpoint;
use notary::{EntryReaders, Files};
use tonic::body::Body;
use tower::Service as _;

use crate::harness::Harness;

async fn ask(files: &mut Files, method: Method, path: &str) -> Response<Body> {
    let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
    files.call(request).await.unwrap()
}

async fn get(files: &mut Files, path: &str) -> (StatusCode, String, String, Vec<u8>) {
    let answer = ask(files, Method::GET, path).await;
    let header = |name: &str| {
        let value = answer.headers().get(name);
        value.map_or_else(String::new, |value| value.to_str().unwrap().to_owned())
    };
    let (kind, cache) = (header("content-type"), header("cache-control"));
    let status = answer.status();
    (status, kind, cache, answer.into_body().collect().await.unwrap().to_bytes().to_vec())
}

#[tokio::test(start_paused = true)]
async fn checkpoint_and_tiles_are_where_the_specification_says() {
    let harness = Harness::signed_whole(600).await;
    let mut files = Files::new(harness.notary.clone(), "table", EntryReaders::Everybody);
    let (status, kind, cache, note) = get(&mut files, "/log/table/checkpoint").await;
    assert_eq!((status, kind.as_str()), (StatusCode::OK, "text/plain; charset=utf-8"));
    assert_eq!(cache, "no-cache");
    let opened = Checkpoint::open(&note, harness.notary.key(), &[]).unwrap();
    assert_eq!(opened.checkpoint.head(), harness.stored_head().await);
    for (path, hashes) in [
        ("tile/0/000", 256),
        ("tile/0/001", 256),
        ("tile/0/002.p/88", 88),
        ("tile/0/002.p/5", 5),
        ("tile/0/001.p/7", 7),
        ("tile/1/000.p/2", 2),
    ] {
        let (status, kind, cache, tile) = get(&mut files, &format!("/log/table/{path}")).await;
        assert_eq!((status, tile.len()), (StatusCode::OK, hashes * 32), "{path}");
        assert_eq!(kind, "application/octet-stream");
        assert!(cache.contains("immutable"), "{path}: {cache}");
    }
}

/// ARCHITECTURE.md §2.12, fairness/SPEC.md §18.1.
#[tokio::test(start_paused = true)]
async fn leaf_records_are_files_where_everybody_may_read_them() {
    let harness = Harness::signed_whole(600).await;
    let mut files = Files::new(harness.notary.clone(), "table", EntryReaders::Everybody);
    for (place, width) in [("000", 256), ("001", 256), ("002.p/88", 88), ("000.p/3", 3)] {
        let tile = get(&mut files, &format!("/log/table/tile/0/{place}")).await.3;
        let path = format!("/log/table/tile/entries/{place}");
        let (status, kind, cache, entries) = get(&mut files, &path).await;
        assert_eq!((status, kind.as_str()), (StatusCode::OK, "application/octet-stream"));
        assert!(cache.contains("immutable"), "{path}: {cache}");
        assert_eq!(entries.len(), width * (2 + merkle::record::RECORD_LEN), "{path}");
        merkle::bundle::parse_verified(&entries, tile.as_chunks().0).unwrap();
    }
    let mut files = Files::new(harness.notary.clone(), "table", EntryReaders::Auditors);
    for path in ["tile/entries/000", "tile/entries/002.p/88"] {
        let answer = get(&mut files, &format!("/log/table/{path}")).await;
        assert_eq!(answer.0, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(get(&mut files, "/log/table/tile/0/000").await.0, StatusCode::OK);
}

/// ARCHITECTURE.md §2.12.
#[tokio::test(start_paused = true)]
async fn what_is_not_there_is_not_found() {
    let harness = Harness::signed_whole(600).await;
    let mut files = Files::new(harness.notary.clone(), "table", EntryReaders::Everybody);
    for path in [
        "/log/table/",
        "/log/table/tile/0/003",
        "/log/table/tile/0/002",
        "/log/table/tile/0/002.p/89",
        "/log/table/tile/0/002.p/0",
        "/log/table/tile/1/000",
        "/log/table/tile/2/000.p/1",
        "/log/table/tile/00/000",
        "/log/table/tile/0/0",
        "/log/table/tile/entries/003",
        "/log/table/tile/entries/002",
        "/log/table/tile/entries/002.p/89",
        "/log/table/tile/0/x000/000",
        "/log/table/../wallet/checkpoint",
        "/log/wallet/checkpoint",
        "/log/table/checkpoint/",
        "/log/tablecheckpoint",
    ] {
        assert_eq!(get(&mut files, path).await.0, StatusCode::NOT_FOUND, "{path}");
    }
    let answer = ask(&mut files, Method::POST, "/log/table/checkpoint").await;
    assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED);
    let waiting = Harness::unsigned(5).await;
    let mut files = Files::new(waiting.notary.clone(), "table", EntryReaders::Everybody);
    let (status, ..) = get(&mut files, "/log/table/checkpoint").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
}
