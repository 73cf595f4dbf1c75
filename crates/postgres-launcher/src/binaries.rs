//! Search for programs to run a private cluster with. A directory qualifies if its `postgres` and
//! `initdb` report the same version, new enough, when run as the server's user. So a wrapper that
//! works for that user qualifies, and one that does not is passed over.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::Duration;

use super::account::Account;
use super::{OLDEST_MAJOR, Options, PostgresError, fetch};

/// Time between two attempts to run a program that is busy.
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// Release of PostgreSQL, such as 15.13.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    /// Major version. Data of one is not read by another.
    pub(super) major: u32,
    /// Version as the program reports it.
    pub(super) text: String,
}

/// Directory with working programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Binaries {
    pub(super) dir: PathBuf,
    pub(super) version: Version,
}

/// Usable directories, best first, and each place that was searched, for people.
#[derive(Debug, Default)]
pub(super) struct SearchResult {
    pub(super) found: Vec<Binaries>,
    pub(super) searched: Vec<String>,
}

/// Searches all places, or only the directory that the operator named.
pub(super) fn search(options: &Options, account: &Account) -> Result<SearchResult, PostgresError> {
    if let Some(dir) = &options.pg_bin {
        return match probe(dir, account) {
            Ok(binaries) => Ok(SearchResult { found: vec![binaries], searched: Vec::new() }),
            Err(why) => Err(PostgresError::UnusableBinaries { dir: dir.clone(), why }),
        };
    }
    let mut search = SearchResult::default();
    search.searched.push("DATABASE_URL and SABACC_PG_BIN: not set".into());
    let on_path = std::env::split_paths(&options.environment.path);
    let on_path = on_path.filter(|dir| dir.is_absolute() && dir.join("postgres").exists());
    search.probe_all("PATH", on_path, account);
    let packaged = &options.environment.packaged;
    let pattern = format!("{}/*/bin", packaged.display());
    search.probe_all(&pattern, newest_first(packaged), account);
    let fetched = fetch::home(&fetch::cache_dir(options, account));
    let cached = fetched.exists().then(|| fetch::programs(&fetched));
    search.probe_all(&format!("fetched copy in {}", fetched.display()), cached, account);
    Ok(search)
}

impl SearchResult {
    fn probe_all(
        &mut self,
        place: &str,
        dirs: impl IntoIterator<Item = PathBuf>,
        account: &Account,
    ) {
        let mut dirs = dirs.into_iter().peekable();
        if dirs.peek().is_none() {
            self.searched.push(format!("{place}: nothing there"));
        }
        for dir in dirs {
            match probe(&dir, account) {
                Ok(binaries) => {
                    let Version { text, .. } = &binaries.version;
                    self.searched.push(format!("{place}: {} has {text}", dir.display()));
                    if !self.found.contains(&binaries) {
                        self.found.push(binaries);
                    }
                }
                Err(why) => self.searched.push(format!("{place}: {}: {why}", dir.display())),
            }
        }
    }
}

/// The `bin` of each directory named by a number, the highest number first.
fn newest_first(packaged: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(packaged) else { return Vec::new() };
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let mut majors: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter_map(|path| Some((number(&path)?, path.join("bin"))))
        .filter(|(_, bin)| bin.join("postgres").exists())
        .collect();
    majors.sort();
    majors.into_iter().rev().map(|(_, bin)| bin).collect()
}

/// Runs both programs. The error says why the directory does not qualify.
pub(super) fn probe(dir: &Path, account: &Account) -> Result<Binaries, String> {
    // Resolves a link, so that the programs find their own libraries and each other.
    let real = dir.join("postgres").canonicalize().map_err(|e| format!("`postgres`: {e}"))?;
    let dir = real.parent().unwrap_or(dir).to_owned();
    let server = read_version(&dir, "postgres", account)?;
    let maker = read_version(&dir, "initdb", account)?;
    if server != maker {
        return Err(format!("`postgres` is {} but `initdb` is {}", server.text, maker.text));
    }
    if server.major < OLDEST_MAJOR {
        return Err(format!("{} is older than {OLDEST_MAJOR}", server.text));
    }
    Ok(Binaries { dir, version: server })
}

fn read_version(dir: &Path, program: &str, account: &Account) -> Result<Version, String> {
    let output = output_unless_busy(account.command(dir.join(program)).arg("--version"));
    let Output { status, stdout, stderr } = match output {
        Ok(output) => output,
        Err(e) => return Err(format!("`{program}` does not run as {}: {e}", account.name)),
    };
    if !status.success() {
        let said = String::from_utf8_lossy(&stderr);
        let said = said.trim();
        return Err(format!("`{program}` does not run as {} ({status}) {said}", account.name));
    }
    let output = String::from_utf8_lossy(&stdout);
    parse_version(&output).ok_or_else(|| format!("`{program} --version` says {:?}", output.trim()))
}

/// Runs a program and retries while it is busy. A program that was just unpacked can be busy: a
/// process started by another thread at that moment inherits the handle that the program is written
/// through, until that process executes its own program.
fn output_unless_busy(command: &mut Command) -> std::io::Result<Output> {
    for _ in 0..100 {
        match command.output() {
            Err(e) if e.kind() == ErrorKind::ExecutableFileBusy => sleep(BUSY_PAUSE),
            other => return other,
        }
    }
    command.output()
}

