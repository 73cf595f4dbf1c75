//! Limits on the records in a table's stream between two ends of hands, and the idle time of seats.
//!
//! A bundle carries the table's stream whole from the end of the last hand that was played to its
//! end, so its length must be bounded; and no player may fill the log. The records of the table's
//! own stream are counted: for the player whose command they are or whose seat they move, and in
//! all. Counting begins anew when a hand is played to its end. A number that is burnt or aborted
//! does not count as one, and neither does time. Once a limit is reached only leaving is taken, and
//! commitments to entropy of players who have records of their own left: without these no hand
//! could be played, and no counting begin anew. A commitment to a number that others burn is not
//! counted for its player: whoever burns numbers uses nobody's records up.
//! A table at which no hand can come any more for want of records closes and pays everybody out, so
//! that nobody's credits are held by what others wrote.
//!
//! Specification: ARCHITECTURE.md §7.4.

use std::collections::BTreeMap;

use primitives::{PlayerId, SeatNo, UnixMicros};
use proto::common::v1::ErrorReason;
use serde::{Deserialize, Serialize};
use wire::records::{SeatEvent, TableEvent, TableSubject};
use wire::{ApiRefusal, api_refusal};

use super::{Funding, Seat, Table};
use crate::reasons::SitOutReason;

/// Records of one player. Sitting down, taking part in chance and leaving are five, so a player has
/// a dozen such rounds.
const MAX_PLAYER_RECORDS: u32 = 64;
/// Records in all: the shares of eight seats, and as many again for players who come and go.
const MAX_RECORDS: u32 = 1024;
/// Records from which on nobody sits down. The rest is for seated players, so that nobody who comes
/// and goes can keep them from taking part in chance.
const MAX_RECORDS_FOR_NEWCOMERS: u32 = 768;
/// Records from which on a player with too few credits cannot sit down. Below it they are refused
/// on record, so that the same request is always refused.
const CROWDED_FROM: u32 = 256;
/// Changes between sitting out and in: out and in again, twice.
const MAX_SIT_CHANGES: u32 = 4;
/// Buy-ins of one player that the wallet refuses. Each takes two of the records that all share.
const MAX_REFUSED_BUY_INS: u32 = 3;

/// Records since counting began.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct RecordCounts {
    all: u32,
    by_player: BTreeMap<PlayerId, PlayerCounts>,
}

/// Counts of one player.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct PlayerCounts {
    records: u32,
    changes: u32,
    refused: u32,
}

impl PlayerCounts {
    fn count_seat_event(&mut self, event: SeatEvent<'_>) {
        match event {
            SeatEvent::SeatRefused(_) => self.refused = self.refused.saturating_add(1),
            SeatEvent::SitOutChanged(changed) => match SitOutReason::of(changed) {
                Some(SitOutReason::Asked) => self.changes = self.changes.saturating_add(1),
                Some(SitOutReason::Missed | SitOutReason::Excluded | SitOutReason::Standing)
                | None => {}
            },
            SeatEvent::SeatTaken(_)
            | SeatEvent::SeatFunded(_)
            | SeatEvent::LeaveAsked(_)
            | SeatEvent::CashOutDue(_)
            | SeatEvent::SeatVacated(_)
            | SeatEvent::SeatRenamed(_)
            | SeatEvent::SeatExcluded(_)
            | SeatEvent::StandingFound(_) => {}
        }
    }
}

impl RecordCounts {
    fn of(&self, player: PlayerId) -> PlayerCounts {
        self.by_player.get(&player).copied().unwrap_or_default()
    }
}

impl Table {
    /// Checks that the table's stream takes another record of a player who is not seated.
    pub(crate) fn check_room_for_newcomer(&self, player: PlayerId) -> Result<(), ApiRefusal> {
        if self.record_counts.of(player).refused >= MAX_REFUSED_BUY_INS {
            return Err(spent(format!(
                "{MAX_REFUSED_BUY_INS} buy-ins of yours were refused here: come back with credits after the next hand"
            )));
        }
        self.check_own_records(player)?;
        self.check_all_records(MAX_RECORDS_FOR_NEWCOMERS)
    }

    /// Whether so many records are spent that a buy-in which the wallet would refuse is not worth
    /// one.
    #[must_use]
    pub(crate) fn is_crowded(&self) -> bool {
        self.record_counts.all >= CROWDED_FROM
    }

