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
use crate::bench::costs::{CostMeter, MeasuredServer};
use crate::bench::harness::{self, PgbenchBaseline};
use crate::bench::progress_bar::ProgressBar;
use crate::data_directory::DataDirectory;
use crate::logs::Logs;
use crate::output::Progress;
use crate::repo::Database;
use crate::room::{self, Room, RoomOptions};
use crate::{audits, output};

/// Connections of the bots to a new room.
const OWN_ROOM_CONNECTIONS: u32 = 8;
/// Bots that share a connection to a room with default limits: each has one open stream and an
/// occasional call, and 32 are allowed.
const BOTS_PER_CONNECTION: u32 = 24;

/// Room to load.
pub(crate) struct LoadTarget {
    url: String,
    issuer: TokenIssuer,
    folder: Option<DataDirectory>,
    server: MeasuredServer,
    own_room: Option<(Room, TempDir)>,
}

/// Result of the audits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct AuditResult {
    /// Hands that ended.
    pub(crate) ended: u64,
    /// Hands that were audited.
    pub(crate) hands: u64,
    /// Hands that passed every check.
    pub(crate) passed: u64,
    /// Whether the ledger passed every check.
    pub(crate) ledger: bool,
}

impl LoadTarget {
    /// Connects to the room, or starts one.
    pub(crate) async fn open(
        data: Option<PathBuf>,
        options: &Options,
    ) -> anyhow::Result<LoadTarget> {
        match (&options.server, &options.key, data) {
            (Some(server), Some(key), _) => LoadTarget::remote(server, key),
            (_, _, Some(data)) => LoadTarget::running_in(&data),
            (_, _, None) => LoadTarget::start_room(options.streams_per_connection()).await,
        }
    }

    pub(crate) fn remote(url: &str, key: &Path) -> anyhow::Result<LoadTarget> {
        let pem = std::fs::read_to_string(key)
            .with_context(|| format!("the key {} cannot be read", key.display()))?;
        let issuer = TokenIssuer::from_pem("load", &pem)
            .with_context(|| format!("the key {} cannot be used", key.display()))?;
        let server = MeasuredServer::default();
        Ok(LoadTarget { url: url.to_owned(), issuer, folder: None, server, own_room: None })
    }

    fn running_in(data: &Path) -> anyhow::Result<LoadTarget> {
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
        let issuer = folder.issuer()?;
        Ok(LoadTarget {
            url: running.address,
            issuer,
            folder: Some(folder),
            server,
            own_room: None,
        })
    }

    /// Starts a room with a private PostgreSQL with synchronous commits, in a temporary folder,
    /// that takes `streams` streams and calls on each connection.
    pub(crate) async fn start_room(streams: u32) -> anyhow::Result<LoadTarget> {
        let (dir, folder) = harness::temporary_folder()?;
        let postgres = harness::private_postgres(&folder);
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let its = folder.clone();
        let plan = RoomOptions {
            folder: its,
            listen,
            postgres,
            min_streams: Some(streams),
            no_player_limits: true,
            witnesses: Vec::new(),
        };
        let room = Room::start(plan, &Progress::quiet()).await?;
        let server = MeasuredServer {
            service: None,
            postgres: Some(room.postgres.admin_url()),
            data: Some(folder.path().to_owned()),
        };
        let (url, issuer) = (room.local_url(), room.issuer.clone());
        Ok(LoadTarget { url, issuer, folder: Some(folder), server, own_room: Some((room, dir)) })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Default number of connections for this many bots.
    pub(crate) fn default_connections(&self, bots: u32) -> u32 {
        if self.own_room.is_some() {
            OWN_ROOM_CONNECTIONS
        } else {
            bots.div_ceil(BOTS_PER_CONNECTION)
        }
    }

    /// Returns a client on the same connection with a new token.
    pub(crate) fn client(&self, connection: &Client, role: Role, subject: &str) -> Client {
        connection.with_token(room::token(&self.issuer, role, subject))
    }

    /// Opens the meter of the room's costs.
    pub(crate) async fn cost_meter(&self) -> anyhow::Result<CostMeter> {
        CostMeter::open(&self.server).await
    }

    /// Prepares `pgbench` on the PostgreSQL of a new room; not on any other, where it would
    /// disturb.
    pub(crate) async fn pgbench(&self, seconds: u64) -> anyhow::Result<PgbenchBaseline> {
        let Some((room, _)) = self.own_room.as_ref().filter(|_| seconds > 0) else {
            return Ok(PgbenchBaseline::default());
        };
        let mut admin = Database::connect(&room.postgres.admin_url()).await?;
        PgbenchBaseline::prepare(&room.postgres, &room.folder, &mut admin, seconds).await
    }

    /// Audits up to `most` hands of these tables and the whole ledger; none if the logs cannot be
    /// read.
    pub(crate) async fn audit(
        &self,
        tables: &[TableId],
        most: u64,
    ) -> anyhow::Result<Option<AuditResult>> {
        let (Some(folder), Some(url)) = (&self.folder, &self.server.postgres) else {
            return Ok(None);
        };
        let mut logs = Logs::connect(folder, url, None).await?;
        let mut ended = Vec::new();
        for table in tables {
            ended.extend(logs.ended_hands(*table).await?);
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
                continue;
            }
            for checked in &report.checks.0 {
                if checked.verdict != Verdict::Passed {
                    output::error(&format!("hand {id}: {} {}", checked.check, checked.verdict));
                }
            }
        }
        let books = audits::audit_ledger(&logs).await?;
        for checked in &books.checks.0 {
            if checked.verdict != Verdict::Passed {
                output::error(&format!("ledger: {} {}", checked.check, checked.verdict));
            }
        }
        let (ended, hands) = (ended.len() as u64, chosen.len() as u64);
        Ok(Some(AuditResult { ended, hands, passed, ledger: books.passed() }))
    }

    /// Stops a room that was started for the load.
    pub(crate) async fn close(self) -> anyhow::Result<()> {
        match self.own_room {
            Some((room, _dir)) => room.stop().await,
            None => Ok(()),
        }
    }
}
