//! Situation of the viewer, in cards instead of codes.

use client::TableState;
use proto::common::v1::LegalMove;
use proto::table::v1::{HandSeat, Turn};
use rules::{Card, CardSet, Cards, Evaluator, FieldValue, RuleSet};

use super::lines::LineFacts;

/// Facts for a decision.
pub(super) struct Situation<'a> {
    pub(super) rules: &'a RuleSet,
    pub(super) scale: Evaluator,
    pub(super) legal: &'a [LegalMove],
    pub(super) line_facts: LineFacts,
    /// The viewer's hand, newest last.
    pub(super) hand: Cards,
    /// The locked cards of the viewer's hand.
    pub(super) locked: Cards,
    /// Opponents who can still win.
    pub(super) opponents: Vec<Opponent>,
    /// Cards without a known place, by pile.
    pub(super) unseen: Vec<Vec<Card>>,
    pub(super) money: Money,
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
        let mut told = LineFacts::of(state.lines(), me + 1, deck);
        for fact in &hand.facts {
            if told.facts.iter().all(|(name, _)| *name != fact.name) {
                told.facts.push((fact.name.clone(), fact.value.clone()));
            }
        }
        let scale = Evaluator::for_rules(rules, &told.facts)?;
        let mut seen = VisibleCards { rules, set: CardSet::EMPTY };
        let mine = seen.cards(hand.seats.get(me)?);
        let locked = seen.locked(hand.seats.get(me)?, &mine);
        let out = |number: usize, place: &HandSeat| {
            let standing = state.standing();
            let standing = standing.and_then(|all| all.seats.iter().find(|s| s.seat == place.seat));
            told.out.contains(&number) || standing.is_some_and(|standing| standing.status == "out")
        };
        let mut others = Vec::new();
        for (number, place) in (1..).zip(&hand.seats) {
            let open = if number == me + 1 { continue } else { seen.cards(place) };
            if !out(number, place) {
                others
                    .push(Opponent { hidden: place.cards.len().saturating_sub(open.len()), open });
            }
        }
        // The top card of each open pile is known.
        let families: &[&str] = if rules.variant().piles.len() > 1 { &["s", "b"] } else { &[""] };
        for code in families.iter().filter_map(|family| told.top_discard(family)) {
            seen.card(code);
        }
        let unseen = rules.variant().piles.iter();
        let unseen = unseen
            .map(|pile| pile.cards().filter(|&card| !seen.set.contains(card)).collect())
            .collect();
        let standing = state.my_standing();
        Some(Situation {
            rules,
            scale,
            legal: &turn.legal,
            line_facts: told,
            hand: mine,
            locked,
            opponents: others,
            unseen,
            money: Money {
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

    fn field(&self, name: &str) -> Option<FieldValue> {
        self.rules.fields().find(|(field, _)| field.name() == name).map(|(_, value)| value)
    }

    pub(super) fn number_of(&self, name: &str) -> u64 {
        match self.field(name) {
            Some(FieldValue::Number(number)) => number,
            Some(FieldValue::Text(_) | FieldValue::Flag(_) | FieldValue::List(_)) | None => 0,
        }
    }

    pub(super) fn text_is(&self, name: &str, value: &str) -> bool {
        self.field(name) == Some(FieldValue::Text(value.to_owned()))
    }

    pub(super) fn flag_is_on(&self, name: &str) -> bool {
        self.field(name) == Some(FieldValue::Flag(true))
    }
}

/// Cards that are visible. Equal copies are counted, not told apart.
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
