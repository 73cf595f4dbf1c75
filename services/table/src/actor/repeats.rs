//! Repeated commands: recognised before they are judged, and answered as the first time.
//!
//! The log's memory recognises nearly all of them. Where only its store can tell, the store is
//! asked in a task beside the table, so that a sender of odd ids keeps nobody else waiting.
//!
//! Specification: ARCHITECTURE.md §2.9.

use std::mem;

use eventlog::{Log, Position, ReadError, Recall, RequestKey, RequestLookup, StreamId, Version};
use primitives::TableId;
use prost::Message as _;
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use tokio::sync::oneshot;
use tokio::time::Instant;
use wire::records::{SeatEvent, TableSubject};
use wire::{ApiRefusal, TableRecord, api_refusal, status};

use super::{Actor, CommandRequest, TaskEnd};
use crate::answer::{Answer, Outcome};
use crate::commands::Command;
use crate::ids;
use crate::retention::read_refusal;
use crate::state;

/// Lookups in the store that may be in flight; beyond that callers are asked to try again.
pub(super) const MAX_LOOKUPS: usize = 64;
/// Callers who wait for one buy-in at the same time: repeats of one call over a few connections.
const MAX_WAITING_CALLERS: usize = 4;
/// Records of a table that are read at a time.
const PAGE: usize = 64;

/// A caller who waits for a buy-in.
pub(super) struct WaitingBuyIn {
    transfer: [u8; 16],
    /// Answer once the credits have arrived.
    answer: Vec<u8>,
    reply: oneshot::Sender<Outcome>,
}

/// Outcome of a lookup in the store.
pub(super) enum LookupOutcome {
    Recalled(Box<CommandRequest>, Result<Recall, ReadError>),
    /// The caller has been answered.
    Answered,
    /// The caller has been answered, and this process owned the log at this instant.
    Confirmed(Instant),
}

impl Actor {
    /// Takes a command: judges a new one, gives a repeat its first answer.
    pub(super) async fn take_command(&mut self, request: CommandRequest) -> Result<(), TaskEnd> {
        let key = RequestKey::new(&request.author.actor, request.author.request);
        match self.log.lookup(key) {
            RequestLookup::Fresh => self.run_new_command(request).await,
            RequestLookup::Answered(stored) => {
                let recall = stored.recall(&request.author.digest, self.log.authenticator());
                self.answer_recalled(request, Ok(recall)).await
            }
            RequestLookup::Unknown => {
                self.look_up(request, key);
                Ok(())
            }
        }
    }

    /// Looks a request up in the store, each key once at a time.
    fn look_up(&mut self, request: CommandRequest, key: RequestKey) {
        if self.lookups.len() >= MAX_LOOKUPS || !self.lookup_keys.insert(key) {
            let busy = status::unavailable("this request, or too many, are being looked up");
            let _ = request.reply.send(Err(busy));
            return;
        }
        let (log, request) = (self.log.clone(), Box::new(request));
        self.lookups.spawn(async move {
            let recall = log.recall(key, request.author.digest).await;
            LookupOutcome::Recalled(request, recall)
        });
    }

    /// Continues after a lookup in the store.
    pub(super) async fn finish_lookup(&mut self, outcome: LookupOutcome) -> Result<(), TaskEnd> {
        match outcome {
            LookupOutcome::Recalled(request, recall) => {
                let key = RequestKey::new(&request.author.actor, request.author.request);
                let done = self.answer_recalled(*request, recall).await;
                self.lookup_keys.remove(&key);
                done
            }
            LookupOutcome::Answered => Ok(()),
            LookupOutcome::Confirmed(instant) => {
                self.ownership_confirmed_at = self.ownership_confirmed_at.max(Some(instant));
                Ok(())
            }
        }
    }

    async fn answer_recalled(
        &mut self,
        request: CommandRequest,
        recall: Result<Recall, ReadError>,
    ) -> Result<(), TaskEnd> {
        match recall {
            Ok(Recall::Fresh) => return self.run_new_command(request).await,
            Ok(Recall::Repeated { answer, first }) => {
                self.answer_again(request, answer.to_vec(), first)
            }
            Ok(Recall::IdReused) => {
                let _ = request.reply.send(Err(status::request_id_reused()));
            }
            Ok(Recall::TooOld) => {
                let _ = request.reply.send(Err(status::request_id_too_old()));
            }
            Err(_) => {
                let _ = request.reply.send(Err(status::unavailable("the log cannot be read")));
            }
        }
        Ok(())
    }

