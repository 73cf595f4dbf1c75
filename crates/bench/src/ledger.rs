//! `sabacc bench ledger`: measures transfers, requested from a wallet as tables do.
//!
//! The wallet is its own process with its own PostgreSQL. Callers move one credit from a player's
//! account to a seat and back, each for a different player:
//!
//! - `alone`: one caller, compared with a call that does nothing plus the commit of one row;
//! - `unary`: one transfer per call, one after the other, over a few connections; compared with as
//!   many callers of a call that does nothing;
//! - `stream`: one `Post` stream for each caller, with several transfers in flight;
//! - `batch`: a few callers, each with one `PostBatch` after another.
//!
//! Then idle accounts are opened, to measure their memory, and the wallet is stopped and started,
//! to measure the time of a start.

mod accounts;
mod posts;
mod unary;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context as _;
use chassis::channel::PeerChannel;
use primitives::{Credits, PlayerId};
use system::ids::IdMaker;
use tokio::task::JoinSet;

use crate::costs::{CostMeter, MeasuredServer};
use crate::drive::{Worker, run_workers};
use crate::figures::{Figure, Goal, Report, ratio};
use crate::harness::BenchHarness;
use crate::wallet_process::WalletProcess;
use crate::{Baselines, CommonOptions, Summary, until_signal};
use posts::{BatchPoster, StreamPoster};
use unary::{BareCaller, TransferCaller};

/// Credits of each caller's player.
const BANKROLL: u32 = 1_000_000;
/// Number of accounts that are opened concurrently.
const CONCURRENT_ACCOUNTS: usize = 64;

/// Goals: ratios to the baselines, and bytes of memory for an idle account.
const UNARY: f64 = 3.0;
const STREAM: f64 = 6.0;
const BATCH: f64 = 10.0;
const BATCH_OF_FLOOR: f64 = 0.5;
const ALONE: f64 = 1.5;
const IDLE_BYTES: f64 = 200.0;

/// Arguments of `sabacc bench ledger`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    common: CommonOptions,
    /// Number of shared connections, as of a few table services.
    #[arg(long, value_name = "C", default_value = "4", value_parser = clap::value_parser!(u32).range(1..=1000))]
    connections: u32,
    /// Transfers in each batch.
    #[arg(long, value_name = "B", default_value = "100", value_parser = clap::value_parser!(u16).range(1..=1000))]
    batch: u16,
    /// Number of concurrent callers of batches.
    #[arg(long, value_name = "C", default_value = "64", value_parser = clap::value_parser!(u32).range(1..=1000))]
    batch_clients: u32,
    /// Transfers in flight on each stream.
    #[arg(long, value_name = "W", default_value = "64", value_parser = clap::value_parser!(u16).range(1..=1024))]
    window: u16,
    /// Number of idle accounts to open; 0: none.
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = clap::value_parser!(u32).range(..=10_000_000))]
    accounts: u32,
    /// The inner port of a wallet that runs elsewhere; needs --key. The only baseline then is a
    /// bare call.
    #[arg(long, value_name = "URL", requires = "key")]
    server: Option<String>,
    /// The private key (PEM) of an issuer that the wallet at --server trusts, services included.
    #[arg(long, value_name = "FILE", requires = "server")]
    key: Option<PathBuf>,
}

/// Measures transfers.
///
/// # Errors
/// PostgreSQL or the wallet does not start, a transfer is refused, or a signal arrives.
pub async fn run(arguments: &Arguments) -> anyhow::Result<Summary> {
    if let (Some(server), Some(key)) = (&arguments.server, &arguments.key) {
        let wallet = WalletProcess::remote(server, key)?;
        return Summary::of(until_signal(measure_remote(&wallet, arguments)).await?);
    }
    let mut harness = BenchHarness::start(arguments.common.pgbench).await?;
    let report = until_signal(measure(&mut harness, arguments)).await;
    harness.stop().await?;
    Summary::of(report?)
}

