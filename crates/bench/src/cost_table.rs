//! Table of costs an operation: processor time by process, bytes of write-ahead log by what wrote them,
//! and bytes of disk by table.

use std::collections::BTreeMap;
use std::fmt;
use std::hint::black_box;

use ed25519_dalek::{Signer as _, SigningKey};
use serde::Serialize;
use tokio::time::Instant;

use crate::costs::CostReading;
use crate::rounded;

/// Bytes an operation from which on a row of the table is worth printing.
const MIN_BYTES: f64 = 0.5;
/// Signatures made and verified to learn what one costs.
const SIGNATURES: u32 = 200;

/// Costs an operation.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct CostTable {
    /// Microseconds of processor time by process; none if unknown.
    pub(crate) cpu_micros: BTreeMap<&'static str, Option<f64>>,
    /// Microseconds of these for signatures, by what one takes in this process and how many there
    /// are; none if they were not counted.
    pub(crate) signature_micros: Option<f64>,
    /// Bytes of write-ahead log by resource manager; empty if unknown.
    pub(crate) wal_bytes: BTreeMap<String, f64>,
    /// Bytes of disk by table; empty if unknown.
    pub(crate) tables: BTreeMap<String, TableCost>,
}

/// Bytes of a table an operation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct TableCost {
    pub(crate) rows: f64,
    pub(crate) indexes: f64,
    /// Content of events and answers in the rows: the floor.
    pub(crate) content: f64,
}

/// Counts of signatures, all over Ed25519.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SignatureCounts {
    pub(crate) made: u64,
    pub(crate) verified: u64,
}

impl CostTable {
    #[expect(clippy::cast_precision_loss, reason = "counts of one run stay far below 2^52")]
    pub(crate) fn new(
        before: &CostReading,
        after: &CostReading,
        wal: &BTreeMap<String, u64>,
        operations: u64,
    ) -> CostTable {
        let each = |amount: f64| rounded(amount / operations.max(1) as f64);
        let cpu = after.cpu_since(before).into_iter();
        let grown = |now: u64, was: u64| each(now.saturating_sub(was) as f64);
        let tables = after.tables.iter().map(|(name, now)| {
            let was = before.tables.get(name).copied().unwrap_or_default();
            let (rows, indexes) = (grown(now.rows, was.rows), grown(now.indexes, was.indexes));
            (name.clone(), TableCost { rows, indexes, content: grown(now.content, was.content) })
        });
        CostTable {
            cpu_micros: cpu.map(|(name, spent)| (name, spent.map(|it| each(it * 1e6)))).collect(),
            signature_micros: None,
            wal_bytes: wal
                .iter()
                .map(|(kind, bytes)| (kind.clone(), each(*bytes as f64)))
                .collect(),
            tables: tables.filter(|(_, cost)| cost.rows + cost.indexes > 0.0).collect(),
        }
    }

    /// Adds what the signatures of the measured operations take on this machine.
    #[expect(clippy::cast_precision_loss, reason = "counts of one run stay far below 2^52")]
    pub(crate) fn with_signatures(self, counts: SignatureCounts, operations: u64) -> CostTable {
        let (sign, verify) = signature_micros();
        let all = counts.made as f64 * sign + counts.verified as f64 * verify;
        CostTable { signature_micros: Some(rounded(all / operations.max(1) as f64)), ..self }
    }
}

/// Microseconds that it takes to make a signature, and to verify one.
fn signature_micros() -> (f64, f64) {
    let key = SigningKey::from_bytes(&[7; 32]);
    let text = [0; 100];
    let clock = Instant::now();
    let signatures: Vec<_> = (0..SIGNATURES).map(|_| key.sign(black_box(&text))).collect();
    let made = clock.elapsed();
    let clock = Instant::now();
    for signature in &signatures {
        let verified = key.verifying_key().verify_strict(black_box(&text), signature);
        assert!(verified.is_ok(), "a signature that was just made is good");
    }
    let each = |span: std::time::Duration| span.as_secs_f64() * 1e6 / f64::from(SIGNATURES);
    (each(made), each(clock.elapsed()))
}

impl fmt::Display for CostTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CostTable { cpu_micros, signature_micros, wal_bytes, tables } = self;
        write!(f, "costs an operation:")?;
        for (process, micros) in cpu_micros {
            let micros = crate::format_figure(*micros);
            write!(f, "\n  {process:<34} {micros:>9} µs of processor time")?;
        }
        if let Some(micros) = signature_micros {
            write!(f, "\n  {:<34} {micros:>9.1} µs of these", "Ed25519, both ends")?;
        }
        for (kind, bytes) in wal_bytes.iter().filter(|(_, bytes)| **bytes >= MIN_BYTES) {
            write!(f, "\n  {kind:<34} {bytes:>9.1} B of write-ahead log")?;
        }
        for (name, TableCost { rows, indexes, content }) in tables {
            if rows + indexes >= MIN_BYTES {
                write!(f, "\n  {name:<34} {rows:>9.1} B of rows, {indexes:.1} of indexes")?;
                if *content >= MIN_BYTES {
                    write!(f, "; content and answers {content:.1}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::{BytesWritten, TableBytes};

    fn reading(cpu: f64, rows: u64) -> CostReading {
        let bytes = TableBytes { rows, indexes: rows / 2, content: rows / 4 };
        CostReading {
            cpu: [("sabacc", Some(cpu))].into(),
            written: Some(BytesWritten { wal_bytes: 0, disk_bytes: 0 }),
            tables: [("table.event_groups".to_owned(), bytes)].into(),
        }
    }

    #[test]
    fn costs_are_an_operation_each() {
        let wal = [("Heap".to_owned(), 3000), ("Standby".to_owned(), 1)].into();
        let table = CostTable::new(&reading(1.0, 800), &reading(3.0, 8800), &wal, 10);
        assert_eq!(table.cpu_micros["sabacc"], Some(200_000.0));
        let cost = TableCost { rows: 800.0, indexes: 400.0, content: 200.0 };
        assert_eq!(table.tables["table.event_groups"], cost);
        assert_eq!(table.wal_bytes["Heap"], 300.0);
        let counts = SignatureCounts { made: 20, verified: 20 };
        let table = table.with_signatures(counts, 10);
        assert!(table.signature_micros.is_some_and(|micros| micros > 0.0));
        let text = table.to_string();
        for line in ["sabacc", "Ed25519", "Heap", "800.0 B of rows, 400.0 of indexes; content"] {
            assert!(text.contains(line), "{text}");
        }
        assert!(!text.contains("Standby"), "{text}");
    }
}
