//! Standing of players: exclusions, freezes, and limits of losses and of time at tables.

use ledger::{Exclusion, LimitNotice, ReachedLimit, Restriction, Seconds, Standing, Window};

use super::*;

const SECOND: u64 = 1_000_000;
const HOUR_MICROS: u64 = 3600 * SECOND;

/// Decides and applies commands at `now`.
fn at(ledger: &mut Ledger, now: UnixMicros, commands: impl IntoIterator<Item = Command>) {
    for command in commands {
        for event in decide(ledger, now, command).expect("what is given is lawful") {
            evolve(ledger, now, &event);
        }
    }
}

fn loses(amount: i64) -> Command {
    post(SETTLEMENT, "", &[(ANN_SEAT, -amount), (BOB_SEAT, amount)])
}

fn loss_limit(by: LimitSetter, day: u32) -> Command {
    let limits = RequestedLimits::Loss(Limits { day: Some(Credits::of(day)), ..Limits::NONE });
    Command::SetLimits { player: ANN_ID, by, limits }
}

fn time_limit(seconds: u64) -> Command {
    let limits = RequestedLimits::Time(Limits { day: Some(Seconds(seconds)), ..Limits::NONE });
    Command::SetLimits { player: ANN_ID, by: LimitSetter::Player, limits }
}

fn restriction(ledger: &Ledger, now: UnixMicros) -> Option<Restriction> {
    ledger.standing(ANN_ID, now).restriction
}

/// End of the hour in which an event at `now` leaves the window.
fn leaves_window_at(window: Window, now: UnixMicros) -> UnixMicros {
    UnixMicros((now.0.div_euclid(HOUR_MICROS) + window.hours() + 1) * HOUR_MICROS)
}

/// Starts with 500 credits of Ann at the table.
#[test]
fn a_loss_limit_bites_in_mid_session_and_wins_count_against_losses() {
    let mut ledger = given();
    // Ann's net result is 0: the pot gave back what it took.
    at(&mut ledger, NOW, [loss_limit(LimitSetter::Player, 600), loses(479)]);
    assert_eq!(ledger.standing(ANN_ID, NOW), Standing::default());
    at(&mut ledger, NOW, [loses(1)]);
    let left = |left| LimitNotice { measure: Measure::Loss, window: Window::Day, limit: 600, left };
    assert_eq!(
        ledger.standing(ANN_ID, NOW),
        Standing { restriction: None, notices: vec![left(120)] }
    );
    // 20 are at the table, and 120 may be lost.
    let (measure, window) = (Measure::Loss, Window::Day);
    let until = Some(leaves_window_at(Window::Day, NOW));
    let refused = Refusal::LimitReached { measure, window, limit: 600, left: 100, until };
    assert_eq!(decide(&ledger, NOW, buy_in(ANN, ANN_SEAT, 101)), Err(refused));
    at(&mut ledger, NOW, [buy_in(ANN, ANN_SEAT, 100), loses(120)]);
    let reached = Restriction::Limit(ReachedLimit { measure, window, limit: 600, until });
    assert_eq!(restriction(&ledger, NOW), Some(reached));
    let refused = Refusal::LimitReached { measure, window, limit: 600, left: 0, until };
    assert_eq!(decide(&ledger, NOW, buy_in(ANN, ANN_SEAT, 1)), Err(refused));
    // Ann may lose again what she won back, and no more.
    at(&mut ledger, NOW, [loses(-60)]);
    assert_eq!(restriction(&ledger, NOW), None);
    assert_eq!(decide(&ledger, NOW, buy_in(ANN, ANN_SEAT, 1)), Err(refused));
    at(&mut ledger, NOW, [loses(60)]);
    assert!(restriction(&ledger, UnixMicros(leaves_window_at(Window::Day, NOW).0 - 1)).is_some());
    assert_eq!(restriction(&ledger, leaves_window_at(Window::Day, NOW)), None);
}

