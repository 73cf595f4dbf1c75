//! `sabacc account`: shows and changes players' accounts, as an operator.

mod limits;

use std::path::PathBuf;

use chassis::auth::Role;
use clap::{Args, Subcommand};
use client::Client;
use client::accounts::IssueResult;
use primitives::{Credits, PlayerId, RequestId};
use prost_types::Timestamp;
use proto::wallet::v1::{Adjustment, GetAccountResponse};
use serde_json::{Value, json};

use crate::endpoint::RoomEndpoint;
use crate::output;
pub(crate) use limits::{LimitOptions, show_limits};

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    room: RoomEndpoint,
    /// The operator's name that is recorded, where no token is given: an adjustment needs two.
    #[arg(long, value_name = "NAME", default_value = "operator")]
    operator: String,
    #[command(subcommand)]
    command: AccountCommand,
}

#[derive(Subcommand)]
enum AccountCommand {
    /// Show an account: credits, seats, state.
    Show { player: PlayerId },
    /// Open an account without credits.
    Open { player: PlayerId },
    /// Create credits on an account.
    Issue(Change),
    /// Remove credits from an account.
    Redeem(Change),
    /// Propose an adjustment of any account; nothing moves before another operator approves it.
    Adjust {
        /// The account's name, such as `player/ID` or `house/suspense`.
        account: String,
        /// Credits; a negative number takes them from the account.
        #[arg(allow_negative_numbers = true)]
        credits: i64,
        /// The reason, 1 to 200 characters, for the record.
        #[arg(long)]
        reason: String,
    },
    /// List the adjustments that wait.
    Adjustments,
    /// Approve another operator's adjustment.
    Approve { adjustment: RequestId },
    /// Reject an adjustment.
    Reject {
        adjustment: RequestId,
        /// The reason, 1 to 200 characters, for the record.
        #[arg(long)]
        reason: String,
    },
    /// Keep credits from leaving an account.
    Freeze(State),
    /// Undo a freeze.
    Unfreeze(State),
    /// Close an empty account for good.
    Close(State),
    /// Mark a player as a bot, as everybody sees, or clear the mark.
    Mark {
        player: PlayerId,
        /// Clear the mark.
        #[arg(long)]
        clear: bool,
    },
    /// Show a player's limits, or set the operator's.
    Limits {
        player: PlayerId,
        #[command(flatten)]
        limits: LimitOptions,
    },
    /// Keep a player out of play. It can be made longer and never shorter.
    Exclude {
        player: PlayerId,
        /// Until when, such as 2027-01-31T00:00:00Z [default: for good].
        #[arg(long, value_name = "TIME")]
        until: Option<Timestamp>,
    },
}

#[derive(Args)]
struct Change {
    player: PlayerId,
    /// At least 1.
    credits: Credits,
    /// The reason, 1 to 200 characters, for the record.
    #[arg(long)]
    reason: String,
}

#[derive(Args)]
struct State {
    player: PlayerId,
    /// The reason, 1 to 200 characters, for the record.
    #[arg(long)]
    reason: String,
}

/// Runs the command.
pub(crate) async fn run(
    data: Option<PathBuf>,
    json: bool,
    options: Options,
) -> anyhow::Result<bool> {
    let Options { room, operator, command } = options;
    let client = room.connect_as(data, Role::Operator, &operator)?;
    match command {
        AccountCommand::Show { player } => show(&client, json, Some(player)).await?,
        AccountCommand::Open { player } => {
            let player = client.open_account(Some(player)).await?;
            let value = json!({ "player": player.to_string() });
            print(json, &value, &format!("account player/{player} is open"));
        }
        AccountCommand::Issue(Change { player, credits, reason }) => {
            let issued = client.issue(player, credits, &reason).await?;
            print_balance(json, player, issued);
        }
        AccountCommand::Redeem(Change { player, credits, reason }) => {
            let redeemed = client.redeem(player, credits, &reason).await?;
            print_balance(json, player, redeemed);
        }
        AccountCommand::Adjust { account, credits, reason } => {
            let id = client.propose_adjustment(&account, credits, &reason).await?;
            let text = format!("adjustment {id} waits for another operator's approval");
            print(json, &json!({ "adjustment": id.to_string() }), &text);
        }
        AccountCommand::Adjustments => adjustments(&client, json).await?,
        AccountCommand::Approve { adjustment } => {
            let position = client.approve_adjustment(adjustment).await?;
            print_position(json, position, &format!("adjustment {adjustment} is posted"));
        }
        AccountCommand::Reject { adjustment, reason } => {
            let position = client.reject_adjustment(adjustment, &reason).await?;
            print_position(json, position, &format!("adjustment {adjustment} is rejected"));
        }
        AccountCommand::Freeze(State { player, reason }) => {
            let position = client.freeze_account(player, &reason).await?;
            print_position(json, position, &format!("account player/{player} is frozen"));
        }
        AccountCommand::Unfreeze(State { player, reason }) => {
            let position = client.unfreeze_account(player, &reason).await?;
            print_position(json, position, &format!("account player/{player} is free again"));
        }
        AccountCommand::Close(State { player, reason }) => {
            let position = client.close_account(player, &reason).await?;
            print_position(json, position, &format!("account player/{player} is closed"));
        }
        AccountCommand::Mark { player, clear } => mark(&client, json, player, !clear).await?,
        AccountCommand::Limits { player, limits } => {
            show_limits(&client, json, Some(player), limits).await?;
        }
        AccountCommand::Exclude { player, until } => {
            exclude(&client, json, Some(player), until).await?;
        }
    }
    Ok(true)
}

