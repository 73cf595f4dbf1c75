//! The demo tables and their bots, which play through the public port.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bots::{BotEnd, BotOptions, BotReport, Skill, Thinking};
use chassis::auth::Role;
use client::checkpoints::{CheckpointMonitor, DirectoryStore, SharedMonitor};
use client::{Client, EvidenceDirectory, WatchMessage};
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

/// Name of the first demo table; the others have a number behind it.
pub(crate) const NAME: &str = "Demo";
/// Games of the demo tables, the most inviting first: of the best known, those whose hands are short
/// enough for a newcomer to wait for the next.
const GAMES: [&str; 8] =
    ["dice", "spike", "swg", "electronic", "coruscant", "force", "eleven", "kessel"];
/// Bots of a demo table, which has one seat more.
const CREW: &[Skill] = &Skill::ALL;
/// Bots of a run of a fixed number of hands.
const UNPACED_CREW: &[Skill] = &[Skill::Regular, Skill::Regular, Skill::Regular, Skill::Beginner];
/// Names of bots of each skill. That they are bots, a mark of the room says.
const NAMES: [[&str; 8]; 3] = [
    ["Dax", "Pell", "Wim", "Tikka", "Noro", "Bibs", "Jun", "Opal"],
    ["Mirra", "Joss", "Kel", "Sabo", "Renn", "Ulla", "Tarn", "Hedda"],
    ["Oona Vex", "Zarro", "Ithil", "Corvo", "Quill", "Nema", "Sable", "Orrin"],
];
/// Pause between a bot's end and its return, and before it looks again for a free seat.
const RETURN_DELAY: Duration = Duration::from_secs(2);
const NO_SEAT_DELAY: Duration = Duration::from_secs(30);
const ISSUE_REASON: &str = "credits for a bot of the demo";
/// Credits that a bot's account is filled up to at start.
const BOT_CREDITS: u64 = 1_000_000;

/// Pause between hands where bots think as people do, and else as a multiple of their time.
const PAUSE: Duration = Duration::from_secs(3);
const PAUSE_FACTOR: u32 = 5;

/// Extent and speed of the demo.
#[derive(Debug, Clone)]
pub(crate) struct DemoOptions {
    /// Game of the first table.
    pub(crate) game: String,
    /// Number of tables, each of another game.
    pub(crate) tables: usize,
    /// Number of hands to play at one table, without a pause unless `think_time` says so; none: no
    /// end.
    pub(crate) hands: Option<u64>,
    /// Time that a bot thinks before each decision; none: as people do, or not at all with `hands`.
    pub(crate) think_time: Option<Duration>,
    /// Folder in which bots keep what the room signed for them; none: in memory.
    pub(crate) evidence: Option<PathBuf>,
}

impl DemoOptions {
    /// Fixed time that bots think; none: they think as people do.
    fn fixed_time(&self) -> Option<Duration> {
        self.think_time.or(self.hands.map(|_| Duration::ZERO))
    }

    /// Names and games of the tables.
    fn tables(&self) -> Vec<(String, String)> {
        if let Some(hands) = self.hands {
            return vec![(format!("{hands} hands"), self.game.clone())];
        }
        let others = GAMES.into_iter().filter(|game| *game != self.game);
        let games = std::iter::once(&*self.game).chain(others).take(self.tables);
        let name = |number: usize| match number {
            1 => NAME.to_owned(),
            number => format!("{NAME} {number}"),
        };
        (1..).zip(games).map(|(number, game)| (name(number), game.to_owned())).collect()
    }

    const fn crew(&self) -> &'static [Skill] {
        if self.hands.is_some() { UNPACED_CREW } else { CREW }
    }

    fn config(&self, name: &str, game: &str) -> TableConfig {
        let pause = self.fixed_time().map_or(PAUSE, |time| time * PAUSE_FACTOR);
        let seats = if self.hands.is_some() { 0 } else { CREW.len() + 1 };
        TableConfig {
            name: name.to_owned(),
            variant: game.to_owned(),
            pause_ms: u32::try_from(pause.as_millis()).unwrap_or(u32::MAX),
            seats: u32::try_from(seats).unwrap_or_default(),
            ..TableConfig::default()
        }
    }
}

/// Demo tables with their bots.
pub(crate) struct Demo {
    pub(crate) tables: Vec<DemoTable>,
    bots: Vec<BotPlayer>,
    operator: Client,
}

