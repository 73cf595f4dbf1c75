//! Text for the results of chance.

use proto::table::v1 as pb;

use super::{SeatNames, with_seats};

/// Describes a result of chance.
pub(super) fn describe_chance(action: &pb::HandAction, name: SeatNames<'_>) -> String {
    let standing = action.standing.iter().flat_map(|standing| &standing.seats);
    let players: Vec<u32> = standing.map(|place| place.seat).collect();
    let line = action.line.strip_prefix("d ").unwrap_or(&action.line);
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    match verb {
        "" => "the cards are shuffled".to_owned(),
        "deal" if action.seat != 0 => {
            format!("{} is dealt {}", name(action.seat), action.cards.join(" "))
        }
        "flip" => format!("face up: {rest}"),
        "roll" => format!("dice {}", with_seats(rest, &players, name)),
        "pulse" if rest == "1" => "the pulse: the cards shift".to_owned(),
        "pulse" => "the pulse: no shift".to_owned(),
        "tokens" => {
            let (who, tokens) = rest.split_once(' ').unwrap_or((rest, ""));
            format!("{} gets the tokens {tokens}", with_seats(who, &players, name))
        }
        "starter" => format!("{} starts", with_seats(rest, &players, name)),
        _ => with_seats(line, &players, name),
    }
}

#[cfg(test)]
mod tests {
    use proto::common::v1::{Move, MoveKind, SettlementLine};
    use proto::table::v1::table_update::What;

    use super::*;
    use crate::describe::describe;

    fn told(what: What) -> Option<String> {
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
        assert_eq!(told(What::Action(action)).as_deref(), Some(expected));
    }

    fn chance(line: &str, seat: u32, cards: &[&str]) -> pb::HandAction {
        pb::HandAction {
            line: line.to_owned(),
            seat,
            cards: cards.iter().map(|code| (*code).to_owned()).collect(),
            ..pb::HandAction::default()
        }
    }

    fn decision(seat: u32, decision: Move) -> pb::HandAction {
        pb::HandAction { seat, decision: Some(decision), ..pb::HandAction::default() }
    }

    #[test]
    fn chance_is_told() {
        check(chance("", 0, &[]), "the cards are shuffled");
        check(chance("d deal p2 C11 ??", 4, &["C11", "??"]), "seat 4 is dealt C11 ??");
        check(chance("d roll 3 5", 0, &[]), "dice 3 5");
        check(chance("d roll p2 sI 2 6", 0, &[]), "dice seat 4 sI 2 6");
        check(chance("d roll +5 circle", 0, &[]), "dice +5 circle");
        check(chance("d pulse 1", 0, &[]), "the pulse: the cards shift");
        check(chance("d tokens p1 ?? ?? ??", 0, &[]), "seat 1 gets the tokens ?? ?? ??");
        check(chance("d starter p2", 0, &[]), "seat 4 starts");
        check(chance("d flip s3 b5", 0, &["s3", "b5"]), "face up: s3 b5");
        check(chance("d announce wild 3S clone 1H", 0, &[]), "announce wild 3S clone 1H");
    }

    #[test]
    fn decisions_are_told() {
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
            rank: rank.to_owned(),
            ..pb::HandSeat::default()
        };
        let ended = pb::HandEnded {
            hand_no: 7,
            settlement: vec![SettlementLine { text: "p2 wins main 100".to_owned() }],
            hands: vec![hand(1, "??", "folded"), hand(4, "S15", "total 15")],
            ..pb::HandEnded::default()
        };
        assert_eq!(
            told(What::HandEnded(ended)).unwrap(),
            "hand 7 is over: seat 4 wins main 100; seat 4 had S15 (total 15)"
        );
    }

    #[test]
    fn players_are_told_where_they_are_known() {
        let seat = pb::SeatView {
            seat: 2,
            player_id: "1a2b0000-0000-0000-0000-000000000000".to_owned(),
            stack_credits: 300,
            state: pb::SeatState::Playing.into(),
            name: String::new(),
            exclusion: None,
            house: false,
        };
        let own = pb::SeatView { house: true, ..seat.clone() };
        let changed =
            What::Seat(pb::SeatChanged { seat: Some(seat), vacated: false, your_standing: None });
        let update = pb::TableUpdate { sequence: 1, record_time: None, what: Some(changed) };
        assert_eq!(describe(&update).unwrap(), "seat 2 (player 1a2b…) plays with 300");
        let changed =
            What::Seat(pb::SeatChanged { seat: Some(own), vacated: false, your_standing: None });
        let marked = pb::TableUpdate { sequence: 1, record_time: None, what: Some(changed) };
        let told = "seat 2 (player 1a2b…, the house's) plays with 300";
        assert_eq!(describe(&marked).unwrap(), told);

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
    }
}
