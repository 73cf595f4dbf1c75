//! Games that are disabled in the whole room: a pure fold of the room's stream.

use std::collections::BTreeMap;
use std::sync::Arc;

use primitives::UnixMicros;
use proto::event::v1 as event;
use proto::table::v1 as pb;
use serde::{Deserialize, Serialize};
use wire::TableRecord;
use wire::records::RoomEvent;

/// The newest word on each game that was ever disabled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Games(BTreeMap<String, GameState>);

/// The newest word on a game, and when it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GameState {
    pub is_disabled: bool,
    pub reason: Arc<str>,
    pub at: UnixMicros,
}

/// Change that an operator asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GameChange {
    pub variant: String,
    pub reason: String,
    pub disable: bool,
}

impl GameChange {
    /// Event of the change.
    #[must_use]
    pub(crate) fn event(&self) -> TableRecord {
        let (variant, reason) = (self.variant.clone(), self.reason.clone());
        if self.disable {
            event::GameDisabled { variant, reason }.into()
        } else {
            event::GameEnabled { variant, reason }.into()
        }
    }
}

impl Games {
    /// The newest word on a game; `None` where it was never disabled.
    #[must_use]
    pub(crate) fn state(&self, variant: &str) -> Option<&GameState> {
        self.0.get(variant)
    }

    /// State of a game that is disabled.
    #[must_use]
    pub(crate) fn disabled(&self, variant: &str) -> Option<&GameState> {
        self.state(variant).filter(|game| game.is_disabled)
    }

    /// Takes an event of the room's stream.
    pub(crate) fn evolve(&mut self, event: RoomEvent<'_>, at: UnixMicros) {
        let (variant, reason, is_disabled) = match event {
            RoomEvent::GameDisabled(event::GameDisabled { variant, reason }) => {
                (variant, reason, true)
            }
            RoomEvent::GameEnabled(event::GameEnabled { variant, reason }) => {
                (variant, reason, false)
            }
            RoomEvent::RoomSnapshotTaken(_) => return,
        };
        let state = GameState { is_disabled, reason: reason.as_str().into(), at };
        self.0.insert(variant.clone(), state);
    }

    /// All games that this program knows, as an answer shows them.
    #[must_use]
    pub(crate) fn view(&self) -> Vec<pb::GameStatus> {
        let status = |variant: &&'static rules::Variant| pb::GameStatus {
            variant: variant.id.to_owned(),
            title: variant.title.to_owned(),
            disabled: self.disabled(variant.id).map(|game| pb::Disabled {
                reason: game.reason.to_string(),
                disable_time: Some(wire::time::timestamp(game.at)),
                with_game: true,
            }),
        };
        rules::ALL.iter().map(status).collect()
    }
}

#[cfg(test)]
mod tests {
    use wire::records::TableSubject;

    use super::*;

    fn take(games: &mut Games, disable: bool, reason: &str, at: u64) {
        let (variant, reason) = ("kessel".to_owned(), reason.to_owned());
        let record = GameChange { variant, reason, disable }.event();
        let TableSubject::Room(event) = record.subject() else { panic!("{record:?}") };
        games.evolve(event, UnixMicros(at));
    }

    #[test]
    fn the_newest_word_on_a_game_counts() {
        let mut games = Games::default();
        assert!(games.state("kessel").is_none());
        take(&mut games, true, "a fault", 5);
        assert!(games.disabled("kessel").is_some() && games.disabled("dice").is_none());
        let view = games.view();
        assert_eq!(view.len(), rules::ALL.len());
        assert!(view.is_sorted_by(|one, next| one.variant < next.variant), "{view:?}");
        let disabled: Vec<_> = view.iter().filter(|game| game.disabled.is_some()).collect();
        let [kessel] = disabled[..] else { panic!("{disabled:?}") };
        let shown = kessel.disabled.as_ref().unwrap();
        assert_eq!((kessel.variant.as_str(), shown.reason.as_str()), ("kessel", "a fault"));
        take(&mut games, false, "repaired", 9);
        assert!(games.disabled("kessel").is_none());
        let state = games.state("kessel").unwrap();
        assert_eq!((&*state.reason, state.at), ("repaired", UnixMicros(9)));
    }
}
