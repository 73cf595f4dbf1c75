//! Hands that stand still because the dealer is silent, and the ways in which they end.

use std::collections::BTreeSet;
use std::time::Duration;

use fairness::{Chain, DecisionStatement, PlayerKey, SignedText as _};
use primitives::UnixMicros;
use proto::common::v1::{AbortCause, AtFault, ErrorReason, Move, MoveKind};
use proto::event::v1 as event;
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use rules::SeedOpening;
use wire::TableRecord;

use super::{DEALER_TIMEOUT, Harness, Misbehaviour, player, set, signing_key, stand_up};
use crate::commands::{Command, DecisionRequest, OfferedCommitment};
use crate::effects::Effect;
use crate::hand_in_play::HandStage;
use crate::table::Closing;

pub(super) const HOURS: Duration = Duration::from_secs(2 * 3600);
const SIT_OUT: Command = Command::SitOut { out: true, standing: None };

/// A step at which the dealer falls silent.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Closing,
    Seal,
    FirstChance,
    ChanceAfterDecisions,
    /// The cards shown at the end: whoever sees all cards knows who has won.
    Showdown,
}

const DEALT: [Step; 3] = [Step::FirstChance, Step::ChanceAfterDecisions, Step::Showdown];
const STEPS: [Step; 5] =
    [Step::Closing, Step::Seal, Step::FirstChance, Step::ChanceAfterDecisions, Step::Showdown];

pub(super) fn has(table: &Harness, name: &str) -> bool {
    table.event_names(0).contains(&name)
}

fn has_reached(table: &Harness, step: Step) -> bool {
    let Some(play) = table.state.play.as_ref() else { return false };
    let chance_is_due = play.stage == HandStage::Playing && play.replay.hand.due().is_some();
    match step {
        Step::Closing => table.pending_effects().contains(&Effect::CloseEntropy { hand_no: 1 }),
        Step::Seal => table.pending_effects().contains(&Effect::Seal { hand_no: 1 }),
        Step::FirstChance => chance_is_due,
        Step::ChanceAfterDecisions => chance_is_due && has(table, "MoveDecided"),
        Step::Showdown => table.pending_effects().contains(&Effect::Settle { hand_no: 1 }),
    }
}

/// A table of three whose first hand has come to this step. Players 1 and 2 have keys.
fn at(step: Step, change: impl FnOnce(&mut event::TableCreated)) -> Harness {
    let mut table = Harness::new("dice", change);
    assert!(table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 }));
    for number in [1, 2, 4] {
        let commitment = table.commitment(1, number);
        let key = signing_key(number).verifying_key().to_bytes();
        let key = (number != 4).then(|| PlayerKey::try_new(key).unwrap());
        let offered = OfferedCommitment { commitment, key };
        table.command(number, Command::CommitEntropy { hand_no: 1, offered }).unwrap();
    }
    assert!(table.run_effect(|effect| effect == Effect::Start));
    if step != Step::Closing {
        assert!(table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no: 1 }));
        for number in [1, 2, 4] {
            table.reveal(1, number);
        }
    }
    table.run_while(|table| !has_reached(table, step));
    assert!(has_reached(&table, step), "{step:?}: {:?}", table.event_names(0));
    table
}

fn suspend(table: &mut Harness, misbehaviour: Misbehaviour) {
    table.dealer.misbehaviour = misbehaviour;
    table.run_until_idle();
    table.wait(DEALER_TIMEOUT.saturating_sub(Duration::from_micros(1)));
    assert!(!table.pending_effects().contains(&Effect::Suspend { hand_no: 1 }));
    table.wait(Duration::from_micros(1));
    let from = table.log.len();
    assert!(table.run_effect(|effect| effect == Effect::Suspend { hand_no: 1 }));
    assert_eq!(table.event_names(from), ["HandSuspended"]);
}

/// A table whose first hand is suspended at this step.
fn suspended(step: Step) -> Harness {
    let mut table = at(step, |_| {});
    suspend(&mut table, Misbehaviour::Silent);
    table
}

fn stacks(table: &Harness) -> Vec<u64> {
    table.state.table.seats.values().map(|seat| seat.stack.get()).collect()
}

