//! Legal moves: every move that a player may make, as ranges and choices instead of a list of each.
//!
//! Specification: rules/SPEC.md §4.2, §6.

use primitives::Credits;
use smallvec::SmallVec;

use crate::cards::{Card, Cards};
use crate::deck::Deck;
use crate::moves::{Arguments, DrawSource, Move, MoveKind, Shape, Side};
use crate::player::PlayerSet;
use crate::token::ShiftToken;

/// All legal moves of one decision. `leave` is always legal and not listed.
pub type LegalMoves = SmallVec<[Legal; 8]>;

/// One kind of legal move with everything it may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Legal {
    pub kind: MoveKind,
    /// Choices of the shape of the kind's arguments.
    pub choices: Choices,
}

/// Choices of a legal move. No list is empty but where it says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choices {
    Nothing,
    /// Nothing to choose. The move costs this: the whole stack if it is smaller than what is to be
    /// matched.
    Price(Credits),
    /// For a raise, totals in this betting round.
    Amount {
        min: Credits,
        max: Credits,
    },
    /// One of these cards.
    Card(Cards),
    /// One of these cards; no card if there are none.
    OptionalCard(Cards),
    /// From `min` to `max` of these cards.
    Cards {
        cards: Cards,
        min: u8,
        max: u8,
    },
    /// Any of these cards, or none.
    AnyCards(Cards),
    /// Either side.
    Side,
    Pile(DrawSource),
    /// Three different kinds of token, in any order.
    Tokens,
    /// A token with the players who may be its target; without a target if there are none.
    Token(ShiftToken, PlayerSet),
    Die(SmallVec<[u8; 2]>),
    /// A card with the values that it may be given.
    CardAndDie(Card, SmallVec<[u8; 2]>),
}

impl Legal {
    pub fn new(kind: MoveKind, choices: Choices) -> Legal {
        debug_assert_eq!(kind.shape(), choices.shape(), "{kind:?}");
        Legal { kind, choices }
    }

    /// A move without arguments.
    pub fn plain(kind: MoveKind) -> Legal {
        Legal::new(kind, Choices::Nothing)
    }

    /// A move that names one of these cards.
    pub fn card(kind: MoveKind, cards: Cards) -> Legal {
        Legal::new(kind, Choices::Card(cards))
    }

    /// The first word of the move's history line.
    #[must_use]
    pub const fn verb(&self) -> &'static str {
        self.kind.verb()
    }

    /// Whether `mv` is one of the moves that this stands for.
    #[must_use]
    pub fn allows(&self, mv: &Move) -> bool {
        self.kind == mv.kind() && self.choices.allow(&mv.arguments())
    }

    /// Text for a reader: `bet 10..490`, `trade C11|S5`, `token target-audit p2|p3`.
    #[must_use]
    pub fn text(&self, deck: &Deck) -> String {
        let (verb, choices) = (self.verb(), self.choices.text(deck));
        if choices.is_empty() { verb.to_owned() } else { format!("{verb} {choices}") }
    }

    /// Picks one concrete move at random. `choose(n)` returns a number below `n`; `n` is never 0.
    /// Half of all bets and raises are the smallest, a quarter go up to twice that, and a quarter
    /// are any: otherwise random hands would end all-in at once.
    ///
    /// # Panics
    /// The choices are not of the kind's shape.
    pub fn random_move(&self, choose: &mut dyn FnMut(u64) -> u64) -> Move {
        let picked = self.kind.with(self.choices.random_arguments(choose));
        picked.expect("choices have the shape of their kind")
    }
}

impl Choices {
    const fn shape(&self) -> Shape {
        match self {
            Choices::Nothing | Choices::Price(_) => Shape::Nothing,
            Choices::Amount { .. } => Shape::Amount,
            Choices::Card(_) => Shape::Card,
            Choices::OptionalCard(_) => Shape::OptionalCard,
            Choices::Cards { .. } => Shape::Cards,
            Choices::AnyCards(_) => Shape::AnyCards,
            Choices::Side => Shape::Side,
            Choices::Pile(_) => Shape::Pile,
            Choices::Tokens => Shape::Tokens,
            Choices::Token(..) => Shape::Token,
            Choices::Die(_) => Shape::Die,
            Choices::CardAndDie(..) => Shape::CardAndDie,
        }
    }

