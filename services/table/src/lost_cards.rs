//! Cards of a hand that a restart of the table has lost: no log of the table has hidden faces, and
//! the dealer is asked to open them again.
//!
//! Specification: fairness/SPEC.md §3.9.

use primitives::UnixMicros;
use proto::common::v1::DeckRoot;
use proto::dealer::v1 as dealer;
use rules::Deck;
use wire::card_positions::handle_from_pb;

use crate::proof::{self, Faces};

/// Cards that the dealer has not opened again yet, and what its answer is checked against.
#[derive(Debug)]
pub(crate) struct LostCards {
    /// Time at which the table was last known to run. The clock of the hand stands since then.
    pub since: UnixMicros,
    pub request: dealer::PerformRequest,
    /// Recorded roots of the hand's shuffles.
    pub roots: Vec<DeckRoot>,
    pub deck: &'static Deck,
}

impl LostCards {
    /// Faces from the dealer's answer, each checked against the recorded root of its shuffle. The
    /// error says in words what does not check, and names no card.
    pub(crate) fn faces(&self, answer: &dealer::PerformResponse) -> Result<Faces, String> {
        let openings = &self.request.openings;
        if !answer.results.is_empty() || openings.len() != answer.opened.len() {
            return Err("the dealer opened other cards than it was asked for".to_owned());
        }
        let root = |op| self.roots.iter().find(|root| root.op == op).cloned();
        let mut faces = Faces::new();
        for (opening, opened) in openings.iter().zip(&answer.opened) {
            let places = opening.cards.iter().map(handle_from_pb).collect::<Result<Vec<_>, _>>();
            let places = places.map_err(|bad| bad.to_string())?;
            let opened = proof::verified_faces(&places, opened, self.deck, &root);
            faces.extend(opened.map_err(|why| why.to_string())?);
        }
        Ok(faces)
    }
}
