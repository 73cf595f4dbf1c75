//! The fields of rule sets: their names, values and meaning.
//!
//! Specification: rules/SPEC.md §8.1.

use std::ops::RangeInclusive;

use primitives::Credits;

use crate::ruleset::{
    Alignment, AssignedTokens, BombOut, Preset, Ranking, SabaccAnte, Shift, Stakes, TokenDeal,
};
use crate::token::ShiftToken;
use crate::variant::Variant;

/// The value of a field as a file or a request has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    Number(u64),
    Text(String),
    Flag(bool),
    List(Vec<String>),
}

/// A field of a variant, with its default there.
#[derive(Debug)]
pub struct Field {
    pub(crate) key: Key,
    pub(crate) default: DefaultValue,
    /// Values that a text may have. Empty for the other kinds.
    pub choices: &'static [&'static str],
}

/// Default value of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) enum DefaultValue {
    Number(u64),
    Text(&'static str),
    Flag(bool),
    EmptyList,
}

/// Declares the fields of rule sets: key, name, type, neutral value, reader with its bounds, meaning.
macro_rules! fields {
    ($($key:ident $name:ident: $of:ty = $neutral:expr, $read:expr, $doc:literal;)*) => {
        /// The effective rules of one hand.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct RuleSet {
            pub(crate) variant: &'static Variant,
            $(pub(crate) $name: $of,)*
        }

        /// Keys of all fields, in alphabetical order of their names.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Key { $($key),* }

        impl Key {
            #[cfg(test)]
            pub(crate) const ALL: &[Key] = &[$(Key::$key),*];

            pub(crate) const fn name(self) -> &'static str {
                match self { $(Key::$key => stringify!($name)),* }
            }

            const fn doc(self) -> &'static str {
                match self { $(Key::$key => $doc),* }
            }
        }

        impl RuleSet {
            /// The variant with every field at the value that changes nothing.
            pub(crate) const fn neutral(variant: &'static Variant) -> RuleSet {
                RuleSet { variant, $($name: $neutral),* }
            }

            fn get(&self, key: Key) -> FieldValue {
                match key { $(Key::$key => FieldValue::from(self.$name)),* }
            }

            fn set(&mut self, key: Key, value: &FieldValue) -> Result<(), String> {
                match key { $(Key::$key => {
                    let reader: Reader<$of> = $read;
                    self.$name = reader.read(value)?;
                }),* }
                Ok(())
            }
        }

        impl Key {
            fn bounds(self) -> Option<Bounds> {
                match self { $(Key::$key => {
                    let reader: Reader<$of> = $read;
                    reader.bounds()
                }),* }
            }
        }
    };
}

