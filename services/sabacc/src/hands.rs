//! `sabacc hands`: lists what became of every hand number, with counts and rates, as the room
//! publishes them.
//!
//! The list is the room's word. A monitor counts the same ends in the public leaf records, and the
//! bundle of a hand proves its own.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use client::Client;
use primitives::{PlayerId, TableId};
use proto::audit::v1::{
    HandCounts, HandOutcome, HandRow, ListHandsRequest, ListHandsResponse, SeatCounts, SeedState,
    WithheldEntropy,
};
use serde_json::{Value, json};

use crate::endpoint::{RoomEndpoint, find_table};
use crate::output;

/// Rows of a page: as many as there may be.
const PAGE_SIZE: i32 = 500;

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    door: RoomEndpoint,
    /// Only the hands of this table: its id, or its name if only one open table has it.
    #[arg(long)]
    table: Option<String>,
    /// Only the hands that this player was dealt into.
    #[arg(long, value_name = "ID")]
    player: Option<PlayerId>,
}

/// Runs the command. False if a number is missing, or a seed was opened that is not the one
/// committed to: no honest room has either.
pub(crate) async fn run(
    data: Option<PathBuf>,
    json: bool,
    options: Options,
) -> anyhow::Result<bool> {
    let Options { door, table, player } = options;
    let client = door.connect(data, "hands")?;
    let table = match table {
        Some(named) => Some(find_table(&client, &named).await?),
        None => None,
    };
    let last = print_rows(&client, table, player, json).await?;
    let counts = last.counts.context("the room answers without counts")?;
    if json {
        output::line(&summary_json(&last, &counts).to_string());
    } else {
        summary(&last, &counts, player).iter().for_each(|line| output::line(line));
    }
    Ok(counts.missing == 0 && counts.seeds_refused == 0)
}

/// Prints each row of the list. Returns the last page.
async fn print_rows(
    client: &Client,
    table: Option<TableId>,
    player: Option<PlayerId>,
    json: bool,
) -> anyhow::Result<ListHandsResponse> {
    let mut request = ListHandsRequest {
        table_id: table.map_or_else(String::new, |table| table.to_string()),
        player_id: player.map_or_else(String::new, |player| player.to_string()),
        page_size: PAGE_SIZE,
        page_token: String::new(),
    };
    loop {
        let page = client.list_hands(request.clone()).await?;
        for row in &page.hands {
            output::line(&if json { row_json(row)?.to_string() } else { describe(row)? });
        }
        if page.next_page_token.is_empty() {
            return Ok(page);
        }
        request.page_token = page.next_page_token;
    }
}

fn describe(row: &HandRow) -> anyhow::Result<String> {
    let table: TableId = parse_id(&row.table_id)?;
    let (first, last) = (row.first_hand_no, row.last_hand_no);
    let numbers =
        if first == last { format!("hand {first}") } else { format!("hands {first} to {last}") };
    let ended = row.end_time.and_then(wire::time::instant);
    let ended = ended.map_or_else(String::new, |at| format!("  {at}"));
    let mut text = format!("table {table}  {numbers:<20}{ended}  {}", outcome_words(row.outcome()));
    for withheld in &row.withheld {
        text.push_str(&describe_withheld(withheld)?);
    }
    if row.suspended {
        text.push_str(", suspended now: the dealer is silent");
    } else if row.was_suspended {
        text.push_str(", was suspended");
    }
    text.push_str(seed_words(row.seed()));
    Ok(text)
}

fn describe_withheld(withheld: &WithheldEntropy) -> anyhow::Result<String> {
    let player: PlayerId = parse_id(&withheld.player_id)?;
    let opened = if withheld.opened { "opened it after the burn" } else { "never opened it" };
    let (seat, bot) = (withheld.seat, if withheld.bot { ", a bot" } else { "" });
    Ok(format!(": seat {seat} (player {player}{bot}) withheld its entropy and {opened}"))
}

const fn outcome_words(outcome: HandOutcome) -> &'static str {
    match outcome {
        HandOutcome::Unspecified => "unknown to this program",
        HandOutcome::InPlay => "in play",
        HandOutcome::Played => "played",
        HandOutcome::Burnt => "BURNT before the antes",
        HandOutcome::Agreed => "BROKEN OFF: all live players agreed, for the dealer was silent",
        HandOutcome::SuspendedTooLong => "BROKEN OFF: the dealer was silent for too long",
        HandOutcome::Missing => "MISSING: it was skipped, or has no end",
    }
}

