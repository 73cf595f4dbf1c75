//! `sabacc archive`: moves old ranges of a log to self-proving files, and back.
//!
//! Writing and checking change nothing. Removing and restoring need an administrator, and are
//! refused unless the file agrees with the live log event for event. Table and wallet must be able to
//! start without the range, from a snapshot. What a service still reads stays.
//!
//! Where the files lie, a folder or a storage, is the setting `archives`; the services read them there
//! (`eventlog::archive::MountedArchives`).

use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use chassis::config::{ArchiveConfig, ArchiveLocation, Settings, Source};
use clap::{Args, Subcommand, ValueEnum};
use eventlog::archive::{self, Archive, Retained, RetainedRequests, Verified};
use eventlog::{CheckpointStore as _, PgStore, PoolSizes, Reader, UnixMicros};
use merkle::TILE_WIDTH;
use postgres_launcher::{Environment, default_data_dir};
use sabacc_table::retention::RetainedStreams;
use sabacc_wallet::newest_snapshot;
use sabacc_wallet::repo::Repo;
use signed::LogKeys;
use system::clock::{Clock as _, SystemClock};

use crate::data_directory::DataDirectory;
use crate::output;

mod place;
mod signed;

use place::{ArchiveFile, Destination};

/// One day in seconds.
const DAY: u64 = 86_400;
/// Days for which events are kept where no setting says it: a hundred years.
const MAX_KEEP_DAYS: u64 = 36_500;

#[derive(Subcommand)]
pub(crate) enum ArchiveCommand {
    /// Write the events between the log's cut and a position to a new file.
    Write {
        #[arg(value_enum)]
        log: LogName,
        #[command(flatten)]
        end: ArchiveEnd,
        file: PathBuf,
        #[command(flatten)]
        database: DatabaseOptions,
    },
    /// Write what is older than the settings `keep_days.dealer`, `keep_days.table` and
    /// `keep_days.wallet` say to files, check them, and remove it from the logs. To be run each day.
    /// Each range ends at a multiple of 256 positions, so that archives that are mounted can answer for
    /// all of it.
    Old {
        /// Folder of the files, or s3://BUCKET/PREFIX; each is named by its log and its positions.
        /// Without it: the setting `archives`, or the folder `archives` of the data folder.
        #[arg(long, value_parser = place::parse_folder)]
        folder: Option<ArchiveLocation>,
        #[command(flatten)]
        database: DatabaseOptions,
    },
    /// Check that a file is complete and proves itself. Needs no database.
    Check {
        /// A path, or s3://BUCKET/PREFIX/NAME.
        #[arg(value_parser = ArchiveFile::parse)]
        file: ArchiveFile,
        /// A TOML file with the settings `archive_storage.*`, for a file in a storage.
        #[arg(long)]
        config: Option<PathBuf>,
    },
    /// Remove a file's events from their log.
    Remove {
        /// A path, or s3://BUCKET/PREFIX/NAME.
        #[arg(value_parser = ArchiveFile::parse)]
        file: ArchiveFile,
        /// Keep events recorded within this number of days.
        #[arg(long, value_name = "DAYS")]
        keep_days: u64,
        #[command(flatten)]
        database: DatabaseOptions,
    },
    /// Put a file's events back into their log.
    Restore {
        /// A path, or s3://BUCKET/PREFIX/NAME.
        #[arg(value_parser = ArchiveFile::parse)]
        file: ArchiveFile,
        #[command(flatten)]
        database: DatabaseOptions,
    },
}

/// End of the events that are written.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ArchiveEnd {
    /// The position to end before.
    #[arg(long, value_name = "POSITION")]
    to: Option<u64>,
    /// End before the events recorded within this number of days.
    #[arg(long, value_name = "DAYS")]
    keep_days: Option<u64>,
}

impl ArchiveEnd {
    async fn position(&self, reader: &Reader) -> anyhow::Result<u64> {
        match (self.to, self.keep_days) {
            (Some(to), _) => Ok(to),
            (None, days) => {
                Ok(archive::size_before(reader, days_ago(days.unwrap_or_default())).await?)
            }
        }
    }
}

