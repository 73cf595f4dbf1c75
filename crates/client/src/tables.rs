//! Calls of the table service.

use fairness::{ClientCommitment, Entropy};
use primitives::{Credits, RequestId, TableId};
use proto::common::v1::{ErrorReason, Move, Resolution};
use proto::table::v1 as pb;
use proto::table::v1::table_service_client::TableServiceClient;

use crate::chance::{Chance, EntropyMessage};
use crate::connection::Client;
use crate::error::Error;
use crate::play::Play;
use crate::watch::Watch;

impl Client {
    /// Creates a table. For operators.
    ///
    /// # Errors
    /// See [`Error`]; mostly `RULE_SET_INVALID` and `BAD_FIELD`.
    pub async fn create_table(&self, config: pb::TableConfig) -> Result<TableId, Error> {
        self.create_table_as(self.new_request_id(), config).await
    }

    /// Creates a table under a request id of the caller's, once: the same id with the same
    /// configuration gets the first table again. For operators.
    ///
    /// # Errors
    /// See [`Client::create_table`]; `REQUEST_ID_REUSED` for another configuration.
    pub async fn create_table_as(
        &self,
        request_id: RequestId,
        config: pb::TableConfig,
    ) -> Result<TableId, Error> {
        let request =
            pb::CreateTableRequest { request_id: request_id.to_string(), config: Some(config) };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                TableServiceClient::new(channel).create_table(request).await
            })
            .await?;
        wire::field::table_id(&answer.table_id)
            .map_err(|_| Error::Malformed("the new table's id is not 16 bytes"))
    }

    /// Returns a table as the bearer of the token may see it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn get_table(&self, table: TableId) -> Result<pb::TableView, Error> {
        let request = pb::GetTableRequest { table_id: table.to_string() };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                TableServiceClient::new(channel).get_table(request).await
            })
            .await?;
        answer.table.ok_or(Error::Malformed("the table is missing"))
    }

    /// Takes a seat (0: the lowest free one) with credits from the account, and returns its number
    /// after the credits have moved.
    ///
    /// # Errors
    /// See [`Error`]; mostly `SEAT_TAKEN`, `ALREADY_SEATED`, `INSUFFICIENT_CREDITS` and
    /// `BUY_IN_OUT_OF_RANGE`.
    pub async fn sit_down(&self, table: TableId, seat: u32, buy_in: Credits) -> Result<u32, Error> {
        let request = pb::SitDownRequest {
            request_id: self.request_id(),
            table_id: table.to_string(),
            seat,
            buy_in_credits: buy_in.get(),
        };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                TableServiceClient::new(channel).sit_down(request).await
            })
            .await?;
        Ok(answer.seat)
    }

    /// Leaves the table without a signature, and returns whether a hand has to end before the stack
    /// is paid out.
    ///
    /// # Errors
    /// See [`Error`]; `SIGNATURE_NEEDED` in a hand that the player has a key for:
    /// [`Client::leave`].
    pub async fn stand_up(&self, table: TableId) -> Result<bool, Error> {
        let answer = self.stand_up_signed(table, Vec::new()).await?;
        Ok(answer.after_hand)
    }

    /// Leaves the table, signed if the player has a key in the hand in play, and returns whether a
    /// hand has to end before the stack is paid out.
    ///
    /// # Errors
    /// See [`Error`]; `SIGNATURE_INVALID` and `SIGNATURE_NEEDED` if the hand has gone on or begun and
    /// the update is still to come: try again after it.
    pub async fn leave(&self, table: TableId, chance: &mut Chance) -> Result<bool, Error> {
        let (hand_no, signature) = chance.sign_leave()?;
        let is_signed = !signature.is_empty();
        let mut answer = self.stand_up_signed(table, signature.clone()).await;
        if let Err(Error::Refused(refusal)) = &answer
            && refusal.reason == Some(ErrorReason::SignatureInvalid)
            && let Some(again) = chance.sign_leave_again(hand_no, refusal)?
            && again != signature
        {
            answer = self.stand_up_signed(table, again).await;
        }
        let answer = answer?;
        if is_signed && answer.receipt.is_some() {
            chance.accept_decision_receipt(hand_no, answer.receipt.as_ref())?;
        }
        Ok(answer.after_hand)
    }

    async fn stand_up_signed(
        &self,
        table: TableId,
        signature: Vec<u8>,
    ) -> Result<pb::StandUpResponse, Error> {
        let request = pb::StandUpRequest {
            request_id: self.request_id(),
            table_id: table.to_string(),
            signature,
        };
        self.call_with_retries(request, |channel, request| async move {
            TableServiceClient::new(channel).stand_up(request).await
        })
        .await
    }

    /// Sits out, or takes part again, from the next hand on.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn sit_out(&self, table: TableId, sit_out: bool) -> Result<(), Error> {
        let request = pb::SitOutRequest {
            request_id: self.request_id(),
            table_id: table.to_string(),
            sit_out,
        };
        let pb::SitOutResponse {} = self
            .call_with_retries(request, |channel, request| async move {
                TableServiceClient::new(channel).sit_out(request).await
            })
            .await?;
        Ok(())
    }

    /// Decides the turn that `hand_no` and `Turn.turn` name without a signature, and returns the
    /// sequence number of the update that carries the decision.
    ///
    /// # Errors
    /// See [`Error`]; `NOT_YOUR_TURN` if the hand has moved on, `SIGNATURE_NEEDED` if the player has
    /// a key for it: [`Client::decide`].
    pub async fn act(
        &self,
        table: TableId,
        hand_no: u64,
        turn: u32,
        decision: Move,
    ) -> Result<u64, Error> {
        let signature = Vec::new();
        let answer = self.send_decision(table, (hand_no, turn), decision, signature).await?;
        Ok(answer.sequence)
    }

    /// Decides the turn that `hand_no` and `Turn.turn` name, signed if the player has a key in the
    /// hand, and returns the sequence number of the update that carries the decision.
    ///
    /// # Errors
    /// See [`Error`]; `NOT_YOUR_TURN` if the hand has moved on, `SIGNATURE_INVALID` if somebody left
    /// meanwhile and the update is still to come: try again after it.
    pub async fn decide(
        &self,
        table: TableId,
        chance: &mut Chance,
        due: (u64, u32),
        decision: Move,
    ) -> Result<u64, Error> {
        let (hand_no, _) = due;
        let signature = chance.sign_decision(hand_no, &decision)?;
        let mut answer = self.send_decision(table, due, decision.clone(), signature.clone()).await;
        if let Err(Error::Refused(refusal)) = &answer
            && refusal.reason == Some(ErrorReason::SignatureInvalid)
            && let Some(again) = chance.sign_again(hand_no, &decision, refusal)?
            && again != signature
        {
            answer = self.send_decision(table, due, decision, again).await;
        }
        let pb::ActResponse { sequence, receipt } = answer?;
        chance.accept_decision_receipt(hand_no, receipt.as_ref())?;
        Ok(sequence)
    }

    async fn send_decision(
        &self,
        table: TableId,
        due: (u64, u32),
        decision: Move,
        signature: Vec<u8>,
    ) -> Result<pb::ActResponse, Error> {
        let (hand_no, turn) = due;
        let request = pb::ActRequest {
            request_id: self.request_id(),
            table_id: table.to_string(),
            hand_no,
            turn,
            decision: Some(decision),
            signature,
        };
        self.call_with_retries(request, |channel, request| async move {
            TableServiceClient::new(channel).act(request).await
        })
        .await
    }

    /// Commits to entropy for a hand without a key; see [`crate::chance`].
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn commit_entropy(
        &self,
        table: TableId,
        hand_no: u64,
        commitment: ClientCommitment,
    ) -> Result<pb::EntropyReceipt, Error> {
        self.commit_entropy_with_key(table, hand_no, commitment, Vec::new()).await
    }

    /// Commits to entropy for a hand, and names the public key that decisions of it are signed with.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn commit_entropy_with_key(
        &self,
        table: TableId,
        hand_no: u64,
        commitment: ClientCommitment,
        key: Vec<u8>,
    ) -> Result<pb::EntropyReceipt, Error> {
        let request = commit_request(self.request_id(), table, (hand_no, commitment), key);
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                TableServiceClient::new(channel).commit_entropy(request).await
            })
            .await?;
        answer.receipt.ok_or(Error::Malformed("the receipt is missing"))
    }

    /// Reveals the committed entropy, and returns the table's receipt; see [`crate::chance`].
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn reveal_entropy(
        &self,
        table: TableId,
        hand_no: u64,
        entropy: Entropy,
    ) -> Result<Option<pb::RevealReceipt>, Error> {
        let request = reveal_request(self.request_id(), table, hand_no, entropy);
        let pb::RevealEntropyResponse { receipt } = self
            .call_with_retries(request, |channel, request| async move {
                TableServiceClient::new(channel).reveal_entropy(request).await
            })
            .await?;
        Ok(receipt)
    }

    /// Sends the entropy messages that are due, by single calls. A refusal is not an error: the
    /// hand goes on without this seat's contribution.
    ///
    /// # Errors
    /// Returns an error if there is no answer, or if a check of a receipt fails. A message without
    /// an answer is due again.
    pub async fn contribute_entropy(
        &self,
        table: TableId,
        chance: &mut Chance,
    ) -> Result<(), Error> {
        while let Some(due) = chance.next_message()? {
            let answer = match due {
                EntropyMessage::Commit { hand_no, commitment, key, seat: _ } => {
                    let key = key.to_vec();
                    let receipt =
                        self.commit_entropy_with_key(table, hand_no, commitment, key).await;
                    receipt.map(|receipt| chance.accept_receipt(hand_no, &receipt))
                }
                EntropyMessage::Reveal { hand_no, entropy, seat: _ } => {
                    let receipt = self.reveal_entropy(table, hand_no, entropy).await;
                    receipt.map(|receipt| chance.reveal_accepted(hand_no, receipt.as_ref()))
                }
            };
            match answer {
                Ok(judged) => judged?,
                Err(Error::Refused(refusal)) => chance.refused(&due, &refusal),
                Err(error) => {
                    chance.unanswered(&due);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Resumes stopped effects of a table, for a reason that is on record: tries them again, or
    /// pays credits that cannot be paid to their player to `house/suspense`. For operators.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn resume_table(
        &self,
        table: TableId,
        resolution: Resolution,
        reason: &str,
    ) -> Result<pb::ResumeTableResponse, Error> {
        let request = pb::ResumeTableRequest {
            request_id: self.request_id(),
            table_id: table.to_string(),
            reason: reason.to_owned(),
            resolution: resolution.into(),
        };
        self.call_with_retries(request, |channel, request| async move {
            TableServiceClient::new(channel).resume_table(request).await
        })
        .await
    }

    /// Closes a table after the hand in play. For operators.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn close_table(&self, table: TableId) -> Result<(), Error> {
        let request =
            pb::CloseTableRequest { request_id: self.request_id(), table_id: table.to_string() };
        let pb::CloseTableResponse {} = self
            .call_with_retries(request, |channel, request| async move {
                TableServiceClient::new(channel).close_table(request).await
            })
            .await?;
        Ok(())
    }

    /// Follows a table and decides at it over one stream.
    #[must_use]
    pub fn play(&self, table: TableId) -> Play {
        Play::new(self.watch(table))
    }

    /// Follows a table, from a snapshot on.
    #[must_use]
    pub fn watch(&self, table: TableId) -> Watch {
        self.watch_from(table, Vec::new())
    }

    /// Follows a table from the position of a [`Watch::resume_token`].
    #[must_use]
    pub fn watch_from(&self, table: TableId, resume_token: Vec<u8>) -> Watch {
        Watch::new(self.clone(), table, resume_token)
    }
}

pub(crate) fn commit_request(
    request_id: String,
    table: TableId,
    committed: (u64, ClientCommitment),
    key: Vec<u8>,
) -> pb::CommitEntropyRequest {
    let (hand_no, commitment) = committed;
    let (table_id, commitment) = (table.to_string(), commitment.0.to_vec());
    pb::CommitEntropyRequest { request_id, table_id, hand_no, commitment, key }
}

pub(crate) fn reveal_request(
    request_id: String,
    table: TableId,
    hand_no: u64,
    entropy: Entropy,
) -> pb::RevealEntropyRequest {
    let (table_id, entropy) = (table.to_string(), entropy.0.to_vec());
    pb::RevealEntropyRequest { request_id, table_id, hand_no, entropy }
}
