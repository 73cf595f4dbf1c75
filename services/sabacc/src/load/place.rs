//! Target of the load: a new room, the room of a data folder, or a room elsewhere.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use audit::Verdict;
use audit::hand;
use chassis::auth::{Role, TokenIssuer};
use client::Client;
use primitives::TableId;
use serde::Serialize;
use tempfile::TempDir;

use super::Options;
use crate::bench::bar::Bar;
use crate::bench::gauge::{Gauge, Server};
use crate::bench::rig::{self, Beside};
use crate::folder::Folder;
use crate::logs::Logs;
use crate::repo::Database;
use crate::room::{self, Plan, Room};
use crate::say::Progress;
use crate::{audits, say};

/// Connections of the bots to a new room.
const CONNECTIONS: u32 = 8;
/// Bots that share a connection to a room with default limits: each has one open stream and an
/// occasional call, and 32 are allowed.
const BOTS_ON_ONE: u32 = 24;

/// Room to load.
pub(crate) struct Place {
    url: String,
    issuer: TokenIssuer,
    folder: Option<Folder>,
    server: Server,
    own: Option<(Room, TempDir)>,
}

/// Result of the audits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Audited {
    /// Hands that ended.
    pub(crate) ended: u64,
    /// Hands that were audited.
    pub(crate) hands: u64,
    /// Hands that passed every check.
    pub(crate) passed: u64,
    /// Whether the ledger passed every check.
    pub(crate) ledger: bool,
}

impl Place {
    /// Connects to the room, or starts one.
    pub(crate) async fn open(data: Option<PathBuf>, options: &Options) -> anyhow::Result<Place> {
        match (&options.server, &options.key, data) {
            (Some(server), Some(key), _) => Place::elsewhere(server, key),
            (_, _, Some(data)) => Place::of(&data),
            (_, _, None) => Place::own(options.streams()).await,
        }
    }

    pub(crate) fn elsewhere(url: &str, key: &Path) -> anyhow::Result<Place> {
        let pem = std::fs::read_to_string(key)
            .with_context(|| format!("the key {} cannot be read", key.display()))?;
        let issuer = TokenIssuer::from_pem("load", &pem)
            .with_context(|| format!("the key {} cannot be used", key.display()))?;
        let server = Server::default();
        Ok(Place { url: url.to_owned(), issuer, folder: None, server, own: None })
    }

    fn of(data: &Path) -> anyhow::Result<Place> {
        let folder = Folder::open(data)?;
        let Some(running) = folder.running() else {
            bail!(
                "no room runs in {}: start one with `sabacc up`, or leave --data away and load \
                 starts a room of its own",
                data.display()
            );
        };
        let server = Server {
            service: Some(("room", running.pid)),
            postgres: Some(running.database_url),
            data: Some(folder.path().to_owned()),
        };
        let issuer = folder.issuer()?;
        Ok(Place { url: running.address, issuer, folder: Some(folder), server, own: None })
    }

    /// Starts a room with a private PostgreSQL with synchronous commits, in a temporary folder,
    /// that takes `streams` streams and calls on each connection.
    pub(crate) async fn own(streams: u32) -> anyhow::Result<Place> {
        let (dir, folder) = rig::temporary()?;
        let postgres = rig::options(&folder);
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let its = folder.clone();
        let plan = Plan {
            folder: its,
            listen,
            postgres,
            streams: Some(streams),
            unpaced: true,
            witnesses: Vec::new(),
        };
        let room = Room::start(plan, &Progress::quiet()).await?;
        let server = Server {
            service: None,
            postgres: Some(room.postgres.admin_url()),
            data: Some(folder.path().to_owned()),
        };
        let (url, issuer) = (room.url(), room.issuer.clone());
        Ok(Place { url, issuer, folder: Some(folder), server, own: Some((room, dir)) })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Default number of connections for this many bots.
    pub(crate) fn connections(&self, bots: u32) -> u32 {
        if self.own.is_some() { CONNECTIONS } else { bots.div_ceil(BOTS_ON_ONE) }
    }

    /// Returns a client on the same connection with a new token.
    pub(crate) fn client(&self, connection: &Client, role: Role, subject: &str) -> Client {
        connection.bearing(room::token(&self.issuer, role, subject))
    }

    /// Opens the gauge of the room's costs.
    pub(crate) async fn gauge(&self) -> anyhow::Result<Gauge> {
        Gauge::open(&self.server).await
    }

    /// Prepares `pgbench` on the PostgreSQL of a new room; not on any other, where it would
    /// disturb.
    pub(crate) async fn beside(&self, seconds: u64) -> anyhow::Result<Beside> {
        let Some((room, _)) = self.own.as_ref().filter(|_| seconds > 0) else {
            return Ok(Beside::default());
        };
        let mut admin = Database::connect(&room.postgres.admin_url()).await?;
        Beside::prepare(&room.postgres, &room.folder, (&mut admin, seconds)).await
    }

    /// Audits up to `most` hands of these tables and the whole ledger; none if the logs cannot be
    /// read.
    pub(crate) async fn audit(
        &self,
        tables: &[TableId],
        most: u64,
    ) -> anyhow::Result<Option<Audited>> {
        let (Some(folder), Some(url)) = (&self.folder, &self.server.postgres) else {
            return Ok(None);
        };
        let mut logs = Logs::at(folder, url, None).await?;
        let mut ended = Vec::new();
        for table in tables {
            ended.extend(logs.ended(*table).await?);
        }
        let bar = Bar::new();
        bar.show("auditing", (0, ended.len() as u64), "hands that ended");
        let step = (ended.len() as u64).div_ceil(most.max(1)).max(1);
        let chosen: Vec<_> = ended.iter().step_by(usize::try_from(step)?).collect();
        let mut passed = 0;
        for (done, id) in chosen.iter().enumerate() {
            bar.show("auditing", (done as u64, chosen.len() as u64), "hands");
            let report = hand::audit(&logs.hand(**id).await?);
            if report.passed_but_for_proofs() {
                passed += 1;
                continue;
            }
            for checked in &report.checks.0 {
                if checked.verdict != Verdict::Passed {
                    say::error(&format!("hand {id}: {} {}", checked.check, checked.verdict));
                }
            }
        }
        let books = audits::books(&logs).await?;
        for checked in &books.checks.0 {
            if checked.verdict != Verdict::Passed {
                say::error(&format!("ledger: {} {}", checked.check, checked.verdict));
            }
        }
        let (ended, hands) = (ended.len() as u64, chosen.len() as u64);
        Ok(Some(Audited { ended, hands, passed, ledger: books.passed() }))
    }

    /// Stops a room that was started for the load.
    pub(crate) async fn close(self) -> anyhow::Result<()> {
        match self.own {
            Some((room, _dir)) => room.stop().await,
            None => Ok(()),
        }
    }
}
