//! The program that runs, as the records of each hand name it.

use std::fs::File;
use std::io::{self, Read as _};
use std::sync::LazyLock;

use sha2::{Digest, Sha256};

/// Version and commit of a program, and SHA-256 of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    pub version: &'static str,
    /// Commit of the sources, which the variable `SABACC_COMMIT` names to the compiler; empty where
    /// it was not set.
    pub commit: &'static str,
    /// Empty where the file could not be read, else 32 bytes.
    pub sha256: Vec<u8>,
}

/// Commit that the compiler was told.
const COMMIT: &str = match option_env!("SABACC_COMMIT") {
    Some(commit) => commit,
    None => "",
};

/// The build of the running program. Its file is read once, at the first call.
#[must_use]
pub fn running() -> &'static Build {
    static RUNNING: LazyLock<Build> = LazyLock::new(|| Build {
        version: env!("CARGO_PKG_VERSION"),
        commit: COMMIT,
        sha256: hash_program().unwrap_or_else(|error| {
            tracing::warn!(%error, "the program's file cannot be read: hands do not name its hash");
            Vec::new()
        }),
    });
    &RUNNING
}

/// Hashes the program's file. Linux keeps it readable under this name also when it was replaced.
fn hash_program() -> io::Result<Vec<u8>> {
    let mut file =
        File::open("/proc/self/exe").or_else(|_| File::open(std::env::current_exe()?))?;
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().to_vec()),
            length => hasher.update(&buffer[..length]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_is_that_of_the_running_file() {
        let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let sha256 = Sha256::digest(file).to_vec();
        assert_eq!(
            *running(),
            Build { version: env!("CARGO_PKG_VERSION"), commit: COMMIT, sha256 }
        );
    }
}
