//! Players who take a seat, or sit in again, just before a hand starts.

use std::time::Duration;

use super::Harness;
use crate::commands::Command;
use crate::effects::Effect;

/// Time to commit.
const EACH: Duration = Duration::from_secs(2);

/// Seats that are dealt in to the open hand, in ascending order.
fn dealt_in(table: &Harness) -> Vec<u8> {
    let round = table.state.table.entropy_round().unwrap();
    let mut seats: Vec<u8> = round.roster.iter().map(|(seat, _)| seat.get()).collect();
    seats.sort_unstable();
    seats
}

/// fairness/SPEC.md §3.4.
#[test]
fn a_player_who_is_needed_and_has_just_sat_down_has_the_whole_window() {
    let mut table = Harness::new("dice", |_| {});
    for number in [1, 2] {
        table.command(number, Command::SitOut { out: true, standing: None }).unwrap();
    }
    table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
    table.wait(EACH * 5);
    table.sit(3);
    assert!(table.run_effect(|effect| effect == Effect::Start));
    assert_eq!(dealt_in(&table), [3, 4]);
    let close = |effect| effect == Effect::CloseEntropy { hand_no: 1 };
    assert!(!table.run_effect(close));
    table.wait(EACH);
    assert!(table.run_effect(close));
}

/// fairness/SPEC.md §3.4.
#[test]
fn nobody_waits_for_who_comes_and_does_not_commit() {
    let close = |table: &mut Harness, hand_no| {
        table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no })
    };
    for (sits_anew, commits) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut table = Harness::new("dice", |_| {});
        table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
        table.wait(EACH * 5);
        let newcomer = if sits_anew {
            table.sit(3);
            3
        } else {
            table.command(4, Command::SitOut { out: true, standing: None }).unwrap();
            table.command(4, Command::SitOut { out: false, standing: None }).unwrap();
            4
        };
        let others: Vec<u8> = [1, 2, 4].into_iter().filter(|seat| *seat != newcomer).collect();
        for number in others.iter().copied().chain(commits.then_some(newcomer)) {
            table.commit(1, number);
        }
        assert!(table.run_effect(|effect| effect == Effect::Start));
        let mut everybody = others.clone();
        everybody.extend(commits.then_some(newcomer));
        everybody.sort_unstable();
        assert_eq!(dealt_in(&table), everybody, "{sits_anew} {commits}");
        assert!(close(&mut table, 1), "{sits_anew} {commits}");
        for number in &everybody {
            table.reveal(1, *number);
        }
        table.run_while(|table| table.state.table.hand_no == 1);
        // Once they have had the time, they are dealt in without.
        let dealt = dealt_in(&table).contains(&newcomer);
        assert!(!dealt || commits, "{sits_anew}");
        table.wait(EACH);
        assert!(close(&mut table, 2));
        table.run_while(|table| table.state.table.hand_no == 2);
        assert!(dealt_in(&table).contains(&newcomer), "{sits_anew} {commits}");
    }
}