/// Name of a log.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogName {
    Dealer,
    Table,
    Wallet,
}

impl LogName {
    const ALL: [LogName; 3] = [LogName::Dealer, LogName::Table, LogName::Wallet];

    /// Log of an archive.
    fn of(whole: &Verified) -> anyhow::Result<LogName> {
        let log = &*whole.header.log;
        LogName::ALL
            .into_iter()
            .find(|name| log.strip_prefix(name.service()) == Some("/0"))
            .with_context(|| {
                format!("the file is of the log {log}, which this program does not know")
            })
    }

    /// Part of the requests that the service needs, which caused removed events. Statements have who asked
    /// and when, and the wallet's and the table's requests are recognised by their answers. The dealer
    /// recognises a repeat by its hand, and stores no answers.
    const fn retained_requests(self) -> RetainedRequests {
        match self {
            LogName::Dealer => RetainedRequests::Nothing,
            LogName::Table => RetainedRequests::Answers,
            LogName::Wallet => RetainedRequests::CallersAndAnswers,
        }
    }

    const fn service(self) -> &'static str {
        match self {
            LogName::Dealer => "dealer",
            LogName::Table => "table",
            LogName::Wallet => "wallet",
        }
    }
}

#[derive(Args)]
pub(crate) struct DatabaseOptions {
    /// A TOML file with an administrator's `database_url`; SABACC_DATABASE_URL or DATABASE_URL go
    /// before it. Without any of them: the room that runs in the data folder.
    #[arg(long)]
    config: Option<PathBuf>,
    /// The public keys of the room, as `sabacc keys` prints them: nothing is removed that is not what
    /// the log has signed [default: those of the data folder].
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
}

/// Settings of this command.
struct ArchiveSettings {
    /// An administrator's address.
    url: String,
    /// Days for which events are kept in the database, by log.
    keep_days: Vec<(LogName, u64)>,
    archives: ArchiveConfig,
    keys: LogKeys,
}

impl DatabaseOptions {
    fn url(&self, data: Option<PathBuf>) -> anyhow::Result<String> {
        Ok(self.settings(data)?.url)
    }

    fn settings(&self, data: Option<PathBuf>) -> anyhow::Result<ArchiveSettings> {
        let mut settings = Settings::new(Source::from_process(self.config.as_deref())?);
        let url = settings.secret("database_url", &["DATABASE_URL"]);
        let mut days = |log: LogName| {
            let name = match log {
                LogName::Dealer => "keep_days.dealer",
                LogName::Table => "keep_days.table",
                LogName::Wallet => "keep_days.wallet",
            };
            (log, settings.number(name, 0..=MAX_KEEP_DAYS, MAX_KEEP_DAYS))
        };
        let keep_days = LogName::ALL.map(&mut days).to_vec();
        let mut archives = ArchiveConfig::read(&mut settings);
        settings.finish()?;
        if let Some(url) = url {
            let folder = data.as_deref().map(DataDirectory::open).transpose()?;
            let keys = LogKeys::read(self.keys.as_deref(), folder.as_ref())?;
            return Ok(ArchiveSettings { url: url.expose().to_owned(), keep_days, archives, keys });
        }
        let path = data.unwrap_or_else(|| default_data_dir(&Environment::read()));
        let folder = DataDirectory::open(&path)?;
        let running = folder.running_room().context(
            "which database? set SABACC_DATABASE_URL to an administrator's address, or start the \
             room of the data folder",
        )?;
        if archives.location.is_none() {
            std::fs::create_dir_all(folder.archives_path())?;
            archives.location = Some(ArchiveLocation::Folder(folder.archives_path()));
        }
        let keys = LogKeys::read(self.keys.as_deref(), Some(&folder))?;
        Ok(ArchiveSettings { url: running.database_url, keep_days, archives, keys })
    }
}

