//! Refunds of the pots of a table that closes.

use ::ledger::Account;
use primitives::TableId;
use proto::event::v1 as pb;
use wire::field;

use super::super::effects::{Answer, Legs};
use super::{Books, Broken, Refund, Tables, broken};

impl Tables {
    /// Adds a refund of the pots to seats, the Sabacc Pot first: all of it, or as much as one
    /// transfer takes.
    pub(super) fn pot_refund(
        &mut self,
        table: TableId,
        due: &pb::PotRefundDue,
        books: &mut Books<'_>,
    ) -> Result<(), Broken> {
        let id = field::id("transfer_id", &due.transfer_id)?;
        let mut legs = Legs::new();
        let mut left: i128 = due.shares.iter().map(|share| i128::from(share.stack)).sum();
        for pot in [Account::SabaccPot(table), Account::CarriedPot(table)] {
            let of_it = left.min(self.of(pot));
            left -= of_it;
            legs.insert(pot, -of_it);
        }
        let mut absent = Vec::new();
        for pb::RosterSeat { seat, player_id, stack } in &due.shares {
            let player = field::player_id(player_id)?;
            if *seat == 0 {
                absent.push((player, i128::from(*stack)));
            }
            let account = Account::Seat(table, player);
            let sum = legs.entry(account).or_default();
            *sum = sum.saturating_add(i128::from(*stack));
        }
        legs.retain(|_, moved| *moved != 0);
        for (account, moved) in &legs {
            self.state(*account, *moved);
        }
        if !legs.is_empty() {
            self.refunds.insert(table, Refund { transfer: id, absent });
            books.effects.asked(id, ("the refund", legs), books.troubles);
        }
        if left == 0 {
            Ok(())
        } else {
            Err(broken(format!("the shares exceed the pots by {left}")))
        }
    }

    /// Ends a refund: shares of players who had left are paid on to their accounts.
    pub(super) fn pot_refunded(&mut self, table: TableId, answer: Answer, books: &mut Books<'_>) {
        let Some(Refund { transfer, absent }) = self.refunds.remove(&table) else { return };
        books.effects.answered(transfer, answer, books.troubles);
        for (player, share) in absent {
            let account = Account::Seat(table, player);
            self.state(account, -share);
            let legs = Legs::from([(account, -share), (Account::Player(player), share)]);
            books.effects.pay_out(account, legs, books.troubles);
        }
    }
}
