//! Holds, adjustments, limits, exclusions, freezes and closings.

use ledger::{Command, Event, Kind, LimitSetter, Limits, MAX_REASON_CHARS, Refusal, Window};
use ledger::{decide, decide_linked, evolve};
use primitives::{AdjustmentId, Credits, HoldId, RequestId, UnixMicros};

use super::*;

fn freeze(player: PlayerId) -> Command {
    Command::FreezeAccount { player, reason: any_reason() }
}

fn exclude(until: Option<UnixMicros>) -> Command {
    Command::Exclude { player: ANN_ID, until }
}

fn issue(to: Account) -> Command {
    post(Kind::Issue, "why not", &[(Account::Issuance, -5), (to, 5)])
}

fn redeem(amount: i64) -> Command {
    post(Kind::Redeem, "why not", &[(ANN, -amount), (Account::Issuance, amount)])
}

fn lawful(ledger: &Ledger, now: UnixMicros, command: Command) -> Vec<Event> {
    decide(ledger, now, command).unwrap()
}

#[test]
fn what_is_wrong_with_a_command_in_itself() {
    check(Command::PlaceHold(hold(1, ANN, ANN, 0)), Refusal::ZeroLeg);
    check(capture(1, 0), Refusal::ZeroLeg);
    check(Command::ProposeAdjustment(adjustment(1, Account::Issuance, 0)), Refusal::ZeroLeg);
    let double = Refusal::DuplicateAccount { account: POT };
    check(Command::PlaceHold(hold(1, POT, POT, 5)), double);
    let wrong = |account| Refusal::WrongAccount { account };
    for (from, to, account) in [
        (ANN, BOB_SEAT, BOB_SEAT),
        (ANN, BOB, BOB),
        (ANN, POT, POT),
        (ANN_SEAT, ANN, ANN),
        (ANN_SEAT, ANN_ELSEWHERE, ANN_ELSEWHERE),
        (ANN_SEAT, Account::Rake, Account::Rake),
        (POT, ANN_SEAT, POT),
        (Account::Rake, ANN_SEAT, Account::Rake),
        (Account::Issuance, ANN, Account::Issuance),
    ] {
        let late = Hold { expires_at: NOW, ..hold(1, from, to, 5) };
        check(Command::PlaceHold(late), wrong(account));
    }
    let unreasoned = Adjustment { reason: String::new(), ..adjustment(1, Account::Issuance, 5) };
    check(Command::ProposeAdjustment(unreasoned), wrong(Account::Issuance));
}

#[test]
fn reasons() {
    type Makes = fn(String) -> Command;
    let acts: [Makes; 5] = [
        |reason| Command::FreezeAccount { player: NOBODY_ID, reason },
        |reason| Command::UnfreezeAccount { player: NOBODY_ID, reason },
        |reason| Command::CloseAccount { player: NOBODY_ID, reason },
        |reason| Command::RejectAdjustment { adjustment: AdjustmentId([9; 16]), reason },
        |reason| Command::ProposeAdjustment(Adjustment { reason, ..adjustment(1, NOBODY, 5) }),
    ];
    for act in acts {
        check(act(" ".repeat(MAX_REASON_CHARS + 1)), Refusal::ReasonMissing);
        let long = "é".repeat(MAX_REASON_CHARS + 1);
        check(act(long), Refusal::ReasonTooLong { chars: 201 });
        let longest = act("é".repeat(MAX_REASON_CHARS));
        assert!(decide(&given(), NOW, longest).unwrap_err().precedence() > 8);
    }
}

#[test]
fn times_that_have_passed() {
    let late = Hold { expires_at: NOW, ..hold(1, NOBODY, Account::Seat(TABLE, NOBODY_ID), 5) };
    check(Command::PlaceHold(late), Refusal::TimePassed);
    check(Command::Exclude { player: NOBODY_ID, until: Some(NOW) }, Refusal::TimePassed);
}

