//! `sabacc load`: many tables with bots at once, over the public port, measured and then audited.
//!
//! **What plays.** N tables of P bots. Each bot follows its table on a stream of its own and decides
//! the moment it is due, at random among what is legal with the smallest amounts; nobody thinks, unless
//! `--think 1s..6s` says from where each thought is drawn, and the tables pause between hands for
//! nothing. There is never more than one decision due at a
//! table, so N calls are under way at the most. Every bot takes part in the chance of its hands, which
//! is two messages more for each; what it is told of it one bot at each table checks, for the others
//! would only find the same.
//!
//! **What is measured.** After a warm-up, for so many seconds: acknowledged decisions a second; from
//! the sending of an `Act` to its answer, in percentiles over all of them; hands a second; what was
//! refused and why; processor seconds of each process, the bots' own among those of this one; bytes
//! of write-ahead log and of the database's files for each decision. Then the tables are closed, the
//! hands in play end, everybody is paid out, and the hands (all, or as many as `--audit` says, evenly
//! spread) and the whole ledger are audited. A check that fails fails the command.
//!
//! **What is judged.** Where bots think, as people do, the room is not asked for more than it has: a hand
//! that is burnt or a decision that the clock takes is its fault then, since bots keep nothing back and
//! think for less than the clock gives, and the command fails. `--p99 50ms` judges that too. Bots that do
//! not think take all that there is, and what becomes of hands is reported only.
//!
//! **Overload.** With `--overload` tables are added, `--tables` at a time, until the room is saturated: an
//! action's p99 is over 50 ms, or it refuses a table. Then twice as many are asked for and played at for
//! `--seconds`; whatever is refused must be refused with `OVERLOADED`, no hand may be burnt and no clock
//! lost. Then all but half of the tables that saturate it are closed, and within ten seconds the room
//! must take a table and answer in time again. Bots wait as long as the room asks.
//!
//! **Where.** By default a room of its own in a temporary folder, with a PostgreSQL of its own that
//! waits for the disk. With `--data` the room that runs in that folder; with `--server` and `--key` a
//! room anywhere: `--key` is the private key of an issuer whose tokens that room believes, for the
//! bots need tokens of a player each. There the logs cannot be read, and so nothing is audited.
//!
//! **Limits.** The public port takes 32 streams on a connection, and of an address 16 connections, 64
//! streams and 200 calls a second (of its own machine as many as come, where `limits.exempt_loopback` is
//! set), and services among themselves 256 streams on a connection. A room of its own is started with
//! more. An operator who wants to load theirs from one address sets, at the gateway, `limits.streams` to
//! the bots divided by the connections, plus the tables divided by the connections,
//! `limits.address_connections` to the connections, and `limits.address_streams` and
//! `limits.address_calls` to 0; and at the table service `limits.streams` and `limits.connection_calls`
//! to the bots plus the tables.

mod bot;
mod crowd;
mod figures;
mod overload;
pub(crate) mod place;
mod think;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use chassis::telemetry;
use clap::Args;

use crate::bench::unless_stopped;
use crate::say;
use crate::up::telemetry_config;
use crowd::Crowd;
pub(crate) use figures::Figures;
use place::Place;
pub(crate) use think::Think;

