//! Spectators of a table: what many streams cost the players and the room.
//!
//! They come after the players were measured alone, each as a player who has no seat: a room takes
//! few streams without a token. Each reads its stream and folds nothing. The players are then measured
//! once more.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use chassis::auth::Role;
use client::{Client, WatchMessage};
use primitives::TableId;
use serde::Serialize;
use system::ids::IdMaker;
use tokio::task::JoinSet;

use super::target::LoadTarget;
use crate::{process, rounded};

/// Least share of the speed without spectators that players keep with them.
const MIN_SPEED: f64 = 0.9;
/// Most memory of a spectator, in bytes.
const MAX_BYTES: u64 = 64 * 1024;
/// Spectators on a connection.
const PER_CONNECTION: usize = 100;
/// Time for all of them to catch up with the table.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(120);

/// Streams that follow a table.
pub(crate) struct Spectators {
    streams: JoinSet<anyhow::Result<()>>,
    watched: Arc<Watched>,
    /// Resident bytes of the room before they came.
    bytes_before: Option<u64>,
}

/// Counts of all spectators together.
#[derive(Default)]
struct Watched {
    /// Spectators that have caught up with the table.
    arrived: AtomicU64,
    updates: AtomicU64,
}

/// Figures of the spectators, in the form of the JSON output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SpectatorFigures {
    pub(crate) spectators: u32,
    pub(crate) actions_per_second_alone: f64,
    pub(crate) actions_per_second_watched: f64,
    /// Ratio of the two.
    pub(crate) speed: f64,
    /// Updates of the table that all of them received while the players were measured.
    pub(crate) updates: u64,
    /// Resident bytes that the room has more for each; its own end of the streams too where the room
    /// was started for the load. None if the process is not known.
    pub(crate) bytes_each: Option<u64>,
}

impl Spectators {
    /// Opens `count` streams of a table, and waits until all have caught up.
    pub(crate) async fn arrive(
        target: &LoadTarget<'_>,
        table: TableId,
        count: u32,
    ) -> anyhow::Result<Spectators> {
        let watched = Arc::new(Watched::default());
        let bytes_before = room_bytes(target);
        let (mut streams, ids) = (JoinSet::new(), IdMaker::system());
        let mut left = usize::try_from(count)?;
        while left > 0 {
            let connection = Client::connect(target.url, String::new())?;
            for _ in 0..left.min(PER_CONNECTION) {
                let me = ids.player_id().to_string();
                let client = target.client(&connection, Role::Player, &me).without_checks();
                streams.spawn(follow(client, table, Arc::clone(&watched)));
            }
            left = left.saturating_sub(PER_CONNECTION);
        }
        let mut spectators = Spectators { streams, watched, bytes_before };
        let arrival = spectators.until_arrived(count.into());
        tokio::time::timeout(ARRIVAL_TIMEOUT, arrival)
            .await
            .context("the room does not show its table to all spectators in time")??;
        Ok(spectators)
    }

    async fn until_arrived(&mut self, count: u64) -> anyhow::Result<()> {
        let mut ticks = tokio::time::interval(Duration::from_millis(50));
        while self.watched.arrived.load(Ordering::Relaxed) < count {
            tokio::select! {
                _ = ticks.tick() => {}
                Some(ended) = self.streams.join_next() => ended.context("a spectator crashed")??,
            }
        }
        Ok(())
    }

    /// Number of updates that were received so far.
    pub(crate) fn updates(&self) -> u64 {
        self.watched.updates.load(Ordering::Relaxed)
    }

    /// Closes the streams, and returns the resident bytes that the room had more for each.
    pub(crate) fn leave(mut self, target: &LoadTarget<'_>) -> anyhow::Result<Option<u64>> {
        let count = self.streams.len() as u64;
        while let Some(ended) = self.streams.try_join_next() {
            ended.context("a spectator crashed")??;
        }
        let more = room_bytes(target).zip(self.bytes_before);
        Ok(more.map(|(after, before)| after.saturating_sub(before) / count.max(1)))
    }
}

impl SpectatorFigures {
    /// Makes the figures of the actions that were taken in `seconds` without and with spectators.
    #[expect(clippy::cast_precision_loss, reason = "counts of one run stay far below 2^52")]
    pub(crate) fn new(spectators: u32, seconds: f64, alone: u64, watched: u64) -> SpectatorFigures {
        let rate = |actions: u64| actions as f64 / seconds;
        SpectatorFigures {
            spectators,
            actions_per_second_alone: rounded(rate(alone)),
            actions_per_second_watched: rounded(rate(watched)),
            speed: rounded(watched as f64 / (alone.max(1)) as f64),
            updates: 0,
            bytes_each: None,
        }
    }

    /// Returns what is worse than it may be, in words.
    pub(crate) fn faults(&self) -> Vec<String> {
        let SpectatorFigures { spectators, speed, bytes_each, updates, .. } = self;
        let mut faults = Vec::new();
        if *speed < MIN_SPEED {
            faults.push(format!(
                "with {spectators} spectators players keep {speed} of their speed, not {MIN_SPEED}"
            ));
        }
        if let Some(bytes) = bytes_each.filter(|bytes| *bytes > MAX_BYTES) {
            faults.push(format!("a spectator costs {bytes} bytes, more than {MAX_BYTES}"));
        }
        if *updates < u64::from(*spectators) {
            faults.push("not every spectator was sent an update".to_owned());
        }
        faults
    }
}

impl fmt::Display for SpectatorFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SpectatorFigures { spectators, speed, updates, .. } = self;
        let (alone, watched) = (self.actions_per_second_alone, self.actions_per_second_watched);
        write!(
            f,
            "{spectators} spectators: {watched} actions a second after {alone} without, {speed} of \
             it; {updates} updates to them"
        )?;
        match self.bytes_each {
            Some(bytes) => write!(f, "; {bytes} bytes of the room's memory for each"),
            None => Ok(()),
        }
    }
}

/// Returns the resident bytes of the room's process.
fn room_bytes(target: &LoadTarget<'_>) -> Option<u64> {
    let pid = target.server.service.map_or_else(std::process::id, |(_, pid)| pid);
    process::resident_bytes(pid)
}

/// Follows the table until it is closed.
async fn follow(client: Client, table: TableId, watched: Arc<Watched>) -> anyhow::Result<()> {
    let mut watch = client.watch(table);
    while let Some(message) = watch.next().await.context("a spectator was sent away")? {
        match message {
            WatchMessage::CaughtUp => watched.arrived.fetch_add(1, Ordering::Relaxed),
            WatchMessage::Update(_) => watched.updates.fetch_add(1, Ordering::Relaxed),
            WatchMessage::Snapshot(_) => continue,
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_spectators_may_cost_is_judged() {
        let fine = SpectatorFigures {
            updates: 2000,
            bytes_each: Some(65_536),
            ..SpectatorFigures::new(2000, 10.0, 100, 90)
        };
        assert_eq!(fine.actions_per_second_alone, 10.0);
        assert_eq!(fine.faults(), [""; 0]);
        let worse = SpectatorFigures {
            updates: 1999,
            bytes_each: Some(65_537),
            ..SpectatorFigures::new(2000, 10.0, 100, 89)
        };
        assert_eq!(worse.faults().len(), 3);
        // A room elsewhere does not say what memory it has.
        assert_eq!(SpectatorFigures { bytes_each: None, ..fine }.faults(), [""; 0]);
    }
}
