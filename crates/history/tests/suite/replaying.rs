//! Replays: broken rules with their place and reason, unfinished hands, and hands with hidden
//! cards.

use history::{Replay, replay, report};

use crate::{HAND, broken, only, with};

/// Checks that the change breaks the hand at this action, for a reason that contains `words`.
fn check(from: &str, to: &str, action: usize, words: &str) {
    let (at, why) = broken(&with(from, to));
    assert_eq!(at, action, "{to}: {why}");
    assert!(why.contains(words), "{to}: {why}");
}

/// history/SPEC.md §7.3.
#[test]
fn the_hand_is_fine_as_it_is() {
    let Replay { complete, .. } = replay(&only(HAND)).unwrap();
    assert!(complete);
    let json = report(&replay(&only(HAND)).unwrap()).to_json();
    assert_eq!(
        json,
        r#"{"variant":"dice","complete":true,"settlement":["p1 wins main 30"],"winners":["p1"],"finishing_stacks":[110,80],"finishing_sabacc_pot":50,"rake":0,"hands":[{"player":"p1","cards":["S10","T9"],"rank":"total 19"},{"player":"p2","cards":["C12","F6"],"rank":"total 18"}]}"#
    );
}

/// history/SPEC.md §5.3, §6.2.
#[test]
fn what_is_wrong_outside_of_the_actions_has_the_number_0() {
    check("\"dice\"", "\"poker\"", 0, "no variant `poker`");
    check("max_rounds = 1", "rounds = 1", 0, "no rule set field `rounds`");
    check("max_rounds = 1", "chips = 4", 0, "no rule set field `chips`");
    check("max_rounds = 1", "max_rounds = 0", 0, "`max_rounds` must be from 1");
    check("max_rounds = 1", "ranking = \"odd\"", 0, "`ranking` must be one of signed, absolute");
    check("max_rounds = 1", "rake_bps = 10001", 0, "`rake_bps` must be from 0 to 10000");
    check("max_rounds = 1", "max_raise = 2", 0, "`max_raise` must be 0 or at least 5");
    check("[1, 2]", "[1, 2, 3]", 0, "3 seats, 2 players and 2 starting stacks");
    check("[\"lando\", \"han\"]", "[\"lando\"]", 0, "2 seats, 1 players");
    check("[100, 100]", "[100, 100, 100]", 0, "3 starting stacks");
    check("[1, 2]", "[0, 2]", 0, "numbered from 1");
    check("[1, 2]", "[2, 2]", 0, "seats must be different");
    check("[100, 100]", "[100, 9]", 0, "p2 has 9 and needs 10");
    check("[100, 100]", "[100, 9007199254740991]", 0, "exceed");
    check("sabacc_pot = 40", "carried_pot = 1", 0, "no carried pot");
    check("main 30", "main 31", 0, "settlement line 1 is `p1 wins main 31`");
    check("main 30", "main 030", 0, "settlement line 1");
    check("[\"p1 wins main 30\"]", "[]", 0, "ends before `p1 wins main 30`");
    check(
        "main 30\"]",
        "main 30\", \"rake 1\"]",
        0,
        "line 2 is `rake 1`; the replay gives no more",
    );
    check("[110, 80]", "[80, 110]", 0, "`finishing_stacks` are 80, 110");
    check("[110, 80]", "[110, 80, 0]", 0, "`finishing_stacks`");
    check("= 50", "= 49", 0, "`finishing_sabacc_pot` is 49; the replay gives 50");
    check("finishing_sabacc_pot = 50", "finishing_carried_pot = 1", 0, "finishing_carried_pot");
}

