//! Knows: every service, and the people in front of a terminal: runs a card room, follows tables, audits hands.
//! Does not know: how any of it works inside.

mod archive;
mod audits;
mod bench;
mod demo;
mod disputes;
mod door;
mod explain;
mod folder;
mod hand;
mod healthcheck;
mod keys;
mod load;
mod logs;
mod migrate;
mod randomness;
mod repo;
mod resume;
mod room;
mod say;
mod shown;
mod up;
mod verify;
mod watch;
mod witness;

use std::path::PathBuf;
use std::process::ExitCode;

use chassis::threads::{self, Share};
use clap::{Parser, Subcommand};

/// Small short-lived pieces by the thousand are what a server of calls allocates; the C library's
/// allocator took a fifth of all processor time under load.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Sabacc: a card room that anybody can check.
#[derive(Parser)]
#[command(name = "sabacc", version)]
struct Arguments {
    /// The data folder [default: sabacc in the XDG data folder].
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Answer in JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a whole card room on this machine, with a demo table.
    Up(up::Options),
    /// Have many bots play at many tables at once, and measure and audit it.
    Load(load::Options),
    /// Measure the pieces, each beside what it stands on.
    #[command(subcommand)]
    Bench(bench::What),
    /// Follow a table in the terminal.
    Watch(watch::Options),
    /// Check what is on record.
    #[command(subcommand)]
    Audit(audits::What),
    /// Check bundles of hands, without any server, for somebody who trusts nobody.
    Verify(verify::Options),
    /// Move old ranges of a log to files that prove themselves, and back.
    #[command(subcommand)]
    Archive(archive::What),
    /// Replay hand histories, make some up, or export one of a room.
    #[command(subcommand)]
    Hand(hand::What),
    /// Tell the rules of a table, as they are configured, in words.
    Rules(explain::Options),
    /// Print the public keys that a room's logs are verified with.
    Keys(keys::Options),
    /// See the logs of a room grow, from outside, and cosign what follows from what was seen.
    Witness(witness::Options),
    /// Let what had stopped at a table go on, as an operator, for a reason that is on record.
    Resume(resume::Options),
    /// Ask a server whether it is ready, and what is missing where it is not.
    Healthcheck(healthcheck::Options),
    /// Bring a database's schemas up to date, as its administrator.
    Migrate(migrate::Options),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = match threads::runtime(share(&arguments.command)) {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into()),
    };
    let Arguments { data, json, command } = arguments;
    let done = runtime.block_on(async move {
        match command {
            Command::Up(options) => Box::pin(up::run(data, json, options)).await,
            Command::Load(options) => Box::pin(load::run(data, json, options)).await,
            Command::Bench(what) => Box::pin(bench::run(json, what)).await,
            Command::Watch(options) => watch::run(data, json, options).await,
            Command::Audit(what) => audits::run(data, json, what).await,
            Command::Verify(options) => verify::run(json, &options),
            Command::Archive(what) => archive::run(data, json, what).await,
            Command::Hand(what) => hand::run(data, json, what).await,
            Command::Rules(options) => explain::run(json, &options),
            Command::Keys(options) => keys::run(data, &options),
            Command::Witness(options) => Box::pin(witness::run(options)).await,
            Command::Resume(options) => resume::run(data, json, options).await,
            Command::Migrate(options) => migrate::run(data, options).await,
            Command::Healthcheck(options) => healthcheck::run(options).await,
        }
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) if error.is::<hand::NoHistory>() || error.is::<verify::NoBundle>() => {
            say::error(&error.to_string());
            ExitCode::from(2)
        }
        Err(error) => fail(&error),
    }
}

/// A wallet and its callers, each with a process of its own, leave PostgreSQL its part of the machine.
const fn share(command: &Command) -> Share {
    let apart = matches!(command, Command::Bench(bench::What::Ledger(_) | bench::What::Wallet));
    if apart { Share::Half } else { Share::All }
}

/// One line that says what is wrong, with its causes.
fn fail(error: &anyhow::Error) -> ExitCode {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        // Many errors already end with what their cause says.
        if !text.ends_with(&cause) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&cause);
        }
    }
    say::error(&format!("sabacc: {text}"));
    ExitCode::FAILURE
}
