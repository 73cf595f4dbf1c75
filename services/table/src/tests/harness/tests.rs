//! Cases of a table: given, when, then; with a crash after each append.

use std::time::Duration;

use fairness::{ClientCommitment, Entropy};
use primitives::SeatNo;
use prost::Message as _;
use proto::common::v1::ErrorReason;
use proto::dealer::v1::EntropyStatus;
use proto::event::v1::{self as event, AtFault};
use rules::{DecisionAuthor, Move};
use wire::TableRecord;

use super::{DEALER_TIMEOUT, Harness, Misbehaviour, player, secret};
use crate::batch::RuleInputs;
use crate::commands::Command;
use crate::effects::Effect;
use crate::hand_in_play::{Decision, HandStage};
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
    assert_eq!(table.event_names(from), ["HandStarted", "HandOpened", "EntropyClosed"]);
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
fn new_players_are_waited_for_once() {
    let mut table = three();
    table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
    assert!(table.run_effect(|effect| effect == Effect::Start));
    assert!(!table.event_names(0).contains(&"EntropyClosed"));
    assert!(
        !table.run_effect(|effect| matches!(
            effect,
            Effect::CloseEntropy { .. } | Effect::Seal { .. }
        ))
    );
    table.commit(1, 2);
    table.wait(EACH);
    assert!(table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no: 1 }));
    table.reveal(1, 2);
    assert!(table.run_effect(|effect| effect == Effect::Seal { hand_no: 1 }));
    let (revealed, absent) = (EntropyStatus::Revealed, EntropyStatus::Absent);
    assert_eq!(statuses(&table, 1), [(1, absent), (2, revealed), (4, absent)]);
    table.run_while(|table| table.state.table.hand_no == 1);
    // The next hand waits only for the player who took part, and then for nobody.
    assert!(table.state.table.entropy_round().unwrap().revealing.is_none());
    table.wait(EACH);
    table.run_while(|table| table.state.table.hand_no == 2);
    assert_eq!(table.state.table.entropy_round().unwrap().revealing, Some(Vec::new()));
    assert_eq!(table.state.table.absentees.len(), 3);
}

