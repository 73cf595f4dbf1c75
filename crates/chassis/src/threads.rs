//! How many threads a program works with.

use std::io;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};

/// A program's part of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// A thread for each processor.
    All,
    /// A thread for each second processor: for a program that shares the machine with a database and waits
    /// for it most of the time, and for its own one task that decides. Threads beyond that wake each other
    /// and do little else. Measured with a wallet, its callers and PostgreSQL on two cores: 18,800
    /// transfers a second of 64 callers with one thread for each of the two, 15,900 with two; one
    /// caller alone waits 0.51 ms for a transfer instead of 0.62.
    Half,
}

impl Share {
    fn of(self, processors: usize) -> usize {
        match self {
            Share::All => processors,
            Share::Half => processors.div_ceil(2),
        }
    }
}

/// The runtime of a program. `TOKIO_WORKER_THREADS` says otherwise where it is set.
///
/// # Errors
/// The system gives no threads.
pub fn runtime(share: Share) -> io::Result<Runtime> {
    #[expect(clippy::disallowed_methods, reason = "read before there is any configuration")]
    let said = std::env::var_os("TOKIO_WORKER_THREADS").is_some();
    let mut builder = Builder::new_multi_thread();
    if !said {
        builder.worker_threads(share.of(available_parallelism().map_or(1, NonZeroUsize::get)));
    }
    builder.enable_all().build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_a_thread() {
        assert_eq!([1, 2, 3, 8].map(|n| Share::Half.of(n)), [1, 1, 2, 4]);
        assert_eq!([1, 2, 3, 8].map(|n| Share::All.of(n)), [1, 2, 3, 8]);
    }

    #[test]
    fn a_runtime_has_its_share() {
        let processors = available_parallelism().map_or(1, NonZeroUsize::get);
        let runtime = runtime(Share::Half).expect("threads");
        assert_eq!(runtime.metrics().num_workers(), processors.div_ceil(2));
    }
}
