//! What each field of a request takes and refuses, as `fields.txt` lists it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor, MethodDescriptor};
use proto::common::v1::ErrorReason;
use serde_json::Value;
use system::ids::IdMaker;

use super::check::Report;
use super::world::bytes;

/// Line of the file.
struct Rule {
    /// Name of the method, or `*`.
    method: String,
    /// Path of the field, or its name alone where the method is `*`.
    field: String,
    value: Replacement,
    expected: Expected,
}

/// What stands in place of a valid value.
#[derive(Debug, Clone)]
pub(super) enum Replacement {
    /// Nothing: the field is missing.
    Missing,
    Value(Value),
    /// An id of the right form that names nothing.
    UnknownId,
    /// No value: the message's own fields have no lines.
    Whole,
}

/// Outcome of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Expected {
    /// Why the call is refused; `None` where it succeeds.
    pub(super) reason: Option<ErrorReason>,
    /// Path of the field that is named as the one at fault.
    pub(super) field: Option<String>,
}

impl Expected {
    pub(super) fn refused(reason: ErrorReason) -> Expected {
        Expected { reason: Some(reason), field: None }
    }
}

/// Request with one field changed.
pub(super) struct Crossing {
    pub(super) field: String,
    pub(super) value: Replacement,
    pub(super) expected: Expected,
}

pub(super) struct FieldRules {
    rules: Vec<Rule>,
    used: Mutex<BTreeSet<usize>>,
}

impl FieldRules {
    pub(super) fn read(methods: &[MethodDescriptor]) -> FieldRules {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rooms/contract/fields.txt");
        let text = std::fs::read_to_string(path).unwrap();
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let rules: Vec<Rule> = lines.map(rule).collect();
        for rule in rules.iter().filter(|rule| rule.method != "*") {
            let named = methods.iter().filter(|method| method.name() == rule.method).count();
            assert_eq!(named, 1, "fields.txt: methods with the name {}", rule.method);
        }
        FieldRules { rules, used: Mutex::default() }
    }

    /// Changes of each field of a method's requests; `Err` names a field without a line.
    pub(super) fn crossings(
        &self,
        method: &MethodDescriptor,
    ) -> Result<Vec<Crossing>, Vec<String>> {
        let (mut crossings, mut missing) = (Vec::new(), Vec::new());
        self.collect(method.name(), &method.input(), "", &mut |field, rules| {
            if rules.is_empty() {
                missing.push(format!("{} {field}: no line in fields.txt", method.name()));
            }
            crossings.extend(rules.iter().map(|rule| Crossing {
                field: field.to_owned(),
                value: rule.value.clone(),
                expected: rule.expected.clone(),
            }));
        });
        if missing.is_empty() { Ok(crossings) } else { Err(missing) }
    }

    fn collect(
        &self,
        method: &str,
        message: &MessageDescriptor,
        above: &str,
        take: &mut impl FnMut(&str, &[&Rule]),
    ) {
        for field in message.fields() {
            let path = format!("{above}{}", field.name());
            let rules = self.rules_of(method, &path, field.name());
            let is_whole = rules.iter().any(|rule| matches!(rule.value, Replacement::Whole));
            take(&path, &rules);
            if let Some(inner) = inner(&field).filter(|_| !is_whole) {
                self.collect(method, &inner, &format!("{path}."), take);
            }
        }
    }

    /// Lines of a field: its own, or else those of its name.
    fn rules_of(&self, method: &str, path: &str, name: &str) -> Vec<&Rule> {
        let of = |method: &str, field: &str| -> Vec<usize> {
            let is = |rule: &Rule| rule.method == method && rule.field == field;
            (0..self.rules.len()).filter(|at| is(&self.rules[*at])).collect()
        };
        let own = of(method, path);
        let found = if own.is_empty() { of("*", name) } else { own };
        self.used.lock().unwrap().extend(&found);
        found.into_iter().map(|at| &self.rules[at]).collect()
    }

    /// Lines that are about no field.
    pub(super) fn unused(&self) -> Report {
        let used = self.used.lock().unwrap();
        let unused = (0..self.rules.len()).filter(|at| !used.contains(at));
        let findings = unused.map(|at| {
            let Rule { method, field, .. } = &self.rules[at];
            format!("fields.txt: {method} {field} is about no field")
        });
        Report { calls: 0, findings: findings.collect() }
    }
}

/// Message of ours in a field, if there is one and no more.
fn inner(field: &FieldDescriptor) -> Option<MessageDescriptor> {
    match field.kind() {
        Kind::Message(message) if !field.is_list() && !field.is_map() => {
            message.full_name().starts_with("sabacc.").then_some(message)
        }
        _ => None,
    }
}

/// Reads `METHOD FIELD VALUE OUTCOME [FIELD AT FAULT]`.
fn rule(line: &str) -> Rule {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (outcome, at_fault) = match words[..] {
        [_, _, "whole"] => ("ok", None),
        [_, _, _, outcome] => (outcome, None),
        [_, _, _, outcome, at_fault] => (outcome, Some(at_fault)),
        _ => panic!("fields.txt: {line}"),
    };
    let reason = (outcome != "ok").then(|| {
        let reason = ErrorReason::from_str_name(&format!("ERROR_REASON_{outcome}"));
        reason.unwrap_or_else(|| panic!("fields.txt: {line}"))
    });
    let own = (reason == Some(ErrorReason::BadField)).then_some(words[1]);
    let field = at_fault.or(own).map(str::to_owned);
    let expected = Expected { reason, field };
    Rule {
        method: words[0].to_owned(),
        field: words[1].to_owned(),
        value: replacement(words[2]),
        expected,
    }
}

fn replacement(word: &str) -> Replacement {
    let number = |name: &str| {
        let inside = word.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?;
        Some(inside.parse::<usize>().unwrap())
    };
    if let Some(count) = number("chars") {
        return Replacement::Value("x".repeat(count).into());
    }
    if let Some(count) = number("bytes") {
        return Replacement::Value(bytes(vec![7; count]));
    }
    match word {
        "-" => Replacement::Missing,
        "unknown" => Replacement::UnknownId,
        "whole" => Replacement::Whole,
        json => Replacement::Value(
            serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}")),
        ),
    }
}

/// Changes a field of a request. What excludes it is taken out.
pub(super) fn replace(
    json: &mut Value,
    message: &MessageDescriptor,
    path: &str,
    value: &Replacement,
) {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let field = message.get_field_by_name(name).unwrap_or_else(|| panic!("there is no {path}"));
    let object = json.as_object_mut().unwrap();
    if let Some(oneof) = field.containing_oneof() {
        for other in oneof.fields().filter(|other| other.name() != name) {
            object.remove(other.name());
        }
    }
    if let Some(rest) = rest {
        let inner = object.entry(name).or_insert_with(|| Value::Object(serde_json::Map::new()));
        return replace(inner, field.kind().as_message().unwrap(), rest, value);
    }
    let value = match value {
        Replacement::Missing | Replacement::Whole => None,
        Replacement::Value(value) => Some(value.clone()),
        Replacement::UnknownId => Some(IdMaker::system().request_id().to_string().into()),
    };
    match value {
        Some(value) => object.insert(name.to_owned(), value),
        None => object.remove(name),
    };
}
