//! Table as its viewer follows it, or plays at it: what is shown, and what a key asks for.

mod centre;
mod frame;
mod happenings;
mod own;
mod places;
mod proofs;
mod screen;

use client::{HandProofs, TableState, WatchMessage};
use primitives::{PlayerId, UnixMicros};
use proto::common::v1::{LegalMove, Move, MoveKind};
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;

use crate::colour::Tone;
use crate::composer::{Amount, Composer, Step};
use crate::games::LastChance;
use crate::key::Key;
use crate::text::clean;
use crate::verbs;
use happenings::Happening;

/// Lines of the log that are kept.
const LOG_LINES: usize = 500;

/// State of the stream that the table comes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    Live,
    CatchingUp,
    /// Broken since then; it is opened again.
    Lost(UnixMicros),
}

/// Something that a key asked for, to be sent to the room.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    Decide {
        hand_no: u64,
        turn: u32,
        decision: Move,
    },
    /// Take the lowest free seat with so many credits.
    SitDown(u64),
    SitOut(bool),
    /// Bring so many more credits from the account to the seat.
    TopUp(u64),
    /// Leave the seat, and stay to look on.
    Leave,
    /// Back to the list of tables, or out of the program where there was none.
    Quit,
}

/// Panel in front of the table.
#[derive(Debug, Clone)]
enum Form {
    None,
    Move(Box<Composer>),
    SitDown(Amount),
    TopUp(Amount),
    Leave,
    Quit,
    Help,
    Proofs,
}

/// Words that stand until something else happens.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Message {
    text: String,
    tone: Tone,
}

/// Table in a terminal.
#[derive(Clone)]
pub struct TableScreen {
    state: TableState,
    last: LastChance,
    log: Vec<Happening>,
    /// Lines that the log is scrolled back by.
    scroll: usize,
    form: Form,
    message: Option<Message>,
    connection: Connection,
    /// Decision that was sent and is not on record yet: hand number and turn.
    sent: Option<(u64, u32)>,
    /// The viewer may sit down and play.
    is_player: bool,
    /// Credits to bring to the seat when the hand in play is over.
    top_up: Option<u64>,
    /// Credits of the account, once known.
    balance: Option<u64>,
    /// Proofs of the hand that is shown, as the client has checked them.
    proofs: Option<HandProofs>,
    /// The room's time, as the last update has it, ahead of this machine's by so many microseconds.
    ahead_us: i64,
}

impl TableScreen {
    /// Creates the screen of somebody who looks on.
    #[must_use]
    pub fn watching() -> TableScreen {
        TableScreen::new(None)
    }

    /// Creates the screen of a player.
    #[must_use]
    pub fn playing(me: PlayerId) -> TableScreen {
        TableScreen::new(Some(me))
    }

    fn new(me: Option<PlayerId>) -> TableScreen {
        TableScreen {
            state: TableState::new(me),
            last: LastChance::default(),
            log: Vec::new(),
            scroll: 0,
            form: Form::None,
            message: None,
            connection: Connection::CatchingUp,
            sent: None,
            is_player: me.is_some(),
            top_up: None,
            balance: None,
            proofs: None,
            ahead_us: 0,
        }
    }

    /// Returns the table.
    #[must_use]
    pub fn state(&self) -> &TableState {
        &self.state
    }

    /// Applies what the stream showed at `now`.
    pub fn apply(&mut self, seen: &WatchMessage, now: UnixMicros) {
        let turn = self.turn_name();
        self.state.apply(seen);
        self.connection = match seen {
            WatchMessage::CaughtUp => Connection::Live,
            WatchMessage::Snapshot(_) => Connection::CatchingUp,
            WatchMessage::Update(_) if self.connection == Connection::Live => Connection::Live,
            WatchMessage::Update(_) => Connection::CatchingUp,
        };
        if let WatchMessage::Update(update) = seen {
            self.keep_time(update, now);
            self.keep_chance(update);
            let name = |seat| self.name_of(seat);
            if let Some(happening) = happenings::read(&self.state, update, &name) {
                self.say(happening);
            }
        }
        if self.turn_name() != turn {
            self.sent = None;
            if matches!(self.form, Form::Move(_)) {
                self.form = Form::None;
            }
            if self.moves().next().is_some() {
                self.message = None;
            }
        }
    }

