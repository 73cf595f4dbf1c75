//! The games to 23. Each choice about the cards is averaged over every unseen card.

use proto::common::v1::{Move, MoveKind};
use proto::table::v1::game_state::State;
use rules::RuleSet;

use super::{Situation, with_card, without};

/// Least quality of a hand that is protected.
const MIN_SAFE: u32 = 80;
/// Highest quality of a locked hand that is unlocked.
const MAX_HOPELESS: u32 = 25;

/// Ranking rule of the game.
#[derive(Clone, Copy)]
struct Scale {
    /// Whether 22 and -22 tie; otherwise the higher signed total wins.
    absolute: bool,
}

impl Scale {
    fn of(situation: &Situation<'_>) -> Scale {
        let rules = situation.state.rules();
        // Force has no such field, and counts absolutely.
        let is_force = matches!(
            situation.state.hand().and_then(|hand| hand.game_state.as_ref()?.state.as_ref()),
            Some(State::Force(_))
        );
        Scale { absolute: is_force || !rules.is_some_and(RuleSet::has_signed_ranking) }
    }

    /// Returns a quality of 0 to 100; 0 is bombed out.
    fn quality(self, codes: &[&str]) -> u32 {
        if is_idiots_array(codes) {
            return 100;
        }
        let total: i32 = codes.iter().map(|code| value(code)).sum();
        let size = total.unsigned_abs();
        match size {
            0 | 24.. => 0,
            23 => 98,
            1..=22 if total > 0 && !self.absolute => (4 * size + 4).max(40),
            1..=22 if self.absolute => 4 * size + 4,
            // Any positive total wins against it, and the less negative the better.
            1..=22 => 30 - size,
        }
    }
}

pub(super) fn quality(situation: &Situation<'_>) -> u32 {
    Scale::of(situation).quality(&situation.codes())
}

/// Chooses about the cards; none in a betting round.
pub(super) fn play(situation: &Situation<'_>) -> Option<Move> {
    let scale = Scale::of(situation);
    let codes = situation.codes();
    let now = scale.quality(&codes);
    if situation.legal(MoveKind::Align).is_some() {
        let positive = codes.iter().map(|code| value(code)).sum::<i32>() > 0;
        let side = if positive { "light" } else { "dark" };
        return Some(Move {
            kind: MoveKind::Align.into(),
            names: vec![side.to_owned()],
            ..Move::default()
        });
    }
    if let Some(keep) = situation.plain_move(MoveKind::Keep) {
        return Some(drop_extra_card(situation, scale, keep));
    }
    let stand = situation.plain_move(MoveKind::Stand)?;
    if now >= MIN_SAFE {
        if let Some(call) = situation.plain_move(MoveKind::CallHand) {
            return Some(call);
        }
        let card = situation.legal(MoveKind::Lock).and_then(|lock| lock.cards.first());
        return Some(card.map_or(stand, |card| with_card(MoveKind::Lock, card)));
    }
    if now <= MAX_HOPELESS
        && let Some(card) =
            situation.legal(MoveKind::Unlock).and_then(|unlock| unlock.cards.first())
    {
        return Some(with_card(MoveKind::Unlock, card));
    }
    Some(improve(situation, scale, stand))
}

/// Returns the best of drawing, trading and standing.
fn improve(situation: &Situation<'_>, scale: Scale, stand: Move) -> Move {
    let codes = situation.codes();
    let unseen = unseen(situation);
    let count = u32::try_from(unseen.len()).unwrap_or(u32::MAX).max(1);
    let promise = |kept: &[&str]| {
        let with = |card: &&str| scale.quality(&[kept, &[*card]].concat());
        unseen.iter().map(with).sum::<u32>() / count
    };
    let mut best = (scale.quality(&codes), stand);
    let mut offer = |quality: u32, decision: Move| {
        if quality > best.0 {
            best = (quality, decision);
        }
    };
    if let Some(draw) = situation.plain_move(MoveKind::Draw) {
        offer(promise(&codes), draw);
    }
    let trades = situation.legal(MoveKind::Trade).map_or(&[][..], |trade| &trade.cards);
    for card in trades {
        offer(promise(&without(&codes, card)), with_card(MoveKind::Trade, card));
    }
    best.1
}

/// Returns the best drop at the showdown, or keeps all cards.
fn drop_extra_card(situation: &Situation<'_>, scale: Scale, keep: Move) -> Move {
    let codes = situation.codes();
    let drops = situation.legal(MoveKind::Drop).map_or(&[][..], |drop| &drop.cards);
    let mut best = (scale.quality(&codes), keep);
    for card in drops {
        let quality = scale.quality(&without(&codes, card));
        if quality > best.0 {
            best = (quality, with_card(MoveKind::Drop, card));
        }
    }
    best.1
}