/// history/SPEC.md §3.2, §3.4.
#[test]
fn seats_are_any_numbers_in_order() {
    let wrapped = |seats: &str| replay(&only(&with("[1, 2]", seats))).is_ok();
    assert!(wrapped("[2, 1]"));
    assert!(wrapped("[7, 1000000]"));
    assert!(wrapped("[9007199254740991, 1]"));
    let nine = HAND
        .replace("[1, 2]", "[1, 2, 3, 4, 5, 6, 7, 8, 9]")
        .replace("[\"lando\", \"han\"]", r#"["a", "b", "c", "d", "e", "f", "g", "h", "i"]"#)
        .replace("[100, 100]", "[99, 99, 99, 99, 99, 99, 99, 99, 99]");
    assert_eq!(broken(&nine), (0, "dice is for 2 to 8 players, not 9".to_owned()));
    let one = HAND.replace("[1, 2]", "[1]").replace(", \"han\"", "").replace("[100, 100]", "[9]");
    assert_eq!(broken(&one), (0, "dice is for 2 to 8 players, not 1".to_owned()));
}

/// history/SPEC.md §6.3.
#[test]
fn a_line_that_cannot_be_next_is_reported_by_its_number() {
    check("p1 stand", "p2 stand", 3, "it is p1's turn");
    check("p1 stand", "p3 stand", 3, "no p3 in this hand");
    check("p1 stand", "p9 stand", 3, "`p9` is neither");
    check("p1 stand", "P1 stand", 3, "`P1` is neither");
    check("p1 stand", "p1 check", 3, "`check` is not legal here");
    check("p1 stand", "p1 dance", 3, "no player does `dance`");
    check("p1 stand", "p1", 3, "no player does ``");
    check("p1 stand", "", 3, "single spaces");
    check("p1 stand", "p1  stand", 3, "single spaces");
    check("p1 stand", "p1 stand ", 3, "single spaces");
    check("p1 stand", " p1 stand", 3, "single spaces");
    check("p1 stand", "p1 stand  # late", 3, "single spaces");
    check("p1 stand", "p1\\tstand", 3, "no player does ``");
    check("p1 stand", "p1 stand now", 3, "takes nothing");
    check("p1 stand", "p1 stand\\n", 3, "no player does");
    check("p1 stand", "p1 trade", 3, "takes one card");
    check("p1 stand", "p1 trade S11", 3, "not legal with that choice");
    check("p1 stand", "p1 trade X1", 3, "no card `X1`");
    check("p1 stand", "d roll 1 2", 3, "decision is due (p1)");
    check("d roll 1 2", "p2 stand", 4, "dealer");
    check("d roll 1 2", "d roll 1", 4, "dice");
    check("d roll 1 2", "d roll 1 7", 4, "dice");
    check("d roll 1 2", "d roll 0 2", 4, "dice");
    check("d roll 1 2", "d roll 01 2", 4, "`01` is not a number");
    check("d roll 1 2", "d pulse 0", 4, "`d roll` is due");
    check("d roll 1 2", "d deal p1 S1", 4, "`d roll` is due");
    check("bet 10", "bet 4", 8, "from 5 to 90");
    check("bet 10", "bet 91", 8, "from 5 to 90");
    check("bet 10", "bet 010", 8, "`010` is not a number");
    check("bet 10", "bet +10", 8, "`+10` is not a number");
    check("bet 10", "bet 10.0", 8, "`10.0` is not a number");
    check("bet 10", "bet 9007199254740992", 8, "is not a number");
    check("\"d roll 3 4\",", "\"d roll 3 4\", \"p1 stand\",", 11, "the hand is over");
    check("\"d roll 3 4\",", "\"d roll 3 4\", \"d roll 1 2\",", 11, "the hand is over");
    check("\"d roll 3 4\",", "\"d roll 3 4\", \"p1 leave\",", 11, "the hand is over");
}

/// history/SPEC.md §4.5, §6.3.
#[test]
fn cards_that_cannot_be_there_are_reported() {
    check("p2 C12 F5", "p2 C12 S10", 2, "cannot be there");
    check("p2 C12 F5", "p2 C12 C12", 2, "cannot be there");
    check("p2 C12 F5", "p2 C12 F16", 2, "no card `F16`");
    check("p2 C12 F5", "p2 C12", 2, "2 cards are due, not 1");
    check("p2 C12 F5", "p2 C12 F5 F6", 2, "2 cards are due, not 3");
    check("deal p2 C12 F5", "deal p1 C12 F5", 2, "`d deal p2` is due");
    check("deal p2 C12 F5", "flip C12 F5", 2, "`d deal p2` is due");
    // The traded card is among the discards, which come back only when the draw pile is empty.
    check("deal p2 F6", "deal p2 F5", 6, "cannot be there");
}

/// history/SPEC.md §4.4.
#[test]
fn comments_belong_to_their_lines() {
    let clock = with("p1 stand", "p1 stand # clock");
    assert!(replay(&only(&clock)).unwrap().complete);
    assert!(replay(&only(&with("p1 stand", "p1 stand # why # really"))).unwrap().complete);
    assert!(replay(&only(&with("d roll 1 2", "d roll 1 2 #"))).unwrap().complete);
    assert!(replay(&only(&with("main 30", "main 30 # at last"))).unwrap().complete);
    check("p1 stand", "# p1 stand", 3, "neither");
}

/// Report of a hand that stops before this line.
fn stops_before(line: &str) -> serde_json::Value {
    let at = HAND.find(&format!("  \"{line}")).or_else(|| HAND.find(&format!("\"{line}"))).unwrap();
    let replay = replay(&only(&format!("{}]\n", &HAND[..at]))).unwrap();
    assert!(!replay.complete);
    serde_json::from_str(&report(&replay).to_json()).unwrap()
}

/// history/SPEC.md §7.1, §7.3.
#[test]
fn a_hand_may_stop_anywhere_and_says_what_is_next() {
    let reported = stops_before("d deal p1");
    assert_eq!(reported["next"], serde_json::json!({ "actor": "d", "legal": ["deal p1"] }));
    assert_eq!(reported["complete"], false);
    assert_eq!(reported["settlement"], serde_json::json!([]));
    assert_eq!(reported["winners"], serde_json::json!([]));
    assert_eq!(reported["finishing_stacks"], serde_json::json!([90, 90]));
    assert_eq!(reported["finishing_sabacc_pot"], 50);
    assert_eq!(
        reported["hands"][0],
        serde_json::json!({ "player": "p1", "cards": [], "rank": null })
    );
    let legal = serde_json::json!(["draw", "trade S10|T9", "stand", "lock S10|T9"]);
    assert_eq!(
        stops_before("p1 stand")["next"],
        serde_json::json!({ "actor": "p1", "legal": legal })
    );
    let roll = serde_json::json!({ "actor": "d", "legal": ["roll"] });
    assert_eq!(stops_before("d roll 1 2")["next"], roll);
    let bet = serde_json::json!({ "actor": "p1", "legal": ["check", "bet 5..90", "fold"] });
    assert_eq!(stops_before("p1 bet 10")["next"], bet);
    let matched = serde_json::json!({ "actor": "p2", "legal": ["match", "raise 20..90", "fold"] });
    assert_eq!(stops_before("p2 match")["next"], matched);
}

/// history/SPEC.md §7.3.
#[test]
fn one_amount_is_a_range_too() {
    let short = HAND.replace("[100, 100]", "[14, 100]");
    let at = short.find("  \"p1 bet 10").unwrap();
    let reported = report(&replay(&only(&format!("{}]\n", &short[..at]))).unwrap());
    assert_eq!(reported.next.unwrap().legal, ["check", "bet 4..4", "fold"]);
}

/// history/SPEC.md §5.3.
#[test]
fn a_hand_that_is_not_over_must_not_state_its_end() {
    for end in ["settlement = []", "finishing_stacks = [1, 2]", "finishing_sabacc_pot = 0"] {
        let at = HAND.find("  \"p1 bet 10").unwrap();
        let (action, why) = broken(&format!("{}]\n{end}\n", &HAND[..at]));
        assert_eq!(action, 0, "{why}");
        assert!(why.contains("not over"), "{why}");
    }
}

/// history/SPEC.md §4.6, §7.2.
#[test]
fn a_hidden_card_ends_the_replay_before_its_line() {
    let hidden = with("d deal p2 C12 F5", "d deal p2 ?? ??");
    let replayed = replay(&only(&hidden)).unwrap();
    assert!(!replayed.complete);
    let reported = report(&replayed);
    assert_eq!(reported.next.unwrap().legal, ["deal p2"]);
    assert!(reported.settlement.is_empty());
    // Lines after it are not read, and the end is not compared.
    let nonsense = hidden.replace("p2 match", "p2 dances").replace("main 30", "main 31");
    assert!(!replay(&only(&nonsense)).unwrap().complete);
    // Lines before it are read.
    let (action, _) = broken(&hidden.replace("d deal p1 S10 T9", "d deal p1 S10"));
    assert_eq!(action, 1);
    // After the end of the hand there is nothing to hide.
    check("\"d roll 3 4\",", "\"d roll 3 4\", \"d deal p1 ??\",", 11, "hides something");
    for hiding in ["p1 trade S??", "p1 stand # saw ??"] {
        assert!(!replay(&only(&with("p1 stand", hiding))).unwrap().complete, "{hiding}");
    }
}

#[test]
fn words_say_everything_a_person_wants_to_know() {
    let hand = only(HAND);
    let words = report(&replay(&hand).unwrap()).to_text(&hand.players);
    for part in [
        "p1 wins main 30",
        "p1 lando: 110",
        "sabacc pot 50",
        "p2 han: C12 F6 (total 18)",
        "won by p1",
    ] {
        assert!(words.contains(part), "{words}");
    }
}
