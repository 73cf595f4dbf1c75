//! `sabacc load`: many tables with bots, over the public port, measured and then audited.
//!
//! **Play.** N tables of P bots. Each bot follows its table on its own stream and decides as soon
//! as it is due, at random among the legal moves with the smallest amounts. `--think 1s..6s` makes
//! bots think for a random time in this range. Tables do not pause between hands. At most one
//! decision is due at a table, so at most N calls are in flight. Every bot contributes entropy to
//! its hands, which is two more messages for each. One bot at each table checks the chance; the
//! others would find the same.
//!
//! **Measurement.** After a warm-up, for the given seconds: acknowledged decisions per second;
//! latency from sending an `Act` to its answer, in percentiles; hands per second; refusals by
//! reason; processor seconds of each process, the bots' included in this one; bytes of write-ahead
//! log and of the database's files per decision. Then the tables are closed, the hands in play end,
//! everybody is paid out, and the hands (all, or an evenly spread sample of `--audit`) and the
//! whole ledger are audited. A failed check fails the command.
//!
//! **Judgement.** With thinking bots the room is not asked for more than it has. A burnt hand or a
//! decision by the clock is then its fault, since bots never withhold entropy and think for less
//! than the clock gives, and the command fails. `--p99 50ms` is judged as well. Bots that do not
//! think take all capacity, and burnt hands are only reported.
//!
//! **Overload.** With `--overload` tables are added, `--tables` at a time, until the room is
//! saturated: an action's p99 is over 50 ms, or it refuses a table. Then twice as many are
//! requested and played at for `--seconds`; every refusal must be `OVERLOADED`, no hand may be
//! burnt and no decision taken by the clock. Then all but half of the tables that saturate it are
//! closed, and within ten seconds the room must take a table and answer in time again. Bots wait as
//! long as the room asks.
//!
//! **Spectators.** With `--spectators` so many streams then follow the first table, and the players are
//! measured for `--seconds` once more. They must keep nine tenths of their speed, and a spectator
//! cost the room no more than 64 KiB. Give the bots time to think: without it they take what the
//! spectators leave.
//!
//! **Room.** By default a new room in a temporary folder, with a private PostgreSQL with
//! synchronous commits. With `--data` the room that runs in that folder; with `--server` and
//! `--key` any room: `--key` is the private key of an issuer whose tokens the room trusts, because
//! each bot needs a player's token. The logs of such a room cannot be read, so nothing is audited.
//!
//! **Limits.** The public port takes 32 streams on a connection, and from one address 16
//! connections, 64 streams and 200 calls a second (from its own machine any number, if
//! `limits.exempt_loopback` is set). Services take 256 streams on a connection from each other. A
//! new room is started with higher limits. An operator who loads their room from one address sets,
//! at the gateway, `limits.streams` to the bots divided by the connections, plus the tables divided
//! by the connections, `limits.address_connections` to the connections, and
//! `limits.address_streams` and `limits.address_calls` to 0; and at the table service
//! `limits.streams` and `limits.connection_calls` to the bots plus the tables.

mod bot;
mod figures;
mod load_run;
mod overload;
mod spectators;
mod target;
mod think_time;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tokio::time::Instant;

use crate::{Summary, until_signal};
pub(crate) use figures::Figures;
use figures::RunCosts;
pub(crate) use load_run::LoadRun;
use spectators::{SpectatorFigures, Spectators};
pub use target::{AuditResult, Auditor, LoadTarget};
use think_time::ThinkTime;

/// Options of `sabacc load`.
#[derive(Args, Clone)]
pub struct Options {
    /// Number of tables.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) tables: u32,
    /// Number of bots at each table.
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(2..=10))]
    pub(crate) players: u32,
    /// Seconds to measure.
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
    /// Seconds of warm-up before, which do not count.
    #[arg(long, value_name = "S", default_value = "3", value_parser = clap::value_parser!(u64).range(..=3600))]
    pub(crate) warm_up: u64,
    /// Time that a bot thinks before each decision: 1s..6s, 500ms..2s, or one time for all
    /// [default: none].
    #[arg(long, value_name = "FROM..TO", value_parser = ThinkTime::parse, default_value = "0s", hide_default_value = true)]
    pub(crate) think: ThinkTime,
    /// Fail if the 99th percentile of actions is not below this time, such as 50ms.
    #[arg(long, value_name = "TIME", value_parser = think_time::parse_duration)]
    pub(crate) p99: Option<Duration>,
    /// Add tables until the room is saturated, play at twice as many, and check that it recovers.
    #[arg(long)]
    pub(crate) overload: bool,
    /// Number of spectators who then follow the first table, and what they cost.
    #[arg(long, value_name = "N", default_value = "0", conflicts_with = "overload", value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub(crate) spectators: u32,
    /// The game.
    #[arg(long, value_name = "VARIANT", default_value = "dice")]
    pub(crate) game: String,
    /// The public port of a room that runs elsewhere; needs --key.
    #[arg(long, value_name = "URL", requires = "key")]
    pub server: Option<String>,
    /// The private key (PEM) of an issuer that the room at --server trusts.
    #[arg(long, value_name = "FILE", requires = "server")]
    pub key: Option<PathBuf>,
    /// Number of connections that the bots share [default: 8; with --server one for 24 bots].
    #[arg(long, value_name = "C", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) connections: Option<u32>,
    /// Folder in which bots keep what the room signed for them and what they revealed
    /// [default: in memory].
    #[arg(long, value_name = "DIR")]
    pub evidence: Option<PathBuf>,
    /// Number of hands to audit at the end, evenly spread if more were played.
    #[arg(long, value_name = "K", default_value = "500")]
    pub(crate) audit: u64,
    /// Seconds of each run of pgbench, one before and one after, on the PostgreSQL of a new room.
    #[arg(long, value_name = "S", default_value = "0", value_parser = clap::value_parser!(u64).range(..=3600))]
    pub(crate) pgbench: u64,
}