    /// Gives a repeat its first answer, once what the answer waits for has happened. The outcome of
    /// a buy-in that memory has forgotten is read from the log.
    fn answer_again(&mut self, request: CommandRequest, answer: Vec<u8>, first: Position) {
        let (Command::SitDown { .. }, Some(player)) = (&request.command, request.player) else {
            let _ = request.reply.send(self.complete_answer(&request.command, answer, first));
            return;
        };
        let table = self.state.table.id;
        let transfer = ids::buy_in(table, player, request.author.request);
        if self.state.is_buying_in(transfer) {
            self.wait_for_buy_in(transfer, answer, request.reply);
        } else if let Some(refusal) = self.state.buy_in_refusal(transfer) {
            let _ = request.reply.send(Err(refusal));
        } else if self.lookups.len() >= MAX_LOOKUPS {
            let _ = request.reply.send(Err(status::unavailable("too much is being looked up")));
        } else {
            let log = self.log.clone();
            self.lookups.spawn(async move {
                let outcome = buy_in_outcome(&log, table, first, &answer).await;
                let _ = request.reply.send(outcome.map(|()| Answer::Stored(answer)));
                LookupOutcome::Answered
            });
        }
    }

    /// Keeps a caller waiting until their buy-in is posted or refused. Callers who have gone make
    /// room, and one more than [`MAX_WAITING_CALLERS`] for the same buy-in has to repeat the call.
    pub(super) fn wait_for_buy_in(
        &mut self,
        transfer: [u8; 16],
        answer: Vec<u8>,
        reply: oneshot::Sender<Outcome>,
    ) {
        self.waiting_buy_ins.retain(|waiting| !waiting.reply.is_closed());
        let of_it = self.waiting_buy_ins.iter().filter(|waiting| waiting.transfer == transfer);
        if of_it.count() >= MAX_WAITING_CALLERS {
            let _ = reply.send(Err(status::unavailable("the buy-in is still being paid")));
            return;
        }
        self.waiting_buy_ins.push(WaitingBuyIn { transfer, answer, reply });
    }

    /// Answers the callers whose buy-ins are posted or refused.
    pub(super) fn answer_waiting_buy_ins(&mut self) {
        let waiting = mem::take(&mut self.waiting_buy_ins);
        for waiting in waiting {
            if self.state.is_buying_in(waiting.transfer) {
                self.waiting_buy_ins.push(waiting);
            } else {
                let refusal = self.state.buy_in_refusal(waiting.transfer);
                let _ = waiting.reply.send(refusal.map_or(Ok(Answer::Stored(waiting.answer)), Err));
            }
        }
    }
}

/// Reads from the log whether the buy-in of the seat taken at `first` was posted or refused.
async fn buy_in_outcome(
    log: &Log,
    table: TableId,
    first: Position,
    answer: &[u8],
) -> Result<(), ApiRefusal> {
    let unread = |error: ReadError| read_refusal(&error);
    let corrupt = || api_refusal(ErrorReason::Corrupt, "the stored answer is damaged");
    let seat = pb::SitDownResponse::decode(answer).map_err(|_| corrupt())?.seat;
    let taken = log.read(first, 1).await.map_err(unread)?.pop().ok_or_else(corrupt)?;
    let mut version = taken.version.0;
    loop {
        let next = Version(version.saturating_add(1));
        let page = log.read_stream(StreamId::from(table), next, PAGE).await.map_err(unread)?;
        for event in &page {
            version = event.version.0;
            let event = TableRecord::try_from(event).map_err(|_| corrupt())?;
            match event.subject() {
                TableSubject::Seat(event) if event.seat() == seat => match event {
                    SeatEvent::SeatFunded(_) => return Ok(()),
                    SeatEvent::SeatRefused(refused) => return Err(state::refused_buy_in(refused)),
                    SeatEvent::SeatTaken(_)
                    | SeatEvent::LeaveAsked(_)
                    | SeatEvent::CashOutDue(_)
                    | SeatEvent::SeatVacated(_)
                    | SeatEvent::SitOutChanged(_)
                    | SeatEvent::SeatRenamed(_)
                    | SeatEvent::SeatExcluded(_)
                    | SeatEvent::StandingFound(_) => {}
                },
                TableSubject::Seat(_)
                | TableSubject::Table(_)
                | TableSubject::Hand(_)
                | TableSubject::Play(_)
                | TableSubject::Person(_)
                | TableSubject::Room(_)
                | TableSubject::Clock(_) => {}
            }
        }
        if page.is_empty() {
            return Err(status::unavailable("the buy-in is under way"));
        }
    }
}
