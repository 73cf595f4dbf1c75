//! Command line of the program: its help, and its messages about missing and wrong settings.

use std::path::Path;
use std::process::{Command, Output};

use chassis::auth::TokenIssuer;
use system::entropy::SystemEntropy;

fn run(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sabacc-table"));
    command.args(arguments).env_clear().env("SABACC_LISTEN", "127.0.0.1:0");
    command.envs(variables.iter().copied()).output().expect("the program is built")
}

fn refused(arguments: &[&str], variables: &[(&str, &str)], words: &[&str]) {
    let Output { status, stdout: _, stderr } = run(arguments, variables);
    let said = String::from_utf8_lossy(&stderr);
    assert_eq!(status.code(), Some(1), "{said}");
    for word in words {
        assert!(said.contains(word), "{word} is missing in: {said}");
    }
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn it_says_what_it_is() {
    let Output { status, stdout, stderr: _ } = run(&["--help"], &[]);
    let said = String::from_utf8_lossy(&stdout);
    assert!(status.success() && said.contains("tables of a card room"), "{said}");
    assert!(said.contains("--config") && said.contains("SABACC_"), "{said}");
}

/// Path of a file with the key of players' keys; each test has its own.
fn people_key(of: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{of}.key"));
    std::fs::write(&path, "a5".repeat(32)).expect("the folder is there");
    path.display().to_string()
}

#[test]
fn what_is_missing_is_named() {
    let all = [
        "SABACC_PEOPLE_KEY",
        "SABACC_DATABASE_URL",
        "SABACC_ORIGIN",
        "SABACC_LOG_KEY",
        "SABACC_ISSUER_KEYS",
        "SABACC_SIGNING_KEY",
        "SABACC_DEALER_URL",
        "SABACC_WALLET_URL",
    ];
    refused(&[], &[], &all);
    let key = people_key("missing");
    refused(&[], &[("SABACC_PEOPLE_KEY", &key)], &all[1..]);
}

#[test]
fn a_database_that_does_not_answer_is_reported_without_its_password() {
    let database = ("SABACC_DATABASE_URL", "postgres://somebody:hunter2@127.0.0.1:1/room");
    let key = people_key("database");
    let log_key = Path::new(env!("CARGO_TARGET_TMPDIR")).join("database.pem");
    let pair = TokenIssuer::generate("log", &SystemEntropy);
    std::fs::write(&log_key, pair.private_pem().expose()).expect("the folder is there");
    let log_key = log_key.display().to_string();
    let public = Path::new(env!("CARGO_TARGET_TMPDIR")).join("database.pub.pem");
    std::fs::write(&public, pair.public_pem()).expect("the folder is there");
    let public = public.display().to_string();
    let variables = [
        database,
        ("SABACC_PEOPLE_KEY", &key[..]),
        ("SABACC_ORIGIN", "test/table"),
        ("SABACC_LOG_KEY", &log_key),
        ("SABACC_SIGNING_KEY", &log_key),
        ("SABACC_ISSUER_KEYS", &public),
        ("SABACC_DEALER_URL", "http://127.0.0.1:1"),
        ("SABACC_WALLET_URL", "http://127.0.0.1:1"),
    ];
    refused(&[], &variables, &["the database cannot be reached", "refused"]);
}

#[test]
fn all_settings_that_are_wrong_are_named_at_once() {
    let variables = [("SABACC_LISTEN", "here"), ("SABACC_DEALER_URL", "dealer:7402")];
    refused(&[], &variables, &["SABACC_LISTEN", "SABACC_DEALER_URL", "http://HOST:PORT"]);
    refused(&[], &[("SABACC_WALET_URL", "http://w:1")], &["did you mean SABACC_WALLET_URL?"]);
    refused(&["--config", "/nowhere/table.toml"], &[], &["/nowhere/table.toml", "cannot be read"]);
}
