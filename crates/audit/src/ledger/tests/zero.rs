//! Legs of 0 credits in the settlements of hands: of everybody whose net is 0, or of nobody.

use proto::wallet::v1::Leg;

use super::*;

/// A table at which nothing is paid at the start, so that many a net is 0; seat 2 has left in
/// between.
fn free(ways: &HandOptions) -> TableFixture {
    let rules = rules::RuleSet::defaults(rules::variant("dice").unwrap()).canonical();
    let rules = rules.replace("hand_ante = 5", "hand_ante = 0");
    let rules = rules.replace("sabacc_ante = 5", "sabacc_ante = 0");
    let many = |room: &TableFixture| with_zeros(room, 2) > 1 && with_zeros(room, 3) > 0;
    let rooms = (0..).map(|number| life(number, &rules, ways));
    let mut zeros = rooms.filter(|room| ways.without_zero_legs || many(room));
    zeros.next().unwrap()
}

fn life(number: u64, rules: &str, ways: &HandOptions) -> TableFixture {
    let mut room = TableFixture::with_rules(number, rules.to_owned()).with_options(ways.clone());
    (1..=4).for_each(|seat| room.sit(seat, 2000));
    assert!(room.play());
    room.stand_up(2);
    for _ in 0..8 {
        assert!(room.play());
    }
    room
}

fn zeros(posted: &pb::TransferPosted) -> usize {
    posted.legs.iter().filter(|leg| leg.amount == 0).count()
}

/// Settlements with so many legs of 0 credits or more.
fn with_zeros(room: &TableFixture, least: usize) -> usize {
    let entries = room.script.entries.iter();
    let found = entries.filter(
        |entry| matches!(&entry.recorded, Wallet(WalletRecord::TransferPosted(it)) if zeros(it) >= least),
    );
    found.count()
}

/// Exactly these fail once the legs of the last settlement with two legs of 0 credits are edited.
fn check_legs(failing: &[Check], edit: impl FnOnce(&TableFixture, &mut Vec<Leg>)) {
    let mut room = free(&HandOptions::default());
    let before = room.clone();
    let fits = |it: &pb::TransferPosted| zeros(it) >= 2;
    edit(&before, &mut the!(room.script.entries, Wallet(WalletRecord::TransferPosted), fits).legs);
    let report = report(&room);
    assert_eq!(fails(&report), failing, "{report:#?}");
}

/// fairness/SPEC.md §10.6.
#[test]
fn settlements_with_such_legs_and_without_them_pass() {
    let mut room = free(&HandOptions::default());
    assert!(with_zeros(&room, 2) > 1 && with_zeros(&room, 3) > 0, "{}", with_zeros(&room, 2));
    assert!(report(&room).passed(), "{:#?}", report(&room));
    let earlier = free(&HandOptions { without_zero_legs: true, ..HandOptions::default() });
    assert_eq!(with_zeros(&earlier, 1), 0);
    assert!(report(&earlier).passed(), "{:#?}", report(&earlier));
    // A hand that comes to nothing is not posted at all.
    let silent = Suspension { after: Some(3), end: SuspensionEnd::Agreed };
    room.options.suspension = Some(silent);
    let posted = with_zeros(&room, 0);
    assert!(room.play() && report(&room).passed());
    assert_eq!(with_zeros(&room, 0), posted);
    for length in moments(&room) {
        let mut until = TableFixture::open(4, "dice");
        until.script.entries = room.script.entries[..length].to_vec();
        let report = report(&until);
        assert!(report.passed(), "after {length} entries: {report:#?}");
    }
}

#[test]
fn a_leg_of_somebody_who_was_not_dealt_in() {
    check_legs(&[Check::Transfers], |room, legs| {
        let left = room.script.entries.iter().find_map(|entry| {
            let Table(TableRecord::SeatTaken(taken)) = &entry.recorded else {
                return None;
            };
            (taken.seat == 2).then(|| taken.player_id.clone())
        });
        let player = primitives::PlayerId::try_from(&left.unwrap()[..]).unwrap();
        let account = Account::Seat(room.table, player).to_string();
        assert!(legs.iter().all(|leg| leg.account != account));
        legs.push(Leg { account, amount: 0 });
    });
}

#[test]
fn one_leg_of_two_is_left_out() {
    check_legs(&[Check::Transfers], |_, legs| {
        let at = legs.iter().position(|leg| leg.amount == 0).unwrap();
        legs.remove(at);
    });
}

#[test]
fn a_leg_twice_and_legs_of_others_than_seats() {
    check_legs(&[Check::Lawful], |_, legs| {
        let zero = legs.iter().find(|leg| leg.amount == 0).unwrap().clone();
        legs.push(zero);
    });
    let of_house = |room: &TableFixture| [Account::Rake, Account::CarriedPot(room.table)];
    for at in 0..2 {
        check_legs(&[Check::Lawful, Check::Transfers], |room, legs| {
            legs.push(Leg { account: of_house(room)[at].to_string(), amount: 0 });
        });
    }
}
