//! Middle of the felt: phase, pots, and what the game lays there.

use ratatui::layout::Rect;
use ratatui::text::Span;

use super::TableScreen;
use crate::colour::Tone;
use crate::draw::card::{self, Card, SMALL};
use crate::draw::{Canvas, after, row, rows, text_width};
use crate::games::{self, Thing};
use crate::text::{credits, cut};

/// Signs of the six faces of a die.
const DICE: [&str; 6] = ["⚀", "⚁", "⚂", "⚃", "⚄", "⚅"];

impl TableScreen {
    /// Pots with their names, the hand's first.
    fn pots(&self) -> Vec<(&'static str, u64)> {
        let view = self.state.view();
        let is_over = !self.state.is_hand_in_play();
        let standing = self.state.standing().filter(|_| !is_over);
        let mut pots = Vec::new();
        if let Some(standing) = standing {
            let is_kessel = view.variant == "kessel";
            let name = if is_kessel { "Credits pot" } else { "Hand pot" };
            pots.push((name, standing.hand_pot_credits));
        }
        let sabacc = standing.map_or(view.sabacc_pot_credits, |it| it.sabacc_pot_credits);
        if sabacc > 0 || games::field(&self.state, "sabacc_ante").is_some() {
            pots.push(("Sabacc pot", sabacc));
        }
        let carried = standing.map_or(view.carried_pot_credits, |it| it.carried_pot_credits);
        if carried > 0 {
            pots.push(("Carried", carried));
        }
        pots
    }

    pub(super) fn draw_centre(&self, canvas: &mut Canvas<'_>, area: Rect) {
        if area.is_empty() {
            return;
        }
        let is_high = area.height >= 9;
        let phase = cut(&self.phase(), usize::from(area.width));
        let things = self.things();
        if is_high {
            let top = (area.height - 9) / 2;
            canvas.text_centred(row(area, top), &phase, canvas.ink(Tone::Soft));
            let width: u16 = things.iter().map(|it| thing_width(it) + 2).sum();
            let width = width.saturating_sub(2).min(area.width);
            let x = area.x + (area.width - width) / 2;
            let place = Rect { x, width, ..rows(area, top + 2, 4) };
            self.draw_things(canvas, place, &things);
            self.draw_pots_centred(canvas, rows(area, top + 7, 2));
            return;
        }
        let below = rows(area, 1, area.height);
        let pots = self.draw_pots(canvas, area);
        let phase = cut(&phase, usize::from(area.width.saturating_sub(pots + 2)));
        canvas.text(row(area, 0), &phase, canvas.ink(Tone::Soft));
        let room = Rect { width: below.width.saturating_sub(pots + 2), ..below };
        if room.height >= 4 {
            self.draw_things(canvas, room, &things);
        } else {
            let words = things.iter().filter_map(thing_words).collect::<Vec<_>>().join(" · ");
            canvas.text(row(room, 0), &words, canvas.ink(Tone::Soft));
        }
    }

    fn things(&self) -> Vec<Thing> {
        if self.state.hand().is_none() {
            return Vec::new();
        }
        games::centre(&self.state, &self.last, &|seat| self.plain_name(seat))
    }

    /// Draws the pots at the right. Returns the columns that they take.
    fn draw_pots(&self, canvas: &mut Canvas<'_>, area: Rect) -> u16 {
        let mut width = 0;
        for (number, (name, amount)) in (0..).zip(self.pots()) {
            let line = row(area, number);
            let amount = credits(amount);
            let style =
                if number == 0 { canvas.bold(Tone::Accent) } else { canvas.ink(Tone::Money) };
            let from = canvas.text_right(line, &format!("{amount:>7}"), style);
            let rest = Rect { width: from.saturating_sub(line.x + 1), ..line };
            canvas.text_right(rest, name, canvas.ink(Tone::Soft));
            width = width.max(text_width(name) + 9);
        }
        width
    }

    fn draw_pots_centred(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let mut spans = Vec::new();
        for (number, (name, amount)) in self.pots().into_iter().enumerate() {
            if number > 0 {
                spans.push(Span::styled("    ", canvas.ink(Tone::Faint)));
            }
            let style =
                if number == 0 { canvas.bold(Tone::Accent) } else { canvas.bold(Tone::Money) };
            spans.push(Span::styled(format!("{name} "), canvas.ink(Tone::Soft)));
            spans.push(Span::styled(credits(amount), style));
        }
        let width: usize = spans.iter().map(Span::width).sum();
        let width = u16::try_from(width).unwrap_or(u16::MAX).min(area.width);
        let x = area.x + (area.width - width) / 2;
        canvas.spans(Rect { x, width, ..row(area, 0) }, spans);
    }

    fn draw_things(&self, canvas: &mut Canvas<'_>, area: Rect, things: &[Thing]) {
        let mut place = area;
        for thing in things {
            let width = thing_width(thing);
            if place.width < width {
                break;
            }
            self.draw_thing(canvas, Rect { width, ..place }, thing);
            place = after(place, place.x + width + 2);
        }
    }

    fn draw_thing(&self, canvas: &mut Canvas<'_>, area: Rect, thing: &Thing) {
        let deck = games::deck(&self.state.view().variant);
        let x = area.x + area.width.saturating_sub(SMALL.0) / 2;
        let card_area = Rect { x, width: SMALL.0, height: SMALL.1, ..area };
        let drawn =
            |code| Card { code, deck, is_locked: false, is_chosen: false, is_proved: false };
        let label = match thing {
            Thing::Pile(label) => {
                card::draw(canvas, card_area, SMALL, &drawn(""));
                label
            }
            Thing::Card { label, code } => {
                card::draw(canvas, card_area, SMALL, &drawn(code));
                label
            }
            Thing::Empty(label) => {
                canvas.frame(card_area, canvas.ink(Tone::Faint));
                label
            }
            Thing::Dice { label, values, is_hot } => {
                let tone = if *is_hot { Tone::Accent } else { Tone::Plain };
                canvas.text_centred(row(area, 1), &dice_text(values), canvas.bold(tone));
                label
            }
            Thing::Words { label, text, tone } => {
                canvas.text_centred(row(area, 1), text, canvas.bold(*tone));
                label
            }
        };
        canvas.text_centred(row(area, 3), label, canvas.ink(Tone::Soft));
    }
}

fn dice_text(values: &[u32]) -> String {
    let face = |value: &u32| {
        let at = usize::try_from(*value).unwrap_or(0).wrapping_sub(1);
        DICE.get(at).map_or_else(|| value.to_string(), |face| format!("{face} {value}"))
    };
    values.iter().map(face).collect::<Vec<_>>().join("  ")
}

fn thing_width(thing: &Thing) -> u16 {
    let (label, inner) = match thing {
        Thing::Pile(label) | Thing::Empty(label) | Thing::Card { label, .. } => (label, SMALL.0),
        Thing::Dice { label, values, .. } => (label, text_width(&dice_text(values))),
        Thing::Words { label, text, .. } => (label, text_width(text)),
    };
    text_width(label).max(inner)
}

/// A thing in words, where there is no room to draw it.
fn thing_words(thing: &Thing) -> Option<String> {
    match thing {
        Thing::Pile(_) | Thing::Empty(_) => None,
        Thing::Card { label, code } => Some(format!("{label} {code}")),
        Thing::Dice { label, values, .. } => Some(format!("{} {label}", dice_text(values))),
        Thing::Words { label, text, .. } => Some(format!("{label} {text}")),
    }
}
