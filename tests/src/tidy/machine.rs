//! Rule: no file names a folder of the machine it was written on.

use super::{Finding, Tree};

/// Private folders. Concatenated, so that this file passes its own rule.
const PRIVATE: [&str; 3] = [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/wo", "rk/")];

/// Files that must name such a folder, by path, and the reason.
#[rustfmt::skip]
pub const ALLOWED: &[(&str, &str)] = &[
    ("crates/postgres-launcher/src/account.rs", "reads /etc/passwd; its tests make one up"),
];

/// Checks every file, text or not.
#[must_use]
pub fn machine_paths(tree: &Tree, allowed: &[(&str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, bytes) in tree.files().filter(|(path, _)| !allowed.iter().any(|(at, _)| at == path))
    {
        for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if let Some(folder) = PRIVATE.into_iter().find(|folder| names(line, folder)) {
                let advice =
                    format!("names {folder}: say it relative to the tree, or leave it away");
                findings.push(Finding::new(format!("{path}:{}", at + 1), advice));
            }
        }
    }
    findings
}

fn names(line: &[u8], folder: &str) -> bool {
    line.windows(folder.len()).any(|window| window == folder.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_a_machine_is_found() {
        for folder in PRIVATE {
            let text = format!("fine\nsee {folder}notes.md\n");
            let tree = Tree::of(&[("README.md", &text)]);
            let findings = machine_paths(&tree, &[]);
            assert_eq!(findings.len(), 1, "{findings:?}");
            assert_eq!(findings[0].place, "README.md:2");
            assert_eq!(machine_paths(&tree, &[("README.md", "an example")]), []);
        }
        let fine = Tree::of(&[("README.md", "in `/usr/lib/postgresql`, `$HOME`, `work/`")]);
        assert_eq!(machine_paths(&fine, &[]), []);
    }
}
