//! Rule sets in messages.

use primitives::Quoted;
use proto::common::v1::rule_set_field::Value;
use proto::common::v1::{ErrorReason, RuleSetField, WordList};
use rules::{FieldValue, RuleSet};

use crate::status::{ApiRefusal, api_refusal};

/// Parses a rule set from the fields that differ from the variant's defaults. `within` is the path of
/// the message that has both.
pub fn read(within: &str, variant: &str, fields: &[RuleSetField]) -> Result<RuleSet, ApiRefusal> {
    let mut named = Vec::with_capacity(fields.len());
    for (at, RuleSetField { name, value }) in fields.iter().enumerate() {
        let value = match value {
            Some(Value::Number(number)) => FieldValue::Number(*number),
            Some(Value::Text(text)) => FieldValue::Text(text.clone()),
            Some(Value::Flag(flag)) => FieldValue::Flag(*flag),
            Some(Value::List(WordList { words })) => FieldValue::List(words.clone()),
            None => {
                let message = format!("the field `{}` has no value", Quoted(name));
                return Err(api_refusal(ErrorReason::RuleSetInvalid, message)
                    .field(&format!("{within}.rule_set[{at}].value")));
            }
        };
        named.push((name.clone(), value));
    }
    RuleSet::parse(variant, &named).map_err(|error| {
        let field = if rules::variant(variant).is_none() { "variant" } else { "rule_set" };
        api_refusal(ErrorReason::RuleSetInvalid, error.to_string())
            .field(&format!("{within}.{field}"))
    })
}

/// Writes one field with its value.
pub fn write_field(name: &str, value: &FieldValue) -> RuleSetField {
    let value = match value {
        FieldValue::Number(number) => Value::Number(*number),
        FieldValue::Text(text) => Value::Text(text.clone()),
        FieldValue::Flag(flag) => Value::Flag(*flag),
        FieldValue::List(words) => Value::List(WordList { words: words.clone() }),
    };
    RuleSetField { name: name.to_owned(), value: Some(value) }
}
