//! Whole files, to a storage and back.

use std::path::Path as LocalPath;

use bytes::Bytes;
use eventlog::archive::ArchiveStorage;
use futures_util::StreamExt as _;
use object_store::path::Path;
use object_store::{ObjectStoreExt as _, WriteMultipart};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::error::StorageError;

/// Bytes of a part of an upload; a file that has no more goes up in one request.
const PART_BYTES: usize = 8 << 20;
/// Parts that go up at a time.
const CONCURRENT_PARTS: usize = 2;

/// Whether the storage has a file with this name.
///
/// # Errors
/// The storage does not say.
pub async fn exists(storage: &ArchiveStorage, name: &str) -> Result<bool, StorageError> {
    let Err(error) = storage.store.head(&path(storage, name)).await else { return Ok(true) };
    let error = StorageError::from(error);
    if matches!(error, StorageError::NoFile(_)) {
        return bucket_exists(storage).await.map(|()| false);
    }
    Err(error)
}

/// Tells a bucket without the file from no bucket: a question about a file alone does not.
async fn bucket_exists(storage: &ArchiveStorage) -> Result<(), StorageError> {
    let mut listed = storage.store.list(Some(&storage.folder));
    listed.next().await.transpose()?;
    Ok(())
}

/// Copies a local file to the storage.
///
/// # Errors
/// The file cannot be read, or was not stored.
pub async fn put(
    storage: &ArchiveStorage,
    name: &str,
    from: &LocalPath,
) -> Result<(), StorageError> {
    let to = path(storage, name);
    let mut file = File::open(from).await?;
    let first = read_part(&mut file).await?;
    if first.len() < PART_BYTES {
        storage.store.put(&to, first.into()).await?;
        return Ok(());
    }
    let upload = storage.store.put_multipart(&to).await?;
    let mut upload = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
    let mut part = first;
    while !part.is_empty() {
        upload.wait_for_capacity(CONCURRENT_PARTS).await?;
        upload.put(part);
        part = read_part(&mut file).await?;
    }
    upload.finish().await?;
    Ok(())
}

/// Copies a file of the storage to a local one, which is made or replaced.
///
/// # Errors
/// The storage has no such file, or it was not read to its end.
pub async fn fetch(
    storage: &ArchiveStorage,
    name: &str,
    to: &LocalPath,
) -> Result<(), StorageError> {
    let mut bytes = storage.store.get(&path(storage, name)).await?.into_stream();
    let mut file = File::create(to).await?;
    while let Some(part) = bytes.next().await {
        file.write_all(&part?).await?;
    }
    file.sync_all().await?;
    Ok(())
}

fn path(storage: &ArchiveStorage, name: &str) -> Path {
    storage.folder.clone().join(name)
}

/// Next bytes of a file: [`PART_BYTES`], or fewer at its end.
async fn read_part(file: &mut File) -> Result<Bytes, StorageError> {
    let mut part = Vec::new();
    file.take(PART_BYTES as u64).read_to_end(&mut part).await?;
    Ok(part.into())
}
