//! The JSON form: the protobuf JSON mapping of the message `HandHistory`.
//!
//! Names are in lowerCamelCase, 64-bit numbers are decimal strings, and empty fields are left out.
//! Reading also takes what the mapping allows besides: the names of the protobuf file, numbers as
//! numbers, and null for absent. Crates `pbjson` and `prost-reflect` map generated messages, which
//! this crate does not know.
//!
//! Specification: history/SPEC.md §9.1, §9.3.

use primitives::{Credits, Quoted};
use rules::FieldValue;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::HandHistory;

/// Reason why a text is not the JSON form of a history.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    #[error("no JSON form of a hand history: {0}")]
    Json(#[from] serde_json::Error),
    #[error(
        "the rule set field `{}` must have exactly one of number, text, flag and list",
        Quoted(name)
    )]
    Field { name: String },
}

/// Writes the JSON form, on one line.
#[must_use]
pub fn write(history: &HandHistory) -> String {
    serde_json::to_string(&Message::from(history))
        .expect("text and numbers always have a JSON form")
}

/// Reads the JSON form.
///
/// # Errors
/// If the text is not the JSON form, or a number is out of range.
pub fn read(text: &str) -> Result<HandHistory, JsonError> {
    let Object(message): Object<Message> = serde_json::from_str(text)?;
    message.try_into()
}

/// A number of a history: at most 2^53 - 1.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Number(u64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Number, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Number(u64),
            Text(String),
        }
        let number = match Either::deserialize(from)? {
            Either::Number(number) => Credits::try_new(number),
            Either::Text(text) => text.parse(),
        };
        number.map(|number| Number(number.get())).map_err(D::Error::custom)
    }
}

impl From<Credits> for Number {
    fn from(amount: Credits) -> Number {
        Number(amount.get())
    }
}

impl From<Number> for Credits {
    fn from(Number(number): Number) -> Credits {
        Credits::try_new(number).unwrap_or(Credits::MAX)
    }
}

/// A message that must be a JSON object; serde would read a plain struct from a list too.
#[derive(PartialEq)]
struct Object<T>(T);

impl<T: Serialize> Serialize for Object<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Object<T>, D::Error> {
        let object = serde_json::Map::deserialize(from)?;
        serde_json::from_value(object.into()).map(Object).map_err(D::Error::custom)
    }
}

/// Reads a field that may be null if it is absent.
fn or_absent<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

fn absent<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

