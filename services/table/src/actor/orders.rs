//! Deeds: asked before, refused, or done and durable.

use std::mem;

use chassis::clock::Clock as _;
use eventlog::{Position, Recall, Request};
use primitives::{PlayerId, RequestId, TableId};
use proto::common::v1::ErrorReason;
use tokio::sync::oneshot;
use wire::{Refused, refused, status};

use super::{Actor, Author, Ended, Order, Waiting};
use crate::debt;
use crate::deeds::{self, Deed, Doer};
use crate::pay::Paid;
use crate::proof::Faces;

impl Order {
    /// The house's word that a player's name has changed, which stands at `named` in the log; and
    /// what becomes of it. The same word again changes nothing.
    pub(crate) fn renamed(
        table: TableId,
        player: PlayerId,
        named: Position,
    ) -> (Order, oneshot::Receiver<Result<Vec<u8>, Refused>>) {
        let (reply, told) = oneshot::channel();
        let request = debt::request_id("renamed", &table.0, named.0);
        let order = Order {
            deed: Deed::Renamed { player },
            player: None,
            request: RequestId(request),
            digest: [0; 32],
            actor: "service:table".into(),
            trace: chassis::telemetry::trace_id(),
            span: tracing::Span::current(),
            reply,
        };
        (order, told)
    }
}

impl Actor {
    /// A deed: asked before, refused, or done and durable.
    pub(super) async fn order(&mut self, order: Order) -> Result<(), Ended> {
        match self.log.recall(order.request, order.digest).await {
            Ok(Recall::Fresh) => {}
            Ok(Recall::Same { answer, first }) => {
                self.answer_again(order, answer.to_vec(), first);
                return Ok(());
            }
            Ok(Recall::Different) => {
                let _ = order.reply.send(Err(status::request_id_reused()));
                return Ok(());
            }
            Err(_) => {
                let _ = order.reply.send(Err(status::unavailable("the log cannot be read")));
                return Ok(());
            }
        }
        if let Some(broken) = &self.broken {
            let message =
                format!("this table is stopped until an operator has looked at it: {broken}");
            let _ = order.reply.send(Err(refused(ErrorReason::Corrupt, message)));
            return Ok(());
        }
        let doer =
            Doer { player: order.player, request_id: order.request.0, now: self.clock.now() };
        let (table, play) = (&self.state.table, self.state.play.as_ref());
        let verdict = match deeds::judge(table, play, &order.deed, &doer) {
            Ok(verdict) => verdict,
            Err(refusal) => {
                let _ = order.reply.send(Err(refusal));
                return Ok(());
            }
        };
        if verdict.events.is_empty() {
            let _ = order.reply.send(Ok(verdict.answer));
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
            Ok(receipt) => match verdict.waits_for {
                Some(transfer) => {
                    let (answer, reply) = (verdict.answer, order.reply);
                    self.waiting.push(Waiting { transfer, answer, reply });
                }
                None => {
                    let answer = self.completed(&order.deed, verdict.answer, receipt.first);
                    let _ = order.reply.send(answer);
                }
            },
            Err(refusal) => {
                let _ = order.reply.send(Err(refusal));
            }
        }
        Ok(())
    }

    /// The answer, with what only the log's taking the deed could tell.
    fn completed(&self, deed: &Deed, answer: Vec<u8>, first: Position) -> Result<Vec<u8>, Refused> {
        match deed {
            Deed::CommitEntropy { .. } => self.key.complete(&answer, first.0),
            Deed::SitDown { .. }
            | Deed::StandUp
            | Deed::SitOut(_)
            | Deed::Act { .. }
            | Deed::RevealEntropy { .. }
            | Deed::Void { .. }
            | Deed::Renamed { .. }
            | Deed::Close => Ok(answer),
        }
    }

    /// The same request again: the same answer, once what it waits for has happened.
    fn answer_again(&mut self, order: Order, answer: Vec<u8>, first: Position) {
        let Deed::SitDown { .. } = order.deed else {
            let _ = order.reply.send(self.completed(&order.deed, answer, first));
            return;
        };
        let transfer = debt::request_id("buy-in", &order.request.0, 0);
        if self.state.is_buying_in(transfer) {
            self.waiting.push(Waiting { transfer, answer, reply: order.reply });
            return;
        }
        let refusal = self.state.refusal(transfer);
        let _ = order.reply.send(refusal.map_or(Ok(answer), Err));
    }

    /// The buy-ins that have come or been refused.
    pub(super) fn answer_waiting(&mut self) {
        let waiting = mem::take(&mut self.waiting);
        for waiting in waiting {
            if self.state.is_buying_in(waiting.transfer) {
                self.waiting.push(waiting);
            } else {
                let refusal = self.state.refusal(waiting.transfer);
                let _ = waiting.reply.send(refusal.map_or(Ok(waiting.answer), Err));
            }
        }
    }
}
