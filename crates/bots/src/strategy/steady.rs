//! Cautious strategy: plays towards 20 to 23, bets modestly, folds seldom, and avoids bombing out.
//!
//! Each family of games has a module that rates the hand from 0 to 100 and chooses about the cards.
//! Betting is common to all games. Choices without a rule, such as drafting tokens, are random.

mod betting;
mod kessel;
mod piles;
mod twenty_three;

use client::TableState;
use proto::common::v1::{LegalMove, Move, MoveKind};
use proto::table::v1::Turn;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Strategy, pick};

/// The strategy. See the module.
pub struct Steady {
    generator: StdRng,
    /// The hand number and the total of the cards selected in it.
    selected: Option<(u64, i32)>,
}

impl Steady {
    #[must_use]
    pub fn new(seed: u64) -> Steady {
        Steady { generator: StdRng::seed_from_u64(seed), selected: None }
    }

    /// Picks a random move, and nothing drastic if there is another.
    fn random_move(&mut self, turn: &Turn) -> Move {
        let drastic = [MoveKind::Fold, MoveKind::Junk, MoveKind::Leave, MoveKind::CallHand];
        let calm: Vec<&LegalMove> =
            turn.legal.iter().filter(|legal| !drastic.contains(&legal.kind())).collect();
        let from = if calm.is_empty() { turn.legal.iter().collect() } else { calm };
        let mut below = |n: usize| self.generator.random_range(0..n);
        let picked = if from.is_empty() { None } else { pick(from[below(from.len())], &mut below) };
        picked.or_else(|| turn.default_move.clone()).unwrap_or_default()
    }
}

impl Strategy for Steady {
    fn choose(&mut self, state: &TableState, turn: &Turn) -> Move {
        let situation = Situation { state, turn };
        let hand_no = state.view().hand_no;
        let selected = self.selected.filter(|(hand, _)| *hand == hand_no).map(|(_, total)| total);
        let (quality, cards) = match &*state.view().variant {
            "kessel" => (50, kessel::play(&situation)),
            "eleven" => piles::eleven(&situation),
            "spike" => piles::spike(&situation),
            "coruscant" => piles::coruscant(&situation, selected),
            _ => (twenty_three::quality(&situation), twenty_three::play(&situation)),
        };
        let chosen = cards.or_else(|| betting::bet(&situation, quality));
        let chosen = chosen.unwrap_or_else(|| self.random_move(turn));
        if chosen.kind() == MoveKind::Select {
            self.selected = Some((hand_no, piles::sum(&chosen.cards)));
        }
        chosen
    }
}

/// Situation of a decision, with the queries that every game needs.
struct Situation<'a> {
    state: &'a TableState,
    turn: &'a Turn,
}

impl Situation<'_> {
    fn legal(&self, kind: MoveKind) -> Option<&LegalMove> {
        self.turn.legal.iter().find(|legal| legal.kind() == kind)
    }

    /// Returns the move of this kind, if it is legal; for kinds that name nothing.
    fn plain_move(&self, kind: MoveKind) -> Option<Move> {
        self.legal(kind).map(|_| Move { kind: kind.into(), ..Move::default() })
    }

    /// Returns the cards held, newest last.
    fn codes(&self) -> Vec<&str> {
        self.state.my_cards().iter().map(|card| &*card.code).collect()
    }
}

fn with_card(kind: MoveKind, card: &str) -> Move {
    Move { kind: kind.into(), cards: vec![card.to_owned()], ..Move::default() }
}

/// Returns the codes without one copy of `card`.
fn without<'a>(codes: &[&'a str], card: &str) -> Vec<&'a str> {
    let mut rest = codes.to_vec();
    if let Some(at) = rest.iter().position(|code| *code == card) {
        rest.remove(at);
    }
    rest
}

#[cfg(test)]
pub(super) mod situation {
    //! Fixtures: situations to decide in.

    use proto::table::v1 as pb;

    use super::*;
    use client::WatchMessage;

    /// Returns a state in which the viewer has seat 1, these cards and 500 credits, with 100 in the
    /// pot.
    pub(crate) fn state(variant: &str, codes: &[&str]) -> TableState {
        let rules = rules::variant(variant).map(rules::RuleSet::defaults);
        let held =
            |code: &&str| pb::HeldCard { code: (*code).to_owned(), locked: false, proof: None };
        let cards = codes.iter().map(held).collect();
        let stands =
            pb::SeatStanding { seat: 1, stack_credits: 500, ..pb::SeatStanding::default() };
        let standing =
            pb::Standing { hand_pot_credits: 100, seats: vec![stands], ..pb::Standing::default() };
        let view = pb::TableView {
            variant: variant.to_owned(),
            rule_set: rules.map_or_else(String::new, |rules| rules.canonical()),
            your_seat: 1,
            seats: vec![pb::SeatView {
                seat: 1,
                player_id: "a player".to_owned(),
                ..Default::default()
            }],
            hand_no: 1,
            hand: Some(pb::HandView {
                hand_no: 1,
                round: 4,
                standing: Some(standing),
                seats: vec![pb::HandSeat { seat: 1, cards, ..pb::HandSeat::default() }],
                ..pb::HandView::default()
            }),
            ..pb::TableView::default()
        };
        let mut state = TableState::new(None);
        state.apply(&WatchMessage::Snapshot(Box::new(view)));
        state
    }

    pub(crate) fn legal(kind: MoveKind, cards: &[&str]) -> LegalMove {
        let cards = cards.iter().map(|code| (*code).to_owned()).collect();
        LegalMove { kind: kind.into(), cards, ..LegalMove::default() }
    }

    pub(crate) fn turn(legal: Vec<LegalMove>) -> Turn {
        Turn { seat: 1, turn: 1, legal, ..Turn::default() }
    }

    pub(crate) fn choose(state: &TableState, legal: Vec<LegalMove>) -> Move {
        Steady::new(1).choose(state, &turn(legal))
    }
}

#[cfg(test)]
mod tests {
    use super::situation::{choose, legal, state};
    use super::*;

    #[test]
    fn without_an_opinion_nothing_drastic_is_done() {
        let state = state("kessel", &["s1", "b5"]);
        for _ in 0..20 {
            let options = vec![legal(MoveKind::Fold, &[]), legal(MoveKind::Keep, &[])];
            assert_eq!(choose(&state, options).kind(), MoveKind::Keep);
        }
        assert_eq!(choose(&state, vec![legal(MoveKind::Fold, &[])]).kind(), MoveKind::Fold);
    }
}
