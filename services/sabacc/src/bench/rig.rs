//! A PostgreSQL of one's own to measure on, and the yardsticks that are measured on it too.

use std::os::unix::fs::PermissionsExt as _;

use anyhow::Context as _;
use postgres_launcher::{Environment, Postgres};
use system::entropy::{self, SystemEntropy};
use system::ids::IdMaker;
use tempfile::TempDir;

use super::drive::{Done, Stint, Worker, drive};
use super::gauge::{Gauge, Server};
use super::pgbench::Pgbench;
use super::process;
use crate::folder::Folder;
use crate::repo::{Database, Id, Rows, Shape};
use crate::say::Progress;

/// A temporary folder for a room, which goes away with what is returned first.
pub(crate) fn temporary() -> anyhow::Result<(TempDir, Folder)> {
    let made = tempfile::Builder::new().prefix("sabacc-load-").tempdir();
    let dir = made.context("no temporary folder can be made: set TMPDIR to one that can")?;
    // Started by root, the database's server runs as somebody else, who has to pass.
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755))?;
    let folder = Folder::create(dir.path())?;
    Ok((dir, folder))
}

/// A private PostgreSQL in a temporary folder, which waits for the disk as any other does.
#[must_use]
pub(crate) fn options(folder: &Folder) -> postgres_launcher::Options {
    let mut options = postgres_launcher::Options::new(folder.path(), Environment::read());
    options.database_url = None;
    options.ephemeral = true;
    options
}

/// `pgbench`, run before and after what it is compared with.
#[derive(Default)]
pub(crate) struct Beside {
    pgbench: Option<Pgbench>,
    seconds: u64,
    rates: Vec<f64>,
}

impl Beside {
    /// Ready to run for so many seconds each time; 0: never.
    pub(crate) async fn prepare(
        postgres: &Postgres,
        folder: &Folder,
        (admin, seconds): (&mut Database, u64),
    ) -> anyhow::Result<Beside> {
        let postmaster = process::postmaster(folder.path());
        let pgbench = match seconds {
            0 => None,
            _ => Pgbench::prepare(postgres, postmaster, admin).await?,
        };
        Ok(Beside { pgbench, seconds, rates: Vec::new() })
    }

    /// Runs it once more.
    pub(crate) async fn run(&mut self) -> anyhow::Result<()> {
        if let Some(pgbench) = &self.pgbench {
            self.rates.push(pgbench.transactions(self.seconds).await?);
        }
        Ok(())
    }

    /// Runs it once more, after something that began when the run before had ended: the mean of both.
    pub(crate) async fn around(&mut self) -> anyhow::Result<Option<f64>> {
        let before = self.rates.last().copied();
        self.run().await?;
        let mean = |(before, after): (f64, f64)| super::rounded(f64::midpoint(before, after));
        Ok(before.zip(self.rates.last().copied()).map(mean))
    }

    /// Transactions a second, the mean of all runs; none where it never ran.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "runs are few")]
    pub(crate) fn mean(&self) -> Option<f64> {
        let sum: f64 = self.rates.iter().sum();
        (!self.rates.is_empty()).then(|| super::rounded(sum / self.rates.len() as f64))
    }
}

/// The server, and connections to it.
pub(crate) struct Rig {
    pub(crate) folder: Folder,
    pub(crate) postgres: Postgres,
    pub(crate) admin: Database,
    pub(crate) beside: Beside,
    dir: TempDir,
}

impl Rig {
    /// Starts a server; `pgbench` is the seconds of each of its runs.
    pub(crate) async fn start(pgbench: u64) -> anyhow::Result<Rig> {
        let (dir, folder) = temporary()?;
        let postgres = postgres_launcher::obtain(&options(&folder)).await?;
        let mut admin = Database::connect(&postgres.admin_url()).await?;
        let beside = Beside::prepare(&postgres, &folder, (&mut admin, pgbench)).await?;
        Ok(Rig { folder, postgres, admin, beside, dir })
    }

    /// What tells the costs, where `service` runs apart.
    pub(crate) async fn gauge(
        &self,
        service: Option<(&'static str, u32)>,
    ) -> anyhow::Result<Gauge> {
        Gauge::open(&Server {
            service,
            postgres: Some(self.postgres.admin_url()),
            data: Some(self.folder.path().to_owned()),
        })
        .await
    }

    /// Events a second that PostgreSQL writes in batches of this shape from one connection, with
    /// nobody above it: the floor of the log of a service.
    pub(crate) async fn floor(
        &mut self,
        schema: &'static str,
        (shape, stint): (Shape, Stint),
    ) -> anyhow::Result<f64> {
        self.admin.make_floor(schema).await.context("no floor can be made")?;
        let mut gauge = self.gauge(None).await?;
        let database = Database::connect(&self.postgres.admin_url()).await?;
        let writer = FloorWriter { database, shape, next: 0, ids: IdMaker::system() };
        Ok(drive(stint, vec![writer], &mut gauge).await?.rate)
    }

    /// Milliseconds, in the median, of the commit of one row by one client, beside the log of a service.
    pub(crate) async fn single_commit(
        &mut self,
        schema: &'static str,
        stint: Stint,
    ) -> anyhow::Result<Option<f64>> {
        self.admin.make_floor(schema).await.context("no floor can be made")?;
        let mut gauge = self.gauge(None).await?;
        let database = Database::connect(&self.postgres.admin_url()).await?;
        let writer = SingleWriter { database, next: 0, clock: Progress::quiet() };
        let driven = drive(stint, vec![writer], &mut gauge).await?;
        Ok(driven.latency.map(|latency| latency.p50))
    }

    /// Stops the server; its files go.
    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        let Rig { postgres, admin, dir, .. } = self;
        drop(admin);
        let stopped = postgres.stop().await;
        drop(dir);
        Ok(stopped?)
    }
}

struct FloorWriter {
    database: Database,
    shape: Shape,
    next: i64,
    ids: IdMaker,
}

impl Worker for FloorWriter {
    async fn step(&mut self) -> anyhow::Result<Done> {
        let clock = Progress::quiet();
        let rows = self.rows();
        self.database.write_floor(&rows).await?;
        Ok(Done { operations: rows.positions.len() as u64, took: clock.elapsed() })
    }
}

impl FloorWriter {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "averages of small counts, never negative"
    )]
    fn rows(&mut self) -> Rows {
        let count = (self.shape.batch.round() as i64).max(1);
        let positions: Vec<i64> = (self.next..self.next + count).collect();
        self.next += count;
        let requests = (self.shape.requests * count as f64).round() as usize;
        Rows {
            times: positions.iter().map(|position| 1_700_000_000_000_000 + position).collect(),
            ids: positions.iter().map(|_| Id(self.ids.uuid_v7())).collect(),
            requests: requests.min(positions.len()),
            positions,
            payload: noise(self.shape.payload),
            answer: noise(self.shape.answer),
            hash: entropy::bytes(&SystemEntropy),
        }
    }
}

struct SingleWriter {
    database: Database,
    next: u64,
    clock: Progress,
}

impl Worker for SingleWriter {
    async fn step(&mut self) -> anyhow::Result<Done> {
        let began = self.clock.elapsed();
        self.database.write_single(self.next, &[7; 200]).await?;
        self.next += 1;
        Ok(Done { operations: 1, took: self.clock.elapsed().saturating_sub(began) })
    }
}

/// Bytes that do not compress, as sealed and hashed content does not.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let block: [u8; 64] = entropy::bytes(&SystemEntropy);
    block.iter().copied().cycle().take(length).collect()
}
