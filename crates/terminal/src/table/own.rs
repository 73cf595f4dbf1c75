//! One's own hand, the moves that are legal now, and the forms that fill them in.

use primitives::UnixMicros;
use proto::common::v1::{LegalMove, MoveArgument, MoveKind};
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Span;

use super::places::badge_spans;
use super::screen::Layout;
use super::{Form, TableScreen};
use crate::colour::{Background, Tone};
use crate::composer::{Amount, Choice, Composer, sign};
use crate::draw::card::{self, Card, LARGE, SMALL};
use crate::draw::{Canvas, after, inset, row, rows, text_width};
use crate::games::{self, Badge};
use crate::text::{credits, cut, wrapped};
use crate::{tokens, verbs};

/// Columns that the words beside one's own cards need.
const WORDS_COLUMNS: u16 = 26;

impl TableScreen {
    pub(super) fn draw_own(&self, canvas: &mut Canvas<'_>, layout: &Layout, now: UnixMicros) {
        let area = inset(layout.own, 1);
        let Some(own) = self.state.my_seat() else {
            self.draw_invitation(canvas, area);
            return;
        };
        let area = if layout.is_wide { rows(area, 1, area.height - 1) } else { area };
        let place = self.place(own.seat);
        let size = if area.height >= LARGE.1 { LARGE } else { SMALL };
        let room = area.width.saturating_sub(WORDS_COLUMNS + 2);
        let step = card::step(room, size, place.cards.len());
        let deck = games::deck(&self.state.view().variant);
        let chosen = self.chosen_cards();
        let mut words = area.x;
        for (number, held) in (0..).zip(&place.cards) {
            let at = Rect { x: area.x + number * step, ..area };
            let is_chosen = chosen.contains(&held.code);
            card::draw(canvas, at, size, &Card { is_chosen, ..held.drawn(deck) });
            words = at.x + size.0 + 2;
        }
        self.draw_own_words(canvas, after(area, words), now);
    }

    /// Card codes that the open form has chosen.
    fn chosen_cards(&self) -> Vec<String> {
        let Form::Move(composer) = &self.form else { return Vec::new() };
        let cards = composer.choices.iter().filter(|it| it.argument == MoveArgument::Cards);
        let chosen = cards.flat_map(|it| it.chosen.iter().filter_map(|&at| it.items.get(at)));
        chosen.cloned().collect()
    }

    fn draw_own_words(&self, canvas: &mut Canvas<'_>, area: Rect, now: UnixMicros) {
        let Some(own) = self.state.my_seat() else { return };
        let place = self.place(own.seat);
        let mut spans = vec![
            Span::styled("You  ", canvas.bold(Tone::Plain)),
            Span::styled(credits(place.stack), canvas.bold(Tone::Money)),
        ];
        if place.bet > 0 {
            let text = format!("  ▲ {}", credits(place.bet));
            spans.push(Span::styled(text, canvas.bold(Tone::Warn)));
        }
        let taken: u16 = spans.iter().map(|span| text_width(&span.content)).sum();
        canvas.spans(row(area, 0), spans);
        if area.height >= 4 {
            self.draw_proved(canvas, after(row(area, 0), area.x + taken + 2));
        }
        let hint = games::hint(&self.state);
        let mut next = 1;
        for line in wrapped(&hint, usize::from(area.width)).iter().take(2) {
            canvas.text(row(area, next), line, canvas.ink(Tone::Plain));
            next += 1;
        }
        let mut badges = place.badges;
        let titles = games::tokens(&self.state);
        badges.extend(titles.into_iter().map(|text| Badge { text, tone: Tone::Cold }));
        let badges = badge_spans(canvas, &badges);
        canvas.spans(row(area, next), badges);
        if let Some(turn) = self.state.my_turn()
            && let Some((left, whole)) = self.time_left(turn, now)
        {
            let tone = if left < 5_000 { Tone::Bad } else { Tone::Accent };
            let text = format!(" {} s", left.div_ceil(1000));
            if area.height < 4 {
                canvas.text_right(row(area, 0), &text, canvas.ink(tone));
                return;
            }
            let clock = row(area, area.height - 1);
            let width = 24.min(clock.width.saturating_sub(text_width(&text)));
            canvas.bar(Rect { width, ..clock }, left.saturating_mul(1000) / whole, tone);
            canvas.text(after(clock, clock.x + width), &text, canvas.ink(tone));
        }
    }

