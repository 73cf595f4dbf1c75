//! The demo table and its bots, which play through the public port.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bots::{BotEnd, BotOptions, BotReport, strategy};
use chassis::auth::Role;
use client::checkpoints::{CheckpointMonitor, DirectoryStore, SharedMonitor};
use client::{Client, WatchMessage};
use primitives::{Credits, PlayerId, TableId};
use proto::table::v1::TableConfig;
use proto::table::v1::table_update::What;
use sha2::{Digest as _, Sha256};
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::evidence;
use crate::keys;
use crate::output::Progress;
use crate::room::Room;

/// Name of the demo table.
pub(crate) const NAME: &str = "Demo";
/// Number of bots.
const BOTS: usize = 4;
/// Pause between a bot's end and its return.
const RETURN_DELAY: Duration = Duration::from_secs(2);
const ISSUE_REASON: &str = "credits for a bot of the demo";
/// Credits that a bot's account is filled up to at start.
const BOT_CREDITS: u64 = 1_000_000;

/// Default time that a bot thinks before each decision, and the pause between hands as a multiple
/// of it.
const THINK_TIME: Duration = Duration::from_millis(400);
const PAUSE_FACTOR: u32 = 5;

/// Speed of the demo.
#[derive(Debug, Clone)]
pub(crate) struct DemoOptions {
    /// Number of hands to play, without a pause unless `think_time` says so; none: no end.
    pub(crate) hands: Option<u64>,
    /// Time that a bot thinks before each decision.
    pub(crate) think_time: Option<Duration>,
    /// Folder in which bots keep what the room signed for them; none: in memory.
    pub(crate) evidence: Option<PathBuf>,
}

impl DemoOptions {
    fn think_time(&self) -> Duration {
        let usual = if self.hands.is_some() { Duration::ZERO } else { THINK_TIME };
        self.think_time.unwrap_or(usual)
    }
}

/// Demo table with its bots.
pub(crate) struct Demo {
    pub(crate) table: TableId,
    bots: Vec<BotPlayer>,
    operator: Client,
    think_time: Duration,
}

/// Player of a bot.
struct BotPlayer {
    id: PlayerId,
    client: Client,
}

/// Result of a run of a fixed number of hands.
pub(crate) struct PlayedHands {
    pub(crate) table: TableId,
    pub(crate) hands: u64,
    pub(crate) took: Duration,
}

impl Demo {
    /// Finds the demo table, or creates it; a run of a fixed number of hands gets a new table.
    pub(crate) async fn open(
        room: &Room,
        game: &str,
        options: &DemoOptions,
    ) -> anyhow::Result<Demo> {
        let url = room.local_url();
        let operator = Client::connect(&url, room.token(Role::Operator, "up"))?;
        let existing = operator.list_tables().await?;
        let existing = existing.iter().find(|table| table.name == NAME && table.variant == game);
        let table = match existing.filter(|_| options.hands.is_none()) {
            Some(table) => wire::field::table_id(&table.table_id)?,
            None => operator.create_table(config(game, options)).await?,
        };
        let bots = open_bots(room, &operator, options.evidence.as_deref()).await?;
        let you = player_id(room, "you")?;
        operator.open_account(Some(you)).await?;
        top_up(&operator, you, "credits to try the demo with").await?;
        room.folder.write_token("player.token", &room.token(Role::Player, &you.to_string()))?;
        Ok(Demo { table, bots, operator, think_time: options.think_time() })
    }

    /// Starts one bot.
    fn start(&self, number: usize, bots: &mut RunningBots, stop: &CancellationToken) {
        let Some(BotPlayer { client, .. }) = self.bots.get(number) else { return };
        // Three steady bots and a random one make a table worth watching.
        let name = if number == BOTS - 1 { "random" } else { "steady" };
        let seed = u64::try_from(number).unwrap_or_default();
        let strategy = strategy::by_name(name, seed).expect("both names are known");
        let (client, table, stop) = (client.clone(), self.table, stop.clone());
        let bot = BotOptions { seat: 0, buy_in: Credits::ZERO, think_time: self.think_time };
        let playing = async move { bots::run_bot(&client, table, bot, strategy, stop).await };
        let id = bots.running.spawn(playing).id();
        bots.numbers.insert(id, number);
    }

