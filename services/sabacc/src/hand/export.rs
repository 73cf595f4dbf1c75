//! `sabacc hand export`: writes a hand of a room as a hand history, as one viewer may see it.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use audit::hand::HandRecords;
use clap::{Args, ValueEnum};
use history::HandHistory;
use primitives::{HandId, PlayerId};
use proto::event::v1::HandOpened;
use rules::{Event, Hand, Player, Viewer};
use wire::TableRecord;

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
    let (opened, inputs) = audit::hand::inputs(&records)
        .map_err(|why| anyhow::anyhow!("hand {id} cannot be written down: {why}"))?;
    let viewer = viewer(&options.viewer, &opened)?;
    censored_history(&records, &opened, &inputs, viewer)
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

/// Creates the history: each line is the rules' censored event for the viewer.
fn censored_history(
    records: &HandRecords,
    opened: &HandOpened,
    inputs: &[Event],
    viewer: Viewer,
) -> anyhow::Result<HandHistory> {
    let setup = wire::replay::setup(opened)?;
    let players = opened
        .roster
        .iter()
        .map(|seat| Ok(PlayerId::try_from(seat.player_id.as_ref())?.to_string()));
    let mut history = HandHistory::for_setup(&setup, players.collect::<anyhow::Result<_>>()?);
    history.id = Some(records.hand_id.to_string());
    history.table = Some(primitives::TableId::try_from(opened.table_id.as_ref())?.to_string());
    history.started_at = records.hand.first().map(|first| first.recorded_at.to_string());
    history.engine = Some(format!("sabacc {}", env!("CARGO_PKG_VERSION")));
    let commitment = opened.commitment.as_ref();
    history.commitment = commitment.map(|made| hex::encode(&made.commitment));
    let mut hand = Hand::try_new(&setup)?;
    for input in inputs {
        if let Some(seen) = rules::censor(&hand, input, viewer) {
            history.actions.push(seen.to_string());
        }
        rules::evolve(&mut hand, input);
    }
    // An aborted hand ends without a settlement.
    if !is_aborted(records) {
        let end = hand.settlement().context("the hand is not over")?;
        history.settle(&setup.rules, end);
    }
    Ok(history)
}

fn is_aborted(records: &HandRecords) -> bool {
    let aborted = |record| matches!(record, TableRecord::HandAborted(_));
    records.hand.iter().filter_map(|event| event.decode()).any(aborted)
}
