//! Credits of the seats: buy-ins, cash-outs, and seats that become free.

use ::ledger::Account;
use eventlog_core::Event;
use primitives::{RequestId, TableId};
use proto::event::v1 as pb;
use wire::field;
use wire::records::SeatEvent;

use super::{Context, Inconsistent, Legs, Seat, Tables, answer_at, inconsistent};

impl Tables {
    pub(super) fn apply_to_seat(
        &mut self,
        event: &Event,
        of_seat: SeatEvent<'_>,
        books: &mut Context<'_>,
    ) -> Result<(), Inconsistent> {
        let table = TableId(event.stream.0);
        let place = (table, of_seat.seat());
        match of_seat {
            SeatEvent::SeatTaken(taken) => self.seat_taken(table, taken, books),
            SeatEvent::SeatFunded(_) => {
                let (id, _) = self.take_transfer(place)?;
                books.transfers.add_answer(id, answer_at(event), books.failures);
                Ok(())
            }
            SeatEvent::SeatRefused(_) => {
                let (id, amount) = self.take_transfer(place)?;
                books.transfers.add_refusal(id, books.failures);
                self.vacate_seat(place, -i128::from(amount))
            }
            SeatEvent::CashOutDue(due) => self.cash_out(table, due, books),
            SeatEvent::SeatVacated(_) => {
                if let Ok((id, _)) = self.take_transfer(place) {
                    books.transfers.add_answer(id, answer_at(event), books.failures);
                }
                self.vacate_seat(place, 0)
            }
            SeatEvent::LeaveAsked(_)
            | SeatEvent::SitOutChanged(_)
            | SeatEvent::StandingFound(_)
            | SeatEvent::SeatRenamed(_)
            | SeatEvent::SeatExcluded(_) => Ok(()),
        }
    }

    /// Takes the transfer of a seat that is under way.
    fn take_transfer(&mut self, place: (TableId, u32)) -> Result<(RequestId, u64), Inconsistent> {
        let seat = self.seats.get_mut(&place).ok_or_else(|| inconsistent("the seat is free"))?;
        seat.transfer.take().ok_or_else(|| inconsistent("no transfer of the seat is under way"))
    }

    fn seat_taken(
        &mut self,
        table: TableId,
        taken: &pb::SeatTaken,
        books: &mut Context<'_>,
    ) -> Result<(), Inconsistent> {
        let pb::SeatTaken { seat, player_id, buy_in, transfer_id, house: _ } = taken;
        let player = field::player_id(player_id)?;
        let id = field::id("transfer_id", transfer_id)?;
        let transfer = Some((id, *buy_in));
        if self.seats.insert((table, *seat), Seat { player, transfer }).is_some() {
            return Err(inconsistent(format!("seat {seat} is taken already")));
        }
        let (account, amount) = (Account::Seat(table, player), i128::from(*buy_in));
        self.add_stated(account, amount);
        let legs = Legs::from([(Account::Player(player), -amount), (account, amount)]);
        books.transfers.add_request(id, "the buy-in", legs, books.failures);
        Ok(())
    }

    fn cash_out(
        &mut self,
        table: TableId,
        due: &pb::CashOutDue,
        books: &mut Context<'_>,
    ) -> Result<(), Inconsistent> {
        let pb::CashOutDue { seat, amount, transfer_id } = due;
        let id = field::id("transfer_id", transfer_id)?;
        let place =
            self.seats.get_mut(&(table, *seat)).ok_or_else(|| inconsistent("the seat is free"))?;
        place.transfer = Some((id, *amount));
        let (player, amount) = (place.player, i128::from(*amount));
        let account = Account::Seat(table, player);
        let stack = self.stated_amount(account);
        self.add_stated(account, -amount);
        let legs = Legs::from([(account, -amount), (Account::Player(player), amount)]);
        books.transfers.add_request(id, "the cash-out", legs, books.failures);
        let whole = stack == amount;
        if whole {
            Ok(())
        } else {
            Err(inconsistent(format!("{amount} of a stack of {stack} are paid out")))
        }
    }

    /// Frees a seat; no credits may be left on its account.
    fn vacate_seat(&mut self, place: (TableId, u32), by: i128) -> Result<(), Inconsistent> {
        let seat = self.seats.remove(&place).ok_or_else(|| inconsistent("the seat is free"))?;
        self.clear_stops(place.0, |stop| stop.seat == place.1);
        let account = Account::Seat(place.0, seat.player);
        self.add_stated(account, by);
        match self.stated_amount(account) {
            0 => {
                self.stated.remove(&account);
                Ok(())
            }
            left => Err(inconsistent(format!("the seat is left with {left} credits on it"))),
        }
    }
}
