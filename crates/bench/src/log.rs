//! `sabacc bench log`: measures the log alone, in this process, without a network.
//!
//! Each caller appends an event with a request, as every command of a service does, waits until it
//! is durable, and appends the next. The floor is PostgreSQL writing the same rows from one
//! connection in batches of the log's average size.
//!
//! With `--snapshot` the same callers append once more while another connection keeps a snapshot
//! open, as a backup does: PostgreSQL can then remove no old version of a row. The figure is of the
//! last seconds of that time, compared with the one before.

use std::sync::Arc;
use std::time::Duration;

use chassis::config::LogIdentity;
use ed25519_dalek::SigningKey;
use eventlog::{
    Authenticator, Entry, Limits, Log, NewEvent, Options, PgStore, PoolSizes, Request, StreamId,
};
use notary::{Dependencies, Notary};
use system::clock::{Clock as _, SystemClock};
use system::entropy::{self, SystemEntropy};
use system::ids::IdMaker;

use crate::drive::{Sample, StepResult, Worker, run_workers};
use crate::figures::{Figure, Report};
use crate::harness::{BenchHarness, incompressible_bytes};
use crate::repo::Database;
use crate::{Baselines, CommonOptions, Summary, until_signal};

/// The database schema, named like a service.
const SCHEMA: &str = "bench";
const LOG: &str = "bench/0";
/// Goal: ratio of the log's rate to the floor's.
const MIN_RATIO_TO_FLOOR: f64 = 0.7;
/// Goal: ratio of the rate beside a snapshot to the rate before it. Tables and indexes grow
/// meanwhile, and other work on the machine changes too.
const MIN_RATIO_BESIDE_SNAPSHOT: f64 = 0.7;

/// Arguments of `sabacc bench log`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    common: CommonOptions,
    /// Bytes of each event.
    #[arg(long, value_name = "E", default_value = "300", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    event_bytes: u32,
    /// Sign the log while it is written, as every service does.
    #[arg(long)]
    signed: bool,
    /// Seconds to append beside a snapshot that is held open, as by a backup; 0: none.
    #[arg(long, value_name = "S", default_value = "0", value_parser = clap::value_parser!(u64).range(..=86_400))]
    snapshot: u64,
}

/// Measures appends.
///
/// # Errors
/// PostgreSQL does not start, the log fails, or a signal arrives.
pub async fn run(arguments: &Arguments) -> anyhow::Result<Summary> {
    let mut harness = BenchHarness::start(arguments.common.pgbench).await?;
    let report = until_signal(measure(&mut harness, arguments)).await;
    harness.stop().await?;
    Summary::of(report?)
}

async fn measure(harness: &mut BenchHarness, arguments: &Arguments) -> anyhow::Result<Report> {
    let Arguments { common, event_bytes, signed, snapshot } = arguments;
    let url = harness.postgres.admin_url();
    eventlog::migrate(&url, SCHEMA, None).await?;
    let store = PgStore::connect(&url, SCHEMA, PoolSizes::default()).await?;
    let log = Log::open(store.clone(), options()).await?;
    let notary = signed.then(|| start_notary(store, &log)).transpose()?;
    harness.pgbench.run().await?;
    let content = incompressible_bytes(usize::try_from(*event_bytes)?);
    let appenders = || (0..common.clients).map(|_| Appender::new(&log, &content)).collect();
    let mut meter = harness.cost_meter(None).await?;
    let driven = run_workers(common.sample("appending"), appenders(), &mut meter).await?;
    harness.pgbench.run().await?;
    let shape = harness.admin.row_averages(SCHEMA, 0).await?;
    let beside = match snapshot {
        0 => None,
        _ => {
            let mut reader = Database::connect(&url).await?;
            reader.hold_snapshot().await?;
            let sample = last_seconds(*snapshot, common.seconds);
            Some(run_workers(sample, appenders(), &mut meter).await?)
        }
    };
    drop(notary);
    log.close().await;
    let floor = harness.measure_floor(shape, common.sample("the floor")).await?;
    let pgbench = harness.pgbench.mean();
    let figure = Figure::new("append", common.clients, driven)
        .with_baseline("pgbench", pgbench, None)
        .with_floor(floor, &shape, Some(MIN_RATIO_TO_FLOOR));
    let rate = figure.rate;
    let beside = beside.map(|driven| {
        let figure = Figure::new("append beside a snapshot", common.clients, driven);
        figure.with_baseline("append", Some(rate), Some(MIN_RATIO_BESIDE_SNAPSHOT))
    });
    let yardsticks = Baselines { pgbench, ..Baselines::default() };
    Ok(yardsticks.report("log", common.seconds, [figure].into_iter().chain(beside).collect()))
}

/// Sample of the last `measured` of so many seconds.
fn last_seconds(seconds: u64, measured: u64) -> Sample {
    let measured = measured.min(seconds);
    Sample {
        label: "appending beside a snapshot",
        warm_up: Duration::from_secs(seconds - measured),
        measured: Duration::from_secs(measured),
    }
}

/// Starts a notary with a random key.
fn start_notary(store: Arc<PgStore>, log: &Log) -> anyhow::Result<Notary> {
    let key = SigningKey::from_bytes(&entropy::bytes(&SystemEntropy));
    let identity = LogIdentity { origin: "bench.local/log".into(), key, previous: Vec::new() };
    let notary = Notary::new(Dependencies {
        store,
        log: LOG.into(),
        identity,
        checkpoint_file: None,
        archives: None,
    })?;
    notary.follow(log);
    Ok(notary)
}

fn options() -> Options {
    let clock = SystemClock::new();
    Options {
        name: LOG.into(),
        owner: format!("bench {}", std::process::id()).into(),
        address: "nowhere".into(),
        lease: Duration::from_secs(5),
        take_over: true,
        clock: Arc::new(move || clock.now()),
        authenticator: Authenticator::new(
            &[7; 32],
            LOG,
            Arc::new(|| system::entropy::bytes(&SystemEntropy)),
        ),
        limits: Limits::default(),
    }
}

struct Appender {
    log: Log,
    stream: StreamId,
    ids: IdMaker,
    actor: Arc<str>,
    content: Vec<u8>,
    digest: [u8; 32],
    clock: SystemClock,
}

impl Appender {
    fn new(log: &Log, content: &[u8]) -> Appender {
        let ids = IdMaker::system();
        Appender {
            log: log.clone(),
            stream: StreamId(ids.uuid_v7()),
            ids,
            actor: "service:bench".into(),
            content: content.to_vec(),
            digest: entropy::bytes(&SystemEntropy),
            clock: SystemClock::new(),
        }
    }
}

impl Worker for Appender {
    async fn step(&mut self) -> anyhow::Result<StepResult> {
        let event = NewEvent {
            stream: self.stream,
            kind: 1,
            schema: 1,
            sealed: false,
            payload: self.content.clone().into(),
        };
        let entry = Entry {
            events: vec![event],
            request: Some(Request {
                id: self.ids.request_id(),
                digest: self.digest,
                answer: vec![0].into(),
            }),
            actor: Arc::clone(&self.actor),
            trace: [0; 16],
        };
        let began = self.clock.now();
        self.log.append(entry).await?;
        Ok(StepResult { operations: 1, latency: self.clock.now().since(began) })
    }
}
