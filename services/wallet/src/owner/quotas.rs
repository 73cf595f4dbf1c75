//! Daily quotas of players' recorded commands.
//!
//! Specification: ARCHITECTURE.md §7.5.

use chassis::daily_quota::DailyQuota;
use ledger::Command;
use primitives::PlayerId;

use crate::command::RequestContent;
use crate::wallet::Author;

/// Recorded commands of one player a day.
const RECORDS_PER_DAY: u32 = 200;
/// Exclusions of one player a day. Their quota is separate, so that no other command of that day
/// prevents an exclusion.
const EXCLUSIONS_PER_DAY: u32 = 50;

/// Quotas of all players.
pub(super) struct Quotas {
    records: DailyQuota,
    exclusions: DailyQuota,
}

impl Default for Quotas {
    fn default() -> Quotas {
        let (records, exclusions) =
            (DailyQuota::new(RECORDS_PER_DAY), DailyQuota::new(EXCLUSIONS_PER_DAY));
        Quotas { records, exclusions }
    }
}

impl Quotas {
    /// Quota that a command counts towards, and its player; `None` for services and operators.
    pub(super) fn of(
        &self,
        content: &RequestContent,
        by: &Author,
    ) -> Option<(&DailyQuota, PlayerId)> {
        let player = by.actor.strip_prefix("player:")?.parse().ok()?;
        let excludes = matches!(content, RequestContent::Command(Command::Exclude { .. }));
        Some((if excludes { &self.exclusions } else { &self.records }, player))
    }
}
