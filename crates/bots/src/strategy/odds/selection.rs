//! Coruscant Shift: selects cards for the dice, with regard to the redraw.

use proto::common::v1::{Move, MoveKind};
use rand::RngExt;
use rand::rngs::StdRng;
use rules::{Card, Cards, CoruscantState, Strength};

use super::bets::{Estimate, bet};
use super::deal::{Packs, Rivals, Tally, deal_count};
use super::situation::{Opponent, Situation};
use super::{card_move, find_legal};

/// Number of cards in a hand.
const HAND_SIZE: usize = 5;
/// Number of selections that are tried for each opponent.
const RIVAL_SELECTIONS: usize = 3;

pub(super) fn choose(
    situation: &Situation<'_>,
    state: &CoruscantState,
    generator: &mut StdRng,
) -> Option<Move> {
    let legal = situation.legal;
    if let Some(select) = find_legal(legal, MoveKind::Select) {
        let cards = held_cards(situation, &select.cards);
        let plans: Vec<Plan> =
            subsets(&cards).filter(|chosen| !chosen.is_empty()).map(Plan::with_redraw).collect();
        return best_plan(situation, &plans, generator)
            .map(|plan| move_with_cards(situation, MoveKind::Select, &plan.chosen));
    }
    if let Some(add) = find_legal(legal, MoveKind::Add) {
        let new = held_cards(situation, &add.cards);
        let selected: Cards =
            situation.hand.iter().copied().filter(|card| !new.contains(card)).collect();
        let plans: Vec<(Plan, Cards)> = subsets(&new)
            .map(|added| (Plan::of(selected.iter().chain(&added).copied().collect()), added))
            .collect();
        let only: Vec<Plan> = plans.iter().map(|(plan, _)| plan.clone()).collect();
        let best = best_plan(situation, &only, generator)?;
        let added = plans.iter().find(|(plan, _)| plan.chosen == best.chosen)?;
        return Some(move_with_cards(situation, MoveKind::Add, &added.1));
    }
    find_legal(legal, MoveKind::Fold)?;
    let selected = selected_cards(situation, state);
    let plan = if selected.is_empty() {
        return None;
    } else if situation.round < 2 {
        Plan::with_redraw(selected)
    } else {
        // After the redraw any card outside the selection may be added.
        let new = situation.hand.iter().copied().filter(|card| !selected.contains(card)).collect();
        Plan { chosen: selected, new, redraw: 0 }
    };
    let tally = evaluate(situation, &[plan], generator)[0];
    let others = situation.opponents.len();
    let equity = tally.equity();
    let chances = Estimate { equity, prize: 0, penalty: 0, fold_cost: 0, opponents: others };
    bet(legal, situation.money, chances)
}

/// Returns the viewer's selection, in the cards of their hand.
fn selected_cards(situation: &Situation<'_>, state: &CoruscantState) -> Cards {
    let own = state.selections.iter().filter(|one| one.player.index() == situation.me);
    let codes = own.flat_map(|one| &one.cards).map(|card| situation.code(*card).to_owned());
    held_cards(situation, &codes.collect::<Vec<String>>())
}

/// Cards that are played, and cards that may be added.
#[derive(Clone, PartialEq)]
struct Plan {
    chosen: Cards,
    new: Cards,
    /// Number of cards that the redraw will bring.
    redraw: usize,
}

impl Plan {
    fn of(chosen: Cards) -> Plan {
        Plan { chosen, new: Cards::new(), redraw: 0 }
    }

    fn with_redraw(chosen: Cards) -> Plan {
        let redraw = HAND_SIZE.saturating_sub(chosen.len());
        Plan { chosen, new: Cards::new(), redraw }
    }

    /// Returns the strength of the best selection with the `drawn` cards.
    fn outcome(&self, situation: &Situation<'_>, drawn: &[Card]) -> Option<Strength> {
        let drawn = drawn.iter().take(self.redraw);
        let more: Cards = self.new.iter().chain(drawn).copied().collect();
        let with = |added: Cards| -> Cards { self.chosen.iter().copied().chain(added).collect() };
        subsets(&more).map(|added| situation.scale.strength(&with(added))).max().flatten()
    }
}

/// Returns the viewer's cards with these codes; repeated codes take different copies.
fn held_cards(situation: &Situation<'_>, codes: &[String]) -> Cards {
    let mut cards = Cards::new();
    for code in codes {
        let meant = situation.rules.variant().deck.parse(code);
        let free = |card: &&Card| meant.contains(**card) && !cards.contains(card);
        let card = situation.hand.iter().find(free).copied();
        cards.extend(card);
    }
    cards
}

fn move_with_cards(situation: &Situation<'_>, kind: MoveKind, cards: &[Card]) -> Move {
    card_move(kind, &cards.iter().map(|&card| situation.code(card)).collect::<Vec<_>>())
}

/// Returns every subset of at most five cards, the empty one included.
fn subsets(cards: &[Card]) -> impl Iterator<Item = Cards> {
    let cards = Cards::from_slice(&cards[..cards.len().min(HAND_SIZE)]);
    (0..1_u32 << cards.len()).map(move |mask| {
        let chosen = cards.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1);
        chosen.map(|(_, &card)| card).collect()
    })
}

fn best_plan<'a>(
    situation: &Situation<'_>,
    plans: &'a [Plan],
    generator: &mut StdRng,
) -> Option<&'a Plan> {
    let tallies = evaluate(situation, plans, generator);
    let at = (0..plans.len()).max_by_key(|&at| tallies[at].equity())?;
    plans.get(at)
}

fn evaluate(situation: &Situation<'_>, plans: &[Plan], generator: &mut StdRng) -> Vec<Tally> {
    let mut tallies = vec![Tally::default(); plans.len()];
    let looks: usize =
        plans.iter().map(|plan| 1 << (plan.new.len() + plan.redraw).min(HAND_SIZE)).sum();
    let mut packs = Packs::new(situation);
    for _ in 0..deal_count(looks + RIVAL_SELECTIONS * situation.opponents.len()) {
        packs.reset();
        let drawn: Cards = (0..HAND_SIZE).filter_map(|_| packs.deal(0, generator)).collect();
        let rivals: Vec<Option<Strength>> = situation
            .opponents
            .iter()
            .map(|other| rival_strength(situation, other, &mut packs, generator))
            .collect();
        let rivals = Rivals::of(rivals.into_iter());
        for (plan, tally) in plans.iter().zip(&mut tallies) {
            tally.record(rivals.share(plan.outcome(situation, &drawn)), false);
        }
    }
    tallies
}

/// Returns the best of a few random selections of an opponent.
fn rival_strength(
    situation: &Situation<'_>,
    other: &Opponent,
    packs: &mut Packs,
    generator: &mut StdRng,
) -> Option<Strength> {
    let hand = packs.hand(other, generator);
    let look = |_| {
        let mask: u32 = generator.random_range(1..1 << hand.len().clamp(1, HAND_SIZE));
        let chosen = hand.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1);
        situation.scale.strength(&chosen.map(|(_, &card)| card).collect::<Cards>())
    };
    (0..RIVAL_SELECTIONS).map(look).max().flatten()
}
