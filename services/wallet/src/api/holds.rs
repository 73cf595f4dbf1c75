//! Holds, and balances of any account.

use std::time::Duration;

use eventlog::Position;
use ledger::{Command, Hold};
use primitives::{HoldId, UnixMicros};
use proto::common::v1::ErrorReason;
use proto::wallet::v1 as pb;
use proto::wallet::v1::get_balance_request::AsOf;
use tonic::{Request, Status};
use wire::{BadField, field, refused};

use super::{Api, caller, parse, text, unknown};
use crate::rows::HoldState;
use crate::wallet::Problem;

const LONGEST_HOLD: Duration = Duration::from_secs(30 * 24 * 60 * 60);

impl Api {
    pub(super) async fn hold(
        &self,
        request: Request<pb::PlaceHoldRequest>,
    ) -> Result<pb::PlaceHoldResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::PlaceHoldRequest { request_id, account, to, amount, expires_at } =
            request.into_inner();
        let id = field::request_id(&request_id)?;
        let missing = || BadField::new("expires_at", "missing: every hold ends by itself");
        let expires_at = text::time("expires_at", expires_at.ok_or_else(missing)?)?;
        if expires_at > self.now().plus(LONGEST_HOLD) {
            return Err(BadField::new("expires_at", "at most 30 days ahead").into());
        }
        let hold = Hold {
            id: id.into(),
            from: parse::account("account", &account)?,
            to: parse::account("to", &to)?,
            amount: field::positive("amount", amount)?,
            expires_at,
        };
        self.ask(&caller, id, Command::Hold(hold)).await?;
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
        let done = self.ask(&caller, id, Command::Capture { id, hold, amount, keep_rest }).await?;
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
        let done = self.ask(&caller, id, Command::Release { hold }).await?;
        Ok(pb::ReleaseHoldResponse { position: done.position.0 })
    }

    pub(super) async fn find_hold(
        &self,
        request: pb::GetHoldRequest,
    ) -> Result<pb::GetHoldResponse, Status> {
        let pb::GetHoldRequest { hold_id } = request;
        let id: HoldId = field::id("hold_id", &hold_id)?;
        let found = self.wallet.read()?.hold(id).await.map_err(Problem::from)?;
        let found = found.ok_or_else(|| {
            refused(ErrorReason::HoldUnknown, format!("there never was a hold {id}"))
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

    pub(super) async fn balance(
        &self,
        request: pb::GetBalanceRequest,
    ) -> Result<pb::GetBalanceResponse, Status> {
        let pb::GetBalanceRequest { account, as_of } = request;
        let account = parse::account("account", &account)?;
        let found = self.account_of(account).await?;
        let books = self.wallet.read()?;
        let size = match as_of {
            None => {
                return Ok(pb::GetBalanceResponse {
                    balance: found.state.balance.get(),
                    held: found.state.held().get(),
                    size: found.size,
                });
            }
            Some(AsOf::Position(position)) if position < found.size => position + 1,
            Some(AsOf::Position(_)) => {
                let text = format!("the log has positions up to {}", found.size.saturating_sub(1));
                return Err(BadField::new("position", text).into());
            }
            Some(AsOf::Time(time)) => {
                let time = text::time("time", time)?;
                books.before(UnixMicros(time.0 + 1)).await.map_err(Problem::from)?
            }
        };
        // The house's accounts were there before the first event.
        let of_the_house = account.table().is_none() && account.player().is_none();
        if found.opened.0 >= size && !of_the_house {
            return Err(unknown(account));
        }
        let balance = books.balance_before(found.state.number, Position(size)).await;
        let balance = balance.map_err(Problem::from)?.get();
        Ok(pb::GetBalanceResponse { balance, held: 0, size })
    }
}
