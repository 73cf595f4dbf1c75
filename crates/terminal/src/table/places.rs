//! Players at the table: name, cards, credits, bet, clock, and marks of the game.

use primitives::UnixMicros;
use proto::table::v1 as pb;
use ratatui::layout::Rect;
use ratatui::text::Span;

use super::TableScreen;
use super::screen::Layout;
use crate::cards::Deck;
use crate::colour::{Background, Tone};
use crate::draw::card::{self, Card, SMALL};
use crate::draw::{Canvas, inset, row, rows, text_width};
use crate::games::{self, Badge};
use crate::text::{clean, credits, cut};

/// Columns and rows of a player at the edge of the felt.
const PLACE: (u16, u16) = (23, 8);
/// Columns where there is room for marks too.
const ROOMY: u16 = 29;

/// Seat as it is drawn.
pub(super) struct Place {
    pub(super) name: String,
    pub(super) cards: Vec<HeldCard>,
    pub(super) stack: u64,
    pub(super) bet: u64,
    pub(super) is_turn: bool,
    /// Not in the hand that is in play.
    pub(super) is_out: bool,
    has_button: bool,
    is_winner: bool,
    pub(super) badges: Vec<Badge>,
}

/// Card in a hand, as it is drawn.
pub(super) struct HeldCard {
    pub(super) code: String,
    is_locked: bool,
    is_proved: bool,
}

impl HeldCard {
    pub(super) fn drawn(&self, deck: Option<Deck>) -> Card<'_> {
        let HeldCard { code, is_locked, is_proved } = self;
        Card { code, deck, is_locked: *is_locked, is_chosen: false, is_proved: *is_proved }
    }
}

impl TableScreen {
    /// Seats of the others, from the one after one's own; of everybody for who looks on.
    pub(super) fn others(&self) -> Vec<u32> {
        let view = self.state.view();
        let mine = self.state.my_seat().map_or(0, |own| own.seat);
        let mut seats: Vec<u32> = view.seats.iter().map(|it| it.seat).collect();
        seats.retain(|&seat| seat != mine);
        let first = seats.partition_point(|&seat| seat < mine);
        seats.rotate_left(first);
        seats
    }

    /// Returns all that is known of a seat.
    pub(super) fn place(&self, seat: u32) -> Place {
        let view = self.state.view();
        let taken = view.seats.iter().find(|it| it.seat == seat);
        let hand = self.state.hand();
        let dealt = hand.and_then(|hand| hand.seats.iter().find(|it| it.seat == seat));
        let is_over = hand.is_some_and(|hand| hand.phase() == pb::HandPhase::Over);
        let standing = self.state.standing();
        let standing = standing.and_then(|it| it.seats.iter().find(|it| it.seat == seat));
        let in_play = standing.filter(|_| dealt.is_some() && !is_over);
        let stack = in_play.map(|it| it.stack_credits);
        let stack = stack.or_else(|| taken.map(|it| it.stack_credits)).unwrap_or_default();
        let cards = dealt.map_or(&[][..], |dealt| &dealt.cards);
        let mut badges = Vec::new();
        badges.extend(state_badge(taken, in_play));
        if let Some(rank) = dealt.and_then(|dealt| dealt.rank.as_ref()).filter(|_| is_over) {
            badges.push(Badge { text: clean(&rank.text), tone: Tone::Plain });
        }
        badges.extend(games::badges(&self.state, seat));
        let wins = |item: &pb::SettlementItem| {
            item.seat == seat && item.kind() == pb::SettlementKind::Wins
        };
        Place {
            name: self.plain_name(seat),
            cards: cards.iter().map(|card| self.held(card)).collect(),
            stack,
            bet: in_play.map_or(0, |it| it.in_round_credits),
            is_turn: self.state.turn().is_some_and(|turn| turn.seat == seat),
            is_out: hand.is_some()
                && (dealt.is_none()
                    || in_play.is_some_and(|it| it.status() == pb::SeatStatus::Out)),
            has_button: hand.and_then(|hand| hand.seats.last()).is_some_and(|it| it.seat == seat),
            is_winner: is_over && hand.is_some_and(|hand| hand.settlement.iter().any(wins)),
            badges,
        }
    }

    fn held(&self, card: &pb::HeldCard) -> HeldCard {
        let pb::HeldCard { code, locked, proof: _ } = card;
        let is_proved = self.is_proved(card);
        HeldCard { code: clean(code), is_locked: *locked, is_proved }
    }

