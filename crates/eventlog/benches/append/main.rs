//! Benchmark of appends: `cargo bench -p eventlog`.
//!
//! It compares the log with **the floor**, in the same run, on the same server, in turns. The floor
//! inserts the same rows into the same tables over one connection, without fence, chains and
//! callers, in batches of the log's average size just before. So a ratio has the same meaning on
//! any machine; 1 would be a log that costs nothing in addition to its rows.
//!
//! The server is a private cluster that waits for the disk, or the one of `DATABASE_URL` (with
//! administrator's rights). A database is created and left there.

mod log;
mod raw;
mod rows;

use std::time::Duration;

use anyhow::Context as _;
use postgres_launcher::{Environment, Options, obtain};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

const PASSWORD: &str = "for-benchmarks-only";
const ROUNDS: usize = 5;
const SPAN: Duration = Duration::from_millis(1500);

/// Result of one measurement.
#[derive(Clone, Copy, Default)]
struct Rate {
    events: u64,
    commits: u64,
    seconds: f64,
}

impl Rate {
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    fn per_second(self) -> f64 {
        self.events as f64 / self.seconds
    }

    fn batch(self) -> u64 {
        (self.events + self.commits / 2) / self.commits.max(1)
    }
}

fn main() -> anyhow::Result<()> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(run())
}

async fn run() -> anyhow::Result<()> {
    let data = tempfile::Builder::new().prefix("sabacc-bench-").tempdir()?;
    let mut options = Options::new(data.path(), Environment::read());
    options.ephemeral = true;
    let server = obtain(&options).await?;
    let database = format!("bench_{}", std::process::id());
    let mut admin = PgConnection::connect(&server.admin_url()).await?;
    // The name consists of letters, digits and underscores, so it needs no escaping.
    let create = AssertSqlSafe(format!("CREATE DATABASE {database} TEMPLATE template0"));
    sqlx::raw_sql(create).execute(&mut admin).await?;
    let admin = server.url_of(&database);
    eventlog::migrate(&admin, "table", Some(PASSWORD)).await?;
    eventlog::migrate(&admin, "dealer", Some(PASSWORD)).await?;
    say(&server.describe());
    measure(&admin).await?;
    server.stop().await.context("stopping the server")
}

async fn measure(admin: &str) -> anyhow::Result<()> {
    let log = log::open(&as_role(admin, "sabacc_table")).await?;
    let mut raw = raw::Raw::connect(admin).await?;
    say(
        "                          log: events/s (a commit)   floor: events/s (FROM)   ratio (FROM)",
    );
    let mut all: Vec<Vec<Round>> = vec![Vec::new(); log::LOADS.len()];
    for _ in 0..ROUNDS {
        for (load, rounds) in log::LOADS.iter().zip(&mut all) {
            let ours = load.run(&log).await?;
            let floor = raw.run(raw::IN_SELECT, ours.batch()).await?;
            let from = raw.run(raw::IN_FROM, ours.batch()).await?;
            let round = Round { ours, floor, from };
            round.say(load.name());
            rounds.push(round);
        }
    }
    say("median of the rounds, by the ratio:");
    for (load, mut rounds) in log::LOADS.iter().zip(all) {
        rounds.sort_by(|a, b| a.ratio().total_cmp(&b.ratio()));
        rounds[rounds.len() / 2].say(load.name());
    }
    Ok(())
}

/// Three measurements, one after the other, so that other load on the machine affects all of them.
#[derive(Clone, Copy)]
struct Round {
    ours: Rate,
    floor: Rate,
    from: Rate,
}

impl Round {
    fn ratio(self) -> f64 {
        self.ours.per_second() / self.floor.per_second()
    }

    fn say(self, name: &str) {
        let [ours, floor, from] = [self.ours, self.floor, self.from].map(Rate::per_second);
        let (batch, ratio, other) = (self.ours.batch(), self.ratio(), ours / from);
        say(&format!(
            "{name:20} {ours:16.0} ({batch:5})  {floor:17.0} ({from:6.0})  {ratio:8.2} ({other:.2})"
        ));
    }
}

/// Database URL for another role: the last value of a parameter counts.
fn as_role(url: &str, role: &str) -> String {
    let joint = if url.contains('?') { '&' } else { '?' };
    format!("{url}{joint}user={role}&password={PASSWORD}")
}

#[expect(clippy::print_stdout, reason = "a benchmark talks to people")]
fn say(line: &str) {
    println!("{line}");
}
