//! Setups that start a hand, and setups that are refused.

use primitives::{Credits, SeatNo};
use rules::{FieldValue, Hand, RuleSet, RuleSetError, SetupError};

use crate::scene::Scene;

/// Checks whether a hand starts with these seats.
fn seats(numbers: &[u8], starts: bool) {
    let mut setup = Scene::new("dice", "", &vec![100; numbers.len()]).setup();
    setup.seats = numbers.iter().map(|&seat| SeatNo::try_new(seat).unwrap()).collect();
    let result = Hand::try_new(setup).map(|_| ());
    assert_eq!(result.is_ok(), starts, "{numbers:?}: {result:?}");
}

/// rules/SPEC.md §3.2.
#[test]
fn seats_ascend_with_one_wrap() {
    seats(&[1, 2], true);
    seats(&[3, 4, 1], true);
    seats(&[8, 1, 2, 3, 4, 5, 6, 7], true);
    seats(&[3, 5, 4], false);
    seats(&[1, 1], false);
    seats(&[5, 1, 5], false);
    seats(&[4, 1, 3, 2], false);
    seats(&[2, 1, 3], false);
}

/// Checks that the scene does not start, for this reason.
fn refused(scene: &Scene, reason: &str) {
    let error: SetupError = scene.start().map(|_| ()).unwrap_err();
    assert!(error.to_string().contains(reason), "{error}");
}

/// rules/SPEC.md §6.1, R-2.
#[test]
fn players_stacks_and_pots_are_checked() {
    refused(&Scene::new("dice", "", &[100]), "for 2 to 8 players, not 1");
    refused(&Scene::new("dice", "", &[100, 9]), "p2 has 9 and needs 10");
    refused(&Scene::new("dice", "hand_ante=0,sabacc_ante=0", &[0, 1]), "p1 has 0 and needs 1");
    refused(&Scene::new("dice", "", &[Credits::MAX.get(), 10]), "exceed 9007199254740991");
    refused(&Scene::new("dice", "", &[Credits::MAX.get() - 10, 10]).sabacc(1), "exceed");
    refused(&Scene { carried: 1, ..Scene::new("dice", "", &[100, 100]) }, "no carried pot");
    assert!(Scene::new("dice", "", &[Credits::MAX.get() - 10, 10]).start().is_ok());
}

/// rules/SPEC.md §5.1, R-15.
#[test]
fn the_sabacc_ante_may_be_due_only_when_the_pot_is_empty() {
    let scene = Scene::new("dice", "sabacc_ante=50,sabacc_ante_when=when_empty", &[60, 60]);
    let stacks =
        |scene: &Scene| scene.start().unwrap().stacks().map(Credits::get).collect::<Vec<_>>();
    assert_eq!(stacks(&scene), [5, 5]);
    assert_eq!(stacks(&scene.clone().sabacc(1)), [55, 55]);
    assert_eq!(scene.rules().min_stack(Credits::ZERO), Credits::of(55));
    assert_eq!(scene.rules().min_stack(Credits::of(1)), Credits::of(5));
}

/// Checks that the rule set with this field is refused for this reason.
fn field(variant: &str, name: &str, value: FieldValue, reason: &str) {
    let error: RuleSetError = RuleSet::parse(variant, &[(name.to_owned(), value)]).unwrap_err();
    assert!(error.to_string().contains(reason), "{error}");
}

/// rules/SPEC.md §8.2.
#[test]
fn fields_are_checked() {
    let number = FieldValue::Number;
    let text = |text: &str| FieldValue::Text(text.to_owned());
    field("poker", "hand_ante", number(1), "no variant `poker`");
    field("electronic", "shift_number", number(1), "has no rule set field `shift_number`");
    field("dice", "pulse_ppm", number(1), "has no rule set field `pulse_ppm`");
    field("dice", "hand_ante", number(1 << 53), "`hand_ante` is too large");
    field("dice", "hand_ante", text("5"), "`hand_ante` must be a number");
    field("dice", "field", number(1), "`field` must be true or false");
    field("dice", "shift", text("pulse"), "`shift` must be one of 2d6, 2d10");
    field("electronic", "shift", text("2d6"), "`shift` must be one of pulse, none");
    field("electronic", "pulse_ppm", number(1_000_001), "must be from 0 to 1000000");
    field("dice", "rake_bps", number(10_001), "must be from 0 to 10000");
    field("dice", "max_rounds", number(0), "`max_rounds` must be from 1");
    field("dice", "bomb_out", text("all"), "must be one of match_pot, fixed, none");
    field("dice", "max_raise", number(4), "must be 0 or at least 5, the least bet");
    field("dice", "max_round_total", number(4), "must be 0 or at least 5, the least bet");
    field("dice", "sabacc_ante", number(Credits::MAX.get()), "together with the hand ante");
}

/// rules/SPEC.md §8.2.
#[test]
fn the_shift_number_counts_only_with_one_die() {
    let rules = |shift: &str, number| {
        let fields = [
            ("shift".to_owned(), FieldValue::Text(shift.to_owned())),
            ("shift_number".to_owned(), FieldValue::Number(number)),
        ];
        RuleSet::parse("dice", &fields)
    };
    assert!(rules("1d10", 10).is_ok());
    assert!(rules("1d10", 11).is_err());
    assert!(rules("1d6", 0).is_err());
    assert!(rules("2d6", 99).is_ok());
}

