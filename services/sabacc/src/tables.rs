//! `sabacc table`: opens, lists, disables and closes tables, and resumes what has stopped at one.

mod disable;
mod resume;

use std::path::PathBuf;

use chassis::auth::Role;
use clap::{Args, Subcommand};
use primitives::Credits;
use proto::table::v1::{LobbyFilter, TableConfig, TableSummary};
use serde_json::{Value, json};
use wire::ruleset::write_field;

use crate::endpoint::{RoomEndpoint, find_table};
use crate::explain;
use crate::output;

#[derive(Subcommand)]
pub(crate) enum TableCommand {
    /// Open a table, as an operator; prints its id.
    Open(Box<Opening>),
    /// List the open tables, or those that pass every option.
    List(Listing),
    /// Stop dealing after the hand in play, pay everybody out and close, as an operator.
    Close {
        #[command(flatten)]
        room: RoomEndpoint,
        /// The table's id, or its name if only one open table has it.
        table: String,
    },
    /// Start no hand at a table until it is enabled, as an operator; the hand in play goes on to its
    /// end, and players may leave.
    Disable(disable::Options),
    /// Let a table start hands again, as an operator.
    Enable(disable::Options),
    /// Resume the stopped effects of a table, as an operator, for a reason that is on record.
    Resume(resume::Options),
}

/// Choice of open tables.
#[derive(Args)]
pub(crate) struct Listing {
    #[command(flatten)]
    room: RoomEndpoint,
    /// Tables of this game, such as `dice`.
    #[arg(long)]
    game: Option<String>,
    /// Tables with at least this ante.
    #[arg(long, value_name = "CREDITS")]
    min_ante: Option<Credits>,
    /// Tables with at most this ante.
    #[arg(long, value_name = "CREDITS")]
    max_ante: Option<Credits>,
    /// Tables that take a buy-in of this many credits or more.
    #[arg(long, value_name = "CREDITS")]
    min_buy_in: Option<Credits>,
    /// Tables that take a buy-in of this many credits or fewer.
    #[arg(long, value_name = "CREDITS")]
    max_buy_in: Option<Credits>,
    /// Tables with at least so many free seats.
    #[arg(long, value_name = "N", default_value_t = 0)]
    free_seats: u32,
    /// Tables where you have a seat; with a player's token.
    #[arg(long)]
    mine: bool,
}

/// Settings of a table to open. Settings that are not given are the room's defaults.
#[derive(Args)]
pub(crate) struct Opening {
    #[command(flatten)]
    room: RoomEndpoint,
    /// The game: `sabacc rules` lists all.
    game: String,
    /// The name that players see, 1 to 60 characters.
    #[arg(long)]
    name: String,
    /// Fields that differ from the game's defaults: `key=value,…`; the items of a list are joined
    /// by `+`.
    #[arg(long, value_name = "FIELDS", default_value = "")]
    ruleset: String,
    /// The least credits to sit down with [default: 20 times what one hand needs].
    #[arg(long, value_name = "CREDITS")]
    min_buy_in: Option<Credits>,
    /// The most credits to sit down with [default: ten times the least].
    #[arg(long, value_name = "CREDITS")]
    max_buy_in: Option<Credits>,
    /// The number of seats [default: as many as the game takes].
    #[arg(long, value_name = "N")]
    seats: Option<u32>,
    /// Seconds for each decision, 1 to 600 [default: 20].
    #[arg(long, value_name = "SECONDS")]
    action_seconds: Option<u32>,
    /// Seconds of each player's time bank for a hand, up to 600 [default: 30].
    #[arg(long, value_name = "SECONDS")]
    bank_seconds: Option<u32>,
    /// Milliseconds between hands, up to 60,000 [default: none].
    #[arg(long, value_name = "MS")]
    pause_ms: Option<u32>,
    /// Milliseconds to commit to entropy, 500 to 10,000 [default: 2000].
    #[arg(long, value_name = "MS")]
    commit_ms: Option<u32>,
    /// Milliseconds to reveal it, 500 to 10,000 [default: 2000].
    #[arg(long, value_name = "MS")]
    reveal_ms: Option<u32>,
    /// Seats that must have committed before commitments close, up to 8 [default: 1].
    #[arg(long, value_name = "N")]
    contributors_min: Option<u32>,
    /// Hours for which a hand may be suspended, 1 to 168 [default: 2].
    #[arg(long, value_name = "HOURS")]
    suspend_hours: Option<u32>,
    /// Seconds after which an unused seat is paid out, 30 to 86,400 [default: 600].
    #[arg(long, value_name = "SECONDS")]
    idle_seconds: Option<u32>,
    /// Open the seed of a hand 24 hours after its settlement instead of at once.
    #[arg(long)]
    reveal_delayed: bool,
}

