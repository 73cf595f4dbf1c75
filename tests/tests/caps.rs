//! Cases of `golden/caps.json`: valid and invalid rule sets, and the lines that caps and assigned
//! tokens leave (rules/SPEC.md §4.4, §8.2, §12.2). Verifiers in all languages accept and refuse the
//! same cases.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use history::HandHistory;
use primitives::Credits;
use rules::{FieldValue, RuleSet, Setup};
use serde_json::Value;

fn vectors(key: &str) -> Result<Vec<Value>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/caps.json");
    let all: Value = serde_json::from_str(&fs::read_to_string(&path)?)?;
    Ok(all[key].as_array().with_context(|| format!("`{key}` is missing"))?.clone())
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn field(value: &Value) -> Result<FieldValue> {
    Ok(match value {
        Value::Bool(flag) => FieldValue::Flag(*flag),
        Value::Number(number) => FieldValue::Number(number.as_u64().context("a credit amount")?),
        Value::String(text) => FieldValue::Text(text.clone()),
        Value::Array(_) => FieldValue::List(texts(value)),
        Value::Null | Value::Object(_) => bail!("{value} is no value of a field"),
    })
}

/// Parses the rule set of a case; the inner error is the refusal of the rules.
fn rule_set(case: &Value) -> Result<Result<RuleSet, rules::RuleSetError>> {
    let fields = case["ruleset"].as_object().context("`ruleset` is missing")?;
    let fields: Vec<(String, FieldValue)> = fields
        .iter()
        .map(|(name, value)| Ok((name.clone(), field(value)?)))
        .collect::<Result<_>>()?;
    Ok(RuleSet::parse(case["variant"].as_str().context("`variant` is missing")?, &fields))
}

fn history(case: &Value) -> Result<HandHistory> {
    let stacks: Vec<u64> = serde_json::from_value(case["starting_stacks"].clone())?;
    let pot = |key: &str| Credits::try_new(case[key].as_u64().unwrap_or(0));
    let seats = (1..=u8::try_from(stacks.len())?).map(primitives::SeatNo::try_new);
    let setup = Setup {
        rules: rule_set(case)??,
        seats: seats.collect::<Result<_, _>>()?,
        stacks: stacks.iter().map(|&stack| Credits::try_new(stack)).collect::<Result<_, _>>()?,
        sabacc_pot: pot("sabacc_pot")?,
        carried_pot: pot("carried_pot")?,
    };
    let names = (0..stacks.len()).map(|at| format!("player {at}")).collect();
    Ok(HandHistory { actions: texts(&case["actions"]), ..HandHistory::for_setup(&setup, names) })
}

#[test]
fn rule_sets_are_accepted_and_refused_as_listed() -> Result<()> {
    for case in vectors("valid")? {
        let rules = rule_set(&case)?.with_context(|| case.to_string())?;
        ensure!(RuleSet::from_canonical(&rules.canonical())? == rules, "{case}");
        let Some(players) = case.get("players") else { continue };
        let players: (u8, u8) = serde_json::from_value(players.clone())?;
        ensure!(
            (*rules.player_counts().start(), *rules.player_counts().end()) == players,
            "{case}"
        );
    }
    for case in vectors("invalid")? {
        ensure!(rule_set(&case)?.is_err(), "{case} is a rule set");
    }
    Ok(())
}

#[test]
fn caps_leave_the_lines_that_are_listed() -> Result<()> {
    for case in vectors("cases")? {
        let given = history(&case)?;
        let then = |line: &String| {
            let mut hand = given.clone();
            hand.actions.push(line.clone());
            history::replay(&hand).map(|_| ())
        };
        for line in texts(&case["legal"]) {
            then(&line).with_context(|| format!("{}: `{line}`", case["name"]))?;
        }
        for line in texts(&case["illegal"]) {
            let at = given.actions.len() + 1;
            let refused = then(&line).is_err_and(|broken| broken.action == at);
            ensure!(refused, "{}: `{line}` is not refused", case["name"]);
        }
    }
    Ok(())
}
