//! Directory of a private cluster: claimed by one process at a time, filled once.
//!
//! A new cluster is made in `postgres.new` and renamed when it is complete, so an interrupted start
//! leaves no incomplete cluster.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::account::{self, Account};
use super::binaries::Binaries;
use super::{Options, PostgresError, files, random_hex};

/// Role that owns a private cluster.
pub(super) const OWNER: &str = "postgres";

const POLL: Duration = Duration::from_millis(100);

/// Cluster directory, claimed for as long as this value lives.
#[derive(Debug)]
pub(super) struct Cluster {
    /// Directory that holds the cluster, its password and its lock.
    pub(super) data: PathBuf,
    /// Directory of the cluster itself.
    pub(super) dir: PathBuf,
    pub(super) account: Account,
    _lock: File,
}

impl Cluster {
    /// Creates the directory if necessary, and waits until no other process uses it: a server
    /// outlives its starter for a moment.
    pub(super) fn claim(options: &Options) -> Result<Self, PostgresError> {
        let data = std::path::absolute(&options.data)
            .map_err(PostgresError::io("finding", &options.data))?;
        let exists = in_use(&data.join("postgres"))?;
        let account = Account::choose(exists.then(|| data.join("postgres")).as_deref())?;
        // The server's user has to pass through, and needs to see nothing.
        files::make_dirs(&data, if account.switches_user { 0o711 } else { 0o700 })?;
        let data = data.canonicalize().map_err(PostgresError::io("finding", &data))?;
        if options.ephemeral {
            account.give_ownership(&data)?;
        }
        if let Some(obstacle) = account::obstacle(&data, &account) {
            return Err(PostgresError::Unreachable { path: data, obstacle, user: account.name });
        }
        let mut tries = options.predecessor_timeout.as_millis() / POLL.as_millis();
        let lock = lock(&data, &mut tries)?;
        let dir = data.join("postgres");
        await_predecessor(&data, &dir, &mut tries)?;
        Ok(Self { data, dir, account, _lock: lock })
    }

    /// Major version that made the cluster, if there is one yet.
    pub(super) fn major(&self) -> Result<Option<u32>, PostgresError> {
        if !in_use(&self.dir)? {
            return Ok(None);
        }
        let not_a_cluster = || PostgresError::NotACluster { path: self.dir.clone() };
        let text =
            std::fs::read_to_string(self.dir.join("PG_VERSION")).map_err(|_| not_a_cluster())?;
        let major = text.trim().split('.').next().and_then(|major| major.parse().ok());
        major.map(Some).ok_or_else(not_a_cluster)
    }

    /// Fills the directory if there is no cluster in it.
    pub(super) fn initialise(
        &self,
        binaries: &Binaries,
        options: &Options,
    ) -> Result<(), PostgresError> {
        if self.major()?.is_some() {
            return Ok(());
        }
        let new = self.data.join("postgres.new");
        files::remove(&new)?;
        let made = self.create_or_copy(&new, binaries, options);
        if made.is_err() {
            // The first error is reported even if the removal fails too. A full disk is relieved by
            // the removal.
            let _ = files::remove(&new);
        }
        files::write_private(&self.password_file(), &made?)?;
        std::fs::rename(&new, &self.dir).map_err(PostgresError::io("renaming", &new))?;
        let synced = File::open(&self.data).and_then(|folder| folder.sync_all());
        synced.map_err(PostgresError::io("syncing", &self.data))
    }

    /// Makes or copies a cluster. Returns its password.
    fn create_or_copy(
        &self,
        new: &Path,
        binaries: &Binaries,
        options: &Options,
    ) -> Result<String, PostgresError> {
        let Some(templates) = &options.templates else {
            return self.initdb(new, binaries, options);
        };
        let template = templates.join(format!("postgres-{}", binaries.version.text));
        if let Ok(password) = std::fs::read_to_string(template.join("password")) {
            files::copy_tree(&template.join("cluster"), new, &self.account)?;
            return Ok(password);
        }
        let password = self.initdb(new, binaries, options)?;
        let draft = templates.join(format!(".{}", random_hex::<8>()));
        let kept = self.save_template(new, &password, &draft);
        // Another process may have made the template first. Without one, the next cluster only
        // takes longer.
        if kept.is_err() || std::fs::rename(&draft, &template).is_err() {
            let _ = files::remove(&draft);
        }
        Ok(password)
    }

    fn save_template(&self, new: &Path, password: &str, draft: &Path) -> Result<(), PostgresError> {
        files::make_dirs(draft, 0o700)?;
        files::copy_tree(new, &draft.join("cluster"), &self.account)?;
        files::write_private(&draft.join("password"), password)
    }

