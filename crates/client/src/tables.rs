//! Calls of the table service.

use fairness::{ClientCommitment, Entropy};
use primitives::{Credits, TableId};
use proto::common::v1::Move;
use proto::event::v1::Resolution;
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
        let request =
            pb::CreateTableRequest { request_id: self.request_id(), config: Some(config) };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                TableServiceClient::new(channel).create_table(request).await
            })
            .await?;
        TableId::try_from(&*answer.table_id)
            .map_err(|_| Error::Malformed("the new table's id is not 16 bytes"))
    }

    /// Returns all open tables, in the order they were opened, from all pages.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn list_tables(&self) -> Result<Vec<pb::TableSummary>, Error> {
        let mut tables = Vec::new();
        let mut request = pb::ListTablesRequest { page_size: 500, page_token: String::new() };
        loop {
            let page = self
                .call_with_retries(request.clone(), |channel, request| async move {
                    TableServiceClient::new(channel).list_tables(request).await
                })
                .await?;
            tables.extend(page.tables);
            if page.next_page_token.is_empty() {
                return Ok(tables);
            }
            request.page_token = page.next_page_token;
        }
    }

    /// Returns a table as the bearer of the token may see it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn get_table(&self, table: TableId) -> Result<pb::TableView, Error> {
        let request = pb::GetTableRequest { table_id: table.bytes().to_vec() };
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
            table_id: table.bytes().to_vec(),
            seat,
            buy_in: buy_in.get(),
        };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                TableServiceClient::new(channel).sit_down(request).await
            })
            .await?;
        Ok(answer.seat)
    }

    /// Leaves the table, and returns whether a hand has to end before the stack is paid out.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn stand_up(&self, table: TableId) -> Result<bool, Error> {
        let request =
            pb::StandUpRequest { request_id: self.request_id(), table_id: table.bytes().to_vec() };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                TableServiceClient::new(channel).stand_up(request).await
            })
            .await?;
        Ok(answer.after_hand)
    }

    /// Sits out, or takes part again, from the next hand on.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn sit_out(&self, table: TableId, sit_out: bool) -> Result<(), Error> {
        let request = pb::SitOutRequest {
            request_id: self.request_id(),
            table_id: table.bytes().to_vec(),
            sit_out,
        };
        let pb::SitOutResponse {} = self
            .call_with_retries(request, |channel, request| async move {
                TableServiceClient::new(channel).sit_out(request).await
            })
            .await?;
        Ok(())
    }

    /// Decides the turn that `hand_no` and `Turn.turn` name, and returns the sequence number of the
    /// update that carries the decision.
    ///
    /// # Errors
    /// See [`Error`]; `NOT_YOUR_TURN` if the hand has moved on.
    pub async fn act(
        &self,
        table: TableId,
        hand_no: u64,
        turn: u32,
        decision: Move,
    ) -> Result<u64, Error> {
        let request = pb::ActRequest {
            request_id: self.request_id(),
            table_id: table.bytes().to_vec(),
            hand_no,
            turn,
            r#move: Some(decision),
        };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                TableServiceClient::new(channel).act(request).await
            })
            .await?;
        Ok(answer.sequence)
    }

    /// Commits to entropy for a hand; see [`crate::chance`].
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn commit_entropy(
        &self,
        table: TableId,
        hand_no: u64,
        commitment: ClientCommitment,
    ) -> Result<pb::EntropyReceipt, Error> {
        let request = commit_request(self.request_id(), table, hand_no, commitment);
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                TableServiceClient::new(channel).commit_entropy(request).await
            })
            .await?;
        answer.receipt.ok_or(Error::Malformed("the receipt is missing"))
    }

    /// Reveals the committed entropy; see [`crate::chance`].
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn reveal_entropy(
        &self,
        table: TableId,
        hand_no: u64,
        entropy: Entropy,
    ) -> Result<(), Error> {
        let request = reveal_request(self.request_id(), table, hand_no, entropy);
        let pb::RevealEntropyResponse {} = self
            .call_with_retries(request, |channel, request| async move {
                TableServiceClient::new(channel).reveal_entropy(request).await
            })
            .await?;
        Ok(())
    }

    /// Sends the entropy messages that are due, by single calls. A refusal is not an error: the
    /// hand goes on without this seat's contribution.
    ///
    /// # Errors
    /// Returns an error if there is no answer, or if a check of a receipt fails.
    pub async fn contribute_entropy(
        &self,
        table: TableId,
        chance: &mut Chance,
    ) -> Result<(), Error> {
        while let Some(due) = chance.next_message() {
            let answer = match due {
                EntropyMessage::Commit { hand_no, commitment } => {
                    self.commit_entropy(table, hand_no, commitment).await.map(Some)
                }
                EntropyMessage::Reveal { hand_no, entropy } => {
                    self.reveal_entropy(table, hand_no, entropy).await.map(|()| None)
                }
            };
            match answer {
                Ok(Some(receipt)) => chance.accept_receipt(due.hand_no(), &receipt)?,
                Ok(None) => chance.reveal_accepted(due.hand_no()),
                Err(Error::Refused(refusal)) => chance.refused(&due, &refusal),
                Err(error) => return Err(error),
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
            table_id: table.bytes().to_vec(),
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
        let request = pb::CloseTableRequest {
            request_id: self.request_id(),
            table_id: table.bytes().to_vec(),
        };
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
    request_id: Vec<u8>,
    table: TableId,
    hand_no: u64,
    commitment: ClientCommitment,
) -> pb::CommitEntropyRequest {
    let (table_id, commitment) = (table.bytes().to_vec(), commitment.0.to_vec());
    pb::CommitEntropyRequest { request_id, table_id, hand_no, commitment }
}

pub(crate) fn reveal_request(
    request_id: Vec<u8>,
    table: TableId,
    hand_no: u64,
    entropy: Entropy,
) -> pb::RevealEntropyRequest {
    let (table_id, entropy) = (table.bytes().to_vec(), entropy.0.to_vec());
    pb::RevealEntropyRequest { request_id, table_id, hand_no, entropy }
}
