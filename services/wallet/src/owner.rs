//! The one task that owns the ledger.
//!
//! A command is decided at once, by what is durable and what is in flight, and handed to the log
//! without waiting for the decisions before it. The log may write any part of what is in flight and
//! not the rest; what is in flight is counted so that any part of it is lawful. Credits on their way
//! to an account are not there yet: a command that needs them waits here until they are.
//!
//! A refusal is answered only after asking the log whether the request was carried out before: who
//! bought in with the last credits and asks again gets the first answer and not "too few credits".
//! A lawful command need not ask: its append tells.

use std::collections::{BTreeMap, VecDeque};

use eventlog::{
    AppendError, Entry, Log, OpenError, ReadError, Recall, Receipt, Request as LogRequest,
};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesOrdered, FuturesUnordered};
use ledger::{Event, InFlight, Refusal, Verdict};
use primitives::RequestId;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::books::{Books, BooksError};
use crate::command::Request;
use crate::wallet::{Ask, Done, Limits, Problem, Shelf, Wallet};

mod recovery;

/// Opens the wallet's log: at start, and again whenever it was lost.
pub type Opener = Box<dyn Fn() -> BoxFuture<'static, Result<Log, OpenError>> + Send + Sync>;

/// The wallet cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Books(#[from] BooksError),
}

/// The owner before and while it runs.
pub struct Owner {
    opener: Opener,
    log: Log,
    shelf: Shelf,
    asks: mpsc::Receiver<Ask>,
    /// Most commands that are open at a time.
    limit: usize,
    work: Work,
}

/// What is going on; thrown away whole when the log is lost.
#[derive(Default)]
struct Work {
    in_flight: InFlight,
    /// Every command that was looked at and is not answered.
    open: BTreeMap<RequestId, Open>,
    /// Commands that depend on what is in flight, oldest first.
    waiting: VecDeque<Request>,
    /// In the order of their decisions, which is the order of their positions.
    appends: FuturesOrdered<BoxFuture<'static, Appended>>,
    recalls: FuturesUnordered<BoxFuture<'static, Recalled>>,
}

/// An open command's content and those who wait for it.
struct Open {
    digest: [u8; 32],
    answers: Vec<oneshot::Sender<Result<Done, Problem>>>,
}

struct Appended {
    id: RequestId,
    events: Vec<Event>,
    outcome: Result<Receipt, AppendError>,
}

struct Recalled {
    id: RequestId,
    refusal: Refusal,
    outcome: Result<Recall, ReadError>,
}

/// Why the owner stops looking at commands.
enum Pause {
    /// Nobody can ask any more, and everything is answered.
    Drained,
    Lost,
}

impl Wallet {
    /// Opens the log and reads it from its beginning.
    ///
    /// # Errors
    /// Where the log is another's, cannot be read, or is corrupt.
    pub async fn open(opener: Opener, limits: Limits) -> Result<(Wallet, Owner), Fault> {
        let log = opener().await?;
        let books = Books::read(&log).await?;
        let shelf = Shelf::default();
        recovery::put(&shelf, books, &log);
        let (sender, asks) = mpsc::channel(limits.queue.max(1));
        let wallet = Wallet::new(sender, shelf.clone());
        let limit = limits.open.max(1);
        Ok((wallet, Owner { opener, log, shelf, asks, limit, work: Work::default() }))
    }
}

