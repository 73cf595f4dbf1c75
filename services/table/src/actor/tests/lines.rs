//! Lines of players at a table's task: receipts over a crash, and leaves before the clock.

#![expect(clippy::wildcard_enum_match_arm, reason = "of all records a few are looked for")]

use std::sync::Arc;

use ed25519_dalek::SigningKey;
use fairness::{Chain, Context, DecisionReceipt, SignedText as _};
use primitives::{RequestId, StreamId};
use proto::common::v1::MoveKind;
use proto::event::v1 as event;

use super::*;
use crate::answer::{Answer, FromAnswer as _};
use crate::commands::CommandContext;
use crate::tests::harness::offer;

/// Key of the log of [`dependencies`], which signs receipts.
fn log_key() -> [u8; 32] {
    SigningKey::from_bytes(&[7; 32]).verifying_key().to_bytes()
}

/// A table whose first decision is due, with all the time for it.
fn unhurried() -> Harness {
    let mut table = Harness::new("dice", |_| {});
    table.now = now();
    let waits =
        |table: &Harness| table.state.play.as_ref().is_none_or(|play| play.to_act().is_none());
    table.run_while(waits);
    table.wait(Duration::from_secs(2));
    table.run_while(waits);
    table
}

async fn task(state: TableState, store: &Arc<MemStore>) -> LateTask {
    let shared = dependencies(store).await;
    let log = shared.log.clone();
    let (commands, inbox) = mpsc::channel(8);
    LateTask { actor: Actor::new(state.into(), shared, inbox), log, commands }
}

/// The default of the decision that is due, and the seat of its player.
fn default_of(state: &TableState) -> (u8, Command) {
    let play = state.play.as_ref().unwrap();
    let rules::Next::Decision(decision) = rules::next(&play.replay.hand) else {
        panic!("a decision is due")
    };
    let deck = play.replay.hand.rules().variant().deck;
    let mv = wire::moves::write_with_cards(&decision.default, deck, &play.replay.seats);
    let (hand_no, turn) = (play.hand_no, play.turn);
    let request = DecisionRequest { hand_no, turn, mv, signature: Vec::new() };
    (play.seat(decision.player).get(), Command::Act(request))
}

/// Sends a command under an id, runs the task for a while, and returns the answer.
async fn run(late: &mut LateTask, id: RequestId, player: u8, command: Command) -> Answer {
    let (reply, answer) = oneshot::channel();
    let request = CommandRequest {
        command,
        player: Some(PlayerId([player; 16])),
        author: Author { actor: "test".into(), trace: [0; 16], request: id, digest: [1; 32] },
        arrived: now(),
        span: tracing::Span::none(),
        reply,
    };
    late.commands.send(TableMessage::Command(Box::new(request))).await.ok().unwrap();
    let _ = tokio::time::timeout(Duration::from_millis(300), late.actor.run()).await;
    answer.await.unwrap().unwrap()
}

async fn records(log: &Log) -> Vec<(u64, TableRecord)> {
    let events = log.read(Position(0), 100).await.unwrap();
    events.iter().map(|event| (event.position.0, TableRecord::try_from(event).unwrap())).collect()
}

fn assert_receipt(receipt: &pb::DecisionReceipt, context: &Context, chain: Chain, position: u64) {
    assert_eq!((&receipt.chain[..], receipt.position), (&chain.0[..], position));
    let text = DecisionReceipt { context, chain: &chain, position };
    let signature = receipt.signature.clone().try_into().unwrap();
    assert_eq!(text.verify(&log_key(), &signature), Ok(()));
}

/// fairness/SPEC.md §9.7.
#[tokio::test]
async fn a_repeated_decision_gets_the_same_receipt_after_a_crash() {
    let state = unhurried().state;
    let (number, act) = default_of(&state);
    let play = state.play.as_ref().unwrap();
    let (context, before) = (play.context, play.chain.unwrap());
    let Command::Act(request) = &act else { panic!("it is a decision") };
    let verb = request.mv.kind().as_str_name().trim_start_matches("MOVE_KIND_").to_lowercase();
    let chain = before.with(false, &format!("p1 {verb}"));
    let (store, id) = (MemStore::new(), IdMaker::system().request_id());
    let mut first = task(state.clone(), &store).await;
    // The answer to the first request is lost with its task.
    let lost = run(&mut first, id, number, act.clone()).await;
    let decided = records(&first.log).await;
    let decided = decided.iter().find(|(_, event)| matches!(event, TableRecord::MoveDecided(_)));
    let position = decided.unwrap().0;
    let played = first.actor.state.clone();
    drop(first);
    let mut second = task(played, &store).await;
    let again = run(&mut second, id, number, act).await;
    assert_eq!(again, lost);
    let pb::ActResponse { sequence, receipt } =
        pb::ActResponse::from_answer(again.clone()).unwrap();
    assert_eq!(sequence, state.table.sequence + 1);
    assert_receipt(&receipt.unwrap(), &context, chain, position);
    let count = records(&second.log).await;
    let count = count.iter().filter(|(_, event)| matches!(event, TableRecord::MoveDecided(_)));
    assert_eq!(count.count(), 1);
}

