//! The data of a hand history.
//!
//! Specification: history/SPEC.md §3.1.

use primitives::Credits;
use rules::{FieldValue, RuleSet, Settlement, Setup};

/// A hand history. Fields that are optional in the text form are optional here, so that nothing is
/// lost in a conversion. Amounts are checked; everything else is as given until it is replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandHistory {
    pub variant: String,
    /// The given fields, sorted by name.
    pub ruleset: Vec<(String, FieldValue)>,
    pub id: Option<String>,
    pub table: Option<String>,
    pub started_at: Option<String>,
    pub engine: Option<String>,
    pub commitment: Option<String>,
    pub reveal: Option<String>,
    /// Seats of p1, p2 …; at most 2^53 - 1.
    pub seats: Vec<u64>,
    pub players: Vec<String>,
    pub starting_stacks: Vec<Credits>,
    pub sabacc_pot: Credits,
    pub carried_pot: Credits,
    /// History lines with their comments.
    pub actions: Vec<String>,
    pub settlement: Option<Vec<String>>,
    pub finishing_stacks: Option<Vec<Credits>>,
    pub finishing_sabacc_pot: Option<Credits>,
    pub finishing_carried_pot: Option<Credits>,
}

impl HandHistory {
    /// Makes the history of a hand that is about to start, without lines.
    #[must_use]
    pub fn for_setup(setup: &Setup, players: Vec<String>) -> HandHistory {
        HandHistory {
            variant: setup.rules.variant().id.to_owned(),
            ruleset: non_default_fields(&setup.rules),
            id: None,
            table: None,
            started_at: None,
            engine: None,
            commitment: None,
            reveal: None,
            seats: setup.seats.iter().map(|seat| u64::from(seat.get())).collect(),
            players,
            starting_stacks: setup.stacks.clone(),
            sabacc_pot: setup.sabacc_pot,
            carried_pot: setup.carried_pot,
            actions: Vec::new(),
            settlement: None,
            finishing_stacks: None,
            finishing_sabacc_pot: None,
            finishing_carried_pot: None,
        }
    }

    /// Adds the end of the hand; a pot that the variant does not have is left out.
    pub fn settle(&mut self, rules: &RuleSet, end: &Settlement) {
        let variant = rules.variant();
        self.settlement = Some(end.lines.iter().map(ToString::to_string).collect());
        self.finishing_stacks = Some(end.finishing_stacks.clone());
        self.finishing_sabacc_pot = variant.has_sabacc_pot.then_some(end.finishing_sabacc_pot);
        self.finishing_carried_pot = variant.has_carried_pot.then_some(end.finishing_carried_pot);
    }

    /// Whether the history says anything about the end of the hand.
    #[must_use]
    pub const fn has_end(&self) -> bool {
        self.settlement.is_some()
            || self.finishing_stacks.is_some()
            || self.finishing_sabacc_pot.is_some()
            || self.finishing_carried_pot.is_some()
    }

    /// Makes the setup of the hand.
    ///
    /// # Errors
    /// In words, if the hand cannot start like this.
    pub fn setup(&self) -> Result<Setup, String> {
        let rules = RuleSet::parse(&self.variant, &self.ruleset).map_err(|e| e.to_string())?;
        let seats = self.seats.len();
        if self.players.len() != seats || self.starting_stacks.len() != seats {
            return Err(format!(
                "there are {seats} seats, {} players and {} starting stacks",
                self.players.len(),
                self.starting_stacks.len()
            ));
        }
        rules::check_player_count(&rules, seats).map_err(|error| error.to_string())?;
        if self.seats.contains(&0) {
            return Err("seats are numbered from 1".to_owned());
        }
        Ok(Setup {
            rules,
            seats: self.seats_in_order()?,
            stacks: self.starting_stacks.clone(),
            sabacc_pot: self.sabacc_pot,
            carried_pot: self.carried_pot,
        })
    }

    /// Seats renumbered from 1 in their order: a history may use any numbers, of which only the
    /// order counts.
    fn seats_in_order(&self) -> Result<Vec<primitives::SeatNo>, String> {
        let place = |seat: &u64| {
            let lower = self.seats.iter().filter(|other| *other < seat).count();
            let number = u32::try_from(lower.saturating_add(1)).unwrap_or(u32::MAX);
            primitives::SeatNo::try_from(number).map_err(|error| error.to_string())
        };
        self.seats.iter().map(place).collect()
    }
}

/// The fields in which the rules differ from the variant's own, sorted by name.
fn non_default_fields(rules: &RuleSet) -> Vec<(String, FieldValue)> {
    let given = |fields: &RuleSet| -> Vec<(String, FieldValue)> {
        let both = rules.fields().zip(fields.fields());
        both.filter(|((_, value), (_, default))| value != default)
            .map(|((field, value), _)| (field.name().to_owned(), value))
            .collect()
    };
    let variant = rules.variant();
    let plain = given(&RuleSet::defaults(variant));
    // A preset changes the defaults of other fields, so the others are compared with the preset's.
    let preset: Vec<_> = plain.iter().filter(|(name, _)| name == "preset").cloned().collect();
    let Ok(base) = RuleSet::parse(variant.id, &preset) else { return plain };
    let mut fields = given(&base);
    fields.extend(preset);
    fields.sort_by(|(a, _), (b, _)| a.cmp(b));
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(variant: &str, fields: &[(&str, FieldValue)]) {
        let fields: Vec<_> = fields.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect();
        let rules = RuleSet::parse(variant, &fields).unwrap();
        assert_eq!(non_default_fields(&rules), fields);
    }

    #[test]
    fn fields_at_their_defaults_are_not_named() {
        given("dice", &[]);
        given("dice", &[("hand_ante", FieldValue::Number(7)), ("holdem", FieldValue::Flag(true))]);
        given("spike", &[("preset", FieldValue::Text("black-spire".to_owned()))]);
        let two = FieldValue::Number(2);
        let preset = FieldValue::Text("black-spire".to_owned());
        given("spike", &[("hand_ante", two), ("preset", preset)]);
    }
}
