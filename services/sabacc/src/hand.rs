//! `sabacc hand`: replays, simulates and exports hand histories.

mod export;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Subcommand;
use history::simulate::Plan;

use crate::output;

#[derive(Subcommand)]
pub(crate) enum HandCommand {
    /// Replay the hands of a file on the rules, and print their results.
    Replay {
        /// A hand history (.shh).
        file: PathBuf,
    },
    /// Write hands of random legal moves. Equal arguments give equal hands.
    Simulate(Simulation),
    /// Write a hand of a room as a hand history, as one viewer may see it.
    Export(export::Options),
}

#[derive(clap::Args)]
pub(crate) struct Simulation {
    /// The game, such as `dice`.
    #[arg(long)]
    variant: String,
    /// Number of players.
    #[arg(long, value_name = "N")]
    players: u8,
    /// Number of hands.
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(1..))]
    hands: u64,
    /// Seed of the random moves.
    #[arg(long, value_name = "S")]
    seed: u64,
    /// Rule set fields as `key=value,…`; a list's items are joined by `+`.
    #[arg(long, default_value = "", value_name = "FIELDS")]
    ruleset: String,
}

/// Input or plan that is unusable: the program exits with 2 and this line.
#[derive(Debug)]
pub(crate) struct BadHistory(String);

impl std::fmt::Display for BadHistory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadHistory {}

/// Runs the command. False if a hand breaks a rule.
pub(crate) async fn run(
    data: Option<PathBuf>,
    json: bool,
    what: HandCommand,
) -> anyhow::Result<bool> {
    match what {
        HandCommand::Export(options) => export::run(data, &options).await,
        HandCommand::Replay { file } => replay(&file, json),
        HandCommand::Simulate(simulation) => simulate(&simulation),
    }
}

fn replay(file: &std::path::Path, json: bool) -> anyhow::Result<bool> {
    let name = file.display();
    let no_history = |why: &dyn std::fmt::Display| BadHistory(format!("{name}: {why}"));
    let bytes = std::fs::read(file).map_err(|error| no_history(&error))?;
    let hands = history::read(&bytes).map_err(|error| no_history(&error))?;
    // Output follows only after all hands are replayed: one wrong hand suppresses it.
    let mut text = String::new();
    let several = hands.len() > 1;
    for (at, hand) in hands.into_iter().enumerate() {
        let number = at + 1;
        let replayed = hand.and_then(|hand| Ok((history::replay(&hand)?, hand)));
        let (replay, hand) = match replayed {
            Ok(replayed) => replayed,
            Err(broken) => {
                output::error(&format!("{name}: hand {number}, {broken}"));
                return Ok(false);
            }
        };
        let report = history::report(&replay);
        if json {
            text.push_str(&report.to_json());
            text.push('\n');
        } else {
            if several {
                text.push_str(&format!("hand {number}: "));
            }
            text.push_str(&report.to_text(&hand.players));
        }
    }
    output::text(&text).context("the outcome cannot be written")?;
    Ok(true)
}

fn simulate(simulation: &Simulation) -> anyhow::Result<bool> {
    let Simulation { variant, players, hands, seed, ruleset } = simulation;
    let plan = Plan::try_new(variant, ruleset, *players, *seed)
        .map_err(|error| BadHistory(format!("sabacc: {error}")))?;
    if *hands == 1 {
        output::text(&history::write(&[plan.hand(0)?]))?;
        return Ok(true);
    }
    let mut text = history::HEADER.to_owned();
    for number in 0..*hands {
        text.push_str(&history::write_hand(&plan.hand(number)?));
        if text.len() > 1 << 16 {
            output::text(&text)?;
            text.clear();
        }
    }
    output::text(&text)?;
    Ok(true)
}
