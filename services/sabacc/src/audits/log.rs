//! `sabacc audit log`: checks a whole log against every checkpoint signed over it.

use audit::log::LogAudit;
use clap::ValueEnum;
use primitives::UnixMicros;
use serde_json::json;

use crate::logs::{self, Logs};
use crate::output;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LogName {
    Table,
    Dealer,
    Wallet,
}

pub(super) async fn run(logs: &Logs, which: LogName, json: bool) -> anyhow::Result<bool> {
    let log = match which {
        LogName::Table => &logs.table,
        LogName::Dealer => &logs.dealer,
        LogName::Wallet => &logs.wallet,
    };
    let mut audit = LogAudit::new();
    // The checkpoints first: a later one may cover more events than are read here.
    for checkpoint in log.checkpoints().await? {
        audit.checkpoint(&checkpoint.note, &log.key);
    }
    logs::for_each_event(&log.reader, |event| audit.event(event)).await?;
    let report = audit.finish();
    let (passed, root) = (report.passed(), hex::encode(report.root));
    if json {
        let mut value = serde_json::to_value(&report)?;
        if let Some(object) = value.as_object_mut() {
            object.insert("passed".into(), json!(passed));
            object.insert("root".into(), json!(root));
        }
        output::line(&serde_json::to_string(&value)?);
        return Ok(passed);
    }
    for checked in &report.checks.0 {
        output::line(&format!("{} {}", checked.check, checked.verdict));
    }
    let unlisted = report.clock_records.saturating_sub(report.clock_steps.len() as u64);
    if unlisted > 0 {
        output::line(&format!("{unlisted} earlier records of the service's clock"));
    }
    for step in &report.clock_steps {
        let at = UnixMicros(step.recorded_at);
        output::line(&format!("position {}, {at}: {}", step.position, step.words));
    }
    output::line(&format!(
        "{} records in {} streams, root {root}; {} checkpoints, {} records behind the last",
        report.size, report.streams, report.checkpoints, report.unsigned
    ));
    output::line(if passed { "every check passed" } else { "NOT every check passed" });
    Ok(passed)
}
