//! List of open tables, to choose one.

use client::LobbyMessage;
use proto::table::v1::TableSummary;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::colour::{Background, Palette, Tone};
use crate::draw::{Canvas, after, inset, row, rows};
use crate::games;
use crate::key::Key;
use crate::text::{clean, credits, cut};

/// Something that a key asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LobbyRequest {
    /// Go to the table with this id.
    Open(String),
    Quit,
}

/// Column of the list: where it begins, as a part of the width in percent, and its title.
const COLUMNS: [(u16, &str); 5] =
    [(0, "TABLE"), (36, "GAME"), (60, "SEATS"), (70, "ANTE"), (80, "BUY-IN")];

/// Open tables in a terminal.
#[derive(Debug, Clone, Default)]
pub struct LobbyScreen {
    tables: Vec<TableSummary>,
    chosen: usize,
    message: Option<String>,
}

impl LobbyScreen {
    #[must_use]
    pub fn new() -> LobbyScreen {
        LobbyScreen::default()
    }

    /// Applies what the followed list showed.
    pub fn apply(&mut self, seen: LobbyMessage) {
        match seen {
            LobbyMessage::Started => self.tables.clear(),
            LobbyMessage::CaughtUp => {}
            LobbyMessage::Table(table) => {
                match self.tables.iter_mut().find(|it| it.table_id == table.table_id) {
                    Some(known) => *known = *table,
                    None => self.tables.push(*table),
                }
                self.tables.sort_by(|one, other| one.table_id.cmp(&other.table_id));
            }
            LobbyMessage::Delisted(gone) => self.tables.retain(|it| it.table_id != gone.table_id),
        }
        self.chosen = self.chosen.min(self.tables.len().saturating_sub(1));
    }

    /// Shows words until a key is pressed.
    pub fn show_message(&mut self, text: &str) {
        self.message = Some(clean(text));
    }

    /// Takes a key. Returns what is to be done.
    pub fn key(&mut self, key: Key) -> Option<LobbyRequest> {
        self.message = None;
        let last = self.tables.len().saturating_sub(1);
        let open =
            |at: usize| self.tables.get(at).map(|it| LobbyRequest::Open(it.table_id.clone()));
        match key {
            Key::Enter | Key::Right => return open(self.chosen),
            Key::Char(digit @ '1'..='9') => {
                return open(digit.to_digit(10).map_or(0, |it| it as usize - 1));
            }
            Key::Char('q') | Key::Escape => return Some(LobbyRequest::Quit),
            Key::Up | Key::Char('k') => self.chosen = self.chosen.saturating_sub(1),
            Key::Down | Key::Char('j') | Key::Tab => self.chosen = (self.chosen + 1).min(last),
            Key::PageUp => self.chosen = self.chosen.saturating_sub(10),
            Key::PageDown => self.chosen = (self.chosen + 10).min(last),
            Key::Home => self.chosen = 0,
            Key::End => self.chosen = last,
            Key::Char(_) | Key::Backspace | Key::Left => {}
        }
        None
    }

    pub fn draw(&self, buffer: &mut Buffer, palette: Palette) {
        let mut canvas = Canvas::new(buffer, palette);
        let area = canvas.area();
        canvas.fill(area, palette.background(Background::Screen).patch(palette.ink(Tone::Plain)));
        if area.height < 6 {
            return;
        }
        let raised = palette.background(Background::Raised);
        let (header, footer) = (row(area, 0), row(area, area.height - 1));
        canvas.tint(header, raised);
        canvas.tint(footer, raised);
        let brand = canvas.text(inset(header, 1), "SABACC", canvas.bold(Tone::Accent));
        canvas.text(after(header, brand + 2), "open tables", canvas.ink(Tone::Soft));
        self.draw_list(&mut canvas, inset(rows(area, 2, area.height - 4), 2));
        if let Some(message) = &self.message {
            let line = inset(row(area, area.height - 2), 2);
            canvas.text(line, message, canvas.bold(Tone::Warn));
        }
        let mut left = inset(footer, 1);
        for (key, label) in [("↑↓", "choose"), ("Enter", "go to the table"), ("q", "quit")] {
            let x = canvas.quiet_key(left, key, label);
            left = after(left, x + 3);
        }
    }