#[test]
fn accounts_that_are_not_there() {
    let unknown = |account| Refusal::AccountUnknown { account };
    let stranger = Account::Seat(TABLE, NOBODY_ID);
    check(Command::PlaceHold(hold(1, NOBODY, stranger, 5)), unknown(NOBODY));
    check(Command::PlaceHold(hold(1, stranger, ANN_SEAT, 5)), unknown(stranger));
    check(Command::PlaceHold(hold(1, ANN_SEAT, stranger, 5000)), unknown(stranger));
    check(Command::ProposeAdjustment(adjustment(1, CAY, 5)), unknown(CAY));
    check(freeze(NOBODY_ID), unknown(NOBODY));
    check(Command::UnfreezeAccount { player: NOBODY_ID, reason: any_reason() }, unknown(NOBODY));
    check(Command::CloseAccount { player: NOBODY_ID, reason: any_reason() }, unknown(NOBODY));
    check(limits(NOBODY_ID, 5), unknown(NOBODY));
    check(Command::Exclude { player: NOBODY_ID, until: None }, unknown(NOBODY));
}

#[test]
fn nothing_happens_to_a_closed_account() {
    let closed = Refusal::AccountClosed { account: CAY };
    let before = || {
        let close = Command::CloseAccount { player: CAY_ID, reason: any_reason() };
        [Command::OpenAccount(CAY_ID), freeze(CAY_ID), close]
    };
    for command in [
        issue(CAY),
        post(Kind::Redeem, "why not", &[(CAY, -5), (Account::Issuance, 5)]),
        buy_in(CAY, CAY_SEAT, 5),
        Command::PlaceHold(hold(1, CAY, CAY_SEAT, 5)),
        Command::ProposeAdjustment(adjustment(1, CAY, 5)),
        freeze(CAY_ID),
        Command::UnfreezeAccount { player: CAY_ID, reason: any_reason() },
        Command::CloseAccount { player: CAY_ID, reason: any_reason() },
        limits(CAY_ID, 5),
        Command::Exclude { player: CAY_ID, until: None },
    ] {
        check_after(before(), command, closed);
    }
    check_after(before(), Command::OpenAccount(CAY_ID), Refusal::AccountExists { account: CAY });
}

#[test]
fn nothing_leaves_a_frozen_account_but_by_adjustment() {
    let frozen = Refusal::AccountFrozen { account: ANN };
    let before = || [Command::PlaceHold(hold(1, ANN, ANN_SEAT, 100)), freeze(ANN_ID)];
    for command in [
        freeze(ANN_ID),
        redeem(900),
        buy_in(ANN, ANN_SEAT, 900),
        Command::PlaceHold(hold(2, ANN, ANN_SEAT, 900)),
        capture(1, 900),
    ] {
        check_after(before(), command, frozen);
    }
    let mut ledger = given();
    run(&mut ledger, before());
    let cash_out = post(Kind::CashOut, "", &[(ANN_SEAT, -50), (ANN, 50)]);
    let settle = post(SETTLEMENT, "", &[(ANN_SEAT, -50), (BOB_SEAT, 50)]);
    let adjust = Command::ProposeAdjustment(adjustment(3, ANN, -100));
    let held_seat = Command::PlaceHold(hold(4, ANN_SEAT, POT, 5));
    run(&mut ledger, [issue(ANN), cash_out, settle, adjust, held_seat, approve(3, "second")]);
    run(&mut ledger, [Command::ReleaseHold { hold: HoldId([1; 16]) }]);
    run(
        &mut ledger,
        [Command::UnfreezeAccount { player: ANN_ID, reason: any_reason() }, redeem(455)],
    );
    let unfreeze = Command::UnfreezeAccount { player: ANN_ID, reason: any_reason() };
    let not_frozen = Refusal::AccountNotFrozen { account: ANN };
    assert_eq!(decide(&ledger, NOW, unfreeze), Err(not_frozen));
}

