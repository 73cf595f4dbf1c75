//! Daily quotas of players' recorded commands.

use chassis::daily_quota::DailyQuota;
use ledger::Command;
use primitives::PlayerId;

use crate::command::Wish;
use crate::wallet::By;

/// Recorded commands of one player a day.
const RECORDS: u32 = 200;
/// Exclusions of one player a day. Their quota is separate, so that no other command of that day
/// prevents an exclusion.
const EXCLUSIONS: u32 = 50;

/// Quotas of all players.
pub(super) struct Quotas {
    records: DailyQuota,
    exclusions: DailyQuota,
}

impl Default for Quotas {
    fn default() -> Quotas {
        let (records, exclusions) = (DailyQuota::new(RECORDS), DailyQuota::new(EXCLUSIONS));
        Quotas { records, exclusions }
    }
}

impl Quotas {
    /// Quota that a command counts towards, and its player; `None` for services and operators.
    pub(super) fn of(&self, wish: &Wish, by: &By) -> Option<(&DailyQuota, PlayerId)> {
        let player = by.actor.strip_prefix("player:")?.parse().ok()?;
        let excludes = matches!(wish, Wish::One(Command::Exclude { .. }));
        Some((if excludes { &self.exclusions } else { &self.records }, player))
    }
}
