//! `sabacc rules`: the rules of a table in words, as they are configured.

use anyhow::{Context as _, bail};
use clap::Args;
use rules::explain::{
    Clock, Explanation, Item, NOT_IMPLEMENTED, NotImplemented, Section, VariantsPage,
};
use rules::{ALL, FieldValue, RuleSet, Variant, explain, variant};
use serde_json::{Value, json};

use crate::output;

#[derive(Args)]
pub(crate) struct Options {
    /// The game; without it all games are listed with their sources, and those that are not
    /// implemented.
    variant: Option<String>,
    /// Fields that differ from the game's defaults: `key=value,…`; the items of a list are joined
    /// by `+`.
    #[arg(long, value_name = "FIELDS", default_value = "")]
    ruleset: String,
    /// Seconds for each decision.
    #[arg(long, value_name = "SECONDS", default_value_t = Clock::default().action_seconds)]
    action_seconds: u32,
    /// Seconds of each player's time bank for a hand.
    #[arg(long, value_name = "SECONDS", default_value_t = Clock::default().bank_seconds)]
    bank_seconds: u32,
}

/// Prints the rules.
pub(crate) fn run(json: bool, options: &Options) -> anyhow::Result<bool> {
    let Some(id) = &options.variant else {
        let page = if json { variants_page().to_string() } else { VariantsPage.to_string() };
        output::line(page.trim_end());
        return Ok(true);
    };
    let variant = find_variant(id)?;
    let fields = parse_fields(variant, &options.ruleset)?;
    let rules = RuleSet::parse(variant.id, &fields)?;
    let clock =
        Clock { action_seconds: options.action_seconds, bank_seconds: options.bank_seconds };
    let explanation = explain(&rules, clock);
    if json {
        output::line(&as_json(&explanation).to_string());
    } else {
        output::line(explanation.to_string().trim_end());
    }
    Ok(true)
}

/// Finds a game by its id.
pub(crate) fn find_variant(id: &str) -> anyhow::Result<&'static Variant> {
    variant(id).with_context(|| {
        format!("there is no variant `{id}`; these are known:\n{}", list_variants())
    })
}

fn list_variants() -> String {
    let line = |variant: &&Variant| format!("  {:<12}{}", variant.id, variant.title);
    ALL.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the variants page as one object.
fn variants_page() -> Value {
    let variants = ALL.iter().map(|variant| {
        let Variant { id, title, source, deck, player_counts: seats, .. } = variant;
        json!({
            "variant": id, "title": title, "source": source, "deck": deck.name,
            "cards": deck.len(), "seats": [seats.start(), seats.end()],
        })
    });
    let absent = NOT_IMPLEMENTED.iter().map(|game| {
        let NotImplemented { title, reason: why } = game;
        json!({"title": title, "why": why})
    });
    json!({
        "variants": variants.collect::<Vec<_>>(),
        "not_implemented": absent.collect::<Vec<_>>(),
    })
}

/// Parses `key=value,…` by the type of each field.
pub(crate) fn parse_fields(
    variant: &Variant,
    text: &str,
) -> anyhow::Result<Vec<(String, FieldValue)>> {
    let mut fields = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let Some((name, value)) = part.split_once('=') else {
            bail!("`{part}` is not of the form key=value");
        };
        let Some(field) = variant.fields.iter().find(|field| field.name() == name) else {
            let known: Vec<&str> = variant.fields.iter().map(|field| field.name()).collect();
            bail!("{} has no field `{name}`; it has {}", variant.id, known.join(", "));
        };
        let value = match field.default_value() {
            FieldValue::Number(_) => value.parse().map(FieldValue::Number).ok(),
            FieldValue::Flag(_) => value.parse().map(FieldValue::Flag).ok(),
            FieldValue::Text(_) => Some(FieldValue::Text(value.to_owned())),
            FieldValue::List(_) => {
                let items = value.split('+').filter(|item| !item.is_empty());
                Some(FieldValue::List(items.map(str::to_owned).collect()))
            }
        };
        let value = value.with_context(|| format!("`{part}`: {}", field.doc()))?;
        fields.push((name.to_owned(), value));
    }
    Ok(fields)
}