/// fairness/SPEC.md §9.7.
#[tokio::test]
async fn a_leave_gets_a_receipt_where_it_is_one_of_a_hand() {
    let state = unhurried().state;
    let play = state.play.as_ref().unwrap();
    let (context, before) = (play.context, play.chain.unwrap());
    let player = play.player(PlayerId([2; 16])).unwrap();
    let chain = before.with(false, &format!("{player} leave"));
    let mut late = task(state, &MemStore::new()).await;
    let id = IdMaker::system().request_id();
    let leave = Command::StandUp { signature: Vec::new() };
    let answer = run(&mut late, id, 2, leave).await;
    let asked = records(&late.log).await;
    let asked = asked.iter().find(|(_, event)| matches!(event, TableRecord::LeaveAsked(_)));
    let pb::StandUpResponse { after_hand, receipt } =
        pb::StandUpResponse::from_answer(answer.clone()).unwrap();
    assert!(after_hand);
    assert_receipt(&receipt.unwrap(), &context, chain, asked.unwrap().0);
    // Between hands there is no line to sign.
    let mut late = task(Harness::new("dice", |_| {}).state, &MemStore::new()).await;
    let leave = Command::StandUp { signature: Vec::new() };
    let answer = run(&mut late, IdMaker::system().request_id(), 2, leave).await;
    assert_eq!(pb::StandUpResponse::from_answer(answer.clone()).unwrap(), Default::default());
}

/// A client that was started anew sends the same under another request id.
///
/// fairness/SPEC.md §3.3, §3.5.
#[tokio::test]
async fn a_part_in_chance_that_is_on_record_gets_the_same_receipt_under_another_request() {
    let mut table = Harness::new("dice", |_| {});
    table.now = now();
    assert!(table.run_effect(|effect| matches!(effect, Effect::Commit { .. })));
    let commit = offer(1, table.commitment(1, 1));
    let ids = IdMaker::system();
    let mut late = task(table.state.clone(), &MemStore::new()).await;
    let first = run(&mut late, ids.request_id(), 1, commit.clone()).await;
    let receipt = pb::CommitEntropyResponse::from_answer(first.clone()).unwrap().receipt.unwrap();
    assert_eq!((receipt.signature.len(), receipt.commitment.len()), (64, 32));
    assert_eq!(run(&mut late, ids.request_id(), 1, commit).await, first);

    let state = open().state;
    let mut late = task(state, &MemStore::new()).await;
    let reveal = Command::RevealEntropy { hand_no: 1, entropy: secret(4) };
    let first = run(&mut late, ids.request_id(), 4, reveal.clone()).await;
    let receipt = pb::RevealEntropyResponse::from_answer(first.clone()).unwrap().receipt.unwrap();
    assert_eq!((receipt.signature.len(), &receipt.entropy[..]), (64, &secret(4).0[..]));
    assert_eq!(run(&mut late, ids.request_id(), 4, reveal).await, first);
    let records = records(&late.log).await;
    let revealed = |(_, event): &&(u64, TableRecord)| event.name() == "EntropyRevealed";
    let revealed: Vec<_> = records.iter().filter(revealed).map(|(at, _)| *at).collect();
    assert_eq!(revealed, [receipt.position]);
}

/// The receipt names the record also once the hand is dealt, and after a recovery.
///
/// fairness/SPEC.md §3.5.
#[test]
fn the_position_of_a_reveal_is_known_as_long_as_the_hand_is_in_play() {
    let mut table = open();
    table.reveal(1, 4);
    let at = |(_, event, _): &(StreamId, TableRecord, UnixMicros)| match event {
        TableRecord::EntropyRevealed(revealed) => revealed.seat == 4,
        _ => false,
    };
    let position = table.log.iter().position(at).unwrap() as u64;
    let reveal = Command::RevealEntropy { hand_no: 1, entropy: secret(4) };
    for _ in 0..2 {
        let context = CommandContext {
            player: Some(PlayerId([4; 16])),
            request: IdMaker::system().request_id(),
            now: table.now,
            arrived: table.now,
            is_room_behind: false,
        };
        let (state, play) = (&table.state.table, table.state.play.as_ref());
        let verdict = crate::commands::judge(state, play, &reveal, &context).unwrap();
        assert!(verdict.batch.events.is_empty());
        assert_eq!(verdict.recorded_before, Some(Position(position)));
        table.run_while(|table| table.state.play.as_ref().is_some_and(|it| it.sealed.is_none()));
    }
    assert!(table.state.play.as_ref().unwrap().sealed.is_some());
}

/// fairness/SPEC.md §9.5.
#[tokio::test]
async fn a_leave_that_had_come_in_time_is_taken_before_the_clock_decides() {
    let table = to_decide();
    let play = table.state.play.as_ref().unwrap();
    let to_act = play.to_act().unwrap();
    let other = play.players.iter().find(|player| play.player(**player) != Some(to_act));
    let other = other.unwrap().0[0];
    let late = LateTask::new(table).await;
    let leave = Command::StandUp { signature: Vec::new() };
    let answer = late.send_at(other, leave, now()).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let mut late = late;
    let _ = tokio::time::timeout(Duration::from_millis(3500), late.actor.run()).await;
    answer.await.unwrap().unwrap();
    let decided: Vec<event::MoveDecided> = records(&late.log)
        .await
        .into_iter()
        .filter_map(|(_, event)| match event {
            TableRecord::MoveDecided(decided) => Some(decided),
            _ => None,
        })
        .collect();
    assert!(decided.len() >= 2, "{decided:?}");
    assert!(!decided[0].by_clock && decided[1].by_clock);
    assert_eq!(decided[0].r#move.as_ref().unwrap().kind(), MoveKind::Leave);
}
