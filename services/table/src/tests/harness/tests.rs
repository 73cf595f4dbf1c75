//! Cases of a table: given, when, then; with a crash after each append.

use std::time::Duration;

use fairness::{ClientCommitment, Entropy};
use primitives::SeatNo;
use prost::Message as _;
use proto::common::v1::{AbortCause, AtFault, EntropyStatus, ErrorReason};
use proto::event::v1 as event;
use rules::{DecisionAuthor, Move, SeedOpening};
use wire::TableRecord;

use super::{Harness, Misbehaviour, offer, player, secret, set, stand_up};
use crate::batch::RuleInputs;
use crate::commands::Command;
use crate::effects::Effect;
use crate::table::Closing;

const EACH: Duration = Duration::from_secs(2);

fn three() -> Harness {
    Harness::new("dice", |_| {})
}

/// A table with the dealer's commitment to the first hand, and one of each player.
fn committed() -> Harness {
    let mut table = three();
    assert!(table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 }));
    for number in [1, 2, 4] {
        table.commit(1, number);
    }
    table
}

fn statuses(table: &Harness, hand_no: u64) -> Vec<(u32, EntropyStatus)> {
    table.dealer.rows[&hand_no].iter().map(|row| (row.seat, row.status())).collect()
}

fn last<T>(table: &Harness, pick: impl Fn(&TableRecord) -> Option<T>) -> T {
    table.log.iter().rev().find_map(|(_, event, _)| pick(event)).unwrap()
}

fn aborted(table: &Harness) -> event::HandAborted {
    last(table, |event| match event {
        TableRecord::HandAborted(aborted) => Some(aborted.clone()),
        _ => None,
    })
}

fn stacks(table: &Harness) -> Vec<u64> {
    table.state.table.seats.values().map(|seat| seat.stack.get()).collect()
}

fn count(table: &Harness, name: &str) -> usize {
    table.event_names(0).iter().filter(|other| **other == name).count()
}

/// fairness/SPEC.md §3.4, §3.5, §3.7.
#[test]
fn an_event_of_a_hand_that_is_not_in_play_is_no_update() {
    let table = Harness::new("dice", |_| {});
    let hand = fairness::hand_id(table.state.table.id, 1);
    let events = [
        TableRecord::from(event::CardsMoved::default()),
        TableRecord::from(event::MoveDecided::default()),
        TableRecord::from(event::HandSettled::default()),
    ];
    for event in events {
        let mut state = table.state.clone();
        assert!(state.apply(hand.into(), &event, &mut RuleInputs::default(), table.now).is_err());
    }
}

#[test]
fn all_who_committed_and_revealed_are_in_the_seal() {
    let mut table = committed();
    let from = table.log.len();
    assert!(table.run_effect(|effect| effect == Effect::Start));
    assert_eq!(table.event_names(from), ["HandStarted", "HandOpened"]);
    // Nobody reveals before the dealer has signed what they have all committed to.
    let early = Command::RevealEntropy { hand_no: 1, entropy: secret(1) };
    assert_eq!(table.refusal(1, early).0, ErrorReason::ChanceRefused);
    assert!(table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no: 1 }));
    assert_eq!(table.event_names(from + 2), ["EntropyClosed"]);
    for number in [1, 2, 4] {
        assert!(!table.pending_effects().contains(&Effect::Seal { hand_no: 1 }));
        table.reveal(1, number);
    }
    assert!(table.run_effect(|effect| effect == Effect::Seal { hand_no: 1 }));
    let revealed = EntropyStatus::Revealed;
    assert_eq!(statuses(&table, 1), [(1, revealed), (2, revealed), (4, revealed)]);
    // A repeat is accepted, for players who do not know whether the first was received; other
    // content is not.
    let before = table.log.len();
    table.reveal(1, 2);
    assert_eq!(table.log.len(), before);
    let other = Command::RevealEntropy { hand_no: 1, entropy: Entropy([0; 32]) };
    assert_eq!(table.refusal(2, other).0, ErrorReason::ChanceRefused);
    let sealed = table.state.play.as_ref().unwrap().sealed.clone().unwrap();
    assert_eq!(sealed.rows, table.dealer.rows[&1]);
    assert_eq!(sealed.rows[1].entropy, secret(2).0);
    assert!(table.state.table.seat_commitments.is_empty());
    table.run_while(|table| table.state.table.hand.is_some());
    assert_eq!(count(&table, "HandFinished"), 1);
}

