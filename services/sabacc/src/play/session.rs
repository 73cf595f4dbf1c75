//! A player at one table: the stream, the keys, and the commands that keys ask for.

use std::time::Duration;

use client::{Client, DecisionOutcome, Error, Play, PlayMessage, WatchMessage};
use primitives::{Credits, TableId, UnixMicros};
use system::clock::{Clock as _, SystemClock};
use terminal::{Request, TableScreen, Tone, refusals};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::Player;
use crate::screen::{Input, Screen};

/// Time between two drawings of a clock that runs.
const TICK: Duration = Duration::from_millis(250);
/// Pause after a stream that cannot be opened.
const PAUSE: Duration = Duration::from_secs(1);
/// Longest stay of a player who has left and whose part in a hand's chance is due.
const LINGER: Duration = Duration::from_secs(12);

/// End of a stay at a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Back,
    Interrupted,
}

/// Result of a command that ran beside the stream.
enum Done {
    SatDown(Result<u32, Error>),
    SatOut(Result<(), Error>),
    Balance(Result<u64, Error>),
}

/// Seat that its player leaves and takes again with more credits: a room takes credits at the sitting
/// down alone.
#[derive(Debug, Clone, Copy)]
struct TopUp {
    seat: u32,
    /// Credits at the seat, as they were when last seen.
    stack: u64,
    added: u64,
}

/// Stay at a table.
pub(super) struct TableSession {
    client: Client,
    table: TableId,
    play: Play,
    shown: TableScreen,
    running: JoinSet<Done>,
    topping_up: Option<TopUp>,
    clock: SystemClock,
    /// Earliest time of the next attempt to follow the table.
    not_before: UnixMicros,
}

impl TableSession {
    pub(super) fn new(player: &Player, table: TableId) -> TableSession {
        let client = player.client.clone();
        let mut session = TableSession {
            play: client.play(table).contributing_entropy(player.id),
            client,
            table,
            shown: TableScreen::playing(player.id),
            running: JoinSet::new(),
            topping_up: None,
            clock: SystemClock::new(),
            not_before: UnixMicros(0),
        };
        session.ask_balance();
        session
    }

    /// Plays until the player goes back, the table closes for good, or the room cheats.
    pub(super) async fn run(mut self, screen: &mut Screen) -> anyhow::Result<End> {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_over = false;
        loop {
            let now = self.clock.now();
            self.shown.set_live(self.play.is_live(), now);
            screen.draw(|buffer, palette| self.shown.draw(buffer, palette, now))?;
            let is_due = !is_over && now >= self.not_before;
            tokio::select! {
                input = screen.input() => match input {
                    Input::Resized => {}
                    Input::Interrupted => {
                        self.leave_before_the_end(screen).await?;
                        return Ok(End::Interrupted);
                    }
                    Input::Key(key) => match self.shown.key(key) {
                        Some(Request::Quit) => {
                            self.leave_before_the_end(screen).await?;
                            return Ok(End::Back);
                        }
                        request => self.send(request).await,
                    },
                },
                message = self.play.next(), if is_due => match message {
                    Ok(Some(message)) => self.take(message).await,
                    Ok(None) => {
                        is_over = true;
                        self.shown.show_message("The table is closed. q goes back.", Tone::Warn);
                    }
                    Err(error) => self.failed(&error)?,
                },
                Some(done) = self.running.join_next() => {
                    if let Ok(done) = done {
                        self.finished(done);
                    }
                }
                _ = ticks.tick() => {}
            }
        }
    }

    /// Applies a message, and goes on with a top up.
    async fn take(&mut self, message: PlayMessage) {
        self.apply(message);
        self.sit_down_again();
        let due = self.shown.due_top_up();
        self.send(due).await;
    }

    fn apply(&mut self, message: PlayMessage) {
        match message {
            PlayMessage::Watch(seen) => {
                self.shown.apply(&seen, self.clock.now());
                let hand_no = self.shown.hand_no();
                self.shown.set_proofs(hand_no.and_then(|hand_no| self.play.proofs(hand_no)));
                if seen.is_hand_end() || matches!(seen, WatchMessage::Snapshot(_)) {
                    self.ask_balance();
                }
            }
            PlayMessage::Decision(DecisionOutcome { outcome: Err(refusal), .. }) => {
                self.shown.show_message(&refusals::of_refusal(&refusal), Tone::Bad);
            }
            PlayMessage::Decision(DecisionOutcome { outcome: Ok(_), .. }) => {}
            PlayMessage::Entropy(entropy) => {
                if let Err(refusal) = entropy.outcome {
                    self.shown.note(&refusals::of_refusal(&refusal), Tone::Warn);
                }
            }
            PlayMessage::Notice(notice) => {
                self.shown.show_message(&notice.to_string(), Tone::Warn);
                self.shown.note(&notice.to_string(), Tone::Warn);
            }
        }
    }

