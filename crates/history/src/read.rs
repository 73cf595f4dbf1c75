//! Reading the text form: TOML with exactly the keys and types of a hand history.
//!
//! There are two kinds of error: [`FormatError`] if the file is no hand history, and
//! [`InvalidHand`] if it is one whose hand breaks a rule, such as a number that is out of range.
//!
//! Specification: history/SPEC.md §2, §3, §6.1.

use std::ops::Range;

use primitives::{Credits, Quoted};
use rules::FieldValue;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::model::HandHistory;
use crate::replay::{InvalidHand, one_line};

/// Reason why a file is no hand history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    #[error("not UTF-8, from byte {at} on")]
    Utf8 { at: usize },
    #[error("not TOML: line {line}: {problem}")]
    Toml { line: usize, problem: String },
    #[error("`shh = 1` is missing: this is no hand history of version 1")]
    Version,
    #[error(
        "line {line}: a file of several hands has only `shh` and `[[hand]]` tables, not `{}`",
        Quoted(key)
    )]
    UnexpectedKey { line: usize, key: String },
    #[error("there is no hand in it")]
    NoHand,
    #[error("hand {hand}: the key `{key}` is missing")]
    MissingKey { hand: usize, key: &'static str },
    #[error("line {line}: `{}` is no key of a hand history", Quoted(key))]
    UnknownKey { line: usize, key: String },
    #[error("line {line}: `{}` must be {want}", Quoted(key))]
    WrongType { line: usize, key: String, want: &'static str },
}

type Value<'i> = Spanned<DeValue<'i>>;

/// Reads a file: its hands in order. A hand whose numbers alone show that it cannot have been
/// played is an error of its own.
///
/// # Errors
/// If the file is no hand history.
pub fn read(bytes: &[u8]) -> Result<Vec<Result<HandHistory, InvalidHand>>, FormatError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| FormatError::Utf8 { at: error.valid_up_to() })?;
    match read_by_hand(text) {
        Some(hands) => Ok(hands),
        None => read_whole(text),
    }
}

/// Reads the file as one TOML document.
fn read_whole(text: &str) -> Result<Vec<Result<HandHistory, InvalidHand>>, FormatError> {
    let mut table = DeTable::parse(text).map_err(|error| not_toml(text, &error))?.into_inner();
    let file = SourceText { text };
    file.version(&mut table)?;
    let Some(hands) = table.remove("hand") else {
        return Ok(vec![file.hand(1, table)?]);
    };
    file.check_only_hands(&table)?;
    file.hands(1, hands)
}

/// Reads like [`read_whole`], but parses each hand by itself, so that a large file is not all in
/// memory as TOML at once. None if anything is wrong or unusual, such as a `[[hand]]` within a
/// string, which leaves a piece that is no TOML.
fn read_by_hand(text: &str) -> Option<Vec<Result<HandHistory, InvalidHand>>> {
    const BREAK: &str = "\n[[hand]]";
    let (head, _) = text.split_once(BREAK)?;
    let mut table = DeTable::parse(head).ok()?.into_inner();
    let file = SourceText { text: head };
    file.version(&mut table).ok()?;
    file.check_only_hands(&table).ok()?;
    let mut hands = Vec::new();
    let mut rest = &text[head.len() + 1..];
    while !rest.is_empty() {
        let end = rest.find(BREAK).map_or(rest.len(), |end| end + 1);
        let (piece, after) = rest.split_at(end);
        rest = after;
        let mut table = DeTable::parse(piece).ok()?.into_inner();
        let hand = table.remove("hand").filter(|_| table.is_empty())?;
        hands.extend(SourceText { text: piece }.hands(hands.len() + 1, hand).ok()?);
    }
    Some(hands)
}

fn not_toml(text: &str, error: &toml::de::Error) -> FormatError {
    let at = error.span().map_or(0, |span| span.start);
    let problem = one_line(&error.message().lines().collect::<Vec<_>>().join("; "));
    FormatError::Toml { line: line_at(text, at), problem }
}

