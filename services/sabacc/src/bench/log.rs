//! `sabacc bench log`: measures the log alone, in this process, without a network.
//!
//! Each caller appends an event with a request, as every command of a service does, waits until it
//! is durable, and appends the next. The floor is PostgreSQL writing the same rows from one
//! connection in batches of the log's average size.

use std::sync::Arc;
use std::time::Duration;

use chassis::config::LogIdentity;
use ed25519_dalek::SigningKey;
use eventlog::{Entry, Limits, Log, NewEvent, Options, PgStore, Pools, Request, StreamId};
use notary::{Notary, Parts};
use system::clock::{Clock as _, SystemClock};
use system::entropy::{self, SystemEntropy};
use system::ids::IdMaker;

use super::drive::{Done, Worker, drive};
use super::figures::{Figure, Report};
use super::rig::{Rig, noise};
use super::{Common, Yardsticks, unless_stopped};

/// The database schema, named like a service.
const SCHEMA: &str = "bench";
const LOG: &str = "bench/0";
/// Goal: ratio of the log's rate to the floor's.
const OF_FLOOR: f64 = 0.7;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Bytes of each event.
    #[arg(long, value_name = "E", default_value = "300", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub(crate) event_bytes: u32,
    /// Sign the log while it is written, as every service does.
    #[arg(long)]
    pub(crate) signed: bool,
}

pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<Report> {
    let mut rig = Rig::start(arguments.common.pgbench).await?;
    let report = unless_stopped(measure(&mut rig, arguments)).await;
    rig.stop().await?;
    report
}

async fn measure(rig: &mut Rig, arguments: &Arguments) -> anyhow::Result<Report> {
    let Arguments { common, event_bytes, signed } = arguments;
    let url = rig.postgres.admin_url();
    eventlog::migrate(&url, SCHEMA, None).await?;
    let store = PgStore::connect(&url, SCHEMA, Pools::default()).await?;
    let log = Log::open(store.clone(), options()).await?;
    let notary = signed.then(|| sign(store, &log)).transpose()?;
    rig.beside.run().await?;
    let content = noise(usize::try_from(*event_bytes)?);
    let appenders = (0..common.clients).map(|_| Appender::new(&log, &content)).collect();
    let mut gauge = rig.gauge(None).await?;
    let driven = drive(common.stint("appending"), appenders, &mut gauge).await?;
    rig.beside.run().await?;
    let shape = rig.admin.shape(SCHEMA, 0).await?;
    drop(notary);
    log.close().await;
    let floor = rig.floor(SCHEMA, (shape, common.stint("the floor"))).await?;
    let pgbench = rig.beside.mean();
    let figure = Figure::new("append", common.clients, driven)
        .beside("pgbench", pgbench, None)
        .beside_floor(floor, &shape, Some(OF_FLOOR));
    let yardsticks = Yardsticks { pgbench, ..Yardsticks::default() };
    Ok(yardsticks.report("log", common.seconds, vec![figure]))
}

/// Starts a notary with a random key.
fn sign(store: Arc<PgStore>, log: &Log) -> anyhow::Result<Notary> {
    let key = SigningKey::from_bytes(&entropy::bytes(&SystemEntropy));
    let identity = LogIdentity { origin: "bench.local/log".into(), key };
    let notary = Notary::new(Parts { shelf: store, log: LOG.into(), identity, memory: None })?;
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
    async fn step(&mut self) -> anyhow::Result<Done> {
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
        Ok(Done { operations: 1, took: self.clock.now().since(began) })
    }
}