    /// Draws the others in rows.
    pub(super) fn draw_places(&self, canvas: &mut Canvas<'_>, layout: &Layout, now: UnixMicros) {
        let others = self.others();
        if layout.place_rows == 0 || layout.place_columns == 0 {
            return;
        }
        let width = layout.places.width / layout.place_columns;
        let height = (layout.places.height / layout.place_rows).max(1);
        for (number, seat) in (0..).zip(&others) {
            let column: u16 = number % layout.place_columns;
            let line = number / layout.place_columns;
            let area = Rect {
                x: layout.places.x + column * width,
                y: layout.places.y + line * height,
                width,
                height,
            };
            self.draw_narrow(canvas, area, &self.place(*seat), now);
        }
    }

    fn draw_narrow(&self, canvas: &mut Canvas<'_>, area: Rect, place: &Place, now: UnixMicros) {
        let inner = inset(area, 1);
        if place.is_turn {
            canvas.tint(inner, canvas.palette.background(Background::Chosen));
        }
        let mut name = row(inner, 0);
        let mut line = row(inner, 1);
        if inner.height == 1 {
            // Name and cards share the row.
            name.width = inner.width / 2;
            line = crate::draw::after(row(inner, 0), name.right() + 1);
        }
        self.draw_name(canvas, name, place, now);
        let deck = games::deck(&self.state.view().variant);
        let mut spans = Vec::new();
        for held in &place.cards {
            spans.push(card::word(canvas, &held.drawn(deck)));
            spans.push(Span::raw(" "));
        }
        canvas.spans(line, spans);
        let mut money = self.money(canvas, place);
        if inner.height > 3 {
            canvas.spans(row(inner, 2), money);
            let badges = badge_spans(canvas, &place.badges);
            canvas.spans(row(inner, 3), badges);
        } else {
            money.push(Span::raw(" "));
            money.extend(badge_spans(canvas, &place.badges));
            canvas.spans(row(inner, 2), money);
        }
    }

    /// Draws a name with the marks of turn, button and win, and the seconds that are left.
    fn draw_name(&self, canvas: &mut Canvas<'_>, area: Rect, place: &Place, now: UnixMicros) {
        let left = self.state.turn().filter(|_| place.is_turn);
        let left = left.and_then(|turn| self.time_left(turn, now));
        let mut room = area;
        if let Some((left, _)) = left {
            let tone = if left < 5_000 { Tone::Bad } else { Tone::Warn };
            let text = format!("{} s", left.div_ceil(1000));
            let from = canvas.text_right(area, &text, canvas.ink(tone));
            room.width = from.saturating_sub(area.x);
        }
        let (sign, style) = if place.is_turn {
            ("▸ ", canvas.bold(Tone::Accent))
        } else if place.is_winner {
            ("★ ", canvas.bold(Tone::Warn))
        } else if place.is_out {
            ("", canvas.ink(Tone::Faint))
        } else {
            ("", canvas.bold(Tone::Plain))
        };
        let button = if place.has_button { "D" } else { "" };
        let taken = text_width(sign) + text_width(button) + 1;
        let width = usize::from(room.width.saturating_sub(taken));
        let text = format!("{sign}{}", cut(&place.name, width));
        let x = canvas.text(room, &text, style);
        let chip = canvas.palette.card_ink(Tone::Plain);
        canvas.text(crate::draw::after(room, x + 1), button, chip);
    }

