//! Legal moves: every move that a player may make, as ranges and choices instead of a list of each.
//!
//! Specification: rules/SPEC.md §4.2, §6.

use primitives::Credits;
use smallvec::SmallVec;

use crate::cards::{Card, Cards};
use crate::deck::Deck;
use crate::moves::{DrawSource, Move, Side};
use crate::player::PlayerSet;
use crate::token::ShiftToken;

/// All legal moves of one decision. `leave` is always legal and not listed.
pub type LegalMoves = SmallVec<[Legal; 8]>;

/// One kind of legal move with everything it may name. No list in it is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Legal {
    Draw,
    Trade(Cards),
    Stand,
    Lock(Cards),
    Unlock(Cards),
    Check,
    Bet {
        min: Credits,
        max: Credits,
    },
    /// Costs `amount`: the whole stack if it is smaller than what is to be matched.
    Match {
        amount: Credits,
    },
    /// `min` and `max` are totals in this betting round.
    Raise {
        min: Credits,
        max: Credits,
    },
    Fold,
    CallHand,
    /// Either side may be named.
    Align,
    Keep,
    Drop(Cards),
    /// Three different kinds of token, in any order.
    Choose,
    /// A token that needs no target.
    Token(ShiftToken),
    /// A token with the players who may be its target.
    TokenAt(ShiftToken, PlayerSet),
    Prime(SmallVec<[u8; 2]>),
    DrawFrom(DrawSource),
    Discard(Cards),
    Impostor {
        card: Card,
        values: SmallVec<[u8; 2]>,
    },
    Gain,
    /// One of these cards is discarded first.
    GainFor(Cards),
    Swap(Cards),
    Junk,
    /// From `min` to `max` of these cards.
    Select {
        cards: Cards,
        min: u8,
        max: u8,
    },
    /// Any of these cards, or none.
    Add(Cards),
}

