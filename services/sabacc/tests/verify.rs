//! `sabacc verify` as a program, on the golden bundles: what it says first, its exit codes, its JSON.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name)
}

/// Runs the program on files of the golden folder, with the keys of the golden bundles.
fn verify(files: &[&str], more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sabacc"));
    command.arg("verify").args(files.iter().map(|name| golden(name)));
    command.arg("--keys").arg(golden("bundles/keys.txt")).args(more);
    command.output().expect("the program was built for this test")
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// A golden file of each class, with its word and its exit code.
const CLASSES: [(&str, &str, i32); 5] = [
    ("bundles/dice-short.sabacc", "proved", 0),
    ("bundles/seed-wrong.sabacc", "failed", 1),
    ("bundles/keys.txt", "refused", 2),
    ("bundles/agreed.sabacc", "broken_off", 3),
    ("bundles/seed-owed.sabacc", "not_finished", 4),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn json(output: &Output) -> Vec<serde_json::Value> {
        said(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// fairness/SPEC.md §15.3.
    #[test]
    fn each_class_has_its_exit_code_and_its_word() {
        for (file, word, code) in CLASSES {
            let output = verify(&[file], &["--json"]);
            assert_eq!(output.status.code(), Some(code), "{file}: {}", said(&output));
            let verdicts = json(&output);
            assert_eq!(verdicts.len(), 1, "{file}");
            assert_eq!(verdicts[0]["verdict"], word, "{file}");
            assert_eq!(verdicts[0]["sentences"].as_array().map(Vec::len), Some(3), "{file}");
            let checks = verdicts[0]["checks"].as_array().map(Vec::len);
            assert_eq!(checks, Some(if word == "refused" { 0 } else { 17 }), "{file}");
        }
    }

    /// The bundles of one log; those of other groups would contradict them.
    /// fairness/SPEC.md §15.3.
    #[test]
    fn of_several_files_the_worst_news_decides() {
        let code = |files: &[&str]| {
            let output = verify(files, &["--json"]);
            assert_eq!(json(&output).len(), files.len(), "{}", said(&output));
            output.status.code()
        };
        let [suspended, played] = ["suspended", "played"]
            .map(|name| format!("several/secrets-withheld-and-shown/{name}.sabacc"));
        let (suspended, played, none) = (&*suspended, &*played, "bundles/keys.txt");
        assert_eq!(code(&[played, played]), Some(0));
        assert_eq!(code(&[played, suspended]), Some(4));
        assert_eq!(code(&[suspended, none, played]), Some(2));
        assert_eq!(code(&[played, none, suspended, CLASSES[1].0]), Some(1));
    }

    /// fairness/SPEC.md §15.4.
    #[test]
    fn three_sentences_come_first() {
        let text = said(&verify(&["bundles/dice-short.sabacc"], &[]));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("hand ") && lines[0].ends_with(": proved"), "{text}");
        assert!(lines[1].starts_with("Hand 1 was played to its end: "), "{text}");
        assert!(lines[2].contains("Nobody but the room has seen this log"), "{text}");
        assert!(lines[3].starts_with("Only you can know"), "{text}");
        assert_eq!(lines[4], "", "{text}");
        let text = said(&verify(&["bundles/seed-wrong.sabacc"], &[]));
        assert!(text.lines().nth(1).unwrap().contains("is NOT proved: the check `seed` says: "));
        assert!(!text.contains(": proved"), "{text}");
        let text = said(&verify(&["bundles/keys.txt"], &[]));
        assert!(text.lines().nth(1).unwrap().starts_with("    Nothing is proved: "), "{text}");
    }

    #[test]
    fn without_keys_or_a_command_nothing_is_checked() {
        let run = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_sabacc"));
            command.arg("verify").args(arguments).output().unwrap()
        };
        let file = golden("bundles/dice-short.sabacc").display().to_string();
        let output = run(&[&file]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("no keys were given"), "{}", said(&output));
        assert_eq!(run(&[]).status.code(), Some(2));
        assert_eq!(run(&[&file, "--unknown"]).status.code(), Some(2));
        assert_eq!(run(&[&file, "--keys", &file]).status.code(), Some(2));
    }

    /// fairness/SPEC.md §15.3.
    #[test]
    fn files_that_contradict_each_other_all_fail() {
        let group = "several/two-forks-of-a-hand";
        let files = ["one", "other"].map(|name| format!("{group}/{name}.sabacc"));
        let [one, other] = files.each_ref().map(String::as_str);
        assert_eq!(verify(&[one], &[]).status.code(), Some(0));
        assert_eq!(verify(&[other], &[]).status.code(), Some(0));
        let output = verify(&[one, other], &["--json"]);
        assert_eq!(output.status.code(), Some(1));
        for verdict in json(&output) {
            assert_eq!(verdict["verdict"], "failed");
            assert!(
                verdict["sentences"][0].as_str().unwrap().contains("contradicts it"),
                "{verdict}"
            );
        }
        let text = said(&verify(&[one, other], &[]));
        assert_eq!(text.matches(": FAILED\n").count(), 2, "{text}");
        let seen = golden(&format!("{group}/")).display().to_string();
        assert_eq!(verify(&[one], &["--seen", &seen]).status.code(), Some(1));
    }

    /// Text from a file stands in no line of its own, and changes no terminal.
    #[test]
    fn a_file_draws_no_line_of_the_programs() {
        let folder = std::fs::read_dir(golden("hostile/bundles")).unwrap();
        for entry in folder {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "sabacc") {
                continue;
            }
            let mut command = Command::new(env!("CARGO_BIN_EXE_sabacc"));
            command.arg("verify").arg(&path).arg("--keys").arg(golden("bundles/keys.txt"));
            let output = command.output().unwrap();
            let text = said(&output);
            let odd = |letter: char| letter.is_control() && letter != '\n';
            assert!(!text.contains(odd), "{}: {text:?}", path.display());
        }
    }
}
