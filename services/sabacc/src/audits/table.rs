//! `sabacc audit table`: checks all hands of a table.

use audit::hand;
use audit::table::{HandResult, HandSummary, TableAudit, TableReport};
use serde_json::json;

use crate::logs::Logs;
use crate::output;
use crate::progress_bar::ProgressBar;

pub(super) async fn run(logs: &mut Logs, named: &str, json: bool) -> anyhow::Result<bool> {
    let table = logs.find_table(named).await?;
    let numbers = logs.started_hands(table).await?;
    anyhow::ensure!(!numbers.is_empty(), "no hand was started at table `{named}`");
    let mut audit = TableAudit::new(table);
    let bar = ProgressBar::start("hands", u64::try_from(numbers.len()).ok());
    for number in numbers {
        let mut records = logs.hand_records(audit.hand_id(number)).await?;
        // With a checkpoint over the whole hand, its place in the logs is checked too.
        if let Ok(bundle) = logs.bundle(&records).await {
            records = bundle.records(&logs.trusted);
        }
        let report = hand::audit(&records);
        audit.hand(number, &records, &report);
        bar.advance(1);
    }
    drop(bar);
    audit.stops(&logs.table_stream(table).await?);
    let report = audit.finish();
    let passed = report.passed();
    if json {
        let mut value = serde_json::to_value(&report)?;
        if let Some(object) = value.as_object_mut() {
            object.insert("passed".into(), json!(passed));
        }
        output::line(&serde_json::to_string(&value)?);
    } else {
        print_report(&report);
    }
    Ok(passed)
}

fn print_report(report: &TableReport) {
    for hand in &report.hands {
        print_hand(hand);
    }
    let TableReport { hands, played, burnt, agreed, suspended, stops, warnings, missing } = report;
    for stop in stops {
        output::line(&format!("{}  after hand {}: {}", stop.at, stop.hand_no, stop.text));
    }
    output::line(&format!(
        "{} hands: {played} played, {} burnt, {agreed} ended by all their players and {suspended} \
         by their time, since the dealer was silent",
        hands.len(),
        hands.iter().filter(|hand| matches!(hand.end, HandResult::Burnt { .. })).count()
    ));
    for (player, count) in burnt {
        output::line(&format!("player {player} withheld entropy in {count} of them"));
    }
    for warning in warnings {
        output::line(&format!("warning: {warning}"));
    }
    for missing in missing {
        output::line(&format!("MISSING: {missing}"));
    }
    output::line(if report.passed() { "every hand passed" } else { "NOT every hand passed" });
}

fn print_hand(hand: &HandSummary) {
    let end = match &hand.end {
        HandResult::Played => "played".to_owned(),
        HandResult::Burnt { seats } => {
            let seats: Vec<String> = seats.iter().map(u32::to_string).collect();
            format!("burnt: entropy withheld by seat {}", seats.join(", seat "))
        }
        HandResult::Aborted { cause, evidence } => format!("aborted, {cause}: {evidence}"),
        HandResult::Ending => "settled, its end is not on record yet".to_owned(),
        HandResult::InPlay => "in play".to_owned(),
    };
    let verdict = if hand.passed { "passed" } else { "FAILED" };
    output::line(&format!("hand {:>4}  {}  {verdict}  {end}", hand.hand_no, hand.hand_id));
    if let Some(discarded) = &hand.discarded {
        output::line(&format!("           {discarded}"));
    }
    if !hand.passed {
        for trouble in &hand.troubles {
            output::line(&format!("           {trouble}"));
        }
    }
}
