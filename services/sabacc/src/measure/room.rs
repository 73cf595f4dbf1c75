//! Room to load: a new one, that of a data folder, or one elsewhere.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::{Context as _, bail};
use audit::{Checks, Verdict, hand};
use bench::load::{AuditResult, Auditor, LoadTarget};
use bench::start::{self, History, StartTimes};
use bench::{MeasuredServer, ProgressBar};
use chassis::auth::TokenIssuer;
use primitives::TableId;
use tempfile::TempDir;
use tokio::time::Instant;

use crate::data_directory::DataDirectory;
use crate::logs::Logs;
use crate::output::Progress;
use crate::room::{Room, RoomOptions};
use crate::{audits, evidence, keys, output};

/// Room to load.
pub(super) struct LoadedRoom {
    url: String,
    issuer: TokenIssuer,
    folder: Option<DataDirectory>,
    server: MeasuredServer,
    own_room: Option<(Room, Option<TempDir>)>,
}

impl LoadedRoom {
    /// Connects to a room elsewhere that trusts the issuer with this private key.
    pub(super) fn remote(url: &str, key: &Path) -> anyhow::Result<LoadedRoom> {
        let pem = std::fs::read_to_string(key)
            .with_context(|| format!("the key {} cannot be read", key.display()))?;
        let issuer = TokenIssuer::from_pem("load", &pem)
            .with_context(|| format!("the key {} cannot be used", key.display()))?;
        let server = MeasuredServer::default();
        Ok(LoadedRoom { url: url.to_owned(), issuer, folder: None, server, own_room: None })
    }

    /// Connects to the room that runs in a data folder.
    pub(super) fn running_in(data: &Path) -> anyhow::Result<LoadedRoom> {
        let folder = DataDirectory::open(data)?;
        let Some(running) = folder.running_room() else {
            bail!(
                "no room runs in {}: start one with `sabacc up`, or leave --data away and load \
                 starts a room of its own",
                data.display()
            );
        };
        let server = MeasuredServer {
            service: Some(("room", running.pid)),
            postgres: Some(running.database_url),
            data: Some(folder.path().to_owned()),
        };
        let (url, issuer) = (running.address, folder.issuer()?);
        Ok(LoadedRoom { url, issuer, folder: Some(folder), server, own_room: None })
    }

    /// Starts a room with a private PostgreSQL with synchronous commits, in a temporary folder,
    /// that takes `streams` streams and calls on each connection.
    pub(super) async fn start(streams: u32) -> anyhow::Result<LoadedRoom> {
        let dir = bench::temporary_folder()?;
        let postgres = bench::private_postgres(dir.path());
        let folder = DataDirectory::create(dir.path())?;
        let room = Room::start(options(&folder, postgres, streams), &Progress::quiet()).await?;
        Ok(LoadedRoom::of(room, folder, Some(dir)))
    }

    /// `dir` is removed with the room.
    fn of(room: Room, folder: DataDirectory, dir: Option<TempDir>) -> LoadedRoom {
        let server = MeasuredServer {
            service: None,
            postgres: Some(room.postgres.admin_url()),
            data: Some(folder.path().to_owned()),
        };
        let (url, issuer) = (room.local_url(), room.issuer.clone());
        LoadedRoom { url, issuer, folder: Some(folder), server, own_room: Some((room, dir)) }
    }

    /// The room, with the directory in which its bots keep evidence.
    pub(super) fn target(&self, evidence: Option<&Path>) -> anyhow::Result<LoadTarget<'_>> {
        let keys = self.folder.as_ref().map(keys::trusted_keys).transpose()?;
        let evidence = evidence.map(evidence::open).transpose()?;
        let logs = self.folder.as_ref().zip(self.server.postgres.as_deref());
        let auditor = logs.map(|(folder, url)| -> Auditor<'_> {
            Box::new(move |tables, most| Box::pin(audit(folder, url, tables, most)))
        });
        Ok(LoadTarget {
            keys: keys.unwrap_or_default(),
            evidence,
            url: &self.url,
            issuer: &self.issuer,
            server: &self.server,
            own_postgres: self.own_room.as_ref().map(|(room, _)| &room.postgres),
            auditor,
        })
    }

    /// Stops a room that was started for the load.
    pub(super) async fn close(self) -> anyhow::Result<()> {
        match self.own_room {
            Some((room, dir)) => {
                let stopped = room.stop().await;
                drop(dir);
                stopped
            }
            None => Ok(()),
        }
    }
}

