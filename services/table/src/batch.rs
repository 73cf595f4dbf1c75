//! Batches of events that a table appends.

use std::collections::VecDeque;

use primitives::StreamId;
use rules::Event;
use wire::Recorded;
use wire::card_positions::CardPositions;

use crate::proof::Faces;

/// Batch of events with their streams, to be appended in one go.
#[derive(Default)]
pub(crate) struct Batch {
    pub events: Vec<(StreamId, Recorded)>,
    pub inputs: RuleInputs,
}

/// Inputs of the rules that a batch records, as far as its records alone do not give them.
#[derive(Clone, Default)]
pub(crate) struct RuleInputs {
    /// Faces of the cards that the batch moves.
    pub faces: Faces,
    /// Inputs that were judged before the append, one for each event. Without them each is read
    /// from its record.
    pub judged: Option<VecDeque<JudgedInput>>,
}

/// Input of the rules that an event records, judged before the append.
#[derive(Clone, Default)]
pub(crate) struct JudgedInput {
    /// `None` for a record that is no input of the rules.
    pub input: Option<Event>,
    /// Card positions after the event, if it is a shuffle or the last use of chance in its batch.
    pub positions: Option<CardPositions>,
}

impl Batch {
    pub(crate) fn single(stream: impl Into<StreamId>, event: impl Into<Recorded>) -> Batch {
        Batch::from(vec![(stream.into(), event.into())])
    }
}

impl From<Vec<(StreamId, Recorded)>> for Batch {
    fn from(events: Vec<(StreamId, Recorded)>) -> Batch {
        Batch { events, inputs: RuleInputs::default() }
    }
}
