//! A player who disturbs a table by withholding entropy, or by sitting out and in.

use std::ops::ControlFlow;
use std::time::Duration;

use client::{Client, Error, Play, PlayMessage, RetryPolicy, TableState, WatchMessage};
use fairness::ClientCommitment;
use primitives::{Credits, TableId};
use proto::table::v1::SeatState;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::caller::CallCounts;
use crate::crew::Crew;
use crate::room::{Guest, Room};

/// Maximum number of streams, and the pause between two.
const MAX_STREAMS: usize = 10_000;
/// Longest time from standing up to a free seat.
const LEAVES_WITHIN: Duration = Duration::from_secs(15);
const RECONNECT_PAUSE: Duration = Duration::from_millis(500);
/// Maximum number of messages of a stream to react to.
const MAX_MESSAGES: usize = 1_000_000;
/// Pause between two changes of sitting out and in.
const TOGGLE_INTERVAL: Duration = Duration::from_millis(100);

/// Player who decides at once by the table's default, and disturbs the others.
pub(crate) struct Disruptor {
    pub(crate) guest: Guest,
    client: Client,
    table: TableId,
    buy_in: Credits,
    disturbance: Disturbance,
    pub(crate) sent: CallCounts,
    /// Number of changes of their seat between sitting out and in.
    pub(crate) changes: u64,
}

/// Way in which a disruptor disturbs the others.
#[derive(Debug, Clone)]
pub(crate) enum Disturbance {
    /// While the value is true, commits to entropy and never reveals it; else takes an honest part
    /// in chance. Sits down and in again as soon as possible.
    Withholds(watch::Receiver<bool>),
    /// Sits out and in as often as possible.
    Toggles,
    /// Plays on until their seat is free.
    None,
}

impl Disruptor {
    /// Seats a new guest at the table.
    ///
    /// # Errors
    /// The room refuses.
    pub(crate) async fn seat(
        room: &Room,
        crew: &Crew,
        disturbance: Disturbance,
    ) -> anyhow::Result<Disruptor> {
        let buy_in = Credits::try_new(crew.view().await?.max_buy_in)?;
        let guest = room.guest().await?;
        let policy = RetryPolicy::with_total_time(Duration::from_secs(2));
        let client = guest.client.clone().with_retry_policy(policy);
        client.sit_down(crew.table, 0, buy_in).await?;
        Ok(Disruptor {
            guest,
            client,
            table: crew.table,
            buy_in,
            disturbance,
            sent: CallCounts::default(),
            changes: 0,
        })
    }

    fn withholds(&self) -> bool {
        match &self.disturbance {
            Disturbance::Withholds(withholds) => *withholds.borrow(),
            Disturbance::Toggles | Disturbance::None => false,
        }
    }

    fn toggles(&self) -> bool {
        match self.disturbance {
            Disturbance::Withholds(_) | Disturbance::None => false,
            Disturbance::Toggles => true,
        }
    }

    /// Plays until `stop` is cancelled.
    pub(crate) async fn run(mut self, stop: CancellationToken) -> Disruptor {
        for _ in 0..MAX_STREAMS {
            if self.follow(&stop).await.is_break() {
                break;
            }
            tokio::time::sleep(RECONNECT_PAUSE).await;
        }
        // A seat without its player lets every hand wait for the clock, and one that leaves before the
        // seal is dealt in all the same: they play on until they are paid out.
        let _ = self.client.stand_up(self.table).await;
        self.disturbance = Disturbance::None;
        let _ = tokio::time::timeout(LEAVES_WITHIN, self.follow(&CancellationToken::new())).await;
        self
    }

