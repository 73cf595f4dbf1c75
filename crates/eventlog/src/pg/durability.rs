//! Durability settings that a database must have before it is given a log.
//!
//! An acknowledged commit must survive a power failure. The server guarantees that unless a setting
//! turns it off, and the damage of such a setting shows only after a crash.
//!
//! Specification: ARCHITECTURE.md §3.

use super::sql::DurabilitySettings;

/// Settings that break the guarantee, each with its remedy.
pub(super) fn violations(promises: &DurabilitySettings) -> Vec<String> {
    let DurabilitySettings { fsync, full_page_writes, synchronous_commit, encoding } = promises;
    let mut wrong = Vec::new();
    if !fsync {
        wrong.push(
            "fsync is off, so a crash of the machine can destroy all of it (ALTER SYSTEM SET fsync = on)"
                .to_owned(),
        );
    }
    if !full_page_writes {
        wrong.push(
            "full_page_writes is off, so a crash of the machine can leave torn pages (ALTER SYSTEM SET full_page_writes = on)"
                .to_owned(),
        );
    }
    if synchronous_commit.iter().any(|level| !waits_for_disk(level)) {
        wrong.push(
            "synchronous_commit is off, so a commit is acknowledged before it is on disk (ALTER DATABASE … RESET synchronous_commit, and the role likewise)"
                .to_owned(),
        );
    }
    if encoding != "UTF8" {
        wrong.push(format!(
            "its encoding is {encoding}, which cannot store every name (CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0)"
        ));
    }
    wrong
}

/// Whether a commit waits at least for this machine's disk.
fn waits_for_disk(level: &str) -> bool {
    ["on", "local", "remote_write", "remote_apply"].contains(&level)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promises() -> DurabilitySettings {
        DurabilitySettings {
            fsync: true,
            full_page_writes: true,
            synchronous_commit: ["on".to_owned(), "local".to_owned()],
            encoding: "UTF8".to_owned(),
        }
    }

    /// ARCHITECTURE.md §3.
    #[test]
    fn each_setting_that_loses_what_was_acknowledged_is_named() {
        assert_eq!(violations(&promises()), [""; 0]);
        let off = || ["on".to_owned(), "off".to_owned()];
        let cases = [
            ("fsync is off", DurabilitySettings { fsync: false, ..promises() }),
            (
                "full_page_writes is off",
                DurabilitySettings { full_page_writes: false, ..promises() },
            ),
            (
                "synchronous_commit is off",
                DurabilitySettings { synchronous_commit: off(), ..promises() },
            ),
            (
                "encoding is LATIN1",
                DurabilitySettings { encoding: "LATIN1".to_owned(), ..promises() },
            ),
        ];
        for (name, promises) in cases {
            let said = violations(&promises);
            assert!(said.len() == 1 && said[0].contains(name), "{name}: {said:?}");
        }
    }
}