async fn measure(harness: &mut BenchHarness, arguments: &Arguments) -> anyhow::Result<Report> {
    let common = arguments.common;
    let password = IdMaker::system().table_id().to_string();
    sabacc_wallet::service::migrate(&harness.postgres.admin_url(), Some(&password)).await?;
    let wallet = WalletProcess::start(harness, &password).await?;
    // First, while the database has nothing to clean up.
    let (alone, bare) = measure_single_caller(Some(&*harness), &wallet, common).await?;
    let single_commit = harness.measure_single_commit(common.short_sample("commits")).await?;
    harness.pgbench.run().await?;
    let (mut figures, bare_calls) = transfers(Some(&mut *harness), &wallet, arguments).await?;
    let idle = match arguments.accounts {
        0 => None,
        count => accounts::open_idle_accounts(&wallet, count).await?,
    };
    wallet.stop().await?;
    let wallet = WalletProcess::start(harness, &password).await?;
    let ready = wallet.start_time;
    wallet.stop().await?;

    let bare_unary = bare.median_latency();
    figures.push(with_single_caller_goal(alone, bare_unary.zip(single_commit)));
    let calls = vec![
        ("bare_calls", Some(bare_calls)),
        ("bare_unary_ms", bare_unary),
        ("single_commit_ms", single_commit),
    ];
    let yardsticks = Baselines { pgbench: harness.pgbench.mean(), others: calls };
    let mut report = yardsticks.report("ledger", common.seconds, figures);
    report.sizes = BTreeMap::from([
        ("bytes_per_idle_account", idle),
        ("idle_accounts", Some(f64::from(arguments.accounts))),
        ("seconds_to_be_ready_again", Some(crate::rounded(ready.as_secs_f64()))),
    ]);
    let goal = format!("{IDLE_BYTES} bytes of memory for an idle account");
    report.goals.push(Goal::at_most(&goal, idle, IDLE_BYTES));
    Ok(report)
}

/// Measures a wallet that somebody else runs, compared with a call that does nothing.
async fn measure_remote(wallet: &WalletProcess, arguments: &Arguments) -> anyhow::Result<Report> {
    let common = arguments.common;
    let (mut figures, bare_calls) = transfers(None, wallet, arguments).await?;
    let (alone, bare) = measure_single_caller(None, wallet, common).await?;
    figures.push(alone);
    let calls = vec![("bare_calls", Some(bare_calls)), ("bare_unary_ms", bare.median_latency())];
    let yardsticks = Baselines { pgbench: None, others: calls };
    Ok(yardsticks.report("ledger", common.seconds, figures))
}

/// Measures all concurrent callers, and the rate of calls that do nothing.
async fn transfers(
    mut harness: Option<&mut BenchHarness>,
    wallet: &WalletProcess,
    arguments: &Arguments,
) -> anyhow::Result<(Vec<Figure>, f64)> {
    let common = arguments.common;
    let players = open_players(wallet, common.clients.max(arguments.batch_clients)).await?;
    let channels: Vec<PeerChannel> =
        (0..arguments.connections).map(|_| wallet.channel()).collect::<Result<_, _>>()?;
    let places = || players.iter().copied().zip(channels.iter().cycle());
    let clients = usize::try_from(common.clients)?;
    let callers =
        places().take(clients).map(|(player, channel)| TransferCaller::new(player, channel));
    let unary = TransferRun {
        name: "unary",
        clients: common.clients,
        common,
        pgbench_goal: UNARY,
        floor_goal: None,
    };
    let unary = unary.run(harness.as_deref_mut(), wallet, callers.collect()).await?;
    let bare = channels.iter().cycle().take(clients).map(BareCaller::new).collect();
    let mut meter = cost_meter(harness.as_deref(), wallet).await?;
    let bare = run_workers(common.short_sample("bare calls at once"), bare, &mut meter).await?;
    let unary = unary.with_baseline("bare calls", Some(bare.rate), None);
    let mut streams = Vec::new();
    for (player, channel) in places().take(clients) {
        streams.push(StreamPoster::open(player, channel, arguments.window.into()).await?);
    }
    let stream = TransferRun {
        name: "stream",
        clients: common.clients,
        common,
        pgbench_goal: STREAM,
        floor_goal: None,
    };
    let stream = stream.run(harness.as_deref_mut(), wallet, streams).await?;
    let clients = arguments.batch_clients;
    let batches = places().take(usize::try_from(clients)?);
    let batches =
        batches.map(|(it, channel)| BatchPoster::new(it, channel, arguments.batch.into()));
    let batch = TransferRun {
        name: "batch",
        clients,
        common,
        pgbench_goal: BATCH,
        floor_goal: Some(BATCH_OF_FLOOR),
    };
    let batch = batch.run(harness, wallet, batches.collect()).await?;
    Ok((vec![unary, stream, batch], bare.rate))
}