/// Parses `postgres (PostgreSQL) 15.13 (Debian …)`.
fn parse_version(output: &str) -> Option<Version> {
    let (_, rest) = output.split_once("(PostgreSQL) ")?;
    let text = rest.split_whitespace().next()?;
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some(Version { major: text[..end].parse().ok()?, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;
    use std::os::unix::fs::PermissionsExt as _;

    fn folder_with(parent: &Path, name: &str, script: &str) -> PathBuf {
        let dir = parent.join(name);
        std::fs::create_dir_all(&dir).unwrap();
        for program in ["postgres", "initdb"] {
            let path = dir.join(program);
            std::fs::write(&path, format!("#!/bin/sh\n{}", script.replace('@', program))).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        dir
    }

    fn open_folder() -> tempfile::TempDir {
        let top = tempfile::tempdir().unwrap();
        std::fs::set_permissions(top.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        top
    }

    fn says(version: &str) -> String {
        format!("echo '@ (PostgreSQL) {version}'")
    }

    #[test]
    fn versions_as_programs_print_them() {
        let check = |output: &str, then: Option<(u32, &str)>| {
            let then = then.map(|(major, text)| Version { major, text: text.into() });
            assert_eq!(parse_version(output), then, "{output}");
        };
        check("postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)\n", Some((15, "15.13")));
        check("initdb (PostgreSQL) 18beta1\n", Some((18, "18beta1")));
        check("initdb (PostgreSQL) 9.6.24\n", Some((9, "9.6.24")));
        check("Usage: postgres\n", None);
    }

    #[test]
    fn each_reason_to_pass_over_is_reported() {
        let top = open_folder();
        let account = Account::choose(None).unwrap();
        let check = |name: &str, script: &str, why: &str| {
            let reason = probe(&folder_with(top.path(), name, script), &account).unwrap_err();
            assert!(reason.contains(why), "{reason}");
        };
        check("old", &says("13.4"), "13.4 is older than 14");
        check("refuses", "echo 'must not be run like this' >&2; exit 1", "must not be run like");
        check("silent", "exit 0", "says \"\"");
        check(
            "mixed",
            "case $0 in */initdb) v=15.1;; *) v=16.2;; esac; echo \"@ (PostgreSQL) $v\"",
            "`postgres` is 16.2 but `initdb` is 15.1",
        );
        let reason = probe(&top.path().join("nowhere"), &account).unwrap_err();
        assert!(reason.contains("No such file"), "{reason}");
    }

    #[test]
    fn a_program_still_held_open_for_writing_is_waited_for() {
        let top = open_folder();
        let dir = folder_with(top.path(), "unpacked", &says("16.1"));
        let held = std::fs::OpenOptions::new().append(true).open(dir.join("initdb")).unwrap();
        let account = Account::choose(None).unwrap();
        std::thread::scope(|scope| {
            let found = scope.spawn(|| probe(&dir, &account));
            sleep(BUSY_PAUSE * 3);
            drop(held);
            assert_eq!(found.join().unwrap().unwrap().version.text, "16.1");
        });
    }

    #[test]
    fn a_wrapper_that_works_is_taken_and_the_newest_package_comes_first() {
        let top = open_folder();
        let account = Account::choose(None).unwrap();
        let refusing = folder_with(top.path(), "refusing", "exit 1");
        let wrapper = folder_with(top.path(), "wrapper", &says("16.1"));
        for (name, version) in
            [("packaged/9", "9.6"), ("packaged/17", "17.5"), ("packaged/15", "15.13")]
        {
            folder_with(top.path(), &format!("{name}/bin"), &says(version));
        }
        let environment = Environment {
            path: std::env::join_paths([&refusing, &wrapper]).unwrap(),
            packaged: top.path().join("packaged"),
            cache_home: Some(top.path().join("cache")),
            ..Environment::default()
        };
        let options = Options::new(top.path(), environment);
        let SearchResult { found, searched } = search(&options, &account).unwrap();
        let found: Vec<&str> = found.iter().map(|b| b.version.text.as_str()).collect();
        assert_eq!(found, ["16.1", "17.5", "15.13"]);
        let searched = searched.join("\n");
        for expected in ["refusing: `postgres` does not run", "9.6 is older", "cache/sabacc"] {
            assert!(searched.contains(expected), "{expected} is missing in: {searched}");
        }
    }

    #[test]
    fn a_folder_named_by_the_operator_is_the_only_one() {
        let top = open_folder();
        let account = Account::choose(None).unwrap();
        let mut options = Options::new(top.path(), Environment::read());
        options.pg_bin = Some(top.path().join("empty"));
        let error = search(&options, &account).unwrap_err();
        assert!(matches!(error, PostgresError::UnusableBinaries { .. }), "{error}");
        options.pg_bin = Some(folder_with(top.path(), "mine", &says("14.0")));
        assert_eq!(search(&options, &account).unwrap().found[0].version.text, "14.0");
    }
}
