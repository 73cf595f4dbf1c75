//! Refund of a closing table's pots to the players who paid them in.
//!
//! Specification: rules/SPEC.md §5.5.

use primitives::{Credits, CreditsOutOfRange, PlayerId, SeatNo};
use proto::event::v1 as pb;

use super::{Closing, Corrupt, Funding, Table, seat_no};
use crate::effects::Effect;
use serde::{Deserialize, Serialize};

/// Pending share of the pots for a player who has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AbsentShare {
    pub share: Credits,
    /// Transfer id, where it is not the first one.
    pub transfer: Option<[u8; 16]>,
    /// An operator sends the share to `house/suspense`, since the player's account takes nothing.
    pub to_suspense: bool,
}

/// Progress of a refund in several transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RefundProgress {
    /// Credits in both pots before the refund.
    pub pots: Credits,
    /// Last player who got a share.
    pub last: PlayerId,
}

impl Table {
    /// Sabacc Pot and carried pot after these shares. The Sabacc Pot is used up first.
    pub(crate) fn pots_after(
        &self,
        shares: &[(Option<SeatNo>, PlayerId, Credits)],
    ) -> Result<(Credits, Credits), CreditsOutOfRange> {
        let sum = Credits::sum(shares.iter().map(|(_, _, share)| *share))?;
        let of_sabacc = sum.min(self.sabacc_pot);
        let of_carried = sum.minus(of_sabacc)?;
        Ok((self.sabacc_pot.minus(of_sabacc)?, self.carried_pot.minus(of_carried)?))
    }

    pub(super) fn refund_due(&mut self, due: &pb::PotRefundDue) -> Result<(), Corrupt> {
        let pb::PotRefundDue { transfer_id, shares } = due;
        let mut parsed = Vec::new();
        for pb::RosterSeat { seat, player_id, stack, house: _ } in shares {
            let player = wire::field::player_id(player_id)?;
            let seat = if *seat == 0 { None } else { Some(seat_no(*seat)?) };
            parsed.push((seat, player, wire::field::credits("share", *stack)?));
        }
        let transfer = wire::field::exactly("transfer_id", transfer_id)?;
        self.closing = Closing::Refunding { transfer, shares: parsed };
        self.forget_stops(|effect| effect == Effect::Share);
        Ok(())
    }

    pub(super) fn pot_refunded(&mut self) -> Result<(), Corrupt> {
        let Closing::Refunding { shares, .. } =
            std::mem::replace(&mut self.closing, Closing::Refunded)
        else {
            return Err(Corrupt("a refund that was not due".to_owned()));
        };
        let corrupt = |error: CreditsOutOfRange| Corrupt(error.to_string());
        let before = self.sabacc_pot.plus(self.carried_pot).map_err(corrupt)?;
        (self.sabacc_pot, self.carried_pot) = self.pots_after(&shares).map_err(corrupt)?;
        let last = shares.last().map(|(_, player, _)| *player);
        for (number, player, share) in shares {
            let Some(number) = number else {
                let absent = AbsentShare { share, transfer: None, to_suspense: false };
                self.absent_shares.insert(player, absent);
                continue;
            };
            let seat = self.seat_mut(u32::from(number.get()))?;
            seat.stack = seat.stack.plus(share).map_err(corrupt)?;
        }
        if self.sabacc_pot.is_zero() && self.carried_pot.is_zero() {
            (self.refund_progress, self.closing) = (None, Closing::Refunded);
            self.paid_into_pot.clear();
        } else {
            let last = last.ok_or_else(|| Corrupt("a refund to nobody".to_owned()))?;
            let pots = self.refund_progress.map_or(before, |refunded| refunded.pots);
            (self.refund_progress, self.closing) =
                (Some(RefundProgress { pots, last }), Closing::Asked);
        }
        self.forget_stops(|effect| effect == Effect::Refund);
        Ok(())
    }

    /// Replaces the transfer of a stopped payment, and perhaps its destination.
    pub(crate) fn replace_transfer(
        &mut self,
        effect: Effect,
        transfer: [u8; 16],
        to_suspense: bool,
    ) -> Result<(), Corrupt> {
        let misfit = || Corrupt(format!("{effect:?} goes on and is not to be done"));
        match effect {
            Effect::CashOut { seat } => {
                let seat = self.seats.get_mut(&seat).ok_or_else(misfit)?;
                seat.funding = Funding::CashingOut { transfer, to_suspense };
            }
            Effect::PayAbsent { player } => {
                let absent = self.absent_shares.get_mut(&player).ok_or_else(misfit)?;
                *absent = AbsentShare { transfer: Some(transfer), to_suspense, ..*absent };
            }
            Effect::Refund => match &mut self.closing {
                Closing::Refunding { transfer: old, shares: _ } => *old = transfer,
                Closing::Open | Closing::Asked | Closing::Refunded | Closing::Closed => {
                    return Err(misfit());
                }
            },
            Effect::Commit { .. }
            | Effect::Fund { .. }
            | Effect::Start
            | Effect::CheckStanding
            | Effect::CloseEntropy { .. }
            | Effect::Burn { .. }
            | Effect::Seal { .. }
            | Effect::Chance { .. }
            | Effect::Leave { .. }
            | Effect::Settle { .. }
            | Effect::RecoverCards { .. }
            | Effect::Suspend { .. }
            | Effect::EndSuspended { .. }
            | Effect::Return { .. }
            | Effect::Post { .. }
            | Effect::Reveal { .. }
            | Effect::PayOut { .. }
            | Effect::Share
            | Effect::Close
            | Effect::CloseSpent
            | Effect::FollowGame
            | Effect::RemoveIdle { .. } => return Err(misfit()),
        }
        Ok(())
    }
}
