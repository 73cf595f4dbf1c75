//! The Sabacc Pot of a table that closes, on its way back to who paid it in.

use primitives::Credits;
use proto::event::v1 as pb;

use super::{Closing, Damaged, Table, seat_no};

impl Table {
    pub(super) fn refund_due(&mut self, due: &pb::PotRefundDue) -> Result<(), Damaged> {
        let pb::PotRefundDue { transfer_id, shares } = due;
        let mut parsed = Vec::new();
        for pb::RosterSeat { seat, player_id, stack } in shares {
            let player = wire::field::player_id(player_id)?;
            let seat = if *seat == 0 { None } else { Some(seat_no(*seat)?) };
            parsed.push((seat, player, wire::field::credits("share", *stack)?));
        }
        let transfer = wire::field::exactly("transfer_id", transfer_id)?;
        self.closing = Closing::Refunding { transfer, shares: parsed };
        Ok(())
    }

    pub(super) fn pot_refunded(&mut self) -> Result<(), Damaged> {
        let Closing::Refunding { shares, .. } =
            std::mem::replace(&mut self.closing, Closing::Refunded)
        else {
            return Err(Damaged("a refund that was not due".to_owned()));
        };
        for (number, player, share) in shares {
            let Some(number) = number else {
                self.absent.insert(player, share);
                continue;
            };
            let seat = self.seat_mut(u32::from(number.get()))?;
            seat.stack = seat.stack.plus(share).map_err(|error| Damaged(error.to_string()))?;
        }
        self.sabacc_pot = Credits::ZERO;
        self.carried_pot = Credits::ZERO;
        self.paid.clear();
        Ok(())
    }
}