macro_rules! message {
    ($name:ident { $($(#[$alias:meta])* $field:ident: $type:ty,)* }) => {
        #[derive(Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        struct $name {
            $(
                $(#[$alias])*
                #[serde(default, deserialize_with = "or_absent", skip_serializing_if = "absent")]
                $field: $type,
            )*
        }
    };
}

message!(Message {
    variant: String,
    ruleset: Vec<Object<Field>>,
    id: Option<String>,
    table: Option<String>,
    #[serde(alias = "started_at")]
    started_at: Option<String>,
    engine: Option<String>,
    commitment: Option<String>,
    reveal: Option<String>,
    seats: Vec<Number>,
    players: Vec<String>,
    #[serde(alias = "starting_stacks")]
    starting_stacks: Vec<Number>,
    #[serde(alias = "sabacc_pot")]
    sabacc_pot: Number,
    #[serde(alias = "carried_pot")]
    carried_pot: Number,
    actions: Vec<String>,
    settlement: Option<Object<Lines>>,
    #[serde(alias = "finishing_stacks")]
    finishing_stacks: Option<Object<Amounts>>,
    #[serde(alias = "finishing_sabacc_pot")]
    finishing_sabacc_pot: Option<Number>,
    #[serde(alias = "finishing_carried_pot")]
    finishing_carried_pot: Option<Number>,
});

message!(Field {
    name: String,
    number: Option<Number>,
    text: Option<String>,
    flag: Option<bool>,
    list: Option<Object<Words>>,
});

message!(Lines { lines: Vec<String>, });
message!(Amounts { amounts: Vec<Number>, });
message!(Words { words: Vec<String>, });

fn numbers(amounts: &[Credits]) -> Vec<Number> {
    amounts.iter().copied().map(Number::from).collect()
}

fn credits(numbers: Vec<Number>) -> Vec<Credits> {
    numbers.into_iter().map(Credits::from).collect()
}

impl From<&HandHistory> for Message {
    fn from(history: &HandHistory) -> Message {
        let HandHistory {
            variant,
            ruleset,
            id,
            table,
            started_at,
            engine,
            commitment,
            reveal,
            seats,
            players,
            starting_stacks,
            sabacc_pot,
            carried_pot,
            actions,
            settlement,
            finishing_stacks,
            finishing_sabacc_pot,
            finishing_carried_pot,
        } = history;
        Message {
            variant: variant.clone(),
            ruleset: ruleset.iter().map(Field::from).map(Object).collect(),
            id: id.clone(),
            table: table.clone(),
            started_at: started_at.clone(),
            engine: engine.clone(),
            commitment: commitment.clone(),
            reveal: reveal.clone(),
            seats: seats.iter().copied().map(Number).collect(),
            players: players.clone(),
            starting_stacks: numbers(starting_stacks),
            sabacc_pot: (*sabacc_pot).into(),
            carried_pot: (*carried_pot).into(),
            actions: actions.clone(),
            settlement: settlement.clone().map(|lines| Object(Lines { lines })),
            finishing_stacks: finishing_stacks
                .as_deref()
                .map(|stacks| Object(Amounts { amounts: numbers(stacks) })),
            finishing_sabacc_pot: finishing_sabacc_pot.map(Number::from),
            finishing_carried_pot: finishing_carried_pot.map(Number::from),
        }
    }
}

impl From<&(String, FieldValue)> for Field {
    fn from(named: &(String, FieldValue)) -> Field {
        let (name, value) = named;
        let mut field = Field { name: name.clone(), ..Field::default() };
        match value {
            FieldValue::Number(number) => field.number = Some(Number(*number)),
            FieldValue::Text(text) => field.text = Some(text.clone()),
            FieldValue::Flag(flag) => field.flag = Some(*flag),
            FieldValue::List(words) => field.list = Some(Object(Words { words: words.clone() })),
        }
        field
    }
}

impl TryFrom<Field> for (String, FieldValue) {
    type Error = JsonError;

    fn try_from(field: Field) -> Result<(String, FieldValue), JsonError> {
        let value = match field {
            Field { number: Some(Number(number)), text: None, flag: None, list: None, .. } => {
                FieldValue::Number(number)
            }
            Field { number: None, text: Some(text), flag: None, list: None, .. } => {
                FieldValue::Text(text)
            }
            Field { number: None, text: None, flag: Some(flag), list: None, .. } => {
                FieldValue::Flag(flag)
            }
            Field { number: None, text: None, flag: None, list: Some(list), .. } => {
                FieldValue::List(list.0.words)
            }
            Field { name, .. } => return Err(JsonError::Field { name }),
        };
        Ok((field.name, value))
    }
}

impl TryFrom<Message> for HandHistory {
    type Error = JsonError;

    fn try_from(message: Message) -> Result<HandHistory, JsonError> {
        let Message {
            variant,
            ruleset,
            id,
            table,
            started_at,
            engine,
            commitment,
            reveal,
            seats,
            players,
            starting_stacks,
            sabacc_pot,
            carried_pot,
            actions,
            settlement,
            finishing_stacks,
            finishing_sabacc_pot,
            finishing_carried_pot,
        } = message;
        Ok(HandHistory {
            variant,
            ruleset: ruleset
                .into_iter()
                .map(|Object(field)| field.try_into())
                .collect::<Result<_, _>>()?,
            id,
            table,
            started_at,
            engine,
            commitment,
            reveal,
            seats: seats.into_iter().map(|Number(seat)| seat).collect(),
            players,
            starting_stacks: credits(starting_stacks),
            sabacc_pot: sabacc_pot.into(),
            carried_pot: carried_pot.into(),
            actions,
            settlement: settlement.map(|Object(settlement)| settlement.lines),
            finishing_stacks: finishing_stacks.map(|Object(stacks)| credits(stacks.amounts)),
            finishing_sabacc_pot: finishing_sabacc_pot.map(Credits::from),
            finishing_carried_pot: finishing_carried_pot.map(Credits::from),
        })
    }
}
