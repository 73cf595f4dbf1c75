//! Updates for viewers: each event of the log as each viewer may see it.
//!
//! Updates are numbered over all published events of a table, with the same numbers for everybody.
//! Content that a viewer may not see is missing from an update; no update is missing. The rules
//! decide what a viewer may see; this module only encodes it.

use std::time::Duration;

use primitives::{PlayerId, SeatNo, UnixMicros};
use proto::common::v1::LegalMove;
use proto::table::v1 as pb;
use rules::{Hand, Next, PlayerView, View, Viewer};
use wire::moves::{self, HIDDEN};
use wire::ranks;
use wire::records::{HandEvent, PlayEvent, SeatEvent, TableEvent, TableSubject};

use crate::hand_in_play::HandInPlay;
use crate::proof::CardProofs;
use crate::table::{Closing, Exclusion, Funding, Table};

mod action;
mod padding;
#[cfg(test)]
mod rebuild;
mod standstill;

pub(crate) use action::HandStep;
pub(crate) use standstill::{Standstill, lost_hand_view, void_action};

/// Whether an event has an update. The other events concern only the services, or are covered by
/// the event that follows them at once.
#[must_use]
pub(crate) const fn is_published(event: TableSubject<'_>) -> bool {
    match event {
        TableSubject::Seat(event) => match event {
            SeatEvent::SeatTaken(_)
            | SeatEvent::SeatFunded(_)
            | SeatEvent::SeatRefused(_)
            | SeatEvent::LeaveAsked(_)
            | SeatEvent::SeatVacated(_)
            | SeatEvent::SitOutChanged(_)
            | SeatEvent::SeatExcluded(_)
            | SeatEvent::SeatRenamed(_) => true,
            SeatEvent::CashOutDue(_) | SeatEvent::StandingFound(_) => false,
        },
        TableSubject::Table(event) => match event {
            TableEvent::HandCommitted(_)
            | TableEvent::EffectStopped(_)
            | TableEvent::EffectResumed(_)
            | TableEvent::TableDisabled(_)
            | TableEvent::TableEnabled(_)
            | TableEvent::TableClosed(_) => true,
            TableEvent::TableCreated(_)
            | TableEvent::EntropyCommitted(_)
            | TableEvent::HandStarted(_)
            | TableEvent::HandFinished(_)
            | TableEvent::CloseAsked(_)
            | TableEvent::PotRefundDue(_)
            | TableEvent::PotRefunded(_)
            | TableEvent::AbsentPaid(_) => false,
        },
        TableSubject::Hand(event) => match event {
            HandEvent::HandOpened(_)
            | HandEvent::EntropyClosed(_)
            | HandEvent::HandAborted(_)
            | HandEvent::HandRevealed(_)
            | HandEvent::SeedRefused(_)
            | HandEvent::HandSuspended(_)
            | HandEvent::HandContinued(_) => true,
            HandEvent::EntropyRevealed(_) => false,
        },
        TableSubject::Play(event) => match event {
            PlayEvent::HandSealed(_)
            | PlayEvent::ChanceUsed(_)
            | PlayEvent::CardsMoved(_)
            | PlayEvent::MoveDecided(_)
            | PlayEvent::HandSettled(_) => true,
            PlayEvent::CardsShown(_)
            | PlayEvent::SettlementPosted(_)
            | PlayEvent::ClockResumed(_) => false,
        },
        TableSubject::Person(_) | TableSubject::Room(_) | TableSubject::Clock(_) => false,
    }
}

/// Clock of a pending decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DecisionClock {
    pub turn: u32,
    pub deadline: UnixMicros,
    pub bank: Duration,
}

/// State that only this game has, as the view shows it.
fn game_state(view: &View, hand: &Hand, seats: &[SeatNo]) -> pb::GameState {
    wire::game_state::write(&view.game, hand.rules().variant().deck, seats)
}

/// Seat that has called the hand; 0: nobody.
fn called_by(view: &View, seats: &[SeatNo]) -> u32 {
    view.called_by.map_or(0, |player| moves::seat_of(player, seats))
}

/// Pots and stacks.
#[must_use]
pub(crate) fn standing(view: &View) -> pb::Standing {
    let seat = |player: &PlayerView| {
        let (status, text) = ranks::write_status(player);
        pb::SeatStanding {
            seat: u32::from(player.seat.get()),
            stack_credits: player.stack.get(),
            in_round_credits: player.in_round.get(),
            in_hand_credits: player.contribution.get(),
            status: status.into(),
            status_text: text.to_owned(),
        }
    };
    pb::Standing {
        hand_pot_credits: view.hand_pot.get(),
        sabacc_pot_credits: view.sabacc_pot.get(),
        carried_pot_credits: view.carried_pot.get(),
        to_match_credits: view.to_match.get(),
        seats: view.players.iter().map(seat).collect(),
    }
}

