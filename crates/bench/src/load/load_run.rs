//! All tables and bots of a run.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use chassis::auth::Role;
use client::{Client, RetryPolicy};
use primitives::{Credits, TableId};
use proto::table::v1::TableConfig;
use system::ids::IdMaker;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::Options;
use super::bot::{self, Bot, Totals};
use super::target::LoadTarget;
use super::think_time::ThinkTime;
use crate::latency::Latencies;
use crate::progress_bar::ProgressBar;

/// Number of tables that are created concurrently.
const CONCURRENT_CREATIONS: usize = 16;
/// Number of times that a bot can buy in, with the most that a table takes.
const BUY_INS: u64 = 100;
/// Pause between two attempts to open a table, if the room names none.
const RETRY_WAIT: Duration = Duration::from_secs(1);
/// Time between two updates of the progress bar.
const TICK: Duration = Duration::from_millis(250);

/// Running bots and their tables.
pub(crate) struct LoadRun {
    connections: Vec<Client>,
    tables: Vec<TableId>,
    /// Tables closed before the end; they are audited too.
    closed: Vec<TableId>,
    bots: JoinSet<Result<(), client::Error>>,
    totals: Arc<Totals>,
    bar: ProgressBar,
    options: Options,
    requested: u32,
    /// Tables that the room refused as overloaded.
    refused_tables: u32,
}

/// Result of a run.
pub(crate) struct LoadResult {
    pub(crate) tables: Vec<TableId>,
    pub(crate) latencies: Latencies,
    pub(crate) hands: u64,
    /// Number of entropy contributions that were revealed.
    pub(crate) contributions: u64,
    pub(crate) burnt: u64,
    pub(crate) clock_decisions: u64,
    pub(crate) refused_tables: u32,
    pub(crate) errors: std::collections::BTreeMap<String, u64>,
}

impl LoadRun {
    /// Creates a run without tables.
    pub(crate) fn new(
        target: &LoadTarget<'_>,
        options: &Options,
        bots: u32,
    ) -> anyhow::Result<LoadRun> {
        Ok(LoadRun {
            connections: connections(target, options, bots)?,
            tables: Vec::new(),
            closed: Vec::new(),
            bots: JoinSet::new(),
            totals: Arc::new(Totals::default()),
            bar: ProgressBar::new(),
            options: options.clone(),
            requested: 0,
            refused_tables: 0,
        })
    }

    /// Opens the tables and seats the bots, which start to play at once.
    pub(crate) async fn start(
        target: &LoadTarget<'_>,
        options: &Options,
    ) -> anyhow::Result<LoadRun> {
        let mut run = LoadRun::new(target, options, options.bot_count())?;
        run.open_tables(target, options.tables, Duration::from_secs(60)).await?;
        Ok(run)
    }

    /// Opens `count` more tables, and returns how many the room refused for longer than `timeout`.
    pub(crate) async fn open_tables(
        &mut self,
        target: &LoadTarget<'_>,
        count: u32,
        timeout: Duration,
    ) -> anyhow::Result<u32> {
        let (gate, ids) = (Arc::new(Semaphore::new(CONCURRENT_CREATIONS)), IdMaker::system());
        let mut opening = JoinSet::new();
        for number in self.requested..self.requested + count {
            let at = usize::try_from(number)? % self.connections.len();
            let connection = &self.connections[at];
            let players: Vec<_> = (0..self.options.players)
                .map(|_| ids.player_id())
                .map(|me| (me, target.client(connection, Role::Player, &me.to_string())))
                .collect();
            let opener = TableOpener {
                operator: target.client(connection, Role::Operator, "load"),
                config: config(&self.options, number),
                think: self.options.think,
                retry_for: timeout,
                totals: Arc::clone(&self.totals),
            };
            let gate = Arc::clone(&gate);
            opening.spawn(async move {
                let _place = gate.acquire().await;
                opener.open(players).await
            });
        }
        self.requested += count;
        let (mut done, mut refused) = (0_u64, 0);
        let mut ticks = tokio::time::interval(TICK);
        while !opening.is_empty() {
            tokio::select! {
                Some(opened) = opening.join_next() => {
                    done += 1;
                    match opened.context("opening a table crashed")?? {
                        Some((table, places)) => self.spawn_bots(table, places),
                        None => refused += 1,
                    }
                }
                Some(bot) = self.bots.join_next() => {
                    bot.context("a bot crashed")?.context("a bot gave up")?;
                }
                _ = ticks.tick() => {}
            }
            self.bar.show("opening", done, count.into(), &format!("tables, {refused} refused"));
        }
        self.bar.clear();
        self.refused_tables += refused;
        Ok(refused)
    }

