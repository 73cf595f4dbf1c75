//! History lines of events, with the words taken out that a viewer may not see.
//!
//! The full line and every censored one come from the same words, so no censored line can reveal
//! what another one hides.
//!
//! Specification: rules/SPEC.md §3.5.

use std::fmt;

use primitives::Credits;
use smallvec::SmallVec;

use crate::cards::Card;
use crate::chance::{
    Chance, Deal, Destination, Outcome, PickPurpose, Resolved, RollPurpose, SamplePurpose,
};
use crate::deck::Deck;
use crate::event::{DecisionAuthor, Event};
use crate::hand::Hand;
use crate::moves::{Arguments, Move, MoveKind, Shape};
use crate::player::{Player, PlayerSet, Viewer};
use crate::token::ShiftToken;

/// One word of a line after the verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// A card; none if it is hidden.
    Card(Option<Card>),
    Amount(Credits),
    Number(u32),
    Player(Player),
    Name(&'static str),
    /// A hidden word that is no card.
    Hidden,
}

/// The words of a line after the verb.
pub type Words = SmallVec<[Word; 4]>;

/// Actor of a line: the dealer or a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    Dealer,
    Player(Player),
}

/// One event as one viewer sees it. `Display` is its history line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventView {
    pub actor: Actor,
    pub verb: &'static str,
    pub words: Words,
    pub author: DecisionAuthor,
    pub deck: &'static str,
    codes: &'static [&'static str],
}

/// Names of the faces of Coruscant's gold die.
const GOLD: [&str; 6] = ["0", "0", "+5", "-5", "+10", "-10"];
/// Names of the faces of Coruscant's silver die.
const SILVER: [&str; 6] = ["circle", "circle", "triangle", "triangle", "square", "square"];

impl Word {
    fn hidden(&self) -> Word {
        match self {
            Word::Card(_) => Word::Card(None),
            Word::Amount(_) | Word::Number(_) | Word::Player(_) | Word::Name(_) | Word::Hidden => {
                Word::Hidden
            }
        }
    }

    pub(crate) fn text(&self, deck: &Deck) -> String {
        match self {
            Word::Card(Some(card)) => deck.code(*card).to_owned(),
            Word::Card(None) | Word::Hidden => "??".to_owned(),
            Word::Amount(amount) => amount.to_string(),
            Word::Number(number) => number.to_string(),
            Word::Player(player) => player.to_string(),
            Word::Name(name) => (*name).to_owned(),
        }
    }
}

impl fmt::Display for EventView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.actor {
            Actor::Dealer => write!(f, "d {}", self.verb)?,
            Actor::Player(player) => write!(f, "{player} {}", self.verb)?,
        }
        let deck = Deck { name: self.deck, codes: self.codes, value: |_| None };
        for word in &self.words {
            write!(f, " {}", word.text(&deck))?;
        }
        match self.author {
            DecisionAuthor::Player => Ok(()),
            DecisionAuthor::Clock => f.write_str(" # clock"),
        }
    }
}

/// The event as `viewer` sees it, before it is applied. None for a shuffle, which has no line.
#[must_use]
pub fn censor(hand: &Hand, event: &Event, viewer: Viewer) -> Option<EventView> {
    let (mut event_view, secret) = words_of_event(hand, event)?;
    let blind = match (viewer, &secret) {
        (Viewer::Auditor, _) | (_, None) => false,
        (Viewer::Public, Some(_)) => true,
        (Viewer::Player(player), Some(secret)) => !secret.readers.contains(player),
    };
    if let Some(secret) = secret.filter(|_| blind) {
        for word in &mut event_view.words[secret.from..] {
            *word = word.hidden();
        }
    }
    Some(event_view)
}

/// History line of an event, uncensored, before it is applied; empty for a shuffle.
#[must_use]
pub fn history_line(hand: &Hand, event: &Event) -> String {
    censor(hand, event, Viewer::Auditor).map_or_else(String::new, |seen| seen.to_string())
}