/// All hands, as far as the view shows them. Without `players` the ids are left out.
#[must_use]
pub(crate) fn hands(
    view: &View,
    hand: &Hand,
    players: &[primitives::PlayerId],
    shown: &CardProofs,
) -> Vec<pb::HandSeat> {
    let deck = hand.rules().variant().deck;
    let code = |card: Option<rules::Card>| {
        card.map_or_else(|| HIDDEN.to_owned(), |card| deck.code(card).to_owned())
    };
    let proof = |card: &rules::Card| shown.by_card.get(card).map(|proof| (**proof).clone());
    let held = |player: &PlayerView| {
        let own = player.cards.iter();
        let own = own.map(|held| pb::HeldCard {
            code: code(held.card),
            locked: held.locked,
            proof: held.card.as_ref().and_then(proof),
        });
        let extra = player.extra.iter();
        let extra = extra.map(|card| pb::HeldCard {
            code: code(Some(*card)),
            locked: false,
            proof: proof(card),
        });
        own.chain(extra).collect()
    };
    let seats = view.players.iter().enumerate();
    let seat = seats.map(|(index, player)| pb::HandSeat {
        seat: u32::from(player.seat.get()),
        player_id: players.get(index).map_or_else(String::new, |id| id.to_string()),
        cards: held(player),
        rank: player.rank.map(ranks::write),
    });
    seat.collect()
}

/// The pending decision. Legal moves are included only for the player who decides.
pub(crate) fn turn(
    hand: &Hand,
    seats: &[SeatNo],
    viewer: Viewer,
    clock: DecisionClock,
) -> pb::Turn {
    let Some(player) = hand.to_act() else { return pb::Turn::default() };
    let turn = pb::Turn {
        seat: moves::seat_of(player, seats),
        turn: clock.turn,
        deadline: Some(wire::time::timestamp(clock.deadline)),
        bank_ms: u32::try_from(clock.bank.as_millis()).unwrap_or(u32::MAX),
        ..pb::Turn::default()
    };
    if viewer != Viewer::Player(player) {
        return turn;
    }
    let Next::Decision(decision) = rules::next(hand) else { return turn };
    let deck = hand.rules().variant().deck;
    let legal = decision.legal.iter().map(|legal| LegalMove {
        secret: rules::is_choice_secret(hand, legal.kind),
        ..moves::write_legal(legal, deck, seats)
    });
    pb::Turn {
        legal: legal.chain([moves::legal_leave()]).collect(),
        default_move: Some(moves::write_with_cards(&decision.default, deck, seats)),
        ..turn
    }
}

/// A hand in play as `viewer` sees it.
#[must_use]
pub(crate) fn hand_view(
    play: &HandInPlay,
    clock: Option<DecisionClock>,
    viewer: Viewer,
) -> pb::HandView {
    let hand = &play.replay.hand;
    let view = rules::view(hand, viewer);
    let seats = &play.replay.seats;
    pb::HandView {
        hand_no: play.hand_no,
        hand_id: play.hand_id.to_string(),
        seats: hands(&view, hand, &play.players, &play.card_proofs),
        standing: Some(standing(&view)),
        turn: clock.map(|clock| turn(hand, seats, viewer, clock)),
        round: u32::try_from(view.round).unwrap_or(u32::MAX),
        phase: ranks::write_phase(view.phase).into(),
        phase_text: view.phase.name().to_owned(),
        game_state: Some(game_state(&view, hand, seats)),
        commitment: commitment(play),
        settlement: settlement(play),
        called_by: called_by(&view, seats),
        dealer: play.opened.commitment.clone(),
        rows: sealed(play).rows.iter().map(wire::public::entropy_row).collect(),
        transcript: sealed(play).transcript.to_vec(),
        roots: play.card_proofs.roots.clone(),
        chain: play.chain.map_or_else(Vec::new, |chain| chain.0.to_vec()),
        suspension: None,
        rule_set: play.opened.rule_set.clone(),
        settings: play.opened.settings.clone(),
    }
}

/// Update at the start of a hand, as `viewer` sees it.
#[must_use]
pub(crate) fn hand_started(
    play: &HandInPlay,
    clock: Option<DecisionClock>,
    viewer: Option<PlayerId>,
) -> pb::HandStarted {
    let hand = &play.replay.hand;
    // Assigned tokens are their players' from the start.
    let seen_by = play.viewer(viewer);
    let view = rules::view(hand, seen_by);
    pb::HandStarted {
        hand_no: play.hand_no,
        hand_id: play.hand_id.to_string(),
        seats: hands(&view, hand, &play.players, &play.card_proofs),
        commitment: commitment(play),
        standing: Some(standing(&view)),
        rows: sealed(play).rows.iter().map(wire::public::entropy_row).collect(),
        transcript: sealed(play).transcript.to_vec(),
        round: u32::try_from(view.round).unwrap_or(u32::MAX),
        phase: ranks::write_phase(view.phase).into(),
        phase_text: view.phase.name().to_owned(),
        game_state: Some(game_state(&view, hand, &play.replay.seats)),
        turn: clock.map(|clock| turn(hand, &play.replay.seats, seen_by, clock)),
        your_standing: viewer.and_then(|viewer| play.standing_of(viewer)).cloned(),
    }
}

