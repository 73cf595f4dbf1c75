//! Outcome of a hand: its settlement, winners and final hands, or the next line.
//!
//! Specification: history/SPEC.md §7.3.

use std::fmt::Write as _;

use rules::{Card, Choices, Hand, Next, Player, Settlement, Status, View, Viewer, next, view};
use serde::Serialize;

use crate::replay::Replay;

/// The outcome of a replay. Its JSON form has exactly these keys, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub variant: &'static str,
    pub complete: bool,
    /// Settlement, stacks and pots are those so far if the hand is not over.
    pub settlement: Vec<String>,
    /// Winners of the main layer, in Kessel of the credits pot.
    pub winners: Vec<String>,
    pub finishing_stacks: Vec<u64>,
    pub finishing_sabacc_pot: u64,
    /// Set if the variant has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finishing_carried_pot: Option<u64>,
    pub rake: u64,
    /// Final hands, p1 first.
    pub hands: Vec<FinalHand>,
    /// Set if the hand is not over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<NextLine>,
}

/// Cards that a player held at the reveal or when folding, newest last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FinalHand {
    pub player: String,
    pub cards: Vec<&'static str>,
    /// None for a hand that was never shown.
    pub rank: Option<String>,
}

/// Actor and form of the next line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NextLine {
    pub actor: String,
    pub legal: Vec<String>,
}

/// Summarizes the outcome of a replayed hand.
#[must_use]
pub fn report(replay: &Replay) -> Report {
    let hand = &replay.hand;
    match hand.settlement() {
        Some(end) => finished(hand, end),
        None => unfinished(hand),
    }
}

fn codes(hand: &Hand, cards: &[Card]) -> Vec<&'static str> {
    let deck = hand.rules().variant().deck;
    cards.iter().map(|&card| deck.code(card)).collect()
}

fn finished(hand: &Hand, end: &Settlement) -> Report {
    let variant = hand.rules().variant();
    let carried = end.finishing_carried_pot.get();
    let final_hand = |player: Player, held: &rules::FinalHand| FinalHand {
        player: player.to_string(),
        cards: codes(hand, &held.cards),
        rank: held.rank.map(|rank| rank.to_string()),
    };
    let hands = hand.players().zip(&end.hands);
    Report {
        variant: variant.id,
        complete: true,
        settlement: end.lines.iter().map(ToString::to_string).collect(),
        winners: end.winners.iter().map(|player| player.to_string()).collect(),
        finishing_stacks: end.finishing_stacks.iter().map(|stack| stack.get()).collect(),
        finishing_sabacc_pot: end.finishing_sabacc_pot.get(),
        finishing_carried_pot: variant.has_carried_pot.then_some(carried),
        rake: end.rake.get(),
        hands: hands.map(|(player, held)| final_hand(player, held)).collect(),
        next: None,
    }
}

fn unfinished(hand: &Hand) -> Report {
    let variant = hand.rules().variant();
    let View { players, sabacc_pot, carried_pot, .. } = view(hand, Viewer::Auditor);
    // Without bets there is no folding: players who are out were eliminated, or left.
    let folds = variant.has_betting();
    let final_hand = |player: Player, place: &rules::PlayerView| {
        let rank = match (place.status, folds) {
            (Status::Out, true) => Some("folded"),
            (Status::Out, false) if place.has_left => Some("left"),
            (Status::Out | Status::Live | Status::AllIn, _) => None,
        };
        FinalHand {
            player: player.to_string(),
            cards: codes(hand, hand.cards_of(player)),
            rank: rank.map(str::to_owned),
        }
    };
    let hands = hand.players().zip(&players);
    Report {
        variant: variant.id,
        complete: false,
        settlement: hand.lines().iter().map(ToString::to_string).collect(),
        winners: Vec::new(),
        finishing_stacks: hand.stacks().map(primitives::Credits::get).collect(),
        finishing_sabacc_pot: sabacc_pot.get(),
        finishing_carried_pot: variant.has_carried_pot.then_some(carried_pot.get()),
        rake: 0,
        hands: hands.map(|(player, place)| final_hand(player, place)).collect(),
        next: next_line(hand),
    }
}

fn next_line(hand: &Hand) -> Option<NextLine> {
    let deck = hand.rules().variant().deck;
    match next(hand) {
        Next::Chance(due) => {
            let legal = due.first().map(|due| due.line_prefix(deck)).into_iter().collect();
            Some(NextLine { actor: "d".to_owned(), legal })
        }
        Next::Decision(decision) => {
            let mut legal = Vec::with_capacity(decision.legal.len() + 1);
            for kind in &decision.legal {
                legal.push(kind.text(deck));
                // Naming no card is a line of its own.
                if let Choices::AnyCards(_) = kind.choices {
                    legal.push(kind.verb().to_owned());
                }
            }
            Some(NextLine { actor: decision.player.to_string(), legal })
        }
        Next::Done(_) => None,
    }
}

impl Report {
    /// Writes one line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("text and numbers always have a JSON form")
    }

    /// Writes several lines for people, each with its line feed. `players` are names, p1 first.
    #[must_use]
    pub fn to_text(&self, players: &[String]) -> String {
        let mut text = String::new();
        self.write_words(players, &mut text).expect("a String takes everything");
        text
    }

    fn write_words(&self, players: &[String], text: &mut String) -> std::fmt::Result {
        let name = |at: usize| players.get(at).map_or("", String::as_str);
        let title = rules::variant(self.variant).map_or(self.variant, |variant| variant.title);
        writeln!(text, "{title}, {} players", self.hands.len())?;
        for line in &self.settlement {
            writeln!(text, "  {line}")?;
        }
        writeln!(text, "{}", if self.complete { "finishing stacks" } else { "stacks so far" })?;
        for (at, stack) in self.finishing_stacks.iter().enumerate() {
            writeln!(text, "  p{} {}: {stack}", at + 1, name(at))?;
        }
        write!(text, "sabacc pot {}", self.finishing_sabacc_pot)?;
        if let Some(carried) = self.finishing_carried_pot {
            write!(text, ", carried pot {carried}")?;
        }
        writeln!(text, ", rake {}", self.rake)?;
        writeln!(text, "hands")?;
        for (at, FinalHand { player, cards, rank }) in self.hands.iter().enumerate() {
            let rank = rank.as_deref().unwrap_or("not shown");
            writeln!(text, "  {player} {}: {} ({rank})", name(at), cards.join(" "))?;
        }
        match (&self.next, self.winners.as_slice()) {
            (Some(NextLine { actor, legal }), _) => {
                writeln!(text, "not over: {actor} is next: {}", legal.join(", "))
            }
            (None, []) => writeln!(text, "nobody won the main pot"),
            (None, winners) => writeln!(text, "won by {}", winners.join(", ")),
        }
    }
}
