//! Given what a stream showed, when keys are pressed, then a request; and cells that show it.

use client::chance::{ClosingCheck, CommitmentCheck, SeedChecks};
use proto::common::v1::{CardProof, MoveArgument};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;
use crate::colour::{Colours, Palette};

const ME: PlayerId = PlayerId([7; 16]);
const NOW: UnixMicros = UnixMicros(1_000_000_000);

fn cards(codes: &[&str]) -> Vec<pb::HeldCard> {
    let held = |code: &&str| pb::HeldCard { code: (*code).to_owned(), locked: false, proof: None };
    codes.iter().map(held).collect()
}

fn seat(seat: u32, player: PlayerId, name: &str) -> pb::SeatView {
    pb::SeatView {
        seat,
        player_id: player.to_string(),
        stack_credits: 1234,
        state: pb::SeatState::Playing.into(),
        name: name.to_owned(),
        ..pb::SeatView::default()
    }
}

fn legal(kind: MoveKind, arguments: &[MoveArgument]) -> LegalMove {
    let move_arguments = arguments.iter().map(|&argument| argument.into()).collect();
    LegalMove { kind: kind.into(), move_arguments, ..LegalMove::default() }
}

fn moves() -> Vec<LegalMove> {
    let bet = legal(MoveKind::Bet, &[MoveArgument::Amount]);
    let bet = LegalMove { min_credits: 10, max_credits: 490, ..bet };
    let trade = legal(MoveKind::Trade, &[MoveArgument::Cards]);
    let codes = vec!["S15".to_owned(), "F2".to_owned()];
    let trade = LegalMove { cards: codes, min_cards: 1, max_cards: 1, ..trade };
    let (check, leave) = (legal(MoveKind::Check, &[]), legal(MoveKind::Leave, &[]));
    vec![check, bet, trade, leave]
}

/// A table at which the player is in seat 2 of `seats`, and it is seat `turn`'s turn.
fn view(seats: u32, turn: u32) -> pb::TableView {
    let player = |number: u32| {
        if number == 2 { ME } else { PlayerId([u8::try_from(number).unwrap(); 16]) }
    };
    let dealt = |number| pb::HandSeat {
        seat: number,
        player_id: player(number).to_string(),
        cards: cards(if number == 2 { &["S15", "F2"] } else { &["??", "??"] }),
        rank: None,
    };
    let standing = |number| pb::SeatStanding {
        seat: number,
        stack_credits: 1224,
        in_round_credits: u64::from(number == 1) * 40,
        status: pb::SeatStatus::Live.into(),
        ..pb::SeatStanding::default()
    };
    let dice = pb::game_state::State::Dice(pb::DiceState::default());
    pb::TableView {
        name: "Demo".to_owned(),
        variant: "dice".to_owned(),
        seats: (1..=seats).map(|number| seat(number, player(number), "Lando")).collect(),
        seat_count: 8,
        min_buy_in_credits: 200,
        max_buy_in_credits: 2000,
        hand_no: 17,
        your_seat: 2,
        hand: Some(pb::HandView {
            hand_no: 17,
            seats: (1..=seats).map(dealt).collect(),
            standing: Some(pb::Standing {
                hand_pot_credits: 120,
                to_match_credits: 40,
                seats: (1..=seats).map(standing).collect(),
                ..pb::Standing::default()
            }),
            turn: Some(pb::Turn {
                seat: turn,
                turn: 5,
                deadline: Some(wire::time::timestamp(UnixMicros(NOW.0 + 12_000_000))),
                legal: if turn == 2 { moves() } else { Vec::new() },
                ..pb::Turn::default()
            }),
            round: 1,
            phase: pb::HandPhase::Betting.into(),
            phase_text: "betting".to_owned(),
            game_state: Some(pb::GameState { state: Some(dice) }),
            ..pb::HandView::default()
        }),
        ..pb::TableView::default()
    }
}