    /// Draws the words that a player without a seat reads where their hand would be.
    fn draw_invitation(&self, canvas: &mut Canvas<'_>, area: Rect) {
        if !self.can_sit_down() || matches!(self.form, Form::SitDown(_)) {
            return;
        }
        let view = self.state.view();
        let taken = u32::try_from(view.seats.len()).unwrap_or(u32::MAX);
        let free = view.seat_count.saturating_sub(taken);
        let seats =
            if free == 1 { "one free seat".to_owned() } else { format!("{free} free seats") };
        let text = format!(
            "You look on. There {} {seats}; sit down with {} to {} credits.",
            if free == 1 { "is" } else { "are" },
            credits(view.min_buy_in_credits),
            credits(view.max_buy_in_credits)
        );
        for (number, line) in (1..).zip(wrapped(&text, usize::from(area.width))) {
            canvas.text(row(area, number), &line, canvas.ink(Tone::Plain));
        }
        canvas.key(
            row(area, 3.min(area.height.saturating_sub(1))),
            "Enter",
            "sit down",
            Tone::Plain,
        );
    }

    /// Draws the moves, or the form that is open, or what was refused.
    pub(super) fn draw_moves(&self, canvas: &mut Canvas<'_>, layout: &Layout) {
        // Where many moves need more rows, they take them from the log.
        let room = if layout.is_wide { layout.moves } else { layout.moves.union(layout.log) };
        let area = inset(room, 1);
        match &self.form {
            Form::Move(composer) => self.draw_form(canvas, area, composer),
            Form::SitDown(amount) => {
                let title = "Sit down with how much? It goes from your account to your seat.";
                draw_amount(canvas, area, title, amount, &[]);
            }
            Form::TopUp(amount) => {
                let title = if self.is_in_hand() {
                    "Top up with how much? It comes when the hand is over."
                } else {
                    "Top up with how much? You leave your seat for it, and take it again."
                };
                draw_amount(canvas, area, title, amount, &[]);
            }
            Form::Leave => self.draw_question(canvas, area, "Leave your seat?", "leave"),
            Form::Quit => {
                self.draw_question(canvas, area, "Leave your seat, and quit?", "leave and quit");
            }
            Form::None | Form::Help | Form::Proofs => self.draw_message_and_moves(canvas, area),
        }
    }

    fn draw_question(&self, canvas: &mut Canvas<'_>, area: Rect, question: &str, act: &str) {
        let consequence = if self.state.is_hand_in_play() && self.state.my_hand_seat().is_some() {
            "The clock plays on for you, and you are paid out when the hand ends."
        } else {
            "Your credits go back to your account."
        };
        let x = canvas.text(row(area, 0), question, canvas.bold(Tone::Plain));
        canvas.text(after(row(area, 0), x + 1), consequence, canvas.ink(Tone::Soft));
        let line = row(area, 1);
        let x = canvas.key(line, "Enter", act, Tone::Plain);
        canvas.key(after(line, x + 3), "Esc", "stay", Tone::Soft);
    }

    fn draw_message_and_moves(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let mut area = area;
        if let Some(message) = &self.message {
            let lines = wrapped(&message.text, usize::from(area.width));
            for (number, line) in (0..area.height).zip(&lines) {
                canvas.fill(row(area, number), canvas.palette.background(Background::Screen));
                canvas.text(row(area, number), line, canvas.bold(message.tone));
            }
            let taken = u16::try_from(lines.len()).unwrap_or(area.height);
            area = rows(area, taken, area.height);
        }
        let moves: Vec<&LegalMove> = self.moves().collect();
        if moves.is_empty() {
            if self.message.is_none() {
                self.draw_waiting(canvas, area);
            }
            return;
        }
        let default = self.state.my_turn().and_then(|turn| turn.default_move.as_ref());
        let keys = verbs::keys(&moves);
        let mut pills = Pills::new(area);
        for (legal, key) in moves.iter().zip(keys) {
            let label = verbs::label(legal);
            let hint = self.short_hint(legal, default.is_some_and(|it| it.kind == legal.kind));
            let hint = if moves.len() <= 4 { hint } else { String::new() };
            let gap = u16::from(!hint.is_empty());
            let width = text_width(&label) + 4 + gap + text_width(&hint);
            let place = pills.place(canvas, width, 3);
            let is_grave = matches!(legal.kind(), MoveKind::Fold | MoveKind::Junk);
            let tone = if is_grave { Tone::Soft } else { Tone::Plain };
            let x = canvas.key(place, &key.to_string(), &label, tone);
            canvas.text(after(place, x + gap), &hint, canvas.ink(Tone::Faint));
        }
    }

