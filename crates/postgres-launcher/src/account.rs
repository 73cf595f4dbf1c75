//! System user that a private cluster runs as. PostgreSQL refuses to run as root, so root runs it
//! as a user without rights. Any other user runs it as themselves.
//!
//! Read from `/etc/passwd` here: `uzers` and `nix` ask the C library, for two look-ups.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::PostgresError;

/// Users that root tries, in this order, to run the server as.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];

/// System user that runs the server. Invariant: `uid` is not root's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// User name, or the number if there is none.
    pub(super) name: String,
    /// Whether this user differs from the one that this process runs as.
    pub(super) switches_user: bool,
}

/// A user and its group, by number.
#[derive(Clone, Copy)]
struct UserIds {
    uid: u32,
    gid: u32,
}

/// Directory of an existing cluster.
#[derive(Clone, Copy)]
struct OwnedDirectory<'a> {
    path: &'a Path,
    owner: UserIds,
}

impl Account {
    /// Chooses the user for the cluster in the directory `existing`, or for a new one.
    pub(super) fn choose(existing: Option<&Path>) -> Result<Self, PostgresError> {
        let owned = match existing {
            Some(dir) => {
                let found = std::fs::metadata(dir).map_err(PostgresError::io("reading", dir))?;
                let owner = UserIds { uid: found.uid(), gid: found.gid() };
                Some(OwnedDirectory { path: dir, owner })
            }
            None => None,
        };
        let process = UserIds {
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
        };
        // Some minimal images have no such file; then no user has a name.
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        decide(process, owned, &users)
    }

    /// Command that runs as this user, in a clean environment, in `/` (the user may not be able to
    /// enter the caller's directory) and in its own process group, away from the terminal's
    /// signals.
    pub(super) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().env("LC_ALL", "C").env("PATH", "/usr/bin:/bin:/usr/local/bin");
        command.current_dir("/").process_group(0).stdin(Stdio::null());
        if self.switches_user {
            command.uid(self.uid).gid(self.gid);
        }
        command
    }

    /// Gives a file or directory to this user.
    pub(super) fn give_ownership(&self, path: &Path) -> Result<(), PostgresError> {
        match self.switches_user {
            true => std::os::unix::fs::lchown(path, Some(self.uid), Some(self.gid))
                .map_err(PostgresError::io("giving the database server's user", path)),
            false => Ok(()),
        }
    }
}

fn decide(
    UserIds { uid, gid }: UserIds,
    existing: Option<OwnedDirectory<'_>>,
    users: &str,
) -> Result<Account, PostgresError> {
    match existing {
        Some(OwnedDirectory { path, owner })
            if owner.uid == 0 || (uid != 0 && owner.uid != uid) =>
        {
            Err(PostgresError::WrongOwner {
                path: path.to_owned(),
                owner: name_of(users, owner.uid),
                we: name_of(users, uid),
            })
        }
        _ if uid != 0 => Ok(Account { uid, gid, name: name_of(users, uid), switches_user: false }),
        Some(OwnedDirectory { path: _, owner: UserIds { uid, gid } }) => {
            Ok(Account { uid, gid, name: name_of(users, uid), switches_user: true })
        }
        None => UNPRIVILEGED
            .iter()
            .find_map(|name| account_named(users, name))
            .ok_or(PostgresError::NoUnprivilegedUser),
    }
}

/// Name, user id and group id of each line of `/etc/passwd`.
fn entries(users: &str) -> impl Iterator<Item = (&str, u32, u32)> {
    users.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let uid = fields.nth(1)?.parse().ok()?;
        Some((name, uid, fields.next()?.parse().ok()?))
    })
}

fn account_named(users: &str, wanted: &str) -> Option<Account> {
    let (name, uid, gid) = entries(users).find(|&(name, uid, _)| name == wanted && uid != 0)?;
    Some(Account { uid, gid, name: name.to_owned(), switches_user: true })
}

fn name_of(users: &str, wanted: u32) -> String {
    let found = entries(users).find(|&(_, uid, _)| uid == wanted);
    found.map_or_else(|| format!("user {wanted}"), |(name, ..)| name.to_owned())
}

