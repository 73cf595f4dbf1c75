//! A monitor of one room while it runs: its logs, what is kept of them, and what was found.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, anyhow, ensure};
use audit::monitor::checkpoint::{LogKeys, Signed, compare};
use audit::monitor::{Counts, FollowedLog, Monitor};
use merkle::record::RECORD_LEN;
use merkle::{Tree, TreeHead, parse_keys_file};
use primitives::UnixMicros;

use super::evidence::Finding;
use super::files::{RoomFiles, Unreachable};
use super::look::{Look, Trouble, two_notes};
use super::state::LogState;
use super::{Options, conclude, pursuit};
use crate::output;

/// Longest look at one log while following, so that one that is slow does not hide the other.
const LONGEST_LOOK: Duration = Duration::from_secs(120);
/// Longest file that `--against` names.
const MAX_NOTE_BYTES: u64 = 1 << 20;

/// A log, its keys and what is kept of it.
struct Followed {
    log: FollowedLog,
    keys: LogKeys,
    state: LogState,
}

/// A monitor of one room.
pub(super) struct Session {
    files: RoomFiles,
    logs: Vec<Followed>,
    monitor: Monitor,
}

impl Session {
    /// Opens the state, and judges what is kept again.
    pub(super) fn open(state: &Path, address: &str, keys: &str) -> Result<Session, Trouble> {
        let listed = parse_keys_file(keys).context("the keys of the room cannot be used")?;
        let files = RoomFiles::new(address)?;
        let mut session = Session { files, logs: Vec::new(), monitor: Monitor::new() };
        for log in FollowedLog::ALL {
            let keys = LogKeys::select(&listed, log.name()).context("the keys of the room")?;
            session.open_log(log, keys, state)?;
        }
        session.check_one_room()?;
        Ok(session)
    }

    fn open_log(&mut self, log: FollowedLog, keys: LogKeys, state: &Path) -> Result<(), Trouble> {
        let (monitor, mut broken, mut tree) = (&mut self.monitor, None, Tree::new());
        let replay = |record: &[u8; RECORD_LEN]| {
            tree.push(record);
            if broken.is_none() {
                broken = monitor.push(log, record).err().map(|violation| (violation, *record));
            }
        };
        let opened = LogState::open(state.join(log.name()), &keys, replay)?;
        // A damaged disk accuses nobody.
        if opened.head() != (TreeHead { size: tree.size(), root: tree.root() }) {
            let folder = state.display();
            return Err(anyhow!("{folder}: what is kept of the {log}'s log is damaged").into());
        }
        if let Some((violation, record)) = broken {
            let found = Finding::new(log, violation.to_string());
            return Err(found.with("record.leaf", record).into());
        }
        self.logs.push(Followed { log, keys, state: opened });
        Ok(())
    }

    /// Checks that both logs are of one room.
    fn check_one_room(&self) -> anyhow::Result<()> {
        let room = |it: &Followed| {
            let origin = it.keys.origin().as_str();
            origin.strip_suffix(it.log.name()).map(str::to_owned)
        };
        let rooms: Vec<_> = self.logs.iter().map(room).collect();
        ensure!(
            rooms.windows(2).all(|pair| pair[0] == pair[1]),
            "the keys of the logs are of different rooms"
        );
        Ok(())
    }

    pub(super) async fn once(&mut self, options: &Options) -> anyhow::Result<u8> {
        let looked = self.look(Duration::from_secs(options.within)).await;
        match looked.and_then(|()| self.compare_against(&options.against)) {
            Ok(()) => {
                output::line(&self.summary());
                Ok(0)
            }
            Err(trouble) => conclude(trouble, &options.state),
        }
    }

    pub(super) async fn forever(&mut self, options: &Options) -> anyhow::Result<u8> {
        let (mut said, mut troubled) = (String::new(), String::new());
        loop {
            match self.look(LONGEST_LOOK).await {
                Ok(()) => troubled.clear(),
                Err(Trouble::Unreachable(Unreachable(why))) => {
                    if troubled != why {
                        output::error(&format!("sabacc: the room cannot be checked: {why}"));
                        troubled = why;
                    }
                }
                Err(trouble) => return conclude(trouble, &options.state),
            }
            if troubled.is_empty()
                && let Err(trouble) = self.compare_against(&options.against)
                && !matches!(trouble, Trouble::Unreachable(_))
            {
                return conclude(trouble, &options.state);
            }
            let now = self.summary();
            if now != said {
                output::line(&now);
                said = now;
            }
            tokio::time::sleep(Duration::from_secs(options.interval)).await;
        }
    }

