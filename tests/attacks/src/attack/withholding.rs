//! One player commits to entropy, never reveals it, and sits in again as soon as possible; another
//! sits out and in as often as possible. Both decide at once on their turns.

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::{AttackContext, Outcome};
use crate::crew::Period;
use crate::disruptor::{Disruptor, Disturbance};

/// Changes between sitting out and in that may be recorded between two hands.
const MAX_CHANGES_PER_HAND: u64 = 4;
/// Hands that may be burnt: after the second a withholder waits for longer than this attack takes.
const MAX_BURNT: u64 = 2;

pub(super) async fn run(stage: AttackContext<'_>) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut acting = JoinSet::new();
    let (_switch, withholds) = watch::channel(true);
    let withholds = Disturbance::Withholds(withholds);
    for disturbance in [withholds, Disturbance::Toggles] {
        let toggles = matches!(disturbance, Disturbance::Toggles);
        let disruptor = Disruptor::seat(stage.room, stage.crew, disturbance).await?;
        let playing = disruptor.run(stage.stop.clone());
        acting.spawn(async move { (toggles, playing.await) });
    }
    let first = stage.crew.view().await?.hand_no;
    while let Some(acted) = acting.join_next().await {
        let (toggles, Disruptor { sent, changes, .. }) = acted?;
        if toggles {
            let hands = stage.crew.view().await?.hand_no.saturating_sub(first) + 1;
            let what = "changes between out and in that were recorded";
            outcome.at_most(what, changes, hands * MAX_CHANGES_PER_HAND);
        }
        outcome.sent.add_all(sent);
    }
    Ok(outcome)
}

pub(super) fn faults_of(during: &Period) -> Vec<String> {
    let (voided, hands) = (during.counts.voided, during.counts.hands);
    let text = format!("{voided} of {} hands came to nothing", voided + hands);
    if voided > MAX_BURNT { vec![text] } else { Vec::new() }
}