    fn initdb(
        &self,
        new: &Path,
        binaries: &Binaries,
        options: &Options,
    ) -> Result<String, PostgresError> {
        files::make_private_dir(new, &self.account)?;
        let password = random_hex::<32>();
        let password_file = self.data.join("postgres.new.password");
        files::write_private(&password_file, &password)?;
        self.account.give_ownership(&password_file)?;
        let program = binaries.dir.join("initdb");
        let mut command = self.account.command(&program);
        command.arg("--pgdata").arg(new).arg("--pwfile").arg(&password_file);
        command.arg("--username").arg(OWNER);
        command.args(["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"]);
        command.args(["--data-checksums", "--no-instructions"]);
        if !options.fsync {
            command.arg("--no-sync");
        }
        let output = command.output();
        files::remove(&password_file)?;
        let output = output.map_err(PostgresError::io("running", &program))?;
        if output.status.success() {
            return Ok(password);
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(PostgresError::recognise(&said, &self.dir)
            .unwrap_or(PostgresError::Initdb { cluster: self.dir.clone(), output: said }))
    }

    /// Password of the role [`OWNER`].
    pub(super) fn password(&self) -> Result<String, PostgresError> {
        let path = self.password_file();
        match std::fs::read_to_string(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => {
                Err(PostgresError::PasswordMissing { path })
            }
            read => read.map_err(PostgresError::io("reading", path)),
        }
    }

    fn password_file(&self) -> PathBuf {
        self.data.join("postgres.password")
    }
}

/// Whether the directory has any entry. An unreadable directory counts as used.
fn in_use(dir: &Path) -> Result<bool, PostgresError> {
    match std::fs::read_dir(dir) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
        Err(e) if e.kind() == ErrorKind::PermissionDenied && dir.exists() => Ok(true),
        Err(e) => Err(PostgresError::io("reading", dir)(e)),
    }
}

/// Takes a file lock, which the system releases when the process ends in any way.
fn lock(data: &Path, tries: &mut u128) -> Result<File, PostgresError> {
    let path = data.join("postgres.lock");
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(PostgresError::io("opening", &path))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if *tries > 0 => pause(tries),
            Err(TryLockError::WouldBlock) => {
                let data = data.to_owned();
                return Err(PostgresError::AlreadyRunning { data, pid: None });
            }
            Err(TryLockError::Error(e)) => return Err(PostgresError::io("locking", &path)(e)),
        }
    }
}

/// Waits until a server whose starter is gone has stopped as well. Removes the PID file of one that
/// left no other trace, since its process id may have been reused.
fn await_predecessor(data: &Path, dir: &Path, tries: &mut u128) -> Result<(), PostgresError> {
    let note = dir.join("postmaster.pid");
    while let Ok(text) = std::fs::read_to_string(&note) {
        let pid = text.lines().next().and_then(|line| line.trim().parse().ok());
        match pid {
            Some(pid) if is_server(pid, dir) && *tries > 0 => pause(tries),
            Some(pid) if is_server(pid, dir) => {
                let data = data.to_owned();
                return Err(PostgresError::AlreadyRunning { data, pid: u32::try_from(pid).ok() });
            }
            // Processes of a killed server may outlive it for a moment. The PID file keeps another
            // server away from the memory and files that they share.
            Some(_) | None if has_processes(dir) && *tries > 0 => pause(tries),
            Some(_) | None if has_processes(dir) => {
                return Err(PostgresError::AlreadyRunning { data: data.to_owned(), pid: None });
            }
            Some(_) | None => return files::remove(&note),
        }
    }
    Ok(())
}

/// Whether the process lives and, as far as can be seen, works in the cluster's directory, as every
/// server process does.
fn is_server(pid: i32, dir: &Path) -> bool {
    let Some(pid) = rustix::process::Pid::from_raw(pid) else { return false };
    let gone = rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH);
    let folder = std::fs::read_link(format!("/proc/{}/cwd", pid.as_raw_nonzero()));
    !gone && folder.map_or(true, |folder| folder == dir)
}

/// Whether any process works in the cluster's directory, as far as can be seen.
fn has_processes(dir: &Path) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    let folder = |process: std::fs::DirEntry| std::fs::read_link(process.path().join("cwd")).ok();
    processes.flatten().filter_map(folder).any(|folder| folder == dir)
}

