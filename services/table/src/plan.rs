//! Requests to the dealer for the chance that is due, and the events from its answers.
//!
//! Everything that is determined goes into one request: after a draw, the card and the roll that
//! follows it. Pure: a plan is made on a copy of the hand's card positions.
//!
//! Specification: fairness/SPEC.md §3.8.

use std::collections::VecDeque;

use proto::common::v1::{CardRef, DeckRoot};
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use rules::{Chance, Deal, Destination};
use wire::TableRecord;
use wire::card_positions::{PositionError, handle_to_pb};
use wire::replay::{DealLayout, ReplayError};

use crate::hand_in_play::HandInPlay;
use crate::ids;
use crate::peers::PeerCall;
use crate::proof::{self, Faces};

/// Steps that a request covers, in order.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    steps: Vec<PlanStep>,
    pub call: PeerCall,
}

#[derive(Debug, Clone)]
enum PlanStep {
    Operation(dealer::Operation),
    Deal {
        deal: Deal,
        layout: DealLayout,
        seat: u32,
    },
    /// A deal whose size only its cards tell.
    Until {
        deal: Deal,
        seat: u32,
        pile: Vec<fairness::Handle>,
    },
}

/// Evidence against an answer that does not fit its request.
pub(crate) const MISMATCH: &str = "what chance gave is not what it was asked for";

fn mismatch() -> ReplayError {
    ReplayError::Corrupt(MISMATCH.to_owned())
}

/// Plans the request for the chance that is due.
pub(crate) fn plan(play: &HandInPlay, due: &[Chance]) -> Result<Plan, PositionError> {
    let (replay, mut positions) = (&play.replay, play.replay.positions.clone());
    let mut request = dealer::PerformRequest {
        request_id: ids::of_hand("chance", play.opened_at, play.hand_id, play.version).to_vec(),
        table_id: play.opened.table_id.to_vec(),
        hand_no: play.hand_no,
        ..dealer::PerformRequest::default()
    };
    let mut steps = Vec::new();
    for (index, chance) in due.iter().enumerate() {
        let Chance::Deal(deal) = chance else {
            let operation = positions.operation_for(chance)?;
            request.operations.push(operation.clone());
            steps.push(PlanStep::Operation(operation));
            continue;
        };
        let seat = replay.recipient(deal.to);
        if let [part] = deal.parts.as_slice()
            && let rules::CardCount::UntilOneOf(_) = part.count
        {
            // Such a deal has a request of its own, after everything before it is done.
            if index > 0 {
                break;
            }
            let pile = positions.remaining_positions(part.pile);
            request.openings.push(card_reveal(deal, seat, &[]));
            let count = part.count;
            let deck = replay.hand.rules().variant().deck;
            steps.push(PlanStep::Until { deal: deal.clone(), seat, pile: pile.clone() });
            return Ok(Plan { steps, call: PeerCall::DealUntil { request, pile, count, deck } });
        }
        let layout = positions.take_layout(deal)?;
        request.operations.extend(layout.restocks.iter().cloned());
        request.openings.push(card_reveal(deal, seat, &layout.positions));
        steps.push(PlanStep::Deal { deal: deal.clone(), layout, seat });
    }
    Ok(Plan { steps, call: PeerCall::Perform(request) })
}

fn card_reveal(deal: &Deal, seat: u32, places: &[fairness::Handle]) -> dealer::Opening {
    let open = deal.shown || deal.to == Destination::Table;
    let reason = if open { dealer::OpeningReason::Rule } else { dealer::OpeningReason::Deal };
    dealer::Opening {
        cards: places.iter().copied().map(handle_to_pb).collect(),
        audience_seat: if open { 0 } else { seat },
        reason: reason.into(),
    }
}

impl Plan {
    /// Reads the dealer's answer into events and faces. Each face is checked against the root of
    /// its shuffle.
    ///
    /// # Errors
    /// An answer that contradicts its request, itself, or an earlier answer.
    pub(crate) fn conclude(
        &self,
        play: &HandInPlay,
        answer: dealer::PerformResponse,
    ) -> Result<(Vec<TableRecord>, Faces), ReplayError> {
        let dealer::PerformResponse { results, opened } = answer;
        let mut reading =
            AnswerReader { play, results: results.into(), roots: Vec::new(), faces: Faces::new() };
        let mut opened: VecDeque<_> = opened.into();
        let mut events = Vec::new();
        for step in &self.steps {
            match step {
                PlanStep::Operation(operation) => {
                    events.push(reading.chance_used(operation, false)?.into());
                }
                PlanStep::Deal { deal, layout, seat } => {
                    for operation in &layout.restocks {
                        events.push(reading.chance_used(operation, true)?.into());
                    }
                    let cards = opened.pop_front().ok_or_else(mismatch)?;
                    events
                        .push(reading.cards_moved(deal, *seat, &layout.positions, &cards)?.into());
                }
                PlanStep::Until { deal, seat, pile } => {
                    let cards = opened.pop_front().ok_or_else(mismatch)?;
                    let places = pile.get(..cards.card_ids.len()).ok_or_else(mismatch)?;
                    events.push(reading.cards_moved(deal, *seat, places, &cards)?.into());
                }
            }
        }
        let AnswerReader { results, faces, .. } = reading;
        if results.is_empty() && opened.is_empty() { Ok((events, faces)) } else { Err(mismatch()) }
    }
}

/// Reader of an answer.
struct AnswerReader<'a> {
    play: &'a HandInPlay,
    results: VecDeque<dealer::OperationResult>,
    /// Roots of the shuffles in the answer.
    roots: Vec<DeckRoot>,
    faces: Faces,
}

impl AnswerReader<'_> {
    fn chance_used(
        &mut self,
        operation: &dealer::Operation,
        restock: bool,
    ) -> Result<pb::ChanceUsed, ReplayError> {
        let result = self.results.pop_front().filter(|result| result.index == operation.index);
        let result = result.ok_or_else(mismatch)?;
        if let Some(dealer::operation::Kind::Shuffle(shuffle)) = &operation.kind {
            let root = proof::root_of(&result)?;
            let cards = usize::try_from(shuffle.fresh).unwrap_or(0) + shuffle.cards.len();
            if usize::try_from(root.cards) != Ok(cards) {
                return Err(mismatch());
            }
            self.roots.push(root);
        } else if !result.root.is_empty() {
            return Err(mismatch());
        }
        Ok(pb::ChanceUsed { operation: Some(operation.clone()), result: Some(result), restock })
    }

    fn cards_moved(
        &mut self,
        deal: &Deal,
        seat: u32,
        places: &[fairness::Handle],
        cards: &dealer::OpenedCards,
    ) -> Result<pb::CardsMoved, ReplayError> {
        let deck = self.play.replay.hand.rules().variant().deck;
        let new = |op| self.roots.iter().find(|root| root.op == op).cloned();
        let root = |op| new(op).or_else(|| self.play.deck_root(op));
        let faces = proof::verified_faces(places, cards, deck, &root)?;
        let open = deal.shown || deal.to == Destination::Table;
        let card_ref = |place: &fairness::Handle| {
            let face = &faces[place];
            let salt = face.proof.as_ref().filter(|_| open);
            CardRef {
                op: place.op,
                position: u32::from(place.position),
                card: if open { deck.code(face.card).to_owned() } else { String::new() },
                salt: salt.map_or_else(Vec::new, |proof| proof.salt.clone()),
            }
        };
        let cards = places.iter().map(card_ref).collect();
        self.faces.extend(faces);
        Ok(pb::CardsMoved { seat, cards })
    }
}
