//! Choice of a concrete move from a legal move, by what the message says alone.

use proto::common::v1::{LegalMove, Move, MoveArgument};

/// Picks a move that `legal` allows, or none where it has an argument that this client does not
/// know. `below(n)` gives a number below `n`, which is at least 1. Half of all bets and raises are
/// the smallest, and most others at most twice that, so that random play does not end all-in at
/// once.
pub fn pick(legal: &LegalMove, below: &mut dyn FnMut(usize) -> usize) -> Option<Move> {
    let mut decision = Move { kind: legal.kind, ..Move::default() };
    for argument in &legal.move_arguments {
        match MoveArgument::try_from(*argument).ok()? {
            MoveArgument::Unspecified => return None,
            MoveArgument::Cards => {
                let (min, max) = (index(legal.min_cards), index(legal.max_cards));
                let count = min + below(max.saturating_sub(min) + 1);
                decision.cards = some_of(&legal.cards, count, below);
            }
            MoveArgument::Amount => decision.amount_credits = amount(legal, below),
            MoveArgument::Side | MoveArgument::Pile | MoveArgument::Tokens => {
                decision.names = some_of(&legal.names, index(legal.names_count), below);
            }
            MoveArgument::Seat => decision.target_seat = one_of(&legal.target_seats, below)?,
            MoveArgument::Value => decision.value = one_of(&legal.values, below)?,
        }
    }
    Some(decision)
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn one_of(items: &[u32], below: &mut dyn FnMut(usize) -> usize) -> Option<u32> {
    if items.is_empty() { None } else { items.get(below(items.len())).copied() }
}

/// Picks `count` different items of the list, in its order; all items if there are fewer.
fn some_of(items: &[String], count: usize, below: &mut dyn FnMut(usize) -> usize) -> Vec<String> {
    let (mut wanted, mut left) = (count, items.len());
    let mut picked = Vec::new();
    for item in items {
        if below(left) < wanted {
            picked.push(item.clone());
            wanted -= 1;
        }
        left -= 1;
    }
    picked
}

fn amount(legal: &LegalMove, below: &mut dyn FnMut(usize) -> usize) -> u64 {
    let spread = usize::try_from(legal.max_credits.saturating_sub(legal.min_credits))
        .unwrap_or(usize::MAX - 1);
    let twice = usize::try_from(legal.min_credits).unwrap_or(usize::MAX).min(spread);
    let above = match below(8) {
        0..=3 => 0,
        4..=6 => below(twice + 1),
        _ => below(spread + 1),
    };
    legal.min_credits.saturating_add(u64::try_from(above).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};
    use rules::{
        Cards, Choices, Deck, DrawSource, Legal, Move as Played, MoveKind as Kind, Player,
        PlayerSet, Shape, ShiftToken,
    };

    use super::*;

    const SEATS: [u8; 3] = [2, 5, 7];

    /// Returns every kind of legal move, as the rules list them.
    fn all() -> Vec<Legal> {
        let cards = |deck: &Deck| deck.cards().skip(3).take(4).collect::<Cards>();
        let credits = |amount| primitives::Credits::of(amount);
        let held = || cards(&rules::S76);
        let (min, max) = (credits(10), credits(490));
        let players =
            PlayerSet::EMPTY.with(Player::try_new(1).unwrap()).with(Player::try_new(2).unwrap());
        let dice = |dice: [u8; 2]| dice.into_iter().collect();
        let choices = |kind: Kind| match kind.shape() {
            Shape::Nothing if kind == Kind::Match => vec![Choices::Price(min)],
            Shape::Nothing => vec![Choices::Nothing],
            Shape::Card => vec![Choices::Card(held())],
            Shape::OptionalCard => {
                vec![Choices::OptionalCard(Cards::new()), Choices::OptionalCard(held())]
            }
            Shape::Cards => vec![Choices::Cards { cards: held(), min: 1, max: 4 }],
            Shape::AnyCards => vec![Choices::AnyCards(held())],
            Shape::Amount => vec![Choices::Amount { min, max }],
            Shape::Side => vec![Choices::Side],
            Shape::Pile => vec![Choices::Pile(DrawSource::BloodDiscard)],
            Shape::Tokens => vec![Choices::Tokens],
            Shape::Token => vec![
                Choices::Token(ShiftToken::Markdown, PlayerSet::EMPTY),
                Choices::Token(ShiftToken::TargetAudit, players),
            ],
            Shape::Die => vec![Choices::Die(dice([2, 5]))],
            Shape::CardAndDie => vec![Choices::CardAndDie(held()[0], dice([1, 4]))],
        };
        Kind::ALL
            .iter()
            .flat_map(|&kind| choices(kind).into_iter().map(move |it| Legal::new(kind, it)))
            .collect()
    }

    /// Parses a move as the server does.
    fn read(sent: &Move, held: &[rules::Card]) -> Played {
        let seats: Vec<_> =
            SEATS.iter().map(|seat| primitives::SeatNo::try_new(*seat).unwrap()).collect();
        wire::moves::MoveReader { deck: &rules::S76, cards: held, seats: &seats }
            .read(sent)
            .unwrap()
    }

    #[test]
    fn what_is_picked_is_legal_whatever_the_kind() {
        let mut generator = StdRng::seed_from_u64(7);
        let held: Vec<_> = rules::S76.cards().collect();
        let seats: Vec<_> =
            SEATS.iter().map(|seat| primitives::SeatNo::try_new(*seat).unwrap()).collect();
        let mut kinds = std::collections::BTreeSet::new();
        for legal in all() {
            let listed = wire::moves::write_legal(&legal, &rules::S76, &seats);
            for _ in 0..50 {
                let picked = pick(&listed, &mut |n| generator.random_range(0..n)).unwrap();
                let played = read(&picked, &held);
                assert!(legal.allows(&played), "{}: {played:?}", listed.text);
                kinds.insert(picked.kind);
            }
        }
        assert_eq!(kinds.into_iter().collect::<Vec<_>>(), (1..=26).collect::<Vec<_>>());
    }

    #[test]
    fn a_kind_of_the_future_is_picked_unless_its_arguments_are_new_too() {
        let legal = LegalMove { kind: 99, ..LegalMove::default() };
        assert_eq!(pick(&legal, &mut |_| 0), Some(Move { kind: 99, ..Move::default() }));
        let legal = LegalMove { move_arguments: vec![99], ..legal };
        assert_eq!(pick(&legal, &mut |_| 0), None);
    }
}
