//! Repeated commands: recognised before they are judged, and answered as the first time.
//!
//! The log's memory recognises nearly all of them. Where only its store can tell, the store is
//! asked in a task beside the table, so that a sender of odd ids keeps nobody else waiting.

use std::mem;

use eventlog::{Known, Log, Position, ReadError, Recall, RequestKey, StreamId, Version};
use primitives::TableId;
use prost::Message as _;
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use tokio::sync::oneshot;
use tokio::time::Instant;
use wire::{Recorded, Refused, refused, status};

use super::{Actor, Ended, Order};
use crate::deeds::Deed;
use crate::ids;
use crate::state;

/// Lookups in the store that may be in flight; beyond that callers are asked to try again.
pub(super) const QUESTIONS: usize = 64;
/// Records of a table that are read at a time.
const PAGE: usize = 64;

/// A caller who waits for a buy-in.
pub(super) struct Waiting {
    transfer: [u8; 16],
    /// Answer once the credits have arrived.
    answer: Vec<u8>,
    reply: oneshot::Sender<Result<Vec<u8>, Refused>>,
}

/// Outcome of a lookup in the store.
pub(super) enum Asked {
    Recalled(Box<Order>, Result<Recall, ReadError>),
    /// The caller has been answered.
    Answered,
    /// The caller has been answered, and this process owned the log at this instant.
    Confirmed(Instant),
}

impl Actor {
    /// Takes a command: judges a new one, gives a repeat its first answer.
    pub(super) async fn order(&mut self, order: Order) -> Result<(), Ended> {
        let key = RequestKey::new(&order.actor, order.request);
        match self.log.known(key) {
            Known::Fresh => self.new_order(order).await,
            Known::Stored(stored) => {
                let recall = stored.recall(order.digest);
                self.recalled(order, Ok(recall)).await
            }
            Known::Ask => {
                self.ask_for(order, key);
                Ok(())
            }
        }
    }

    /// Looks a request up in the store, each key once at a time.
    fn ask_for(&mut self, order: Order, key: RequestKey) {
        if self.asking.len() >= QUESTIONS || !self.asked_for.insert(key) {
            let busy = status::unavailable("this request, or too many, are being looked up");
            let _ = order.reply.send(Err(busy));
            return;
        }
        let (log, order) = (self.log.clone(), Box::new(order));
        self.asking.spawn(async move {
            let recall = log.recall(key, order.digest).await;
            Asked::Recalled(order, recall)
        });
    }

    /// Continues after a lookup in the store.
    pub(super) async fn asked(&mut self, asked: Asked) -> Result<(), Ended> {
        match asked {
            Asked::Recalled(order, recall) => {
                let key = RequestKey::new(&order.actor, order.request);
                let done = self.recalled(*order, recall).await;
                self.asked_for.remove(&key);
                done
            }
            Asked::Answered => Ok(()),
            Asked::Confirmed(asked) => {
                self.confirmed = self.confirmed.max(Some(asked));
                Ok(())
            }
        }
    }

    async fn recalled(
        &mut self,
        order: Order,
        recall: Result<Recall, ReadError>,
    ) -> Result<(), Ended> {
        match recall {
            Ok(Recall::Fresh) => return self.new_order(order).await,
            Ok(Recall::Same { answer, first }) => self.answer_again(order, answer.to_vec(), first),
            Ok(Recall::Different) => {
                let _ = order.reply.send(Err(status::request_id_reused()));
            }
            Err(_) => {
                let _ = order.reply.send(Err(status::unavailable("the log cannot be read")));
            }
        }
        Ok(())
    }

    /// Gives a repeat its first answer, once what the answer waits for has happened. The outcome of
    /// a buy-in that memory has forgotten is read from the log.
    fn answer_again(&mut self, order: Order, answer: Vec<u8>, first: Position) {
        let (Deed::SitDown { .. }, Some(player)) = (&order.deed, order.player) else {
            let _ = order.reply.send(self.completed(&order.deed, answer, first));
            return;
        };
        let table = self.state.table.id;
        let transfer = ids::buy_in(table, player, order.request);
        if self.state.is_buying_in(transfer) {
            self.wait_for(transfer, answer, order.reply);
        } else if let Some(refusal) = self.state.refusal(transfer) {
            let _ = order.reply.send(Err(refusal));
        } else if self.asking.len() >= QUESTIONS {
            let _ = order.reply.send(Err(status::unavailable("too much is being looked up")));
        } else {
            let log = self.log.clone();
            self.asking.spawn(async move {
                let became = of_buy_in(&log, table, (first, &answer)).await;
                let _ = order.reply.send(became.map(|()| answer));
                Asked::Answered
            });
        }
    }

    /// Keeps a caller waiting until their buy-in is posted or refused.
    pub(super) fn wait_for(
        &mut self,
        transfer: [u8; 16],
        answer: Vec<u8>,
        reply: oneshot::Sender<Result<Vec<u8>, Refused>>,
    ) {
        self.waiting.push(Waiting { transfer, answer, reply });
    }

    /// Answers the callers whose buy-ins are posted or refused.
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

/// Reads from the log whether the buy-in of the seat taken at `first` was posted or refused.
async fn of_buy_in(
    log: &Log,
    table: TableId,
    (first, answer): (Position, &[u8]),
) -> Result<(), Refused> {
    let unread = |_: ReadError| status::unavailable("the log cannot be read");
    let damaged = || refused(ErrorReason::Corrupt, "the stored answer is damaged");
    let seat = pb::SitDownResponse::decode(answer).map_err(|_| damaged())?.seat;
    let taken = log.read(first, 1).await.map_err(unread)?.pop().ok_or_else(damaged)?;
    let mut version = taken.version.0;
    loop {
        let next = Version(version.saturating_add(1));
        let page = log.read_stream(StreamId::from(table), next, PAGE).await.map_err(unread)?;
        for event in &page {
            version = event.version.0;
            let event = Recorded::try_from(event).map_err(|_| damaged())?;
            if let Recorded::SeatFunded(funded) = &event
                && funded.seat == seat
            {
                return Ok(());
            }
            if let Recorded::SeatRefused(refused) = &event
                && refused.seat == seat
            {
                return Err(state::refused_buy_in(refused));
            }
        }
        if page.len() < PAGE {
            return Err(status::unavailable("the buy-in is under way"));
        }
    }
}
