//! Concurrency limiter: so many at work at once, so many waiting behind them, and no more.

use tokio::sync::{Semaphore, SemaphorePermit};

/// Bounds work that takes long. Who finds the queue full is told to come again.
#[derive(Debug)]
pub struct ConcurrencyLimiter {
    at_work: Semaphore,
    /// Those at work and those that wait.
    all: Semaphore,
}

/// A place at work; given back when dropped.
#[derive(Debug)]
pub struct Permit<'a> {
    _at_work: SemaphorePermit<'a>,
    _all: SemaphorePermit<'a>,
}

impl ConcurrencyLimiter {
    #[must_use]
    pub const fn new(at_work: usize, waiting: usize) -> ConcurrencyLimiter {
        let all = Semaphore::const_new(at_work.saturating_add(waiting));
        ConcurrencyLimiter { at_work: Semaphore::const_new(at_work), all }
    }

    /// A place, as soon as there is one, in the order of asking; none where too many wait already.
    pub async fn enter(&self) -> Option<Permit<'_>> {
        let all = self.all.try_acquire().ok()?;
        let at_work = self.at_work.acquire().await.ok()?;
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
        let first = limiter.enter().await.unwrap();
        let mut second = Box::pin(limiter.enter());
        assert!(second.as_mut().now_or_never().is_none());
        assert!(limiter.enter().await.is_none());
        drop(first);
        assert!(second.await.is_some());
        assert!(limiter.enter().await.is_some());
    }
}
