//! `sabacc bench ledger`: transfers, asked of a wallet as tables ask it.
//!
//! The wallet is a process of its own with a PostgreSQL of its own. Callers move one credit from a
//! player's account to his seat and back, each for a player of his own. One by one: 64 callers, a call
//! a transfer, over a few connections. Alone: one caller, beside what such a call cannot do without, a
//! call that does nothing and the commit of one row.

use std::time::Duration;

use anyhow::Context as _;
use chassis::channel::PeerChannel;
use chassis::clock::{Clock as _, SystemClock};
use chassis::ids::IdMaker;
use primitives::{Credits, PlayerId};
use proto::wallet::v1::settlement_service_client::SettlementServiceClient;
use proto::wallet::v1::{BuyInRequest, CashOutRequest};
use tokio::task::JoinSet;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use super::child::Wallet;
use super::drive::{Done, Driven, Worker, drive};
use super::figures::{Figure, Goal, Report, ratio};
use super::rig::Rig;
use super::{Common, Yardsticks};

/// Connections that callers share, as a few table services would.
const CONNECTIONS: u32 = 4;
/// Credits of each caller's player.
const PURSE: u32 = 1_000_000;
/// Accounts that are opened at a time.
const OPENED_AT_ONCE: usize = 64;

/// What the goals are.
const UNARY: f64 = 3.0;
const ALONE: f64 = 1.5;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) common: Common,
}

pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<Report> {
    let mut rig = Rig::start(arguments.common.pgbench).await?;
    let report = prepare(&mut rig, arguments).await;
    rig.stop().await?;
    report
}

async fn prepare(rig: &mut Rig, arguments: &Arguments) -> anyhow::Result<Report> {
    let password = rig.folder.password("wallet.password")?;
    sabacc_wallet::shell::migrate(&rig.postgres.admin_url(), Some(&password)).await?;
    let wallet = Wallet::start(rig, &password).await?;
    let report = measure(rig, &wallet, arguments).await;
    wallet.stop().await?;
    report
}

async fn measure(rig: &mut Rig, wallet: &Wallet, arguments: &Arguments) -> anyhow::Result<Report> {
    let common = arguments.common;
    let mut gauge = rig.gauge(wallet.pid().map(|pid| ("wallet", pid))).await?;
    let players = players(wallet, common.clients).await?;
    let channels: Vec<PeerChannel> =
        (0..CONNECTIONS.min(common.clients)).map(|_| wallet.channel()).collect::<Result<_, _>>()?;
    rig.beside.run().await?;
    let callers = players.iter().zip(channels.iter().cycle());
    let callers = callers.map(|(player, channel)| Caller::new(*player, channel)).collect();
    let unary: Driven = drive(common.stint("unary"), callers, &mut gauge).await?;
    let first = players.first().zip(channels.first()).context("there is a caller")?;
    let alone = vec![Caller::new(*first.0, first.1)];
    let alone = drive(common.short("alone"), alone, &mut gauge).await?;
    let bare = vec![Bare::new(first.1)];
    let bare = drive(common.short("bare calls"), bare, &mut gauge).await?;
    rig.beside.run().await?;
    let shape = rig.admin.shape("wallet", 0).await?;
    let floor = rig.floor("wallet", (shape, common.stint("the floor"))).await?;
    let single_commit = rig.single_commit(common.short("commits")).await?;
    let yardsticks = Yardsticks {
        pgbench: rig.beside.mean(),
        floor: Some(floor),
        shape: Some(shape),
        bare_unary: bare.latency.map(|latency| latency.p50),
        single_commit,
    };
    let (pgbench, floor) = (yardsticks.pgbench, yardsticks.floor);
    let unary = Figure::new("unary", common.clients, unary)
        .beside("pgbench", pgbench, Some(UNARY))
        .beside("UNNEST", floor, None);
    let alone = alone_beside(Figure::new("alone", 1, alone), &yardsticks);
    Ok(yardsticks.report("ledger", common.seconds, vec![unary, alone]))
}

/// One caller's median beside what it cannot do without.
fn alone_beside(mut alone: Figure, yardsticks: &Yardsticks) -> Figure {
    let needed = yardsticks.bare_unary.zip(yardsticks.single_commit);
    let needed = needed.map(|(call, commit)| call + commit);
    let ratio = ratio(alone.median(), needed);
    alone.ratios.insert("bare unary + single commit", ratio);
    let goal = format!("{ALONE} x (bare unary + single commit), in the median");
    alone.goals.push(Goal::at_most(&goal, ratio, ALONE));
    alone
}

/// Players with credits, one a caller.
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

/// Moves a credit to a seat and back.
struct Caller {
    settlement: SettlementServiceClient<PeerChannel>,
    ids: IdMaker,
    clock: SystemClock,
    player: PlayerId,
    table: Vec<u8>,
    /// The credit is at the seat.
    seated: bool,
}

impl Caller {
    fn new(player: PlayerId, channel: &PeerChannel) -> Caller {
        let ids = IdMaker::system();
        Caller {
            settlement: SettlementServiceClient::new(channel.clone()),
            table: ids.table_id().bytes().to_vec(),
            ids,
            clock: SystemClock::new(),
            player,
            seated: false,
        }
    }
}

impl Worker for Caller {
    async fn step(&mut self) -> anyhow::Result<Done> {
        let request_id = self.ids.request_id().bytes().to_vec();
        let (table_id, player_id) = (self.table.clone(), self.player.bytes().to_vec());
        let began = self.clock.now();
        if self.seated {
            let request = CashOutRequest { request_id, table_id, player_id, amount: 1 };
            self.settlement.cash_out(request).await?;
        } else {
            let request = BuyInRequest { request_id, table_id, player_id, amount: 1 };
            self.settlement.buy_in(request).await?;
        }
        self.seated = !self.seated;
        Ok(Done { operations: 1, took: self.clock.now().since(began) })
    }
}

/// Asks what costs nothing to answer.
struct Bare {
    health: HealthClient<PeerChannel>,
    clock: SystemClock,
}

impl Bare {
    fn new(channel: &PeerChannel) -> Bare {
        Bare { health: HealthClient::new(channel.clone()), clock: SystemClock::new() }
    }
}

impl Worker for Bare {
    async fn step(&mut self) -> anyhow::Result<Done> {
        let began = self.clock.now();
        self.health.check(HealthCheckRequest::default()).await?;
        let took: Duration = self.clock.now().since(began);
        Ok(Done { operations: 1, took })
    }
}
