//! Tables of a file that `up` opens: `--seed-tables FILE`.
//!
//! The file is TOML or JSON: a list `tables` of tables, each with the fields of
//! `sabacc.table.v1.TableConfig`; `rule_set` is a table of the fields that differ from the game's
//! defaults. A table is opened under a request id made from its name, so a restart opens none again,
//! and a table that was closed stays closed. A file is read whole before the room starts.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, bail};
use client::{Client, Error};
use primitives::RequestId;
use proto::common::v1::ErrorReason;
use proto::table::v1::TableConfig;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use wire::ruleset::write_field;

use crate::explain;

/// Longest file, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// Most tables of a file.
const MAX_TABLES: usize = 1000;

/// Table of a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeedTable {
    name: String,
    variant: String,
    #[serde(default)]
    rule_set: BTreeMap<String, Value>,
    #[serde(default)]
    min_buy_in_credits: u64,
    #[serde(default)]
    max_buy_in_credits: u64,
    #[serde(default)]
    action_seconds: u32,
    bank_seconds: Option<u32>,
    #[serde(default)]
    pause_ms: u32,
    #[serde(default)]
    seats: u32,
    #[serde(default)]
    reveal_delayed: bool,
    #[serde(default)]
    commit_ms: u32,
    #[serde(default)]
    reveal_ms: u32,
    contributors_min: Option<u32>,
    #[serde(default)]
    suspend_hours: u32,
    #[serde(default)]
    idle_seconds: u32,
}

/// Tables to open, in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SeedTables(Vec<TableConfig>);

impl SeedTables {
    /// Reads a file; one whose name ends in `.json` as JSON, any other as TOML.
    ///
    /// # Errors
    /// The first fault, with its field, such as `tables[1].seats`.
    pub(crate) fn read(path: &Path) -> anyhow::Result<SeedTables> {
        let named = || format!("--seed-tables {}", path.display());
        let length = std::fs::metadata(path).with_context(named)?.len();
        if length > MAX_BYTES {
            return Err(anyhow::anyhow!("longer than {MAX_BYTES} bytes")).with_context(named);
        }
        let text = std::fs::read_to_string(path).with_context(named)?;
        let is_json = path.extension().is_some_and(|ending| ending == "json");
        SeedTables::parse(&text, is_json).with_context(named)
    }

    fn parse(text: &str, is_json: bool) -> anyhow::Result<SeedTables> {
        let file: Value = if is_json { serde_json::from_str(text)? } else { toml::from_str(text)? };
        let Value::Object(mut file) = file else { bail!("a list `tables` stands there") };
        let Some(Value::Array(tables)) = file.remove("tables") else {
            bail!("`tables` is missing, or no list");
        };
        if let Some(other) = file.keys().next() {
            bail!("`{other}` is no field: `tables` alone stands there");
        }
        if tables.len() > MAX_TABLES {
            bail!("`tables` has more than {MAX_TABLES}");
        }
        let mut configs: Vec<TableConfig> = Vec::new();
        for (number, table) in tables.into_iter().enumerate() {
            let config = parse_table(table, &format!("tables[{number}]"))?;
            if configs.iter().any(|other| other.name == config.name) {
                bail!("tables[{number}].name: another table is named {:?}", config.name);
            }
            configs.push(config);
        }
        Ok(SeedTables(configs))
    }

    /// Opens the tables that were not opened before. Returns how many there are.
    ///
    /// # Errors
    /// The first refusal, with its field; tables before it are open.
    pub(crate) async fn open(&self, operator: &Client) -> anyhow::Result<usize> {
        for (number, config) in self.0.iter().enumerate() {
            let request = request_id(&config.name);
            let opened = operator.create_table_as(request, config.clone()).await;
            opened.map_err(|error| refusal(&error, number)).with_context(|| {
                format!("--seed-tables: the table {:?} cannot be opened", config.name)
            })?;
        }
        Ok(self.0.len())
    }
}

/// Reads one table.
fn parse_table(table: Value, place: &str) -> anyhow::Result<TableConfig> {
    let table: SeedTable = serde_json::from_value(check_types(table, place)?)
        .with_context(|| format!("{place} is no table's configuration"))?;
    let variant = explain::find_variant(&table.variant);
    let variant = variant.with_context(|| format!("{place}.variant"))?;
    let mut rule_set = Vec::new();
    for (name, value) in &table.rule_set {
        let place = || format!("{place}.rule_set.{name}");
        let text = field_text(value).with_context(place)?;
        let fields =
            explain::parse_fields(variant, &format!("{name}={text}")).with_context(place)?;
        rule_set.extend(fields.iter().map(|(name, value)| write_field(name, value)));
    }
    Ok(TableConfig {
        name: table.name,
        variant: variant.id.to_owned(),
        rule_set,
        min_buy_in_credits: table.min_buy_in_credits,
        max_buy_in_credits: table.max_buy_in_credits,
        action_seconds: table.action_seconds,
        bank_seconds: table.bank_seconds,
        pause_ms: table.pause_ms,
        seats: table.seats,
        reveal_delayed: table.reveal_delayed,
        commit_ms: table.commit_ms,
        reveal_ms: table.reveal_ms,
        contributors_min: table.contributors_min,
        suspend_hours: table.suspend_hours,
        idle_seconds: table.idle_seconds,
    })
}

