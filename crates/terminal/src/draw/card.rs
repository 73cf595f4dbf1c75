//! Cards in three sizes: large in one's own hand, small on the felt, and as one word.

use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Span;

use super::Canvas;
use crate::cards::{Deck, Face};
use crate::colour::{Background, Tone};

/// Columns and rows of a large card.
pub(crate) const LARGE: (u16, u16) = (7, 5);
/// Columns and rows of a small card.
pub(crate) const SMALL: (u16, u16) = (5, 3);

/// Card to draw.
pub(crate) struct Card<'a> {
    pub(crate) code: &'a str,
    pub(crate) deck: Option<Deck>,
    /// In the field, face up.
    pub(crate) is_locked: bool,
    /// Chosen in a form.
    pub(crate) is_chosen: bool,
    /// Proved to lie in a shuffle that was committed to.
    pub(crate) is_proved: bool,
}

impl Card<'_> {
    fn face(&self) -> Option<Face> {
        self.deck.and_then(|deck| deck.read(self.code))
    }

    fn is_hidden(&self) -> bool {
        self.code.is_empty() || self.code == wire::moves::HIDDEN
    }
}

/// Draws a card of a size at the top left of an area.
pub(crate) fn draw(canvas: &mut Canvas<'_>, area: Rect, size: (u16, u16), card: &Card<'_>) {
    let area = Rect { width: size.0.min(area.width), height: size.1.min(area.height), ..area };
    if card.is_hidden() {
        return draw_back(canvas, area);
    }
    let tone = card.face().map_or(Tone::Plain, |face| face.tone);
    let has_backgrounds = canvas.palette.has_backgrounds();
    let ink = if has_backgrounds { canvas.palette.card_ink(tone) } else { canvas.ink(tone) };
    let ink = ink.add_modifier(Modifier::BOLD);
    canvas.fill(area, if has_backgrounds { ink } else { canvas.ink(Tone::Plain) });
    let inner = if has_backgrounds || area.height < 3 {
        area
    } else {
        canvas.frame(area, canvas.ink(Tone::Soft));
        Rect {
            x: area.x + 1,
            y: area.y + 1,
            width: area.width.saturating_sub(2),
            height: area.height.saturating_sub(2),
        }
    };
    write_face(canvas, inner, card, ink);
    if card.is_locked {
        let style = canvas.ink(Tone::Cold).add_modifier(Modifier::BOLD);
        let style = if has_backgrounds {
            canvas.palette.background(Background::Card).patch(style)
        } else {
            style
        };
        let edge = Rect { width: 1, ..area };
        canvas.pattern(edge, "▌", style);
    }
    if card.is_proved && area.height >= 3 {
        // At the foot: on the card, or on the edge of one that is only a frame.
        let tone = Tone::Good;
        let style = if has_backgrounds { canvas.palette.card_ink(tone) } else { canvas.ink(tone) };
        let foot = super::row(area, area.height - 1);
        canvas.text(Rect { x: foot.x + 1, width: foot.width.min(1), ..foot }, "✓", style);
    }
    if card.is_chosen {
        let style = canvas.palette.background(Background::Key);
        canvas.tint(area, style);
    }
}

fn write_face(canvas: &mut Canvas<'_>, inner: Rect, card: &Card<'_>, ink: ratatui::style::Style) {
    let Some(Face { value, sign, word, .. }) = card.face() else {
        canvas.text_centred(super::row(inner, inner.height / 2), card.code, ink);
        return;
    };
    let last = inner.height.saturating_sub(1);
    let corner = format!("{value}{sign}");
    let inner = super::inset(inner, if inner.width > 5 { 1 } else { 0 });
    match inner.height {
        0 => {}
        1 => canvas.text_centred(super::row(inner, 0), &corner, ink),
        _ => {
            canvas.text(super::row(inner, 0), &corner, ink);
            let quiet = ink.remove_modifier(Modifier::BOLD);
            if word.is_empty() {
                if inner.height > 2 {
                    canvas.text_centred(super::row(inner, last / 2), &sign.to_string(), ink);
                }
            } else {
                canvas.text_centred(super::row(inner, last.div_ceil(2)), word, quiet);
            }
            if inner.height > 3 || word.is_empty() && inner.height > 1 {
                canvas.text_right(super::row(inner, last), &corner, quiet);
            }
        }
    }
}

fn draw_back(canvas: &mut Canvas<'_>, area: Rect) {
    let style = canvas.palette.background(Background::Back);
    canvas.fill(area, style);
    if canvas.palette.has_backgrounds() {
        canvas.pattern(area, "░", style);
    } else {
        canvas.pattern(area, "▒", canvas.ink(Tone::Faint));
    }
}

/// Width of cards that lie over each other so that they fit: columns from one to the next.
pub(crate) fn step(width: u16, size: (u16, u16), count: usize) -> u16 {
    let count = u16::try_from(count).unwrap_or(u16::MAX);
    if count < 2 {
        return size.0 + 1;
    }
    (width.saturating_sub(size.0) / (count - 1)).clamp(1, size.0 + 1)
}

/// A card as one word on its ground, such as `15†`.
pub(crate) fn word(canvas: &Canvas<'_>, card: &Card<'_>) -> Span<'static> {
    if card.is_hidden() {
        return if canvas.palette.has_backgrounds() {
            Span::styled("░░", canvas.palette.background(Background::Back))
        } else {
            Span::styled("▒▒", canvas.ink(Tone::Faint))
        };
    }
    let face = card.face();
    let tone = face.as_ref().map_or(Tone::Plain, |face| face.tone);
    let text = face.map_or_else(|| card.code.to_owned(), |face| face.short());
    let style = if canvas.palette.has_backgrounds() {
        canvas.palette.card_ink(tone)
    } else {
        canvas.ink(tone)
    };
    let style = if card.is_locked { style.add_modifier(Modifier::UNDERLINED) } else { style };
    Span::styled(text, style.add_modifier(Modifier::BOLD))
}
