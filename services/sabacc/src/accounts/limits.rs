//! Limits of play: shown, and set.

use std::str::FromStr;

use anyhow::bail;
use clap::Args;
use client::{Client, NewLimits};
use primitives::PlayerId;
use proto::common::v1::{LimitMark, PlayStanding, StandingKind};
use proto::wallet::v1::{GetLimitsResponse, LimitTerms, Limits, SetLimitsResponse};
use serde_json::{Value, json};

use crate::output;

/// Limits to set. All windows of a measure that is named are set; those left out have no limit.
#[derive(Args)]
pub(crate) struct LimitOptions {
    /// The most credits brought to tables, such as `day=500,week=2000`; `none`: no limit.
    #[arg(long, value_name = "WINDOWS")]
    buy_in: Option<Windows>,
    /// The most credits lost in hands.
    #[arg(long, value_name = "WINDOWS")]
    loss: Option<Windows>,
    /// The most seconds with credits at any table.
    #[arg(long, value_name = "WINDOWS")]
    time: Option<Windows>,
}

/// Limits of one measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Windows(Limits);

impl FromStr for Windows {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Windows> {
        let mut limits = Limits::default();
        if text == "none" {
            return Ok(Windows(limits));
        }
        for part in text.split(',') {
            let Some((window, limit)) = part.split_once('=') else {
                bail!("`{part}` is not of the form day=500, week=500 or month=500");
            };
            let Ok(limit) = limit.parse() else { bail!("`{limit}` is no whole number") };
            let slot = match window {
                "day" => &mut limits.day,
                "week" => &mut limits.week,
                "month" => &mut limits.month,
                _ => bail!("there is no window `{window}`: day, week and month are known"),
            };
            if slot.replace(limit).is_some() {
                bail!("`{window}` is given twice");
            }
        }
        Ok(Windows(limits))
    }
}

/// Sets the limits that are given, if any, and prints those that hold. The player is the bearer of
/// the token where none is named.
pub(crate) async fn show_limits(
    client: &Client,
    json: bool,
    player: Option<PlayerId>,
    options: LimitOptions,
) -> anyhow::Result<()> {
    let LimitOptions { buy_in, loss, time } = options;
    let of = |windows: Option<Windows>| windows.map(|Windows(limits)| limits);
    let limits = NewLimits { buy_in: of(buy_in), loss: of(loss), time: of(time) };
    if limits != NewLimits::default() {
        client.set_limits(player, limits).await?;
    }
    let limits = client.get_limits(player).await?;
    if json {
        output::line(&as_json(&limits).to_string());
    } else {
        describe(&limits).iter().for_each(|line| output::line(line));
    }
    Ok(())
}

fn describe(limits: &GetLimitsResponse) -> Vec<String> {
    let mut lines = Vec::new();
    for (whose, set) in
        [("the player's", &limits.own_limits), ("the operator's", &limits.operator_limits)]
    {
        let SetLimitsResponse { now, later, later_time, loss, time } = set.unwrap_or_default();
        let buy_in = Some(LimitTerms { now, later, later_time });
        for (measure, terms) in
            [("credits brought", buy_in), ("credits lost", loss), ("seconds played", time)]
        {
            let LimitTerms { now, later, later_time } = terms.unwrap_or_default();
            lines.push(format!("{measure}, {whose}: {}", windows(now)));
            if let Some(at) = later_time {
                lines.push(format!("  from {at}: {}", windows(later)));
            }
        }
    }
    lines.push(format!("credits brought so far: {}", windows(limits.used)));
    lines.push(format!("credits lost so far: {}", windows(limits.lost)));
    lines.push(format!("seconds played so far: {}", windows(limits.seconds)));
    lines.push(describe_standing(limits.standing.as_ref()));
    lines
}

/// Describes a player's standing.
fn describe_standing(standing: Option<&PlayStanding>) -> String {
    let Some(standing) = standing else { return "nothing bars them from play".to_owned() };
    let until = standing.end_time.map_or_else(String::new, |until| format!(" until {until}"));
    match standing.kind() {
        StandingKind::Unspecified | StandingKind::MayPlay => {
            "nothing bars them from play".to_owned()
        }
        StandingKind::Excluded => format!("kept out of play{until}"),
        StandingKind::Frozen => "the account is frozen: no further hand is dealt".to_owned(),
        StandingKind::Closed => "the account is closed".to_owned(),
        StandingKind::LimitReached => {
            format!("a limit is reached: no further hand is dealt{until}")
        }
    }
}

fn windows(limits: Option<Limits>) -> String {
    let Limits { day, week, month } = limits.unwrap_or_default();
    let named = [("day", day), ("week", week), ("month", month)];
    let set: Vec<String> =
        named.iter().filter_map(|(name, limit)| Some(format!("{} a {name}", (*limit)?))).collect();
    if set.is_empty() { "none".to_owned() } else { set.join(", ") }
}

fn as_json(limits: &GetLimitsResponse) -> Value {
    let windows = |limits: Option<Limits>| {
        let Limits { day, week, month } = limits.unwrap_or_default();
        json!({ "day": day, "week": week, "month": month })
    };
    let terms = |terms: Option<LimitTerms>| {
        let LimitTerms { now, later, later_time } = terms.unwrap_or_default();
        json!({
            "now": windows(now), "later": later_time.map(|_| windows(later)),
            "later_time": later_time.map(|at| at.to_string()),
        })
    };
    let set = |set: Option<SetLimitsResponse>| {
        let SetLimitsResponse { now, later, later_time, loss, time } = set.unwrap_or_default();
        let buy_in = Some(LimitTerms { now, later, later_time });
        json!({ "buy_in": terms(buy_in), "loss": terms(loss), "time": terms(time) })
    };
    let mark = |mark: &LimitMark| json!({ "measure": mark.measure().as_str_name(), "window": mark.window().as_str_name(), "left": mark.left });
    let standing = limits.standing.clone().unwrap_or_default();
    json!({
        "own": set(limits.own_limits), "operator": set(limits.operator_limits),
        "used": { "buy_in": windows(limits.used), "loss": windows(limits.lost), "time": windows(limits.seconds) },
        "left": { "buy_in": windows(limits.left), "loss": windows(limits.left_to_lose), "time": windows(limits.left_seconds) },
        "standing": standing.kind().as_str_name(),
        "until": standing.end_time.map(|until| until.to_string()),
        "nearly": standing.nearly.iter().map(mark).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_read_once_each() {
        let set = Limits { day: Some(500), week: None, month: Some(2_000) };
        assert_eq!("day=500,month=2000".parse::<Windows>().unwrap(), Windows(set));
        assert_eq!("none".parse::<Windows>().unwrap(), Windows(Limits::default()));
        for (text, why) in [
            ("", "`` is not of the form"),
            ("day", "`day` is not of the form"),
            ("day=much", "`much` is no whole number"),
            ("year=1", "there is no window `year`"),
            ("day=1,day=2", "`day` is given twice"),
        ] {
            let error = text.parse::<Windows>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