    /// Whether these arguments, which have the shape of the choices, may be chosen.
    fn allow(&self, arguments: &Arguments) -> bool {
        match (self, arguments) {
            (Choices::Nothing | Choices::Price(_), Arguments::Nothing)
            | (Choices::Side, Arguments::Side(_)) => true,
            (Choices::Amount { min, max }, Arguments::Amount(amount)) => {
                (min..=max).contains(&amount)
            }
            (Choices::Card(cards), Arguments::Card(card))
            | (Choices::OptionalCard(cards), Arguments::OptionalCard(Some(card))) => {
                cards.contains(card)
            }
            (Choices::OptionalCard(cards), Arguments::OptionalCard(None)) => cards.is_empty(),
            (Choices::Cards { cards, min, max }, Arguments::Cards(picked)) => {
                (usize::from(*min)..=usize::from(*max)).contains(&picked.len())
                    && are_distinct_members(picked, cards)
            }
            (Choices::AnyCards(cards), Arguments::AnyCards(picked)) => {
                are_distinct_members(picked, cards)
            }
            (Choices::Pile(legal), Arguments::Pile(source)) => legal == source,
            (Choices::Tokens, Arguments::Tokens([a, b, c])) => a != b && a != c && b != c,
            (Choices::Token(legal, targets), Arguments::Token(token, target)) => {
                let may = |player| targets.contains(player);
                legal == token && target.map_or(targets.is_empty(), may)
            }
            (Choices::Die(values), Arguments::Die(value)) => values.contains(value),
            (Choices::CardAndDie(due, values), Arguments::CardAndDie(card, value)) => {
                due == card && values.contains(value)
            }
            (
                Choices::Nothing
                | Choices::Price(_)
                | Choices::Amount { .. }
                | Choices::Card(_)
                | Choices::OptionalCard(_)
                | Choices::Cards { .. }
                | Choices::AnyCards(_)
                | Choices::Side
                | Choices::Pile(_)
                | Choices::Tokens
                | Choices::Token(..)
                | Choices::Die(_)
                | Choices::CardAndDie(..),
                _,
            ) => false,
        }
    }

    /// The cards that the move may name, in the order they are held.
    #[must_use]
    pub fn cards(&self) -> &[Card] {
        match self {
            Choices::Card(cards)
            | Choices::OptionalCard(cards)
            | Choices::Cards { cards, .. }
            | Choices::AnyCards(cards) => cards,
            Choices::CardAndDie(card, _) => std::slice::from_ref(card),
            Choices::Nothing
            | Choices::Price(_)
            | Choices::Amount { .. }
            | Choices::Side
            | Choices::Pile(_)
            | Choices::Tokens
            | Choices::Token(..)
            | Choices::Die(_) => &[],
        }
    }

    /// The names that the move may name.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        match self {
            Choices::Side => Side::ALL.map(Side::name).to_vec(),
            Choices::Tokens => ShiftToken::ALL.map(ShiftToken::name).to_vec(),
            Choices::Pile(source) => vec![source.name()],
            Choices::Token(token, _) => vec![token.name()],
            Choices::Nothing
            | Choices::Price(_)
            | Choices::Amount { .. }
            | Choices::Card(_)
            | Choices::OptionalCard(_)
            | Choices::Cards { .. }
            | Choices::AnyCards(_)
            | Choices::Die(_)
            | Choices::CardAndDie(..) => Vec::new(),
        }
    }

    fn text(&self, deck: &Deck) -> String {
        match self {
            Choices::Nothing | Choices::Price(_) => String::new(),
            Choices::Amount { min, max } => format!("{min}..{max}"),
            Choices::Card(cards)
            | Choices::OptionalCard(cards)
            | Choices::Cards { cards, .. }
            | Choices::AnyCards(cards) => alternatives(cards.iter().map(|card| deck.code(*card))),
            Choices::Side | Choices::Pile(_) | Choices::Tokens => self.names().join("|"),
            Choices::Token(token, targets) if targets.is_empty() => token.to_string(),
            Choices::Token(token, targets) => format!("{token} {}", alternatives(targets.iter())),
            Choices::Die(values) => alternatives(values.iter()),
            Choices::CardAndDie(card, values) => {
                format!("{} {}", deck.code(*card), alternatives(values.iter()))
            }
        }
    }

    fn random_arguments(&self, choose: &mut dyn FnMut(u64) -> u64) -> Arguments {
        match self {
            Choices::Nothing | Choices::Price(_) => Arguments::Nothing,
            Choices::Amount { min, max } => Arguments::Amount(random_amount(*min, *max, choose)),
            Choices::Card(cards) => Arguments::Card(random_item(cards, choose)),
            Choices::OptionalCard(cards) => {
                let any = !cards.is_empty();
                Arguments::OptionalCard(any.then(|| random_item(cards, choose)))
            }
            Choices::Cards { cards, min, max } => {
                let spread = u64::from(max.saturating_sub(*min)).saturating_add(1);
                let count = u64::from(*min).saturating_add(choose(spread));
                Arguments::Cards(random_subset(cards, count, choose))
            }
            Choices::AnyCards(cards) => {
                let count = choose(count_of(cards).saturating_add(1));
                Arguments::AnyCards(random_subset(cards, count, choose))
            }
            Choices::Side => Arguments::Side(random_item(&Side::ALL, choose)),
            Choices::Pile(source) => Arguments::Pile(*source),
            Choices::Tokens => {
                let mut kinds: SmallVec<[ShiftToken; 16]> = SmallVec::from(ShiftToken::ALL);
                let take = |_| kinds.remove(random_index(count_of(&kinds), choose));
                Arguments::Tokens(std::array::from_fn(take))
            }
            Choices::Token(token, targets) => {
                let targets: SmallVec<[_; 8]> = targets.iter().collect();
                let target = (!targets.is_empty()).then(|| random_item(&targets, choose));
                Arguments::Token(*token, target)
            }
            Choices::Die(values) => Arguments::Die(random_item(values, choose)),
            Choices::CardAndDie(card, values) => {
                Arguments::CardAndDie(*card, random_item(values, choose))
            }
        }
    }
}

