//! Effects that had stopped: payments that go on under another id, or to `house/suspense`.

use ::ledger::Account;
use primitives::{PlayerId, RequestId, TableId};
use proto::common::v1::{EffectKind, Resolution};
use proto::event::v1 as pb;
use wire::field;

use super::super::transfers::Legs;
use super::{Context, Inconsistent, Tables, inconsistent};

impl Tables {
    pub(super) fn stopped(&mut self, table: TableId, stopped: &pb::EffectStopped) {
        if let Some(effect) = &stopped.effect {
            let what = crate::stops::describe_effect(effect.kind(), effect.hand_no, effect.seat);
            let text = format!("{what} of table {table} has stopped: {}", stopped.why);
            self.stops.insert((table, key(effect)), text);
        }
    }

    /// Describes the effects that have stopped and were neither resumed nor made obsolete.
    pub(in super::super) fn describe_stopped(&self) -> Vec<String> {
        self.stops.values().cloned().collect()
    }

    pub(super) fn resumed(
        &mut self,
        table: TableId,
        resumed: &pb::EffectResumed,
        books: &mut Context<'_>,
    ) -> Result<(), Inconsistent> {
        let Some(effect) = &resumed.effect else { return Ok(()) };
        if self.stops.remove(&(table, key(effect))).is_none() {
            return Err(inconsistent("what goes on had not stopped"));
        }
        if resumed.transfer_id.is_empty() {
            return Ok(());
        }
        let id: RequestId = field::id("transfer_id", &resumed.transfer_id)?;
        let suspense = resumed.resolution() == Resolution::PayToSuspense;
        match effect.kind() {
            EffectKind::CashOut => self.change_cash_out((table, effect.seat), id, suspense, books),
            EffectKind::PayAbsent => {
                let player = field::player_id(&effect.player_id)?;
                self.change_absent_payment(table, player, suspense, books)
            }
            EffectKind::Refund => {
                let refund = self.refunds.get_mut(&table);
                let refund = refund.ok_or_else(|| inconsistent("no refund is under way"))?;
                let old = std::mem::replace(&mut refund.transfer, id);
                books.transfers.change_id(old, id, None, books.failures);
                Ok(())
            }
            EffectKind::Unspecified
            | EffectKind::Commit
            | EffectKind::Fund
            | EffectKind::Start
            | EffectKind::CloseEntropy
            | EffectKind::Burn
            | EffectKind::Seal
            | EffectKind::Chance
            | EffectKind::Leave
            | EffectKind::Settle
            | EffectKind::Suspend
            | EffectKind::EndSuspended
            | EffectKind::Return
            | EffectKind::RecoverCards
            | EffectKind::Post
            | EffectKind::Reveal
            | EffectKind::PayOut
            | EffectKind::Share
            | EffectKind::Close
            | EffectKind::CloseSpent
            | EffectKind::FollowGame
            | EffectKind::RemoveIdle
            | EffectKind::CheckStanding => Err(inconsistent("only a payment can get another id")),
        }
    }

    fn change_cash_out(
        &mut self,
        place: (TableId, u32),
        id: RequestId,
        suspense: bool,
        books: &mut Context<'_>,
    ) -> Result<(), Inconsistent> {
        let seat = self.seats.get_mut(&place).ok_or_else(|| inconsistent("the seat is free"))?;
        let (old, amount) = seat
            .transfer
            .replace((id, 0))
            .ok_or_else(|| inconsistent("the seat is not paid out"))?;
        seat.transfer = Some((id, amount));
        let (player, amount) = (seat.player, i128::from(amount));
        let legs = payment_legs(place.0, player, amount, suspense);
        books.transfers.change_id(old, id, Some(legs), books.failures);
        if suspense {
            self.add_stated(Account::Suspense, amount);
        }
        Ok(())
    }

    fn change_absent_payment(
        &mut self,
        table: TableId,
        player: PlayerId,
        suspense: bool,
        books: &mut Context<'_>,
    ) -> Result<(), Inconsistent> {
        let account = Account::Seat(table, player);
        let amount = books.transfers.absent_amount(account);
        let amount = amount.ok_or_else(|| inconsistent("the player has no share to come"))?;
        books.transfers.redirect_absent(account, payment_legs(table, player, amount, suspense));
        if suspense {
            self.add_stated(Account::Suspense, amount);
        }
        Ok(())
    }

    /// Removes stopped effects that are obsolete, because their hand is over or their seat is free.
    pub(super) fn clear_stops(&mut self, table: TableId, over: impl Fn(&EffectKey) -> bool) {
        self.stops.retain(|(of, key), _| *of != table || !over(key));
    }
}

/// Key of an effect at its table.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EffectKey {
    pub(super) kind: i32,
    pub(super) hand_no: u64,
    pub(super) seat: u32,
    player: Vec<u8>,
    version: u64,
}

fn key(effect: &pb::Effect) -> EffectKey {
    let pb::Effect { kind, hand_no, seat, player_id, version } = effect;
    EffectKey {
        kind: *kind,
        hand_no: *hand_no,
        seat: *seat,
        player: player_id.to_vec(),
        version: *version,
    }
}

fn payment_legs(table: TableId, player: PlayerId, amount: i128, suspense: bool) -> Legs {
    let to = if suspense { Account::Suspense } else { Account::Player(player) };
    Legs::from([(Account::Seat(table, player), -amount), (to, amount)])
}
