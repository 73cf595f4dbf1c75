//! Holds, and balances of any account.

use std::time::Duration;

use eventlog::{Position, ReadError, Reader};
use ledger::{Command, EndedHold, Event, Hold, Kind, PendingHold};
use primitives::{HoldId, UnixMicros};
use proto::common::v1::ErrorReason;
use proto::wallet::v1 as pb;
use proto::wallet::v1::get_balance_request::AsOf;
use tonic::{Request, Status};
use wire::{BadField, api_refusal, field};

use super::{Api, account_unknown, caller, parse, statement_permit, text};
use crate::record;
use crate::repo::StoredHold;
use crate::rows::HoldState;
use crate::wallet::{QueryContext, WalletError};

/// Reads of the tables while they and the ledger disagree about a hold.
const MAX_READS: usize = 3;
const MAX_HOLD_DURATION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

impl Api {
    pub(super) async fn place(
        &self,
        request: Request<pb::PlaceHoldRequest>,
    ) -> Result<pb::PlaceHoldResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::PlaceHoldRequest { request_id, account, to, amount, expires_at } =
            request.into_inner();
        let id = field::request_id(&request_id)?;
        let missing = || BadField::new("expires_at", "missing: every hold ends by itself");
        let expires_at = text::parse_time("expires_at", expires_at.ok_or_else(missing)?)?;
        if expires_at > self.now().plus(MAX_HOLD_DURATION) {
            return Err(BadField::new("expires_at", "at most 30 days ahead").into());
        }
        let hold = Hold {
            id: id.into(),
            from: parse::account("account", &account)?,
            to: parse::account("to", &to)?,
            amount: field::positive("amount", amount)?,
            expires_at,
        };
        self.execute(&caller, id, Command::PlaceHold(hold)).await?;
        Ok(pb::PlaceHoldResponse { hold_id: id.0.to_vec() })
    }

    pub(super) async fn capture(
        &self,
        request: Request<pb::CaptureHoldRequest>,
    ) -> Result<pb::CaptureHoldResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::CaptureHoldRequest { request_id, hold_id, amount, keep_rest } =
            request.into_inner();
        let id = field::request_id(&request_id)?;
        let hold: HoldId = field::id("hold_id", &hold_id)?;
        let amount = field::positive("amount", amount)?;
        let done =
            self.execute(&caller, id, Command::CaptureHold { id, hold, amount, keep_rest }).await?;
        Ok(pb::CaptureHoldResponse { position: done.position.0 })
    }

    pub(super) async fn release(
        &self,
        request: Request<pb::ReleaseHoldRequest>,
    ) -> Result<pb::ReleaseHoldResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::ReleaseHoldRequest { request_id, hold_id } = request.into_inner();
        let id = field::request_id(&request_id)?;
        let hold: HoldId = field::id("hold_id", &hold_id)?;
        let done = self.execute(&caller, id, Command::ReleaseHold { hold }).await?;
        Ok(pb::ReleaseHoldResponse { position: done.position.0 })
    }

    pub(super) async fn find_hold(
        &self,
        request: pb::GetHoldRequest,
    ) -> Result<pb::GetHoldResponse, Status> {
        let pb::GetHoldRequest { hold_id } = request;
        let id: HoldId = field::id("hold_id", &hold_id)?;
        let found = self.current_hold(id).await?;
        let found = found.ok_or_else(|| {
            api_refusal(ErrorReason::HoldUnknown, format!("there never was a hold {id}"))
        })?;
        let state = match found.state {
            HoldState::Pending => pb::HoldState::Pending,
            HoldState::Captured => pb::HoldState::Captured,
            HoldState::Released => pb::HoldState::Released,
            HoldState::Expired => pb::HoldState::Expired,
        };
        Ok(pb::GetHoldResponse {
            account: found.hold.from.to_string(),
            to: found.hold.to.to_string(),
            amount: found.hold.amount.get(),
            left: found.left.get(),
            state: state.into(),
            expires_at: Some(text::timestamp(found.hold.expires_at)),
        })
    }

    /// A pending hold from the ledger, or an ended hold from the tables if the log confirms its
    /// end.
    async fn current_hold(&self, id: HoldId) -> Result<Option<StoredHold>, WalletError> {
        for _ in 0..MAX_READS {
            let row = self.wallet.repo()?.hold(id).await.map_err(WalletError::from)?;
            let seen =
                move |view: &QueryContext<'_>| (view.ledger.hold(id).copied(), view.reader.clone());
            let (pending, reader) = self.wallet.query(seen).await?;
            match (pending, row) {
                (Some(PendingHold { hold, left }), _) => {
                    let (state, changed) = (HoldState::Pending, Position(0));
                    return Ok(Some(StoredHold { hold, left, state, changed }));
                }
                (None, None) => return Ok(None),
                // It may have ended since the tables were read.
                (None, Some(row)) if row.state == HoldState::Pending => {}
                (None, Some(row)) => return confirm_end(&reader, row).await.map(Some),
            }
        }
        tracing::error!(%id, "the wallet's tables have a pending hold that the ledger has not");
        Err(WalletError::Corrupt)
    }

    pub(super) async fn balance(
        &self,
        request: pb::GetBalanceRequest,
    ) -> Result<pb::GetBalanceResponse, Status> {
        let pb::GetBalanceRequest { account, as_of } = request;
        let account = parse::account("account", &account)?;
        // A current balance is one row; an older one is searched among all entries since.
        let _turn = match as_of {
            Some(_) => Some(statement_permit(&self.statement_permits).await?),
            None => None,
        };
        let found = self.account_of(account).await?;
        let repo = self.wallet.repo()?;
        let size = match as_of {
            None => {
                return Ok(pb::GetBalanceResponse {
                    balance: found.balance.get(),
                    held: found.state.map_or(0, |state| state.held.get()),
                    size: found.size,
                });
            }
            Some(AsOf::Position(position)) if position < found.size => position + 1,
            Some(AsOf::Position(_)) => {
                let text = format!("the log has positions up to {}", found.size.saturating_sub(1));
                return Err(BadField::new("position", text).into());
            }
            Some(AsOf::Time(time)) => {
                let time = text::parse_time("time", time)?;
                repo.events_before(UnixMicros(time.0 + 1)).await.map_err(WalletError::from)?
            }
        };
        // The house's accounts existed before the first event.
        let of_the_house = account.table().is_none() && account.player().is_none();
        if found.opened.0 >= size && !of_the_house {
            return Err(account_unknown(account));
        }
        let balance = repo.balance_before(found.number, Position(size)).await;
        let balance = balance.map_err(WalletError::from)?.get();
        Ok(pb::GetBalanceResponse { balance, held: 0, size })
    }
}

