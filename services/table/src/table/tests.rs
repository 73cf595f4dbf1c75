//! Events of a table's life, and its pending effects at each point.

use std::collections::BTreeSet;
use std::time::Duration;

use super::*;
use crate::commands::{Command, CommandContext, DecisionRequest, Funds, judge};
use crate::effects::{Effect, pending_effects};
use crate::entropy::Timing;
use crate::settle;
use crate::tests::harness::stand_up;
use proto::common::v1::ErrorReason;
use rules::RuleSet;

const NOW: UnixMicros = UnixMicros(1_000_000);

fn table() -> Table {
    table_of(&RuleSet::defaults(rules::variant("dice").unwrap()))
}

fn table_of(rules: &RuleSet) -> Table {
    let created = pb::TableCreated {
        name: "Test".to_owned(),
        rule_set: rules.canonical(),
        seats: 4,
        min_buy_in: 100,
        max_buy_in: 1000,
        settings: rules::TableSettings { contributors_min: 0, ..Default::default() }.canonical(),
        pause_ms: 0,
        idle_seconds: 0,
    };
    Table::open(TableId([7; 16]), &created, NOW).unwrap()
}

fn player(number: u8) -> PlayerId {
    PlayerId([number; 16])
}

fn take(table: &mut Table, event: impl Into<TableRecord>) {
    let stream = table.id.into();
    table.evolve(stream, &event.into(), NOW).unwrap();
}

fn seated(table: &mut Table, seat: u8, credits: u64) {
    take(
        table,
        pb::SeatTaken {
            seat: seat.into(),
            player_id: player(seat).0.to_vec().into(),
            buy_in: credits,
            transfer_id: vec![seat; 16].into(),
            house: false,
        },
    );
    take(table, pb::SeatFunded { seat: seat.into() });
}

fn pending(table: &Table) -> Vec<Effect> {
    let timeout = Duration::from_secs(60);
    let now = Timing {
        at: NOW,
        listening_since: NOW,
        dealer_timeout: timeout,
        room_delay: Duration::ZERO,
        starts_held_until: None,
        standing_checked_at: NOW,
    };
    pending_effects(table, None, &now).0
}

fn context(number: u8) -> CommandContext {
    CommandContext {
        player: Some(player(number)),
        request: primitives::RequestId([number; 16]),
        now: NOW,
        arrived: NOW,
        is_room_behind: false,
    }
}

fn refusal(table: &Table, command: &Command, context: &CommandContext) -> ErrorReason {
    judge(table, None, command, context).map(|_| ()).unwrap_err().reason()
}

fn sit(seat: Option<u8>, credits: u32) -> Command {
    let seat = seat.map(|seat| SeatNo::try_new(seat).unwrap());
    Command::SitDown { seat, buy_in: Credits::of(credits), funds: None, is_house: false }
}

/// At a crowded table, players without credits cannot spend the records that are left to newcomers.
#[test]
fn a_record_that_contradicts_the_ones_before_it_is_corrupt() {
    let mut table = table();
    seated(&mut table, 1, 200);
    take(&mut table, pb::SeatVacated { seat: 1 });
    let again = TableRecord::from(pb::SeatVacated { seat: 1 });
    assert!(table.evolve(table.id.into(), &again, NOW).is_err(), "the seat is free");
    let hand = fairness::hand_id(table.id, 1);
    let events = [
        TableRecord::from(pb::HandRevealed { seed: vec![0; 64].into() }),
        TableRecord::from(pb::SeedRefused { seed: vec![0; 64].into() }),
    ];
    for event in events {
        assert!(table.evolve(hand.into(), &event, NOW).is_err(), "the seed is not pending");
    }
}