    /// Says that the stream is broken.
    pub fn lost(&mut self, now: UnixMicros) {
        if !matches!(self.connection, Connection::Lost(_)) {
            self.connection = Connection::Lost(now);
        }
    }

    /// Says whether the stream has caught up with the table: one that had and has not is broken.
    pub fn set_live(&mut self, is_live: bool, now: UnixMicros) {
        if !is_live && self.connection == Connection::Live {
            self.lost(now);
        }
    }

    /// Shows words until something else happens: a refusal, or a notice.
    pub fn show_message(&mut self, text: &str, tone: Tone) {
        // A refused decision may be made again.
        self.sent = None;
        self.message = Some(Message { text: clean(text), tone });
    }

    /// Adds a line to the log.
    pub fn note(&mut self, text: &str, tone: Tone) {
        self.say(Happening { text: clean(text), tone, is_strong: false });
    }

    /// Sets the credits of the player's account.
    pub fn set_balance(&mut self, credits: u64) {
        self.balance = Some(credits);
    }

    /// Says what the client has checked of the hand that is shown.
    pub fn set_proofs(&mut self, proofs: Option<HandProofs>) {
        self.proofs = proofs;
    }

    fn say(&mut self, happening: Happening) {
        if self.scroll > 0 {
            self.scroll += 1;
        }
        self.log.push(happening);
        if self.log.len() > LOG_LINES {
            self.log.remove(0);
        }
    }

    fn keep_time(&mut self, update: &pb::TableUpdate, now: UnixMicros) {
        let recorded = update.record_time.and_then(wire::time::instant);
        if let (Some(recorded), Connection::Live) = (recorded, self.connection) {
            let number = |at: UnixMicros| i64::try_from(at.0).unwrap_or(i64::MAX);
            self.ahead_us = number(recorded).saturating_sub(number(now));
        }
    }

    fn keep_chance(&mut self, update: &pb::TableUpdate) {
        match &update.what {
            Some(What::HandStarted(_) | What::Entropy(_)) => self.last = LastChance::default(),
            Some(What::Action(action)) => match action.chance() {
                pb::ChanceKind::Roll => self.last.dice.clone_from(&action.values),
                pb::ChanceKind::Pulse => self.last.pulse = Some(action.values.first() == Some(&1)),
                pb::ChanceKind::Unspecified
                | pb::ChanceKind::Shuffle
                | pb::ChanceKind::Deal
                | pb::ChanceKind::Flip
                | pb::ChanceKind::Starter
                | pb::ChanceKind::Tokens
                | pb::ChanceKind::Announce => {}
            },
            Some(
                What::Seat(_)
                | What::HandEnded(_)
                | What::Closed(_)
                | What::NextHand(_)
                | What::Voided(_)
                | What::Seed(_)
                | What::Stopped(_)
                | What::Suspension(_)
                | What::Disabled(_),
            )
            | None => {}
        }
    }

    /// Name of the player in a seat; `You` for one's own.
    pub(crate) fn name_of(&self, seat: u32) -> String {
        let mine = self.state.my_seat().is_some_and(|own| own.seat == seat);
        if mine { "You".to_owned() } else { self.plain_name(seat) }
    }

    fn plain_name(&self, seat: u32) -> String {
        let found = self.state.view().seats.iter().find(|it| it.seat == seat);
        match found.map(|it| clean(&it.name)).filter(|name| !name.is_empty()) {
            Some(name) => name,
            None if seat == 0 => "the house".to_owned(),
            None => format!("Seat {seat}"),
        }
    }

    /// The decision that is due from the player, if none was sent for it.
    fn due(&self) -> Option<(u64, &pb::Turn)> {
        let turn = self.state.my_turn().filter(|_| self.connection == Connection::Live)?;
        let hand_no = self.state.view().hand_no;
        (self.sent != Some((hand_no, turn.turn))).then_some((hand_no, turn))
    }

    fn turn_name(&self) -> Option<(u64, u32, u32)> {
        self.state.turn().map(|turn| (self.state.view().hand_no, turn.turn, turn.seat))
    }

