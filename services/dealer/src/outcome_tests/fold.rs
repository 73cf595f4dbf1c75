//! The counts of a dealer's outcomes as a fold of its log. Pure.

use std::collections::BTreeMap;

use battery::field::{FieldTests, LookResult};
use eventlog::{Event as LogEvent, StreamId};
use fairness::{
    Keys, Operation, OperationRequest, Outcome, Seed, ShuffleInput, Transcript, perform,
};
use proto::event::v1::EventType;

use crate::hand::{Event, IndexedOperation, OperationResult};
use crate::record::{self, Corrupt};

/// Commitments in memory whose hand is not sealed. They are read again where they are needed.
const MAX_COMMITMENTS: usize = 10_000;

/// State of the tests, as far as the log was read.
#[derive(Debug, Default)]
pub(super) struct Fold {
    pub(super) tests: FieldTests,
    /// Hands whose seed was opened below this position are counted.
    pub(super) counted_to: u64,
    /// Rule sets of hands that are committed to and not sealed.
    commitments: BTreeMap<StreamId, [u8; 32]>,
    /// Hands that are sealed and not open.
    sealed: BTreeMap<StreamId, SealedHand>,
}

/// A hand whose chance is determined, and nobody's to count.
#[derive(Debug)]
struct SealedHand {
    position: u64,
    rules_hash: [u8; 32],
    transcript: Transcript,
    operations: Vec<(IndexedOperation, OperationResult)>,
}

impl Fold {
    pub(super) fn new(tests: FieldTests, counted_to: u64) -> Fold {
        Fold { tests, counted_to, ..Fold::default() }
    }

    /// Position from which on a reader finds every hand that is not counted.
    pub(super) fn read_from(&self) -> u64 {
        let first = self.sealed.values().map(|hand| hand.position).min();
        first.unwrap_or(u64::MAX).min(self.counted_to)
    }

    /// The stream whose commitment has to be read before this event can be applied.
    pub(super) fn missing_commitment(&self, event: &LogEvent) -> Option<StreamId> {
        let sealed = i32::from(event.kind) == EventType::SeedSealed as i32;
        (sealed && !self.commitments.contains_key(&event.stream)).then_some(event.stream)
    }

    /// Takes the first event of a hand's stream, which is its commitment.
    pub(super) fn commitment(&mut self, hand: StreamId, first: &[LogEvent]) -> Result<(), Corrupt> {
        for event in first {
            if let Event::SeedCommitted(committed) = record::parse(event)? {
                self.commitments.insert(hand, committed.rules_hash);
            }
        }
        Ok(())
    }

    /// Applies the next event of the log. Returns the looks that are due with it.
    pub(super) fn apply(&mut self, event: &LogEvent) -> Result<Vec<LookResult>, Corrupt> {
        if !concerns(event) {
            return Ok(Vec::new());
        }
        match record::parse(event)? {
            Event::SeedCommitted(committed) => {
                if self.commitments.len() >= MAX_COMMITMENTS {
                    self.commitments.clear();
                }
                self.commitments.insert(event.stream, committed.rules_hash);
            }
            Event::SeedSealed { transcript, seal_input: _ } => self.seal(event, transcript)?,
            Event::OperationPerformed { operation, result } => {
                if let Some(hand) = self.sealed.get_mut(&event.stream) {
                    hand.operations.push((operation, result));
                }
            }
            Event::CommitmentsClosed(_) | Event::CardsOpened { .. } => {}
            Event::SeedOpened { seed, discarded: _ } => return self.open(event, &seed),
        }
        Ok(Vec::new())
    }

    fn seal(&mut self, event: &LogEvent, transcript: Transcript) -> Result<(), Corrupt> {
        let rules_hash = self.commitments.remove(&event.stream);
        let rules_hash = rules_hash.ok_or_else(|| Corrupt {
            position: event.position.0,
            what: "a hand is sealed that was not committed to".to_owned(),
        })?;
        let (position, operations) = (event.position.0, Vec::new());
        let hand = SealedHand { position, rules_hash, transcript, operations };
        self.sealed.insert(event.stream, hand);
        Ok(())
    }

