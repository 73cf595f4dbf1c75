//! Places of archives as an operator names them: local files and folders, or `s3://…`.
//!
//! Files of a storage are worked on as a local copy in a temporary folder: an archive is checked whole
//! before anything is removed or restored by it.

use std::path::PathBuf;

use chassis::config::{ArchiveLocation, BucketAccess};
use eventlog::archive::ArchiveStorage;
use tempfile::TempDir;

/// File of an archive, given as an argument: a path, or `s3://BUCKET/PREFIX/NAME`.
#[derive(Clone, Debug)]
pub(crate) enum ArchiveFile {
    Local(PathBuf),
    Stored { folder: ArchiveLocation, name: String },
}

/// Local file, the archive itself or a copy that goes with this value.
pub(super) struct LocalFile {
    pub(super) path: PathBuf,
    _copy: Option<TempDir>,
}

impl ArchiveFile {
    /// Parses an argument.
    pub(crate) fn parse(text: &str) -> Result<ArchiveFile, String> {
        if !text.contains("://") {
            return Ok(ArchiveFile::Local(PathBuf::from(text)));
        }
        let allowed = || "allowed: a path, or s3://BUCKET/PREFIX/NAME".to_owned();
        let (folder, name) = text.rsplit_once('/').ok_or_else(allowed)?;
        match ArchiveLocation::parse(folder) {
            Some(folder @ ArchiveLocation::Bucket { .. }) if !name.is_empty() => {
                Ok(ArchiveFile::Stored { folder, name: name.to_owned() })
            }
            Some(_) | None => Err(allowed()),
        }
    }

    /// The file, or a copy of it.
    pub(super) async fn local(&self, access: &BucketAccess) -> anyhow::Result<LocalFile> {
        match self {
            ArchiveFile::Local(path) => Ok(LocalFile { path: path.clone(), _copy: None }),
            ArchiveFile::Stored { folder, name } => {
                let storage = archive_storage::open(folder, access)?;
                let copy = tempfile::tempdir()?;
                let path = copy.path().join(name);
                archive_storage::fetch(&storage, name, &path).await?;
                Ok(LocalFile { path, _copy: Some(copy) })
            }
        }
    }
}

/// Parses a folder, or `s3://BUCKET/PREFIX`.
pub(super) fn parse_folder(text: &str) -> Result<ArchiveLocation, String> {
    ArchiveLocation::parse(text)
        .ok_or_else(|| "allowed: a folder, or s3://BUCKET/PREFIX".to_owned())
}

/// Place that new archives are written to.
pub(super) enum Destination {
    Folder(PathBuf),
    Storage(ArchiveStorage),
}

impl Destination {
    pub(super) fn open(
        location: &ArchiveLocation,
        access: &BucketAccess,
    ) -> anyhow::Result<Destination> {
        match location {
            ArchiveLocation::Folder(folder) => Ok(Destination::Folder(folder.clone())),
            ArchiveLocation::Bucket { .. } => {
                Ok(Destination::Storage(archive_storage::open(location, access)?))
            }
        }
    }

    /// The file with this name, where it was written before: an interrupted run is repeated with it.
    pub(super) async fn find(&self, name: &str) -> anyhow::Result<Option<LocalFile>> {
        match self {
            Destination::Folder(folder) => {
                let path = folder.join(name);
                Ok(path.exists().then_some(LocalFile { path, _copy: None }))
            }
            Destination::Storage(storage) => {
                if archive_storage::exists(storage, name).await? {
                    return fetch(storage, name).await.map(Some);
                }
                Ok(None)
            }
        }
    }

    /// A local file to be written, and then to be stored.
    pub(super) fn new_file(&self, name: &str) -> anyhow::Result<LocalFile> {
        match self {
            Destination::Folder(folder) => Ok(LocalFile { path: folder.join(name), _copy: None }),
            Destination::Storage(_) => {
                let copy = tempfile::tempdir()?;
                Ok(LocalFile { path: copy.path().join(name), _copy: Some(copy) })
            }
        }
    }

    /// Stores a file that was written, and returns it as it is read back.
    pub(super) async fn store(&self, name: &str, written: LocalFile) -> anyhow::Result<LocalFile> {
        match self {
            Destination::Folder(_) => Ok(written),
            Destination::Storage(storage) => {
                archive_storage::put(storage, name, &written.path).await?;
                fetch(storage, name).await
            }
        }
    }
}

async fn fetch(storage: &ArchiveStorage, name: &str) -> anyhow::Result<LocalFile> {
    let copy = tempfile::tempdir()?;
    let path = copy.path().join(name);
    archive_storage::fetch(storage, name, &path).await?;
    Ok(LocalFile { path, _copy: Some(copy) })
}
