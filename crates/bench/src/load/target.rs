//! Room to load, as the program that knows it describes it.

use std::sync::Arc;

use chassis::auth::{Role, TokenIssuer};
use client::{Client, EvidenceDirectory, TrustedKeys};
use futures_util::future::LocalBoxFuture;
use postgres_launcher::Postgres;
use primitives::TableId;
use serde::Serialize;

use crate::costs::{CostMeter, MeasuredServer};
use crate::harness::PgbenchBaseline;
use crate::repo::Database;

/// Connections of the bots to a new room.
const OWN_ROOM_CONNECTIONS: u32 = 8;
/// Bots that share a connection to a room with default limits: each has one open stream and an
/// occasional call, and 32 are allowed.
const BOTS_PER_CONNECTION: u32 = 24;

/// Audit of up to so many hands of these tables, evenly spread, and of the whole ledger.
pub type Auditor<'a> =
    Box<dyn Fn(Vec<TableId>, u64) -> LocalBoxFuture<'a, anyhow::Result<AuditResult>> + 'a>;

/// Room to load.
pub struct LoadTarget<'a> {
    /// URL of its public port.
    pub url: &'a str,
    /// Issuer whose tokens it trusts.
    pub issuer: &'a TokenIssuer,
    /// Sources of its costs.
    pub server: &'a MeasuredServer,
    /// PostgreSQL of a room that was started for the load; `pgbench` would disturb any other.
    pub own_postgres: Option<&'a Postgres>,
    /// Public keys of its logs; without them no bot checks its chance.
    pub keys: TrustedKeys,
    /// Folder of the bots' evidence; none: in memory.
    pub evidence: Option<Arc<EvidenceDirectory>>,
    /// None if its logs cannot be read.
    pub auditor: Option<Auditor<'a>>,
}

/// Result of the audits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AuditResult {
    /// Hands that ended.
    pub ended: u64,
    /// Hands that were audited.
    pub hands: u64,
    /// Hands that passed every check.
    pub passed: u64,
    /// Whether the ledger passed every check.
    pub ledger: bool,
}

impl LoadTarget<'_> {
    /// Default number of connections for this many bots.
    pub(crate) fn default_connections(&self, bots: u32) -> u32 {
        match self.own_postgres {
            Some(_) => OWN_ROOM_CONNECTIONS,
            None => bots.div_ceil(BOTS_PER_CONNECTION),
        }
    }

    /// Returns a client on the same connection with a new token.
    pub(crate) fn client(&self, connection: &Client, role: Role, subject: &str) -> Client {
        let client = connection.with_token(self.issuer.issue_for_a_day(role, subject));
        let client = client.with_trusted_keys(self.keys.clone());
        match &self.evidence {
            Some(directory) => client.with_evidence(Arc::clone(directory)),
            None => client,
        }
    }

    /// Opens the meter of the room's costs.
    pub(crate) async fn cost_meter(&self) -> anyhow::Result<CostMeter> {
        CostMeter::open(self.server).await
    }

    /// Prepares `pgbench` on the PostgreSQL of a new room.
    pub(crate) async fn pgbench(&self, seconds: u64) -> anyhow::Result<PgbenchBaseline> {
        let (Some(postgres), Some(folder)) = (self.own_postgres, &self.server.data) else {
            return Ok(PgbenchBaseline::default());
        };
        if seconds == 0 {
            return Ok(PgbenchBaseline::default());
        }
        let mut admin = Database::connect(&postgres.admin_url()).await?;
        PgbenchBaseline::prepare(postgres, folder, &mut admin, seconds).await
    }

    /// Audits up to `most` hands of these tables and the whole ledger; none if the logs cannot be
    /// read.
    pub(crate) async fn audit(
        &self,
        tables: &[TableId],
        most: u64,
    ) -> anyhow::Result<Option<AuditResult>> {
        match &self.auditor {
            Some(audit) => audit(tables.to_vec(), most).await.map(Some),
            None => Ok(None),
        }
    }
}
