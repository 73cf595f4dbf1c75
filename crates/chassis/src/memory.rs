//! Protection of secrets in memory: from swap space, core dumps and debuggers.
//!
//! A process with seeds and keys locks all of its present and future memory, page by page as it is
//! touched (`MCL_ONFAULT`). It does so only if no limit applies to it: under a limit the system
//! would refuse memory to a process that needs more, which ends the process.

use rustix::process::{Resource, Rlimit, setrlimit};

/// Reason why memory is not locked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryLockError {
    #[error(
        "seeds and keys may reach the swap space: at most {limit} bytes may be locked in memory; \
         allow it without limit (ulimit -l unlimited, LimitMEMLOCK=infinity, or memlock: -1 among \
         the container's ulimits), or have no swap space"
    )]
    BelowLimit { limit: u64 },
    #[error("seeds and keys may reach the swap space: memory cannot be locked: {0}")]
    Refused(String),
}

/// Locks the process's present and future memory, and forbids core dumps and debuggers of the same
/// user. Each failure is logged in one line.
pub fn protect() {
    forbid_dumps();
    match lock() {
        Ok(()) => tracing::debug!("memory is locked"),
        Err(unlocked) => tracing::warn!("{unlocked}"),
    }
}

fn forbid_dumps() {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    if let Err(error) = setrlimit(Resource::Core, none) {
        tracing::warn!(%error, "core dumps cannot be forbidden: one would hold seeds and keys");
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            tracing::warn!(%error, "this process can be read by others of its user");
        }
    }
}

#[cfg(target_os = "linux")]
fn lock() -> Result<(), MemoryLockError> {
    use rustix::mm::{MlockAllFlags, mlockall};
    use rustix::process::getrlimit;
    if let Some(limit) = getrlimit(Resource::Memlock).current
        && !is_privileged()
    {
        return Err(MemoryLockError::BelowLimit { limit });
    }
    let all = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    mlockall(all).map_err(|error| MemoryLockError::Refused(error.to_string()))
}

/// Whether the process has `CAP_IPC_LOCK`, so that the limit does not apply to it.
#[cfg(target_os = "linux")]
fn is_privileged() -> bool {
    use rustix::thread::{CapabilitySet, capabilities};
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK))
}

#[cfg(not(target_os = "linux"))]
fn lock() -> Result<(), MemoryLockError> {
    Err(MemoryLockError::Refused("this system does not lock memory page by page".to_owned()))
}