impl Legal {
    /// The first word of the move's history line.
    #[must_use]
    pub const fn verb(&self) -> &'static str {
        match self {
            Legal::Draw | Legal::DrawFrom(_) => "draw",
            Legal::Trade(_) => "trade",
            Legal::Stand => "stand",
            Legal::Lock(_) => "lock",
            Legal::Unlock(_) => "unlock",
            Legal::Check => "check",
            Legal::Bet { .. } => "bet",
            Legal::Match { .. } => "match",
            Legal::Raise { .. } => "raise",
            Legal::Fold => "fold",
            Legal::CallHand => "call-hand",
            Legal::Align => "align",
            Legal::Keep => "keep",
            Legal::Drop(_) => "drop",
            Legal::Choose => "choose",
            Legal::Token(_) | Legal::TokenAt(..) => "token",
            Legal::Prime(_) => "prime",
            Legal::Discard(_) => "discard",
            Legal::Impostor { .. } => "impostor",
            Legal::Gain | Legal::GainFor(_) => "gain",
            Legal::Swap(_) => "swap",
            Legal::Junk => "junk",
            Legal::Select { .. } => "select",
            Legal::Add(_) => "add",
        }
    }

    /// Whether `mv` is one of the moves that this stands for.
    #[must_use]
    pub fn allows(&self, mv: &Move) -> bool {
        match (self, mv) {
            (Legal::Draw, Move::Draw)
            | (Legal::Stand, Move::Stand)
            | (Legal::Check, Move::Check)
            | (Legal::Match { .. }, Move::Match)
            | (Legal::Fold, Move::Fold)
            | (Legal::CallHand, Move::CallHand)
            | (Legal::Align, Move::Align(_))
            | (Legal::Keep, Move::Keep)
            | (Legal::Gain, Move::Gain(None))
            | (Legal::Junk, Move::Junk) => true,
            (Legal::Trade(cards), Move::Trade(card))
            | (Legal::Lock(cards), Move::Lock(card))
            | (Legal::Unlock(cards), Move::Unlock(card))
            | (Legal::Drop(cards), Move::Drop(card))
            | (Legal::Discard(cards), Move::Discard(card))
            | (Legal::GainFor(cards), Move::Gain(Some(card)))
            | (Legal::Swap(cards), Move::Swap(card)) => cards.contains(card),
            (Legal::Bet { min, max }, Move::Bet(amount))
            | (Legal::Raise { min, max }, Move::Raise(amount)) => (min..=max).contains(&amount),
            (Legal::Choose, Move::Choose([a, b, c])) => a != b && a != c && b != c,
            (Legal::Token(legal), Move::Token(token, None)) => legal == token,
            (Legal::TokenAt(legal, targets), Move::Token(token, Some(target))) => {
                legal == token && targets.contains(*target)
            }
            (Legal::Prime(values), Move::Prime(value)) => values.contains(value),
            (Legal::DrawFrom(legal), Move::DrawFrom(source)) => legal == source,
            (Legal::Impostor { card: due, values }, Move::Impostor { card, value }) => {
                due == card && values.contains(value)
            }
            (Legal::Select { cards, min, max }, Move::Select(picked)) => {
                (usize::from(*min)..=usize::from(*max)).contains(&picked.len())
                    && are_distinct_members(picked, cards)
            }
            (Legal::Add(cards), Move::Add(picked)) => are_distinct_members(picked, cards),
            (
                Legal::Draw
                | Legal::Trade(_)
                | Legal::Stand
                | Legal::Lock(_)
                | Legal::Unlock(_)
                | Legal::Check
                | Legal::Bet { .. }
                | Legal::Match { .. }
                | Legal::Raise { .. }
                | Legal::Fold
                | Legal::CallHand
                | Legal::Align
                | Legal::Keep
                | Legal::Drop(_)
                | Legal::Choose
                | Legal::Token(_)
                | Legal::TokenAt(..)
                | Legal::Prime(_)
                | Legal::DrawFrom(_)
                | Legal::Discard(_)
                | Legal::Impostor { .. }
                | Legal::Gain
                | Legal::GainFor(_)
                | Legal::Swap(_)
                | Legal::Junk
                | Legal::Select { .. }
                | Legal::Add(_),
                _,
            ) => false,
        }
    }

    /// The cards that the move may name, in the order they are held.
    fn cards(&self) -> &[Card] {
        match self {
            Legal::Trade(cards)
            | Legal::Lock(cards)
            | Legal::Unlock(cards)
            | Legal::Drop(cards)
            | Legal::Discard(cards)
            | Legal::GainFor(cards)
            | Legal::Swap(cards)
            | Legal::Select { cards, .. }
            | Legal::Add(cards) => cards,
            Legal::Draw
            | Legal::Stand
            | Legal::Check
            | Legal::Bet { .. }
            | Legal::Match { .. }
            | Legal::Raise { .. }
            | Legal::Fold
            | Legal::CallHand
            | Legal::Align
            | Legal::Keep
            | Legal::Choose
            | Legal::Token(_)
            | Legal::TokenAt(..)
            | Legal::Prime(_)
            | Legal::DrawFrom(_)
            | Legal::Impostor { .. }
            | Legal::Gain
            | Legal::Junk => &[],
        }
    }

    /// Text for a reader: `bet 10..490`, `trade C11|S5`, `token target-audit p2|p3`.
    #[must_use]
    pub fn text(&self, deck: &Deck) -> String {
        let verb = self.verb();
        let of = |cards: &[Card]| {
            let mut codes: Vec<&str> = Vec::with_capacity(cards.len());
            for &card in cards {
                let code = deck.code(card);
                if !codes.contains(&code) {
                    codes.push(code);
                }
            }
            format!("{verb} {}", codes.join("|"))
        };
        let among = |values: &[u8]| {
            let mut faces: Vec<String> = values.iter().map(u8::to_string).collect();
            faces.dedup();
            faces.join("|")
        };
        match self {
            Legal::Draw
            | Legal::Stand
            | Legal::Check
            | Legal::Match { .. }
            | Legal::Fold
            | Legal::CallHand
            | Legal::Keep
            | Legal::Gain
            | Legal::Junk => verb.to_owned(),
            Legal::Trade(cards)
            | Legal::Lock(cards)
            | Legal::Unlock(cards)
            | Legal::Drop(cards)
            | Legal::Discard(cards)
            | Legal::GainFor(cards)
            | Legal::Swap(cards)
            | Legal::Select { cards, .. }
            | Legal::Add(cards) => of(cards),
            Legal::Bet { min, max } | Legal::Raise { min, max } => format!("{verb} {min}..{max}"),
            Legal::Align => {
                format!("{verb} {}|{}", Side::Light.name(), Side::Dark.name())
            }
            Legal::Choose => {
                let names: Vec<&str> = ShiftToken::ALL.iter().map(|token| token.name()).collect();
                format!("{verb} {}", names.join("|"))
            }
            Legal::Token(token) => format!("{verb} {token}"),
            Legal::TokenAt(token, targets) => {
                let names: Vec<String> = targets.iter().map(|player| player.to_string()).collect();
                format!("{verb} {token} {}", names.join("|"))
            }
            Legal::Prime(values) => format!("{verb} {}", among(values)),
            Legal::DrawFrom(source) => format!("{verb} {}", source.name()),
            Legal::Impostor { card, values } => {
                format!("{verb} {} {}", deck.code(*card), among(values))
            }
        }
    }

    /// Picks one concrete move at random. `choose(n)` returns a number below `n`; `n` is never 0.
    /// Half of all bets and raises are the smallest, a quarter go up to twice that, and a quarter
    /// are any: otherwise random hands would end all-in at once.
    pub fn random_move(&self, choose: &mut dyn FnMut(u64) -> u64) -> Move {
        match self {
            Legal::Draw => Move::Draw,
            Legal::Stand => Move::Stand,
            Legal::Check => Move::Check,
            Legal::Match { .. } => Move::Match,
            Legal::Fold => Move::Fold,
            Legal::CallHand => Move::CallHand,
            Legal::Keep => Move::Keep,
            Legal::Gain => Move::Gain(None),
            Legal::Junk => Move::Junk,
            Legal::Trade(cards) => Move::Trade(random_item(cards, choose)),
            Legal::Lock(cards) => Move::Lock(random_item(cards, choose)),
            Legal::Unlock(cards) => Move::Unlock(random_item(cards, choose)),
            Legal::Drop(cards) => Move::Drop(random_item(cards, choose)),
            Legal::Discard(cards) => Move::Discard(random_item(cards, choose)),
            Legal::GainFor(cards) => Move::Gain(Some(random_item(cards, choose))),
            Legal::Swap(cards) => Move::Swap(random_item(cards, choose)),
            Legal::Bet { min, max } => Move::Bet(random_amount(*min, *max, choose)),
            Legal::Raise { min, max } => Move::Raise(random_amount(*min, *max, choose)),
            Legal::Align => Move::Align(random_item(&[Side::Light, Side::Dark], choose)),
            Legal::Choose => {
                let mut kinds: SmallVec<[ShiftToken; 16]> = SmallVec::from_slice(&ShiftToken::ALL);
                Move::Choose(std::array::from_fn(|_| take_random(&mut kinds, choose)))
            }
            Legal::Token(token) => Move::Token(*token, None),
            Legal::TokenAt(token, targets) => {
                let targets: SmallVec<[_; 8]> = targets.iter().collect();
                Move::Token(*token, Some(random_item(&targets, choose)))
            }
            Legal::Prime(values) => Move::Prime(random_item(values, choose)),
            Legal::DrawFrom(source) => Move::DrawFrom(*source),
            Legal::Impostor { card, values } => {
                Move::Impostor { card: *card, value: random_item(values, choose) }
            }
            Legal::Select { cards, min, max } => {
                let spread = u64::from(max.saturating_sub(*min)).saturating_add(1);
                let count = u64::from(*min).saturating_add(choose(spread));
                Move::Select(random_subset(cards, count, choose))
            }
            Legal::Add(cards) => {
                let count = choose(count_of(cards).saturating_add(1));
                Move::Add(random_subset(cards, count, choose))
            }
        }
    }
}

