//! Events of seats: taken, funded, left; and the stacks after a hand.

use primitives::{Credits, UnixMicros};
use proto::event::v1 as pb;

use super::{Corrupt, Funding, REMEMBERED_REFUSALS, Seat, Table, seat_no};
use crate::effects::Effect;
use crate::reasons::{LeaveReason, SitOutReason};
use wire::records::SeatEvent;

impl Table {
    pub(super) fn evolve_seat(
        &mut self,
        event: SeatEvent<'_>,
        at: UnixMicros,
    ) -> Result<(), Corrupt> {
        match event {
            SeatEvent::SeatTaken(taken) => self.seat_taken(taken, at)?,
            SeatEvent::SeatFunded(pb::SeatFunded { seat }) => self.seat_funded(*seat)?,
            SeatEvent::SeatRefused(refused) => self.seat_refused(refused)?,
            SeatEvent::LeaveAsked(leave) => {
                self.seat_mut(leave.seat)?.leaving = true;
                let seat = seat_no(leave.seat)?;
                match LeaveReason::of(leave) {
                    Some(LeaveReason::Asked) => self.leave_asked(leave)?,
                    Some(LeaveReason::Idle) => self.note_idled(seat, at),
                    Some(LeaveReason::Standing) | None => {}
                }
                self.forget_stops(|effect| effect == Effect::RemoveIdle { seat });
            }
            SeatEvent::CashOutDue(pb::CashOutDue { seat, amount: _, transfer_id }) => {
                let transfer = wire::field::exactly("transfer_id", transfer_id)?;
                self.seat_mut(*seat)?.funding =
                    Funding::CashingOut { transfer, to_suspense: false };
                let seat = seat_no(*seat)?;
                self.forget_stops(|effect| effect == Effect::PayOut { seat });
            }
            SeatEvent::SeatVacated(pb::SeatVacated { seat }) => {
                let number = seat_no(*seat)?;
                let vacated = self.seats.remove(&number);
                vacated.ok_or_else(|| Corrupt(format!("seat {number} is vacated twice")))?;
                self.forget_stops(|effect| effect.is_of_seat(number));
            }
            SeatEvent::SitOutChanged(changed) => {
                self.sit_out_changed(changed, at)?;
                self.note_idle(at);
            }
            SeatEvent::SeatRenamed(pb::SeatRenamed { seat }) => drop(self.seat_mut(*seat)?),
            SeatEvent::SeatExcluded(excluded) => {
                self.seat_mut(excluded.seat)?;
                self.exclusions.record(excluded)?;
            }
            SeatEvent::StandingFound(found) => {
                let nothing = crate::standing::says_nothing(found);
                self.seat_mut(found.seat)?.standing = (!nothing).then(|| found.clone());
            }
        }
        Ok(())
    }

    fn sit_out_changed(
        &mut self,
        changed: &pb::SitOutChanged,
        at: UnixMicros,
    ) -> Result<(), Corrupt> {
        let pb::SitOutChanged { seat, sitting_out, why: _ } = changed;
        let number = seat_no(*seat)?;
        let excluded = SitOutReason::of(changed) == Some(SitOutReason::Excluded);
        let seat = self.seat_mut(*seat)?;
        if !sitting_out {
            seat.ready_at = at;
        }
        seat.sitting_out = *sitting_out;
        seat.is_excluded = *sitting_out && excluded;
        seat.missed_clocks = 0;
        self.forget_stops(|effect| effect == Effect::Return { seat: number });
        Ok(())
    }

    pub(super) fn seat_taken(
        &mut self,
        taken: &pb::SeatTaken,
        at: UnixMicros,
    ) -> Result<(), Corrupt> {
        let pb::SeatTaken { seat, player_id, buy_in, transfer_id, house } = taken;
        let transfer = wire::field::exactly("transfer_id", transfer_id)?;
        let amount = wire::field::credits("buy_in", *buy_in)?;
        let seat = seat_no(*seat)?;
        let player = wire::field::player_id(player_id)?;
        self.seats.insert(
            seat,
            Seat {
                player,
                is_house: *house,
                ready_at: at,
                stack: Credits::ZERO,
                funding: Funding::BuyingIn { transfer, amount },
                sitting_out: false,
                is_excluded: false,
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
        let Funding::BuyingIn { transfer: _, amount } = seat.funding else {
            return Err(Corrupt(format!("seat {number} was funded twice")));
        };
        seat.stack = amount;
        seat.funding = Funding::AtTable;
        Ok(())
    }

    pub(super) fn seat_refused(&mut self, refused: &pb::SeatRefused) -> Result<(), Corrupt> {
        let pb::SeatRefused { seat, reason: _, padding: _, text: _ } = refused;
        if let Funding::BuyingIn { transfer, .. } = self.seat_mut(*seat)?.funding {
            if self.refusals.len() == REMEMBERED_REFUSALS {
                self.refusals.remove(0);
            }
            self.refusals.push((transfer, refused.clone()));
        }
        let number = seat_no(*seat)?;
        self.seats.remove(&number);
        self.forget_stops(|effect| effect.is_of_seat(number));
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
        self.forget_stops(|effect| effect.is_of_hand(over));
        self.hand = None;
        if *aborted {
            // Stacks and pots never changed.
            return Ok(());
        }
        if *sabacc_won {
            self.paid_into_pot.clear();
        }
        self.last_roster.clear();
        for (index, pb::RosterSeat { seat, player_id, stack, house: _ }) in seats.iter().enumerate()
        {
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
