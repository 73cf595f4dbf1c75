//! Adjustments: proposed by one operator, approved or rejected by another, and listed while they
//! are pending.

use std::fmt;

use eventlog::RequestKey;
use ledger::{Adjustment, Amount, Command, Ledger, MAX_REASON_CHARS, PendingAdjustment};
use primitives::{AdjustmentId, UnixMicros};
use proto::wallet::v1 as pb;
use tonic::{Request, Status};
use wire::{BadField, field};

use super::{Api, bad_token, caller, page_size, parse, text};

impl Api {
    pub(super) async fn propose(
        &self,
        request: Request<pb::ProposeAdjustmentRequest>,
    ) -> Result<pb::ProposeAdjustmentResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::ProposeAdjustmentRequest { request_id, account, amount_credits: amount, reason } =
            request.into_inner();
        let id = field::request_id(&request_id)?;
        let adjustment = Adjustment {
            // Two operators may have chosen the same id.
            id: AdjustmentId(RequestKey::new(&caller.actor(), id).0),
            account: parse::account("account", &account)?,
            amount: Amount::try_new(amount)
                .map_err(|error| BadField::new("amount_credits", error.to_string()))?,
            reason: field::text("reason", &reason, 1, MAX_REASON_CHARS)?,
            proposed_by: caller.subject.clone(),
        };
        let adjustment_id = adjustment.id.to_string();
        self.execute(&caller, id, Command::ProposeAdjustment(adjustment)).await?;
        Ok(pb::ProposeAdjustmentResponse { adjustment_id })
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
        let done =
            self.execute(&caller, id, Command::ApproveAdjustment { id, adjustment, by }).await?;
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
        let done =
            self.execute(&caller, id, Command::RejectAdjustment { adjustment, reason }).await?;
        Ok(pb::RejectAdjustmentResponse { position: done.position.0 })
    }

    pub(super) async fn adjustments(
        &self,
        request: pb::ListAdjustmentsRequest,
    ) -> Result<pb::ListAdjustmentsResponse, Status> {
        let pb::ListAdjustmentsRequest { page_size, page_token } = request;
        let (size, after) = (self::page_size(page_size)?, PageToken::parse(&page_token)?);
        // From the ledger: an approval posts exactly what is shown here.
        let found = self.wallet.query(move |view| oldest_after(view.ledger, after, size + 1)).await;
        let mut found = found?;
        let more = found.len() > size;
        found.truncate(size);
        let last = found.last().filter(|_| more);
        Ok(pb::ListAdjustmentsResponse {
            next_page_token: last.map(|last| PageToken::of(last).to_string()).unwrap_or_default(),
            adjustments: found.into_iter().map(adjustment_to_pb).collect(),
        })
    }
}

/// Position of an adjustment in the list of pending ones, the oldest first. As a page token: the
/// time in microseconds and the id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PageToken(UnixMicros, AdjustmentId);

impl PageToken {
    fn of(proposed: &PendingAdjustment) -> PageToken {
        PageToken(proposed.proposed_at, proposed.adjustment.id)
    }

    /// `None` for the first page.
    fn parse(token: &str) -> Result<Option<PageToken>, BadField> {
        if token.is_empty() {
            return Ok(None);
        }
        let place = token.split_once('-');
        let place = place
            .and_then(|(at, id)| Some(PageToken(UnixMicros(at.parse().ok()?), id.parse().ok()?)));
        place.map(Some).ok_or_else(bad_token)
    }
}

impl fmt::Display for PageToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PageToken(at, id) = self;
        write!(f, "{}-{id}", at.0)
    }
}

/// Pending adjustments after a position, at most `limit`.
fn oldest_after(ledger: &Ledger, after: Option<PageToken>, limit: usize) -> Vec<PendingAdjustment> {
    let waits = |it: &&PendingAdjustment| after.is_none_or(|after| PageToken::of(it) > after);
    let mut found: Vec<&PendingAdjustment> = ledger.adjustments().filter(waits).collect();
    found.sort_unstable_by_key(|it| PageToken::of(it));
    found.into_iter().take(limit).cloned().collect()
}

fn adjustment_to_pb(proposed: PendingAdjustment) -> pb::Adjustment {
    let PendingAdjustment { adjustment, proposed_at: at } = proposed;
    let Adjustment { id, account, amount, reason, proposed_by } = adjustment;
    pb::Adjustment {
        adjustment_id: id.to_string(),
        account: account.to_string(),
        amount_credits: amount.get(),
        reason,
        proposed_by,
        propose_time: Some(text::timestamp(at)),
    }
}