pub(super) fn aborted(table: &Harness) -> event::HandAborted {
    let aborted = table.log.iter().rev().find_map(|(_, event, _)| match event {
        TableRecord::HandAborted(aborted) => Some(aborted.clone()),
        _ => None,
    });
    aborted.unwrap()
}

/// Checks that the hand is over without a trace in the credits, and the table plays on.
fn is_aborted(table: &mut Harness, cause: AbortCause, from: usize) {
    assert_eq!(table.event_names(from), ["HandAborted", "HandFinished"]);
    let aborted = aborted(table);
    assert_eq!((aborted.cause(), aborted.at_fault()), (cause, AtFault::Dealer));
    assert!(aborted.seats.is_empty() && aborted.evidence.contains("owed by the dealer since"));
    assert!(stacks(table).iter().all(|stack| *stack == 1000));
    assert!(table.state.table.sabacc_pot.is_zero() && table.state.table.button.is_none());
    assert_eq!(table.state.table.closing, Closing::Open);
    // The seed is opened all the same.
    table.dealer.misbehaviour = Misbehaviour::None;
    assert!(table.run_effect(|effect| effect == Effect::Reveal { hand_no: 1 }));
    assert!(table.dealer.opened[&1]);
}

pub(super) fn ends(table: &mut Harness) -> bool {
    table.run_effect(|effect| effect == Effect::EndSuspended { hand_no: 1 })
}

fn chain(table: &Harness) -> Chain {
    Chain(table.state.view(None).hand.unwrap().chain.try_into().unwrap())
}

/// Agreement of a player to end the hand, signed by who has a key.
fn void(table: &Harness, number: u8) -> Command {
    let play = table.state.play.as_ref().unwrap();
    let line = format!("{} void", play.player(player(number)).unwrap());
    let chain = &chain(table).with(false, &line);
    let statement = DecisionStatement { context: &play.context, chain, said: &line };
    let signed = number != 4;
    let signature = if signed { statement.sign(&signing_key(number)).to_vec() } else { Vec::new() };
    act(table, MoveKind::Void, signature)
}

pub(super) fn act(table: &Harness, kind: MoveKind, signature: Vec<u8>) -> Command {
    let turn = table.state.play.as_ref().map_or(0, |play| play.turn);
    let mv = Move { kind: kind.into(), ..Move::default() };
    Command::Act(DecisionRequest { hand_no: 1, turn, mv, signature })
}

/// Players to whom ending the hand is shown as a legal move.
fn voters(table: &Harness) -> BTreeSet<u8> {
    let may = |number: &u8| {
        let turn = table.state.view(Some(player(*number))).hand.and_then(|hand| hand.turn);
        let legal = turn.map_or(Vec::new(), |turn| turn.legal);
        legal.iter().any(|legal| legal.kind() == MoveKind::Void)
    };
    assert!(!may(&9));
    [1, 2, 4].into_iter().filter(may).collect()
}

fn suspension_updates(table: &Harness, viewer: u8) -> Vec<pb::SuspensionChanged> {
    let mut publisher = crate::publish::Publisher::new(table.state.table.id, Default::default());
    for past in &table.published {
        publisher.remember(past.duplicate());
    }
    let first = table
        .published
        .iter()
        .position(|past| matches!(past.kind, crate::publish::PublishedKind::HandStarted { .. }));
    let from = first.map_or(0, |first| table.published[first].sequence - 1);
    let updates = publisher.updates_since(Some(player(viewer)), from).unwrap();
    let update = |message: pb::WatchTableResponse| match message.message {
        Some(pb::watch_table_response::Message::Update(update)) => update.what,
        _ => None,
    };
    let changed = |what| if let What::Suspension(changed) = what { Some(changed) } else { None };
    updates.into_iter().filter_map(update).filter_map(changed).collect()
}

/// fairness/SPEC.md §3.11.
#[test]
fn a_silent_dealer_suspends_the_hand_at_every_step_and_it_goes_on_from_the_same_seed() {
    for step in STEPS {
        let mut straight = at(step, |_| {});
        let mut table = suspended(step);
        // The time over which the dealer may be away is for the settings alone.
        table.wait(HOURS.saturating_sub(DEALER_TIMEOUT));
        table.run_until_idle();
        assert!(!has(&table, "HandAborted"));
        table.dealer.misbehaviour = Misbehaviour::None;
        let from = table.log.len();
        for table in [&mut straight, &mut table] {
            table.run_while(|table| !table.event_names(0).contains(&"HandFinished"));
        }
        let of_hand = |name: &&str| *name != "HandCommitted";
        assert_eq!(table.event_names(from).into_iter().find(of_hand), Some("HandContinued"));
        assert_eq!(table.event_names(0).iter().filter(|it| **it == "HandContinued").count(), 1);
        assert!(!has(&table, "HandAborted"), "{step:?}");
        assert_eq!(stacks(&table), stacks(&straight), "{step:?}");
    }
}

