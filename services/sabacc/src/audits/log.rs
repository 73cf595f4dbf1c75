//! `sabacc audit log`: checks a whole log against every checkpoint signed over it.

use audit::log::LogAudit;
use clap::ValueEnum;
use primitives::UnixMicros;
use serde_json::json;

use crate::logs::{self, Logs};
use crate::say;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Which {
    Table,
    Dealer,
    Wallet,
}

pub(super) async fn run(logs: &Logs, which: Which, json: bool) -> anyhow::Result<bool> {
    let log = match which {
        Which::Table => &logs.table,
        Which::Dealer => &logs.dealer,
        Which::Wallet => &logs.wallet,
    };
    let mut audit = LogAudit::new();
    // The checkpoints first: a later one may cover more events than are read here.
    for checkpoint in log.checkpoints().await? {
        audit.checkpoint(&checkpoint.note, &log.key);
    }
    logs::each(&log.reader, |event| audit.event(event)).await?;
    let report = audit.finish();
    let (passed, root) = (report.passed(), hex(&report.root));
    if json {
        let mut value = serde_json::to_value(&report)?;
        if let Some(object) = value.as_object_mut() {
            object.insert("passed".into(), json!(passed));
            object.insert("root".into(), json!(root));
        }
        say::line(&serde_json::to_string(&value)?);
        return Ok(passed);
    }
    for checked in &report.checks.0 {
        say::line(&format!("{} {}", checked.check, checked.verdict));
    }
    let untold = report.clock_records.saturating_sub(report.clock_steps.len() as u64);
    if untold > 0 {
        say::line(&format!("{untold} earlier records of the service's clock"));
    }
    for step in &report.clock_steps {
        let at = UnixMicros(step.recorded_at);
        say::line(&format!("position {}, {at}: {}", step.position, step.words));
    }
    say::line(&format!(
        "{} records in {} streams, root {root}; {} checkpoints, {} records behind the last",
        report.size, report.streams, report.checkpoints, report.unsigned
    ));
    say::line(if passed { "every check passed" } else { "NOT every check passed" });
    Ok(passed)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
