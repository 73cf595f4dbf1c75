//! Errors of a storage, by what an operator can change.

use std::error::Error as _;

use object_store::Error;
use object_store::client::HttpError;

/// Error of a storage.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    #[error("that cannot be a place of archives: {0}")]
    Location(String),
    #[error(
        "a bucket needs a key: set archive_storage.access_key_id and \
         archive_storage.secret_access_key"
    )]
    NoKey,
    #[error("the storage cannot be reached: is archive_storage.endpoint right, and does it run?")]
    Unreachable(#[source] Error),
    #[error(
        "the storage refuses the key: are archive_storage.access_key_id and \
         archive_storage.secret_access_key right, and may it read and write in the bucket?"
    )]
    Refused(#[source] Error),
    #[error("the storage has no such bucket: make it first")]
    NoBucket(#[source] Error),
    #[error("the storage has no file {0}")]
    NoFile(String),
    #[error("the storage failed")]
    Failed(#[source] Error),
    #[error("a local file cannot be read or written")]
    File(#[from] std::io::Error),
}

impl From<Error> for StorageError {
    fn from(error: Error) -> StorageError {
        if has_no_bucket(&error) {
            return StorageError::NoBucket(error);
        }
        if matches!(error, Error::PermissionDenied { .. } | Error::Unauthenticated { .. }) {
            return StorageError::Refused(error);
        }
        if let Error::NotFound { path, .. } = error {
            return StorageError::NoFile(path);
        }
        if is_unreachable(&error) {
            return StorageError::Unreachable(error);
        }
        StorageError::Failed(error)
    }
}

/// Whether a storage answered that it has no such bucket: a word of S3's own.
fn has_no_bucket(error: &Error) -> bool {
    causes(error).any(|cause| cause.to_string().contains("NoSuchBucket"))
}

/// Whether no answer came at all.
fn is_unreachable(error: &Error) -> bool {
    causes(error).any(|cause| cause.is::<HttpError>())
}

fn causes(error: &Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}
