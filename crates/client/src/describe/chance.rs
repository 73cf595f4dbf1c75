//! Text for the results of chance.

use proto::table::v1 as pb;
use proto::table::v1::ChanceKind;
use proto::table::v1::game_state::State;

use super::SeatNames;

/// Describes a result of chance.
pub(super) fn describe_chance(action: &pb::HandAction, name: SeatNames<'_>) -> String {
    let (who, cards) = (name(action.seat), action.cards.join(" "));
    match action.chance() {
        ChanceKind::Unspecified => "something happens".to_owned(),
        ChanceKind::Shuffle => "the cards are shuffled".to_owned(),
        ChanceKind::Deal => format!("{who} is dealt {cards}"),
        ChanceKind::Flip => format!("face up: {cards}"),
        ChanceKind::Roll => describe_roll(action, name),
        ChanceKind::Pulse if action.values == [1] => "the pulse: the cards shift".to_owned(),
        ChanceKind::Pulse => "the pulse: no shift".to_owned(),
        ChanceKind::Tokens => format!("{who} gets shift tokens"),
        ChanceKind::Starter => format!("{who} starts"),
        ChanceKind::Announce => match game(action) {
            Some(State::Eleven(pb::ElevenState { wild, clone, .. })) => {
                format!("{wild} is wild and {clone} is the clone")
            }
            Some(
                State::Coruscant(_)
                | State::Dice(_)
                | State::Electronic(_)
                | State::Force(_)
                | State::Kessel(_)
                | State::Spike(_)
                | State::Swg(_),
            )
            | None => "wild and clone are announced".to_owned(),
        },
    }
}

fn describe_roll(action: &pb::HandAction, name: SeatNames<'_>) -> String {
    let dice: Vec<String> = action.values.iter().map(ToString::to_string).collect();
    let dice = dice.join(" ");
    if action.seat != 0 {
        return format!("{} rolls {dice}", name(action.seat));
    }
    match game(action) {
        Some(State::Coruscant(pb::CoruscantState { target: Some(target), .. })) => {
            let suit = match target.suit() {
                pb::CoruscantSuit::Unspecified => "no suit",
                pb::CoruscantSuit::Circle => "circle",
                pb::CoruscantSuit::Triangle => "triangle",
                pb::CoruscantSuit::Square => "square",
            };
            format!("the target is {:+} and {suit}", target.total)
        }
        Some(
            State::Coruscant(_)
            | State::Dice(_)
            | State::Electronic(_)
            | State::Eleven(_)
            | State::Force(_)
            | State::Kessel(_)
            | State::Spike(_)
            | State::Swg(_),
        )
        | None => format!("dice {dice}"),
    }
}

fn game(action: &pb::HandAction) -> Option<&State> {
    action.game_state.as_ref()?.state.as_ref()
}

#[cfg(test)]
mod tests {
    use proto::common::v1::{Move, MoveKind};
    use proto::table::v1::table_update::What;

    use super::*;
    use crate::describe::describe;

    fn described(what: What) -> Option<String> {
        describe(&pb::TableUpdate { sequence: 1, record_time: None, what: Some(what) })
    }

    fn check(action: pb::HandAction, expected: &str) {
        let seat = |seat| pb::SeatStanding { seat, ..pb::SeatStanding::default() };
        let standing = pb::Standing {
            hand_pot_credits: 120,
            seats: vec![seat(1), seat(4)],
            ..pb::Standing::default()
        };
        let action = pb::HandAction { standing: Some(standing), ..action };
        assert_eq!(described(What::Action(action)).as_deref(), Some(expected));
    }

    fn chance(kind: ChanceKind, seat: u32, cards: &[&str], values: &[u32]) -> pb::HandAction {
        pb::HandAction {
            chance: kind.into(),
            seat,
            cards: cards.iter().map(|code| (*code).to_owned()).collect(),
            values: values.to_vec(),
            ..pb::HandAction::default()
        }
    }

    fn with_state(action: pb::HandAction, state: State) -> pb::HandAction {
        pb::HandAction { game_state: Some(pb::GameState { state: Some(state) }), ..action }
    }

    fn decision(seat: u32, decision: Move) -> pb::HandAction {
        pb::HandAction { seat, decision: Some(decision), ..pb::HandAction::default() }
    }

    #[test]
    fn chance_is_described() {
        check(chance(ChanceKind::Shuffle, 0, &[], &[]), "the cards are shuffled");
        check(chance(ChanceKind::Deal, 4, &["C11", "??"], &[]), "seat 4 is dealt C11 ??");
        check(chance(ChanceKind::Roll, 0, &[], &[3, 5]), "dice 3 5");
        check(chance(ChanceKind::Roll, 4, &[], &[2, 6]), "seat 4 rolls 2 6");
        let suit = pb::CoruscantSuit::Circle.into();
        let target = Some(pb::CoruscantTarget { total: 5, suit });
        let state = State::Coruscant(pb::CoruscantState { target, selections: Vec::new() });
        let roll = with_state(chance(ChanceKind::Roll, 0, &[], &[3, 1]), state);
        check(roll, "the target is +5 and circle");
        check(chance(ChanceKind::Pulse, 0, &[], &[1]), "the pulse: the cards shift");
        check(chance(ChanceKind::Pulse, 0, &[], &[0]), "the pulse: no shift");
        check(chance(ChanceKind::Tokens, 1, &[], &[]), "seat 1 gets shift tokens");
        check(chance(ChanceKind::Starter, 4, &[], &[1]), "seat 4 starts");
        check(chance(ChanceKind::Flip, 0, &["s3", "b5"], &[]), "face up: s3 b5");
        let (wild, clone) = ("3S".to_owned(), "1H".to_owned());
        let state = State::Eleven(pb::ElevenState { wild, clone, stood_seats: Vec::new() });
        let announced = with_state(chance(ChanceKind::Announce, 0, &[], &[]), state);
        check(announced, "3S is wild and 1H is the clone");
    }