fn screen(view: pb::TableView) -> TableScreen {
    let mut screen = TableScreen::playing(ME);
    screen.apply(&WatchMessage::Snapshot(Box::new(view)), NOW);
    screen.apply(&WatchMessage::CaughtUp, NOW);
    screen
}

fn press(screen: &mut TableScreen, keys: &str) -> Option<Request> {
    let key = |letter| match letter {
        '\n' => Key::Enter,
        '\u{1b}' => Key::Escape,
        letter => Key::Char(letter),
    };
    keys.chars().map(|letter| screen.key(key(letter))).last().flatten()
}

fn drawn(screen: &TableScreen, width: u16, height: u16, colours: Colours) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let palette = Palette::new(colours);
    terminal.draw(|frame| screen.draw(frame.buffer_mut(), palette, NOW)).unwrap();
    terminal.backend().to_string()
}

fn decided(decision: Move) -> Request {
    Request::Decide { hand_no: 17, turn: 5, decision }
}

#[test]
fn a_key_makes_a_move_once() {
    let mut screen = screen(view(4, 2));
    let check = Move { kind: MoveKind::Check.into(), ..Move::default() };
    assert_eq!(press(&mut screen, "c"), Some(decided(check)));
    assert_eq!(press(&mut screen, "c"), None, "it is sent already");
    screen.show_message("refused", Tone::Bad);
    assert!(press(&mut screen, "c").is_some(), "and may be made again after a refusal");
}

#[test]
fn a_form_asks_for_what_a_move_names() {
    let mut screen = screen(view(4, 2));
    assert_eq!(press(&mut screen, "b"), None);
    assert!(drawn(&screen, 80, 24, Colours::None).contains("how much?"));
    let bet = Move { kind: MoveKind::Bet.into(), amount_credits: 60, ..Move::default() };
    assert_eq!(press(&mut screen, "60\n"), Some(decided(bet)));
    let mut again = self::screen(view(4, 2));
    let trade =
        Move { kind: MoveKind::Trade.into(), cards: vec!["F2".to_owned()], ..Move::default() };
    assert_eq!(press(&mut again, "b\u{1b}t2"), Some(decided(trade)));
}

#[test]
fn keys_do_nothing_out_of_turn() {
    let mut screen = screen(view(4, 1));
    assert_eq!(press(&mut screen, "cbt"), None);
    assert!(drawn(&screen, 80, 24, Colours::None).contains("Lando decides"));
}

#[test]
fn leaving_is_asked_once_more() {
    let mut screen = screen(view(4, 1));
    assert_eq!(press(&mut screen, "L\u{1b}"), None);
    assert_eq!(press(&mut screen, "L\n"), Some(Request::Leave));
    assert_eq!(press(&mut screen, "O"), Some(Request::SitOut(true)));
    assert_eq!(press(&mut screen, "q\n"), Some(Request::Quit));
}

#[test]
fn who_looks_on_sits_down_with_an_amount() {
    let stands = pb::TableView { your_seat: 0, hand: None, ..view(1, 1) };
    let mut screen = screen(stands);
    assert_eq!(press(&mut screen, "\n\n"), Some(Request::SitDown(400)), "twice the least");
    assert_eq!(press(&mut screen, "\n1000\n"), Some(Request::SitDown(1000)));
    assert_eq!(press(&mut screen, "\n5\n"), None, "less than the least is not sent");
    assert_eq!(press(&mut screen, "\u{1b}q"), Some(Request::Quit));
}

