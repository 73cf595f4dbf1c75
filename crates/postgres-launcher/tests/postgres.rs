//! The PostgreSQL launcher with real servers: its guarantees and its errors.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use postgres_launcher::{Environment, Options, Postgres, PostgresError, obtain};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Directory that the server's user can enter.
fn open_folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(dir.path(), open).expect("the mode of our own folder");
    dir
}

/// Options that ignore `DATABASE_URL` and wait only briefly for another server.
fn options(data: &Path) -> Options {
    let mut options = Options::new(data, Environment::read());
    options.database_url = None;
    options.fsync = false;
    options.predecessor_timeout = Duration::from_millis(300);
    options
}

async fn ask(url: &str, query: &str) -> Result<String, sqlx::Error> {
    let mut connection = PgConnection::connect(url).await?;
    sqlx::query_scalar(AssertSqlSafe(query)).fetch_one(&mut connection).await
}

async fn execute(url: &str, statement: &str) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect(url).await?;
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await?;
    Ok(())
}

async fn refused(options: &Options) -> PostgresError {
    match obtain(options).await {
        Ok(postgres) => panic!("got {}", postgres.describe()),
        Err(error) => error,
    }
}

#[tokio::test]
async fn a_private_cluster_is_as_promised() {
    let data = open_folder();
    let durable = Options { fsync: true, ..options(&data.path().join("deep/er")) };
    let postgres = obtain(&durable).await.unwrap();
    let url = postgres.admin_url();
    for (setting, then) in [
        ("listen_addresses", ""),
        ("fsync", "on"),
        ("full_page_writes", "on"),
        ("synchronous_commit", "on"),
        ("data_checksums", "on"),
        ("server_encoding", "UTF8"),
        ("TimeZone", "UTC"),
        ("unix_socket_permissions", "0700"),
    ] {
        assert_eq!(ask(&url, &format!("SHOW {setting}")).await.unwrap(), then, "{setting}");
    }
    let collate = "SELECT datcollate::text FROM pg_database WHERE datname = 'sabacc'";
    assert_eq!(ask(&url, collate).await.unwrap(), "C");
    let cluster = data.path().join("deep/er/postgres");
    assert_eq!(std::fs::metadata(&cluster).unwrap().mode() & 0o777, 0o700);
    let password = std::fs::metadata(data.path().join("deep/er/postgres.password")).unwrap();
    assert_eq!(password.mode() & 0o777, 0o600);
    let description = postgres.describe();
    assert!(
        description.contains("PostgreSQL 1") && description.contains("deep/er/postgres"),
        "{description}"
    );
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn roles_need_their_passwords_and_data_outlives_the_server() {
    let data = open_folder();
    let postgres = obtain(&options(data.path())).await.unwrap();
    let setup = "CREATE ROLE table_writer LOGIN PASSWORD 'it''s s3cret'; CREATE TABLE kept (n int)";
    execute(&postgres.admin_url(), setup).await.unwrap();
    let user = "SELECT current_user::text";
    let right = postgres.url_for("table_writer", "it's s3cret");
    assert_eq!(ask(&right, user).await.unwrap(), "table_writer");
    for wrong in [("table_writer", "guess"), ("table_writer", ""), ("postgres", "postgres")] {
        let error = ask(&postgres.url_for(wrong.0, wrong.1), user).await.unwrap_err();
        assert!(error.to_string().contains("password"), "{error}");
    }
    postgres.stop().await.unwrap();
    let postgres = obtain(&options(data.path())).await.unwrap();
    execute(&postgres.admin_url(), "INSERT INTO kept VALUES (1)").await.unwrap();
    assert_eq!(ask(&right, user).await.unwrap(), "table_writer");
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn a_long_data_folder_serves_and_leaves_no_socket_folder() {
    let top = open_folder();
    let postgres = obtain(&options(&top.path().join("l".repeat(120)))).await.unwrap();
    let dirs = ask(&postgres.admin_url(), "SHOW unix_socket_directories").await.unwrap();
    let sockets = PathBuf::from(dirs.trim_matches('"'));
    assert!(sockets.is_dir() && sockets.as_os_str().len() < 60, "{}", sockets.display());
    postgres.stop().await.unwrap();
    assert!(!sockets.exists(), "{} is left", sockets.display());
}

#[tokio::test]
async fn an_odd_data_folder_serves() {
    let top = open_folder();
    let odd = options(&top.path().join("with space, \"quotes\" 'n' ünïcode"));
    let postgres = obtain(&odd).await.unwrap();
    assert_eq!(ask(&postgres.admin_url(), "SELECT 'up'").await.unwrap(), "up");
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn a_folder_in_use_is_refused() {
    let data = open_folder();
    let postgres = obtain(&options(data.path())).await.unwrap();
    let error = refused(&options(data.path())).await;
    assert!(matches!(error, PostgresError::AlreadyRunning { .. }), "{error}");
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn data_of_another_major_version_is_left_alone() {
    let data = open_folder();
    obtain(&options(data.path())).await.unwrap().stop().await.unwrap();
    let version = data.path().join("postgres/PG_VERSION");
    std::fs::write(&version, "13\n").unwrap();
    let error = refused(&options(data.path())).await;
    assert!(matches!(error, PostgresError::VersionMismatch { made_by: 13, .. }), "{error}");
}

#[tokio::test]
async fn a_lost_password_is_said_to_be_lost() {
    let data = open_folder();
    obtain(&options(data.path())).await.unwrap().stop().await.unwrap();
    std::fs::remove_file(data.path().join("postgres.password")).unwrap();
    let error = refused(&options(data.path())).await;
    assert!(matches!(error, PostgresError::PasswordMissing { .. }), "{error}");
}

#[tokio::test]
async fn what_a_server_says_when_it_cannot_start_is_passed_on() {
    let data = open_folder();
    obtain(&options(data.path())).await.unwrap().stop().await.unwrap();
    std::fs::remove_file(data.path().join("postgres/global/pg_control")).unwrap();
    let error = refused(&options(data.path())).await;
    assert!(matches!(error, PostgresError::Start { .. }), "{error}");
    assert!(error.to_string().contains("pg_control"), "{error}");
}

#[tokio::test]
async fn without_any_postgresql_every_way_and_place_is_listed() {
    let data = open_folder();
    let mut bare = options(data.path());
    bare.pg_bin = None;
    bare.environment = Environment {
        path: "/nowhere/bin".into(),
        packaged: "/nowhere/postgresql".into(),
        cache_home: Some(data.path().join("cache")),
        ..Environment::default()
    };
    let error = refused(&bare).await.to_string();
    for part in [
        "DATABASE_URL",
        "SABACC_PG_BIN",
        "--fetch-postgres",
        "PATH: nothing there",
        "/nowhere/postgresql/*/bin: nothing there",
        "fetched copy in",
    ] {
        assert!(error.contains(part), "{part} is missing in: {error}");
    }
}

#[tokio::test]
async fn a_given_database_is_used_and_left_running() {
    let data = open_folder();
    let postgres = obtain(&options(data.path())).await.unwrap();
    execute(&postgres.admin_url(), "CREATE ROLE guest LOGIN PASSWORD 'g'").await.unwrap();
    let given = Options { database_url: Some(postgres.admin_url()), ..options(data.path()) };
    let other = obtain(&given).await.unwrap();
    assert_eq!(other.admin_url(), postgres.admin_url());
    assert!(other.describe().contains("from DATABASE_URL"), "{}", other.describe());
    let user = ask(&other.url_for("guest", "g"), "SELECT current_user::text").await.unwrap();
    assert_eq!(user, "guest");
    other.stop().await.unwrap();
    assert_eq!(ask(&postgres.admin_url(), "SELECT 'up'").await.unwrap(), "up");
    postgres.stop().await.unwrap();
}

/// Directory of the programs that the launcher finds here.
async fn real_programs() -> PathBuf {
    let data = open_folder();
    let postgres = obtain(&options(data.path())).await.expect("this machine has PostgreSQL");
    let url = postgres.admin_url();
    let dir = ask(&url, "SELECT setting FROM pg_config WHERE name = 'BINDIR'").await;
    postgres.stop().await.expect("it stops");
    PathBuf::from(dir.expect("a server knows its own folder"))
}

#[tokio::test]
async fn programs_behind_a_wrapper_serve_and_stop() {
    let top = open_folder();
    let real = real_programs().await;
    let wrappers = top.path().join("wrappers");
    std::fs::create_dir(&wrappers).unwrap();
    for program in ["postgres", "initdb"] {
        let path = wrappers.join(program);
        // Runs the program as a child: a signal to the wrapper does not reach it.
        let script = format!("#!/bin/sh\n'{}/{program}' \"$@\"\nexit $?\n", real.display());
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let data = top.path().join("data");
    let wrapped = Options { pg_bin: Some(wrappers), ..options(&data) };
    let postgres = obtain(&wrapped).await.unwrap();
    assert_eq!(ask(&postgres.admin_url(), "SELECT 'up'").await.unwrap(), "up");
    postgres.stop().await.unwrap();
    assert!(!data.join("postgres/postmaster.pid").exists());
}

#[tokio::test]
async fn a_folder_the_servers_user_cannot_reach_is_named() {
    if !is_root() {
        eprintln!("SKIPPED: only root hands the server to another user");
        return;
    }
    let top = open_folder();
    let closed = top.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o700)).unwrap();
    let error = refused(&options(&closed.join("data"))).await;
    let PostgresError::Unreachable { obstacle, .. } = &error else { panic!("{error}") };
    assert_eq!(obstacle, &closed.canonicalize().unwrap());
    assert!(error.to_string().contains("chmod o+x"), "{error}");
}

#[tokio::test]
async fn a_full_disk_is_called_that() {
    let top = open_folder();
    let disk = top.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount = |size: &str| {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size},mode=755"), "tmpfs"]).arg(&disk);
        mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    // The first mount is full while the cluster is made, the second while the server runs.
    if !mount("8m") {
        eprintln!("SKIPPED: it takes the right to mount a small disk");
        return;
    }
    let while_made = refused(&options(&disk.join("data"))).await;
    let unmounted = Command::new("umount").arg(&disk).status().unwrap();
    assert!(unmounted.success() && mount("64m"));
    let made = obtain(&options(&disk.join("data"))).await;
    let stopped = made.unwrap().stop().await;
    // Fills the rest, so that the server cannot even write its PID file.
    let filled = std::fs::write(disk.join("filler"), vec![0; 64 << 20]);
    let while_started = refused(&options(&disk.join("data"))).await;
    assert!(Command::new("umount").arg(&disk).status().unwrap().success());
    assert!(matches!(while_made, PostgresError::DiskFull { .. }), "{while_made}");
    assert!(stopped.is_ok() && filled.is_err());
    assert!(matches!(while_started, PostgresError::DiskFull { .. }), "{while_started}");
}

/// Body of the processes that other tests start, in another environment or as another user, and
/// kill. Not a test itself.
#[tokio::test]
#[ignore = "a part of other tests"]
#[expect(clippy::disallowed_methods, reason = "a test hands a folder to its other process")]
async fn serve_until_killed() {
    let data = std::env::var("TEST_DATA").unwrap();
    let postgres: Postgres = obtain(&options(Path::new(&data))).await.unwrap();
    println!("\nserving {}", postgres.admin_url());
    tokio::time::sleep(Duration::from_secs(120)).await;
}

/// Starts a process that runs a cluster in `data`. Returns it with the cluster's address.
fn serve_apart(program: &Path, data: &Path, prepare: impl Fn(&mut Command)) -> (Child, String) {
    let mut command = Command::new(program);
    command.args(["serve_until_killed", "--exact", "--ignored", "--nocapture"]);
    command.env("TEST_DATA", data).stdout(Stdio::piped());
    prepare(&mut command);
    let mut child = command.spawn().expect("the test program runs");
    let output = child.stdout.take().expect("it was asked for");
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    let url = lines.find_map(|line| line.strip_prefix("serving ").map(str::to_owned));
    (child, url.expect("the other process tells where it serves"))
}

fn this_program() -> PathBuf {
    std::env::current_exe().expect("a running program has a file")
}

#[tokio::test]
async fn a_cluster_ends_with_a_killed_process_and_starts_again_at_once() {
    let data = open_folder();
    let (mut child, url) = serve_apart(&this_program(), data.path(), |_| ());
    execute(&url, "CREATE TABLE kept (n int)").await.unwrap();
    // A connected client does not keep the server running.
    let mut client = PgConnection::connect(&url).await.unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let patient = Options { predecessor_timeout: Duration::from_secs(20), ..options(data.path()) };
    let postgres = obtain(&patient).await.unwrap();
    assert!(client.ping().await.is_err());
    execute(&postgres.admin_url(), "INSERT INTO kept VALUES (1)").await.unwrap();
    postgres.stop().await.unwrap();
    assert!(!data.path().join("postgres/postmaster.pid").exists());
}

#[tokio::test]
async fn the_callers_locale_and_variables_change_nothing() {
    let data = open_folder();
    let (mut child, url) = serve_apart(&this_program(), data.path(), |command| {
        for name in ["LANG", "LC_ALL", "LC_MESSAGES", "TZ", "PGTZ", "PGDATA", "PGHOST", "PGPORT"] {
            command.env(name, "garbage");
        }
        command.env("PGSSLMODE", "verify-full").env("PGUSER", "garbage");
    });
    assert_eq!(ask(&url, "SHOW lc_messages").await.unwrap(), "C");
    assert_eq!(ask(&url, "SHOW TimeZone").await.unwrap(), "UTC");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn an_ordinary_user_runs_a_cluster_too() {
    if !is_root() {
        eprintln!("SKIPPED: all the other tests run as an ordinary user already");
        return;
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap();
    let nobody: Vec<&str> =
        users.lines().find(|line| line.starts_with("nobody:")).unwrap().split(':').collect();
    let (uid, gid) = (nobody[2].parse().unwrap(), nobody[3].parse().unwrap());
    let top = open_folder();
    let data = top.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::os::unix::fs::chown(&data, Some(uid), Some(gid)).unwrap();
    // That user may not be able to enter the target directory, but can run a copy.
    let program = top.path().join("program");
    std::fs::copy(this_program(), &program).unwrap();
    let (mut child, url) = serve_apart(&program, &data, |command| {
        command.uid(uid).gid(gid).current_dir("/");
    });
    assert_eq!(ask(&url, "SELECT 'up'").await.unwrap(), "up");
    assert_eq!(std::fs::metadata(data.join("postgres")).unwrap().uid(), uid);
    child.kill().unwrap();
    child.wait().unwrap();
    // Root takes over that user's cluster and runs it as that user.
    let patient = Options { predecessor_timeout: Duration::from_secs(20), ..options(&data) };
    let postgres = obtain(&patient).await.unwrap();
    assert!(postgres.describe().contains("run by nobody"), "{}", postgres.describe());
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn a_fetched_copy_serves_and_is_found_again() {
    let top = open_folder();
    let mut bare = options(&top.path().join("data"));
    bare.pg_bin = None;
    bare.fetch = true;
    bare.environment = Environment {
        packaged: "/nowhere".into(),
        cache_home: Some(top.path().join("cache")),
        ..Environment::default()
    };
    let postgres = match obtain(&bare).await {
        Ok(postgres) => postgres,
        Err(PostgresError::Fetch { why }) => {
            eprintln!("SKIPPED: nothing can be fetched here: {why}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    assert!(postgres.describe().starts_with("PostgreSQL 18"), "{}", postgres.describe());
    execute(&postgres.admin_url(), "CREATE TABLE kept (n int)").await.unwrap();
    postgres.stop().await.unwrap();
    let again = obtain(&Options { fetch: false, ..bare }).await.unwrap();
    execute(&again.admin_url(), "INSERT INTO kept VALUES (1)").await.unwrap();
    again.stop().await.unwrap();
    let left = std::fs::read_dir(top.path().join("cache/sabacc")).unwrap().count();
    assert_eq!(left, 1, "a draft is left in the cache");
}