/// Measurement of one way to request transfers.
struct TransferRun {
    name: &'static str,
    clients: u32,
    common: CommonOptions,
    /// Least ratio to `pgbench`.
    pgbench_goal: f64,
    /// Least ratio to `UNNEST`.
    floor_goal: Option<f64>,
}

impl TransferRun {
    /// Runs the workers, and the baselines before and after.
    async fn run<W: Worker>(
        self,
        harness: Option<&mut BenchHarness>,
        wallet: &WalletProcess,
        workers: Vec<W>,
    ) -> anyhow::Result<Figure> {
        let TransferRun { name, clients, common, pgbench_goal, floor_goal } = self;
        let mut meter = cost_meter(harness.as_deref(), wallet).await?;
        let Some(harness) = harness else {
            let driven = run_workers(common.sample(name), workers, &mut meter).await?;
            return Ok(Figure::new(name, clients, driven));
        };
        let from = harness.admin.event_count("wallet").await?;
        let driven = run_workers(common.sample(name), workers, &mut meter).await?;
        let shape = harness.admin.row_averages("wallet", from).await?;
        let floor = harness.measure_floor(shape, common.short_sample("the floor")).await?;
        let pgbench = harness.pgbench.run_after().await?;
        let figure = Figure::new(name, clients, driven).with_baseline(
            "pgbench",
            pgbench,
            Some(pgbench_goal),
        );
        Ok(figure.with_floor(floor, &shape, floor_goal))
    }
}

async fn cost_meter(
    harness: Option<&BenchHarness>,
    wallet: &WalletProcess,
) -> anyhow::Result<CostMeter> {
    match harness {
        Some(harness) => harness.cost_meter(wallet.pid().map(|pid| ("wallet", pid))).await,
        None => CostMeter::open(&MeasuredServer::default()).await,
    }
}

/// Measures one caller of transfers, and one of calls that do nothing.
async fn measure_single_caller(
    harness: Option<&BenchHarness>,
    wallet: &WalletProcess,
    common: CommonOptions,
) -> anyhow::Result<(Figure, Figure)> {
    let mut meter = cost_meter(harness, wallet).await?;
    let (channel, players) = (wallet.channel()?, open_players(wallet, 1).await?);
    let player = *players.first().context("one was asked for")?;
    let alone = vec![TransferCaller::new(player, &channel)];
    let alone = run_workers(common.short_sample("alone"), alone, &mut meter).await?;
    let bare =
        run_workers(common.short_sample("bare calls"), vec![BareCaller::new(&channel)], &mut meter)
            .await?;
    Ok((Figure::new("alone", 1, alone), Figure::new("bare", 1, bare)))
}

/// Adds the ratio of the median to a bare call plus a commit.
fn with_single_caller_goal(mut alone: Figure, needed: Option<(f64, f64)>) -> Figure {
    let ratio = ratio(alone.median_latency(), needed.map(|(call, commit)| call + commit));
    alone.ratios.insert("bare unary + single commit", ratio);
    let goal = format!("{ALONE} x (bare unary + single commit), in the median");
    alone.goals.push(Goal::at_most(&goal, ratio, ALONE));
    alone
}

/// Opens accounts with credits, and returns their players.
async fn open_players(wallet: &WalletProcess, count: u32) -> anyhow::Result<Vec<PlayerId>> {
    let (operator, ids) = (wallet.operator()?, IdMaker::system());
    let players: Vec<PlayerId> = (0..count).map(|_| ids.player_id()).collect();
    for some in players.chunks(CONCURRENT_ACCOUNTS) {
        let mut opening = JoinSet::new();
        for player in some {
            let (operator, player) = (operator.clone(), *player);
            opening.spawn(async move {
                operator.open_account(Some(player)).await?;
                operator.issue(player, Credits::of(BANKROLL), "credits to move about").await
            });
        }
        while let Some(opened) = opening.join_next().await {
            opened.context("opening an account crashed")??;
        }
    }
    Ok(players)
}
