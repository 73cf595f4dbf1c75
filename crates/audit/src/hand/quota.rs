//! Check of the number of records in a table's stream between two ends of hands that were played: 64
//! of a player and 1,024 in all, then only leaving.
//!
//! A record is its player's where it is of their command or their seat. What the table itself writes
//! counts too, and is never refused. A seat whose player the records do not name counts by itself,
//! and a record whose payload is withheld counts for nobody: so never more is counted than the table
//! has counted.
//!
//! Specification: fairness/SPEC.md §10.1.

use std::collections::BTreeMap;

use proto::event::v1 as pb;
use wire::records::{Record as _, SeatEvent, TableEvent, TableRecord, TableSubject};

use crate::hand::decoded_records::{DecodedEvent, DecodedRecords};
use crate::report::{CheckError, ensure};

/// Most records of one player.
const MAX_OF_A_PLAYER: u32 = 64;
/// Most records in all.
const MAX_IN_ALL: u32 = 1024;
/// Reason of a seat that sits out, or no longer does, since its player has asked for it.
const ASKED: &str = "asked";

/// Owner of a record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Player(Vec<u8>),
    /// The unknown player of a seat.
    Seat(u32),
}

/// Limits that a record is taken under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// Both.
    Asked,
    /// The player's alone: whoever has records left may take part in chance, for without that no
    /// hand could be played.
    Commitment,
    /// None: it is the table's own, or leaving.
    Free,
}

/// Records since the last end of a hand that was played.
#[derive(Default)]
struct Counts {
    in_all: u32,
    own: BTreeMap<Owner, u32>,
    players: BTreeMap<u32, Vec<u8>>,
}

pub(super) fn check(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let mut counts = Counts::default();
    let mut readable = decoded.table.iter().peekable();
    for event in &decoded.records.table {
        match readable.next_if(|read| read.event.position == event.position) {
            Some(read) => counts.take(read)?,
            None => counts.in_all = counts.in_all.saturating_add(1),
        }
    }
    Ok(())
}

impl Counts {
    fn take(&mut self, read: &DecodedEvent<'_, TableRecord>) -> Result<(), CheckError> {
        if let TableRecord::HandFinished(finished) = &read.recorded
            && !finished.aborted
        {
            self.start_anew(finished);
            return Ok(());
        }
        if let Some((owner, limit)) = self.owner(&read.recorded) {
            self.check(read, self.own.get(&owner).copied().unwrap_or_default(), limit)?;
            let own = self.own.entry(owner).or_default();
            *own = own.saturating_add(1);
        }
        self.in_all = self.in_all.saturating_add(1);
        if let TableRecord::HandFinished(burnt) = &read.recorded {
            self.give_back(burnt);
        }
        self.note_players(&read.recorded);
        Ok(())
    }

    /// Gives the players of a number that came to nothing the record of their commitment back. Who was
    /// at fault, and who had committed before these records, is not seen.
    fn give_back(&mut self, burnt: &pb::HandFinished) {
        for place in &burnt.seats {
            if let Some(own) = self.own.get_mut(&Owner::Player(place.player_id.to_vec())) {
                *own = own.saturating_sub(1);
            }
        }
    }

    fn start_anew(&mut self, finished: &pb::HandFinished) {
        (self.in_all, self.own) = (0, BTreeMap::new());
        let seats = finished.seats.iter();
        self.players.extend(seats.map(|place| (place.seat, place.player_id.to_vec())));
    }

    /// Follows who sits where.
    fn note_players(&mut self, recorded: &TableRecord) {
        if let TableRecord::SeatTaken(taken) = recorded {
            self.players.insert(taken.seat, taken.player_id.to_vec());
        } else if let TableRecord::SeatVacated(vacated) = recorded {
            self.players.remove(&vacated.seat);
        }
    }

    /// Returns the owner of a record, and the limit that it is taken under.
    fn owner(&self, recorded: &TableRecord) -> Option<(Owner, Limit)> {
        match recorded.subject() {
            TableSubject::Seat(event) => self.owner_of_seat(event),
            TableSubject::Table(event) => match event {
                TableEvent::EntropyCommitted(given) => {
                    Some((Owner::Player(given.player_id.to_vec()), Limit::Commitment))
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

    fn owner_of_seat(&self, event: SeatEvent<'_>) -> Option<(Owner, Limit)> {
        let seat = event.seat();
        let sits = || {
            self.players
                .get(&seat)
                .map_or(Owner::Seat(seat), |player| Owner::Player(player.clone()))
        };
        match event {
            SeatEvent::SeatTaken(taken) => {
                Some((Owner::Player(taken.player_id.to_vec()), Limit::Asked))
            }
            SeatEvent::SeatRenamed(_) => Some((sits(), Limit::Asked)),
            SeatEvent::SitOutChanged(changed) if changed.why == ASKED => {
                Some((sits(), Limit::Asked))
            }
            SeatEvent::SitOutChanged(_)
            | SeatEvent::SeatFunded(_)
            | SeatEvent::LeaveAsked(_)
            | SeatEvent::CashOutDue(_)
            | SeatEvent::SeatVacated(_)
            | SeatEvent::SeatExcluded(_) => Some((sits(), Limit::Free)),
            // In bundles they are withheld.
            SeatEvent::SeatRefused(_) | SeatEvent::StandingFound(_) => None,
        }
    }

    fn check(
        &self,
        read: &DecodedEvent<'_, TableRecord>,
        own: u32,
        limit: Limit,
    ) -> Result<(), CheckError> {
        let behind = |most: &str| {
            let (at, name) = (read.event.position.0, read.recorded.name());
            format!("the table's log, position {at}: {name} behind {most}")
        };
        ensure(limit == Limit::Free || own < MAX_OF_A_PLAYER, || {
            behind(&format!("{MAX_OF_A_PLAYER} records of one player"))
        })?;
        ensure(limit != Limit::Asked || self.in_all <= MAX_IN_ALL, || {
            behind(&format!("{MAX_IN_ALL} records"))
        })
    }
}