/// Checks an ended hold against the event that ended it. An archived event cannot be checked where its
/// archive is not mounted, or cannot be read: that is not the wallet's damage.
async fn confirm_end(reader: &Reader, row: StoredHold) -> Result<StoredHold, WalletError> {
    let found = match reader.read(row.changed, 1).await {
        Ok(found) => found,
        Err(ReadError::Archived { .. } | ReadError::Archive(_)) => return Ok(row),
        Err(error) => return Err(error.into()),
    };
    let event = found.first().map(record::parse).transpose();
    let event = event.map_err(|corrupt| {
        tracing::error!(%corrupt, "a hold's end cannot be read");
        WalletError::Corrupt
    })?;
    if event.flatten().is_some_and(|event| is_end_of(&event, &row)) {
        return Ok(row);
    }
    let (id, position) = (row.hold.id, row.changed.0);
    tracing::error!(%id, position, "the wallet's tables have an end of a hold that its log has not");
    Err(WalletError::Corrupt)
}

/// Whether the event ended the hold as the row says.
fn is_end_of(event: &Event, row: &StoredHold) -> bool {
    let StoredHold { hold, left, state, changed: _ } = row;
    let same = |ended: &EndedHold| {
        let EndedHold { hold: id, from, to, amount } = ended;
        (*id, *from, *to) == (hold.id, hold.from, hold.to) && *amount <= hold.amount
    };
    let so = match event {
        Event::HoldReleased(ended) => *state == HoldState::Released && same(ended),
        Event::HoldExpired(ended) => *state == HoldState::Expired && same(ended),
        Event::TransferPosted(posted) => {
            let transfer = &posted.transfer;
            let captures = match transfer.kind {
                Kind::Capture { hold: id, keep_rest: _ } => id == hold.id,
                Kind::Issue
                | Kind::Redeem
                | Kind::BuyIn
                | Kind::CashOut
                | Kind::Settlement { .. }
                | Kind::PotRefund { .. }
                | Kind::Adjustment { .. } => false,
            };
            let of = |account| transfer.legs.iter().any(|leg| leg.account == account);
            *state == HoldState::Captured && captures && of(hold.from) && of(hold.to)
        }
        Event::AccountOpened(_)
        | Event::AccountFrozen { .. }
        | Event::AccountUnfrozen { .. }
        | Event::AccountClosed { .. }
        | Event::HoldPlaced(_)
        | Event::LimitsSet { .. }
        | Event::PlayerExcluded { .. }
        | Event::AdjustmentProposed(_)
        | Event::AdjustmentRejected { .. }
        | Event::SnapshotTaken { .. } => false,
    };
    so && left.is_zero()
}