/// Each buy-in alone is within the limit; together they could lose more.
#[test]
fn a_loss_limit_bounds_what_is_at_all_tables_together() {
    let mut ledger = given();
    let leave = post(Kind::CashOut, "", &[(ANN_SEAT, -500), (ANN, 500)]);
    at(&mut ledger, NOW, [leave, loss_limit(LimitSetter::Player, 100), buy_in(ANN, ANN_SEAT, 60)]);
    let (measure, window) = (Measure::Loss, Window::Day);
    let refused = |left, until| Refusal::LimitReached { measure, window, limit: 100, left, until };
    let elsewhere = |amount| buy_in(ANN, ANN_ELSEWHERE, amount);
    assert_eq!(decide(&ledger, NOW, elsewhere(41)), Err(refused(40, None)));
    // Held credits count as brought.
    at(&mut ledger, NOW, [Command::PlaceHold(hold(90, ANN, ANN_ELSEWHERE, 30))]);
    assert_eq!(decide(&ledger, NOW, elsewhere(11)), Err(refused(10, None)));
    at(&mut ledger, NOW, [capture(90, 30), elsewhere(10)]);
    assert_eq!(restriction(&ledger, NOW), None, "all of it may be lost");
    // Ann may lose her winnings too, for as long as they count.
    at(&mut ledger, NOW, [loses(-50)]);
    assert_eq!(restriction(&ledger, NOW), None);
    let until = leaves_window_at(Window::Day, NOW);
    let reached = Restriction::Limit(ReachedLimit { measure, window, limit: 100, until: None });
    assert_eq!(restriction(&ledger, until), Some(reached), "150 are at tables");
    at(&mut ledger, NOW, [loses(110)]);
    let lost = post(
        Kind::Settlement { table: OTHER_TABLE },
        "",
        &[(ANN_ELSEWHERE, -40), (Account::SabaccPot(OTHER_TABLE), 40)],
    );
    at(&mut ledger, NOW, [lost]);
    assert_eq!(ledger.play_history(ANN_ID).unwrap().net_loss(Window::Day, NOW), 100);
    assert!(restriction(&ledger, NOW).is_some());
}

#[test]
fn a_loss_limit_below_what_is_at_the_table_bars_at_once() {
    let mut ledger = given();
    at(&mut ledger, NOW, [loss_limit(LimitSetter::Player, 499)]);
    assert!(matches!(
        restriction(&ledger, NOW),
        Some(Restriction::Limit(ReachedLimit { limit: 499, .. }))
    ));
    at(&mut ledger, NOW, [post(Kind::CashOut, "", &[(ANN_SEAT, -500), (ANN, 500)])]);
    assert_eq!(restriction(&ledger, NOW), None);
    at(&mut ledger, NOW, [buy_in(ANN, ANN_SEAT, 499)]);
    assert_eq!(restriction(&ledger, NOW), None);
}

#[test]
fn of_two_loss_limits_the_stricter_holds_and_a_looser_one_waits() {
    let mut ledger = given();
    at(
        &mut ledger,
        NOW,
        [loss_limit(LimitSetter::Player, 900), loss_limit(LimitSetter::Operator, 100)],
    );
    at(&mut ledger, NOW, [loses(100)]);
    assert!(matches!(
        restriction(&ledger, NOW),
        Some(Restriction::Limit(ReachedLimit { limit: 100, .. }))
    ));
    // A looser limit holds a day later; `until` is the earlier end.
    at(&mut ledger, NOW, [loss_limit(LimitSetter::Operator, 800)]);
    let looser = NOW.plus(HOUR * 24);
    let Some(Restriction::Limit(ReachedLimit { limit: 100, until: Some(until), .. })) =
        restriction(&ledger, NOW)
    else {
        panic!("{:?}", restriction(&ledger, NOW));
    };
    assert_eq!(until, looser);
    assert!(restriction(&ledger, UnixMicros(looser.0 - 1)).is_some());
    assert_eq!(restriction(&ledger, looser), None);
    // A limit of 0 ends only by a change of the limit.
    at(&mut ledger, looser, [loss_limit(LimitSetter::Player, 0)]);
    assert!(matches!(
        restriction(&ledger, looser),
        Some(Restriction::Limit(ReachedLimit { until: None, .. }))
    ));
}

