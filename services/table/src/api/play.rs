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
use proto::table::v1::play_request::Message as PlayMessage;
use proto::table::v1::play_response::Message as PlayOutcome;
use system::clock::Clock as _;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tonic::{Status, Streaming};
use tracing::Instrument as _;
use wire::{ApiRefusal, BadField};

use super::watch_stream::{CLOCK, WatchStream};
use super::{
    Caller, commitment_command, decision_command, reveal_command, send_command, table_unavailable,
};
use crate::actor::TableMessage;
use crate::answer::{FromAnswer as _, Outcome};
use crate::author::Author;
use crate::bounds::Bounds;

/// Decisions a second that are taken from a player, over all their streams.
pub(super) const DECISIONS_PER_SECOND: NonZeroU32 = NonZeroU32::new(20).expect("it is not zero");
/// Decisions of a stream that may be in flight; beyond that it is not read.
const MAX_IN_FLIGHT: usize = 8;
/// Time for the first message to arrive.
const FIRST_MESSAGE_TIMEOUT: Duration = Duration::from_secs(5);

/// Player of a stream, and the table that they play at.
pub(super) struct PlayContext {
    pub(super) caller: Caller,
    pub(super) table: mpsc::Sender<TableMessage>,
    pub(super) table_id: String,
    pub(super) bounds: Arc<Bounds>,
    /// Address that links in refusals begin with; empty: they begin at the room's own root.
    pub(super) public_url: Arc<str>,
}

/// State of a player's stream.
pub(super) struct PlayState {
    context: PlayContext,
    limiter: Arc<RateLimiter<String>>,
    watch: WatchStream,
    /// `None` once the player sends no more.
    requests: Option<Streaming<pb::PlayRequest>>,
    /// A message that came too early for the rate limit, and the time at which it is taken.
    delayed: Option<(PlayerMessage, Instant)>,
    /// Arrival of the message that is being taken: when it was read, or when the rate limit let it
    /// pass. A player who is faster than allowed waits at their own cost.
    arrived: UnixMicros,
    answers: FuturesUnordered<BoxFuture<'static, PlayOutcome>>,
    /// Span of the call.
    span: tracing::Span,
    trace: [u8; 16],
    is_over: bool,
}

/// Reads the first message, which says what to watch.
pub(super) async fn first_message(
    requests: &mut Streaming<pb::PlayRequest>,
) -> Result<pb::WatchTableRequest, Status> {
    let first = tokio::time::timeout(FIRST_MESSAGE_TIMEOUT, requests.message()).await;
    match first.map_err(|_| BadField::new("watch", "not sent within 5 s of the call"))?? {
        Some(pb::PlayRequest { message: Some(PlayMessage::Watch(watch)) }) => Ok(watch),
        Some(pb::PlayRequest { message: _ }) | None => {
            Err(BadField::new("watch", "the first message says what to follow").into())
        }
    }
}

impl PlayState {
    pub(super) fn new(
        context: PlayContext,
        limiter: Arc<RateLimiter<String>>,
        watch: WatchStream,
        requests: Streaming<pb::PlayRequest>,
    ) -> PlayState {
        PlayState {
            context,
            limiter,
            watch,
            requests: Some(requests),
            delayed: None,
            arrived: CLOCK.now(),
            answers: FuturesUnordered::new(),
            span: tracing::Span::current(),
            trace: chassis::telemetry::trace_id(),
            is_over: false,
        }
    }

    /// The next message to the player; `None` once the stream is over. An error ends it.
    pub(super) async fn next(&mut self) -> Option<Result<pb::PlayResponse, Status>> {
        loop {
            if self.is_over {
                return None;
            }
            let reads = self.delayed.is_none() && self.answers.len() < MAX_IN_FLIGHT;
            let early = self.delayed.as_ref().map(|(_, at)| *at);
            tokio::select! {
                biased;
                Some(answer) = self.answers.next(), if !self.answers.is_empty() => return Some(Ok(play_response(answer))),
                update = self.watch.next() => {
                    return Some(Ok(play_response(PlayOutcome::Seen(update?))));
                }
                () = sleep_until(early) => {
                    if let Some((message, _)) = self.delayed.take() {
                        self.submit(message);
                    }
                }
                message = next_request(&mut self.requests), if reads => match message {
                    // The layers of the port have taken it.
                    Ok(Some(pb::PlayRequest { message: Some(PlayMessage::AccessToken(_)) })) => {}
                    Ok(Some(pb::PlayRequest { message })) => match player_message(message) {
                        Some(message) => self.submit(message),
                        None => {
                            self.is_over = true;
                            let bad = "the first message says what to follow, and no other: begin \
                                       another stream";
                            return Some(Err(BadField::new("watch", bad).into()));
                        }
                    },
                    Ok(None) => self.requests = None,
                    // The player is gone and gets no answer.
                    Err(_) => self.is_over = true,
                },
            }
        }
    }

    fn submit(&mut self, message: PlayerMessage) {
        self.arrived = CLOCK.now();
        let now = Instant::now();
        if let Err(wait) = self.limiter.take(&*self.context.caller.actor, 1, now) {
            self.delayed = Some((message, now + wait));
            return;
        }
        let span = match &message {
            PlayerMessage::Act(_) => tracing::debug_span!(parent: &self.span, "act"),
            PlayerMessage::Commit(_) => tracing::debug_span!(parent: &self.span, "commit_entropy"),
            PlayerMessage::Reveal(_) => tracing::debug_span!(parent: &self.span, "reveal_entropy"),
        };
        // Where this span is not recorded, the call's own is used.
        let span = if span.is_disabled() { self.span.clone() } else { span };
        let answer = span.in_scope(|| self.send(&message));
        let public_url = Arc::clone(&self.context.public_url);
        self.answers.push(Box::pin(
            async move {
                let done = match answer {
                    Ok(answer) => answer.await.unwrap_or_else(|_| Err(table_unavailable())),
                    Err(refused) => Err(refused),
                };
                message.outcome_message(done, &public_url)
            }
            .instrument(span),
        ));
    }

