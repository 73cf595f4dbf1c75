//! The dealer's knowledge of finished hands, from its log: seeds, and the order of each shuffle.

use std::collections::{BTreeMap, BTreeSet};

use eventlog::Event;
use fairness::{Handle, Keys, OperationRequest, Seed, Shoe, ShuffleInput, Transcript};
use primitives::StreamId;
use proto::dealer::v1::OpeningReason;
use proto::dealer::v1::operation::Kind;
use wire::DealerRecord;
use wire::card_positions::handle_from_pb;
use zeroize::Zeroizing;

/// Finished hand.
pub(crate) struct FinishedHand {
    pub(crate) seed: [u8; 64],
    /// The order of each shuffle, by card id, from the top.
    pub(crate) shuffles: Vec<Vec<u8>>,
}

/// Cards by their hand and position.
pub(crate) type OpenCards = BTreeSet<(StreamId, u32, u32)>;

/// Returns the cards that the dealer opened to everybody during the hand.
pub(crate) fn opened_to_all(dealer: &[Event]) -> OpenCards {
    let mut open = OpenCards::new();
    for event in dealer {
        if let DealerRecord::CardsOpened(opened) = DealerRecord::try_from(event).unwrap()
            && let Some(opening) = opened.opening
            && opening.audience_seat == 0
            && opening.reason() == OpeningReason::Rule
        {
            open.extend(opening.cards.iter().map(|card| (event.stream, card.op, card.position)));
        }
    }
    open
}

/// Returns all finished hands of a dealer's log.
pub(crate) fn dealt(dealer: &[Event]) -> BTreeMap<StreamId, FinishedHand> {
    let mut hands: BTreeMap<StreamId, Vec<DealerRecord>> = BTreeMap::new();
    for event in dealer {
        let recorded = DealerRecord::try_from(event).unwrap();
        hands.entry(event.stream).or_default().push(recorded);
    }
    hands.into_iter().filter_map(|(hand, events)| Some((hand, replay(&events)?))).collect()
}

fn replay(events: &[DealerRecord]) -> Option<FinishedHand> {
    let opened = events.iter().find_map(|event| match event {
        DealerRecord::SeedOpened(opened) => Some(<[u8; 64]>::try_from(&*opened.seed).unwrap()),
        _ => None,
    });
    let seed = opened?;
    let mut shoe: Option<Shoe> = None;
    let mut shuffles = Vec::new();
    for event in events {
        match event {
            DealerRecord::SeedSealed(sealed) => {
                let transcript = Transcript(<[u8; 32]>::try_from(&*sealed.transcript).unwrap());
                let secret = Seed::new(Zeroizing::new(seed));
                shoe = Some(Shoe::new(Keys::derive(&transcript, &secret)));
            }
            DealerRecord::OperationPerformed(done) => {
                let shoe = shoe.as_mut().expect("sealed before it is used");
                let operation = done.operation.as_ref().unwrap();
                shoe.perform(operation.index, &ask(operation)).unwrap();
                let Some(Kind::Shuffle(_)) = operation.kind else { continue };
                let count = done.result.as_ref().unwrap().values[0];
                let at = |position: u32| Handle {
                    op: operation.index,
                    position: position.try_into().unwrap(),
                };
                shuffles.push((0..count).map(|it| shoe.card_at_any(at(it)).unwrap()).collect());
            }
            _ => {}
        }
    }
    Some(FinishedHand { seed, shuffles })
}

fn ask(operation: &proto::dealer::v1::Operation) -> OperationRequest {
    let small = |number: &u32| u8::try_from(*number).unwrap();
    match operation.kind.as_ref().unwrap() {
        Kind::Shuffle(shuffle) => {
            let fresh = || ShuffleInput::Fresh {
                first: small(&shuffle.first_fresh),
                count: shuffle.fresh.try_into().unwrap(),
            };
            let cards = shuffle.cards.iter().map(|card| handle_from_pb(card).unwrap()).collect();
            let input = if shuffle.cards.is_empty() { fresh() } else { ShuffleInput::Cards(cards) };
            OperationRequest::Shuffle { pile: small(&shuffle.pile), input }
        }
        Kind::Roll(roll) => {
            OperationRequest::Roll { sides: roll.sides.iter().map(small).collect() }
        }
        Kind::Pulse(pulse) => OperationRequest::Pulse { ppm: pulse.ppm },
        Kind::Pick(pick) => OperationRequest::Pick { n: pick.n },
        Kind::Sample(sample) => OperationRequest::Sample { n: sample.n, k: sample.k },
    }
}
