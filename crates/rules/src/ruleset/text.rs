//! The canonical text of a rule set: these bytes are stored and hashed.
//!
//! `variant = "…"` comes first, then every field of the variant, sorted by name, one `name = value`
//! on each line, as TOML. Reading is strict: the text must be exactly the text that writing gives.
//!
//! Specification: rules/SPEC.md §8.3.

use crate::ruleset::{FieldValue, RuleSet, RuleSetError};

impl RuleSet {
    /// Writes the canonical text.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut text = format!("variant = {}\n", quote(self.variant.id));
        for (field, value) in self.fields() {
            text.push_str(field.name());
            text.push_str(" = ");
            text.push_str(&format_value(&value));
            text.push('\n');
        }
        text
    }

    /// Reads canonical text.
    ///
    /// # Errors
    /// If it is not exactly the text that [`RuleSet::canonical`] writes.
    pub fn from_canonical(text: &str) -> Result<RuleSet, RuleSetError> {
        let mut variant = None;
        let mut fields = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let wrong = |problem| RuleSetError::NotCanonical { line: at + 1, problem };
            let (name, value) = line.split_once(" = ").ok_or(wrong("`name = value` is missing"))?;
            let value =
                parse_value(value).ok_or(wrong("the value is not a number, text, flag or list"))?;
            match (at, value) {
                (0, FieldValue::Text(id)) if name == "variant" => variant = Some(id),
                (0, _) => return Err(wrong("the variant comes first")),
                (_, value) => fields.push((name.to_owned(), value)),
            }
        }
        let variant = variant
            .ok_or(RuleSetError::NotCanonical { line: 1, problem: "the variant comes first" })?;
        let rules = RuleSet::parse(&variant, &fields)?;
        let canonical = rules.canonical();
        if canonical == text {
            return Ok(rules);
        }
        let same = canonical.lines().zip(text.lines()).take_while(|(a, b)| a == b).count();
        let problem = "every field of the variant stands here once, in alphabetical order";
        Err(RuleSetError::NotCanonical { line: same + 1, problem })
    }
}

fn quote(text: &str) -> String {
    format!("\"{text}\"")
}

fn format_value(value: &FieldValue) -> String {
    match value {
        FieldValue::Number(number) => number.to_string(),
        FieldValue::Text(text) => quote(text),
        FieldValue::Flag(flag) => flag.to_string(),
        FieldValue::List(items) => {
            let items: Vec<String> = items.iter().map(|item| quote(item)).collect();
            format!("[{}]", items.join(", "))
        }
    }
}

fn parse_value(value: &str) -> Option<FieldValue> {
    let unquoted = |text: &str| {
        let inner = text.strip_prefix('"')?.strip_suffix('"')?;
        (!inner.contains(['"', '\\'])).then(|| inner.to_owned())
    };
    match value {
        "true" => return Some(FieldValue::Flag(true)),
        "false" => return Some(FieldValue::Flag(false)),
        "[]" => return Some(FieldValue::List(Vec::new())),
        _ => {}
    }
    if let Some(items) = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return items.split(", ").map(unquoted).collect::<Option<Vec<_>>>().map(FieldValue::List);
    }
    match unquoted(value) {
        Some(text) => Some(FieldValue::Text(text)),
        None => value.parse().ok().map(FieldValue::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variant::ALL;

    /// rules/SPEC.md §8.3.
    #[test]
    fn canonical_text_of_dice() {
        let rules = RuleSet::parse("dice", &[("shift".into(), FieldValue::Text("1d10".into()))]);
        assert_eq!(
            rules.unwrap().canonical(),
            "variant = \"dice\"\nbomb_out = \"match_pot\"\nbomb_out_amount = 0\n\
             declare_totals = true\nfield = true\nfold_penalty = 0\nhand_ante = 5\n\
             holdem = false\nmax_hand_total = 0\nmax_pot = 0\nmax_raise = 0\nmax_round_total = 0\nmax_rounds = 12\nmin_bet = 0\n\
             pot_building_rounds = 3\nrake_bps = 0\nrake_cap = 0\nranking = \"signed\"\n\
             sabacc_ante = 5\nsabacc_ante_when = \"every_hand\"\nshift = \"1d10\"\n\
             shift_number = 1\n"
        );
    }

    #[test]
    fn every_variant_round_trips() {
        for variant in ALL {
            let rules = RuleSet::defaults(variant);
            assert_eq!(RuleSet::from_canonical(&rules.canonical()), Ok(rules), "{variant:?}");
        }
    }

    /// Makes one change to the canonical text of the defaults of `dice`, and expects this line to
    /// be refused.
    fn refused(from: &str, to: &str, line: usize) {
        let text = RuleSet::defaults(crate::variant("dice").unwrap()).canonical();
        let changed = text.replacen(from, to, 1);
        assert_ne!(text, changed);
        match RuleSet::from_canonical(&changed) {
            Err(RuleSetError::NotCanonical { line: found, .. }) => assert_eq!(found, line, "{to}"),
            other => panic!("{to}: {other:?}"),
        }
    }

    /// rules/SPEC.md §8.3.
    #[test]
    fn anything_but_the_canonical_text_is_refused() {
        refused("hand_ante = 5", "hand_ante = 05", 7);
        refused("hand_ante = 5", "hand_ante = +5", 7);
        refused("field = true\n", "", 5);
        refused("shift = \"2d6\"", "shift = '2d6'", 21);
        refused("shift_number = 1\n", "shift_number = 1\n\n", 23);
        refused("shift_number = 1\n", "shift_number = 1", 23);
        refused(
            "bomb_out_amount = 0\ndeclare_totals = true",
            "declare_totals = true\nbomb_out_amount = 0",
            3,
        );
        refused("variant = \"dice\"\n", "", 1);
    }
}