    /// Hint of a move, and whether the clock would make it.
    fn short_hint(&self, legal: &LegalMove, is_default: bool) -> String {
        let is_range = verbs::takes(legal, MoveArgument::Amount);
        match (is_range, is_default) {
            (true, _) => verbs::hint(legal),
            (false, true) => "by the clock".to_owned(),
            (false, false) => String::new(),
        }
    }

    fn draw_waiting(&self, canvas: &mut Canvas<'_>, area: Rect) {
        if !self.is_player || !self.is_seated() {
            return;
        }
        let text = if self.sent.is_some() {
            "Sent …".to_owned()
        } else if self.is_sitting_out() {
            "You sit out: no hand is dealt to you.".to_owned()
        } else if let Some(turn) = self.state.turn() {
            format!("{} decides …", self.plain_name(turn.seat))
        } else {
            String::new()
        };
        canvas.text(row(area, 0), &text, canvas.ink(Tone::Faint));
    }

    fn draw_form(&self, canvas: &mut Canvas<'_>, area: Rect, composer: &Composer) {
        if composer.open().is_none()
            && let Some(amount) = composer.open_amount()
        {
            let title = format!("{}: how much?", verbs::label(&composer.legal));
            let presets: Vec<(char, &str)> =
                composer.presets.iter().map(|it| (it.key, it.label)).collect();
            draw_amount(canvas, area, &title, amount, &presets);
            return;
        }
        let Some(choice) = composer.open() else { return };
        let label = verbs::label(&composer.legal);
        let x = canvas.text(row(area, 0), &label, canvas.bold(Tone::Accent));
        let ask = format!("  {}", question(choice));
        let x = canvas.text(after(row(area, 0), x), &ask, canvas.ink(Tone::Plain));
        draw_form_keys(canvas, after(row(area, 0), x + 3), composer.is_complete());
        let at = composer.cursor.min(choice.items.len().saturating_sub(1));
        let effect = choice.items.get(at).and_then(|item| tokens::effect(item));
        let mut pills = Pills::new(rows(area, 1, area.height));
        for (number, item) in choice.items.iter().enumerate() {
            let text = self.item_text(choice.argument, item);
            let place = pills.place(canvas, text_width(&text) + 4, 2);
            let is_chosen = choice.chosen.contains(&number);
            let cap = if is_chosen { "●".to_owned() } else { sign(number).to_string() };
            let tone = if is_chosen { Tone::Accent } else { Tone::Plain };
            canvas.key(place, &cap, &text, tone);
            if number == at {
                let label = Rect { width: text_width(&text), ..after(place, place.x + 4) };
                canvas.tint(label, canvas.ink(tone).add_modifier(Modifier::UNDERLINED));
            }
        }
        if let Some(effect) = effect {
            let line = pills.next_row(canvas);
            canvas.text(line, &cut(effect, usize::from(line.width)), canvas.ink(Tone::Soft));
        }
    }

    fn item_text(&self, argument: MoveArgument, item: &str) -> String {
        let deck = games::deck(&self.state.view().variant);
        match argument {
            MoveArgument::Cards => {
                let face = deck.and_then(|deck| deck.read(item));
                face.map_or_else(
                    || item.to_owned(),
                    |face| {
                        let word = if face.word.is_empty() {
                            String::new()
                        } else {
                            format!(" {}", face.word)
                        };
                        format!("{}{word}", face.short())
                    },
                )
            }
            MoveArgument::Seat => {
                item.parse().map_or_else(|_| item.to_owned(), |seat| self.plain_name(seat))
            }
            MoveArgument::Value | MoveArgument::Amount | MoveArgument::Unspecified => {
                item.to_owned()
            }
            MoveArgument::Side | MoveArgument::Pile | MoveArgument::Tokens => verbs::choice(item),
        }
    }
}

