//! Records that are chained, proved and signed, with events in them that no service writes.

use primitives::UnixMicros;
use proto::common::v1::MoveKind;
use proto::event::v1 as pb;
use wire::{DealerRecord, TableRecord, WalletRecord};

use super::{Hostile, Kind, honest};
use crate::hand::YEAR_10000;
use crate::tests::bundles::broken::the;
use crate::tests::bundles::honest::{delayed, silent};
use crate::tests::fixture::AnyRecord::{Dealer, Table, Wallet};
use crate::tests::fixture::{Entry, LogName, SuspensionEnd, TableFixture};

/// Letters that move a terminal's cursor, turn its text around or end its line.
const CONTROL: &str = "\u{1b}[2K\u{1b}[1A\r\n\u{7f}\u{9b}2J\u{202e}\u{2028}\u{2066}\u{85}\u{0}";

pub(super) fn all() -> Vec<Hostile> {
    let mut all = rules();
    all.extend(words());
    all.extend(times());
    all.extend(seats());
    all.extend(amounts());
    all.extend(gaps());
    all
}

/// The bundle of a room after `edit` has changed its records, which are chained and signed anew.
pub(super) fn bent(
    name: &str,
    mut room: TableFixture,
    edit: impl FnOnce(&mut Vec<Entry>),
) -> Hostile {
    edit(&mut room.script.entries);
    Hostile::new(Kind::Bundle, name, room.bundle(1).encode())
}

pub(super) fn of(name: &str, edit: impl FnOnce(&mut Vec<Entry>)) -> Hostile {
    bent(name, honest(), edit)
}

pub(super) fn agreed() -> TableFixture {
    played(silent(Some(6), SuspensionEnd::Agreed))
}

fn played(options: crate::tests::fixture::HandOptions) -> TableFixture {
    let mut room = TableFixture::seated(40, "dice", 3).with_options(options);
    assert!(room.play());
    room
}

pub(super) fn index_of(entries: &[Entry], name: &str) -> usize {
    entries.iter().position(|entry| entry.recorded.name() == name).unwrap()
}

/// Puts another text of the rules into the hand and its table.
fn with_rules(entries: &mut [Entry], edit: impl Fn(&str) -> String) {
    let rules = &mut the!(entries, Table(TableRecord::HandOpened)).rule_set;
    *rules = edit(rules);
    let rules = rules.clone();
    the!(entries, Table(TableRecord::TableCreated)).rule_set = rules;
}

fn with_settings(entries: &mut [Entry], edit: impl Fn(&str) -> String) {
    let settings = &mut the!(entries, Table(TableRecord::HandOpened)).settings;
    *settings = edit(settings);
    let settings = settings.clone();
    the!(entries, Table(TableRecord::TableCreated)).settings = settings;
}

/// Every player leaves at their first decision.
fn everybody_leaves(entries: &mut Vec<Entry>) {
    let first = index_of(entries, "MoveDecided");
    let mut left = entries[first].clone();
    entries.truncate(first);
    for seat in [1, 2] {
        if let Table(TableRecord::MoveDecided(it)) = &mut left.recorded {
            (it.seat, it.by_clock, it.bank_used_ms) = (seat, false, 0);
            it.cards.clear();
            it.signature.clear();
            let kind = MoveKind::Leave.into();
            it.r#move = Some(proto::common::v1::Move { kind, ..Default::default() });
        }
        entries.push(left.clone());
    }
}

