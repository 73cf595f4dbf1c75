//! Seats take part in chance: what they bring is in the hand, silence burns it, and whatever ends a hand
//! before its time leaves everybody what he had.

use std::time::Duration;

use client::{Chance, Secret, Seen, Trust};
use fairness::{ClientCommitment, Entropy};
use primitives::{Credits, TableId};
use proto::common::v1::ErrorReason;
use proto::dealer::v1::EntropyStatus;
use proto::event::v1::AtFault;
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use rustix::process::Signal;
use wire::Recorded;

use crate::people::{Guest, Party, calm, operator};
use crate::place::{LONG, Place, Room};
use crate::records;

/// A table at which seats have so long.
async fn table(place: &Place, room: &Room, change: impl FnOnce(&mut pb::TableConfig)) -> TableId {
    let mut config = calm("chance");
    change(&mut config);
    operator(place, &room.url).create_table(config).await.unwrap()
}

/// The table, once it is as wanted.
async fn seen(
    guest: &Guest,
    table: TableId,
    wanted: impl Fn(&pb::TableView) -> bool,
) -> pb::TableView {
    let looked = async {
        loop {
            let view = guest.client.get_table(table).await.unwrap();
            if wanted(&view) {
                return view;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LONG, looked).await.expect("the table comes to that")
}

async fn sits(guest: &Guest, table: TableId, seat: u32) {
    let most = guest.client.get_table(table).await.unwrap().max_buy_in;
    guest.client.sit_down(table, seat, Credits::try_new(most).unwrap()).await.unwrap();
}

/// A guest who takes part, and keeps watch over the table.
struct Partner {
    guest: Guest,
    table: TableId,
    chance: Chance,
    watch: client::Watch,
}

impl Partner {
    fn new(guest: &Guest, table: TableId, trust: Trust) -> Partner {
        let secret = Secret::new([guest.id.bytes()[15]; 32]);
        let chance = Chance::new(Some(guest.id), secret, trust);
        let watch = guest.client.watch(table);
        Partner { guest: guest.clone(), table, chance, watch }
    }

    /// Takes part until this is told.
    async fn until(&mut self, wanted: impl Fn(&What) -> bool) -> What {
        let told = async {
            loop {
                let seen = self.watch.next().await.unwrap().expect("the table goes on");
                self.chance.see(&seen).unwrap();
                self.guest.client.take_part(self.table, &mut self.chance).await.unwrap();
                if let Seen::Update(update) = seen
                    && let Some(what) = update.what.filter(&wanted)
                {
                    return what;
                }
            }
        };
        tokio::time::timeout(LONG, told).await.expect("the table comes to that")
    }
}
