//! A bot: opens its account, sits down, decides on its turns, and buys in again when its stack is
//! gone.
//!
//! The bot derives each step from the state of the table, so it continues after a broken
//! connection. It decides only on a live stream, and once for each turn. A refusal because the hand
//! has moved on is not an error: the updates that follow show the new state. The bot takes part in
//! chance and signs what it decides. It stands up if the table or the dealer breaks its rules or a
//! log contradicts itself, and gives up hands that its own number is not in.

mod seat;

use std::time::Duration;

use client::Client;
use client::Error;
use client::RetryPolicy;
use client::TableState;
use client::chance::{Chance, Notice};
use client::{Watch, WatchMessage};
use primitives::{Credits, PlayerId, TableId, UnixMicros};
use proto::common::v1::{ErrorReason, Move};
use proto::table::v1::table_update::What;
use proto::table::v1::{SeatView, TableUpdate, Turn};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::strategy::Strategy;
use crate::thinking::{Stakes, Thinker, Thinking};

/// Time for a call in flight, and for standing up, after the bot is asked to stop.
const STOP_GRACE: Duration = Duration::from_secs(5);

/// Number of times that a bot signs its leaving anew, because others decided meanwhile.
const MAX_LEAVES: u32 = 20;
/// Wait for the update that shows what others decided.
const CATCH_UP: Duration = Duration::from_millis(500);
/// Silence after which no update is on its way.
const CAUGHT_UP: Duration = Duration::from_millis(10);

/// Options of a bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BotOptions {
    /// Seat to ask for first, 0 for any. If it is taken, the bot asks for any seat.
    pub seat: u32,
    /// Credits to sit down with, clamped to the table's limits; 0: the least.
    pub buy_in: Credits,
    /// Time to think before each decision.
    pub thinking: Thinking,
}

/// Reason that a bot stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BotEnd {
    /// The caller cancelled it, and it stood up.
    Stopped,
    TableClosed,
    /// Its account has too few credits to sit down.
    Broke,
    /// Every seat is taken.
    NoSeat,
}

/// Counts of a bot's run, and why it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BotReport {
    pub end: BotEnd,
    /// Hands that it was dealt in to and whose end it saw.
    pub hands: u64,
    /// Decisions that the table accepted.
    pub decisions: u64,
    /// Decisions that the rules did not allow: errors of the strategy.
    pub illegal_moves: u64,
    /// Number of times it sat down.
    pub buy_ins: u64,
}

/// Plays at a table until `stop` is cancelled, the table closes, or the credits are gone.
///
/// # Errors
/// Returns an error if a call is refused for a lasting reason, such as a bad token or an unknown
/// table, if the server stays away for longer than the client's retry policy allows, if the dealer's
/// key is not known, if evidence cannot be stored, or if a check of chance or of a log fails.
pub async fn run_bot(
    client: &Client,
    table: TableId,
    bot: BotOptions,
    strategy: impl Strategy,
    stop: CancellationToken,
) -> Result<BotReport, Error> {
    let mut report =
        BotReport { end: BotEnd::Stopped, hands: 0, decisions: 0, illegal_moves: 0, buy_ins: 0 };
    client.check_keys()?;
    let me = tokio::select! {
        me = Box::pin(client.open_account(None)) => me?,
        () = stop.cancelled() => return Ok(report),
    };
    let mut player = RunningBot {
        client,
        table,
        bot,
        strategy,
        thinker: Thinker::new(bot.thinking),
        room_time: None,
        stop: &stop,
        player: me,
        watch: client.watch(table),
        chance: client.chance(table, Some(me)),
        state: TableState::new(Some(me)),
        last_decided: None,
        seat_change_pending: false,
        may_return_at: None,
        given_up: None,
        report: &mut report,
    };
    let mut distrust = None;
    player.report.end = {
        let patient = async {
            stop.cancelled().await;
            tokio::time::sleep(STOP_GRACE).await;
        };
        tokio::select! {
            // On the heap, so that a caller with many bots does not hold their futures on the
            // stack.
            end = Box::pin(player.play()) => match end {
                Err(found @ (Error::FairnessViolation(_) | Error::Logs(_))) => {
                    distrust = Some(found);
                    BotEnd::Stopped
                }
                end => end?,
            },
            () = patient => BotEnd::Stopped,
        }
    };
    let left = Box::pin(player.leave()).await;
    match distrust {
        Some(found) => Err(found),
        None => left.map(|()| report),
    }
}