fn rules() -> Vec<Hostile> {
    let rounds = |number: &'static str| {
        move |text: &str| text.replace("max_rounds = 12", &format!("max_rounds = {number}"))
    };
    let revealed = |number: &'static str| {
        move |text: &str| text.replace("reveal_ms = 2000", &format!("reveal_ms = {number}"))
    };
    vec![
        of("rules-of-many-rounds", |it| with_rules(it, rounds("9007199254740991"))),
        of("rules-of-many-rounds-and-nobody-left", |it| {
            everybody_leaves(it);
            with_rules(it, rounds("9007199254740991"));
        }),
        of("rules-of-1000-rounds-and-nobody-left", |it| {
            everybody_leaves(it);
            with_rules(it, rounds("1000"));
        }),
        of("rules-of-1001-rounds", |it| with_rules(it, rounds("1001"))),
        of("rules-of-no-rounds", |it| with_rules(it, rounds("0"))),
        of("rules-of-rounds-over-64-bits", |it| with_rules(it, rounds("18446744073709551617"))),
        of("rules-of-rounds-of-5000-digits", |it| {
            with_rules(it, |text| text.replace("= 12", &format!("= {}", "9".repeat(5000))));
        }),
        of("rules-without-a-text", |it| with_rules(it, |_| String::new())),
        of("rules-of-brackets", |it| {
            with_rules(it, |text| text.replace("= 12", &format!("= {}", "[".repeat(100_000))));
        }),
        of("rules-of-a-line-of-1-mb", |it| {
            with_rules(it, |text| text.to_owned() + &"x".repeat(1 << 20))
        }),
        of("rules-of-300000-lines", |it| {
            with_rules(it, |text| text.to_owned() + &"a=1\n".repeat(300_000))
        }),
        of("rules-ended-by-cr", |it| with_rules(it, |text| text.replace('\n', "\r\n"))),
        of("rules-with-control-characters", |it| with_rules(it, |text| text.to_owned() + CONTROL)),
        of("settings-without-a-text", |it| with_settings(it, |_| String::new())),
        bent(
            "settings-without-a-text-of-a-burnt-number",
            played(silent(None, SuspensionEnd::Left)),
            |it| with_settings(it, |_| String::new()),
        ),
        of("settings-of-a-delay-over-64-bits", |it| {
            with_settings(it, revealed("18446744073709551616"))
        }),
        of("settings-of-a-delay-of-5000-digits", |it| {
            with_settings(it, |text| text.replace("2000", &"9".repeat(5000)));
        }),
        of("settings-of-a-delay-over-64-bits-in-microseconds", |it| {
            with_settings(it, revealed("18446744073709551"));
        }),
        of("settings-of-300000-lines", |it| {
            with_settings(it, |text| text.to_owned() + &"a=1\n".repeat(300_000))
        }),
    ]
}

/// Words that are shown.
fn words() -> Vec<Hostile> {
    let line = format!("p1 wins main 999999{CONTROL}  settlement  passed");
    vec![
        of("words-in-a-settlement", |it| {
            the!(it, Table(TableRecord::HandSettled)).lines[0].text = line.clone();
        }),
        of("words-in-an-account", |it| {
            let settles = |it: &pb::TransferPosted| !it.hand_id.is_empty();
            the!(it, Wallet(WalletRecord::TransferPosted), settles).legs[0].account += CONTROL;
        }),
        of("words-in-a-table-name", |it| {
            the!(it, Table(TableRecord::TableCreated)).name = line.clone();
        })
        .good(),
        of("words-in-a-caller", |it| {
            the!(it, Dealer(DealerRecord::CardsOpened)).caller = line.clone();
        })
        .good(),
        of("words-in-a-card", |it| {
            the!(it, Table(TableRecord::CardsShown)).cards[0].card = CONTROL.to_owned();
        }),
        of("words-of-1-mb", |it| {
            the!(it, Table(TableRecord::HandSettled)).lines[0].text = "9".repeat(1 << 20);
        }),
        bent("words-in-the-evidence-of-an-abort", agreed(), |it| {
            the!(it, Table(TableRecord::HandAborted)).evidence = line.clone();
        })
        .good(),
        of("words-of-a-name-of-a-move", |it| {
            the!(it, Table(TableRecord::MoveDecided)).r#move.as_mut().unwrap().names =
                vec![CONTROL.to_owned(); 3];
        }),
    ]
}

