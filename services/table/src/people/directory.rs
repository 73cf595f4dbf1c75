//! Directory of players' names, marks and tables: one for all tables of a log.
//!
//! Tables know pseudonyms only, and the events that they keep have no names in them. Names, and the
//! mark of a bot, are filled in when a message is sent. So from the moment a player is erased nobody gets their name
//! again, from whatever point they resume.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use primitives::{PlayerId, SeatNo, TableId};
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use wire::TableRecord;
use wire::records::{SeatEvent, TableSubject};

use super::text_checks::ERASED;
use crate::table::Table;

/// Names, marks and tables of players. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Directory(Arc<RwLock<Inner>>);

#[derive(Default)]
struct Inner {
    names: BTreeMap<PlayerId, DisplayName>,
    bots: BTreeSet<PlayerId>,
    seats: BTreeMap<PlayerId, BTreeSet<TableId>>,
}

enum DisplayName {
    Name(Arc<str>),
    Erased,
}

impl Directory {
    /// Shows a player under this name from now on; empty for no name.
    pub(crate) fn set_name(&self, player: PlayerId, name: &str) {
        self.write(|inner| inner.names.insert(player, DisplayName::Name(name.into())));
    }

    /// Hides a player's name from now on.
    pub(crate) fn erase(&self, player: PlayerId) {
        self.write(|inner| inner.names.insert(player, DisplayName::Erased));
    }

    /// Shows a player as a bot from now on, or not.
    pub(crate) fn set_bot(&self, player: PlayerId, bot: bool) {
        self.write(
            |inner| {
                if bot { inner.bots.insert(player) } else { inner.bots.remove(&player) }
            },
        );
    }

    /// Whether the house marks a player as a bot.
    #[must_use]
    pub(crate) fn is_bot(&self, player: PlayerId) -> bool {
        self.read(|inner| inner.bots.contains(&player))
    }

    /// Whether a player's name is known here. It is not for players who have not sat down since the
    /// start.
    #[must_use]
    pub(crate) fn is_known(&self, player: PlayerId) -> bool {
        self.read(|inner| inner.names.contains_key(&player))
    }

    /// Displayed name of a player; empty for none.
    #[must_use]
    pub(crate) fn name(&self, player: PlayerId) -> String {
        self.read(|inner| match inner.names.get(&player) {
            Some(DisplayName::Name(name)) => name.as_ref().to_owned(),
            Some(DisplayName::Erased) => ERASED.to_owned(),
            None => String::new(),
        })
    }

    /// Adds all seated players of a recovered table.
    pub(crate) fn add_seats(&self, table: &Table) {
        for seat in table.seats.values() {
            self.add_seat(seat.player, table.id);
        }
    }

    /// Follows a recorded event of a table, which may take or free a seat; `table` has not taken it
    /// yet.
    pub(crate) fn follow(&self, table: &Table, event: &TableRecord) {
        let TableSubject::Seat(event) = event.subject() else { return };
        match event {
            SeatEvent::SeatTaken(taken) => {
                if let Ok(player) = PlayerId::try_from(&taken.player_id[..]) {
                    self.add_seat(player, table.id);
                }
            }
            SeatEvent::SeatVacated(_) | SeatEvent::SeatRefused(_) => {
                let number = SeatNo::try_from(event.seat()).ok();
                if let Some(seat) = number.and_then(|number| table.seats.get(&number)) {
                    self.remove_seat(seat.player, table.id);
                }
            }
            SeatEvent::SeatFunded(_)
            | SeatEvent::LeaveAsked(_)
            | SeatEvent::CashOutDue(_)
            | SeatEvent::SitOutChanged(_)
            | SeatEvent::SeatRenamed(_)
            | SeatEvent::SeatExcluded(_)
            | SeatEvent::StandingFound(_) => {}
        }
    }

    fn remove_seat(&self, player: PlayerId, table: TableId) {
        self.write(|inner| {
            let Some(tables) = inner.seats.get_mut(&player) else { return };
            tables.remove(&table);
            if tables.is_empty() {
                inner.seats.remove(&player);
            }
        });
    }

    fn add_seat(&self, player: PlayerId, table: TableId) {
        self.write(|inner| inner.seats.entry(player).or_default().insert(table));
    }

    /// Tables at which a player sits.
    #[must_use]
    pub(crate) fn tables_of(&self, player: PlayerId) -> Vec<TableId> {
        self.read(|inner| {
            inner.seats.get(&player).map_or_else(Vec::new, |ids| ids.iter().copied().collect())
        })
    }

    /// Players who sit at any table.
    #[must_use]
    pub(crate) fn seated(&self) -> Vec<PlayerId> {
        self.read(|inner| inner.seats.keys().copied().collect())
    }

    /// Fills names and marks into a table's view.
    #[must_use]
    pub(crate) fn with_names(&self, mut view: pb::TableView) -> pb::TableView {
        view.seats.iter_mut().for_each(|seat| self.fill_name(seat));
        view
    }

    /// Fills name and mark into an update about a seat.
    #[must_use]
    pub(crate) fn with_name(&self, mut what: What) -> What {
        if let What::Seat(pb::SeatChanged { seat: Some(seat), .. }) = &mut what {
            self.fill_name(seat);
        }
        what
    }

    fn fill_name(&self, seat: &mut pb::SeatView) {
        if let Ok(player) = wire::field::player_id(&seat.player_id) {
            seat.name = self.name(player);
            seat.bot = self.is_bot(player);
        }
    }

    fn read<T>(&self, query: impl FnOnce(&Inner) -> T) -> T {
        query(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<T>(&self, change: impl FnOnce(&mut Inner) -> T) {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: PlayerId = PlayerId([1; 16]);

    fn changed() -> What {
        let seat = pb::SeatView { seat: 1, player_id: ONE.to_string(), ..Default::default() };
        What::Seat(pb::SeatChanged { seat: Some(seat), vacated: true, your_standing: None })
    }

    fn shown_name(directory: &Directory) -> String {
        let What::Seat(changed) = directory.with_name(changed()) else { panic!("another update") };
        changed.seat.unwrap().name
    }

    #[test]
    fn an_erased_name_is_shown_to_nobody_again() {
        let directory = Directory::default();
        assert_eq!((shown_name(&directory), directory.is_known(ONE)), (String::new(), false));
        directory.set_name(ONE, "Lando");
        assert_eq!((shown_name(&directory), directory.is_known(ONE)), ("Lando".to_owned(), true));
        directory.erase(ONE);
        assert_eq!(shown_name(&directory), "erased player");
        let seat = pb::SeatView { seat: 1, player_id: ONE.to_string(), ..Default::default() };
        let view = pb::TableView { seats: vec![seat], ..Default::default() };
        assert_eq!(directory.with_names(view).seats[0].name, "erased player");
    }

    #[test]
    fn a_mark_is_shown_until_it_is_cleared_whatever_the_name() {
        let directory = Directory::default();
        let is_marked = |directory: &Directory| {
            let What::Seat(changed) = directory.with_name(changed()) else { panic!("another") };
            changed.seat.unwrap().bot
        };
        assert!(!is_marked(&directory));
        directory.set_bot(ONE, true);
        directory.set_name(ONE, "a person");
        assert!(is_marked(&directory));
        directory.erase(ONE);
        assert!(is_marked(&directory));
        directory.set_bot(ONE, false);
        assert!(!is_marked(&directory));
    }
}