    fn spawn_bots(&mut self, table: TableId, places: Vec<bot::BotDependencies>) {
        for place in places {
            self.bots.spawn(Bot::new(place, Arc::clone(&self.totals)).play());
        }
        self.tables.push(table);
    }

    /// Number of open tables.
    pub(crate) fn open_table_count(&self) -> usize {
        self.tables.len()
    }

    /// Takes the latencies of counted decisions since the last call.
    pub(crate) fn take_latencies(&self) -> Latencies {
        self.totals.take_latencies()
    }

    /// Whether the room takes a new table at this moment.
    pub(crate) async fn can_open_table(&mut self, target: &LoadTarget<'_>) -> anyhow::Result<bool> {
        Ok(self.open_tables(target, 1, Duration::ZERO).await? == 0)
    }

    /// Closes tables until `left` are open.
    pub(crate) async fn close_until(
        &mut self,
        target: &LoadTarget<'_>,
        left: usize,
    ) -> anyhow::Result<()> {
        let closing = self.tables.split_off(left.min(self.tables.len()));
        self.close_tables(target, &closing).await?;
        self.closed.extend(closing);
        Ok(())
    }

    async fn close_tables(
        &self,
        target: &LoadTarget<'_>,
        tables: &[TableId],
    ) -> anyhow::Result<()> {
        let mut closing = JoinSet::new();
        for (number, table) in tables.iter().enumerate() {
            let connection = &self.connections[number % self.connections.len()];
            let operator = target.client(connection, Role::Operator, "load");
            let table = *table;
            closing.spawn(async move { operator.close_table(table).await });
        }
        let (mut done, all) = (0, tables.len() as u64);
        while let Some(closed) = closing.join_next().await {
            closed.context("closing a table crashed")?.context("a table cannot be closed")?;
            done += 1;
            self.bar.show("closing", done, all, "tables");
        }
        Ok(())
    }

    /// Returns the table that was opened first.
    pub(crate) fn first_table(&self) -> Option<TableId> {
        self.tables.first().copied()
    }

    /// Lets the bots play for `seconds`, and returns how often they decided; `measured`: their events
    /// count.
    pub(crate) async fn play_for(
        &mut self,
        what: &str,
        seconds: u64,
        measured: bool,
    ) -> anyhow::Result<u64> {
        let mut ticks = tokio::time::interval(TICK);
        let end = tokio::time::sleep(Duration::from_secs(seconds));
        tokio::pin!(end);
        let (mut looks, first) = (0, self.totals.decisions());
        self.totals.set_measuring(measured);
        loop {
            tokio::select! {
                () = &mut end => break,
                _ = ticks.tick() => {
                    looks += 1;
                    let rate = (self.totals.decisions() - first) * 1000
                        / (looks * u64::try_from(TICK.as_millis())?);
                    let done = looks * u64::try_from(TICK.as_millis())? / 1000;
                    self.bar.show(what, done, seconds, &format!("s, {rate} actions a second"));
                }
                Some(bot) = self.bots.join_next() => {
                    bot.context("a bot crashed")?.context("a bot gave up")?;
                }
            }
        }
        self.totals.set_measuring(false);
        self.bar.clear();
        Ok(self.totals.decisions() - first)
    }

