//! `sabacc top`: the room as a whole, live.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use client::{Client, Error};
use system::clock::{Clock as _, SystemClock};
use terminal::{Key, RoomSample, RoomScreen, refusals};
use tokio::time::{MissedTickBehavior, interval};

use crate::endpoint::RoomEndpoint;
use crate::screen::{Input, Screen};

#[derive(Args)]
pub(crate) struct Options {
    /// Seconds between two looks at the room, 1 to 60.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=60))]
    every: u64,
    #[command(flatten)]
    room: RoomEndpoint,
}

/// Draws the room until it is interrupted.
pub(crate) async fn run(data: Option<PathBuf>, options: Options) -> anyhow::Result<bool> {
    let client = options.room.connect(data, "top")?;
    // A room that is not there is reported before the screen is taken.
    let first = sample(&client).await?;
    let mut screen = Screen::open("`sabacc room` prints the room once, with --json for programs")?;
    let mut room = RoomScreen::new();
    room.apply(first);
    let mut ticks = interval(Duration::from_secs(options.every));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.tick().await;
    loop {
        screen.draw(|buffer, palette| room.draw(buffer, palette))?;
        tokio::select! {
            input = screen.input() => match input {
                Input::Interrupted | Input::Key(Key::Char('q') | Key::Escape) => return Ok(true),
                Input::Key(_) | Input::Resized => {}
            },
            _ = ticks.tick() => match sample(&client).await {
                Ok(sample) => room.apply(sample),
                Err(error) => room.show_problem(&refusals::words(&error)),
            },
        }
    }
}

async fn sample(client: &Client) -> Result<RoomSample, Error> {
    let (room, tables) = tokio::try_join!(client.room(), client.list_tables())?;
    Ok(RoomSample { room, tables, at: SystemClock::new().now() })
}