#[test]
fn among_many_whoever_has_too_few_credits_writes_no_record() {
    let mut table = table();
    let poor = Command::SitDown {
        seat: None,
        buy_in: Credits::of(200),
        funds: Some(Funds::NoAccount),
        is_house: false,
    };
    for number in 1..=128 {
        let taken = judge(&table, None, &poor, &context(number)).unwrap().batch.events.remove(0).1;
        take(&mut table, taken);
        let no = pb::SeatRefused { seat: 1, ..pb::SeatRefused::default() };
        take(&mut table, no);
    }
    let with =
        |funds| Command::SitDown { seat: None, buy_in: Credits::of(200), funds, is_house: false };
    assert_eq!(refusal(&table, &poor, &context(129)), ErrorReason::AccountUnknown);
    for (funds, reason) in [
        (Funds::NoAccount, ErrorReason::AccountUnknown),
        (Funds::Available(0), ErrorReason::InsufficientCredits),
        (Funds::Available(199), ErrorReason::InsufficientCredits),
    ] {
        assert_eq!(refusal(&table, &with(Some(funds)), &context(3)), reason);
    }
    for funds in [None, Some(Funds::Available(200)), Some(Funds::Available(u64::MAX))] {
        assert_eq!(judge(&table, None, &with(funds), &context(3)).unwrap().batch.events.len(), 1);
    }
    let wrong = Command::SitDown {
        seat: None,
        buy_in: Credits::of(1),
        funds: Some(Funds::NoAccount),
        is_house: false,
    };
    assert_eq!(
        refusal(&table, &wrong, &context(3)),
        ErrorReason::BuyInOutOfRange,
        "first what is asked"
    );
}

#[test]
fn hand_starts_with_two_ready_and_a_commitment() {
    let mut table = table();
    assert_eq!(pending(&table), [Effect::Commit { hand_no: 1 }]);
    seated(&mut table, 1, 200);
    seated(&mut table, 3, 200);
    assert_eq!(pending(&table), [Effect::Commit { hand_no: 1 }]);
    let commitment = Some(Commitment::default());
    take(&mut table, pb::HandCommitted { hand_no: 1, commitment });
    assert_eq!(pending(&table), [Effect::Start]);
    let out = pb::SitOutChanged { seat: 3, sitting_out: true, why: "asked".to_owned() };
    take(&mut table, out);
    assert_eq!(pending(&table), []);
}

/// rules/SPEC.md R-53: with tokens assigned to each player, a table deals only hands of one size.
#[test]
fn hand_with_tokens_for_three_starts_with_three_ready() {
    let kinds = ["refund", "embargo", "markdown"].repeat(3);
    let kinds = kinds.into_iter().map(str::to_owned).collect();
    let fields = [
        ("assigned_tokens".to_owned(), rules::FieldValue::List(kinds)),
        ("tokens".to_owned(), rules::FieldValue::Text("assigned".to_owned())),
    ];
    let mut table = table_of(&RuleSet::parse("kessel", &fields).unwrap());
    let commitment = Some(Commitment::default());
    take(&mut table, pb::HandCommitted { hand_no: 1, commitment });
    seated(&mut table, 1, 200);
    seated(&mut table, 2, 200);
    assert_eq!(pending(&table), [], "two are too few");
    seated(&mut table, 3, 200);
    assert_eq!(pending(&table), [Effect::Start]);
}

#[test]
fn buy_in_is_owed_until_it_is_funded_or_refused() {
    let mut table = table();
    let taken = pb::SeatTaken {
        seat: 2,
        player_id: player(2).0.to_vec().into(),
        buy_in: 100,
        transfer_id: vec![9; 16].into(),
        house: false,
    };
    take(&mut table, taken);
    let seat = SeatNo::try_new(2).unwrap();
    assert_eq!(pending(&table)[0], Effect::Fund { seat });
    let reason = "INSUFFICIENT_CREDITS".to_owned();
    let refused = pb::SeatRefused { seat: 2, reason, ..pb::SeatRefused::default() };
    take(&mut table, refused.clone());
    assert_eq!(table.refusals, [([9; 16], refused)]);
    assert!(table.seats.is_empty());
}

