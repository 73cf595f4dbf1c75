//! `sabacc-attacks`: the attack suite and the hostile table, on demand. See README.md beside `src`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use attacks::attack::Attack;
use attacks::hostile::{self, MatchOptions};
use attacks::room::{fastest_folder, sabacc_program};
use attacks::verdict::{Dependencies, judge};
use clap::{Args, Parser, Subcommand};

/// Attack new rooms beside honest players, and report the effects on them.
#[derive(Parser)]
#[command(name = "sabacc-attacks", version)]
struct Arguments {
    /// The program `sabacc` [default: the one beside this program].
    #[arg(long, global = true, value_name = "FILE")]
    program: Option<PathBuf>,
    /// The folder for rooms' files [default: memory where there is plenty].
    #[arg(long, global = true, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Answer in JSON, one object a line.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    what: AttacksCommand,
}

#[derive(Subcommand)]
enum AttacksCommand {
    /// Run every attack, or the named ones, each on a new room.
    Suite(Suite),
    /// Play with three players who decide at once, one of whom also makes every lawful call as
    /// often as allowed; in periods with and without.
    Hostile(Hostile),
    /// List the names of all attacks.
    List,
}

#[derive(Args)]
struct Suite {
    /// Names of attacks [default: all].
    names: Vec<String>,
    /// Seconds of measurement before each attack.
    #[arg(long, value_name = "S", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=600))]
    calm: u64,
}

#[derive(Args)]
struct Hostile {
    /// Minutes with hostility; as many are played without.
    #[arg(long, value_name = "M", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=600))]
    minutes: u64,
    /// Seconds of each period.
    #[arg(long, value_name = "S", default_value = "30", value_parser = clap::value_parser!(u64).range(5..=600))]
    turn: u64,
    /// The game.
    #[arg(long, value_name = "VARIANT", default_value = "eleven")]
    game: String,
    /// Let the hostile player withhold entropy too.
    #[arg(long)]
    withhold: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Runtime::new().context("no runtime");
    match runtime.and_then(|runtime| runtime.block_on(Box::pin(run(arguments)))) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr().lock(), "sabacc-attacks: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs the command. True if everything passed.
async fn run(arguments: Arguments) -> anyhow::Result<bool> {
    let Arguments { program, folder, json, what } = arguments;
    let suite = match what {
        AttacksCommand::List => {
            for attack in Attack::ALL {
                print(&format!("{:<12} {}", attack.name(), attack.about()));
            }
            return Ok(true);
        }
        AttacksCommand::Suite(suite) => suite,
        AttacksCommand::Hostile(options) => {
            let dependencies = dependencies(program, folder, Duration::ZERO)?;
            let Hostile { minutes, turn, game, withhold } = options;
            let plan = MatchOptions {
                hostile_time: Duration::from_secs(minutes * 60),
                period: Duration::from_secs(turn),
                game,
                withholds: withhold,
            };
            let verdict =
                hostile::judge(&dependencies, &plan, |line| print_progress(&line)).await?;
            print(&if json { serde_json::to_string(&verdict)? } else { verdict.to_string() });
            return Ok(verdict.passed);
        }
    };
    let attacks = suite.names.iter().map(|name| {
        Attack::by_name(name).with_context(|| format!("there is no attack `{name}`: see `list`"))
    });
    let mut attacks: Vec<Attack> = attacks.collect::<anyhow::Result<_>>()?;
    if attacks.is_empty() {
        attacks = Attack::ALL.to_vec();
    }
    let dependencies = dependencies(program, folder, Duration::from_secs(suite.calm))?;
    let mut passed = true;
    for attack in attacks {
        print_progress(&format!("{}: {}", attack.name(), attack.about()));
        let verdict = Box::pin(judge(&dependencies, attack)).await?;
        passed &= verdict.passed;
        print(&if json { serde_json::to_string(&verdict)? } else { verdict.to_string() });
    }
    Ok(passed)
}

fn dependencies(
    program: Option<PathBuf>,
    folder: Option<PathBuf>,
    calm: Duration,
) -> anyhow::Result<Dependencies> {
    let program = program.map_or_else(sabacc_program, Ok)?;
    let program =
        program.canonicalize().with_context(|| format!("{} cannot be found", program.display()))?;
    Ok(Dependencies { program, folder: folder.unwrap_or_else(fastest_folder), calm_time: calm })
}

fn print(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Prints progress to standard error.
fn print_progress(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
