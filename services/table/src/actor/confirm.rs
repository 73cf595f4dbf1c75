//! Answers that write nothing. An owner that was frozen and has lost its log to another process
//! would give them from stale memory.
//!
//! An owner renews its lease three times in its length. So a log whose lease was renewed within the
//! last half of a lease is still owned, and most answers cost nothing. After a longer time the store
//! is asked first, in a task beside the table.
//!
//! Specification: ARCHITECTURE.md §2.3.

use tokio::sync::oneshot;
use tokio::time::Instant;
use wire::status;

use super::Actor;
use super::repeats::{LookupOutcome, MAX_LOOKUPS};
use crate::answer::Outcome;

impl Actor {
    /// Gives an answer from memory, once it is known that this process still owns the log.
    pub(super) fn answer_unwritten(&mut self, answer: Outcome, reply: oneshot::Sender<Outcome>) {
        let renewed = self.log.watch_health().borrow().renewed;
        let since = self.ownership_confirmed_at.map_or(renewed, |confirmed| confirmed.max(renewed));
        if since.elapsed() < self.lease / 2 {
            let _ = reply.send(answer);
            return;
        }
        if self.lookups.len() >= MAX_LOOKUPS {
            let _ = reply.send(Err(status::unavailable("too much is being looked up")));
            return;
        }
        let log = self.log.clone();
        self.lookups.spawn(async move {
            let instant = Instant::now();
            match log.confirm_ownership().await {
                Ok(()) => {
                    let _ = reply.send(answer);
                    LookupOutcome::Confirmed(instant)
                }
                // A lost log stops, and the table with it.
                Err(error) => {
                    tracing::warn!(runbook = "deploy/README.md, The database is away", %error, "whose the log is cannot be known: nobody is refused");
                    let _ = reply.send(Err(status::unavailable("whose the log is cannot be known")));
                    LookupOutcome::Answered
                }
            }
        });
    }
}
