//! Replay of a history on the rules: every line must be the next one, and the end that the history
//! gives must be the end that the rules give.
//!
//! Specification: history/SPEC.md §5.3, §6.2, §7.1, §7.2.

use primitives::Credits;
use rules::{Hand, Settlement, evolve, notation, play};

use crate::model::HandHistory;

/// A hand that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("action {action}: {why}")]
pub struct InvalidHand {
    /// Number of the line among the actions, from 1; 0 for an error outside of them.
    pub action: usize,
    /// Reason, on one line.
    pub why: String,
}

impl InvalidHand {
    pub(crate) fn new(action: usize, why: &str) -> InvalidHand {
        InvalidHand { action, why: one_line(why) }
    }
}

/// Escapes control characters, so that a message stays on one line whatever a file's strings hold.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

/// A hand after its last line, or before the first line that hides something.
#[derive(Debug)]
pub struct Replay {
    pub hand: Hand,
    /// Whether the hand is over.
    pub complete: bool,
}

/// Sign for a word that is hidden from the reader.
const HIDDEN: &str = "??";

/// Plays the history.
///
/// # Errors
/// The first line that breaks a rule, and the reason.
pub fn replay(history: &HandHistory) -> Result<Replay, InvalidHand> {
    let outside = |why: String| InvalidHand::new(0, &why);
    let setup = history.setup().map_err(outside)?;
    let mut hand = Hand::try_new(&setup).map_err(|error| outside(error.to_string()))?;
    play::apply_due_shuffles(&mut hand);
    let mut hidden = false;
    for (at, line) in history.actions.iter().enumerate() {
        if line.contains(HIDDEN) && hand.settlement().is_none() {
            hidden = true;
            break;
        }
        let event = notation::read(&hand, line)
            .map_err(|error| InvalidHand::new(at + 1, &format!("`{line}`: {error}")))?;
        evolve(&mut hand, &event);
        play::apply_due_shuffles(&mut hand);
    }
    let complete = match hand.settlement() {
        Some(end) => {
            compare(history, end).map_err(outside)?;
            true
        }
        None if !hidden && history.has_end() => {
            let why = "the hand is not over, and yet its settlement or finish is given";
            return Err(outside(why.to_owned()));
        }
        None => false,
    };
    Ok(Replay { hand, complete })
}

fn compare(history: &HandHistory, end: &Settlement) -> Result<(), String> {
    if let Some(given) = &history.settlement {
        settlement(given, end)?;
    }
    if let Some(given) = &history.finishing_stacks
        && *given != end.finishing_stacks
    {
        let (given, replayed) = (listed(given), listed(&end.finishing_stacks));
        return Err(format!("`finishing_stacks` are {given}; the replay gives {replayed}"));
    }
    for (name, given, replayed) in [
        ("finishing_sabacc_pot", history.finishing_sabacc_pot, end.finishing_sabacc_pot),
        ("finishing_carried_pot", history.finishing_carried_pot, end.finishing_carried_pot),
    ] {
        if let Some(given) = given.filter(|given| *given != replayed) {
            return Err(format!("`{name}` is {given}; the replay gives {replayed}"));
        }
    }
    Ok(())
}

fn settlement(given: &[String], end: &Settlement) -> Result<(), String> {
    let mut replayed = end.lines.iter().map(ToString::to_string);
    for (at, line) in given.iter().enumerate() {
        let (spoken, _) = notation::split_comment(line);
        let at = at + 1;
        match replayed.next() {
            Some(replayed) if replayed == spoken => {}
            Some(replayed) => {
                return Err(format!(
                    "settlement line {at} is `{line}`; the replay gives `{replayed}`"
                ));
            }
            None => {
                return Err(format!("settlement line {at} is `{line}`; the replay gives no more"));
            }
        }
    }
    match replayed.next() {
        Some(more) => Err(format!("the settlement ends before `{more}`, which the replay gives")),
        None => Ok(()),
    }
}

fn listed(amounts: &[Credits]) -> String {
    amounts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
