//! Knows: where archives of logs lie, a folder or an S3-compatible storage, and how they get there.
//! Does not know: what is in an archive, when it is read, which log it is of.
//!
//! [`open`] makes the storage that [`eventlog::archive::MountedArchives`] reads; [`put`] and [`fetch`]
//! move whole files for an operator's program. Crate `object_store` speaks to both kinds. Its
//! features are chosen so that it brings no second HTTP client and no second TLS library: requests go
//! out through `connector`.
//!
//! An error says what an operator can change: the address, the key, the name of the bucket
//! ([`StorageError`]).
//!
//! Specification: ARCHITECTURE.md §2.11.

mod connector;
mod error;
mod files;

use std::sync::Arc;
use std::time::Duration;

use chassis::config::{ArchiveLocation, BucketAccess};
use eventlog::archive::ArchiveStorage;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{BackoffConfig, RetryConfig};

use connector::Connector;
pub use error::StorageError;
pub use files::{exists, fetch, put};

/// Region that a storage has which knows none.
const DEFAULT_REGION: &str = "us-east-1";

/// Opens a storage. Nothing is asked of it yet: a folder may be made later.
///
/// # Errors
/// The location cannot be one.
pub fn open(
    location: &ArchiveLocation,
    access: &BucketAccess,
) -> Result<ArchiveStorage, StorageError> {
    match location {
        ArchiveLocation::Folder(folder) => {
            let store = Arc::new(LocalFileSystem::new().with_fsync(true));
            let folder = std::path::absolute(folder).map_err(StorageError::File)?;
            let folder = Path::from_absolute_path(folder)
                .map_err(|error| StorageError::Location(error.to_string()))?;
            Ok(ArchiveStorage { store, folder })
        }
        ArchiveLocation::Bucket { name, prefix } => {
            let (id, secret) = access.key.as_ref().ok_or(StorageError::NoKey)?;
            let mut builder = AmazonS3Builder::new()
                .with_http_connector(Connector::new())
                .with_bucket_name(name)
                .with_region(access.region.as_deref().unwrap_or(DEFAULT_REGION))
                .with_access_key_id(id)
                .with_secret_access_key(secret.expose())
                .with_retry(retries());
            if let Some(endpoint) = &access.endpoint {
                let is_plain = endpoint.scheme_str() == Some("http");
                let endpoint = endpoint.to_string();
                builder =
                    builder.with_endpoint(endpoint.trim_end_matches('/')).with_allow_http(is_plain);
            }
            let store =
                builder.build().map_err(|error| StorageError::Location(error.to_string()))?;
            let folder =
                Path::parse(prefix).map_err(|error| StorageError::Location(error.to_string()))?;
            Ok(ArchiveStorage { store: Arc::new(store), folder })
        }
    }
}

/// Few and short: whoever asks has a limit of its own, and is told to repeat.
fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(1),
            base: 2.0,
        },
        max_retries: 2,
        retry_timeout: Duration::from_secs(10),
    }
}
