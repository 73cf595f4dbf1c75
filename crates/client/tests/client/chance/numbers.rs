//! Hand numbers, rules, seeds in time, and warnings.

use proto::common::v1::AbortCause;
use std::time::Duration;

use fairness::evidence::Entry;

use super::*;
use crate::hand_fixture::OTHER;

fn at(micros: u64, what: What) -> WatchMessage {
    let at = Some(wire::time::timestamp(primitives::UnixMicros(micros)));
    WatchMessage::Update(Box::new(pb::TableUpdate {
        sequence: 0,
        record_time: at,
        what: Some(what),
    }))
}

fn numbered(hand_no: u64) -> HandFixture {
    HandFixture { hand_no, ..HandFixture::new("dice") }
}

#[test]
fn a_number_is_neither_skipped_nor_used_again() {
    let skipped = ViolationKind::NumberSkipped { expected: HAND };
    let next = player().apply(What::NextHand(numbered(HAND + 1).next_hand())).unwrap_err();
    assert_eq!((next.hand_no, next.kind), (HAND + 1, skipped.clone()));
    let opened = player().apply(What::Entropy(numbered(HAND + 2).entropy(false, &[]))).unwrap_err();
    assert_eq!(opened.kind, skipped);
    let again = player().apply(What::NextHand(numbered(HAND - 1).next_hand())).unwrap_err();
    assert_eq!(again.kind, ViolationKind::NumberRepeated);
    let mut player = player();
    player.apply(What::Entropy(player.fixture.entropy(false, &[]))).unwrap();
    player.apply(What::NextHand(numbered(HAND + 1).next_hand())).unwrap();
    let early = player.apply(What::Entropy(numbered(HAND + 1).entropy(false, &[]))).unwrap_err();
    assert_eq!(early.kind, ViolationKind::NotEnded { before: HAND });
    let since = Some(wire::time::timestamp(primitives::UnixMicros(7)));
    let suspension = Some(pb::Suspension { start_time: since, ..pb::Suspension::default() });
    let stands = pb::SuspensionChanged { hand_no: HAND, suspension, ..Default::default() };
    player.apply(What::Suspension(stands)).unwrap();
    let cause = AbortCause::Suspended.into();
    let voided = pb::HandVoided { hand_no: HAND, cause, ..Default::default() };
    player.apply(What::Voided(voided)).unwrap();
    player.apply(What::Entropy(numbered(HAND + 1).entropy(false, &[]))).unwrap();
}

/// The rules that the player sat down to hold: neither the rule set nor a setting may change under
/// them.
#[test]
fn other_rules_are_no_game_of_the_players() {
    let mut settings = HandFixture::new("dice");
    settings.settings.reveal_ms = 500;
    let mut rules = HandFixture::new("dice");
    rules.rules = rules::RuleSet::defaults(rules::variant("kessel").unwrap());
    for other in [settings, rules] {
        let updates = [What::NextHand(other.next_hand()), What::Entropy(other.entropy(false, &[]))];
        for what in updates {
            let mut player = player();
            let other_rules = (PartyAtFault::Table, ViolationKind::OtherRules);
            check_violation(player.apply(what), other_rules, false);
            assert_eq!(player.next(), None);
        }
        let mut player = player();
        let view = WatchMessage::Snapshot(Box::new(other.view()));
        let seen = player.chance.apply(&view).unwrap_err();
        assert_eq!(seen.kind, ViolationKind::OtherRules);
    }
}

/// fairness/SPEC.md §15.3.
#[test]
fn a_seed_that_stays_shut_is_withheld() {
    let start = 1_700_000_000_000_000;
    let hour = u64::try_from(Duration::from_secs(3600).as_micros()).unwrap();
    let quiet = || What::Stopped(pb::StoppedChanged::default());
    let mut player = player();
    player.shuffle();
    player.chance.apply(&at(start, What::HandEnded(ended()))).unwrap();
    player.chance.apply(&at(start + hour, quiet())).unwrap();
    let late = player.chance.apply(&at(start + hour + 1, quiet()));
    check_violation(late, (PartyAtFault::Dealer, ViolationKind::SeedOverdue), true);
    // A table whose seeds are opened a day later.
    let mut fixture = HandFixture::new("dice");
    fixture.settings.reveal = rules::SeedOpening::Delayed;
    let mut player = Player::new(fixture);
    player.shuffle();
    player.chance.apply(&at(start, What::HandEnded(ended()))).unwrap();
    player.chance.apply(&at(start + 25 * hour, quiet())).unwrap();
    assert!(player.chance.apply(&at(start + 25 * hour + 1, quiet())).is_err());
}

