//! From the chance that the rules call for to the dealer's request, and from its answer to events.
//!
//! Everything that is determined goes into one request: after a draw, the card and the roll that
//! follows it. Pure: the plan is made on a copy of the hand's dictionary of places.

use std::collections::VecDeque;

use proto::common::v1::CardRef;
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use rules::{Chance, Deal, To};
use wire::places::{Misplaced, handle_to_pb};
use wire::replay::{Layout, Unplayable};
use wire::{HandReplay, Recorded};

use crate::debt;
use crate::peers::{Faces, Job};
use crate::play::Play;

/// The steps that a request covers, in order.
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

/// The answer does not fit the request.
fn misfit() -> Unplayable {
    Unplayable::Damaged("the dealer's answer does not fit what it was asked".to_owned())
}

/// What to ask of the dealer for the chance that is due.
pub fn plan(play: &Play, due: &[Chance]) -> Result<Plan, Misplaced> {
    let mut replay: HandReplay = play.replay.clone();
    let mut request = dealer::PerformRequest {
        request_id: debt::hand_request("chance", play.hand_id, play.version),
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
            // Such a deal is asked for by itself, once what is before it has been done.
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
    /// The events that the dealer's answer makes, and the faces it opened.
    pub fn conclude(
        &self,
        play: &Play,
        answer: dealer::PerformResponse,
    ) -> Result<(Vec<Recorded>, Faces), Unplayable> {
        let dealer::PerformResponse { results, opened } = answer;
        let mut results: VecDeque<_> = results.into();
        let mut opened: VecDeque<_> = opened.into();
        let mut events = Vec::new();
        let mut faces = Faces::new();
        for step in &self.steps {
            match step {
                Step::Operation(operation) => {
                    events.push(used(operation, &mut results, false)?.into());
                }
                Step::Deal { deal, layout, seat } => {
                    for operation in &layout.restocks {
                        events.push(used(operation, &mut results, true)?.into());
                    }
                    let cards = opened.pop_front().ok_or_else(misfit)?;
                    let moved = moved(play, (deal, *seat), &layout.places, &cards, &mut faces)?;
                    events.push(moved.into());
                }
                Step::Until { deal, seat, pile } => {
                    let cards = opened.pop_front().ok_or_else(misfit)?;
                    let places = pile.get(..cards.card_ids.len()).ok_or_else(misfit)?;
                    let moved = moved(play, (deal, *seat), places, &cards, &mut faces)?;
                    events.push(moved.into());
                }
            }
        }
        if results.is_empty() && opened.is_empty() { Ok((events, faces)) } else { Err(misfit()) }
    }
}

fn used(
    operation: &dealer::Operation,
    results: &mut VecDeque<dealer::OperationResult>,
    restock: bool,
) -> Result<pb::ChanceUsed, Unplayable> {
    let result = results.pop_front().filter(|result| result.index == operation.index);
    let result = result.ok_or_else(misfit)?;
    Ok(pb::ChanceUsed { operation: Some(operation.clone()), result: Some(result), restock })
}

fn moved(
    play: &Play,
    (deal, seat): (&Deal, u32),
    places: &[fairness::Handle],
    cards: &dealer::OpenedCards,
    faces: &mut Faces,
) -> Result<pb::CardsMoved, Unplayable> {
    let deck = play.replay.hand.rules().variant().deck;
    if cards.card_ids.len() != places.len() {
        return Err(misfit());
    }
    let open = deal.shown || deal.to == To::Table;
    let mut refs = Vec::with_capacity(places.len());
    for (place, id) in places.iter().zip(&cards.card_ids) {
        let card = deck.card(*id).ok_or_else(misfit)?;
        faces.insert(*place, card);
        refs.push(CardRef {
            op: place.op,
            position: u32::from(place.position),
            card: if open { deck.code(card).to_owned() } else { String::new() },
            salt: Vec::new(),
        });
    }
    Ok(pb::CardsMoved { seat, cards: refs })
}