const fn seed_words(seed: SeedState) -> &'static str {
    match seed {
        SeedState::Unspecified | SeedState::Opened => "",
        SeedState::Owed => ", its seed is not open yet",
        SeedState::Refused => ", FAILED: its seed is not the one committed to",
    }
}

/// Counts and rates in words, seat by seat where the list is of one table.
fn summary(page: &ListHandsResponse, counts: &HandCounts, player: Option<PlayerId>) -> Vec<String> {
    let HandCounts { numbers, played, burnt, agreed, suspended_too_long, missing, in_play, .. } =
        counts;
    let dealt = player.map_or_else(String::new, |player| format!(" dealt to player {player}"));
    let (burnt_rate, lost_rate) = (percent(counts.burnt_ppm), percent(counts.not_played_ppm));
    let mut lines = vec![
        format!(
            "{numbers} numbers{dealt}: {played} played, {burnt} burnt ({burnt_rate}), {agreed} \
             ended by agreement, {suspended_too_long} by a dealer who was silent for too long, \
             {missing} missing, {in_play} in play"
        ),
        format!(
            "burnt or broken off: {lost_rate}; suspended at some time: {}; seeds opened: {}, \
             owed: {}, not the one committed to: {}",
            counts.were_suspended, counts.seeds_opened, counts.seeds_owed, counts.seeds_refused
        ),
        withheld_words("entropy withheld", counts),
    ];
    for SeatCounts { seat, counts } in &page.seats {
        let counts = counts.unwrap_or_default();
        let dealt = format!("seat {seat}: {} numbers, entropy withheld", counts.numbers);
        lines.push(withheld_words(&dealt, &counts));
    }
    let size = page.log_size;
    lines.push(format!("as of {size} records of the table's log, by the room's word"));
    lines
}

fn withheld_words(what: &str, counts: &HandCounts) -> String {
    let HandCounts { withheld, withheld_opened, withheld_ppm, .. } = counts;
    let rate = percent(*withheld_ppm);
    format!("{what}: {withheld} times ({rate}), opened after the burn: {withheld_opened}")
}

/// Parts in a million as a percentage.
fn percent(ppm: u32) -> String {
    format!("{}.{:02} %", ppm / 10_000, ppm % 10_000 / 100)
}

fn row_json(row: &HandRow) -> anyhow::Result<Value> {
    let table: TableId = parse_id(&row.table_id)?;
    let withheld = row.withheld.iter().map(|withheld| {
        let player: PlayerId = parse_id(&withheld.player_id)?;
        let WithheldEntropy { seat, player_id: _, opened, bot } = withheld;
        Ok(json!({ "seat": seat, "player": player.to_string(), "opened": opened, "bot": bot }))
    });
    Ok(json!({
        "table": table.to_string(),
        "first_hand_no": row.first_hand_no,
        "last_hand_no": row.last_hand_no,
        "outcome": outcome_name(row.outcome()),
        "seed": seed_name(row.seed()),
        "suspended": row.suspended,
        "was_suspended": row.was_suspended,
        "withheld": withheld.collect::<anyhow::Result<Vec<_>>>()?,
        "position": row.position,
        "end_time": row.end_time.and_then(wire::time::instant).map(wire::time::rfc3339),
    }))
}

const fn outcome_name(outcome: HandOutcome) -> &'static str {
    match outcome {
        HandOutcome::Unspecified => "unknown",
        HandOutcome::InPlay => "in_play",
        HandOutcome::Played => "played",
        HandOutcome::Burnt => "burnt",
        HandOutcome::Agreed => "agreed",
        HandOutcome::SuspendedTooLong => "suspended_too_long",
        HandOutcome::Missing => "missing",
    }
}

const fn seed_name(seed: SeedState) -> Option<&'static str> {
    match seed {
        SeedState::Unspecified => None,
        SeedState::Owed => Some("owed"),
        SeedState::Opened => Some("opened"),
        SeedState::Refused => Some("refused"),
    }
}

fn summary_json(page: &ListHandsResponse, counts: &HandCounts) -> Value {
    let seat = |SeatCounts { seat, counts }: &SeatCounts| json!({ "seat": seat, "counts": counts_json(&counts.unwrap_or_default()) });
    json!({
        "counts": counts_json(counts),
        "seats": page.seats.iter().map(seat).collect::<Vec<_>>(),
        "log_size": page.log_size,
    })
}

