//! Stream of a player at a table: their decisions in, their updates and the outcomes of their
//! decisions out.
//!
//! A unary call costs four sets of headers, four HTTP/2 streams and two verified tokens on its way
//! between the player and their table. A decision here costs one frame each way.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use chassis::rate_limiter::RateLimiter;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use primitives::UnixMicros;
use proto::table::v1 as pb;
use proto::table::v1::play_request::Message as Asked;
use proto::table::v1::play_response::Message as Heard;
use system::clock::Clock as _;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tonic::{Status, Streaming};
use tracing::Instrument as _;
use wire::{BadField, Refused};

use super::follow::{CLOCK, Following};
use super::{Asked as Ordered, Caller, commitment, decision, entropy, gone, order, read};
use crate::actor::Command;
use crate::bounds::Bounds;
use crate::pay::digest;

/// Decisions a second that are taken from a player, over all their streams.
pub(super) const DECISIONS: NonZeroU32 = NonZeroU32::new(20).expect("it is not zero");
/// Decisions of a stream that may be in flight; beyond that it is not read.
const ON_THEIR_WAY: usize = 8;
/// Time for the first message to arrive.
const OPENING: Duration = Duration::from_secs(5);

/// Player of a stream, and the table that they play at.
pub(super) struct Seat {
    pub(super) caller: Caller,
    pub(super) table: mpsc::Sender<Command>,
    pub(super) table_id: Vec<u8>,
    pub(super) bounds: Arc<Bounds>,
}

/// State of a player's stream.
pub(super) struct Playing {
    seat: Seat,
    rate: Arc<RateLimiter<String>>,
    following: Following,
    /// `None` once the player sends no more.
    asked: Option<Streaming<pb::PlayRequest>>,
    /// A message that came too early for the rate limit, and the time at which it is taken.
    early: Option<(Said, Instant)>,
    /// Arrival of the message that is being taken: when it was read, or when the rate limit let it
    /// pass. A player who is faster than allowed waits at their own cost.
    read: UnixMicros,
    answers: FuturesUnordered<BoxFuture<'static, Heard>>,
    /// Span of the call.
    span: tracing::Span,
    trace: [u8; 16],
    over: bool,
}

/// Reads the first message, which says what to watch.
pub(super) async fn opening(
    asked: &mut Streaming<pb::PlayRequest>,
) -> Result<pb::WatchTableRequest, Status> {
    let first = tokio::time::timeout(OPENING, asked.message()).await;
    match first.map_err(|_| BadField::new("watch", "not sent within 5 s of the call"))?? {
        Some(pb::PlayRequest { message: Some(Asked::Watch(watch)) }) => Ok(watch),
        Some(pb::PlayRequest { message: _ }) | None => {
            Err(BadField::new("watch", "the first message says what to follow").into())
        }
    }
}

impl Playing {
    pub(super) fn new(
        seat: Seat,
        rate: Arc<RateLimiter<String>>,
        following: Following,
        asked: Streaming<pb::PlayRequest>,
    ) -> Playing {
        Playing {
            seat,
            rate,
            following,
            asked: Some(asked),
            early: None,
            read: CLOCK.now(),
            answers: FuturesUnordered::new(),
            span: tracing::Span::current(),
            trace: chassis::telemetry::trace_id(),
            over: false,
        }
    }

    /// The next message to the player; `None` once the stream is over. An error ends it.
    pub(super) async fn next(&mut self) -> Option<Result<pb::PlayResponse, Status>> {
        loop {
            if self.over {
                return None;
            }
            let reads = self.early.is_none() && self.answers.len() < ON_THEIR_WAY;
            let early = self.early.as_ref().map(|(_, at)| *at);
            tokio::select! {
                biased;
                Some(answer) = self.answers.next(), if !self.answers.is_empty() => return Some(Ok(heard(answer))),
                seen = self.following.next() => {
                    let seen = seen?;
                    return Some(Ok(heard(Heard::Seen(seen))));
                }
                () = due(early) => {
                    if let Some((said, _)) = self.early.take() {
                        self.say(said);
                    }
                }
                message = ask(&mut self.asked), if reads => match message {
                    Ok(Some(pb::PlayRequest { message })) => match said(message) {
                        Some(said) => self.say(said),
                        None => {
                            self.over = true;
                            let bad = "the first message says what to follow, and no other: begin \
                                       another stream";
                            return Some(Err(BadField::new("watch", bad).into()));
                        }
                    },
                    Ok(None) => self.asked = None,
                    // The player is gone and gets no answer.
                    Err(_) => self.over = true,
                },
            }
        }
    }

