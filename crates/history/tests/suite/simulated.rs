//! Random hands of every game, under many rule sets: complete, legal, and always equal for one
//! plan.

use std::collections::BTreeSet;

use history::simulate::Plan;
use history::{HandHistory, replay, report};

/// Rule sets for each variant, besides its defaults.
pub(crate) const RULES: &[(&str, &str)] = &[
    ("coruscant", ""),
    ("coruscant", "hand_ante=0,rake_bps=250"),
    ("coruscant", "min_bet=7,max_raise=20,max_round_total=50,rake_bps=1000,rake_cap=3"),
    ("dice", ""),
    ("dice", "max_hand_total=40,max_pot=90,rake_bps=250"),
    ("dice", "holdem=true,shift=1d10,shift_number=3,max_rounds=4,pot_building_rounds=1"),
    ("dice", "bomb_out=fixed,bomb_out_amount=33,fold_penalty=4,ranking=absolute,rake_bps=500"),
    ("dice", "shift=none,field=false,hand_ante=0,sabacc_ante=0,max_rounds=2"),
    ("electronic", ""),
    ("electronic", "pulse_ppm=500000,holdem=true,pot_building_rounds=0,max_round_total=60"),
    ("electronic", "shift=none,sabacc_ante_when=when_empty,bomb_out=none,max_rounds=2"),
    ("electronic", "max_hand_total=25,max_pot=75,pot_building_rounds=1,max_round_total=15"),
    ("eleven", ""),
    ("eleven", "max_pot=55,max_hand_total=30"),
    ("eleven", "hand_ante=3,rake_bps=9999"),
    ("force", ""),
    ("force", "alignment=naboo,max_rounds=3"),
    ("force", "max_rounds=1,rake_bps=100,hand_ante=1"),
    ("kessel", ""),
    ("kessel", "chips=4,stakes=pro,tokens=chosen,rake_bps=500"),
    (
        "kessel",
        "tokens=assigned,assigned_tokens=embargo+prime-sabacc+direct-transaction,max_rounds=3",
    ),
    ("kessel", "tokens=assigned,assigned_tokens=exhaustion+embezzlement+major-fraud,chips=5"),
    (
        "kessel",
        "tokens=assigned,assigned_tokens=refund+embargo+markdown+refund+immunity+exhaustion+\
         prime-sabacc+cook-the-books+free-draw,chips=4",
    ),
    ("spike", ""),
    ("spike", "max_pot=30,min_bet=3,max_raise=9"),
    ("spike", "preset=black-spire"),
    ("spike", "preset=black-spire,hand_ante=9,rake_bps=333"),
    ("swg", ""),
    ("swg", "max_hand_total=400,max_pot=900"),
    ("swg", "draw_phase=false,fold_penalty=0"),
    ("swg", "ranking=signed,sabacc_ante_when=every_hand,hand_ante=7,sabacc_ante=3"),
];

pub(crate) fn plan(rules: (&str, &str), players: u8, seed: u64) -> Plan {
    let (variant, ruleset) = rules;
    Plan::try_new(variant, ruleset, players, seed)
        .unwrap_or_else(|error| panic!("{variant} {ruleset}: {error}"))
}

/// Numbers of players that the rules take.
fn seats(id: &str, ruleset: &str) -> Vec<u8> {
    let all = rules::variant(id).unwrap().player_counts.clone();
    all.filter(|&players| Plan::try_new(id, ruleset, players, 0).is_ok()).collect()
}

/// Plays `hands` hands for every rule set, with all numbers of players.
pub(crate) fn each(hands: u64, mut check: impl FnMut(&HandHistory)) {
    for &(id, ruleset) in RULES {
        for players in seats(id, ruleset) {
            let plan = plan((id, ruleset), players, 11);
            for number in 0..hands {
                check(&plan.hand(number).unwrap());
            }
        }
    }
}

#[test]
fn every_variant_is_here() {
    let here: BTreeSet<&str> = RULES.iter().map(|(id, _)| *id).collect();
    assert_eq!(here, rules::ALL.iter().map(|variant| variant.id).collect());
}

/// rules/SPEC.md R-53: tokens for each player make a game for exactly that number of players.
#[test]
fn tokens_for_three_are_played_by_three() {
    let sets = "tokens=assigned,assigned_tokens=refund+embargo+markdown+refund+immunity+exhaustion+\
                prime-sabacc+cook-the-books+free-draw";
    assert_eq!(seats("kessel", sets), [3]);
    let error = Plan::try_new("kessel", sets, 4, 1).unwrap_err().to_string();
    assert_eq!(error, "tokens are assigned to 3 players, and there are 4");
    assert_eq!(seats("dice", ""), [2, 3, 4, 5, 6, 7, 8]);
}

