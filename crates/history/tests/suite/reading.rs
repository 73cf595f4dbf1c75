//! Texts that are a hand history, and texts that are none.

use history::FormatError;

use crate::{HAND, broken, not_shh, only, with};

/// history/SPEC.md §2.1.
#[test]
fn a_file_may_have_carriage_returns_a_byte_order_mark_and_comments() {
    let plain = only(HAND);
    assert_eq!(only(&HAND.replace('\n', "\r\n")), plain);
    assert_eq!(only(&format!("\u{feff}{HAND}")), plain);
    assert_eq!(only(&format!("# a comment\n\n{HAND}\n# the end")), plain);
    assert_eq!(only(HAND.trim_end()), plain);
    assert_eq!(only(&HAND.replace(" = ", "=")), plain);
    assert_eq!(only(&with("ruleset = { max_rounds = 1 }", "ruleset.max_rounds = 1")), plain);
    let table = with("ruleset = { max_rounds = 1 }\n", "") + "[ruleset]\nmax_rounds = 1\n";
    assert_eq!(only(&table), plain);
    assert_eq!(only(&HAND.replace("\"d roll 3 4\"", "'d roll 3 4'")), plain);
}

/// history/SPEC.md §2.4.
#[test]
fn keys_that_begin_with_an_underscore_are_ignored_everywhere() {
    let plain = only(HAND);
    assert_eq!(only(&with("seats", "_any = { a = 1.5 }\nseats")), plain);
    assert_eq!(only(&with("{ max", "{ _why = 1979-05-27, max")), plain);
    let several = format!("shh = 1\n_x = 1\n[[hand]]\n_y = 2\n{}", with("shh = 1\n", ""));
    assert_eq!(only(&several), plain);
}

/// history/SPEC.md §6.1.
#[test]
fn what_is_no_utf8_or_no_toml_is_no_history() {
    assert_eq!(not_shh(b"shh = 1\n\xff"), FormatError::Utf8 { at: 8 });
    for text in ["shh = ", "shh = 1\nshh = 1", "{}", "shh = 01", "\u{0}", "shh = 1 variant = 2"] {
        assert!(matches!(not_shh(text), FormatError::Toml { .. }), "{text}");
    }
    assert!(matches!(not_shh(with("players", "seats")), FormatError::Toml { line: 5, .. }));
    let utf16: Vec<u8> = HAND.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(matches!(not_shh(utf16), FormatError::Toml { .. }));
}

/// history/SPEC.md §2.2.
#[test]
fn the_version_is_1_and_stands_at_the_top() {
    for version in ["", "shh = 2\n", "shh = 1.0\n", "shh = \"1\"\n", "shh = true\n", "shh = -1\n"] {
        assert_eq!(not_shh(with("shh = 1\n", version)), FormatError::Version, "{version}");
    }
    assert_eq!(not_shh(""), FormatError::Version);
    assert_eq!(not_shh(format!("[[hand]]\n{HAND}")), FormatError::Version);
    let twice = format!("shh = 1\n[[hand]]\n{HAND}");
    assert!(matches!(not_shh(twice), FormatError::UnknownKey { key, .. } if key == "shh"));
}

/// history/SPEC.md §3.1, §6.1.
#[test]
fn every_required_key_is_missed_by_name() {
    let rows = [
        ("variant", "variant = \"dice\"\n"),
        ("seats", "seats = [1, 2]\n"),
        ("players", "players = [\"lando\", \"han\"]\n"),
        ("starting_stacks", "starting_stacks = [100, 100]\n"),
    ];
    for (key, row) in rows {
        assert_eq!(not_shh(with(row, "")), FormatError::MissingKey { hand: 1, key });
    }
    assert_eq!(not_shh(with("actions", "_a")), FormatError::MissingKey { hand: 1, key: "actions" });
    let second = format!("{}[[hand]]\nvariant = \"dice\"\n", several(&[HAND]));
    assert!(matches!(not_shh(second), FormatError::MissingKey { hand: 2, .. }));
}

