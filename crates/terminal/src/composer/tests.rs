//! Given a legal move, when keys are pressed, then a move.

use super::*;

fn legal(kind: MoveKind, arguments: &[MoveArgument]) -> LegalMove {
    let move_arguments = arguments.iter().map(|&argument| argument.into()).collect();
    LegalMove { kind: kind.into(), move_arguments, ..LegalMove::default() }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Presses each key, and returns what the last one did.
fn press(legal: LegalMove, keys: &str) -> Step {
    let mut composer = Composer::new(legal, 100, 40);
    let key = |letter| match letter {
        '\n' => Key::Enter,
        '\u{1b}' => Key::Escape,
        '>' => Key::Right,
        '<' => Key::Backspace,
        letter => Key::Char(letter),
    };
    keys.chars().map(|letter| composer.key(key(letter))).last().unwrap()
}

fn made(kind: MoveKind) -> Move {
    Move { kind: kind.into(), ..Move::default() }
}

#[test]
fn a_move_that_names_nothing_is_decided() {
    let stand = legal(MoveKind::Stand, &[]);
    assert_eq!(Composer::new(stand, 0, 0).decided(), Some(made(MoveKind::Stand)));
    let pile = legal(MoveKind::DrawFrom, &[MoveArgument::Pile]);
    let pile = LegalMove { names: names(&["sand"]), names_count: 1, ..pile };
    let expected = Move { names: names(&["sand"]), ..made(MoveKind::DrawFrom) };
    assert_eq!(Composer::new(pile, 0, 0).decided(), Some(expected));
}

#[test]
fn one_card_of_several_is_one_key() {
    let trade = legal(MoveKind::Trade, &[MoveArgument::Cards]);
    let trade = LegalMove { cards: names(&["S1", "S2"]), min_cards: 1, max_cards: 1, ..trade };
    assert_eq!(Composer::new(trade.clone(), 0, 0).decided(), None);
    let expected = Step::Done(Move { cards: names(&["S2"]), ..made(MoveKind::Trade) });
    assert_eq!(press(trade.clone(), "2"), expected);
    assert_eq!(press(trade.clone(), "> "), expected, "arrows and Space do the same");
    assert_eq!(press(trade.clone(), "7"), Step::Open, "there is no seventh card");
    assert_eq!(press(trade, "\u{1b}"), Step::Cancelled);
}

#[test]
fn several_cards_are_confirmed_in_the_order_chosen() {
    let select = legal(MoveKind::Select, &[MoveArgument::Cards]);
    let cards = names(&["c+1", "c+2", "c+3"]);
    let select = LegalMove { cards, min_cards: 1, max_cards: 2, ..select };
    assert_eq!(press(select.clone(), "31"), Step::Open);
    let chosen = |cards| Step::Done(Move { cards: names(cards), ..made(MoveKind::Select) });
    assert_eq!(press(select.clone(), "31\n"), chosen(&["c+3", "c+1"]));
    assert_eq!(press(select.clone(), "312\n"), chosen(&["c+1", "c+2"]), "the first gives way");
    assert_eq!(press(select, "331\n"), chosen(&["c+1"]), "chosen twice is taken back");
}

#[test]
fn none_is_fine_where_none_may_be_chosen() {
    let add = legal(MoveKind::Add, &[MoveArgument::Cards]);
    let add = LegalMove { cards: names(&["c+1"]), min_cards: 0, max_cards: 1, ..add };
    assert_eq!(press(add, "\n"), Step::Done(made(MoveKind::Add)));
}

#[test]
fn a_token_with_a_target_asks_for_both() {
    let token = legal(MoveKind::Token, &[MoveArgument::Tokens, MoveArgument::Seat]);
    let token = LegalMove {
        names: names(&["target-audit"]),
        names_count: 1,
        target_seats: vec![2, 5],
        ..token
    };
    let expected =
        Move { names: names(&["target-audit"]), target_seat: 5, ..made(MoveKind::Token) };
    assert_eq!(press(token, "2"), Step::Done(expected));
}

#[test]
fn three_of_sixteen_tokens_have_letters_after_nine() {
    let all: Vec<String> = (1..=16).map(|number| format!("t{number}")).collect();
    let choose = legal(MoveKind::Choose, &[MoveArgument::Tokens]);
    let choose = LegalMove { names: all, names_count: 3, ..choose };
    let expected = Move { names: names(&["t1", "t10", "t16"]), ..made(MoveKind::Choose) };
    assert_eq!(press(choose, "1ag\n"), Step::Done(expected));
}

#[test]
fn an_amount_is_written_stepped_or_taken() {
    let bet = legal(MoveKind::Bet, &[MoveArgument::Amount]);
    let bet = LegalMove { min_credits: 10, max_credits: 490, ..bet };
    let check = |keys, amount| {
        let expected = Move { amount_credits: amount, ..made(MoveKind::Bet) };
        assert_eq!(press(bet.clone(), keys), Step::Done(expected), "{keys:?}");
    };
    check("\n", 10);
    check("120\n", 120);
    check("129<0\n", 120);
    check(">>\n", 12);
    check("p\n", 100);
    check("h\n", 50);
    check("a\n", 490);
    check("9999\n", 490);
    assert_eq!(press(bet, "5\n"), Step::Open, "less than the least is not sent");
}

#[test]
fn a_raise_of_the_pot_counts_from_what_is_matched() {
    let raise = legal(MoveKind::Raise, &[MoveArgument::Amount]);
    let raise = LegalMove { min_credits: 50, max_credits: 490, ..raise };
    let expected = Move { amount_credits: 140, ..made(MoveKind::Raise) };
    assert_eq!(press(raise, "p\n"), Step::Done(expected));
}
