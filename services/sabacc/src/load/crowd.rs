//! All tables and all bots of a run: seated at once, stopped at once.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use chassis::auth::Role;
use chassis::ids::IdMaker;
use client::Client;
use primitives::{Credits, TableId};
use proto::table::v1::TableConfig;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Options;
use super::bot::{self, Bot, Tally};
use super::place::Place;
use crate::bench::bar::Bar;
use crate::bench::latency::Latencies;

/// Tables that are opened at a time.
const OPENED_AT_ONCE: usize = 16;
/// Bots buy in with the most a table takes, and can so many times.
const BUY_INS: u64 = 100;
/// Between two looks at what was done.
const LOOK: Duration = Duration::from_millis(250);

/// The bots, playing.
pub(crate) struct Crowd {
    operator: Client,
    tables: Vec<TableId>,
    bots: JoinSet<Result<Latencies, client::Error>>,
    tally: Arc<Tally>,
    bar: Bar,
}

/// What was played.
pub(crate) struct Played {
    pub(crate) tables: Vec<TableId>,
    pub(crate) latencies: Latencies,
    pub(crate) hands: u64,
    /// How often a seat took part in chance to the end.
    pub(crate) parts: u64,
    pub(crate) errors: std::collections::BTreeMap<String, u64>,
}

impl Crowd {
    /// Opens the tables and seats the bots, who begin to play at once.
    pub(crate) async fn seat(place: &Place, options: &Options) -> anyhow::Result<Crowd> {
        let connections = connections(place, options)?;
        let operator = place.client(&connections[0], Role::Operator, "load");
        let tally = Arc::new(Tally::default());
        let (mut bots, mut tables, bar) = (JoinSet::new(), Vec::new(), Bar::new());
        let (gate, ids) = (Arc::new(Semaphore::new(OPENED_AT_ONCE)), IdMaker::system());
        let mut opening = JoinSet::new();
        for number in 0..options.tables {
            let at = usize::try_from(number)? % connections.len();
            let operator = place.client(&connections[at], Role::Operator, "load");
            let players: Vec<_> = (0..options.players)
                .map(|_| ids.player_id())
                .map(|me| (me, place.client(&connections[at], Role::Player, &me.to_string())))
                .collect();
            let (gate, config) = (Arc::clone(&gate), config(options, number));
            opening.spawn(async move {
                let _place = gate.acquire().await;
                open(&operator, config, players).await
            });
        }
        while let Some(opened) = opening.join_next().await {
            let (table, places) = opened.context("opening a table crashed")??;
            for place in places {
                bots.spawn(Bot::new(place, Arc::clone(&tally)).play());
            }
            tables.push(table);
            bar.show("opening", (tables.len() as u64, options.tables.into()), "tables");
        }
        Ok(Crowd { operator, tables, bots, tally, bar })
    }

    /// Lets the bots play for so many seconds; `measured`: what they do counts.
    pub(crate) async fn play_for(
        &mut self,
        (what, seconds): (&str, u64),
        measured: bool,
    ) -> anyhow::Result<()> {
        let mut ticks = tokio::time::interval(LOOK);
        let end = tokio::time::sleep(Duration::from_secs(seconds));
        tokio::pin!(end);
        let (mut looks, first) = (0, self.tally.acted());
        self.tally.measure(measured);
        loop {
            tokio::select! {
                () = &mut end => break,
                _ = ticks.tick() => {
                    looks += 1;
                    let rate = (self.tally.acted() - first) * 1000
                        / (looks * u64::try_from(LOOK.as_millis())?);
                    let done = looks * u64::try_from(LOOK.as_millis())? / 1000;
                    self.bar.show(what, (done, seconds), &format!("s, {rate} actions a second"));
                }
                Some(bot) = self.bots.join_next() => {
                    bot.context("a bot crashed")?.context("a bot gave up")?;
                }
            }
        }
        self.tally.measure(false);
        self.bar.clear();
        Ok(())
    }

    /// Closes the tables; the hands in play end, and everybody is paid out.
    pub(crate) async fn finish(mut self, patience: Duration) -> anyhow::Result<Played> {
        let mut closing = JoinSet::new();
        for table in &self.tables {
            let (operator, table) = (self.operator.clone(), *table);
            closing.spawn(async move { operator.close_table(table).await });
        }
        while let Some(closed) = closing.join_next().await {
            closed.context("closing a table crashed")?.context("a table cannot be closed")?;
        }
        let mut latencies = Latencies::default();
        let all = async {
            while let Some(bot) = self.bots.join_next().await {
                latencies.absorb(bot.context("a bot crashed")?.context("a bot gave up")?);
            }
            anyhow::Ok(())
        };
        tokio::time::timeout(patience, all).await.map_err(|_| {
            anyhow::anyhow!("the tables were closed, but hands still run {patience:?} later")
        })??;
        let (hands, parts, errors) = (self.tally.hands(), self.tally.parts(), self.tally.errors());
        Ok(Played { tables: self.tables, latencies, hands, parts, errors })
    }
}

fn connections(place: &Place, options: &Options) -> anyhow::Result<Vec<Client>> {
    let count = options.connections.unwrap_or_else(|| place.connections(options.bots()));
    (0..count).map(|_| Ok(Client::connect(place.url(), String::new())?)).collect()
}

/// A table that keeps nobody waiting. The clock stays as it usually is: a slow answer has to show as
/// a slow answer and not as a decision that the clock took.
fn config(options: &Options, number: u32) -> TableConfig {
    TableConfig {
        name: format!("load {number}"),
        variant: options.game.clone(),
        seats: options.players,
        pause_ms: 0,
        ..TableConfig::default()
    }
}

/// Opens a table, and an account with credits for everybody who is to play at it.
async fn open(
    operator: &Client,
    config: TableConfig,
    players: Vec<(primitives::PlayerId, Client)>,
) -> anyhow::Result<(TableId, Vec<bot::Place>)> {
    let table = operator.create_table(config).await?;
    let buy_in = Credits::try_new(operator.get_table(table).await?.max_buy_in)?;
    let mut places = Vec::new();
    for (me, client) in players {
        client.open_account(None).await?;
        operator.issue(me, buy_in.times(BUY_INS)?, "credits to play under load with").await?;
        let seed = me.bytes().iter().fold(0, |seed: u64, byte| (seed << 4) ^ u64::from(*byte));
        places.push(bot::Place { client, table, me, buy_in, seed, first: places.is_empty() });
    }
    Ok((table, places))
}