impl Owner {
    /// Serves until `stopping` fires or every handle of the wallet is gone; what was accepted is
    /// finished, then the log is given up.
    ///
    /// # Errors
    /// Where the log turns out to be corrupt. A log that is lost or out of reach is waited for.
    pub async fn run(mut self, stopping: CancellationToken) -> Result<(), Fault> {
        loop {
            match self.serve(&stopping).await {
                Pause::Drained => {
                    self.log.close().await;
                    return Ok(());
                }
                Pause::Lost => {
                    if !self.recover(&stopping).await? {
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn serve(&mut self, stopping: &CancellationToken) -> Pause {
        let stopped = self.log.stopped();
        let mut accepting = true;
        loop {
            if !accepting && self.work.open.is_empty() {
                return Pause::Drained;
            }
            let room = self.work.open.len() < self.limit;
            tokio::select! {
                biased;
                Some(appended) = self.work.appends.next() => {
                    if self.landed(appended).is_err() {
                        return Pause::Lost;
                    }
                }
                Some(recalled) = self.work.recalls.next() => self.recalled(recalled),
                () = stopped.cancelled() => return Pause::Lost,
                () = stopping.cancelled(), if !self.asks.is_closed() => self.asks.close(),
                ask = self.asks.recv(), if accepting && room => match ask {
                    Some(ask) => self.ask(ask),
                    None => accepting = false,
                },
            }
        }
    }

    fn ask(&mut self, ask: Ask) {
        let Ask { request, digest, answer } = ask;
        if let Some(open) = self.work.open.get_mut(&request.id) {
            if open.digest == digest {
                open.answers.push(answer);
            } else {
                tell(answer, Err(Problem::Reused));
            }
            return;
        }
        self.work.open.insert(request.id, Open { digest, answers: vec![answer] });
        self.decide(request);
    }

    /// Decides a command that is open.
    fn decide(&mut self, request: Request) {
        let Request { id, command, actor, trace } = request;
        let Some(open) = self.work.open.get(&id) else { return };
        let digest = open.digest;
        let in_flight = &self.work.in_flight;
        let Some(verdict) = self.shelf.look(|books| in_flight.decide(books.ledger(), command))
        else {
            return self.answer(id, &Err(Problem::Unavailable));
        };
        match verdict {
            Verdict::Wait(command) => {
                self.work.waiting.push_back(Request { id, command, actor, trace });
            }
            Verdict::Refused(refusal) => {
                let log = self.log.clone();
                self.work.recalls.push(Box::pin(async move {
                    Recalled { id, refusal, outcome: log.recall(id, digest).await }
                }));
            }
            Verdict::Lawful(events) => {
                self.work.in_flight.reserve(&events);
                // The one thing to remember of an answer: how far behind the entry's first event
                // its last one lies. All else is read off the books at that position.
                let last = u8::try_from(events.len().saturating_sub(1)).unwrap_or(u8::MAX);
                let entry = Entry {
                    events: events.iter().map(crate::record::new_event).collect(),
                    request: Some(LogRequest { id, digest, answer: vec![last].into() }),
                    actor,
                    trace,
                };
                let log = self.log.clone();
                self.work.appends.push_back(Box::pin(async move {
                    let outcome = log.append(entry).await;
                    Appended { id, events, outcome }
                }));
            }
        }
    }

    fn landed(&mut self, appended: Appended) -> Result<(), AppendError> {
        let Appended { id, events, outcome } = appended;
        let answer = match outcome {
            Ok(receipt) => Ok(self.durable(&receipt, &events)),
            Err(AppendError::Duplicate { stored }) => match self.work.open.get(&id) {
                Some(open) => recall(stored.recall(open.digest)),
                None => Err(Problem::Unavailable),
            },
            Err(AppendError::Full) => Err(Problem::Overloaded),
            Err(AppendError::Unavailable { source: _ }) => Err(Problem::Unavailable),
            Err(
                error @ (AppendError::TooLarge { .. }
                | AppendError::Empty
                | AppendError::Misplaced { .. }
                | AppendError::Twice { .. }),
            ) => {
                tracing::error!(%id, %error, "a lawful command does not fit the log");
                Err(Problem::Unwritable)
            }
            Err(AppendError::Lost) => return Err(AppendError::Lost),
        };
        self.work.in_flight.release(&events);
        self.answer(id, &answer);
        for request in std::mem::take(&mut self.work.waiting) {
            self.decide(request);
        }
        Ok(())
    }

    /// Memory moves: what was decided is in the log.
    fn durable(&mut self, receipt: &Receipt, events: &[Event]) -> Done {
        let mut position = receipt.first;
        self.shelf.change(|books| {
            for (event, offset) in events.iter().zip(0_u64..) {
                position.0 = receipt.first.0 + offset;
                books.apply(position, receipt.recorded_at, event);
            }
        });
        Done { position }
    }

    fn recalled(&mut self, recalled: Recalled) {
        let Recalled { id, refusal, outcome } = recalled;
        let answer = match outcome {
            Ok(Recall::Fresh) => Err(Problem::Refused(refusal)),
            Ok(known @ (Recall::Same { .. } | Recall::Different)) => recall(known),
            Err(ReadError::Unavailable { .. } | ReadError::Stopped) => Err(Problem::Unavailable),
            Err(error @ (ReadError::Corrupt(_) | ReadError::Archived { .. })) => {
                tracing::error!(%id, %error, "the log does not say whether a request was answered");
                Err(Problem::Unavailable)
            }
        };
        self.answer(id, &answer);
    }

    fn answer(&mut self, id: RequestId, result: &Result<Done, Problem>) {
        let Some(open) = self.work.open.remove(&id) else { return };
        for answer in open.answers {
            tell(answer, result.clone());
        }
    }
}

/// The first answer again.
fn recall(known: Recall) -> Result<Done, Problem> {
    match known {
        Recall::Same { answer, first } => {
            let last = answer.first().copied().map_or(0, u64::from);
            Ok(Done { position: eventlog::Position(first.0 + last) })
        }
        Recall::Different => Err(Problem::Reused),
        Recall::Fresh => Err(Problem::Unavailable),
    }
}

/// Whoever no longer waits is not told; the command stands all the same.
fn tell(answer: oneshot::Sender<Result<Done, Problem>>, result: Result<Done, Problem>) {
    let _ = answer.send(result);
}
