//! Transfers in batches and on streams: one request to the owner for many transfers.

use std::pin::Pin;
use std::sync::Arc;

use chassis::auth::{Identity, Role};
use futures_util::stream::{Stream, StreamExt as _, poll_fn};
use ledger::{Command, Refusal};
use primitives::RequestId;
use proto::common::v1::ErrorReason;
use proto::wallet::v1 as pb;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tonic::{Request, Status, Streaming};
use wire::BadField;

use super::{Api, author, caller, parse};
use crate::command;
use crate::status::batch_refusal;
use crate::wallet::{Author, Outcome, WalletError};

/// Transfers in one batch.
const MAX_BATCH: usize = 1000;
/// Transfers of one stream in flight.
const MAX_IN_FLIGHT: usize = 1024;
/// Transfers of a stream that make up one request, if they have arrived already.
const MAX_CHUNK: usize = 128;

pub(super) type Results = Pin<Box<dyn Stream<Item = Result<pb::PostResponse, Status>> + Send>>;

/// Parsed transfers: the requests for the owner, and a slot for each transfer.
struct ParsedTransfers {
    requests: Vec<command::Request>,
    /// One for each transfer, in their order.
    slots: Vec<Slot>,
}

struct Slot {
    id: Vec<u8>,
    /// `None` if the owner decides.
    refused: Option<pb::Refused>,
}

impl Api {
    pub(super) async fn batch(
        &self,
        request: Request<pb::PostBatchRequest>,
    ) -> Result<pb::PostBatchResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::PostBatchRequest { transfers } = request.into_inner();
        if transfers.is_empty() || transfers.len() > MAX_BATCH {
            return Err(BadField::new("transfers", "1 to 1,000 of them").into());
        }
        if transfers.last().is_some_and(|last| last.linked) {
            return Err(BadField::new("transfers", "the last of a batch is not linked").into());
        }
        let by = author(&caller);
        let admit = |id| self.admit(&by, id);
        let ParsedTransfers { requests, slots } =
            parse_transfers(transfers, caller.role, true, admit);
        let outcomes = if requests.is_empty() {
            Vec::new()
        } else {
            self.wallet.execute_all(requests, by).await?
        };
        Ok(pb::PostBatchResponse { results: results(slots, outcomes) })
    }

    pub(super) fn stream(
        &self,
        caller: &Identity,
        incoming: Streaming<pb::PostRequest>,
    ) -> Results {
        let (queue, mut queued) = mpsc::channel(MAX_IN_FLIGHT);
        let poster = StreamReader {
            api: self.clone(),
            author: author(caller),
            role: caller.role,
            permits: Arc::new(Semaphore::new(MAX_IN_FLIGHT)),
            queue,
        };
        let stopping = self.stopping.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = poster.queue.closed() => {}
                () = stopping.cancelled() => {
                    let text = "the wallet is stopping: send what has no result on another stream";
                    let status = wire::status::unavailable(text).into();
                    let _ = poster.queue.send(Err(status)).await;
                }
                () = poster.read_stream(incoming) => {}
            }
        });
        let waiting = poll_fn(move |context| queued.poll_recv(context));
        Box::pin(waiting.then(await_results).flat_map(futures_util::stream::iter))
    }
}

/// Reader of a stream.
struct StreamReader {
    api: Api,
    author: Author,
    role: Role,
    permits: Arc<Semaphore>,
    queue: mpsc::Sender<Result<InFlight, Status>>,
}

/// Transfers in flight to the owner.
struct InFlight {
    slots: Vec<Slot>,
    /// `None` if none of them needs the owner.
    answer: Option<Result<oneshot::Receiver<Vec<Outcome>>, WalletError>>,
    count: usize,
    /// Released when they are answered.
    _permits: OwnedSemaphorePermit,
}

impl StreamReader {
    async fn read_stream(&self, incoming: Streaming<pb::PostRequest>) {
        let mut incoming = incoming.ready_chunks(MAX_CHUNK);
        while let Some(chunk) = incoming.next().await {
            let mut transfers = Vec::with_capacity(chunk.len());
            let mut broken = None;
            for message in chunk {
                match message {
                    Ok(pb::PostRequest { transfer }) => {
                        transfers.push(transfer.unwrap_or_default())
                    }
                    Err(status) => broken = Some(status),
                }
            }
            let Some(flying) = self.submit(transfers).await else { return };
            if self.queue.send(Ok(flying)).await.is_err() {
                return;
            }
            if let Some(status) = broken {
                let _ = self.queue.send(Err(status)).await;
                return;
            }
        }
    }

