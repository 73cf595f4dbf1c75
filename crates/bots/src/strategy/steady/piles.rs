//! The games of sums: eleven, Corellian Spike and Coruscant Shift.

use proto::common::v1::{Move, MoveKind};
use rules::CoruscantState;

use super::{Situation, with_card, without};

/// Draws up to a total of 7, since a card is worth 3 on average.
pub(super) fn eleven(situation: &Situation<'_>) -> (u32, Option<Move>) {
    let rank = |code: &&str| code.get(..1).and_then(|rank| rank.parse::<u32>().ok());
    let total: u32 = situation.codes().iter().filter_map(rank).sum();
    let quality = if total > 11 { 0 } else { 8 * total };
    let draw = situation.plain_move(MoveKind::Draw).filter(|_| total <= 7);
    (quality, draw.or_else(|| situation.plain_move(MoveKind::Stand)))
}

/// Plays towards a sum of 0, by discarding the card without which the sum is closest to it.
pub(super) fn spike(situation: &Situation<'_>) -> (u32, Option<Move>) {
    let codes = situation.codes();
    let off = |codes: &[&str]| sum(codes).unsigned_abs();
    let now = off(&codes);
    let quality = if now == 0 { 85 } else { 60_u32.saturating_sub(4 * now) };
    let gains = situation.turn.legal.iter().filter(|legal| legal.kind() == MoveKind::Gain);
    let best = gains.flat_map(|legal| &legal.cards).min_by_key(|card| off(&without(&codes, card)));
    // A gained card is worth 0 on average, and five in either direction.
    let mended = best.filter(|card| now > 3 && off(&without(&codes, card)) < now);
    let gain = mended.map(|card| with_card(MoveKind::Gain, card));
    (quality, gain.or_else(|| situation.plain_move(MoveKind::Stand)))
}

/// Selects the cards that come closest to the dice.
pub(super) fn coruscant(situation: &Situation<'_>, state: &CoruscantState) -> (u32, Option<Move>) {
    let target = state.target.map_or(0, |target| i32::from(target.total));
    let selected = selected_sum(situation, state);
    let off = |codes: &[&str], start: i32| (start + sum(codes) - target).unsigned_abs();
    let quality = |off: u32| 85_u32.saturating_sub(8 * off);
    if let Some(add) = situation.legal(MoveKind::Add) {
        let start = selected.unwrap_or(target);
        let chosen = closest_choice(&add.cards, 0, |codes| off(codes, start));
        return (50, Some(card_move(MoveKind::Add, &chosen)));
    }
    if let Some(select) = situation.legal(MoveKind::Select) {
        let chosen = closest_choice(&select.cards, 1, |codes| off(codes, 0));
        return (50, Some(card_move(MoveKind::Select, &chosen)));
    }
    (quality(selected.map_or(5, |total| (total - target).unsigned_abs())), None)
}

/// Returns the choice of at least `least` cards with the smallest `off`.
fn closest_choice<'a>(
    cards: &'a [String],
    least: u32,
    off: impl Fn(&[&str]) -> u32,
) -> Vec<&'a str> {
    let count = u32::try_from(cards.len()).unwrap_or(0).min(5);
    let choice = |mask: u32| -> Vec<&'a str> {
        let chosen = (0..count).zip(cards).filter(|(at, _)| mask & (1 << at) != 0);
        chosen.map(|(_, card)| &**card).collect()
    };
    let masks = (0..1_u32 << count).filter(|mask| mask.count_ones() >= least);
    masks.map(choice).min_by_key(|codes| off(codes)).unwrap_or_default()
}

fn card_move(kind: MoveKind, codes: &[&str]) -> Move {
    let cards = codes.iter().map(|code| (*code).to_owned()).collect();
    Move { kind: kind.into(), cards, ..Move::default() }
}

/// Returns the sum of cards of the 62-card pack; a Sylop is 0.
fn sum(codes: &[impl AsRef<str>]) -> i32 {
    let value = |code: &str| code.get(1..).and_then(|value| value.parse::<i32>().ok());
    codes.iter().filter_map(|code| value(code.as_ref())).sum()
}

