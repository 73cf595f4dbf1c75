//! Made-up hands of every game, under all sorts of rules: complete, legal, always the same.

use std::collections::BTreeSet;

use history::simulate::Plan;
use history::{HandHistory, replay, report};

/// A few rule sets for each variant, beside its defaults.
pub(crate) const RULES: &[(&str, &str)] = &[
    ("coruscant", ""),
    ("coruscant", "hand_ante=0,rake_bps=250"),
    ("coruscant", "min_bet=7,max_raise=20,max_round_total=50,rake_bps=1000,rake_cap=3"),
    ("dice", ""),
    ("dice", "holdem=true,shift=1d10,shift_number=3,max_rounds=4,pot_building_rounds=1"),
    ("dice", "bomb_out=fixed,bomb_out_amount=33,fold_penalty=4,ranking=absolute,rake_bps=500"),
    ("dice", "shift=none,field=false,hand_ante=0,sabacc_ante=0,max_rounds=2"),
    ("electronic", ""),
    ("electronic", "pulse_ppm=500000,holdem=true,pot_building_rounds=0,max_round_total=60"),
    ("electronic", "shift=none,sabacc_ante_when=when_empty,bomb_out=none,max_rounds=2"),
    ("eleven", ""),
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
    ("spike", ""),
    ("spike", "preset=black-spire"),
    ("spike", "preset=black-spire,hand_ante=9,rake_bps=333"),
    ("swg", ""),
    ("swg", "draw_phase=false,fold_penalty=0"),
    ("swg", "ranking=signed,sabacc_ante_when=every_hand,hand_ante=7,sabacc_ante=3"),
];

pub(crate) fn plan((variant, ruleset): (&str, &str), players: u8, seed: u64) -> Plan {
    Plan::try_new(variant, ruleset, players, seed)
        .unwrap_or_else(|error| panic!("{variant} {ruleset}: {error}"))
}

/// `hands` hands for every rule set, with all numbers of players.
pub(crate) fn each(hands: u64, mut check: impl FnMut(&HandHistory)) {
    for &(id, ruleset) in RULES {
        let seats = rules::variant(id).unwrap().seats.clone();
        for players in seats {
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

#[test]
fn made_up_hands_are_complete_and_the_replay_agrees() {
    each(30, |hand| {
        assert!(hand.settlement.is_some() && hand.finishing_stacks.is_some());
        let replayed = replay(hand).unwrap_or_else(|error| {
            panic!("{error}\n{}", history::write(std::slice::from_ref(hand)))
        });
        assert!(replayed.complete);
        let told = report(&replayed);
        assert_eq!(Some(told.settlement), hand.settlement);
    });
}

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

/// What is drawn, when, and how, is a promise: files made with these arguments must not change.
#[test]
fn a_made_up_hand_is_the_same_for_ever() {
    let hand = plan(("eleven", "hand_ante=3"), 2, 42).hand(0).unwrap();
    assert_eq!(history::write(&[hand]), include_str!("made_up.shh"));
}

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
    for token in rules::Token::ALL {
        assert!(verbs.contains(token.name()), "nobody ever plays {token}");
    }
    for word in ["returned", "short", "eliminated", "side-3", "credits", "moves", "carries", "rake"]
    {
        assert!(ends.contains(word), "no settlement ever says `{word}`");
    }
}

#[test]
fn a_history_of_a_prefix_is_fine_too() {
    for &rules in RULES {
        let hand = plan(rules, 4, 3).hand(1).unwrap();
        for end in 0..hand.actions.len() {
            let mut prefix = hand.clone();
            prefix.actions.truncate(end);
            prefix.settlement = None;
            prefix.finishing_stacks = None;
            prefix.finishing_sabacc_pot = None;
            prefix.finishing_carried_pot = None;
            let replayed = replay(&prefix).unwrap();
            assert!(!replayed.complete);
            let told = report(&replayed).next.unwrap();
            let actor = hand.actions[end].split(' ').next().unwrap();
            let leaves = hand.actions[end].ends_with(" leave");
            assert!(leaves || told.actor == actor, "{told:?} {}", hand.actions[end]);
            let rest = hand.actions[end].split_once(' ').unwrap().1;
            let verb = rest.split(' ').next().unwrap();
            let listed = told.legal.iter().any(|legal| legal.split(' ').next() == Some(verb));
            assert!(leaves || listed, "{told:?} {rest}");
        }
    }
}
