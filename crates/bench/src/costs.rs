//! Costs of a measurement: processor time by process, and bytes written.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context as _;

use crate::cost_table::CostTable;
use crate::process;
use crate::repo::{BytesWritten, Database, TableBytes};

/// Key of all processes together, in a reading.
const MACHINE: &str = "machine";
/// Key of all other processes, in a result.
const OTHERS: &str = "others";

/// Sources of the costs of a server.
#[derive(Default)]
pub struct MeasuredServer {
    /// Name and process id of the measured service, unless it is this process.
    pub service: Option<(&'static str, u32)>,
    /// The database's address, as its owner. Contains a password: never log it.
    pub postgres: Option<String>,
    /// The data folder with the private PostgreSQL.
    pub data: Option<PathBuf>,
}

/// Reads the costs so far.
pub(crate) struct CostMeter {
    database: Option<Database>,
    service: Option<(&'static str, u32)>,
    postmaster: Option<u32>,
}

/// Costs up to a moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CostReading {
    /// Processor seconds by process; none if unknown.
    pub(crate) cpu: BTreeMap<&'static str, Option<f64>>,
    pub(crate) written: Option<BytesWritten>,
    /// Bytes of each table; none if unknown.
    pub(crate) tables: BTreeMap<String, TableBytes>,
}

impl CostMeter {
    /// Connects to the sources of a server's costs.
    pub(crate) async fn open(server: &MeasuredServer) -> anyhow::Result<CostMeter> {
        let database = match &server.postgres {
            Some(url) => Some(Database::connect(url).await.context("the database is away")?),
            None => None,
        };
        let postmaster = server.data.as_deref().and_then(process::postmaster);
        Ok(CostMeter { database, service: server.service, postmaster })
    }

    pub(crate) async fn read(&mut self) -> anyhow::Result<CostReading> {
        let (written, tables) = match &mut self.database {
            Some(database) => {
                let unread = "PostgreSQL does not say";
                let tables = database.table_bytes().await.context(unread)?;
                (Some(database.bytes_written().await.context(unread)?), tables)
            }
            None => (None, BTreeMap::new()),
        };
        let own = process::cpu_seconds(std::process::id());
        let mut cpu = BTreeMap::from([("sabacc", own)]);
        if self.database.is_some() {
            cpu.insert("postgresql", self.postmaster.and_then(process::postgres_cpu_seconds));
        }
        if let Some((service, pid)) = self.service {
            cpu.insert(service, process::cpu_seconds(pid));
        }
        cpu.insert(MACHINE, process::machine_cpu_seconds());
        Ok(CostReading { cpu, written, tables })
    }

    /// Returns the costs between two readings by stage and process, an operation each.
    pub(crate) async fn table(
        &mut self,
        before: &CostReading,
        after: &CostReading,
        operations: u64,
    ) -> CostTable {
        let mut wal = BTreeMap::new();
        if let (Some(database), Some((was, now))) =
            (&mut self.database, before.written.zip(after.written))
        {
            match database.wal_by_kind(was.wal_bytes, now.wal_bytes).await {
                Ok(kinds) => wal = kinds,
                // It takes a superuser and the extension, and the log may have been recycled.
                Err(error) => tracing::info!(%error, "the write-ahead log cannot be told apart"),
            }
        }
        CostTable::new(before, after, &wal, operations)
    }
}

impl CostReading {
    /// Returns processor seconds since an earlier reading, by process, and those of other processes
    /// on the machine: if they are many, the figures are too low.
    pub(crate) fn cpu_since(&self, before: &CostReading) -> BTreeMap<&'static str, Option<f64>> {
        let spent = self.cpu.iter().map(|(process, now)| {
            let was = before.cpu.get(process).copied().flatten();
            (*process, now.zip(was).map(|(now, was)| now - was))
        });
        let mut spent: BTreeMap<&'static str, Option<f64>> = spent.collect();
        let machine = spent.remove(MACHINE).flatten();
        let known: Option<f64> = spent.values().copied().sum();
        spent.insert(OTHERS, machine.zip(known).map(|(machine, known)| (machine - known).max(0.0)));
        spent.into_iter().map(|(process, spent)| (process, spent.map(crate::rounded))).collect()
    }

    /// Returns bytes of write-ahead log and of disk per operation since an earlier reading.
    #[expect(clippy::cast_precision_loss, reason = "bytes of one run stay far below 2^52")]
    pub(crate) fn written_since(
        &self,
        before: &CostReading,
        operations: u64,
    ) -> (Option<f64>, Option<f64>) {
        let Some((now, was)) = self.written.zip(before.written) else { return (None, None) };
        let each = |now: u64, was: u64| {
            (operations > 0)
                .then(|| crate::rounded(now.saturating_sub(was) as f64 / operations as f64))
        };
        (each(now.wal_bytes, was.wal_bytes), each(now.disk_bytes, was.disk_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(sabacc: f64, postgresql: Option<f64>, machine: f64, wal: u64) -> CostReading {
        let cpu = [("sabacc", Some(sabacc)), ("postgresql", postgresql), (MACHINE, Some(machine))];
        CostReading {
            cpu: cpu.into(),
            written: Some(BytesWritten { wal_bytes: wal, disk_bytes: 8192 }),
            tables: BTreeMap::new(),
        }
    }

    #[test]
    fn what_is_spent_is_what_came_since() {
        let (before, after) =
            (reading(1.0, Some(2.0), 50.0, 100), reading(4.5, Some(3.0), 60.0, 400));
        let spent = after.cpu_since(&before);
        let expected =
            [("others", Some(5.5)), ("postgresql", Some(1.0)), ("sabacc", Some(3.5))].into();
        assert_eq!(spent, expected);
        assert_eq!(after.written_since(&before, 3), (Some(100.0), Some(0.0)));
        assert_eq!(after.written_since(&before, 0), (None, None), "nothing was done");
    }

    #[test]
    fn where_a_process_is_not_known_neither_are_the_others() {
        let spent = reading(4.5, None, 60.0, 0).cpu_since(&reading(1.0, None, 50.0, 0));
        assert_eq!(spent, [("others", None), ("postgresql", None), ("sabacc", Some(3.5))].into());
    }
}