/// Keys with labels that follow each other in rows.
struct Pills {
    area: Rect,
    line: u16,
    x: u16,
}

impl Pills {
    fn new(area: Rect) -> Pills {
        Pills { area, line: 0, x: area.x }
    }

    /// Place of the next pill, in a new row where it does not fit in this one; `gap` columns follow
    /// it.
    fn place(&mut self, canvas: &mut Canvas<'_>, width: u16, gap: u16) -> Rect {
        if self.x > self.area.x && self.x + width > self.area.right() {
            self.line += 1;
            self.x = self.area.x;
        }
        if self.x == self.area.x {
            canvas.fill(row(self.area, self.line), canvas.palette.background(Background::Screen));
        }
        let place = Rect { width, ..after(row(self.area, self.line), self.x) };
        self.x = place.x + width + gap;
        place.intersection(self.area)
    }

    /// Row below the pills.
    fn next_row(&self, canvas: &mut Canvas<'_>) -> Rect {
        let line = row(self.area, self.line + 1);
        canvas.fill(line, canvas.palette.background(Background::Screen));
        line
    }
}

/// Question of a choice.
fn question(choice: &Choice) -> String {
    let (one, many) = match choice.argument {
        MoveArgument::Cards => ("Which card?", "cards"),
        MoveArgument::Side => ("Which side?", "sides"),
        MoveArgument::Pile => ("Which pile?", "piles"),
        MoveArgument::Tokens => ("Which token?", "tokens"),
        MoveArgument::Seat => ("Which player?", "players"),
        MoveArgument::Value => ("Which die?", "dice"),
        MoveArgument::Amount | MoveArgument::Unspecified => ("Which?", "of these"),
    };
    let Choice { least, most, chosen, .. } = choice;
    match (least, most) {
        (1, 1) => one.to_owned(),
        (0, 1) => format!("{one} None is fine too."),
        (least, most) if least == most => format!("{most} {many}; {} chosen", chosen.len()),
        (0, most) => format!("Up to {most} {many}, or none"),
        (least, most) => format!("{least} to {most} {many}; {} chosen", chosen.len()),
    }
}

fn draw_form_keys(canvas: &mut Canvas<'_>, area: Rect, is_complete: bool) {
    let mut place = area;
    if is_complete {
        let x = canvas.quiet_key(place, "Enter", "confirm");
        place = after(place, x + 2);
    }
    canvas.quiet_key(place, "Esc", "back");
}

/// Draws an amount with its bounds, a slider and the keys of amounts that are often meant.
fn draw_amount(
    canvas: &mut Canvas<'_>,
    area: Rect,
    title: &str,
    amount: &Amount,
    presets: &[(char, &str)],
) {
    let x = canvas.text(row(area, 0), title, canvas.bold(Tone::Accent));
    draw_form_keys(canvas, after(row(area, 0), x + 3), amount.is_in_range());
    let line = row(area, 1);
    let tone = if amount.is_in_range() { Tone::Plain } else { Tone::Bad };
    let least = format!("{} ", credits(amount.least));
    let x = canvas.text(line, &least, canvas.ink(Tone::Faint));
    let bar = Rect { x, width: 28.min(line.width / 3), ..line };
    canvas.bar(bar, amount.permille(), Tone::Accent);
    let most = format!(" {}", credits(amount.most));
    let x = canvas.text(after(line, bar.right()), &most, canvas.ink(Tone::Faint));
    let value = format!(" {} ", credits(amount.value));
    let style = canvas.palette.background(Background::Chosen).patch(canvas.bold(tone));
    let x = canvas.text(after(line, x + 2), &value, style);
    canvas.text(after(line, x + 2), "digits or ←→", canvas.ink(Tone::Faint));
    let mut place = row(area, 2);
    for (key, label) in presets {
        let x = canvas.key(place, &key.to_string(), label, Tone::Soft);
        place = after(place, x + 2);
    }
}
