//! `sabacc keys rotate`: another key for the dealer's seeds in the database of a room on one
//! machine.
//!
//! The room has to be stopped, because a running dealer keeps the keys of its start.

use crate::data_directory::DataDirectory;
use crate::output;

pub(crate) fn run(folder: &DataDirectory) -> anyhow::Result<bool> {
    let _lock = folder.lock()?;
    let (old, new) = folder.rotate_seed_key()?;
    output::line(&format!(
        "seeds are sealed under key {new} from the next start on, not under {old}"
    ));
    output::line(
        "the room opens older ones with keys/seed.key.previous and seals them again while it runs; \
         once it says that no seed is left under a previous key, remove that file, and backups \
         with it",
    );
    Ok(true)
}
