//! Adjustments: proposed by one operator, approved or rejected by another, and listed while they
//! are pending.

use std::fmt;

use eventlog::RequestKey;
use ledger::{Adjustment, Amount, Command, Ledger, MAX_REASON_CHARS, Proposed};
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
        let pb::ProposeAdjustmentRequest { request_id, account, amount, reason } =
            request.into_inner();
        let id = field::request_id(&request_id)?;
        let adjustment = Adjustment {
            // Two operators may have chosen the same id.
            id: AdjustmentId(RequestKey::new(&caller.actor(), id).0),
            account: parse::account("account", &account)?,
            amount: Amount::try_new(amount)
                .map_err(|error| BadField::new("amount", error.to_string()))?,
            reason: field::text("reason", &reason, 1, MAX_REASON_CHARS)?,
            proposed_by: caller.subject.clone(),
        };
        let adjustment_id = adjustment.id.0.to_vec();
        self.ask(&caller, id, Command::Propose(adjustment)).await?;
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
        let (size, after) = (self::page_size(page_size)?, Place::parse(&page_token)?);
        // From the ledger: an approval posts exactly what is shown here.
        let found = self.wallet.see(move |view| oldest(view.ledger, after, size + 1)).await;
        let mut found = found?;
        let more = found.len() > size;
        found.truncate(size);
        let last = found.last().filter(|_| more);
        Ok(pb::ListAdjustmentsResponse {
            next_page_token: last.map(|last| Place::of(last).to_string()).unwrap_or_default(),
            adjustments: found.into_iter().map(message).collect(),
        })
    }
}

/// Position of an adjustment in the list of pending ones, the oldest first. As a page token: the
/// time in microseconds and the id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place(UnixMicros, AdjustmentId);

impl Place {
    fn of(proposed: &Proposed) -> Place {
        Place(proposed.at, proposed.adjustment.id)
    }

    /// `None` for the first page.
    fn parse(token: &str) -> Result<Option<Place>, BadField> {
        if token.is_empty() {
            return Ok(None);
        }
        let place = token.split_once('-');
        let place =
            place.and_then(|(at, id)| Some(Place(UnixMicros(at.parse().ok()?), id.parse().ok()?)));
        place.map(Some).ok_or_else(bad_token)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place(at, id) = self;
        write!(f, "{}-{id}", at.0)
    }
}

/// Pending adjustments after a position, at most `limit`.
fn oldest(ledger: &Ledger, after: Option<Place>, limit: usize) -> Vec<Proposed> {
    let waits = |it: &&Proposed| after.is_none_or(|after| Place::of(it) > after);
    let mut found: Vec<&Proposed> = ledger.adjustments().filter(waits).collect();
    found.sort_unstable_by_key(|it| Place::of(it));
    found.into_iter().take(limit).cloned().collect()
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