    /// Stack and bet.
    fn money(&self, canvas: &Canvas<'_>, place: &Place) -> Vec<Span<'static>> {
        let tone = if place.is_out { Tone::Faint } else { Tone::Money };
        let mut spans = vec![Span::styled(credits(place.stack), canvas.ink(tone))];
        if place.bet > 0 {
            let text = format!("  ▲ {}", credits(place.bet));
            spans.push(Span::styled(text, canvas.bold(Tone::Warn)));
        }
        spans
    }

    /// Draws the others around the felt, and what lies in its middle.
    pub(super) fn draw_ring(&self, canvas: &mut Canvas<'_>, area: Rect, now: UnixMicros) {
        let others = self.others();
        let seats = ring(area, others.len());
        for (seat, place) in others.iter().zip(&seats) {
            self.draw_wide(canvas, *place, &self.place(*seat), now);
        }
        let beside = seats.iter().find(|it| it.y > area.y + 1);
        let by = beside.map_or(4, |it| it.width + 3);
        let middle = inset(rows(area, PLACE.1 + 2, area.height.saturating_sub(PLACE.1 + 3)), by);
        self.draw_centre(canvas, middle);
    }

    fn draw_wide(&self, canvas: &mut Canvas<'_>, area: Rect, place: &Place, now: UnixMicros) {
        let edge = if place.is_turn {
            canvas.bold(Tone::Accent)
        } else if place.is_winner {
            canvas.ink(Tone::Warn)
        } else {
            canvas.ink(Tone::Faint)
        };
        if place.is_turn {
            canvas.tint(area, canvas.palette.background(Background::Chosen));
        }
        canvas.frame(area, edge);
        let inner = rows(inset(area, 2), 1, area.height.saturating_sub(2));
        self.draw_name(canvas, row(inner, 0), place, now);
        let deck = games::deck(&self.state.view().variant);
        let step = card::step(inner.width, SMALL, place.cards.len());
        let cards = rows(inner, 1, SMALL.1);
        for (number, held) in (0..).zip(&place.cards) {
            let at = Rect { x: cards.x + number * step, width: SMALL.0, ..cards };
            if at.right() > inner.right() {
                break;
            }
            card::draw(canvas, at, SMALL, &held.drawn(deck));
        }
        let money = self.money(canvas, place);
        canvas.spans(row(inner, 4), money);
        let badges = badge_spans(canvas, &place.badges);
        canvas.spans(row(inner, 5), badges);
    }
}

/// Places of `count` players at the edge of the felt, from the left around to the right.
fn ring(area: Rect, count: usize) -> Vec<Rect> {
    let height = PLACE.1;
    let fit = |width: u16| usize::from(area.width.saturating_sub(2) / (width + 1)).max(1);
    let width = if count <= fit(ROOMY) { ROOMY } else { PLACE.0 };
    let most = fit(width);
    let has_sides = area.height >= height * 2 + 3;
    let at_sides = if count > most.min(4) && has_sides { 2.min(count) } else { 0 };
    let at_top = count - at_sides;
    let mut places = Vec::new();
    let side = |x| Rect { x, y: area.y + height + 2, width, height };
    if at_sides > 0 {
        places.push(side(area.x + 2));
    }
    let columns = u16::try_from(at_top.max(1)).unwrap_or(u16::MAX);
    let each = area.width.saturating_sub(2) / columns;
    for number in 0..columns.min(u16::try_from(at_top).unwrap_or(0)) {
        let x = area.x + 1 + number * each + each.saturating_sub(width) / 2;
        places.push(Rect { x, y: area.y + 1, width: width.min(each), height });
    }
    if at_sides > 1 {
        places.push(side(area.right().saturating_sub(width + 2)));
    }
    places
}

/// State of a seat where it is not plain play.
fn state_badge(taken: Option<&pb::SeatView>, in_play: Option<&pb::SeatStanding>) -> Option<Badge> {
    let from_hand = in_play.and_then(|it| match it.status() {
        pb::SeatStatus::AllIn => Some(("all in", Tone::Warn)),
        pb::SeatStatus::Leaving => Some(("leaving", Tone::Warn)),
        pb::SeatStatus::Out => Some(("out", Tone::Faint)),
        pb::SeatStatus::Live | pb::SeatStatus::Unspecified => None,
    });
    let from_table = || match taken?.state() {
        pb::SeatState::BuyingIn => Some(("buying in", Tone::Soft)),
        pb::SeatState::SittingOut => Some(("sits out", Tone::Warn)),
        pb::SeatState::Leaving => Some(("leaving", Tone::Warn)),
        pb::SeatState::Playing | pb::SeatState::Unspecified => None,
    };
    let (text, tone) = from_hand.or_else(from_table)?;
    Some(Badge { text: text.to_owned(), tone })
}

pub(super) fn badge_spans(canvas: &Canvas<'_>, badges: &[Badge]) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    for (at, badge) in badges.iter().enumerate() {
        if at > 0 {
            spans.push(Span::styled(" · ", canvas.ink(Tone::Faint)));
        }
        spans.push(Span::styled(badge.text.clone(), canvas.ink(badge.tone)));
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_around_the_felt_do_not_overlap() {
        for width in [70, 96, 118, 160] {
            for count in 0..8 {
                let area = Rect::new(0, 1, width, 34);
                let places = ring(area, count);
                for (at, place) in places.iter().enumerate() {
                    assert_eq!(place.intersection(area), *place, "{count} at {width}");
                    for other in &places[..at] {
                        assert!(place.intersection(*other).is_empty(), "{count} at {width}");
                    }
                }
                assert_eq!(places.len(), count);
            }
        }
    }
}
