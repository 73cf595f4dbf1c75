//! A followed table, drawn.

use std::time::Duration;

use client::checkpoints::{CheckpointMonitor, DirectoryStore};
use client::{Client, WatchMessage};
use primitives::{TableId, UnixMicros};
use system::clock::{Clock as _, SystemClock};
use terminal::{Request, TableScreen, Tone, refusals};
use tokio::time::{MissedTickBehavior, interval};

use super::is_fault;
use crate::screen::{Input, Screen};

/// Time between two drawings of a clock that runs.
const TICK: Duration = Duration::from_millis(250);
/// Pause after a stream that cannot be opened.
const PAUSE: Duration = Duration::from_secs(1);

/// Draws a table until the user quits or it is closed. Returns whether everything checked.
pub(super) async fn run(
    client: &Client,
    logs: &CheckpointMonitor<DirectoryStore>,
    table: TableId,
) -> anyhow::Result<bool> {
    let mut screen = Screen::open("`sabacc watch --plain` prints lines")?;
    let mut watch = client.watch(table);
    let mut viewer = Viewer {
        shown: TableScreen::watching(),
        chance: client.chance(table, None),
        is_trusted: true,
    };
    let clock = SystemClock::new();
    let (mut is_over, mut not_before) = (false, UnixMicros(0));
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let now = clock.now();
        viewer.shown.set_live(watch.is_live(), now);
        screen.draw(|buffer, palette| viewer.shown.draw(buffer, palette, now))?;
        let is_due = !is_over && now >= not_before;
        tokio::select! {
            input = screen.input() => match input {
                Input::Interrupted => return Ok(viewer.is_trusted),
                Input::Resized => {}
                Input::Key(key) => if viewer.shown.key(key) == Some(Request::Quit) {
                    return Ok(viewer.is_trusted);
                },
            },
            seen = watch.next(), if is_due => match seen {
                Ok(Some(seen)) => {
                    viewer.apply(&seen, now);
                    if seen.is_hand_end() {
                        viewer.check(logs, client).await;
                    }
                }
                Ok(None) => {
                    is_over = true;
                    viewer.shown.show_message("The table is closed. q quits.", Tone::Warn);
                }
                Err(error) => {
                    not_before = now.plus(PAUSE);
                    viewer.shown.lost(now);
                    viewer.shown.show_message(&refusals::words(&error), Tone::Bad);
                }
            },
            _ = ticks.tick() => {}
        }
    }
}

/// Viewer who looks on, and checks.
struct Viewer {
    shown: TableScreen,
    chance: client::Chance,
    is_trusted: bool,
}

impl Viewer {
    fn apply(&mut self, seen: &WatchMessage, now: UnixMicros) {
        if let Err(found) = self.chance.apply(seen) {
            self.distrust(&found.to_string());
        }
        for notice in self.chance.take_notices() {
            self.shown.note(&notice.to_string(), Tone::Warn);
        }
        self.shown.apply(seen, now);
        let hand_no = self.shown.hand_no();
        self.shown.set_proofs(hand_no.and_then(|hand_no| self.chance.proofs(hand_no)));
    }

    async fn check(&mut self, logs: &CheckpointMonitor<DirectoryStore>, client: &Client) {
        match logs.check(client).await {
            Err(found) if is_fault(&found) => self.distrust(&found.to_string()),
            Err(found) => self.shown.note(&found.to_string(), Tone::Warn),
            Ok(_) => {}
        }
    }

    fn distrust(&mut self, found: &str) {
        self.is_trusted = false;
        self.shown.show_message(found, Tone::Bad);
        self.shown.note(found, Tone::Bad);
    }
}