    /// Counts a hand whose seed is public now. A hand without operations has no outcomes and does not
    /// count, so that nobody can bring a look about by hands that are not played.
    fn open(&mut self, event: &LogEvent, seed: &Seed) -> Result<Vec<LookResult>, Corrupt> {
        self.commitments.remove(&event.stream);
        let hand = self.sealed.remove(&event.stream);
        if event.position.0 < self.counted_to {
            return Ok(Vec::new());
        }
        self.counted_to = event.position.0 + 1;
        let Some(hand) = hand.filter(|hand| !hand.operations.is_empty()) else {
            return Ok(Vec::new());
        };
        let outcomes = hand.outcomes(seed);
        let outcomes = outcomes.map_err(|index| Corrupt {
            position: event.position.0,
            what: format!("operation {index} of the hand cannot have its result"),
        })?;
        Ok(self.tests.count(hand.rules_hash, &outcomes))
    }
}

/// Whether an event says something about outcomes. Others are not parsed: there are many.
fn concerns(event: &LogEvent) -> bool {
    let kinds = [
        EventType::SeedCommitted,
        EventType::SeedSealed,
        EventType::OperationPerformed,
        EventType::SeedOpened,
    ];
    kinds.iter().any(|kind| i32::from(event.kind) == *kind as i32)
}

impl SealedHand {
    /// The outcomes of the hand: as they are on record, and the order of each pile as it was first
    /// shuffled. The error is the index of an operation whose result is none of its kind.
    fn outcomes(&self, seed: &Seed) -> Result<Vec<(Operation, Outcome)>, u32> {
        let keys = Keys::derive(&self.transcript, seed);
        let each = |operation: &IndexedOperation, result: &OperationResult| {
            let IndexedOperation { index, request } = operation;
            outcome(&keys, *index, request, &result.values).map_err(|()| *index)
        };
        let outcomes: Result<Vec<_>, u32> =
            self.operations.iter().map(|(operation, result)| each(operation, result)).collect();
        Ok(outcomes?.into_iter().flatten().collect())
    }
}

/// An operation with its outcome; none for a shuffle of cards that lay somewhere else before.
fn outcome(
    keys: &Keys,
    index: u32,
    request: &OperationRequest,
    values: &[u32],
) -> Result<Option<(Operation, Outcome)>, ()> {
    Ok(match (request, values) {
        (OperationRequest::Shuffle { pile, input: ShuffleInput::Fresh { first, count } }, _) => {
            let last = u16::from(*first) + count.saturating_sub(1);
            let cards = (*first..=u8::try_from(last).map_err(drop)?).collect();
            let operation = Operation::Shuffle { pile: *pile, cards };
            let outcome = perform(keys, index, &operation).map_err(drop)?;
            Some((operation, outcome))
        }
        (OperationRequest::Shuffle { pile: _, input: ShuffleInput::Cards(_) }, _) => None,
        (OperationRequest::Roll { sides }, values) if values.len() == sides.len() => {
            let rolled = values.iter().zip(sides).map(|(value, sides)| {
                u8::try_from(*value).ok().filter(|value| (1..=*sides).contains(value)).ok_or(())
            });
            let rolled = rolled.collect::<Result<_, ()>>()?;
            Some((Operation::Roll { sides: sides.clone() }, Outcome::Rolled(rolled)))
        }
        (OperationRequest::Pulse { ppm }, [yes @ (0 | 1)]) => {
            Some((Operation::Pulse { ppm: *ppm }, Outcome::Pulsed(*yes == 1)))
        }
        (OperationRequest::Pick { n }, [one]) if one < n => {
            Some((Operation::Pick { n: *n }, Outcome::Picked(*one)))
        }
        (OperationRequest::Sample { n, k }, some)
            if u32::try_from(some.len()) == Ok(*k) && some.iter().all(|one| one < n) =>
        {
            Some((Operation::Sample { n: *n, k: *k }, Outcome::Sampled(some.to_vec())))
        }
        (
            OperationRequest::Roll { .. }
            | OperationRequest::Pulse { .. }
            | OperationRequest::Pick { .. }
            | OperationRequest::Sample { .. },
            _,
        ) => return Err(()),
    })
}