#[test]
fn only_what_is_empty_can_be_closed() {
    let close = || Command::CloseAccount { player: CAY_ID, reason: any_reason() };
    let not_empty = Refusal::AccountNotEmpty { account: CAY };
    let rich = || [Command::OpenAccount(CAY_ID), issue(CAY)];
    check_after(rich(), close(), not_empty);
    let plays = rich().into_iter().chain([buy_in(CAY, CAY_SEAT, 5)]);
    check_after(plays, close(), not_empty);
    let waits = [Command::OpenAccount(CAY_ID), Command::ProposeAdjustment(adjustment(1, CAY, 5))];
    check_after(waits, close(), not_empty);
    let lost = post(SETTLEMENT, "", &[(CAY_SEAT, -5), (ANN_SEAT, 5)]);
    let mut ledger = given();
    run(&mut ledger, rich().into_iter().chain([buy_in(CAY, CAY_SEAT, 5), lost]));
    run(&mut ledger, [Command::ProposeAdjustment(adjustment(1, CAY, 5))]);
    let reject =
        Command::RejectAdjustment { adjustment: AdjustmentId([1; 16]), reason: any_reason() };
    run(&mut ledger, [reject, close()]);
}

#[test]
fn holds_that_do_not_wait() {
    let gone = Refusal::HoldNotPending { hold: HoldId([1; 16]) };
    check(capture(1, 5), gone);
    check(Command::ReleaseHold { hold: HoldId([1; 16]) }, gone);
    let mut ledger = given();
    run(&mut ledger, [Command::PlaceHold(hold(1, ANN, ANN_SEAT, 100))]);
    let end = NOW.plus(HOUR);
    assert_eq!(decide(&ledger, end, capture(1, 5)), Err(gone));
    assert!(decide(&ledger, UnixMicros(end.0 - 1), capture(1, 5)).is_ok());
    assert_eq!(ledger.expired(UnixMicros(end.0 - 1)), []);
    assert_eq!((ledger.next_expiry(), ledger.expired(end).len()), (Some(end), 1));
    // A capture ends the hold unless the rest is kept.
    run(&mut ledger, [capture(1, 40)]);
    assert_eq!(decide(&ledger, NOW, capture(1, 5)), Err(gone));
    assert_eq!((ledger.held(&ANN), ledger.expired(end)), (Credits::ZERO, vec![]));
}

#[test]
fn a_hold_pays_no_more_than_it_has_left() {
    let part = |amount| Command::CaptureHold {
        id: RequestId([6; 16]),
        hold: HoldId([1; 16]),
        amount: Credits::of(amount),
        keep_rest: true,
    };
    let before = || [Command::PlaceHold(hold(1, ANN, ANN_ELSEWHERE, 100)), part(40)];
    check_after(before(), part(61), Refusal::HoldTooSmall { left: Credits::of(60) });
    let mut ledger = given();
    run(&mut ledger, before());
    assert_eq!(ledger.held(&ANN), Credits::of(60));
    assert_eq!(ledger.balance(&ANN_ELSEWHERE).map(Amount::get), Some(40));
    run(&mut ledger, [part(60)]);
    assert_eq!((ledger.held(&ANN), ledger.holds().len()), (Credits::ZERO, 0));
}

#[test]
fn what_is_held_is_not_available() {
    let short = |short| Refusal::InsufficientCredits { account: ANN, short: Credits::of(short) };
    let before = || [Command::PlaceHold(hold(1, ANN, ANN_SEAT, 400))];
    check_after(before(), redeem(101), short(1));
    check_after(before(), buy_in(ANN, ANN_SEAT, 101), short(1));
    check_after(before(), Command::PlaceHold(hold(2, ANN, ANN_SEAT, 101)), short(1));
    let proposed =
        before().into_iter().chain([Command::ProposeAdjustment(adjustment(3, ANN, -101))]);
    check_after(proposed, approve(3, "second"), short(1));
    let mut ledger = given();
    run(&mut ledger, before().into_iter().chain([redeem(100)]));
    assert_eq!(ledger.account(&ANN).unwrap().available(), Amount::ZERO);
}

