//! Laws of every Kessel game, whatever is played.

use proptest::prelude::*;
use rules::{
    DecisionAuthor, Event, Hand, HandPhase, Move, Next, Outcome, Player, Viewer, decide, evolve,
    next, play, view,
};

use crate::kessel::state;
use crate::laws::{any_setup, chooser};

/// Plays a random game in which a player leaves at one of `leaving` decisions. `law` sees the hand
/// after every event.
fn each(seed: u64, leaving: u64, mut law: impl FnMut(&Hand, Option<&Event>)) -> Hand {
    let setup = any_setup(rules::variant("kessel").unwrap(), &mut chooser(seed));
    let mut choose = chooser(seed ^ 1);
    let mut hand = Hand::try_new(&setup).unwrap();
    law(&hand, None);
    for _ in 0..100_000 {
        let event = match play::random_outcome(&hand, &mut choose) {
            Some(outcome) => rules::resolve_chance(&hand, outcome).unwrap(),
            None => match next(&hand) {
                Next::Decision(decision) => {
                    let all: Vec<Player> = hand.players().collect();
                    let leaver = all[usize::try_from(choose(6)).unwrap() % all.len()];
                    let leave = (choose(leaving) == 0)
                        .then(|| decide(&hand, leaver, Move::Leave, DecisionAuthor::Player).ok())
                        .flatten();
                    leave.unwrap_or_else(|| {
                        let mv = play::random_move(&decision, &mut choose);
                        decide(&hand, decision.player, mv, DecisionAuthor::Player).unwrap()
                    })
                }
                Next::Done(_) => return hand,
                Next::Chance(_) => unreachable!("chance was answered above"),
            },
        };
        evolve(&mut hand, &event);
        law(&hand, Some(&event));
    }
    panic!("the game does not end");
}

/// Chips of all players, stocks and hand pots together.
fn chips(hand: &Hand) -> u64 {
    let players = state(hand, Viewer::Public).players;
    players.iter().map(|place| u64::from(place.stock) + u64::from(place.hand_pot)).sum()
}

fn gives_tokens(event: Option<&Event>) -> bool {
    matches!(
        event,
        Some(Event::Chance(Outcome::Sampled(_)) | Event::Decided { mv: Move::Choose(_), .. })
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// rules/SPEC.md §12.3.
    #[test]
    fn chips_are_never_made_and_tokens_never_come_back(seed: u64) {
        let mut last = u64::MAX;
        let mut tokens = [3; 6];
        each(seed, 200, |hand, event| {
            let now = chips(hand);
            assert!(now <= last, "{now} after {last}");
            last = now;
            for player in hand.players() {
                let held = u64::from(state(hand, Viewer::Public).players[player.index()].tokens_left);
                let seen = &mut tokens[player.index()];
                let given = *seen == 0 && gives_tokens(event);
                assert!(held <= *seen || given && held == 3, "{player} got a token");
                *seen = held;
            }
        });
    }

    #[test]
    fn every_card_is_in_one_place(seed: u64) {
        each(seed, 100, |hand, _| {
            let mut held: Vec<u8> =
                hand.players().flat_map(|p| hand.cards_of(p)).map(|card| card.id()).collect();
            held.sort_unstable();
            let size = held.len();
            held.dedup();
            assert_eq!(held.len(), size);
            for player in hand.live().iter().filter(|_| hand.to_act().is_some()) {
                let cards = hand.cards_of(player);
                let sand = cards.iter().filter(|card| card.id() < 22).count();
                let blood = cards.len() - sand;
                let drafting = view(hand, Viewer::Public).phase == HandPhase::Draft;
                assert!(drafting || sand >= 1 && blood >= 1 && sand + blood <= 3, "{player}");
            }
        });
    }

    /// rules/SPEC.md R-51.
    #[test]
    fn the_pot_is_won_whole_at_the_end_and_not_before(seed: u64) {
        let mut stake = None;
        let hand = each(seed, 100, |hand, _| {
            let view = view(hand, Viewer::Public);
            let stake = stake.get_or_insert(view.hand_pot);
            let over = hand.settlement().is_some();
            assert_eq!(view.hand_pot, if over { primitives::Credits::ZERO } else { *stake });
        });
        let end = hand.settlement().unwrap();
        assert!(!end.winners.is_empty());
        let won = end.lines.iter().filter_map(|line| match line {
            rules::SettlementItem::Wins { amount, .. } => Some(*amount),
            rules::SettlementItem::Returned { .. }
            | rules::SettlementItem::PaysSabacc { .. }
            | rules::SettlementItem::Eliminated { .. }
            | rules::SettlementItem::MovesToSabacc { .. }
            | rules::SettlementItem::Carries { .. }
            | rules::SettlementItem::Rake { .. } => None,
        });
        let won = primitives::Credits::sum(won).unwrap();
        assert_eq!(Some(won.plus(end.rake).unwrap()), stake);
    }

    /// No view shows an opponent's token or an open choice.
    #[test]
    fn state_hides_what_is_secret(seed: u64) {
        each(seed, 200, |hand, event| {
            for viewer in hand.players().map(Viewer::Player).chain([Viewer::Public]) {
                for (player, place) in hand.players().zip(state(hand, viewer).players) {
                    let is_own = viewer == Viewer::Player(player);
                    let values = place.impostors.iter().filter_map(|one| one.value).count();
                    let secrets = place.tokens.len() + values;
                    assert!(is_own || secrets == 0, "{viewer:?}: {player}");
                    let known = if is_own { usize::from(place.tokens_left) } else { 0 };
                    assert_eq!(place.tokens.len(), known, "{viewer:?}: {player}");
                }
            }
            if let Some(Event::Chance(Outcome::Shuffled)) = event {
                assert!(hand.to_act().is_none());
            }
        });
    }
}
