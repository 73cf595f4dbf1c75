//! Driver of concurrent workers, and the measurement of their work.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use tokio::task::JoinSet;

use crate::cost_table::CostTable;
use crate::costs::CostMeter;
use crate::latency::{Latencies, Percentiles};
use crate::progress_bar::ProgressBar;
use crate::rounded;
use tokio::time::Instant;

/// Time between two updates of the progress bar.
const TICK: Duration = Duration::from_millis(250);

/// Phases of a measurement.
const WARM_UP: u8 = 0;
const MEASURED: u8 = 1;
const OVER: u8 = 2;

/// Worker that repeats one operation.
pub(crate) trait Worker: Send + 'static {
    /// Runs it once.
    fn step(&mut self) -> impl Future<Output = anyhow::Result<StepResult>> + Send;
}

/// Result of one step.
pub(crate) struct StepResult {
    /// Number of operations in the step.
    pub(crate) operations: u64,
    /// Time that the caller waited.
    pub(crate) latency: Duration,
}

/// Length of a measurement and its warm-up, with its label.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) label: &'static str,
    pub(crate) warm_up: Duration,
    pub(crate) measured: Duration,
}

/// Measurements of the workers' sample.
pub(crate) struct Measurement {
    pub(crate) operations: u64,
    /// Operations per second.
    pub(crate) rate: f64,
    pub(crate) latency: Option<Percentiles>,
    pub(crate) cpu_seconds: BTreeMap<&'static str, Option<f64>>,
    pub(crate) wal_bytes: Option<f64>,
    pub(crate) disk_bytes: Option<f64>,
    /// Costs an operation by stage and process.
    pub(crate) costs: CostTable,
}

/// Runs the workers for a sample. The first error of a worker ends it.
pub(crate) async fn run_workers<W: Worker>(
    sample: Sample,
    workers: Vec<W>,
    meter: &mut CostMeter,
) -> anyhow::Result<Measurement> {
    let phase = Arc::new(AtomicU8::new(WARM_UP));
    let total = Arc::new(AtomicU64::new(0));
    let mut working = JoinSet::new();
    for worker in workers {
        working.spawn(run_worker(worker, Arc::clone(&phase), Arc::clone(&total)));
    }
    let bar = ProgressBar::new();
    run_phase(&mut working, "warm-up", sample.warm_up, &bar, &total).await?;
    let before = meter.read().await?;
    let clock = Instant::now();
    phase.store(MEASURED, Ordering::Relaxed);
    run_phase(&mut working, sample.label, sample.measured, &bar, &total).await?;
    phase.store(OVER, Ordering::Relaxed);
    let seconds = clock.elapsed().as_secs_f64();
    let after = meter.read().await?;
    let (mut operations, mut latencies) = (0, Latencies::default());
    while let Some(done) = working.join_next().await {
        let (count, took) = done.context("a worker crashed")??;
        operations += count;
        latencies.absorb(took);
    }
    let (wal_bytes, disk_bytes) = after.written_since(&before, operations);
    Ok(Measurement {
        operations,
        rate: per_second(operations, seconds),
        latency: latencies.percentiles(),
        cpu_seconds: after.cpu_since(&before),
        wal_bytes,
        disk_bytes,
        costs: meter.table(&before, &after, operations).await,
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts of one run stay far below 2^52")]
pub(crate) fn per_second(operations: u64, seconds: f64) -> f64 {
    rounded(operations as f64 / seconds)
}

async fn run_worker<W: Worker>(
    mut worker: W,
    phase: Arc<AtomicU8>,
    total: Arc<AtomicU64>,
) -> anyhow::Result<(u64, Latencies)> {
    let (mut operations, mut latencies) = (0, Latencies::default());
    loop {
        let StepResult { operations: done, latency: took } = worker.step().await?;
        total.fetch_add(done, Ordering::Relaxed);
        match phase.load(Ordering::Relaxed) {
            WARM_UP => {}
            MEASURED => {
                operations += done;
                latencies.add(took);
            }
            _ => return Ok((operations, latencies)),
        }
    }
}

/// Waits with a progress bar for `time`, unless a worker ends.
async fn run_phase(
    working: &mut JoinSet<anyhow::Result<(u64, Latencies)>>,
    what: &str,
    time: Duration,
    bar: &ProgressBar,
    total: &AtomicU64,
) -> anyhow::Result<()> {
    let end = tokio::time::sleep(time);
    tokio::pin!(end);
    let mut ticks = tokio::time::interval(TICK);
    let mut looks: u32 = 0;
    let first = total.load(Ordering::Relaxed);
    loop {
        tokio::select! {
            () = &mut end => return Ok(()),
            _ = ticks.tick() => {
                let passed = TICK * looks;
                looks += 1;
                let done = total.load(Ordering::Relaxed) - first;
                let rate = u128::from(done) * 1000 / passed.as_millis().max(1);
                let note = format!("s, {rate} a second");
                bar.show(what, passed.as_secs(), time.as_secs(), &note);
            }
            Some(ended) = working.join_next() => {
                ended.context("a worker crashed")??;
            }
        }
    }
}
