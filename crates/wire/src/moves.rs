//! Conversion of moves: as clients send them, as logs keep them, as viewers see them.

use std::ops::RangeInclusive;

use primitives::{Quoted, SeatNo};
use proto::common::v1::{LegalMove, Move as PbMove, MoveArgument};
use rules::{
    Arguments, Card, Choices, Deck, DrawSource, EventView, Legal, Move, MoveKind, Player, Shape,
    ShiftToken, Side, Word,
};

use crate::field::{self, BadField};

/// Context for reading a player's move: their deck, the cards that they may name, and the seats of
/// the hand.
pub struct MoveReader<'a> {
    pub deck: &'static Deck,
    /// Cards that a code may refer to: those that the player holds or may add.
    pub cards: &'a [Card],
    pub seats: &'a [SeatNo],
}

impl MoveReader<'_> {
    /// Parses a move. The rules judge it later.
    pub fn read(&self, sent: &PbMove) -> Result<Move, BadField> {
        let kind = match sent.kind {
            0 => None,
            number => {
                let unknown =
                    || BadField::new("decision.kind", format!("there is no kind {number}"));
                Some(kind_numbered(number).ok_or_else(unknown)?)
            }
        };
        let shape = kind.map_or(Shape::Nothing, MoveKind::shape);
        AllowedFields::of(shape).check(sent)?;
        let unspecified = || BadField::new("decision.kind", "missing: what do you decide?");
        let arguments = self.parse_arguments(shape, sent)?;
        kind.and_then(|kind| kind.with(arguments)).ok_or_else(unspecified)
    }

    /// Parses the arguments of a move that fills the fields of this shape.
    fn parse_arguments(&self, shape: Shape, sent: &PbMove) -> Result<Arguments, BadField> {
        let PbMove { kind: _, cards, amount_credits, names, target_seat, value } = sent;
        Ok(match shape {
            Shape::Nothing => Arguments::Nothing,
            Shape::Amount => {
                Arguments::Amount(field::credits("decision.amount_credits", *amount_credits)?)
            }
            Shape::Card => Arguments::Card(self.parse_card(cards)?),
            Shape::OptionalCard => {
                Arguments::OptionalCard(self.parse_cards(cards)?.first().copied())
            }
            Shape::Cards => Arguments::Cards(self.parse_cards(cards)?.into()),
            Shape::AnyCards => Arguments::AnyCards(self.parse_cards(cards)?.into()),
            Shape::CardAndDie => Arguments::CardAndDie(self.parse_card(cards)?, parse_die(*value)?),
            Shape::Die => Arguments::Die(parse_die(*value)?),
            Shape::Side => Arguments::Side(parse_side(&names[0])?),
            Shape::Pile => Arguments::Pile(parse_source(&names[0])?),
            Shape::Token => {
                Arguments::Token(parse_token(&names[0])?, self.parse_target(*target_seat)?)
            }
            Shape::Tokens => Arguments::Tokens([
                parse_token(&names[0])?,
                parse_token(&names[1])?,
                parse_token(&names[2])?,
            ]),
        })
    }

    fn parse_card(&self, codes: &[String]) -> Result<Card, BadField> {
        self.parse_cards(codes).map(|cards| cards[0])
    }

    /// Cards of the codes. Of copies that look alike, each code takes the first that is not taken
    /// yet.
    fn parse_cards(&self, codes: &[String]) -> Result<Vec<Card>, BadField> {
        let mut taken: Vec<Card> = Vec::new();
        for (at, code) in codes.iter().enumerate() {
            let meant = self.deck.parse(code);
            let name = || format!("decision.cards[{at}]");
            if meant.is_empty() {
                let problem = format!("there is no such card in this deck: {}", Quoted(code));
                return Err(BadField::new(name(), problem));
            }
            let held =
                self.cards.iter().find(|card| meant.contains(**card) && !taken.contains(card));
            let card = held.ok_or_else(|| BadField::new(name(), "you do not hold this card"))?;
            taken.push(*card);
        }
        Ok(taken)
    }

    fn parse_target(&self, seat: u32) -> Result<Option<Player>, BadField> {
        if seat == 0 {
            return Ok(None);
        }
        let seat = field::seat("decision.target_seat", seat)?;
        let index = self.seats.iter().position(|&other| other == seat);
        index
            .and_then(|index| u8::try_from(index).ok())
            .and_then(Player::try_new)
            .map(Some)
            .ok_or_else(|| {
                BadField::new("decision.target_seat", "nobody in this hand has that seat")
            })
    }
}

/// Kind of a move by its number in messages.
#[must_use]
pub fn kind_numbered(number: i32) -> Option<MoveKind> {
    MoveKind::ALL.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
}

/// Number of a kind of move in messages.
#[must_use]
pub const fn number_of_kind(kind: MoveKind) -> i32 {
    kind as i32 + 1
}