fn counts_json(counts: &HandCounts) -> Value {
    let HandCounts {
        numbers,
        played,
        burnt,
        agreed,
        suspended_too_long,
        missing,
        in_play,
        were_suspended,
        seeds_opened,
        seeds_owed,
        seeds_refused,
        withheld,
        withheld_opened,
        burnt_ppm,
        not_played_ppm,
        withheld_ppm,
    } = counts;
    json!({
        "numbers": numbers, "played": played, "burnt": burnt, "agreed": agreed,
        "suspended_too_long": suspended_too_long, "missing": missing, "in_play": in_play,
        "were_suspended": were_suspended, "seeds_opened": seeds_opened, "seeds_owed": seeds_owed,
        "seeds_refused": seeds_refused, "withheld": withheld, "withheld_opened": withheld_opened,
        "burnt_ppm": burnt_ppm, "not_played_ppm": not_played_ppm, "withheld_ppm": withheld_ppm,
    })
}

fn parse_id<T: wire::field::AnyId>(text: &str) -> anyhow::Result<T> {
    wire::field::id("id", text).context("the room answers with an id that is none")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(outcome: HandOutcome) -> HandRow {
        HandRow {
            table_id: TableId([0xab; 16]).to_string(),
            first_hand_no: 3,
            last_hand_no: 3,
            outcome: outcome.into(),
            seed: SeedState::Opened.into(),
            ..HandRow::default()
        }
    }

    #[test]
    fn a_burnt_number_says_who_withheld_and_whether_it_was_opened() {
        let of = |seat, opened| WithheldEntropy {
            seat,
            player_id: PlayerId([1; 16]).to_string(),
            opened,
            bot: opened,
        };
        let burnt = HandRow {
            withheld: vec![of(2, false), of(4, true)],
            end_time: Some(wire::time::timestamp(primitives::UnixMicros(1_700_000_000_000_000))),
            ..row(HandOutcome::Burnt)
        };
        let said = describe(&burnt).unwrap();
        assert!(said.contains("hand 3 ") && said.contains("2023-11-14T22:13:20.000Z"), "{said}");
        assert!(said.contains("BURNT before the antes: seat 2 (player "), "{said}");
        assert!(said.contains("never opened it: seat 4"), "{said}");
        assert!(said.ends_with("opened it after the burn"), "{said}");
        let value = row_json(&burnt).unwrap();
        assert_eq!(
            (&value["outcome"], &value["withheld"][1]["opened"]),
            (&"burnt".into(), &true.into())
        );
    }

    #[test]
    fn numbers_in_a_row_are_one_line_and_what_is_wrong_is_loud() {
        let many = HandRow { last_hand_no: 41, ..row(HandOutcome::Played) };
        let said = describe(&many).unwrap();
        assert!(said.contains("hands 3 to 41") && said.ends_with("  played"), "{said}");
        let missing = describe(&row(HandOutcome::Missing)).unwrap();
        assert!(missing.contains("MISSING"), "{missing}");
        let refused = HandRow { seed: SeedState::Refused.into(), ..row(HandOutcome::Played) };
        assert!(describe(&refused).unwrap().contains("FAILED: its seed"));
        let silent = HandRow { suspended: true, ..row(HandOutcome::InPlay) };
        assert!(describe(&silent).unwrap().contains("in play, suspended now"));
        assert!(describe(&HandRow { table_id: "1".to_owned(), ..many }).is_err());
    }

    #[test]
    fn counts_have_rates_for_all_and_for_each_seat() {
        let counts = HandCounts {
            numbers: 8,
            played: 7,
            burnt: 1,
            withheld: 1,
            burnt_ppm: 125_000,
            not_played_ppm: 125_000,
            withheld_ppm: 125_000,
            ..HandCounts::default()
        };
        let seat = SeatCounts { seat: 4, counts: Some(counts) };
        let page = ListHandsResponse { seats: vec![seat], log_size: 77, ..Default::default() };
        let said = summary(&page, &counts, None);
        assert!(said[0].starts_with("8 numbers: 7 played, 1 burnt (12.50 %)"), "{said:?}");
        assert!(said[3].starts_with("seat 4: 8 numbers, entropy withheld: 1 times"), "{said:?}");
        assert!(said[4].contains("77 records"), "{said:?}");
        let player = PlayerId([1; 16]);
        assert!(summary(&page, &counts, Some(player))[0].contains(&player.to_string()));
        assert_eq!(percent(333_333), "33.33 %");
        let value = summary_json(&page, &counts);
        assert_eq!(
            (&value["seats"][0]["counts"]["burnt"], &value["log_size"]),
            (&1.into(), &77.into())
        );
    }
}