struct RunningBot<'a, S> {
    client: &'a Client,
    table: TableId,
    bot: BotOptions,
    strategy: S,
    thinker: Thinker,
    /// Time of the newest update by the room's clock, and when it came.
    room_time: Option<(UnixMicros, Instant)>,
    stop: &'a CancellationToken,
    player: PlayerId,
    watch: Watch,
    chance: Chance,
    state: TableState,
    /// Hand number and turn of the last decision.
    last_decided: Option<(u64, u32)>,
    /// A change of its seat was requested and is not in the updates yet.
    seat_change_pending: bool,
    /// Earliest time to sit in again.
    may_return_at: Option<Instant>,
    /// Hand that its number is not in, which it sits out.
    given_up: Option<u64>,
    report: &'a mut BotReport,
}

impl<S: Strategy> RunningBot<'_, S> {
    async fn play(&mut self) -> Result<BotEnd, Error> {
        loop {
            let seen = tokio::select! {
                biased;
                // A hand that is opening takes no signed leave, and waits for the bot's number.
                () = self.stop.cancelled(), if !self.is_in_opening_hand() => {
                    return Ok(BotEnd::Stopped);
                }
                seen = self.watch.next() => Some(seen),
                () = sleep_until(self.may_return_at) => None,
            };
            match seen {
                None => {}
                Some(Ok(Some(seen))) => {
                    self.apply(&seen);
                    self.chance.apply(&seen)?;
                    self.watch.set_awaited(self.chance.is_awaited());
                    if seen.is_hand_end() && self.watch.is_live() {
                        self.client.check_logs().await?;
                    }
                }
                Some(Ok(None)) => return Ok(BotEnd::TableClosed),
                Some(Err(gap @ Error::Gap { .. })) => {
                    tracing::warn!(table = %self.table, player = %self.player, %gap, "starting over");
                    continue;
                }
                Some(Err(error)) => return Err(error),
            }
            if !self.watch.is_live() {
                continue;
            }
            self.client.contribute_entropy(self.table, &mut self.chance).await?;
            self.heed_notices().await?;
            let due = (self.state.view().hand_no, self.state.my_turn().map_or(0, |turn| turn.turn));
            // A bot never agrees to end a hand that stands still: the dealer may come back.
            let may_decide = self.last_decided != Some(due) && !self.state.is_suspended();
            if let Some(turn) = self.state.my_turn().filter(|_| may_decide) {
                let turn = turn.clone();
                self.last_decided = Some(due);
                if self.is_stopped_while_thinking(&turn).await {
                    return Ok(BotEnd::Stopped);
                }
                self.decide(due.0, &turn).await?;
            } else if !self.seat_change_pending
                && let Some(end) = self.maintain_seat().await?
            {
                return Ok(end);
            }
        }
    }

    /// Whether the bot is dealt in to a hand that is open and not sealed.
    fn is_in_opening_hand(&self) -> bool {
        let opening = self.state.view().entropy.as_ref();
        let mine = self.state.my_seat().map(|seat| seat.seat);
        opening.is_some_and(|opening| mine.is_some_and(|mine| opening.roster.contains(&mine)))
    }

    fn apply(&mut self, seen: &WatchMessage) {
        self.state.apply(seen);
        match seen {
            WatchMessage::Snapshot(_) => {
                self.seat_change_pending = false;
                self.room_time = None;
            }
            WatchMessage::Update(update) => self.apply_update(update),
            WatchMessage::CaughtUp => {}
        }
    }

    fn apply_update(&mut self, update: &TableUpdate) {
        let recorded = update.record_time.and_then(wire::time::instant);
        self.room_time = recorded.map(|at| (at, Instant::now()));
        match &update.what {
            Some(What::Seat(changed)) => {
                let mine = |seat: &SeatView| wire::field::is_id(&seat.player_id, self.player);
                self.seat_change_pending &= !changed.seat.as_ref().is_some_and(mine);
            }
            Some(What::HandEnded(_)) if self.state.my_hand_seat().is_some() => {
                self.report.hands += 1;
            }
            Some(
                What::HandStarted(_)
                | What::Action(_)
                | What::HandEnded(_)
                | What::Closed(_)
                | What::NextHand(_)
                | What::Entropy(_)
                | What::Voided(_)
                | What::Seed(_)
                | What::Suspension(_)
                | What::Stopped(_)
                | What::Disabled(_),
            )
            | None => {}
        }
    }

    async fn is_stopped_while_thinking(&mut self, turn: &Turn) -> bool {
        let stakes = Stakes {
            pot: self.state.standing().map_or(0, |standing| standing.hand_pot_credits),
            stack: self.state.my_standing().map_or(0, |mine| mine.stack_credits),
        };
        let time = self.thinker.time(turn, stakes, self.time_left(turn));
        if time.is_zero() {
            return self.stop.is_cancelled();
        }
        tokio::select! {
            () = self.stop.cancelled() => true,
            () = tokio::time::sleep(time) => false,
        }
    }

    /// Time until the clock decides, by the room's own time; none where no update has reported it.
    fn time_left(&self, turn: &Turn) -> Option<Duration> {
        let (reported, came) = self.room_time?;
        let deadline = wire::time::instant(turn.deadline?)?;
        Some(deadline.since(reported.plus(came.elapsed())))
    }

    /// Logs what a player would read, and sits out if its number is not in the hand.
    async fn heed_notices(&mut self) -> Result<(), Error> {
        for notice in self.chance.take_notices() {
            tracing::warn!(table = %self.table, player = %self.player, %notice);
            let Notice::NotInClosing { hand_no } = notice else { continue };
            if self.chance.must_fold(hand_no) {
                self.given_up = Some(hand_no);
                let out = self.client.sit_out(self.table, true).await;
                self.seat_request_answered(out)?;
            }
        }
        Ok(())
    }

    async fn decide(&mut self, hand_no: u64, turn: &Turn) -> Result<(), Error> {
        let fold =
            self.chance.due_fold().filter(|(hand, due, _)| (*hand, *due) == (hand_no, turn.turn));
        let chosen = match fold {
            Some((_, _, fold)) => fold,
            None => self.strategy.choose(&self.state, turn),
        };
        if self.act(hand_no, turn, chosen).await? {
            return Ok(());
        }
        self.report.illegal_moves += 1;
        // The clock would take the default; taking it now saves the others the wait.
        if let Some(default) = turn.default_move.clone() {
            self.act(hand_no, turn, default).await?;
        }
        Ok(())
    }

    /// Sends a move. False if the rules do not allow it.
    async fn act(&mut self, hand_no: u64, turn: &Turn, decision: Move) -> Result<bool, Error> {
        let kind = decision.kind();
        let due = (hand_no, turn.turn);
        let answer = self.client.decide(self.table, &mut self.chance, due, decision).await;
        let Err(error) = answer else {
            self.report.decisions += 1;
            return Ok(true);
        };
        if is_outdated(&error) {
            return Ok(true);
        }
        match error.reason() {
            // Somebody left, and the update is to come: the bot decides again after it.
            Some(ErrorReason::SignatureInvalid) => {
                self.last_decided = None;
                Ok(true)
            }
            Some(
                ErrorReason::IllegalMove | ErrorReason::AmountOutOfRange | ErrorReason::BadField,
            ) => {
                let (table, player) = (self.table, self.player);
                tracing::warn!(%table, %player, hand_no, turn = turn.turn, ?kind, "not allowed");
                Ok(false)
            }
            Some(_) | None => Err(error),
        }
    }

    /// Stands up, if the bot has a seat.
    async fn leave(&mut self) -> Result<(), Error> {
        if self.report.end == BotEnd::TableClosed {
            return Ok(());
        }
        let hasty = self.client.with_retry_policy(RetryPolicy::with_total_time(STOP_GRACE));
        for _ in 0..MAX_LEAVES {
            match hasty.leave(self.table, &mut self.chance).await {
                Ok(_) => return Ok(()),
                Err(error) if is_outdated(&error) => return Ok(()),
                // The hand has begun or gone on, and the updates are to come.
                Err(error)
                    if matches!(
                        error.reason(),
                        Some(ErrorReason::SignatureInvalid | ErrorReason::SignatureNeeded)
                    ) =>
                {
                    self.catch_up().await;
                }
                Err(error) => return Err(error),
            }
        }
        // The clock plays for it to the end of the hand, and nobody sits out for it after that.
        let out = hasty.sit_out(self.table, true).await;
        out.or_else(|error| if is_outdated(&error) { Ok(()) } else { Err(error) })
    }

    /// Waits for an update, then reads all that have come: a signature fits only the newest state.
    async fn catch_up(&mut self) {
        let mut wait = CATCH_UP;
        while let Ok(Ok(Some(seen))) = tokio::time::timeout(wait, self.watch.next()).await {
            self.apply(&seen);
            // Whatever it says: the bot is leaving.
            let _ = self.chance.apply(&seen);
            wait = CAUGHT_UP;
        }
    }
}

/// Sleeps until `time`, or for ever without one.
async fn sleep_until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Whether the error only says that the table has moved on; the stream shows the new state.
fn is_outdated(error: &Error) -> bool {
    matches!(
        error.reason(),
        Some(ErrorReason::NotYourTurn | ErrorReason::NotYourSeat | ErrorReason::TableClosed)
    )
}