/// Fields of a message that the arguments of one shape fill.
struct AllowedFields {
    cards: RangeInclusive<usize>,
    has_amount: bool,
    names: usize,
    may_target: bool,
    has_value: bool,
}

impl AllowedFields {
    const NONE: AllowedFields = AllowedFields {
        cards: 0..=0,
        has_amount: false,
        names: 0,
        may_target: false,
        has_value: false,
    };

    const fn of(shape: Shape) -> AllowedFields {
        let none = AllowedFields::NONE;
        match shape {
            Shape::Nothing => none,
            Shape::Card => AllowedFields { cards: 1..=1, ..none },
            Shape::OptionalCard => AllowedFields { cards: 0..=1, ..none },
            Shape::Cards => AllowedFields { cards: 1..=5, ..none },
            Shape::AnyCards => AllowedFields { cards: 0..=5, ..none },
            Shape::Amount => AllowedFields { has_amount: true, ..none },
            Shape::Side | Shape::Pile => AllowedFields { names: 1, ..none },
            Shape::Tokens => AllowedFields { names: 3, ..none },
            Shape::Token => AllowedFields { names: 1, may_target: true, ..none },
            Shape::Die => AllowedFields { has_value: true, ..none },
            Shape::CardAndDie => AllowedFields { cards: 1..=1, has_value: true, ..none },
        }
    }

    fn check(&self, sent: &PbMove) -> Result<(), BadField> {
        let (cards, names) = (&self.cards, self.names);
        if !cards.contains(&sent.cards.len()) {
            let problem =
                format!("this kind of move names {} to {} cards", cards.start(), cards.end());
            return Err(BadField::new("decision.cards", problem));
        }
        if sent.amount_credits != 0 && !self.has_amount {
            return Err(BadField::new(
                "decision.amount_credits",
                "this kind of move has no amount",
            ));
        }
        if sent.names.len() != names {
            let problem = format!("this kind of move takes {names} names");
            return Err(BadField::new("decision.names", problem));
        }
        if sent.target_seat != 0 && !self.may_target {
            return Err(BadField::new("decision.target_seat", "this kind of move has no target"));
        }
        if (sent.value != 0) != self.has_value {
            let problem =
                if self.has_value { "missing: 1 to 6" } else { "this kind of move has none" };
            return Err(BadField::new("decision.value", problem));
        }
        Ok(())
    }
}

fn parse_die(value: u32) -> Result<u8, BadField> {
    u8::try_from(value)
        .ok()
        .filter(|value| (1..=6).contains(value))
        .ok_or_else(|| BadField::new("decision.value", "a die shows 1 to 6"))
}

fn parse_side(name: &str) -> Result<Side, BadField> {
    Side::ALL
        .into_iter()
        .find(|side| side.name() == name)
        .ok_or_else(|| BadField::new("decision.names[0]", "light or dark"))
}

fn parse_source(name: &str) -> Result<DrawSource, BadField> {
    DrawSource::ALL.into_iter().find(|source| source.name() == name).ok_or_else(|| {
        BadField::new("decision.names[0]", "sand, blood, sand-discard or blood-discard")
    })
}

fn parse_token(name: &str) -> Result<ShiftToken, BadField> {
    ShiftToken::parse(name)
        .ok_or_else(|| BadField::new("decision.names", "there is no such shift token"))
}

/// Converts a move without its cards. The caller adds those that its reader may see.
#[must_use]
pub(crate) fn write_without_cards(mv: &Move, seats: &[SeatNo]) -> PbMove {
    let mut out = PbMove { kind: number_of_kind(mv.kind()), ..PbMove::default() };
    match mv.arguments() {
        Arguments::Nothing
        | Arguments::Card(_)
        | Arguments::OptionalCard(_)
        | Arguments::Cards(_)
        | Arguments::AnyCards(_) => {}
        Arguments::Amount(amount) => out.amount_credits = amount.get(),
        Arguments::Side(side) => out.names = vec![side.name().to_owned()],
        Arguments::Pile(source) => out.names = vec![source.name().to_owned()],
        Arguments::Tokens(tokens) => {
            out.names = tokens.iter().map(|token| token.name().to_owned()).collect();
        }
        Arguments::Token(token, target) => {
            out.names = vec![token.name().to_owned()];
            out.target_seat = target.map_or(0, |player| seat_of(player, seats));
        }
        Arguments::Die(value) | Arguments::CardAndDie(_, value) => out.value = u32::from(value),
    }
    out
}

/// Number of a player's seat; 0 for a player who is not in this hand.
#[must_use]
pub fn seat_of(player: Player, seats: &[SeatNo]) -> u32 {
    seats.get(player.index()).map_or(0, |seat| u32::from(seat.get()))
}

/// Converts a move with its cards, for a reader who may see them.
#[must_use]
pub fn write_with_cards(mv: &Move, deck: &Deck, seats: &[SeatNo]) -> PbMove {
    let cards = codes(mv.arguments().cards(), deck);
    PbMove { cards, ..write_without_cards(mv, seats) }
}