/// Time for hands in play to end after their tables are closed.
pub(crate) const FINISH_TIMEOUT: Duration = Duration::from_secs(180);

impl Options {
    /// Options of dice at so many tables of a new room, as fast as it goes, without an audit.
    pub(crate) fn playing(tables: u32, players: u32) -> Options {
        Options {
            tables,
            players,
            seconds: 1,
            warm_up: 0,
            think: ThinkTime::default(),
            p99: None,
            overload: false,
            spectators: 0,
            game: "dice".to_owned(),
            server: None,
            key: None,
            connections: None,
            evidence: None,
            audit: 0,
            pgbench: 0,
        }
    }

    fn bot_count(&self) -> u32 {
        self.tables.saturating_mul(self.players)
    }

    /// Number of streams and calls that a new room must take on a connection.
    #[must_use]
    pub fn streams_per_connection(&self) -> u32 {
        let times = if self.overload { overload::MAX_STEPS * 2 } else { 1 };
        let streams = (self.bot_count() + self.tables).saturating_mul(times);
        streams.saturating_add(self.spectators).saturating_add(64)
    }
}

/// Loads the room, and measures it.
///
/// # Errors
/// The room fails or refuses a call that it must accept, or a signal arrives.
pub async fn run(target: &LoadTarget<'_>, options: &Options) -> anyhow::Result<Summary> {
    until_signal(summary(target, options)).await
}

async fn summary(target: &LoadTarget<'_>, options: &Options) -> anyhow::Result<Summary> {
    if options.overload {
        let report = overload::measure(target, options).await?;
        let json = serde_json::to_string(&report)?;
        return Ok(Summary { text: report.to_string(), json, passed: report.passed });
    }
    let figures = measure(target, options).await?;
    let json = serde_json::to_string(&figures)?;
    Ok(Summary { text: figures.to_string(), json, passed: figures.passed })
}

/// Plays, measures, and audits if the logs can be read; with `pgbench` before and after if
/// requested.
pub(crate) async fn measure(target: &LoadTarget<'_>, options: &Options) -> anyhow::Result<Figures> {
    let mut pgbench = target.pgbench(options.pgbench).await?;
    pgbench.run().await?;
    let mut run = LoadRun::start(target, options).await?;
    run.play_for("warm-up", options.warm_up, false).await?;
    let mut meter = target.cost_meter().await?;
    let before = meter.read().await?;
    let clock = Instant::now();
    let alone = run.play_for("measuring", options.seconds, true).await?;
    let took = clock.elapsed();
    let after = meter.read().await?;
    let latencies = run.take_latencies();
    let table = meter.table(&before, &after, latencies.count()).await;
    let watched = watched(target, options, &mut run, alone).await?;
    let played = run.finish(target, latencies, FINISH_TIMEOUT).await?;
    pgbench.run().await?;
    let audited = target.audit(&played.tables, options.audit).await?;
    let costs = RunCosts { before, after, table };
    let figures = Figures::new(options, took, &costs, played, audited);
    Ok(figures.with_pgbench(pgbench.mean()).with_spectators(watched))
}

/// Measures the players once more, while spectators follow the first table; none without any.
async fn watched(
    target: &LoadTarget<'_>,
    options: &Options,
    run: &mut LoadRun,
    alone: u64,
) -> anyhow::Result<Option<SpectatorFigures>> {
    let Some(table) = run.first_table().filter(|_| options.spectators > 0) else { return Ok(None) };
    let spectators = Spectators::arrive(target, table, options.spectators).await?;
    let first = spectators.updates();
    let watched = run.play_for("watched", options.seconds, false).await?;
    let updates = spectators.updates() - first;
    #[expect(clippy::cast_precision_loss, reason = "at most a day")]
    let seconds = options.seconds as f64;
    let figures = SpectatorFigures::new(options.spectators, seconds, alone, watched);
    let bytes_each = spectators.leave(target)?;
    Ok(Some(SpectatorFigures { updates, bytes_each, ..figures }))
}