#[test]
fn more_credits_come_when_the_hand_is_over_unless_they_are_taken_back() {
    let between = pb::TableView { hand: None, ..view(4, 1) };
    let mut screen = screen(view(4, 1));
    assert_eq!(press(&mut screen, "T500\n"), None, "a hand is in play");
    assert_eq!(screen.due_top_up(), None);
    let mut kept = screen.clone();
    kept.apply(&WatchMessage::Snapshot(Box::new(between.clone())), NOW);
    assert_eq!(kept.due_top_up(), None, "not before it has caught up");
    kept.apply(&WatchMessage::CaughtUp, NOW);
    assert_eq!(kept.due_top_up(), Some(Request::TopUp(500)));
    assert_eq!(kept.due_top_up(), None, "once");
    press(&mut screen, "T");
    screen.apply(&WatchMessage::Snapshot(Box::new(between.clone())), NOW);
    screen.apply(&WatchMessage::CaughtUp, NOW);
    assert_eq!(screen.due_top_up(), None, "taken back");
    let mut between = self::screen(between);
    assert_eq!(
        press(&mut between, "T\n"),
        Some(Request::TopUp(766)),
        "to 2,000, which is the most"
    );
}

#[test]
fn a_hand_that_stands_still_can_be_ended_by_agreement() {
    let mut suspended = view(3, 2);
    let hand = suspended.hand.as_mut().unwrap();
    hand.suspension = Some(pb::Suspension::default());
    let agree = Move { kind: MoveKind::Void.into(), ..Move::default() };
    assert_eq!(press(&mut screen(suspended), "V"), Some(decided(agree)));
    assert_eq!(press(&mut screen(view(3, 2)), "V"), None);
}

/// At every size the player reads whose turn it is, what they may do, and what is in the pot.
#[test]
fn what_matters_is_shown_at_every_size() {
    for (width, height) in [(40, 14), (60, 20), (80, 24), (120, 40), (160, 50), (300, 90)] {
        for seats in 2..=8 {
            let text = drawn(&screen(view(seats, 2)), width, height, Colours::Full);
            for part in ["Check", "Trade", "120", "Demo", "15†", "Lando", "live"] {
                assert!(text.contains(part), "{part} at {width}x{height} of {seats}\n{text}");
            }
        }
    }
    let small = drawn(&screen(view(4, 2)), 30, 10, Colours::Full);
    assert!(small.contains("needs 40 × 14"), "{small}");
}

#[test]
fn a_name_cannot_write_over_the_table() {
    let mut view = view(3, 1);
    view.seats[0].name = "a\u{1b}[2Jb\u{202e}".to_owned();
    let text = drawn(&screen(view), 160, 50, Colours::Full);
    assert!(text.contains("a\\u{1b}[2Jb"), "{text}");
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'));
}

#[test]
fn a_refusal_stands_above_the_moves() {
    let mut screen = screen(view(4, 2));
    screen
        .show_message("That amount is not allowed. Choose one from 10 to 490 credits.", Tone::Bad);
    let text = drawn(&screen, 80, 24, Colours::None);
    assert!(text.contains("Choose one from 10 to 490") && text.contains("Check"), "{text}");
}

/// Proofs that a client has checked of the hand of [`view`], with these cards of shuffle 0 proved.
fn proofs(cards: &[(u16, u8)], seed: Option<SeedChecks>) -> HandProofs {
    HandProofs {
        hand_no: 17,
        is_faulty: false,
        commitment: CommitmentCheck { is_signed: true, is_earlier: true },
        closing: ClosingCheck::Signed,
        seats: 4,
        contributions: 3,
        is_dealt_in: true,
        has_own: true,
        shuffles: 1,
        seed,
        cards: cards.iter().map(|(position, card)| ((0, *position), *card)).collect(),
    }
}

/// A table at which one's own two cards come with the proofs of cards 14 and 16 at places 0 and 1.
fn proved_view() -> pb::TableView {
    let mut view = view(4, 2);
    let own = view.hand.as_mut().unwrap().seats.iter_mut().find(|seat| seat.seat == 2).unwrap();
    for (at, card) in (0..).zip(&mut own.cards) {
        let proof = CardProof { position: at, card_id: 14 + 2 * at, ..CardProof::default() };
        card.proof = Some(proof);
    }
    view
}

