//! Copies of evidence for others, without what is still secret.

use std::collections::BTreeSet;

use primitives::UnixMicros;

use super::{Entry, Opening, Statement};
use crate::context::Context;

/// Words of the note that says of a hand number that it has ended, before its context in hex.
const ENDED: &str = "ended ";

/// The note that a hand number has ended, however it ended. Its entropy may be shown from then on.
#[must_use]
pub fn ended_note(at: UnixMicros, context: &Context) -> Entry {
    let hex: String = context.0.iter().map(|byte| format!("{byte:02x}")).collect();
    Entry::note(at, &format!("{ENDED}{hex}"))
}

/// Copies evidence for others: leaves out what holds entropy of a hand number that has not ended,
/// as its owner's notes say, and what is of no kind that this program knows.
#[must_use]
pub fn copy_of_ended(entries: &[Entry]) -> Vec<Entry> {
    let ended: BTreeSet<[u8; 32]> = entries.iter().filter_map(ended_context).collect();
    let is_public = |context: &Context| ended.contains(&context.0);
    let keep = |entry: &&Entry| match entry {
        Entry::Note { .. } => true,
        Entry::Open(bytes) => match Opening::parse(bytes) {
            Ok(Opening::ClientCommitment { context, .. } | Opening::Transcript { context, .. }) => {
                is_public(&context)
            }
            Ok(Opening::Context { .. } | Opening::Closing { .. } | Opening::Decision { .. }) => {
                true
            }
            Err(_) => false,
        },
        Entry::Signed(signed) => match Statement::parse(&signed.message) {
            Ok((Statement::RevealReceipt { context, .. }, _)) => is_public(&context),
            // What is said of a secret choice stays with its owner as long.
            Ok((Statement::Decision { context, .. }, _)) => is_public(&context),
            Ok((
                Statement::Commitment { .. }
                | Statement::CommitReceipt { .. }
                | Statement::Closing { .. }
                | Statement::DecisionReceipt { .. },
                _,
            )) => true,
            Err(_) => false,
        },
    };
    entries.iter().filter(keep).cloned().collect()
}

/// The context that a note names as ended.
fn ended_context(entry: &Entry) -> Option<[u8; 32]> {
    let Entry::Note { words, at: _ } = entry else { return None };
    let hex = words.strip_prefix(ENDED)?.as_bytes();
    let digit =
        |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let bytes: Option<Vec<u8>> = hex
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect();
    bytes?.try_into().ok()
}