#[test]
fn adjustments_need_two_operators() {
    let adjustment_id = AdjustmentId([1; 16]);
    let gone = Refusal::AdjustmentNotPending { adjustment: adjustment_id };
    let reject = || Command::RejectAdjustment { adjustment: adjustment_id, reason: any_reason() };
    check(approve(1, "second"), gone);
    check(reject(), gone);
    let proposed = || Command::ProposeAdjustment(adjustment(1, ANN, -501));
    check_after([proposed()], approve(1, "first"), Refusal::SameOperator);
    let short = Refusal::InsufficientCredits { account: ANN, short: Credits::of(1) };
    check_after([proposed()], approve(1, "second"), short);
    check_after([proposed(), reject()], approve(1, "second"), gone);
    for account in [Account::Rake, ANN] {
        let mut ledger = given();
        let propose = Command::ProposeAdjustment(adjustment(1, account, 7));
        run(&mut ledger, [propose, approve(1, "second")]);
        assert_eq!(decide(&ledger, NOW, approve(1, "second")), Err(gone));
        let was = given().balance(&account).unwrap().get();
        assert_eq!(ledger.balance(&account).map(Amount::get), Some(was + 7));
    }
}

#[test]
fn what_lies_at_a_table_is_never_adjusted() {
    for account in [POT, CARRIED, BOB_SEAT, Account::Issuance] {
        let propose = Command::ProposeAdjustment(adjustment(1, account, 7));
        check(propose, Refusal::WrongAccount { account });
        // An approval is refused too, in case an older log has such a proposal.
        let mut ledger = given();
        evolve(&mut ledger, NOW, &Event::AdjustmentProposed(adjustment(1, account, 7)));
        let refusal = Refusal::WrongAccount { account };
        assert_eq!(decide(&ledger, NOW, approve(1, "second")), Err(refusal));
    }
}

#[test]
fn what_cannot_be_paid_to_its_player_waits_in_suspense() {
    let (suspense, id) = (Account::Suspense, AdjustmentId([1; 16]));
    check(
        Command::ProposeAdjustment(adjustment(1, suspense, 5)),
        Refusal::AccountUnknown { account: suspense },
    );
    let mut ledger = given();
    let to_suspense = post(Kind::CashOut, "", &[(ANN_SEAT, -500), (suspense, 500)]);
    run(&mut ledger, [to_suspense, Command::ProposeAdjustment(adjustment(1, suspense, -500))]);
    assert_eq!(ledger.balance(&suspense).map(Amount::get), Some(500));
    run(
        &mut ledger,
        [Command::ApproveAdjustment { id: RequestId([9; 16]), adjustment: id, by: "b".into() }],
    );
    assert_eq!(ledger.balance(&suspense).map(Amount::get), Some(0));
    for (kind, legs) in [
        (Kind::CashOut, &[(suspense, -5), (ANN_SEAT, 5)]),
        (Kind::CashOut, &[(POT, -5), (suspense, 5)]),
        (SETTLEMENT, &[(ANN_SEAT, -5), (suspense, 5)]),
        (POT_REFUND, &[(POT, -5), (suspense, 5)]),
        (Kind::Redeem, &[(suspense, -5), (Account::Issuance, 5)]),
    ] {
        let refusal = decide(&ledger, NOW, post(kind, "because", legs)).unwrap_err();
        assert!(matches!(refusal, Refusal::WrongAccount { .. }), "{kind}: {refusal}");
    }
}

