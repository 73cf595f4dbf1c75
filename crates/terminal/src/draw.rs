//! Cells: text, grounds, keys and frames, cut at the edge of what there is.

pub(crate) mod card;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::colour::{Background, Palette, Tone};

/// Buffer to draw in, with the colours to draw with.
pub(crate) struct Canvas<'a> {
    buffer: &'a mut Buffer,
    pub(crate) palette: Palette,
}

impl<'a> Canvas<'a> {
    pub(crate) fn new(buffer: &'a mut Buffer, palette: Palette) -> Canvas<'a> {
        Canvas { buffer, palette }
    }

    pub(crate) fn area(&self) -> Rect {
        self.buffer.area
    }

    pub(crate) fn ink(&self, tone: Tone) -> Style {
        self.palette.ink(tone)
    }

    pub(crate) fn bold(&self, tone: Tone) -> Style {
        self.palette.ink(tone).add_modifier(Modifier::BOLD)
    }

    /// Writes a text at the left of an area's first row. Returns the column after it.
    pub(crate) fn text(&mut self, area: Rect, text: &str, style: Style) -> u16 {
        let area = area.intersection(self.buffer.area);
        if area.is_empty() {
            return area.x;
        }
        let width = usize::from(area.width);
        self.buffer.set_stringn(area.x, area.y, text, width, style).0
    }

    /// Writes spans at the left of an area's first row.
    pub(crate) fn spans(&mut self, area: Rect, spans: Vec<Span<'_>>) {
        let area = area.intersection(self.buffer.area);
        if !area.is_empty() {
            self.buffer.set_line(area.x, area.y, &Line::from(spans), area.width);
        }
    }

    /// Writes a text at the right of an area's first row. Returns the column that it begins in.
    pub(crate) fn text_right(&mut self, area: Rect, text: &str, style: Style) -> u16 {
        let width = text_width(text).min(area.width);
        let x = area.right().saturating_sub(width);
        self.text(Rect { x, width, ..area }, text, style);
        x
    }

    /// Writes a text in the middle of an area's first row.
    pub(crate) fn text_centred(&mut self, area: Rect, text: &str, style: Style) {
        let width = text_width(text).min(area.width);
        let x = area.x + (area.width - width) / 2;
        self.text(Rect { x, width, ..area }, text, style);
    }

    /// Empties an area, and gives it a ground.
    pub(crate) fn fill(&mut self, area: Rect, style: Style) {
        for position in area.intersection(self.buffer.area).positions() {
            if let Some(cell) = self.buffer.cell_mut(position) {
                cell.reset();
                cell.set_style(style);
            }
        }
    }

    /// Gives an area a ground, and leaves its text.
    pub(crate) fn tint(&mut self, area: Rect, style: Style) {
        self.buffer.set_style(area.intersection(self.buffer.area), style);
    }

    /// Fills an area with one sign.
    pub(crate) fn pattern(&mut self, area: Rect, sign: &str, style: Style) {
        for position in area.intersection(self.buffer.area).positions() {
            if let Some(cell) = self.buffer.cell_mut(position) {
                cell.set_symbol(sign);
                cell.set_style(style);
            }
        }
    }

    fn sign(&mut self, x: u16, y: u16, sign: &str, style: Style) {
        if let Some(cell) = self.buffer.cell_mut(Position { x, y }) {
            cell.set_symbol(sign);
            cell.set_style(style);
        }
    }

    /// Draws a frame with round corners around the edge of an area.
    pub(crate) fn frame(&mut self, area: Rect, style: Style) {
        let area = area.intersection(self.buffer.area);
        if area.width < 2 || area.height < 2 {
            return;
        }
        let (left, right) = (area.x, area.right() - 1);
        let (top, bottom) = (area.y, area.bottom() - 1);
        for x in left + 1..right {
            self.sign(x, top, "─", style);
            self.sign(x, bottom, "─", style);
        }
        for y in top + 1..bottom {
            self.sign(left, y, "│", style);
            self.sign(right, y, "│", style);
        }
        for (x, y, corner) in
            [(left, top, "╭"), (right, top, "╮"), (left, bottom, "╰"), (right, bottom, "╯")]
        {
            self.sign(x, y, corner, style);
        }
    }

    /// Draws a key with its label. Returns the column after both.
    pub(crate) fn key(&mut self, area: Rect, key: &str, label: &str, tone: Tone) -> u16 {
        let cap = self.palette.background(Background::Key).add_modifier(Modifier::BOLD);
        let x = self.text(area, &format!(" {key} "), cap);
        let rest = after(area, x);
        let style = self.ink(tone);
        self.text(rest, &format!(" {label}"), style)
    }

    /// Draws a key of the footer, quieter. Returns the column after it.
    pub(crate) fn quiet_key(&mut self, area: Rect, key: &str, label: &str) -> u16 {
        let style = self.bold(Tone::Accent);
        let x = self.text(area, key, style);
        let style = self.ink(Tone::Soft);
        self.text(after(area, x), &format!(" {label}"), style)
    }

    /// Draws a bar that is filled to `permille` of its width.
    pub(crate) fn bar(&mut self, area: Rect, permille: u64, tone: Tone) {
        let eighths = u64::from(area.width) * 8 * permille.min(1000) / 1000;
        let style = self.ink(tone);
        let faint = self.ink(Tone::Faint);
        for column in 0..area.width {
            let x = area.x + column;
            let filled = eighths.saturating_sub(u64::from(column) * 8).min(8);
            let sign = ["┄", "╍", "╍", "╍", "━", "━", "━", "━", "━"];
            let sign = sign[usize::try_from(filled).unwrap_or(8)];
            let is_on = filled > 0;
            self.text(Rect { x, width: 1, ..area }, sign, if is_on { style } else { faint });
        }
    }
}

/// Columns that a text takes.
pub(crate) fn text_width(text: &str) -> u16 {
    u16::try_from(Span::raw(text).width()).unwrap_or(u16::MAX)
}

/// The row of an area, counted from its top; empty below its bottom.
pub(crate) fn row(area: Rect, number: u16) -> Rect {
    if number >= area.height {
        return Rect { height: 0, ..area };
    }
    Rect { y: area.y + number, height: 1, ..area }
}

/// Rows of an area from `from` on.
pub(crate) fn rows(area: Rect, from: u16, height: u16) -> Rect {
    let from = from.min(area.height);
    Rect { y: area.y + from, height: height.min(area.height - from), ..area }
}

/// Part of an area that begins in a column.
pub(crate) fn after(area: Rect, x: u16) -> Rect {
    let x = x.clamp(area.x, area.right());
    Rect { x, width: area.right() - x, ..area }
}

/// Area without `by` columns at both sides.
pub(crate) fn inset(area: Rect, by: u16) -> Rect {
    let by = by.min(area.width / 2);
    Rect { x: area.x + by, width: area.width - 2 * by, ..area }
}