/// Update at the end of a hand, as `viewer` sees it.
#[must_use]
pub(crate) fn hand_ended(play: &HandInPlay, viewer: Viewer) -> pb::HandEnded {
    let hand = &play.replay.hand;
    let view = rules::view(hand, viewer);
    let settled = play.settled.as_ref();
    pb::HandEnded {
        hand_no: play.hand_no,
        settlement: settlement(play),
        hands: hands(&view, hand, &play.players, &play.card_proofs),
        standing: Some(standing(&view)),
        rake_credits: settled.map_or(0, |settled| settled.rake),
    }
}

/// The settlement, once it is recorded. The hand has it by then, since it follows from the rules.
fn settlement(play: &HandInPlay) -> Vec<pb::SettlementItem> {
    let end = play.replay.hand.settlement().filter(|_| play.settled.is_some());
    let items = end.iter().flat_map(|end| &end.lines);
    items.map(|item| wire::settlement::write(item, &play.replay.seats)).collect()
}

fn sealed(play: &HandInPlay) -> proto::event::v1::HandSealed {
    play.sealed.clone().unwrap_or_default()
}

fn commitment(play: &HandInPlay) -> Vec<u8> {
    play.opened.commitment.as_ref().map_or_else(Vec::new, |made| made.commitment.clone())
}

/// A taken seat, without its player's name, which is filled in when a message is sent.
#[must_use]
pub(crate) fn seat_view(table: &Table, number: SeatNo) -> Option<pb::SeatView> {
    let seat = table.seats.get(&number)?;
    let state = match seat.funding {
        Funding::BuyingIn { .. } => pb::SeatState::BuyingIn,
        Funding::CashingOut { .. } => pb::SeatState::Leaving,
        Funding::AtTable if seat.leaving => pb::SeatState::Leaving,
        Funding::AtTable if seat.sitting_out => pb::SeatState::SittingOut,
        Funding::AtTable => pb::SeatState::Playing,
    };
    Some(pb::SeatView {
        seat: u32::from(number.get()),
        player_id: seat.player.to_string(),
        stack_credits: table.shown_stack(number).get(),
        state: state.into(),
        name: String::new(),
        exclusion: table.shown_exclusion(number).map(exclusion_view),
        house: seat.is_house,
        bot: false,
    })
}

fn exclusion_view(exclusion: &Exclusion) -> pb::Exclusion {
    pb::Exclusion {
        step: exclusion.step,
        until_hand_no: exclusion.until_hand_no,
        end_time: Some(wire::time::timestamp(exclusion.until)),
        burnt_hand_no: exclusion.burnt_hand_no,
    }
}

/// The next hand, once the dealer has committed to it.
#[must_use]
pub(crate) fn next_hand(table: &Table) -> Option<pb::NextHand> {
    let hand_no = table.hand_no + 1;
    let promise =
        table.dealer_commitments.get(&hand_no).filter(|_| table.closing == Closing::Open)?;
    let seated = table.seats.iter().map(|(number, seat)| (*number, seat.player));
    let committed = table.seat_commitments_of(hand_no);
    let seats = seated.filter(|key| committed.contains_key(key));
    let seats = seats.map(|(seat, _)| u32::from(seat.get())).collect();
    Some(pb::NextHand {
        hand_no,
        commitment: Some(promise.commitment.clone()),
        seats,
        rule_set: table.config.rule_set.clone(),
        settings: table.config.settings_text.clone(),
    })
}

/// The open hand whose seats take part in chance.
#[must_use]
pub(crate) fn entropy(table: &Table) -> Option<pb::Entropy> {
    let hand = table.hand.as_ref()?;
    let round = hand.entropy_round.as_ref()?;
    let committed = || round.committed_seats(table.seat_commitments_of(table.hand_no));
    let seats = round.revealing().unwrap_or_else(committed);
    // While the dealer is asked for the closing, nothing is waited for but its answer.
    let waits = round.closing.is_some() || !round.is_close_asked;
    let number = |seat: &SeatNo| u32::from(seat.get());
    Some(pb::Entropy {
        hand_no: table.hand_no,
        hand_id: hand.id.to_string(),
        commitment: Some(round.commitment.clone()),
        roster: round.roster.iter().map(|(seat, _)| number(seat)).collect(),
        seats: seats.iter().map(number).collect(),
        closed: round.closing.is_some(),
        deadline: waits.then(|| wire::time::timestamp(round.deadline)),
        closing: round.closing.as_ref().map(wire::public::closing),
        rule_set: table.config.rule_set.clone(),
        settings: table.config.settings_text.clone(),
        suspension: None,
    })
}
