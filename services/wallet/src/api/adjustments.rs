//! What one operator proposes to set right and another one approves.

use eventlog::Position;
use ledger::{Adjustment, Amount, Command, MAX_REASON_CHARS, Proposed};
use primitives::AdjustmentId;
use proto::wallet::v1 as pb;
use tonic::{Request, Status};
use wire::{BadField, field};

use super::{Api, caller, page, parse, text};
use crate::wallet::Problem;

impl Api {
    pub(super) async fn propose(
        &self,
        request: Request<pb::ProposeAdjustmentRequest>,
    ) -> Result<pb::ProposeAdjustmentResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::ProposeAdjustmentRequest { request_id, account, amount, reason } =
            request.into_inner();
        let id = field::request_id(&request_id)?;
        let adjustment = Adjustment {
            id: id.into(),
            account: parse::account("account", &account)?,
            amount: Amount::try_new(amount)
                .map_err(|error| BadField::new("amount", error.to_string()))?,
            reason: field::text("reason", &reason, 1, MAX_REASON_CHARS)?,
            proposed_by: caller.subject.clone(),
        };
        self.ask(&caller, id, Command::Propose(adjustment)).await?;
        Ok(pb::ProposeAdjustmentResponse { adjustment_id: id.0.to_vec() })
    }

    pub(super) async fn approve(
        &self,
        request: Request<pb::ApproveAdjustmentRequest>,
    ) -> Result<pb::ApproveAdjustmentResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::ApproveAdjustmentRequest { request_id, adjustment_id } = request.into_inner();
        let id = field::request_id(&request_id)?;
        let adjustment: AdjustmentId = field::id("adjustment_id", &adjustment_id)?;
        let by = caller.subject.clone();
        let done = self.ask(&caller, id, Command::Approve { id, adjustment, by }).await?;
        Ok(pb::ApproveAdjustmentResponse { position: done.position.0 })
    }

    pub(super) async fn reject(
        &self,
        request: Request<pb::RejectAdjustmentRequest>,
    ) -> Result<pb::RejectAdjustmentResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::RejectAdjustmentRequest { request_id, adjustment_id, reason } =
            request.into_inner();
        let id = field::request_id(&request_id)?;
        let adjustment: AdjustmentId = field::id("adjustment_id", &adjustment_id)?;
        let reason = field::text("reason", &reason, 1, MAX_REASON_CHARS)?;
        let done = self.ask(&caller, id, Command::Reject { adjustment, reason }).await?;
        Ok(pb::RejectAdjustmentResponse { position: done.position.0 })
    }

    pub(super) async fn adjustments(
        &self,
        request: pb::ListAdjustmentsRequest,
    ) -> Result<pb::ListAdjustmentsResponse, Status> {
        let pb::ListAdjustmentsRequest { page_size, page_token } = request;
        let (size, from) = page(page_size, &page_token)?;
        let books = self.wallet.read()?;
        let mut found = books.adjustments(Position(from), size + 1).await.map_err(Problem::from)?;
        let more = found.len() > size;
        found.truncate(size);
        let last = found.last().filter(|_| more);
        Ok(pb::ListAdjustmentsResponse {
            next_page_token: last.map(|(_, at)| at.0.to_string()).unwrap_or_default(),
            adjustments: found.into_iter().map(|(proposed, _)| message(proposed)).collect(),
        })
    }
}

fn message(proposed: Proposed) -> pb::Adjustment {
    let Proposed { adjustment, at } = proposed;
    let Adjustment { id, account, amount, reason, proposed_by } = adjustment;
    pb::Adjustment {
        adjustment_id: id.0.to_vec(),
        account: account.to_string(),
        amount: amount.get(),
        reason,
        proposed_by,
        proposed_at: Some(text::timestamp(at)),
    }
}
