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
use crate::moves::{DrawSource, Move, Side};
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
    let mv =
        read_move(LineArguments { verb, words, deck: hand.rules().variant().deck }, hand, player)?;
    Ok(decide(hand, player, mv, by)?)
}

/// Splits a line into its text and its comment, which is empty if there is none.
#[must_use]
pub fn split_comment(line: &str) -> (&str, &str) {
    // Few lines have a comment, and a single letter is found faster than two.
    let comment = line.contains('#').then(|| line.split_once(" #")).flatten();
    comment.unwrap_or((line, ""))
}

/// The words after the actor.
#[derive(Clone, Copy)]
struct LineArguments<'a> {
    verb: &'a str,
    words: &'a [&'a str],
    deck: &'static Deck,
}

impl<'a> LineArguments<'a> {
    fn wrong_arguments(self, want: &'static str) -> NotationError {
        Error::Arguments { verb: self.verb.to_owned(), want }
    }

    fn none(self, mv: Move) -> Result<Move, NotationError> {
        if self.words.is_empty() { Ok(mv) } else { Err(self.wrong_arguments("nothing")) }
    }

    fn one(self, want: &'static str) -> Result<&'a str, NotationError> {
        match self.words {
            [word] => Ok(word),
            _ => Err(self.wrong_arguments(want)),
        }
    }

    fn amount(self) -> Result<Credits, NotationError> {
        let word = self.one("one amount")?;
        word.parse().map_err(|_| Error::Number { number: word.to_owned() })
    }

    /// Reads one card, preferring those of `held`.
    fn card(self, held: &[Card]) -> Result<Card, NotationError> {
        let code = self.one("one card")?;
        choose_copy(self.deck, code, &held.iter().copied().collect())
    }

    fn cards(self, held: &[Card]) -> Result<Cards, NotationError> {
        let mut left: CardSet = held.iter().copied().collect();
        let mut cards = Cards::new();
        for code in self.words {
            let card = choose_copy(self.deck, code, &left)?;
            left = left.without(card);
            cards.push(card);
        }
        Ok(cards)
    }
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

fn token(name: &str) -> Result<ShiftToken, NotationError> {
    ShiftToken::parse(name)
        .ok_or_else(|| Error::NoSuchName { name: name.to_owned(), what: "token" })
}

fn player_named(name: &str) -> Result<Player, NotationError> {
    Player::parse(name).ok_or_else(|| Error::NoSuchName { name: name.to_owned(), what: "player" })
}

fn read_move(words: LineArguments<'_>, hand: &Hand, player: Player) -> Result<Move, NotationError> {
    let held = hand.cards_of(player);
    match words.verb {
        "draw" if words.words.is_empty() => Ok(Move::Draw),
        "draw" => {
            let name = words.one("nothing or a pile")?;
            let source = DrawSource::ALL.into_iter().find(|source| source.name() == name);
            let unknown = || Error::NoSuchName { name: name.to_owned(), what: "pile" };
            source.map(Move::DrawFrom).ok_or_else(unknown)
        }
        "trade" => words.card(held).map(Move::Trade),
        "stand" => words.none(Move::Stand),
        "lock" => words.card(held).map(Move::Lock),
        "unlock" => words.card(held).map(Move::Unlock),
        "check" => words.none(Move::Check),
        "bet" => words.amount().map(Move::Bet),
        "match" => words.none(Move::Match),
        "raise" => words.amount().map(Move::Raise),
        "fold" => words.none(Move::Fold),
        "call-hand" => words.none(Move::CallHand),
        "leave" => words.none(Move::Leave),
        "align" => {
            let name = words.one("light or dark")?;
            let side = [Side::Light, Side::Dark].into_iter().find(|side| side.name() == name);
            let unknown = || Error::NoSuchName { name: name.to_owned(), what: "side" };
            side.map(Move::Align).ok_or_else(unknown)
        }
        "keep" => words.none(Move::Keep),
        "drop" => words.card(held).map(Move::Drop),
        "choose" => match words.words {
            [a, b, c] => Ok(Move::Choose([token(a)?, token(b)?, token(c)?])),
            _ => Err(words.wrong_arguments("three tokens")),
        },
        "token" => match words.words {
            [name] => Ok(Move::Token(token(name)?, None)),
            [name, target] => Ok(Move::Token(token(name)?, Some(player_named(target)?))),
            _ => Err(words.wrong_arguments("a token and perhaps a player")),
        },
        "prime" => words.one("one number").and_then(number).map(Move::Prime),
        "discard" => words.card(held).map(Move::Discard),
        "impostor" => match words.words {
            [code, value] => {
                let card = LineArguments { words: &[code], ..words }.card(held)?;
                Ok(Move::Impostor { card, value: number(value)? })
            }
            _ => Err(words.wrong_arguments("a card and a number")),
        },
        "gain" if words.words.is_empty() => Ok(Move::Gain(None)),
        "gain" => words.card(held).map(|card| Move::Gain(Some(card))),
        "swap" => words.card(held).map(Move::Swap),
        "junk" => words.none(Move::Junk),
        "select" => words.cards(held).map(Move::Select),
        "add" => words.cards(held).map(Move::Add),
        verb => Err(Error::Verb { verb: verb.to_owned() }),
    }
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