fn as_json(explanation: &Explanation) -> Value {
    let Explanation { variant, title, sections } = explanation;
    let sections: Vec<Value> = sections.iter().map(section).collect();
    json!({"variant": variant, "title": title, "sections": sections})
}

fn section(section: &Section) -> Value {
    let Section { heading, paragraphs, items } = section;
    let items: Vec<Value> = items.iter().map(item).collect();
    json!({"heading": heading, "paragraphs": paragraphs, "items": items})
}

fn item(item: &Item) -> Value {
    let Item { name, text, example } = item;
    match example {
        Some(example) => {
            json!({"name": name, "text": text, "cards": example.cards, "rank": example.rank_text()})
        }
        None => json!({"name": name, "text": text}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(id: &str, text: &str) -> Result<RuleSet, String> {
        let variant = variant(id).unwrap();
        let fields = parse_fields(variant, text).map_err(|error| error.to_string())?;
        RuleSet::parse(id, &fields).map_err(|error| error.to_string())
    }

    #[test]
    fn fields_are_read_by_their_kind() {
        let explained = |rules| explain(&rules, Clock::default()).to_string();
        let dice = read("dice", "hand_ante=7,field=false,shift=1d6,shift_number=4").unwrap();
        assert!(
            explained(dice).contains("7 credits") && explained(dice).contains("no Disruptor Field")
        );
        let tokens = "tokens=assigned,assigned_tokens=refund+embargo+markdown";
        assert!(explained(read("kessel", tokens).unwrap()).contains("refund, embargo, markdown"));
        for (text, why) in [
            ("hand_ante", "`hand_ante` is not of the form key=value"),
            ("chips=4", "dice has no field `chips`"),
            ("hand_ante=many", "`hand_ante=many`"),
            ("shift=3d6", "`shift` must be one of"),
        ] {
            let error = read("dice", text).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn an_unknown_variant_is_answered_with_the_known_ones() {
        let options = Options {
            variant: Some("pazaak".to_owned()),
            ruleset: String::new(),
            action_seconds: 20,
            bank_seconds: 30,
        };
        let error = run(false, &options).unwrap_err().to_string();
        for variant in ALL {
            assert!(error.contains(variant.id), "{error}");
        }
    }

    #[test]
    fn variants_page_names_every_game_and_those_that_are_not_implemented() {
        let page = variants_page();
        let ids: Vec<&str> = page["variants"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|v| v["variant"].as_str())
            .collect();
        assert_eq!(ids, ALL.iter().map(|variant| variant.id).collect::<Vec<_>>());
        let kessel = &page["variants"][5];
        assert_eq!((&kessel["deck"], &kessel["seats"]), (&json!("K44"), &json!([2, 6])));
        assert!(kessel["source"].as_str().unwrap().contains("Rules for Kessel Sabacc"));
        let absent: Vec<&str> = page["not_implemented"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|g| g["title"].as_str())
            .collect();
        assert_eq!(absent, ["Centran Sabac", "Contract Sabacc", "West End Games rules"]);
    }

    #[test]
    fn json_says_what_the_text_says() {
        let spike = RuleSet::defaults(variant("spike").unwrap());
        let value = as_json(&explain(&spike, Clock::default()));
        assert_eq!(value["variant"], "spike");
        let ranking = value["sections"].as_array().unwrap().iter();
        let ranking = ranking.filter(|section| section["heading"] == "What beats what");
        let first = &ranking.collect::<Vec<_>>()[0]["items"][0];
        assert_eq!((&first["rank"], &first["cards"][0]), (&json!("pure"), &json!("Y")));
    }
}