/// fairness/SPEC.md §3.3, §3.5.
#[test]
fn commitments_are_taken_once_and_in_time() {
    let mut table = three();
    let commitment = ClientCommitment([1; 32]);
    let commit = |hand_no, commitment| Command::CommitEntropy { hand_no, commitment };
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
fn silence_burns_the_number_and_sits_out() {
    let mut table = committed();
    table.run_effect(|effect| effect == Effect::Start);
    table.reveal(1, 1);
    table.wait(EACH);
    let from = table.log.len();
    assert!(table.run_effect(|effect| effect == Effect::Burn { hand_no: 1 }));
    let written = ["HandAborted", "HandFinished", "SitOutChanged", "SitOutChanged"];
    assert_eq!(table.event_names(from), written);
    assert_eq!((aborted(&table).at_fault(), aborted(&table).seats), (AtFault::Seat, vec![2, 4]));
    assert_eq!(stacks(&table), [1000, 1000, 1000]);
    assert_eq!(table.state.table.button, None);
    // The seed is opened all the same, and the next number is committed to.
    assert!(table.run_effect(|effect| effect == Effect::Reveal { hand_no: 1 }));
    assert!(table.dealer.opened[&1]);
    assert!(table.run_effect(|effect| effect == Effect::Commit { hand_no: 2 }));
    for number in [2, 4] {
        table.command(number, Command::SitOut { out: false, standing: None }).unwrap();
    }
    table.commit(2, 1);
    table.commit(2, 4);
    table.commit(2, 2);
    table.run_effect(|effect| effect == Effect::Start);
    table.wait(EACH);
    assert!(table.run_effect(|effect| effect == Effect::Burn { hand_no: 2 }));
    assert!(table.event_names(0).ends_with(&[
        "HandFinished",
        "SitOutChanged",
        "SitOutChanged",
        "SitOutChanged"
    ]));
    table.run_until_idle();
    let back = Command::SitOut { out: false, standing: None };
    for number in [2, 4] {
        assert_eq!(table.refusal(number, back.clone()).0, ErrorReason::Withheld);
    }
    // The player with a first time is back at once, and nobody else waits for the others.
    table.command(1, back).unwrap();
    table.sit(3);
    assert_eq!(table.pending_effects(), [Effect::Start]);
}

/// fairness/SPEC.md §3.4.
#[test]
fn nobody_sits_out_for_the_houses_trouble() {
    let mut table = committed();
    table.run_effect(|effect| effect == Effect::Start);
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

/// fairness/SPEC.md §3.11.
#[test]
fn void_hand_leaves_everything_as_it_was() {
    for decisions in 0..3 {
        let mut table = three();
        table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
        table.run_effect(|effect| effect == Effect::Start);
        table.wait(EACH);
        for _ in 0..decisions {
            let version =
                |table: &Harness| table.state.play.as_ref().map(|play| (play.stage, play.turn));
            let before = version(&table);
            table.run_while(|table| version(table) == before);
        }
        let void = |hand_no| Command::Void { hand_no, reason: "a fire".to_owned() };
        assert_eq!(table.refusal(1, void(2)).0, ErrorReason::HandUnknown);
        let from = table.log.len();
        table.command(1, void(1)).unwrap();
        assert_eq!(table.event_names(from), ["HandAborted", "HandFinished"]);
        assert_eq!(aborted(&table).evidence, "a fire");
        assert_eq!(stacks(&table), [1000, 1000, 1000]);
        assert_eq!(table.refusal(1, void(1)).0, ErrorReason::NotYourTurn);
        // The next hand does not wait for the seed.
        assert!(table.pending_effects().contains(&Effect::Reveal { hand_no: 1 }));
        table.run_effect(|effect| matches!(effect, Effect::Commit { .. }));
        assert!(table.run_effect(|effect| effect == Effect::Start));
        assert!(table.run_effect(|effect| effect == Effect::Reveal { hand_no: 1 }));
        assert!(table.dealer.opened[&1]);
    }
}

/// fairness/SPEC.md §3.11.
#[test]
fn silent_dealer_costs_the_hand() {
    let round = |table: &Harness| table.state.table.entropy_round().is_some();
    let before_the_deal =
        |table: &Harness| table.state.play.as_ref().is_none_or(|play| play.turn == 0);
    let stages: [&dyn Fn(&Harness) -> bool; 3] = [&|_| true, &round, &before_the_deal];
    for stage in stages {
        let mut table = three();
        table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
        table.run_effect(|effect| effect == Effect::Start);
        table.wait(EACH);
        table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no: 1 });
        table.run_while(|table| stage(table) && !table.event_names(0).contains(&"MoveDecided"));
        if table.state.play.as_ref().is_none_or(|play| play.stage == HandStage::Settled) {
            continue;
        }
        table.dealer.misbehaviour = Misbehaviour::Silent;
        table.run_until_idle();
        if table.state.play.is_none() {
            continue;
        }
        assert!(!table.pending_effects().contains(&Effect::Abandon { hand_no: 1 }));
        table.wait(DEALER_TIMEOUT);
        assert!(table.run_effect(|effect| effect == Effect::Abandon { hand_no: 1 }));
        assert_eq!(aborted(&table).at_fault(), AtFault::Dealer);
        assert!(aborted(&table).evidence.contains("is owed since"));
        assert_eq!(stacks(&table), [1000, 1000, 1000]);
        assert_eq!(table.state.table.closing, Closing::Open);
        table.dealer.misbehaviour = Misbehaviour::None;
        table.run_while(|table| table.state.table.hand_no == 1);
        table.run_effect(|effect| effect == Effect::Reveal { hand_no: 1 });
        assert!(table.dealer.opened[&1]);
    }
}

/// fairness/SPEC.md §3.7, §3.8, §3.11.
#[test]
fn dealer_who_contradicts_costs_the_table() {
    let misbehaviours = [
        (Misbehaviour::OtherTranscript, "transcript"),
        (Misbehaviour::OtherRoot, "root"),
        (Misbehaviour::NoRoot, "commitment to its cards"),
        (Misbehaviour::OtherCard, "root"),
        (Misbehaviour::NoProof, "proof"),
        (Misbehaviour::ShowsAnother, "root"),
        (Misbehaviour::NoSuchNumber, "not what it was asked for"),
        (Misbehaviour::Refuses, "refused"),
        (Misbehaviour::OtherSeed, "seed"),
    ];
    for (misbehaviour, evidence) in misbehaviours {
        let mut table = three();
        table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
        table.run_effect(|effect| effect == Effect::Start);
        table.wait(EACH);
        table.dealer.misbehaviour = misbehaviour;
        table.run_while(|table| table.state.table.hand.is_some());
        let aborted = aborted(&table);
        assert_eq!(aborted.at_fault(), AtFault::Dealer, "{misbehaviour:?}");
        assert!(aborted.evidence.contains(evidence), "{misbehaviour:?}: {}", aborted.evidence);
        assert_eq!(stacks(&table), [1000, 1000, 1000], "{misbehaviour:?}");
        assert_eq!(count(&table, "SettlementPosted"), 0, "{misbehaviour:?}");
        assert_eq!(count(&table, "HandAborted"), 1, "{misbehaviour:?}");
        table.dealer.misbehaviour =
            if misbehaviour == Misbehaviour::OtherSeed { misbehaviour } else { Misbehaviour::None };
        table.run_until_idle();
        // Everybody is paid out, and the seed is opened.
        assert_eq!(table.state.table.closing, Closing::Closed, "{misbehaviour:?}");
        assert!(table.state.table.seats.is_empty() && table.state.table.seeds.is_empty());
        assert_eq!(
            count(&table, "SeedRefused"),
            usize::from(misbehaviour == Misbehaviour::OtherSeed)
        );
        assert_eq!(table.state.table.hand_no, 1);
    }
}

