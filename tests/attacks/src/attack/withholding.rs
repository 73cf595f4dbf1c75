//! One player commits to entropy, never reveals it, and sits in again as soon as possible; another
//! sits out and in as often as possible. Both decide at once on their turns.

use std::time::Duration;

use client::{Client, Error, Play, PlayMessage, RetryPolicy, TableState, WatchMessage};
use fairness::ClientCommitment;
use primitives::{Credits, TableId};
use proto::table::v1::SeatState;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{AttackContext, Outcome};
use crate::caller::CallCounts;
use crate::crew::Period;

/// Maximum number of messages to react to.
const MAX_MESSAGES: usize = 100_000;
/// Pause between two changes of sitting out and in.
const TOGGLE_INTERVAL: Duration = Duration::from_millis(100);
/// Changes between sitting out and in that may be recorded between two hands.
const MAX_CHANGES_PER_HAND: u64 = 4;
/// Hands that may be burnt: after the second a withholder waits for longer than this attack takes.
const MAX_BURNT: u64 = 2;

pub(super) async fn run(stage: AttackContext<'_>) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::default();
    let table = stage.crew.table;
    let buy_in = Credits::try_new(stage.crew.view().await?.max_buy_in)?;
    let mut acting = JoinSet::new();
    for withholds in [true, false] {
        let guest = stage.room.guest().await?;
        let client =
            guest.client.with_retry_policy(RetryPolicy::with_total_time(Duration::from_secs(2)));
        client.sit_down(table, 0, buy_in).await?;
        let nuisance =
            Nuisance { client, table, withholds, sent: CallCounts::default(), changes: 0 };
        acting.spawn(nuisance.run(TableState::new(Some(guest.id)), stage.stop.clone()));
    }
    let first = stage.crew.view().await?.hand_no;
    while let Some(acted) = acting.join_next().await {
        let Nuisance { withholds, sent, changes, .. } = acted?;
        if !withholds {
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

struct Nuisance {
    client: Client,
    table: TableId,
    withholds: bool,
    sent: CallCounts,
    /// Number of changes of their seat between sitting out and in.
    changes: u64,
}

impl Nuisance {
    async fn run(mut self, mut state: TableState, stop: CancellationToken) -> Nuisance {
        let mut play = self.client.play(self.table);
        let mut toggles = tokio::time::interval(TOGGLE_INTERVAL);
        let (mut out, mut promised) = (false, 0);
        for _ in 0..MAX_MESSAGES {
            tokio::select! {
                () = stop.cancelled() => break,
                _ = toggles.tick(), if !self.withholds => {
                    out = !out;
                    let changed = self.client.sit_out(self.table, out).await;
                    self.sent.count_client(changed);
                }
                heard = play.next() => match heard {
                    Ok(Some(PlayMessage::Watch(seen))) => {
                        self.apply(&seen, &mut play, &mut state, &mut promised).await;
                    }
                    Ok(Some(
                        PlayMessage::Decision(_) | PlayMessage::Entropy(_) | PlayMessage::Notice(_),
                    )) | Err(Error::Gap { .. }) => {}
                    Ok(None) | Err(_) => break,
                },
            }
        }
        // A seat without its player would let every hand wait for the clock.
        let _ = self.client.stand_up(self.table).await;
        self
    }

    async fn apply(
        &mut self,
        seen: &WatchMessage,
        play: &mut Play,
        state: &mut TableState,
        promised: &mut u64,
    ) {
        let out = |state: &TableState| {
            state.my_seat().is_some_and(|seat| seat.state() == SeatState::SittingOut)
        };
        let before = out(state);
        state.apply(seen);
        self.changes += u64::from(before != out(state));
        let turn = state.my_turn().filter(|_| play.is_live());
        if let Some(turn) = turn {
            let decision = turn.default_move.clone().unwrap_or_default();
            let (hand_no, number) = (state.view().hand_no, turn.turn);
            // If too many answers are missing, the turn is over by the time they come.
            let _ = play.decide(hand_no, number, decision);
        }
        if !self.withholds {
            return;
        }
        let next = state.view().next_hand.as_ref().map_or(0, |next| next.hand_no);
        if next > *promised && state.my_seat().is_some() {
            *promised = next;
            let never_opened = ClientCommitment([0x5a; 32]);
            let promise = self.client.commit_entropy(self.table, next, never_opened).await;
            self.sent.count_client(promise);
        }
        if out(state) {
            let back = self.client.sit_out(self.table, false).await;
            self.sent.count_client(back);
        }
    }
}