#[test]
fn many_broken_numbers_are_reported() {
    let mut player = player();
    let mut burn = |hand_no: u64| {
        let cause = AbortCause::Withheld.into();
        let seats = vec![5];
        let fixture = numbered(hand_no);
        let closed = fixture.closed(None, Some(Entropy([1; 32])));
        let minute = hand_no * 60_000_000;
        player.chance.apply(&at(minute, What::Entropy(closed))).unwrap();
        let voided = pb::HandVoided { hand_no, seats, cause, ..Default::default() };
        player.chance.apply(&at(minute, What::Voided(voided))).unwrap();
        let mut notices = player.chance.take_notices();
        notices.retain(|notice| matches!(notice, Notice::ManyBroken { .. }));
        notices
    };
    assert_eq!((burn(5), burn(6)), (vec![], vec![]));
    assert_eq!(burn(7), [Notice::ManyBroken { hand_no: 7, broken: 3 }]);
}

/// A number that the other seat has burnt.
fn burnt(hand_no: u64) -> What {
    let (seats, cause) = (vec![OTHER.into()], AbortCause::Withheld.into());
    What::Voided(pb::HandVoided { hand_no, seats, cause, ..Default::default() })
}

/// A seat of the house that throws away numbers must not be in the next at once.
/// fairness/SPEC.md §3.6.
#[test]
fn who_withheld_sits_out() {
    let burn = || {
        let mut player = Player::new(numbered(HAND));
        let closed = player.fixture.closed(None, Some(Entropy([1; 32])));
        player.apply(What::Entropy(closed)).unwrap();
        player.chance.apply(&at(1_000_000, burnt(HAND))).unwrap();
        player
    };
    let next = || numbered(HAND + 1).entropy(false, &[]);
    let opened_after = |micros: u64| {
        let mut player = burn();
        let judged = player.chance.apply(&at(1_000_000 + micros, What::Entropy(next())));
        judged.map_err(|found| (found.party, found.kind))
    };
    let early = Err((PartyAtFault::Table, ViolationKind::NotExcluded { seat: OTHER.into() }));
    assert_eq!(opened_after(19_999_999), early);
    assert_eq!(opened_after(20_000_000), Ok(()));
    // A snapshot has no time to hold anybody to.
    let mut player = burn();
    let (hand_no, entropy) = (HAND + 1, Some(next()));
    let shown = pb::TableView { hand_no, entropy, ..player.fixture.view() };
    player.chance.apply(&WatchMessage::Snapshot(Box::new(shown))).unwrap();
}

/// Without them nothing could be demanded of the table. fairness/SPEC.md §12.5.
#[test]
fn rules_that_cannot_be_read_are_not_played_by() {
    let view = player().fixture.view();
    for (rule_set, settings, what) in [
        ("", &view.settings[..], "the rule set"),
        (&view.rule_set[..], "", "the table's settings"),
        (
            &view.rule_set,
            &view.settings.replace("reveal_ms = 2000", "reveal_ms = 1"),
            "the table's settings",
        ),
    ] {
        let (rule_set, settings) = (rule_set.to_owned(), settings.to_owned());
        let shown = pb::TableView { rule_set, settings, ..view.clone() };
        let fixture = HandFixture::new("dice");
        let mut chance =
            Chance::new(TABLE, None, Secret::from_bytes(SECRET), fixture.trusted_keys());
        let found = chance.apply(&WatchMessage::Snapshot(Box::new(shown))).unwrap_err();
        assert_eq!(found.kind, ViolationKind::UnreadableRules(what));
    }
}

