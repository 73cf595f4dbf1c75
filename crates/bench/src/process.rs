//! Resource use of processes, from Linux's `/proc`; unknown on other systems.

use std::path::{Path, PathBuf};

/// Processor seconds of one process so far, without its ended children.
#[must_use]
pub(crate) fn cpu_seconds(pid: u32) -> Option<f64> {
    let [user, system, _, _] = stat(pid)?.ticks;
    Some(seconds(user + system))
}

/// Processor seconds of a PostgreSQL server so far: its first process, its children, and those that
/// ended.
#[must_use]
pub(crate) fn postgres_cpu_seconds(postmaster: u32) -> Option<f64> {
    let mut ticks: u64 = stat(postmaster)?.ticks.iter().sum();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        // A process that ends right now is counted by its parent in the next reading.
        let Some(process) = pid.and_then(stat) else { continue };
        if process.parent == postmaster {
            ticks += process.ticks.iter().sum::<u64>();
        }
    }
    Some(seconds(ticks))
}

/// Processor seconds of the whole machine so far, over all processors.
#[must_use]
pub(crate) fn machine_cpu_seconds() -> Option<f64> {
    busy_ticks(&std::fs::read_to_string("/proc/stat").ok()?).map(seconds)
}

/// Ticks of user, nice, system and interrupts. Idle and waiting are left out, and so are guests,
/// which user and nice include.
fn busy_ticks(stat: &str) -> Option<u64> {
    let fields: Vec<u64> = stat
        .lines()
        .find_map(|line| line.strip_prefix("cpu "))?
        .split_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    let [user, nice, system, _idle, _waiting, hard, soft, ..] = fields[..] else { return None };
    Some(user + nice + system + hard + soft)
}

/// Bytes of memory that a process has at the moment.
#[must_use]
pub(crate) fn resident_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Process id of the private PostgreSQL in a data folder.
#[must_use]
pub(crate) fn postmaster(data: &Path) -> Option<u32> {
    let note = std::fs::read_to_string(data.join("postgres/postmaster.pid")).ok()?;
    note.lines().next()?.trim().parse().ok()
}

/// Folder of the program that a process runs.
#[must_use]
pub(crate) fn program_folder(pid: u32) -> Option<PathBuf> {
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    program.parent().map(Path::to_owned)
}

struct Stat {
    parent: u32,
    /// User and system ticks of the process, then those of its ended children.
    ticks: [u64; 4],
}

fn stat(pid: u32) -> Option<Stat> {
    parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Parses `/proc/<pid>/stat`. The name in the second field may contain anything, parentheses and
/// spaces too.
fn parse(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
    let parent = u32::try_from(number(1)?).ok()?;
    Some(Stat { parent, ticks: [number(11)?, number(12)?, number(13)?, number(14)?] })
}

#[expect(clippy::cast_precision_loss, reason = "ticks of a process stay far below 2^52")]
fn seconds(ticks: u64) -> f64 {
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_fields() {
        let text = "71 (a) 9 (b) S 70 71 71 0 -1 4194560 9 9 0 0 150 50 7 3 20 0 1 0 100 0 0";
        let stat = parse(text).unwrap();
        assert_eq!((stat.parent, stat.ticks), (70, [150, 50, 7, 3]));
        assert!(parse("71 (a) S").is_none() && parse("").is_none());
    }

    #[test]
    fn a_machine_is_at_work_when_it_neither_idles_nor_waits() {
        assert_eq!(busy_ticks("cpu  10 1 5 9000 700 2 3 50 4 0\ncpu0 1 1 1 1\n"), Some(21));
        assert_eq!(busy_ticks("cpu  10 1\n"), None);
        assert!(machine_cpu_seconds().unwrap() > 0.0);
    }

    #[test]
    fn this_process_uses_something() {
        let me = std::process::id();
        assert!(cpu_seconds(me).unwrap() >= 0.0);
        assert!(resident_bytes(me).unwrap() > 1 << 16);
        assert!(program_folder(me).unwrap().is_absolute());
        assert_eq!(cpu_seconds(u32::MAX), None);
    }
}
