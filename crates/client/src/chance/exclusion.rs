//! Players who have withheld: they sit out.

use super::*;

/// Shortest time between a burn's record and the next number with who withheld in it: 30 seconds
/// (fairness/SPEC.md §3.6), less those by which a record may be later than the burn.
const MIN_EXCLUSION: Duration = Duration::from_secs(20);

impl Chance {
    /// Notes who sits out after a burn.
    pub(super) fn exclude(&mut self, voided: &pb::HandVoided) {
        if voided.cause() != AbortCause::Withheld {
            return;
        }
        self.excluded.retain(|_, until| self.now < *until);
        let roster = self.open_round.iter().filter(|open| open.hand_no == voided.hand_no);
        let roster = roster.flat_map(|open| open.roster.iter().flatten());
        let named = roster.filter(|(seat, _)| voided.seats.contains(seat));
        let until = self.now.plus(MIN_EXCLUSION);
        self.excluded.extend(named.filter_map(|(_, player)| player.map(|it| (it, until))));
    }

    /// Checks that nobody of a roster has withheld just now.
    pub(super) fn check_excluded(&self, roster: &[(u32, Option<PlayerId>)]) -> Result<(), Fault> {
        let early = roster.iter().find(|(_, player)| {
            let until = player.as_ref().and_then(|player| self.excluded.get(player));
            until.is_some_and(|until| self.now < *until)
        });
        early.map_or(Ok(()), |(seat, _)| Err(V::NotExcluded { seat: *seat }.into()))
    }
}
