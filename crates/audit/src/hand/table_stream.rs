//! Reading of a table's stream between the last hand that was played and this one: who sits where
//! with how much, and which numbers were burnt.
//!
//! The stream begins with the table's first record, with the end of the last hand that was played
//! to its end, or with the dealer's commitment to this hand where that is earlier. So what lies
//! before its first record is known in the first case alone; the end of the last hand says it for
//! the players of that hand.
//!
//! Specification: fairness/SPEC.md §10.11.

use std::collections::BTreeMap;

use eventlog_core::Position;
use proto::event::v1 as pb;
use wire::records::{SeatEvent, TableEvent, TableRecord, TableSubject};

use crate::hand::decoded_records::{DecodedEvent, DecodedRecords};
use crate::report::{CheckError, ensure};

/// Reason of a seat that sits out, or no longer does, for having withheld entropy.
pub(super) const EXCLUDED: &str = "excluded";

/// A taken seat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SeatState {
    pub(super) player: Vec<u8>,
    pub(super) stack: u64,
    pub(super) misses: u32,
    /// The credits are at the table.
    pub(super) funded: bool,
    /// The player is the house's own, as the table has recorded it.
    pub(super) house: bool,
}

/// The table before a hand, as far as the records say.
#[derive(Debug, Clone, Default)]
pub(super) struct TableState {
    pub(super) seats: BTreeMap<u32, SeatState>,
    pub(super) pots: Option<(u64, u64)>,
    /// The seat that had the button last; `None` before the first hand that is played to its end.
    pub(super) button: Option<u32>,
    /// Whether the records say of every seat whether it is taken.
    pub(super) is_complete: bool,
    /// Hands that came to nothing since the last one that was played.
    pub(super) burnt: Vec<u64>,
    /// The pots were paid back: no hand may follow.
    is_refunded: bool,
    /// An operator has disabled the table or its game: no hand may start.
    is_disabled: bool,
}

/// Folds the table's stream up to a position.
///
/// # Errors
/// If a hand that came to nothing has left something else than it found.
pub(super) fn state_before(
    decoded: &DecodedRecords<'_>,
    position: Position,
) -> Result<TableState, CheckError> {
    let is_complete = decoded.records.table.first().is_some_and(|first| first.version.0 == 1);
    let pots = is_complete.then_some((0, 0));
    let mut state = TableState { is_complete, pots, ..TableState::default() };
    for read in decoded.table.iter().take_while(|read| read.event.position < position) {
        state.apply(read)?;
    }
    Ok(state)
}

impl TableState {
    fn apply(&mut self, read: &DecodedEvent<'_, TableRecord>) -> Result<(), CheckError> {
        match read.recorded.subject() {
            TableSubject::Seat(event) => {
                self.apply_to_seat(event);
                Ok(())
            }
            TableSubject::Table(event) => self.apply_to_table(event),
            TableSubject::Hand(_)
            | TableSubject::Play(_)
            | TableSubject::Person(_)
            | TableSubject::Room(_)
            | TableSubject::Clock(_) => Ok(()),
        }
    }

    fn apply_to_seat(&mut self, event: SeatEvent<'_>) {
        let number = event.seat();
        match event {
            SeatEvent::SeatTaken(taken) => {
                let player = taken.player_id.to_vec();
                let (stack, house) = (taken.buy_in, taken.house);
                let seat = SeatState { player, stack, misses: 0, funded: false, house };
                self.seats.insert(number, seat);
            }
            SeatEvent::SeatFunded(_) => {
                if let Some(seat) = self.seats.get_mut(&number) {
                    seat.funded = true;
                }
            }
            SeatEvent::SitOutChanged(changed) => {
                // A burnt number changes no misses, nor does what follows from it.
                if let Some(seat) = self.seats.get_mut(&number).filter(|_| changed.why != EXCLUDED)
                {
                    seat.misses = 0;
                }
            }
            SeatEvent::SeatRefused(_) | SeatEvent::SeatVacated(_) => {
                self.seats.remove(&number);
            }
            SeatEvent::CashOutDue(_) => {
                if let Some(seat) = self.seats.get_mut(&number) {
                    seat.funded = false;
                }
            }
            SeatEvent::LeaveAsked(_)
            | SeatEvent::SeatRenamed(_)
            | SeatEvent::SeatExcluded(_)
            | SeatEvent::StandingFound(_) => {}
        }
    }

    fn apply_to_table(&mut self, event: TableEvent<'_>) -> Result<(), CheckError> {
        match event {
            TableEvent::HandFinished(finished) if finished.aborted => self.check_burnt(finished),
            TableEvent::HandFinished(finished) => {
                self.take_over(finished);
                Ok(())
            }
            TableEvent::HandStarted(_) => {
                ensure(!self.is_refunded, || {
                    "a hand was started after the pots had been paid back".to_owned()
                })?;
                ensure(!self.is_disabled, || {
                    "a hand was started while the table was disabled".to_owned()
                })
            }
            TableEvent::TableDisabled(_) => {
                self.is_disabled = true;
                Ok(())
            }
            TableEvent::TableEnabled(_) => {
                self.is_disabled = false;
                Ok(())
            }
            TableEvent::PotRefundDue(_) => {
                self.is_refunded = true;
                Ok(())
            }
            TableEvent::TableCreated(_)
            | TableEvent::HandCommitted(_)
            | TableEvent::EntropyCommitted(_)
            | TableEvent::CloseAsked(_)
            | TableEvent::PotRefunded(_)
            | TableEvent::TableClosed(_)
            | TableEvent::AbsentPaid(_)
            | TableEvent::EffectStopped(_)
            | TableEvent::EffectResumed(_) => Ok(()),
        }
    }

    /// Takes over what a hand that was played to its end has left.
    fn take_over(&mut self, finished: &pb::HandFinished) {
        for (index, seated) in finished.seats.iter().enumerate() {
            let seat = SeatState {
                player: seated.player_id.to_vec(),
                stack: seated.stack,
                misses: finished.misses.get(index).copied().unwrap_or_default(),
                funded: true,
                house: seated.house,
            };
            self.seats.insert(seated.seat, seat);
        }
        self.pots = Some((finished.sabacc_pot, finished.carried_pot));
        self.button = finished.seats.last().map(|last| last.seat);
        self.burnt.clear();
    }

    /// Checks that a hand which came to nothing has changed nothing.
    fn check_burnt(&mut self, finished: &pb::HandFinished) -> Result<(), CheckError> {
        let pb::HandFinished { hand_no, seats, sabacc_pot, carried_pot, misses, .. } = finished;
        self.burnt.push(*hand_no);
        let pots = self.pots.is_none_or(|pots| pots == (*sabacc_pot, *carried_pot));
        let mut places = seats.iter().zip(misses);
        let same = places.all(|(seated, misses)| {
            self.seats.get(&seated.seat).is_none_or(|seat| {
                let before = (&seat.player[..], seat.stack, seat.misses);
                before == (&seated.player_id[..], seated.stack, *misses)
            })
        });
        ensure(pots && same, || {
            format!("hand {hand_no} came to nothing, and has changed stacks, pots or missed clocks")
        })
    }

    /// Returns how many clocks each player of a roster had missed in a row before the hand; `None`
    /// where the records do not say.
    pub(super) fn misses(&self, roster: &[pb::RosterSeat]) -> Vec<Option<u32>> {
        let misses = |seated: &pb::RosterSeat| self.seats.get(&seated.seat).map(|seat| seat.misses);
        roster.iter().map(misses).collect()
    }
}