/// Demo table.
pub(crate) struct DemoTable {
    pub(crate) id: TableId,
    pub(crate) name: String,
    pub(crate) game: String,
}

/// Player of a bot.
struct BotPlayer {
    id: PlayerId,
    client: Client,
    table: TableId,
    skill: Skill,
    /// Seed of its strategy and of its times.
    seed: u64,
    thinking: Thinking,
}

/// Result of a run of a fixed number of hands.
pub(crate) struct PlayedHands {
    pub(crate) table: TableId,
    pub(crate) hands: u64,
    pub(crate) took: Duration,
}

impl Demo {
    /// Finds the demo tables, or creates them; a run of a fixed number of hands gets a new table.
    pub(crate) async fn open(room: &Room, options: &DemoOptions) -> anyhow::Result<Demo> {
        let url = room.local_url();
        let operator = Client::connect(&url, room.token(Role::Operator, "up"))?;
        let existing = operator.list_tables().await?;
        let mut tables = Vec::new();
        for (name, game) in options.tables() {
            let same = existing.iter().find(|table| table.name == name && table.variant == game);
            let id = match same.filter(|_| options.hands.is_none()) {
                Some(table) => wire::field::table_id(&table.table_id)?,
                None => operator.create_table(options.config(&name, &game)).await?,
            };
            tables.push(DemoTable { id, name, game });
        }
        let bots = open_bots(room, &operator, &tables, options).await?;
        let you = player_id(room, "you")?;
        operator.open_account(Some(you)).await?;
        top_up(&operator, you, "credits to try the demo with").await?;
        room.folder.write_token("player.token", &room.token(Role::Player, &you.to_string()))?;
        Ok(Demo { tables, bots, operator })
    }

    /// Starts one bot after a delay.
    fn start(
        &self,
        number: usize,
        delay: Duration,
        bots: &mut RunningBots,
        stop: &CancellationToken,
    ) {
        let Some(player) = self.bots.get(number) else { return };
        let BotPlayer { client, table, skill, seed, thinking, .. } = player;
        let (client, table, stop) = (client.clone(), *table, stop.clone());
        let strategy = skill.strategy(*seed);
        let bot = BotOptions { seat: 0, buy_in: Credits::ZERO, thinking: *thinking };
        let playing = async move {
            stop.run_until_cancelled(tokio::time::sleep(delay)).await;
            bots::run_bot(&client, table, bot, strategy, stop).await
        };
        let id = bots.running.spawn(playing).id();
        bots.numbers.insert(id, number);
    }

    fn start_all(&self, stop: &CancellationToken) -> RunningBots {
        let mut bots = RunningBots::default();
        (0..self.bots.len()).for_each(|number| self.start(number, Duration::ZERO, &mut bots, stop));
        bots
    }

