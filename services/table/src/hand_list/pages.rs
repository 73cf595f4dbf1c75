//! Pages of the list of hands.

use std::fmt;
use std::ops::Bound;
use std::str::FromStr;

use primitives::TableId;
use proto::audit::v1 as pb;
use proto::common::v1::ErrorReason;
use wire::{ApiRefusal, api_refusal};

use super::Scope;
use super::counts::Counts;
use super::index::{Hand, HandIndex, Outcome, SeedState, Suspension, TableHands, Withheld};

/// Tables that one page looks at: a room may have many without a hand.
const MAX_TABLES: usize = 1000;

/// First number of a page. Its text is the page's token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor {
    table: TableId,
    number: u64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.table, self.number)
    }
}

/// The text is no token of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not one of ours: send what the page before gave")]
pub(crate) struct NoCursor;

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Cursor, NoCursor> {
        let (table, number) = text.split_once(':').ok_or(NoCursor)?;
        let table = table.parse().map_err(|_| NoCursor)?;
        Ok(Cursor { table, number: number.parse().map_err(|_| NoCursor)? })
    }
}

impl HandIndex {
    pub(super) fn page(
        &self,
        scope: Scope,
        from: Option<Cursor>,
        take: usize,
    ) -> Result<pb::ListHandsResponse, ApiRefusal> {
        if let Some(table) = scope.table.filter(|table| !self.tables.contains_key(table)) {
            let message = format!("there is no table {table}: ListTables lists them");
            return Err(api_refusal(ErrorReason::TableUnknown, message).field("table_id"));
        }
        let (hands, next) = self.rows(scope, from, take);
        let next_page_token = next.map_or_else(String::new, |next| next.to_string());
        let counts = Some(self.counts(scope).view());
        let of_table = scope.table.filter(|_| scope.player.is_none());
        let seats = of_table.and_then(|table| self.tables.get(&table)).map_or_else(Vec::new, seats);
        let log_size = self.log_size;
        Ok(pb::ListHandsResponse { hands, next_page_token, counts, seats, log_size })
    }

    fn counts(&self, Scope { table, player }: Scope) -> Counts {
        let counts = match (table, player) {
            (None, None) => Some(self.room),
            (Some(table), None) => self.tables.get(&table).map(|table| table.counts),
            (None, Some(player)) => self.players.get(&player).map(|player| player.counts),
            (Some(table), Some(player)) => {
                let tables = self.players.get(&player).map(|player| &player.tables);
                tables.and_then(|tables| tables.get(&table)).map(|at| at.counts)
            }
        };
        counts.unwrap_or_default()
    }

    /// Up to `take` rows, and the number that the next page begins with.
    fn rows(
        &self,
        scope: Scope,
        from: Option<Cursor>,
        take: usize,
    ) -> (Vec<pb::HandRow>, Option<Cursor>) {
        let mut rows = Vec::new();
        for (visited, table) in self.tables_from(scope, from.map(|from| from.table)).enumerate() {
            let start = from.filter(|from| from.table == table).map_or(1, |from| from.number);
            if visited == MAX_TABLES {
                return (rows, Some(Cursor { table, number: start }));
            }
            let Some(entry) = self.tables.get(&table) else { continue };
            for (first, last) in self.stretches(scope, table, start) {
                let mut number = first.max(start);
                while number <= last {
                    if rows.len() == take {
                        return (rows, Some(Cursor { table, number }));
                    }
                    let row = entry.row(table, number, last);
                    let until = row.last_hand_no;
                    rows.push(row);
                    let Some(next) = until.checked_add(1) else { break };
                    number = next;
                }
            }
        }
        (rows, None)
    }

