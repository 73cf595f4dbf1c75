//! Honest hands: settled as by tables of earlier builds, where nothing else is said, without legs
//! of 0 credits; those with such legs are named after them.

use std::collections::BTreeMap;

use crate::tests::fixture::{EntropyBehaviour, HandOptions, TableFixture, VoidTime};
use proto::event::v1::AtFault;
use proto::wallet::v1::TransferKind;
use rules::RuleSet;
use wire::Recorded;

use super::{Golden, golden};

/// Number of tables that are searched for a long hand.
const TABLES: u64 = 12;

pub(super) fn all() -> Vec<Golden> {
    let mut all = Vec::new();
    for variant in rules::ALL {
        let (least, most) = (*variant.player_counts.start(), *variant.player_counts.end());
        let short = earlier(TableFixture::seated(100, variant.id, least.into()));
        all.push(golden(format!("{}-short", variant.id), short.bundle(1), &[]));
        let tables = (0..TABLES)
            .map(|number| earlier(TableFixture::seated(number, variant.id, most.min(5).into())));
        let long = tables.max_by_key(|room| room.records(1).hand.len()).unwrap();
        all.push(golden(format!("{}-long", variant.id), long.bundle(1), &[]));
    }
    // Later hands of a table, with what earlier ones left in the pots.
    let mut third = earlier(TableFixture::seated(7, "swg", 4));
    assert!(third.play() && third.play());
    all.push(golden("third-hand-of-a-table", third.bundle(3), &[]));
    all.extend(kinds().into_iter().map(|(name, room)| golden(name, room.bundle(1), &[])));
    all.extend(zero_nets().into_iter().map(|(name, room)| golden(name, room.bundle(1), &[])));
    all
}

/// Plays the first hand of a table whose settlements have no legs of 0 credits.
pub(super) fn earlier(room: TableFixture) -> TableFixture {
    let ways = HandOptions { without_zero_legs: true, ..room.options.clone() };
    let mut room = room.with_options(ways);
    assert!(room.play());
    room
}

/// Credits that each seat won or lost in the first hand.
fn nets(room: &TableFixture) -> Vec<i64> {
    let settled = room.script.entries.iter().find_map(|entry| {
        let Recorded::TransferPosted(posted) = &entry.recorded else { return None };
        (posted.kind() == TransferKind::Settlement).then_some(posted)
    });
    let seats = settled.unwrap().legs.iter().filter(|leg| leg.account.starts_with("seat/"));
    seats.map(|leg| leg.amount).collect()
}

/// Finds a table of so many seats, with no antes, whose first hand has such nets.
fn free(seats: u32, fits: impl Fn(&[i64]) -> bool) -> TableFixture {
    let rules = RuleSet::defaults(rules::variant("dice").unwrap()).canonical();
    let rules = rules.replace("hand_ante = 5", "hand_ante = 0");
    let rules = rules.replace("sabacc_ante = 5", "sabacc_ante = 0");
    let mut tables = (0..).map(|number| {
        let mut room = TableFixture::with_rules(number, rules.clone());
        (1..=seats).for_each(|seat| room.sit(seat, 2000));
        assert!(room.play());
        room
    });
    tables.find(|room| room.records(1).hand.len() < 60 && fits(&nets(room))).unwrap()
}

/// Makes a hand in which two players have a net of 0 and others have not.
pub(super) fn zero_net_of_two() -> TableFixture {
    free(4, |nets| nets.iter().filter(|net| **net == 0).count() == 2)
}

fn zero_nets() -> Vec<(&'static str, TableFixture)> {
    let mut one = TableFixture::seated(100, "dice", 2);
    assert!(one.play());
    vec![
        ("zero-net-of-one", one),
        ("zero-net-of-two", zero_net_of_two()),
        ("zero-net-of-all", free(3, |nets| nets == [0; 3])),
    ]
}

/// Gives every seat one part in chance.
pub(super) fn everybody(part: EntropyBehaviour) -> BTreeMap<u32, EntropyBehaviour> {
    (1..=8).map(|seat| (seat, part)).collect()
}

fn played(variant: &str, seats: u32, ways: HandOptions) -> TableFixture {
    earlier(TableFixture::seated(40, variant, seats).with_options(ways))
}

fn kinds() -> Vec<(&'static str, TableFixture)> {
    let all = |behaviour| HandOptions { entropy: everybody(behaviour), ..HandOptions::default() };
    let abort =
        |fault, inputs| HandOptions { abort: Some((fault, inputs)), ..HandOptions::default() };
    let void = |void| HandOptions { void: Some(void), ..HandOptions::default() };
    let one = |behaviour| HandOptions {
        entropy: BTreeMap::from([(1, behaviour)]),
        ..HandOptions::default()
    };
    vec![
        ("nobody-takes-part", played("dice", 4, all(EntropyBehaviour::Absent))),
        ("everybody-reveals", played("force", 3, all(EntropyBehaviour::Reveals))),
        ("everybody-commits-late", played("spike", 2, all(EntropyBehaviour::Late))),
        ("some-take-part", played("electronic", 6, one(EntropyBehaviour::Late))),
        ("burnt-by-one", played("kessel", 4, one(EntropyBehaviour::Withholds))),
        ("burnt-by-all", played("coruscant", 3, all(EntropyBehaviour::Withholds))),
        ("dealer-never-sealed", played("swg", 5, abort(AtFault::Dealer, None))),
        ("dealer-fell-silent", played("dice", 5, abort(AtFault::Dealer, Some(7)))),
        ("dealer-fell-silent-late", played("eleven", 4, abort(AtFault::Dealer, Some(20)))),
        ("void-before-antes", played("eleven", 2, abort(AtFault::Operator, None))),
        ("void-in-play", played("force", 5, abort(AtFault::Operator, Some(9)))),
        ("void-settled", played("spike", 3, void(VoidTime::BeforeItsSeed))),
        ("void-settled-seed-open", played("dice", 3, void(VoidTime::AfterItsSeed))),
        (
            "delayed-reveal",
            played(
                "spike",
                3,
                HandOptions { reveal_delay_seconds: 86_400, ..HandOptions::default() },
            ),
        ),
    ]
}