/// Replaces each card of the move by the first legal card that is alike: copies look alike, so it
/// must not matter which of them is named. An Impostor is left as it is.
pub(crate) fn with_first_copies(mv: Move, legal: &[Legal], deck: &Deck) -> Move {
    let first = |card: Card, taken: &[Card]| {
        if !deck.has_copies(card) {
            return card;
        }
        let listed = legal.iter().filter(|legal| legal.verb() == mv.verb());
        let mut listed = listed.flat_map(|legal| legal.choices.cards()).copied();
        let stands_for = |&other: &Card| deck.are_copies(card, other) && !taken.contains(&other);
        listed.find(stands_for).unwrap_or(card)
    };
    let firsts = |cards: &[Card]| {
        let mut taken = Cards::new();
        for &card in cards {
            taken.push(first(card, &taken));
        }
        taken
    };
    let arguments = match mv.arguments() {
        Arguments::Card(card) => Arguments::Card(first(card, &[])),
        Arguments::OptionalCard(card) => Arguments::OptionalCard(card.map(|card| first(card, &[]))),
        Arguments::Cards(cards) => Arguments::Cards(firsts(&cards)),
        Arguments::AnyCards(cards) => Arguments::AnyCards(firsts(&cards)),
        Arguments::Nothing
        | Arguments::Amount(_)
        | Arguments::Side(_)
        | Arguments::Pile(_)
        | Arguments::Tokens(_)
        | Arguments::Token(..)
        | Arguments::Die(_)
        | Arguments::CardAndDie(..) => return mv,
    };
    mv.kind().with(arguments).unwrap_or(mv)
}

/// Text of each of the items once, in order: `C11|S5`.
fn alternatives<T: ToString>(items: impl Iterator<Item = T>) -> String {
    let mut texts: Vec<String> = Vec::new();
    for text in items.map(|item| item.to_string()) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.join("|")
}

fn are_distinct_members(picked: &[Card], cards: &[Card]) -> bool {
    picked
        .iter()
        .enumerate()
        .all(|(at, card)| cards.contains(card) && !picked[at + 1..].contains(card))
}

fn count_of<T>(items: &[T]) -> u64 {
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}

fn random_index(below: u64, choose: &mut dyn FnMut(u64) -> u64) -> usize {
    usize::try_from(choose(below)).unwrap_or(0)
}

/// Picks one item. `items` must not be empty, and `choose` must stay below its argument.
fn random_item<T: Copy>(items: &[T], choose: &mut dyn FnMut(u64) -> u64) -> T {
    items[random_index(count_of(items), choose)]
}

/// Picks `count` of the cards, in the order they are held.
fn random_subset(cards: &[Card], count: u64, choose: &mut dyn FnMut(u64) -> u64) -> Cards {
    let (mut wanted, mut left) = (count, count_of(cards));
    let mut picked = Cards::new();
    for &card in cards {
        if choose(left.max(1)) < wanted {
            picked.push(card);
            wanted = wanted.saturating_sub(1);
        }
        left = left.saturating_sub(1);
    }
    picked
}

fn random_amount(min: Credits, max: Credits, choose: &mut dyn FnMut(u64) -> u64) -> Credits {
    let spread = max.saturating_minus(min).get();
    let above = match choose(4) {
        0 | 1 => 0,
        2 => choose(spread.min(min.get()).saturating_add(1)),
        _ => choose(spread.saturating_add(1)),
    };
    Credits::try_new(min.get().saturating_add(above)).map_or(max, |amount| amount.min(max))
}
