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

use super::child::Wallet;
use super::drive::{Worker, drive};
use super::figures::{Figure, Goal, Report, ratio};
use super::gauge::{Gauge, Server};
use super::rig::Rig;
use super::{Common, Yardsticks, unless_stopped};
use posts::{Batches, Posts};
use unary::{Bare, Caller};

/// Credits of each caller's player.
const PURSE: u32 = 1_000_000;
/// Accounts opened concurrently.
const OPENED_AT_ONCE: usize = 64;

/// Goals: ratios to the baselines, and bytes of memory for an idle account.
const UNARY: f64 = 3.0;
const STREAM: f64 = 6.0;
const BATCH: f64 = 10.0;
const BATCH_OF_FLOOR: f64 = 0.5;
const ALONE: f64 = 1.5;
const IDLE_BYTES: f64 = 200.0;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
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

pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<Report> {
    if let (Some(server), Some(key)) = (&arguments.server, &arguments.key) {
        let wallet = Wallet::elsewhere(server, key)?;
        return unless_stopped(measure_elsewhere(&wallet, arguments)).await;
    }
    let mut rig = Rig::start(arguments.common.pgbench).await?;
    let report = unless_stopped(measure(&mut rig, arguments)).await;
    rig.stop().await?;
    report
}

async fn measure(rig: &mut Rig, arguments: &Arguments) -> anyhow::Result<Report> {
    let common = arguments.common;
    let password = rig.folder.password("wallet.password")?;
    sabacc_wallet::shell::migrate(&rig.postgres.admin_url(), Some(&password)).await?;
    let wallet = Wallet::start(rig, &password).await?;
    // First, while the database has nothing to clean up.
    let (alone, bare) = alone(Some(&*rig), &wallet, common).await?;
    let single_commit = rig.single_commit("wallet", common.short("commits")).await?;
    rig.beside.run().await?;
    let (mut figures, bare_calls) = transfers(Some(&mut *rig), &wallet, arguments).await?;
    let idle = match arguments.accounts {
        0 => None,
        count => accounts::open(&wallet, count).await?,
    };
    wallet.stop().await?;
    let wallet = Wallet::start(rig, &password).await?;
    let ready = wallet.ready;
    wallet.stop().await?;

    let bare_unary = bare.median();
    figures.push(alone_beside(alone, bare_unary.zip(single_commit)));
    let calls = vec![
        ("bare_calls", Some(bare_calls)),
        ("bare_unary_ms", bare_unary),
        ("single_commit_ms", single_commit),
    ];
    let yardsticks = Yardsticks { pgbench: rig.beside.mean(), calls };
    let mut report = yardsticks.report("ledger", common.seconds, figures);
    report.sizes = BTreeMap::from([
        ("bytes_per_idle_account", idle),
        ("idle_accounts", Some(f64::from(arguments.accounts))),
        ("seconds_to_be_ready_again", Some(super::rounded(ready.as_secs_f64()))),
    ]);
    let goal = format!("{IDLE_BYTES} bytes of memory for an idle account");
    report.goals.push(Goal::at_most(&goal, idle, IDLE_BYTES));
    Ok(report)
}

/// Measures a wallet that somebody else runs, compared with a call that does nothing.
async fn measure_elsewhere(wallet: &Wallet, arguments: &Arguments) -> anyhow::Result<Report> {
    let common = arguments.common;
    let (mut figures, bare_calls) = transfers(None, wallet, arguments).await?;
    let (alone, bare) = alone(None, wallet, common).await?;
    figures.push(alone);
    let calls = vec![("bare_calls", Some(bare_calls)), ("bare_unary_ms", bare.median())];
    let yardsticks = Yardsticks { pgbench: None, calls };
    Ok(yardsticks.report("ledger", common.seconds, figures))
}

