//! `sabacc me`: what a player sees and sets of their own, with their token.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use client::Client;
use prost_types::Timestamp;
use proto::wallet::v1::{Entry, TransferKind};
use serde_json::json;

use crate::accounts::{self, LimitOptions, print, show_limits};
use crate::endpoint::RoomEndpoint;
use crate::output;

/// Entries of a page: as many as there may be.
const PAGE_SIZE: i32 = 1_000;

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
    /// List the hands you were dealt into, with what you won or lost in each.
    Hands,
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
        MyCommand::Hands => hands(&client, json).await?,
    }
    Ok(true)
}

/// Prints each settlement of the player's statement, oldest first, and what they add up to.
async fn hands(client: &Client, json: bool) -> anyhow::Result<()> {
    let (mut count, mut net, mut page_token) = (0_u64, 0_i64, String::new());
    loop {
        let page = client.list_entries(None, PAGE_SIZE, &page_token).await?;
        for entry in &page.entries {
            if entry.kind() == TransferKind::Settlement {
                (count, net) = (count + 1, net.saturating_add(entry.at_table_credits));
                print_hand(json, entry);
            }
        }
        if page.next_page_token.is_empty() {
            break;
        }
        page_token = page.next_page_token;
    }
    print(json, &json!({ "hands": count, "net": net }), &format!("{count} hands, {net:+} credits"));
    Ok(())
}

fn print_hand(json: bool, entry: &Entry) {
    let table = output::one_line(&entry.table_id);
    // A log that was cut keeps the amounts, not the ids and times.
    let hand = Some(output::one_line(&entry.hand_id)).filter(|hand| !hand.is_empty());
    let at = entry.record_time.map(|at| at.to_string());
    let net = entry.at_table_credits;
    let value = json!({ "table": table, "hand": hand, "at": at, "net": net });
    let (at, hand) = (at.unwrap_or_default(), hand.unwrap_or_else(|| "in the archive".to_owned()));
    print(json, &value, &format!("{at:<27}  {net:>+8}  table {table}  hand {hand}"));
}