pub(crate) async fn run(
    data: Option<PathBuf>,
    json: bool,
    what: ArchiveCommand,
) -> anyhow::Result<bool> {
    match what {
        ArchiveCommand::Write { log, end, file, database } => {
            let (store, reader) = connect(&database.url(data)?, log).await?;
            let to = end.position(&reader).await?;
            let whole = write(&reader, to, &file).await?;
            drop(store);
            print_archive(json, "written and read back", &whole);
        }
        ArchiveCommand::Old { folder, database } => {
            let ArchiveSettings { url, keep_days, archives, keys } = database.settings(data)?;
            let folder = folder.or(archives.location).context(
                "where do the archives lie? name a folder or s3://BUCKET/PREFIX with --folder or the \
                 setting archives",
            )?;
            let folder = Destination::open(&folder, &archives.access)?;
            let room = AdministeredRoom { url, keys };
            for (log, days) in keep_days {
                match archive_old(&room, log, days, &folder).await? {
                    Some(removed) => {
                        let done = format!("{} events removed", removed.events);
                        print_archive(json, &done, &removed.archive);
                    }
                    None if json => {}
                    None => output::line(&format!("{}: nothing to archive", log.service())),
                }
            }
        }
        ArchiveCommand::Check { file, config } => {
            let archives = ArchiveConfig::from_source(Source::from_process(config.as_deref())?)?;
            let file = file.local(&archives.access).await?;
            print_archive(json, "whole", &check(&file.path)?);
        }
        ArchiveCommand::Remove { file, keep_days, database } => {
            let ArchiveSettings { url, archives, keys, .. } = database.settings(data)?;
            let file = file.local(&archives.access).await?;
            let room = AdministeredRoom { url, keys };
            let removed = remove(&room, &file.path, days_ago(keep_days)).await?;
            print_archive(json, &format!("{} events removed", removed.events), &removed.archive);
        }
        ArchiveCommand::Restore { file, database } => {
            let ArchiveSettings { url, archives, .. } = database.settings(data)?;
            let file = file.local(&archives.access).await?;
            let whole = check(&file.path)?;
            let service = LogName::of(&whole)?.service();
            archive::restore(&url, service, &mut open(&file.path)?).await?;
            print_archive(json, "restored", &whole);
        }
    }
    Ok(true)
}

/// Time so many days ago.
fn days_ago(days: u64) -> UnixMicros {
    SystemClock::new().now().minus(Duration::from_secs(days.saturating_mul(DAY)))
}

async fn connect(url: &str, log: LogName) -> anyhow::Result<(Arc<PgStore>, Reader)> {
    let service = log.service();
    let store = PgStore::connect(url, service, PoolSizes::default()).await?;
    let reader = Reader::new(Arc::<PgStore>::clone(&store), format!("{service}/0"));
    Ok((store, reader))
}

/// Outcome of a removal.
struct Removed {
    archive: Verified,
    /// Events removed.
    events: u64,
}

/// Room whose logs are cut.
struct AdministeredRoom {
    /// An administrator's address of its database.
    url: String,
    keys: LogKeys,
}

/// Removes a file's events, if all of them were recorded before a time.
async fn remove(
    room: &AdministeredRoom,
    file: &Path,
    since: UnixMicros,
) -> anyhow::Result<Removed> {
    let AdministeredRoom { url, keys } = room;
    let whole = check(file)?;
    let log = LogName::of(&whole)?;
    let (store, _) = connect(url, log).await?;
    keys.check(&store, log, &whole).await?;
    let RetainedStreams { whole: streams, tails } = if whole.recorded_at < since {
        retained_streams(url, log, file, whole.header.range.end).await?
    } else {
        RetainedStreams::default()
    };
    let requests = log.retained_requests();
    let retained = Retained { since, streams: &streams, tails: &tails, requests };
    let events = archive::remove(url, log.service(), &mut open(file)?, retained).await?;
    Ok(Removed { archive: whole, events })
}

