//! The fields of rule sets: their names, values and meaning.
//!
//! Specification: rules/SPEC.md §8.1.

use primitives::Credits;

use crate::ruleset::{
    Alignment, AssignedTokens, BombOut, Preset, Ranking, RuleSet, SabaccAnte, Shift, Stakes,
    TokenDeal,
};

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

macro_rules! keys {
    ($($key:ident $name:literal $doc:literal;)*) => {
        /// Keys of all fields, in alphabetical order of their names.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Key { $($key),* }

        impl Key {
            #[cfg(test)]
            pub(crate) const ALL: &[Key] = &[$(Key::$key),*];

            pub(crate) const fn name(self) -> &'static str {
                match self { $(Key::$key => $name),* }
            }

            const fn doc(self) -> &'static str {
                match self { $(Key::$key => $doc),* }
            }
        }
    };
}

keys! {
    Alignment "alignment" "How players get their side.";
    AssignedTokens "assigned_tokens" "Three kinds for everybody where tokens are assigned, or three for each player in turn.";
    BombOut "bomb_out" "What a bombed-out hand pays into the Sabacc Pot.";
    BombOutAmount "bomb_out_amount" "Credits, where the bomb-out penalty is fixed.";
    Chips "chips" "Chips each player starts with, 4 to 8.";
    DeclareTotals "declare_totals" "Whether opening totals are announced.";
    DrawPhase "draw_phase" "Whether a turn has a draw action after its betting action.";
    Field "field" "Whether cards may be locked in the Disruptor Field.";
    FoldPenalty "fold_penalty" "Credits that folding costs, into the Sabacc Pot.";
    HandAnte "hand_ante" "Credits from everybody into the Hand Pot.";
    Holdem "holdem" "Whether cards in any live player's field count for everybody at the reveal.";
    MaxHandTotal "max_hand_total" "The most a player puts in during the hand by betting or raising, antes aside; 0: no cap.";
    MaxPot "max_pot" "The most the Hand Pot may hold after a bet or raise, antes included; 0: no cap.";
    MaxRaise "max_raise" "The largest size of a bet or raise; 0: no cap.";
    MaxRoundTotal "max_round_total" "The most a player puts in during a betting round by betting or raising; 0: no cap.";
    MaxRounds "max_rounds" "Rounds after which the hand ends by itself, 1 to 1000.";
    MinBet "min_bet" "The least size of a bet or raise; 0: the hand ante, or 1 where that is 0.";
    PotBuildingRounds "pot_building_rounds" "Betting rounds in which the hand cannot be called, at most 1000.";
    Preset "preset" "A named set of defaults.";
    PulsePpm "pulse_ppm" "The probability of a shift in parts per million; 0: one expected in the shortest hand.";
    RakeBps "rake_bps" "The house's share of each contested layer, in hundredths of a percent.";
    RakeCap "rake_cap" "The most the house takes from a hand; 0: no cap.";
    Ranking "ranking" "Whether totals compare with their sign or without.";
    SabaccAnte "sabacc_ante" "Credits from everybody into the Sabacc Pot.";
    SabaccAnteWhen "sabacc_ante_when" "Whether the Sabacc ante is due every hand or when that pot is empty.";
    Shift "shift" "What decides whether the cards shift.";
    ShiftNumber "shift_number" "The number that shifts, where one die is rolled.";
    Stakes "stakes" "Credits a chip: lay 15, pro 25, tournament 125.";
    Tokens "tokens" "How players get their shift tokens.";
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
        match (self.default, value) {
            (DefaultValue::Number(_), FieldValue::Number(number)) => {
                set_number(rules, self.key, *number)
            }
            (DefaultValue::Flag(_), FieldValue::Flag(flag)) => {
                set_flag(rules, self.key, *flag);
                Ok(())
            }
            (DefaultValue::Text(_), FieldValue::Text(text)) => {
                let listed = self.choices.contains(&text.as_str());
                (listed && set_text(rules, self.key, text).is_some())
                    .then_some(())
                    .ok_or_else(|| format!("must be one of {}", self.choices.join(", ")))
            }
            (DefaultValue::EmptyList, FieldValue::List(names)) => {
                rules.assigned_tokens = AssignedTokens::parse(names)?;
                Ok(())
            }
            (DefaultValue::Number(_), _) => Err("must be a number".to_owned()),
            (DefaultValue::Flag(_), _) => Err("must be true or false".to_owned()),
            (DefaultValue::Text(_), _) => {
                Err(format!("must be one of {}", self.choices.join(", ")))
            }
            (DefaultValue::EmptyList, _) => Err("must be a list of names".to_owned()),
        }
    }

    /// Value of this field in the rule set.
    pub(crate) fn get(&self, rules: &RuleSet) -> FieldValue {
        match self.key {
            Key::Alignment => text(rules.alignment.name()),
            Key::AssignedTokens => FieldValue::List(
                rules.assigned_tokens.as_ref().map_or_else(Vec::new, AssignedTokens::names),
            ),
            Key::BombOut => text(rules.bomb_out.name()),
            Key::BombOutAmount => FieldValue::Number(rules.bomb_out_amount.get()),
            Key::Chips => FieldValue::Number(u64::from(rules.chips)),
            Key::DeclareTotals => FieldValue::Flag(rules.declare_totals),
            Key::DrawPhase => FieldValue::Flag(rules.draw_phase),
            Key::Field => FieldValue::Flag(rules.field),
            Key::FoldPenalty => FieldValue::Number(rules.fold_penalty.get()),
            Key::HandAnte => FieldValue::Number(rules.hand_ante.get()),
            Key::Holdem => FieldValue::Flag(rules.holdem),
            Key::MaxHandTotal => FieldValue::Number(rules.max_hand_total.get()),
            Key::MaxPot => FieldValue::Number(rules.max_pot.get()),
            Key::MaxRaise => FieldValue::Number(rules.max_raise.get()),
            Key::MaxRoundTotal => FieldValue::Number(rules.max_round_total.get()),
            Key::MaxRounds => FieldValue::Number(rules.max_rounds),
            Key::MinBet => FieldValue::Number(rules.min_bet.get()),
            Key::PotBuildingRounds => FieldValue::Number(rules.pot_building_rounds),
            Key::Preset => text(rules.preset.name()),
            Key::PulsePpm => FieldValue::Number(u64::from(rules.pulse_ppm)),
            Key::RakeBps => FieldValue::Number(u64::from(rules.rake_bps)),
            Key::RakeCap => FieldValue::Number(rules.rake_cap.get()),
            Key::Ranking => text(rules.ranking.name()),
            Key::SabaccAnte => FieldValue::Number(rules.sabacc_ante.get()),
            Key::SabaccAnteWhen => text(rules.sabacc_ante_when.name()),
            Key::Shift => text(rules.shift.name()),
            Key::ShiftNumber => FieldValue::Number(rules.shift_number),
            Key::Stakes => text(rules.stakes.name()),
            Key::Tokens => text(rules.tokens.name()),
        }
    }
}

