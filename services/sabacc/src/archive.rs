//! `sabacc archive`: moves old ranges of a log to self-proving files, and back.
//!
//! Writing and checking change nothing. Removing and restoring need an administrator, and are
//! refused unless the file agrees with the live log event for event. Only the wallet can start
//! without its whole log, so only its old ranges can be removed.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use chassis::config::{Settings, Source};
use clap::{Args, Subcommand, ValueEnum};
use eventlog::archive::{self, Archive, Verified};
use eventlog::{PgStore, PoolSizes, Reader, UnixMicros};
use postgres_launcher::{Environment, default_data_dir};
use sabacc_wallet::newest_snapshot;
use sabacc_wallet::repo::Repo;
use system::clock::{Clock as _, SystemClock};

use crate::data_directory::DataDirectory;
use crate::output;

/// One day in seconds.
const DAY: u64 = 86_400;

#[derive(Subcommand)]
pub(crate) enum ArchiveCommand {
    /// Write the events between the log's cut and a position to a new file.
    Write {
        #[arg(value_enum)]
        log: LogName,
        /// The position to end before.
        #[arg(long, value_name = "POSITION")]
        to: u64,
        file: PathBuf,
        #[command(flatten)]
        database: DatabaseOptions,
    },
    /// Check that a file is complete and proves itself. Needs no database.
    Check { file: PathBuf },
    /// Remove a file's events from the wallet's log.
    Remove {
        file: PathBuf,
        /// Keep events recorded within this number of days.
        #[arg(long, value_name = "DAYS")]
        keep_days: u64,
        #[command(flatten)]
        database: DatabaseOptions,
    },
    /// Put a file's events back into the wallet's log.
    Restore {
        file: PathBuf,
        #[command(flatten)]
        database: DatabaseOptions,
    },
}

/// Name of a log.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogName {
    Dealer,
    Table,
    Wallet,
}

impl LogName {
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
}

impl DatabaseOptions {
    fn url(&self, data: Option<PathBuf>) -> anyhow::Result<String> {
        let mut settings = Settings::new(Source::from_process(self.config.as_deref())?);
        let url = settings.secret("database_url", &["DATABASE_URL"]);
        settings.finish()?;
        if let Some(url) = url {
            return Ok(url.expose().to_owned());
        }
        let path = data.unwrap_or_else(|| default_data_dir(&Environment::read()));
        let running = DataDirectory::open(&path)?.running_room().context(
            "which database? set SABACC_DATABASE_URL to an administrator's address, or start the \
             room of the data folder",
        )?;
        Ok(running.database_url)
    }
}

pub(crate) async fn run(
    data: Option<PathBuf>,
    json: bool,
    what: ArchiveCommand,
) -> anyhow::Result<bool> {
    match what {
        ArchiveCommand::Write { log, to, file, database } => {
            let whole = write(&database.url(data)?, log, to, &file).await?;
            print_archive(json, "written and read back", &whole);
        }
        ArchiveCommand::Check { file } => print_archive(json, "whole", &check(&file)?),
        ArchiveCommand::Remove { file, keep_days, database } => {
            let whole = check_wallet_archive(&file)?;
            let keep = Duration::from_secs(keep_days.saturating_mul(DAY));
            let keep = u64::try_from(keep.as_micros()).unwrap_or(u64::MAX);
            let since = UnixMicros(SystemClock::new().now().0.saturating_sub(keep));
            let url = database.url(data)?;
            if whole.recorded_at < since {
                require_snapshot(&url, whole.header.range.end).await?;
            }
            let removed = archive::remove(&url, "wallet", &mut open(&file)?, since).await?;
            print_archive(json, &format!("{removed} events removed"), &whole);
        }
        ArchiveCommand::Restore { file, database } => {
            let whole = check_wallet_archive(&file)?;
            archive::restore(&database.url(data)?, "wallet", &mut open(&file)?).await?;
            print_archive(json, "restored", &whole);
        }
    }
    Ok(true)
}

/// Checks that the wallet can start without the events before `cut`.
async fn require_snapshot(url: &str, cut: u64) -> anyhow::Result<()> {
    let store = PgStore::connect(url, "wallet", PoolSizes::default()).await?;
    let repo = Repo::new(&store);
    let newest = newest_snapshot(&Reader::new(store, "wallet/0"), &repo).await?.unwrap_or(0);
    if newest <= cut {
        bail!(
            "the wallet could not start without these events: its newest snapshot is of the first \
             {newest}, and it must reach beyond position {cut}. The wallet takes one when it stops: \
             stop and start it, and remove the range then"
        );
    }
    Ok(())
}

/// Writes a new file, and reads it back from the disk.
async fn write(url: &str, log: LogName, to: u64, path: &Path) -> anyhow::Result<Verified> {
    let service = log.service();
    let store = PgStore::connect(url, service, PoolSizes::default()).await?;
    let reader = Reader::new(store, format!("{service}/0"));
    let from = reader.cut().await?.map_or(0, |cut| cut.size());
    let before = archive::tree_at(&reader, from).await?;
    let file = File::create_new(path)
        .with_context(|| format!("{} cannot be made: choose a new name", path.display()))?;
    let mut out = BufWriter::new(file);
    let written = archive::write(&reader, from..to, before, &mut out).await;
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
    if check(path)? != written {
        bail!("{} does not read back as it was written: is the disk sound?", path.display());
    }
    Ok(written)
}

fn check(path: &Path) -> anyhow::Result<Verified> {
    Ok(Archive::open(open(path)?)?.finish()?)
}

fn check_wallet_archive(path: &Path) -> anyhow::Result<Verified> {
    let whole = check(path)?;
    if &*whole.header.log != "wallet/0" {
        bail!(
            "{} is of the log {}: a table or a dealer starts from its whole log, so nothing can be \
             removed from it",
            path.display(),
            whole.header.log
        );
    }
    Ok(whole)
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
