//! Marks of bots: recorded once, shown after a restart, and after the name is gone.

use super::*;

async fn is_bot(people: &People, player: PlayerId) -> bool {
    people.player(player).await.unwrap().bot
}

#[tokio::test]
async fn a_mark_is_recorded_once_and_stays_until_it_is_cleared() {
    let place = Fixture::new();
    let people = place.people().await.unwrap();
    assert!(!is_bot(&people, ANN).await);
    assert!(people.mark(ANN, true, by(1, 1)).await.unwrap());
    // The same request again, the same mark under another, and other content under its id.
    assert!(!people.mark(ANN, true, by(1, 1)).await.unwrap());
    assert!(!people.mark(ANN, true, by(2, 2)).await.unwrap());
    let other = people.mark(ANN, false, by(1, 2)).await.unwrap_err();
    assert_eq!(other.reason(), ErrorReason::RequestIdReused);
    let presented_at = |people: &People| people.presented_at(ANN).unwrap().position;
    assert_eq!(presented_at(&people), Position(0));
    let again = place.people().await.unwrap();
    assert_eq!((is_bot(&again, ANN).await, is_bot(&again, BOB).await), (true, false));
    again.set_name(ANN, NAME, by(3, 3)).await.unwrap();
    assert_eq!(presented_at(&again), Position(1), "whatever came last");
    assert!(again.mark(ANN, false, by(4, 4)).await.unwrap());
    assert!(!is_bot(&place.people().await.unwrap(), ANN).await);
    // A repeat of the first request does not bring the mark back.
    assert!(!again.mark(ANN, true, by(1, 1)).await.unwrap());
    assert!(!is_bot(&again, ANN).await);
}

#[tokio::test]
async fn a_mark_outlives_the_player_and_nothing_is_recorded_behind_it() {
    let place = Fixture::new();
    let people = place.people().await.unwrap();
    people.mark(ANN, true, by(1, 1)).await.unwrap();
    people.erase(ANN, "asked to", by(2, 2)).await.unwrap();
    for people in [people, place.people().await.unwrap()] {
        let shown = people.player(ANN).await.unwrap();
        assert_eq!((shown.erased, shown.bot), (true, true));
        let refused = people.mark(ANN, false, by(3, 3)).await.unwrap_err();
        assert_eq!(refused.reason(), ErrorReason::PlayerErased);
    }
}
