//! Effects that had stopped: payments that go on under another id, or to `house/suspense`.

use ::ledger::Account;
use primitives::{PlayerId, RequestId, TableId};
use proto::event::v1::{self as pb, EffectKind, Resolution};
use wire::field;

use super::super::effects::Legs;
use super::{Books, Broken, Tables, broken};

impl Tables {
    pub(super) fn stopped(&mut self, table: TableId, stopped: &pb::EffectStopped) {
        if let Some(effect) = &stopped.effect {
            let what = crate::stops::in_words(effect);
            let text = format!("{what} of table {table} has stopped: {}", stopped.why);
            self.stops.insert((table, key(effect)), text);
        }
    }

    /// Describes the effects that have stopped and were neither resumed nor made obsolete.
    pub(in super::super) fn still_stopped(&self) -> Vec<String> {
        self.stops.values().cloned().collect()
    }

    pub(super) fn resumed(
        &mut self,
        table: TableId,
        resumed: &pb::EffectResumed,
        books: &mut Books<'_>,
    ) -> Result<(), Broken> {
        let Some(effect) = &resumed.effect else { return Ok(()) };
        if self.stops.remove(&(table, key(effect))).is_none() {
            return Err(broken("what goes on had not stopped"));
        }
        if resumed.transfer_id.is_empty() {
            return Ok(());
        }
        let id: RequestId = field::id("transfer_id", &resumed.transfer_id)?;
        let suspense = resumed.resolution() == Resolution::PayToSuspense;
        match effect.kind() {
            EffectKind::CashOut => self.cash_out_anew((table, effect.seat), id, suspense, books),
            EffectKind::PayAbsent => {
                let player = field::player_id(&effect.player_id)?;
                self.absent_anew((table, player), suspense, books)
            }
            EffectKind::Refund => {
                let refund = self.refunds.get_mut(&table);
                let refund = refund.ok_or_else(|| broken("no refund is under way"))?;
                let old = std::mem::replace(&mut refund.transfer, id);
                books.effects.renamed(old, id, None, books.troubles);
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
            | EffectKind::Abandon
            | EffectKind::Post
            | EffectKind::Reveal
            | EffectKind::PayOut
            | EffectKind::Share
            | EffectKind::Close
            | EffectKind::RemoveIdle
            | EffectKind::CheckStanding => Err(broken("only a payment can get another id")),
        }
    }

    fn cash_out_anew(
        &mut self,
        place: (TableId, u32),
        id: RequestId,
        suspense: bool,
        books: &mut Books<'_>,
    ) -> Result<(), Broken> {
        let seat = self.seats.get_mut(&place).ok_or_else(|| broken("the seat is free"))?;
        let (old, amount) =
            seat.transfer.replace((id, 0)).ok_or_else(|| broken("the seat is not paid out"))?;
        seat.transfer = Some((id, amount));
        let (player, amount) = (seat.player, i128::from(amount));
        let legs = payment(place.0, player, amount, suspense);
        books.effects.renamed(old, id, Some(legs), books.troubles);
        if suspense {
            self.state(Account::Suspense, amount);
        }
        Ok(())
    }

    fn absent_anew(
        &mut self,
        (table, player): (TableId, PlayerId),
        suspense: bool,
        books: &mut Books<'_>,
    ) -> Result<(), Broken> {
        let account = Account::Seat(table, player);
        let amount = books.effects.nameless_amount(account);
        let amount = amount.ok_or_else(|| broken("the player has no share to come"))?;
        books.effects.pay_elsewhere(account, payment(table, player, amount, suspense));
        if suspense {
            self.state(Account::Suspense, amount);
        }
        Ok(())
    }

    /// Removes stopped effects that are obsolete, because their hand is over or their seat is free.
    pub(super) fn overtaken(&mut self, table: TableId, over: impl Fn(&Key) -> bool) {
        self.stops.retain(|(of, key), _| *of != table || !over(key));
    }
}

/// Key of an effect at its table.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) kind: i32,
    pub(super) hand_no: u64,
    pub(super) seat: u32,
    player: Vec<u8>,
    version: u64,
}

fn key(effect: &pb::Effect) -> Key {
    let pb::Effect { kind, hand_no, seat, player_id, version } = effect;
    Key {
        kind: *kind,
        hand_no: *hand_no,
        seat: *seat,
        player: player_id.to_vec(),
        version: *version,
    }
}

fn payment(table: TableId, player: PlayerId, amount: i128, suspense: bool) -> Legs {
    let to = if suspense { Account::Suspense } else { Account::Player(player) };
    Legs::from([(Account::Seat(table, player), -amount), (to, amount)])
}
