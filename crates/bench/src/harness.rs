//! Harness of a measurement: a private PostgreSQL, and the baselines that are measured on it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use chassis::auth::TokenIssuer;
use postgres_launcher::{Environment, Postgres};
use system::entropy::{self, SystemEntropy};
use system::ids::IdMaker;
use tempfile::TempDir;

use crate::costs::{CostMeter, MeasuredServer};
use crate::drive::{Sample, StepResult, Worker, run_workers};
use crate::pgbench::Pgbench;
use crate::process;
use crate::repo::{Database, RowAverages, Rows, SqlUuid};
use tokio::time::Instant;

/// Creates a temporary folder that a database server can use. Dropping it removes it.
///
/// # Errors
/// The folder cannot be made.
pub fn temporary_folder() -> anyhow::Result<TempDir> {
    let made = tempfile::Builder::new().prefix("sabacc-load-").tempdir();
    let dir = made.context("no temporary folder can be made: set TMPDIR to one that can")?;
    // When started by root, the database server runs as another user, who needs access.
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755))?;
    Ok(dir)
}

/// Options of a private PostgreSQL in a temporary folder, with synchronous commits.
#[must_use]
pub fn private_postgres(folder: &Path) -> postgres_launcher::Options {
    let mut options = postgres_launcher::Options::new(folder, Environment::read());
    options.database_url = None;
    options.ephemeral = true;
    options
}

/// `pgbench`, run before and after the measured work.
#[derive(Default)]
pub(crate) struct PgbenchBaseline {
    pgbench: Option<Pgbench>,
    run_seconds: u64,
    rates: Vec<f64>,
}

impl PgbenchBaseline {
    /// Prepares runs of this many seconds each; 0: none.
    pub(crate) async fn prepare(
        postgres: &Postgres,
        folder: &Path,
        admin: &mut Database,
        seconds: u64,
    ) -> anyhow::Result<PgbenchBaseline> {
        let postmaster = process::postmaster(folder);
        let pgbench = match seconds {
            0 => None,
            _ => Pgbench::prepare(postgres, postmaster, admin).await?,
        };
        Ok(PgbenchBaseline { pgbench, run_seconds: seconds, rates: Vec::new() })
    }

    /// Runs it once.
    pub(crate) async fn run(&mut self) -> anyhow::Result<()> {
        if let Some(pgbench) = &self.pgbench {
            self.rates.push(pgbench.transactions(self.run_seconds).await?);
        }
        Ok(())
    }

    /// Runs it after the measured work, and returns the mean of this run and the one before.
    pub(crate) async fn run_after(&mut self) -> anyhow::Result<Option<f64>> {
        let before = self.rates.last().copied();
        self.run().await?;
        let both = before.zip(self.rates.last().copied());
        Ok(both.map(|(before, after)| crate::rounded(f64::midpoint(before, after))))
    }

    /// Mean of all runs in transactions per second; none if it never ran.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "runs are few")]
    pub(crate) fn mean(&self) -> Option<f64> {
        let sum: f64 = self.rates.iter().sum();
        (!self.rates.is_empty()).then(|| crate::rounded(sum / self.rates.len() as f64))
    }
}

/// The server, and connections to it.
pub(crate) struct BenchHarness {
    /// Issuer of the measured service's tokens.
    pub(crate) issuer: TokenIssuer,
    /// File with the key that signs the measured service's log.
    pub(crate) log_key: PathBuf,
    pub(crate) postgres: Postgres,
    pub(crate) admin: Database,
    pub(crate) pgbench: PgbenchBaseline,
    dir: TempDir,
}

impl BenchHarness {
    /// Starts a server; `pgbench` is the length of each of its runs in seconds.
    pub(crate) async fn start(pgbench: u64) -> anyhow::Result<BenchHarness> {
        let dir = temporary_folder()?;
        let issuer = TokenIssuer::generate("bench", &SystemEntropy);
        let log_key = dir.path().join("log.pem");
        // Ed25519 in PKCS#8, as the key of an issuer.
        let key = TokenIssuer::generate("log", &SystemEntropy).private_pem();
        std::fs::write(&log_key, key.expose()).context("the log's key cannot be written")?;
        let postgres = postgres_launcher::obtain(&private_postgres(dir.path())).await?;
        let mut admin = Database::connect(&postgres.admin_url()).await?;
        let pgbench = PgbenchBaseline::prepare(&postgres, dir.path(), &mut admin, pgbench).await?;
        Ok(BenchHarness { issuer, log_key, postgres, admin, pgbench, dir })
    }

