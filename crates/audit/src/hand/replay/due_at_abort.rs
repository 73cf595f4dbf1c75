//! Chance that was due when a hand came to nothing.
//!
//! The dealer is asked before the table records the answer. So of a hand that stopped in between,
//! the dealer may have performed and revealed what the rules called for next, up to the next
//! decision, and nothing after it.

use rules::{Chance, Deal, Destination, Next};
use wire::{HandReplay, TableRecord};

use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use wire::card_positions::handle_to_pb;

use super::{DealtCards, Replayer, without_face};
use crate::dealing;
use crate::hand::chance;

impl Replayer {
    pub(super) fn replay_due_at_abort(&mut self) {
        let mut replay = self.before_restock.take().unwrap_or_else(|| self.replay.clone());
        while let Next::Chance([due, ..]) = rules::next(&replay.hand) {
            let due = due.clone();
            self.findings.work.played(1);
            if self.replay_due(&mut replay, &due).is_none() {
                break;
            }
        }
    }

    fn replay_due(&mut self, replay: &mut HandReplay, due: &Chance) -> Option<()> {
        let Chance::Deal(deal) = due else {
            let operation = replay.positions.clone().operation_for(due).ok()?;
            return self.replay_due_operation(replay, operation, false);
        };
        let layout = dealing::lay_out(replay, &self.shoe, deal).ok()?;
        for restock in layout.restocks {
            self.replay_due_operation(replay, restock, true)?;
        }
        self.replay_due_deal(replay, deal, layout.positions)
    }

    fn replay_due_operation(
        &mut self,
        replay: &mut HandReplay,
        operation: dealer::Operation,
        restock: bool,
    ) -> Option<()> {
        let answer =
            self.shoe.perform(operation.index, &chance::parse_operation(&operation)?).ok()?;
        self.findings.work.dealt(chance::size(&answer));
        let result = chance::result(operation.index, &answer, true);
        self.findings.due_at_abort.push((operation.clone(), result.clone()));
        let used = pb::ChanceUsed { operation: Some(operation), result: Some(result), restock };
        replay.apply(&TableRecord::ChanceUsed(used), &|_| None).ok().map(|_| ())
    }

    fn replay_due_deal(
        &mut self,
        replay: &mut HandReplay,
        deal: &Deal,
        places: Vec<fairness::Handle>,
    ) -> Option<()> {
        let seat = replay.recipient(deal.to);
        let open = deal.shown || deal.to == Destination::Table;
        let card = |handle: &fairness::Handle| {
            let dealer::Handle { op, position } = handle_to_pb(*handle);
            without_face(op, position)
        };
        let moved = pb::CardsMoved { seat, cards: places.iter().map(card).collect() };
        let (shoe, deck) = (&self.shoe, self.findings.deck);
        let face = |handle| deck.and_then(|deck| deck.card(shoe.card_at_any(handle).ok()?));
        replay.apply(&TableRecord::CardsMoved(moved), &face).ok()?;
        let audience = if open { 0 } else { seat };
        self.findings.deals.push(DealtCards {
            places,
            audience,
            needed_since: self.since,
            is_recorded: false,
        });
        Some(())
    }
}
