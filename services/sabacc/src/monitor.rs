//! `sabacc monitor`: follows the logs of a room's table and dealer at its public address, and keeps
//! what it saw. It needs the room's keys, no token and no trust in the room.
//!
//! - `session` is a running monitor, `look` one look at a log, `files` what the room serves, `state`
//!   what is kept.
//! - `difference` finds the record in which two trees of one log differ.
//! - `evidence` writes a finding as files, `pursuit` asks the room for the records concerned.
//!
//! The records are judged by `audit::monitor`.
//!
//! Specification: fairness/SPEC.md §18.

mod difference;
mod evidence;
mod files;
mod look;
mod pursuit;
mod session;
mod state;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use postgres_launcher::{Environment, default_data_dir};

use self::files::Unreachable;
use self::look::Trouble;
use self::session::Session;
use crate::data_directory::{self, DataDirectory};
use crate::{keys, output};

/// Exit codes beside 0.
const FOUND: u8 = 1;
const UNCHECKED: u8 = 2;

#[derive(Args)]
pub(crate) struct Options {
    /// The public address of the room, if it is not that of the data folder.
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// The public keys of the room's logs, in the form of its keys.txt, from a source that you
    /// trust; if they are not those of the data folder.
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// The folder of what was seen: it must outlive the monitor. A room each.
    #[arg(long, value_name = "DIR")]
    state: PathBuf,
    /// A checkpoint that somebody else was shown, to compare with what is seen here; may be given
    /// more than once.
    #[arg(long, value_name = "FILE")]
    against: Vec<PathBuf>,
    /// Look once: exit code 0 if nothing was found, 1 if something was, 2 if the room could not be
    /// checked.
    #[arg(long)]
    once: bool,
    /// Seconds between looks.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    interval: u64,
    /// The longest time for a look at one log with --once, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    within: u64,
}

/// Follows a room. Returns the exit code.
pub(crate) async fn run(data: Option<PathBuf>, options: &Options) -> u8 {
    match follow(data, options).await {
        Ok(code) => code,
        Err(error) => {
            output::error(&format!("sabacc: {error:#}"));
            UNCHECKED
        }
    }
}

async fn follow(data: Option<PathBuf>, options: &Options) -> anyhow::Result<u8> {
    let (address, keys) = address_and_keys(data, options)?;
    std::fs::create_dir_all(&options.state)
        .with_context(|| format!("{} cannot be made", options.state.display()))?;
    let lock = options.state.join("lock");
    let _alone = data_directory::lock_file(&lock, &options.state, "--state")?;
    if let Some(code) = report_earlier(&options.state)? {
        return Ok(code);
    }
    let mut session = match Session::open(&options.state, &address, &keys) {
        Ok(session) => session,
        Err(trouble) => return conclude(trouble, &options.state),
    };
    if options.once {
        return session.once(options).await;
    }
    session.forever(options).await
}

/// Returns the room's public address and the text of its keys file.
fn address_and_keys(data: Option<PathBuf>, options: &Options) -> anyhow::Result<(String, String)> {
    let path = data.unwrap_or_else(|| default_data_dir(&Environment::read()));
    let address = match &options.server {
        Some(server) => server.clone(),
        None => {
            let running = DataDirectory::open(&path)?.running_room();
            let running = running.with_context(|| {
                format!("no room runs in {}: name one with --server", path.display())
            })?;
            running.address
        }
    };
    let keys = match (&options.keys, &options.server) {
        (Some(file), _) => std::fs::read_to_string(file)
            .with_context(|| format!("{} cannot be read", file.display()))?,
        (None, None) => keys::room_keys(&DataDirectory::open(&path)?)?,
        (None, Some(_)) => {
            bail!("the keys of the room are needed: --keys FILE, best from elsewhere than the room")
        }
    };
    Ok((address, keys))
}

/// Reports findings of earlier looks, which nothing that a room shows later undoes.
fn report_earlier(state: &Path) -> anyhow::Result<Option<u8>> {
    let earlier = evidence::earlier(state)?;
    let Some(first) = earlier.first() else { return Ok(None) };
    output::error(&format!(
        "sabacc: an earlier look has found something: see {}; keep {}, and follow the room anew with \
         another --state",
        first.display(),
        state.display()
    ));
    Ok(Some(FOUND))
}

/// Reports a trouble. Returns the exit code for it.
fn conclude(trouble: Trouble, state: &Path) -> anyhow::Result<u8> {
    match trouble {
        Trouble::Found(finding) => {
            output::error(&format!("sabacc: {}", finding.words));
            let folder = finding.save(state)?;
            output::error(&format!("sabacc: it is kept in {}", folder.display()));
            Ok(FOUND)
        }
        Trouble::Unreachable(Unreachable(why)) => {
            output::error(&format!("sabacc: the room cannot be checked: {why}"));
            Ok(UNCHECKED)
        }
        Trouble::Own(error) => Err(error),
    }
}
