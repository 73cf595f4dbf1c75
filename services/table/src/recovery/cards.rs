//! Cards of a recovered hand, asked of the dealer again.

use std::collections::BTreeMap;
use std::time::Duration;

use primitives::UnixMicros;
use proto::common::v1::DeckRoot;
use proto::dealer::v1 as dealer;
use wire::TableRecord;

use super::RecoveredTable;
use crate::ids;
use crate::lost_cards::LostCards;
use crate::peers::{CallFailure, PeerCall, Peers, Reply};
use crate::proof::{self, Faces};

/// Pause before a dealer that does not answer is asked again.
const RETRY_PAUSE: Duration = Duration::from_millis(300);

impl RecoveredTable {
    /// All cards of the hand in play that moved, whose faces are in no log; `None` where there are
    /// none.
    pub(super) fn lost_cards(&self, last_alive: UnixMicros) -> Option<LostCards> {
        let events = || self.hand_records.iter().filter_map(|record| record.event.as_deref());
        let mut openings: BTreeMap<u32, Vec<dealer::Handle>> = BTreeMap::new();
        for event in events() {
            if let TableRecord::CardsMoved(moved) = event {
                let place = |card: &proto::common::v1::CardRef| dealer::Handle {
                    op: card.op,
                    position: card.position,
                };
                openings.entry(moved.seat).or_default().extend(moved.cards.iter().map(place));
            }
        }
        let hand = self.table.hand.as_ref().filter(|_| !openings.is_empty())?.id;
        let opening = |(seat, cards)| dealer::Opening {
            cards,
            audience_seat: seat,
            reason: dealer::OpeningReason::Recovery.into(),
        };
        let version = u64::try_from(events().count()).unwrap_or(u64::MAX);
        let request = dealer::PerformRequest {
            request_id: ids::of_hand("recovery", self.table.last_started_at, hand, version)
                .to_vec(),
            table_id: self.table.id.0.to_vec(),
            hand_no: self.table.hand_no,
            operations: Vec::new(),
            openings: openings.into_iter().map(opening).collect(),
        };
        let root = |event: &TableRecord| -> Option<DeckRoot> {
            let TableRecord::ChanceUsed(used) = event else { return None };
            proof::root_of(used.result.as_ref()?).ok()
        };
        let roots = events().filter_map(root).collect();
        let deck = self.table.config.rules.variant().deck;
        let last = self.hand_records.last().map(|record| record.at);
        let since = last_alive.max(last.unwrap_or(last_alive));
        Some(LostCards { since, request, roots, deck })
    }
}

impl LostCards {
    /// Asks the dealer until it opens the cards again. What does not check is no answer.
    pub(super) async fn ask_dealer(&self, peers: &Peers) -> Faces {
        loop {
            let why = match PeerCall::Perform(self.request.clone()).run(peers.clone()).await {
                Ok(Reply::Performed(answer)) => match self.faces(&answer) {
                    Ok(faces) => return faces,
                    Err(why) => why,
                },
                Ok(_) => "another answer came back".to_owned(),
                Err(CallFailure::Refused(status)) => status.message().to_owned(),
                Err(CallFailure::Retry(why)) => why,
            };
            tracing::warn!(
                runbook = "deploy/README.md, A service does not answer",
                why,
                "waiting for the dealer"
            );
            tokio::time::sleep(RETRY_PAUSE).await;
        }
    }
}