/// fairness/SPEC.md §3.4, §3.6.
#[test]
fn commitments_close_when_the_window_of_the_records_is_over() {
    let mut table = three();
    table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
    assert!(table.run_effect(|effect| effect == Effect::Start));
    table.commit(1, 2);
    table.wait(EACH - Duration::from_micros(1));
    let close = |effect| effect == Effect::CloseEntropy { hand_no: 1 };
    assert!(!table.run_effect(close));
    table.wait(Duration::from_micros(1));
    assert!(table.run_effect(close));
    table.reveal(1, 2);
    assert!(table.run_effect(|effect| effect == Effect::Seal { hand_no: 1 }));
    let (revealed, absent) = (EntropyStatus::Revealed, EntropyStatus::Absent);
    assert_eq!(statuses(&table, 1), [(1, absent), (2, revealed), (4, absent)]);
    // The next hand was committed to long ago, so it waits for nobody: not for a new player either,
    // once they have sat for as long as everybody may take.
    table.run_while(|table| table.state.table.hand_no == 1);
    table.wait(EACH);
    assert!(table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no: 2 }));
}

/// fairness/SPEC.md §3.4.
#[test]
fn no_hand_opens_on_fewer_commitments_than_the_least() {
    let mut table =
        Harness::new("dice", |created| set(created, |settings| settings.contributors_min = 2));
    table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
    table.commit(1, 1);
    table.wait(EACH * 100);
    assert!(!table.pending_effects().contains(&Effect::Start));
    table.commit(1, 4);
    assert!(table.pending_effects().contains(&Effect::Start));
}

/// A closing is signed once. After a crash nobody knows whether it was asked for.
/// fairness/SPEC.md §3.4.
#[test]
fn nothing_is_committed_once_the_closing_can_have_been_asked_for() {
    let commit = |table: &mut Harness| {
        let commitment = table.commitment(1, 4);
        table.refusal(4, offer(1, commitment)).1
    };
    let opened = || {
        let mut table = three();
        table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
        table.run_effect(|effect| effect == Effect::Start);
        table
    };
    let closed = Some("CLOSED".to_owned());
    let mut table = opened();
    table.wait(EACH);
    table.state.table.note_close_asked();
    assert_eq!(commit(&mut table), closed);
    let mut table = opened();
    table.wait(EACH);
    table.state.table.assume_close_asked(table.now);
    assert_eq!(commit(&mut table), closed);
    // Before the window is over it cannot have been.
    let mut table = opened();
    table.state.table.assume_close_asked(table.now);
    table.commit(1, 4);
}

/// fairness/SPEC.md §3.4.
#[test]
fn a_closing_of_something_else_is_not_taken() {
    for misbehaviour in [Misbehaviour::OtherClosing, Misbehaviour::OtherRows] {
        let mut table = committed();
        table.run_effect(|effect| effect == Effect::Start);
        table.dealer.misbehaviour = misbehaviour;
        table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no: 1 });
        assert!(!table.event_names(0).contains(&"EntropyClosed"));
    }
}