#[test]
fn an_account_that_may_have_a_share_in_a_pot_is_not_closed() {
    let close = || Command::CloseAccount { player: CAY_ID, reason: any_reason() };
    let share = Refusal::ShareInPot { account: CAY, table: TABLE };
    for pot in [POT, CARRIED] {
        let mut ledger = given();
        run(&mut ledger, [Command::OpenAccount(CAY_ID), issue(CAY), buy_in(CAY, CAY_SEAT, 5)]);
        let paid_in = post(SETTLEMENT, "", &[(CAY_SEAT, -5), (pot, 5)]);
        run(&mut ledger, [paid_in]);
        assert_eq!(decide(&ledger, NOW, close()), Err(share), "{pot}");
        run(&mut ledger, [post(SETTLEMENT, "", &[(pot, -5), (ANN_SEAT, 5)]), close()]);
    }
    // A player who never sat there has no share.
    let mut ledger = given();
    run(&mut ledger, [Command::OpenAccount(CAY_ID), close()]);
}

#[test]
fn who_keeps_himself_from_play_can_still_take_his_credits() {
    let until = Some(NOW.plus(HOUR));
    let excluded = |until| Refusal::Excluded { account: ANN, until };
    for until in [until, None] {
        let before = || [exclude(until), limits(ANN_ID, 0)];
        check_after(before(), issue(ANN), excluded(until));
        check_after(before(), buy_in(ANN, ANN_SEAT, 900), excluded(until));
        check_after(before(), Command::PlaceHold(hold(1, ANN, ANN_SEAT, 900)), excluded(until));
    }
    let mut ledger = given();
    run(&mut ledger, [exclude(until)]);
    let cash_out = post(Kind::CashOut, "", &[(ANN_SEAT, -500), (ANN, 500)]);
    run(&mut ledger, [cash_out, redeem(500)]);
    let shorter = Refusal::ExclusionShorter { until };
    let earlier = UnixMicros(NOW.plus(HOUR).0 - 1);
    assert_eq!(decide(&ledger, NOW, exclude(Some(earlier))), Err(shorter));
    lawful(&ledger, NOW.plus(HOUR), buy_in(ANN, ANN_SEAT, 5));
    lawful(&ledger, NOW.plus(HOUR), exclude(Some(NOW.plus(HOUR * 2))));
    assert!(decide(&ledger, earlier, buy_in(ANN, ANN_SEAT, 5)).is_err());
    run(&mut ledger, [exclude(until), exclude(None)]);
    let for_good = Refusal::ExclusionShorter { until: None };
    assert_eq!(decide(&ledger, NOW, exclude(until)), Err(for_good));
}

