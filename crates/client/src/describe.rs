//! Text for people: one line for each update of a table.

mod chance;
mod settlement;
mod standing;

use primitives::PlayerId;
use proto::common::v1::{Move, MoveKind};
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;

use crate::state::TableState;

/// Describes an update in one line; none for an update without interest for players. Seats are
/// numbers only; [`TableState::describe`] names the players.
#[must_use]
pub fn describe(update: &pb::TableUpdate) -> Option<String> {
    describe_update(update, &|seat| format!("seat {seat}"))
}

/// Describes an update as [`describe`] does, with the players of seats called what `name` calls them.
#[must_use]
pub fn describe_with(update: &pb::TableUpdate, name: &dyn Fn(u32) -> String) -> Option<String> {
    describe_update(update, name)
}

impl TableState {
    /// Describes an update with players by name or pseudonym:
    /// `seat 2 (player 1a2b…) bets 20 · pot 120`. Apply the update before.
    #[must_use]
    pub fn describe(&self, update: &pb::TableUpdate) -> Option<String> {
        describe_update(update, &|seat| match self.player_of(seat) {
            Some(player) => format!("seat {seat} ({})", self.display_name(seat, player)),
            None => format!("seat {seat}"),
        })
    }

    /// Returns the chosen name of this player, and the mark of a bot, if they hold the seat; otherwise
    /// their pseudonym.
    fn display_name(&self, seat: u32, player: PlayerId) -> String {
        let here =
            |it: &&pb::SeatView| it.seat == seat && wire::field::is_id(&it.player_id, player);
        let here = self.view().seats.iter().find(here);
        let name = name_or_pseudonym(here.map_or("", |seat| seat.name.as_str()), player);
        name + bot_suffix(here.is_some_and(|seat| seat.bot))
    }
}

/// Returns what follows the name of a bot. No name has a comma in it.
const fn bot_suffix(bot: bool) -> &'static str {
    if bot { ", a bot" } else { "" }
}

/// Returns a player's name, or their pseudonym if it is empty.
fn name_or_pseudonym(name: &str, player: PlayerId) -> String {
    if name.is_empty() { pseudonym(player) } else { name.to_owned() }
}

/// Returns the start of a player's id, which tells the players of one table apart.
fn pseudonym(player: PlayerId) -> String {
    format!("player {:.4}…", player.to_string())
}

type SeatNames<'a> = &'a dyn Fn(u32) -> String;

fn describe_update(update: &pb::TableUpdate, name: SeatNames<'_>) -> Option<String> {
    match update.what.as_ref()? {
        What::Seat(changed) => describe_seat(changed),
        What::HandStarted(started) => Some(describe_hand_started(started, name)),
        What::Action(action) => Some(describe_action(action, name)),
        What::HandEnded(ended) => Some(describe_hand_ended(ended, name)),
        What::Closed(pb::TableClosed {}) => Some("the table is closed".to_owned()),
        What::Voided(voided) => {
            Some(format!("hand {} comes to nothing: {}", voided.hand_no, voided.evidence))
        }
        What::Suspension(pb::SuspensionChanged { hand_no, suspension, .. }) => {
            Some(match suspension {
                Some(_) => format!("hand {hand_no} stands still: the dealer is silent"),
                None => format!("hand {hand_no} goes on"),
            })
        }
        What::Stopped(changed) => Some(describe_stopped(changed)),
        What::Disabled(changed) => Some(describe_disabled(changed)),
        What::NextHand(_) | What::Entropy(_) | What::Seed(_) => None,
    }
}

fn describe_stopped(changed: &pb::StoppedChanged) -> String {
    let what: Vec<&str> = changed.stopped.iter().map(|stopped| stopped.what.as_str()).collect();
    if what.is_empty() {
        return "everything at this table goes on".to_owned();
    }
    format!("waits for an operator: {}", what.join(", "))
}

fn describe_disabled(changed: &pb::DisabledChanged) -> String {
    let Some(pb::Disabled { reason, with_game, .. }) = &changed.disabled else {
        return "the table is enabled, and starts hands again".to_owned();
    };
    let what = if *with_game { "the game" } else { "the table" };
    format!("{what} is disabled, and no hand starts: {reason}")
}

fn describe_seat(changed: &pb::SeatChanged) -> Option<String> {
    // [`crate::Watch`] refuses a change that names no seat.
    let seat = changed.seat.as_ref()?;
    let player = wire::field::player_id(&seat.player_id);
    let house = if seat.house { ", the house's" } else { "" };
    let bot = bot_suffix(seat.bot);
    let named = |player| format!(" ({}{bot}{house})", name_or_pseudonym(&seat.name, player));
    let player = player.map(named);
    let who = format!("seat {}{}", seat.seat, player.unwrap_or_default());
    if changed.vacated {
        return Some(format!("{who} is free again"));
    }
    let stack = seat.stack_credits;
    let note = standing::standing_suffix(changed.your_standing.as_ref());
    let said = match seat.state() {
        pb::SeatState::Unspecified => format!("{who} has {stack}"),
        pb::SeatState::BuyingIn => format!("{who} is taken"),
        pb::SeatState::Playing => format!("{who} plays with {stack}"),
        pb::SeatState::SittingOut => format!("{who} sits out with {stack}"),
        pb::SeatState::Leaving => format!("{who} is leaving"),
    };
    Some(said + &note)
}

