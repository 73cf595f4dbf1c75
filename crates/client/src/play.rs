//! Play at a table over one stream: updates, the player's decisions, and their outcomes.
//!
//! The stream reconnects as a followed table's does. A decision without an answer is sent again
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

/// Maximum number of messages without an answer.
const UNANSWERED: usize = 16;

/// Message received at a table that is played at.
#[derive(Debug)]
pub enum Heard {
    Seen(Seen),
    Acted(Acted),
    /// Outcome of an entropy message. The caller need not react.
    TookPart(TookPart),
}

/// Outcome of an entropy message: a receipt for a commitment, none for revealed entropy, or the
/// refusal.
#[derive(Debug)]
pub struct TookPart {
    pub hand_no: u64,
    pub outcome: Result<Option<pb::EntropyReceipt>, Refusal>,
}

/// Outcome of a decision.
#[derive(Debug)]
pub struct Acted {
    /// Request id that [`Play::decide`] returned, 16 bytes.
    pub request: Vec<u8>,
    /// Sequence number of the update that carries the decision, or the refusal.
    pub outcome: Result<u64, Refusal>,
}

/// Table that is played at over one stream.
pub struct Play {
    watch: Watch,
}

impl Play {
    pub(crate) fn new(mut watch: Watch) -> Play {
        watch.deciding = Some(Deciding::default());
        Play { watch }
    }

    /// Takes part in the chance of this table's hands for the token's player, and checks what the
    /// stream says of it.
    #[must_use]
    pub fn taking_part(self, me: PlayerId) -> Play {
        let chance = self.watch.client().chance(self.watch.table(), Some(me));
        self.with_chance(chance)
    }

    /// Takes part with a [`Chance`] that the caller made.
    #[must_use]
    pub fn with_chance(mut self, chance: Chance) -> Play {
        if let Some(deciding) = &mut self.watch.deciding {
            deciding.chance = Some(Box::new(chance));
        }
        self
    }

    /// Waits for the next message; none once the table is closed. Cancel-safe.
    ///
    /// # Errors
    /// See [`Watch::next`]; also [`Error::Distrust`], after the message that it was found in.
    pub async fn next(&mut self) -> Result<Option<Heard>, Error> {
        self.watch.hear().await
    }

    /// Sends a decision for the turn that `hand_no` and `Turn.turn` name, and returns its request
    /// id. The outcome comes from [`Play::next`].
    ///
    /// # Errors
    /// [`Error::Malformed`] if sixteen messages have no answer yet.
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

    /// Whether the stream has caught up with the table.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.watch.is_live()
    }
}

/// Messages to the table over the stream, and the entropy contribution.
#[derive(Default)]
pub(crate) struct Deciding {
    /// Messages without an answer, in the order they were sent.
    unanswered: Vec<Asked>,
    way: Option<mpsc::Sender<pb::PlayRequest>>,
    chance: Option<Box<Chance>>,
    /// Violation that was found and not yet returned.
    distrust: Option<Box<Distrust>>,
}

/// Message without an answer.
struct Asked {
    request_id: Vec<u8>,
    message: Message,
    /// The entropy message that it carries, if it is one.
    due: Option<Due>,
}

impl Deciding {
    /// Returns the requests of a new stream: the table to follow, the messages without an answer,
    /// and later messages.
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
            // On a failed stream the message goes out with the next one.
            let _ = way.try_send(request(asked.message.clone()));
        }
        self.unanswered.push(asked);
    }

    /// Applies what the stream showed to the chance.
    pub(crate) fn see(&mut self, seen: &Seen) {
        if let Some(Err(found)) = self.chance.as_mut().map(|chance| chance.see(seen)) {
            self.distrust.get_or_insert(found);
        }
    }

    pub(crate) fn is_awaited(&self) -> bool {
        self.chance.as_ref().is_some_and(|chance| chance.is_awaited())
    }

    /// Returns a found violation, once.
    pub(crate) fn distrust(&mut self) -> Result<(), Error> {
        self.distrust.take().map_or(Ok(()), |found| Err(found.into()))
    }

    /// Sends the entropy messages that are due.
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

    /// Matches an answer with its decision. None if the decision was answered before, having been
    /// sent twice.
    pub(crate) fn answered(&mut self, acted: pb::Acted) -> Option<Acted> {
        let pb::Acted { request_id, outcome } = acted;
        self.take(&request_id)?;
        let outcome = match outcome? {
            pb::acted::Outcome::Sequence(sequence) => Ok(sequence),
            pb::acted::Outcome::Refused(refused) => Err(refusal(refused)),
        };
        Some(Acted { request: request_id, outcome })
    }

    /// Matches an answer with its entropy message. None if the message was answered before.
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
