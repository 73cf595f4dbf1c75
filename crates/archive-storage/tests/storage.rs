//! Files go to a storage and come back, and errors say what an operator can change.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::error::Error as _;
use std::path::Path;

use archive_storage::{StorageError, exists, fetch, open, put};
use chassis::config::{ArchiveLocation, BucketAccess};
use system::secret::Secret;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

fn bucket() -> ArchiveLocation {
    ArchiveLocation::Bucket { name: "rooms".into(), prefix: "first".into() }
}

fn access(port: u16) -> BucketAccess {
    BucketAccess {
        endpoint: Some(format!("http://127.0.0.1:{port}").parse().unwrap()),
        region: None,
        key: Some(("an-id".into(), Secret::new("hunter2".into()))),
    }
}

/// Storage that answers each request with these lines; returns its port.
async fn answers(status: &'static str, body: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 8192];
            let _ = stream.read(&mut request).await;
            let length = body.len();
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{body}");
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    port
}

/// Text of an error with its causes.
fn whole(error: &StorageError) -> String {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

#[tokio::test]
async fn a_folder_takes_files_and_gives_them_back() {
    let folder = TempDir::new().unwrap();
    let place = folder.path().join("not there yet");
    let storage = open(&ArchiveLocation::Folder(place.clone()), &BucketAccess::default()).unwrap();
    assert!(!exists(&storage, "a.archive").await.unwrap());
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    for bytes in [Vec::new(), vec![7; 1000], vec![9; (8 << 20) + 1]] {
        std::fs::write(&from, &bytes).unwrap();
        put(&storage, "a.archive", &from).await.unwrap();
        assert!(exists(&storage, "a.archive").await.unwrap());
        assert_eq!(std::fs::read(place.join("a.archive")).unwrap(), bytes);
        fetch(&storage, "a.archive", &to).await.unwrap();
        assert_eq!(std::fs::read(&to).unwrap(), bytes);
    }
    let missing = fetch(&storage, "b.archive", &to).await.unwrap_err();
    assert!(matches!(missing, StorageError::NoFile(_)), "{missing:?}");
    let unread = put(&storage, "c.archive", Path::new("/nowhere")).await.unwrap_err();
    assert!(matches!(unread, StorageError::File(_)), "{unread:?}");
}

#[tokio::test]
async fn errors_say_what_an_operator_can_change() {
    let no_key = open(&bucket(), &BucketAccess::default()).unwrap_err();
    assert!(matches!(no_key, StorageError::NoKey), "{no_key:?}");
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().port()
    };
    let storage = open(&bucket(), &access(port)).unwrap();
    let away = exists(&storage, "a").await.unwrap_err();
    assert!(matches!(away, StorageError::Unreachable(_)), "{away:?}");
    assert!(!whole(&away).contains("hunter2") && whole(&away).contains("endpoint"), "{away}");

    let port = answers("403 Forbidden", "<Error><Code>SignatureDoesNotMatch</Code></Error>").await;
    let storage = open(&bucket(), &access(port)).unwrap();
    let refused = exists(&storage, "a").await.unwrap_err();
    assert!(matches!(refused, StorageError::Refused(_)), "{refused:?}");

    let port = answers("404 Not Found", "<Error><Code>NoSuchBucket</Code></Error>").await;
    let storage = open(&bucket(), &access(port)).unwrap();
    let missing = exists(&storage, "a").await.unwrap_err();
    assert!(matches!(missing, StorageError::NoBucket(_)), "{missing:?}");
}