    /// The tables that are asked for, ascending, from one on.
    fn tables_from(
        &self,
        scope: Scope,
        from: Option<TableId>,
    ) -> Box<dyn Iterator<Item = TableId> + '_> {
        let range = (from.map_or(Bound::Unbounded, Bound::Included), Bound::Unbounded);
        let wanted = from.is_none_or(|from| scope.table.is_none_or(|table| table >= from));
        match (scope.table, scope.player) {
            (Some(table), _) => Box::new(wanted.then_some(table).into_iter()),
            (None, None) => Box::new(self.tables.range(range).map(|(table, _)| *table)),
            (None, Some(player)) => {
                let tables = self.players.get(&player).map(|player| &player.tables).into_iter();
                Box::new(
                    tables.flat_map(move |tables| tables.range(range).map(|(table, _)| *table)),
                )
            }
        }
    }

    /// Numbers of a table that are asked for, as stretches that end at `start` or later.
    fn stretches(
        &self,
        scope: Scope,
        table: TableId,
        start: u64,
    ) -> impl Iterator<Item = (u64, u64)> + '_ {
        let whole = scope.player.is_none().then(|| {
            let started = self.tables.get(&table).map_or(0, |table| table.started);
            (1, started)
        });
        let own = scope.player.and_then(|player| self.players.get(&player)?.tables.get(&table));
        let own = own.map_or(&[][..], |at| &at.stretches);
        let skipped = own.partition_point(|(_, last)| *last < start);
        whole.into_iter().chain(own[skipped..].iter().copied())
    }
}

impl TableHands {
    /// Row that begins with a number and ends at `limit` or before.
    fn row(&self, table: TableId, number: u64, limit: u64) -> pb::HandRow {
        let entry = self.hands.range(..=number).next_back();
        if let Some((_, hand)) = entry.filter(|(_, hand)| hand.last >= number) {
            return hand.row(table, number, limit);
        }
        let rest = (Bound::Excluded(number), Bound::Unbounded);
        let until = self.hands.range(rest).next().map_or(limit, |(next, _)| limit.min(next - 1));
        pb::HandRow {
            table_id: table.to_string(),
            first_hand_no: number,
            last_hand_no: until,
            outcome: pb::HandOutcome::Played.into(),
            seed: pb::SeedState::Opened.into(),
            ..pb::HandRow::default()
        }
    }
}

impl Hand {
    fn row(&self, table: TableId, number: u64, limit: u64) -> pb::HandRow {
        pb::HandRow {
            table_id: table.to_string(),
            first_hand_no: number,
            last_hand_no: self.last.min(limit),
            outcome: outcome(self.outcome).into(),
            seed: self.seed_view().into(),
            suspended: self.suspension == Suspension::Now,
            was_suspended: self.suspension != Suspension::Never,
            withheld: self.withheld.iter().map(Withheld::view).collect(),
            position: self.ended.map_or(0, |(position, _)| position.0),
            end_time: self.ended.map(|(_, at)| wire::time::timestamp(at)),
        }
    }

    const fn seed_view(&self) -> pb::SeedState {
        if self.ended.is_none() {
            return pb::SeedState::Unspecified;
        }
        match self.seed {
            SeedState::Owed => pb::SeedState::Owed,
            SeedState::Opened => pb::SeedState::Opened,
            SeedState::Refused => pb::SeedState::Refused,
        }
    }
}

impl Withheld {
    fn view(&self) -> pb::WithheldEntropy {
        let Withheld { place, opened } = *self;
        let player_id = place.player.to_string();
        pb::WithheldEntropy { seat: place.seat, player_id, opened, bot: false }
    }
}

const fn outcome(outcome: Outcome) -> pb::HandOutcome {
    match outcome {
        Outcome::InPlay => pb::HandOutcome::InPlay,
        Outcome::Played => pb::HandOutcome::Played,
        Outcome::Burnt => pb::HandOutcome::Burnt,
        Outcome::Agreed => pb::HandOutcome::Agreed,
        Outcome::SuspendedTooLong => pb::HandOutcome::SuspendedTooLong,
        Outcome::Missing => pb::HandOutcome::Missing,
    }
}

fn seats(table: &TableHands) -> Vec<pb::SeatCounts> {
    let seats = table.seats.iter();
    seats
        .map(|(seat, counts)| pb::SeatCounts { seat: *seat, counts: Some(counts.view()) })
        .collect()
}
