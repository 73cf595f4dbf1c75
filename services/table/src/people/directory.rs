//! How players are shown, and where they sit: one directory for all tables of a log.
//!
//! Tables know pseudonyms only, and what they keep of the past has no names in it. A name is put in
//! when somebody is told, so that from the moment a player is erased nobody is told it again,
//! whatever he resumes from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use primitives::{PlayerId, SeatNo, TableId};
use proto::event::v1 as event;
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use wire::Recorded;

use super::words::ERASED;
use crate::table::Table;

/// The directory. Clones are handles of the same.
#[derive(Clone, Default)]
pub struct Directory(Arc<RwLock<Inner>>);

#[derive(Default)]
struct Inner {
    shown: BTreeMap<PlayerId, Shown>,
    seats: BTreeMap<PlayerId, BTreeSet<TableId>>,
}

enum Shown {
    As(Arc<str>),
    Erased,
}

impl Directory {
    /// A player is shown under this name from now on; empty: under none.
    pub fn show(&self, player: PlayerId, name: &str) {
        self.write(|inner| inner.shown.insert(player, Shown::As(name.into())));
    }

    /// Nobody is told a player's name again.
    pub fn erase(&self, player: PlayerId) {
        self.write(|inner| inner.shown.insert(player, Shown::Erased));
    }

    /// Whether it is known here how a player is shown. Who never sat down since the start is not.
    #[must_use]
    pub fn knows(&self, player: PlayerId) -> bool {
        self.read(|inner| inner.shown.contains_key(&player))
    }

    /// How a player is shown; empty: under no name.
    #[must_use]
    pub fn name(&self, player: PlayerId) -> String {
        self.read(|inner| match inner.shown.get(&player) {
            Some(Shown::As(name)) => name.as_ref().to_owned(),
            Some(Shown::Erased) => ERASED.to_owned(),
            None => String::new(),
        })
    }

    /// Everybody who has a seat at a table that is taken up.
    pub fn seats(&self, table: &Table) {
        for seat in table.seats.values() {
            self.sits(seat.player, table.id);
        }
    }

    /// A table's event that is on record, which may take or free a seat; `table` is as it was before.
    pub fn moves(&self, table: &Table, event: &Recorded) {
        if let Recorded::SeatTaken(taken) = event {
            if let Ok(player) = PlayerId::try_from(&taken.player_id[..]) {
                self.sits(player, table.id);
            }
        } else if let Recorded::SeatVacated(event::SeatVacated { seat })
        | Recorded::SeatRefused(event::SeatRefused { seat, reason: _, text: _ }) = event
        {
            let seat = SeatNo::try_from(*seat).ok().and_then(|seat| table.seats.get(&seat));
            let Some(player) = seat.map(|seat| seat.player) else { return };
            self.write(|inner| {
                let Some(tables) = inner.seats.get_mut(&player) else { return };
                tables.remove(&table.id);
                if tables.is_empty() {
                    inner.seats.remove(&player);
                }
            });
        }
    }

    fn sits(&self, player: PlayerId, table: TableId) {
        self.write(|inner| inner.seats.entry(player).or_default().insert(table));
    }

    /// The tables that a player sits at.
    #[must_use]
    pub fn tables_of(&self, player: PlayerId) -> Vec<TableId> {
        self.read(|inner| {
            inner.seats.get(&player).map_or_else(Vec::new, |ids| ids.iter().copied().collect())
        })
    }

    /// Everybody who sits anywhere.
    #[must_use]
    pub fn seated(&self) -> Vec<PlayerId> {
        self.read(|inner| inner.seats.keys().copied().collect())
    }

    /// Puts the names into what a table is shown as.
    #[must_use]
    pub fn named(&self, mut view: pb::TableView) -> pb::TableView {
        view.seats.iter_mut().for_each(|seat| self.put(seat));
        view
    }

    /// Puts the name into an update, where it is about a seat.
    #[must_use]
    pub fn told(&self, mut what: What) -> What {
        if let What::Seat(pb::SeatChanged { seat: Some(seat), .. }) = &mut what {
            self.put(seat);
        }
        what
    }

    fn put(&self, seat: &mut pb::SeatView) {
        if let Ok(player) = PlayerId::try_from(&seat.player_id[..]) {
            seat.name = self.name(player);
        }
    }

    fn read<T>(&self, look: impl FnOnce(&Inner) -> T) -> T {
        look(&self.0.read().unwrap_or_else(PoisonError::into_inner))
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
        let seat = pb::SeatView { seat: 1, player_id: ONE.0.to_vec(), ..Default::default() };
        What::Seat(pb::SeatChanged { seat: Some(seat), vacated: true, your_standing: None })
    }

    fn told(directory: &Directory) -> String {
        let What::Seat(told) = directory.told(changed()) else { panic!("another update") };
        told.seat.unwrap().name
    }

    #[test]
    fn an_erased_name_is_told_to_nobody_again() {
        let directory = Directory::default();
        assert_eq!((told(&directory), directory.knows(ONE)), (String::new(), false));
        directory.show(ONE, "Lando");
        assert_eq!((told(&directory), directory.knows(ONE)), ("Lando".to_owned(), true));
        directory.erase(ONE);
        assert_eq!(told(&directory), "erased player");
        let seat = pb::SeatView { seat: 1, player_id: ONE.0.to_vec(), ..Default::default() };
        let view = pb::TableView { seats: vec![seat], ..Default::default() };
        assert_eq!(directory.named(view).seats[0].name, "erased player");
    }
}
