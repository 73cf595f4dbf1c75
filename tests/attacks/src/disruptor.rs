//! A player who disturbs a table by withholding entropy, or by sitting out and in.

use std::ops::ControlFlow;
use std::time::Duration;

use client::{Client, Error, Play, PlayMessage, RetryPolicy, TableState};
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
/// Least pause between two calls.
const TICK: Duration = Duration::from_millis(100);

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
        let buy_in = Credits::try_new(crew.view().await?.max_buy_in_credits)?;
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
            Disturbance::Toggles => false,
        }
    }

    /// Plays until `stop` is cancelled, and leaves then.
    pub(crate) async fn run(mut self, stop: CancellationToken) -> Disruptor {
        let plays = async {
            for _ in 0..MAX_STREAMS {
                if self.follow(&stop).await.is_break() {
                    break;
                }
                tokio::time::sleep(RECONNECT_PAUSE).await;
            }
        };
        let left = async {
            stop.cancelled().await;
            tokio::time::sleep(LEAVES_WITHIN).await;
        };
        tokio::select! {
            () = plays => {}
            () = left => {}
        }
        self
    }

    /// Plays over one stream, until it ends or the way to take part in chance changes.
    async fn follow(&mut self, stop: &CancellationToken) -> ControlFlow<()> {
        let mut seat = PlayedSeat::new(self);
        let mut ticks = tokio::time::interval(TICK);
        for _ in 0..MAX_MESSAGES {
            tokio::select! {
                () = stop.cancelled(), if !seat.leaves => {
                    seat.leaves = true;
                    let left = seat.play.stand_up().await;
                    self.sent.count_client(left);
                }
                _ = ticks.tick() => self.call(&mut seat),
                Some(Ok(answer)) = seat.calls.join_next() => {
                    self.sent.count_client(answer);
                }
                received = seat.play.next() => match received {
                    Ok(Some(PlayMessage::Watch(seen))) => {
                        let before = is_sitting_out(&seat.state);
                        seat.state.apply(&seen);
                        self.changes += u64::from(before != is_sitting_out(&seat.state));
                    }
                    // A decision that is refused, since there were too many calls, is sent again.
                    Ok(Some(PlayMessage::Decision(answer))) => {
                        seat.decided = seat.decided.filter(|_| answer.outcome.is_ok());
                    }
                    Ok(Some(PlayMessage::Entropy(_) | PlayMessage::Notice(_)))
                    | Err(Error::Gap { .. }) => {}
                    Ok(None) | Err(_) => return ControlFlow::Continue(()),
                },
            }
            seat.decide();
            if seat.play.is_live() && seat.leaves && seat.state.my_seat().is_none() {
                return ControlFlow::Break(());
            }
            if seat.play.is_live() && self.changes_its_way(&seat) && is_out_of_hand(&seat.state) {
                return ControlFlow::Continue(());
            }
        }
        ControlFlow::Continue(())
    }

    fn changes_its_way(&self, seat: &PlayedSeat) -> bool {
        !seat.leaves && self.withholds() != seat.withholds
    }

    /// Makes the next call, without waiting for its answer: the player's turns are not held up.
    fn call(&self, seat: &mut PlayedSeat) {
        if seat.leaves || !seat.calls.is_empty() || !seat.play.is_live() {
            return;
        }
        let (client, table, buy_in) = (self.client.clone(), self.table, self.buy_in);
        let sits_out = is_sitting_out(&seat.state);
        let promised = seat.state.view().next_hand.as_ref().map_or(0, |next| next.hand_no);
        if self.changes_its_way(seat) {
            // What was committed over this stream is decided over it too, by its keys.
            if !sits_out {
                seat.calls.spawn(async move { client.sit_out(table, true).await });
            }
        } else if matches!(self.disturbance, Disturbance::Toggles) {
            seat.calls.spawn(async move { client.sit_out(table, !sits_out).await });
        } else if seat.state.my_seat().is_none() {
            seat.calls.spawn(async move { client.sit_down(table, 0, buy_in).await.map(drop) });
        } else if sits_out {
            seat.calls.spawn(async move { client.sit_out(table, false).await });
        } else if seat.withholds && promised > seat.promised {
            seat.promised = promised;
            let never_opened = ClientCommitment([0x5a; 32]);
            seat.calls.spawn(async move {
                client.commit_entropy(table, promised, never_opened).await.map(drop)
            });
        }
    }
}

/// Seat that a disruptor plays over one stream.
struct PlayedSeat {
    play: Play,
    state: TableState,
    /// Whether the player withholds in the hands of this stream.
    withholds: bool,
    /// Whether they have asked to leave.
    leaves: bool,
    /// Last hand number that they have committed to without revealing.
    promised: u64,
    /// Hand and turn of the last decision that was sent.
    decided: Option<(u64, u32)>,
    calls: JoinSet<Result<(), Error>>,
}

impl PlayedSeat {
    fn new(player: &Disruptor) -> PlayedSeat {
        let withholds = player.withholds();
        let mut play = player.client.play(player.table);
        if !withholds && matches!(player.disturbance, Disturbance::Withholds(_)) {
            play = play.contributing_entropy(player.guest.id);
        }
        PlayedSeat {
            play,
            state: TableState::new(Some(player.guest.id)),
            withholds,
            leaves: false,
            promised: 0,
            decided: None,
            calls: JoinSet::new(),
        }
    }

    /// Decides at once by the table's default, if it is the player's turn.
    fn decide(&mut self) {
        let turn = self.state.my_turn().filter(|_| self.play.is_live());
        let Some(turn) = turn else { return };
        let due = (self.state.view().hand_no, turn.turn);
        if self.decided == Some(due) {
            return;
        }
        let decision = turn.default_move.clone().unwrap_or_default();
        if self.play.decide(due.0, due.1, decision).is_ok() {
            self.decided = Some(due);
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
