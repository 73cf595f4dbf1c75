//! Names of players, and their publication at every table where they sit.

use primitives::{PlayerId, TableId};
use proto::table::v1 as pb;
use wire::{ApiRefusal, status};

use super::{RETRY_PAUSE, TableRegistry};
use crate::actor::{CommandRequest, TableMessage};
use crate::author::Author;
use crate::people::registry::RecordPlace;

impl TableRegistry {
    /// Shows a player under another name, at every table where they sit.
    pub(crate) async fn set_name(
        &self,
        player: PlayerId,
        name: &str,
        by: Author,
    ) -> Result<pb::SetNameResponse, ApiRefusal> {
        let now = self.dependencies.clock.now();
        // A repeat gets its first answer even when the day's records are spent.
        if !self.is_answered(&by.actor, by.request) {
            self.dependencies.bounds.check(player, now)?;
        }
        let (answer, changed) = self.people.set_name(player, name, by).await?;
        if changed {
            self.dependencies.bounds.count(player, now);
        }
        if changed {
            self.publish_player(player);
        }
        Ok(answer)
    }

    /// Has every table at which a player sits publish their name and mark.
    pub(super) fn publish_player(&self, player: PlayerId) {
        let Some(recorded) = self.people.presented_at(player) else { return };
        for table in self.dependencies.directory.tables_of(player) {
            self.publish_name(table, player, recorded);
        }
    }

    /// Has a table publish a player's new name or mark, which is recorded at `named`; retried until
    /// the table has done so.
    pub(super) fn publish_name(&self, id: TableId, player: PlayerId, named: RecordPlace) {
        let Some(table) = self.running_table(id) else { return };
        let stopped = self.dependencies.log.stopped();
        tokio::spawn(async move {
            loop {
                let (request, answer) = CommandRequest::publish_name(id, player, named);
                if table.send(TableMessage::Command(Box::new(request))).await.is_err() {
                    return;
                }
                match answer.await {
                    Ok(Err(refused)) if status::is_retryable_reason(refused.reason()) => {}
                    // Done, or the table is closed or stopped and publishes nothing more.
                    Ok(_) | Err(_) => return,
                }
                if stopped.run_until_cancelled(tokio::time::sleep(RETRY_PAUSE)).await.is_none() {
                    return;
                }
            }
        });
    }
}