/// history/SPEC.md §2.4, §6.1.
#[test]
fn unknown_keys_are_errors() {
    let unknown = |text: String| {
        let error = not_shh(text);
        let FormatError::UnknownKey { line, key } = error else { panic!("{error}") };
        (line, key)
    };
    assert_eq!(unknown(with("seats", "chairs = 2\nseats")), (4, "chairs".to_owned()));
    assert_eq!(unknown(with("seats", "Seats = 2\nseats")), (4, "Seats".to_owned()));
    assert_eq!(unknown(with("seats", "\"a\\nb\" = 2\nseats")), (4, "a\\nb".to_owned()));
    assert_eq!(unknown(with("seats", "\"\" = 2\nseats")), (4, String::new()));
    let beside = with("variant", "hand = []\nvariant");
    assert!(matches!(not_shh(beside), FormatError::UnexpectedKey { .. }));
    assert_eq!(not_shh("shh = 1\nhand = []"), FormatError::NoHand);
}

/// history/SPEC.md §6.1.
#[test]
fn toml_types_are_exact() {
    for (from, to) in [
        ("\"dice\"", "1"),
        ("\"dice\"", "[\"dice\"]"),
        ("{ max_rounds = 1 }", "\"max_rounds = 1\""),
        ("{ max_rounds = 1 }", "[1]"),
        ("max_rounds = 1", "max_rounds = \"1\""),
        ("max_rounds = 1", "max_rounds = 1.0"),
        ("max_rounds = 1", "max_rounds = true"),
        ("max_rounds = 1", "holdem = 1"),
        ("max_rounds = 1", "holdem = \"true\""),
        ("max_rounds = 1", "ranking = 1"),
        ("max_rounds = 1", "ranking = [\"signed\"]"),
        ("max_rounds = 1", "ranking = 1979-05-27"),
        ("max_rounds = 1", "max_rounds = { one = 1 }"),
        ("[1, 2]", "\"1, 2\""),
        ("[1, 2]", "[1, \"2\"]"),
        ("[1, 2]", "[1, 2.0]"),
        ("[1, 2]", "1"),
        ("[\"lando\", \"han\"]", "[\"lando\", 7]"),
        ("[\"lando\", \"han\"]", "\"lando\""),
        ("[100, 100]", "[100, 1e2]"),
        ("[100, 100]", "[100, inf]"),
        ("[100, 100]", "[100, [100]]"),
        ("sabacc_pot = 40", "sabacc_pot = 40.0"),
        ("sabacc_pot = 40", "sabacc_pot = \"40\""),
        ("sabacc_pot = 40", "sabacc_pot = [40]"),
        ("sabacc_pot = 40", "carried_pot = false"),
        ("sabacc_pot = 40", "id = 7"),
        ("sabacc_pot = 40", "table = []"),
        ("sabacc_pot = 40", "started_at = 7"),
        ("\"d roll 3 4\"", "7"),
        ("\"d roll 3 4\"", "[\"d roll 3 4\"]"),
        ("[\"p1 wins main 30\"]", "\"p1 wins main 30\""),
        ("[\"p1 wins main 30\"]", "[30]"),
        ("[110, 80]", "115"),
        ("= 50", "= nan"),
    ] {
        assert!(matches!(not_shh(with(from, to)), FormatError::WrongType { .. }), "{to}");
    }
}