/// First directory on the way to `path` that `account` may not pass through, if any. Of a path that
/// does not exist yet, the existing part counts. Only checked if this process is root and so would
/// not notice itself.
pub(super) fn obstacle(path: &Path, account: &Account) -> Option<PathBuf> {
    if !account.switches_user {
        return None;
    }
    let existing = path.ancestors().find_map(|folder| folder.canonicalize().ok())?;
    let mut way: Vec<&Path> = existing.ancestors().collect();
    way.reverse();
    let closed = |folder: &&Path| std::fs::metadata(folder).is_ok_and(|m| !may_enter(&m, account));
    way.into_iter().find(closed).map(Path::to_owned)
}

fn may_enter(folder: &Metadata, account: &Account) -> bool {
    let class = if folder.uid() == account.uid {
        0o100
    } else if folder.gid() == account.gid {
        0o010
    } else {
        0o001
    };
    folder.mode() & class != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    const USERS: &str = "root:x:0:0:root:/root:/bin/sh\n\
                         nobody:x:65534:65533::/:/bin/false\n\
                         ann:x:1000:1001::/home/ann:/bin/sh\n\
                         postgres:x:101:104::/var/lib/postgresql:/bin/bash\n";

    fn account(uid: u32, gid: u32, name: &str, switch: bool) -> Account {
        Account { uid, gid, name: name.into(), switches_user: switch }
    }

    fn ids(uid: u32, gid: u32) -> UserIds {
        UserIds { uid, gid }
    }

    fn owned(owner: UserIds) -> OwnedDirectory<'static> {
        OwnedDirectory { path: Path::new("/data/postgres"), owner }
    }

    fn check(process: UserIds, owner: Option<u32>, users: &str, then: &Account) {
        let existing = owner.map(|uid| owned(ids(uid, 7)));
        assert_eq!(&decide(process, existing, users).unwrap(), then);
    }

    #[test]
    fn root_finds_somebody_and_others_run_it_themselves() {
        check(ids(0, 0), None, USERS, &account(101, 104, "postgres", true));
        check(ids(0, 0), None, &USERS[..70], &account(65534, 65533, "nobody", true));
        check(ids(0, 0), Some(1000), USERS, &account(1000, 7, "ann", true));
        check(ids(1000, 1001), None, USERS, &account(1000, 1001, "ann", false));
        check(ids(1000, 1001), Some(1000), USERS, &account(1000, 1001, "ann", false));
        check(ids(4711, 1), None, USERS, &account(4711, 1, "user 4711", false));
    }

    #[test]
    fn root_alone_in_the_user_list_gets_advice() {
        let error = decide(ids(0, 0), None, "root:x:0:0::/:/bin/sh\npostgres:x:0:0::/:\n");
        let error = error.unwrap_err();
        assert!(matches!(error, PostgresError::NoUnprivilegedUser), "{error}");
        assert!(error.to_string().contains("useradd"), "{error}");
    }

    #[test]
    fn a_cluster_of_somebody_else_or_of_root_is_not_touched() {
        for (process, owner) in [(ids(1000, 1001), 101), (ids(0, 0), 0), (ids(1000, 1001), 0)] {
            let error = decide(process, Some(owned(ids(owner, owner))), USERS).unwrap_err();
            assert!(matches!(error, PostgresError::WrongOwner { .. }), "{error}");
            assert!(error.to_string().contains("/data/postgres"), "{error}");
        }
    }

    #[test]
    fn the_first_closed_folder_on_the_way_is_named() {
        let top = tempfile::tempdir().unwrap();
        let closed = top.path().join("closed");
        std::fs::create_dir_all(closed.join("inner")).unwrap();
        let allow = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        allow(top.path(), 0o755);
        allow(&closed, 0o700);
        let stranger = account(4_000_000, 4_000_000, "stranger", true);
        let missing = closed.join("inner/not/there");
        let named = closed.canonicalize().unwrap();
        assert_eq!(obstacle(&missing, &stranger), Some(named));
        allow(&closed, 0o711);
        assert_eq!(obstacle(&missing, &stranger), None);
        allow(&closed, 0o710);
        let group = std::fs::metadata(&closed).unwrap().gid();
        assert_eq!(obstacle(&missing, &account(4_000_000, group, "friend", true)), None);
        allow(&closed, 0o000);
        assert_eq!(obstacle(&missing, &account(4_000_000, group, "we", false)), None);
        allow(&closed, 0o700);
    }
}