    #[test]
    fn decisions_are_described() {
        let of = |kind: MoveKind| Move { kind: kind.into(), ..Move::default() };
        check(
            decision(4, Move { amount_credits: 20, ..of(MoveKind::Bet) }),
            "seat 4 bets 20 · pot 120",
        );
        let fold = pb::HandAction { by_clock: true, ..decision(1, of(MoveKind::Fold)) };
        check(fold, "seat 1 folds (the clock) · pot 120");
        let token =
            Move { names: vec!["target-audit".to_owned()], target_seat: 1, ..of(MoveKind::Token) };
        check(decision(4, token), "seat 4 plays target-audit on seat 1");
        let hidden = Move { cards: vec!["??".to_owned()], ..of(MoveKind::Trade) };
        check(decision(4, hidden), "seat 4 trades ??");
    }

    #[test]
    fn the_end_names_seats_and_what_was_shown() {
        let hand = |seat, code: &str, rank: &str| pb::HandSeat {
            seat,
            cards: vec![pb::HeldCard { code: code.to_owned(), locked: false, proof: None }],
            rank: Some(pb::HandRank { text: rank.to_owned(), ..pb::HandRank::default() }),
            ..pb::HandSeat::default()
        };
        let ended = pb::HandEnded {
            hand_no: 7,
            settlement: vec![pb::SettlementItem {
                seat: 4,
                kind: pb::SettlementKind::Wins.into(),
                layer: pb::PotLayer::Main.into(),
                amount_credits: 100,
                ..pb::SettlementItem::default()
            }],
            hands: vec![hand(1, "??", "folded"), hand(4, "S15", "total 15")],
            ..pb::HandEnded::default()
        };
        assert_eq!(
            described(What::HandEnded(ended)).unwrap(),
            "hand 7 is over: seat 4 wins main 100; seat 4 had S15 (total 15)"
        );
    }

    #[test]
    fn players_are_named_where_they_are_known() {
        let seat = pb::SeatView {
            seat: 2,
            player_id: "1a2b0000-0000-0000-0000-000000000000".to_owned(),
            stack_credits: 300,
            state: pb::SeatState::Playing.into(),
            name: String::new(),
            exclusion: None,
            house: false,
            bot: false,
        };
        let own = pb::SeatView { house: true, bot: true, ..seat.clone() };
        let changed =
            What::Seat(pb::SeatChanged { seat: Some(seat), vacated: false, your_standing: None });
        let update = pb::TableUpdate { sequence: 1, record_time: None, what: Some(changed) };
        assert_eq!(describe(&update).unwrap(), "seat 2 (player 1a2b…) plays with 300");
        let changed =
            What::Seat(pb::SeatChanged { seat: Some(own), vacated: false, your_standing: None });
        let marked = pb::TableUpdate { sequence: 1, record_time: None, what: Some(changed) };
        let expected = "seat 2 (player 1a2b…, a bot, the house's) plays with 300";
        assert_eq!(describe(&marked).unwrap(), expected);

        let mut state = crate::TableState::new(None);
        state.apply(&crate::WatchMessage::Update(Box::new(update)));
        let bet = Move { kind: MoveKind::Bet.into(), amount_credits: 20, ..Move::default() };
        let update = pb::TableUpdate {
            sequence: 2,
            record_time: None,
            what: Some(What::Action(decision(2, bet))),
        };
        assert_eq!(state.describe(&update).unwrap(), "seat 2 (player 1a2b…) bets 20");

        let mut named = state.view().seats[0].clone();
        "Lando".clone_into(&mut named.name);
        let changed =
            What::Seat(pb::SeatChanged { seat: Some(named), vacated: false, your_standing: None });
        let renamed = pb::TableUpdate { sequence: 2, record_time: None, what: Some(changed) };
        assert_eq!(describe(&renamed).unwrap(), "seat 2 (Lando) plays with 300");
        state.apply(&crate::WatchMessage::Update(Box::new(renamed)));
        assert_eq!(state.describe(&update).unwrap(), "seat 2 (Lando) bets 20");

        let bot = pb::SeatView { bot: true, ..state.view().seats[0].clone() };
        let changed =
            What::Seat(pb::SeatChanged { seat: Some(bot), vacated: false, your_standing: None });
        let marked = pb::TableUpdate { sequence: 3, record_time: None, what: Some(changed) };
        state.apply(&crate::WatchMessage::Update(Box::new(marked)));
        assert_eq!(state.describe(&update).unwrap(), "seat 2 (Lando, a bot) bets 20");
    }
}