fn line_at(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

/// The text that all spans point into.
#[derive(Clone, Copy)]
struct SourceText<'i> {
    text: &'i str,
}

/// A hand as far as it was read.
#[derive(Default)]
struct Draft {
    variant: Option<String>,
    ruleset: Vec<(String, Range<usize>, FieldValue)>,
    id: Option<String>,
    table: Option<String>,
    started_at: Option<String>,
    engine: Option<String>,
    commitment: Option<String>,
    reveal: Option<String>,
    seats: Option<Vec<u64>>,
    players: Option<Vec<String>>,
    starting_stacks: Option<Vec<u64>>,
    sabacc_pot: Option<u64>,
    carried_pot: Option<u64>,
    actions: Option<Vec<String>>,
    settlement: Option<Vec<String>>,
    finishing_stacks: Option<Vec<u64>>,
    finishing_sabacc_pot: Option<u64>,
    finishing_carried_pot: Option<u64>,
    /// Description of the first number that is not valid.
    invalid_number: Option<String>,
}

impl<'i> SourceText<'i> {
    fn line(self, span: Range<usize>) -> usize {
        line_at(self.text, span.start)
    }

    fn raw(self, span: Range<usize>) -> &'i str {
        self.text.get(span).unwrap_or("")
    }

    fn wrong(self, key: &str, span: Range<usize>, want: &'static str) -> FormatError {
        FormatError::WrongType { line: self.line(span), key: one_line(key), want }
    }

    /// Takes `shh = 1` out.
    fn version(self, table: &mut DeTable<'i>) -> Result<(), FormatError> {
        let version = table.remove("shh").ok_or(FormatError::Version)?;
        let is_integer = matches!(version.get_ref(), DeValue::Integer(_));
        if is_integer && self.raw(version.span()) == "1" {
            Ok(())
        } else {
            Err(FormatError::Version)
        }
    }

    fn check_only_hands(self, table: &DeTable<'i>) -> Result<(), FormatError> {
        match table.keys().find(|key| !key.get_ref().starts_with('_')) {
            None => Ok(()),
            Some(key) => {
                let line = self.line(key.span());
                Err(FormatError::UnexpectedKey { line, key: one_line(key.get_ref()) })
            }
        }
    }

    /// Reads `[[hand]]` tables, the first of which has the number `first`.
    fn hands(
        self,
        first: usize,
        hands: Value<'i>,
    ) -> Result<Vec<Result<HandHistory, InvalidHand>>, FormatError> {
        let want = "tables, one for each hand";
        let hands = self.list("hand", hands, want)?;
        if hands.is_empty() {
            return Err(FormatError::NoHand);
        }
        let mut read = Vec::with_capacity(hands.len());
        for (at, hand) in hands.into_iter().enumerate() {
            let span = hand.span();
            let DeValue::Table(table) = hand.into_inner() else {
                return Err(self.wrong("hand", span, want));
            };
            read.push(self.hand(first + at, table)?);
        }
        Ok(read)
    }

    fn hand(
        self,
        hand: usize,
        table: DeTable<'i>,
    ) -> Result<Result<HandHistory, InvalidHand>, FormatError> {
        let mut draft = Draft::default();
        for (key, value) in table {
            let span = key.span();
            let key = key.into_inner();
            if !key.starts_with('_') && !self.read_key(&mut draft, &key, value)? {
                return Err(FormatError::UnknownKey { line: self.line(span), key: one_line(&key) });
            }
        }
        self.check_field_types(&draft)?;
        draft.finish(hand)
    }

    /// Reads one key; false if there is no such key.
    fn read_key(self, draft: &mut Draft, key: &str, value: Value<'i>) -> Result<bool, FormatError> {
        let broken = &mut draft.invalid_number;
        match key {
            "variant" => draft.variant = Some(self.text(key, value)?),
            "ruleset" => draft.ruleset = self.ruleset(value, broken)?,
            "id" => draft.id = Some(self.text(key, value)?),
            "table" => draft.table = Some(self.text(key, value)?),
            "started_at" => draft.started_at = Some(self.date_time(key, value)?),
            "engine" => draft.engine = Some(self.text(key, value)?),
            "commitment" => draft.commitment = Some(self.text(key, value)?),
            "reveal" => draft.reveal = Some(self.text(key, value)?),
            "seats" => draft.seats = Some(self.numbers(key, value, broken)?),
            "players" => draft.players = Some(self.texts(key, value)?),
            "starting_stacks" => draft.starting_stacks = Some(self.numbers(key, value, broken)?),
            "sabacc_pot" => draft.sabacc_pot = Some(self.number(key, &value, broken)?),
            "carried_pot" => draft.carried_pot = Some(self.number(key, &value, broken)?),
            "actions" => draft.actions = Some(self.texts(key, value)?),
            "settlement" => draft.settlement = Some(self.texts(key, value)?),
            "finishing_stacks" => draft.finishing_stacks = Some(self.numbers(key, value, broken)?),
            "finishing_sabacc_pot" => {
                draft.finishing_sabacc_pot = Some(self.number(key, &value, broken)?);
            }
            "finishing_carried_pot" => {
                draft.finishing_carried_pot = Some(self.number(key, &value, broken)?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn text(self, key: &str, value: Value<'i>) -> Result<String, FormatError> {
        let span = value.span();
        if let DeValue::String(text) = value.into_inner() {
            Ok(text.into_owned())
        } else {
            Err(self.wrong(key, span, "a string"))
        }
    }

    /// Reads a date and time: a string, or TOML's own type.
    fn date_time(self, key: &str, value: Value<'i>) -> Result<String, FormatError> {
        let span = value.span();
        if let DeValue::Datetime(moment) = value.get_ref() {
            return Ok(moment.to_string());
        }
        if let DeValue::String(text) = value.into_inner() {
            Ok(text.into_owned())
        } else {
            Err(self.wrong(key, span, "a string or a date and time"))
        }
    }

    fn list(
        self,
        key: &str,
        value: Value<'i>,
        want: &'static str,
    ) -> Result<DeArray<'i>, FormatError> {
        let span = value.span();
        if let DeValue::Array(list) = value.into_inner() {
            Ok(list)
        } else {
            Err(self.wrong(key, span, want))
        }
    }

    fn texts(self, key: &str, value: Value<'i>) -> Result<Vec<String>, FormatError> {
        let want = "a list of strings";
        let list = self.list(key, value, want)?;
        let text = |item: Value<'i>| {
            let span = item.span();
            if let DeValue::String(text) = item.into_inner() {
                Ok(text.into_owned())
            } else {
                Err(self.wrong(key, span, want))
            }
        };
        list.into_iter().map(text).collect()
    }

    fn numbers(
        self,
        key: &str,
        value: Value<'i>,
        broken: &mut Option<String>,
    ) -> Result<Vec<u64>, FormatError> {
        let want = "a list of whole numbers";
        let list = self.list(key, value, want)?;
        list.into_iter().map(|item| self.integer(key, &item, want, broken)).collect()
    }

    fn number(
        self,
        key: &str,
        value: &Value<'i>,
        broken: &mut Option<String>,
    ) -> Result<u64, FormatError> {
        self.integer(key, value, "a whole number", broken)
    }

    /// Reads a TOML integer. If it is not written as a history's numbers are, the hand is broken.
    fn integer(
        self,
        key: &str,
        value: &Value<'i>,
        want: &'static str,
        broken: &mut Option<String>,
    ) -> Result<u64, FormatError> {
        if !matches!(value.get_ref(), DeValue::Integer(_)) {
            return Err(self.wrong(key, value.span(), want));
        }
        let raw = self.raw(value.span());
        // TOML lets underscores separate digits, and the number is still a decimal.
        let number = raw.replace('_', "").parse::<Credits>();
        Ok(number.map_or_else(
            |_| {
                broken.get_or_insert_with(|| {
                    let most = Credits::MAX;
                    format!(
                        "`{key}`: {raw} is no unsigned decimal without leading zeros, at most {most}"
                    )
                });
                0
            },
            Credits::get,
        ))
    }

    fn ruleset(
        self,
        value: Value<'i>,
        broken: &mut Option<String>,
    ) -> Result<Vec<(String, Range<usize>, FieldValue)>, FormatError> {
        let span = value.span();
        let DeValue::Table(table) = value.into_inner() else {
            return Err(self.wrong("ruleset", span, "a table"));
        };
        let mut fields = Vec::with_capacity(table.len());
        for (key, value) in table {
            let key = key.into_inner();
            if key.starts_with('_') {
                continue;
            }
            let span = value.span();
            let value = match value.get_ref() {
                DeValue::Integer(_) => {
                    FieldValue::Number(self.integer(&key, &value, "a whole number", broken)?)
                }
                DeValue::Boolean(flag) => FieldValue::Flag(*flag),
                DeValue::Array(_) => FieldValue::List(self.texts(&key, value)?),
                DeValue::String(_) => FieldValue::Text(self.text(&key, value)?),
                DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Table(_) => {
                    let want = "a whole number, a string, true or false, or a list of strings";
                    return Err(self.wrong(&key, span, want));
                }
            };
            fields.push((key.into_owned(), span, value));
        }
        Ok(fields)
    }

    /// Checks that each field of the variant has its type. A field that the variant does not have
    /// breaks a rule instead.
    fn check_field_types(self, draft: &Draft) -> Result<(), FormatError> {
        let Some(variant) = draft.variant.as_deref().and_then(rules::variant) else {
            return Ok(());
        };
        for (name, span, value) in &draft.ruleset {
            let Some(field) = variant.fields.iter().find(|field| field.name() == name) else {
                continue;
            };
            let want = match (field.default_value(), value) {
                (FieldValue::Number(_), FieldValue::Number(_))
                | (FieldValue::Text(_), FieldValue::Text(_))
                | (FieldValue::Flag(_), FieldValue::Flag(_))
                | (FieldValue::List(_), FieldValue::List(_)) => continue,
                (FieldValue::Number(_), _) => "a whole number",
                (FieldValue::Text(_), _) => "a string",
                (FieldValue::Flag(_), _) => "true or false",
                (FieldValue::List(_), _) => "a list of strings",
            };
            return Err(self.wrong(name, span.clone(), want));
        }
        Ok(())
    }
}

impl Draft {
    fn finish(self, hand: usize) -> Result<Result<HandHistory, InvalidHand>, FormatError> {
        let missing = |key| FormatError::MissingKey { hand, key };
        let credits = |amount: u64| Credits::try_new(amount).unwrap_or(Credits::MAX);
        let all = |amounts: Vec<u64>| amounts.into_iter().map(credits).collect();
        let history = HandHistory {
            variant: self.variant.ok_or(missing("variant"))?,
            ruleset: self.ruleset.into_iter().map(|(name, _, value)| (name, value)).collect(),
            id: self.id,
            table: self.table,
            started_at: self.started_at,
            engine: self.engine,
            commitment: self.commitment,
            reveal: self.reveal,
            seats: self.seats.ok_or(missing("seats"))?,
            players: self.players.ok_or(missing("players"))?,
            starting_stacks: all(self.starting_stacks.ok_or(missing("starting_stacks"))?),
            sabacc_pot: self.sabacc_pot.map_or(Credits::ZERO, credits),
            carried_pot: self.carried_pot.map_or(Credits::ZERO, credits),
            actions: self.actions.ok_or(missing("actions"))?,
            settlement: self.settlement,
            finishing_stacks: self.finishing_stacks.map(all),
            finishing_sabacc_pot: self.finishing_sabacc_pot.map(credits),
            finishing_carried_pot: self.finishing_carried_pot.map(credits),
        };
        Ok(self.invalid_number.map_or(Ok(history), |why| Err(InvalidHand::new(0, &why))))
    }
}