    /// Moves that can be made now; leaving and agreeing to end a hand have keys of their own.
    fn moves(&self) -> impl Iterator<Item = &LegalMove> {
        let legal = self.due().map_or(&[][..], |(_, turn)| &turn.legal);
        legal.iter().filter(|legal| !matches!(legal.kind(), MoveKind::Leave | MoveKind::Void))
    }

    fn is_seated(&self) -> bool {
        self.state.my_seat().is_some()
    }

    /// Whether the player may sit down here.
    fn can_sit_down(&self) -> bool {
        let view = self.state.view();
        let has_room = view.seats.len() < usize::try_from(view.seat_count).unwrap_or(usize::MAX);
        self.is_player && !self.is_seated() && has_room && !self.state.is_closed() && !view.closed
    }

    fn is_sitting_out(&self) -> bool {
        self.state.my_seat().is_some_and(|seat| seat.state() == pb::SeatState::SittingOut)
    }

    /// Takes a key. Returns what is to be sent to the room.
    pub fn key(&mut self, key: Key) -> Option<Request> {
        match &mut self.form {
            Form::None => self.table_key(key),
            Form::Help | Form::Proofs => {
                self.form = Form::None;
                None
            }
            Form::Move(composer) => match composer.key(key) {
                Step::Open => None,
                Step::Cancelled => {
                    self.form = Form::None;
                    None
                }
                Step::Done(decision) => self.decide(decision),
            },
            Form::SitDown(amount) => {
                let (is_done, sent) = take_amount(amount, key);
                if is_done {
                    self.form = Form::None;
                }
                sent.map(Request::SitDown)
            }
            Form::TopUp(amount) => {
                let (is_done, sent) = take_amount(amount, key);
                if is_done {
                    self.form = Form::None;
                }
                self.top_up = sent.or(self.top_up);
                self.due_top_up()
            }
            Form::Leave => self.confirm(key, Request::Leave),
            Form::Quit => self.confirm(key, Request::Quit),
        }
    }

    fn confirm(&mut self, key: Key, request: Request) -> Option<Request> {
        self.form = Form::None;
        matches!(key, Key::Enter | Key::Char('y')).then_some(request)
    }

    fn table_key(&mut self, key: Key) -> Option<Request> {
        if let Key::Char(letter) = key {
            let moves: Vec<&LegalMove> = self.moves().collect();
            let at = verbs::keys(&moves).iter().position(|it| *it == letter);
            if let Some(legal) = at.and_then(|at| moves.get(at)) {
                let legal = (*legal).clone();
                return self.begin(legal);
            }
        }
        self.own_key(key)
    }

    /// Takes a key that is no move's.
    fn own_key(&mut self, key: Key) -> Option<Request> {
        match key {
            Key::Char('q') if self.is_seated() => self.form = Form::Quit,
            Key::Char('q') => return Some(Request::Quit),
            Key::Char('?') => self.form = Form::Help,
            Key::Char('P') if self.proofs_shown().is_some() => self.form = Form::Proofs,
            Key::Enter | Key::Char('S') if self.can_sit_down() => {
                let view = self.state.view();
                let (least, most) = (view.min_buy_in_credits, view.max_buy_in_credits);
                let most = self.balance.map_or(most, |balance| most.min(balance.max(least)));
                let value = least.saturating_mul(2);
                self.form = Form::SitDown(Amount::new(least, most, value));
            }
            Key::Char('O') if self.is_seated() => {
                return Some(Request::SitOut(!self.is_sitting_out()));
            }
            Key::Char('T') if self.top_up.is_some() => self.top_up = None,
            Key::Char('T') => {
                if let Some(amount) = self.top_up_bounds() {
                    self.form = Form::TopUp(amount);
                }
            }
            Key::Char('L') if self.is_seated() => self.form = Form::Leave,
            Key::Char('V') if self.can_agree() => return Some(self.agree()),
            Key::PageUp | Key::Up => {
                self.scroll = (self.scroll + 5).min(self.log.len().saturating_sub(1));
            }
            Key::PageDown | Key::Down => self.scroll = self.scroll.saturating_sub(5),
            Key::End => self.scroll = 0,
            Key::Escape => self.message = None,
            Key::Char(_)
            | Key::Enter
            | Key::Backspace
            | Key::Tab
            | Key::Left
            | Key::Right
            | Key::Home => {}
        }
        None
    }

