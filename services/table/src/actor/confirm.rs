//! Answers of which nothing is written: an owner that was frozen, and has lost its log to another, would
//! give them by a memory that is worth nothing.
//!
//! An idle owner renews its lease three times in its length, so a log whose store has taken something within
//! half of it is ours, and most answers cost nothing. Where it was silent for longer the store is asked
//! first, beside the table.

use tokio::sync::oneshot;
use tokio::time::Instant;
use wire::{Refused, status};

use super::Actor;
use super::repeats::{Asked, QUESTIONS};

type Reply = oneshot::Sender<Result<Vec<u8>, Refused>>;

impl Actor {
    /// Gives an answer by what is in memory alone, once it is known that the log is still ours.
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
                // A log that is lost stops, and the table with it.
                Err(error) => {
                    tracing::warn!(runbook = "deploy/README.md, The database is away", %error, "whose the log is cannot be known: nobody is refused");
                    let _ = reply.send(Err(status::unavailable("whose the log is cannot be known")));
                    Asked::Answered
                }
            }
        });
    }
}