    /// Checks that the table's stream takes another record that a seated player asks for. Leaving
    /// is always taken.
    pub(crate) fn check_room_for(&self, player: PlayerId) -> Result<(), ApiRefusal> {
        self.check_own_records(player)?;
        self.check_all_records(MAX_RECORDS)
    }

    /// Whether the table's stream takes another record that can wait.
    #[must_use]
    pub(crate) const fn has_room_for_records(&self) -> bool {
        self.record_counts.all < MAX_RECORDS
    }

    /// Checks that the table's stream takes another record that an operator asks for.
    pub(crate) fn check_records_for_operator(&self) -> Result<(), ApiRefusal> {
        self.check_all_records(MAX_RECORDS)
    }

    /// Checks that a player may have another record, however many there are in all.
    pub(crate) fn check_own_records(&self, player: PlayerId) -> Result<(), ApiRefusal> {
        if self.record_counts.of(player).records < MAX_PLAYER_RECORDS {
            return Ok(());
        }
        Err(spent(format!(
            "you have had {MAX_PLAYER_RECORDS} records written here since a hand was last played to its end: \
             only leaving is taken until the next one is"
        )))
    }

    /// Whether no hand can be played any more for want of records: too few players are seated and no
    /// more are taken, or too few of them can commit to entropy.
    #[must_use]
    pub(crate) fn is_spent(&self) -> bool {
        if self.record_counts.all < MAX_RECORDS_FOR_NEWCOMERS || self.hand.is_some() {
            return false;
        }
        let counts = &self.record_counts;
        let has_records = |seat: &Seat| counts.of(seat.player).records < MAX_PLAYER_RECORDS;
        let may_return =
            |seat: &Seat| seat.is_excluded || (counts.all < MAX_RECORDS && has_records(seat));
        let may_play = |seat: &&Seat| {
            !seat.leaving
                && (seat.funding != Funding::AtTable || seat.stack >= self.min_stack())
                && (!seat.sitting_out || may_return(seat))
        };
        let commitments = self.seat_commitments_of(self.hand_no + 1);
        let may_commit = |number: SeatNo, seat: &Seat| {
            has_records(seat) || commitments.contains_key(&(number, seat.player))
        };
        let seats = || self.seats.iter().filter(|(_, seat)| may_play(seat));
        let committing = seats().filter(|(number, seat)| may_commit(**number, seat)).count();
        let contributors_min = usize::try_from(self.config.settings.contributors_min);
        seats().count() < usize::from(*self.config.rules.player_counts().start())
            || contributors_min.is_ok_and(|least| committing < least)
    }

    fn check_all_records(&self, most: u32) -> Result<(), ApiRefusal> {
        if self.record_counts.all < most {
            return Ok(());
        }
        Err(spent(format!(
            "{most} records were written at this table since a hand was last played to its end: no more \
             of this is taken until the next one is"
        )))
    }

    /// Checks that a player may change between sitting out and in once more.
    pub(crate) fn check_may_change(&self, player: PlayerId) -> Result<(), ApiRefusal> {
        if self.record_counts.of(player).changes < MAX_SIT_CHANGES {
            return Ok(());
        }
        Err(spent(format!(
            "you have sat out or in {MAX_SIT_CHANGES} times since a hand was last played to its end: wait \
             until the next one is, or stand up"
        )))
    }

    /// Counts a record of the table's own stream, for the player whose record it is if it has one;
    /// the table has not taken it yet.
    pub(super) fn count_record(&mut self, event: TableSubject<'_>) {
        if is_played_to_its_end(event) {
            self.record_counts = RecordCounts::default();
            return;
        }
        self.record_counts.all = self.record_counts.all.saturating_add(1);
        let Some(player) = self.owner_of(event) else { return };
        let spent = self.record_counts.by_player.entry(player).or_default();
        spent.records = spent.records.saturating_add(1);
        match event {
            TableSubject::Seat(event) => spent.count_seat_event(event),
            TableSubject::Table(_)
            | TableSubject::Hand(_)
            | TableSubject::Play(_)
            | TableSubject::Person(_)
            | TableSubject::Room(_)
            | TableSubject::Clock(_) => {}
        }
    }

