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

use primitives::{PlayerId, TableId};

use crate::chance::{Chance, Distrust, Due};
use crate::connection::Client;
use crate::error::{Error, Refusal};
use crate::tables::{commit_request, reveal_request};
use crate::watch::{Seen, Watch};

/// Messages that may be unanswered at a time.
const UNANSWERED: usize = 16;

/// One thing heard at a table that is played at.
#[derive(Debug)]
pub enum Heard {
    Seen(Seen),
    Acted(Acted),
    /// Nothing has to be done about it.
    TookPart(TookPart),
}

/// What became of a part in chance: a commitment's receipt, nothing where entropy was revealed, or why
/// it was refused.
#[derive(Debug)]
pub struct TookPart {
    pub hand_no: u64,
    pub outcome: Result<Option<pb::EntropyReceipt>, Refusal>,
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

    /// Takes part in the chance of this table's hands for the player whose token it is, and checks
    /// what is told of it.
    #[must_use]
    pub fn taking_part(self, me: PlayerId) -> Play {
        let chance = self.watch.client().chance(self.watch.table(), Some(me));
        self.with_chance(chance)
    }

    /// The same, made by the caller.
    #[must_use]
    pub fn with_chance(mut self, chance: Chance) -> Play {
        if let Some(deciding) = &mut self.watch.deciding {
            deciding.chance = Some(Box::new(chance));
        }
        self
    }

    /// Waits for the next thing; none once the table is closed. Dropping the future loses nothing.
    ///
    /// # Errors
    /// As of [`Watch::next`]; and [`Error::Distrust`], after the message that it was found in.
    pub async fn next(&mut self) -> Result<Option<Heard>, Error> {
        self.watch.hear().await
    }

    /// Sends a decision for the turn that a hand and `Turn.turn` name, and gives its request id. Its
    /// answer comes by [`Play::next`].
    ///
    /// # Errors
    /// [`Error::Malformed`] where sixteen messages wait for their answers already.
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
        if deciding.is_full() {
            return Err(Error::Malformed("sixteen messages wait for their answers already"));
        }
        deciding.send(Asked {
            request_id: request_id.clone(),
            message: Message::Act(act),
            due: None,
        });
        Ok(request_id)
    }

    /// Whether everything that has happened so far was seen: false while catching up.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.watch.is_live()
    }
}

/// The way of decisions to the table, and of a part in chance.
#[derive(Default)]
pub(crate) struct Deciding {
    /// In the order they were made.
    unanswered: Vec<Asked>,
    way: Option<mpsc::Sender<pb::PlayRequest>>,
    chance: Option<Box<Chance>>,
    /// Found, and not told yet.
    distrust: Option<Box<Distrust>>,
}

/// A message that waits for its answer.
struct Asked {
    request_id: Vec<u8>,
    message: Message,
    /// The part in chance that it is.
    due: Option<Due>,
}

impl Deciding {
    /// What is sent over a new stream: what to follow, what was not answered, what is decided later.
    pub(crate) fn open(
        &mut self,
        watch: pb::WatchTableRequest,
    ) -> impl Stream<Item = pb::PlayRequest> + Send + 'static {
        let (way, later) = mpsc::channel(UNANSWERED);
        self.way = Some(way);
        let again = self.unanswered.iter().map(|asked| asked.message.clone());
        let first = std::iter::once(Message::Watch(watch)).chain(again);
        let first: Vec<_> = first.map(request).collect();
        let later = stream::unfold(later, |mut later| async move {
            later.recv().await.map(|message| (message, later))
        });
        stream::iter(first).chain(later)
    }

    fn is_full(&self) -> bool {
        self.unanswered.len() >= UNANSWERED
    }

    fn send(&mut self, asked: Asked) {
        if let Some(way) = &self.way {
            // A stream that is gone, or just going: the next one takes it along.
            let _ = way.try_send(request(asked.message.clone()));
        }
        self.unanswered.push(asked);
    }

    /// Shows the part in chance what was seen.
    pub(crate) fn see(&mut self, seen: &Seen) {
        if let Some(Err(found)) = self.chance.as_mut().map(|chance| chance.see(seen)) {
            self.distrust.get_or_insert(found);
        }
    }

    pub(crate) fn is_awaited(&self) -> bool {
        self.chance.as_ref().is_some_and(|chance| chance.is_awaited())
    }

    /// What was found wrong, once.
    pub(crate) fn distrust(&mut self) -> Result<(), Error> {
        self.distrust.take().map_or(Ok(()), |found| Err(found.into()))
    }

    /// Sends what is due of a part in chance.
    pub(crate) fn take_part(&mut self, client: &Client, table: TableId) {
        while !self.is_full()
            && let Some(due) = self.chance.as_mut().and_then(|chance| chance.due())
        {
            let request_id = client.request_id();
            let message = match due {
                Due::Commit { hand_no, commitment } => Message::CommitEntropy(commit_request(
                    request_id.clone(),
                    table,
                    (hand_no, commitment),
                )),
                Due::Reveal { hand_no, entropy } => Message::RevealEntropy(reveal_request(
                    request_id.clone(),
                    table,
                    (hand_no, entropy),
                )),
            };
            self.send(Asked { request_id, message, due: Some(due) });
        }
    }

    /// None for an answer to nothing that was asked: of a decision that was sent twice.
    pub(crate) fn answered(&mut self, acted: pb::Acted) -> Option<Acted> {
        let pb::Acted { request_id, outcome } = acted;
        self.take(&request_id)?;
        let outcome = match outcome? {
            pb::acted::Outcome::Sequence(sequence) => Ok(sequence),
            pb::acted::Outcome::Refused(refused) => Err(refusal(refused)),
        };
        Some(Acted { request: request_id, outcome })
    }

    /// As [`Deciding::answered`].
    pub(crate) fn taken(&mut self, taken: pb::EntropyTaken) -> Option<TookPart> {
        use pb::entropy_taken::Outcome;
        let pb::EntropyTaken { request_id, outcome } = taken;
        let due = self.take(&request_id)?.due?;
        let (hand_no, chance) = (due.hand_no(), self.chance.as_mut()?);
        let outcome = match outcome? {
            Outcome::Receipt(receipt) => {
                if let Err(found) = chance.receipt(hand_no, &receipt) {
                    self.distrust.get_or_insert(found);
                }
                Ok(Some(receipt))
            }
            Outcome::Revealed(pb::RevealEntropyResponse {}) => {
                chance.revealed(hand_no);
                Ok(None)
            }
            Outcome::Refused(refused) => {
                let refusal = refusal(refused);
                chance.refused(&due, &refusal);
                Err(refusal)
            }
        };
        Some(TookPart { hand_no, outcome })
    }

    fn take(&mut self, request_id: &[u8]) -> Option<Asked> {
        let at = self.unanswered.iter().position(|asked| asked.request_id == request_id)?;
        Some(self.unanswered.remove(at))
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
        retry_after: None,
    }
}