fn describe_hand_started(started: &pb::HandStarted, name: SeatNames<'_>) -> String {
    let seats: Vec<String> = started.seats.iter().map(|place| name(place.seat)).collect();
    let pot = describe_pots(started.standing.as_ref());
    let note = standing::standing_suffix(started.your_standing.as_ref());
    format!("hand {} begins: {}{pot}{note}", started.hand_no, seats.join(", "))
}

fn describe_hand_ended(ended: &pb::HandEnded, name: SeatNames<'_>) -> String {
    let lines = ended.settlement.iter().map(|item| settlement::describe_item(item, name));
    let shown = ended.hands.iter().filter_map(|place| {
        let is_seen = |card: &pb::HeldCard| card.code != wire::moves::HIDDEN;
        let rank = place.rank.as_ref()?;
        let is_shown = !place.cards.is_empty() && place.cards.iter().all(is_seen);
        let codes: Vec<&str> = place.cards.iter().map(|card| &*card.code).collect();
        let said = || format!("{} had {} ({})", name(place.seat), codes.join(" "), rank.text);
        is_shown.then(said)
    });
    let all: Vec<String> = lines.chain(shown).collect();
    let all = if all.is_empty() { "nothing moves".to_owned() } else { all.join("; ") };
    format!("hand {} is over: {all}", ended.hand_no)
}

fn describe_pots(standing: Option<&pb::Standing>) -> String {
    standing.map_or_else(String::new, |standing| {
        let sabacc = match standing.sabacc_pot_credits {
            0 => String::new(),
            pot => format!(" · sabacc pot {pot}"),
        };
        format!(" · pot {}{sabacc}", standing.hand_pot_credits)
    })
}

/// Kinds of move after which the pot is shown.
const BETTING: [MoveKind; 4] = [MoveKind::Bet, MoveKind::Match, MoveKind::Raise, MoveKind::Fold];

fn describe_action(action: &pb::HandAction, name: SeatNames<'_>) -> String {
    let Some(decision) = &action.decision else { return chance::describe_chance(action, name) };
    let clock = if action.by_clock { " (the clock)" } else { "" };
    let pot = action.standing.as_ref().filter(|_| BETTING.contains(&decision.kind()));
    let pot =
        pot.map_or_else(String::new, |standing| format!(" · pot {}", standing.hand_pot_credits));
    format!("{} {}{clock}{pot}", name(action.seat), describe_move(decision, name))
}

fn describe_move(decision: &Move, name: SeatNames<'_>) -> String {
    let Move { kind: _, cards, amount_credits: amount, names, target_seat, value } = decision;
    let cards = cards.join(" ");
    let names = names.join(", ");
    match decision.kind() {
        MoveKind::Unspecified => "decides".to_owned(),
        MoveKind::Draw => "draws".to_owned(),
        MoveKind::Trade => format!("trades {cards}"),
        MoveKind::Stand => "stands".to_owned(),
        MoveKind::Lock => format!("locks {cards}"),
        MoveKind::Unlock => format!("unlocks {cards}"),
        MoveKind::Check => "checks".to_owned(),
        MoveKind::Bet => format!("bets {amount}"),
        MoveKind::Match => "matches".to_owned(),
        MoveKind::Raise => format!("raises to {amount}"),
        MoveKind::Fold => "folds".to_owned(),
        MoveKind::CallHand => "calls the hand".to_owned(),
        MoveKind::Leave => "leaves".to_owned(),
        MoveKind::Align => format!("declares {names}"),
        MoveKind::Keep => "keeps the extra card".to_owned(),
        MoveKind::Drop => format!("drops {cards}"),
        MoveKind::Choose => format!("drafts {names}"),
        MoveKind::Token if *target_seat == 0 => format!("plays {names}"),
        MoveKind::Token => format!("plays {names} on {}", name(*target_seat)),
        MoveKind::Prime => format!("makes {value} the Prime Sabacc"),
        MoveKind::DrawFrom => format!("draws from {names}"),
        MoveKind::Discard => format!("discards {cards}"),
        MoveKind::Impostor if *value == 0 => format!("gives {cards} a value"),
        MoveKind::Impostor => format!("gives {cards} the value {value}"),
        MoveKind::Gain if cards.is_empty() => "gains a card".to_owned(),
        MoveKind::Gain => format!("gains a card for {cards}"),
        MoveKind::Swap => format!("swaps {cards} for the top discard"),
        MoveKind::Junk => "junks the hand".to_owned(),
        MoveKind::Select => format!("selects {cards}"),
        MoveKind::Add if cards.is_empty() => "adds nothing".to_owned(),
        MoveKind::Add => format!("adds {cards}"),
        MoveKind::Void => "agrees to end the hand".to_owned(),
    }
}