/// fairness/SPEC.md §3.10.
#[test]
fn nothing_is_posted_before_the_seed_is_known_to_be_right() {
    let mut table = three();
    table.wait(EACH);
    table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
    table.run_effect(|effect| effect == Effect::Start);
    table.wait(EACH);
    table.run_while(|table| !table.event_names(0).contains(&"HandSettled"));
    let shown: Vec<u64> = table.state.view(None).seats.iter().map(|seat| seat.stack).collect();
    let settled = last(&table, |event| match event {
        TableRecord::HandSettled(settled) => Some(settled.clone()),
        _ => None,
    });
    assert_eq!(stacks(&table), [1000, 1000, 1000]);
    let mut finishing = settled.finishing_stacks.clone();
    finishing.sort_unstable();
    let mut sorted = shown.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, finishing);
    assert!(!table.run_effect(|effect| effect == Effect::Post { hand_no: 1 }));
    assert!(table.run_effect(|effect| effect == Effect::Reveal { hand_no: 1 }));
    let from = table.log.len();
    assert!(table.run_effect(|effect| effect == Effect::Post { hand_no: 1 }));
    assert_eq!(table.event_names(from), ["SettlementPosted", "HandFinished"]);
    assert_eq!(stacks(&table), shown);
    assert!(!table.dealer.opened[&1]);
}

/// fairness/SPEC.md §3.10.
#[test]
fn delayed_seeds_are_owed_over_later_hands_and_after_the_end() {
    let mut table = Harness::new("dice", |created| created.reveal_delay_seconds = 3600);
    table.wait(EACH);
    table.run_until_idle();
    table.wait(EACH);
    table.run_while(|table| table.state.table.hand_no < 4);
    assert_eq!(count(&table, "SettlementPosted"), 3);
    assert_eq!(count(&table, "HandRevealed"), 0);
    assert_eq!(table.state.table.seeds.len(), 4);
    table.command(1, Command::Close).unwrap();
    table.run_while(|table| table.state.table.closing != Closing::Closed);
    table.run_until_idle();
    assert_eq!(count(&table, "HandRevealed"), 0);
    table.wait(Duration::from_secs(3600));
    table.run_until_idle();
    assert_eq!(count(&table, "HandRevealed"), 4);
    assert!(table.state.table.seeds.is_empty());
}

/// fairness/SPEC.md §3.10.
#[test]
fn delayed_seed_that_is_another_disables_the_table() {
    let mut table = Harness::new("dice", |created| created.reveal_delay_seconds = 10);
    table.run_until_idle();
    table.wait(EACH);
    table.run_while(|table| table.state.table.hand_no < 2);
    table.dealer.misbehaviour = Misbehaviour::OtherSeed;
    table.wait(Duration::from_secs(10));
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
    table.command(2, Command::StandUp).unwrap();
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
            },
        )
        .unwrap();
    table.run_effect(|effect| effect == Effect::Fund { seat });
    assert_eq!(table.state.table.seat_of(player(3)), Some(seat));
    let commitment = table.commitment(1, 3);
    let refusal = table.refusal(3, Command::CommitEntropy { hand_no: 1, commitment });
    assert_eq!(refusal.0, ErrorReason::ChanceRefused);
    // Nobody waits for a player who cannot commit.
    table.run_effect(|effect| effect == Effect::Start);
    let closed = table.state.table.entropy_round().unwrap().revealing.clone().unwrap();
    assert_eq!(closed.iter().map(|seat| seat.get()).collect::<Vec<_>>(), [1, 4]);
    let entropy = secret(3);
    let refusal = table.refusal(3, Command::RevealEntropy { hand_no: 1, entropy });
    assert_eq!(refusal, (ErrorReason::ChanceRefused, Some("NOT_COMMITTED".to_owned())));
}

/// The lengths of records are public at once.
/// fairness/SPEC.md §18.1.
#[test]
fn the_length_of_a_record_does_not_tell_a_hidden_choice() {
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
        let decision = Decision { player, mv, author: DecisionAuthor::Player, at: table.now };
        let batch = play.decide(&table.state.table.config, decision).unwrap();
        let TableRecord::MoveDecided(decided) = &batch.events[0].1 else { panic!("a decision") };
        let mut bare = decided.clone();
        bare.padding = Default::default();
        (decided.encoded_len(), bare.encoded_len())
    };
    let (short, long) = (choose(&tokens[..3]), choose(&tokens[tokens.len() - 3..]));
    assert_ne!(short.1, long.1, "without padding they differ");
    assert_eq!((short.0, long.0), (320, 320));
}
