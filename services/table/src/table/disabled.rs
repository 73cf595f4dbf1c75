//! Tables that an operator has disabled, by themselves or with their game.
//!
//! A disabled table starts no hand; a hand that has started goes on to its end, whatever it does to
//! whom. The table's own stream says since when and why. What the room says of its game is known
//! beside it, in memory alone: from the moment it is known no hand starts, and where the stream does
//! not say so yet the table owes a record of it (`Effect::FollowGame`).

use primitives::UnixMicros;
use proto::common::v1::ErrorReason;
use proto::event::v1 as event;
use proto::table::v1 as pb;
use serde::{Deserialize, Serialize};
use wire::{ApiRefusal, TableRecord, api_refusal};

use super::{Closing, Table};
use crate::effects::Effect;
use crate::room::games::{GameState, Games};

/// Whether a table is disabled, by its own stream and by what the room says of its game.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct DisabledState {
    recorded: Option<RecordedDisable>,
    /// Time at which the table was enabled again last.
    enabled_at: UnixMicros,
    /// The room's word on the game; `None` where the game was never disabled. In memory alone.
    #[serde(skip)]
    game: Option<GameState>,
}

/// Disabling of a table as its stream says it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct RecordedDisable {
    reason: String,
    at: UnixMicros,
    with_game: bool,
}

impl Table {
    /// Takes the room's word on the table's game.
    pub(crate) fn follow_game(&mut self, games: &Games) {
        self.disabled.game = games.state(self.config.rules.variant().id).cloned();
    }

    /// The game, where the room has disabled it.
    fn disabled_game(&self) -> Option<&GameState> {
        self.disabled.game.as_ref().filter(|game| game.is_disabled)
    }

    /// Whether hands start here.
    #[must_use]
    pub(crate) fn starts_hands(&self) -> bool {
        self.disabled.recorded.is_none() && self.disabled_game().is_none()
    }

    /// Time since which the table is enabled, where it is.
    #[must_use]
    pub(crate) const fn enabled_at(&self) -> UnixMicros {
        self.disabled.enabled_at
    }

    /// Record that the table owes because its game was disabled, or enabled again. None where an
    /// operator has disabled the table by itself: it stays so. None either where the stream takes no
    /// more records: no hand starts without it.
    #[must_use]
    pub(crate) fn pending_game_record(&self) -> Option<TableRecord> {
        let game = self.disabled.game.as_ref()?;
        let reason = game.reason.to_string();
        match &self.disabled.recorded {
            None if game.is_disabled && self.has_room_for_records() => {
                Some(event::TableDisabled { reason, with_game: true }.into())
            }
            Some(recorded) if recorded.with_game && !game.is_disabled => {
                Some(event::TableEnabled { reason, with_game: true }.into())
            }
            None | Some(_) => None,
        }
    }

    /// Event of an operator's command to disable the table by itself; `None` where it is already.
    pub(crate) fn disable(&self, reason: &str) -> Result<Option<TableRecord>, ApiRefusal> {
        self.check_stays_open()?;
        if self.disabled.recorded.as_ref().is_some_and(|recorded| !recorded.with_game) {
            return Ok(None);
        }
        self.check_records_for_operator()?;
        let reason = reason.to_owned();
        Ok(Some(event::TableDisabled { reason, with_game: false }.into()))
    }

    /// Event of an operator's command to enable the table; `None` where it is already.
    pub(crate) fn enable(&self, reason: &str) -> Result<Option<TableRecord>, ApiRefusal> {
        self.check_stays_open()?;
        if let Some(game) = self.disabled_game() {
            return Err(game_disabled(self.config.rules.variant().id, &game.reason));
        }
        let reason = reason.to_owned();
        let enabled = || event::TableEnabled { reason, with_game: false }.into();
        Ok(self.disabled.recorded.as_ref().map(|_| enabled()))
    }

    fn check_stays_open(&self) -> Result<(), ApiRefusal> {
        if self.closing == Closing::Open {
            return Ok(());
        }
        Err(api_refusal(ErrorReason::TableClosed, "this table is being closed"))
    }

    /// Checks that players may sit down.
    pub(crate) fn check_enabled(&self) -> Result<(), ApiRefusal> {
        let own = self.disabled.recorded.as_ref().map(|recorded| recorded.reason.as_str());
        let game = self.disabled_game().map(|game| &*game.reason);
        match own.or(game) {
            None => Ok(()),
            Some(why) => {
                let message = format!("this table is disabled: {why}");
                Err(api_refusal(ErrorReason::TableDisabled, message).with("why", why))
            }
        }
    }

    pub(super) fn table_disabled(&mut self, event: &event::TableDisabled, at: UnixMicros) {
        let event::TableDisabled { reason, with_game } = event;
        let recorded = RecordedDisable { reason: reason.clone(), at, with_game: *with_game };
        self.disabled.recorded = Some(recorded);
        self.forget_stops(|effect| effect == Effect::FollowGame);
    }

    pub(super) fn table_enabled(&mut self, at: UnixMicros) {
        (self.disabled.recorded, self.disabled.enabled_at) = (None, at);
        self.forget_stops(|effect| effect == Effect::FollowGame);
    }

    /// Disabling of the table, as viewers are shown it.
    #[must_use]
    pub(crate) fn disabled_view(&self) -> Option<pb::Disabled> {
        let RecordedDisable { reason, at, with_game } = self.disabled.recorded.as_ref()?;
        Some(pb::Disabled {
            reason: reason.clone(),
            disable_time: Some(wire::time::timestamp(*at)),
            with_game: *with_game,
        })
    }
}

/// Refusal of what needs a game that is disabled.
pub(crate) fn game_disabled(variant: &str, why: &str) -> ApiRefusal {
    let message = format!("the game {variant} is disabled in this room: {why}");
    api_refusal(ErrorReason::GameDisabled, message).with("why", why)
}
