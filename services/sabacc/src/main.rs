//! Knows: every service, and the user at a terminal: runs a card room, follows tables, audits
//! hands.
//! Does not know: how a service works inside.

mod accounts;
mod archive;
mod audits;
mod data_directory;
mod demo;
mod disputes;
mod endpoint;
mod evidence;
mod explain;
mod hand;
mod hands;
mod healthcheck;
mod keys;
mod logs;
mod manual;
mod me;
mod measure;
mod migrate;
mod monitor;
mod output;
mod play;
mod progress_bar;
mod randomness;
mod repo;
mod room;
mod room_info;
mod screen;
mod seed_tables;
mod signed_log;
mod tables;
mod token;
mod top;
mod up;
mod verify;
mod watch;
mod witness;

use std::path::PathBuf;
use std::process::ExitCode;

use bench::BenchCommand;
use chassis::threads::{self, Share};
use clap::{CommandFactory as _, Parser, Subcommand};

/// A gRPC server makes many small, short-lived allocations, at which this allocator is faster than
/// the C library's.
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
    /// Run a whole card room on this machine, with demo tables.
    Up(up::Options),
    /// Play with many bots at many tables at once; measure and audit it.
    Load(bench::load::Options),
    /// Measure the parts, each against its baseline.
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Follow a table in the terminal.
    Watch(watch::Options),
    /// Sit down at a table and play, in the terminal.
    Play(play::Options),
    /// Show the room live: tables, hands, calls.
    Top(top::Options),
    /// Check the records of a room.
    #[command(subcommand)]
    Audit(audits::AuditCommand),
    /// Check bundles of hands, without a server and without trust in the room.
    Verify(verify::Options),
    /// List and check what a player holds of a room: signatures, and contradictions between them.
    Evidence(evidence::Options),
    /// Move old ranges of a log to self-proving files, and back.
    #[command(subcommand)]
    Archive(archive::ArchiveCommand),
    /// Replay hand histories, simulate hands, or export one from a room.
    #[command(subcommand)]
    Hand(hand::HandCommand),
    /// List what became of every hand number: played, burnt and by whom, broken off, missing; with
    /// counts and rates, as the room publishes them.
    Hands(hands::Options),
    /// Print the rules of a table, as configured, in words.
    Rules(explain::Options),
    /// Print the public keys that verify a room's logs.
    Keys(keys::Options),
    /// Follow the logs of a room from outside, and cosign checkpoints that extend them.
    Witness(witness::Options),
    /// Follow a room's table and dealer logs from outside, and check that they only grow, that no
    /// hand number is missing, and that each hand ends once.
    Monitor(monitor::Options),
    /// Show a room as a whole: versions, games, limits, keys and how busy it is; disable a game in it.
    Room(room_info::Options),
    /// Open, list, disable, close and resume tables.
    #[command(subcommand)]
    Table(tables::TableCommand),
    /// Show and change players' accounts, as an operator.
    Account(accounts::Options),
    /// Show and set what is your own, as a player with a token: account, name, limits, hands.
    Me(me::Options),
    /// Make a token from an issuer's private key, and print it.
    Token(token::Options),
    /// Ask a server whether it is ready; print what is missing if it is not.
    Healthcheck(healthcheck::Options),
    /// Bring a database's schemas up to date, as its administrator.
    Migrate(migrate::Options),
    /// Print the completions of a shell.
    Completions(manual::CompletionOptions),
    /// Print the manual page, or write one for each command.
    Man(manual::ManualOptions),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = match threads::runtime(share(&arguments.command)) {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into()),
    };
    let Arguments { data, json, command } = arguments;
    let done = runtime.block_on(async move {
        let passed = match command {
            Command::Up(options) => Box::pin(up::run(data, json, options)).await,
            Command::Load(options) => Box::pin(measure::load(data, json, options)).await,
            Command::Bench(command) => Box::pin(measure::bench(json, command)).await,
            Command::Watch(options) => Box::pin(watch::run(data, json, options)).await,
            Command::Play(options) => Box::pin(play::run(data, options)).await,
            Command::Top(options) => Box::pin(top::run(data, options)).await,
            Command::Audit(what) => audits::run(data, json, what).await,
            Command::Verify(options) => return Ok(verify::run(json, &options)),
            Command::Evidence(options) => return Ok(evidence::run(json, &options)),
            Command::Archive(what) => archive::run(data, json, what).await,
            Command::Hand(what) => hand::run(data, json, what).await,
            Command::Hands(options) => hands::run(data, json, options).await,
            Command::Rules(options) => explain::run(json, &options),
            Command::Keys(options) => keys::run(data, &options),
            Command::Monitor(options) => return Ok(Box::pin(monitor::run(data, &options)).await),
            Command::Witness(options) => Box::pin(witness::run(options)).await,
            Command::Room(options) => room_info::run(data, json, options).await,
            Command::Table(what) => tables::run(data, json, what).await,
            Command::Account(options) => accounts::run(data, json, options).await,
            Command::Me(options) => me::run(data, json, options).await,
            Command::Token(options) => token::run(data, json, options),
            Command::Migrate(options) => migrate::run(data, options).await,
            Command::Healthcheck(options) => healthcheck::run(options).await,
            Command::Completions(options) => manual::completions(Arguments::command(), &options),
            Command::Man(options) => manual::manual(Arguments::command(), &options),
        };
        passed.map(|passed| u8::from(!passed))
    });
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) if error.is::<hand::BadHistory>() => {
            output::error(&error.to_string());
            ExitCode::from(2)
        }
        Err(error) => fail(&error),
    }
}

/// Share of the machine's threads: a wallet and its load generator run as two processes, and leave
/// PostgreSQL its part.
const fn share(command: &Command) -> Share {
    let apart = matches!(command, Command::Bench(BenchCommand::Ledger(_) | BenchCommand::Wallet));
    if apart { Share::Half } else { Share::All }
}

/// Prints the error with its causes on one line.
fn fail(error: &anyhow::Error) -> ExitCode {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        // Many errors already end with the text of their cause.
        if !text.ends_with(&cause) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&cause);
        }
    }
    output::error(&format!("sabacc: {text}"));
    let refused = error.chain().find_map(|cause| cause.downcast_ref::<client::Error>());
    if let Some(refused) = refused.filter(|error| error.reason().is_some()) {
        output::error(&format!("        {}", terminal::refusals::words(refused)));
    }
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(words: &[&str]) -> String {
        let words = std::iter::once(&"sabacc").chain(words);
        Arguments::try_parse_from(words).err().expect("it is mistyped").to_string()
    }

    #[test]
    fn a_mistyped_command_is_answered_with_the_one_that_is_meant() {
        let check = |words: &[&str], meant: &str| {
            let said = refused(words);
            assert!(said.contains(meant), "{words:?}: {said}");
        };
        for (mistyped, meant) in [
            ("wacth", "watch"),
            ("plya", "play"),
            ("tabel", "table"),
            ("audti", "audit"),
            ("verfiy", "verify"),
            ("completion", "completions"),
        ] {
            check(&[mistyped], &format!("'{meant}'"));
        }
        check(&["table", "lsit"], "'list'");
        check(&["me", "hnads"], "'hands'");
        check(&["watch", "--plian"], "--plain");
        check(&["completions", "bsh"], "bash");
    }

    #[test]
    fn the_commands_are_declared_without_a_contradiction() {
        Arguments::command().debug_assert();
    }
}
