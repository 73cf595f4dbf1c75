//! Chance that was due when a hand came to nothing.
//!
//! The dealer is asked before the table records the answer. So of a hand that stopped in between,
//! the dealer may have performed and revealed what the rules called for next, up to the next
//! decision, and nothing after it.

use rules::{Chance, Deal, Next, To};
use wire::{HandReplay, Recorded};

use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use wire::places::handle_to_pb;

use super::{Dealt, Walker, without_face};
use crate::dealing;
use crate::hand::chance;

impl Walker {
    pub(super) fn look_ahead(&mut self) {
        let mut replay = self.before_restock.take().unwrap_or_else(|| self.replay.clone());
        while let Next::Chance([due, ..]) = rules::next(&replay.hand) {
            let due = due.clone();
            if self.foresee(&mut replay, &due).is_none() {
                break;
            }
        }
    }

    fn foresee(&mut self, replay: &mut HandReplay, due: &Chance) -> Option<()> {
        let Chance::Deal(deal) = due else {
            let operation = replay.places.clone().ask(due).ok()?;
            return self.foresee_operation(replay, operation, false);
        };
        let layout = dealing::lay_out(replay, &self.shoe, deal).ok()?;
        for restock in layout.restocks {
            self.foresee_operation(replay, restock, true)?;
        }
        self.foresee_deal(replay, deal, layout.places)
    }

    fn foresee_operation(
        &mut self,
        replay: &mut HandReplay,
        operation: dealer::Operation,
        restock: bool,
    ) -> Option<()> {
        let answer = self.shoe.perform(operation.index, &chance::ask(&operation)?).ok()?;
        let result = chance::result(operation.index, &answer, self.proved_cards);
        self.out.ahead.push((operation.clone(), result.clone()));
        let used = pb::ChanceUsed { operation: Some(operation), result: Some(result), restock };
        replay.apply(&Recorded::ChanceUsed(used), &|_| None).ok().map(|_| ())
    }

    fn foresee_deal(
        &mut self,
        replay: &mut HandReplay,
        deal: &Deal,
        places: Vec<fairness::Handle>,
    ) -> Option<()> {
        let seat = replay.recipient(deal.to);
        let open = deal.shown || deal.to == To::Table;
        let card = |place: &fairness::Handle| {
            let dealer::Handle { op, position } = handle_to_pb(*place);
            without_face(op, position)
        };
        let moved = pb::CardsMoved { seat, cards: places.iter().map(card).collect() };
        let (shoe, deck) = (&self.shoe, self.out.deck);
        let face = |place| deck.and_then(|deck| deck.card(shoe.reopen(place).ok()?));
        replay.apply(&Recorded::CardsMoved(moved), &face).ok()?;
        let audience = if open { 0 } else { seat };
        self.out.deals.push(Dealt { places, audience, since: self.since, certain: false });
        Some(())
    }
}
