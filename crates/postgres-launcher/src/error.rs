//! Errors on the way from a stranger's machine to a running PostgreSQL, each with its remedy.

use std::io;
use std::path::{Path, PathBuf};

use super::OLDEST_MAJOR;

/// Reason why there is no PostgreSQL. Every message is meant for the person who started the
/// program.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    #[error(
        "no PostgreSQL to use. Ways on, any one of them:\n\
         - set DATABASE_URL to a database of PostgreSQL {OLDEST_MAJOR} or newer;\n\
         - install the server of PostgreSQL {OLDEST_MAJOR} or newer, or set SABACC_PG_BIN to the \
         folder with its programs `postgres` and `initdb`;\n\
         - start again with --fetch-postgres to fetch a private copy (13.6 MB, checked by hash).\n\
         Searched:\n{}",
        bullets(searched)
    )]
    NotFound {
        /// Places that were searched, each with the reason why it did not qualify.
        searched: Vec<String>,
    },
    #[error("the database of DATABASE_URL ({address}) cannot be used: {source}")]
    DatabaseUrl { address: String, source: sqlx::Error },
    #[error(
        "the database of DATABASE_URL ({address}) is PostgreSQL {version}; at least \
         {OLDEST_MAJOR} is needed"
    )]
    TooOld { address: String, version: String },
    #[error(
        "the PostgreSQL programs in {} cannot be used: {why}. Set SABACC_PG_BIN to the folder that \
         holds `postgres` and `initdb`, or unset it to search the usual places", dir.display()
    )]
    UnusableBinaries { dir: PathBuf, why: String },
    #[error(
        "PostgreSQL does not run as root, and this system has no user `postgres` or `nobody` to \
         run it: make one (`useradd --system postgres`), start as another user, or set DATABASE_URL"
    )]
    NoUnprivilegedUser,
    #[error(
        "started by root, PostgreSQL runs as the user `{user}`, who cannot enter {} and so cannot \
         reach {}: name a folder outside it (for example --data /var/lib/sabacc), or allow it \
         with `chmod o+x {}`", obstacle.display(), path.display(), obstacle.display()
    )]
    Unreachable { path: PathBuf, obstacle: PathBuf, user: String },
    #[error(
        "the user this runs as has a number but no name on this system, and PostgreSQL does not \
         make a cluster for such a user: start as a user that is listed in /etc/passwd (in a \
         container, add a line for it to the image), or set DATABASE_URL"
    )]
    NamelessUser,
    #[error(
        "the cluster {} belongs to {owner}, and PostgreSQL lets only an owner other than root run \
         it; this was started by {we}: start as the owner, give it away with `chown -R`, or name \
         another folder with --data", path.display()
    )]
    WrongOwner { path: PathBuf, owner: String, we: String },
    #[error(
        "the data in {} was made by PostgreSQL {made_by}, but only PostgreSQL {} was found, and no \
         major version reads another's data: set SABACC_PG_BIN to the programs of version \
         {made_by}, or start on fresh data in another folder with --data",
        cluster.display(), list(found)
    )]
    VersionMismatch { cluster: PathBuf, made_by: u32, found: Vec<u32> },
    #[error(
        "the data folder {} is in use by another process{}: stop that one, or name another folder \
         with --data", data.display(), pid.map_or_else(String::new, |p| format!(" (number {p})"))
    )]
    AlreadyRunning { data: PathBuf, pid: Option<u32> },
    #[error("the disk is full: make room where {} is, then start again", path.display())]
    DiskFull { path: PathBuf },
    #[error(
        "{} is not empty and not a PostgreSQL cluster: move it away, or name another folder with \
         --data", path.display()
    )]
    NotACluster { path: PathBuf },
    #[error(
        "the password of the cluster is missing: put back {}, which was made together with the \
         cluster, or start on fresh data in another folder with --data", path.display()
    )]
    PasswordMissing { path: PathBuf },
    #[error("PostgreSQL could not make a cluster in {}; it said:\n{output}", cluster.display())]
    Initdb { cluster: PathBuf, output: String },
    #[error("PostgreSQL could not start on {}; it said:\n{output}", cluster.display())]
    Start { cluster: PathBuf, output: String },
    #[error("PostgreSQL started on {} but does not answer: {source}", cluster.display())]
    NoAnswer { cluster: PathBuf, source: sqlx::Error },
    #[error(
        "PostgreSQL on {} died {times} times within ten minutes; look in the system's log for what \
         ends it (a want of memory, say), then start again. It said last:\n{output}",
        cluster.display()
    )]
    KeepsDying { cluster: PathBuf, times: usize, output: String },
    #[error("PostgreSQL on {} is still stopping after a minute", cluster.display())]
    StillRunning { cluster: PathBuf },
    #[error(
        "PostgreSQL could not be fetched: {why}. Install it, or set DATABASE_URL or SABACC_PG_BIN"
    )]
    Fetch { why: String },
    #[error(
        "what was fetched as PostgreSQL is not what was expected and was thrown away: its SHA-256 \
         is {found}, not {expected}. Install PostgreSQL, or set DATABASE_URL or SABACC_PG_BIN"
    )]
    WrongHash { expected: String, found: String },
    #[error("{doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
}