#[test]
fn limits_count_what_was_brought_and_what_is_held() {
    // A buy-in counts to the end of the hour in which it leaves the window.
    let hour = 3_600_000_000;
    let ends = |window: Window| UnixMicros((NOW.0.div_euclid(hour) + window.hours() + 1) * hour);
    let reached = |window, limit, left| Refusal::LimitReached {
        measure: Measure::BuyIn,
        window,
        limit,
        left,
        until: Some(ends(window)),
    };
    // 500 were brought before; more than the whole limit never fits.
    let never = Refusal::LimitReached {
        measure: Measure::BuyIn,
        window: Window::Day,
        limit: 600,
        left: 100,
        until: None,
    };
    check_after([limits(ANN_ID, 600)], buy_in(ANN, ANN_SEAT, 900), never);
    check_after([limits(ANN_ID, 600)], buy_in(ANN, ANN_SEAT, 101), reached(Window::Day, 600, 100));
    check_after([limits(ANN_ID, 400)], buy_in(ANN, ANN_SEAT, 1), reached(Window::Day, 400, 0));
    let held = Command::PlaceHold(hold(1, ANN, ANN_SEAT, 60));
    check_after(
        [limits(ANN_ID, 600), held.clone()],
        buy_in(ANN, ANN_SEAT, 41),
        reached(Window::Day, 600, 40),
    );
    check_after(
        [limits(ANN_ID, 600), held.clone(), capture(1, 60)],
        Command::PlaceHold(hold(2, ANN, ANN_SEAT, 41)),
        reached(Window::Day, 600, 40),
    );
    // The stricter limit of both setters holds, window by window.
    let operator = Command::SetLimits {
        player: ANN_ID,
        by: LimitSetter::Operator,
        limits: RequestedLimits::BuyIn(Limits { week: Some(Credits::of(510)), ..Limits::NONE }),
    };
    let both = [limits(ANN_ID, 600), operator];
    check_after(both, buy_in(ANN, ANN_SEAT, 11), reached(Window::Week, 510, 10));
    let mut ledger = given();
    run(&mut ledger, [limits(ANN_ID, 600), held, capture(1, 60), buy_in(ANN, ANN_SEAT, 40)]);
    assert_eq!(ledger.account(&ANN).unwrap().bought_in(Window::Day, NOW), Credits::of(600));
    // The buy-in counts to the end of the hour in which it leaves the window.
    let hour = 3_600_000_000;
    let over = UnixMicros((NOW.0.div_euclid(hour) + 25) * hour);
    lawful(&ledger, over, buy_in(ANN, ANN_SEAT, 400));
    assert!(decide(&ledger, UnixMicros(over.0 - 1), buy_in(ANN, ANN_SEAT, 1)).is_err());
}

#[test]
fn looser_limits_wait_a_day_and_tighter_ones_hold_at_once() {
    let mut ledger = given();
    let now = |day, week| Limits {
        day: Some(Credits::of(day)),
        week: Some(Credits::of(week)),
        month: None,
    };
    let set = |limits| {
        let limits = RequestedLimits::BuyIn(limits);
        Command::SetLimits { player: ANN_ID, by: LimitSetter::Player, limits }
    };
    run(&mut ledger, [set(now(600, 700)), set(now(550, 800))]);
    let terms = |ledger: &Ledger, at| {
        ledger.account(&ANN).unwrap().limit_terms(LimitSetter::Player, at).buy_in
    };
    let later = NOW.plus(HOUR * 24);
    assert_eq!(terms(&ledger, NOW).now, now(550, 700));
    assert_eq!(terms(&ledger, NOW).later, Some((later, now(550, 800))));
    assert_eq!(terms(&ledger, UnixMicros(later.0 - 1)).now, now(550, 700));
    assert_eq!(terms(&ledger, later).now, now(550, 800));
    assert_eq!(terms(&ledger, later).later, None);
    // Pending limits are replaced by a new request.
    run(&mut ledger, [set(now(540, 690))]);
    assert_eq!((terms(&ledger, later).now, terms(&ledger, NOW).later), (now(540, 690), None));
    run(&mut ledger, [set(Limits::NONE)]);
    assert_eq!((terms(&ledger, NOW).now, terms(&ledger, later).now), (now(540, 690), Limits::NONE));
}

#[test]
fn a_linked_group_is_carried_out_whole_or_not_at_all() {
    let mut ledger = given();
    run(&mut ledger, [Command::PlaceHold(hold(1, ANN, ANN_SEAT, 100))]);
    let before = ledger.clone();
    let group = |last| [Command::OpenAccount(CAY_ID), issue(CAY), capture(1, 30), redeem(last)];
    let unlinked = decide_linked(&mut ledger, NOW, group(471)).unwrap_err();
    let short = Refusal::InsufficientCredits { account: ANN, short: Credits::of(1) };
    assert_eq!((unlinked.index, unlinked.refusal), (3, short));
    assert_eq!(ledger, before);
    let events = decide_linked(&mut ledger, NOW, group(470)).unwrap();
    assert_eq!(events.len(), 4);
    let mut again = before;
    for event in events.iter().flatten() {
        evolve(&mut again, NOW, event);
    }
    assert_eq!(again, ledger);
}