fn text(name: &str) -> FieldValue {
    FieldValue::Text(name.to_owned())
}

/// Most rounds that a rule set may name.
const MAX_ROUNDS: u64 = 1000;

fn set_number(rules: &mut RuleSet, key: Key, number: u64) -> Result<(), String> {
    let credits = || Credits::try_new(number).map_err(|error| format!("is too large: {error}"));
    let within = |min: u64, max: u64| {
        let inside = (min..=max).contains(&number);
        inside.then_some(number).ok_or_else(|| format!("must be from {min} to {max}"))
    };
    let most = Credits::MAX.get();
    match key {
        Key::BombOutAmount => rules.bomb_out_amount = credits()?,
        Key::Chips => rules.chips = narrow(within(4, 8)?),
        Key::FoldPenalty => rules.fold_penalty = credits()?,
        Key::HandAnte => rules.hand_ante = credits()?,
        Key::MaxHandTotal => rules.max_hand_total = credits()?,
        Key::MaxPot => rules.max_pot = credits()?,
        Key::MaxRaise => rules.max_raise = credits()?,
        Key::MaxRoundTotal => rules.max_round_total = credits()?,
        Key::MaxRounds => rules.max_rounds = within(1, MAX_ROUNDS)?,
        Key::MinBet => rules.min_bet = credits()?,
        Key::PotBuildingRounds => rules.pot_building_rounds = within(0, MAX_ROUNDS)?,
        Key::PulsePpm => rules.pulse_ppm = narrow(within(0, 1_000_000)?),
        Key::RakeBps => rules.rake_bps = narrow(within(0, 10_000)?),
        Key::RakeCap => rules.rake_cap = credits()?,
        Key::SabaccAnte => rules.sabacc_ante = credits()?,
        Key::ShiftNumber => rules.shift_number = within(0, most)?,
        Key::Alignment
        | Key::AssignedTokens
        | Key::BombOut
        | Key::DeclareTotals
        | Key::DrawPhase
        | Key::Field
        | Key::Holdem
        | Key::Preset
        | Key::Ranking
        | Key::SabaccAnteWhen
        | Key::Shift
        | Key::Stakes
        | Key::Tokens => return Err("must not be a number".to_owned()),
    }
    Ok(())
}