/// Writes what is older than so many days to a file, and removes it. Nothing to do gives `None`. The
/// range ends with a tile: mounted archives answer for events of full tiles alone.
async fn archive_old(
    room: &AdministeredRoom,
    log: LogName,
    days: u64,
    folder: &Destination,
) -> anyhow::Result<Option<Removed>> {
    let (store, reader) = connect(&room.url, log).await?;
    let since = days_ago(days);
    let from = reader.cut().await?.map_or(0, |cut| cut.size());
    let limit = match log {
        LogName::Dealer => sabacc_dealer::retention::tested_until(&reader).await?,
        LogName::Table => sabacc_table::retention::newest_snapshot(&store).await?,
        LogName::Wallet => {
            let newest = newest_snapshot(&reader, &Repo::new(&store)).await?;
            newest.map_or(0, |size| size.saturating_sub(1))
        }
    };
    // What is not signed yet has no proof.
    let signed = store.last_checkpoint(reader.name()).await?.map_or(0, |signed| signed.size);
    let to = archive::size_before(&reader, since).await?.min(limit).min(signed);
    let to = to - to % u64::from(TILE_WIDTH);
    if to <= from {
        return Ok(None);
    }
    let name = format!("{}-{from}-{to}.archive", log.service());
    let file = match folder.find(&name).await? {
        Some(file) => file,
        None => {
            let file = folder.new_file(&name)?;
            let written = write(&reader, to, &file.path).await?;
            let stored = folder.store(&name, file).await?;
            if check(&stored.path)? != written {
                bail!("{name} does not read back as it was written: is the storage sound?");
            }
            stored
        }
    };
    remove(room, &file.path, since).await.map(Some)
}

/// Streams that stay when a range of a log is removed. An error where the service could not start
/// without the range.
async fn retained_streams(
    url: &str,
    log: LogName,
    file: &Path,
    cut: u64,
) -> anyhow::Result<RetainedStreams> {
    let (store, reader) = connect(url, log).await?;
    match log {
        LogName::Dealer => {
            let archive = Archive::open(open(file)?)?;
            let whole = sabacc_dealer::retention::retained_streams(&reader, archive).await?;
            Ok(RetainedStreams { whole, tails: Vec::new() })
        }
        LogName::Table => Ok(sabacc_table::retention::retained_streams(&store, cut).await?),
        LogName::Wallet => {
            let newest = newest_snapshot(&reader, &Repo::new(&store)).await?.unwrap_or(0);
            if newest <= cut {
                bail!(
                    "the wallet could not start without these events: its newest snapshot is of the \
                     first {newest}, and it must reach beyond position {cut}. The wallet takes one \
                     when it stops: stop and start it, and remove the range then"
                );
            }
            Ok(RetainedStreams::default())
        }
    }
}

/// Writes a new file, and reads it back from the disk.
async fn write(reader: &Reader, to: u64, path: &Path) -> anyhow::Result<Verified> {
    let from = reader.cut().await?.map_or(0, |cut| cut.size());
    let before = archive::tree_at(reader, from).await?;
    let file = File::create_new(path)
        .with_context(|| format!("{} cannot be made: choose a new name", path.display()))?;
    let mut out = BufWriter::new(file);
    let written = archive::write(reader, from..to, before, &mut out).await;
    let written = match written {
        Ok(written) => written,
        Err(error) => {
            // Half a file is useless, and would block the next attempt.
            let _ = std::fs::remove_file(path);
            return Err(error.into());
        }
    };
    out.flush()?;
    out.get_ref().sync_all()?;
    // The file's name is as durable as its content.
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder)?.sync_all()?;
    }
    if check(path)? != written {
        bail!("{} does not read back as it was written: is the disk sound?", path.display());
    }
    Ok(written)
}

fn check(path: &Path) -> anyhow::Result<Verified> {
    Ok(Archive::open(open(path)?)?.finish()?)
}

fn open(path: &Path) -> anyhow::Result<BufReader<File>> {
    let file = File::open(path);
    Ok(BufReader::new(file.with_context(|| format!("{} cannot be read", path.display()))?))
}

fn print_archive(json: bool, done: &str, whole: &Verified) {
    let Verified { header, after: _, head: (size, root), recorded_at } = whole;
    let root = hex::encode(root);
    let (from, to) = (header.range.start, header.range.end);
    if json {
        let value = serde_json::json!({
            "done": done, "log": &*header.log, "from": from, "to": to,
            "last_recorded_at": recorded_at.0, "log_size": size, "log_root": root,
        });
        output::line(&value.to_string());
        return;
    }
    output::line(&format!("{}: positions {from} to {to} (before it), {done}", header.log));
    output::line(&format!("leads to root {root} of the log at size {size}: compare a checkpoint"));
}