#[test]
fn leaver_is_paid_out_and_nobody_else() {
    let mut table = table();
    seated(&mut table, 1, 200);
    seated(&mut table, 3, 200);
    take(&mut table, pb::LeaveAsked { seat: 3, why: "asked".to_owned(), ..Default::default() });
    let seat = SeatNo::try_new(3).unwrap();
    assert_eq!(pending(&table), [Effect::PayOut { seat }, Effect::Commit { hand_no: 1 }]);
}

#[test]
fn sitting_down_is_refused_by_name() {
    let mut table = table();
    seated(&mut table, 1, 200);
    let check = |command: &Command, number: u8, reason| {
        assert_eq!(refusal(&table, command, &context(number)), reason, "{command:?}");
    };
    check(&sit(None, 200), 1, ErrorReason::AlreadySeated);
    check(&sit(Some(1), 200), 2, ErrorReason::SeatTaken);
    check(&sit(Some(5), 200), 2, ErrorReason::BadField);
    check(&sit(None, 99), 2, ErrorReason::BuyInOutOfRange);
    check(&sit(None, 1001), 2, ErrorReason::BuyInOutOfRange);
    check(&stand_up(), 2, ErrorReason::NotYourSeat);
    check(&Command::SitOut { out: true, standing: None }, 2, ErrorReason::NotYourSeat);
    let mv = proto::common::v1::Move::default();
    check(
        &Command::Act(DecisionRequest {
            hand_no: 1,
            turn: 1,
            mv: mv.clone(),
            signature: Vec::new(),
        }),
        2,
        ErrorReason::NotYourSeat,
    );
    check(
        &Command::Act(DecisionRequest { hand_no: 1, turn: 1, mv, signature: Vec::new() }),
        1,
        ErrorReason::NotYourTurn,
    );
}

#[test]
fn closed_table_takes_nobody() {
    let mut table = table();
    take(&mut table, pb::CloseAsked {});
    assert_eq!(refusal(&table, &sit(None, 200), &context(2)), ErrorReason::TableClosed);
    take(&mut table, pb::TableClosed {});
    assert_eq!(refusal(&table, &Command::Close, &context(2)), ErrorReason::TableClosed);
}

/// Finishes a hand after which the Sabacc Pot holds `pot`, and p1 and p2 have paid `paid` into it.
fn finished(table: &mut Table, pot: u64, paid: [u64; 2]) {
    let seat = |number: u8| pb::RosterSeat {
        seat: number.into(),
        player_id: player(number).0.to_vec().into(),
        stack: 100,
        house: false,
    };
    let finished = pb::HandFinished {
        hand_no: 1,
        hand_id: vec![1; 16].into(),
        seats: vec![seat(1), seat(3)],
        sabacc_pot: pot,
        carried_pot: 0,
        sabacc_paid: paid.to_vec(),
        sabacc_won: false,
        misses: vec![0, 0],
        aborted: false,
    };
    take(table, finished);
}

fn shares(table: &Table) -> Vec<(u32, u64)> {
    let paid = settle::share_pots(table).unwrap();
    let TableRecord::PotRefundDue(due) = &paid.events[0].1 else { panic!("a refund is due") };
    due.shares.iter().map(|share| (share.seat, share.stack)).collect()
}

/// rules/SPEC.md §5.5, R-78.
#[test]
fn sabacc_pot_is_refunded_pro_rata_with_the_rest_to_the_largest() {
    let mut table = table();
    seated(&mut table, 1, 200);
    seated(&mut table, 3, 200);
    finished(&mut table, 100, [1, 2]);
    // 33 and 66, and the odd credit to whoever paid most.
    assert_eq!(shares(&table), [(1, 33), (3, 67)]);
    // The first of equals.
    finished(&mut table, 101, [1, 0]);
    assert_eq!(shares(&table), [(1, 51), (3, 50)]);
}

