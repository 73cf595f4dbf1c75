//! `sabacc hand` as a program: its output and its exit code.

use std::path::Path;
use std::process::{Command, Output};

/// Runs the program in a folder, so that files have short names.
fn sabacc(folder: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_sabacc");
    let mut command = Command::new(program);
    command.current_dir(folder).args(["hand"]).args(arguments);
    command.output().expect("the program was built for this test")
}

/// Checks the exit code, and that one of the two outputs is empty; returns the other.
fn check(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = sabacc(folder, arguments);
    let out = String::from_utf8(output.stdout).expect("text");
    let error = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(code), "{out}{error}");
    let (said, silent) = if code == 0 { (out, error) } else { (error, out) };
    assert_eq!(silent, "");
    said
}

const DEFAULTS: [&str; 7] = ["simulate", "--players", "3", "--hands", "5", "--seed", "7"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_hands_replay_and_are_always_the_same() {
        let folder = tempfile::tempdir().unwrap();
        for variant in rules::ALL {
            let arguments = [&DEFAULTS[..], &["--variant", variant.id]].concat();
            let file = check(folder.path(), &arguments, 0);
            assert_eq!(check(folder.path(), &arguments, 0), file);
            std::fs::write(folder.path().join("x.shh"), &file).unwrap();
            let output = check(folder.path(), &["replay", "x.shh", "--json"], 0);
            assert_eq!(output.lines().count(), 5);
            for line in output.lines() {
                let report: serde_json::Value = serde_json::from_str(line).unwrap();
                assert_eq!(report["variant"], variant.id);
                assert_eq!(report["complete"], true);
                let carried = report.get("finishing_carried_pot").is_some();
                assert_eq!(carried, variant.has_carried_pot);
                assert!(report.get("next").is_none());
            }
            assert!(check(folder.path(), &["replay", "x.shh"], 0).contains("finishing stacks"));
        }
    }

    /// history/SPEC.md §10.3.
    #[test]
    fn a_hand_that_breaks_a_rule_ends_with_1_and_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = check(folder.path(), &[&DEFAULTS[..], &["--variant", "swg"]].concat(), 0);
        // Settlement of the third hand; the first two, which are correct, must not be printed
        // either.
        let at = file.match_indices("settlement = [").nth(2).unwrap().0;
        let (before, after) = file.split_at(at);
        let wrong = format!("{before}{}", after.replacen('[', "[\"rake 1\", ", 1));
        std::fs::write(folder.path().join("x.shh"), wrong).unwrap();
        for json in [&["replay", "x.shh"][..], &["replay", "x.shh", "--json"]] {
            let error = check(folder.path(), json, 1);
            assert!(error.starts_with("x.shh: hand 3, action 0: settlement line 1"), "{error}");
            assert_eq!(error.lines().count(), 1);
        }
        let wrong = file.replacen("p1 ", "p9 ", 1).replacen("d deal p1", "d deal p2", 1);
        std::fs::write(folder.path().join("x.shh"), wrong).unwrap();
        let error = check(folder.path(), &["replay", "x.shh"], 1);
        assert!(error.starts_with("x.shh: hand 1, action 1: `d deal "), "{error}");
    }

    #[test]
    fn what_is_no_history_ends_with_2() {
        let folder = tempfile::tempdir().unwrap();
        for (bytes, why) in [
            (&b"\xff"[..], "not UTF-8"),
            (b"shh = ", "not TOML"),
            (b"shh = 2", "`shh = 1` is missing"),
            (b"shh = 1", "the key `variant` is missing"),
            (b"shh = 1\nvariant = 1", "`variant` must be a string"),
            (b"shh = 1\nfolly = 1", "`folly` is no key"),
        ] {
            std::fs::write(folder.path().join("x.shh"), bytes).unwrap();
            let error = check(folder.path(), &["replay", "x.shh", "--json"], 2);
            assert!(error.starts_with("x.shh: ") && error.contains(why), "{error}");
            assert_eq!(error.lines().count(), 1);
        }
        assert!(check(folder.path(), &["replay", "y.shh"], 2).starts_with("y.shh: "));
        let nobody = [&DEFAULTS[..], &["--variant", "poker"]].concat();
        assert_eq!(check(folder.path(), &nobody, 2), "sabacc: there is no variant `poker`\n");
    }
}