async fn mark(client: &Client, json: bool, player: PlayerId, bot: bool) -> anyhow::Result<()> {
    client.mark_player(player, bot).await?;
    let text = if bot { "marked as a bot" } else { "not marked as a bot" };
    let value = json!({ "player": player.to_string(), "bot": bot });
    print(json, &value, &format!("player {player} is {text}"));
    Ok(())
}

/// Prints an answer, in JSON or in words.
pub(crate) fn print(json: bool, value: &Value, text: &str) {
    if json {
        output::line(&value.to_string());
    } else {
        output::line(text);
    }
}

fn print_balance(json: bool, player: PlayerId, result: IssueResult) {
    let IssueResult { balance, position } = result;
    let value = json!({ "balance": balance.get(), "position": position });
    print(json, &value, &format!("account player/{player} has {balance} credits"));
}

fn print_position(json: bool, position: u64, text: &str) {
    let text = format!("{text} (record {position} of the wallet's log)");
    print(json, &json!({ "position": position }), &text);
}

/// Prints an account; of the bearer of the token where no player is named.
pub(crate) async fn show(
    client: &Client,
    json: bool,
    player: Option<PlayerId>,
) -> anyhow::Result<()> {
    let GetAccountResponse {
        account,
        balance_credits: balance,
        seats,
        held_credits: held,
        frozen,
        closed,
        exclusion_end_time: excluded_until,
    } = client.get_account(player).await?;
    let mut seated = Vec::with_capacity(seats.len());
    for seat in &seats {
        seated.push((seat.table_id.clone(), seat.balance_credits));
    }
    if json {
        let seats =
            seated.iter().map(|(table, balance)| json!({ "table": table, "balance": balance }));
        let seats: Vec<Value> = seats.collect();
        let value = json!({
            "account": account, "balance": balance, "held": held, "seats": seats,
            "frozen": frozen, "closed": closed,
            "excluded_until": excluded_until.map(|until| until.to_string()),
        });
        output::line(&value.to_string());
        return Ok(());
    }
    output::line(&format!("{account}: {balance} credits, {held} of them held"));
    for (table, balance) in seated {
        output::line(&format!("  {balance} more at table {table}"));
    }
    if frozen {
        output::line("  frozen: nothing leaves it");
    }
    if closed {
        output::line("  closed for good");
    }
    if let Some(until) = excluded_until {
        output::line(&format!("  kept out of play until {until}"));
    }
    Ok(())
}

async fn adjustments(client: &Client, json: bool) -> anyhow::Result<()> {
    let waiting = client.list_adjustments().await?;
    if waiting.is_empty() && !json {
        output::line("no adjustment waits");
    }
    for adjustment in waiting {
        let Adjustment { adjustment_id: id, account, amount_credits: amount, .. } = adjustment;
        let Adjustment { reason, proposed_by, propose_time, .. } = adjustment;
        let at = propose_time.map(|at| at.to_string());
        let value = json!({
            "adjustment": id, "account": account, "credits": amount, "reason": reason,
            "proposed_by": proposed_by, "proposed_at": at,
        });
        let id = output::one_line(&id);
        let (account, reason) = (output::one_line(&account), output::one_line(&reason));
        let (by, at) = (output::one_line(&proposed_by), at.unwrap_or_default());
        print(json, &value, &format!("{id}  {amount:+} to {account}, by {by} at {at}: {reason}"));
    }
    Ok(())
}

/// Keeps a player out of play, the bearer of the token where none is named.
pub(crate) async fn exclude(
    client: &Client,
    json: bool,
    player: Option<PlayerId>,
    until: Option<Timestamp>,
) -> anyhow::Result<()> {
    let until = client.exclude(player, until).await?.map(|until| until.to_string());
    let text = match &until {
        Some(until) => format!("kept out of play until {until}"),
        None => "kept out of play for good".to_owned(),
    };
    print(json, &json!({ "excluded_until": until }), &text);
    Ok(())
}