/// Measures all concurrent callers, and the rate of calls that do nothing.
async fn transfers(
    mut rig: Option<&mut Rig>,
    wallet: &Wallet,
    arguments: &Arguments,
) -> anyhow::Result<(Vec<Figure>, f64)> {
    let common = arguments.common;
    let players = players(wallet, common.clients.max(arguments.batch_clients)).await?;
    let channels: Vec<PeerChannel> =
        (0..arguments.connections).map(|_| wallet.channel()).collect::<Result<_, _>>()?;
    let places = || players.iter().copied().zip(channels.iter().cycle());
    let clients = usize::try_from(common.clients)?;
    let callers = places().take(clients).map(|(player, channel)| Caller::new(player, channel));
    let unary = Phase { name: "unary", clients: common.clients, common, goals: (UNARY, None) };
    let unary = unary.run(rig.as_deref_mut(), wallet, callers.collect()).await?;
    let bare = channels.iter().cycle().take(clients).map(Bare::new).collect();
    let mut gauge = gauge(rig.as_deref(), wallet).await?;
    let bare = drive(common.short("bare calls at once"), bare, &mut gauge).await?;
    let unary = unary.beside("bare calls", Some(bare.rate), None);
    let mut streams = Vec::new();
    for (player, channel) in places().take(clients) {
        streams.push(Posts::open(player, channel, arguments.window.into()).await?);
    }
    let stream = Phase { name: "stream", clients: common.clients, common, goals: (STREAM, None) };
    let stream = stream.run(rig.as_deref_mut(), wallet, streams).await?;
    let clients = arguments.batch_clients;
    let batches = places().take(usize::try_from(clients)?);
    let batches = batches.map(|(it, channel)| Batches::new(it, channel, arguments.batch.into()));
    let batch = Phase { name: "batch", clients, common, goals: (BATCH, Some(BATCH_OF_FLOOR)) };
    let batch = batch.run(rig, wallet, batches.collect()).await?;
    Ok((vec![unary, stream, batch], bare.rate))
}

/// Measurement of one way to request transfers.
struct Phase {
    name: &'static str,
    clients: u32,
    common: Common,
    /// Goals relative to `pgbench` and to `UNNEST`.
    goals: (f64, Option<f64>),
}

impl Phase {
    /// Runs the workers, and the baselines before and after.
    async fn run<W: Worker>(
        self,
        rig: Option<&mut Rig>,
        wallet: &Wallet,
        workers: Vec<W>,
    ) -> anyhow::Result<Figure> {
        let Phase { name, clients, common, goals } = self;
        let mut gauge = gauge(rig.as_deref(), wallet).await?;
        let Some(rig) = rig else {
            let driven = drive(common.stint(name), workers, &mut gauge).await?;
            return Ok(Figure::new(name, clients, driven));
        };
        let from = rig.admin.size("wallet").await?;
        let driven = drive(common.stint(name), workers, &mut gauge).await?;
        let shape = rig.admin.shape("wallet", from).await?;
        let floor = rig.floor("wallet", (shape, common.short("the floor"))).await?;
        let pgbench = rig.beside.around().await?;
        let figure = Figure::new(name, clients, driven).beside("pgbench", pgbench, Some(goals.0));
        Ok(figure.beside_floor(floor, &shape, goals.1))
    }
}

async fn gauge(rig: Option<&Rig>, wallet: &Wallet) -> anyhow::Result<Gauge> {
    match rig {
        Some(rig) => rig.gauge(wallet.pid().map(|pid| ("wallet", pid))).await,
        None => Gauge::open(&Server::default()).await,
    }
}

/// Measures one caller of transfers, and one of calls that do nothing.
async fn alone(
    rig: Option<&Rig>,
    wallet: &Wallet,
    common: Common,
) -> anyhow::Result<(Figure, Figure)> {
    let mut gauge = gauge(rig, wallet).await?;
    let (channel, players) = (wallet.channel()?, players(wallet, 1).await?);
    let player = *players.first().context("one was asked for")?;
    let alone = vec![Caller::new(player, &channel)];
    let alone = drive(common.short("alone"), alone, &mut gauge).await?;
    let bare = drive(common.short("bare calls"), vec![Bare::new(&channel)], &mut gauge).await?;
    Ok((Figure::new("alone", 1, alone), Figure::new("bare", 1, bare)))
}

/// Adds the ratio of the median to a bare call plus a commit.
fn alone_beside(mut alone: Figure, needed: Option<(f64, f64)>) -> Figure {
    let ratio = ratio(alone.median(), needed.map(|(call, commit)| call + commit));
    alone.ratios.insert("bare unary + single commit", ratio);
    let goal = format!("{ALONE} x (bare unary + single commit), in the median");
    alone.goals.push(Goal::at_most(&goal, ratio, ALONE));
    alone
}

/// Opens accounts with credits, and returns their players.
async fn players(wallet: &Wallet, count: u32) -> anyhow::Result<Vec<PlayerId>> {
    let (operator, ids) = (wallet.operator()?, IdMaker::system());
    let players: Vec<PlayerId> = (0..count).map(|_| ids.player_id()).collect();
    for some in players.chunks(OPENED_AT_ONCE) {
        let mut opening = JoinSet::new();
        for player in some {
            let (operator, player) = (operator.clone(), *player);
            opening.spawn(async move {
                operator.open_account(Some(player)).await?;
                operator.issue(player, Credits::of(PURSE), "credits to move about").await
            });
        }
        while let Some(opened) = opening.join_next().await {
            opened.context("opening an account crashed")??;
        }
    }
    Ok(players)
}