fn narrow<T: TryFrom<u64>>(number: u64) -> T {
    T::try_from(number).ok().expect("the range was checked just before")
}

fn set_flag(rules: &mut RuleSet, key: Key, flag: bool) {
    match key {
        Key::DeclareTotals => rules.declare_totals = flag,
        Key::DrawPhase => rules.draw_phase = flag,
        Key::Field => rules.field = flag,
        Key::Holdem => rules.holdem = flag,
        Key::Alignment
        | Key::AssignedTokens
        | Key::BombOut
        | Key::BombOutAmount
        | Key::Chips
        | Key::FoldPenalty
        | Key::HandAnte
        | Key::MaxHandTotal
        | Key::MaxPot
        | Key::MaxRaise
        | Key::MaxRoundTotal
        | Key::MaxRounds
        | Key::MinBet
        | Key::PotBuildingRounds
        | Key::Preset
        | Key::PulsePpm
        | Key::RakeBps
        | Key::RakeCap
        | Key::Ranking
        | Key::SabaccAnte
        | Key::SabaccAnteWhen
        | Key::Shift
        | Key::ShiftNumber
        | Key::Stakes
        | Key::Tokens => {}
    }
}

fn set_text(rules: &mut RuleSet, key: Key, name: &str) -> Option<()> {
    match key {
        Key::Alignment => rules.alignment = Alignment::parse(name)?,
        Key::BombOut => rules.bomb_out = BombOut::parse(name)?,
        Key::Preset => rules.preset = Preset::parse(name)?,
        Key::Ranking => rules.ranking = Ranking::parse(name)?,
        Key::SabaccAnteWhen => rules.sabacc_ante_when = SabaccAnte::parse(name)?,
        Key::Shift => rules.shift = Shift::parse(name)?,
        Key::Stakes => rules.stakes = Stakes::parse(name)?,
        Key::Tokens => rules.tokens = TokenDeal::parse(name)?,
        Key::AssignedTokens
        | Key::BombOutAmount
        | Key::Chips
        | Key::DeclareTotals
        | Key::DrawPhase
        | Key::Field
        | Key::FoldPenalty
        | Key::HandAnte
        | Key::Holdem
        | Key::MaxHandTotal
        | Key::MaxPot
        | Key::MaxRaise
        | Key::MaxRoundTotal
        | Key::MaxRounds
        | Key::MinBet
        | Key::PotBuildingRounds
        | Key::PulsePpm
        | Key::RakeBps
        | Key::RakeCap
        | Key::SabaccAnte
        | Key::ShiftNumber => return None,
    }
    Some(())
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