/// fairness/SPEC.md §3.3, §3.5.
#[test]
fn commitments_are_taken_once_and_in_time() {
    let mut table = three();
    let commitment = ClientCommitment([1; 32]);
    let commit = |hand_no, commitment| offer(hand_no, commitment);
    let chance = |why: &str| (ErrorReason::ChanceRefused, Some(why.to_owned()));
    assert_eq!(table.refusal(1, commit(1, commitment)), chance("DEALER_NOT_COMMITTED"));
    table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
    assert_eq!(table.refusal(3, commit(1, commitment)), (ErrorReason::NotYourSeat, None));
    table.commit(1, 1);
    assert_eq!(table.refusal(1, commit(1, commitment)), chance("COMMITTED_BEFORE"));
    table.run_effect(|effect| effect == Effect::Start);
    table.commit(1, 2);
    let reveal = |hand_no, number| Command::RevealEntropy { hand_no, entropy: secret(number) };
    assert_eq!(table.refusal(1, reveal(1, 1)), chance("NOT_CLOSED"));
    table.wait(EACH);
    table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no: 1 });
    assert_eq!(table.refusal(4, commit(1, commitment)), chance("CLOSED"));
    assert_eq!(table.refusal(4, reveal(1, 4)), chance("NOT_COMMITTED"));
    assert_eq!(table.refusal(1, reveal(2, 1)), chance("NOT_OPEN"));
    let before = table.log.len();
    let wrong = Command::RevealEntropy { hand_no: 1, entropy: Entropy([0; 32]) };
    assert_eq!(table.refusal(1, wrong), chance("DOES_NOT_OPEN"));
    assert_eq!(table.log.len(), before);
    table.reveal(1, 1);
    table.reveal(1, 1);
    assert_eq!(table.log.len(), before + 1);
}

/// fairness/SPEC.md §3.6.
#[test]
fn silence_burns_the_number_and_excludes() {
    let mut table = committed();
    table.run_effect(|effect| effect == Effect::Start);
    assert!(table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no: 1 }));
    table.reveal(1, 1);
    table.wait(EACH);
    let from = table.log.len();
    assert!(table.run_effect(|effect| effect == Effect::Burn { hand_no: 1 }));
    let excluded = ["SeatExcluded", "SitOutChanged", "SeatExcluded", "SitOutChanged"];
    assert_eq!(table.event_names(from), [&["HandAborted", "HandFinished"], &excluded[..]].concat());
    assert_eq!((aborted(&table).at_fault(), aborted(&table).seats), (AtFault::Seat, vec![2, 4]));
    assert_eq!(aborted(&table).cause(), AbortCause::Withheld);
    assert_eq!(stacks(&table), [1000, 1000, 1000]);
    assert_eq!(table.state.table.button, None);
    // The seed is opened all the same, and the next number is committed to.
    assert!(table.run_effect(|effect| effect == Effect::Reveal { hand_no: 1 }));
    assert!(table.dealer.opened[&1]);
    assert!(table.run_effect(|effect| effect == Effect::Commit { hand_no: 2 }));
    let back = Command::SitOut { out: false, standing: None };
    for number in [2, 4] {
        assert_eq!(table.refusal(number, back.clone()).0, ErrorReason::Withheld);
    }
    // Nobody else waits for them.
    table.sit(3);
    assert_eq!(table.pending_effects(), [Effect::Start]);
}

/// fairness/SPEC.md §3.4.
#[test]
fn nobody_sits_out_for_the_houses_trouble() {
    let mut table = committed();
    table.run_effect(|effect| effect == Effect::Start);
    assert!(table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no: 1 }));
    // The table was away while the deadline passed.
    table.wait(EACH * 10);
    table.listening_since = table.now;
    assert_eq!(table.pending_effects(), [Effect::Commit { hand_no: 2 }]);
    for number in [1, 2, 4] {
        table.reveal(1, number);
    }
    table.wait(EACH);
    assert!(table.run_effect(|effect| effect == Effect::Seal { hand_no: 1 }));
}

/// A table whose first hand is settled, with the stacks that viewers are shown.
fn settled() -> (Harness, Vec<u64>) {
    let mut table = three();
    table.wait(EACH);
    table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
    table.run_effect(|effect| effect == Effect::Start);
    table.wait(EACH);
    table.run_while(|table| !table.event_names(0).contains(&"HandSettled"));
    let shown = table.state.view(None).seats.iter().map(|seat| seat.stack_credits).collect();
    (table, shown)
}

