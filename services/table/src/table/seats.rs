//! Events of seats: taken, funded, left; and the stacks after a hand.

use primitives::{Credits, UnixMicros};
use proto::event::v1 as pb;

use super::{Corrupt, Funding, REMEMBERED_REFUSALS, Seat, Table, seat_no};
use crate::effects::Effect;
use crate::stops;

impl Table {
    pub(super) fn seat_taken(&mut self, taken: &pb::SeatTaken) -> Result<(), Corrupt> {
        let pb::SeatTaken { seat, player_id, buy_in, transfer_id } = taken;
        let transfer = wire::field::exactly("transfer_id", transfer_id)?;
        let amount = wire::field::credits("buy_in", *buy_in)?;
        let seat = seat_no(*seat)?;
        let player = wire::field::player_id(player_id)?;
        self.seats.insert(
            seat,
            Seat {
                player,
                stack: Credits::ZERO,
                funding: Funding::BuyingIn { transfer, amount },
                sitting_out: false,
                leaving: false,
                missed_clocks: 0,
                idle_since: None,
                standing: None,
            },
        );
        Ok(())
    }

    pub(super) fn seat_funded(&mut self, number: u32) -> Result<(), Corrupt> {
        let seat = self.seat_mut(number)?;
        let Funding::BuyingIn { transfer, amount } = seat.funding else {
            return Err(Corrupt(format!("seat {number} was funded twice")));
        };
        seat.stack = amount;
        seat.funding = Funding::AtTable;
        self.funded_transfers.insert(seat_no(number)?, transfer);
        Ok(())
    }

    pub(super) fn seat_refused(&mut self, refused: &pb::SeatRefused) -> Result<(), Corrupt> {
        let pb::SeatRefused { seat, reason: _, text: _ } = refused;
        if let Funding::BuyingIn { transfer, .. } = self.seat_mut(*seat)?.funding {
            if self.refusals.len() == REMEMBERED_REFUSALS {
                self.refusals.remove(0);
            }
            self.refusals.push((transfer, refused.clone()));
        }
        let number = seat_no(*seat)?;
        self.seats.remove(&number);
        self.forget_stops(|debt| stops::is_of_seat(debt, number));
        Ok(())
    }

    pub(super) fn hand_finished(
        &mut self,
        finished: &pb::HandFinished,
        at: UnixMicros,
    ) -> Result<(), Corrupt> {
        let pb::HandFinished {
            hand_no: _,
            hand_id: _,
            seats,
            sabacc_pot,
            carried_pot,
            sabacc_paid,
            sabacc_won,
            misses,
            aborted,
        } = finished;
        self.finished_at = Some(at);
        let over = self.hand_no;
        self.forget_stops(|debt| {
            // In older logs the end of a hand stands beside its settlement, which may still have to
            // be posted.
            stops::is_of_hand(debt, over) && (*aborted || !matches!(debt, Effect::Post { .. }))
        });
        match &mut self.hand {
            Some(hand) if !aborted && !hand.posted => hand.finished = true,
            Some(_) | None => self.hand = None,
        }
        if *aborted {
            // Stacks and pots never changed.
            return Ok(());
        }
        if *sabacc_won {
            self.paid_into_pot.clear();
        }
        self.last_roster.clear();
        for (index, pb::RosterSeat { seat, player_id, stack }) in seats.iter().enumerate() {
            let player = wire::field::player_id(player_id)?;
            self.last_roster.push(player);
            let stack = wire::field::credits("stack", *stack)?;
            let entry = self.seat_mut(*seat)?;
            entry.stack = stack;
            entry.missed_clocks = misses.get(index).copied().unwrap_or(0);
            let paid = sabacc_paid.get(index).copied().unwrap_or(0);
            let paid = wire::field::credits("sabacc_paid", paid)?;
            if !paid.is_zero() {
                let sum = self.paid_into_pot.entry(player).or_default();
                *sum = sum.plus(paid).map_err(|error| Corrupt(error.to_string()))?;
            }
        }
        self.sabacc_pot = wire::field::credits("sabacc_pot", *sabacc_pot)?;
        self.carried_pot = wire::field::credits("carried_pot", *carried_pot)?;
        if let Some(last) = seats.last() {
            self.button = Some(seat_no(last.seat)?);
        }
        self.note_idle(at);
        Ok(())
    }
}