    /// Plays over one stream, until it ends or the way to take part in chance changes. Who changes it
    /// sits out first: what was committed over this stream is decided over it too, by its keys.
    async fn follow(&mut self, stop: &CancellationToken) -> ControlFlow<()> {
        let withholds = self.withholds();
        let mut state = TableState::new(Some(self.guest.id));
        let mut play = self.client.play(self.table);
        if !withholds && matches!(self.disturbance, Disturbance::Withholds(_)) {
            play = play.contributing_entropy(self.guest.id);
        }
        let mut toggles = tokio::time::interval(TOGGLE_INTERVAL);
        let (mut out, mut promised, mut toggling) = (false, 0, JoinSet::new());
        let mut switching = false;
        for _ in 0..MAX_MESSAGES {
            tokio::select! {
                () = stop.cancelled() => return ControlFlow::Break(()),
                _ = toggles.tick() => {
                    if self.withholds() != withholds && !switching {
                        switching = true;
                        self.sent.count_client(self.client.sit_out(self.table, true).await);
                    }
                    if switching && play.is_live() && is_out_of_hand(&state) {
                        return ControlFlow::Continue(());
                    }
                    // Its own turns are not held up by an answer to come.
                    if self.toggles() && toggling.is_empty() {
                        out = !out;
                        let (client, table) = (self.client.clone(), self.table);
                        toggling.spawn(async move { client.sit_out(table, out).await });
                    }
                }
                Some(Ok(changed)) = toggling.join_next() => {
                    self.sent.count_client(changed);
                }
                heard = play.next() => match heard {
                    Ok(Some(PlayMessage::Watch(seen))) => {
                        self.apply(&seen, &mut play, &mut state, &mut promised, !switching).await;
                        let leaves = matches!(self.disturbance, Disturbance::None);
                        if leaves && play.is_live() && state.my_seat().is_none() {
                            return ControlFlow::Break(());
                        }
                    }
                    Ok(Some(
                        PlayMessage::Decision(_) | PlayMessage::Entropy(_) | PlayMessage::Notice(_),
                    )) | Err(Error::Gap { .. }) => {}
                    Ok(None) | Err(_) => return ControlFlow::Continue(()),
                },
            }
        }
        ControlFlow::Continue(())
    }

    async fn apply(
        &mut self,
        seen: &WatchMessage,
        play: &mut Play,
        state: &mut TableState,
        promised: &mut u64,
        goes_on: bool,
    ) {
        let before = is_sitting_out(state);
        state.apply(seen);
        self.changes += u64::from(before != is_sitting_out(state));
        let turn = state.my_turn().filter(|_| play.is_live());
        if let Some(turn) = turn {
            let decision = turn.default_move.clone().unwrap_or_default();
            let (hand_no, number) = (state.view().hand_no, turn.turn);
            // If too many answers are missing, the turn is over by the time they come.
            let _ = play.decide(hand_no, number, decision);
        }
        if !goes_on || !matches!(self.disturbance, Disturbance::Withholds(_)) {
            return;
        }
        let next = state.view().next_hand.as_ref().map_or(0, |next| next.hand_no);
        if self.withholds() && next > *promised && state.my_seat().is_some() {
            *promised = next;
            let never_opened = ClientCommitment([0x5a; 32]);
            let promise = self.client.commit_entropy(self.table, next, never_opened).await;
            self.sent.count_client(promise);
        }
        if state.my_seat().is_none() {
            let seated = self.client.sit_down(self.table, 0, self.buy_in).await;
            self.sent.count_client(seated.map(drop));
        } else if is_sitting_out(state) {
            let back = self.client.sit_out(self.table, false).await;
            self.sent.count_client(back);
        }
    }
}

fn is_sitting_out(state: &TableState) -> bool {
    state.my_seat().is_some_and(|seat| seat.state() == SeatState::SittingOut)
}

/// Whether the player is dealt in to no hand, and to no further one.
fn is_out_of_hand(state: &TableState) -> bool {
    let Some(seat) = state.my_seat() else { return true };
    let opening = state.view().entropy.as_ref();
    let is_opening = opening.is_some_and(|opening| opening.roster.contains(&seat.seat));
    let is_playing = state.is_hand_in_play() && state.my_hand_seat().is_some();
    is_sitting_out(state) && !is_opening && !is_playing
}
