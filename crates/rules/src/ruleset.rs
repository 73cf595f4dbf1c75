//! Rule sets: every choice that decides how a hand is played, typed and checked.
//!
//! A rule set is recorded with its hand as canonical text and hashed, so an old hand always replays
//! under the rules it was played by. Fields that a variant does not have stand at a neutral value
//! here and are absent from the text.
//!
//! Specification: rules/SPEC.md §8.

mod assigned;
mod field;
mod text;

use std::ops::RangeInclusive;

use primitives::{Credits, Quoted};

pub(crate) use assigned::AssignedTokens;
pub(crate) use field::Key;
pub use field::{Bounds, Field, FieldValue, RuleSet};

use crate::variant::{Variant, variant};

/// Reason why a rule set is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleSetError {
    #[error("there is no variant `{}`", Quoted(id))]
    UnknownVariant { id: String },
    #[error("the variant {variant} has no rule set field `{}`", Quoted(field))]
    UnknownField { variant: &'static str, field: String },
    #[error("the rule set field `{field}` is given twice")]
    DuplicateField { field: &'static str },
    #[error("the rule set field `{field}` {problem}")]
    BadValue { field: &'static str, problem: String },
    #[error("line {line} is not canonical rule set text: {problem}")]
    NotCanonical { line: usize, problem: &'static str },
}

macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($value:ident $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name { $($value),* }

        impl $name {
            pub(crate) const fn name(self) -> &'static str {
                match self { $($name::$value => $text),* }
            }

            fn read(value: &FieldValue) -> Result<$name, String> {
                let mut all = [$($name::$value),*].into_iter();
                let named = |choice: &$name| FieldValue::from(*choice) == *value;
                all.find(named).ok_or_else(|| "is not known".to_owned())
            }
        }

        impl From<$name> for FieldValue {
            fn from(choice: $name) -> FieldValue {
                FieldValue::Text(choice.name().to_owned())
            }
        }
    };
}

choice! {
    /// Way in which Force players get their side.
    Alignment { Choose "choose", Naboo "naboo" }
}
choice! {
    /// Payment for a bombed-out hand.
    BombOut { MatchPot "match_pot", Fixed "fixed", None "none" }
}
choice! {
    /// Named set of defaults of Spike.
    Preset { Casino "casino", BlackSpire "black-spire" }
}
choice! {
    /// Whether 22 beats -22 or equals it.
    Ranking { Signed "signed", Absolute "absolute" }
}
choice! {
    /// Hands in which the Sabacc ante is due.
    SabaccAnte { EveryHand "every_hand", WhenEmpty "when_empty" }
}
choice! {
    /// Chance that decides whether the cards shift.
    Shift {
        TwoD6 "2d6", TwoD10 "2d10", TwoD12 "2d12", OneD6 "1d6", OneD10 "1d10", OneD12 "1d12",
        Pulse "pulse", None "none",
    }
}
choice! {
    /// Price of a chip in Kessel.
    Stakes { Lay "lay", Pro "pro", Tournament "tournament" }
}
choice! {
    /// Way in which Kessel players get their tokens.
    TokenDeal { Random "random", Chosen "chosen", Assigned "assigned" }
}

impl Shift {
    /// Number of dice and their sides; none if no dice decide.
    pub(crate) const fn dice(self) -> Option<(usize, u8)> {
        match self {
            Shift::TwoD6 => Some((2, 6)),
            Shift::TwoD10 => Some((2, 10)),
            Shift::TwoD12 => Some((2, 12)),
            Shift::OneD6 => Some((1, 6)),
            Shift::OneD10 => Some((1, 10)),
            Shift::OneD12 => Some((1, 12)),
            Shift::Pulse | Shift::None => None,
        }
    }
}

impl Stakes {
    /// Credits for each chip.
    pub(crate) const fn rate(self) -> u64 {
        match self {
            Stakes::Lay => 15,
            Stakes::Pro => 25,
            Stakes::Tournament => 125,
        }
    }
}

impl RuleSet {
    /// Makes a rule set of the variant's defaults and the given fields.
    ///
    /// # Errors
    /// If the variant, a field or a value is unknown or not allowed, or the values contradict each
    /// other.
    pub fn parse(
        variant_id: &str,
        fields: &[(String, FieldValue)],
    ) -> Result<RuleSet, RuleSetError> {
        let variant = variant(variant_id)
            .ok_or_else(|| RuleSetError::UnknownVariant { id: variant_id.to_owned() })?;
        let mut given: Vec<(&'static Field, &FieldValue)> = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            let field =
                variant.fields.iter().find(|field| field.name() == name).ok_or_else(|| {
                    RuleSetError::UnknownField { variant: variant.id, field: name.clone() }
                })?;
            if given.iter().any(|(other, _)| other.key == field.key) {
                return Err(RuleSetError::DuplicateField { field: field.name() });
            }
            given.push((field, value));
        }
        let mut rules = RuleSet::defaults(variant);
        // A preset is itself a set of defaults, so it comes before every field that overrides it.
        given.sort_by_key(|(field, _)| field.key != Key::Preset);
        for (field, value) in given {
            let problem = |problem| RuleSetError::BadValue { field: field.name(), problem };
            field.set(&mut rules, value).map_err(problem)?;
            if field.key == Key::Preset && rules.preset == Preset::BlackSpire {
                rules.hand_ante = Credits::ZERO;
                rules.sabacc_ante = Credits::ZERO;
            }
        }
        rules.check()?;
        Ok(rules)
    }

    /// The variant with every field at its default.
    #[must_use]
    pub fn defaults(variant: &'static Variant) -> RuleSet {
        let mut rules = RuleSet::neutral(variant);
        for field in variant.fields {
            field.set(&mut rules, &field.default_value()).expect("defaults are valid");
        }
        rules
    }

    #[must_use]
    pub const fn variant(&self) -> &'static Variant {
        self.variant
    }

    /// Numbers of players that a hand takes: the variant's, or the exact number of sets of assigned
    /// tokens.
    #[must_use]
    pub fn player_counts(&self) -> RangeInclusive<u8> {
        let assigned = self.assigned_tokens.filter(|_| self.tokens == TokenDeal::Assigned);
        match assigned.and_then(|tokens| tokens.players()) {
            Some(players) => players..=players,
            None => self.variant.player_counts.clone(),
        }
    }

    /// The fields of the variant with their values, sorted by name.
    pub fn fields(&self) -> impl Iterator<Item = (&'static Field, FieldValue)> {
        self.variant.fields.iter().map(|field| (field, field.get(self)))
    }

    /// Least stack to be dealt in, for this amount in the Sabacc Pot: what is taken at the start,
    /// and at least 1.
    #[must_use]
    pub fn min_stack(&self, sabacc_pot: Credits) -> Credits {
        let antes = self.hand_ante.plus(self.sabacc_ante_due(sabacc_pot));
        let taken = antes.and_then(|antes| antes.plus(self.stake())).unwrap_or(Credits::MAX);
        taken.max(Credits::of(1))
    }

    /// Sabacc ante of each player, for this amount in the Sabacc Pot.
    #[must_use]
    pub fn sabacc_ante_due(&self, sabacc_pot: Credits) -> Credits {
        match self.sabacc_ante_when {
            SabaccAnte::WhenEmpty if !sabacc_pot.is_zero() => Credits::ZERO,
            SabaccAnte::EveryHand | SabaccAnte::WhenEmpty => self.sabacc_ante,
        }
    }

    /// Credits that folding costs, into the Sabacc Pot.
    #[must_use]
    pub const fn fold_penalty(&self) -> Credits {
        self.fold_penalty
    }

    /// Whether a hand that bombs out pays a penalty.
    #[must_use]
    pub const fn has_bomb_out_penalty(&self) -> bool {
        match self.bomb_out {
            BombOut::MatchPot | BombOut::Fixed => true,
            BombOut::None => false,
        }
    }

    /// Whether a turn has a draw action after its betting action.
    #[must_use]
    pub const fn has_draw_phase(&self) -> bool {
        self.draw_phase
    }

    /// Whether 22 beats -22 because it is the higher total; else they are equal.
    #[must_use]
    pub const fn has_signed_ranking(&self) -> bool {
        match self.ranking {
            Ranking::Signed => true,
            Ranking::Absolute => false,
        }
    }

    /// Stake of a Kessel player; 0 in the other games.
    pub(crate) fn stake(&self) -> Credits {
        Credits::try_new(u64::from(self.chips) * self.stakes.rate()).unwrap_or(Credits::MAX)
    }

    /// The least size of a bet or raise before anybody has made a larger one.
    pub(crate) fn least_bet(&self) -> Credits {
        let least = if self.min_bet.is_zero() { self.hand_ante } else { self.min_bet };
        least.max(Credits::of(1))
    }

    /// Probability of a pulse with this number of players dealt in, in parts per million. By
    /// default one shift is expected in a hand of the shortest length.
    pub(crate) fn pulse_ppm_for(&self, players: usize) -> u32 {
        if self.pulse_ppm > 0 {
            return self.pulse_ppm;
        }
        let rounds = u128::from(self.pot_building_rounds) + 1;
        let chances = rounds * (u128::try_from(players).unwrap_or(0) + 1);
        u32::try_from(1_000_000 / chances).unwrap_or(0)
    }

    /// Checks the fields against each other.
    fn check(&self) -> Result<(), RuleSetError> {
        let bad =
            |key: Key, problem: String| Err(RuleSetError::BadValue { field: key.name(), problem });
        let least = self.least_bet();
        for (key, cap) in [
            (Key::MaxHandTotal, self.max_hand_total),
            (Key::MaxRaise, self.max_raise),
            (Key::MaxRoundTotal, self.max_round_total),
        ] {
            if !cap.is_zero() && cap < least {
                return bad(key, format!("must be 0 or at least {least}, the least bet"));
            }
        }
        // Two players' antes, and one bet on top of them.
        let smallest_pot = Credits::sum([self.hand_ante, self.hand_ante, least]);
        if !self.max_pot.is_zero() && smallest_pot.map_or(true, |least| self.max_pot < least) {
            let problem = "must be 0 or at least two hand antes and the least bet";
            return bad(Key::MaxPot, problem.to_owned());
        }
        if self.hand_ante.plus(self.sabacc_ante).is_err() {
            return bad(Key::SabaccAnte, "is too large together with the hand ante".to_owned());
        }
        if let Some((1, sides)) = self.shift.dice()
            && !(1..=u64::from(sides)).contains(&self.shift_number)
        {
            return bad(Key::ShiftNumber, format!("must be from 1 to {sides}"));
        }
        if self.tokens == TokenDeal::Assigned && self.assigned_tokens.is_none() {
            return bad(
                Key::AssignedTokens,
                "must name three tokens, or three for each player".to_owned(),
            );
        }
        Ok(())
    }
}
