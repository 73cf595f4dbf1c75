//! `sabacc hand export`: writes a hand of a room as a hand history, as one viewer may see it.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use history::HandHistory;
use primitives::{HandId, PlayerId};
use proto::event::v1::HandOpened;
use rules::{Player, Viewer};

use crate::logs::Logs;
use crate::output;

#[derive(Args)]
pub(crate) struct Options {
    /// The hand's id, or `latest`.
    id: String,
    /// The format to write.
    #[arg(long = "as", value_enum, default_value = "shh")]
    form: Format,
    /// The viewer: a player's id, a seat's `pN`, `public` or `auditor`.
    #[arg(long, value_name = "VIEWER", default_value = "public")]
    viewer: String,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Text, for people.
    Shh,
    /// The protobuf message as JSON.
    Json,
    /// The protobuf message.
    Binary,
}

pub(crate) async fn run(data: Option<PathBuf>, options: &Options) -> anyhow::Result<bool> {
    let mut logs = Logs::open(data).await?;
    let history = export(&mut logs, options).await;
    logs.close().await?;
    let history = history?;
    match options.form {
        Format::Shh => output::text(&history::write(&[history]))?,
        Format::Json => output::line(&history::json::write(&history)),
        Format::Binary => std::io::stdout().lock().write_all(&wire::history::encode(&history))?,
    }
    Ok(true)
}

async fn export(logs: &mut Logs, options: &Options) -> anyhow::Result<HandHistory> {
    let id: HandId = logs.parse_hand_id(&options.id).await?;
    let records = logs.hand_records(id).await?;
    let unwritable = |why| anyhow::anyhow!("hand {id} cannot be written down: {why}");
    let (opened, _) = audit::hand::inputs(&records).map_err(unwritable)?;
    let viewer = viewer(&options.viewer, &opened)?;
    let engine = concat!("sabacc ", env!("CARGO_PKG_VERSION"));
    audit::hand::history(&records, viewer, engine).map_err(unwritable)
}

fn viewer(named: &str, opened: &HandOpened) -> anyhow::Result<Viewer> {
    if named == "public" {
        return Ok(Viewer::Public);
    }
    if named == "auditor" {
        return Ok(Viewer::Auditor);
    }
    if let Some(player) = Player::parse(named)
        && player.index() < opened.roster.len()
    {
        return Ok(Viewer::Player(player));
    }
    let Ok(id) = named.parse::<PlayerId>() else {
        bail!(
            "`{named}` is no viewer: public, auditor, p1 to p{}, or a player's id",
            opened.roster.len()
        );
    };
    let index = opened.roster.iter().position(|seat| seat.player_id.as_ref() == id.bytes());
    let index = index.with_context(|| format!("player {id} was not dealt into this hand"))?;
    let player = u8::try_from(index).ok().and_then(Player::try_new);
    Ok(Viewer::Player(player.context("a hand has at most eight players")?))
}