    /// Temporary folder of the measurement.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Opens the meter of the costs; `service` is a measured process, if it is not this one.
    pub(crate) async fn cost_meter(
        &self,
        service: Option<(&'static str, u32)>,
    ) -> anyhow::Result<CostMeter> {
        CostMeter::open(&MeasuredServer {
            service,
            postgres: Some(self.postgres.admin_url()),
            data: Some(self.path().to_owned()),
        })
        .await
    }

    /// Returns the events per second that PostgreSQL alone writes in batches of this shape from one
    /// connection: the floor of a service's log.
    pub(crate) async fn measure_floor(
        &mut self,
        shape: RowAverages,
        sample: Sample,
    ) -> anyhow::Result<f64> {
        self.admin.create_floor_tables().await.context("no floor can be made")?;
        let mut meter = self.cost_meter(None).await?;
        let database = Database::connect(&self.postgres.admin_url()).await?;
        let writer = FloorWriter { database, shape, next: 0, ids: IdMaker::system() };
        Ok(run_workers(sample, vec![writer], &mut meter).await?.rate)
    }

    /// Returns the median commit of one row by one client, in milliseconds.
    pub(crate) async fn measure_single_commit(
        &mut self,
        sample: Sample,
    ) -> anyhow::Result<Option<f64>> {
        self.admin.create_floor_tables().await.context("no floor can be made")?;
        let mut meter = self.cost_meter(None).await?;
        let database = Database::connect(&self.postgres.admin_url()).await?;
        let writer = SingleWriter { database, next: 0, clock: Instant::now() };
        let driven = run_workers(sample, vec![writer], &mut meter).await?;
        Ok(driven.latency.map(|latency| latency.p50))
    }

    /// Stops the server and removes its files.
    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        let BenchHarness { postgres, admin, dir, .. } = self;
        drop(admin);
        let stopped = postgres.stop().await;
        drop(dir);
        Ok(stopped?)
    }
}

struct FloorWriter {
    database: Database,
    shape: RowAverages,
    next: i64,
    ids: IdMaker,
}

impl Worker for FloorWriter {
    async fn step(&mut self) -> anyhow::Result<StepResult> {
        let clock = Instant::now();
        let rows = self.rows();
        self.database.write_floor(&rows).await?;
        Ok(StepResult { operations: rows.positions.len() as u64, latency: clock.elapsed() })
    }
}

impl FloorWriter {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "averages of small counts, never negative"
    )]
    fn rows(&mut self) -> Rows {
        let count = (self.shape.events_per_commit.round() as i64).max(1);
        let positions: Vec<i64> = (self.next..self.next + count).collect();
        self.next += count;
        let requests = (self.shape.requests_per_event * count as f64).round() as usize;
        Rows {
            times: positions.iter().map(|position| 1_700_000_000_000_000 + position).collect(),
            ids: positions.iter().map(|_| SqlUuid(self.ids.uuid_v7())).collect(),
            requests: requests.min(positions.len()),
            positions,
            payload: incompressible_bytes(self.shape.payload_bytes),
            answer: incompressible_bytes(self.shape.answer_bytes),
            hash: entropy::bytes(&SystemEntropy),
        }
    }
}

struct SingleWriter {
    database: Database,
    next: u64,
    clock: Instant,
}

impl Worker for SingleWriter {
    async fn step(&mut self) -> anyhow::Result<StepResult> {
        let began = self.clock.elapsed();
        self.database.write_single(self.next, &[7; 200]).await?;
        self.next += 1;
        Ok(StepResult { operations: 1, latency: self.clock.elapsed().saturating_sub(began) })
    }
}

/// Returns incompressible bytes, like sealed and hashed content.
pub(crate) fn incompressible_bytes(length: usize) -> Vec<u8> {
    let block: [u8; 64] = entropy::bytes(&SystemEntropy);
    block.iter().copied().cycle().take(length).collect()
}
