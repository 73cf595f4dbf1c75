//! A file that remembers the last checkpoint beside the database: a database that was put back to an
//! older state does not remember it, and whoever signs on from there contradicts himself.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Where the last checkpoint is remembered.
#[derive(Clone, Debug)]
pub struct Memory(PathBuf);

impl Memory {
    /// The file need not exist; its folder must.
    #[must_use]
    pub fn new(file: impl Into<PathBuf>) -> Memory {
        Memory(file.into())
    }

    #[must_use]
    pub fn file(&self) -> &Path {
        &self.0
    }

    /// The note that was kept last; nothing where none was.
    pub(crate) fn recall(&self) -> std::io::Result<Option<Vec<u8>>> {
        match fs::read(&self.0) {
            Ok(note) => Ok(Some(note)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps a note in the place of the one before: all of it or nothing, also when the machine
    /// stops.
    pub(crate) fn keep(&self, note: &str) -> std::io::Result<()> {
        replace(&self.0, note.as_bytes())
    }
}

/// Writes a file whole, in the place of what was there, and waits for the disk.
pub(crate) fn replace(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let mut file = File::create(&new)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    // The name is durable with its folder.
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}