/// Replaces each card of the move by the first legal card that is alike: copies look alike, so it
/// must not matter which of them is named.
pub(crate) fn with_first_copies(mv: Move, legal: &[Legal], deck: &Deck) -> Move {
    let first = |card: Card, taken: &[Card]| {
        if !deck.has_copies(card) {
            return card;
        }
        let listed = legal.iter().filter(|legal| legal.verb() == mv.verb());
        let mut listed = listed.flat_map(|legal| legal.cards()).copied();
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
    match &mv {
        Move::Trade(card) => Move::Trade(first(*card, &[])),
        Move::Lock(card) => Move::Lock(first(*card, &[])),
        Move::Unlock(card) => Move::Unlock(first(*card, &[])),
        Move::Drop(card) => Move::Drop(first(*card, &[])),
        Move::Discard(card) => Move::Discard(first(*card, &[])),
        Move::Gain(Some(card)) => Move::Gain(Some(first(*card, &[]))),
        Move::Swap(card) => Move::Swap(first(*card, &[])),
        Move::Select(cards) => Move::Select(firsts(cards)),
        Move::Add(cards) => Move::Add(firsts(cards)),
        Move::Draw
        | Move::Stand
        | Move::Check
        | Move::Bet(_)
        | Move::Match
        | Move::Raise(_)
        | Move::Fold
        | Move::CallHand
        | Move::Leave
        | Move::Align(_)
        | Move::Keep
        | Move::Choose(_)
        | Move::Token(..)
        | Move::Prime(_)
        | Move::DrawFrom(_)
        | Move::Impostor { .. }
        | Move::Gain(None)
        | Move::Junk => mv,
    }
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

fn take_random(
    kinds: &mut SmallVec<[ShiftToken; 16]>,
    choose: &mut dyn FnMut(u64) -> u64,
) -> ShiftToken {
    let at = random_index(count_of(kinds), choose);
    kinds.remove(at)
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