fn pause(tries: &mut u128) {
    *tries -= 1;
    std::thread::sleep(POLL);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;

    fn impatient(data: &Path) -> Options {
        let predecessor_timeout = Duration::from_millis(200);
        Options { predecessor_timeout, ..Options::new(data, Environment::read()) }
    }

    fn open_folder() -> tempfile::TempDir {
        use std::os::unix::fs::PermissionsExt as _;
        let top = tempfile::tempdir().unwrap();
        std::fs::set_permissions(top.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        top
    }

    #[test]
    fn two_claims_at_once_are_refused_and_one_after_another_is_fine() {
        let data = open_folder();
        let first = Cluster::claim(&impatient(data.path())).unwrap();
        let error = Cluster::claim(&impatient(data.path())).unwrap_err();
        assert!(matches!(error, PostgresError::AlreadyRunning { .. }), "{error}");
        drop(first);
        Cluster::claim(&impatient(data.path())).unwrap();
    }

    #[test]
    fn the_note_of_a_server_long_gone_is_cleared_away() {
        let data = open_folder();
        let dir = data.path().canonicalize().unwrap();
        let note = dir.join("postmaster.pid");
        // The id of a living process that works elsewhere; an unused id; no number.
        for text in [format!("{}\n/x\n", std::process::id()), "2147483646\n".into(), "?".into()] {
            std::fs::write(&note, &text).unwrap();
            await_predecessor(&dir, &dir, &mut 0).unwrap();
            assert!(!note.exists(), "{text}");
        }
    }

    #[test]
    fn a_server_that_lives_on_is_waited_for_and_then_named() {
        let data = open_folder();
        let dir = data.path().canonicalize().unwrap();
        let mut server = std::process::Command::new("sleep");
        let mut server = server.arg("60").current_dir(&dir).spawn().unwrap();
        std::fs::write(dir.join("postmaster.pid"), format!("{}\n", server.id())).unwrap();
        let error = await_predecessor(&dir, &dir, &mut 2).unwrap_err();
        assert!(error.to_string().contains(&format!("number {}", server.id())), "{error}");
        server.kill().unwrap();
        server.wait().unwrap();
        await_predecessor(&dir, &dir, &mut 0).unwrap();
    }

    #[test]
    fn what_is_left_of_a_killed_server_is_waited_for() {
        let data = open_folder();
        let dir = data.path().canonicalize().unwrap();
        let mut left = std::process::Command::new("sleep");
        let mut left = left.arg("60").current_dir(&dir).spawn().unwrap();
        let note = dir.join("postmaster.pid");
        std::fs::write(&note, "2147483646\n").unwrap();
        let mut tries = 3;
        let error = await_predecessor(&dir, &dir, &mut tries).unwrap_err();
        assert!(matches!(error, PostgresError::AlreadyRunning { .. }), "{error}");
        assert_eq!(tries, 0, "it was waited for");
        assert!(note.exists(), "and is not overrun");
        left.kill().unwrap();
        left.wait().unwrap();
        await_predecessor(&dir, &dir, &mut 3).unwrap();
        assert!(!note.exists());
    }

    #[test]
    fn a_folder_with_something_else_in_it_is_left_alone() {
        let data = open_folder();
        let cluster = Cluster::claim(&impatient(data.path())).unwrap();
        std::fs::create_dir(&cluster.dir).unwrap();
        assert_eq!(cluster.major().unwrap(), None);
        std::fs::write(cluster.dir.join("letter.txt"), "dear").unwrap();
        let error = cluster.major().unwrap_err();
        assert!(matches!(error, PostgresError::NotACluster { .. }), "{error}");
        std::fs::write(cluster.dir.join("PG_VERSION"), "9.6\n").unwrap();
        assert_eq!(cluster.major().unwrap(), Some(9));
        let error = cluster.password().unwrap_err();
        assert!(matches!(error, PostgresError::PasswordMissing { .. }), "{error}");
    }

    #[test]
    fn a_user_without_a_name_is_asked_to_get_one() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED: only root can be a user that is not there");
            return;
        }
        let data = open_folder();
        let options = impatient(data.path());
        let mut cluster = Cluster::claim(&options).unwrap();
        let binaries = crate::binaries::search(&options, &cluster.account).unwrap();
        let (uid, gid) = (4_711_000, 4_711_000);
        cluster.account = Account { uid, gid, name: "user 4711000".into(), switches_user: true };
        let error = cluster.initialise(&binaries.found[0], &options).unwrap_err();
        assert!(matches!(error, PostgresError::NamelessUser), "{error}");
        assert!(!cluster.dir.exists() && !cluster.data.join("postgres.new").exists());
    }
}