/// Line of a decision as the chain of decisions takes it, before it is applied; none for chance.
/// Cards are written as `place` says where they lie, never by face. Words that are secret when the
/// decision is made are `??`, or in the clear where `said`.
///
/// Specification: fairness/SPEC.md §9.2.
#[must_use]
pub fn chain_line(
    hand: &Hand,
    event: &Event,
    said: bool,
    place: impl Fn(Card) -> String,
) -> Option<String> {
    let Event::Decided { player, mv, author: _ } = event else { return None };
    let secret = hand.game.is_hidden(mv.kind()) && !said;
    let deck = hand.rules().variant().deck;
    let mut line = format!("{player} {}", mv.verb());
    for word in words_of_move(mv) {
        let text = match word {
            Word::Card(Some(card)) => place(card),
            Word::Card(None)
            | Word::Amount(_)
            | Word::Number(_)
            | Word::Player(_)
            | Word::Name(_)
            | Word::Hidden => if secret { word.hidden() } else { word }.text(deck),
        };
        line.push(' ');
        line.push_str(&text);
    }
    Some(line)
}

/// Whether names and values of a move of this kind are secret when it is made now.
#[must_use]
pub fn is_choice_secret(hand: &Hand, kind: MoveKind) -> bool {
    let has_words = match kind.shape() {
        Shape::Nothing | Shape::Card | Shape::OptionalCard | Shape::Cards | Shape::AnyCards => {
            false
        }
        Shape::Amount
        | Shape::Side
        | Shape::Pile
        | Shape::Tokens
        | Shape::Token
        | Shape::Die
        | Shape::CardAndDie => true,
    };
    has_words && hand.game.is_hidden(kind)
}

/// Whether the cards that the event names lie face up for everybody from then on.
#[must_use]
pub fn are_cards_public(hand: &Hand, event: &Event) -> bool {
    words_of_event(hand, event).is_some_and(|(_, secret)| secret.is_none())
}

/// Words from index `from` on, which only the players in `knows` may see.
struct Secret {
    from: usize,
    readers: PlayerSet,
}

fn words_of_event(hand: &Hand, event: &Event) -> Option<(EventView, Option<Secret>)> {
    let deck = hand.rules().variant().deck;
    let (actor, verb, words, by, secret) = match event {
        Event::Decided { player, mv, author: by } => {
            let knows = PlayerSet::EMPTY.with(*player);
            // The Impostor's own card lies open, but not its value.
            let from = usize::from(mv.kind() == MoveKind::Impostor);
            let secret = hand.game.is_hidden(mv.kind()).then_some(Secret { from, readers: knows });
            (Actor::Player(*player), mv.verb(), words_of_move(mv), *by, secret)
        }
        Event::Chance(outcome) => {
            let due = hand.due()?;
            let (verb, words) = words_of_chance(hand, due, outcome)?;
            (Actor::Dealer, verb, words, DecisionAuthor::Player, secret_of_chance(due))
        }
    };
    let seen = EventView { actor, verb, words, author: by, deck: deck.name, codes: deck.codes };
    Some((seen, secret))
}

fn secret_of_chance(due: &Chance) -> Option<Secret> {
    match due {
        Chance::Deal(Deal { to: Destination::Player(player), shown: false, .. })
        | Chance::Sample { purpose: SamplePurpose::Tokens(player), .. } => {
            Some(Secret { from: 1, readers: PlayerSet::EMPTY.with(*player) })
        }
        Chance::Shuffle { .. }
        | Chance::Deal(_)
        | Chance::Roll { .. }
        | Chance::Pulse { .. }
        | Chance::Pick { .. }
        | Chance::Sample { .. } => None,
    }
}

