//! Cards of a recovered hand, asked of the dealer again.

use std::collections::BTreeMap;
use std::time::Duration;

use proto::common::v1::DeckRoot;
use proto::dealer::v1 as dealer;
use wire::TableRecord;
use wire::card_positions::handle_from_pb;

use super::RecoveredTable;
use crate::effect_calls::Inconsistency;
use crate::ids;
use crate::peers::{CallFailure, PeerCall, Peers, Reply};
use crate::proof::{self, Faces};

/// Pause before a dealer that does not answer is asked again.
const RETRY_PAUSE: Duration = Duration::from_millis(300);

impl RecoveredTable {
    /// Request for the faces of all cards that moved unseen; `None` where there are none.
    pub(super) fn recovery_request(&self) -> Result<Option<dealer::PerformRequest>, Inconsistency> {
        let mut openings: BTreeMap<u32, Vec<dealer::Handle>> = BTreeMap::new();
        let mut version = 0_u64;
        for record in &self.hand_records {
            let Some(event) = record.event.as_deref() else { continue };
            version += 1;
            if let TableRecord::CardsMoved(moved) = event {
                let cards = openings.entry(moved.seat).or_default();
                for card in &moved.cards {
                    cards.push(dealer::Handle { op: card.op, position: card.position });
                }
            }
        }
        let hand = self.table.hand.as_ref().filter(|_| !openings.is_empty());
        let Some(hand) = hand.map(|hand| hand.id) else { return Ok(None) };
        let opening = |(seat, cards)| dealer::Opening {
            cards,
            audience_seat: seat,
            reason: dealer::OpeningReason::Recovery.into(),
        };
        Ok(Some(dealer::PerformRequest {
            request_id: ids::of_hand("recovery", hand, version).to_vec(),
            table_id: self.table.id.0.to_vec(),
            hand_no: self.table.hand_no,
            operations: Vec::new(),
            openings: openings.into_iter().map(opening).collect(),
        }))
    }

    pub(super) async fn ask_dealer(
        &self,
        peers: &Peers,
        request: dealer::PerformRequest,
    ) -> Result<Faces, FacesError> {
        let answer = loop {
            match PeerCall::Perform(request.clone()).run(peers.clone()).await {
                Ok(Reply::Performed(answer)) => break answer,
                Ok(_) => return Err(Inconsistency("another answer came back".to_owned()).into()),
                Err(CallFailure::Refused(status)) => {
                    let why = format!("the dealer opens no cards again: {}", status.message());
                    return Err(FacesError::Contradicted(why));
                }
                Err(CallFailure::Retry(why)) => {
                    tracing::warn!(runbook = "deploy/README.md, A service does not answer", table = %self.table.id, why, "waiting for the dealer");
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
            }
        };
        self.faces(&request, &answer)
    }

    /// Faces from an answer, each checked against the recorded root of its shuffle.
    pub(super) fn faces(
        &self,
        request: &dealer::PerformRequest,
        answer: &dealer::PerformResponse,
    ) -> Result<Faces, FacesError> {
        if request.openings.len() != answer.opened.len() {
            let why = "the dealer opened other cards than he was asked for".to_owned();
            return Err(FacesError::Contradicted(why));
        }
        let events = self.hand_records.iter().filter_map(|record| record.event.as_deref());
        let results = events.filter_map(|event| {
            if let TableRecord::ChanceUsed(used) = event { used.result.as_ref() } else { None }
        });
        let roots: Vec<DeckRoot> =
            results.filter_map(|result| proof::root_of(result).ok()).collect();
        let root = |op| roots.iter().find(|root| root.op == op).cloned();
        let deck = self.table.config.rules.variant().deck;
        let mut faces = Faces::new();
        for (opening, opened) in request.openings.iter().zip(&answer.opened) {
            let places = opening.cards.iter().map(handle_from_pb);
            let places = places.collect::<Result<Vec<_>, _>>().map_err(Inconsistency::from)?;
            let opened = proof::verified_faces(&places, opened, deck, &root);
            faces.extend(opened.map_err(|why| FacesError::Contradicted(why.to_string()))?);
        }
        Ok(faces)
    }
}

/// Reason why a hand cannot be replayed.
pub(super) enum FacesError {
    Silent,
    Contradicted(String),
    Broken(Inconsistency),
}

impl FacesError {
    pub(super) fn why(&self) -> &str {
        match self {
            FacesError::Silent => "the dealer does not answer",
            FacesError::Contradicted(why) | FacesError::Broken(Inconsistency(why)) => why,
        }
    }
}

impl From<Inconsistency> for FacesError {
    fn from(broken: Inconsistency) -> FacesError {
        FacesError::Broken(broken)
    }
}
