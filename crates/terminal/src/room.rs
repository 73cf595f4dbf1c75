//! Room as a whole, live: what runs, how busy it is, and its tables.

use std::collections::{BTreeMap, VecDeque};

use primitives::UnixMicros;
use proto::table::v1 as pb;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::colour::{Background, Palette, Tone};
use crate::draw::{Canvas, after, inset, row, rows};
use crate::games;
use crate::text::{clean, credits, cut};

/// Samples that are kept for the curve.
const SAMPLES: usize = 240;
/// Signs of a curve, by eighths.
const EIGHTHS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// Room and tables at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct RoomSample {
    pub room: pb::Room,
    pub tables: Vec<pb::TableSummary>,
    pub at: UnixMicros,
}

/// Room in a terminal.
#[derive(Debug, Clone, Default)]
pub struct RoomScreen {
    latest: Option<RoomSample>,
    /// Hands a minute of each table, since the sample before.
    rates: BTreeMap<String, u64>,
    /// Hands a minute of the whole room, oldest first.
    curve: VecDeque<u64>,
    problem: Option<String>,
}

impl RoomScreen {
    #[must_use]
    pub fn new() -> RoomScreen {
        RoomScreen::default()
    }

    /// Takes the next sample.
    pub fn apply(&mut self, sample: RoomSample) {
        self.problem = None;
        if let Some(before) = &self.latest {
            let millis = u64::try_from(sample.at.since(before.at).as_millis()).unwrap_or(u64::MAX);
            let known: BTreeMap<&str, u64> =
                before.tables.iter().map(|it| (&*it.table_id, it.hand_no)).collect();
            let rate = |table: &pb::TableSummary| {
                let hands = table.hand_no.saturating_sub(*known.get(&*table.table_id)?);
                Some((table.table_id.clone(), hands.saturating_mul(60_000) / millis.max(1)))
            };
            self.rates = sample.tables.iter().filter_map(rate).collect();
            self.curve.push_back(self.rates.values().sum());
            if self.curve.len() > SAMPLES {
                self.curve.pop_front();
            }
        }
        self.latest = Some(sample);
    }

    /// Says why there is no new sample.
    pub fn show_problem(&mut self, problem: &str) {
        self.problem = Some(clean(problem));
    }

    pub fn draw(&self, buffer: &mut Buffer, palette: Palette) {
        let mut canvas = Canvas::new(buffer, palette);
        let area = canvas.area();
        canvas.fill(area, palette.background(Background::Screen).patch(palette.ink(Tone::Plain)));
        if area.height < 8 || area.width < 30 {
            return;
        }
        let raised = palette.background(Background::Raised);
        let (header, footer) = (row(area, 0), row(area, area.height - 1));
        canvas.tint(header, raised);
        canvas.tint(footer, raised);
        let brand = canvas.text(inset(header, 1), "SABACC", canvas.bold(Tone::Accent));
        canvas.text(after(header, brand + 2), "the room", canvas.ink(Tone::Soft));
        if let Some(problem) = &self.problem {
            let room = after(inset(header, 1), brand + 12);
            let text = cut(problem, usize::from(room.width));
            canvas.text_right(room, &text, canvas.bold(Tone::Bad));
        }
        canvas.quiet_key(inset(footer, 1), "q", "quit");
        let body = inset(rows(area, 2, area.height - 3), 2);
        let Some(sample) = &self.latest else {
            canvas.text(row(body, 0), "Asking the room …", canvas.ink(Tone::Soft));
            return;
        };
        let used = self.draw_now(&mut canvas, body, sample);
        let used = used + draw_windows(&mut canvas, rows(body, used, body.height), &sample.room);
        self.draw_tables(&mut canvas, rows(body, used + 1, body.height), sample);
    }

    /// Draws the figures of now with the curve. Returns the rows that they take.
    fn draw_now(&self, canvas: &mut Canvas<'_>, area: Rect, sample: &RoomSample) -> u16 {
        let activity = sample.room.activity.clone().unwrap_or_default();
        let figures = [
            (activity.open_tables, "tables"),
            (activity.hands_in_play, "hands in play"),
            (activity.open_streams, "streams"),
            (self.curve.back().copied().unwrap_or_default(), "hands a minute"),
        ];
        let each = area.width / 4;
        for (number, (figure, label)) in (0..).zip(figures) {
            let place = Rect { x: area.x + number * each, width: each, ..area };
            canvas.text(row(place, 0), &credits(figure), canvas.bold(Tone::Money));
            canvas.text(row(place, 1), label, canvas.ink(Tone::Soft));
        }
        let line = row(area, 3);
        let width = usize::from(line.width);
        let shown: Vec<u64> = self.curve.iter().rev().take(width).rev().copied().collect();
        let most = shown.iter().copied().max().unwrap_or(0).max(1);
        let curve: String = shown
            .iter()
            .map(|value| EIGHTHS[usize::try_from(value * 7 / most).unwrap_or(0).min(7)])
            .collect();
        canvas.text(line, &curve, canvas.ink(Tone::Accent));
        let mut used = 5;
        for service in &sample.room.silent {
            let text = format!("{} does not answer: its figures are missing", clean(service));
            canvas.text(row(area, used), &text, canvas.bold(Tone::Bad));
            used += 1;
        }
        used
    }

