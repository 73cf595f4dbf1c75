//! Files and directories with the owner and mode that the server requires.

use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use super::PostgresError;
use super::account::Account;

/// Creates a directory and its missing parents, with `mode` less the process's umask.
pub(super) fn make_dirs(path: &Path, mode: u32) -> Result<(), PostgresError> {
    DirBuilder::new()
        .recursive(true)
        .mode(mode)
        .create(path)
        .map_err(PostgresError::io("making the folder", path))
}

/// Creates a directory that only `owner` can enter.
pub(super) fn make_private_dir(path: &Path, owner: &Account) -> Result<(), PostgresError> {
    DirBuilder::new()
        .mode(0o700)
        .create(path)
        .map_err(PostgresError::io("making the folder", path))?;
    owner.give_ownership(path)
}

/// Writes a file that only this process's user can read, and syncs it to disk.
pub(super) fn write_private(path: &Path, content: &str) -> Result<(), PostgresError> {
    remove(path)?;
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(content.as_bytes())?;
        file.sync_all()
    };
    write().map_err(PostgresError::io("writing", path))
}

/// Removes a file or a whole directory, if it exists.
pub(super) fn remove(path: &Path) -> Result<(), PostgresError> {
    let removed = match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(e) => Err(e),
    };
    match removed {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(PostgresError::io("removing", path)(e)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Copies a directory to a new place, readable by `owner` alone.
pub(super) fn copy_tree(from: &Path, to: &Path, owner: &Account) -> Result<(), PostgresError> {
    make_private_dir(to, owner)?;
    for entry in std::fs::read_dir(from).map_err(PostgresError::io("reading", from))? {
        let entry = entry.map_err(PostgresError::io("reading", from))?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().map_err(PostgresError::io("reading", &from))?.is_dir() {
            copy_tree(&from, &to, owner)?;
        } else {
            std::fs::copy(&from, &to).map_err(PostgresError::io("copying", &from))?;
            owner.give_ownership(&to)?;
        }
    }
    Ok(())
}

/// Makes a directory tree readable for everybody, and the files directly in `programs` executable.
pub(super) fn make_readable_by_all(dir: &Path, programs: &Path) -> Result<(), PostgresError> {
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, Permissions::from_mode(mode))
            .map_err(PostgresError::io("setting the mode of", path))
    };
    set(dir, 0o755)?;
    for entry in std::fs::read_dir(dir).map_err(PostgresError::io("reading", dir))? {
        let path = entry.map_err(PostgresError::io("reading", dir))?.path();
        if path.is_dir() {
            make_readable_by_all(&path, programs)?;
        } else {
            set(&path, if dir == programs { 0o755 } else { 0o644 })?;
        }
    }
    Ok(())
}
