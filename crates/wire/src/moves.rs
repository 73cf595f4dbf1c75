//! Conversion of moves: as clients send them, as logs keep them, as viewers see them.

use primitives::{Quoted, SeatNo};
use proto::common::v1::{LegalMove, Move as PbMove, MoveKind};
use rules::{Card, Deck, DrawSource, EventView, Legal, Move, Player, ShiftToken, Side, Word};

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
        let PbMove { kind, cards, amount, names, target_seat, value } = sent;
        let kind = MoveKind::try_from(*kind)
            .map_err(|_| BadField::new("move.kind", format!("there is no kind {kind}")))?;
        let used = FilledFields { cards: cards.len(), amount: *amount != 0, names: names.len() };
        used.check(kind, *target_seat != 0, *value != 0)?;
        Ok(match kind {
            MoveKind::Unspecified => {
                return Err(BadField::new("move.kind", "missing: what do you decide?"));
            }
            MoveKind::Draw => Move::Draw,
            MoveKind::Stand => Move::Stand,
            MoveKind::Check => Move::Check,
            MoveKind::Match => Move::Match,
            MoveKind::Fold => Move::Fold,
            MoveKind::CallHand => Move::CallHand,
            MoveKind::Leave => Move::Leave,
            MoveKind::Keep => Move::Keep,
            MoveKind::Junk => Move::Junk,
            MoveKind::Bet => Move::Bet(field::credits("move.amount", *amount)?),
            MoveKind::Raise => Move::Raise(field::credits("move.amount", *amount)?),
            MoveKind::Trade => Move::Trade(self.parse_card(cards)?),
            MoveKind::Lock => Move::Lock(self.parse_card(cards)?),
            MoveKind::Unlock => Move::Unlock(self.parse_card(cards)?),
            MoveKind::Drop => Move::Drop(self.parse_card(cards)?),
            MoveKind::Discard => Move::Discard(self.parse_card(cards)?),
            MoveKind::Swap => Move::Swap(self.parse_card(cards)?),
            MoveKind::Gain => Move::Gain(self.parse_cards(cards)?.first().copied()),
            MoveKind::Select => Move::Select(self.parse_cards(cards)?.into_iter().collect()),
            MoveKind::Add => Move::Add(self.parse_cards(cards)?.into_iter().collect()),
            MoveKind::Impostor => {
                Move::Impostor { card: self.parse_card(cards)?, value: parse_die(*value)? }
            }
            MoveKind::Prime => Move::Prime(parse_die(*value)?),
            MoveKind::Align => Move::Align(parse_side(&names[0])?),
            MoveKind::DrawFrom => Move::DrawFrom(parse_source(&names[0])?),
            MoveKind::Token => {
                Move::Token(parse_token(&names[0])?, self.parse_target(*target_seat)?)
            }
            MoveKind::Choose => Move::Choose([
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
            let name = || format!("move.cards[{at}]");
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
        let seat = field::seat("move.target_seat", seat)?;
        let index = self.seats.iter().position(|&other| other == seat);
        index
            .and_then(|index| u8::try_from(index).ok())
            .and_then(Player::try_new)
            .map(Some)
            .ok_or_else(|| BadField::new("move.target_seat", "nobody in this hand has that seat"))
    }
}

/// Fields of a move that are filled.
struct FilledFields {
    cards: usize,
    amount: bool,
    names: usize,
}

impl FilledFields {
    fn check(&self, kind: MoveKind, target: bool, value: bool) -> Result<(), BadField> {
        let (cards, amount, names, may_target, needs_value) = allowed_fields(kind);
        if !cards.contains(&self.cards) {
            let problem =
                format!("this kind of move names {} to {} cards", cards.start(), cards.end());
            return Err(BadField::new("move.cards", problem));
        }
        if self.amount && !amount {
            return Err(BadField::new("move.amount", "this kind of move has no amount"));
        }
        if self.names != names {
            let problem = format!("this kind of move takes {names} names");
            return Err(BadField::new("move.names", problem));
        }
        if target && !may_target {
            return Err(BadField::new("move.target_seat", "this kind of move has no target"));
        }
        if value != needs_value {
            let problem =
                if needs_value { "missing: 1 to 6" } else { "this kind of move has none" };
            return Err(BadField::new("move.value", problem));
        }
        Ok(())
    }
}

/// Fields of each kind of move: the number of cards, whether it has an amount, the number of names,
/// whether it may have a target, and whether it has a die.
fn allowed_fields(kind: MoveKind) -> (std::ops::RangeInclusive<usize>, bool, usize, bool, bool) {
    match kind {
        MoveKind::Unspecified
        | MoveKind::Draw
        | MoveKind::Stand
        | MoveKind::Check
        | MoveKind::Match
        | MoveKind::Fold
        | MoveKind::CallHand
        | MoveKind::Leave
        | MoveKind::Keep
        | MoveKind::Junk => (0..=0, false, 0, false, false),
        MoveKind::Bet | MoveKind::Raise => (0..=0, true, 0, false, false),
        MoveKind::Trade
        | MoveKind::Lock
        | MoveKind::Unlock
        | MoveKind::Drop
        | MoveKind::Discard
        | MoveKind::Swap => (1..=1, false, 0, false, false),
        MoveKind::Gain => (0..=1, false, 0, false, false),
        MoveKind::Select => (1..=5, false, 0, false, false),
        MoveKind::Add => (0..=5, false, 0, false, false),
        MoveKind::Impostor => (1..=1, false, 0, false, true),
        MoveKind::Prime => (0..=0, false, 0, false, true),
        MoveKind::Align | MoveKind::DrawFrom => (0..=0, false, 1, false, false),
        MoveKind::Token => (0..=0, false, 1, true, false),
        MoveKind::Choose => (0..=0, false, 3, false, false),
    }
}

fn parse_die(value: u32) -> Result<u8, BadField> {
    u8::try_from(value)
        .ok()
        .filter(|value| (1..=6).contains(value))
        .ok_or_else(|| BadField::new("move.value", "a die shows 1 to 6"))
}

fn parse_side(name: &str) -> Result<Side, BadField> {
    [Side::Light, Side::Dark]
        .into_iter()
        .find(|side| side.name() == name)
        .ok_or_else(|| BadField::new("move.names[0]", "light or dark"))
}

fn parse_source(name: &str) -> Result<DrawSource, BadField> {
    DrawSource::ALL
        .into_iter()
        .find(|source| source.name() == name)
        .ok_or_else(|| BadField::new("move.names[0]", "sand, blood, sand-discard or blood-discard"))
}

fn parse_token(name: &str) -> Result<ShiftToken, BadField> {
    ShiftToken::parse(name)
        .ok_or_else(|| BadField::new("move.names", "there is no such shift token"))
}

/// Converts a move without its cards. The caller adds those that its reader may see.
#[must_use]
pub(crate) fn write_without_cards(mv: &Move, seats: &[SeatNo]) -> PbMove {
    let mut out = PbMove::default();
    let kind = match mv {
        Move::Draw => MoveKind::Draw,
        Move::Trade(_) => MoveKind::Trade,
        Move::Stand => MoveKind::Stand,
        Move::Lock(_) => MoveKind::Lock,
        Move::Unlock(_) => MoveKind::Unlock,
        Move::Check => MoveKind::Check,
        Move::Bet(amount) => {
            out.amount = amount.get();
            MoveKind::Bet
        }
        Move::Match => MoveKind::Match,
        Move::Raise(amount) => {
            out.amount = amount.get();
            MoveKind::Raise
        }
        Move::Fold => MoveKind::Fold,
        Move::CallHand => MoveKind::CallHand,
        Move::Leave => MoveKind::Leave,
        Move::Align(side) => {
            out.names = vec![side.name().to_owned()];
            MoveKind::Align
        }
        Move::Keep => MoveKind::Keep,
        Move::Drop(_) => MoveKind::Drop,
        Move::Choose(tokens) => {
            out.names = tokens.iter().map(|token| token.name().to_owned()).collect();
            MoveKind::Choose
        }
        Move::Token(token, target) => {
            out.names = vec![token.name().to_owned()];
            out.target_seat = target.map_or(0, |player| seat_of(player, seats));
            MoveKind::Token
        }
        Move::Prime(value) => {
            out.value = u32::from(*value);
            MoveKind::Prime
        }
        Move::DrawFrom(source) => {
            out.names = vec![source.name().to_owned()];
            MoveKind::DrawFrom
        }
        Move::Discard(_) => MoveKind::Discard,
        Move::Impostor { card: _, value } => {
            out.value = u32::from(*value);
            MoveKind::Impostor
        }
        Move::Gain(_) => MoveKind::Gain,
        Move::Swap(_) => MoveKind::Swap,
        Move::Junk => MoveKind::Junk,
        Move::Select(_) => MoveKind::Select,
        Move::Add(_) => MoveKind::Add,
    };
    out.kind = kind.into();
    out
}

/// Cards that a move names, in order.
#[must_use]
pub fn cards_of(mv: &Move) -> Vec<Card> {
    match mv {
        Move::Trade(card)
        | Move::Lock(card)
        | Move::Unlock(card)
        | Move::Drop(card)
        | Move::Discard(card)
        | Move::Swap(card)
        | Move::Gain(Some(card))
        | Move::Impostor { card, value: _ } => vec![*card],
        Move::Select(cards) | Move::Add(cards) => cards.to_vec(),
        Move::Draw
        | Move::Stand
        | Move::Check
        | Move::Bet(_)
        | Move::Match
        | Move::Raise(_)
        | Move::Fold
        | Move::CallHand
        | Move::Leave
        | Move::Align(_)
        | Move::Keep
        | Move::Choose(_)
        | Move::Token(..)
        | Move::Prime(_)
        | Move::DrawFrom(_)
        | Move::Gain(None)
        | Move::Junk => Vec::new(),
    }
}

/// Number of a player's seat; 0 for a player who is not in this hand.
#[must_use]
pub fn seat_of(player: Player, seats: &[SeatNo]) -> u32 {
    seats.get(player.index()).map_or(0, |seat| u32::from(seat.get()))
}

/// Converts a move with its cards, for a reader who may see them.
#[must_use]
pub fn write_with_cards(mv: &Move, deck: &Deck, seats: &[SeatNo]) -> PbMove {
    let cards = cards_of(mv).into_iter().map(|card| deck.code(card).to_owned()).collect();
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

/// Converts a legal move with its choices.
#[must_use]
pub fn write_legal(legal: &Legal, deck: &Deck, seats: &[SeatNo]) -> LegalMove {
    let mut out =
        LegalMove { kind: kind_of(legal).into(), text: legal.text(deck), ..LegalMove::default() };
    let codes = |cards: &[Card]| cards.iter().map(|card| deck.code(*card).to_owned()).collect();
    let dice = |values: &[u8]| values.iter().map(|value| u32::from(*value)).collect();
    match legal {
        Legal::Draw
        | Legal::Stand
        | Legal::Check
        | Legal::Fold
        | Legal::CallHand
        | Legal::Keep
        | Legal::Gain
        | Legal::Junk => {}
        Legal::Bet { min, max } | Legal::Raise { min, max } => {
            (out.min, out.max) = (min.get(), max.get());
        }
        Legal::Match { amount } => (out.min, out.max) = (amount.get(), amount.get()),
        Legal::Align => {
            out.names = [Side::Light, Side::Dark].map(|side| side.name().to_owned()).to_vec();
        }
        Legal::Choose => {
            out.names = ShiftToken::ALL.iter().map(|token| token.name().to_owned()).collect();
        }
        Legal::Token(token) => out.names = vec![token.name().to_owned()],
        Legal::TokenAt(token, targets) => {
            out.names = vec![token.name().to_owned()];
            out.target_seats = targets.iter().map(|player| seat_of(player, seats)).collect();
        }
        Legal::Prime(values) => out.values = dice(values),
        Legal::DrawFrom(source) => out.names = vec![source.name().to_owned()],
        Legal::Impostor { card, values } => {
            out.cards = codes(&[*card]);
            out.values = dice(values);
        }
        Legal::Select { cards, min, max } => {
            (out.min, out.max) = (u64::from(*min), u64::from(*max));
            out.cards = codes(cards);
        }
        Legal::Trade(cards)
        | Legal::Lock(cards)
        | Legal::Unlock(cards)
        | Legal::Drop(cards)
        | Legal::Discard(cards)
        | Legal::GainFor(cards)
        | Legal::Swap(cards)
        | Legal::Add(cards) => out.cards = codes(cards),
    }
    out
}

/// Kind of move that a legal move stands for.
fn kind_of(legal: &Legal) -> MoveKind {
    match legal {
        Legal::Draw => MoveKind::Draw,
        Legal::Trade(_) => MoveKind::Trade,
        Legal::Stand => MoveKind::Stand,
        Legal::Lock(_) => MoveKind::Lock,
        Legal::Unlock(_) => MoveKind::Unlock,
        Legal::Check => MoveKind::Check,
        Legal::Bet { .. } => MoveKind::Bet,
        Legal::Match { .. } => MoveKind::Match,
        Legal::Raise { .. } => MoveKind::Raise,
        Legal::Fold => MoveKind::Fold,
        Legal::CallHand => MoveKind::CallHand,
        Legal::Align => MoveKind::Align,
        Legal::Keep => MoveKind::Keep,
        Legal::Drop(_) => MoveKind::Drop,
        Legal::Choose => MoveKind::Choose,
        Legal::Token(_) | Legal::TokenAt(..) => MoveKind::Token,
        Legal::Prime(_) => MoveKind::Prime,
        Legal::DrawFrom(_) => MoveKind::DrawFrom,
        Legal::Discard(_) => MoveKind::Discard,
        Legal::Impostor { .. } => MoveKind::Impostor,
        Legal::Gain | Legal::GainFor(_) => MoveKind::Gain,
        Legal::Swap(_) => MoveKind::Swap,
        Legal::Junk => MoveKind::Junk,
        Legal::Select { .. } => MoveKind::Select,
        Legal::Add(_) => MoveKind::Add,
    }
}