    /// Looks at both logs, the table's first: what it opens, the dealer has promised before.
    async fn look(&mut self, longest: Duration) -> Result<(), Trouble> {
        let mut unreachable = None;
        for Followed { log, keys, state } in &mut self.logs {
            let (log, files, monitor) = (*log, &self.files, &mut self.monitor);
            let mut look = Look { log, keys, files, state, monitor };
            let looked = tokio::time::timeout(longest, look.run()).await;
            match looked.unwrap_or_else(|_| Err(late(longest))) {
                Ok(_) => {}
                // The other log is looked at all the same.
                Err(Trouble::Unreachable(why)) => drop(unreachable.get_or_insert(why)),
                Err(Trouble::Found(found)) => {
                    return Err(pursuit::complete(files, state, *found).await.into());
                }
                Err(own) => return Err(own),
            }
        }
        self.monitor.compare().map_err(|found| Finding::new(found.log, found.to_string()))?;
        unreachable.map_or(Ok(()), |why| Err(why.into()))
    }

    /// Compares checkpoints that others were shown with the records that are kept.
    fn compare_against(&self, notes: &[PathBuf]) -> Result<(), Trouble> {
        for path in notes {
            let note = read_note(path)?;
            let opened = self.logs.iter().find_map(|it| Some((it, it.keys.open(&note).ok()?)));
            let (followed, theirs) = opened.with_context(|| {
                format!("{} is not signed with the keys of this room", path.display())
            })?;
            self.compare_note(followed, &theirs)?;
        }
        Ok(())
    }

    fn compare_note(&self, followed: &Followed, theirs: &Signed) -> Result<(), Trouble> {
        let (log, known) = (followed.log, self.monitor.head(followed.log));
        if theirs.head.size > known.size {
            let (size, known) = (theirs.head.size, known.size);
            return Err(Unreachable(format!(
                "somebody was shown {size} records of the {log}'s log, and {known} are shown here"
            ))
            .into());
        }
        let mut tree = Tree::new();
        for leaf in followed.state.leaves()?.iter().take(to_usize(theirs.head.size)) {
            tree.push(leaf);
        }
        let ours = TreeHead { size: tree.size(), root: tree.root() };
        let how = match compare(ours, theirs.head) {
            Ok(()) => return Ok(()),
            Err(how) => how,
        };
        match followed.state.notes().find(|note| note.head.size >= ours.size) {
            Some(seen) => Err(two_notes(log, how, seen, theirs).into()),
            None => Err(Finding::new(log, how.to_string()).into()),
        }
    }

    /// Summary of what was seen, in a line.
    fn summary(&self) -> String {
        let counts = self.monitor.counts();
        let Counts { tables, hands, ended, aborted, owed, .. } = counts;
        let [table, dealer] = FollowedLog::ALL.map(|log| {
            let (size, newest) = (self.monitor.head(log).size, self.monitor.newest(log));
            format!("{log} {size} records, the newest of {}", UnixMicros(newest))
        });
        let mut text = format!(
            "{table}; {dealer}: {hands} hands opened at {tables} tables, {ended} \
             ended, {aborted} of them aborted, {owed} seeds not open yet"
        );
        for (count, words) in [
            (counts.overdue, "seeds more than an hour overdue"),
            (counts.unpromised, "hands without a promise in what the dealer shows"),
            (counts.unclaimed, "promises to no table's next hand"),
            (counts.alarms, "alarms of the dealer about its generators or outcomes"),
            (counts.unknown, "records of types that are unknown to this version"),
        ] {
            if count > 0 {
                text += &format!("; WARNING: {count} {words}");
            }
        }
        text
    }
}

fn late(within: Duration) -> Trouble {
    let seconds = within.as_secs();
    Unreachable(format!("its logs could not be read within {seconds} seconds")).into()
}

fn read_note(path: &Path) -> anyhow::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut note = Vec::new();
    let file = std::fs::File::open(path);
    let file = file.with_context(|| format!("{} cannot be read", path.display()))?;
    file.take(MAX_NOTE_BYTES).read_to_end(&mut note)?;
    Ok(note)
}

fn to_usize(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}