/// Runs the command.
pub(crate) async fn run(
    data: Option<PathBuf>,
    json: bool,
    command: TableCommand,
) -> anyhow::Result<bool> {
    match command {
        TableCommand::Open(opening) => open(data, json, *opening).await,
        TableCommand::List(listing) => list(data, json, listing).await,
        TableCommand::Close { room, table } => close(data, json, room, &table).await,
        TableCommand::Disable(options) => disable::disable(data, json, options).await,
        TableCommand::Enable(options) => disable::enable(data, json, options).await,
        TableCommand::Resume(options) => resume::run(data, json, options).await,
    }
}

async fn open(data: Option<PathBuf>, json: bool, opening: Opening) -> anyhow::Result<bool> {
    let (room, config) = opening.split()?;
    let client = room.connect_as(data, Role::Operator, "table")?;
    let table = client.create_table(config).await?;
    output::line(&if json {
        json!({ "table": table.to_string() }).to_string()
    } else {
        table.to_string()
    });
    Ok(true)
}

async fn list(data: Option<PathBuf>, json: bool, listing: Listing) -> anyhow::Result<bool> {
    let (room, filter) = listing.split();
    let client =
        if filter.mine { room.connect_with_token(data) } else { room.connect(data, "table") };
    let tables = client?.list_tables_where(filter).await?;
    if json {
        for table in &tables {
            output::line(&as_json(table).to_string());
        }
        return Ok(true);
    }
    if tables.is_empty() {
        output::line("no open tables");
    }
    for table in &tables {
        output::line(&describe(table));
    }
    Ok(true)
}

async fn close(
    data: Option<PathBuf>,
    json: bool,
    room: RoomEndpoint,
    named: &str,
) -> anyhow::Result<bool> {
    let client = room.connect_as(data, Role::Operator, "table")?;
    let table = find_table(&client, named).await?;
    client.close_table(table).await?;
    output::line(&if json {
        json!({ "table": table.to_string(), "closing": true }).to_string()
    } else {
        format!("table {table} closes after the hand in play, and pays everybody out")
    });
    Ok(true)
}

fn describe(table: &TableSummary) -> String {
    let TableSummary { table_id, name, variant, seats, seated, hand_no, .. } = table;
    let TableSummary { ante_credits: ante, min_buy_in_credits, max_buy_in_credits, bots, .. } =
        table;
    let name = output::one_line(name);
    let id = output::one_line(table_id);
    let stakes = format!("ante {ante}, buy-in {min_buy_in_credits} to {max_buy_in_credits}");
    let disabled = table.disabled.as_ref().map_or_else(String::new, |disabled| {
        format!("  disabled: {}", output::one_line(&disabled.reason))
    });
    format!(
        "{id}  {variant:<10} {seated}/{seats} seats, {bots} bots  {stakes:<32}  hand {hand_no:<8} {name}{disabled}"
    )
}

fn as_json(table: &TableSummary) -> Value {
    let TableSummary { table_id, name, variant, seats, seated, hand_no, .. } = table;
    json!({
        "table": table_id, "name": name, "game": variant,
        "seats": seats, "seated": seated, "bots": table.bots, "hand_no": hand_no, "ante": table.ante_credits,
        "min_buy_in": table.min_buy_in_credits, "max_buy_in": table.max_buy_in_credits,
        "disabled": table.disabled.as_ref().map(|disabled| &disabled.reason),
    })
}

impl Listing {
    /// The room, and the filter that the options stand for.
    fn split(self) -> (RoomEndpoint, LobbyFilter) {
        let filter = LobbyFilter {
            variant: self.game.unwrap_or_default(),
            min_ante_credits: self.min_ante.map_or(0, Credits::get),
            max_ante_credits: self.max_ante.map(Credits::get),
            min_buy_in_credits: self.min_buy_in.map_or(0, Credits::get),
            max_buy_in_credits: self.max_buy_in.map(Credits::get),
            min_free_seats: self.free_seats,
            mine: self.mine,
        };
        (self.room, filter)
    }
}

impl Opening {
    /// The room, and the configuration that the options stand for.
    fn split(self) -> anyhow::Result<(RoomEndpoint, TableConfig)> {
        let variant = explain::find_variant(&self.game)?;
        let fields = explain::parse_fields(variant, &self.ruleset)?;
        let config = TableConfig {
            name: self.name,
            variant: variant.id.to_owned(),
            rule_set: fields.iter().map(|(name, value)| write_field(name, value)).collect(),
            min_buy_in_credits: self.min_buy_in.map_or(0, Credits::get),
            max_buy_in_credits: self.max_buy_in.map_or(0, Credits::get),
            action_seconds: self.action_seconds.unwrap_or_default(),
            bank_seconds: self.bank_seconds,
            pause_ms: self.pause_ms.unwrap_or_default(),
            seats: self.seats.unwrap_or_default(),
            reveal_delayed: self.reveal_delayed,
            commit_ms: self.commit_ms.unwrap_or_default(),
            reveal_ms: self.reveal_ms.unwrap_or_default(),
            contributors_min: self.contributors_min,
            suspend_hours: self.suspend_hours.unwrap_or_default(),
            idle_seconds: self.idle_seconds.unwrap_or_default(),
        };
        Ok((self.room, config))
    }
}
