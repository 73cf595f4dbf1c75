//! `sabacc bench start`: time of a room's start behind a long log, with many tables and accounts.
//!
//! The history is the room's own, made over its public port as fast as it goes: accounts are opened a
//! thousand a call, tables sixteen at once, and then bots play dice at 200 tables until the table's
//! log has as many records as asked for. Nothing is written past the services, so the log proves
//! itself as any other does. Then the room is stopped and started, and once more without its
//! snapshots. A start lasts from the first step, with the database down, until all services serve;
//! then a player sits down at the table that was opened first, and tables evenly spread are asked
//! for.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context as _;
use chassis::auth::Role;
use client::Client;
use primitives::{Credits, TableId};
use proto::table::v1::TableConfig;
use proto::wallet::v1::OpenAccountsRequest;
use proto::wallet::v1::wallet_service_client::WalletServiceClient;
use serde::Serialize;
use system::ids::IdMaker;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tonic::Request;
use transport::Bearer;

use crate::figures::Goal;
use crate::load::{self, FINISH_TIMEOUT, LoadRun, LoadTarget};
use crate::progress_bar::ProgressBar;
use crate::repo::Database;
use crate::{Summary, rounded};

/// Goals, in seconds from the first step.
const FIRST_TABLE_SECONDS: f64 = 3.0;
const ALL_SECONDS: f64 = 10.0;
/// Accounts opened by one call, the maximum of the API.
const ACCOUNTS_PER_CALL: u32 = 1000;
/// Calls at a time while accounts and tables are opened.
const CONCURRENT_CALLS: usize = 16;
/// Tables and players that make the history.
const PLAYED_TABLES: u32 = 200;
const PLAYERS: u32 = 4;
/// Seconds of play between two looks at the log's length.
const PLAY_SECONDS: u64 = 5;
/// Number of tables that are asked for after a start.
const SAMPLED_TABLES: usize = 100;

/// Arguments of `sabacc bench start`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Number of records that the table's log has at least.
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    events: u64,
    /// Number of open tables.
    #[arg(long, value_name = "N", default_value = "10000", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    tables: u32,
    /// Number of accounts.
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = clap::value_parser!(u32).range(..=10_000_000))]
    accounts: u32,
}

impl Arguments {
    /// Number of streams and calls that a new room must take on a connection.
    #[must_use]
    pub fn streams_per_connection(&self) -> u32 {
        PLAYED_TABLES * (PLAYERS + 1) + 64
    }
}

/// History of a room before it is started again.
#[derive(Debug, Clone, Serialize)]
pub struct History {
    /// Records of the table's log.
    events: u64,
    accounts: u32,
    tables: usize,
    /// Open tables, in the order in which they were opened.
    #[serde(skip)]
    open: Vec<TableId>,
}

/// Seconds of a start.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct StartTimes {
    /// Until all services serve.
    serving: f64,
    /// Until a player has sat down at the first table.
    first_table: f64,
    /// Until each of the sampled tables has answered.
    all_tables: f64,
}

/// Figures of the starts, in the form of the JSON output.
#[derive(Debug, Clone, Serialize)]
struct Report {
    measured: &'static str,
    history: History,
    starts: BTreeMap<&'static str, StartTimes>,
    goals: Vec<Goal>,
    passed: bool,
}

/// Opens accounts and tables in a room, and lets bots play until its log is long.
///
/// # Errors
/// The room fails or refuses.
pub async fn make_history(
    target: &LoadTarget<'_>,
    arguments: &Arguments,
) -> anyhow::Result<History> {
    open_accounts(target, arguments.accounts).await?;
    let open = open_tables(target, arguments.tables).await?;
    play(target, arguments.events).await?;
    let events = log_size(target).await?;
    Ok(History { events, accounts: arguments.accounts, tables: open.len(), open })
}

/// Asks a started room for its tables. `began` is when its start did, `served` when it was over.
///
/// # Errors
/// The room fails or refuses.
pub async fn time_start(
    target: &LoadTarget<'_>,
    history: &History,
    began: Instant,
    served: Instant,
) -> anyhow::Result<StartTimes> {
    let connection = Client::connect(target.url, String::new())?;
    let operator = target.client(&connection, Role::Operator, "bench");
    let first = *history.open.first().context("at least one table is open")?;
    let player = IdMaker::system().player_id();
    let guest = target.client(&connection, Role::Player, &player.to_string());
    guest.open_account(None).await?;
    let credits = Credits::try_new(operator.get_table(first).await?.max_buy_in_credits)?;
    operator.issue(player, credits, "credits to measure a start with").await?;
    guest.sit_down(first, 0, credits).await?;
    let first_table = began.elapsed();
    guest.stand_up(first).await?;
    let step = history.open.len().div_ceil(SAMPLED_TABLES).max(1);
    for table in history.open.iter().step_by(step) {
        operator.get_table(*table).await?;
    }
    let seconds = |span: Duration| rounded(span.as_secs_f64());
    Ok(StartTimes {
        serving: seconds(served.duration_since(began)),
        first_table: seconds(first_table),
        all_tables: seconds(began.elapsed()),
    })
}

