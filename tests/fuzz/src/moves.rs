//! Bytes as a hand: its rules, its stacks, and the moves of all players, legal or not.

use primitives::{Credits, SeatNo};
use rules::{
    ALL, Arguments, DecisionAuthor, DrawSource, Event, FieldValue, Hand, Move, MoveKind, Next,
    Player, RuleSet, Setup, Shape, ShiftToken, Side, Variant, Viewer, censor, decide, evolve,
    history_line, next, notation, play, view,
};

use crate::bytes::Bytes;

/// Maximum number of events of a hand from so few bytes.
const MOST_EVENTS: usize = 200_000;

/// Plays the bytes to the end of the hand. Returns whether its rules and stacks can be played.
///
/// # Panics
/// An invariant is broken.
#[must_use]
pub fn moves(bytes: &[u8]) -> bool {
    let mut bytes = Bytes::new(bytes);
    let Some(setup) = setup(&mut bytes) else { return false };
    let mut hand = Hand::try_new(&setup).expect("the stacks cover what is due");
    let total = hand.total();
    for _ in 0..MOST_EVENTS {
        impostures(&hand, &mut bytes);
        let Some(event) = event(&hand, &mut bytes) else { break };
        check_lines(&hand, &event);
        evolve(&mut hand, &event);
        assert_eq!(hand.total(), total, "credits are conserved");
        check_views(&hand);
    }
    let end = hand.settlement().expect("every hand ends");
    let pots = [end.finishing_sabacc_pot, end.finishing_carried_pot, end.rake];
    let all = Credits::sum(end.finishing_stacks.iter().copied().chain(pots));
    assert_eq!(all, Ok(total), "the settlement accounts for every credit");
    true
}

fn setup(bytes: &mut Bytes<'_>) -> Option<Setup> {
    let variant: &'static Variant = bytes.one_of(ALL);
    let mut fields: Vec<(String, FieldValue)> = Vec::new();
    for field in variant.fields {
        if bytes.below(4) > 0 {
            continue;
        }
        let value = match field.default_value() {
            FieldValue::Number(_) => FieldValue::Number(bytes.below(12)),
            FieldValue::Flag(flag) => FieldValue::Flag(!flag),
            FieldValue::Text(_) => FieldValue::Text(bytes.one_of(field.choices).to_owned()),
            FieldValue::List(_) => {
                let from = bytes.index(ShiftToken::ALL.len() - 2);
                let names =
                    ShiftToken::ALL[from..from + 3].iter().map(|token| token.name().to_owned());
                FieldValue::List(names.collect())
            }
        };
        fields.push((field.name().to_owned(), value));
        if RuleSet::parse(variant.id, &fields).is_err() {
            fields.pop();
        }
    }
    let rules = RuleSet::parse(variant.id, &fields).ok()?;
    let (min, max) = (*variant.player_counts.start(), *variant.player_counts.end());
    let players = min + u8::try_from(bytes.below(u64::from(max - min) + 1)).ok()?;
    let sabacc = if variant.has_sabacc_pot { bytes.below(300) } else { 0 };
    let carried = if variant.has_carried_pot { bytes.below(300) } else { 0 };
    let sabacc_pot = Credits::try_new(sabacc).ok()?;
    let due = rules.min_stack(sabacc_pot).get();
    let depth = bytes.one_of(&[1, 40, 400, 10_000]);
    let stack = |_| Credits::try_new(due + bytes.below(depth)).ok();
    Some(Setup {
        rules,
        seats: (1..=players).filter_map(|seat| SeatNo::try_new(seat).ok()).collect(),
        stacks: (0..players).filter_map(stack).collect(),
        sabacc_pot,
        carried_pot: Credits::try_new(carried).ok()?,
    })
}

fn event(hand: &Hand, bytes: &mut Bytes<'_>) -> Option<Event> {
    if let Some(outcome) = play::random_outcome(hand, &mut |n| bytes.below(n)) {
        return Some(rules::resolve_chance(hand, outcome).expect("what may come out is taken"));
    }
    match next(hand) {
        Next::Done(_) => None,
        Next::Chance(due) => panic!("no outcome for {due:?}"),
        Next::Decision(decision) => {
            if bytes.below(50) == 0 {
                let players: Vec<Player> = hand.players().collect();
                let leaver = bytes.one_of(&players);
                if let Ok(event) = decide(hand, leaver, Move::Leave, DecisionAuthor::Player) {
                    return Some(event);
                }
            }
            let mv = play::random_move(&decision, &mut |n| bytes.below(n));
            let by =
                if bytes.below(9) == 0 { DecisionAuthor::Clock } else { DecisionAuthor::Player };
            Some(decide(hand, decision.player, mv, by).expect("a legal move is taken"))
        }
    }
}