/// Returns every card of the pack that the viewer does not see in a hand.
fn unseen(situation: &Situation<'_>) -> Vec<&'static str> {
    let seen: Vec<&str> = situation
        .state
        .hand()
        .into_iter()
        .flat_map(|hand| &hand.seats)
        .flat_map(|place| &place.cards)
        .map(|card| &*card.code)
        .collect();
    rules::S76.codes.iter().copied().filter(|code| !seen.contains(code)).collect()
}

/// Returns a card's value; 0 for the Idiot and for a hidden card.
fn value(code: &str) -> i32 {
    let faces = [
        ("Star", -17),
        ("Evil", -15),
        ("Moderation", -14),
        ("Demise", -13),
        ("Balance", -11),
        ("Endurance", -8),
        ("Queen", -2),
        ("Idiot", 0),
    ];
    let face = faces.iter().find(|(name, _)| code.starts_with(name));
    face.map_or_else(
        || code.get(1..).and_then(|number| number.parse().ok()).unwrap_or(0),
        |(_, value)| *value,
    )
}

/// Whether the hand is exactly an Idiot, a 2 and a 3.
fn is_idiots_array(codes: &[&str]) -> bool {
    let has = |wanted: &dyn Fn(&str) -> bool| codes.iter().any(|code| wanted(code));
    codes.len() == 3
        && has(&|code| code.starts_with("Idiot"))
        && has(&|code| value(code) == 2)
        && has(&|code| value(code) == 3)
}

#[cfg(test)]
mod tests {
    use super::super::situation::{choose, legal, state};
    use super::*;

    fn plays(variant: &str, codes: &[&str]) -> Move {
        let options = vec![
            legal(MoveKind::Draw, &[]),
            legal(MoveKind::Trade, codes),
            legal(MoveKind::Stand, &[]),
        ];
        choose(&state(variant, codes), options)
    }

    #[test]
    fn totals_follow_the_pack() {
        let all: i32 = rules::S76.codes.iter().map(|code| value(code)).sum();
        assert_eq!(all, 320);
        assert!(is_idiots_array(&["IdiotB", "C2", "T3"]));
        assert!(!is_idiots_array(&["IdiotB", "C2", "T3", "IdiotA"]));
        assert!(!is_idiots_array(&["C2", "C3", "T3"]));
    }

    #[test]
    fn good_hands_are_kept_and_locked() {
        assert_eq!(plays("dice", &["S12", "C9"]).kind(), MoveKind::Stand);
        let options = vec![legal(MoveKind::Lock, &["S12", "C9"]), legal(MoveKind::Stand, &[])];
        assert_eq!(
            choose(&state("dice", &["S12", "C9"]), options),
            with_card(MoveKind::Lock, "S12")
        );
        assert_eq!(plays("swg", &["StarA", "QueenA", "QueenB"]).kind(), MoveKind::Stand);
    }

    #[test]
    fn bad_hands_are_mended() {
        assert_eq!(plays("dice", &["S2", "C3"]).kind(), MoveKind::Draw);
        // Bombed: a trade may save it.
        assert_eq!(plays("dice", &["S15", "C12"]).kind(), MoveKind::Trade);
        // A negative total loses to every positive one.
        assert_ne!(plays("dice", &["StarA", "EnduranceB", "C4"]).kind(), MoveKind::Stand);
        assert_eq!(plays("swg", &["StarA", "EnduranceB", "C4"]).kind(), MoveKind::Stand);
    }

    #[test]
    fn the_extra_card_of_a_showdown_is_dropped_where_it_hurts() {
        let options =
            |codes: &[&str]| vec![legal(MoveKind::Keep, &[]), legal(MoveKind::Drop, codes)];
        let bombs = ["S12", "C9", "T15"];
        let chosen = choose(&state("force", &bombs), options(&bombs));
        assert_eq!(chosen, with_card(MoveKind::Drop, "T15"));
        let helps = ["S12", "C9", "T2"];
        assert_eq!(choose(&state("force", &helps), options(&helps)).kind(), MoveKind::Keep);
    }

    #[test]
    fn a_called_hand_that_is_bombed_is_given_up() {
        let mut state = state("dice", &["S15", "C12"]);
        let mut view = state.view().clone();
        view.hand.as_mut().unwrap().called_by = 3;
        state.apply(&client::WatchMessage::Snapshot(Box::new(view)));
        let options = vec![legal(MoveKind::Check, &[]), legal(MoveKind::Fold, &[])];
        assert_eq!(choose(&state, options).kind(), MoveKind::Fold);
    }
}
