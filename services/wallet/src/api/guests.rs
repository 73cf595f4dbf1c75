//! Starting credits of guests.
//!
//! They are issued as an operator's are, with a reason, and once for each player: the request's id
//! is made from the player's alone. It begins with no time, since a player's id has none, and a
//! repeat brings nothing else. Who asks, which the table service alone may, says neither how much
//! nor how often. The credits are play money: nothing in the room tells them from others, so a room
//! that gives them redeems none.

use std::sync::Arc;

use chassis::daily_quota::DailyQuota;
use ledger::{Account, Command, Kind, Refusal, STARTING_CREDITS_REASON, Transfer};
use primitives::{Credits, UnixMicros};
use proto::wallet::v1 as pb;
use tonic::{Request, Status};
use wire::{field, status};

use super::{Api, caller, parse};
use crate::config::StartingCredits;
use crate::wallet::WalletError;

/// Bounds on the credits that guests are given. Clones share their count.
#[derive(Clone)]
pub(super) struct GuestCredits {
    amount: Credits,
    guests: Arc<DailyQuota<()>>,
}

impl From<StartingCredits> for GuestCredits {
    fn from(StartingCredits { amount, per_day }: StartingCredits) -> GuestCredits {
        GuestCredits { amount, guests: Arc::new(DailyQuota::new(per_day)) }
    }
}

impl Api {
    pub(super) async fn give_starting(
        &self,
        request: Request<pb::GiveStartingCreditsRequest>,
    ) -> Result<pb::GiveStartingCreditsResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::GiveStartingCreditsRequest { player_id } = request.into_inner();
        let player = field::player_id(&player_id)?;
        let GuestCredits { amount, guests } = &self.guest_credits;
        if amount.is_zero() {
            return Ok(pb::GiveStartingCreditsResponse { amount_credits: 0 });
        }
        let now = self.now();
        guests.check((), now).map_err(status::daily_records_spent)?;
        let id = |what| eventlog::derived_id(what, UnixMicros(0), &[player.bytes()]);
        match self.execute(&caller, id("guest-account"), Command::OpenAccount(player)).await {
            Ok(_) | Err(WalletError::Refused(Refusal::AccountExists { .. })) => {}
            Err(problem) => return Err(problem.into()),
        }
        let transfer = Transfer {
            id: id("guest-credits"),
            kind: Kind::Issue,
            legs: parse::two_legs(Account::Issuance, Account::Player(player), *amount),
            reason: STARTING_CREDITS_REASON.to_owned(),
        };
        match self.execute(&caller, transfer.id, Command::PostTransfer(transfer)).await {
            Ok(_) => {
                guests.count((), now);
                Ok(pb::GiveStartingCreditsResponse { amount_credits: amount.get() })
            }
            // They were given when the setting was another.
            Err(WalletError::RequestIdReused) => {
                Ok(pb::GiveStartingCreditsResponse { amount_credits: 0 })
            }
            Err(problem) => Err(problem.into()),
        }
    }
}
