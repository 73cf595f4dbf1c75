//! Updates in words for the log: a line each, in the second person where the viewer is meant.

use client::TableState;
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use ratatui::style::Modifier;
use ratatui::text::Span;

use crate::cards::Deck;
use crate::colour::Tone;
use crate::draw::Canvas;
use crate::draw::card::{self, Card};
use crate::text::{capital, clean, wrapped};

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Happening {
    pub(super) text: String,
    pub(super) tone: Tone,
    pub(super) is_strong: bool,
}

/// Reads an update that was applied; none for one without interest for players.
pub(super) fn read(
    state: &TableState,
    update: &pb::TableUpdate,
    name: &dyn Fn(u32) -> String,
) -> Option<Happening> {
    let text = client::describe_with(update, name)?;
    let text = capital(&in_second_person(&clean(&text)));
    let (tone, is_strong) = match update.what.as_ref()? {
        What::HandStarted(_) => (Tone::Plain, true),
        What::HandEnded(_) => (Tone::Money, false),
        What::Voided(_) | What::Suspension(_) | What::Closed(_) | What::Stopped(_) => {
            (Tone::Bad, false)
        }
        What::Disabled(_) => (Tone::Warn, false),
        What::Action(action) if action.decision.is_none() => (Tone::Faint, false),
        What::Action(action) => {
            let mine = state.my_seat().is_some_and(|own| own.seat == action.seat);
            (if mine { Tone::Accent } else { Tone::Soft }, false)
        }
        What::Seat(_) => (Tone::Faint, false),
        What::NextHand(_) | What::Entropy(_) | What::Seed(_) => (Tone::Faint, false),
    };
    Some(Happening { text, tone, is_strong })
}

/// Bends the verb after each `You`.
fn in_second_person(text: &str) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for at in 1..words.len() {
        if words[at - 1] == "You" {
            let bent = match &*words[at] {
                "is" => "are",
                "has" => "have",
                "matches" => "match",
                verb => verb.strip_suffix('s').unwrap_or(verb),
            };
            words[at] = bent.to_owned();
        }
    }
    words.join(" ")
}

/// Lines of a happening, the cards in it drawn as cards.
pub(super) fn lines(
    canvas: &Canvas<'_>,
    happening: &Happening,
    deck: Option<Deck>,
    width: usize,
) -> Vec<Vec<Span<'static>>> {
    let style = canvas.ink(happening.tone);
    let style = if happening.is_strong { style.add_modifier(Modifier::BOLD) } else { style };
    let mut lines = Vec::new();
    for (number, line) in wrapped(&happening.text, width).iter().enumerate() {
        let mut spans = Vec::new();
        if number > 0 && width > 20 {
            spans.push(Span::raw(""));
        }
        for (at, word) in line.split(' ').enumerate() {
            if at > 0 {
                spans.push(Span::styled(" ", style));
            }
            spans.extend(word_spans(canvas, word, deck, style));
        }
        lines.push(spans);
    }
    lines
}

/// A word; a card's code as the card.
fn word_spans(
    canvas: &Canvas<'_>,
    word: &str,
    deck: Option<Deck>,
    style: ratatui::style::Style,
) -> Vec<Span<'static>> {
    let core = word.trim_matches(|letter| matches!(letter, '(' | ')' | ',' | ';' | ':' | '.'));
    let is_card = core == wire::moves::HIDDEN || deck.is_some_and(|deck| deck.read(core).is_some());
    let Some((before, rest)) = word.split_once(core).filter(|_| is_card) else {
        return vec![Span::styled(word.to_owned(), style)];
    };
    let drawn = Card { code: core, deck, is_locked: false, is_chosen: false, is_proved: false };
    vec![
        Span::styled(before.to_owned(), style),
        card::word(canvas, &drawn),
        Span::styled(rest.to_owned(), style),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_agree_with_you() {
        assert_eq!(in_second_person("You bets 20 · pot 120"), "You bet 20 · pot 120");
        assert_eq!(in_second_person("hand 7 is over: You wins 5"), "hand 7 is over: You win 5");
        assert_eq!(in_second_person("You is dealt S15"), "You are dealt S15");
        assert_eq!(in_second_person("You matches"), "You match");
        assert_eq!(in_second_person("Lando bets 20"), "Lando bets 20");
    }
}
