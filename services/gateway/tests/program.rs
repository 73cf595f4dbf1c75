//! The program's help text, and its messages about missing and wrong settings.

use std::process::{Command, Output};

use chassis::auth::TokenIssuer;
use system::entropy::SystemEntropy;

fn run(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sabacc-gateway"));
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
}

#[test]
fn it_says_what_it_is() {
    let Output { status, stdout, stderr: _ } = run(&["--help"], &[]);
    let said = String::from_utf8_lossy(&stdout);
    assert!(status.success() && said.contains("public edge"), "{said}");
    assert!(said.contains("--config") && said.contains("SABACC_"), "{said}");
}

#[test]
fn what_is_missing_is_named_at_once() {
    let all = ["SABACC_TABLE_URL", "SABACC_WALLET_URL", "SABACC_ISSUER_KEYS"];
    refused(&[], &[], &all);
    let table = ("SABACC_TABLE_URL", "http://127.0.0.1:1");
    refused(&[], &[table], &all[1..]);
    let said = run(&[], &[table]).stderr;
    assert!(!String::from_utf8_lossy(&said).contains(all[0]), "it is there");
}

#[test]
fn all_settings_that_are_wrong_are_named_at_once() {
    let variables = [("SABACC_LISTEN", "here"), ("SABACC_ISSUER_KEYS", "everybody=/nowhere.pem")];
    refused(&[], &variables, &["SABACC_LISTEN", "SABACC_ISSUER_KEYS", "ADDRESS:PORT"]);
    let keys = [("SABACC_ISSUER_KEYS", "player=/nowhere/door.pem")];
    refused(&[], &keys, &["/nowhere/door.pem", "cannot be read"]);
    refused(&["--config", "/nowhere/edge.toml"], &[], &["/nowhere/edge.toml", "cannot be read"]);
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let key = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("issuer.pub.pem");
    let issuer = TokenIssuer::generate("door", &SystemEntropy);
    std::fs::write(&key, issuer.public_pem()).expect("the folder is there");
    let key = key.display().to_string();
    let variables = [
        ("SABACC_LISTEN", address.as_str()),
        ("SABACC_TABLE_URL", "http://127.0.0.1:1"),
        ("SABACC_WALLET_URL", "http://127.0.0.1:1"),
        ("SABACC_ISSUER_KEYS", &key),
    ];
    refused(&[], &variables, &[&address, "in use"]);
}
