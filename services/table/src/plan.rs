//! Requests to the dealer for the chance that is due, and the events from its answers.
//!
//! Everything that is determined goes into one request: after a draw, the card and the roll that
//! follows it. Pure: a plan is made on a copy of the hand's card positions.

use std::collections::VecDeque;

use proto::common::v1::{CardRef, DeckRoot};
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use rules::{Chance, Deal, To};
use wire::places::{Misplaced, handle_to_pb};
use wire::replay::{Layout, Unplayable};
use wire::{HandReplay, Recorded};

use crate::ids;
use crate::peers::Job;
use crate::play::Play;
use crate::proof::{self, Faces};

/// Steps that a request covers, in order.
#[derive(Debug, Clone)]
pub struct Plan {
    steps: Vec<Step>,
    pub job: Job,
}

#[derive(Debug, Clone)]
enum Step {
    Operation(dealer::Operation),
    Deal {
        deal: Deal,
        layout: Layout,
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
pub(crate) const MISFIT: &str = "what chance gave is not what it was asked for";

fn misfit() -> Unplayable {
    Unplayable::Damaged(MISFIT.to_owned())
}

/// Plans the request for the chance that is due.
pub fn plan(play: &Play, due: &[Chance]) -> Result<Plan, Misplaced> {
    let mut replay: HandReplay = play.replay.clone();
    let mut request = dealer::PerformRequest {
        request_id: ids::of_hand("chance", play.hand_id, play.version).to_vec(),
        table_id: play.opened.table_id.to_vec(),
        hand_no: play.hand_no,
        ..dealer::PerformRequest::default()
    };
    let mut steps = Vec::new();
    for (index, chance) in due.iter().enumerate() {
        let Chance::Deal(deal) = chance else {
            let operation = replay.places.ask(chance)?;
            request.operations.push(operation.clone());
            steps.push(Step::Operation(operation));
            continue;
        };
        let seat = replay.recipient(deal.to);
        if let [part] = deal.parts.as_slice()
            && let rules::Count::UntilOneOf(_) = part.count
        {
            // Such a deal has a request of its own, after everything before it is done.
            if index > 0 {
                break;
            }
            let pile = replay.places.rest(part.pile);
            request.openings.push(opening(deal, seat, &[]));
            let count = part.count;
            let deck = replay.hand.rules().variant().deck;
            steps.push(Step::Until { deal: deal.clone(), seat, pile: pile.clone() });
            return Ok(Plan { steps, job: Job::Until { request, pile, count, deck } });
        }
        let layout = replay.places.lay_out(deal)?;
        request.operations.extend(layout.restocks.iter().cloned());
        request.openings.push(opening(deal, seat, &layout.places));
        steps.push(Step::Deal { deal: deal.clone(), layout, seat });
    }
    Ok(Plan { steps, job: Job::Perform(request) })
}

fn opening(deal: &Deal, seat: u32, places: &[fairness::Handle]) -> dealer::Opening {
    let open = deal.shown || deal.to == To::Table;
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
    pub fn conclude(
        &self,
        play: &Play,
        answer: dealer::PerformResponse,
    ) -> Result<(Vec<Recorded>, Faces), Unplayable> {
        let dealer::PerformResponse { results, opened } = answer;
        let mut reading =
            Reading { play, results: results.into(), roots: Vec::new(), faces: Faces::new() };
        let mut opened: VecDeque<_> = opened.into();
        let mut events = Vec::new();
        for step in &self.steps {
            match step {
                Step::Operation(operation) => {
                    events.push(reading.used(operation, false)?.into());
                }
                Step::Deal { deal, layout, seat } => {
                    for operation in &layout.restocks {
                        events.push(reading.used(operation, true)?.into());
                    }
                    let cards = opened.pop_front().ok_or_else(misfit)?;
                    events.push(reading.moved((deal, *seat), &layout.places, &cards)?.into());
                }
                Step::Until { deal, seat, pile } => {
                    let cards = opened.pop_front().ok_or_else(misfit)?;
                    let places = pile.get(..cards.card_ids.len()).ok_or_else(misfit)?;
                    events.push(reading.moved((deal, *seat), places, &cards)?.into());
                }
            }
        }
        let Reading { results, faces, .. } = reading;
        if results.is_empty() && opened.is_empty() { Ok((events, faces)) } else { Err(misfit()) }
    }
}

/// Reader of an answer.
struct Reading<'a> {
    play: &'a Play,
    results: VecDeque<dealer::OperationResult>,
    /// Roots of the shuffles in the answer.
    roots: Vec<DeckRoot>,
    faces: Faces,
}

impl Reading<'_> {
    fn used(
        &mut self,
        operation: &dealer::Operation,
        restock: bool,
    ) -> Result<pb::ChanceUsed, Unplayable> {
        let result = self.results.pop_front().filter(|result| result.index == operation.index);
        let result = result.ok_or_else(misfit)?;
        if let Some(dealer::operation::Kind::Shuffle(shuffle)) = &operation.kind {
            let root = proof::root_of(&result)?;
            let cards = usize::try_from(shuffle.fresh).unwrap_or(0) + shuffle.cards.len();
            if usize::try_from(root.cards) != Ok(cards) {
                return Err(misfit());
            }
            self.roots.push(root);
        } else if !result.root.is_empty() {
            return Err(misfit());
        }
        Ok(pb::ChanceUsed { operation: Some(operation.clone()), result: Some(result), restock })
    }

    fn moved(
        &mut self,
        (deal, seat): (&Deal, u32),
        places: &[fairness::Handle],
        cards: &dealer::OpenedCards,
    ) -> Result<pb::CardsMoved, Unplayable> {
        let deck = self.play.replay.hand.rules().variant().deck;
        let new = |op| self.roots.iter().find(|root| root.op == op).cloned();
        let root = |op| new(op).or_else(|| self.play.root(op));
        let faces = proof::faces((places, cards), deck, &root)?;
        let open = deal.shown || deal.to == To::Table;
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