pub(crate) fn words_of_move(mv: &Move) -> Words {
    let arguments = mv.arguments();
    let cards = arguments.cards().iter().map(|&card| Word::Card(Some(card)));
    match &arguments {
        Arguments::Nothing
        | Arguments::Card(_)
        | Arguments::OptionalCard(_)
        | Arguments::Cards(_)
        | Arguments::AnyCards(_) => cards.collect(),
        Arguments::Amount(amount) => Words::from_iter([Word::Amount(*amount)]),
        Arguments::Side(side) => Words::from_iter([Word::Name(side.name())]),
        Arguments::Pile(source) => Words::from_iter([Word::Name(source.name())]),
        Arguments::Tokens(tokens) => tokens.iter().map(|token| Word::Name(token.name())).collect(),
        Arguments::Token(token, target) => {
            let target = target.map(Word::Player);
            std::iter::once(Word::Name(token.name())).chain(target).collect()
        }
        Arguments::Die(value) | Arguments::CardAndDie(_, value) => {
            cards.chain([Word::Number(u32::from(*value))]).collect()
        }
    }
}

/// Verb and words of an outcome. None if it has no line, or is of another kind than what is due.
fn words_of_chance(hand: &Hand, due: &Chance, outcome: &Outcome) -> Option<(&'static str, Words)> {
    let deck = hand.rules().variant().deck;
    let number = |value: &u8| Word::Number(u32::from(*value));
    match due.resolved(outcome)? {
        Resolved::Shuffled { .. } => None,
        Resolved::Dealt { deal, cards } => {
            let cards = cards.iter().map(|&card| Word::Card(Some(card)));
            Some(match deal.to {
                Destination::Player(player) => {
                    ("deal", std::iter::once(Word::Player(player)).chain(cards).collect())
                }
                Destination::Table => ("flip", cards.collect()),
            })
        }
        Resolved::Rolled { purpose, faces } => {
            let dice = faces.iter().map(number);
            let words = match purpose {
                RollPurpose::Shift | RollPurpose::Prime(_) => dice.collect(),
                RollPurpose::Impostor(player, card) => {
                    let who = [Word::Player(player), Word::Card(Some(card))];
                    who.into_iter().chain(dice).collect()
                }
                RollPurpose::Target => faces
                    .iter()
                    .zip([GOLD, SILVER])
                    .filter_map(|(&face, die)| {
                        die.get(usize::from(face).checked_sub(1)?).map(|&name| Word::Name(name))
                    })
                    .collect(),
            };
            Some(("roll", words))
        }
        Resolved::Pulsed(shift) => {
            Some(("pulse", Words::from_iter([Word::Number(u32::from(shift))])))
        }
        Resolved::Picked { purpose: PickPurpose::Starter, pick } => {
            let starter = hand.live().iter().nth(usize::try_from(pick).ok()?)?;
            Some(("starter", Words::from_iter([Word::Player(starter)])))
        }
        Resolved::Sampled { purpose: SamplePurpose::Tokens(player), sample: kinds } => {
            let kinds = kinds.iter().filter_map(|&kind| {
                let kind = ShiftToken::ALL.get(usize::try_from(kind).ok()?)?;
                Some(Word::Name(kind.name()))
            });
            Some(("tokens", std::iter::once(Word::Player(player)).chain(kinds).collect()))
        }
        Resolved::Sampled { purpose: SamplePurpose::Announce, sample: faces } => {
            let face = |at: usize| {
                let face = usize::try_from(*faces.get(at)?).ok()?;
                deck.faces().nth(face).map(Word::Name)
            };
            let words = [Word::Name("wild"), face(0)?, Word::Name("clone"), face(1)?];
            Some(("announce", Words::from_iter(words)))
        }
    }
}

/// Faces of the two dice that show these names, the first one for each; none for unknown names.
pub(crate) fn target_faces(gold: &str, silver: &str) -> Option<[u8; 2]> {
    let face = |die: [&str; 6], name: &str| {
        let at = die.iter().position(|&face| face == name)?;
        u8::try_from(at + 1).ok()
    };
    Some([face(GOLD, gold)?, face(SILVER, silver)?])
}
