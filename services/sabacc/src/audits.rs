//! `sabacc audit`: shows and checks the records of a room.

mod hand;
mod log;
mod peeks;
mod table;

use std::path::PathBuf;

use anyhow::Context as _;
use audit::Verdict;
use audit::ledger::LedgerAudit;
use clap::Subcommand;
use serde_json::json;
use system::clock::{Clock as _, SystemClock};

pub(crate) use hand::{print_report, run as hand};

use crate::demo::PlayedHands;
use crate::disputes;
use crate::logs::{self, Logs};
use crate::output::{self, Progress};
use crate::progress_bar::ProgressBar;
use crate::randomness;
use crate::room::Room;

#[derive(Subcommand)]
pub(crate) enum AuditCommand {
    /// Tell the story of a hand from the three logs, and check it.
    Hand {
        /// The hand's id, or `latest`.
        id: String,
        /// Write its bundle: the records with proofs that they are in the logs, for
        /// `sabacc verify`.
        #[arg(long, value_name = "FILE")]
        save: Option<PathBuf>,
    },
    /// Check every hand of a table; count burnt and aborted hands, and whose fault they were.
    Table {
        /// The table's name or id.
        table: String,
    },
    /// List every card that the dealer revealed without a rule, by the caller who asked for it.
    Peeks,
    /// Check a whole log: every record, and every checkpoint signed over it.
    Log {
        /// The log.
        log: log::LogName,
    },
    /// Open a dispute as a player; list, show and answer disputes. What is shown is audited: the
    /// evidence, and the hand.
    Disputes(disputes::Options),
    /// Compare all stacks, pots and accounts over the logs.
    Ledger,
    /// Deal many hands with fixed seeds, and test cards and dice for every bias known to matter.
    Randomness(randomness::Options),
}

/// Runs the command. True if every check passed.
pub(crate) async fn run(
    data: Option<PathBuf>,
    json: bool,
    what: AuditCommand,
) -> anyhow::Result<bool> {
    if let AuditCommand::Randomness(options) = what {
        return randomness::run(json, &options).await;
    }
    if let AuditCommand::Disputes(options) = what {
        return disputes::run(data, json, options).await;
    }
    let mut logs = Logs::open(data).await?;
    let outcome = match what {
        AuditCommand::Hand { id, save } => hand::run(&mut logs, &id, json, save.as_deref()).await,
        AuditCommand::Table { table } => table::run(&mut logs, &table, json).await,
        AuditCommand::Peeks => peeks::run(&mut logs, json).await,
        AuditCommand::Log { log } => log::run(&logs, log, json).await,
        AuditCommand::Ledger => run_ledger(&logs, json).await,
        AuditCommand::Randomness(_) | AuditCommand::Disputes(_) => Ok(true),
    };
    logs.close().await?;
    outcome
}

/// Compares all stacks, pots and accounts over the logs.
pub(crate) async fn audit_ledger(logs: &Logs) -> anyhow::Result<audit::ledger::Report> {
    let mut books = LedgerAudit::new();
    // Before the wallet's log is read: what was posted by then is among its events. What is posted
    // while its last page is on its way is not.
    let read_at = SystemClock::new().now();
    // The wallet first: the table's later events may have no transfer among the events that were
    // read.
    logs::for_each_event(&logs.wallet.reader, |event| books.wallet(event)).await?;
    logs::for_each_event(&logs.table.reader, |event| books.table(event)).await?;
    Ok(books.finish(read_at))
}

async fn run_ledger(logs: &Logs, json: bool) -> anyhow::Result<bool> {
    let report = audit_ledger(logs).await?;
    let tables = sabacc_wallet::verify(&logs.wallet.reader, &logs.wallet_tables).await;
    let tables = tables.context("the wallet's tables cannot be compared with its log")?;
    let passed = report.passed() && tables.difference.is_none();
    let difference = tables.difference.map(|difference| difference.to_string());
    if json {
        let mut report = serde_json::to_value(&report)?;
        if let Some(report) = report.as_object_mut() {
            report.insert("tables".into(), json!({ "difference": difference }));
        }
        output::line(&serde_json::to_string(&report)?);
        return Ok(passed);
    }
    for checked in &report.checks.0 {
        output::line(&format!("{} {}", checked.check, checked.verdict));
    }
    output::line(&match difference {
        None => format!("the wallet's tables: all {} entries as the log says", tables.entries),
        Some(difference) => format!("the wallet's tables are NOT as the log says: {difference}"),
    });
    for open in &report.open {
        output::line(&format!("under way: {open}"));
    }
    for paid in &report.suspense {
        output::line(&format!("paid to house/suspense: {paid}"));
    }
    let figures = report.figures;
    output::line(&format!(
        "{} transfers on {} accounts, {} hands settled; {} credits issued, {} redeemed, rake {}",
        figures.transfers,
        figures.accounts,
        figures.hands_settled,
        figures.issued,
        figures.redeemed,
        figures.rake
    ));
    Ok(passed)
}

/// Audits all hands of a run and the ledger, and prints the result.
pub(crate) async fn audit_run(
    room: &Room,
    played: &PlayedHands,
    json: bool,
    progress: &Progress,
) -> anyhow::Result<bool> {
    let clock = SystemClock::new();
    let began = clock.now();
    let mut logs = Logs::connect(&room.folder, &room.postgres.admin_url(), None).await?;
    let hands = logs.ended_hands(played.table).await?;
    let mut failed = Vec::new();
    let bar = ProgressBar::start("hands", u64::try_from(hands.len()).ok());
    for id in &hands {
        let report = audit::hand::audit(&logs.hand_records(*id).await?);
        bar.advance(1);
        if !report.passed_but_for_proofs() {
            failed.push((*id, report));
        }
    }
    drop(bar);
    let took = clock.now().since(began);
    for (id, report) in &failed {
        for checked in &report.checks.0 {
            if checked.verdict != Verdict::Passed {
                output::line(&format!("hand {id}: {} {}", checked.check, checked.verdict));
            }
        }
    }
    let conserved = run_ledger(&logs, json).await?;
    let rate = played.hands as f64 / played.took.as_secs_f64();
    let all = failed.is_empty() && hands.len() as u64 == played.hands;
    let passed = hands.len() - failed.len();
    if json {
        output::line(&serde_json::to_string(&json!({
            "hands": played.hands, "audited": hands.len(), "passed": passed,
            "hands_per_second": rate, "conserved": conserved,
        }))?);
    } else {
        progress.print(&format!(
            "{} hands in {:.2} s: {rate:.1} hands a second",
            played.hands,
            played.took.as_secs_f64()
        ));
        progress.print(&format!(
            "{passed} of {} hands audited in {:.2} s with every check passed",
            hands.len(),
            took.as_secs_f64()
        ));
        progress.print(if conserved {
            "credits are conserved to the credit"
        } else {
            "credits are NOT conserved"
        });
    }
    Ok(all && conserved)
}