impl PostgresError {
    /// Adds the path and the operation to an I/O error. A full disk gets its own variant.
    pub(super) fn io(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| {
            let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
            match full.contains(&source.kind()) {
                true => Self::DiskFull { path },
                false => Self::Io { doing, path, source },
            }
        }
    }

    /// Turns a failed start into [`PostgresError::KeepsDying`] for a server that died `times`
    /// times.
    pub(super) fn into_keeps_dying(self, times: usize) -> Self {
        if let Self::Start { cluster, output } = self {
            return Self::KeepsDying { cluster, times, output };
        }
        self
    }

    /// Whether processes of a dead server still run on the cluster.
    pub(super) const fn is_leftover(&self) -> bool {
        matches!(self, Self::AlreadyRunning { .. })
    }

    /// Recognises failures with a known remedy in the output of PostgreSQL's programs.
    pub(super) fn recognise(output: &str, cluster: &Path) -> Option<Self> {
        let path = cluster.to_owned();
        let says = |text: &str| output.contains(text);
        if says("No space left on device") || says("Disk quota exceeded") {
            Some(Self::DiskFull { path })
        } else if says("could not look up effective user ID") {
            Some(Self::NamelessUser)
        } else if says("lock file \"postmaster.pid\" already exists")
            || says("pre-existing shared memory block")
        {
            let data = cluster.parent().unwrap_or(cluster).to_owned();
            Some(Self::AlreadyRunning { data, pid: None })
        } else {
            None
        }
    }
}

fn bullets(lines: &[String]) -> String {
    lines.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
}

fn list(majors: &[u32]) -> String {
    majors.iter().map(u32::to_string).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, then: &str) {
        let known = PostgresError::recognise(output, Path::new("/data/postgres"));
        assert_eq!(known.map(|e| e.to_string()).as_deref(), (!then.is_empty()).then_some(then));
    }

    #[test]
    fn what_the_programs_say_is_distinguished() {
        let full = "the disk is full: make room where /data/postgres is, then start again";
        check("initdb: error: could not write file \"x\": No space left on device\n", full);
        check("FATAL: could not extend file \"base/1\": Disk quota exceeded", full);
        check("FATAL:  something else\n", "");
        let nameless = "initdb: error: could not look up effective user ID 4711: user does not \
                        exist\n";
        check(nameless, &PostgresError::NamelessUser.to_string());
        let busy = PostgresError::AlreadyRunning { data: "/data".into(), pid: None };
        check("FATAL:  lock file \"postmaster.pid\" already exists\n", &busy.to_string());
        let shared = "FATAL:  pre-existing shared memory block (key 7, ID 8) is still in use\n";
        check(shared, &busy.to_string());
    }

    #[test]
    fn a_full_disk_under_our_own_hands_is_the_same_error() {
        let full = PostgresError::io("writing", "/x")(io::ErrorKind::StorageFull.into());
        assert!(matches!(full, PostgresError::DiskFull { .. }), "{full}");
        let other = PostgresError::io("writing", "/x")(io::ErrorKind::NotFound.into());
        assert!(other.to_string().starts_with("writing /x: "), "{other}");
    }

    #[test]
    fn both_versions_and_the_way_on_are_named() {
        let error = PostgresError::VersionMismatch {
            cluster: "/data/postgres".into(),
            made_by: 13,
            found: vec![15, 18],
        };
        let text = error.to_string();
        for part in ["/data/postgres", "PostgreSQL 13", "15 and 18", "SABACC_PG_BIN", "--data"] {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
    }
}