/// fairness/SPEC.md §3.7, §3.8, §3.11.
#[test]
fn an_answer_that_does_not_check_is_no_answer() {
    let misbehaviours = [
        (Step::Seal, Misbehaviour::OtherTranscript),
        (Step::FirstChance, Misbehaviour::OtherRoot),
        (Step::FirstChance, Misbehaviour::NoRoot),
        (Step::FirstChance, Misbehaviour::OtherCard),
        (Step::FirstChance, Misbehaviour::NoProof),
        (Step::FirstChance, Misbehaviour::Refuses),
        (Step::ChanceAfterDecisions, Misbehaviour::NoSuchNumber),
        (Step::Showdown, Misbehaviour::ShowsAnother),
    ];
    for (step, misbehaviour) in misbehaviours {
        let mut table = at(step, |_| {});
        let before = stacks(&table);
        suspend(&mut table, misbehaviour);
        assert!(table.state.table.stops.is_empty(), "{misbehaviour:?}");
        assert_eq!((stacks(&table), table.state.table.closing.clone()), (before, Closing::Open));
        table.dealer.misbehaviour = Misbehaviour::None;
        table.run_while(|table| !table.event_names(0).contains(&"HandFinished"));
        assert!(has(&table, "HandContinued") && has(&table, "HandSettled"), "{misbehaviour:?}");
    }
}

#[test]
fn the_rooms_own_absence_and_delay_are_not_the_dealers_silence() {
    let mut table = at(Step::FirstChance, |_| {});
    table.dealer.misbehaviour = Misbehaviour::Silent;
    table.wait(DEALER_TIMEOUT * 10);
    table.listening_since = table.now;
    assert!(!table.pending_effects().contains(&Effect::Suspend { hand_no: 1 }));
    table.room_delay = Duration::from_secs(3);
    table.wait(DEALER_TIMEOUT + Duration::from_secs(2));
    assert!(!table.pending_effects().contains(&Effect::Suspend { hand_no: 1 }));
    table.wait(Duration::from_secs(1));
    assert!(table.pending_effects().contains(&Effect::Suspend { hand_no: 1 }));
}

#[test]
fn everybody_is_notified_and_nothing_but_void_is_decided() {
    let mut table = suspended(Step::ChanceAfterDecisions);
    let shown = table.state.view(None).hand.unwrap().suspension.unwrap();
    let suspended = table.log.iter().find_map(|(_, event, at)| match event {
        TableRecord::HandSuspended(suspended) => Some((*suspended, *at)),
        _ => None,
    });
    let (event, at) = suspended.unwrap();
    assert_eq!(event.until_micros, at.plus(HOURS).0);
    assert_eq!(at.since(UnixMicros(event.since_micros)), DEALER_TIMEOUT);
    let until = wire::time::timestamp(UnixMicros(event.until_micros));
    assert_eq!((shown.end_time, shown.agreed), (Some(until), Vec::new()));
    let updates = suspension_updates(&table, 1);
    let turn = updates[0].turn.clone().unwrap();
    assert_eq!((updates.len(), turn.legal.len(), turn.deadline), (1, 1, None));
    for number in [1, 2, 4] {
        let other = act(&table, MoveKind::Check, Vec::new());
        assert_eq!(table.refusal(number, other).0, ErrorReason::HandSuspended);
    }
    table.dealer.misbehaviour = Misbehaviour::None;
    let from = table.log.len();
    table.run_while(|table| table.state.play.as_ref().unwrap().to_act().is_none());
    assert_eq!(table.event_names(from)[0], "HandContinued");
    assert_eq!(table.state.view(None).hand.unwrap().suspension, None);
    let updates = suspension_updates(&table, 1);
    assert!(updates.len() == 2 && updates[1].suspension.is_none() && updates[1].turn.is_none());
    // The next decision has a whole clock.
    let play = table.state.play.as_ref().unwrap();
    let (deadline, _) = play.deadline(&table.state.table.config).unwrap();
    assert_eq!(deadline.since(table.now), Duration::from_secs(50));
    let void = act(&table, MoveKind::Void, Vec::new());
    assert_eq!(table.refusal(1, void).0, ErrorReason::IllegalMove);
}

