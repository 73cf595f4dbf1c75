//! The program as an operator meets it: what it says of itself, and of a configuration it cannot use.

use std::process::{Command, Output};

fn program(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sabacc-table"))
        .args(arguments)
        .env_clear()
        .envs(variables.iter().copied())
        .output()
        .expect("the program starts")
}

/// Fails, and says each of these.
fn refuses(arguments: &[&str], variables: &[(&str, &str)], says: &[&str]) {
    let output = program(arguments, variables);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    for words in says {
        assert!(said.contains(words), "{words:?} is not in: {said}");
    }
}

#[test]
fn help_says_what_it_is() {
    let output = program(&["--help"], &[]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("card room"));
}

#[test]
fn wrong_settings_are_named_with_what_is_allowed() {
    refuses(&[], &[("SABACC_LISTEN", "nowhere")], &["SABACC_LISTEN", "ADDRESS:PORT"]);
    refuses(&[], &[("SABACC_LISTENN", "127.0.0.1:0")], &["SABACC_LISTENN", "no such setting"]);
    refuses(&["--config", "missing.toml"], &[], &["missing.toml"]);
}

#[test]
fn what_it_cannot_do_without_is_named() {
    refuses(&[], &[("SABACC_LISTEN", "127.0.0.1:0")], &["SABACC_DATABASE_URL"]);
}
