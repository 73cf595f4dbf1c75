//! Playing hands at random: for tests, simulations, bots and benchmarks.
//!
//! Every choice, of chance and of players, comes from one function: `choose(n)` returns a number
//! below `n`. Equal choices give equal hands.

use smallvec::SmallVec;

use crate::cards::Cards;
use crate::chance::{Chance, Deal, Outcome};
use crate::event::{DecisionAuthor, Event};
use crate::hand::{Decision, Hand, Next, decide, evolve, next, resolve_chance};
use crate::moves::{Move, MoveKind};
use crate::refusal::Refusal;

/// Returns a number below its argument, which is at least 1.
pub type Choose<'a> = dyn FnMut(u64) -> u64 + 'a;

/// A random outcome of the use of chance that is due; none if none is due.
pub fn random_outcome(hand: &Hand, choose: &mut Choose<'_>) -> Option<Outcome> {
    Some(match hand.due()? {
        Chance::Shuffle { .. } => Outcome::Shuffled,
        Chance::Deal(deal) => Outcome::Cards(random_cards(hand, deal, choose)),
        Chance::Roll { sides, .. } => {
            let face = |&sides: &u8| index(sides.into(), choose) + 1;
            let faces = sides.iter().map(face).filter_map(|face| u8::try_from(face).ok());
            Outcome::Rolled(faces.collect())
        }
        Chance::Pulse { ppm } => Outcome::Pulsed(choose(1_000_000) < u64::from(*ppm)),
        Chance::Pick { n, .. } => Outcome::Picked(below(*n, choose)),
        Chance::Sample { n, k, .. } => {
            let mut sample: SmallVec<[u32; 3]> = SmallVec::new();
            for taken in 0..*k {
                let mut item = below(n - taken, choose);
                let mut sorted = sample.clone();
                sorted.sort_unstable();
                for earlier in sorted {
                    item += u32::from(item >= earlier);
                }
                sample.push(item);
            }
            Outcome::Sampled(sample)
        }
    })
}

fn index(n: u64, choose: &mut Choose<'_>) -> usize {
    usize::try_from(choose(n)).unwrap_or(0)
}

fn below(n: u32, choose: &mut Choose<'_>) -> u32 {
    u32::try_from(choose(n.into())).unwrap_or(0)
}

fn random_cards(hand: &Hand, deal: &Deal, choose: &mut Choose<'_>) -> Cards {
    let mut cards = Cards::new();
    for part in &deal.parts {
        let start = cards.len();
        let mut there = hand.core.piles[usize::from(part.pile)].draw_pile();
        while part.count.needs_more(&cards[start..]) {
            if let Some(restock) = part.restock.as_ref().filter(|r| start + r.after == cards.len())
            {
                there = there.union(restock.cards.iter().copied().collect());
            }
            let size = u64::try_from(there.len()).unwrap_or(0);
            let Some(card) = there.nth(index(size.max(1), choose)) else { break };
            there = there.without(card);
            cards.push(card);
        }
    }
    cards
}

/// A random legal move. Three folds out of four are drawn again, so that hands last longer.
pub fn random_move(decision: &Decision, choose: &mut Choose<'_>) -> Move {
    let kinds = &decision.legal;
    let size = u64::try_from(kinds.len()).unwrap_or(1);
    let mut kind = &kinds[index(size, choose)];
    if kind.kind == MoveKind::Fold && choose(4) != 0 {
        kind = &kinds[index(size, choose)];
    }
    kind.random_move(choose)
}

/// Plays one random event and applies it; false if the hand is over. `each` sees the event before
/// it is applied.
///
/// # Errors
/// Never, if `choose` stays below its argument.
pub fn step(
    hand: &mut Hand,
    choose: &mut Choose<'_>,
    each: &mut dyn FnMut(&Hand, &Event),
) -> Result<bool, Refusal> {
    let event = if let Some(outcome) = random_outcome(hand, choose) {
        resolve_chance(hand, outcome)?
    } else {
        match next(hand) {
            Next::Decision(decision) => {
                let mv = random_move(&decision, choose);
                decide(hand, decision.player, mv, DecisionAuthor::Player)?
            }
            Next::Chance(_) | Next::Done(_) => return Ok(false),
        }
    };
    each(hand, &event);
    evolve(hand, &event);
    Ok(true)
}

/// Plays a hand to its end by random legal moves. `each` sees every event before it is applied.
///
/// # Errors
/// Never, if `choose` stays below its argument.
pub fn to_the_end(
    hand: &mut Hand,
    choose: &mut Choose<'_>,
    each: &mut dyn FnMut(&Hand, &Event),
) -> Result<(), Refusal> {
    while step(hand, choose, each)? {}
    Ok(())
}

/// Applies the shuffles that are due: they have no history line and show nothing.
pub fn apply_due_shuffles(hand: &mut Hand) {
    while let Some(Chance::Shuffle { .. }) = hand.due() {
        evolve(hand, &Event::Chance(Outcome::Shuffled));
    }
}