/// fairness/SPEC.md §3.11, §9.6.
#[test]
fn a_hand_ends_when_every_live_player_has_agreed_and_not_before() {
    for step in DEALT {
        let mut table = suspended(step);
        assert_eq!(voters(&table), BTreeSet::from([1, 2, 4]), "{step:?}");
        assert_eq!(
            table.refusal(9, act(&table, MoveKind::Void, Vec::new())).0,
            ErrorReason::NotYourSeat
        );
        let unsigned = act(&table, MoveKind::Void, Vec::new());
        assert_eq!(table.refusal(1, unsigned).0, ErrorReason::SignatureNeeded);
        let of_another = void(&table, 2);
        assert_eq!(table.refusal(1, of_another).0, ErrorReason::SignatureInvalid);
        for (number, left) in [(1, vec![2, 4]), (4, vec![2]), (2, vec![])] {
            assert!(!ends(&mut table));
            let from = table.log.len();
            let void = void(&table, number);
            table.command(number, void.clone()).unwrap();
            assert_eq!(table.event_names(from), ["MoveDecided"]);
            assert_eq!(table.refusal(number, void).0, ErrorReason::IllegalMove);
            assert_eq!(voters(&table), left.into_iter().collect());
        }
        let agreed = table.state.view(None).hand.unwrap().suspension.unwrap().agreed;
        assert_eq!(agreed, [1, 2, 4]);
        let from = table.log.len();
        assert!(ends(&mut table));
        is_aborted(&mut table, AbortCause::Agreed, from);
    }
}

#[test]
fn what_was_agreed_is_forgotten_when_the_dealer_is_back() {
    let mut table = suspended(Step::FirstChance);
    for number in [1, 2] {
        let void = void(&table, number);
        table.command(number, void).unwrap();
    }
    table.dealer.misbehaviour = Misbehaviour::None;
    table.run_while(|table| table.state.play.as_ref().unwrap().turn == 0);
    table.run_while(|table| !has_reached(table, Step::ChanceAfterDecisions));
    suspend(&mut table, Misbehaviour::Silent);
    assert_eq!(voters(&table), BTreeSet::from([1, 2, 4]));
    let void = void(&table, 4);
    table.command(4, void).unwrap();
    assert!(!ends(&mut table));
    // The lines stay in the chain, and the hand can be played to its end.
    table.dealer.misbehaviour = Misbehaviour::None;
    table.run_while(|table| !table.event_names(0).contains(&"HandFinished"));
    assert!(has(&table, "HandSettled"));
}

/// fairness/SPEC.md §3.11.
#[test]
fn whoever_leaves_a_suspended_hand_is_not_live_and_holds_nobody_up() {
    let mut table = suspended(Step::ChanceAfterDecisions);
    let agreed = void(&table, 1);
    table.command(1, agreed).unwrap();
    table.command(4, stand_up()).unwrap();
    assert_eq!(voters(&table), BTreeSet::from([2]));
    let refused = void(&table, 4);
    assert_eq!(table.refusal(4, refused).0, ErrorReason::IllegalMove);
    assert!(!ends(&mut table));
    let agreed = void(&table, 2);
    table.command(2, agreed).unwrap();
    let from = table.log.len();
    assert!(ends(&mut table));
    is_aborted(&mut table, AbortCause::Agreed, from);
}

