//! Betting in every game, by the quality of the hand and the pot odds.

use proto::common::v1::{LegalMove, Move, MoveKind};

use super::Situation;

/// Least quality of a hand to bet on.
const MIN_BET_QUALITY: u32 = 70;
/// Least quality of a hand to raise with, once in a round.
const MIN_RAISE_QUALITY: u32 = 90;

/// Chooses the move of a betting round; none outside of one. `quality` is 0 to 100; 0 loses for
/// certain.
pub(super) fn bet(situation: &Situation<'_>, quality: u32) -> Option<Move> {
    let hand = situation.state.hand()?;
    // The later the round, the less a hand can still improve.
    if quality + 4 * hand.round.min(10) >= 100
        && let Some(call) = situation.plain_move(MoveKind::CallHand)
    {
        return Some(call);
    }
    let pot = situation.state.standing().map_or(0, |standing| standing.hand_pot_credits);
    let mine = situation.state.my_standing();
    let stack = mine.map_or(0, |mine| mine.stack_credits);
    if quality == 0
        && hand.called_by != 0
        && let Some(fold) = situation.plain_move(MoveKind::Fold)
    {
        // The hand is called and cannot change: the penalty costs more than the pot can win.
        return Some(fold);
    }
    if let Some(check) = situation.plain_move(MoveKind::Check) {
        let bet = situation.legal(MoveKind::Bet).filter(|_| quality >= MIN_BET_QUALITY);
        return Some(bet.map_or(check, |bet| sized_bet(bet, pot / 4, stack / 10)));
    }
    let price = situation.legal(MoveKind::Match)?.min;
    let fresh = mine.is_some_and(|mine| mine.in_round_credits == 0);
    if quality >= MIN_RAISE_QUALITY
        && fresh
        && let Some(raise) = situation.legal(MoveKind::Raise)
        && raise.min <= stack / 4
    {
        return Some(sized_bet(raise, raise.min, stack / 4));
    }
    if worth_its_price(quality, price, pot, stack) {
        return situation.plain_move(MoveKind::Match);
    }
    situation.plain_move(MoveKind::Fold)
}

fn worth_its_price(quality: u32, price: u64, pot: u64, stack: u64) -> bool {
    let (quality, price) = (u128::from(quality), u128::from(price));
    let (pot, stack) = (u128::from(pot), u128::from(stack));
    if price * 2 > stack && price * 10 > pot {
        // Most of the stack, and much of the pot.
        return quality >= 60;
    }
    price * 20 <= stack || quality * (pot + price) >= 60 * price
}

/// Returns a bet of about `wanted`, at most `most` unless the legal minimum is higher.
fn sized_bet(legal: &LegalMove, wanted: u64, most: u64) -> Move {
    let amount = wanted.min(most).clamp(legal.min, legal.max.max(legal.min));
    Move { kind: legal.kind, amount_credits: amount, ..Move::default() }
}

#[cfg(test)]
mod tests {
    use super::super::situation::{legal, state, turn};
    use super::*;

    fn ranged(kind: MoveKind, min: u64, max: u64) -> LegalMove {
        LegalMove { min, max, ..legal(kind, &[]) }
    }

    fn decide(quality: u32, legal: Vec<LegalMove>) -> Move {
        bet(&Situation { state: &state("swg", &["S15"]), turn: &turn(legal) }, quality).unwrap()
    }

    #[test]
    fn bets_are_modest() {
        let open = || {
            let fold = legal(MoveKind::Fold, &[]);
            vec![legal(MoveKind::Check, &[]), ranged(MoveKind::Bet, 5, 500), fold]
        };
        assert_eq!(decide(40, open()).kind(), MoveKind::Check);
        let bet = decide(80, open());
        assert_eq!((bet.kind(), bet.amount_credits), (MoveKind::Bet, 25));
    }

    #[test]
    fn folds_are_for_bad_hands_at_high_prices() {
        let facing = |price, min| {
            let raise = ranged(MoveKind::Raise, min, 500);
            vec![ranged(MoveKind::Match, price, price), raise, legal(MoveKind::Fold, &[])]
        };
        assert_eq!(decide(10, facing(20, 40)).kind(), MoveKind::Match);
        assert_eq!(decide(10, facing(100, 200)).kind(), MoveKind::Fold);
        assert_eq!(decide(50, facing(100, 200)).kind(), MoveKind::Match);
        assert_eq!(decide(50, facing(400, 500)).kind(), MoveKind::Fold);
        let raise = decide(95, facing(20, 40));
        assert_eq!((raise.kind(), raise.amount_credits), (MoveKind::Raise, 40));
    }

    #[test]
    fn a_good_hand_is_called() {
        let round = || vec![legal(MoveKind::Check, &[]), legal(MoveKind::CallHand, &[])];
        assert_eq!(decide(84, round()).kind(), MoveKind::CallHand);
        assert_eq!(decide(60, round()).kind(), MoveKind::Check);
    }
}
