//! A player who withholds whatever they commit to, and comes back as soon as they may.

use std::time::Duration;

use fairness::ClientCommitment;
use primitives::Credits;
use proto::common::v1::ErrorReason;
use proto::event::v1::AtFault;
use wire::TableRecord;

use super::{Harness, offer, stand_up};
use crate::commands::Command;
use crate::effects::Effect;

const EACH: Duration = Duration::from_secs(2);
/// Least time of a hand of people, for which a withholder waits for the next one.
const HAND: Duration = Duration::from_secs(15);
const WITHHOLDER: u8 = 4;

/// Ways of a withholder to come back.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    SitIn,
    /// Leaves the table and takes a new seat.
    SitDown,
}

/// Numbers of the burnt and of the played hands.
fn ended(table: &Harness) -> (usize, usize) {
    let count = |wanted: fn(&TableRecord) -> bool| {
        table.log.iter().filter(|(_, event, _)| wanted(event)).count()
    };
    let burnt = |event: &TableRecord| matches!(event, TableRecord::HandAborted(it) if it.at_fault() == AtFault::Seat);
    (count(burnt), count(|event| matches!(event, TableRecord::HandSettled(_))))
}

/// Brings the withholder back where they may, and commits them to the next hand; the reason where
/// they may not.
fn comes_back(table: &mut Harness, way: Way) -> Result<(), ErrorReason> {
    let seat = table.state.table.seat_of(super::player(WITHHOLDER));
    let command = match seat {
        Some(seat) if !table.state.table.seats[&seat].sitting_out => None,
        Some(_) if way == Way::SitIn => Some(Command::SitOut { out: false, standing: None }),
        Some(_) => {
            table.command(WITHHOLDER, stand_up()).unwrap();
            while table.run_effect(|effect| {
                matches!(effect, Effect::PayOut { .. } | Effect::CashOut { .. })
            }) {}
            Some(Command::SitDown { seat: None, buy_in: Credits::of(1000), funds: None })
        }
        None => Some(Command::SitDown { seat: None, buy_in: Credits::of(1000), funds: None }),
    };
    if let Some(command) = command {
        table.command(WITHHOLDER, command).map_err(|refused| refused.reason())?;
        while table.run_effect(|effect| matches!(effect, Effect::Fund { .. })) {}
    }
    let hand_no = table.state.table.hand_no + 1;
    if table.state.table.dealer_commitments.contains_key(&hand_no) {
        let commitment = ClientCommitment([0x5a; 32]);
        // A second commitment to the same hand is refused, which changes nothing.
        let _ = table.command(WITHHOLDER, offer(hand_no, commitment));
    }
    Ok(())
}

/// Runs this many hand numbers with one withholder among three. Returns how many were burnt and
/// played.
fn play(hands: u64, way: Way) -> (usize, usize) {
    let mut table = Harness::new("dice", |_| {});
    table.steady = true;
    while table.state.table.hand_no < hands || table.state.play.is_some() {
        let _ = table.run_effect(|effect| matches!(effect, Effect::Commit { .. }));
        if table.state.table.hand_no < hands {
            match comes_back(&mut table, way) {
                Ok(()) | Err(ErrorReason::Withheld | ErrorReason::RecordsSpent) => {}
                Err(reason) => panic!("{reason:?}"),
            }
        }
        let before = table.log.len();
        let over = table.state.table.hand_no;
        assert!(
            table.run_effect(|effect| effect == Effect::Start),
            "nobody waits: {:?}",
            table.pending_effects()
        );
        assert!(table.log.len() > before && table.state.table.hand_no == over + 1);
        // Players who have committed are waited for, and then the others go on.
        table.wait(EACH);
        table.run_effect(|effect| matches!(effect, Effect::CloseEntropy { .. }));
        table.wait(EACH);
        if !table.run_effect(|effect| matches!(effect, Effect::Burn { .. })) {
            let hand_no = table.state.table.hand_no;
            table.wait(HAND);
            table.run_while(|table| {
                table.state.table.hand_no == hand_no && table.state.play.is_some()
            });
        }
        assert!(table.state.play.is_none());
    }
    table.published.clear();
    table.crash();
    ended(&table)
}

#[test]
fn honest_hands_go_on_beside_a_withholder() {
    for way in [Way::SitIn, Way::SitDown] {
        let (burnt, played) = play(51, way);
        assert_eq!(burnt + played, 51);
        assert!((2..=7).contains(&burnt), "{burnt} of 51 hands were burnt");
    }
}

/// Commits the withholder to the next hand and burns it. Returns how long they had to wait for it.
fn burn(table: &mut Harness, way: Way) -> Duration {
    let _ = table.run_effect(|effect| matches!(effect, Effect::Commit { .. }));
    let began = table.now;
    while let Err(reason) = comes_back(table, way) {
        assert_eq!(reason, ErrorReason::Withheld);
        let seated = table.state.table.seat_of(super::player(WITHHOLDER)).is_some();
        let command = if seated {
            Command::SitOut { out: false, standing: None }
        } else {
            Command::SitDown { seat: None, buy_in: Credits::of(1000), funds: None }
        };
        let refused = table.command(WITHHOLDER, command).unwrap_err();
        let until = refused.metadata().find(|(key, _)| *key == "until").expect("it says when");
        table.now = primitives::UnixMicros(until.1.parse().unwrap());
    }
    let waited = table.now.since(began);
    assert!(table.run_effect(|effect| effect == Effect::Start));
    table.wait(EACH);
    table.run_effect(|effect| matches!(effect, Effect::CloseEntropy { .. }));
    table.wait(EACH);
    assert!(table.run_effect(|effect| matches!(effect, Effect::Burn { .. })));
    waited
}

/// fairness/SPEC.md §3.6.
#[test]
fn who_withholds_waits_longer_each_time_whatever_way_they_come_back() {
    let mut table = Harness::new("dice", |_| {});
    let ways = [Way::SitIn, Way::SitIn, Way::SitDown, Way::SitIn, Way::SitDown];
    let waited = ways.map(|way| burn(&mut table, way).as_secs());
    assert_eq!(waited, [0, 0, 60, 120, 240]);
}

#[test]
fn sitting_out_or_leaving_before_the_number_is_burnt_is_no_way_round() {
    for command in [Command::SitOut { out: true, standing: None }, stand_up()] {
        let mut table = Harness::new("dice", |_| {});
        burn(&mut table, Way::SitIn);
        let _ = table.run_effect(|effect| matches!(effect, Effect::Commit { .. }));
        comes_back(&mut table, Way::SitIn).unwrap();
        assert!(table.run_effect(|effect| effect == Effect::Start));
        table.command(WITHHOLDER, command).unwrap();
        table.wait(EACH);
        table.run_effect(|effect| matches!(effect, Effect::CloseEntropy { .. }));
        table.wait(EACH);
        assert!(table.run_effect(|effect| matches!(effect, Effect::Burn { .. })));
        while table
            .run_effect(|effect| matches!(effect, Effect::PayOut { .. } | Effect::CashOut { .. }))
        {
        }
        assert_eq!(comes_back(&mut table, Way::SitIn), Err(ErrorReason::Withheld));
    }
}

/// fairness/SPEC.md §3.6.
#[test]
fn an_hour_without_withholding_is_a_new_beginning() {
    let mut table = Harness::new("dice", |_| {});
    for _ in 0..2 {
        let waited = [(); 3].map(|()| burn(&mut table, Way::SitIn).as_secs());
        assert_eq!(waited, [0, 0, 60]);
        table.wait(Duration::from_secs(120 + 3600));
    }
}
