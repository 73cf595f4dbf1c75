//! Text for a player's standing, shown to them alone.

use proto::common::v1::{LimitMark, LimitMeasure, LimitWindow, PlayStanding, StandingKind};

/// Returns a suffix for a line; empty if there is nothing to say.
pub(super) fn standing_suffix(standing: Option<&PlayStanding>) -> String {
    let Some(standing) = standing else { return String::new() };
    let said = match standing.kind() {
        StandingKind::Unspecified => String::new(),
        StandingKind::MayPlay => {
            let near: Vec<String> = standing.nearly.iter().map(describe_left).collect();
            near.join("; ")
        }
        StandingKind::Excluded => "you keep yourself from play".to_owned(),
        StandingKind::Frozen => "your account is frozen".to_owned(),
        StandingKind::Closed => "your account is closed".to_owned(),
        StandingKind::LimitReached => standing
            .limit
            .as_ref()
            .map_or_else(|| "a limit is used up".to_owned(), describe_used_up),
    };
    if said.is_empty() { said } else { format!(" · {said}") }
}

fn describe_used_up(mark: &LimitMark) -> String {
    format!("your {} of {} is used up", limit_name(mark), format_amount(mark, mark.limit))
}

fn describe_left(mark: &LimitMark) -> String {
    format!("{} of your {} are left", format_amount(mark, mark.left), limit_name(mark))
}

fn limit_name(mark: &LimitMark) -> String {
    let measure = match mark.measure() {
        LimitMeasure::Unspecified => "limit",
        LimitMeasure::BuyIn => "buy-in limit",
        LimitMeasure::Loss => "loss limit",
        LimitMeasure::Time => "session time limit",
    };
    let window = match mark.window() {
        LimitWindow::Unspecified => "",
        LimitWindow::Day => " for 24 hours",
        LimitWindow::Week => " for 7 days",
        LimitWindow::Month => " for 30 days",
    };
    format!("{measure}{window}")
}

fn format_amount(mark: &LimitMark, amount: u64) -> String {
    match mark.measure() {
        LimitMeasure::Time => format!("{} minutes", amount.div_ceil(60)),
        LimitMeasure::Unspecified | LimitMeasure::BuyIn | LimitMeasure::Loss => {
            format!("{amount} credits")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_player_learns_which_limit_it_is() {
        let mark = |measure: LimitMeasure, left| LimitMark {
            measure: measure.into(),
            window: LimitWindow::Day.into(),
            limit: 3600,
            left,
        };
        let of = |kind: StandingKind| PlayStanding { kind: kind.into(), ..PlayStanding::default() };
        let nearly = vec![mark(LimitMeasure::Loss, 20), mark(LimitMeasure::Time, 541)];
        let near = PlayStanding { nearly, ..of(StandingKind::MayPlay) };
        let limit = Some(mark(LimitMeasure::Time, 0));
        let reached = PlayStanding { limit, ..of(StandingKind::LimitReached) };
        let rows = [
            (None, ""),
            (Some(of(StandingKind::MayPlay)), ""),
            (
                Some(near),
                " · 20 credits of your loss limit for 24 hours are left; 10 minutes of your \
                 session time limit for 24 hours are left",
            ),
            (Some(reached), " · your session time limit for 24 hours of 60 minutes is used up"),
            (Some(of(StandingKind::Frozen)), " · your account is frozen"),
        ];
        for (standing, said) in rows {
            assert_eq!(standing_suffix(standing.as_ref()), said);
        }
    }
}