/// rules/SPEC.md R-78: where nobody has paid in, the players of the last hand count alike.
#[test]
fn pot_that_nobody_paid_into_is_shared_alike_by_the_last_hand() {
    let mut table = table();
    seated(&mut table, 1, 200);
    seated(&mut table, 3, 200);
    finished(&mut table, 9, [0, 0]);
    // 4 each, and the odd credit to the first of equals.
    assert_eq!(shares(&table), [(1, 5), (3, 4)]);
}

/// A transfer has at most 64 legs, and any number of players may feed a pot before it is won.
#[test]
fn pots_of_more_players_than_a_transfer_takes_go_back_in_several() {
    let mut table = table();
    for number in 1..=200_u8 {
        table.paid_into_pot.insert(player(number), Credits::of(u32::from(number)));
    }
    (table.sabacc_pot, table.carried_pot) = (Credits::of(30_000), Credits::of(701));
    take(&mut table, pb::CloseAsked {});
    let (mut transfers, mut paid, mut before) = (BTreeSet::new(), 0, BTreeMap::new());
    while pending(&table) == [Effect::Share] {
        for (_, event) in settle::share_pots(&table).unwrap().events {
            take(&mut table, event);
        }
        assert_eq!(pending(&table), [Effect::Refund]);
        let refund = settle::refund_request(&table).unwrap();
        assert!((2..=64).contains(&refund.legs.len()), "{} legs", refund.legs.len());
        assert_eq!(refund.legs.iter().map(|leg| leg.amount).sum::<i64>(), 0);
        assert!(transfers.insert(refund.request_id), "another transfer each time");
        for leg in refund.legs.iter().filter(|leg| leg.amount > 0) {
            paid += leg.amount;
            assert_eq!(before.insert(leg.account.clone(), leg.amount), None, "each player once");
        }
        take(&mut table, pb::PotRefunded {});
    }
    assert_eq!((transfers.len(), before.len(), paid), (4, 200, 30_701));
    assert_eq!((table.sabacc_pot, table.carried_pot), (Credits::ZERO, Credits::ZERO));
    // 30,701 × part / 20,100 each, and the remainder to whoever paid most.
    let floor: i64 = (1..200).map(|part| 30_701 * part / 20_100).sum();
    let largest = format!("seat/{}/{}", table.id, player(200));
    assert_eq!(before[&largest], 30_701 - floor);
    assert_eq!(table.absent_shares.len(), 200);
}

#[test]
fn whoever_has_left_gets_his_share_all_the_same() {
    let mut table = table();
    seated(&mut table, 1, 200);
    seated(&mut table, 3, 200);
    finished(&mut table, 90, [45, 45]);
    take(&mut table, pb::SeatVacated { seat: 3 });
    take(&mut table, pb::CloseAsked {});
    assert_eq!(pending(&table), [Effect::Share]);
    assert_eq!(shares(&table), [(1, 45), (0, 45)]);
    for (_, event) in settle::share_pots(&table).unwrap().events {
        take(&mut table, event);
    }
    assert_eq!(pending(&table), [Effect::Refund]);
    take(&mut table, pb::PotRefunded {});
    let seat = SeatNo::try_new(1).unwrap();
    assert_eq!(table.seats[&seat].stack, Credits::of(145));
    assert_eq!(pending(&table), [Effect::PayOut { seat }, Effect::PayAbsent { player: player(3) }]);
    take(&mut table, pb::AbsentPaid { player_id: player(3).0.to_vec().into() });
    take(&mut table, pb::SeatVacated { seat: 1 });
    assert_eq!(pending(&table), [Effect::Close]);
}

#[test]
fn empty_pot_needs_no_transfer() {
    let mut table = table();
    take(&mut table, pb::CloseAsked {});
    assert_eq!(pending(&table), [Effect::Share]);
    for (_, event) in settle::share_pots(&table).unwrap().events {
        take(&mut table, event);
    }
    assert_eq!(pending(&table), [Effect::Close]);
}
