//! Situation of the viewer, in cards instead of codes.

use client::TableState;
use proto::common::v1::LegalMove;
use proto::table::v1::{HandSeat, SeatStatus, Turn};
use rules::{Card, CardSet, Cards, Evaluator, GameState, RuleSet, Strength};

/// Facts for a decision.
pub(super) struct Situation<'a> {
    pub(super) rules: &'a RuleSet,
    pub(super) scale: Evaluator,
    pub(super) legal: &'a [LegalMove],
    /// State that only this game has.
    pub(super) game: GameState,
    /// The viewer's index among the players of the hand.
    pub(super) me: usize,
    /// The viewer's hand, newest last.
    pub(super) hand: Cards,
    /// The locked cards of the viewer's hand.
    pub(super) locked: Cards,
    /// Opponents who can still win.
    pub(super) opponents: Vec<Opponent>,
    /// Cards without a known place, by pile.
    pub(super) unseen: Vec<Vec<Card>>,
    pub(super) money: Money,
    /// Least strength with which the main pot's winner takes the Sabacc Pot too; none where a
    /// strength does not tell.
    pub(super) special: Option<Strength>,
    /// Strength from which on people stand in `swg`: that of a total of 18.
    pub(super) good_enough: Option<Strength>,
    /// Round of the hand, from 1.
    pub(super) round: u32,
    pub(super) is_called: bool,
}

/// Opponent's hand.
pub(super) struct Opponent {
    pub(super) open: Cards,
    pub(super) hidden: usize,
}

/// The viewer's stack and the pot.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Money {
    pub(super) pot: u64,
    /// Credits in the Sabacc Pot.
    pub(super) sabacc_pot: u64,
    pub(super) stack: u64,
    /// Credits that the viewer put in during this betting round.
    pub(super) in_round: u64,
}

impl<'a> Situation<'a> {
    /// Reads the situation; none without a hand, or if the rules do not compare its hands by
    /// themselves.
    pub(super) fn read(state: &'a TableState, turn: &'a Turn) -> Option<Situation<'a>> {
        let (hand, rules) = (state.hand()?, state.rules()?);
        let deck = rules.variant().deck;
        let me = hand.seats.iter().position(|place| Some(place) == state.my_hand_seat())?;
        let game = state.game_state()?;
        let scale = Evaluator::for_state(rules, &game)?;
        let mut seen = VisibleCards { rules, set: CardSet::EMPTY };
        let mine = seen.cards(hand.seats.get(me)?);
        let locked = seen.locked(hand.seats.get(me)?, &mine);
        let is_out = |place: &HandSeat| {
            let standings = state.standing().into_iter().flat_map(|standing| &standing.seats);
            standings.filter(|of| of.seat == place.seat).any(|of| of.status() == SeatStatus::Out)
        };
        let mut others = Vec::new();
        for (index, place) in hand.seats.iter().enumerate() {
            let open = if index == me { continue } else { seen.cards(place) };
            if !is_out(place) {
                others
                    .push(Opponent { hidden: place.cards.len().saturating_sub(open.len()), open });
            }
        }
        for card in top_discards(&game).into_iter().flatten() {
            seen.card(deck.code(card));
        }
        let unseen = rules.variant().piles.iter();
        let unseen = unseen
            .map(|pile| pile.cards().filter(|&card| !seen.set.contains(card)).collect())
            .collect();
        let standing = state.my_standing();
        let special = least_special(&game, rules, &scale);
        let good_enough = special.and_then(|_| strength_of(rules, &scale, ["S15", "C3"]));
        Some(Situation {
            rules,
            scale,
            legal: &turn.legal,
            game,
            me,
            hand: mine,
            locked,
            opponents: others,
            unseen,
            special,
            good_enough,
            money: Money {
                sabacc_pot: state.standing().map_or(0, |standing| standing.sabacc_pot_credits),
                pot: state.standing().map_or(0, |standing| standing.hand_pot_credits),
                stack: standing.map_or(0, |standing| standing.stack_credits),
                in_round: standing.map_or(0, |standing| standing.in_round_credits),
            },
            round: hand.round,
            is_called: hand.called_by != 0,
        })
    }

    /// Returns the viewer's card with this code.
    pub(super) fn held(&self, code: &str) -> Option<Card> {
        let meant = self.rules.variant().deck.parse(code);
        self.hand.iter().copied().find(|&card| meant.contains(card))
    }

    pub(super) fn code(&self, card: Card) -> &'static str {
        self.rules.variant().deck.code(card)
    }
}

/// Returns the strength of a hand of these two cards.
fn strength_of(rules: &RuleSet, scale: &Evaluator, codes: [&str; 2]) -> Option<Strength> {
    let deck = rules.variant().deck;
    let cards: Cards = codes.iter().filter_map(|code| deck.parse(code).nth(0)).collect();
    scale.strength(&cards)
}

/// Returns the least strength of a hand that takes the Sabacc Pot, in the games to 23: that of +23 or
/// of -23.
fn least_special(game: &GameState, rules: &RuleSet, scale: &Evaluator) -> Option<Strength> {
    match game {
        GameState::Dice(_) | GameState::Electronic(_) | GameState::Swg(_) => {
            let strength = |codes| strength_of(rules, scale, codes);
            Some(strength(["S15", "C8"])?.min(strength(["EvilA", "EnduranceA"])?))
        }
        GameState::Coruscant(_)
        | GameState::Eleven(_)
        | GameState::Force(_)
        | GameState::Kessel(_)
        | GameState::Spike(_) => None,
    }
}

/// Top cards of the open discard piles: that of the only one, or of Sand and of Blood.
fn top_discards(game: &GameState) -> [Option<Card>; 2] {
    match game {
        GameState::Kessel(state) => [state.sand_discard, state.blood_discard],
        GameState::Spike(state) => [state.top_discard, None],
        GameState::Coruscant(_)
        | GameState::Dice(_)
        | GameState::Electronic(_)
        | GameState::Eleven(_)
        | GameState::Force(_)
        | GameState::Swg(_) => [None, None],
    }
}

/// Cards that are visible. Equal copies are counted, not distinguished.
struct VisibleCards<'a> {
    rules: &'a RuleSet,
    set: CardSet,
}

impl VisibleCards<'_> {
    fn card(&mut self, code: &str) -> Option<Card> {
        let card = self.rules.variant().deck.parse(code).minus(self.set).nth(0)?;
        self.set = self.set.with(card);
        Some(card)
    }

    /// Returns the cards of a hand that are not hidden.
    fn cards(&mut self, place: &HandSeat) -> Cards {
        place.cards.iter().filter_map(|held| self.card(&held.code)).collect()
    }

    fn locked(&self, place: &HandSeat, cards: &[Card]) -> Cards {
        let deck = self.rules.variant().deck;
        let codes = place.cards.iter().filter(|held| held.locked);
        let of = |code: &str| cards.iter().copied().find(|&card| deck.code(card) == code);
        codes.filter_map(|held| of(&held.code)).collect()
    }
}
