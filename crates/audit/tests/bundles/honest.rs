//! Honest hands.

use std::collections::BTreeMap;

use audit::specimen::{Part, Room, Void, Ways};
use proto::event::v1::AtFault;

use super::{Golden, golden};

/// Number of tables that are searched for a long hand.
const TABLES: u64 = 12;

pub(super) fn all() -> Vec<Golden> {
    let mut all = Vec::new();
    for variant in rules::ALL {
        let (least, most) = (*variant.seats.start(), *variant.seats.end());
        let mut short = Room::seated(100, variant.id, least.into());
        assert!(short.play());
        all.push(golden(format!("{}-short", variant.id), short.bundle(1), &[]));
        let tables = (0..TABLES).map(|number| {
            let mut room = Room::seated(number, variant.id, most.min(5).into());
            assert!(room.play());
            room
        });
        let long = tables.max_by_key(|room| room.records(1).hand.len()).unwrap();
        all.push(golden(format!("{}-long", variant.id), long.bundle(1), &[]));
    }
    // Later hands of a table, with what earlier ones left in the pots.
    let mut third = Room::seated(7, "swg", 4);
    assert!(third.play() && third.play() && third.play());
    all.push(golden("third-hand-of-a-table", third.bundle(3), &[]));
    all.extend(kinds().into_iter().map(|(name, room)| golden(name, room.bundle(1), &[])));
    all
}

/// Gives every seat one part in chance.
pub(super) fn everybody(part: Part) -> BTreeMap<u32, Part> {
    (1..=8).map(|seat| (seat, part)).collect()
}

fn played(variant: &str, seats: u32, ways: Ways) -> Room {
    let mut room = Room::seated(40, variant, seats).in_ways(ways);
    assert!(room.play());
    room
}

fn kinds() -> Vec<(&'static str, Room)> {
    let parts = |part| Ways { parts: everybody(part), ..Ways::default() };
    let abort = |fault, inputs| Ways { abort: Some((fault, inputs)), ..Ways::default() };
    let void = |void| Ways { void: Some(void), ..Ways::default() };
    let one = |part| Ways { parts: BTreeMap::from([(1, part)]), ..Ways::default() };
    vec![
        ("nobody-takes-part", played("dice", 4, parts(Part::Absent))),
        ("everybody-reveals", played("force", 3, parts(Part::Reveals))),
        ("everybody-commits-late", played("spike", 2, parts(Part::Late))),
        ("some-take-part", played("electronic", 6, one(Part::Late))),
        ("burnt-by-one", played("kessel", 4, one(Part::Withholds))),
        ("burnt-by-all", played("coruscant", 3, parts(Part::Withholds))),
        ("dealer-never-sealed", played("swg", 5, abort(AtFault::Dealer, None))),
        ("dealer-fell-silent", played("dice", 5, abort(AtFault::Dealer, Some(7)))),
        ("dealer-fell-silent-late", played("eleven", 4, abort(AtFault::Dealer, Some(20)))),
        ("void-before-antes", played("eleven", 2, abort(AtFault::Operator, None))),
        ("void-in-play", played("force", 5, abort(AtFault::Operator, Some(9)))),
        ("void-settled", played("spike", 3, void(Void::BeforeItsSeed))),
        ("void-settled-seed-open", played("dice", 3, void(Void::AfterItsSeed))),
        (
            "delayed-reveal",
            played("spike", 3, Ways { reveal_delay_seconds: 86_400, ..Ways::default() }),
        ),
    ]
}
