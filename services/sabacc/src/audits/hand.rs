//! `sabacc audit hand`: the story of a hand, the verdict of each check, and its bundle.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use audit::Verdict;
use audit::hand::{self, HandRecords, Report};
use audit::log_event::LogEvent;
use audit::stops::StopRecord;
use primitives::TableId;
use serde_json::json;
use wire::TableRecord;

use crate::logs::Logs;
use crate::output;

/// Pause between two attempts to get a signed checkpoint over a hand that has just ended.
const CHECKPOINT_POLL: Duration = Duration::from_millis(250);
const CHECKPOINT_ATTEMPTS: u32 = 16;
/// Characters of a text that is shown of a bundle.
const MAX_TEXT: usize = 2000;

pub(crate) async fn run(
    logs: &mut Logs,
    id: &str,
    json: bool,
    save: Option<&Path>,
) -> anyhow::Result<bool> {
    let id = logs.parse_hand_id(id).await?;
    let mut records = logs.hand_records(id).await?;
    let mut bundle = logs.bundle(&records).await;
    for _ in 0..CHECKPOINT_ATTEMPTS {
        if bundle.is_ok() || !logs.is_running() {
            break;
        }
        tokio::time::sleep(CHECKPOINT_POLL).await;
        bundle = logs.bundle(&records).await;
    }
    let unproved = bundle.as_ref().err().map(|error| format!("{error:#}"));
    if let Ok(bundle) = &bundle {
        records = bundle.records(&logs.trusted);
    }
    let report = hand::audit(&records);
    if let Some(path) = save {
        let bytes = bundle.context("the hand cannot be proved, so there is no bundle")?.encode();
        std::fs::write(path, &bytes)
            .with_context(|| format!("{} is not written", path.display()))?;
    }
    let passed = report.passed() || (unproved.is_some() && report.passed_but_for_proofs());
    if json {
        let story = hand::story(&records, &report);
        let stops = stops(logs, &records).await?;
        let value = json!({ "story": story, "report": report, "stops": stops, "passed": passed });
        output::line(&serde_json::to_string(&value)?);
        return Ok(passed);
    }
    print_report(&records, &report);
    for stop in stops(logs, &records).await? {
        output::line(&format!("note: {}, at this table: {}", stop.at, stop.text));
    }
    if let Some(why) = &unproved {
        output::line(&format!("note: the hand's place in the logs is not proved: {why}"));
    }
    output::line(match (report.passed(), passed) {
        (true, _) => "every check passed",
        (false, true) => "every check passed that needs no proof of the logs",
        (false, false) => "NOT every check passed",
    });
    Ok(passed)
}

/// Returns the effects that stopped at the hand's table during it, and who resumed them.
async fn stops(logs: &Logs, records: &HandRecords) -> anyhow::Result<Vec<StopRecord>> {
    let opened = records.hand.first().and_then(LogEvent::decode);
    let Some(TableRecord::HandOpened(opened)) = opened else { return Ok(Vec::new()) };
    let Some(table) = records.table.first().map(|event| event.stream) else {
        return Ok(Vec::new());
    };
    let events = logs.kept_table_stream(TableId(table.0)).await?;
    let all = audit::stops::stops(&events);
    Ok(all.into_iter().filter(|stop| stop.hand_no == opened.hand_no).collect())
}

/// Prints a hand's story and its verdicts.
pub(crate) fn print_report(records: &HandRecords, report: &Report) {
    let story = hand::story(records, report);
    output::line(&format!("hand {}: {}", report.hand_id, report.verdict));
    report.sentences.iter().for_each(|sentence| output::line(&output::one_line(sentence)));
    output::line("");
    let width = story.iter().map(|line| line.who.chars().count()).max().unwrap_or(0);
    // The verdicts follow below the story.
    for line in story.iter().filter(|line| line.when.is_some()) {
        let when = line.when.map(|when| when.to_string()).unwrap_or_default();
        let when = when.get(11..23).unwrap_or(&when);
        let what = output::one_line(&line.what);
        output::line(&format!("{when:12}  {:width$}  {what}", line.who));
    }
    output::line("");
    for checked in &report.checks.0 {
        let (verdict, why) = match &checked.verdict {
            Verdict::Passed => ("passed", None),
            Verdict::Failed(why) => ("FAILED", Some(why)),
            Verdict::NotPossible(why) => ("not possible", Some(why)),
        };
        output::line(&format!("{verdict:12}  {}", checked.check));
        if let Some(why) = why {
            output::line(&format!("{:12}  because: {}", "", output::one_line(why)));
        }
    }
    for note in &report.notes {
        output::line(&format!("note: {}", output::one_line(note)));
    }
    for (name, text) in agreed_texts(records).into_iter().flatten() {
        output::line(&format!("{name}: {text}"));
    }
}

/// Rule set and settings that a hand was played by, each on one line, by its first record.
fn agreed_texts(records: &HandRecords) -> Option<[(&'static str, String); 2]> {
    let opened = records.hand.first().and_then(LogEvent::decode);
    let Some(TableRecord::HandOpened(opened)) = opened else { return None };
    Some([("rules", as_list(&opened.rule_set)), ("settings", as_list(&opened.settings))])
}

/// Lines as a list. An honest text is shorter than [`MAX_TEXT`].
fn as_list(text: &str) -> String {
    let mut line = text.lines().collect::<Vec<_>>().join(", ");
    if let Some((end, _)) = line.char_indices().nth(MAX_TEXT) {
        line.truncate(end);
        line.push('…');
    }
    line
}