#[derive(Args, Clone)]
pub(crate) struct Options {
    /// How many tables.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) tables: u32,
    /// How many bots at each.
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(2..=10))]
    pub(crate) players: u32,
    /// How many seconds are measured.
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
    /// How many seconds are played before, and not counted.
    #[arg(long, value_name = "S", default_value = "3", value_parser = clap::value_parser!(u64).range(..=3600))]
    pub(crate) warm_up: u64,
    /// How long a bot thinks before each decision: 1s..6s, 500ms..2s, or one time for all [default: not
    /// at all].
    #[arg(long, value_name = "FROM..TO", value_parser = Think::parse, default_value = "0s", hide_default_value = true)]
    pub(crate) think: Think,
    /// Fail where one of a hundred actions takes longer, such as 50ms.
    #[arg(long, value_name = "TIME", value_parser = think::duration)]
    pub(crate) p99: Option<Duration>,
    /// Add tables until the room is saturated, then play at twice as many, and see it recover.
    #[arg(long)]
    pub(crate) overload: bool,
    /// The game.
    #[arg(long, value_name = "VARIANT", default_value = "dice")]
    pub(crate) game: String,
    /// The public port of a room that runs elsewhere; needs --key.
    #[arg(long, value_name = "URL", requires = "key")]
    pub(crate) server: Option<String>,
    /// The private key (PEM) of an issuer that the room at --server believes.
    #[arg(long, value_name = "FILE", requires = "server")]
    pub(crate) key: Option<PathBuf>,
    /// Connections that the bots share [default: 8; with --server one for 24 bots].
    #[arg(long, value_name = "C", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) connections: Option<u32>,
    /// Hands that are audited at the end, evenly spread where more were played.
    #[arg(long, value_name = "K", default_value = "500")]
    pub(crate) audit: u64,
    /// Seconds of each run of pgbench, one before and one after, on the PostgreSQL of a room of
    /// load's own.
    #[arg(long, value_name = "S", default_value = "0", value_parser = clap::value_parser!(u64).range(..=3600))]
    pub(crate) pgbench: u64,
}

/// Hands in play have so long to end once their tables are closed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

impl Options {
    fn bots(&self) -> u32 {
        self.tables.saturating_mul(self.players)
    }

    /// Streams and calls that a room of one's own takes on a connection.
    fn streams(&self) -> u32 {
        let times = if self.overload { overload::MOST_STEPS * 2 } else { 1 };
        (self.bots() + self.tables).saturating_mul(times).saturating_add(64)
    }
}

/// False where an audit fails.
pub(crate) async fn run(
    data: Option<PathBuf>,
    json: bool,
    options: Options,
) -> anyhow::Result<bool> {
    if options.server.is_some() && data.is_some() {
        bail!("--data and --server name two rooms: leave one of them away");
    }
    let telemetry = telemetry::start("sabacc", &telemetry_config()?)?;
    let place = Place::open(data, &options).await?;
    let outcome = Box::pin(unless_stopped(outcome(&place, &options))).await;
    place.close().await?;
    telemetry.flush().await;
    let (words, object, passed) = outcome?;
    if !json {
        say::line(&words);
    }
    say::line(&object);
    Ok(passed)
}

/// For people, for programs, and whether it passed.
async fn outcome(place: &Place, options: &Options) -> anyhow::Result<(String, String, bool)> {
    if options.overload {
        let report = overload::measure(place, options).await?;
        return Ok((report.to_string(), serde_json::to_string(&report)?, report.passed));
    }
    let figures = measure(place, options).await?;
    Ok((figures.to_string(), serde_json::to_string(&figures)?, figures.passed))
}

/// Plays, measures, and audits, where there is something to audit; beside `pgbench` where that was
/// asked for.
pub(crate) async fn measure(place: &Place, options: &Options) -> anyhow::Result<Figures> {
    let mut beside = place.beside(options.pgbench).await?;
    beside.run().await?;
    let mut crowd = Crowd::seat(place, options).await?;
    crowd.play_for(("warm-up", options.warm_up), false).await?;
    let mut gauge = place.gauge().await?;
    let before = gauge.read().await?;
    let clock = say::Progress::quiet();
    crowd.play_for(("measuring", options.seconds), true).await?;
    let took = clock.elapsed();
    let after = gauge.read().await?;
    let latencies = crowd.take_latencies();
    let played = crowd.finish(place, (latencies, PATIENCE)).await?;
    beside.run().await?;
    let audited = place.audit(&played.tables, options.audit).await?;
    Ok(Figures::new(options, took, (&before, &after), (played, audited)).beside(beside.mean()))
}
