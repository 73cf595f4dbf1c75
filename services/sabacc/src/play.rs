//! `sabacc play`: sit down at a table in the terminal, and play any of the games.
//!
//! A player without a token signs in as a guest, and comes back with the login that is kept in the
//! data folder. They take part in chance, sign their decisions, check what the room shows, and keep
//! evidence, as every player of `crates/client` does.

mod session;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use client::checkpoints::SharedMonitor;
use client::{Client, Error, Guest, LobbyMessage};
use primitives::{PlayerId, TableId};
use proto::table::v1::LobbyFilter;
use terminal::{LobbyRequest, LobbyScreen, refusals};

use crate::endpoint::{self, RoomEndpoint};
use crate::evidence;
use crate::screen::{Input, Screen};
use session::{End, TableSession};

/// Advice where there is no terminal.
const INSTEAD: &str = "run it in one, or write a client of your own with crates/client; `sabacc watch` follows a \
     table without";

#[derive(Args)]
pub(crate) struct Options {
    /// The table's id, or its name if only one open table has it; none: choose from a list.
    table: Option<String>,
    /// The name to be shown under, for a new guest.
    #[arg(long, value_name = "NAME", default_value = "")]
    name: String,
    /// File of the guest's login [default: one for each room, in the data folder].
    #[arg(long, value_name = "FILE")]
    login: Option<PathBuf>,
    /// Folder for what the room signs to you, which proves a fault of the room [default: beside the
    /// login].
    #[arg(long, value_name = "DIR")]
    evidence: Option<PathBuf>,
    #[command(flatten)]
    door: RoomEndpoint,
}

/// Player who is signed in.
struct Player {
    client: Client,
    id: PlayerId,
    /// Keeps the token fresh.
    _guest: Option<Guest>,
}

pub(crate) async fn run(data: Option<PathBuf>, options: Options) -> anyhow::Result<bool> {
    let Options { table, name, login, evidence: kept_in, door } = options;
    if !crate::screen::can_draw() {
        // Nobody is signed in for a program that cannot show them anything.
        Screen::open(INSTEAD)?;
    }
    let door = door.with_pinned_keys(data.as_deref()).await?;
    let logs = door.checkpoint_monitor(data.as_deref())?;
    let has_token = door.has_token();
    let client = door.connect_as_given(data.clone())?;
    let folder = endpoint::player_folder(data.as_deref(), client.address())?;
    let kept_in = kept_in.unwrap_or_else(|| folder.join("evidence"));
    let monitor = Arc::new(SharedMonitor::new(logs));
    let client = client.with_evidence(evidence::open(&kept_in)?).with_checkpoints(monitor);
    let login = login.unwrap_or_else(|| folder.join("login.json"));
    let player = if has_token { known(client).await } else { guest(client, &login, &name).await };
    let player = player?;
    let table = match &table {
        Some(table) => Some(endpoint::find_table(&player.client, table).await?),
        None => None,
    };
    let mut screen = Screen::open(INSTEAD)?;
    match table {
        Some(table) => TableSession::new(&player, table).run(&mut screen).await.map(|_| true),
        None => choose_and_play(&mut screen, &player).await,
    }
}

/// The player of the token that was given.
async fn known(client: Client) -> anyhow::Result<Player> {
    let profile = client.get_player(None).await.map_err(|error| explained(&error))?;
    let id =
        profile.player_id.parse::<PlayerId>().context("the room answers with no player's id")?;
    Ok(Player { client, id, _guest: None })
}

/// The guest of a login, or a new one.
async fn guest(client: Client, login: &Path, name: &str) -> anyhow::Result<Player> {
    if let Some(folder) = login.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    let guest = Guest::open(&client, login, name).await;
    let guest = guest.map_err(|error| explained(&error)).with_context(|| {
        format!("the login {} was not used: --login names another file", login.display())
    })?;
    Ok(Player { client: guest.client(), id: guest.player().await, _guest: Some(guest) })
}

/// An error in words that say what to do.
fn explained(error: &Error) -> anyhow::Error {
    let words = refusals::words(error);
    match refusals::trace(error) {
        Some(trace) => anyhow::anyhow!("{words} ({trace})"),
        None => anyhow::anyhow!("{words}"),
    }
}

/// Goes from the list of tables to a table and back, until the player quits.
async fn choose_and_play(screen: &mut Screen, player: &Player) -> anyhow::Result<bool> {
    while let Some(table) = choose(screen, player).await? {
        match TableSession::new(player, table).run(screen).await? {
            End::Back => {}
            End::Interrupted => break,
        }
    }
    Ok(true)
}

/// Lets the player choose an open table; none: they quit.
async fn choose(screen: &mut Screen, player: &Player) -> anyhow::Result<Option<TableId>> {
    let mut lobby = LobbyScreen::new();
    let mut tables = player.client.watch_lobby(LobbyFilter::default(), Vec::new());
    loop {
        screen.draw(|buffer, palette| lobby.draw(buffer, palette))?;
        tokio::select! {
            input = screen.input() => match input {
                Input::Interrupted => return Ok(None),
                Input::Resized => {}
                Input::Key(key) => match lobby.key(key) {
                    Some(LobbyRequest::Quit) => return Ok(None),
                    Some(LobbyRequest::Open(id)) => return Ok(Some(wire::field::table_id(&id)?)),
                    None => {}
                },
            },
            seen = tables.next() => apply(&mut lobby, seen),
        }
    }
}

fn apply(lobby: &mut LobbyScreen, seen: Result<LobbyMessage, Error>) {
    match seen {
        Ok(seen) => lobby.apply(seen),
        Err(error) => lobby.show_message(&refusals::words(&error)),
    }
}
