//! Form of a move: what each of its arguments may be, chosen by keys.
//!
//! Each choice has a sign, `1` to `9` and then letters. Arrows move, Space chooses, Enter confirms,
//! Escape goes back. Digits write an amount, and letters take amounts that are often meant.

use proto::common::v1::{LegalMove, Move, MoveArgument, MoveKind};

use crate::key::Key;
use crate::verbs;

/// Signs of choices, in their order.
const SIGNS: &str = "123456789abcdefghijklmnoprstuvwxyz";

/// Argument of a move that is one or several of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub argument: MoveArgument,
    pub items: Vec<String>,
    pub least: usize,
    pub most: usize,
    /// Chosen items, in the order they were chosen.
    pub chosen: Vec<usize>,
}

/// Amount of credits within bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount {
    pub least: u64,
    pub most: u64,
    pub value: u64,
    is_typed: bool,
}

/// Amount that is often meant, with its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    pub key: char,
    pub label: &'static str,
    pub value: u64,
}

/// Form of one move.
#[derive(Debug, Clone)]
pub struct Composer {
    pub legal: LegalMove,
    pub choices: Vec<Choice>,
    pub amount: Option<Amount>,
    pub presets: Vec<Preset>,
    /// Position of the arrows among the open items.
    pub cursor: usize,
}

/// Outcome of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Open,
    Cancelled,
    Done(Move),
}

impl Choice {
    fn new(legal: &LegalMove, argument: MoveArgument) -> Choice {
        let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let texts = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>();
        let names = size(legal.names_count.max(1));
        let (items, least, most) = match argument {
            MoveArgument::Cards => {
                (legal.cards.clone(), size(legal.min_cards), size(legal.max_cards))
            }
            MoveArgument::Seat => (texts(&legal.target_seats), 1, 1),
            MoveArgument::Value => (texts(&legal.values), 1, 1),
            MoveArgument::Side
            | MoveArgument::Pile
            | MoveArgument::Tokens
            | MoveArgument::Unspecified
            | MoveArgument::Amount => (legal.names.clone(), names, names),
        };
        let mut choice = Choice { argument, items, least, most, chosen: Vec::new() };
        if choice.is_fixed() {
            choice.chosen = (0..choice.items.len()).collect();
        }
        choice
    }

    /// Whether it can only be one thing.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.least == self.most && self.items.len() == self.least
    }

    fn is_complete(&self) -> bool {
        (self.least..=self.most).contains(&self.chosen.len())
    }

    fn toggle(&mut self, item: usize) {
        if let Some(at) = self.chosen.iter().position(|&chosen| chosen == item) {
            self.chosen.remove(at);
            return;
        }
        self.chosen.push(item);
        if self.chosen.len() > self.most {
            self.chosen.remove(0);
        }
    }

    fn names(&self) -> Vec<String> {
        self.chosen.iter().filter_map(|&at| self.items.get(at).cloned()).collect()
    }
}

impl Amount {
    /// Begins at `value`, within the bounds.
    #[must_use]
    pub fn new(least: u64, most: u64, value: u64) -> Amount {
        let most = most.max(least);
        Amount { least, most, value: value.clamp(least, most), is_typed: false }
    }

    /// Whether it is within its bounds: a number that is being written may not be.
    #[must_use]
    pub fn is_in_range(&self) -> bool {
        (self.least..=self.most).contains(&self.value)
    }

    /// Part of the way from the least to the most, in thousandths.
    #[must_use]
    pub fn permille(&self) -> u64 {
        let (span, at) = (self.most - self.least, self.value.saturating_sub(self.least));
        at.min(span).saturating_mul(1000).checked_div(span).unwrap_or(1000)
    }

    /// Takes a key; false: it is no key of an amount.
    pub fn key(&mut self, key: Key) -> bool {
        let step = ((self.most - self.least) / 20).max(1);
        let value = match key {
            Key::Left | Key::Down | Key::Char('-') => self.value.saturating_sub(1),
            Key::Right | Key::Up | Key::Char('+') => self.value.saturating_add(1),
            Key::PageDown => self.value.saturating_sub(step),
            Key::PageUp => self.value.saturating_add(step),
            Key::Home => self.least,
            Key::End => self.most,
            Key::Backspace => {
                (self.value, self.is_typed) = (self.value / 10, true);
                return true;
            }
            Key::Char(digit) if digit.is_ascii_digit() => {
                let before = if self.is_typed { self.value } else { 0 };
                let digit = u64::from(digit.to_digit(10).unwrap_or(0));
                let typed = before.saturating_mul(10).saturating_add(digit);
                (self.value, self.is_typed) = (typed.min(self.most), true);
                return true;
            }
            Key::Char(_) | Key::Enter | Key::Escape | Key::Tab => return false,
        };
        self.set(value);
        true
    }

    fn set(&mut self, value: u64) {
        (self.value, self.is_typed) = (value.clamp(self.least, self.most), false);
    }
}

impl Composer {
    /// Opens the form of a move; `pot` and `to_match` are the table's, for amounts that are often
    /// meant.
    #[must_use]
    pub fn new(legal: LegalMove, pot: u64, to_match: u64) -> Composer {
        let arguments =
            || legal.move_arguments.iter().filter_map(|&it| MoveArgument::try_from(it).ok());
        let choices = arguments().filter(|&argument| argument != MoveArgument::Amount);
        let choices = choices.map(|argument| Choice::new(&legal, argument)).collect();
        let takes_amount = verbs::takes(&legal, MoveArgument::Amount);
        let amount = Amount::new(legal.min_credits, legal.max_credits, legal.min_credits);
        let amount = takes_amount.then_some(amount);
        let base = if legal.kind() == MoveKind::Raise { to_match } else { 0 };
        let presets = amount.map_or_else(Vec::new, |amount| presets(amount, pot, base));
        Composer { legal, choices, amount, presets, cursor: 0 }
    }