/// Options of a new room without limits, that takes `streams` streams and calls on each connection.
fn options(
    folder: &DataDirectory,
    postgres: postgres_launcher::Options,
    streams: u32,
) -> RoomOptions {
    RoomOptions {
        folder: folder.clone(),
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        postgres,
        min_streams: Some(streams),
        no_player_limits: true,
        witnesses: Vec::new(),
        guests: false,
        time_scale: 1,
    }
}

/// Temporary folder of a room that is stopped and started again.
pub(super) struct LastingRoom {
    folder: DataDirectory,
    streams: u32,
    _dir: TempDir,
}

impl LastingRoom {
    /// Creates the folder of a room that takes `streams` streams and calls on each connection.
    pub(super) fn create(streams: u32) -> anyhow::Result<LastingRoom> {
        let dir = bench::temporary_folder()?;
        Ok(LastingRoom { folder: DataDirectory::create(dir.path())?, streams, _dir: dir })
    }

    fn postgres(&self) -> postgres_launcher::Options {
        let mut postgres = bench::private_postgres(self.folder.path());
        postgres.ephemeral = false;
        postgres
    }

    /// Starts the room. Returns the instants of the first step and of the last.
    pub(super) async fn start(&self) -> anyhow::Result<(LoadedRoom, Instant, Instant)> {
        let began = Instant::now();
        let options = options(&self.folder, self.postgres(), self.streams);
        let room = Room::start(options, &Progress::quiet()).await?;
        let served = Instant::now();
        Ok((LoadedRoom::of(room, self.folder.clone(), None), began, served))
    }

    /// Starts the room, measures until its tables answer, and stops it.
    pub(super) async fn time_start(&self, history: &History) -> anyhow::Result<StartTimes> {
        let (room, began, served) = self.start().await?;
        let times = start::time_start(&room.target(None)?, history, began, served).await;
        room.close().await?;
        times
    }

    /// Deletes the snapshots of the stopped room.
    pub(super) async fn delete_snapshots(&self) -> anyhow::Result<()> {
        let postgres = postgres_launcher::obtain(&self.postgres()).await?;
        let deleted = start::delete_snapshots(&postgres.admin_url()).await;
        postgres.stop().await?;
        deleted
    }
}

/// Audits up to `most` hands of these tables, evenly spread, and the whole ledger.
async fn audit(
    folder: &DataDirectory,
    url: &str,
    tables: Vec<TableId>,
    most: u64,
) -> anyhow::Result<AuditResult> {
    let mut logs = Logs::connect(folder, url, None).await?;
    let mut ended = Vec::new();
    for table in tables {
        ended.extend(logs.ended_hands(table).await?);
    }
    let bar = ProgressBar::new();
    bar.show("auditing", 0, ended.len() as u64, "hands that ended");
    let step = (ended.len() as u64).div_ceil(most.max(1)).max(1);
    let chosen: Vec<_> = ended.iter().step_by(usize::try_from(step)?).collect();
    let mut passed = 0;
    for (done, id) in chosen.iter().enumerate() {
        bar.show("auditing", done as u64, chosen.len() as u64, "hands");
        let report = hand::audit(&logs.hand_records(**id).await?);
        if report.passed_but_for_proofs() {
            passed += 1;
        } else {
            print_failures(&format!("hand {id}"), &report.checks);
        }
    }
    let ledger = audits::audit_ledger(&logs).await?;
    print_failures("ledger", &ledger.checks);
    let (ended, hands) = (ended.len() as u64, chosen.len() as u64);
    Ok(AuditResult { ended, hands, passed, ledger: ledger.passed() })
}

/// Prints the checks of `audited` that did not pass.
fn print_failures<C: Copy + PartialEq + std::fmt::Display>(audited: &str, checks: &Checks<C>) {
    for checked in checks.0.iter().filter(|checked| checked.verdict != Verdict::Passed) {
        output::error(&format!("{audited}: {} {}", checked.check, checked.verdict));
    }
}
