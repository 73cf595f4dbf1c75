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

use crate::chance::{Chance, EntropyMessage, FairnessViolation};
use crate::connection::Client;
use crate::error::{Error, Refusal};
use crate::tables::{commit_request, reveal_request};
use crate::watch::{Watch, WatchMessage};

/// Maximum number of messages without an answer.
const MAX_UNANSWERED: usize = 16;

/// Message received at a table that is played at.
#[derive(Debug)]
pub enum PlayMessage {
    Watch(WatchMessage),
    Decision(DecisionOutcome),
    /// Outcome of an entropy message. The caller need not react.
    Entropy(EntropyOutcome),
}

/// Outcome of an entropy message: a receipt for a commitment, none for revealed entropy, or the
/// refusal.
#[derive(Debug)]
pub struct EntropyOutcome {
    pub hand_no: u64,
    pub outcome: Result<Option<pb::EntropyReceipt>, Refusal>,
}

/// Outcome of a decision.
#[derive(Debug)]
pub struct DecisionOutcome {
    /// Request id that [`Play::decide`] returned, 16 bytes.
    pub request_id: Vec<u8>,
    /// Sequence number of the update that carries the decision, or the refusal.
    pub outcome: Result<u64, Refusal>,
}

/// Table that is played at over one stream.
pub struct Play {
    watch: Watch,
}

impl Play {
    pub(crate) fn new(mut watch: Watch) -> Play {
        watch.requests = Some(PlayRequests::default());
        Play { watch }
    }

    /// Takes part in the chance of this table's hands for the token's player, and checks what the
    /// stream says of it.
    #[must_use]
    pub fn contributing_entropy(self, me: PlayerId) -> Play {
        let chance = self.watch.client().chance(self.watch.table(), Some(me));
        self.with_chance(chance)
    }

    /// Takes part with a [`Chance`] that the caller made.
    #[must_use]
    pub fn with_chance(mut self, chance: Chance) -> Play {
        if let Some(deciding) = &mut self.watch.requests {
            deciding.chance = Some(Box::new(chance));
        }
        self
    }

    /// Waits for the next message; none once the table is closed. Cancel-safe.
    ///
    /// # Errors
    /// See [`Watch::next`]; also [`Error::FairnessViolation`], after the message that it was found
    /// in.
    pub async fn next(&mut self) -> Result<Option<PlayMessage>, Error> {
        self.watch.receive().await
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
        let deciding = self.watch.requests.as_mut().expect("a table that is played at has a way");
        if deciding.is_full() {
            return Err(Error::Malformed("sixteen messages wait for their answers already"));
        }
        deciding.send(PendingRequest {
            request_id: request_id.clone(),
            message: Message::Act(act),
            entropy: None,
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
pub(crate) struct PlayRequests {
    /// Messages without an answer, in the order they were sent.
    unanswered: Vec<PendingRequest>,
    sender: Option<mpsc::Sender<pb::PlayRequest>>,
    chance: Option<Box<Chance>>,
    /// Violation that was found and not yet returned.
    violation: Option<Box<FairnessViolation>>,
}

/// Message without an answer.
struct PendingRequest {
    request_id: Vec<u8>,
    message: Message,
    /// The entropy message that it carries, if it is one.
    entropy: Option<EntropyMessage>,
}

impl PlayRequests {
    /// Returns the requests of a new stream: the table to follow, the messages without an answer,
    /// and later messages.
    pub(crate) fn request_stream(
        &mut self,
        watch: pb::WatchTableRequest,
    ) -> impl Stream<Item = pb::PlayRequest> + Send + 'static {
        let (way, later) = mpsc::channel(MAX_UNANSWERED);
        self.sender = Some(way);
        let again = self.unanswered.iter().map(|asked| asked.message.clone());
        let first = std::iter::once(Message::Watch(watch)).chain(again);
        let first: Vec<_> = first.map(request).collect();
        let later = stream::unfold(later, |mut later| async move {
            later.recv().await.map(|message| (message, later))
        });
        stream::iter(first).chain(later)
    }

    fn is_full(&self) -> bool {
        self.unanswered.len() >= MAX_UNANSWERED
    }

    fn send(&mut self, asked: PendingRequest) {
        if let Some(way) = &self.sender {
            // On a failed stream the message goes out with the next one.
            let _ = way.try_send(request(asked.message.clone()));
        }
        self.unanswered.push(asked);
    }

    /// Applies what the stream showed to the chance.
    pub(crate) fn apply(&mut self, seen: &WatchMessage) {
        if let Some(Err(found)) = self.chance.as_mut().map(|chance| chance.apply(seen)) {
            self.violation.get_or_insert(found);
        }
    }

    pub(crate) fn is_awaited(&self) -> bool {
        self.chance.as_ref().is_some_and(|chance| chance.is_awaited())
    }

    /// Returns a found violation, once.
    pub(crate) fn take_violation(&mut self) -> Result<(), Error> {
        self.violation.take().map_or(Ok(()), |found| Err(found.into()))
    }

    /// Sends the entropy messages that are due.
    pub(crate) fn send_entropy(&mut self, client: &Client, table: TableId) {
        while !self.is_full()
            && let Some(due) = self.chance.as_mut().and_then(|chance| chance.next_message())
        {
            let request_id = client.request_id();
            let message = match due {
                EntropyMessage::Commit { hand_no, commitment } => Message::CommitEntropy(
                    commit_request(request_id.clone(), table, hand_no, commitment),
                ),
                EntropyMessage::Reveal { hand_no, entropy } => Message::RevealEntropy(
                    reveal_request(request_id.clone(), table, hand_no, entropy),
                ),
            };
            self.send(PendingRequest { request_id, message, entropy: Some(due) });
        }
    }

    /// Matches an answer with its decision. None if the decision was answered before, having been
    /// sent twice.
    pub(crate) fn resolve_decision(&mut self, acted: pb::Acted) -> Option<DecisionOutcome> {
        let pb::Acted { request_id, outcome } = acted;
        self.remove(&request_id)?;
        let outcome = match outcome? {
            pb::acted::Outcome::Sequence(sequence) => Ok(sequence),
            pb::acted::Outcome::Refused(refused) => Err(refusal(refused)),
        };
        Some(DecisionOutcome { request_id, outcome })
    }

    /// Matches an answer with its entropy message. None if the message was answered before.
    pub(crate) fn resolve_entropy(&mut self, taken: pb::EntropyTaken) -> Option<EntropyOutcome> {
        use pb::entropy_taken::Outcome;
        let pb::EntropyTaken { request_id, outcome } = taken;
        let due = self.remove(&request_id)?.entropy?;
        let (hand_no, chance) = (due.hand_no(), self.chance.as_mut()?);
        let outcome = match outcome? {
            Outcome::Receipt(receipt) => {
                if let Err(found) = chance.accept_receipt(hand_no, &receipt) {
                    self.violation.get_or_insert(found);
                }
                Ok(Some(receipt))
            }
            Outcome::Revealed(pb::RevealEntropyResponse {}) => {
                chance.reveal_accepted(hand_no);
                Ok(None)
            }
            Outcome::Refused(refused) => {
                let refusal = refusal(refused);
                chance.refused(&due, &refusal);
                Err(refusal)
            }
        };
        Some(EntropyOutcome { hand_no, outcome })
    }

    fn remove(&mut self, request_id: &[u8]) -> Option<PendingRequest> {
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
