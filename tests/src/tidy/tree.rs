//! Files that the rules check.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};

/// Files by path, relative to the root, with `/`.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    files: BTreeMap<String, Vec<u8>>,
}

impl Tree {
    /// Reads this workspace: files that git tracks, and new files that are not ignored.
    ///
    /// # Errors
    /// git is missing, the tree is not a git tree, or a file cannot be read.
    pub fn open() -> anyhow::Result<Tree> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .context("the package of tests has left the workspace")?;
        let listed = Command::new("git")
            // A clone made by another user, as in a container, is still the tree to read.
            .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others"])
            .arg("--exclude-standard")
            .current_dir(root)
            .output()
            .context("git is needed to tell which files belong to the tree; install it")?;
        let words = String::from_utf8_lossy(&listed.stderr);
        ensure!(listed.status.success(), "git cannot list the files of the tree: {words}");
        let mut files = BTreeMap::new();
        for name in String::from_utf8(listed.stdout)?.split_terminator('\0') {
            let path = root.join(name);
            // A file deleted but not yet committed is still listed.
            if path.is_file() {
                let bytes = fs::read(&path).with_context(|| format!("cannot read {name}"))?;
                files.insert(name.to_owned(), bytes);
            }
        }
        ensure!(!files.is_empty(), "git lists no files; run the tests in a clone");
        Ok(Tree { files })
    }

    /// Creates a tree for a test.
    #[must_use]
    pub fn of(files: &[(&str, &str)]) -> Tree {
        let file = |(path, text): &(&str, &str)| ((*path).to_owned(), text.as_bytes().to_vec());
        Tree { files: files.iter().map(file).collect() }
    }

    /// Returns every file, in order of path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }

    /// Returns the text of the file at `path`; none if it is missing or not UTF-8.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).and_then(|bytes| str::from_utf8(bytes).ok())
    }

    /// Returns Rust files that are not generated, in order of path.
    pub fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .keys()
            .filter(|path| path.ends_with(".rs") && !path.contains("/src/gen/"))
            .filter_map(|path| Some((path.as_str(), self.text(path)?)))
    }
}