fn times() -> Vec<Hostile> {
    let at = |name, kind: &'static str, time: u64| {
        of(name, move |it: &mut Vec<Entry>| {
            let index = index_of(it, kind);
            it[index].at = UnixMicros(time);
        })
    };
    let rest = |it: &mut [Entry], kind: &str, time: u64| {
        let from = index_of(it, kind);
        it[from..].iter_mut().for_each(|entry| entry.at = UnixMicros(time));
    };
    let late = || {
        let mut room = TableFixture::seated_with(40, "dice", 2, delayed());
        assert!(room.play());
        room
    };
    vec![
        at("times-commitment-at-the-end-of-time", "HandCommitted", u64::MAX),
        at("times-closing-at-0", "EntropyClosed", 0),
        at("times-decision-at-the-end-of-time", "MoveDecided", u64::MAX),
        at("times-settlement-at-the-end-of-time", "HandSettled", u64::MAX),
        at("times-transfer-at-the-end-of-time", "SettlementPosted", u64::MAX),
        at("times-transfer-in-the-year-9999", "SettlementPosted", YEAR_10000.0 - 1).good(),
        at("times-transfer-in-the-year-10000", "SettlementPosted", YEAR_10000.0),
        at("times-seed-at-the-end-of-time", "SeedOpened", u64::MAX),
        at("times-seed-at-0", "SeedOpened", 0),
        of("times-all-at-0", |it| it.iter_mut().for_each(|entry| entry.at = UnixMicros(0))),
        of("times-all-at-the-end-of-time", |it| rest(it, "TableCreated", u64::MAX)),
        bent("times-delayed-seed-over-64-bits", late(), |it| rest(it, "HandSettled", u64::MAX)),
        bent("times-suspended-over-64-bits", agreed(), |it| {
            let suspended = the!(it, Table(TableRecord::HandSuspended));
            (suspended.since_micros, suspended.until_micros) = (u64::MAX, u64::MAX);
        }),
        bent("times-suspended-before-its-time", agreed(), |it| {
            the!(it, Table(TableRecord::HandSuspended)).until_micros = 0;
        }),
        bent("times-deadline-over-64-bits", continued(), |it| {
            the!(it, Table(TableRecord::HandContinued)).deadline_micros = u64::MAX;
        }),
        of("times-bank-of-32-bits", |it| {
            the!(it, Table(TableRecord::MoveDecided)).bank_used_ms = u32::MAX;
        }),
    ]
}

fn continued() -> TableFixture {
    played(silent(Some(9), SuspensionEnd::Continued))
}

fn seats() -> Vec<Hostile> {
    let seat = |name, number: u32| {
        of(name, move |it: &mut Vec<Entry>| {
            the!(it, Table(TableRecord::MoveDecided)).seat = number;
        })
    };
    let roster = |name, edit: fn(&mut Vec<pb::RosterSeat>)| {
        of(name, move |it: &mut Vec<Entry>| {
            edit(&mut the!(it, Table(TableRecord::HandOpened)).roster);
        })
    };
    vec![
        seat("seats-move-of-seat-0", 0),
        seat("seats-move-of-seat-256", 256 + 1),
        seat("seats-move-of-the-last-seat", u32::MAX),
        of("seats-one-player-on-two", one_player_on_two_seats),
        roster("seats-one-player-on-two-in-the-roster", |it| {
            it[1].player_id = it[0].player_id.clone();
        }),
        roster("seats-same-seat-twice", |it| it[1].seat = it[0].seat),
        roster("seats-seat-0-in-the-roster", |it| it[0].seat = 0),
        roster("seats-seat-256-in-the-roster", |it| it[1].seat = 256),
        roster("seats-nobody-in-the-roster", Vec::clear),
        roster("seats-out-of-order-in-the-roster", |it| it.reverse()),
        roster("seats-short-player-in-the-roster", |it| it[0].player_id.truncate(15)),
        roster("seats-300-in-the-roster", |it| {
            *it = (0..300).map(|at| pb::RosterSeat { seat: at + 1, ..it[0].clone() }).collect();
        }),
        of("seats-entropy-of-seat-257", |it| {
            the!(it, Table(TableRecord::EntropyCommitted)).seat += 256;
        }),
        of("seats-rows-of-seat-257", |it| {
            the!(it, Table(TableRecord::HandSealed)).rows[0].seat += 256;
            the!(it, Dealer(DealerRecord::SeedSealed)).rows[0].seat += 256;
        }),
        of("seats-rows-of-nobody", |it| {
            the!(it, Table(TableRecord::HandSealed)).rows.clear();
            the!(it, Dealer(DealerRecord::SeedSealed)).rows.clear();
        }),
    ]
}

