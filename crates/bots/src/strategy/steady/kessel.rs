//! Kessel: keeps a pair, and pays a chip to improve anything else. Shift tokens are never played.

use proto::common::v1::{LegalMove, Move, MoveKind};

use super::{Situation, with_card, without};

/// Chooses about the cards; none without such a choice.
pub(super) fn play(situation: &Situation<'_>) -> Option<Move> {
    let codes = situation.codes();
    if let Some(discard) = situation.legal(MoveKind::Discard) {
        let best = discard.cards.iter().min_by_key(|card| rank_hand(&without(&codes, card)))?;
        return Some(with_card(MoveKind::Discard, best));
    }
    if let Some(impostor) = situation.legal(MoveKind::Impostor) {
        return choose_impostor_value(impostor, &codes);
    }
    if let Some(prime) = situation.legal(MoveKind::Prime) {
        let value = *prime.values.iter().min()?;
        return Some(Move { kind: prime.kind, value, ..Move::default() });
    }
    let stand = situation.plain_move(MoveKind::Stand)?;
    let (difference, _) = rank_hand(&codes);
    if difference < 2 {
        return Some(stand);
    }
    let higher = codes.iter().max_by_key(|code| number(code).unwrap_or(0))?;
    let pile = if higher.starts_with('s') { "sand" } else { "blood" };
    let piles = situation.turn.legal.iter().filter(|legal| legal.kind() == MoveKind::DrawFrom);
    let draw = piles.flat_map(|legal| &legal.names).find(|name| *name == pile);
    Some(draw.map_or(stand, |name| Move {
        kind: MoveKind::DrawFrom.into(),
        names: vec![name.clone()],
        ..Move::default()
    }))
}

/// Returns the value that comes closest to the other card.
fn choose_impostor_value(impostor: &LegalMove, codes: &[&str]) -> Option<Move> {
    let card = impostor.cards.first()?;
    let other = without(codes, card).iter().find_map(|code| number(code));
    let key = |value: &u32| (other.map_or(0, |other| other.abs_diff(*value)), *value);
    let value = impostor.values.iter().copied().min_by_key(key)?;
    Some(Move { value, ..with_card(MoveKind::Impostor, card) })
}

/// Returns the difference and the sum of a hand: the smaller, the better.
fn rank_hand(codes: &[&str]) -> (u32, u32) {
    if codes.iter().any(|code| code.ends_with('Y')) {
        return (0, 0);
    }
    match codes.iter().filter_map(|code| number(code)).collect::<Vec<u32>>()[..] {
        [a, b] => (a.abs_diff(b), a + b),
        // An Impostor may take any value: about as good as a difference of one.
        _ => (1, 7),
    }
}

/// Returns the number of a card; none for a Sylop or an Impostor.
fn number(code: &str) -> Option<u32> {
    code.get(1..)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::situation::{choose, legal, state};
    use super::*;

    fn turn() -> Vec<LegalMove> {
        let draw = |name: &str| LegalMove {
            names: vec![name.to_owned()],
            ..legal(MoveKind::DrawFrom, &[])
        };
        let token = LegalMove { names: vec!["refund".to_owned()], ..legal(MoveKind::Token, &[]) };
        vec![token, draw("sand"), draw("blood"), draw("sand-discard"), legal(MoveKind::Stand, &[])]
    }

    #[test]
    fn the_higher_card_is_replaced() {
        let drawn = choose(&state("kessel", &["s1", "b6"]), turn());
        assert_eq!((drawn.kind(), &*drawn.names[0]), (MoveKind::DrawFrom, "blood"));
        for good in [["s4", "b4"], ["s3", "b4"], ["sY", "b5"], ["sI", "b2"]] {
            assert_eq!(choose(&state("kessel", &good), turn()).kind(), MoveKind::Stand);
        }
    }

    #[test]
    fn discards_and_impostors_bring_the_cards_together() {
        let codes = ["s1", "b6", "b2"];
        let chosen = choose(&state("kessel", &codes), vec![legal(MoveKind::Discard, &codes[1..])]);
        assert_eq!(chosen, with_card(MoveKind::Discard, "b6"));
        let impostor = LegalMove { values: vec![1, 5], ..legal(MoveKind::Impostor, &["bI"]) };
        let chosen = choose(&state("kessel", &["s4", "bI"]), vec![impostor]);
        assert_eq!(chosen.value, 5);
    }
}