/// Converts a move as one viewer sees it: cards and names that are hidden from them are "??".
#[must_use]
pub fn write_for_viewer(mv: &Move, seen: &EventView, deck: &Deck, seats: &[SeatNo]) -> PbMove {
    let hidden = |word: &Word| match word {
        Word::Card(None) | Word::Hidden => true,
        Word::Card(Some(_))
        | Word::Amount(_)
        | Word::Number(_)
        | Word::Player(_)
        | Word::Name(_) => false,
    };
    let shown = write_with_cards(mv, deck, seats);
    if !seen.words.iter().any(hidden) {
        return shown;
    }
    let blind = |words: &[String]| vec![HIDDEN.to_owned(); words.len()];
    PbMove {
        kind: shown.kind,
        cards: blind(&shown.cards),
        names: blind(&shown.names),
        ..PbMove::default()
    }
}

/// Placeholder of a card or a name that the reader may not see.
pub const HIDDEN: &str = "??";

/// Converts a legal move with its choices, except for whether they are secret, which the hand says.
#[must_use]
pub fn write_legal(legal: &Legal, deck: &Deck, seats: &[SeatNo]) -> LegalMove {
    let choices = &legal.choices;
    let mut out = LegalMove {
        kind: number_of_kind(legal.kind),
        text: legal.text(deck),
        cards: codes(choices.cards(), deck),
        names: choices.names().into_iter().map(str::to_owned).collect(),
        ..LegalMove::default()
    };
    match choices {
        Choices::Nothing => {}
        Choices::Price(amount) => (out.min_credits, out.max_credits) = (amount.get(), amount.get()),
        Choices::Amount { min, max } => {
            (out.min_credits, out.max_credits) = (min.get(), max.get());
            push_argument(&mut out, MoveArgument::Amount);
        }
        Choices::Card(_) => take_cards(&mut out, 1, 1),
        Choices::OptionalCard(cards) if cards.is_empty() => {}
        Choices::OptionalCard(_) => take_cards(&mut out, 1, 1),
        Choices::Cards { cards: _, min, max } => take_cards(&mut out, (*min).into(), (*max).into()),
        Choices::AnyCards(cards) => {
            take_cards(&mut out, 0, u32::try_from(cards.len()).unwrap_or(u32::MAX));
        }
        Choices::Side => take_names(&mut out, MoveArgument::Side, 1),
        Choices::Pile(_) => take_names(&mut out, MoveArgument::Pile, 1),
        Choices::Tokens => take_names(&mut out, MoveArgument::Tokens, 3),
        Choices::Token(_, targets) => {
            take_names(&mut out, MoveArgument::Tokens, 1);
            out.target_seats = targets.iter().map(|player| seat_of(player, seats)).collect();
            if !targets.is_empty() {
                push_argument(&mut out, MoveArgument::Seat);
            }
        }
        Choices::Die(values) => take_values(&mut out, values),
        Choices::CardAndDie(_, values) => {
            take_cards(&mut out, 1, 1);
            take_values(&mut out, values);
        }
    }
    out
}

/// Leaving, which is legal whenever a decision is due.
#[must_use]
pub fn legal_leave() -> LegalMove {
    LegalMove {
        kind: number_of_kind(MoveKind::Leave),
        text: MoveKind::Leave.verb().to_owned(),
        ..LegalMove::default()
    }
}

fn push_argument(legal: &mut LegalMove, argument: MoveArgument) {
    legal.move_arguments.push(argument.into());
}

fn take_cards(legal: &mut LegalMove, min: u32, max: u32) {
    (legal.min_cards, legal.max_cards) = (min, max);
    push_argument(legal, MoveArgument::Cards);
}

fn take_names(legal: &mut LegalMove, argument: MoveArgument, count: u32) {
    legal.names_count = count;
    push_argument(legal, argument);
}

fn take_values(legal: &mut LegalMove, values: &[u8]) {
    legal.values = values.iter().map(|value| u32::from(*value)).collect();
    push_argument(legal, MoveArgument::Value);
}

fn codes(cards: &[Card], deck: &Deck) -> Vec<String> {
    cards.iter().map(|card| deck.code(*card).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use proto::common::v1::MoveKind as PbMoveKind;

    use super::*;

    #[test]
    fn kinds_have_the_numbers_of_the_protocol() {
        for number in 1.. {
            let (kind, sent) = (kind_numbered(number), PbMoveKind::try_from(number).ok());
            // No game knows the move that ends a suspended hand.
            let Some(kind) = kind else { return assert_eq!(sent, Some(PbMoveKind::Void)) };
            assert_eq!(number_of_kind(kind), number);
            assert_eq!(format!("{sent:?}"), format!("Some({kind:?})"));
        }
    }
}