    fn draw_tables(&self, canvas: &mut Canvas<'_>, area: Rect, sample: &RoomSample) {
        let width = usize::from(area.width);
        let name = width.saturating_sub(46).max(10);
        let line = |texts: [&str; 5]| {
            let [table, game, seats, hand, rate] = texts;
            let (table, game) = (cut(table, name), cut(game, 16));
            format!("{table:<name$}  {game:<16}  {seats:>5}  {hand:>9}  {rate:>7}")
        };
        let titles = line(["TABLE", "GAME", "SEATS", "HAND", "A MIN"]);
        canvas.text(row(area, 0), &titles, canvas.ink(Tone::Faint));
        let mut tables: Vec<&pb::TableSummary> = sample.tables.iter().collect();
        let rate = |table: &pb::TableSummary| self.rates.get(&table.table_id).copied();
        tables.sort_by_key(|table| (std::cmp::Reverse(rate(table)), table.table_id.clone()));
        for (number, table) in (1..area.height).zip(&tables) {
            let seats = format!("{}/{}", table.seated, table.seats);
            let rate = rate(table).map_or_else(|| "–".to_owned(), credits);
            let text = line([
                &clean(&table.name),
                games::title(&table.variant),
                &seats,
                &credits(table.hand_no),
                &rate,
            ]);
            let tone = if table.disabled.is_some() { Tone::Warn } else { Tone::Plain };
            canvas.text(row(area, number), &text, canvas.ink(tone));
        }
        let hidden = tables.len().saturating_sub(usize::from(area.height.saturating_sub(1)));
        if hidden > 0 && area.height > 1 {
            let text = format!("and {} more", hidden + 1);
            let last = row(area, area.height - 1);
            canvas.fill(last, canvas.palette.background(Background::Screen));
            canvas.text(last, &text, canvas.ink(Tone::Faint));
        }
    }
}

/// Draws what was counted in the last minute, hour and day, of the table and the gateway. Returns
/// the rows that it takes.
fn draw_windows(canvas: &mut Canvas<'_>, area: Rect, room: &pb::Room) -> u16 {
    let Some(activity) = &room.activity else {
        let text = "The room shows how busy it is to operators and auditors alone.";
        canvas.text(row(area, 0), text, canvas.ink(Tone::Soft));
        return 1;
    };
    let counted = activity.table.iter().chain(&activity.gateway);
    let mut counts: BTreeMap<i32, BTreeMap<u32, u64>> = BTreeMap::new();
    for window in counted.flat_map(|counted| &counted.windows) {
        for count in &window.counts {
            counts.entry(count.kind).or_default().insert(window.seconds, count.count);
        }
    }
    let columns = [(60, "MINUTE"), (3600, "HOUR"), (86_400, "DAY")];
    let each = 12;
    let place = |line: Rect, at: u16| Rect { x: line.x + 20 + at * each, width: each, ..line };
    for (at, (_, title)) in (0..).zip(columns) {
        canvas.text_right(place(row(area, 0), at), title, canvas.ink(Tone::Faint));
    }
    let mut used = 1;
    for (kind, values) in &counts {
        let name = pb::ActivityKind::try_from(*kind).map_or("?", |kind| kind.as_str_name());
        let name = name.trim_start_matches("ACTIVITY_KIND_").to_lowercase().replace('_', " ");
        let line = row(area, used);
        canvas.text(line, &name, canvas.ink(Tone::Soft));
        for (at, (seconds, _)) in (0..).zip(columns) {
            let value = values.get(&seconds).map_or_else(|| "–".to_owned(), |it| credits(*it));
            canvas.text_right(place(line, at), &value, canvas.ink(Tone::Plain));
        }
        used += 1;
    }
    used
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::colour::Colours;

    fn sample(seconds: u64, hand_no: u64) -> RoomSample {
        let table = pb::TableSummary {
            table_id: "a".to_owned(),
            name: "Demo".to_owned(),
            variant: "dice".to_owned(),
            hand_no,
            ..pb::TableSummary::default()
        };
        let at = UnixMicros(seconds * 1_000_000);
        RoomSample { room: pb::Room::default(), tables: vec![table], at }
    }

    #[test]
    fn hands_a_minute_come_from_two_samples() {
        let mut room = RoomScreen::new();
        room.apply(sample(10, 100));
        assert!(room.rates.is_empty());
        room.apply(sample(20, 105));
        assert_eq!(room.rates["a"], 30);
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        let palette = Palette::new(Colours::None);
        terminal.draw(|frame| room.draw(frame.buffer_mut(), palette)).unwrap();
        let text = terminal.backend().to_string();
        assert!(text.contains("Demo") && text.contains("operators and auditors alone"), "{text}");
    }
}
