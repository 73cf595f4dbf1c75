//! Choice of the cards of a deal that is due.

use std::collections::VecDeque;

use fairness::{Handle, Shoe};
use rules::{Count, Deal};
use wire::HandReplay;
use wire::places::Misplaced;
use wire::replay::Layout;

/// Lays out a deal like a table that knows the shoe. The replay is not changed.
pub(crate) fn lay_out(replay: &HandReplay, shoe: &Shoe, deal: &Deal) -> Result<Layout, Misplaced> {
    let mut places = replay.places.clone();
    match deal.parts[..] {
        [ref part] if matches!(part.count, Count::UntilOneOf(_)) => Ok(Layout {
            restocks: VecDeque::new(),
            places: until((replay, shoe), &part.count, places.rest(part.pile)),
        }),
        _ => places.lay_out(deal),
    }
}

fn until((replay, shoe): (&HandReplay, &Shoe), count: &Count, pile: Vec<Handle>) -> Vec<Handle> {
    let deck = replay.hand.rules().variant().deck;
    let mut cards = Vec::new();
    let more = |place: &Handle| {
        let wanted = count.more(&cards);
        cards.extend(shoe.open(*place).ok().and_then(|id| deck.card(id)));
        wanted
    };
    pile.into_iter().take_while(more).collect()
}
