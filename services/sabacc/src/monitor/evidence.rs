//! Findings of a monitor against a room, as files that others can check.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use audit::monitor::FollowedLog;
use audit::monitor::checkpoint::Signed;
use system::clock::{Clock as _, SystemClock};

use super::pursuit::Pursuit;
use crate::data_directory::write_private;

/// Folder of what convicts the room, for good.
const EVIDENCE: &str = "evidence";

/// A finding, in words and files.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) log: FollowedLog,
    pub(super) words: String,
    /// Whether what the room has signed shows it. Anybody on the way could change the rest.
    signed: bool,
    /// Files by their names.
    files: Vec<(String, Vec<u8>)>,
    /// Further records that the room is asked for, with the checkpoint in whose tree it lies.
    pub(super) pursuit: Option<(Signed, Pursuit)>,
}

impl Finding {
    pub(super) fn new(log: FollowedLog, words: impl Into<String>) -> Finding {
        Finding { log, words: words.into(), signed: true, files: Vec::new(), pursuit: None }
    }

    /// Says that what the room has signed does not show it.
    #[must_use]
    pub(super) fn unsigned(self) -> Finding {
        Finding { signed: false, ..self }
    }

    /// Adds a file.
    #[must_use]
    pub(super) fn with(mut self, name: &str, content: impl Into<Vec<u8>>) -> Finding {
        self.add(name, content);
        self
    }

    /// Says what more is asked for.
    #[must_use]
    pub(super) fn pursued(self, shown: &Signed, pursuit: Pursuit) -> Finding {
        Finding { pursuit: Some((shown.clone(), pursuit)), ..self }
    }

    /// Adds a file.
    pub(super) fn add(&mut self, name: &str, content: impl Into<Vec<u8>>) {
        self.files.push((name.to_owned(), content.into()));
    }

    /// Writes the finding into a folder of its own below `state`, durably: in `evidence` what the
    /// room has signed, else in `served`. Returns the folder.
    pub(super) fn save(&self, state: &Path) -> anyhow::Result<PathBuf> {
        let now = SystemClock::new().now().0;
        let folder = state.join(if self.signed { EVIDENCE } else { "served" });
        let folder = folder.join(format!("{now}-{}", self.log));
        fs::create_dir_all(&folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
        for (name, content) in &self.files {
            write_private(&folder.join(name), content)?;
        }
        write_private(&folder.join("finding.txt"), format!("{}\n", self.words).as_bytes())?;
        Ok(folder)
    }
}

/// Returns the folders of earlier findings that convict the room.
pub(super) fn earlier(state: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let folder = state.join(EVIDENCE);
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let unread = || format!("{} cannot be read", folder.display());
    let entries = fs::read_dir(&folder).with_context(unread)?;
    let mut folders = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    folders.sort();
    Ok(folders)
}