    fn start_all(&self, stop: &CancellationToken) -> RunningBots {
        let mut bots = RunningBots::default();
        (0..self.bots.len()).for_each(|number| self.start(number, &mut bots, stop));
        bots
    }

    /// Runs the bots until the room stops. A bot that gives up returns, with new credits if it has
    /// none; a closed table ends the bots, and the room goes on.
    pub(crate) async fn keep_playing(
        &self,
        stop: &CancellationToken,
        progress: &Progress,
    ) -> anyhow::Result<()> {
        let mut bots = self.start_all(stop);
        while let Some((number, outcome)) = bots.next().await {
            match outcome {
                _ if stop.is_cancelled() => continue,
                Ok(BotEnd::TableClosed | BotEnd::Stopped) => continue,
                Ok(BotEnd::Broke) => {
                    if let Some(BotPlayer { id, .. }) = self.bots.get(number) {
                        let filled = top_up(&self.operator, *id, ISSUE_REASON).await;
                        log_bot_failure(number, filled.err().map(|error| error.to_string()));
                    }
                }
                Ok(BotEnd::NoSeat) => {
                    log_bot_failure(number, Some("every seat is taken".to_owned()))
                }
                Err(why) => log_bot_failure(number, Some(why)),
            }
            stop.run_until_cancelled(tokio::time::sleep(RETURN_DELAY)).await;
            self.start(number, &mut bots, stop);
        }
        if !stop.is_cancelled() {
            progress.print("the demo table is closed: the room goes on without bots");
        }
        stop.cancelled().await;
        Ok(())
    }

    /// Plays `hands` hands, closes the table, and waits until everybody is paid out.
    pub(crate) async fn play_out(
        &self,
        hands: u64,
        progress: &Progress,
    ) -> anyhow::Result<PlayedHands> {
        let stop = CancellationToken::new();
        let mut bots = self.start_all(&stop);
        let ended = Arc::new(AtomicU64::new(0));
        let started = progress.elapsed();
        let mut took = Duration::ZERO;
        let mut watch = self.operator.watch(self.table);
        loop {
            tokio::select! {
                seen = watch.next() => {
                    let Some(seen) = seen? else { break };
                    let WatchMessage::Update(update) = seen else { continue };
                    if let Some(What::HandStarted(start)) = &update.what
                        && start.hand_no >= hands
                    {
                        // Nothing is dealt after the hand that has just started.
                        self.operator.close_table(self.table).await?;
                    }
                    if let Some(What::HandEnded(end)) = &update.what {
                        took = progress.elapsed().saturating_sub(started);
                        let ended = ended.fetch_add(1, Ordering::Relaxed) + 1;
                        if ended.is_multiple_of(100) {
                            progress.print(&format!("hand {} of {hands}", end.hand_no));
                        }
                    }
                }
                Some((_, ended)) = bots.next() => {
                    ended.map_err(|why| anyhow::anyhow!("a bot gave up: {why}"))?;
                }
            }
        }
        stop.cancel();
        while let Some((_, ended)) = bots.next().await {
            ended.map_err(|why| anyhow::anyhow!("a bot gave up: {why}"))?;
        }
        Ok(PlayedHands { table: self.table, hands: ended.load(Ordering::Relaxed), took })
    }
}

