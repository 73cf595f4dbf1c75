//! Report of the cards that the dealer opened in a hand, and of those that no rule called for.

use std::collections::BTreeMap;

use proto::event::v1 as pb;
use serde::Serialize;
use wire::DealerRecord;

use crate::hand::HandRecords;
use crate::hand::card_reveals;
use crate::hand::decoded_records::DecodedRecords;
use crate::hand::replay::Replay;
use crate::report::CheckError;

/// Card reveals of a hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RevealReport {
    /// Number of revealed cards, by the caller who asked for them.
    pub cards: BTreeMap<String, u64>,
    /// Reveals that no rule called for: the caller, the position in the dealer's log, a
    /// description.
    pub uncalled: Vec<(String, u64, String)>,
    /// Reason why the reveals cannot be judged yet, if they cannot.
    pub unjudged: Option<String>,
}

/// Reports every card reveal of a hand.
#[must_use]
pub fn reveal_report(records: &HandRecords) -> RevealReport {
    let decoded = DecodedRecords::decode(records);
    let mut cards: BTreeMap<String, u64> = BTreeMap::new();
    for read in &decoded.dealer {
        if let DealerRecord::CardsOpened(pb::CardsOpened { opening, caller }) = &read.recorded {
            let count = opening.as_ref().map_or(0, |opening| opening.cards.len() as u64);
            let sum = cards.entry(caller.clone()).or_default();
            *sum = sum.saturating_add(count);
        }
    }
    match card_reveals::examine(&decoded, &Replay::run(&decoded)) {
        Ok(findings) => {
            let uncalled = findings.unjustified.into_iter();
            let uncalled = uncalled.map(|it| (it.caller, it.position, it.description)).collect();
            RevealReport { cards, uncalled, unjudged: None }
        }
        Err(CheckError::Failed(why) | CheckError::NotPossible(why)) => {
            RevealReport { cards, uncalled: Vec::new(), unjudged: Some(why) }
        }
    }
}