/// Returns the sum of the viewer's selection; none before it is made.
fn selected_sum(situation: &Situation<'_>, state: &CoruscantState) -> Option<i32> {
    let (table, mine) = (situation.state, situation.state.my_hand_seat()?.seat);
    let me = table.hand()?.seats.iter().position(|place| place.seat == mine)?;
    let own = state.selections.iter().find(|selection| selection.player.index() == me)?;
    let codes: Vec<&str> = own.cards.iter().map(|card| rules::C62.code(*card)).collect();
    Some(sum(&codes))
}

#[cfg(test)]
mod tests {
    use proto::table::v1 as pb;
    use proto::table::v1::table_update::What;

    use super::super::Steady;
    use super::super::situation::{choose, legal, state, turn};
    use super::*;
    use client::{TableState, WatchMessage};

    use crate::Strategy;

    #[test]
    fn eleven_is_not_gone_over_lightly() {
        let options = || vec![legal(MoveKind::Draw, &[]), legal(MoveKind::Stand, &[])];
        assert_eq!(choose(&state("eleven", &["3S", "4H"]), options()).kind(), MoveKind::Draw);
        assert_eq!(choose(&state("eleven", &["5S", "4H"]), options()).kind(), MoveKind::Stand);
    }

    #[test]
    fn spike_goes_towards_zero() {
        let options = |codes: &[&str]| {
            vec![
                legal(MoveKind::Gain, &[]),
                legal(MoveKind::Gain, codes),
                legal(MoveKind::Stand, &[]),
            ]
        };
        let codes = ["c+10", "t-2"];
        let chosen = choose(&state("spike", &codes), options(&codes));
        assert_eq!(chosen, with_card(MoveKind::Gain, "c+10"));
        let zero = ["c+4", "t-4", "Y"];
        assert_eq!(choose(&state("spike", &zero), options(&zero)).kind(), MoveKind::Stand);
    }

    /// Applies an update of a game whose target is +5 of circles, with this selection.
    fn apply_selection(state: &mut TableState, selected: &[&str]) {
        let target = pb::CoruscantTarget { total: 5, suit: pb::CoruscantSuit::Circle.into() };
        let selection = pb::CoruscantSelection {
            seat: 1,
            count: u32::try_from(selected.len()).unwrap(),
            cards: selected.iter().map(|code| (*code).to_owned()).collect(),
        };
        let selections = if selected.is_empty() { Vec::new() } else { vec![selection] };
        let coruscant = pb::CoruscantState { target: Some(target), selections };
        let game_state = pb::GameState { state: Some(pb::game_state::State::Coruscant(coruscant)) };
        let action = pb::HandAction { game_state: Some(game_state), ..pb::HandAction::default() };
        let what = Some(What::Action(action));
        state.apply(&WatchMessage::Update(Box::new(pb::TableUpdate {
            sequence: 1,
            record_time: None,
            what,
        })));
    }

    #[test]
    fn coruscant_selects_what_meets_the_dice_and_adds_what_helps() {
        let cards = ["c+3", "t+2", "s-9", "c+8", "Y"];
        let mut state = state("coruscant", &cards);
        apply_selection(&mut state, &[]);
        let mut steady = Steady::new(1);
        let select = turn(vec![legal(MoveKind::Select, &cards)]);
        let chosen = steady.choose(&state, &select);
        assert_eq!(sum(&chosen.cards), 5);
        apply_selection(&mut state, &["c+3", "t+2"]);
        let add = turn(vec![legal(MoveKind::Add, &["c+1", "t-7"])]);
        assert!(steady.choose(&state, &add).cards.is_empty());
        apply_selection(&mut state, &["c+3"]);
        let add = turn(vec![legal(MoveKind::Add, &["t-7", "s+2"])]);
        assert_eq!(steady.choose(&state, &add).cards, ["s+2"]);
    }
}
