//! Honest players at their own table, who decide after a short time to think, and counts of what
//! the room does to them.

mod player;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use client::Client;
use primitives::{Credits, TableId};
use proto::table::v1::{TableConfig, TableView};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Percentiles;
use crate::room::{Guest, Room};
use player::Player;

/// Longest time from closing a table until it is empty.
const CLOSES_WITHIN: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(100);

/// Counts of the crew's events within a period.
#[derive(Debug, Clone, Default)]
pub struct CrewCounts {
    /// Times from sending a decision to its answer.
    pub latencies: Vec<Duration>,
    pub hands: u64,
    /// Burnt or voided hands.
    pub voided: u64,
    /// Burnt or voided hands whose fault was put on a seat of the crew.
    pub blamed: u64,
    /// Decisions that the clock took from one of the crew.
    pub clock_decisions: u64,
    /// Refused calls, by reason.
    pub refused: BTreeMap<String, u64>,
}

/// Counts of a period, with its length.
#[derive(Debug, Clone)]
pub struct Period {
    pub seconds: f64,
    pub counts: CrewCounts,
}

impl Period {
    /// Ended hands per second.
    #[must_use]
    pub fn hands_per_second(&self) -> f64 {
        f64::from(u32::try_from(self.counts.hands).unwrap_or(u32::MAX)) / self.seconds.max(0.001)
    }

    /// Percentiles of the times of decisions; none without an answer.
    #[must_use]
    pub fn percentiles(&self) -> Option<Percentiles> {
        Percentiles::of(self.counts.latencies.clone())
    }
}

/// Counts of all players.
#[derive(Default)]
pub(crate) struct Totals(Mutex<CrewCounts>);

impl Totals {
    pub(crate) fn add(&self, change: impl FnOnce(&mut CrewCounts)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn take(&self) -> CrewCounts {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn hands(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).hands
    }
}

/// Options of a crew.
#[derive(Debug, Clone)]
pub struct CrewOptions {
    pub players: u32,
    /// Seats of the table; the others stay free.
    pub seats: u32,
    pub game: String,
    /// Shortest and longest thinking time before a decision.
    pub think_time: (Duration, Duration),
    /// Whether the last player is hostile, so that what is charged to them is not counted.
    pub is_last_hostile: bool,
}

impl Default for CrewOptions {
    /// Three players at a table for five, with a game of short hands and a thinking time that keeps
    /// each of them far below the call limit of a player.
    fn default() -> CrewOptions {
        CrewOptions {
            players: 3,
            seats: 5,
            game: "eleven".to_owned(),
            think_time: (Duration::from_millis(30), Duration::from_millis(90)),
            is_last_hostile: false,
        }
    }
}

/// Playing crew.
pub struct Crew {
    pub table: TableId,
    /// Its players, in no order.
    pub guests: Vec<Guest>,
    operator: Client,
    playing: JoinSet<Result<(), client::Error>>,
    totals: Arc<Totals>,
    stop: CancellationToken,
}

impl Crew {
    /// Opens a table and seats the crew, which starts to play at once.
    ///
    /// # Errors
    /// The room refuses.
    pub async fn seat(room: &Room, style: &CrewOptions) -> anyhow::Result<Crew> {
        let operator = room.operator()?;
        let config = TableConfig {
            name: "honest".to_owned(),
            variant: style.game.clone(),
            seats: style.seats,
            // The least that a room allows: a seat that never commits costs each hand so much.
            commit_ms: 500,
            reveal_ms: 500,
            contributors_min: Some(0),
            ..TableConfig::default()
        };
        let table = operator.create_table(config).await?;
        let buy_in = Credits::try_new(operator.get_table(table).await?.max_buy_in_credits)?;
        let (tally, stop) = (Arc::new(Totals::default()), CancellationToken::new());
        let (mut playing, mut guests) = (JoinSet::new(), Vec::new());
        for number in 0..style.players {
            let guest = room.guest().await?;
            let player = Player::new(player::PlayerDependencies {
                guest: guest.clone(),
                table,
                buy_in,
                think_time: style.think_time,
                counts_hands: number == 0,
                counts_charges: !(style.is_last_hostile && number + 1 == style.players),
                totals: Arc::clone(&tally),
                stop: stop.clone(),
            });
            playing.spawn(player.play());
            guests.push(guest);
        }
        Ok(Crew { table, guests, operator, playing, totals: tally, stop })
    }

    /// Counts the events of the next `span`.
    pub async fn measure(&self, span: Duration) -> Period {
        let begun = self.begin();
        tokio::time::sleep(span).await;
        self.end(begun)
    }

    /// Starts a period and drops the counts before it.
    #[must_use]
    pub fn begin(&self) -> Instant {
        self.totals.take();
        Instant::now()
    }

    /// Ends a period and returns its counts.
    #[must_use]
    pub fn end(&self, begun: Instant) -> Period {
        Period { seconds: begun.elapsed().as_secs_f64(), counts: self.totals.take() }
    }

    /// Hands that ended since the start of the period.
    #[must_use]
    pub fn hands(&self) -> u64 {
        self.totals.hands()
    }

    /// Waits until `more` hands have ended.
    ///
    /// # Errors
    /// They have not ended within `timeout`.
    pub async fn wait_for_hands(&self, more: u64, timeout: Duration) -> anyhow::Result<()> {
        let (first, end) = (self.hands(), Instant::now() + timeout);
        while self.hands() < first + more {
            if Instant::now() >= end {
                bail!("{} of {more} hands ended within {timeout:?}", self.hands() - first);
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    /// Returns the public view of the table.
    ///
    /// # Errors
    /// The room does not answer.
    pub async fn view(&self) -> anyhow::Result<TableView> {
        Ok(self.operator.get_table(self.table).await?)
    }

    /// Describes the table in a line, for failed tests.
    pub async fn state(&self) -> String {
        let view = match self.view().await {
            Ok(view) => view,
            Err(error) => return format!("{error:#}"),
        };
        let seats = view.seats.iter().filter(|seat| !seat.player_id.is_empty());
        let seats =
            seats.map(|seat| format!("{} {:?} {}", seat.seat, seat.state(), seat.stack_credits));
        let seats: Vec<String> = seats.collect();
        let turn = view.hand.as_ref().and_then(|hand| hand.turn.as_ref());
        let turn =
            turn.map_or("nobody's turn".to_owned(), |turn| format!("seat {}'s turn", turn.seat));
        let stopped: Vec<&str> = view.stopped.iter().map(|effect| effect.what.as_str()).collect();
        format!("hand {}, {turn}; seats: {}; stopped: {stopped:?}", view.hand_no, seats.join(", "))
    }

    /// Closes the table, and waits until the whole crew is paid out.
    ///
    /// # Errors
    /// It does not close, a seat keeps credits, or a player of the crew gave up before.
    pub async fn close(mut self) -> anyhow::Result<()> {
        self.operator.close_table(self.table).await?;
        let all = async {
            while let Some(player) = self.playing.join_next().await {
                player.context("an honest player crashed")?.context("an honest player gave up")?;
            }
            anyhow::Ok(())
        };
        let closed = tokio::time::timeout(CLOSES_WITHIN, all).await;
        self.stop.cancel();
        closed
            .map_err(|_| anyhow::anyhow!("the table does not close within {CLOSES_WITHIN:?}"))??;
        for guest in &self.guests {
            let account = guest.client.get_account(None).await?;
            let locked: u64 = account.seats.iter().map(|seat| seat.balance_credits).sum();
            if locked > 0 {
                bail!("{locked} credits of {} are locked in a seat", guest.id);
            }
        }
        Ok(())
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