/// Checks the types of a table's fields one by one, so that a fault names its field.
fn check_types(table: Value, place: &str) -> anyhow::Result<Value> {
    let Value::Object(fields) = &table else { bail!("{place} is no table") };
    for (name, value) in fields {
        let fits = match name.as_str() {
            "name" | "variant" => value.is_string(),
            "rule_set" => value.is_object(),
            "reveal_delayed" => value.is_boolean(),
            "min_buy_in_credits" | "max_buy_in_credits" => value.is_u64(),
            _ => value.as_u64().is_some_and(|number| u32::try_from(number).is_ok()),
        };
        let is_known = serde_json::from_value::<SeedTable>(serde_json::json!({ name: value }))
            .err()
            .is_none_or(|error| !error.to_string().starts_with("unknown field"));
        if !is_known {
            bail!("{place}.{name} is no field of TableConfig");
        }
        if !fits {
            bail!("{place}.{name}: {value} is not of its type");
        }
    }
    Ok(table)
}

/// Value of a rule set's field as `parse_fields` reads it.
fn field_text(value: &Value) -> anyhow::Result<String> {
    let scalar = |value: &Value| match value {
        Value::String(text) if !text.contains([',', '+']) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            bail!("{value} is no value of a field")
        }
    };
    match value {
        Value::Array(items) => {
            Ok(items.iter().map(scalar).collect::<Result<Vec<_>, _>>()?.join("+"))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            scalar(value)
        }
    }
}

/// Request id of a table's opening: a UUID of version 4 in form.
fn request_id(name: &str) -> RequestId {
    let hash = Sha256::new().chain_update(b"sabacc/seed-table/v1").chain_update(name).finalize();
    let mut id = [0; 16];
    id.copy_from_slice(&hash[..16]);
    id[6] = id[6] & 0x0f | 0x40;
    id[8] = id[8] & 0x3f | 0x80;
    RequestId(id)
}

/// Words for a refusal of a table.
fn refusal(error: &Error, number: usize) -> anyhow::Error {
    if error.reason() == Some(ErrorReason::RequestIdReused) {
        return anyhow::anyhow!(
            "tables[{number}]: a table of this name was opened before with other fields: give it \
             another name, or the fields that it had"
        );
    }
    let field = error.refusal().and_then(|refusal| refusal.field.as_deref());
    let field = field.map(|field| field.strip_prefix("config.").unwrap_or(field));
    let field = field.map_or_else(String::new, |field| format!(".{field}"));
    anyhow::anyhow!("tables[{number}]{field}: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOML: &str = "[[tables]]\nname = \"Low\"\nvariant = \"dice\"\nseats = 4\n\
        rule_set = { hand_ante = 7, field = false }\n\n[[tables]]\nname = \"Kessel\"\n\
        variant = \"kessel\"\nbank_seconds = 0\n\
        rule_set = { tokens = \"assigned\", assigned_tokens = [\"refund\", \"embargo\"] }\n";

    #[test]
    fn toml_and_json_say_the_same() {
        let json = r#"{"tables": [
            {"name": "Low", "variant": "dice", "seats": 4, "rule_set": {"hand_ante": 7, "field": false}},
            {"name": "Kessel", "variant": "kessel", "bank_seconds": 0,
             "rule_set": {"tokens": "assigned", "assigned_tokens": ["refund", "embargo"]}}]}"#;
        let read = SeedTables::parse(TOML, false).unwrap();
        assert_eq!(read, SeedTables::parse(json, true).unwrap());
        let [low, kessel] = &read.0[..] else { panic!("two tables") };
        assert_eq!((&*low.variant, low.seats, low.bank_seconds), ("dice", 4, None));
        assert_eq!(low.rule_set.len(), 2);
        assert_eq!((kessel.bank_seconds, kessel.rule_set.len()), (Some(0), 2));
        assert_ne!(request_id("Low"), request_id("Kessel"));
    }

    #[test]
    fn a_fault_names_its_field() {
        let table = |line: &str| format!("[[tables]]\nname = \"A\"\nvariant = \"dice\"\n{line}\n");
        let cases = [
            (table("seat = 4"), "tables[0].seat is no field"),
            (table("seats = \"4\""), "tables[0].seats: \"4\""),
            (table("seats = -1"), "tables[0].seats: -1"),
            (table("seats = 4294967296"), "tables[0].seats: 4294967296"),
            (table("rule_set = { chips = 4 }"), "tables[0].rule_set.chips"),
            (table("rule_set = { hand_ante = {} }"), "tables[0].rule_set.hand_ante"),
            (table("rule_set = { hand_ante = \"7,field=false\" }"), "tables[0].rule_set.hand_ante"),
            ("[[tables]]\nname = \"A\"\n".to_owned(), "missing field `variant`"),
            ("[[tables]]\nname = \"A\"\nvariant = \"pazaak\"\n".to_owned(), "tables[0].variant"),
            (table("") + &table(""), "tables[1].name: another table"),
            ("table = []".to_owned(), "`tables` is missing"),
            ("tables = []\nroom = 1".to_owned(), "`room` is no field"),
        ];
        for (text, said) in cases {
            let error = SeedTables::parse(&text, false).unwrap_err();
            assert!(format!("{error:#}").contains(said), "{said}: {error:#}");
        }
    }
}