/// fairness/SPEC.md §3.10.
#[test]
fn a_settlement_is_posted_whatever_its_seed_turns_out_to_be() {
    let (mut table, shown) = settled();
    assert_eq!(stacks(&table), [1000, 1000, 1000]);
    let from = table.log.len();
    assert!(table.run_effect(|effect| effect == Effect::Post { hand_no: 1 }));
    assert_eq!(table.event_names(from), ["SettlementPosted", "HandFinished"]);
    assert_eq!(stacks(&table), shown);
    assert!(table.run_effect(|effect| effect == Effect::Reveal { hand_no: 1 }));
    assert!(!table.dealer.opened[&1]);
}

/// fairness/SPEC.md §3.10.
#[test]
fn a_seed_that_is_another_undoes_nothing_and_ends_the_dealing() {
    for posted_first in [false, true] {
        let (mut table, shown) = settled();
        table.dealer.misbehaviour = Misbehaviour::OtherSeed;
        if posted_first {
            assert!(table.run_effect(|effect| effect == Effect::Post { hand_no: 1 }));
        }
        let from = table.log.len();
        assert!(table.run_effect(|effect| effect == Effect::Reveal { hand_no: 1 }));
        assert_eq!(table.event_names(from), ["SeedRefused", "CloseAsked"]);
        assert!(posted_first || table.run_effect(|effect| effect == Effect::Post { hand_no: 1 }));
        assert_eq!(stacks(&table), shown);
        table.run_until_idle();
        assert_eq!(table.state.table.closing, Closing::Closed);
        assert_eq!((count(&table, "HandAborted"), count(&table, "SettlementPosted")), (0, 1));
        assert!(table.state.table.seeds.is_empty() && table.state.table.hand_no == 1);
    }
}

/// fairness/SPEC.md §3.10.
#[test]
fn delayed_seeds_are_owed_over_later_hands_and_after_the_end() {
    let mut table = Harness::new("dice", |created| {
        set(created, |settings| settings.reveal = SeedOpening::Delayed)
    });
    for _ in 0..5 {
        table.wait(EACH);
        table.run_while(|table| table.state.table.hand_no < 4);
    }
    assert_eq!(count(&table, "SettlementPosted"), 3);
    assert_eq!(count(&table, "HandRevealed"), 0);
    assert_eq!(table.state.table.seeds.len(), 4);
    table.command(1, Command::Close).unwrap();
    table.run_while(|table| table.state.table.closing != Closing::Closed);
    table.run_until_idle();
    assert_eq!(count(&table, "HandRevealed"), 0);
    table.wait(Duration::from_secs(SeedOpening::DELAY_SECONDS.into()));
    table.run_until_idle();
    assert_eq!(count(&table, "HandRevealed"), 4);
    assert!(table.state.table.seeds.is_empty());
}

/// fairness/SPEC.md §3.10.
#[test]
fn delayed_seed_that_is_another_disables_the_table() {
    let mut table = Harness::new("dice", |created| {
        set(created, |settings| settings.reveal = SeedOpening::Delayed)
    });
    table.run_until_idle();
    table.wait(EACH);
    table.run_while(|table| table.state.table.hand_no < 2);
    table.dealer.misbehaviour = Misbehaviour::OtherSeed;
    table.wait(Duration::from_secs(SeedOpening::DELAY_SECONDS.into()));
    assert!(table.run_effect(|effect| effect == Effect::Reveal { hand_no: 1 }));
    assert!(table.event_names(0).ends_with(&["SeedRefused", "CloseAsked"]));
    assert_eq!(count(&table, "HandAborted"), 0);
}

