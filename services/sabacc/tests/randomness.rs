//! `sabacc audit randomness` as a program, without a room: its exit code is reliable.

use std::process::Command;

/// Returns the exit code and the standard output.
fn audit(arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sabacc"));
    command.args(["audit", "randomness"]).args(arguments);
    let output = command.output().expect("the program was built for this test");
    (output.status.code(), String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn a_fair_dealer_ends_well_and_too_few_hands_do_not() {
    let (code, output) = audit(&["--hands", "400"]);
    assert_eq!(code, Some(0), "{output}");
    assert!(output.ends_with("every test passed\n"), "{output}");
    let (code, output) = audit(&["--hands", "2", "--seed", "7", "--json"]);
    assert_eq!(code, Some(1), "{output}");
    assert!(
        output.contains(r#""first_seed":7"#) && output.contains(r#""passed":false"#),
        "{output}"
    );
}

#[test]
fn numbers_out_of_range_are_refused() {
    for arguments in [["--hands", "0"], ["--hands", "1000001"], ["--seed", "18446744073709551615"]]
    {
        assert_eq!(audit(&arguments).0, Some(2), "{arguments:?}");
    }
}
