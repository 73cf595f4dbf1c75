//! `sabacc audit disputes`: lists, shows and answers players' disputes.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use primitives::{DisputeId, HandId, PlayerId, TableId};
use proto::audit::v1::{Dispute, DisputeState};
use proto::event::v1::DisputeVerdict;
use serde_json::{Value, json};

use crate::audits;
use crate::endpoint::RoomEndpoint;
use crate::logs::Logs;
use crate::output;

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    door: RoomEndpoint,
    #[command(subcommand)]
    what: Option<DisputeCommand>,
}

#[derive(Subcommand)]
enum DisputeCommand {
    /// List the unanswered disputes, in the order they were opened.
    List {
        /// List the answered ones too.
        #[arg(long)]
        all: bool,
    },
    /// Show the texts, and audit the hand.
    Show {
        /// The dispute's id.
        id: DisputeId,
    },
    /// Answer a dispute; the answer is final.
    Answer {
        /// The dispute's id.
        id: DisputeId,
        /// The verdict.
        #[arg(long)]
        verdict: Verdict,
        /// The reason, for the player to read.
        #[arg(long)]
        text: String,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Verdict {
    /// The player is right.
    Upheld,
    /// The hand is correct.
    Rejected,
    /// The records do not decide it.
    Undecided,
}

/// Runs the command. False if the hand of a shown dispute fails its audit.
pub(crate) async fn run(
    data: Option<PathBuf>,
    json: bool,
    options: Options,
) -> anyhow::Result<bool> {
    let Options { door, what } = options;
    let here = door.is_local();
    let client = door.connect(data.clone(), "audit")?;
    match what.unwrap_or(DisputeCommand::List { all: false }) {
        DisputeCommand::List { all } => {
            let state = if all { DisputeState::Unspecified } else { DisputeState::Open };
            let disputes = client.list_disputes(state, false).await?;
            for dispute in &disputes {
                output::line(&if json {
                    as_json(dispute)?.to_string()
                } else {
                    describe(dispute)?
                });
            }
            if disputes.is_empty() && !json {
                output::line(if all { "no disputes" } else { "no open disputes" });
            }
            Ok(true)
        }
        DisputeCommand::Show { id } => {
            let dispute = client.get_dispute(id).await?;
            if json {
                output::line(&as_json(&dispute)?.to_string());
            } else {
                print_dispute(&dispute)?;
            }
            let hand = parse_id::<HandId>(&dispute.hand_id)?.to_string();
            if here {
                let mut logs = Logs::open(data).await?;
                let outcome = audits::hand(&mut logs, &hand, json, None).await;
                logs.close().await?;
                return outcome;
            }
            Ok(true)
        }
        DisputeCommand::Answer { id, verdict, text } => {
            let verdict = match verdict {
                Verdict::Upheld => DisputeVerdict::Upheld,
                Verdict::Rejected => DisputeVerdict::Rejected,
                Verdict::Undecided => DisputeVerdict::Undecided,
            };
            client.answer_dispute(id, verdict, &text).await?;
            let said = json!({ "dispute": id.to_string(), "verdict": verdict_name(verdict) });
            output::line(&if json {
                said.to_string()
            } else {
                format!("dispute {id} is answered")
            });
            Ok(true)
        }
    }
}

fn parse_id<'a, T: TryFrom<&'a [u8]>>(bytes: &'a [u8]) -> anyhow::Result<T> {
    T::try_from(bytes).ok().context("the room answers with an id that is none")
}

const fn verdict_name(verdict: DisputeVerdict) -> &'static str {
    match verdict {
        DisputeVerdict::Unspecified => "open",
        DisputeVerdict::Upheld => "upheld",
        DisputeVerdict::Rejected => "rejected",
        DisputeVerdict::Undecided => "undecided",
    }
}

fn describe(dispute: &Dispute) -> anyhow::Result<String> {
    let id: DisputeId = parse_id(&dispute.dispute_id)?;
    let table: TableId = parse_id(&dispute.table_id)?;
    let player: PlayerId = parse_id(&dispute.player_id)?;
    let opened = dispute.opened_at.map_or_else(String::new, |at| at.to_string());
    let verdict = verdict_name(dispute.verdict());
    let hand_no = dispute.hand_no;
    Ok(format!("{id}  {opened}  {verdict:9}  table {table} hand {hand_no}  player {player}"))
}

fn print_dispute(dispute: &Dispute) -> anyhow::Result<()> {
    output::line(&describe(dispute)?);
    if dispute.erased {
        output::line("the player was erased: nobody can read any more what was written");
        return Ok(());
    }
    print_text("the player says", &dispute.text);
    if dispute.verdict() != DisputeVerdict::Unspecified {
        print_text("the auditor answers", &dispute.answer);
    }
    Ok(())
}

fn print_text(who: &str, text: &str) {
    output::line(&format!("{who}:"));
    for line in text.lines() {
        output::line(&format!("  {line}"));
    }
}

fn as_json(dispute: &Dispute) -> anyhow::Result<Value> {
    Ok(json!({
        "dispute": parse_id::<DisputeId>(&dispute.dispute_id)?.to_string(),
        "player": parse_id::<PlayerId>(&dispute.player_id)?.to_string(),
        "table": parse_id::<TableId>(&dispute.table_id)?.to_string(),
        "hand_no": dispute.hand_no,
        "hand": parse_id::<HandId>(&dispute.hand_id)?.to_string(),
        "verdict": verdict_name(dispute.verdict()),
        "opened_at": dispute.opened_at.map(|at| at.to_string()),
        "answered_at": dispute.answered_at.map(|at| at.to_string()),
        "erased": dispute.erased,
        "text": dispute.text,
        "answer": dispute.answer,
    }))
}