/// A snapshot that shows one number in play and the next one closed: nothing is revealed for a
/// number while the one before goes on, nor for one that has ended.
#[test]
fn a_snapshot_opens_no_number_before_the_last_has_ended() {
    let mut player = player();
    let own = player.commit_with_receipt();
    let closed = player.fixture.closed(Some(&own), None);
    let phase = pb::HandPhase::Betting.into();
    let hand = pb::HandView { hand_no: HAND - 1, phase, ..Default::default() };
    let view = pb::TableView {
        hand: Some(hand),
        entropy: Some(closed.clone()),
        hand_no: HAND,
        ..player.fixture.view()
    };
    let seen = player.chance.apply(&WatchMessage::Snapshot(Box::new(view))).unwrap_err();
    assert_eq!(seen.kind, ViolationKind::NotEnded { before: HAND - 1 });
    assert_eq!(player.next(), None, "nothing is revealed");

    let mut player = self::player();
    let own = player.commit_with_receipt();
    player.apply(What::Entropy(player.fixture.closed(Some(&own), None))).unwrap();
    player.apply(burnt(HAND)).unwrap();
    let entropy = Some(player.fixture.closed(Some(&own), None));
    let view = pb::TableView { entropy, hand_no: HAND, ..player.fixture.view() };
    let seen = player.chance.apply(&WatchMessage::Snapshot(Box::new(view))).unwrap_err();
    assert_eq!(seen.kind, ViolationKind::NumberRepeated);
    assert_eq!(player.next(), None, "it has ended");
}

/// Ends of numbers that never opened would hide those between, and an end that is announced of a number
/// that goes on would give its entropy away in a copy of the evidence.
#[test]
fn only_the_number_that_is_open_ends() {
    type End = fn(u64) -> What;
    let ends: [End; 2] =
        [burnt, |hand_no| What::HandEnded(pb::HandEnded { hand_no, ..Default::default() })];
    for end in ends {
        let mut player = player();
        let own = player.commit_with_receipt();
        let early = player.apply(end(HAND)).unwrap_err();
        assert_eq!(early.kind, ViolationKind::Missing("the opening of a number"));
        let is_note = |entry: &Entry| matches!(entry, Entry::Note { .. });
        assert!(!early.evidence.iter().any(is_note), "nothing says that it has ended");
        player.apply(What::Entropy(player.fixture.closed(Some(&own), None))).unwrap();
        let skipped = player.apply(end(HAND + 7)).unwrap_err();
        assert_eq!(skipped.kind, ViolationKind::NumberSkipped { expected: HAND });
        let next = player.apply(What::NextHand(numbered(HAND + 8).next_hand())).unwrap_err();
        assert_eq!(next.kind, ViolationKind::NumberSkipped { expected: HAND + 1 });
        player.apply(end(HAND)).unwrap();
        assert_eq!(player.apply(end(HAND)).unwrap_err().kind, ViolationKind::NumberRepeated);
    }
}

/// Who has the seed of a number that goes on knows all that is still to come.
/// fairness/SPEC.md §3.11.
#[test]
fn a_seed_is_opened_once_its_number_has_ended() {
    let early = (PartyAtFault::Table, ViolationKind::SeedEarly);
    let seed = |player: &mut Player| player.apply(What::Seed(player.fixture.published()));
    // Promised, collecting, closed, in play.
    let mut player = player();
    player.apply(What::NextHand(player.fixture.next_hand())).unwrap();
    check_violation(seed(&mut player), early.clone(), false);
    let mut player = self::player();
    player.apply(What::Entropy(player.fixture.entropy(false, &[]))).unwrap();
    check_violation(seed(&mut player), early.clone(), false);
    let mut player = self::player();
    player.commit_and_reveal();
    check_violation(seed(&mut player), early.clone(), true);
    let mut player = self::player();
    player.shuffle();
    check_violation(seed(&mut player), early, true);
    // Burnt; over, also as a snapshot shows it; with cards that the table has lost.
    let mut player = self::player();
    player.apply(What::Entropy(player.fixture.closed(None, Some(Entropy([1; 32]))))).unwrap();
    player.apply(burnt(HAND)).unwrap();
    seed(&mut player).unwrap();
    let mut player = self::player();
    player.shuffle();
    player.apply(What::HandEnded(ended())).unwrap();
    seed(&mut player).unwrap();
    let lost = Some(pb::HandView { hand_no: HAND, ..pb::HandView::default() });
    for hand in [None, lost] {
        let mut player = self::player();
        player.shuffle();
        let view = pb::TableView { hand, hand_no: HAND, ..player.fixture.view() };
        player.chance.apply(&WatchMessage::Snapshot(Box::new(view))).unwrap();
        seed(&mut player).unwrap();
    }
}