/// rules/SPEC.md §4.4: no bet or raise lifts a player's bets above the hand's cap.
#[test]
fn caps_hold_in_every_made_up_hand() {
    let mut bets = 0;
    for (id, ruleset, cap) in [
        ("dice", "max_hand_total=40,hand_ante=5,sabacc_ante=0", 40),
        ("swg", "max_hand_total=400", 400),
    ] {
        for number in 0..60 {
            let hand = plan((id, ruleset), 4, 5).hand(number).unwrap();
            for line in &hand.actions {
                let words: Vec<&str> = line.split(' ').collect();
                let [_, "bet" | "raise", amount] = words[..] else { continue };
                assert!(amount.parse::<u64>().unwrap() <= cap, "{line}");
                bets += 1;
            }
        }
    }
    assert!(bets > 50, "{bets}");
}

/// history/SPEC.md §10.2.
#[test]
fn made_up_hands_are_complete_and_the_replay_agrees() {
    each(30, |hand| {
        assert!(hand.settlement.is_some() && hand.finishing_stacks.is_some());
        let replayed = replay(hand).unwrap_or_else(|error| {
            panic!("{error}\n{}", history::write(std::slice::from_ref(hand)))
        });
        assert!(replayed.complete);
        let reported = report(&replayed);
        assert_eq!(Some(reported.settlement), hand.settlement);
    });
}

/// history/SPEC.md §10.2.
#[test]
fn the_same_plan_gives_the_same_hands() {
    for &rules in RULES {
        let hands = |seed| -> Vec<HandHistory> {
            (0..5).map(|number| plan(rules, 3, seed).hand(number).unwrap()).collect()
        };
        assert_eq!(hands(1), hands(1));
        assert_ne!(hands(1), hands(2));
        let mut different = hands(1);
        different.dedup();
        assert_eq!(different.len(), 5);
    }
}

/// The order and number of draws is fixed: files made with these arguments must not change.
/// history/SPEC.md §10.2, §11.1.
#[test]
fn a_made_up_hand_is_the_same_for_ever() {
    let hand = plan(("eleven", "hand_ante=3"), 2, 42).hand(0).unwrap();
    assert_eq!(history::write(&[hand]), include_str!("made_up.shh"));
}

/// history/SPEC.md §4.2, §4.3, §5.1.
#[test]
fn everything_happens_now_and_then() {
    let mut verbs: BTreeSet<String> = BTreeSet::new();
    let mut ends: BTreeSet<String> = BTreeSet::new();
    each(40, |hand| {
        let verb = |line: &String| line.split(' ').nth(1).map(str::to_owned);
        verbs.extend(hand.actions.iter().filter_map(verb));
        verbs.extend(hand.actions.iter().filter_map(|line| {
            let mut words = line.split(' ').skip(1);
            (words.next() == Some("token")).then(|| words.next().unwrap().to_owned())
        }));
        let lines = hand.settlement.iter().flatten();
        ends.extend(lines.flat_map(|line| line.split(' ').map(str::to_owned)));
    });
    for verb in [
        "deal",
        "flip",
        "roll",
        "pulse",
        "announce",
        "tokens",
        "starter",
        "draw",
        "trade",
        "stand",
        "lock",
        "unlock",
        "check",
        "bet",
        "match",
        "raise",
        "fold",
        "call-hand",
        "align",
        "keep",
        "drop",
        "choose",
        "token",
        "prime",
        "discard",
        "impostor",
        "gain",
        "swap",
        "junk",
        "select",
        "add",
        "leave",
    ] {
        assert!(verbs.contains(verb), "nobody ever does `{verb}`");
    }
    for token in rules::ShiftToken::ALL {
        assert!(verbs.contains(token.name()), "nobody ever plays {token}");
    }
    for word in ["returned", "short", "eliminated", "side-3", "credits", "moves", "carries", "rake"]
    {
        assert!(ends.contains(word), "no settlement ever says `{word}`");
    }
}

/// history/SPEC.md §7.1.
#[test]
fn a_history_of_a_prefix_is_fine_too() {
    for &rules in RULES {
        let players =
            *seats(rules.0, rules.1).iter().min_by_key(|&&players| players.abs_diff(4)).unwrap();
        let hand = plan(rules, players, 3).hand(1).unwrap();
        for end in 0..hand.actions.len() {
            let mut prefix = hand.clone();
            prefix.actions.truncate(end);
            prefix.settlement = None;
            prefix.finishing_stacks = None;
            prefix.finishing_sabacc_pot = None;
            prefix.finishing_carried_pot = None;
            let replayed = replay(&prefix).unwrap();
            assert!(!replayed.complete);
            let next = report(&replayed).next.unwrap();
            let actor = hand.actions[end].split(' ').next().unwrap();
            let leaves = hand.actions[end].ends_with(" leave");
            assert!(leaves || next.actor == actor, "{next:?} {}", hand.actions[end]);
            let rest = hand.actions[end].split_once(' ').unwrap().1;
            let verb = rest.split(' ').next().unwrap();
            let listed = next.legal.iter().any(|legal| legal.split(' ').next() == Some(verb));
            assert!(leaves || listed, "{next:?} {rest}");
        }
    }
}
