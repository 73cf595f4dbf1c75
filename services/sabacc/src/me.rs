//! `sabacc me`: what a player sees and sets of their own, with their token.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use client::Client;
use primitives::TableId;
use prost_types::Timestamp;
use proto::audit::v1::{HandResult, ListPlayerHandsRequest, PlayerHand};
use proto::table::v1::PlayerSeat;
use serde_json::json;

use crate::accounts::{self, LimitOptions, print, show_limits};
use crate::endpoint::RoomEndpoint;
use crate::output;

/// Hands of a page: as many as there may be.
const PAGE_SIZE: i32 = 500;

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    room: RoomEndpoint,
    #[command(subcommand)]
    command: Option<MyCommand>,
}

#[derive(Subcommand)]
enum MyCommand {
    /// Show your account.
    Account,
    /// Show the name that you are shown under, or set it.
    Name {
        /// The new name, 1 to 24 characters; an empty one: none any more.
        name: Option<String>,
    },
    /// Show your limits, or set them: tighter ones hold at once, looser ones after 24 hours.
    Limits {
        #[command(flatten)]
        limits: LimitOptions,
    },
    /// Keep yourself out of play. It can be made longer and never shorter.
    Exclude(ExclusionEnd),
    /// List the hands you were dealt into, newest first, with what you won or lost in each.
    Hands(HandOptions),
    /// List the tables where you have a seat.
    Seats,
}

/// Choice of hands: those that pass every option.
#[derive(Args)]
struct HandOptions {
    /// Hands of this game, such as `dice`.
    #[arg(long)]
    game: Option<String>,
    /// Hands of the table with this id.
    #[arg(long, value_name = "ID")]
    table: Option<TableId>,
    /// Hands with this result.
    #[arg(long, value_enum)]
    result: Option<ResultOption>,
    /// Hands that started at this time or later, such as 2027-01-31T00:00:00Z.
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
    /// Hands that started before this time.
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,
}

#[derive(Clone, Copy, ValueEnum)]
enum ResultOption {
    Won,
    Lost,
    Even,
}

/// End of an exclusion: it must be said.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct ExclusionEnd {
    /// Until when, such as 2027-01-31T00:00:00Z.
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,
    /// For good: nobody can undo it.
    #[arg(long)]
    for_good: bool,
}

/// Runs the command.
pub(crate) async fn run(
    data: Option<PathBuf>,
    json: bool,
    options: Options,
) -> anyhow::Result<bool> {
    let Options { room, command } = options;
    let client = room.connect_with_token(data)?;
    match command.unwrap_or(MyCommand::Account) {
        MyCommand::Account => accounts::show(&client, json, None).await?,
        MyCommand::Name { name } => {
            let name = match name {
                Some(name) => client.set_name(&name).await?,
                None => client.get_player(None).await?.name,
            };
            let shown = output::one_line(&name);
            let text = if name.is_empty() { "you have no name" } else { &*shown };
            print(json, &json!({ "name": name }), text);
        }
        MyCommand::Limits { limits } => show_limits(&client, json, None, limits).await?,
        MyCommand::Exclude(ExclusionEnd { until, for_good: _ }) => {
            accounts::exclude(&client, json, None, until).await?;
        }
        MyCommand::Hands(options) => hands(&client, json, options).await?,
        MyCommand::Seats => seats(&client, json).await?,
    }
    Ok(true)
}

/// Prints the hands that pass the options, newest first, and what they add up to.
async fn hands(client: &Client, json: bool, options: HandOptions) -> anyhow::Result<()> {
    let (mut count, mut net) = (0_u64, 0_i64);
    let mut request = options.request();
    loop {
        let page = client.list_player_hands(request.clone()).await?;
        for hand in &page.hands {
            (count, net) = (count + 1, net.saturating_add(hand.net_credits));
            print_hand(json, hand);
        }
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    print(json, &json!({ "hands": count, "net": net }), &format!("{count} hands, {net:+} credits"));
    Ok(())
}

impl HandOptions {
    fn request(self) -> ListPlayerHandsRequest {
        let HandOptions { game, table, result, since, until } = self;
        let result = match result {
            None => HandResult::Unspecified,
            Some(ResultOption::Won) => HandResult::Won,
            Some(ResultOption::Lost) => HandResult::Lost,
            Some(ResultOption::Even) => HandResult::Even,
        };
        ListPlayerHandsRequest {
            player_id: String::new(),
            table_id: table.map_or_else(String::new, |table| table.to_string()),
            variant: game.unwrap_or_default(),
            result: result.into(),
            start_time: since,
            end_time: until,
            page_size: PAGE_SIZE,
            page_token: String::new(),
        }
    }
}

fn print_hand(json: bool, hand: &PlayerHand) {
    let outcome = hand.outcome().as_str_name();
    let outcome = outcome.strip_prefix("HAND_OUTCOME_").unwrap_or(outcome).to_lowercase();
    let PlayerHand { table_id, table_name, variant, hand_no, hand_id, seat, net_credits, .. } =
        hand;
    let start = hand.start_time.map(|at| at.to_string());
    let end = hand.end_time.map(|at| at.to_string());
    let value = json!({
        "table": table_id, "name": table_name, "game": variant, "hand_no": hand_no,
        "hand": hand_id, "seat": seat, "net": net_credits, "outcome": outcome,
        "start": start, "end": end,
    });
    let (start, name) = (start.unwrap_or_default(), output::one_line(table_name));
    let (game, table) = (output::one_line(variant), output::one_line(table_id));
    let row = format!(
        "{start:<27}  {net_credits:>+8}  {outcome:<8}  {game} hand {hand_no} at {name} ({table})"
    );
    print(json, &value, &row);
}

/// Prints the player's seats.
async fn seats(client: &Client, json: bool) -> anyhow::Result<()> {
    let seats = client.list_seats(None).await?;
    if seats.is_empty() && !json {
        output::line("you have no seat");
    }
    for seat in &seats {
        print_seat(json, seat);
    }
    Ok(())
}

fn print_seat(json: bool, seat: &PlayerSeat) {
    let state = seat.state().as_str_name();
    let state = state.strip_prefix("SEAT_STATE_").unwrap_or(state).to_lowercase();
    let PlayerSeat { table_id, table_name, variant, seat, stack_credits, hand_no, .. } = seat;
    let value = json!({
        "table": table_id, "name": table_name, "game": variant, "seat": seat,
        "stack": stack_credits, "state": state, "hand_no": hand_no,
    });
    let (id, game) = (output::one_line(table_id), output::one_line(variant));
    let name = output::one_line(table_name);
    let row = format!("{id}  {game:<10} seat {seat}  {stack_credits:>8}  {state:<11}  {name}");
    print(json, &value, &row);
}