    /// Gives the players of the open number the record of their commitment back, but for those in the
    /// seats at fault: the number comes to nothing before it is sealed.
    pub(super) fn give_commitments_back(&mut self, at_fault: &[u32]) {
        let Some(round) = self.entropy_round() else { return };
        let committed = self.seat_commitments_of(self.hand_no);
        let others = round
            .roster
            .iter()
            .filter(|by| committed.contains_key(*by) && !at_fault.contains(&u32::from(by.0.get())));
        for player in others.map(|(_, player)| *player).collect::<Vec<_>>() {
            if let Some(spent) = self.record_counts.by_player.get_mut(&player) {
                spent.records = spent.records.saturating_sub(1);
            }
        }
    }

    /// Player whose command a record of the table's own stream is, or whose seat it moves; the
    /// table has not taken it yet.
    fn owner_of(&self, event: TableSubject<'_>) -> Option<PlayerId> {
        match event {
            TableSubject::Seat(event) => match event {
                SeatEvent::SeatTaken(taken) => wire::field::player_id(&taken.player_id).ok(),
                SeatEvent::SeatFunded(_)
                | SeatEvent::SeatRefused(_)
                | SeatEvent::LeaveAsked(_)
                | SeatEvent::CashOutDue(_)
                | SeatEvent::SeatVacated(_)
                | SeatEvent::SitOutChanged(_)
                | SeatEvent::SeatExcluded(_)
                | SeatEvent::SeatRenamed(_) => {
                    let seat = SeatNo::try_from(event.seat()).ok()?;
                    self.seats.get(&seat).map(|seat| seat.player)
                }
                // The wallet's word costs its player nothing.
                SeatEvent::StandingFound(_) => None,
            },
            TableSubject::Table(event) => match event {
                TableEvent::EntropyCommitted(committed) => {
                    wire::field::player_id(&committed.player_id).ok()
                }
                TableEvent::TableCreated(_)
                | TableEvent::HandCommitted(_)
                | TableEvent::HandStarted(_)
                | TableEvent::HandFinished(_)
                | TableEvent::EffectStopped(_)
                | TableEvent::EffectResumed(_)
                | TableEvent::CloseAsked(_)
                | TableEvent::TableDisabled(_)
                | TableEvent::TableEnabled(_)
                | TableEvent::PotRefundDue(_)
                | TableEvent::PotRefunded(_)
                | TableEvent::AbsentPaid(_)
                | TableEvent::TableClosed(_) => None,
            },
            TableSubject::Hand(_)
            | TableSubject::Play(_)
            | TableSubject::Person(_)
            | TableSubject::Room(_)
            | TableSubject::Clock(_) => None,
        }
    }

    /// Notes since when seats are not dealt in. Only being dealt in ends it: sitting in and out
    /// again without playing does not.
    pub(super) fn note_idle(&mut self, at: UnixMicros) {
        let due = self.min_stack();
        for seat in self.seats.values_mut() {
            let idle = seat.sitting_out || (seat.funding == Funding::AtTable && seat.stack < due);
            if idle {
                seat.idle_since.get_or_insert(at);
            }
        }
    }

    /// Time since which a seat is idle; `None` where it is not idle, or is not simply held. Who is
    /// ready for a hand that waits for nothing but commitments, and makes none, is idle too.
    #[must_use]
    pub(crate) fn idle_since(&self, number: SeatNo) -> Option<UnixMicros> {
        let seat = self.seats.get(&number)?;
        if seat.funding != Funding::AtTable || seat.leaving {
            return None;
        }
        if seat.sitting_out || seat.stack < self.min_stack() {
            return seat.idle_since;
        }
        let next_hand = self.hand_no + 1;
        let promised = self.dealer_commitments.get(&next_hand)?;
        let has_committed =
            self.seat_commitments_of(next_hand).contains_key(&(number, seat.player));
        let waits = self.hand.is_none()
            && self.starts_hands()
            && !self.is_short_of_players()
            && !self.has_enough_ready_seats()
            && !has_committed;
        let since = promised.at.max(seat.ready_at).max(self.finished_at.unwrap_or_default());
        waits.then(|| since.max(self.enabled_at()))
    }
}

fn spent(message: String) -> ApiRefusal {
    api_refusal(ErrorReason::RecordsSpent, message)
}

/// Whether a record of the table's own stream ends a hand that was neither burnt nor aborted.
const fn is_played_to_its_end(event: TableSubject<'_>) -> bool {
    matches!(event, TableSubject::Table(TableEvent::HandFinished(finished)) if !finished.aborted)
}
