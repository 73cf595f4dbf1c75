//! Seats that the house marks as its own.

use wire::TableRecord;

use super::Harness;

/// fairness/SPEC.md §12.3.
#[test]
fn seats_of_the_house_are_marked_in_views_and_records() {
    let mut table = Harness::new("dice", |_| {});
    table.sit_as(3, true);
    let seats = table.state.view(None).seats;
    let shown: Vec<(u32, bool)> = seats.iter().map(|seat| (seat.seat, seat.house)).collect();
    assert_eq!(shown, [(1, false), (2, false), (3, true), (4, false)]);
    table.run_while(|table| table.state.play.is_none());
    let marked = table.log.iter().flat_map(|(_, record, _)| {
        if let TableRecord::SeatTaken(taken) = record {
            vec![(taken.seat, taken.house)]
        } else if let TableRecord::HandOpened(opened) = record {
            opened.roster.iter().map(|seat| (seat.seat, seat.house)).collect()
        } else {
            Vec::new()
        }
    });
    let mut marked: Vec<(u32, bool)> = marked.collect();
    marked.sort_unstable();
    let twice = |seat| [(seat, seat == 3); 2];
    assert_eq!(marked, [1, 2, 3, 4].map(twice).concat());
}
