//! Playing at a table over one stream: what a player sees, his decisions, and what became of them.
//!
//! The stream mends itself as a followed table's does. A decision that was not answered is sent again
//! over the next stream under the same request id, so it counts once.

use futures_util::Stream;
use futures_util::stream::{self, StreamExt as _};
use proto::common::v1::{ErrorReason, Move};
use proto::table::v1 as pb;
use proto::table::v1::play_request::Message;
use tokio::sync::mpsc;

use crate::error::{Error, Refusal};
use crate::watch::{Seen, Watch};

/// Decisions that may be unanswered at a time.
const UNANSWERED: usize = 16;

/// One thing heard at a table that is played at.
#[derive(Debug)]
pub enum Heard {
    Seen(Seen),
    Acted(Acted),
}

/// What became of a decision.
#[derive(Debug)]
pub struct Acted {
    /// As [`Play::decide`] named it, 16 bytes.
    pub request: Vec<u8>,
    /// The update that carries it, or why it was refused.
    pub outcome: Result<u64, Refusal>,
}

/// A table that is played at.
pub struct Play {
    watch: Watch,
}

impl Play {
    pub(crate) fn new(mut watch: Watch) -> Play {
        watch.deciding = Some(Deciding::default());
        Play { watch }
    }

    /// Waits for the next thing; none once the table is closed. Dropping the future loses nothing.
    ///
    /// # Errors
    /// As of [`Watch::next`].
    pub async fn next(&mut self) -> Result<Option<Heard>, Error> {
        self.watch.hear().await
    }

    /// Sends a decision for the turn that a hand and `Turn.turn` name, and gives its request id. Its
    /// answer comes by [`Play::next`].
    ///
    /// # Errors
    /// [`Error::Malformed`] where sixteen decisions wait for their answers already.
    pub fn decide(&mut self, hand_no: u64, turn: u32, decision: Move) -> Result<Vec<u8>, Error> {
        let request_id = self.watch.client().request_id();
        let act = pb::ActRequest {
            request_id: request_id.clone(),
            table_id: self.watch.table().bytes().to_vec(),
            hand_no,
            turn,
            r#move: Some(decision),
        };
        let deciding = self.watch.deciding.as_mut().expect("a table that is played at has a way");
        deciding.send(act)?;
        Ok(request_id)
    }

    /// Whether everything that has happened so far was seen: false while catching up.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.watch.is_live()
    }
}

/// The way of decisions to the table.
#[derive(Default)]
pub(crate) struct Deciding {
    /// In the order they were made.
    unanswered: Vec<pb::ActRequest>,
    way: Option<mpsc::Sender<pb::PlayRequest>>,
}

impl Deciding {
    /// What is sent over a new stream: what to follow, what was not answered, what is decided later.
    pub(crate) fn open(
        &mut self,
        watch: pb::WatchTableRequest,
    ) -> impl Stream<Item = pb::PlayRequest> + Send + 'static {
        let (way, later) = mpsc::channel(UNANSWERED);
        self.way = Some(way);
        let again = self.unanswered.iter().cloned().map(Message::Act);
        let first = std::iter::once(Message::Watch(watch)).chain(again);
        let first: Vec<_> = first.map(request).collect();
        let later = stream::unfold(later, |mut later| async move {
            later.recv().await.map(|message| (message, later))
        });
        stream::iter(first).chain(later)
    }

    fn send(&mut self, act: pb::ActRequest) -> Result<(), Error> {
        if self.unanswered.len() >= UNANSWERED {
            return Err(Error::Malformed("sixteen decisions wait for their answers already"));
        }
        if let Some(way) = &self.way {
            // A stream that is gone, or just going: the next one takes it along.
            let _ = way.try_send(request(Message::Act(act.clone())));
        }
        self.unanswered.push(act);
        Ok(())
    }

    /// None for an answer to nothing that was asked: of a decision that was sent twice.
    pub(crate) fn answered(&mut self, acted: pb::Acted) -> Option<Acted> {
        let pb::Acted { request_id, outcome } = acted;
        let at = self.unanswered.iter().position(|act| act.request_id == request_id)?;
        self.unanswered.remove(at);
        let outcome = match outcome? {
            pb::acted::Outcome::Sequence(sequence) => Ok(sequence),
            pb::acted::Outcome::Refused(refused) => Err(refusal(refused)),
        };
        Some(Acted { request: request_id, outcome })
    }
}

fn request(message: Message) -> pb::PlayRequest {
    pb::PlayRequest { message: Some(message) }
}

fn refusal(refused: pb::ActRefused) -> Refusal {
    let pb::ActRefused { reason, text, mut metadata } = refused;
    Refusal {
        reason: ErrorReason::try_from(reason).ok(),
        message: text,
        field: metadata.remove("field"),
        trace_id: None,
        metadata,
    }
}
