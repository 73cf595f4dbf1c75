//! Refunds of the pots of a table that closes.

use ::ledger::Account;
use primitives::TableId;
use proto::event::v1 as pb;
use wire::field;

use super::super::transfers::{Legs, WalletAnswer};
use super::{Context, Inconsistent, Refund, Tables, inconsistent};

impl Tables {
    /// Adds a refund of the pots to seats, the Sabacc Pot first: all of it, or as much as one
    /// transfer takes.
    pub(super) fn pot_refund(
        &mut self,
        table: TableId,
        due: &pb::PotRefundDue,
        books: &mut Context<'_>,
    ) -> Result<(), Inconsistent> {
        let id = field::id("transfer_id", &due.transfer_id)?;
        let mut legs = Legs::new();
        let mut left: i128 = due.shares.iter().map(|share| i128::from(share.stack)).sum();
        for pot in [Account::SabaccPot(table), Account::CarriedPot(table)] {
            let amount = left.min(self.stated_amount(pot));
            left -= amount;
            legs.insert(pot, -amount);
        }
        let mut absent = Vec::new();
        for pb::RosterSeat { seat, player_id, stack, house: _ } in &due.shares {
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
            self.add_stated(*account, *moved);
        }
        if !legs.is_empty() {
            self.refunds.insert(table, Refund { transfer: id, absent });
            books.transfers.add_request(id, "the refund", legs, books.failures);
        }
        if left == 0 {
            Ok(())
        } else {
            Err(inconsistent(format!("the shares exceed the pots by {left}")))
        }
    }

    /// Ends a refund: shares of players who had left are paid on to their accounts.
    pub(super) fn pot_refunded(
        &mut self,
        table: TableId,
        answer: WalletAnswer,
        books: &mut Context<'_>,
    ) {
        let Some(Refund { transfer, absent }) = self.refunds.remove(&table) else { return };
        books.transfers.add_answer(transfer, answer, books.failures);
        for (player, share) in absent {
            let account = Account::Seat(table, player);
            self.add_stated(account, -share);
            let legs = Legs::from([(account, -share), (Account::Player(player), share)]);
            books.transfers.add_absent_payment(account, legs, books.failures);
        }
    }
}
