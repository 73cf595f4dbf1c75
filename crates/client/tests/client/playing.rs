//! Playing over one stream, through breaks.

use client::{Heard, Play};
use primitives::TableId;
use proto::common::v1::{ErrorReason, Move, MoveKind};
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use wire::refused;

use crate::fake::{Fake, Table};

fn standing() -> Move {
    Move { kind: MoveKind::Stand.into(), ..Move::default() }
}

/// Until a decision is answered: its request id, and what was seen before.
async fn answered(play: &mut Play) -> (Vec<u8>, Vec<String>) {
    let mut seen = Vec::new();
    loop {
        match play.next().await.unwrap().unwrap() {
            Heard::Seen(other) => seen.push(format!("{other:?}")),
            Heard::Acted(acted) => {
                acted.outcome.unwrap();
                return (acted.request, seen);
            }
        }
    }
}

#[tokio::test]
async fn a_decision_is_answered_among_the_updates() {
    let fake = Fake::new(Table::default()).reacting(|table, _| {
        table.push(What::Action(pb::HandAction::default()));
        Ok(())
    });
    let mut play = fake.client(0).await.play(TableId([1; 16]));
    let asked = play.decide(1, 1, standing()).unwrap();
    let (answer, mut seen) = answered(&mut play).await;
    assert_eq!(answer, asked);
    if !seen.contains(&"Update(1)".to_owned()) {
        seen.push(format!("{:?}", play.next().await.unwrap().unwrap()));
    }
    assert_eq!(fake.table().decisions, [standing()]);
}

#[tokio::test]
async fn what_was_not_answered_is_sent_again_under_the_same_name() {
    let fake = Fake::new(Table::default());
    let away = refused(ErrorReason::Unavailable, "a new owner");
    fake.table().refusals.extend([away.clone().into(), away.into()]);
    let mut play = fake.client(0).await.play(TableId([1; 16]));
    let asked = play.decide(1, 1, standing()).unwrap();
    let (answer, _) = answered(&mut play).await;
    assert_eq!(answer, asked);
    let table = fake.table();
    assert_eq!(table.requests, vec![("act", asked); 3], "twice cut off, then answered");
    assert_eq!(table.decisions.len(), 1);
    assert_eq!(table.tokens.len(), 3, "each time the table is followed from where it was");
}

#[tokio::test]
async fn decisions_without_an_answer_are_bounded() {
    let fake = Fake::new(Table::default());
    let mut play = fake.client(0).await.play(TableId([1; 16]));
    for turn in 0..16 {
        play.decide(1, turn, standing()).unwrap();
    }
    assert!(play.decide(1, 16, standing()).is_err());
    let _ = answered(&mut play).await;
    play.decide(1, 16, standing()).unwrap();
}