    async fn submit(&self, transfers: Vec<pb::Transfer>) -> Option<InFlight> {
        let permits = u32::try_from(transfers.len()).ok()?;
        let room = Arc::clone(&self.permits).acquire_many_owned(permits).await.ok()?;
        let admit = |id| self.api.admit(&self.author, id);
        let ParsedTransfers { requests, slots } =
            parse_transfers(transfers, self.role, false, admit);
        let (ask, count) = (!requests.is_empty(), requests.len());
        let answer = ask.then(|| self.api.wallet.enqueue(requests, self.author.clone()));
        Some(InFlight { slots, answer, count, _permits: room })
    }
}

/// Waits for the outcomes of transfers in flight.
async fn await_results(flying: Result<InFlight, Status>) -> Vec<Result<pb::PostResponse, Status>> {
    let InFlight { slots, answer, count, _permits: _room } = match flying {
        Ok(flying) => flying,
        Err(status) => return vec![Err(status)],
    };
    let outcomes = match answer {
        None => Vec::new(),
        Some(Ok(answer)) => {
            answer.await.unwrap_or_else(|_| vec![Err(WalletError::Unavailable); count])
        }
        Some(Err(problem)) => vec![Err(problem); count],
    };
    let results = results(slots, outcomes).into_iter();
    results.map(|result| Ok(pb::PostResponse { result: Some(result) })).collect()
}

/// Parses transfers. One that cannot be parsed is refused together with those it is linked with. If
/// `may_link` is false, every linked one is refused.
fn parse_transfers(
    transfers: Vec<pb::Transfer>,
    role: Role,
    may_link: bool,
    admit: impl Fn(RequestId) -> Result<(), WalletError>,
) -> ParsedTransfers {
    let mut parsed =
        ParsedTransfers { requests: Vec::with_capacity(transfers.len()), slots: Vec::new() };
    // Slot and request at which the current linked group began, and whether one of it was bad.
    let mut group: Option<(usize, usize, bool)> = None;
    for message in transfers {
        let (slots, requests) = (parsed.slots.len(), parsed.requests.len());
        let (first, first_request, mut group_refused) =
            group.take().unwrap_or((slots, requests, false));
        let linked = message.linked && may_link;
        let refused = match parse::transfer(&message, role) {
            Ok(_) if message.linked && !may_link => {
                Some(bad_field_refusal(&BadField::new("linked", "not on a stream: send a batch")))
            }
            Ok(transfer) => match admit(transfer.id) {
                Ok(()) => {
                    let request =
                        command::Request::new(transfer.id, Command::PostTransfer(transfer));
                    parsed.requests.push(command::Request { linked, ..request });
                    None
                }
                Err(problem) => {
                    group_refused = true;
                    Some(batch_refusal(&problem))
                }
            },
            Err(error) => {
                group_refused = true;
                Some(bad_field_refusal(&error))
            }
        };
        parsed.slots.push(Slot { id: message.transfer_id, refused });
        if linked {
            group = Some((first, first_request, group_refused));
        } else if group_refused {
            parsed.requests.truncate(first_request);
            for slot in parsed.slots.iter_mut().skip(first) {
                let other = || batch_refusal(&WalletError::Refused(Refusal::LinkedRefused));
                slot.refused.get_or_insert_with(other);
            }
        }
    }
    parsed
}

fn bad_field_refusal(error: &BadField) -> pb::Refused {
    pb::Refused {
        reason: ErrorReason::BadField.into(),
        refusal: pb::Refusal::Unspecified.into(),
        text: error.to_string(),
    }
}

fn results(slots: Vec<Slot>, outcomes: Vec<Outcome>) -> Vec<pb::PostResult> {
    let mut outcomes = outcomes.into_iter();
    let result = |slot: Slot| {
        let Slot { id, refused } = slot;
        let outcome = match refused {
            Some(refused) => pb::post_result::Outcome::Refused(refused),
            None => match outcomes.next().unwrap_or(Err(WalletError::Unavailable)) {
                Ok(done) => pb::post_result::Outcome::Position(done.position.0),
                Err(problem) => pb::post_result::Outcome::Refused(batch_refusal(&problem)),
            },
        };
        pb::PostResult { transfer_id: id, outcome: Some(outcome) }
    };
    slots.into_iter().map(result).collect()
}
