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

use crate::chance::{Chance, EntropyMessage, HandProofs, Notice};
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
    /// Something about chance that the player should read.
    Notice(Notice),
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
    pub request_id: String,
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

    /// Sends a decision for the turn that `hand_no` and `Turn.turn` name, signed if this client has a
    /// key in the hand, and returns its request id. The outcome comes from [`Play::next`].
    ///
    /// # Errors
    /// [`Error::Malformed`] if sixteen messages have no answer yet, [`Error::Evidence`] if what is
    /// signed cannot be stored.
    pub fn decide(&mut self, hand_no: u64, turn: u32, decision: Move) -> Result<String, Error> {
        let request_id = self.watch.client().request_id();
        let table = self.watch.table();
        let requests = self.watch.requests.as_mut().expect("a table that is played at has a way");
        requests.decide(request_id, table, (hand_no, turn), decision)
    }

    /// Leaves the table, signed if this client has a key in the hand in play. Returns whether a hand
    /// has to end before the stack is paid out.
    ///
    /// # Errors
    /// See [`Client::stand_up`].
    pub async fn stand_up(&mut self) -> Result<bool, Error> {
        let (client, table) = (self.watch.client().clone(), self.watch.table());
        let requests = self.watch.requests.as_mut().expect("a table that is played at has a way");
        match &mut requests.chance {
            Some(chance) => client.leave(table, chance).await,
            None => client.stand_up(table).await,
        }
    }

    /// Says whether the user follows the table. While they do not, this client commits to no hand
    /// and sits out. For programs that can tell, such as by the visibility of a window; no program
    /// of the room plays for somebody who could look away.
    ///
    /// # Errors
    /// See [`Client::sit_out`].
    pub async fn set_in_front(&mut self, in_front: bool) -> Result<(), Error> {
        let (client, table) = (self.watch.client().clone(), self.watch.table());
        let requests = self.watch.requests.as_mut().expect("a table that is played at has a way");
        if let Some(chance) = &mut requests.chance {
            chance.set_in_front(in_front);
        }
        client.sit_out(table, !in_front).await
    }

    /// Returns what this client has checked of a hand; none where it takes no part in chance.
    #[must_use]
    pub fn proofs(&self, hand_no: u64) -> Option<HandProofs> {
        self.watch.requests.as_ref()?.chance.as_ref()?.proofs(hand_no)
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
    /// Error that was found and not yet returned.
    failure: Option<Error>,
    /// The player's number is not in a hand: they are to sit out.
    pub(crate) sits_out: bool,
    /// Hand number and turn of the last fold of a hand that the player's number is not in.
    folded: Option<(u64, u32)>,
    /// Request of that fold.
    fold_request: Option<String>,
}

/// Message without an answer.
struct PendingRequest {
    request_id: String,
    message: Message,
    /// Id that the caller knows it by: another where it was signed anew.
    named: String,
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

    /// Signs and sends a decision for a turn of a hand.
    fn decide(
        &mut self,
        request_id: String,
        table: TableId,
        due: (u64, u32),
        decision: Move,
    ) -> Result<String, Error> {
        if self.is_full() {
            return Err(Error::Malformed("sixteen messages wait for their answers already"));
        }
        let (hand_no, turn) = due;
        let signature = match &mut self.chance {
            Some(chance) => chance.sign_decision(hand_no, &decision)?,
            None => Vec::new(),
        };
        let act = pb::ActRequest {
            request_id: request_id.clone(),
            table_id: table.to_string(),
            hand_no,
            turn,
            decision: Some(decision),
            signature,
        };
        self.send(PendingRequest {
            request_id: request_id.clone(),
            named: request_id.clone(),
            message: Message::Act(act),
            entropy: None,
        });
        Ok(request_id)
    }

    /// Applies what the stream showed to the chance.
    pub(crate) fn apply(&mut self, seen: &WatchMessage) {
        if let Some(Err(found)) = self.chance.as_mut().map(|chance| chance.apply(seen)) {
            self.fail(found.into());
        }
    }

    /// Checks what is due by now, also where the table sends nothing.
    pub(crate) fn check_time(&mut self) {
        if let Some(Err(found)) = self.chance.as_mut().map(|chance| chance.check_time()) {
            self.fail(found.into());
        }
    }

