//! Writing the text form: always one text for one hand, in rows that a person can read.
//!
//! A row of `actions` is one turn: a player's move with the cards and dice that followed from it.
//! Betting goes on one row as long as it fits.
//!
//! Specification: history/SPEC.md §8.

use std::fmt::Write as _;

use primitives::Credits;
use rules::FieldValue;

use crate::model::HandHistory;

/// First line of every file.
pub const HEADER: &str = "shh = 1\n";

/// Longest row of actions, in bytes.
const MAX_ROW_LEN: usize = 96;

/// Writes the file of these hands.
#[must_use]
pub fn write(hands: &[HandHistory]) -> String {
    let mut text = HEADER.to_owned();
    if let [hand] = hands {
        write_keys(&mut text, hand);
    } else {
        for hand in hands {
            text.push_str(&write_hand(hand));
        }
    }
    text
}

/// Writes one hand of a file of several, which begins with [`HEADER`].
#[must_use]
pub fn write_hand(hand: &HandHistory) -> String {
    let mut text = "\n[[hand]]\n".to_owned();
    write_keys(&mut text, hand);
    text
}

fn write_keys(text: &mut String, hand: &HandHistory) {
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
    } = hand;
    write_key(text, "variant", &toml_string(variant));
    if !ruleset.is_empty() {
        let fields: Vec<String> = ruleset
            .iter()
            .map(|(name, value)| format!("{} = {}", toml_key(name), toml_value(value)))
            .collect();
        write_key(text, "ruleset", &format!("{{ {} }}", fields.join(", ")));
    }
    for (name, value) in [
        ("id", id),
        ("table", table),
        ("started_at", started_at),
        ("engine", engine),
        ("commitment", commitment),
        ("reveal", reveal),
    ] {
        if let Some(value) = value {
            write_key(text, name, &toml_string(value));
        }
    }
    write_key(text, "seats", &listed(seats.iter().map(ToString::to_string)));
    write_key(text, "players", &listed(players.iter().map(|name| toml_string(name))));
    write_key(text, "starting_stacks", &amounts(starting_stacks));
    for (name, pot) in [("sabacc_pot", sabacc_pot), ("carried_pot", carried_pot)] {
        if !pot.is_zero() {
            write_key(text, name, &pot.to_string());
        }
    }
    write_key(text, "actions", &format_rows(actions));
    if let Some(lines) = settlement {
        write_key(text, "settlement", &listed(lines.iter().map(|line| toml_string(line))));
    }
    if let Some(stacks) = finishing_stacks {
        write_key(text, "finishing_stacks", &amounts(stacks));
    }
    for (name, pot) in [
        ("finishing_sabacc_pot", finishing_sabacc_pot),
        ("finishing_carried_pot", finishing_carried_pot),
    ] {
        if let Some(pot) = pot {
            write_key(text, name, &pot.to_string());
        }
    }
}

fn write_key(text: &mut String, name: &str, value: &str) {
    for part in [name, " = ", value, "\n"] {
        text.push_str(part);
    }
}

fn amounts(amounts: &[Credits]) -> String {
    listed(amounts.iter().map(ToString::to_string))
}

fn listed(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn toml_value(value: &FieldValue) -> String {
    match value {
        FieldValue::Number(number) => number.to_string(),
        FieldValue::Text(text) => toml_string(text),
        FieldValue::Flag(flag) => flag.to_string(),
        FieldValue::List(items) => listed(items.iter().map(|item| toml_string(item))),
    }
}

/// Writes a key, quoted unless it has only letters, digits, `_` and `-`.
fn toml_key(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !name.is_empty() && name.bytes().all(plain) { name.to_owned() } else { toml_string(name) }
}

/// Writes a TOML basic string.
fn toml_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                out.push('\\');
                out.push(character);
            }
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            control if control.is_control() => {
                write!(out, "\\u{:04X}", u32::from(control)).expect("a String takes everything");
            }
            plain => out.push(plain),
        }
    }
    out.push('"');
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Dealer,
    Bet,
    Other,
}

fn kind(line: &str) -> LineKind {
    let mut words = line.split(' ');
    match (words.next(), words.next()) {
        (Some("d"), _) => LineKind::Dealer,
        (_, Some("check" | "bet" | "match" | "raise" | "fold" | "call-hand")) => LineKind::Bet,
        _ => LineKind::Other,
    }
}

fn format_rows(lines: &[String]) -> String {
    let mut text = "[".to_owned();
    // The row so far: its length, the kind of its first line, and the actor of its last line.
    let mut row: Option<(usize, LineKind, &str)> = None;
    for line in lines {
        let quoted = toml_string(line);
        let actor = line.split(' ').next().unwrap_or("");
        let kind = kind(line);
        let goes_on = row.is_some_and(|(length, first, last)| {
            let belongs = match kind {
                LineKind::Dealer => first != LineKind::Dealer,
                LineKind::Bet => first == LineKind::Bet,
                LineKind::Other => last == actor,
            };
            belongs && length + quoted.len() < MAX_ROW_LEN
        });
        if goes_on {
            text.push(' ');
        } else {
            text.push_str("\n  ");
        }
        text.push_str(&quoted);
        text.push(',');
        row = Some(match row {
            Some((length, first, _)) if goes_on => (length + quoted.len() + 2, first, actor),
            Some(_) | None => (quoted.len() + 3, kind, actor),
        });
    }
    text.push_str(if lines.is_empty() { "]" } else { "\n]" });
    text
}