    /// Credits that may be brought to the seat; none where there is no seat, or no room for more.
    fn top_up_bounds(&self) -> Option<Amount> {
        let (own, view) = (self.state.my_seat()?, self.state.view());
        let stack = self.place(own.seat).stack;
        let most = view.max_buy_in_credits.saturating_sub(stack);
        let most = self.balance.map_or(most, |balance| most.min(balance));
        // Whoever tops up sits down anew.
        let least = view.min_buy_in_credits.saturating_sub(stack).max(1);
        (least <= most).then(|| Amount::new(least, most, most))
    }

    fn is_in_hand(&self) -> bool {
        self.state.is_hand_in_play() && self.state.my_hand_seat().is_some()
    }

    /// Takes the credits that were to wait for the end of the hand, once it is over.
    pub fn due_top_up(&mut self) -> Option<Request> {
        if !self.is_seated() {
            self.top_up = None;
        }
        if self.is_in_hand() || self.connection != Connection::Live {
            return None;
        }
        self.top_up.take().map(Request::TopUp)
    }

    /// Makes a move, or opens its form.
    fn begin(&mut self, legal: LegalMove) -> Option<Request> {
        let standing = self.state.standing();
        let pot = standing.map_or(0, |standing| standing.hand_pot_credits);
        let to_match = standing.map_or(0, |standing| standing.to_match_credits);
        let composer = Composer::new(legal, pot, to_match);
        if let Some(decision) = composer.decided() {
            return self.decide(decision);
        }
        self.form = Form::Move(Box::new(composer));
        None
    }

    fn decide(&mut self, decision: Move) -> Option<Request> {
        self.form = Form::None;
        self.message = None;
        let (hand_no, turn) = self.due().map(|(hand_no, turn)| (hand_no, turn.turn))?;
        self.sent = Some((hand_no, turn));
        Some(Request::Decide { hand_no, turn, decision })
    }

    /// Whether the hand stands still and the player has not agreed to end it.
    fn can_agree(&self) -> bool {
        let suspension = self.state.hand().and_then(|hand| hand.suspension.as_ref());
        let Some((suspension, own)) = suspension.zip(self.state.my_standing()) else {
            return false;
        };
        let is_live = matches!(own.status(), pb::SeatStatus::Live | pb::SeatStatus::AllIn);
        is_live && !suspension.agreed.contains(&own.seat)
    }

    fn agree(&self) -> Request {
        let turn = self.state.turn().map_or(0, |turn| turn.turn);
        let decision = Move { kind: MoveKind::Void.into(), ..Move::default() };
        Request::Decide { hand_no: self.state.view().hand_no, turn, decision }
    }

    /// The room's time.
    fn room_time(&self, now: UnixMicros) -> UnixMicros {
        UnixMicros(now.0.saturating_add_signed(self.ahead_us))
    }

    /// Time left of a turn, in milliseconds, and what it was at the most.
    fn time_left(&self, turn: &pb::Turn, now: UnixMicros) -> Option<(u64, u64)> {
        let deadline = turn.deadline.and_then(wire::time::instant)?;
        let left = deadline.0.saturating_sub(self.room_time(now).0) / 1000;
        let seconds = crate::games::field(&self.state, "action_seconds");
        let seconds: u64 = seconds.and_then(|seconds| seconds.parse().ok()).unwrap_or(20);
        let whole = (seconds * 1000).saturating_add(u64::from(turn.bank_ms)).max(1);
        Some((left, whole))
    }
}

/// Takes a key of a form with an amount. Returns whether the form is done, and the amount that was
/// confirmed.
fn take_amount(amount: &mut Amount, key: Key) -> (bool, Option<u64>) {
    let confirmed = (key == Key::Enter && amount.is_in_range()).then_some(amount.value);
    if confirmed.is_none() && key != Key::Escape {
        amount.key(key);
        return (false, None);
    }
    (true, confirmed)
}

#[cfg(test)]
mod tests;