/// history/SPEC.md §2.5, §6.2.
#[test]
fn numbers_that_are_none_of_ours_break_the_hand_and_not_the_file() {
    for (from, to, key) in [
        ("sabacc_pot = 40", "sabacc_pot = -1", "sabacc_pot"),
        ("sabacc_pot = 40", "sabacc_pot = +1", "sabacc_pot"),
        ("sabacc_pot = 40", "sabacc_pot = -0", "sabacc_pot"),
        ("sabacc_pot = 40", "sabacc_pot = 0x28", "sabacc_pot"),
        ("sabacc_pot = 40", "sabacc_pot = 0b1", "sabacc_pot"),
        ("sabacc_pot = 40", "sabacc_pot = 9007199254740992", "sabacc_pot"),
        ("sabacc_pot = 40", "sabacc_pot = 9223372036854775808", "sabacc_pot"),
        ("sabacc_pot = 40", "sabacc_pot = 99999999999999999999999999", "sabacc_pot"),
        ("[100, 100]", "[100, -100]", "starting_stacks"),
        ("[1, 2]", "[-1, 2]", "seats"),
        ("max_rounds = 1", "max_rounds = -1", "max_rounds"),
        ("= 50", "= -50", "finishing_sabacc_pot"),
    ] {
        let (action, why) = broken(&with(from, to));
        assert_eq!(action, 0, "{to}");
        assert!(why.starts_with(&format!("`{key}`: ")), "{why}");
    }
    // Leading zeros are no TOML.
    assert!(matches!(not_shh(with("= 40", "= 040")), FormatError::Toml { .. }));
    assert_eq!(only(&with("[100, 100]", "[1_00, 100]")), only(HAND));
}

#[test]
fn the_moment_may_be_one_of_tomls_own() {
    let moment = "2026-01-31T20:15:00Z";
    let plain = only(&with("seats", &format!("started_at = {moment}\nseats")));
    assert_eq!(plain.started_at.as_deref(), Some(moment));
    assert_eq!(only(&with("seats", &format!("started_at = \"{moment}\"\nseats"))), plain);
}

/// A file of these hands, each given as a file of its own.
fn several(hands: &[&str]) -> String {
    let tables = hands.iter().map(|hand| hand.replacen("shh = 1\n", "\n[[hand]]\n", 1));
    format!("shh = 1\n{}", tables.collect::<String>())
}

/// history/SPEC.md §2.3, §6.2.
#[test]
fn several_hands_are_read_in_order() {
    let second = with("= 40", "= 41");
    let file = several(&[HAND, &second, HAND]);
    let hands: Vec<_> = history::read(file.as_bytes()).unwrap().into_iter().flatten().collect();
    assert_eq!(hands, [only(HAND), only(&second), only(HAND)]);
    let crlf = history::read(file.replace('\n', "\r\n").as_bytes()).unwrap();
    assert_eq!(crlf.into_iter().flatten().collect::<Vec<_>>(), hands);
    // The first hand with a wrong number is reported, and the others are read.
    let wrong = with("= 40", "= -1");
    let hands = history::read(several(&[HAND, &wrong, HAND]).as_bytes()).unwrap();
    assert_eq!(hands.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
}

/// A large file is read hand by hand. Text that only looks like the start of a hand must not
/// matter.
#[test]
fn a_break_within_a_string_is_no_break() {
    let odd = with("\"lando\"", "\"\"\"\n[[hand]]\n\"\"\"");
    let file = several(&[HAND, &odd]);
    let hands: Vec<_> = history::read(file.as_bytes()).unwrap().into_iter().flatten().collect();
    assert_eq!(hands.len(), 2);
    assert_eq!(hands[1].players[0], "[[hand]]\n");
    assert_eq!(only(&odd).players[0], "[[hand]]\n");
    let twice = format!("{}\n[_x]\n[[hand]]\n[_x]\n", several(&[HAND]));
    assert!(matches!(not_shh(twice), FormatError::Toml { .. }), "a table may be opened only once");
    let late = format!("{}\n[[hand]]\nvariant = 7\n", several(&[HAND]));
    let at = late.lines().position(|line| line == "variant = 7").unwrap() + 1;
    assert!(matches!(not_shh(late), FormatError::WrongType { line, .. } if line == at));
}