/// Deletes the snapshots of a stopped room.
///
/// # Errors
/// The database is away.
pub async fn delete_snapshots(admin_url: &str) -> anyhow::Result<()> {
    Database::connect(admin_url).await?.delete_snapshots().await.context("they stay")
}

/// Judges the starts with and without snapshots.
///
/// # Errors
/// The figures cannot be written as JSON.
pub fn report(
    history: History,
    with_snapshots: StartTimes,
    without: StartTimes,
) -> anyhow::Result<Summary> {
    let first = Some(with_snapshots.first_table);
    let goals = vec![
        Goal::at_most(
            &format!("{FIRST_TABLE_SECONDS} s until the first table is played at"),
            first,
            FIRST_TABLE_SECONDS,
        ),
        Goal::at_most(
            &format!("{ALL_SECONDS} s until all tables answer"),
            Some(with_snapshots.all_tables),
            ALL_SECONDS,
        ),
    ];
    let passed = goals.iter().all(|goal| goal.reached == Some(true));
    let starts =
        [("with snapshots", with_snapshots), ("without snapshots", without)].into_iter().collect();
    let report = Report { measured: "start", history, starts, goals, passed };
    let History { events, accounts, tables, .. } = &report.history;
    let mut text = format!(
        "start of a room with {events} records of its tables, {tables} open tables, {accounts} accounts"
    );
    for (name, StartTimes { serving, first_table, all_tables }) in &report.starts {
        text += &format!(
            "\n{name}: serves after {serving} s, first table {first_table} s, all tables {all_tables} s"
        );
    }
    for goal in &report.goals {
        text += &format!("\ngoal {goal}");
    }
    Ok(Summary { text, json: serde_json::to_string(&report)?, passed })
}

async fn open_accounts(target: &LoadTarget<'_>, count: u32) -> anyhow::Result<()> {
    let channel = transport::connect(&target.url.parse()?, None)?;
    let token = Bearer::new(&target.issuer.issue_for_a_day(Role::Operator, "bench"));
    let (ids, bar) = (IdMaker::system(), ProgressBar::new());
    let (mut opened, mut calls) = (0, JoinSet::new());
    while opened < count {
        let some = ACCOUNTS_PER_CALL.min(count - opened);
        let mut request = Request::new(OpenAccountsRequest {
            request_id: ids.request_id().to_string(),
            player_ids: (0..some).map(|_| ids.player_id().to_string()).collect(),
        });
        token.add_to(&mut request);
        let mut accounts = WalletServiceClient::new(channel.clone());
        calls.spawn(async move { accounts.open_accounts(request).await });
        if calls.len() >= CONCURRENT_CALLS
            && let Some(call) = calls.join_next().await
        {
            call.context("opening accounts crashed")??;
        }
        opened += some;
        bar.show("accounts", opened.into(), count.into(), "opened");
    }
    while let Some(call) = calls.join_next().await {
        call.context("opening accounts crashed")??;
    }
    bar.clear();
    Ok(())
}

async fn open_tables(target: &LoadTarget<'_>, count: u32) -> anyhow::Result<Vec<TableId>> {
    let connection = Client::connect(target.url, String::new())?;
    let operator = target.client(&connection, Role::Operator, "bench");
    let bar = ProgressBar::new();
    let (mut opened, mut opening) = (Vec::new(), JoinSet::new());
    for number in 0..count {
        if opening.len() >= CONCURRENT_CALLS
            && let Some(table) = opening.join_next().await
        {
            opened.push(table.context("opening a table crashed")??);
        }
        let game = rules::ALL[number as usize % rules::ALL.len()].id;
        let config = TableConfig {
            name: format!("idle {number}"),
            variant: game.to_owned(),
            ..TableConfig::default()
        };
        let operator = operator.clone();
        opening.spawn(async move { operator.create_table(config).await });
        bar.show("tables", opened.len() as u64, count.into(), "opened");
    }
    while let Some(table) = opening.join_next().await {
        opened.push(table.context("opening a table crashed")??);
    }
    bar.clear();
    Ok(opened)
}

/// Lets bots play until the table's log has so many records.
async fn play(target: &LoadTarget<'_>, events: u64) -> anyhow::Result<()> {
    if log_size(target).await? >= events {
        return Ok(());
    }
    let mut run = LoadRun::start(target, &load::Options::playing(PLAYED_TABLES, PLAYERS)).await?;
    loop {
        let size = log_size(target).await?;
        if size >= events {
            break;
        }
        run.play_for(&format!("{size} of {events} records"), PLAY_SECONDS, false).await?;
    }
    let latencies = run.take_latencies();
    run.finish(target, latencies, FINISH_TIMEOUT).await?;
    Ok(())
}

async fn log_size(target: &LoadTarget<'_>) -> anyhow::Result<u64> {
    let url = target.server.postgres.as_deref().context("the room's database is known")?;
    Ok(Database::connect(url).await?.event_count("\"table\"").await?)
}
