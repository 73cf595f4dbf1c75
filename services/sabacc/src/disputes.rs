//! `sabacc audit disputes`: opens, lists, shows and answers players' disputes.
//!
//! What is shown is audited: the evidence against its recorded hash, its signatures and itself, and
//! the hand where the room's logs are here.

mod evidence;
mod open;

use proto::common::v1::DisputeVerdict;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use audit::bundle::{Bundle, TrustedKeys};
use clap::{Args, Subcommand, ValueEnum};
use primitives::{DisputeId, HandId, PlayerId, TableId};
use prost::Message as _;
use proto::audit::v1::{Dispute, DisputeState, HandBundle};
use serde_json::{Value, json};

use crate::audits;
use crate::endpoint::RoomEndpoint;
use crate::logs::Logs;
use crate::output;
use evidence::Examined;

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    door: RoomEndpoint,
    #[command(subcommand)]
    what: Option<DisputeCommand>,
}

#[derive(Subcommand)]
enum DisputeCommand {
    /// List the unanswered disputes, in the order they were opened. A player is told of other
    /// players' disputes their number, hand and outcome.
    List {
        /// List the answered ones too.
        #[arg(long)]
        all: bool,
        /// List your own alone, with your token.
        #[arg(long)]
        own: bool,
    },
    /// Open a dispute about a hand you were dealt into, with your token.
    Open(open::Opening),
    /// Show the texts, and audit the evidence and the hand.
    Show {
        /// The dispute's id.
        id: DisputeId,
        /// Write the evidence into a file.
        #[arg(long, value_name = "FILE")]
        save_evidence: Option<PathBuf>,
        /// A bundle (.sabacc), to check whether it is the room's own that is on record.
        #[arg(long, value_name = "FILE")]
        bundle: Option<PathBuf>,
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
    let trusted = door.trusted_keys(data.as_deref())?;
    let what = what.unwrap_or(DisputeCommand::List { all: false, own: false });
    if let DisputeCommand::Open(opening) = &what {
        return open::run(&door.connect_with_token(data)?, json, opening).await;
    }
    let client = door.connect(data.clone(), "audit")?;
    match what {
        DisputeCommand::Open(_) => Ok(true),
        DisputeCommand::List { all, own } => {
            let state = if all { DisputeState::Unspecified } else { DisputeState::Open };
            let disputes = client.list_disputes(state, own).await?;
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
        DisputeCommand::Show { id, save_evidence, bundle } => {
            let dispute = client.get_dispute(id).await?;
            if let Some(path) = save_evidence {
                std::fs::write(&path, &dispute.evidence)
                    .with_context(|| format!("{} is not written", path.display()))?;
            }
            let hand: HandId = parse_id(&dispute.hand_id)?;
            if !here {
                let bundle = bundle.as_deref().map(read_bundle).transpose()?;
                return show(&dispute, &trusted, bundle.as_ref(), json);
            }
            let mut logs = Logs::open(data).await?;
            let bundle = match bundle {
                Some(path) => Some(read_bundle(&path)?),
                None => ShownBundle::of_the_logs(&mut logs, hand).await,
            };
            let fine = show(&dispute, &trusted, bundle.as_ref(), json)?;
            let outcome = audits::hand(&mut logs, &hand.to_string(), json, None).await;
            logs.close().await?;
            Ok(outcome? && fine)
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

/// Shows a dispute and examines its evidence. False if it speaks against the room, or a bundle is
/// not the one on record.
fn show(
    dispute: &Dispute,
    trusted: &TrustedKeys,
    bundle: Option<&ShownBundle>,
    json: bool,
) -> anyhow::Result<bool> {
    let parsed = bundle.map(|bundle| &bundle.bundle);
    let Examined { verdict, findings } = evidence::examine(dispute, trusted, parsed);
    let named = bundle.and_then(|bundle| Some(bundle.sha256.as_ref()? == &dispute.bundle_sha256));
    if json {
        let mut shown = as_json(dispute)?;
        shown["evidence_verdict"] = verdict.name().into();
        shown["evidence_findings"] = findings.into();
        shown["bundle_is_recorded"] = named.into();
        output::line(&shown.to_string());
    } else {
        print_dispute(dispute)?;
        output::line(&format!("the evidence: {}", verdict.sentence()));
        findings.iter().for_each(|finding| output::line(&format!("  {finding}")));
        if let Some(named) = named {
            output::line(if named {
                "the bundle: the room's own, as it is on record"
            } else {
                "the bundle: FAILED: it is not the one on record"
            });
        }
    }
    Ok(!verdict.is_against_room() && named != Some(false))
}

/// Bundle that evidence is compared with.
struct ShownBundle {
    bundle: Bundle,
    /// SHA-256 of the contents of a file; none of a bundle that was made here and now.
    sha256: Option<Vec<u8>>,
}

impl ShownBundle {
    /// Bundle from the room's own logs; `None` where the hand cannot be proved yet.
    async fn of_the_logs(logs: &mut Logs, hand: HandId) -> Option<ShownBundle> {
        let records = logs.hand_records(hand).await.ok()?;
        let bundle = logs.bundle(&records).await.ok()?;
        Some(ShownBundle { bundle, sha256: None })
    }
}

fn read_bundle(path: &Path) -> anyhow::Result<ShownBundle> {
    let bytes =
        std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let none = || format!("{} is no bundle", path.display());
    let bundle = Bundle::parse(&bytes).with_context(none)?;
    let HandBundle { contents: _, sha256 } = HandBundle::decode(&bytes[..]).with_context(none)?;
    Ok(ShownBundle { bundle, sha256: Some(sha256) })
}

fn parse_id<T: wire::field::AnyId>(text: &str) -> anyhow::Result<T> {
    wire::field::id("id", text).context("the room answers with an id that is none")
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
    let table: TableId = parse_id(&dispute.table_id)?;
    let opened = dispute.create_time.map_or_else(String::new, |at| at.to_string());
    let verdict = verdict_name(dispute.verdict());
    let (number, hand_no) = (dispute.number, dispute.hand_no);
    let mut text = format!("{number:>5}  {opened}  {verdict:9}  table {table} hand {hand_no}");
    if !is_anothers(dispute) {
        let id: DisputeId = parse_id(&dispute.dispute_id)?;
        let player: PlayerId = parse_id(&dispute.player_id)?;
        text.push_str(&format!("  dispute {id}  player {player}"));
    }
    Ok(text)
}

/// Whether a dispute is another player's than the one who lists it: whose, nobody tells them.
const fn is_anothers(dispute: &Dispute) -> bool {
    dispute.dispute_id.is_empty() && dispute.player_id.is_empty()
}

fn print_dispute(dispute: &Dispute) -> anyhow::Result<()> {
    output::line(&describe(dispute)?);
    let recorded =
        |hash: &[u8]| if hash.is_empty() { "none".to_owned() } else { hex::encode(hash) };
    output::line(&format!("evidence on record: {}", recorded(&dispute.evidence_sha256)));
    output::line(&format!("bundle on record: {}", recorded(&dispute.bundle_sha256)));
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

/// Another player's dispute has neither id nor player nor hashes.
fn as_json(dispute: &Dispute) -> anyhow::Result<Value> {
    if is_anothers(dispute) {
        return Ok(json!({
            "number": dispute.number,
            "table": parse_id::<TableId>(&dispute.table_id)?.to_string(),
            "hand_no": dispute.hand_no,
            "hand": parse_id::<HandId>(&dispute.hand_id)?.to_string(),
            "verdict": verdict_name(dispute.verdict()),
            "create_time": dispute.create_time.map(|at| at.to_string()),
            "answer_time": dispute.answer_time.map(|at| at.to_string()),
        }));
    }
    Ok(json!({
        "number": dispute.number,
        "dispute": parse_id::<DisputeId>(&dispute.dispute_id)?.to_string(),
        "player": parse_id::<PlayerId>(&dispute.player_id)?.to_string(),
        "table": parse_id::<TableId>(&dispute.table_id)?.to_string(),
        "hand_no": dispute.hand_no,
        "hand": parse_id::<HandId>(&dispute.hand_id)?.to_string(),
        "verdict": verdict_name(dispute.verdict()),
        "create_time": dispute.create_time.map(|at| at.to_string()),
        "answer_time": dispute.answer_time.map(|at| at.to_string()),
        "erased": dispute.erased,
        "text": dispute.text,
        "answer": dispute.answer,
        "evidence_sha256": hex::encode(&dispute.evidence_sha256),
        "bundle_sha256": hex::encode(&dispute.bundle_sha256),
    }))
}
