//! Changes of a table's state: by its durable events, and by the room's word on its game.

use primitives::{StreamId, UnixMicros};
use proto::table::v1 as pb;
use wire::TableRecord;

use super::Actor;
use crate::batch::RuleInputs;
use crate::publish::PublishedEvent;
use crate::state::TableState;

impl Actor {
    /// Applies a durable event to the state and sends the updates.
    pub(super) fn apply(
        &mut self,
        stream: StreamId,
        event: &TableRecord,
        inputs: &mut RuleInputs,
        at: UnixMicros,
    ) {
        self.log_event(event);
        // Updates of a step show the hand before it; no other event needs it.
        let shown = inputs.judged.is_some() && self.publisher.is_watched();
        let before = self.state.play.as_ref().filter(|_| shown);
        let before = before.map(|play| play.replay.hand.clone());
        self.directory.follow(&self.state.table, event);
        let was_closed = self.state.is_closed();
        match self.state.apply(stream, event, inputs, at) {
            Ok(Some(kind)) => {
                let past = PublishedEvent { sequence: self.state.table.sequence, at, kind };
                let TableState { table, play, .. } = &self.state;
                let is_seated = |player| table.seat_of(player).is_some();
                self.publisher.publish(past, before.as_ref(), play.as_ref(), is_seated);
                if self.state.is_closed() && !was_closed {
                    let sequence = self.state.table.sequence;
                    self.publisher.end_streams(pb::EndReason::TableClosed, sequence);
                }
            }
            Ok(None) => {}
            Err(broken) => self.halt(&broken.0),
        }
    }

    /// Takes the room's newest word on the table's game.
    pub(super) fn follow_game(&mut self) {
        self.state.table.follow_game(&self.games.borrow_and_update());
    }
}