    fn draw_list(&self, canvas: &mut Canvas<'_>, area: Rect) {
        if self.tables.is_empty() {
            let text = "No table is open. An operator opens one with `sabacc table open`.";
            canvas.text(row(area, 0), text, canvas.ink(Tone::Soft));
            return;
        }
        let column = |line: Rect, at: usize| {
            let from = line.x + line.width * COLUMNS[at].0 / 100;
            let to =
                COLUMNS.get(at + 1).map_or(line.right(), |it| line.x + line.width * it.0 / 100);
            Rect {
                x: from,
                width: to.saturating_sub(from + u16::from(at + 1 < COLUMNS.len())),
                ..line
            }
        };
        for (at, (_, title)) in COLUMNS.iter().enumerate() {
            canvas.text(column(row(area, 0), at), title, canvas.ink(Tone::Faint));
        }
        let height = usize::from(area.height.saturating_sub(1)).max(1);
        let from = self.chosen.saturating_sub(height - 1);
        for (number, (at, table)) in (1..).zip(self.tables.iter().enumerate().skip(from)) {
            let line = row(area, number);
            let is_chosen = at == self.chosen;
            if is_chosen {
                canvas.tint(line, canvas.palette.background(Background::Chosen));
            }
            let is_free = table.seated < table.seats && table.disabled.is_none();
            let tone = if is_free { Tone::Plain } else { Tone::Faint };
            let name = if is_chosen { canvas.bold(Tone::Accent) } else { canvas.bold(tone) };
            let texts = [
                clean(&table.name),
                games::title(&table.variant).to_owned(),
                format!("{}/{}", table.seated, table.seats),
                credits(table.ante_credits),
                match &table.disabled {
                    Some(_) => "disabled".to_owned(),
                    None => format!(
                        "{}–{}",
                        credits(table.min_buy_in_credits),
                        credits(table.max_buy_in_credits)
                    ),
                },
            ];
            for (at, text) in texts.iter().enumerate() {
                let place = column(line, at);
                let style = if at == 0 { name } else { canvas.ink(tone) };
                canvas.text(place, &cut(text, usize::from(place.width)), style);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proto::table::v1::{DelistReason, TableDelisted};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::colour::Colours;

    fn table(id: &str, name: &str) -> LobbyMessage {
        let text = str::to_owned;
        let table =
            TableSummary { table_id: text(id), name: text(name), ..TableSummary::default() };
        LobbyMessage::Table(Box::new(table))
    }

    #[test]
    fn the_chosen_table_is_opened() {
        let mut lobby = LobbyScreen::new();
        assert_eq!(lobby.key(Key::Enter), None, "there is none");
        lobby.apply(table("b", "Second"));
        lobby.apply(table("a", "First"));
        assert_eq!(lobby.key(Key::Enter), Some(LobbyRequest::Open("a".to_owned())));
        lobby.key(Key::Down);
        assert_eq!(lobby.key(Key::Enter), Some(LobbyRequest::Open("b".to_owned())));
        assert_eq!(lobby.key(Key::Char('1')), Some(LobbyRequest::Open("a".to_owned())));
        let gone = TableDelisted { table_id: "b".to_owned(), reason: DelistReason::Closed.into() };
        lobby.apply(LobbyMessage::Delisted(gone));
        assert_eq!(lobby.key(Key::Enter), Some(LobbyRequest::Open("a".to_owned())));
        assert_eq!(lobby.key(Key::Char('q')), Some(LobbyRequest::Quit));
    }

    #[test]
    fn tables_are_listed_with_their_names() {
        let mut lobby = LobbyScreen::new();
        lobby.apply(table("a", "First\u{1b}[2J"));
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        let palette = Palette::new(Colours::Full);
        terminal.draw(|frame| lobby.draw(frame.buffer_mut(), palette)).unwrap();
        let text = terminal.backend().to_string();
        assert!(text.contains("First\\u{1b}[2J"), "{text}");
    }
}