    fn send(
        &self,
        message: &PlayerMessage,
    ) -> Result<tokio::sync::oneshot::Receiver<Outcome>, ApiRefusal> {
        let (request_id, table_id) = message.ids();
        let caller = &self.context.caller;
        let request = self.context.bounds.request_id(&caller.actor, request_id, self.arrived)?;
        if table_id != self.context.table_id {
            return Err(BadField::new("table_id", "this stream is at another table").into());
        }
        let (command, digest) = match message {
            PlayerMessage::Act(message) => {
                (decision_command(message)?, caller.digest("Act", message))
            }
            PlayerMessage::Commit(message) => {
                (commitment_command(message)?, caller.digest("CommitEntropy", message))
            }
            PlayerMessage::Reveal(message) => {
                (reveal_command(message)?, caller.digest("RevealEntropy", message))
            }
        };
        let actor = Arc::clone(&caller.actor);
        let author = Author { actor, trace: self.trace, request, digest };
        send_command(&self.context.table, caller, author, self.arrived, command)
    }
}

/// Message of a player after the first one.
enum PlayerMessage {
    Act(pb::ActRequest),
    Commit(pb::CommitEntropyRequest),
    Reveal(pb::RevealEntropyRequest),
}

fn player_message(message: Option<PlayMessage>) -> Option<PlayerMessage> {
    match message? {
        PlayMessage::Watch(_) | PlayMessage::AccessToken(_) => None,
        PlayMessage::Act(act) => Some(PlayerMessage::Act(act)),
        PlayMessage::CommitEntropy(commit) => Some(PlayerMessage::Commit(commit)),
        PlayMessage::RevealEntropy(reveal) => Some(PlayerMessage::Reveal(reveal)),
    }
}

impl PlayerMessage {
    /// Ids of the request and of the table.
    fn ids(&self) -> (&str, &str) {
        match self {
            PlayerMessage::Act(message) => (&message.request_id, &message.table_id),
            PlayerMessage::Commit(message) => (&message.request_id, &message.table_id),
            PlayerMessage::Reveal(message) => (&message.request_id, &message.table_id),
        }
    }

    /// Message with the outcome of a decision.
    fn outcome_message(&self, done: Outcome, public_url: &str) -> PlayOutcome {
        let request_id = self.ids().0.to_owned();
        match self {
            PlayerMessage::Act(_) => {
                let outcome = done.and_then(pb::ActResponse::from_answer);
                PlayOutcome::Acted(acted(request_id, outcome, public_url))
            }
            PlayerMessage::Commit(_) => {
                let outcome = done.and_then(pb::CommitEntropyResponse::from_answer);
                let outcome = outcome.map(|message| {
                    pb::entropy_taken::Outcome::Receipt(message.receipt.unwrap_or_default())
                });
                PlayOutcome::Entropy(entropy_taken(request_id, outcome, public_url))
            }
            PlayerMessage::Reveal(_) => {
                let outcome = done.and_then(pb::RevealEntropyResponse::from_answer);
                let outcome = outcome.map(pb::entropy_taken::Outcome::Revealed);
                PlayOutcome::Entropy(entropy_taken(request_id, outcome, public_url))
            }
        }
    }
}

fn entropy_taken(
    request_id: String,
    outcome: Result<pb::entropy_taken::Outcome, ApiRefusal>,
    public_url: &str,
) -> pb::EntropyTaken {
    let refused = |refused| pb::entropy_taken::Outcome::Refused(refusal(&refused, public_url));
    pb::EntropyTaken { request_id, outcome: Some(outcome.unwrap_or_else(refused)) }
}

/// Reads the player's next message; never ready once they send no more.
async fn next_request(
    requests: &mut Option<Streaming<pb::PlayRequest>>,
) -> Result<Option<pb::PlayRequest>, Status> {
    match requests {
        Some(requests) => requests.message().await,
        None => std::future::pending().await,
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

fn acted(
    request_id: String,
    outcome: Result<pb::ActResponse, ApiRefusal>,
    public_url: &str,
) -> pb::Acted {
    let outcome = match outcome {
        Ok(done) => pb::acted::Outcome::Done(done),
        Err(refused) => pb::acted::Outcome::Refused(refusal(&refused, public_url)),
    };
    pb::Acted { request_id, outcome: Some(outcome) }
}

fn refusal(refused: &ApiRefusal, public_url: &str) -> pb::ActRefused {
    let link = wire::status::doc_link(refused.reason().as_str_name());
    pb::ActRefused {
        reason: refused.reason().into(),
        text: refused.message().to_owned(),
        metadata: refused.metadata().map(|(key, value)| (key.into(), value.into())).collect(),
        code: wire::status::code(refused.reason()).into(),
        doc: format!("{public_url}{link}"),
        trace_id: super::watch_stream::trace_text(),
        retry_delay: refused.retry_delay().and_then(|delay| delay.try_into().ok()),
    }
}

fn play_response(message: PlayOutcome) -> pb::PlayResponse {
    pb::PlayResponse { message: Some(message) }
}
