//! Answers that write nothing. An owner that was frozen and has lost its log to another process
//! would give them from stale memory.
//!
//! An idle owner renews its lease three times in its length. So a log whose store has taken
//! something within the last half of a lease is still owned, and most answers cost nothing. After a
//! longer silence the store is asked first, in a task beside the table.

use tokio::sync::oneshot;
use tokio::time::Instant;
use wire::{Refused, status};

use super::Actor;
use super::repeats::{Asked, QUESTIONS};

type Reply = oneshot::Sender<Result<Vec<u8>, Refused>>;

impl Actor {
    /// Gives an answer from memory, once it is known that this process still owns the log.
    pub(super) fn answer_unwritten(&mut self, answer: Result<Vec<u8>, Refused>, reply: Reply) {
        let written = self.log.health().borrow().written;
        let since = self.confirmed.map_or(written, |confirmed| confirmed.max(written));
        if since.elapsed() < self.lease / 2 {
            let _ = reply.send(answer);
            return;
        }
        if self.asking.len() >= QUESTIONS {
            let _ = reply.send(Err(status::unavailable("too much is being looked up")));
            return;
        }
        let log = self.log.clone();
        self.asking.spawn(async move {
            let asked = Instant::now();
            match log.confirm().await {
                Ok(()) => {
                    let _ = reply.send(answer);
                    Asked::Confirmed(asked)
                }
                // A lost log stops, and the table with it.
                Err(error) => {
                    tracing::warn!(runbook = "deploy/README.md, The database is away", %error, "whose the log is cannot be known: nobody is refused");
                    let _ = reply.send(Err(status::unavailable("whose the log is cannot be known")));
                    Asked::Answered
                }
            }
        });
    }
}
