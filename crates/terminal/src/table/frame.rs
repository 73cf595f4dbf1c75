//! Frame of the felt: header, log, footer, and the list of keys.

use primitives::UnixMicros;
use proto::table::v1 as pb;
use ratatui::layout::Rect;
use ratatui::text::Span;

use super::screen::Layout;
use super::{Connection, TableScreen, happenings};
use crate::colour::{Background, Tone};
use crate::draw::{Canvas, after, inset, row, rows, text_width};
use crate::games;
use crate::text::{clean, credits, cut};

impl TableScreen {
    pub(super) fn draw_header(&self, canvas: &mut Canvas<'_>, layout: &Layout, now: UnixMicros) {
        let area = inset(layout.header, 1);
        let view = self.state.view();
        let (sign, text, tone) = match self.connection {
            Connection::Live => ("●", "live".to_owned(), Tone::Good),
            Connection::CatchingUp => ("◌", "catching up".to_owned(), Tone::Warn),
            Connection::Lost(since) => {
                let seconds = now.since(since).as_secs();
                ("○", format!("no connection for {seconds} s"), Tone::Bad)
            }
        };
        let state = format!("{sign} {text}");
        let from = canvas.text_right(area, &state, canvas.ink(tone));
        let area = Rect { width: from.saturating_sub(area.x + 1), ..area };
        let brand = canvas.text(area, "SABACC", canvas.bold(Tone::Accent));
        let name =
            canvas.text(after(area, brand + 2), &clean(&view.name), canvas.bold(Tone::Plain));
        let title = games::title(&view.variant);
        canvas.text(after(area, name + 2), title, canvas.ink(Tone::Soft));
    }

    /// Words for the state of the table: phase and round, or what it waits for.
    pub(super) fn phase(&self) -> String {
        let view = self.state.view();
        if view.closed || self.state.is_closed() {
            return "The table is closed".to_owned();
        }
        if let Some(entropy) = &view.entropy {
            let what = if entropy.closed { "open their part in" } else { "take part in" };
            return format!("Hand {}: players {what} chance", entropy.hand_no);
        }
        let Some(hand) = self.state.hand() else {
            let waits = if view.seats.len() < 2 { "Waiting for players" } else { "Between hands" };
            return waits.to_owned();
        };
        if hand.phase() == pb::HandPhase::Over {
            return format!("Hand {} is over", hand.hand_no);
        }
        let mut parts = vec![format!("Hand {}", hand.hand_no)];
        if hand.round > 0 {
            parts.push(format!("round {}", hand.round));
        }
        parts.push(clean(&hand.phase_text));
        if hand.called_by > 0 {
            parts.push(format!("called by {}", self.plain_name(hand.called_by)));
        }
        parts.join(" · ")
    }

    pub(super) fn draw_log(&self, canvas: &mut Canvas<'_>, layout: &Layout) {
        let mut area = inset(layout.log, 1);
        if layout.is_wide {
            let title = if self.scroll > 0 { "LOG  ↑ earlier" } else { "LOG" };
            canvas.text(row(area, 0), title, canvas.ink(Tone::Faint));
            area = inset(rows(area, 2, area.height), 0);
        }
        let deck = games::deck(&self.state.view().variant);
        let width = usize::from(area.width);
        let mut lines: Vec<Vec<Span<'static>>> = Vec::new();
        let shown = self.log.len().saturating_sub(self.scroll);
        for happening in self.log[..shown].iter().rev() {
            if lines.len() >= usize::from(area.height) {
                break;
            }
            let drawn = happenings::lines(canvas, happening, deck, width);
            lines.extend(drawn.into_iter().rev());
        }
        lines.truncate(usize::from(area.height));
        let height = u16::try_from(lines.len()).unwrap_or(area.height);
        for (number, line) in (0..height).rev().zip(lines) {
            canvas.spans(row(area, number), line);
        }
    }

    pub(super) fn draw_footer(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let mut left = inset(area, 1);
        let mut keys: Vec<(&str, &str)> = Vec::new();
        if self.is_seated() {
            keys.push(("O", if self.is_sitting_out() { "come back" } else { "sit out" }));
            match self.top_up {
                Some(_) => keys.push(("T", "do not top up")),
                None if self.top_up_bounds().is_some() => keys.push(("T", "top up")),
                None => {}
            }
            keys.push(("L", "leave"));
        } else if self.can_sit_down() {
            keys.push(("Enter", "sit down"));
        }
        if self.can_agree() {
            keys.push(("V", "agree to end the hand"));
        }
        if self.proofs_shown().is_some() {
            keys.push(("P", "proofs"));
        }
        keys.extend([("↑↓", "log"), ("?", "keys"), ("q", "quit")]);
        for (key, label) in keys {
            let x = canvas.quiet_key(left, key, label);
            left = after(left, x + 3);
        }
        if let Some(balance) = self.balance {
            let text = format!("account {}", credits(balance));
            if text_width(&text) + 2 < left.width {
                canvas.text_right(left, &text, canvas.ink(Tone::Faint));
            }
        }
    }

    pub(super) fn draw_help(&self, canvas: &mut Canvas<'_>, area: Rect) {
        const KEYS: [(&str, &str); 13] = [
            ("a–z", "a move: its key stands before its name"),
            ("1–9 a–z", "a choice of the move: a card, a player, a token"),
            ("←→ Space", "the same by arrows"),
            ("0–9 ←→", "an amount; PgUp and PgDn in larger steps"),
            ("Enter", "confirms; sits down, where you have no seat"),
            ("Esc", "goes back"),
            ("O", "sits out, and comes back"),
            ("T", "brings more credits, when no hand is in play"),
            ("L", "leaves the seat, and looks on"),
            ("V", "agrees to end a hand that stands still"),
            ("P", "what was proved of this hand's cards"),
            ("↑↓ PgUp PgDn", "the log, further back"),
            ("q Ctrl-C", "quits"),
        ];
        let size = (area.width.min(64), area.height.min(18));
        let frame = Rect {
            x: area.x + (area.width - size.0) / 2,
            y: area.y + (area.height - size.1) / 2,
            width: size.0,
            height: size.1,
        };
        canvas.fill(frame, canvas.palette.background(Background::Raised));
        canvas.frame(frame, canvas.ink(Tone::Accent));
        let inner = rows(inset(frame, 2), 1, frame.height.saturating_sub(2));
        canvas.text(row(inner, 0), "Keys", canvas.bold(Tone::Accent));
        for (number, (key, what)) in (2..).zip(KEYS) {
            let line = row(inner, number);
            canvas.text(line, key, canvas.bold(Tone::Plain));
            canvas.text(after(line, line.x + 14), what, canvas.ink(Tone::Soft));
        }
        let rules = format!("Rules: sabacc rules {}", self.state.view().variant);
        let last = row(inner, inner.height.saturating_sub(1));
        canvas.text(last, &cut(&clean(&rules), usize::from(inner.width)), canvas.ink(Tone::Faint));
    }
}
