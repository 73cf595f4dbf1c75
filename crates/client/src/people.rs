//! Calls about people: names, erasure, disputes.

use primitives::{DisputeId, PlayerId, TableId};
use proto::audit::v1 as audit;
use proto::audit::v1::dispute_service_client::DisputeServiceClient;
use proto::audit::v1::hand_service_client::HandServiceClient;
use proto::common::v1::DisputeVerdict;
use proto::table::v1 as pb;
use proto::table::v1::people_service_client::PeopleServiceClient;

use crate::connection::Client;
use crate::error::Error;

impl Client {
    /// Sets the name that this player is shown under (empty: none) and returns the name that is
    /// shown.
    ///
    /// # Errors
    /// See [`Error`]; mostly `BAD_FIELD`, with the rule for names.
    pub async fn set_name(&self, name: &str) -> Result<String, Error> {
        let request = pb::SetNameRequest { request_id: self.request_id(), name: name.to_owned() };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                PeopleServiceClient::new(channel).set_name(request).await
            })
            .await?;
        Ok(answer.name)
    }

    /// Returns the public profile of a player; `None` means the bearer of the token.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn get_player(
        &self,
        player: Option<PlayerId>,
    ) -> Result<pb::GetPlayerResponse, Error> {
        let player_id = player.map_or_else(String::new, |player| player.to_string());
        let request = pb::GetPlayerRequest { player_id };
        self.call_with_retries(request, |channel, request| async move {
            PeopleServiceClient::new(channel).get_player(request).await
        })
        .await
    }

    /// Marks a player as a bot, or clears the mark. For operators.
    ///
    /// # Errors
    /// See [`Error`]; `PLAYER_ERASED` for a player who was erased.
    pub async fn mark_player(&self, player: PlayerId, bot: bool) -> Result<(), Error> {
        let request = pb::MarkPlayerRequest {
            request_id: self.request_id(),
            player_id: player.to_string(),
            bot,
        };
        let pb::MarkPlayerResponse {} = self
            .call_with_retries(request, |channel, request| async move {
                PeopleServiceClient::new(channel).mark_player(request).await
            })
            .await?;
        Ok(())
    }

    /// Erases a player: nobody can read personal data about them afterwards. For operators; the
    /// reason stays readable for ever.
    ///
    /// # Errors
    /// See [`Error`]; `PLAYER_SEATED` and `DISPUTES_OPEN` name what has to end first.
    pub async fn erase_player(&self, player: PlayerId, reason: &str) -> Result<(), Error> {
        let request = pb::ErasePlayerRequest {
            request_id: self.request_id(),
            player_id: player.to_string(),
            reason: reason.to_owned(),
        };
        let pb::ErasePlayerResponse {} = self
            .call_with_retries(request, |channel, request| async move {
                PeopleServiceClient::new(channel).erase_player(request).await
            })
            .await?;
        Ok(())
    }

    /// Opens a dispute about a hand that this player was dealt into, with a copy of their evidence
    /// file; empty for none. The answer holds the room's own bundle of the hand, whose hash is on
    /// record from then on: keep it.
    ///
    /// # Errors
    /// See [`Error`]; mostly `BAD_FIELD` for evidence that is none, `HAND_UNKNOWN`, `NOT_YOUR_HAND`,
    /// `ALREADY_EXISTS` if the player has an open dispute about the hand, and `DISPUTES_OPEN` if they
    /// have one about another.
    pub async fn open_dispute(
        &self,
        table: TableId,
        hand_no: u64,
        text: &str,
        evidence: &[u8],
    ) -> Result<audit::OpenDisputeResponse, Error> {
        let request = audit::OpenDisputeRequest {
            request_id: self.request_id(),
            table_id: table.to_string(),
            hand_no,
            text: text.to_owned(),
            evidence: evidence.to_vec(),
        };
        self.call_with_retries(request, |channel, request| async move {
            DisputeServiceClient::new(channel).open_dispute(request).await
        })
        .await
    }

    /// Returns all disputes of the room in the order they were opened, without their texts; or only
    /// the caller's `own`. `Unspecified`: in any state. Whose a dispute is, a player sees of
    /// their own alone.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn list_disputes(
        &self,
        state: audit::DisputeState,
        own: bool,
    ) -> Result<Vec<audit::Dispute>, Error> {
        let mut disputes = Vec::new();
        let mut request = audit::ListDisputesRequest {
            state: state.into(),
            page_size: 500,
            page_token: String::new(),
            own,
        };
        loop {
            let page = self
                .call_with_retries(request.clone(), |channel, request| async move {
                    DisputeServiceClient::new(channel).list_disputes(request).await
                })
                .await?;
            disputes.extend(page.disputes);
            if page.next_page_token.is_empty() {
                return Ok(disputes);
            }
            request.page_token = page.next_page_token;
        }
    }

    /// Returns a page of hand numbers: what became of each.
    ///
    /// # Errors
    /// See [`Error`]; mostly `TABLE_UNKNOWN`.
    pub async fn list_hands(
        &self,
        request: audit::ListHandsRequest,
    ) -> Result<audit::ListHandsResponse, Error> {
        self.call_with_retries(request, |channel, request| async move {
            HandServiceClient::new(channel).list_hands(request).await
        })
        .await
    }

    /// Returns a dispute with its texts and its evidence.
    ///
    /// # Errors
    /// See [`Error`]; `DISPUTE_UNKNOWN` also for another player's dispute.
    pub async fn get_dispute(&self, dispute: DisputeId) -> Result<audit::Dispute, Error> {
        let request = audit::GetDisputeRequest { dispute_id: dispute.to_string() };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                DisputeServiceClient::new(channel).get_dispute(request).await
            })
            .await?;
        answer.dispute.ok_or(Error::Malformed("the dispute is missing"))
    }

    /// Answers a dispute; the answer is final. For auditors.
    ///
    /// # Errors
    /// See [`Error`]; `DISPUTE_ANSWERED` if the dispute has an answer.
    pub async fn answer_dispute(
        &self,
        dispute: DisputeId,
        verdict: DisputeVerdict,
        text: &str,
    ) -> Result<(), Error> {
        let request = audit::AnswerDisputeRequest {
            request_id: self.request_id(),
            dispute_id: dispute.to_string(),
            verdict: verdict.into(),
            text: text.to_owned(),
        };
        let audit::AnswerDisputeResponse {} = self
            .call_with_retries(request, |channel, request| async move {
                DisputeServiceClient::new(channel).answer_dispute(request).await
            })
            .await?;
        Ok(())
    }
}