/// The second seat is the first seat's player's too, wherever either is named.
fn one_player_on_two_seats(entries: &mut Vec<Entry>) {
    let roster = the!(entries, Table(TableRecord::HandOpened)).roster.clone();
    let [first, second] = [0, 1].map(|at| roster[at].player_id.clone());
    let ids = [&first, &second].map(|id| primitives::PlayerId::try_from(&id[..]).unwrap());
    let given = |id: &mut bytes::Bytes| {
        if *id == second {
            *id = first.clone();
        }
    };
    let seats = |seats: &mut Vec<pb::RosterSeat>| {
        seats.iter_mut().for_each(|seat| given(&mut seat.player_id));
    };
    let rows = |rows: &mut Vec<proto::dealer::v1::EntropyRow>| {
        let its = rows.iter_mut().filter(|row| row.player_id == second);
        its.for_each(|row| row.player_id = first.to_vec());
    };
    for entry in entries {
        if let Table(TableRecord::SeatTaken(it)) = &mut entry.recorded {
            given(&mut it.player_id);
        } else if let Table(TableRecord::EntropyCommitted(it)) = &mut entry.recorded {
            given(&mut it.player_id);
        } else if let Table(TableRecord::HandOpened(it)) = &mut entry.recorded {
            seats(&mut it.roster);
        } else if let Table(TableRecord::HandFinished(it)) = &mut entry.recorded {
            seats(&mut it.seats);
        } else if let Table(TableRecord::HandSealed(it)) = &mut entry.recorded {
            rows(&mut it.rows);
        } else if let Dealer(DealerRecord::SeedSealed(it)) = &mut entry.recorded {
            rows(&mut it.rows);
        } else if let Wallet(WalletRecord::TransferPosted(it)) = &mut entry.recorded {
            for leg in &mut it.legs {
                leg.account = leg.account.replace(&ids[1].to_string(), &ids[0].to_string());
            }
        }
    }
}

fn amounts() -> Vec<Hostile> {
    let settles = |it: &pb::TransferPosted| !it.hand_id.is_empty();
    vec![
        of("amounts-stack-of-64-bits", |it| {
            the!(it, Table(TableRecord::HandOpened)).roster[0].stack = u64::MAX;
        }),
        of("amounts-stacks-that-overflow", |it| {
            let settled = the!(it, Table(TableRecord::HandSettled));
            settled.finishing_stacks = vec![u64::MAX, u64::MAX];
            settled.rake = u64::MAX;
        }),
        of("amounts-stacks-missing", |it| {
            the!(it, Table(TableRecord::HandSettled)).finishing_stacks.clear();
        }),
        of("amounts-stacks-of-strangers", |it| {
            the!(it, Table(TableRecord::HandSettled)).finishing_stacks = vec![7; 300];
        }),
        of("amounts-pots-of-64-bits", |it| {
            let finished = the!(it, Table(TableRecord::HandFinished));
            (finished.sabacc_pot, finished.carried_pot) = (u64::MAX, u64::MAX);
        }),
        of("amounts-legs-of-64-bits", |it| {
            let legs = &mut the!(it, Wallet(WalletRecord::TransferPosted), settles).legs;
            (legs[0].amount, legs[1].amount) = (i64::MIN, i64::MAX);
        }),
        of("amounts-no-legs", |it| {
            the!(it, Wallet(WalletRecord::TransferPosted), settles).legs.clear();
        }),
        of("amounts-bet-of-64-bits", |it| {
            the!(it, Table(TableRecord::MoveDecided)).r#move.as_mut().unwrap().amount_credits =
                u64::MAX;
        }),
        of("amounts-misses-of-strangers", |it| {
            the!(it, Table(TableRecord::HandFinished)).misses = vec![u32::MAX; 300];
        }),
        of("amounts-kind-of-transfer-unknown", |it| {
            the!(it, Wallet(WalletRecord::TransferPosted), settles).kind = -5;
        }),
        of("amounts-kind-of-move-unknown", |it| {
            the!(it, Table(TableRecord::MoveDecided)).r#move.as_mut().unwrap().kind = i32::MAX;
        }),
        of("amounts-turn-of-32-bits", |it| {
            the!(it, Table(TableRecord::MoveDecided)).turn = u32::MAX;
        }),
    ]
}

