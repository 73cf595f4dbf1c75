//! Choice of the cards of a deal that is due.

use std::collections::VecDeque;

use fairness::{Handle, Shoe};
use rules::{CardCount, Deal};
use wire::HandReplay;
use wire::card_positions::PositionError;
use wire::replay::DealLayout;

/// Lays out a deal like a table that knows the shoe. The replay is not changed.
pub(crate) fn lay_out(
    replay: &HandReplay,
    shoe: &Shoe,
    deal: &Deal,
) -> Result<DealLayout, PositionError> {
    let mut places = replay.positions.clone();
    match deal.parts[..] {
        [ref part] if matches!(part.count, CardCount::UntilOneOf(_)) => Ok(DealLayout {
            restocks: VecDeque::new(),
            positions: draw_until(replay, shoe, &part.count, places.remaining_positions(part.pile)),
        }),
        _ => places.take_layout(deal),
    }
}

fn draw_until(
    replay: &HandReplay,
    shoe: &Shoe,
    count: &CardCount,
    pile: Vec<Handle>,
) -> Vec<Handle> {
    let deck = replay.hand.rules().variant().deck;
    let mut cards = Vec::new();
    let more = |handle: &Handle| {
        let wanted = count.needs_more(&cards);
        cards.extend(shoe.card_at(*handle).ok().and_then(|id| deck.card(id)));
        wanted
    };
    pile.into_iter().take_while(more).collect()
}
