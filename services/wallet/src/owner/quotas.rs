//! Daily quotas of what players have recorded here.

use chassis::daily_quota::DailyQuota;
use ledger::Command;
use primitives::PlayerId;

use crate::command::Wish;
use crate::wallet::By;

/// Records of one player a day. Limits are set a few times in a life.
const RECORDS: u32 = 200;
/// Exclusions have a quota of their own, so that nothing a player did that day is in their way.
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
    /// The quota that a command counts towards, and whose it is; nothing for services and operators.
    pub(super) fn of(&self, wish: &Wish, by: &By) -> Option<(&DailyQuota, PlayerId)> {
        let player = by.actor.strip_prefix("player:")?.parse().ok()?;
        let excludes = matches!(wish, Wish::One(Command::Exclude { .. }));
        Some((if excludes { &self.exclusions } else { &self.records }, player))
    }
}
