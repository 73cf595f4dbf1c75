//! A file that remembers the last checkpoint outside the database. A database that was put back to
//! an older state has lost it, and a notary that signed on from there would contradict itself.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Path of the file with the last checkpoint.
#[derive(Clone, Debug)]
pub struct CheckpointFile(PathBuf);

impl CheckpointFile {
    /// Names a file. It need not exist; its folder must.
    #[must_use]
    pub fn new(file: impl Into<PathBuf>) -> CheckpointFile {
        CheckpointFile(file.into())
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Reads the note that was written last. `None` if there is none.
    pub(crate) fn read(&self) -> std::io::Result<Option<Vec<u8>>> {
        match fs::read(&self.0) {
            Ok(note) => Ok(Some(note)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces the note in the file. After a crash the file holds either the old note or the new
    /// one, whole.
    pub(crate) fn write(&self, note: &str) -> std::io::Result<()> {
        replace_file(&self.0, note.as_bytes())
    }
}

/// Replaces the content of a file atomically and waits for the disk.
pub(crate) fn replace_file(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let mut file = File::create(&new)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    // The new name is durable once the folder is.
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}
