//! Choice of a concrete move from a legal move, for every kind of move.

use proto::common::v1::{LegalMove, Move, MoveKind};

/// Picks a move that `legal` allows, or none for a kind that this client does not know. `below(n)`
/// gives a number below `n`, which is at least 1. Half of all bets and raises are the smallest, and
/// most others at most twice that, so that random play does not end all-in at once.
pub fn pick(legal: &LegalMove, below: &mut dyn FnMut(usize) -> usize) -> Option<Move> {
    let kind = MoveKind::try_from(legal.kind).ok()?;
    let mut decision = Move { kind: legal.kind, ..Move::default() };
    match kind {
        MoveKind::Unspecified => return None,
        MoveKind::Draw
        | MoveKind::Stand
        | MoveKind::Check
        | MoveKind::Match
        | MoveKind::Fold
        | MoveKind::CallHand
        | MoveKind::Leave
        | MoveKind::Keep
        | MoveKind::Junk => {}
        MoveKind::Bet | MoveKind::Raise => decision.amount = amount(legal, below),
        MoveKind::Trade
        | MoveKind::Lock
        | MoveKind::Unlock
        | MoveKind::Drop
        | MoveKind::Discard
        | MoveKind::Swap => decision.cards = some_of(&legal.cards, 1, below),
        // Without cards to choose from it is a gain that discards nothing.
        MoveKind::Gain => decision.cards = some_of(&legal.cards, 1, below),
        MoveKind::Select => {
            let least = usize::try_from(legal.min).unwrap_or(1).max(1);
            let most = usize::try_from(legal.max).unwrap_or(5).clamp(least, least.max(5));
            let count = least + below(most - least + 1);
            decision.cards = some_of(&legal.cards, count, below);
        }
        MoveKind::Add => {
            let count = below(legal.cards.len() + 1);
            decision.cards = some_of(&legal.cards, count, below);
        }
        MoveKind::Align | MoveKind::DrawFrom => decision.names = some_of(&legal.names, 1, below),
        MoveKind::Choose => decision.names = some_of(&legal.names, 3, below),
        MoveKind::Token => {
            decision.names = some_of(&legal.names, 1, below);
            decision.target_seat = one_of(&legal.target_seats, below).unwrap_or(0);
        }
        MoveKind::Prime => decision.value = one_of(&legal.values, below)?,
        MoveKind::Impostor => {
            decision.cards = some_of(&legal.cards, 1, below);
            decision.value = one_of(&legal.values, below)?;
        }
    }
    Some(decision)
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
    let spread = usize::try_from(legal.max.saturating_sub(legal.min)).unwrap_or(usize::MAX - 1);
    let twice = usize::try_from(legal.min).unwrap_or(usize::MAX).min(spread);
    let above = match below(8) {
        0..=3 => 0,
        4..=6 => below(twice + 1),
        _ => below(spread + 1),
    };
    legal.min.saturating_add(u64::try_from(above).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};
    use rules::{Deck, DrawSource, Legal, Move as Played, Player, PlayerSet, ShiftToken};

    use super::*;

    const SEATS: [u8; 3] = [2, 5, 7];

    /// Returns every kind of legal move, as the rules list them.
    fn all() -> Vec<Legal> {
        let cards = |deck: &Deck| deck.cards().skip(3).take(4).collect::<rules::Cards>();
        let credits = |amount| primitives::Credits::of(amount);
        let held = || cards(&rules::S76);
        let (min, max) = (credits(10), credits(490));
        let players =
            PlayerSet::EMPTY.with(Player::try_new(1).unwrap()).with(Player::try_new(2).unwrap());
        vec![
            Legal::Draw,
            Legal::Trade(held()),
            Legal::Stand,
            Legal::Lock(held()),
            Legal::Unlock(held()),
            Legal::Check,
            Legal::Bet { min, max },
            Legal::Match { amount: min },
            Legal::Raise { min, max },
            Legal::Fold,
            Legal::CallHand,
            Legal::Align,
            Legal::Keep,
            Legal::Drop(held()),
            Legal::Choose,
            Legal::Token(ShiftToken::Markdown),
            Legal::TokenAt(ShiftToken::TargetAudit, players),
            Legal::Prime([2, 5].into_iter().collect()),
            Legal::DrawFrom(DrawSource::BloodDiscard),
            Legal::Discard(held()),
            Legal::Impostor { card: held()[0], values: [1, 4].into_iter().collect() },
            Legal::Gain,
            Legal::GainFor(held()),
            Legal::Swap(held()),
            Legal::Junk,
            Legal::Select { cards: held(), min: 1, max: 4 },
            Legal::Add(held()),
        ]
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
        // Leaving is always legal and therefore never listed.
        let leave = LegalMove { kind: MoveKind::Leave.into(), ..LegalMove::default() };
        kinds.insert(pick(&leave, &mut |_| 0).unwrap().kind);
        assert_eq!(kinds.into_iter().collect::<Vec<_>>(), (1..=26).collect::<Vec<_>>());
    }

    #[test]
    fn a_kind_of_the_future_is_left_alone() {
        let legal = LegalMove { kind: 99, ..LegalMove::default() };
        assert_eq!(pick(&legal, &mut |_| 0), None);
    }
}