    /// Runs the bots until the room stops. A bot that gives up returns, with new credits if it has
    /// none; a closed table ends its bots, and the room goes on.
    pub(crate) async fn keep_playing(
        &self,
        stop: &CancellationToken,
        progress: &Progress,
    ) -> anyhow::Result<()> {
        let mut bots = self.start_all(stop);
        while let Some((number, outcome)) = bots.next().await {
            let mut delay = RETURN_DELAY;
            match outcome {
                _ if stop.is_cancelled() => continue,
                Ok(BotEnd::TableClosed | BotEnd::Stopped) => continue,
                Ok(BotEnd::Broke) => {
                    if let Some(BotPlayer { id, .. }) = self.bots.get(number) {
                        let filled = top_up(&self.operator, *id, ISSUE_REASON).await;
                        log_bot_failure(number, filled.err().map(|error| error.to_string()));
                    }
                }
                // People have taken all seats.
                Ok(BotEnd::NoSeat) => delay = NO_SEAT_DELAY,
                Err(why) => log_bot_failure(number, Some(why)),
            }
            self.start(number, delay, &mut bots, stop);
        }
        if !stop.is_cancelled() {
            progress.print("no demo table is open: the room goes on without bots");
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
        let table = self.tables.first().expect("a run of hands has a table").id;
        let stop = CancellationToken::new();
        let mut bots = self.start_all(&stop);
        let ended = Arc::new(AtomicU64::new(0));
        let started = progress.elapsed();
        let mut took = Duration::ZERO;
        let mut watch = self.operator.watch(table);
        loop {
            tokio::select! {
                seen = watch.next() => {
                    let Some(seen) = seen? else { break };
                    let WatchMessage::Update(update) = seen else { continue };
                    if let Some(What::HandStarted(start)) = &update.what
                        && start.hand_no >= hands
                    {
                        // Nothing is dealt after the hand that has just started.
                        self.operator.close_table(table).await?;
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
        Ok(PlayedHands { table, hands: ended.load(Ordering::Relaxed), took })
    }
}

/// Opens the bots' accounts, names them and marks them as bots. They check each log's checkpoints,
/// and remember them together.
async fn open_bots(
    room: &Room,
    operator: &Client,
    tables: &[DemoTable],
    options: &DemoOptions,
) -> anyhow::Result<Vec<BotPlayer>> {
    let logs: Result<Vec<_>, _> = keys::LOGS
        .map(|(service, _)| keys::verifier_key(&room.folder, service))
        .into_iter()
        .collect();
    let seen = DirectoryStore::open(room.folder.path().join("seen").join("bots"))?;
    let monitor = Arc::new(SharedMonitor::new(CheckpointMonitor::new(logs?, seen)));
    let kept = options.evidence.as_deref().map(evidence::open).transpose()?;
    let mut bots: Vec<BotPlayer> = Vec::new();
    for table in tables {
        for &skill in options.crew() {
            let number = bots.len();
            let id = player_id(room, &format!("bot {number}"))?;
            let client = bot_client(room, number, id, kept.as_ref())?;
            let client = client.with_checkpoints(Arc::clone(&monitor));
            client.open_account(None).await?;
            // Before it sits down, so that nobody sees it without its mark.
            operator.mark_player(id, true).await?;
            let others = bots.iter().filter(|bot| bot.skill == skill).count();
            let name = bot_name(skill, others);
            if client.get_player(None).await?.name != name {
                client.set_name(&name).await?;
            }
            top_up(operator, id, ISSUE_REASON).await?;
            let seed = bot_seed(room, number)?;
            let like_people = Thinking::LikePeople(seed);
            let thinking = options.fixed_time().map_or(like_people, Thinking::Fixed);
            bots.push(BotPlayer { id, client, table: table.id, skill, seed, thinking });
        }
    }
    Ok(bots)
}

/// Connects a bot. What it reveals to hands is derived from a stored secret, so after a kill it
/// reveals what it had committed to.
fn bot_client(
    room: &Room,
    number: usize,
    id: PlayerId,
    kept: Option<&Arc<EvidenceDirectory>>,
) -> anyhow::Result<Client> {
    let client = Client::connect(&room.local_url(), room.house_token(id))?;
    let client = client.with_trusted_keys(keys::trusted_keys(&room.folder)?);
    let secret = room.folder.secret_text("bots.secret")?;
    let secret = Sha256::digest(format!("{} bot {number}", *secret));
    Ok(match kept {
        Some(directory) => client.with_evidence(Arc::clone(directory)),
        None => client.with_secret(client::Secret::from_bytes(secret.into())),
    })
}

/// Name that a bot is shown under, beside others of its skill.
fn bot_name(skill: Skill, others: usize) -> String {
    let names = match skill {
        Skill::Beginner => NAMES[0],
        Skill::Regular => NAMES[1],
        Skill::Expert => NAMES[2],
    };
    format!("{} the {}", names[others % names.len()], skill.name())
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

/// Derives the seed of a bot's decisions and times, which nobody else can foresee.
fn bot_seed(room: &Room, number: usize) -> anyhow::Result<u64> {
    let hash = demo_hash(room, &format!("seed of bot {number}"))?;
    let mut seed = [0; 8];
    seed.copy_from_slice(&hash[..8]);
    Ok(u64::from_be_bytes(seed))
}

/// Hashes a text with the secret of the demo.
fn demo_hash(room: &Room, text: &str) -> anyhow::Result<[u8; 32]> {
    let secret = room.folder.secret_text("demo.key")?;
    Ok(Sha256::new().chain_update(secret.as_bytes()).chain_update(text).finalize().into())
}

/// Derives a player id that is fixed for a data folder and unknown elsewhere.
fn player_id(room: &Room, name: &str) -> anyhow::Result<PlayerId> {
    let hash = demo_hash(room, name)?;
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
