use super::*;
use crate::ruleset::FieldValue;
use crate::variant::{ALL, Variant, variant};

/// The whole text on one line.
fn flat(explanation: &Explanation) -> String {
    explanation.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn text(rules: &RuleSet) -> String {
    flat(&explain(rules, Clock::default()))
}

type Given<'a> = &'a [(&'a str, FieldValue)];

fn rules(variant: &Variant, fields: Given<'_>) -> Option<RuleSet> {
    let has = |name: &str| variant.fields.iter().any(|field| field.name() == name);
    let fields = fields.iter().filter(|(name, _)| has(name));
    let fields: Vec<_> = fields.map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    RuleSet::parse(variant.id, &fields).ok()
}

fn named(text: &str) -> FieldValue {
    FieldValue::Text(text.to_owned())
}

/// Rule sets in which every field has an effect: some fields matter only together with others.
fn backgrounds() -> Vec<Vec<(&'static str, FieldValue)>> {
    let tokens = ["refund", "embargo", "markdown"].map(str::to_owned).to_vec();
    vec![
        vec![],
        vec![("bomb_out", named("fixed"))],
        vec![("shift", named("1d10"))],
        vec![("rake_bps", FieldValue::Number(250))],
        vec![("tokens", named("assigned")), ("assigned_tokens", FieldValue::List(tokens))],
    ]
}

/// Values that differ from the field's current one.
fn other_values(now: &FieldValue, choices: &[&str]) -> Vec<FieldValue> {
    let list = |names: [&str; 3]| FieldValue::List(names.map(str::to_owned).to_vec());
    let all = match now {
        FieldValue::Number(_) => [7, 6, 400].map(FieldValue::Number).to_vec(),
        FieldValue::Flag(flag) => vec![FieldValue::Flag(!flag)],
        FieldValue::Text(_) => choices.iter().copied().map(named).collect(),
        FieldValue::List(_) => vec![list(["free-draw", "refund", "immunity"])],
    };
    all.into_iter().filter(|value| value != now).collect()
}

#[test]
fn every_field_changes_the_words() {
    for variant in ALL {
        for field in variant.fields {
            let mut said = false;
            for background in backgrounds() {
                let Some(before) = rules(variant, &background) else { continue };
                for value in other_values(&field.get(&before), field.choices) {
                    let mut given = background.clone();
                    given.retain(|(name, _)| *name != field.name());
                    given.push((field.name(), value));
                    let Some(after) = rules(variant, &given) else { continue };
                    said |= text(&after) != text(&before);
                }
            }
            assert!(said, "{variant:?} does not tell of {}", field.name());
        }
    }
}

#[test]
fn every_choice_has_words_of_its_own() {
    let assigned = FieldValue::List(["refund", "embargo", "markdown"].map(str::to_owned).to_vec());
    for variant in ALL {
        for field in variant.fields.iter().filter(|field| !field.choices.is_empty()) {
            let mut seen: Vec<String> = Vec::new();
            for choice in field.choices {
                let given = [("assigned_tokens", assigned.clone()), (field.name(), named(choice))];
                let words = text(&rules(variant, &given).unwrap());
                assert!(!seen.contains(&words), "{variant:?} {} {choice}", field.name());
                seen.push(words);
            }
        }
    }
}

#[test]
fn the_amounts_of_a_table_are_in_its_words() {
    let amounts = [("hand_ante", 7), ("sabacc_ante", 23), ("max_raise", 61), ("fold_penalty", 17)];
    for id in ["dice", "electronic", "swg"] {
        let given: Vec<_> =
            amounts.iter().map(|(name, amount)| (*name, FieldValue::Number(*amount))).collect();
        let words = text(&rules(variant(id).unwrap(), &given).unwrap());
        for (name, amount) in amounts {
            assert!(words.contains(&format!("{amount} credits")), "{id} {name}: {words}");
        }
    }
    let kessel = rules(variant("kessel").unwrap(), &[("stakes", named("tournament"))]).unwrap();
    assert!(text(&kessel).contains("1000 credits"), "eight chips of 125");
    let clock = Clock { action_seconds: 11, bank_seconds: 42 };
    let words = flat(&explain(&kessel, clock));
    assert!(words.contains("11 seconds") && words.contains("42 seconds"), "{words}");
}

#[test]
fn every_kind_of_hand_has_an_example_that_is_one() {
    // The variant that only tests play has no kinds of hand.
    for variant in ALL.iter().filter(|variant| variant.id != "highest") {
        let explanation = explain(&RuleSet::defaults(variant), Clock::default());
        assert_eq!(explanation.sections.len(), 6, "{variant:?}");
        let ranking =
            explanation.sections.iter().find(|section| section.heading == "What beats what");
        let examples: Vec<&Example> =
            ranking.unwrap().items.iter().filter_map(|item| item.example.as_ref()).collect();
        assert!(examples.len() >= 5, "{variant:?}");
        for Example { cards, rank } in examples {
            assert!(!cards.is_empty() && rank.is_some(), "{variant:?} {cards:?}");
        }
        assert!(
            explanation
                .sections
                .iter()
                .all(|section| !section.paragraphs.is_empty() || !section.items.is_empty())
        );
        assert!(
            explanation.to_string().lines().all(|line| line.chars().count() <= 92),
            "{explanation}"
        );
    }
}

#[test]
fn examples_stand_in_the_order_in_which_they_win() {
    let ranks = |ranking: &str| {
        let dice = rules(variant("dice").unwrap(), &[("ranking", named(ranking))]).unwrap();
        let explanation = explain(&dice, Clock::default());
        let items = explanation.sections.into_iter().flat_map(|section| section.items);
        items.filter_map(|item| Some(item.example?.rank_text())).collect::<Vec<_>>()
    };
    assert_eq!(ranks("signed")[3..6], ["total 22", "total 5", "total -22"]);
    assert_eq!(ranks("absolute")[3..6], ["total 22", "total -22", "total 5"]);
    let spike = explain(&RuleSet::defaults(variant("spike").unwrap()), Clock::default());
    let ranks: Vec<String> = spike
        .sections
        .into_iter()
        .flat_map(|section| section.items)
        .filter_map(|item| Some(item.example?.rank_text()))
        .collect();
    let ladder = "pure full fleet yee-haa rhylet squadron gee-whiz straight-khyron banthas-wild \
                  rule-of-two sabacc-pair sabacc nulrhek";
    assert_eq!(ranks, ladder.split(' ').collect::<Vec<_>>());
}