    /// Shows an error of the stream; one after which nobody should play on ends the stay.
    fn failed(&mut self, error: &Error) -> anyhow::Result<()> {
        if matches!(error, Error::FairnessViolation(_) | Error::Logs(_) | Error::Evidence(_)) {
            return Err(super::explained(error));
        }
        let now = self.clock.now();
        self.not_before = now.plus(PAUSE);
        self.shown.lost(now);
        self.shown.show_message(&refusals::words(error), Tone::Bad);
        Ok(())
    }

    /// Sends what a key asked for.
    async fn send(&mut self, request: Option<Request>) {
        match request {
            Some(Request::Decide { hand_no, turn, decision }) => {
                if let Err(error) = self.play.decide(hand_no, turn, decision) {
                    self.shown.show_message(&refusals::words(&error), Tone::Bad);
                }
            }
            Some(Request::SitDown(credits)) => self.sit_down(0, credits),
            Some(Request::TopUp(added)) => self.top_up(added).await,
            Some(Request::SitOut(out)) => {
                let (client, table) = (self.client.clone(), self.table);
                self.running.spawn(async move { Done::SatOut(client.sit_out(table, out).await) });
            }
            Some(Request::Leave) => {
                self.topping_up = None;
                self.leave().await;
            }
            Some(Request::Quit) | None => {}
        }
    }

    async fn leave(&mut self) {
        match self.play.stand_up().await {
            Ok(true) => self.shown.note("You leave when the hand ends", Tone::Warn),
            Ok(false) => self.ask_balance(),
            Err(error) => self.shown.show_message(&refusals::words(&error), Tone::Bad),
        }
    }

    fn sit_down(&mut self, seat: u32, credits: u64) {
        let (client, table) = (self.client.clone(), self.table);
        let credits = Credits::try_new(credits).unwrap_or(Credits::MAX);
        self.running
            .spawn(async move { Done::SatDown(client.sit_down(table, seat, credits).await) });
    }

    /// Leaves the seat, to take it again with more credits once it is free.
    async fn top_up(&mut self, added: u64) {
        let Some(own) = self.shown.state().my_seat() else { return };
        let top_up = TopUp { seat: own.seat, stack: own.stack_credits, added };
        match self.play.stand_up().await {
            Ok(_) => {
                self.topping_up = Some(top_up);
                self.sit_down_again();
            }
            Err(error) => self.shown.show_message(&refusals::words(&error), Tone::Bad),
        }
    }

    /// Takes the seat that was left for a top up, once it is free.
    fn sit_down_again(&mut self) {
        let Some(top_up) = &mut self.topping_up else { return };
        if let Some(own) = self.shown.state().my_seat() {
            top_up.stack = own.stack_credits;
            return;
        }
        let TopUp { seat, stack, added } = *top_up;
        self.topping_up = None;
        let most = self.shown.state().view().max_buy_in_credits;
        self.sit_down(seat, stack.saturating_add(added).min(most));
    }

    /// Leaves the seat, and stays for as long as a part in chance that was promised is due: whoever
    /// commits and is silent burns the hand for everybody.
    async fn leave_before_the_end(&mut self, screen: &mut Screen) -> anyhow::Result<()> {
        if self.shown.state().my_seat().is_none() {
            return Ok(());
        }
        self.shown.show_message("You leave the table …", Tone::Warn);
        let now = self.clock.now();
        screen.draw(|buffer, palette| self.shown.draw(buffer, palette, now))?;
        let _ = self.play.stand_up().await;
        let until = self.clock.now().plus(LINGER);
        while self.shown.state().my_seat().is_some()
            && self.shown.state().view().entropy.is_some()
            && self.clock.now() < until
        {
            let left = until.since(self.clock.now());
            match tokio::time::timeout(left, self.play.next()).await {
                Ok(Ok(Some(PlayMessage::Watch(seen)))) => {
                    self.shown.apply(&seen, self.clock.now());
                }
                Ok(Ok(Some(_))) => {}
                Ok(Ok(None) | Err(_)) | Err(_) => break,
            }
        }
        Ok(())
    }

    fn ask_balance(&mut self) {
        let client = self.client.clone();
        self.running.spawn(async move {
            let account = client.get_account(None).await;
            Done::Balance(account.map(|account| account.balance_credits))
        });
    }

    fn finished(&mut self, done: Done) {
        let refused = match done {
            Done::SatDown(Ok(seat)) => {
                self.shown.note(&format!("You sit in seat {seat}"), Tone::Good);
                self.ask_balance();
                None
            }
            Done::SatOut(Ok(())) => None,
            Done::Balance(Ok(credits)) => {
                self.shown.set_balance(credits);
                None
            }
            // The account is shown where it can be.
            Done::Balance(Err(_)) => None,
            Done::SatDown(Err(error)) | Done::SatOut(Err(error)) => Some(error),
        };
        if let Some(error) = refused {
            self.shown.show_message(&refusals::words(&error), Tone::Bad);
        }
    }
}
