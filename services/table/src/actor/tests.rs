//! Messages that have arrived are taken before a deadline has its effect.

mod lines;
mod set_clock;

use std::time::Duration;

use eventlog::{Log, MemStore, Position};
use fairness::Entropy;
use primitives::{PlayerId, UnixMicros};
use system::clock::{Clock as _, SystemClock};
use system::ids::IdMaker;
use tokio::sync::{mpsc, oneshot};
use wire::TableRecord;

use super::*;
use crate::commands::DecisionRequest;
use crate::registry::tests::dependencies;
use crate::tests::harness::{Harness, secret, set};

/// Table of the harness whose task has not been polled for a while.
struct LateTask {
    actor: Actor,
    log: Log,
    commands: mpsc::Sender<TableMessage>,
}

impl LateTask {
    async fn new(table: Harness) -> LateTask {
        let shared = dependencies(&MemStore::new()).await;
        let log = shared.log.clone();
        let (commands, inbox) = mpsc::channel(8);
        let actor = Actor::new(table.state.into(), shared, inbox);
        LateTask { actor, log, commands }
    }

    /// Sends a command that arrived at this time.
    async fn send_at(
        &self,
        player: u8,
        command: Command,
        arrived: UnixMicros,
    ) -> oneshot::Receiver<Outcome> {
        let (reply, answer) = oneshot::channel();
        let request = CommandRequest {
            command,
            player: Some(PlayerId([player; 16])),
            author: Author {
                actor: "test".into(),
                trace: [0; 16],
                request: IdMaker::system().request_id(),
                digest: [0; 32],
            },
            arrived,
            span: tracing::Span::none(),
            reply,
        };
        self.commands.send(TableMessage::Command(Box::new(request))).await.ok().unwrap();
        answer
    }

    /// Polls the task for this long. Returns the names of the events that it has recorded.
    async fn poll_for(mut self, time: Duration) -> Vec<&'static str> {
        let _ = tokio::time::timeout(time, self.actor.run()).await;
        let events = self.log.read(Position(0), 100).await.unwrap();
        events.iter().map(|event| TableRecord::try_from(event).unwrap().name()).collect()
    }
}

fn now() -> UnixMicros {
    SystemClock::new().now()
}

/// A table where all have committed, one has not revealed, and the time to reveal is short.
fn open() -> Harness {
    let mut table =
        Harness::new("dice", |created| set(created, |settings| settings.reveal_ms = 500));
    table.now = now();
    assert!(table.run_effect(|effect| matches!(effect, Effect::Commit { .. })));
    for number in [1, 2, 4] {
        table.commit(1, number);
    }
    assert!(table.run_effect(|effect| effect == Effect::Start));
    assert!(table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no: 1 }));
    table.reveal(1, 1);
    table.reveal(1, 2);
    table
}

/// A table where a player has one second to decide.
fn to_decide() -> Harness {
    let mut table = Harness::new("dice", |created| {
        set(created, |settings| (settings.action_seconds, settings.bank_seconds) = (1, 0));
    });
    table.now = UnixMicros(now().0 - 10_000_000);
    table.run_while(|table| table.state.play.is_none());
    table.wait(Duration::from_secs(10));
    let waits =
        |table: &Harness| table.state.play.as_ref().is_none_or(|play| play.to_act().is_none());
    table.run_while(waits);
    table
}

#[tokio::test]
async fn a_reveal_that_had_come_in_time_burns_nothing() {
    for comes in [false, true] {
        let late = LateTask::new(open()).await;
        let entropy: Entropy = secret(4);
        let reveal = Command::RevealEntropy { hand_no: 1, entropy };
        let answer = if comes { Some(late.send_at(4, reveal, now()).await) } else { None };
        // The task is not polled until long after the deadline.
        tokio::time::sleep(Duration::from_millis(600)).await;
        let names = late.poll_for(Duration::from_millis(400)).await;
        assert_eq!(names.contains(&"EntropyRevealed"), comes, "{names:?}");
        assert_eq!(names.contains(&"HandAborted"), !comes, "{names:?}");
        if let Some(answer) = answer {
            answer.await.unwrap().unwrap();
        }
    }
}

/// Read-only request whose answer nobody waits for.
fn look() -> TableMessage {
    let (reply, _) = oneshot::channel();
    TableMessage::Query(Query::Seat { player: PlayerId([9; 16]), reply })
}

/// Arrivals at one deadline do not count for the next.
#[tokio::test]
async fn each_deadline_waits_for_what_has_come_by_then() {
    let mut late = LateTask::new(open()).await;
    let here = now();
    for _ in 0..2 {
        late.commands.send(look()).await.ok().unwrap();
    }
    let (first, second) =
        (PassedDeadline::Clock(here), PassedDeadline::Clock(here.plus(Duration::from_secs(1))));
    assert!(late.actor.has_earlier_messages(first));
    late.actor.messages_taken += 2;
    assert!(!late.actor.has_earlier_messages(first), "what comes later holds nothing up");
    assert!(late.actor.has_earlier_messages(second));
}

#[tokio::test]
async fn no_flood_of_commands_keeps_a_deadline_from_passing() {
    let late = LateTask::new(open()).await;
    let commands = late.commands.clone();
    let flood = tokio::spawn(async move {
        loop {
            if commands.send(look()).await.is_err() {
                return;
            }
        }
    });
    let names = late.poll_for(Duration::from_millis(900)).await;
    assert!(names.contains(&"HandAborted"), "{names:?}");
    flood.abort();
}

#[tokio::test]
async fn a_decision_that_had_come_in_time_is_not_the_clocks() {
    for comes in [false, true] {
        let table = to_decide();
        let play = table.state.play.as_ref().unwrap();
        let seat = play.seat(play.to_act().unwrap()).get();
        let (hand_no, turn) = (play.hand_no, play.turn);
        let rules::Next::Decision(decision) = rules::next(&play.replay.hand) else {
            panic!("a decision is due")
        };
        let deck = play.replay.hand.rules().variant().deck;
        let mv = wire::moves::write_with_cards(&decision.default, deck, &play.replay.seats);
        let late = LateTask::new(table).await;
        let arrived = now();
        let act = Command::Act(DecisionRequest { hand_no, turn, mv, signature: Vec::new() });
        let answer = if comes { Some(late.send_at(seat, act, arrived).await) } else { None };
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let mut late = late;
        let _ = tokio::time::timeout(Duration::from_millis(400), late.actor.run()).await;
        let events = late.log.read(Position(0), 100).await.unwrap();
        let decided = events.iter().find_map(|event| match TableRecord::try_from(event) {
            Ok(TableRecord::MoveDecided(decided)) => Some(decided),
            Ok(_) | Err(_) => None,
        });
        assert_eq!(decided.unwrap().by_clock, !comes);
        if let Some(answer) = answer {
            answer.await.unwrap().unwrap();
        }
    }
}

#[tokio::test]
async fn nobodys_clock_runs_out_at_a_table_that_is_broken_down() {
    let mut late = LateTask::new(to_decide()).await;
    late.actor.halt("two and two are five");
    let commands = late.commands.clone();
    // Read-only requests wake the table.
    let looks = tokio::spawn(async move {
        for _ in 0..20 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let _ = commands.send(look()).await;
        }
    });
    assert_eq!(late.poll_for(Duration::from_secs(2)).await, [""; 0]);
    looks.abort();
}
