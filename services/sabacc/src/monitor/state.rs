//! State that a monitor keeps of one log, in a folder of its own:
//!
//! | file | what |
//! |---|---|
//! | `leaves` | the leaf records, 149 bytes each, in the order of their positions |
//! | `tree` | origin, number of records and root, written after them: the text of a checkpoint |
//! | `checkpoints/SIZE-ROOT` | signed notes: the newest that was read up to, and all that were seen since |
//!
//! Records behind the size in `tree` were not finished, and are cut off.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use audit::monitor::checkpoint::{LogKeys, Signed};
use merkle::record::RECORD_LEN;
use merkle::{Checkpoint, TreeHead, empty_root};

use crate::data_directory::write_private;

/// Most notes that are kept without having been read up to. The oldest stay.
const MAX_NOTES: usize = 1_000;
/// Longest note, in bytes; more than any that a monitor has stored.
const MAX_NOTE_BYTES: u64 = 1 << 20;

/// A log's folder.
pub(super) struct LogState {
    folder: PathBuf,
    origin: String,
    /// Tree over the records in `leaves`.
    head: TreeHead,
    /// Notes by the size and root of their trees.
    notes: BTreeMap<(u64, [u8; 32]), Signed>,
}

impl LogState {
    /// Opens the folder, and gives each stored leaf record to `replay`, in order.
    ///
    /// # Errors
    /// The folder is of another log, or damaged. Whether the records make the tree is not checked.
    pub(super) fn open(
        folder: PathBuf,
        keys: &LogKeys,
        mut replay: impl FnMut(&[u8; RECORD_LEN]),
    ) -> anyhow::Result<LogState> {
        let notes_folder = folder.join("checkpoints");
        fs::create_dir_all(&notes_folder)
            .with_context(|| format!("{} cannot be made", notes_folder.display()))?;
        let origin = keys.origin().to_string();
        let head = TreeHead { size: 0, root: empty_root() };
        let mut state = LogState { folder, origin, head, notes: BTreeMap::new() };
        state.head = state.read_tree()?.unwrap_or(head);
        state.cut()?;
        state.read_leaves(&mut replay)?;
        state.read_notes(&notes_folder, keys)?;
        Ok(state)
    }

    /// Returns the tree over the records that are kept.
    pub(super) const fn head(&self) -> TreeHead {
        self.head
    }

    fn read_tree(&self) -> anyhow::Result<Option<TreeHead>> {
        let path = self.folder.join("tree");
        if !path.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&path);
        let text = text.with_context(|| format!("{} cannot be read", path.display()))?;
        let tree = Checkpoint::parse(&text);
        let tree = tree.with_context(|| format!("{} is damaged", path.display()))?;
        if tree.origin() != self.origin {
            bail!(
                "{} is of the log {}, and the keys are of {}: keep each room in a folder of its own",
                self.folder.display(),
                tree.origin(),
                self.origin
            );
        }
        Ok(Some(tree.head()))
    }

    fn leaves_path(&self) -> PathBuf {
        self.folder.join("leaves")
    }

    fn bytes(&self) -> u64 {
        self.head.size.saturating_mul(RECORD_LEN as u64)
    }

    /// Cuts off what was written and not finished.
    fn cut(&self) -> anyhow::Result<()> {
        let path = self.leaves_path();
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).write(true).open(&path);
        let file = file.with_context(|| format!("{} cannot be opened", path.display()))?;
        let (length, due) = (file.metadata()?.len(), self.bytes());
        ensure!(length >= due, "{} is damaged: it has {length} bytes of {due}", path.display());
        Ok(file.set_len(due)?)
    }

    fn read_leaves(&self, replay: &mut impl FnMut(&[u8; RECORD_LEN])) -> anyhow::Result<()> {
        let path = self.leaves_path();
        let unread = || format!("{} cannot be read", path.display());
        let mut file = BufReader::with_capacity(1 << 20, File::open(&path).with_context(unread)?);
        let mut record = [0; RECORD_LEN];
        for _ in 0..self.head.size {
            file.read_exact(&mut record).with_context(unread)?;
            replay(&record);
        }
        Ok(())
    }

    fn read_notes(&mut self, folder: &Path, keys: &LogKeys) -> anyhow::Result<()> {
        let unread = || format!("{} cannot be read", folder.display());
        for entry in fs::read_dir(folder).with_context(unread)? {
            let path = entry.with_context(unread)?.path();
            // A note that was not finished has another name.
            if path.extension().is_some_and(|extension| extension == "new") {
                continue;
            }
            let mut note = Vec::new();
            File::open(&path)?.take(MAX_NOTE_BYTES).read_to_end(&mut note)?;
            let signed = keys.open(&note).with_context(|| {
                format!("{} is not signed with the keys that are trusted now", path.display())
            })?;
            self.notes.insert((signed.head.size, signed.head.root), signed);
        }
        Ok(())
    }

    /// Returns the notes that are kept, the smallest tree first.
    pub(super) fn notes(&self) -> impl DoubleEndedIterator<Item = &Signed> {
        self.notes.values()
    }

    /// Stores a note, durably.
    pub(super) fn keep(&mut self, signed: &Signed) -> anyhow::Result<()> {
        let key = (signed.head.size, signed.head.root);
        if self.notes.contains_key(&key) {
            return Ok(());
        }
        if self.notes.len() >= MAX_NOTES
            && let Some((last, _)) = self.notes.pop_last()
        {
            self.remove(last)?;
        }
        write_private(&self.note_path(key), signed.note.as_bytes())?;
        self.notes.insert(key, signed.clone());
        Ok(())
    }

    fn note_path(&self, key: (u64, [u8; 32])) -> PathBuf {
        let (size, root) = key;
        self.folder.join("checkpoints").join(format!("{size}-{}", hex::encode(root)))
    }

    fn remove(&self, key: (u64, [u8; 32])) -> anyhow::Result<()> {
        let path = self.note_path(key);
        fs::remove_file(&path).with_context(|| format!("{} cannot be removed", path.display()))
    }

    /// Adds records that are in a signed tree; `head` is the tree with them. Notes of smaller trees
    /// were compared with it and go, but for the newest.
    pub(super) fn append(
        &mut self,
        records: &[[u8; RECORD_LEN]],
        head: TreeHead,
    ) -> anyhow::Result<()> {
        let path = self.leaves_path();
        let unwritten = || format!("{} cannot be written", path.display());
        let mut file = OpenOptions::new().append(true).open(&path).with_context(unwritten)?;
        file.write_all(records.as_flattened()).with_context(unwritten)?;
        file.sync_all().with_context(unwritten)?;
        let tree = Checkpoint::try_new(self.origin.as_str(), head, Vec::new())?;
        write_private(&self.folder.join("tree"), tree.to_string().as_bytes())?;
        self.head = head;
        let read: Vec<_> =
            self.notes.keys().filter(|(size, _)| *size <= head.size).copied().collect();
        let Some((_newest, old)) = read.split_last() else { return Ok(()) };
        for key in old {
            self.notes.remove(key);
            self.remove(*key)?;
        }
        Ok(())
    }

    /// Returns all leaf records that are kept.
    pub(super) fn leaves(&self) -> anyhow::Result<Vec<[u8; RECORD_LEN]>> {
        let mut all = Vec::new();
        self.read_leaves(&mut |record| all.push(*record))?;
        Ok(all)
    }
}