#[test]
fn time_counts_while_credits_are_at_any_table_and_once_at_several() {
    let mut ledger = given();
    let later = |seconds: u64| UnixMicros(NOW.0 + seconds * SECOND);
    at(&mut ledger, NOW, [time_limit(3600)]);
    at(&mut ledger, later(600), [buy_in(ANN, ANN_ELSEWHERE, 100)]);
    assert_eq!(ledger.standing(ANN_ID, later(2879)), Standing::default());
    let near = |left| {
        let notice = LimitNotice { measure: Measure::Time, window: Window::Day, limit: 3600, left };
        Standing { restriction: None, notices: vec![notice] }
    };
    assert_eq!(ledger.standing(ANN_ID, later(2880)), near(720));
    // Ann leaves one table, then the other: her time stops.
    let cash_out = |seat, amount: i64| post(Kind::CashOut, "", &[(seat, -amount), (ANN, amount)]);
    at(&mut ledger, later(3000), [cash_out(ANN_SEAT, 500)]);
    at(&mut ledger, later(3100), [cash_out(ANN_ELSEWHERE, 100)]);
    assert_eq!(ledger.standing(ANN_ID, later(9000)), near(500));
    at(&mut ledger, later(9000), [buy_in(ANN, ANN_SEAT, 100)]);
    assert_eq!(restriction(&ledger, later(9499)), None);
    assert_eq!(ledger.standing(ANN_ID, later(9499)), near(1));
    let Some(Restriction::Limit(reached)) = restriction(&ledger, later(9500)) else {
        panic!("time is over")
    };
    assert_eq!((reached.measure, reached.limit), (Measure::Time, 3600));
    // If she leaves now, time fits again when the first hour no longer counts.
    assert_eq!(reached.until, Some(leaves_window_at(Window::Day, NOW)));
    let refused = decide(&ledger, later(9500), buy_in(ANN, ANN_SEAT, 1)).unwrap_err();
    assert!(matches!(refused, Refusal::LimitReached { measure: Measure::Time, left: 0, .. }));
}

#[test]
fn less_than_ten_minutes_are_reported_of_long_limits_too() {
    let mut ledger = given();
    at(&mut ledger, NOW, [time_limit(700)]);
    let later = |seconds: u64| UnixMicros(NOW.0 + seconds * SECOND);
    assert_eq!(ledger.standing(ANN_ID, later(99)).notices.len(), 0);
    assert_eq!(ledger.standing(ANN_ID, later(100)).notices.len(), 1);
}

#[test]
fn the_weightiest_bar_is_the_one_that_is_reported() {
    let mut ledger = given();
    at(&mut ledger, NOW, [loss_limit(LimitSetter::Player, 0)]);
    assert!(matches!(restriction(&ledger, NOW), Some(Restriction::Limit(_))));
    at(&mut ledger, NOW, [Command::FreezeAccount { player: ANN_ID, reason: any_reason() }]);
    assert_eq!(restriction(&ledger, NOW), Some(Restriction::Frozen));
    let until = NOW.plus(HOUR);
    at(&mut ledger, NOW, [Command::Exclude { player: ANN_ID, until: Some(until) }]);
    assert_eq!(restriction(&ledger, NOW), Some(Restriction::Excluded(Exclusion::Until(until))));
    assert_eq!(restriction(&ledger, until), Some(Restriction::Frozen));
    assert_eq!(ledger.standing(NOBODY_ID, NOW).restriction, Some(Restriction::Closed));
}