#[test]
fn a_mark_is_on_each_card_that_was_proved_and_on_no_other() {
    let mut screen = screen(proved_view());
    let marks = |screen: &TableScreen, colours| {
        let text = drawn(screen, 80, 24, colours);
        (text.matches('✓').count(), text)
    };
    assert_eq!(marks(&screen, Colours::Full).0, 0, "nothing was checked");
    press(&mut screen, "P");
    assert!(!drawn(&screen, 80, 24, Colours::None).contains("has checked"), "no panel");

    screen.set_proofs(Some(proofs(&[(0, 14), (1, 16)], None)));
    for colours in [Colours::Full, Colours::None] {
        let (count, text) = marks(&screen, colours);
        assert!(text.contains("✓ 2 of 2 cards proved"), "{text}");
        assert_eq!(count, 3, "two cards, and the line\n{text}");
    }
    screen.set_proofs(Some(proofs(&[(0, 14)], None)));
    let (count, text) = marks(&screen, Colours::Full);
    assert!(text.contains("! 1 of 2 cards proved"), "{text}");
    assert_eq!(count, 1, "{text}");
    screen.set_proofs(Some(proofs(&[(0, 14), (1, 17)], None)));
    assert_eq!(marks(&screen, Colours::Full).0, 1, "another card was proved there");

    screen.set_proofs(Some(HandProofs { hand_no: 16, ..proofs(&[(0, 14), (1, 16)], None) }));
    assert_eq!(marks(&screen, Colours::Full).0, 0, "of another hand");
}

#[test]
fn a_key_opens_what_was_checked_in_words() {
    let mut screen = screen(proved_view());
    let panel = |screen: &mut TableScreen, proofs: HandProofs, size: (u16, u16)| {
        screen.set_proofs(Some(proofs));
        press(screen, "P");
        let text = drawn(screen, size.0, size.1, Colours::None);
        press(screen, "P");
        let words = text.split(|letter: char| letter.is_whitespace() || "\"│".contains(letter));
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let both = [(0, 14), (1, 16)];
    let text = panel(&mut screen, proofs(&both, None), (80, 24));
    for part in [
        "has checked of hand 17",
        "its key has signed it",
        "3 of 4 players",
        "you among them",
        "2 cards that you were shown",
        "Still shut",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!drawn(&screen, 80, 24, Colours::None).contains("has checked"), "a key closes it");

    let opened = proofs(&both, Some(SeedChecks { cards: 2, orders: 1 }));
    let text = panel(&mut screen, opened.clone(), (80, 24));
    assert!(text.contains("the salts of 2 cards") && !text.contains('◌'), "{text}");

    let late = HandProofs {
        commitment: CommitmentCheck { is_signed: false, is_earlier: false },
        closing: ClosingCheck::NotSeen,
        is_dealt_in: false,
        has_own: false,
        is_faulty: true,
        ..opened
    };
    let text = panel(&mut screen, late.clone(), (120, 40));
    for part in ["its signature is not", "You joined later", "✗ Violation", "joined while it was"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("you among"), "{text}");
    for size in [(40, 14), (60, 20)] {
        assert!(panel(&mut screen, late.clone(), size).contains("Promise"), "{size:?}");
    }
}

#[test]
fn the_log_describes_decisions_in_the_second_person() {
    let mut screen = screen(view(4, 2));
    let bet = Move { kind: MoveKind::Bet.into(), amount_credits: 60, ..Move::default() };
    let action = pb::HandAction {
        hand_no: 17,
        seat: 2,
        decision: Some(bet),
        phase: pb::HandPhase::Betting.into(),
        ..pb::HandAction::default()
    };
    let update =
        pb::TableUpdate { sequence: 1, record_time: None, what: Some(What::Action(action)) };
    screen.apply(&WatchMessage::Update(Box::new(update)), NOW);
    assert!(drawn(&screen, 80, 24, Colours::None).contains("You bet 60"));
}
