//! Detection of unused processor time in this process.

use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

/// Time for which a measurement is used.
const SPAN: Duration = Duration::from_millis(100);
/// Share of its time, in percent, below which a thread counts as having time to spare.
const BUSY: u32 = 60;

/// Load of this runtime's worker threads.
pub(crate) struct Spare {
    looked: Instant,
    busy: Duration,
    spare: bool,
}

impl Spare {
    pub(crate) fn new() -> Spare {
        Spare { looked: Instant::now(), busy: busy().0, spare: true }
    }

    /// Whether the threads were idle for a good part of the last measurement.
    pub(super) fn is_there(&mut self) -> bool {
        let (now, passed) = (Instant::now(), self.looked.elapsed());
        if passed >= SPAN {
            let (busy, threads) = busy();
            self.spare = busy.saturating_sub(self.busy) < passed * threads * BUSY / 100;
            (self.looked, self.busy) = (now, busy);
        }
        self.spare
    }
}

/// Total busy time of the runtime's worker threads, and their number.
fn busy() -> (Duration, u32) {
    let metrics = Handle::current().metrics();
    let threads = metrics.num_workers();
    let busy = (0..threads).map(|thread| metrics.worker_total_busy_duration(thread)).sum();
    (busy, u32::try_from(threads).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_thread_that_is_never_done_leaves_nothing() {
        let spare = tokio::spawn(async {
            let mut spare = Spare::new();
            tokio::time::sleep(SPAN).await;
            let idle = spare.is_there();
            let until = Instant::now() + SPAN * 3;
            while Instant::now() < until {
                let turn = Instant::now();
                while turn.elapsed() < SPAN / 100 {}
                tokio::task::yield_now().await;
            }
            (idle, spare.is_there())
        });
        assert_eq!(spare.await.expect("it does not panic"), (true, false));
    }
}