/// rules/SPEC.md §8.2.
#[test]
fn a_field_given_twice_is_refused() {
    let field = ("holdem".to_owned(), FieldValue::Flag(true));
    let twice = RuleSet::parse("dice", &[field.clone(), field]);
    assert_eq!(twice, Err(RuleSetError::DuplicateField { field: "holdem" }));
}

/// rules/SPEC.md §8.2: a cap below the least bet is refused; for `max_pot` that is two hand antes
/// and the least bet.
#[test]
fn caps_below_the_effective_minimum_are_refused() {
    let rules = |fields: &[(&str, u64)]| {
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), FieldValue::Number(*value)))
            .collect();
        RuleSet::parse("dice", &fields).map_err(|error| error.to_string())
    };
    for cap in ["max_raise", "max_round_total", "max_hand_total"] {
        assert!(rules(&[(cap, 4)]).unwrap_err().contains("at least 5, the least bet"), "{cap}");
        assert!(rules(&[(cap, 5)]).is_ok() && rules(&[(cap, 0)]).is_ok(), "{cap}");
        assert!(rules(&[(cap, 5), ("min_bet", 6)]).is_err(), "{cap}");
    }
    let least = "two hand antes and the least bet";
    assert!(rules(&[("max_pot", 14)]).unwrap_err().contains(least));
    assert!(rules(&[("max_pot", 15)]).is_ok());
    assert!(rules(&[("max_pot", 15), ("min_bet", 6)]).unwrap_err().contains(least));
    assert!(rules(&[("max_pot", 1), ("hand_ante", 0)]).is_ok(), "the least bet is 1 then");
    let most = Credits::MAX.get();
    assert!(rules(&[("max_pot", most), ("hand_ante", most / 2), ("sabacc_ante", 0)]).is_err());
}

/// rules/SPEC.md §8.1: `max_rounds` from 1 and `pot_building_rounds` from 0 to 1,000.
#[test]
fn rounds_are_at_most_a_thousand() {
    for variant in ["electronic", "dice", "force", "kessel"] {
        field(variant, "max_rounds", FieldValue::Number(1001), "must be from 1 to 1000");
        field(variant, "max_rounds", FieldValue::Number(0), "must be from 1 to 1000");
    }
    for variant in ["electronic", "dice"] {
        field(variant, "pot_building_rounds", FieldValue::Number(1001), "must be from 0 to 1000");
    }
    let most = [
        ("max_rounds".to_owned(), FieldValue::Number(1000)),
        ("pot_building_rounds".to_owned(), FieldValue::Number(1000)),
    ];
    assert!(RuleSet::parse("dice", &most).is_ok());
}

/// rules/SPEC.md §8.1, R-53: `assigned_tokens` is three names, or three for each player in turn.
#[test]
fn assigned_tokens_come_in_threes() {
    let list =
        |names: &[&str]| FieldValue::List(names.iter().map(|name| (*name).to_owned()).collect());
    let wrong = "must be empty, or three different names of tokens";
    let (a, b) = (["refund", "embargo", "markdown"], ["refund", "immunity", "exhaustion"]);
    let parse = |names: &[&str]| {
        let fields = [("assigned_tokens".to_owned(), list(names))];
        RuleSet::parse("kessel", &fields).map(|rules| rules.canonical())
    };
    for good in [vec![], a.to_vec(), [a, b].concat(), [a; 6].concat()] {
        let text = parse(&good).unwrap();
        assert!(RuleSet::from_canonical(&text).is_ok(), "{text}");
    }
    for bad in [
        a[..2].to_vec(),
        [&a[..], &b[..1]].concat(),
        ["refund", "refund", "embargo"].to_vec(),
        [a, ["refund", "refund", "embargo"]].concat(),
        [a; 7].concat(),
        ["refund", "embargo", "toll"].to_vec(),
    ] {
        field("kessel", "assigned_tokens", list(&bad), wrong);
    }
}

/// rules/SPEC.md §8.2, R-53: such a table deals only hands of exactly that number of players.
#[test]
fn tokens_for_each_player_fix_the_number_of_players() {
    let fields = "tokens=assigned,assigned_tokens=refund+embargo+markdown+refund+immunity+exhaustion+\
                  major-fraud+immunity+embargo";
    let kessel = |players: usize| Scene::new("kessel", fields, &vec![1000; players]);
    assert_eq!(kessel(3).rules().player_counts(), 3..=3);
    assert!(kessel(3).start().is_ok());
    refused(&kessel(2), "tokens are assigned to 3 players, and there are 2");
    refused(&kessel(4), "tokens are assigned to 3 players, and there are 4");
    // The list has no effect if tokens are not assigned, and one set is for any number of players.
    let random = fields.replace("tokens=assigned,", "tokens=random,");
    let random = Scene::new("kessel", Box::leak(random.into_boxed_str()), &[1000; 2]);
    assert!(random.start().is_ok());
    let same = "tokens=assigned,assigned_tokens=refund+embargo+markdown";
    assert_eq!(Scene::new("kessel", same, &[1000; 2]).rules().player_counts(), 2..=6);
}
