//! One of three players makes every lawful call as often as allowed, and the others' hands go on.

use std::time::Duration;

use attacks::caller::CallCounts;
use attacks::crew::{Crew, CrewOptions};
use attacks::hostile::{self, Hostility};
use attacks::room::{Room, fastest_folder};
use tokio_util::sync::CancellationToken;

/// Calls of each period; a round of all calls has thirty.
const CALLS: u64 = 120;
/// Periods of each kind.
const TURNS: usize = 2;
/// Least percentage of hands with hostility, relative to those without, on a machine with other
/// load.
const LEFT: u64 = 75;

/// Time of each player for a decision. A player has twenty units a second for decisions and calls
/// together: without it, decisions on a quick machine use all of them, and every call is refused.
const THINK: Duration = Duration::from_millis(50);

/// Compares hands over a fixed number of calls at a fixed rate, so that a slow machine affects both
/// sides alike: periods with harmless and with hostile calls alternate.
#[tokio::test(flavor = "multi_thread")]
async fn hands_go_on_beside_every_lawful_call_at_the_highest_rate() {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_sabacc"));
    let room = Room::start(program, &fastest_folder(), &[]).await.unwrap();
    let options = CrewOptions { think_time: (THINK, THINK), ..hostile::crew_options("eleven") };
    let crew = Crew::seat(&room, &options).await.unwrap();
    crew.wait_for_hands(3, Duration::from_secs(60)).await.unwrap();
    let (mut harmless, mut hands, mut hostile) = (0, 0, CallCounts::default());
    for _ in 0..TURNS {
        let _ = crew.begin();
        let made = Hostility::of(&room, &crew).unwrap().make_harmless_calls(CALLS).await;
        assert_eq!(made.all(), CALLS);
        harmless += crew.hands();
        let _ = crew.begin();
        let hostility = Hostility::of(&room, &crew).unwrap();
        let made = hostility.make_calls(CALLS, CancellationToken::new()).await;
        assert_eq!(made.all(), CALLS);
        hostile.add_all(made);
        hands += crew.hands();
    }
    // The rest is refused by a player's limits.
    assert!(hostile.accepted > 0, "some of them are taken: {hostile:?}");
    assert!(harmless >= 10, "{harmless} hands beside harmless calls");
    assert!(hands * 100 >= harmless * LEFT, "{hands} hands beside hostile calls, {harmless} else");
    crew.close().await.unwrap();
}
