//! Bounds on what callers cost the table service.
//!
//! Specification: ARCHITECTURE.md §7.4 to §7.6.

use chassis::daily_quota::DailyQuota;
use chassis::request_ids::{Inadmissible, RequestIdPolicy};
use primitives::{PlayerId, RequestId, UnixMicros};
use wire::{ApiRefusal, field, status};

/// Records of one player a day, of commands that play does not bound: sitting down, sitting out and
/// in, setting names. A player who changes tables every two minutes all day stays below.
const RECORDS_PER_DAY: u32 = 1000;

/// Bounds shared by all tables.
#[derive(Debug)]
pub(crate) struct Bounds {
    ids: RequestIdPolicy,
    quota: DailyQuota,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { ids: RequestIdPolicy::default(), quota: DailyQuota::new(RECORDS_PER_DAY) }
    }
}

impl Bounds {
    /// Parses the id of a caller's command.
    ///
    /// # Errors
    /// `BAD_FIELD` for an id that this caller may not send, `OVERLOADED` for one odd id too many.
    pub(crate) fn request_id(
        &self,
        actor: &str,
        request_id: &str,
        now: UnixMicros,
    ) -> Result<RequestId, ApiRefusal> {
        let id = field::request_id(request_id)?;
        self.ids.admit(actor, id, now).map_err(|reason| match reason {
            Inadmissible::Derived => status::derived_request_id(),
            Inadmissible::Ahead(ahead) => status::future_request_id(ahead),
            Inadmissible::TooManyLookups(wait) => status::request_id_needs_lookup(wait),
        })?;
        Ok(id)
    }

    /// Checks that another command of this player may be recorded today.
    ///
    /// # Errors
    /// `RECORDS_SPENT`.
    pub(crate) fn check(&self, player: PlayerId, now: UnixMicros) -> Result<(), ApiRefusal> {
        self.quota.check(player, now).map_err(status::daily_records_spent)
    }

    /// Counts a recorded command.
    pub(crate) fn count(&self, player: PlayerId, now: UnixMicros) {
        self.quota.count(player, now);
    }
}