#[test]
fn every_game_is_proved_to_the_last_card() {
    for variant in rules::ALL {
        let mut table = Harness::new(variant.id, |created| {
            created.seats = u32::from(*variant.player_counts.end()).min(8);
        });
        table.run_until_idle();
        table.wait(EACH);
        table.run_while(|table| table.state.table.hand_no < 2);
        assert_eq!(count(&table, "HandAborted"), 0, "{}", variant.id);
        assert_eq!(count(&table, "HandSettled"), 1, "{}: {:?}", variant.id, table.event_names(0));
        for (_, event, _) in &table.log {
            let cards = match event {
                TableRecord::CardsMoved(moved) => &moved.cards,
                TableRecord::CardsShown(shown) => &shown.cards,
                TableRecord::MoveDecided(decided) => &decided.cards,
                _ => continue,
            };
            for card in cards {
                assert_eq!(card.salt.len(), if card.card.is_empty() { 0 } else { 32 });
            }
        }
    }
}

/// fairness/SPEC.md §3.3.
#[test]
fn seat_that_is_taken_anew_has_not_committed() {
    let mut table = committed();
    table.command(2, stand_up()).unwrap();
    let seat = SeatNo::try_new(2).unwrap();
    assert!(table.run_effect(|effect| effect == Effect::PayOut { seat }));
    assert!(table.run_effect(|effect| effect == Effect::CashOut { seat }));
    table
        .command(
            3,
            Command::SitDown {
                seat: Some(seat),
                buy_in: primitives::Credits::of(500),
                funds: None,
                is_house: false,
            },
        )
        .unwrap();
    table.run_effect(|effect| effect == Effect::Fund { seat });
    assert_eq!(table.state.table.seat_of(player(3)), Some(seat));
    // The seat's former commitment does not count, and its new player makes another.
    table.wait(EACH);
    table.run_effect(|effect| effect == Effect::Start);
    let seats = |table: &Harness| {
        let round = table.state.table.entropy_round().unwrap();
        let seats = round.committed_seats(table.state.table.seat_commitments_of(1));
        seats.iter().map(|seat| seat.get()).collect::<Vec<_>>()
    };
    assert_eq!(seats(&table), [1, 4]);
    table.commit(1, 3);
    assert_eq!(seats(&table), [1, 2, 4]);
}

/// The lengths of records are public at once.
/// fairness/SPEC.md §18.1.
#[test]
fn the_length_of_a_record_does_not_reveal_a_hidden_choice() {
    let mut table = Harness::new("kessel", |created| {
        let chosen = created.rule_set.replace("tokens = \"random\"", "tokens = \"chosen\"");
        assert_ne!(chosen, created.rule_set);
        created.rule_set = chosen;
    });
    let due = |table: &Harness| table.state.play.as_ref().and_then(|play| play.to_act());
    for _ in 0..3 {
        table.wait(EACH);
        while due(&table).is_none() {
            let pending = table.pending_effects();
            if !pending.into_iter().any(|effect| table.run_effect(|other| other == effect)) {
                break;
            }
        }
    }
    let (play, player) = (table.state.play.as_ref().unwrap(), due(&table).unwrap());
    let mut tokens = rules::ShiftToken::ALL.to_vec();
    tokens.sort_by_key(|token| token.name().len());
    let choose = |tokens: &[rules::ShiftToken]| {
        let mv = Move::Choose(tokens.try_into().unwrap());
        let event = play.judge(player, mv, DecisionAuthor::Player).unwrap();
        let batch = play.record(event, Duration::ZERO, &[7; 64]);
        let TableRecord::MoveDecided(decided) = &batch.events[0].1 else { panic!("a decision") };
        let mut bare = decided.clone();
        bare.padding = Default::default();
        (decided.encoded_len(), bare.encoded_len())
    };
    let (short, long) = (choose(&tokens[..3]), choose(&tokens[tokens.len() - 3..]));
    assert_ne!(short.1, long.1, "without padding they differ");
    assert_eq!((short.0, long.0), (320, 320));
}