    fn say(&mut self, said: Said) {
        self.read = CLOCK.now();
        let now = Instant::now();
        if let Err(wait) = self.rate.take(&*self.seat.caller.actor, 1, now) {
            self.early = Some((said, now + wait));
            return;
        }
        let span = match &said {
            Said::Act(_) => tracing::debug_span!(parent: &self.span, "act"),
            Said::Commit(_) => tracing::debug_span!(parent: &self.span, "commit_entropy"),
            Said::Reveal(_) => tracing::debug_span!(parent: &self.span, "reveal_entropy"),
        };
        // Where this span is not recorded, the call's own is used.
        let span = if span.is_disabled() { self.span.clone() } else { span };
        let answer = span.in_scope(|| self.order(&said));
        self.answers.push(Box::pin(
            async move {
                let done = match answer {
                    Ok(answer) => answer.await.unwrap_or_else(|_| Err(gone())),
                    Err(refused) => Err(refused),
                };
                said.answer(done)
            }
            .instrument(span),
        ));
    }

    fn order(
        &self,
        said: &Said,
    ) -> Result<tokio::sync::oneshot::Receiver<Result<Vec<u8>, Refused>>, Refused> {
        let (request_id, table_id) = said.ids();
        let actor = &self.seat.caller.actor;
        let request = self.seat.bounds.request_id(actor, request_id, self.read)?;
        if *table_id != self.seat.table_id {
            return Err(BadField::new("table_id", "this stream is at another table").into());
        }
        let (deed, digest) = match said {
            Said::Act(act) => (decision(act)?, digest("Act", actor, act)),
            Said::Commit(made) => (commitment(made)?, digest("CommitEntropy", actor, made)),
            Said::Reveal(made) => (entropy(made)?, digest("RevealEntropy", actor, made)),
        };
        let (arrived, trace) = (self.read, self.trace);
        let what = Ordered { request, digest, deed, arrived, trace };
        order(&self.seat.table, &self.seat.caller, what)
    }
}

/// Message of a player after the first one.
enum Said {
    Act(pb::ActRequest),
    Commit(pb::CommitEntropyRequest),
    Reveal(pb::RevealEntropyRequest),
}

fn said(message: Option<Asked>) -> Option<Said> {
    match message? {
        Asked::Watch(_) => None,
        Asked::Act(act) => Some(Said::Act(act)),
        Asked::CommitEntropy(commit) => Some(Said::Commit(commit)),
        Asked::RevealEntropy(reveal) => Some(Said::Reveal(reveal)),
    }
}

impl Said {
    /// Ids of the request and of the table.
    fn ids(&self) -> (&[u8], &Vec<u8>) {
        match self {
            Said::Act(said) => (&said.request_id, &said.table_id),
            Said::Commit(said) => (&said.request_id, &said.table_id),
            Said::Reveal(said) => (&said.request_id, &said.table_id),
        }
    }

    /// Message with the outcome of a decision.
    fn answer(&self, done: Result<Vec<u8>, Refused>) -> Heard {
        let request_id = self.ids().0.to_vec();
        match self {
            Said::Act(_) => {
                let outcome = done.and_then(|done| read::<pb::ActResponse>(&done));
                Heard::Acted(acted(request_id, outcome))
            }
            Said::Commit(_) => {
                let outcome = done.and_then(|done| read::<pb::CommitEntropyResponse>(&done));
                let outcome = outcome.map(|made| {
                    pb::entropy_taken::Outcome::Receipt(made.receipt.unwrap_or_default())
                });
                Heard::Entropy(taken(request_id, outcome))
            }
            Said::Reveal(_) => {
                let outcome = done.and_then(|done| read::<pb::RevealEntropyResponse>(&done));
                let outcome = outcome.map(pb::entropy_taken::Outcome::Revealed);
                Heard::Entropy(taken(request_id, outcome))
            }
        }
    }
}

fn taken(
    request_id: Vec<u8>,
    outcome: Result<pb::entropy_taken::Outcome, Refused>,
) -> pb::EntropyTaken {
    let refused = |refused| pb::entropy_taken::Outcome::Refused(why(&refused));
    pb::EntropyTaken { request_id, outcome: Some(outcome.unwrap_or_else(refused)) }
}

/// Reads the player's next message; never ready once they send no more.
async fn ask(
    asked: &mut Option<Streaming<pb::PlayRequest>>,
) -> Result<Option<pb::PlayRequest>, Status> {
    match asked {
        Some(asked) => asked.message().await,
        None => std::future::pending().await,
    }
}

async fn due(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

fn acted(request_id: Vec<u8>, outcome: Result<pb::ActResponse, Refused>) -> pb::Acted {
    let outcome = match outcome {
        Ok(pb::ActResponse { sequence }) => pb::acted::Outcome::Sequence(sequence),
        Err(refused) => pb::acted::Outcome::Refused(why(&refused)),
    };
    pb::Acted { request_id, outcome: Some(outcome) }
}

fn why(refused: &Refused) -> pb::ActRefused {
    pb::ActRefused {
        reason: refused.reason().into(),
        text: refused.message().to_owned(),
        metadata: refused.metadata().map(|(key, value)| (key.into(), value.into())).collect(),
    }
}

fn heard(message: Heard) -> pb::PlayResponse {
    pb::PlayResponse { message: Some(message) }
}
