//! Number of a program's worker threads.

use std::io;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};

/// Share of the machine's processors that a program uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// One thread for each processor.
    All,
    /// One thread for each two processors: for a program that shares the machine with a database,
    /// waits for it most of the time and decides in a single task. More threads would mostly wake
    /// each other.
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

/// Runtime of a program. `TOKIO_WORKER_THREADS` overrides the share.
///
/// # Errors
/// The system provides no threads.
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