fields! {
    Alignment alignment: Alignment = Alignment::Choose, Reader::Plain(Alignment::read), "How players get their side.";
    AssignedTokens assigned_tokens: Option<AssignedTokens> = None, Reader::Plain(assigned), "Three kinds for everybody where tokens are assigned, or three for each player in turn.";
    BombOut bomb_out: BombOut = BombOut::None, Reader::Plain(BombOut::read), "What a bombed-out hand pays into the Sabacc Pot.";
    BombOutAmount bomb_out_amount: Credits = Credits::ZERO, Reader::Credits(credits), "Credits, where the bomb-out penalty is fixed.";
    Chips chips: u8 = 0, within(4..=8), "Chips each player starts with, 4 to 8.";
    DeclareTotals declare_totals: bool = false, Reader::Plain(flag), "Whether opening totals are announced.";
    DrawPhase draw_phase: bool = false, Reader::Plain(flag), "Whether a turn has a draw action after its betting action.";
    Field field: bool = false, Reader::Plain(flag), "Whether cards may be locked in the Disruptor Field.";
    FoldPenalty fold_penalty: Credits = Credits::ZERO, Reader::Credits(credits), "Credits that folding costs, into the Sabacc Pot.";
    HandAnte hand_ante: Credits = Credits::ZERO, Reader::Credits(credits), "Credits from everybody into the Hand Pot.";
    Holdem holdem: bool = false, Reader::Plain(flag), "Whether cards in any live player's field count for everybody at the reveal.";
    MaxHandTotal max_hand_total: Credits = Credits::ZERO, Reader::Credits(credits), "The most a player puts in during the hand by betting or raising, antes aside; 0: no cap.";
    MaxPot max_pot: Credits = Credits::ZERO, Reader::Credits(credits), "The most the Hand Pot may hold after a bet or raise, antes included; 0: no cap.";
    MaxRaise max_raise: Credits = Credits::ZERO, Reader::Credits(credits), "The largest size of a bet or raise; 0: no cap.";
    MaxRoundTotal max_round_total: Credits = Credits::ZERO, Reader::Credits(credits), "The most a player puts in during a betting round by betting or raising; 0: no cap.";
    MaxRounds max_rounds: u64 = 1, within(1..=MAX_ROUNDS), "Rounds after which the hand ends by itself, 1 to 1000.";
    MinBet min_bet: Credits = Credits::ZERO, Reader::Credits(credits), "The least size of a bet or raise; 0: the hand ante, or 1 where that is 0.";
    PotBuildingRounds pot_building_rounds: u64 = 0, within(0..=MAX_ROUNDS), "Betting rounds in which the hand cannot be called, at most 1000.";
    Preset preset: Preset = Preset::Casino, Reader::Plain(Preset::read), "A named set of defaults.";
    PulsePpm pulse_ppm: u32 = 0, within(0..=1_000_000), "The probability of a shift in parts per million; 0: one expected in the shortest hand.";
    RakeBps rake_bps: u16 = 0, within(0..=10_000), "The house's share of each contested layer, in hundredths of a percent.";
    RakeCap rake_cap: Credits = Credits::ZERO, Reader::Credits(credits), "The most the house takes from a hand; 0: no cap.";
    Ranking ranking: Ranking = Ranking::Signed, Reader::Plain(Ranking::read), "Whether totals compare with their sign or without.";
    SabaccAnte sabacc_ante: Credits = Credits::ZERO, Reader::Credits(credits), "Credits from everybody into the Sabacc Pot.";
    SabaccAnteWhen sabacc_ante_when: SabaccAnte = SabaccAnte::EveryHand, Reader::Plain(SabaccAnte::read), "Whether the Sabacc ante is due every hand or when that pot is empty.";
    Shift shift: Shift = Shift::None, Reader::Plain(Shift::read), "What decides whether the cards shift.";
    ShiftNumber shift_number: u64 = 1, within(0..=Credits::MAX.get()), "The number that shifts, where one die is rolled.";
    Stakes stakes: Stakes = Stakes::Lay, Reader::Plain(Stakes::read), "Credits a chip: lay 15, pro 25, tournament 125.";
    Tokens tokens: TokenDeal = TokenDeal::Random, Reader::Plain(TokenDeal::read), "How players get their shift tokens.";
}

/// Most rounds that a rule set may name.
const MAX_ROUNDS: u64 = 1000;

fn number(value: &FieldValue) -> Result<u64, String> {
    if let FieldValue::Number(number) = value {
        Ok(*number)
    } else {
        Err("must be a number".to_owned())
    }
}

/// Bounds of a field that is a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bounds {
    Number(RangeInclusive<u64>),
    Credits,
}

/// Reader of a field's value, with the bounds of a number.
enum Reader<T> {
    Within(RangeInclusive<u64>, fn(&FieldValue, &RangeInclusive<u64>) -> Result<T, String>),
    Credits(fn(&FieldValue) -> Result<T, String>),
    Plain(fn(&FieldValue) -> Result<T, String>),
}

impl<T> Reader<T> {
    fn read(&self, value: &FieldValue) -> Result<T, String> {
        match self {
            Reader::Within(bounds, read) => read(value, bounds),
            Reader::Credits(read) | Reader::Plain(read) => read(value),
        }
    }

    fn bounds(self) -> Option<Bounds> {
        match self {
            Reader::Within(bounds, _) => Some(Bounds::Number(bounds)),
            Reader::Credits(_) => Some(Bounds::Credits),
            Reader::Plain(_) => None,
        }
    }
}

/// Reader of a number within these bounds.
fn within<T: TryFrom<u64>>(bounds: RangeInclusive<u64>) -> Reader<T> {
    Reader::Within(bounds, |value, bounds| {
        let inside = Some(number(value)?).filter(|number| bounds.contains(number));
        let narrow = inside.and_then(|number| T::try_from(number).ok());
        narrow.ok_or_else(|| format!("must be from {} to {}", bounds.start(), bounds.end()))
    })
}

