//! Reading history lines: from `p1 raise 40` or `d deal p2 C11 ??` to a checked event.
//!
//! The code of a card that has copies means any copy that is possible.
//!
//! Specification: history/SPEC.md §4.

use primitives::{Credits, Quoted};
use smallvec::SmallVec;

use crate::cards::{Card, CardSet, Cards};
use crate::chance::{Chance, Deal, Destination, Outcome, PickPurpose, RollPurpose, SamplePurpose};
use crate::deck::Deck;
use crate::event::{DecisionAuthor, Event};
use crate::event_view::target_faces;
use crate::hand::{Hand, decide, resolve_chance};
use crate::moves::{Arguments, DrawSource, Move, MoveKind, Shape, Side};
use crate::player::Player;
use crate::refusal::Refusal;
use crate::token::ShiftToken;

/// Reason why a line is not the next one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotationError {
    #[error("the words of a line are separated by single spaces")]
    Spaces,
    #[error("`{}` is neither `d` nor a player from `p1` to `p8`", Quoted(actor))]
    Actor { actor: String },
    #[error("no player does `{}`", Quoted(verb))]
    Verb { verb: String },
    #[error("`{}` takes {want}", Quoted(verb))]
    Arguments { verb: String, want: &'static str },
    #[error("there is no card `{}` in this deck", Quoted(code))]
    NoSuchCard { code: String },
    #[error("`{}` is not a {what}", Quoted(name))]
    NoSuchName { name: String, what: &'static str },
    #[error("`{}` is not a number: unsigned, decimal, without leading zeros", Quoted(number))]
    Number { number: String },
    #[error("the line hides something (`??`): it can be shown, not replayed")]
    Hidden,
    #[error("`d {due}` is due")]
    Due { due: String },
    #[error(transparent)]
    Refused(#[from] Refusal),
}

use NotationError as Error;

/// Reads a line as the next event of the hand. Shuffles have no line: apply them first, as
/// [`crate::play::apply_due_shuffles`] does.
///
/// # Errors
/// If the text is no line, or not one that can come next.
pub fn read(hand: &Hand, text: &str) -> Result<Event, NotationError> {
    let (text, comment) = split_comment(text);
    let words: SmallVec<[&str; 8]> = text.split(' ').collect();
    if words.iter().any(|word| word.is_empty()) {
        return Err(Error::Spaces);
    }
    if words.contains(&"??") {
        return Err(Error::Hidden);
    }
    let (actor, rest) = words.split_first().ok_or(Error::Spaces)?;
    let Some((&verb, words)) = rest.split_first() else {
        return Err(Error::Verb { verb: String::new() });
    };
    if *actor == "d" {
        return Ok(resolve_chance(hand, read_outcome(hand, verb, words)?)?);
    }
    let unknown = || Error::Actor { actor: (*actor).to_owned() };
    let player = Player::parse(actor).ok_or_else(unknown)?;
    let by = if comment.trim() == "clock" { DecisionAuthor::Clock } else { DecisionAuthor::Player };
    Ok(decide(hand, player, read_move(verb, words, hand, player)?, by)?)
}

/// Splits a line into its text and its comment, which is empty if there is none.
#[must_use]
pub fn split_comment(line: &str) -> (&str, &str) {
    // Few lines have a comment, and a single letter is found faster than two.
    let comment = line.contains('#').then(|| line.split_once(" #")).flatten();
    comment.unwrap_or((line, ""))
}

/// The first card with this code that is among `there`; if there is none, any with this code, which
/// is refused later.
fn choose_copy(deck: &Deck, code: &str, there: &CardSet) -> Result<Card, NotationError> {
    let alike = deck.parse(code);
    let first = alike.iter().find(|&card| there.contains(card)).or_else(|| alike.nth(0));
    first.ok_or_else(|| Error::NoSuchCard { code: code.to_owned() })
}

fn number<T: TryFrom<u64>>(word: &str) -> Result<T, NotationError> {
    let wrong = || Error::Number { number: word.to_owned() };
    let number: Credits = word.parse().map_err(|_| wrong())?;
    T::try_from(number.get()).map_err(|_| wrong())
}

fn no_such_name(name: &str, what: &'static str) -> NotationError {
    Error::NoSuchName { name: name.to_owned(), what }
}

fn token(name: &str) -> Result<ShiftToken, NotationError> {
    ShiftToken::parse(name).ok_or_else(|| no_such_name(name, "token"))
}

fn player_named(name: &str) -> Result<Player, NotationError> {
    Player::parse(name).ok_or_else(|| no_such_name(name, "player"))
}

fn read_move(
    verb: &str,
    words: &[&str],
    hand: &Hand,
    player: Player,
) -> Result<Move, NotationError> {
    let deck = hand.rules().variant().deck;
    let held: CardSet = hand.cards_of(player).iter().copied().collect();
    let unknown = || Error::Verb { verb: verb.to_owned() };
    let kind = kind_of_line(verb, words).ok_or_else(unknown)?;
    let wrong = |want| Error::Arguments { verb: verb.to_owned(), want };
    let one = |want| if let [word] = words { Ok(*word) } else { Err(wrong(want)) };
    let arguments = match kind.shape() {
        Shape::Nothing if words.is_empty() => Arguments::Nothing,
        Shape::Nothing => return Err(wrong("nothing")),
        Shape::OptionalCard if words.is_empty() => Arguments::OptionalCard(None),
        Shape::OptionalCard => {
            Arguments::OptionalCard(Some(choose_copy(deck, one("one card")?, &held)?))
        }
        Shape::Card => Arguments::Card(choose_copy(deck, one("one card")?, &held)?),
        Shape::Cards => Arguments::Cards(read_cards(deck, words, held)?),
        Shape::AnyCards => Arguments::AnyCards(read_cards(deck, words, held)?),
        Shape::Amount => Arguments::Amount(number(one("one amount")?)?),
        Shape::Side => {
            let name = one("light or dark")?;
            let side = Side::ALL.into_iter().find(|side| side.name() == name);
            Arguments::Side(side.ok_or_else(|| no_such_name(name, "side"))?)
        }
        Shape::Pile => {
            let name = one("nothing or a pile")?;
            let source = DrawSource::ALL.into_iter().find(|source| source.name() == name);
            Arguments::Pile(source.ok_or_else(|| no_such_name(name, "pile"))?)
        }
        Shape::Tokens => match words {
            [a, b, c] => Arguments::Tokens([token(a)?, token(b)?, token(c)?]),
            _ => return Err(wrong("three tokens")),
        },
        Shape::Token => match words {
            [name] => Arguments::Token(token(name)?, None),
            [name, target] => Arguments::Token(token(name)?, Some(player_named(target)?)),
            _ => return Err(wrong("a token and perhaps a player")),
        },
        Shape::Die => Arguments::Die(number(one("one number")?)?),
        Shape::CardAndDie => match words {
            [code, value] => Arguments::CardAndDie(choose_copy(deck, code, &held)?, number(value)?),
            _ => return Err(wrong("a card and a number")),
        },
    };
    kind.with(arguments).ok_or_else(unknown)
}

/// Kind of move of a line. Of two kinds with one verb, one takes nothing and the other something.
fn kind_of_line(verb: &str, words: &[&str]) -> Option<MoveKind> {
    let mut kinds = MoveKind::ALL.iter().copied().filter(|kind| kind.verb() == verb);
    let first = kinds.next()?;
    Some(if words.is_empty() { first } else { kinds.next().unwrap_or(first) })
}

/// Cards of the codes, preferring those of `left`.
fn read_cards(deck: &Deck, codes: &[&str], mut left: CardSet) -> Result<Cards, NotationError> {
    let mut cards = Cards::new();
    for code in codes {
        let card = choose_copy(deck, code, &left)?;
        left = left.without(card);
        cards.push(card);
    }
    Ok(cards)
}

/// Reads the outcome of the use of chance that is due.
fn read_outcome(hand: &Hand, verb: &str, words: &[&str]) -> Result<Outcome, NotationError> {
    let deck = hand.rules().variant().deck;
    let Some(due) = hand.due() else {
        return Err(match hand.to_act() {
            Some(to_act) => Refusal::DecisionDue { to_act }.into(),
            None => Refusal::HandOver.into(),
        });
    };
    let other = || Error::Due { due: due.line_prefix(deck) };
    let faces = |words: &[&str]| -> Result<SmallVec<[u8; 2]>, NotationError> {
        words.iter().map(|word| number(word)).collect()
    };
    match (due, verb, words) {
        (Chance::Deal(deal), "deal", [to, codes @ ..]) => match deal.to {
            Destination::Player(player) if player.to_string() == **to => {
                read_deal(hand, deal, codes)
            }
            Destination::Player(_) | Destination::Table => Err(other()),
        },
        (Chance::Deal(deal), "flip", codes) if deal.to == Destination::Table => {
            read_deal(hand, deal, codes)
        }
        (
            Chance::Roll { purpose: RollPurpose::Shift | RollPurpose::Prime(_), .. },
            "roll",
            words,
        ) => faces(words).map(Outcome::Rolled),
        (
            Chance::Roll { purpose: RollPurpose::Impostor(player, card), .. },
            "roll",
            [who, code, dice @ ..],
        ) if player.to_string() == **who && deck.code(*card) == *code => {
            faces(dice).map(Outcome::Rolled)
        }
        (Chance::Roll { purpose: RollPurpose::Target, .. }, "roll", [gold, silver]) => {
            target_faces(gold, silver).map(|faces| Outcome::rolled(&faces)).ok_or_else(other)
        }
        (Chance::Pulse { .. }, "pulse", ["0"]) => Ok(Outcome::Pulsed(false)),
        (Chance::Pulse { .. }, "pulse", ["1"]) => Ok(Outcome::Pulsed(true)),
        (Chance::Pick { purpose: PickPurpose::Starter, .. }, "starter", [name]) => {
            let starter = player_named(name)?;
            let at = hand.live().iter().position(|player| player == starter);
            at.and_then(|at| u32::try_from(at).ok()).map(Outcome::Picked).ok_or_else(other)
        }
        (
            Chance::Sample { purpose: SamplePurpose::Tokens(player), .. },
            "tokens",
            [who, names @ ..],
        ) if player.to_string() == **who => {
            let index = |name: &&str| token(name).map(|token| token as u32);
            names.iter().map(index).collect::<Result<_, _>>().map(Outcome::Sampled)
        }
        (
            Chance::Sample { purpose: SamplePurpose::Announce, .. },
            "announce",
            ["wild", wild, "clone", clone],
        ) => {
            let face = |code: &str| {
                let at = deck.faces().position(|face| face == code);
                let at = at.and_then(|at| u32::try_from(at).ok());
                at.ok_or_else(|| Error::NoSuchCard { code: code.to_owned() })
            };
            Ok(Outcome::Sampled(SmallVec::from_slice(&[face(wild)?, face(clone)?])))
        }
        (_, _, _) => Err(other()),
    }
}

fn read_deal(hand: &Hand, deal: &Deal, codes: &[&str]) -> Result<Outcome, NotationError> {
    let deck = hand.rules().variant().deck;
    let mut cards = Cards::new();
    let mut codes = codes.iter();
    for part in &deal.parts {
        let start = cards.len();
        let mut there = hand.core.piles[usize::from(part.pile)].draw_pile();
        while part.count.needs_more(&cards[start..]) {
            if let Some(restock) = part.restock.as_ref().filter(|r| start + r.after == cards.len())
            {
                there = there.union(restock.cards.iter().copied().collect());
            }
            let Some(code) = codes.next() else { break };
            let card = choose_copy(deck, code, &there)?;
            there = there.without(card);
            cards.push(card);
        }
    }
    // Surplus codes are still read, so that the count is refused and not a card.
    for code in codes {
        cards.push(choose_copy(deck, code, &CardSet::EMPTY)?);
    }
    Ok(Outcome::Cards(cards))
}