    /// Takes the next notice for the player. One whose number is not in the hand sits out.
    pub(crate) fn take_notices(&mut self) -> Vec<Notice> {
        let notices = self.chance.as_mut().map(|chance| chance.take_notices()).unwrap_or_default();
        let is_out = |notice: &Notice| match notice {
            Notice::NotInClosing { hand_no } => {
                self.chance.as_ref().is_some_and(|chance| chance.must_fold(*hand_no))
            }
            Notice::ManyBroken { .. } | Notice::NoDealerKey => false,
        };
        self.sits_out |= notices.iter().any(is_out);
        notices
    }

    /// Gives up a hand that the player's number is not in, once its turn comes; nothing while a
    /// violation waits to be returned.
    pub(crate) fn fold_blind(&mut self, client: &Client, table: TableId) {
        if self.failure.is_some() {
            return;
        }
        let due = self.chance.as_ref().and_then(|chance| chance.due_fold());
        let Some((hand_no, turn, fold)) = due else { return };
        if self.folded == Some((hand_no, turn)) || self.is_full() {
            return;
        }
        self.folded = Some((hand_no, turn));
        match self.decide(client.request_id(), table, (hand_no, turn), fold) {
            Ok(request_id) => self.fold_request = Some(request_id),
            Err(error) => self.fail(error),
        }
    }

    fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
    }

    pub(crate) fn is_awaited(&self) -> bool {
        self.chance.as_ref().is_some_and(|chance| chance.is_awaited())
    }

    /// Returns a found violation or a failure to keep evidence, once.
    pub(crate) fn take_failure(&mut self) -> Result<(), Error> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Sends the entropy messages that are due; none while a violation waits to be returned.
    pub(crate) fn send_entropy(&mut self, client: &Client, table: TableId) {
        if self.failure.is_some() {
            return;
        }
        while !self.is_full() {
            let due = match self.chance.as_mut().map(|chance| chance.next_message()) {
                Some(Ok(Some(due))) => due,
                Some(Ok(None)) | None => return,
                Some(Err(error)) => return self.fail(error),
            };
            let request_id = client.request_id();
            let message = entropy_message(request_id.clone(), table, &due);
            let named = request_id.clone();
            self.send(PendingRequest { request_id, named, message, entropy: Some(due) });
        }
    }

    /// Matches an answer with its decision. None if the decision was answered before, having been
    /// sent twice, if it is sent again with another signature, or if it is the client's own fold.
    pub(crate) fn resolve_decision(
        &mut self,
        acted: pb::Acted,
        client: &Client,
    ) -> Option<DecisionOutcome> {
        let pb::Acted { request_id, outcome } = acted;
        let PendingRequest { named, message, .. } = self.remove(&request_id)?;
        let Message::Act(act) = message else { return None };
        let outcome = match outcome {
            None => Err(unanswered()),
            Some(pb::acted::Outcome::Done(pb::ActResponse { sequence, receipt })) => {
                self.accept_receipt(&act, receipt.as_ref());
                Ok(sequence)
            }
            Some(pb::acted::Outcome::Refused(refused)) => {
                let refusal = refusal(refused);
                if self.sign_again(&act, &named, &refusal, client) {
                    return None;
                }
                Err(refusal)
            }
        };
        // The caller did not ask for a fold that the client makes by itself.
        let is_own = self.fold_request.as_ref() == Some(&named);
        (!is_own).then_some(DecisionOutcome { request_id: named, outcome })
    }

    fn accept_receipt(&mut self, act: &pb::ActRequest, receipt: Option<&pb::DecisionReceipt>) {
        let Some(chance) = &mut self.chance else { return };
        if let Err(found) = chance.accept_decision_receipt(act.hand_no, receipt) {
            self.fail(found.into());
        }
    }

    /// Sends a decision again whose signature was over an older chain.
    fn sign_again(
        &mut self,
        act: &pb::ActRequest,
        named: &str,
        refusal: &Refusal,
        client: &Client,
    ) -> bool {
        if refusal.reason != Some(ErrorReason::SignatureInvalid) {
            return false;
        }
        let (Some(chance), Some(decision)) = (&mut self.chance, &act.decision) else {
            return false;
        };
        let signature = match chance.sign_again(act.hand_no, decision, refusal) {
            Ok(Some(signature)) if signature != act.signature => signature,
            Ok(_) => return false,
            Err(error) => {
                self.fail(error);
                return false;
            }
        };
        let request_id = client.request_id();
        let act = pb::ActRequest { request_id: request_id.clone(), signature, ..act.clone() };
        let (message, named) = (Message::Act(act), named.to_owned());
        self.send(PendingRequest { request_id, named, message, entropy: None });
        true
    }

    /// Matches an answer with its entropy message. None if the message was answered before.
    pub(crate) fn resolve_entropy(&mut self, taken: pb::EntropyTaken) -> Option<EntropyOutcome> {
        use pb::entropy_taken::Outcome;
        let pb::EntropyTaken { request_id, outcome } = taken;
        let due = self.remove(&request_id)?.entropy?;
        let (hand_no, chance) = (due.hand_no(), self.chance.as_mut()?);
        let (judged, outcome) = match (due, outcome) {
            (_, Some(Outcome::Refused(refused))) => {
                let refusal = refusal(refused);
                chance.refused(&due, &refusal);
                (Ok(()), Err(refusal))
            }
            (EntropyMessage::Commit { .. }, Some(Outcome::Receipt(receipt))) => {
                let judged = chance.accept_receipt(hand_no, &receipt);
                (judged.map_err(Error::from), Ok(Some(receipt)))
            }
            (EntropyMessage::Commit { .. }, Some(Outcome::Revealed(_)) | None) => {
                (Err(Error::Malformed("the receipt is missing")), Ok(None))
            }
            (EntropyMessage::Reveal { .. }, outcome) => {
                // Any other answer than its receipt is none.
                let receipt = match outcome {
                    Some(Outcome::Revealed(pb::RevealEntropyResponse { receipt })) => receipt,
                    Some(Outcome::Receipt(_) | Outcome::Refused(_)) | None => None,
                };
                let judged = chance.reveal_accepted(hand_no, receipt.as_ref());
                (judged.map_err(Error::from), Ok(None))
            }
        };
        if let Err(found) = judged {
            self.fail(found);
        }
        Some(EntropyOutcome { hand_no, outcome })
    }

    fn remove(&mut self, request_id: &str) -> Option<PendingRequest> {
        let at = self.unanswered.iter().position(|asked| asked.request_id == request_id)?;
        Some(self.unanswered.remove(at))
    }
}

