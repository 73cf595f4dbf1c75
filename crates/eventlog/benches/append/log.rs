//! Load on the log.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use eventlog::{
    Authenticator, Entry, Group, Limits, Log, NewEvent, Options, PgStore, PoolSizes, Position,
    Request, RequestId, StreamId,
};
use futures_util::stream::{FuturesOrdered, StreamExt as _};
use system::clock::{Clock as _, SystemClock};
use system::entropy::SystemEntropy;
use tokio::time::Instant;

use crate::rows::{ACTOR, Row, row};
use crate::{Rate, SPAN};

pub(crate) const LOADS: &[Load] =
    &[Load::Callers(64), Load::Callers(1), Load::Groups(100), Load::Groups(1000)];

#[derive(Clone, Copy)]
pub(crate) enum Load {
    /// Number of tasks, each of which waits for its answer before it sends again.
    Callers(usize),
    /// Number of entries in each group of one engine, with two groups in flight at any time.
    Groups(usize),
}

pub(crate) async fn open(url: &str) -> anyhow::Result<Log> {
    let store = PgStore::connect(url, "table", PoolSizes::default()).await?;
    let options = Options {
        name: "table/0".into(),
        owner: "benchmark".into(),
        address: "here".into(),
        lease: Duration::from_secs(30),
        take_over: false,
        clock: Arc::new(|| SystemClock::new().now()),
        authenticator: Authenticator::new(
            &[7; 32],
            "table/0",
            Arc::new(|| system::entropy::bytes(&SystemEntropy)),
        ),
        limits: Limits::default(),
    };
    Ok(Log::open(store, options).await?)
}

fn entry() -> Entry {
    let Row { stream, payload, request, digest, answer } = row();
    let event = NewEvent { stream: StreamId(stream), kind: 3, schema: 1, sealed: false, payload };
    let request = Request { id: RequestId(request), digest, answer };
    Entry { events: vec![event], request: Some(request), actor: ACTOR.into(), trace: [7; 16] }
}

impl Load {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Load::Callers(1) => "one caller",
            Load::Callers(_) => "64 callers",
            Load::Groups(100) => "groups of 100",
            Load::Groups(_) => "groups of 1000",
        }
    }

    pub(crate) async fn run(self, log: &Log) -> anyhow::Result<Rate> {
        match self {
            Load::Callers(callers) => run_callers(log, callers).await,
            Load::Groups(entries) => run_groups(log, entries).await,
        }
    }
}

async fn run_callers(log: &Log, callers: usize) -> anyhow::Result<Rate> {
    let began = Instant::now();
    let tasks: Vec<_> = (0..callers)
        .map(|_| {
            let log = log.clone();
            tokio::spawn(async move {
                let mut times = Vec::new();
                while began.elapsed() < SPAN {
                    times.push(log.append(entry()).await?.recorded_at);
                }
                anyhow::Ok(times)
            })
        })
        .collect();
    let (mut events, mut commits) = (0, BTreeSet::new());
    for task in tasks {
        let times = task.await??;
        events += times.len() as u64;
        // All events of a commit have one time.
        commits.extend(times);
    }
    let seconds = began.elapsed().as_secs_f64();
    Ok(Rate { events, commits: commits.len() as u64, seconds })
}

async fn run_groups(log: &Log, entries: usize) -> anyhow::Result<Rate> {
    let (mut rate, began) = (Rate::default(), Instant::now());
    let mut next = log.size();
    let mut on_their_way = FuturesOrdered::new();
    while began.elapsed() < SPAN {
        let group = Group {
            entries: (0..entries).map(|_| entry()).collect(),
            first: Position(next),
            at: SystemClock::new().now(),
            rows: None,
        };
        next += entries as u64;
        on_their_way.push_back(log.append_group(group));
        if on_their_way.len() == 2
            && let Some(written) = on_their_way.next().await
        {
            rate.events += written?.len() as u64;
            rate.commits += 1;
        }
    }
    while let Some(written) = on_their_way.next().await {
        rate.events += written?.len() as u64;
        rate.commits += 1;
    }
    rate.seconds = began.elapsed().as_secs_f64();
    Ok(rate)
}
