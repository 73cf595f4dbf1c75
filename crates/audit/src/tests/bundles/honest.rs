//! Honest hands: settled as by tables of earlier builds, where nothing else is said, without legs
//! of 0 credits; those with such legs are named after them.

use std::collections::BTreeMap;

use crate::hand::HandVerdict;
use crate::tests::fixture::AnyRecord::{Dealer, Table, Wallet};
use crate::tests::fixture::{
    EntropyBehaviour, Entry, HandOptions, Suspension, SuspensionEnd, TableFixture,
};
use proto::event::v1::TableDisabled;
use proto::wallet::v1::TransferKind;
use rules::{RuleSet, SeedOpening, TableSettings};
use wire::{DealerRecord, TableRecord, WalletRecord};

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
    all.extend(kinds());
    all.push(golden("disabled-while-it-was-played", disabled_in_play().bundle(1), &[]));
    let mut enabled = earlier(TableFixture::seated(7, "dice", 3));
    enabled.disable(true);
    enabled.disable(false);
    enabled.enable(false);
    assert!(enabled.play());
    all.push(golden("of-a-table-that-was-disabled", enabled.bundle(2), &[]));
    all.extend(aborted());
    all.push(after_burnt_numbers());
    all.extend(zero_nets().into_iter().map(|(name, room)| golden(name, room.bundle(1), &[])));
    all
}