fn credits(value: &FieldValue) -> Result<Credits, String> {
    Credits::try_new(number(value)?).map_err(|error| format!("is too large: {error}"))
}

fn flag(value: &FieldValue) -> Result<bool, String> {
    if let FieldValue::Flag(flag) = value {
        Ok(*flag)
    } else {
        Err("must be true or false".to_owned())
    }
}

fn assigned(value: &FieldValue) -> Result<Option<AssignedTokens>, String> {
    if let FieldValue::List(names) = value {
        AssignedTokens::parse(names)
    } else {
        Err("must be a list of names".to_owned())
    }
}

macro_rules! number_values {
    ($($of:ty)*) => {$(
        impl From<$of> for FieldValue {
            fn from(number: $of) -> FieldValue {
                FieldValue::Number(number.into())
            }
        }
    )*};
}

number_values!(u8 u16 u32 u64);

impl From<Credits> for FieldValue {
    fn from(credits: Credits) -> FieldValue {
        FieldValue::Number(credits.get())
    }
}

impl From<bool> for FieldValue {
    fn from(flag: bool) -> FieldValue {
        FieldValue::Flag(flag)
    }
}

impl From<Option<AssignedTokens>> for FieldValue {
    fn from(tokens: Option<AssignedTokens>) -> FieldValue {
        FieldValue::List(tokens.as_ref().map_or_else(Vec::new, AssignedTokens::names))
    }
}

impl Field {
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.key.name()
    }

    #[must_use]
    pub const fn doc(&self) -> &'static str {
        self.key.doc()
    }

    /// Bounds of a number; none for the other kinds.
    #[must_use]
    pub fn bounds(&self) -> Option<Bounds> {
        self.key.bounds()
    }

    /// Words that a text is one of, or that a list is made of.
    #[must_use]
    pub fn words(&self) -> Vec<&'static str> {
        match self.default {
            DefaultValue::EmptyList => ShiftToken::ALL.iter().map(|token| token.name()).collect(),
            DefaultValue::Text(_) | DefaultValue::Number(_) | DefaultValue::Flag(_) => {
                self.choices.to_vec()
            }
        }
    }

    #[must_use]
    pub fn default_value(&self) -> FieldValue {
        match self.default {
            DefaultValue::Number(number) => FieldValue::Number(number),
            DefaultValue::Text(text) => FieldValue::Text(text.to_owned()),
            DefaultValue::Flag(flag) => FieldValue::Flag(flag),
            DefaultValue::EmptyList => FieldValue::List(Vec::new()),
        }
    }

    pub(crate) const fn number(key: Key, default: u64) -> Field {
        Field { key, default: DefaultValue::Number(default), choices: &[] }
    }

    pub(crate) const fn flag(key: Key, default: bool) -> Field {
        Field { key, default: DefaultValue::Flag(default), choices: &[] }
    }

    /// Makes a text field. The first choice is the default.
    pub(crate) const fn text(key: Key, choices: &'static [&'static str]) -> Field {
        Field { key, default: DefaultValue::Text(choices[0]), choices }
    }

    pub(crate) const fn list(key: Key) -> Field {
        Field { key, default: DefaultValue::EmptyList, choices: &[] }
    }

    /// Writes the value into the rule set; the error says what the value must be.
    pub(crate) fn set(&self, rules: &mut RuleSet, value: &FieldValue) -> Result<(), String> {
        let listed = |name: &String| self.choices.contains(&name.as_str());
        let is_listed = if let FieldValue::Text(name) = value { listed(name) } else { false };
        if !(self.choices.is_empty() || is_listed) {
            return Err(format!("must be one of {}", self.choices.join(", ")));
        }
        rules.set(self.key, value)
    }

    /// Value of this field in the rule set.
    pub(crate) fn get(&self, rules: &RuleSet) -> FieldValue {
        rules.get(self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_their_names() {
        assert!(Key::ALL.is_sorted_by_key(|key| key.name()));
        assert!(Key::ALL.is_sorted());
    }
}
