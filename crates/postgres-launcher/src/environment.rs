//! Environment variables of the launcher. The launcher reads them nowhere else.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::account::{self, Account};

/// Environment variables that the launcher uses. Without `Debug`, since an address may hold a
/// password.
#[derive(Clone, Default)]
pub struct Environment {
    /// `DATABASE_URL`. May hold a password: not for logs.
    pub database_url: Option<String>,
    /// `SABACC_PG_BIN`.
    pub pg_bin: Option<PathBuf>,
    /// `PATH`.
    pub path: OsString,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `XDG_DATA_HOME`.
    pub data_home: Option<PathBuf>,
    /// `XDG_CACHE_HOME`.
    pub cache_home: Option<PathBuf>,
    /// `XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<PathBuf>,
    /// Directory in which Linux distributions have one directory for each major version.
    pub packaged: PathBuf,
}

impl Environment {
    /// Reads this process's environment. An empty variable counts as unset.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the launcher's one look at the environment")]
    pub fn read() -> Self {
        let var = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        // XDG specification: a relative path is ignored.
        let folder = |name| var(name).map(PathBuf::from).filter(|path| path.is_absolute());
        Self {
            database_url: var("DATABASE_URL").and_then(|url| url.into_string().ok()),
            pg_bin: var("SABACC_PG_BIN").map(PathBuf::from),
            path: var("PATH").unwrap_or_default(),
            home: folder("HOME"),
            data_home: folder("XDG_DATA_HOME"),
            cache_home: folder("XDG_CACHE_HOME"),
            runtime_dir: folder("XDG_RUNTIME_DIR"),
            packaged: PathBuf::from("/usr/lib/postgresql"),
        }
    }

    fn under_home(&self, set: Option<&PathBuf>, default: &str) -> Option<PathBuf> {
        let base = set.cloned().or_else(|| self.home.as_ref().map(|home| home.join(default)))?;
        Some(base.join("sabacc"))
    }
}

/// Default data directory: `$XDG_DATA_HOME/sabacc`, by default `~/.local/share/sabacc`. It is
/// `/var/lib/sabacc` for a user without a home, and for root if the database server's user cannot
/// enter root's home.
#[must_use]
pub fn default_data_dir(environment: &Environment) -> PathBuf {
    let account = Account::choose(None);
    let wanted = environment.under_home(environment.data_home.as_ref(), ".local/share");
    reachable_or(wanted, account.ok().as_ref(), "/var/lib/sabacc")
}

/// Default cache directory: `$XDG_CACHE_HOME/sabacc`, by default `~/.cache/sabacc`. It is
/// `/var/cache/sabacc` if there is no home or the database server's user cannot enter it.
pub(super) fn default_cache_dir(environment: &Environment, account: &Account) -> PathBuf {
    let wanted = environment.under_home(environment.cache_home.as_ref(), ".cache");
    reachable_or(wanted, Some(account), "/var/cache/sabacc")
}

fn reachable_or(wanted: Option<PathBuf>, account: Option<&Account>, fallback: &str) -> PathBuf {
    let reachable = |path: &Path| account.is_none_or(|a| account::obstacle(path, a).is_none());
    wanted.filter(|path| reachable(path)).unwrap_or_else(|| PathBuf::from(fallback))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn home(path: &Path) -> Environment {
        Environment { home: Some(path.to_owned()), ..Environment::default() }
    }

    #[test]
    fn an_open_home_is_used_and_a_closed_one_only_by_its_owner() {
        let home_dir = tempfile::tempdir().unwrap();
        let allow = |mode| std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(home_dir.path(), allow(0o755)).unwrap();
        let data = home_dir.path().join(".local/share/sabacc");
        assert_eq!(default_data_dir(&home(home_dir.path())), data);
        std::fs::set_permissions(home_dir.path(), allow(0o700)).unwrap();
        let expected = match rustix::process::geteuid().is_root() {
            true => PathBuf::from("/var/lib/sabacc"),
            false => data,
        };
        assert_eq!(default_data_dir(&home(home_dir.path())), expected);
    }

    #[test]
    fn what_is_set_wins_over_the_home_folder() {
        let data_home = Some(PathBuf::from("/usr"));
        let environment = Environment { data_home, ..home(Path::new("/nonexistent")) };
        assert_eq!(default_data_dir(&environment), Path::new("/usr/sabacc"));
        assert_eq!(default_data_dir(&Environment::default()), Path::new("/var/lib/sabacc"));
    }
}
