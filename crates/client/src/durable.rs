//! Directories whose names survive a crash: a file that was synced is lost all the same while the name
//! of it, or of a directory above it, is not durable.

use std::fs::{DirBuilder, File};
use std::io;
use std::path::Path;

/// Creates a directory, with its parents, and makes the names of those that are new durable.
pub(crate) fn create_directory(path: &Path, builder: &DirBuilder) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let new: Vec<_> = path.ancestors().take_while(|above| !above.is_dir()).collect();
    builder.create(path)?;
    new.into_iter().filter_map(Path::parent).try_for_each(sync_directory)
}

/// Makes the names in a directory durable.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    // The parent of a relative name is empty.
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_created_with_its_parents_or_stays() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a").join("b");
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        for _ in 0..2 {
            create_directory(&path, &builder).unwrap();
            assert!(path.is_dir());
        }
        sync_directory(Path::new("")).unwrap();
        std::fs::write(place.path().join("file"), "").unwrap();
        assert!(create_directory(&place.path().join("file").join("c"), &builder).is_err());
    }
}
