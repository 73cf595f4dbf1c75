//! Games that are disabled in the whole room, and what the room says of itself.
//!
//! A change is an event of the room's stream. Once it is durable the tables learn of it: from then on
//! none of them starts a hand of the game, and each records the change in its own stream, now or
//! after a restart (`Effect::FollowGame`).

use eventlog::{Entry, Recall, RequestKey};
use primitives::StreamId;
use prost::Message;
use proto::table::v1 as pb;
use wire::records::TableSubject;
use wire::{ApiRefusal, Record as _, status};

use super::{TableRegistry, append_refusal};
use crate::author::Author;
use crate::room::games::GameChange;
use crate::room::{RoomActivity, activity_view};
use crate::table::game_disabled;

impl TableRegistry {
    /// Checks that tables of a game may be opened.
    pub(super) fn check_game(&self, variant: &str) -> Result<(), ApiRefusal> {
        match self.dependencies.games.borrow().disabled(variant) {
            Some(game) => Err(game_disabled(variant, &game.reason)),
            None => Ok(()),
        }
    }

    /// Disables a game, or enables it again; `answer` is that of the call. What is so already is not
    /// recorded again.
    pub(crate) async fn change_game(
        &self,
        change: GameChange,
        answer: &impl Message,
        by: Author,
    ) -> Result<(), ApiRefusal> {
        // A table that is being opened is there before its game is disabled, or not opened after.
        let _one_at_a_time = self.create_lock.lock().await;
        let log = &self.dependencies.log;
        match log.recall(RequestKey::new(&by.actor, by.request), by.digest).await {
            Ok(Recall::Fresh) => {}
            Ok(Recall::Repeated { .. }) => return Ok(()),
            Ok(Recall::IdReused) => return Err(status::request_id_reused()),
            Ok(Recall::TooOld) => return Err(status::request_id_too_old()),
            Err(_) => return Err(status::unavailable("the log cannot be read")),
        }
        let is_disabled = self.dependencies.games.borrow().disabled(&change.variant).is_some();
        if is_disabled == change.disable {
            return Ok(());
        }
        let event = change.event();
        let entry = Entry {
            events: vec![event.on_stream(StreamId::ROOM)],
            request: Some(by.answered(answer.encode_to_vec())),
            actor: by.actor,
            trace: by.trace,
        };
        let receipt = log.append(entry).await.map_err(|error| append_refusal(&error))?;
        let GameChange { variant, reason: why, disable } = &change;
        tracing::warn!(variant, why, disable, "a game is disabled or enabled");
        if let TableSubject::Room(event) = event.subject() {
            let at = receipt.recorded_at;
            self.dependencies.games.send_modify(|games| games.evolve(event, at));
        }
        Ok(())
    }

    /// All games, and whether they are disabled.
    #[must_use]
    pub(crate) fn games(&self) -> Vec<pb::GameStatus> {
        self.dependencies.games.borrow().view()
    }

    /// Activity of the room, as far as this service knows it.
    #[must_use]
    pub(crate) fn activity(&self) -> pb::RoomActivity {
        let activity: &RoomActivity = &self.dependencies.activity;
        pb::RoomActivity {
            table: Some(activity_view(activity)),
            open_tables: self.lobby.open_tables(),
            hands_in_play: self.hand_list.hands_in_play(),
            ..pb::RoomActivity::default()
        }
    }
}