/// Opens the bots' accounts. They check each log's checkpoints, and remember them together.
async fn open_bots(
    room: &Room,
    operator: &Client,
    kept_in: Option<&Path>,
) -> anyhow::Result<Vec<BotPlayer>> {
    let logs: Result<Vec<_>, _> = keys::LOGS
        .map(|(service, _)| keys::verifier_key(&room.folder, service))
        .into_iter()
        .collect();
    let seen = DirectoryStore::open(room.folder.path().join("seen").join("bots"))?;
    let monitor = Arc::new(SharedMonitor::new(CheckpointMonitor::new(logs?, seen)));
    let kept = kept_in.map(evidence::open).transpose()?;
    let mut bots = Vec::new();
    for number in 0..BOTS {
        let id = player_id(room, &format!("bot {number}"))?;
        let client = Client::connect(&room.local_url(), room.house_token(id))?;
        let client = client.with_trusted_keys(keys::trusted_keys(&room.folder)?);
        let client = client.with_checkpoints(Arc::clone(&monitor));
        // Derived from a stored secret: after a kill a bot reveals what it had committed to.
        let secret = room.folder.secret_text("bots.secret")?;
        let secret = Sha256::digest(format!("{} bot {number}", *secret));
        let client = match &kept {
            Some(directory) => client.with_evidence(Arc::clone(directory)),
            None => client.with_secret(client::Secret::from_bytes(secret.into())),
        };
        client.open_account(None).await?;
        top_up(operator, id, ISSUE_REASON).await?;
        bots.push(BotPlayer { id, client });
    }
    Ok(bots)
}

/// Running bots, by number.
#[derive(Default)]
struct RunningBots {
    running: JoinSet<Result<BotReport, client::Error>>,
    numbers: BTreeMap<Id, usize>,
}

impl RunningBots {
    /// Returns the next bot that ends, with its outcome; none if all have ended.
    async fn next(&mut self) -> Option<(usize, Result<BotEnd, String>)> {
        let ended = self.running.join_next_with_id().await?;
        let (id, outcome) = match ended {
            Ok((id, outcome)) => (id, outcome.map_err(|error| error.to_string())),
            Err(crashed) => (crashed.id(), Err(crashed.to_string())),
        };
        Some((self.numbers.remove(&id).unwrap_or_default(), outcome.map(|report| report.end)))
    }
}

/// Logs that a bot gave up.
fn log_bot_failure(bot: usize, why: Option<String>) {
    if let Some(why) = why {
        let runbook = "deploy/README.md, A bot gives up";
        tracing::warn!(runbook, bot, why, "a bot of the demo gave up: it comes again");
    }
}

fn config(game: &str, options: &DemoOptions) -> TableConfig {
    let pause = options.think_time() * PAUSE_FACTOR;
    TableConfig {
        name: options.hands.map_or_else(|| NAME.to_owned(), |hands| format!("{hands} hands")),
        variant: game.to_owned(),
        pause_ms: u32::try_from(pause.as_millis()).unwrap_or(u32::MAX),
        ..TableConfig::default()
    }
}

/// Derives a player id that is fixed for a data folder and unknown elsewhere.
fn player_id(room: &Room, name: &str) -> anyhow::Result<PlayerId> {
    let secret = room.folder.secret_text("demo.key")?;
    let hash = Sha256::new().chain_update(secret.as_bytes()).chain_update(name).finalize();
    let mut id = [0; 16];
    id.copy_from_slice(&hash[..16]);
    // The version and variant bits of a UUIDv8.
    id[6] = (id[6] & 0x0f) | 0x80;
    id[8] = (id[8] & 0x3f) | 0x80;
    Ok(PlayerId(id))
}

/// Issues credits to an account that has less than half of its start.
async fn top_up(operator: &Client, player: PlayerId, reason: &str) -> anyhow::Result<()> {
    let account = operator.get_account(Some(player)).await?;
    let there = account.balance_credits
        + account.seats.iter().map(|seat| seat.balance_credits).sum::<u64>();
    if there < BOT_CREDITS / 2 {
        let amount = Credits::try_new(BOT_CREDITS - there)?;
        operator.issue(player, amount, reason).await?;
    }
    Ok(())
}
