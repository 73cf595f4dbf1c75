//! Concurrency limiter: a bounded number of running tasks, and a bounded queue behind them.
//!
//! Two semaphores of `tokio`: the limits of `tower` end with a call, and this work outlives it.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bounds the concurrency of long work. A caller that finds the queue full is refused.
#[derive(Debug)]
pub struct ConcurrencyLimiter {
    running: Arc<Semaphore>,
    /// Running and waiting together.
    admitted: Arc<Semaphore>,
}

/// Permit to run; given back when dropped. It moves along with work that outlives its caller.
#[derive(Debug)]
pub struct Permit {
    _at_work: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl ConcurrencyLimiter {
    #[must_use]
    pub fn new(max_running: usize, max_waiting: usize) -> ConcurrencyLimiter {
        let all = Arc::new(Semaphore::new(max_running.saturating_add(max_waiting)));
        ConcurrencyLimiter { running: Arc::new(Semaphore::new(max_running)), admitted: all }
    }

    /// Waits for a permit, first come first served. `None` if the queue is full.
    pub async fn acquire(&self) -> Option<Permit> {
        let all = Arc::clone(&self.admitted).try_acquire_owned().ok()?;
        let at_work = Arc::clone(&self.running).acquire_owned().await.ok()?;
        Some(Permit { _at_work: at_work, _all: all })
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn one_works_one_waits_and_the_third_is_sent_away() {
        let limiter = ConcurrencyLimiter::new(1, 1);
        let first = limiter.acquire().await.unwrap();
        let mut second = Box::pin(limiter.acquire());
        assert!(second.as_mut().now_or_never().is_none());
        assert!(limiter.acquire().await.is_none());
        drop(first);
        assert!(second.await.is_some());
        assert!(limiter.acquire().await.is_some());
    }
}
