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

use super::{Api, by, caller, parse};
use crate::command;
use crate::status::one_of_many;
use crate::wallet::{By, Outcome, Problem};

/// Transfers in one batch.
const LARGEST_BATCH: usize = 1000;
/// Transfers of one stream in flight.
const ON_THEIR_WAY: usize = 1024;
/// Transfers of a stream that make up one request, if they have arrived already.
const TOGETHER: usize = 128;

pub(super) type Results = Pin<Box<dyn Stream<Item = Result<pb::PostResponse, Status>> + Send>>;

/// Parsed transfers: the requests for the owner, and a slot for each transfer.
struct Parsed {
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
        if transfers.is_empty() || transfers.len() > LARGEST_BATCH {
            return Err(BadField::new("transfers", "1 to 1,000 of them").into());
        }
        if transfers.last().is_some_and(|last| last.linked) {
            return Err(BadField::new("transfers", "the last of a batch is not linked").into());
        }
        let by = by(&caller);
        let admit = |id| self.admit(&by, id);
        let Parsed { requests, slots } = read(transfers, (caller.role, true), admit);
        let outcomes = if requests.is_empty() {
            Vec::new()
        } else {
            self.wallet.ask_all(requests, by).await?
        };
        Ok(pb::PostBatchResponse { results: results(slots, outcomes) })
    }

    pub(super) fn stream(
        &self,
        caller: &Identity,
        incoming: Streaming<pb::PostRequest>,
    ) -> Results {
        let (queue, mut queued) = mpsc::channel(ON_THEIR_WAY);
        let poster = Poster {
            api: self.clone(),
            by: by(caller),
            role: caller.role,
            room: Arc::new(Semaphore::new(ON_THEIR_WAY)),
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
                () = poster.take(incoming) => {}
            }
        });
        let waiting = poll_fn(move |context| queued.poll_recv(context));
        Box::pin(waiting.then(land).flat_map(futures_util::stream::iter))
    }
}

/// Reader of a stream.
struct Poster {
    api: Api,
    by: By,
    role: Role,
    room: Arc<Semaphore>,
    queue: mpsc::Sender<Result<Flying, Status>>,
}

/// Transfers in flight to the owner.
struct Flying {
    slots: Vec<Slot>,
    /// `None` if none of them needs the owner.
    answer: Option<Result<oneshot::Receiver<Vec<Outcome>>, Problem>>,
    count: usize,
    /// Released when they are answered.
    _room: OwnedSemaphorePermit,
}

impl Poster {
    async fn take(&self, incoming: Streaming<pb::PostRequest>) {
        let mut incoming = incoming.ready_chunks(TOGETHER);
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
            let Some(flying) = self.hand_over(transfers).await else { return };
            if self.queue.send(Ok(flying)).await.is_err() {
                return;
            }
            if let Some(status) = broken {
                let _ = self.queue.send(Err(status)).await;
                return;
            }
        }
    }

    async fn hand_over(&self, transfers: Vec<pb::Transfer>) -> Option<Flying> {
        let permits = u32::try_from(transfers.len()).ok()?;
        let room = Arc::clone(&self.room).acquire_many_owned(permits).await.ok()?;
        let admit = |id| self.api.admit(&self.by, id);
        let Parsed { requests, slots } = read(transfers, (self.role, false), admit);
        let (ask, count) = (!requests.is_empty(), requests.len());
        let answer = ask.then(|| self.api.wallet.enqueue(requests, self.by.clone()));
        Some(Flying { slots, answer, count, _room: room })
    }
}

/// Waits for the outcomes of transfers in flight.
async fn land(flying: Result<Flying, Status>) -> Vec<Result<pb::PostResponse, Status>> {
    let Flying { slots, answer, count, _room } = match flying {
        Ok(flying) => flying,
        Err(status) => return vec![Err(status)],
    };
    let outcomes = match answer {
        None => Vec::new(),
        Some(Ok(answer)) => answer.await.unwrap_or_else(|_| vec![Err(Problem::Unavailable); count]),
        Some(Err(problem)) => vec![Err(problem); count],
    };
    let results = results(slots, outcomes).into_iter();
    results.map(|result| Ok(pb::PostResponse { result: Some(result) })).collect()
}

/// Parses transfers. One that cannot be parsed is refused together with those it is linked with. If
/// `may_link` is false, every linked one is refused.
fn read(
    transfers: Vec<pb::Transfer>,
    (role, may_link): (Role, bool),
    admit: impl Fn(RequestId) -> Result<(), Problem>,
) -> Parsed {
    let mut parsed = Parsed { requests: Vec::with_capacity(transfers.len()), slots: Vec::new() };
    // Slot and request at which the current linked group began, and whether one of it was bad.
    let mut group: Option<(usize, usize, bool)> = None;
    for message in transfers {
        let (slots, requests) = (parsed.slots.len(), parsed.requests.len());
        let (first, first_request, mut spoilt) = group.take().unwrap_or((slots, requests, false));
        let linked = message.linked && may_link;
        let refused = match parse::transfer(&message, role) {
            Ok(_) if message.linked && !may_link => {
                Some(bad(&BadField::new("linked", "not on a stream: send a batch")))
            }
            Ok(transfer) => match admit(transfer.id) {
                Ok(()) => {
                    let request = command::Request::new(transfer.id, Command::Post(transfer));
                    parsed.requests.push(command::Request { linked, ..request });
                    None
                }
                Err(problem) => {
                    spoilt = true;
                    Some(one_of_many(&problem))
                }
            },
            Err(error) => {
                spoilt = true;
                Some(bad(&error))
            }
        };
        parsed.slots.push(Slot { id: message.transfer_id, refused });
        if linked {
            group = Some((first, first_request, spoilt));
        } else if spoilt {
            parsed.requests.truncate(first_request);
            for slot in parsed.slots.iter_mut().skip(first) {
                let other = || one_of_many(&Problem::Refused(Refusal::LinkedRefused));
                slot.refused.get_or_insert_with(other);
            }
        }
    }
    parsed
}

fn bad(error: &BadField) -> pb::Refused {
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
            None => match outcomes.next().unwrap_or(Err(Problem::Unavailable)) {
                Ok(done) => pb::post_result::Outcome::Position(done.position.0),
                Err(problem) => pb::post_result::Outcome::Refused(one_of_many(&problem)),
            },
        };
        pb::PostResult { transfer_id: id, outcome: Some(outcome) }
    };
    slots.into_iter().map(result).collect()
}
