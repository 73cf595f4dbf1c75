//! One stream for a player who sits at a table: his decisions in, what he sees and what became of them
//! out.
//!
//! A unary call costs four sets of headers, four streams of HTTP/2 and two verified tokens between the
//! player and his table; a decision here costs a frame each way. Profiled under load, that was a third of
//! everything the machine did.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use chassis::auth::Pace;
use chassis::clock::Clock as _;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use primitives::UnixMicros;
use proto::table::v1 as pb;
use proto::table::v1::play_request::Message as Asked;
use proto::table::v1::play_response::Message as Heard;
use tokio::sync::mpsc;
use tonic::{Status, Streaming};
use tracing::Instrument as _;
use wire::{BadField, Refused, field};

use super::follow::{CLOCK, Following};
use super::{Caller, decision, gone, order, read};
use crate::actor::Command;
use crate::pay::digest;

/// Decisions a second that are read of a player, over all his streams.
pub(super) const DECISIONS: NonZeroU32 = NonZeroU32::new(20).expect("it is not zero");
/// Decisions of a stream that may be on their way; behind that it is not read.
const ON_THEIR_WAY: usize = 8;
/// The first message has this long.
const OPENING: Duration = Duration::from_secs(5);

/// Who plays, and where.
pub(super) struct Seat {
    pub(super) caller: Caller,
    pub(super) table: mpsc::Sender<Command>,
    pub(super) table_id: Vec<u8>,
}

/// A stream that is being played over.
pub(super) struct Playing {
    seat: Seat,
    pace: Arc<Pace>,
    following: Following,
    /// None once the player says no more.
    asked: Option<Streaming<pb::PlayRequest>>,
    /// A decision that came before its time, and when that is.
    early: Option<(pb::ActRequest, UnixMicros)>,
    answers: FuturesUnordered<BoxFuture<'static, pb::Acted>>,
    /// The call's, and its trace's id.
    span: tracing::Span,
    trace: [u8; 16],
    over: bool,
}

/// The first message: what to follow.
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
        pace: Arc<Pace>,
        following: Following,
        asked: Streaming<pb::PlayRequest>,
    ) -> Playing {
        Playing {
            seat,
            pace,
            following,
            asked: Some(asked),
            early: None,
            answers: FuturesUnordered::new(),
            span: tracing::Span::current(),
            trace: chassis::telemetry::trace_id(),
            over: false,
        }
    }

    /// What the player hears next; none once the stream is over. An error ends it.
    pub(super) async fn next(&mut self) -> Option<Result<pb::PlayResponse, Status>> {
        loop {
            if self.over {
                return None;
            }
            let reads = self.early.is_none() && self.answers.len() < ON_THEIR_WAY;
            let early = self.early.as_ref().map(|(_, at)| *at);
            tokio::select! {
                biased;
                Some(acted) = self.answers.next() => return Some(Ok(heard(Heard::Acted(acted)))),
                seen = self.following.next() => {
                    let seen = seen?;
                    return Some(Ok(heard(Heard::Seen(seen))));
                }
                () = due(early) => {
                    if let Some((act, _)) = self.early.take() {
                        self.act(act);
                    }
                }
                message = ask(&mut self.asked), if reads => match message {
                    Ok(Some(pb::PlayRequest { message: Some(Asked::Act(act)) })) => self.act(act),
                    Ok(None) => self.asked = None,
                    Ok(Some(pb::PlayRequest { message: _ })) => {
                        self.over = true;
                        let bad = "only decisions follow the first message: begin another stream";
                        return Some(Err(BadField::new("act", bad).into()));
                    }
                    // Nobody is there any more to be told.
                    Err(_) => self.over = true,
                },
            }
        }
    }

    fn act(&mut self, act: pb::ActRequest) {
        let now = CLOCK.now();
        if let Err(wait) = self.pace.step(&self.seat.caller.actor, now) {
            self.early = Some((act, now.plus(wait)));
            return;
        }
        let span = tracing::info_span!(parent: &self.span, "act");
        let request_id = act.request_id.clone();
        let answer = span.in_scope(|| self.decide(&act));
        self.answers.push(Box::pin(
            async move {
                let outcome = match answer {
                    Ok(answer) => match answer.await {
                        Ok(done) => done.and_then(|done| read::<pb::ActResponse>(&done)),
                        Err(_) => Err(gone()),
                    },
                    Err(refused) => Err(refused),
                };
                acted(request_id, outcome)
            }
            .instrument(span),
        ));
    }

    fn decide(
        &self,
        act: &pb::ActRequest,
    ) -> Result<tokio::sync::oneshot::Receiver<Result<Vec<u8>, Refused>>, Refused> {
        let request = field::request_id(&act.request_id)?;
        if act.table_id != self.seat.table_id {
            return Err(BadField::new("table_id", "this stream is at another table").into());
        }
        let deed = decision(act)?;
        let digest = digest("Act", &self.seat.caller.actor, act);
        order(&self.seat.table, &self.seat.caller, (request, digest, deed), self.trace)
    }
}

/// The player's next message; never, where he says no more.
async fn ask(
    asked: &mut Option<Streaming<pb::PlayRequest>>,
) -> Result<Option<pb::PlayRequest>, Status> {
    match asked {
        Some(asked) => asked.message().await,
        None => std::future::pending().await,
    }
}

async fn due(at: Option<UnixMicros>) {
    match at {
        Some(at) => CLOCK.sleep_until(at).await,
        None => std::future::pending().await,
    }
}

fn acted(request_id: Vec<u8>, outcome: Result<pb::ActResponse, Refused>) -> pb::Acted {
    let outcome = match outcome {
        Ok(pb::ActResponse { sequence }) => pb::acted::Outcome::Sequence(sequence),
        Err(refused) => pb::acted::Outcome::Refused(pb::ActRefused {
            reason: refused.reason().into(),
            text: refused.message().to_owned(),
            metadata: refused.metadata().map(|(key, value)| (key.into(), value.into())).collect(),
        }),
    };
    pb::Acted { request_id, outcome: Some(outcome) }
}

fn heard(message: Heard) -> pb::PlayResponse {
    pb::PlayResponse { message: Some(message) }
}