/// Plays a hand at whose end its table has been disabled: it is played to its end all the same.
fn disabled_in_play() -> TableFixture {
    let mut room = earlier(TableFixture::seated(7, "dice", 3));
    let is_end = |entry: &Entry| matches!(entry.recorded, Table(TableRecord::HandFinished(_)));
    let end = room.script.entries.iter().position(is_end).unwrap();
    let disabled = TableDisabled { reason: "a fault".to_owned(), with_game: true };
    let recorded = Table(disabled.into());
    let entry = Entry { recorded, ..room.script.entries[end].clone() };
    room.script.entries.insert(end, entry);
    room
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
        let Wallet(WalletRecord::TransferPosted(posted)) = &entry.recorded else {
            return None;
        };
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

fn with_settings(variant: &str, settings: TableSettings, ways: HandOptions) -> TableFixture {
    earlier(TableFixture::seated_with(40, variant, 3, settings).with_options(ways))
}

fn all_seats(behaviour: EntropyBehaviour) -> HandOptions {
    HandOptions { entropy: everybody(behaviour), ..HandOptions::default() }
}

fn seat_one(behaviour: EntropyBehaviour) -> HandOptions {
    HandOptions { entropy: BTreeMap::from([(1, behaviour)]), ..HandOptions::default() }
}

/// A dealer that falls silent after so many inputs of the rules, or before the antes.
pub(super) fn silent(after: Option<u32>, end: SuspensionEnd) -> HandOptions {
    HandOptions { suspension: Some(Suspension { after, end }), ..HandOptions::default() }
}

pub(super) fn delayed() -> TableSettings {
    TableSettings { reveal: SeedOpening::Delayed, ..TableSettings::default() }
}

fn kinds() -> Vec<Golden> {
    let alone = TableSettings { contributors_min: 0, ..TableSettings::default() };
    let nobody = with_settings("dice", alone, all_seats(EntropyBehaviour::Absent));
    let proved = |name, room: TableFixture| golden(name, room.bundle(1), &[]);
    vec![
        proved("nobody-takes-part", nobody).with_verdict(HandVerdict::Failed),
        proved("room-for-developers", {
            let settings =
                TableSettings { insecure_fixed_seed: 1, time_scale: 2, ..TableSettings::default() };
            with_settings("dice", settings, seat_one(EntropyBehaviour::Late))
        }),
        proved("everybody-reveals", played("force", 3, all_seats(EntropyBehaviour::Reveals))),
        proved("everybody-commits-late", played("spike", 2, all_seats(EntropyBehaviour::Late))),
        proved("some-take-part", played("electronic", 6, seat_one(EntropyBehaviour::Late))),
        proved("suspended-and-continued", {
            played("dice", 4, silent(Some(9), SuspensionEnd::Continued))
        }),
        proved("suspended-left-and-continued", {
            played("dice", 4, silent(Some(3), SuspensionEnd::LeftAndContinued))
        }),
        proved("suspended-leave-lapsed", {
            let silent = silent(Some(3), SuspensionEnd::LapsedAndContinued);
            let entropy = everybody(EntropyBehaviour::Reveals);
            played("dice", 4, HandOptions { entropy, ..silent })
        }),
        proved("suspended-leave-asked-again", {
            let silent = silent(Some(3), SuspensionEnd::AskedAgainAndContinued);
            let entropy = everybody(EntropyBehaviour::Reveals);
            played("dice", 4, HandOptions { entropy, ..silent })
        }),
        proved("records-up-to-the-limit", records_of_one_player(30)),
        proved("suspended-before-antes-and-continued", {
            played("eleven", 4, silent(None, SuspensionEnd::Continued))
        }),
        proved("delayed-reveal", with_settings("spike", delayed(), HandOptions::default())),
    ]
}

/// A first hand before which a player has sat out and in so often; they have three records more.
pub(super) fn records_of_one_player(times: u32) -> TableFixture {
    let mut room = TableFixture::seated(40, "dice", 2);
    (0..times).for_each(|_| room.toggle_sit_out(1));
    earlier(room)
}

/// Hands that came to nothing, or have not ended.
fn aborted() -> Vec<Golden> {
    let is = |verdict| {
        move |name, room: TableFixture| golden(name, room.bundle(1), &[]).with_verdict(verdict)
    };
    let broken_off = is(HandVerdict::BrokenOff);
    vec![
        broken_off("burnt-by-one", played("kessel", 4, seat_one(EntropyBehaviour::Withholds))),
        broken_off("burnt-and-opened-late", {
            played("kessel", 4, seat_one(EntropyBehaviour::OpensLate))
        }),
        broken_off("burnt-and-opened-late-by-some", {
            let late = [(1, EntropyBehaviour::OpensLate), (3, EntropyBehaviour::Withholds)];
            let options = HandOptions { entropy: BTreeMap::from(late), ..HandOptions::default() };
            played("force", 4, options)
        }),
        broken_off("burnt-by-all", {
            played("coruscant", 3, all_seats(EntropyBehaviour::Withholds))
        }),
        broken_off("agreed", played("dice", 5, silent(Some(7), SuspensionEnd::Agreed))),
        broken_off("left-and-agreed", {
            played("dice", 5, silent(Some(7), SuspensionEnd::LeftAndAgreed))
        }),
        broken_off("agreed-late", played("eleven", 4, silent(Some(12), SuspensionEnd::Agreed))),
        broken_off("agreed-delayed-reveal", {
            with_settings("spike", delayed(), silent(Some(9), SuspensionEnd::Agreed))
        }),
        broken_off("left-before-antes", played("swg", 5, silent(None, SuspensionEnd::Left))),
        broken_off("suspended-before-antes-too-long", {
            played("eleven", 2, silent(None, SuspensionEnd::TooLong))
        }),
        is(HandVerdict::Failed)("suspended-too-long", {
            played("force", 5, silent(Some(9), SuspensionEnd::TooLong))
        }),
        is(HandVerdict::NotFinished)("suspended-in-play", {
            played("dice", 3, silent(Some(9), SuspensionEnd::Open))
        })
        .incomplete(),
        is(HandVerdict::NotFinished)("suspended-with-secrets", {
            played("kessel", 3, silent(Some(30), SuspensionEnd::Open))
        })
        .incomplete(),
        is(HandVerdict::NotFinished)("suspended-before-antes", {
            played("force", 3, silent(None, SuspensionEnd::Open))
        })
        .incomplete(),
        is(HandVerdict::NotFinished)("seed-owed", seed_owed(0)).incomplete(),
        is(HandVerdict::Failed)("seed-overdue", seed_owed(3_700)).incomplete(),
    ]
}

/// A settled hand whose seed is not open, posted so many seconds after its settlement.
fn seed_owed(posted_after: u64) -> TableFixture {
    let mut room = played("dice", 3, HandOptions::default());
    let entries = &mut room.script.entries;
    entries.retain(|entry| {
        let opened = matches!(entry.recorded, Dealer(DealerRecord::SeedOpened(_)));
        !opened && !matches!(entry.recorded, Table(TableRecord::HandRevealed(_)))
    });
    let settled = |entry: &Entry| matches!(entry.recorded, Table(TableRecord::HandSettled(_)));
    let settled = entries.iter().position(settled).unwrap();
    for entry in &mut entries[settled + 1..] {
        entry.at = entry.at.plus(std::time::Duration::from_secs(posted_after));
    }
    room
}

/// A hand behind a played one and two burnt numbers.
fn after_burnt_numbers() -> Golden {
    let mut room = TableFixture::seated(41, "dice", 4);
    assert!(room.play());
    for seat in [1, 3] {
        room.options.entropy = BTreeMap::from([(seat, EntropyBehaviour::Withholds)]);
        assert!(room.play());
    }
    room.options.entropy = everybody(EntropyBehaviour::Reveals);
    assert!(room.play());
    golden("after-burnt-numbers", room.bundle(4), &[])
}