    /// Returns the move where nothing is left to choose.
    #[must_use]
    pub fn decided(&self) -> Option<Move> {
        let is_open = self.open().is_some() || self.open_amount().is_some();
        (!is_open).then(|| self.to_move())
    }

    /// Returns the choice that keys choose in: the first that is not complete, or the last.
    #[must_use]
    pub fn open(&self) -> Option<&Choice> {
        self.open_index().and_then(|at| self.choices.get(at))
    }

    fn open_index(&self) -> Option<usize> {
        let free = |choice: &&(usize, &Choice)| !choice.1.is_fixed();
        let all: Vec<(usize, &Choice)> = self.choices.iter().enumerate().collect();
        let incomplete = all.iter().filter(free).find(|it| it.1.chosen.len() < it.1.least);
        incomplete.or_else(|| all.iter().rfind(free)).map(|it| it.0)
    }

    /// Returns the amount, if it is not fixed.
    #[must_use]
    pub fn open_amount(&self) -> Option<&Amount> {
        self.amount.as_ref().filter(|amount| amount.least != amount.most)
    }

    /// Whether all that has to be chosen is.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.choices.iter().all(Choice::is_complete)
            && self.amount.is_none_or(|amount| amount.is_in_range())
    }

    /// Takes a key.
    pub fn key(&mut self, key: Key) -> Step {
        match key {
            Key::Escape => return Step::Cancelled,
            Key::Enter if self.is_complete() => return Step::Done(self.to_move()),
            Key::Enter => return self.choose(self.cursor),
            Key::Char(_)
            | Key::Backspace
            | Key::Tab
            | Key::Left
            | Key::Right
            | Key::Up
            | Key::Down
            | Key::PageUp
            | Key::PageDown
            | Key::Home
            | Key::End => {}
        }
        if self.open_index().is_some() {
            return self.choice_key(key);
        }
        if let (Some(amount), Key::Char(letter)) = (&mut self.amount, key)
            && let Some(preset) = self.presets.iter().find(|preset| preset.key == letter)
        {
            amount.set(preset.value);
        } else if let Some(amount) = &mut self.amount {
            amount.key(key);
        }
        Step::Open
    }

    fn choice_key(&mut self, key: Key) -> Step {
        let items = self.open().map_or(0, |choice| choice.items.len());
        match key {
            Key::Left | Key::Up => self.cursor = self.cursor.saturating_sub(1),
            Key::Right | Key::Down | Key::Tab => {
                self.cursor = (self.cursor + 1).min(items.saturating_sub(1));
            }
            Key::Home => self.cursor = 0,
            Key::End => self.cursor = items.saturating_sub(1),
            Key::Char(' ') => return self.choose(self.cursor),
            Key::Char(sign) => {
                if let Some(at) = SIGNS.chars().position(|it| it == sign) {
                    return self.choose(at);
                }
            }
            Key::Enter | Key::Escape | Key::Backspace | Key::PageUp | Key::PageDown => {}
        }
        Step::Open
    }

    /// Chooses an item, or takes it back; where one is all there is to choose, the move is made.
    fn choose(&mut self, item: usize) -> Step {
        let Some(at) = self.open_index() else { return Step::Open };
        let free = self.choices.iter().filter(|choice| !choice.is_fixed()).count();
        let Some(choice) = self.choices.get_mut(at).filter(|choice| item < choice.items.len())
        else {
            return Step::Open;
        };
        self.cursor = item;
        choice.toggle(item);
        let is_all = free == 1 && choice.least == 1 && choice.most == 1 && self.amount.is_none();
        if is_all && choice.chosen.len() == 1 {
            return Step::Done(self.to_move());
        }
        if choice.chosen.len() == choice.most {
            let next = self.open_index();
            if next != Some(at) {
                self.cursor = 0;
            }
        }
        Step::Open
    }

    /// Returns the move as it stands.
    fn to_move(&self) -> Move {
        let mut made = Move { kind: self.legal.kind, ..Move::default() };
        made.amount_credits = self.amount.map_or(0, |amount| amount.value);
        for choice in &self.choices {
            let names = choice.names();
            let number = || names.first().and_then(|name| name.parse().ok()).unwrap_or_default();
            match choice.argument {
                MoveArgument::Cards => made.cards = names,
                MoveArgument::Seat => made.target_seat = number(),
                MoveArgument::Value => made.value = number(),
                MoveArgument::Side
                | MoveArgument::Pile
                | MoveArgument::Tokens
                | MoveArgument::Unspecified
                | MoveArgument::Amount => made.names = names,
            }
        }
        made
    }
}

/// Sign of the choice at a position.
#[must_use]
pub fn sign(at: usize) -> char {
    SIGNS.chars().nth(at).unwrap_or(' ')
}

fn presets(amount: Amount, pot: u64, base: u64) -> Vec<Preset> {
    let preset = |key, label, value| Preset { key, label, value };
    let all = [
        preset('l', "least", amount.least),
        preset('h', "half pot", base.saturating_add(pot / 2)),
        preset('p', "pot", base.saturating_add(pot)),
        preset('t', "twice pot", base.saturating_add(pot.saturating_mul(2))),
        preset('a', "all in", amount.most),
    ];
    let is_end = |it: &Preset| matches!(it.key, 'l' | 'a');
    let within = |it: &Preset| it.value > amount.least && it.value < amount.most;
    all.into_iter().filter(|it| is_end(it) || within(it)).collect()
}

#[cfg(test)]
mod tests;
