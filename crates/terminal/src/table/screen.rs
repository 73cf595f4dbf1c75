//! Layout of a table: from 40 × 14 to as wide as a terminal is.
//!
//! A narrow one has the players in rows above the felt, and the log under one's own hand. A wide one
//! has them around the felt, and the log at the right.

use primitives::UnixMicros;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Form, TableScreen};
use crate::colour::{Background, Palette, Tone};
use crate::draw::{Canvas, inset, row, rows};

/// Least columns and rows.
const SMALLEST: (u16, u16) = (40, 14);
/// Columns and rows from which the players sit around the felt.
const WIDE: (u16, u16) = (112, 34);
/// Columns of the log in a wide terminal.
const LOG_COLUMNS: u16 = 42;

/// Places of the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) header: Rect,
    /// Players, in rows; the whole felt in a wide terminal.
    pub(super) places: Rect,
    pub(super) place_columns: u16,
    pub(super) place_rows: u16,
    pub(super) centre: Rect,
    pub(super) own: Rect,
    pub(super) moves: Rect,
    pub(super) log: Rect,
    pub(super) footer: Rect,
    pub(super) is_wide: bool,
}

/// Places the parts; none where there is too little room.
pub(super) fn layout(area: Rect, others: usize, has_own: bool) -> Option<Layout> {
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        return None;
    }
    let header = row(area, 0);
    let footer = row(area, area.height - 1);
    let body = rows(area, 1, area.height - 2);
    if area.width >= WIDE.0 && area.height >= WIDE.1 {
        return Some(wide(body, has_own, header, footer));
    }
    let columns = match area.width {
        ..54 => 2,
        54..72 => 3,
        _ => 4,
    };
    let others = u16::try_from(others.max(1)).unwrap_or(u16::MAX);
    let place_rows = others.div_ceil(columns);
    let has_height = area.height >= 24;
    let (centre_height, own_height) = if has_height { (5, 5) } else { (2, 3) };
    let own_height = if has_own { own_height } else { 0 };
    let moves_height = if has_own { 3 } else { 1 };
    let rest = body.height.saturating_sub(centre_height + own_height + moves_height);
    let wanted = match place_rows {
        1 if has_height => 4,
        1 => 3,
        2 if has_height => 3,
        _ => 2,
    };
    let place_height = wanted.min(rest / place_rows).max(1);
    let mut from = 0;
    let mut take = |height: u16| {
        let part = rows(body, from, height);
        from += part.height;
        part
    };
    let places = take((place_height * place_rows).min(rest));
    let centre = take(centre_height);
    let own = take(own_height);
    let moves = take(moves_height);
    let log = take(u16::MAX);
    let place_columns = columns.min(others.div_ceil(place_rows));
    let is_wide = false;
    Some(Layout {
        header,
        places,
        place_columns,
        place_rows,
        centre,
        own,
        moves,
        log,
        footer,
        is_wide,
    })
}

fn wide(body: Rect, has_own: bool, header: Rect, footer: Rect) -> Layout {
    let log = Rect { x: body.right() - LOG_COLUMNS, width: LOG_COLUMNS, ..body };
    let felt = Rect { width: body.width - LOG_COLUMNS, ..body };
    let own_height = if has_own { 7 } else { 0 };
    let moves_height = if has_own { 4 } else { 1 };
    let places = rows(felt, 0, felt.height - own_height - moves_height);
    Layout {
        header,
        places,
        place_columns: 0,
        place_rows: 0,
        centre: places,
        own: rows(felt, places.height, own_height),
        moves: rows(felt, places.height + own_height, moves_height),
        log,
        footer,
        is_wide: true,
    }
}

impl TableScreen {
    /// Draws the table as it is at `now`.
    pub fn draw(&self, buffer: &mut Buffer, palette: Palette, now: UnixMicros) {
        let mut canvas = Canvas::new(buffer, palette);
        let area = canvas.area();
        canvas.fill(area, palette.background(Background::Screen).patch(palette.ink(Tone::Plain)));
        let others = self.others().len();
        let has_own = self.is_player && (self.is_seated() || self.can_sit_down());
        let Some(layout) = layout(area, others, has_own) else {
            let text =
                format!("This needs {} × {} cells: widen the window", SMALLEST.0, SMALLEST.1);
            canvas.text(area, &text, palette.ink(Tone::Warn));
            return;
        };
        self.draw_felt(&mut canvas, &layout);
        self.draw_header(&mut canvas, &layout, now);
        if layout.is_wide {
            self.draw_ring(&mut canvas, layout.places, now);
        } else {
            self.draw_places(&mut canvas, &layout, now);
            self.draw_centre(&mut canvas, inset(layout.centre, 1));
        }
        self.draw_own(&mut canvas, &layout, now);
        self.draw_log(&mut canvas, &layout);
        self.draw_moves(&mut canvas, &layout);
        self.draw_footer(&mut canvas, layout.footer);
        if matches!(self.form, Form::Help) {
            self.draw_help(&mut canvas, area);
        }
        if matches!(self.form, Form::Proofs) {
            self.draw_proofs(&mut canvas, area);
        }
    }

    /// Gives places and centre the ground of the table, and the rest that of a panel.
    fn draw_felt(&self, canvas: &mut Canvas<'_>, layout: &Layout) {
        let felt = if layout.is_wide { layout.places } else { layout.places.union(layout.centre) };
        for number in 0..felt.height {
            let style = canvas.palette.felt(number, felt.height);
            canvas.tint(row(felt, number), style);
        }
        let raised = canvas.palette.background(Background::Raised);
        for bar in [layout.header, layout.footer] {
            canvas.tint(bar, raised);
        }
        if layout.is_wide {
            canvas.tint(layout.log, raised);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts lie in the window, and none over another, at every size and number of players.
    #[test]
    fn parts_fit_and_do_not_overlap() {
        for (width, height) in [(40, 14), (60, 20), (80, 24), (100, 30), (120, 40), (160, 50)] {
            for others in 0..9 {
                for has_own in [false, true] {
                    let area = Rect::new(0, 0, width, height);
                    let layout = layout(area, others, has_own).unwrap();
                    let centre = if layout.is_wide { Rect::ZERO } else { layout.centre };
                    let parts = [
                        layout.header,
                        layout.places,
                        centre,
                        layout.own,
                        layout.moves,
                        layout.log,
                        layout.footer,
                    ];
                    for (at, part) in parts.iter().enumerate() {
                        assert_eq!(part.intersection(area), *part, "{width}x{height} {others}");
                        for other in &parts[..at] {
                            assert!(part.intersection(*other).is_empty(), "{part} {other}");
                        }
                    }
                    assert!(!has_own || layout.moves.height > 0, "{width}x{height} {others}");
                }
            }
        }
        assert_eq!(layout(Rect::new(0, 0, 39, 24), 4, true), None);
    }
}
