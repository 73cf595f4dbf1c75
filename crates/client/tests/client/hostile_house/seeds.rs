//! The house keeps a seed shut: of a hand that it would rather not have checked.

use client::{PartyAtFault, ViolationKind};
use proto::table::v1::watch_table_response::Message;

use super::*;
use crate::fake::message;

const OWN: Entropy = Entropy([0x66; 32]);
const ENDED: UnixMicros = UnixMicros(1_700_000_000_000_000);
const HOUR: Duration = Duration::from_secs(60 * 60);

impl Guest {
    fn send_at(&self, at: UnixMicros, what: What) {
        self.line.table().push_at(Some(wire::time::timestamp(at)), what);
    }
}

/// Something that says nothing of the hand.
fn quiet() -> What {
    What::Stopped(pb::StoppedChanged::default())
}

/// Plays the hand with a guest up to its deal.
async fn deal(room: &RoomFixture) -> Guest {
    let guest = room.seat_one().await;
    guest.send(What::Entropy(room.closed(&OWN)));
    room.until(|received| received.reveals.len() == 1).await;
    guest.send(What::HandStarted(room.started(&OWN)));
    guest
}

fn ended() -> What {
    What::HandEnded(pb::HandEnded { hand_no: HAND, ..pb::HandEnded::default() })
}

fn check_overdue(Caught { found, evidence }: Caught) {
    let overdue = (PartyAtFault::Dealer, ViolationKind::SeedOverdue);
    assert_eq!((found.party, found.kind), overdue);
    let has = |of: fn(&Statement) -> bool| statements(&evidence).iter().any(of);
    assert!(has(|it| matches!(it, Statement::Commitment { .. })), "the promise of the seed");
    assert!(has(|it| matches!(it, Statement::Closing { .. })), "what it was to be dealt from");
}

/// fairness/SPEC.md §15.3.
#[tokio::test]
async fn a_seed_that_stays_shut_is_distrusted() {
    let room = RoomFixture::new();
    let guest = deal(&room).await;
    guest.send_at(ENDED, ended());
    guest.send_at(ENDED.plus(HOUR), quiet());
    guest.send_at(ENDED.plus(HOUR).plus(Duration::from_micros(1)), quiet());
    check_overdue(guest.distrusts().await);
}

/// The table sends no time and nothing more, and keeps the stream open.
#[tokio::test]
async fn a_seed_that_stays_shut_is_distrusted_also_where_nothing_is_sent() {
    let room = RoomFixture::new();
    let guest = deal(&room).await;
    guest.send(ended());
    let heartbeat = || {
        let beat = Message::Heartbeat(pb::Heartbeat { server_time: None });
        guest.line.table().send(&message(beat, 0));
    };
    heartbeat();
    // The guest has received the end once it has kept that.
    let (path, player) = (guest.directory.path().to_owned(), guest.seat.player);
    let is_note = |entry: &Entry| matches!(entry, Entry::Note { .. });
    let kept = async {
        while !read(&path, player).iter().any(is_note) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LONGEST, kept).await.expect("the end is kept");
    room.clock.advance(HOUR + Duration::from_micros(1));
    heartbeat();
    check_overdue(guest.distrusts().await);
}