fn entropy_message(request_id: String, table: TableId, due: &EntropyMessage) -> Message {
    match *due {
        EntropyMessage::Commit { hand_no, commitment, key, seat: _ } => Message::CommitEntropy(
            commit_request(request_id, table, (hand_no, commitment), key.to_vec()),
        ),
        EntropyMessage::Reveal { hand_no, entropy, seat: _ } => {
            Message::RevealEntropy(reveal_request(request_id, table, hand_no, entropy))
        }
    }
}

fn request(message: Message) -> pb::PlayRequest {
    pb::PlayRequest { message: Some(message) }
}

/// Refusal that stands for an answer without content: whether the table took the decision is not
/// known.
fn unanswered() -> Refusal {
    refusal(pb::ActRefused { text: "the answer is empty".to_owned(), ..pb::ActRefused::default() })
}

fn refusal(refused: pb::ActRefused) -> Refusal {
    let pb::ActRefused { reason, text, mut metadata, code: _, doc: _, trace_id, retry_delay } =
        refused;
    Refusal {
        reason: ErrorReason::try_from(reason).ok(),
        message: text,
        field: metadata.remove("field"),
        trace_id: (!trace_id.is_empty()).then_some(trace_id),
        metadata,
        retry_after: retry_delay.and_then(|delay| delay.try_into().ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The caller waits for the outcome of each decision.
    #[tokio::test]
    async fn an_empty_answer_to_a_decision_is_an_outcome() {
        let client = Client::connect("http://127.0.0.1:1", "a token").unwrap();
        let mut requests = PlayRequests::default();
        let asked =
            requests.decide("an id".to_owned(), TableId([1; 16]), (1, 1), Move::default()).unwrap();
        let acted = pb::Acted { request_id: asked.clone(), outcome: None };
        let answered = requests.resolve_decision(acted, &client).expect("an outcome");
        assert_eq!(answered.request_id, asked);
        assert_eq!(answered.outcome.unwrap_err().message, "the answer is empty");
    }
}
