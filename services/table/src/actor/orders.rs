//! Commands that are not repeats: refused, or done and durable.

use eventlog::{Position, Request};
use primitives::{PlayerId, RequestId, TableId};
use proto::common::v1::ErrorReason;
use proto::event::v1::Resolution;
use system::clock::{Clock as _, SystemClock};
use tokio::sync::oneshot;
use wire::{Refused, refused};

use super::{Actor, Author, Ended, Order};
use crate::deeds::{self, Deed, Doer, Verdict};
use crate::ids;
use crate::pay::Paid;
use crate::proof::Faces;
use crate::stops;

impl Order {
    /// Command of the service itself after a player was renamed by the record at `named`, and the
    /// receiver of its answer. A repeat of it changes nothing.
    pub(crate) fn renamed(
        table: TableId,
        player: PlayerId,
        named: Position,
    ) -> (Order, oneshot::Receiver<Result<Vec<u8>, Refused>>) {
        let (reply, told) = oneshot::channel();
        let request = ids::of_table("renamed", table, named.0);
        let order = Order {
            deed: Deed::Renamed { player },
            player: None,
            request: RequestId(request),
            digest: [0; 32],
            actor: "service:table".into(),
            trace: chassis::telemetry::trace_id(),
            arrived: SystemClock::new().now(),
            span: tracing::Span::current(),
            reply,
        };
        (order, told)
    }
}

impl Actor {
    /// Judges a new command and refuses it, or appends its events and answers.
    pub(super) async fn new_order(&mut self, order: Order) -> Result<(), Ended> {
        if self.broken.is_some() {
            return self.while_broken(order).await;
        }
        let now = self.clock.now();
        let waited = now.since(order.arrived);
        self.own.observe(waited, now);
        self.lateness.observe_at(self.state.table.id, waited, now);
        let doer = Doer {
            player: order.player,
            request: order.request,
            now,
            // Players are not charged for the time that the room took to hear them.
            arrived: order.arrived.min(now),
            behind: self.lateness.standing(now).behind,
        };
        let (table, play) = (&self.state.table, self.state.play.as_ref());
        let counted = order.player.filter(|_| order.deed.is_counted());
        let judged = counted.map_or(Ok(()), |player| self.bounds.check(player, now));
        let judged = judged.and_then(|()| deeds::judge(table, play, &order.deed, &doer));
        let verdict = match judged {
            Ok(verdict) => verdict,
            Err(refusal) => {
                self.answer_unwritten(Err(refusal), order.reply);
                return Ok(());
            }
        };
        if verdict.events.is_empty() {
            self.answer_unwritten(Ok(verdict.answer), order.reply);
            return Ok(());
        }
        let request = Request {
            id: order.request,
            digest: order.digest,
            answer: verdict.answer.clone().into(),
        };
        let paid = Paid { events: verdict.events, faces: Faces::new() };
        let by = Author { actor: order.actor, trace: order.trace, request: Some(request) };
        match self.append(paid, by).await? {
            Ok(receipt) => {
                if let Some(player) = counted {
                    self.bounds.count(player, now);
                }
                match verdict.waits_for {
                    Some(transfer) => self.wait_for(transfer, verdict.answer, order.reply),
                    None => {
                        let answer = self.completed(&order.deed, verdict.answer, receipt.first);
                        let _ = order.reply.send(answer);
                    }
                }
            }
            Err(refusal) => {
                let _ = order.reply.send(Err(refusal));
            }
        }
        Ok(())
    }

    /// Refuses every command at a table that contradicts its log, except an operator's command to
    /// read it again.
    async fn while_broken(&mut self, order: Order) -> Result<(), Ended> {
        let resume = match &order.deed {
            Deed::Resume(resume) if resume.resolution == Resolution::Retry => resume,
            Deed::Resume(_) => {
                let message = "the table as a whole has stopped: it can only be tried again";
                let no = refused(ErrorReason::NothingStopped, message).field("resolution");
                self.answer_unwritten(Err(no), order.reply);
                return Ok(());
            }
            Deed::SitDown { .. }
            | Deed::StandUp
            | Deed::SitOut { .. }
            | Deed::Act { .. }
            | Deed::CommitEntropy { .. }
            | Deed::RevealEntropy { .. }
            | Deed::Void { .. }
            | Deed::Renamed { .. }
            | Deed::Close => {
                let message = "this table has stopped and waits for an operator; nothing is lost";
                let no = refused(ErrorReason::Corrupt, message);
                self.answer_unwritten(Err(no), order.reply);
                return Ok(());
            }
        };
        let Verdict { events, answer, waits_for: _ } = stops::read_again(&self.state.table, resume);
        let request =
            Request { id: order.request, digest: order.digest, answer: answer.clone().into() };
        let by = Author { actor: order.actor, trace: order.trace, request: Some(request) };
        match self.append(Paid { events, faces: Faces::new() }, by).await? {
            Ok(_) => {
                let _ = order.reply.send(Ok(answer));
                Err(Ended::ReadAgain)
            }
            Err(refusal) => {
                let _ = order.reply.send(Err(refusal));
                Ok(())
            }
        }
    }

    /// Completes an answer with what is known only after the append.
    pub(super) fn completed(
        &self,
        deed: &Deed,
        answer: Vec<u8>,
        first: Position,
    ) -> Result<Vec<u8>, Refused> {
        match deed {
            Deed::CommitEntropy { .. } => self.key.complete(&answer, first.0),
            Deed::SitDown { .. }
            | Deed::StandUp
            | Deed::SitOut { .. }
            | Deed::Act { .. }
            | Deed::RevealEntropy { .. }
            | Deed::Void { .. }
            | Deed::Resume(_)
            | Deed::Renamed { .. }
            | Deed::Close => Ok(answer),
        }
    }
}