/// Parts that are missing or of another length.
fn gaps() -> Vec<Hostile> {
    vec![
        of("gaps-no-move", |it| the!(it, Table(TableRecord::MoveDecided)).r#move = None),
        of("gaps-no-commitment", |it| {
            the!(it, Dealer(DealerRecord::SeedCommitted)).commitment = None;
        }),
        of("gaps-no-commitment-at-the-table", |it| {
            the!(it, Table(TableRecord::HandCommitted)).commitment = None;
        }),
        of("gaps-no-closing", |it| the!(it, Table(TableRecord::EntropyClosed)).closing = None),
        of("gaps-no-closing-at-the-dealer", |it| {
            the!(it, Dealer(DealerRecord::CommitmentsClosed)).closing = None;
        }),
        of("gaps-no-operation", |it| the!(it, Table(TableRecord::ChanceUsed)).operation = None),
        of("gaps-no-result", |it| {
            the!(it, Dealer(DealerRecord::OperationPerformed)).result = None;
        }),
        of("gaps-no-opening", |it| the!(it, Dealer(DealerRecord::CardsOpened)).opening = None),
        of("gaps-operation-of-32-bits", |it| {
            let operation = &mut the!(it, Dealer(DealerRecord::OperationPerformed)).operation;
            operation.as_mut().unwrap().index = u32::MAX;
        }),
        of("gaps-card-at-the-last-position", |it| {
            let card = &mut the!(it, Table(TableRecord::CardsMoved)).cards[0];
            (card.op, card.position) = (u32::MAX, u32::MAX);
        }),
        of("gaps-seed-of-63-bytes", |it| {
            the!(it, Dealer(DealerRecord::SeedOpened)).seed.truncate(63);
            the!(it, Table(TableRecord::HandRevealed)).seed.truncate(63);
        }),
        of("gaps-no-seed", |it| {
            the!(it, Dealer(DealerRecord::SeedOpened)).seed.clear();
            the!(it, Table(TableRecord::HandRevealed)).seed.clear();
        }),
        of("gaps-entropy-of-31-bytes", |it| {
            the!(it, Table(TableRecord::EntropyRevealed)).entropy.truncate(31);
        }),
        of("gaps-commitment-of-33-bytes", |it| {
            the!(it, Table(TableRecord::EntropyCommitted)).commitment = vec![7; 33].into();
        }),
        of("gaps-key-of-31-bytes", |it| {
            the!(it, Table(TableRecord::EntropyCommitted)).key = vec![7; 31].into();
        }),
        of("gaps-key-of-small-order", |it| {
            the!(it, Table(TableRecord::EntropyCommitted)).key = vec![0; 32].into();
        }),
        of("gaps-transcript-of-1-byte", |it| {
            the!(it, Table(TableRecord::HandSealed)).transcript.truncate(1);
            the!(it, Dealer(DealerRecord::SeedSealed)).transcript.truncate(1);
        }),
        of("gaps-hand-without-an-id", |it| {
            the!(it, Table(TableRecord::HandStarted)).hand_id.clear();
        }),
        of("gaps-another-table", |it| {
            the!(it, Table(TableRecord::HandOpened)).table_id = vec![3; 16].into();
        }),
        of("gaps-number-of-64-bits", |it| {
            the!(it, Table(TableRecord::HandOpened)).hand_no = u64::MAX;
            the!(it, Table(TableRecord::HandStarted)).hand_no = u64::MAX;
        }),
        of("gaps-nothing-of-the-dealer", |it| it.retain(|entry| entry.log != LogName::Dealer)),
        of("gaps-nothing-of-the-table", |it| it.retain(|entry| entry.log != LogName::Table)),
        of("gaps-nothing-of-the-wallet", |it| it.retain(|entry| entry.log != LogName::Wallet)),
    ]
}
