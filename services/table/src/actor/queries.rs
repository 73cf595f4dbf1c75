//! Read-only requests: a table's view, a player's seat, the table's updates.

use primitives::PlayerId;
use proto::table::v1 as pb;

use super::{Actor, Query, WatchStart};
use crate::backlog::backlog_channel;
use crate::publish;

impl Actor {
    pub(super) fn answer_query(&mut self, query: Query) {
        match query {
            Query::View { viewer, full, reply } => {
                let _ = reply.send(self.view(viewer, full));
            }
            Query::Seat { player, reply } => {
                let _ = reply.send(self.state.player_seat(player));
            }
            Query::Watch { viewer, resume, reply } => {
                let _ = reply.send(self.watch(viewer, resume));
            }
            #[cfg(test)]
            Query::Panic => panic!("a test wants to see it"),
        }
    }

    /// The table as `viewer` may see it; `full` includes the reason of every stopped effect.
    fn view(&self, viewer: Option<PlayerId>, full: bool) -> pb::TableView {
        let mut view = self.directory.with_names(self.state.view(viewer));
        view.stopped = self.state.table.stopped_effects(full);
        if let Some((since, why)) = &self.halted {
            view.stopped.push(pb::StoppedEffect {
                effect: None,
                what: "the table as a whole".to_owned(),
                stop_time: Some(wire::time::timestamp(*since)),
                why: if full { why.clone() } else { String::new() },
                payable_to_suspense: false,
            });
        }
        view
    }

    fn watch(&mut self, viewer: Option<PlayerId>, resume: Option<u64>) -> WatchStart {
        let sequence = self.state.table.sequence;
        let token = publish::resume_token(self.state.table.id, sequence);
        if resume.is_some_and(|resume| resume > sequence) {
            let problem = "this token is ahead of the table: it is not one of ours";
            return Err(wire::BadField::new("resume_token", problem).into());
        }
        let message = |message| pb::WatchTableResponse {
            message: Some(message),
            resume_token: token.clone(),
        };
        let missed = resume.and_then(|resume| self.publisher.updates_since(viewer, resume));
        let mut first = missed.unwrap_or_else(|| {
            let view = self.view(viewer, false);
            vec![message(pb::watch_table_response::Message::Snapshot(Box::new(view)))]
        });
        first.push(message(pb::watch_table_response::Message::CaughtUp(pb::CaughtUp {})));
        if self.state.is_closed() {
            let ended = publish::stream_ended(pb::EndReason::TableClosed);
            first.push(message(pb::watch_table_response::Message::Ended(ended)));
            return Ok((first, backlog_channel().1));
        }
        Ok((first, self.publisher.watch(viewer)))
    }
}