#[test]
fn leaving_ends_a_hand_that_all_others_have_agreed_to_end_and_no_hand_that_nobody_has() {
    let mut table = suspended(Step::ChanceAfterDecisions);
    for number in [1, 2] {
        let agreed = void(&table, number);
        table.command(number, agreed).unwrap();
    }
    assert!(!ends(&mut table));
    table.command(4, stand_up()).unwrap();
    assert!(ends(&mut table));
    assert_eq!(aborted(&table).cause(), AbortCause::Agreed);
    // Where everybody leaves, nobody has agreed: the hand is played to its end by the clock.
    let mut table = Harness::new("dice", |_| {});
    table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
    table.run_effect(|effect| effect == Effect::Start);
    table.wait(Duration::from_secs(2));
    table.run_while(|table| !has_reached(table, Step::FirstChance));
    suspend(&mut table, Misbehaviour::Silent);
    for number in [1, 2, 4] {
        table.command(number, stand_up()).unwrap();
    }
    assert!(!ends(&mut table));
    table.dealer.misbehaviour = Misbehaviour::None;
    table.run_while(|table| !table.event_names(0).contains(&"HandFinished"));
    assert!(has(&table, "HandSettled") && !has(&table, "HandAborted"));
}

/// Otherwise the house would take seats back until it agrees with itself.
/// fairness/SPEC.md §3.11, §10.9.
#[test]
fn a_leave_from_before_the_seal_takes_no_vote_away() {
    let mut table = Harness::new("dice", |_| {});
    table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
    table.run_effect(|effect| effect == Effect::Start);
    table.command(4, stand_up()).unwrap();
    table.wait(Duration::from_secs(2));
    table.run_while(|table| !has_reached(table, Step::FirstChance));
    suspend(&mut table, Misbehaviour::Silent);
    assert_eq!(voters(&table), BTreeSet::from([1, 2, 4]));
    for number in [1, 2, 4] {
        assert!(!ends(&mut table), "seat {number} has not agreed");
        let agreed = act(&table, MoveKind::Void, Vec::new());
        table.command(number, agreed).unwrap();
    }
    assert!(ends(&mut table));
    assert_eq!(aborted(&table).cause(), AbortCause::Agreed);
}

/// fairness/SPEC.md §3.11.
#[test]
fn a_hand_that_is_suspended_for_too_long_ends() {
    for step in STEPS {
        let mut table = suspended(step);
        table.wait(HOURS.saturating_sub(Duration::from_micros(1)));
        assert!(!ends(&mut table));
        table.wait(Duration::from_micros(1));
        let from = table.log.len();
        assert!(ends(&mut table), "{step:?}");
        is_aborted(&mut table, AbortCause::Suspended, from);
        table.run_while(|table| table.state.table.hand_no == 1);
        assert_eq!(table.state.table.hand_no, 2);
    }
}

/// fairness/SPEC.md §3.11.
#[test]
fn before_the_antes_a_suspended_number_ends_when_somebody_leaves_or_sits_out() {
    for step in [Step::Closing, Step::Seal] {
        for command in [SIT_OUT, stand_up()] {
            let mut table = suspended(step);
            let entropy = table.state.view(None).entropy.unwrap();
            assert!(entropy.suspension.is_some() && table.state.view(None).hand.is_none());
            assert!(!ends(&mut table));
            let early = act(&table, MoveKind::Void, Vec::new());
            assert_eq!(table.refusal(1, early).0, ErrorReason::IllegalMove);
            table.sit(3);
            table.command(3, SIT_OUT).unwrap();
            assert!(!ends(&mut table), "somebody else is not of this hand");
            table.command(2, command.clone()).unwrap();
            let from = table.log.len();
            assert!(ends(&mut table), "{step:?}");
            assert_eq!(table.event_names(from), ["HandAborted", "HandFinished"]);
            assert_eq!(aborted(&table).cause(), AbortCause::Suspended);
            // It is no exclusion: nobody has withheld anything.
            assert!(!has(&table, "SeatExcluded"));
        }
    }
}

/// fairness/SPEC.md §3.11.
#[test]
fn the_seed_of_an_aborted_hand_is_opened_as_the_settings_say_and_of_a_burnt_number_at_once() {
    for (step, delayed) in [(Step::Closing, false), (Step::FirstChance, true)] {
        let mut table =
            at(step, |created| set(created, |settings| settings.reveal = SeedOpening::Delayed));
        suspend(&mut table, Misbehaviour::Silent);
        table.wait(HOURS);
        assert!(ends(&mut table));
        table.dealer.misbehaviour = Misbehaviour::None;
        let reveal = |effect| effect == Effect::Reveal { hand_no: 1 };
        assert_eq!(table.run_effect(reveal), !delayed);
        table.wait(Duration::from_secs(SeedOpening::DELAY_SECONDS.into()));
        assert_eq!(table.run_effect(reveal), delayed);
    }
}
