//! Evidence in a directory: `PLAYER/TABLE/NUMBER.evidence`, readable by its owner only.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use fairness::evidence::{self, Entry, HEADER};
use primitives::{PlayerId, TableId, UnixMicros};
use system::entropy::{self, SystemEntropy};
use zeroize::Zeroizing;

use super::{EvidenceKey, EvidenceStore};
use crate::chance::Secret;
use crate::durable::{self, sync_directory};

/// Days that evidence is kept after the last line was added.
pub const KEPT_DAYS: u64 = 90;

/// Ending of a file's name.
const SUFFIX: &str = "evidence";

/// Maximum size of one hand number's file, in bytes.
const MAX_FILE_BYTES: usize = 16 * 1024 * 1024;

/// Directory of a viewer without a seat.
const VIEWER: &str = "viewer";

/// Evidence in a directory, with the secret that entropy and keys are derived from.
#[derive(Debug)]
pub struct EvidenceDirectory {
    root: PathBuf,
    secret: Secret,
}

impl EvidenceDirectory {
    /// Opens a directory, and creates it if it is missing.
    ///
    /// # Errors
    /// It cannot be created, or its secret cannot be read or written.
    pub fn open(root: impl Into<PathBuf>) -> io::Result<EvidenceDirectory> {
        let root = root.into();
        create_directory(&root)?;
        let secret = read_or_create_secret(&root.join("secret"))?;
        Ok(EvidenceDirectory { root, secret })
    }

    /// The secret of this directory: a client that uses it reveals and signs after a restart what
    /// it had committed to.
    #[must_use]
    pub fn secret(&self) -> Secret {
        self.secret.clone()
    }

    /// Removes files to which nothing was added for [`KEPT_DAYS`] days before `now`. Of each table
    /// the newest hand number stays: no number below it is taken part in again.
    ///
    /// # Errors
    /// The directory cannot be read, or a file cannot be removed.
    pub fn prune(&self, now: UnixMicros) -> io::Result<()> {
        let kept = Duration::from_secs(KEPT_DAYS * 24 * 60 * 60);
        for player in subdirectories(&self.root)? {
            for table in subdirectories(&player)? {
                prune_table(&table, now, kept)?;
            }
        }
        Ok(())
    }

    /// Directory of a player's evidence of one table.
    fn table(&self, player: Option<PlayerId>, table: TableId) -> PathBuf {
        let player = player.map_or_else(|| VIEWER.to_owned(), |player| player.to_string());
        self.root.join(player).join(table.to_string())
    }

    fn path(&self, key: &EvidenceKey) -> PathBuf {
        let EvidenceKey { player, table, hand_no } = key;
        self.table(*player, *table).join(format!("{hand_no}.{SUFFIX}"))
    }
}

impl EvidenceStore for EvidenceDirectory {
    fn load(&self, key: &EvidenceKey) -> io::Result<Vec<Entry>> {
        let path = self.path(key);
        let mut bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        // A line without an end was being written at a crash: what it speaks of was not sent.
        bytes.truncate(complete_length(&bytes));
        if bytes.is_empty() {
            return Ok(Vec::new());
        }
        evidence::parse(&bytes, MAX_FILE_BYTES).map_err(|error| {
            io::Error::new(ErrorKind::InvalidData, format!("{}: {error}", path.display()))
        })
    }

    fn append(&self, key: &EvidenceKey, entries: &[Entry]) -> io::Result<()> {
        let path = self.path(key);
        let directory = self.table(key.player, key.table);
        create_directory(&directory)?;
        let mut file = private_options().read(true).append(true).open(&path)?;
        let before = cut_incomplete_line(&mut file)?;
        let mut text = if before == 0 { format!("{HEADER}\n") } else { String::new() };
        entries.iter().for_each(|entry| text.push_str(&format!("{entry}\n")));
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        if before == 0 { sync_directory(&directory) } else { Ok(()) }
    }

    fn last_hand(&self, player: Option<PlayerId>, table: TableId) -> io::Result<Option<u64>> {
        match hand_files(&self.table(player, table)) {
            Ok(files) => Ok(files.into_iter().map(|(hand_no, _)| hand_no).max()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Length of the lines that have an end.
fn complete_length(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

/// Cuts off a line that a crash has left without an end. Returns the length of what stays.
fn cut_incomplete_line(file: &mut File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last == *b"\n" {
        return Ok(length);
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    let complete = u64::try_from(complete_length(&bytes)).map_err(io::Error::other)?;
    file.set_len(complete)?;
    Ok(complete)
}

fn prune_table(table: &Path, now: UnixMicros, kept: Duration) -> io::Result<()> {
    let mut files = hand_files(table)?;
    files.sort_unstable();
    files.pop();
    for (_, path) in files {
        let modified = fs::metadata(&path)?.modified()?;
        let modified = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        let modified = UnixMicros(0).plus(modified);
        if now.since(modified) > kept {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Hand numbers of a table's files, with their paths.
fn hand_files(table: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(table)? {
        let path = entry?.path();
        let is_evidence = path.extension().is_some_and(|suffix| suffix == SUFFIX);
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        files.extend(number.filter(|_| is_evidence).map(|number| (number, path)));
    }
    Ok(files)
}

fn subdirectories(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Reads the secret. A new one is whole before it has its name, whatever happens meanwhile.
fn read_or_create_secret(path: &Path) -> io::Result<Secret> {
    if !path.exists() {
        let name: [u8; 8] = entropy::bytes(&SystemEntropy);
        let new = path.with_extension(format!("{:016x}", u64::from_be_bytes(name)));
        let mut file = private_options().write(true).create_new(true).open(&new)?;
        file.write_all(&*Zeroizing::new(entropy::bytes::<32>(&SystemEntropy)))?;
        file.sync_all()?;
        let named = fs::hard_link(&new, path);
        fs::remove_file(&new)?;
        path.parent().map_or(Ok(()), sync_directory)?;
        match named {
            // Another process was faster.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            named => named?,
        }
    }
    let bytes = Zeroizing::new(fs::read(path)?);
    let bytes: [u8; 32] = bytes.as_slice().try_into().map_err(|_| {
        let problem = format!("{}: a secret has 32 bytes", path.display());
        io::Error::new(ErrorKind::InvalidData, problem)
    })?;
    Ok(Secret::from_bytes(bytes))
}

/// Options that create a file which only its owner may read.
fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a directory, with its parents, that only its owner may enter. The names of those that are
/// new are durable.
fn create_directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    durable::create_directory(path, &builder)
}

#[cfg(test)]
mod tests;