/// Checks that a move of any kind by any player is either legal or refused.
fn impostures(hand: &Hand, bytes: &mut Bytes<'_>) {
    if bytes.is_empty() || bytes.below(4) > 0 {
        return;
    }
    let Some(player) = Player::try_new(u8::try_from(bytes.below(8)).unwrap_or(0)) else { return };
    let mv = any_move(hand, bytes);
    let legal = match next(hand) {
        Next::Decision(decision) => {
            decision.player == player && decision.legal.iter().any(|legal| legal.allows(&mv))
        }
        Next::Chance(_) | Next::Done(_) => false,
    };
    let taken = decide(hand, player, mv.clone(), DecisionAuthor::Player);
    // Of equal copies any may be named, so more is accepted than is listed.
    assert!(taken.is_ok() || !legal, "{mv:?} is legal, but {taken:?}");
    let mut after = hand.clone();
    if let Ok(event) = taken {
        evolve(&mut after, &event);
        assert_eq!(after.total(), hand.total(), "credits are conserved");
    }
}

fn any_move(hand: &Hand, bytes: &mut Bytes<'_>) -> Move {
    let deck = hand.rules().variant().deck;
    let cards: Vec<_> = deck.cards().collect();
    let card = bytes.one_of(&cards);
    let amount = Credits::try_new(bytes.below(20_000)).unwrap_or(Credits::MAX);
    let value = u8::try_from(bytes.below(8)).unwrap_or(0);
    let token = bytes.one_of(&ShiftToken::ALL);
    let target = Player::try_new(value);
    let several = (0..bytes.below(7)).map(|_| bytes.one_of(&cards)).collect();
    let kind = bytes.one_of(MoveKind::ALL);
    let arguments = match kind.shape() {
        Shape::Nothing => Arguments::Nothing,
        Shape::Card => Arguments::Card(card),
        Shape::OptionalCard => Arguments::OptionalCard(Some(card).filter(|_| value % 2 == 0)),
        Shape::Cards => Arguments::Cards(several),
        Shape::AnyCards => Arguments::AnyCards(several),
        Shape::Amount => Arguments::Amount(amount),
        Shape::Side => Arguments::Side(bytes.one_of(&Side::ALL)),
        Shape::Pile => Arguments::Pile(bytes.one_of(&DrawSource::ALL)),
        Shape::Tokens => Arguments::Tokens([
            token,
            bytes.one_of(&ShiftToken::ALL),
            bytes.one_of(&ShiftToken::ALL),
        ]),
        Shape::Token => Arguments::Token(token, target.filter(|_| value % 2 == 0)),
        Shape::Die => Arguments::Die(value),
        Shape::CardAndDie => Arguments::CardAndDie(card, value),
    };
    kind.with(arguments).expect("the arguments have the shape of the kind")
}

fn viewers(hand: &Hand) -> impl Iterator<Item = Viewer> {
    hand.players().map(Viewer::Player).chain([Viewer::Public, Viewer::Auditor])
}

fn check_lines(hand: &Hand, event: &Event) {
    let text = history_line(hand, event);
    if !text.is_empty() {
        // Of equal copies another one may be meant.
        let read = notation::read(hand, &text).map(|event| history_line(hand, &event));
        assert_eq!(read.as_ref(), Ok(&text), "it reads back");
    }
    for viewer in viewers(hand) {
        if let Some(seen) = censor(hand, event, viewer) {
            let (seen, whole) = (seen.to_string(), text.split(' '));
            let hidden = |(seen, whole): (&str, &str)| seen == whole || seen == "??";
            assert!(seen.split(' ').zip(whole).all(hidden), "{viewer:?} reads `{seen}`");
        }
    }
}

/// Checks that a viewer sees only the face-up cards of another player's hand.
fn check_views(hand: &Hand) {
    for viewer in viewers(hand) {
        let seen = view(hand, viewer);
        for (player, place) in hand.players().zip(&seen.players) {
            let own = viewer == Viewer::Auditor || viewer == Viewer::Player(player);
            for (held, card) in place.cards.iter().zip(hand.cards_of(player)) {
                let may = own || held.locked || hand.is_shown(player);
                assert_eq!(held.card, Some(*card).filter(|_| may), "{viewer:?} of {player}");
            }
        }
    }
}
