//! Table on the rules alone: strategies play whole hands, without a room and without a clock.

use bots::Strategy;
use client::{TableState, WatchMessage};
use primitives::{Credits, SeatNo};
use proto::table::v1 as pb;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rules::{
    Decision, DecisionAuthor, Event, Hand, Next, Player, PlayerView, RuleSet, Setup, Variant,
    Viewer,
};
use wire::moves::{HIDDEN, MoveReader, seat_of, write_legal, write_with_cards};

const SEATS: [u8; 3] = [2, 5, 7];

fn seats() -> Vec<SeatNo> {
    SEATS.iter().map(|seat| SeatNo::try_new(*seat).unwrap()).collect()
}

/// Player: their strategy and their state.
pub(crate) struct PlayerState {
    strategy: Box<dyn Strategy>,
    state: TableState,
}

impl PlayerState {
    pub(crate) fn of(strategy: impl Strategy + 'static) -> PlayerState {
        PlayerState { strategy: Box::new(strategy), state: TableState::new(None) }
    }
}

/// Returns the table as `player` sees it.
fn snapshot(hand: &Hand, hand_no: u64, player: Player) -> pb::TableView {
    let view = rules::view(hand, Viewer::Player(player));
    let deck = hand.rules().variant().deck;
    let held = |place: &PlayerView| {
        let own = place.cards.iter().map(|held| (held.card, held.locked));
        let all = own.chain(place.extra.iter().map(|card| (Some(*card), false)));
        let code =
            |card: Option<rules::Card>| card.map_or(HIDDEN, |card| deck.code(card)).to_owned();
        all.map(|(card, locked)| pb::HeldCard { code: code(card), locked, proof: None }).collect()
    };
    let place = |place: &PlayerView| pb::HandSeat {
        seat: place.seat.get().into(),
        cards: held(place),
        ..pb::HandSeat::default()
    };
    let standing = |place: &PlayerView| pb::SeatStanding {
        seat: place.seat.get().into(),
        stack_credits: place.stack.get(),
        in_round_credits: place.in_round.get(),
        status: wire::ranks::write_status(place).0.into(),
        ..pb::SeatStanding::default()
    };
    let mine = seat_of(player, &seats());
    pb::TableView {
        variant: hand.rules().variant().id.to_owned(),
        rule_set: hand.rules().canonical(),
        your_seat: mine,
        seats: vec![pb::SeatView {
            seat: mine,
            player_id: "a player".to_owned(),
            ..Default::default()
        }],
        hand_no,
        hand: Some(pb::HandView {
            hand_no,
            seats: view.players.iter().map(place).collect(),
            standing: Some(pb::Standing {
                hand_pot_credits: view.hand_pot.get(),
                sabacc_pot_credits: view.sabacc_pot.get(),
                seats: view.players.iter().map(standing).collect(),
                ..pb::Standing::default()
            }),
            round: u32::try_from(view.round).unwrap(),
            phase: wire::ranks::write_phase(view.phase).into(),
            game_state: Some(wire::game_state::write(&view.game, deck, &seats())),
            called_by: view.called_by.map_or(0, |player| seat_of(player, &seats())),
            ..pb::HandView::default()
        }),
        ..pb::TableView::default()
    }
}

/// Returns the player's decision, parsed as a server does.
fn decide(hand: &Hand, hand_no: u64, due: &Decision, place: &mut PlayerState) -> Event {
    let deck = hand.rules().variant().deck;
    place.state.apply(&WatchMessage::Snapshot(Box::new(snapshot(hand, hand_no, due.player))));
    let turn = pb::Turn {
        seat: seat_of(due.player, &seats()),
        turn: 1,
        legal: due.legal.iter().map(|one| write_legal(one, deck, &seats())).collect(),
        default_move: Some(write_with_cards(&due.default, deck, &seats())),
        ..pb::Turn::default()
    };
    let chosen = place.strategy.choose(&place.state, &turn);
    let seen = rules::view(hand, Viewer::Player(due.player));
    let mine = &seen.players[due.player.index()];
    let cards: Vec<_> =
        mine.cards.iter().filter_map(|held| held.card).chain(mine.extra.iter().copied()).collect();
    let seats = seats();
    let read = MoveReader { deck, cards: &cards, seats: &seats }.read(&chosen);
    let played = read.unwrap_or_else(|bad| panic!("{bad}: {chosen:?} of {:?}", turn.legal));
    rules::decide(hand, due.player, played, DecisionAuthor::Player)
        .unwrap_or_else(|refusal| panic!("{refusal}: {chosen:?} of {:?}", turn.legal))
}

/// Plays one hand, whose chance follows from its number; returns each player's gain.
pub(crate) fn play(
    variant: &'static Variant,
    hand_no: u64,
    places: &mut [PlayerState; 3],
) -> [i64; 3] {
    let rules = RuleSet::defaults(variant);
    let stack = rules.min_stack(Credits::ZERO).times(20).unwrap();
    let setup = Setup {
        rules,
        seats: seats(),
        stacks: vec![stack; 3],
        sabacc_pot: Credits::ZERO,
        carried_pot: Credits::ZERO,
    };
    let mut hand = Hand::try_new(setup).unwrap();
    let mut chance = StdRng::seed_from_u64(hand_no);
    for _ in 0..100_000 {
        let outcome = rules::play::random_outcome(&hand, &mut |n| chance.random_range(0..n));
        let event = match (outcome, rules::next(&hand)) {
            (Some(outcome), _) => rules::resolve_chance(&hand, outcome).unwrap(),
            (None, Next::Decision(due)) => {
                decide(&hand, hand_no, &due, &mut places[due.player.index()])
            }
            (None, Next::Done(settlement)) => {
                let gain = |end: &Credits| {
                    i64::try_from(end.get()).unwrap() - i64::try_from(stack.get()).unwrap()
                };
                let gains: Vec<i64> = settlement.finishing_stacks.iter().map(gain).collect();
                return gains.try_into().unwrap();
            }
            (None, Next::Chance(due)) => panic!("no outcome for {due:?}"),
        };
        rules::evolve(&mut hand, &event);
    }
    panic!("hand {hand_no} of {variant:?} does not end");
}