    /// Closes the tables, and waits until the hands in play have ended and everybody is paid out.
    pub(crate) async fn finish(
        mut self,
        target: &LoadTarget<'_>,
        latencies: Latencies,
        timeout: Duration,
    ) -> anyhow::Result<LoadResult> {
        self.totals.stop_thinking();
        let tables = std::mem::take(&mut self.tables);
        self.close_tables(target, &tables).await?;
        let (all, mut ticks) = (self.bots.len() as u64, tokio::time::interval(TICK));
        let end = tokio::time::sleep(timeout);
        tokio::pin!(end);
        while !self.bots.is_empty() {
            tokio::select! {
                Some(bot) = self.bots.join_next() => {
                    bot.context("a bot crashed")?.context("a bot gave up")?;
                }
                () = &mut end => anyhow::bail!(
                    "the tables were closed, but hands still run {timeout:?} later"
                ),
                _ = ticks.tick() => {
                    self.bar.show("paying out", all - self.bots.len() as u64, all, "bots");
                }
            }
        }
        self.bar.clear();
        let mut tables = tables;
        tables.append(&mut self.closed);
        Ok(LoadResult {
            tables,
            latencies,
            hands: self.totals.hands(),
            contributions: self.totals.contributions(),
            burnt: self.totals.burnt(),
            clock_decisions: self.totals.clock_decisions(),
            refused_tables: self.refused_tables,
            errors: self.totals.errors(),
        })
    }
}

fn connections(
    target: &LoadTarget<'_>,
    options: &Options,
    bots: u32,
) -> anyhow::Result<Vec<Client>> {
    let count = options.connections.unwrap_or_else(|| target.default_connections(bots));
    (0..count).map(|_| Ok(Client::connect(target.url, String::new())?)).collect()
}

/// Configuration of a table without a pause. The clock is the default, so that a slow answer shows
/// as a latency and not as a decision of the clock.
fn config(options: &Options, number: u32) -> TableConfig {
    TableConfig {
        name: format!("load {number}"),
        variant: options.game.clone(),
        seats: options.players,
        pause_ms: 0,
        ..TableConfig::default()
    }
}

/// Opens one table.
struct TableOpener {
    operator: Client,
    config: TableConfig,
    think: ThinkTime,
    /// Time for which the room may refuse the table as overloaded.
    retry_for: Duration,
    totals: Arc<Totals>,
}

impl TableOpener {
    /// Opens a table, and an account with credits for each player; none if the room refuses it.
    async fn open(
        &self,
        players: Vec<(primitives::PlayerId, Client)>,
    ) -> anyhow::Result<Option<(TableId, Vec<bot::BotDependencies>)>> {
        let Some(table) = self.create().await? else { return Ok(None) };
        let buy_in = Credits::try_new(self.operator.get_table(table).await?.max_buy_in_credits)?;
        let mut places = Vec::new();
        for (me, client) in players {
            client.open_account(None).await?;
            let credits = buy_in.times(BUY_INS)?;
            self.operator.issue(me, credits, "credits to play under load with").await?;
            let seed = me.bytes().iter().fold(0, |seed: u64, byte| (seed << 4) ^ u64::from(*byte));
            let (first, think) = (places.is_empty(), self.think);
            places.push(bot::BotDependencies {
                client,
                table,
                me,
                buy_in,
                seed,
                is_first: first,
                think,
            });
        }
        Ok(Some((table, places)))
    }

    /// Requests the table until the room accepts it, as often as the room asks. Every refusal
    /// counts.
    async fn create(&self) -> anyhow::Result<Option<TableId>> {
        let once = self.operator.with_retry_policy(RetryPolicy::with_total_time(Duration::ZERO));
        let end = Instant::now() + self.retry_for;
        loop {
            let error = match once.create_table(self.config.clone()).await {
                Ok(table) => return Ok(Some(table)),
                Err(error) => error,
            };
            self.totals.count_refusal(&error);
            let passing = matches!(error, client::Error::Unanswered(_));
            let asked = error.refusal().and_then(|refusal| refusal.retry_after);
            if !passing {
                return Err(error.into());
            }
            let again = Instant::now() + asked.unwrap_or(RETRY_WAIT);
            if again > end {
                return Ok(None);
            }
            tokio::time::sleep_until(again).await;
        }
    }
}
